"""Kernels that cannot be traced, each for a reason of its own."""

import builtins
import gc
import os
import random
import signal
import sys
import threading

import nki
import nki.isa as nisa
import nki.language as nl
import nosuchmodule
import numpy as np


@nki.jit
def unknown_function(x):
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.frobnicate(dst=tile, src=x)


@nki.jit
def wrong_shapes(x):
    tile = nl.ndarray((128, 100), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)


@nki.jit
def beyond(x):
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[64:192])


@nki.jit
def raises(x):
    table = {}
    return table["missing"]


@nki.jit
def endless(x):
    while True:
        pass


@nki.jit
def many(x):
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    for _ in range(100000):
        nisa.memset(dst=tile, value=0.0)


@nki.jit
def deep(x):
    def down(n):
        return down(n + 1)
    down(0)


@nki.jit
def huge(x):
    nl.ndarray((128, 1 << 40), dtype=x.dtype, buffer=nl.sbuf)


@nki.jit
def absent(x):
    nosuchmodule.compute(x)


TABLE = nosuchmodule.table([1, 2]).to("cpu")


@nki.jit
def absent_table(x):
    return x[0:TABLE + 1]


@nki.jit
def condition(x):
    tile = nl.load(x)
    if tile[0:1, 0:1] > 0:
        pass


@nki.jit
def disturbs(x):
    """Changes what is not its own."""
    os.environ["TALLY_NKI_DISTURBED"] = "1"
    random.random()
    nisa.dma_copy(dst=x[0:64], src=x[64:128])


@nki.jit
def nothing(x):
    return x


@nki.jit
def in_hbm(x):
    nisa.tensor_tensor(dst=x, data1=x, data2=x, op=nl.add)


@nki.jit
def zeros_in_hbm(x):
    out = nl.zeros(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)


@nki.jit
def too_tall(x):
    nl.ndarray((2 * x.shape[0], 4), dtype=x.dtype, buffer=nl.sbuf)


@nki.jit
def view_too_tall(x):
    tile = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=0)
    tile = tile.reshape((256, 2))
    nisa.activation(dst=tile, op=nl.exp, data=tile)


@nki.jit
def beyond_psum(x):
    nl.zeros((128, 9, 512), dtype=nl.float32, buffer=nl.psum)


@nki.jit
def beyond_sbuf(x):
    nl.ndarray((128, 1 << 17), dtype=nl.bfloat16, buffer=nl.sbuf)


@nki.jit
def product_from_psum(x):
    total = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(total, nl.load(x), nl.load(x))
    nisa.nc_matmul(total, total, nl.load(x))


@nki.jit
def product_in_sbuf(x):
    tile = nl.load(x)
    total = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_matmul(total, tile, tile)


@nki.jit
def too_wide(x):
    tile = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.sbuf)
    total = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(total, nl.load(x), tile)


@nki.jit
def lacks_a_tile(x):
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile)


@nki.jit
def lacks_an_operator(x):
    tile = nl.load(x)
    nisa.tensor_tensor(tile, tile, tile)


@nki.jit
def of_numpy(x):
    return np.exp(nl.load(x))


@nki.jit
def as_number(x):
    tile = nl.load(x)
    return range(int(tile[0:1, 0:1]))


@nki.jit
def as_array(x):
    return np.asarray(nl.load(x))


@nki.jit
def backwards(x):
    return nl.load(x)[:, ::-1]


@nki.jit
def mask_of_another_axis(x):
    """Three blocks of 64 rows and 60 columns: the last one goes on in the next row."""
    row, column = nl.mgrid[0:64, 0:60]
    out = nl.ndarray((64, 180), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(3):
        nl.store(out[row, 60 * i + column], nl.load(x[row, 60 * i + column], mask=(row < 63)))


@nki.jit
def over_partitions(x):
    return nl.sum(nl.load(x), axis=0)


@nki.jit
def catches(x):
    try:
        nisa.frobnicate(dst=x)
    except Exception:
        nisa.memset(dst=nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf), value=1.0)


@nki.jit
def catches_and_raises(x):
    catches(x)
    raise ValueError


@nki.jit
def exits(x):
    nisa.dma_copy(dst=x[0:64], src=x[64:128])
    sys.exit(0)


@nki.jit
def disturbs_more(x):
    """Sets what belongs to Python, and makes NumPy warn."""
    builtins.exit, builtins.tally_nki_disturbed = None, True
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    gc.disable()
    gc.set_threshold(7)
    sys.argv.append("more")
    sys.argv = []
    tile = nl.ndarray((64, 128), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=float("nan"))
    half = nl.ndarray((64, 128), dtype=nl.float16, buffer=nl.sbuf)
    nisa.memset(dst=half, value=1e30)
    nisa.dma_copy(dst=x[0:64], src=x[64:128])


@nki.jit
def copied_to_psum(x):
    tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
    nisa.dma_copy(dst=tile, src=x)


@nki.jit
def disturbs_hooks(x, raises):
    """Sets what Python calls by itself."""
    sys.settrace(lambda *_: None)
    sys.setprofile(lambda *_: None)
    threading.settrace(print)
    threading.setprofile(print)
    sys.excepthook = sys.displayhook = sys.unraisablehook = sys.breakpointhook = threading.excepthook = print
    sys.path_hooks.append(print)
    nisa.dma_copy(dst=x[0:64], src=x[64:128])
    assert not raises


@nki.jit
def of_the_device(x, which):
    """What Python or NumPy would do, and the device does not."""
    tile, row, column, sums = (nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf) for shape in (x.shape, (1, 8), (128, 1), (128, 3)))
    in_psum = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.psum)
    for each in (tile, row, column, sums):
        nisa.memset(dst=each, value=0.0)
    made = {
        "no operator": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, operand1=3.0),
        "reversed nothing": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, reverse1=True),
        "float index": lambda: nisa.tensor_copy(dst=tile[:, 1.7], src=tile[:, 2]),
        "true index": lambda: nisa.tensor_copy(dst=tile[:, True], src=tile[:, 2]),
        "text": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0="1"),
        "no comparison": lambda: nisa.affine_select(dst=tile, pattern=[[1, 8]], channel_multiplier=1, on_true_tile=tile,
                                                    on_false_value=0.0, cmp_op=nl.add),
        "sums": lambda: nisa.tensor_reduce(dst=sums, data=tile, op=nl.add, axis=1),
        "engine": lambda: nisa.tensor_copy(dst=tile, src=tile, engine="bogus"),
        "tensor engine": lambda: nisa.tensor_copy(dst=tile, src=tile, engine=nisa.engine.tensor),
        "scalar engine": lambda: nisa.nc_transpose(dst=in_psum[0:8, 0:8], data=tile[0:8], engine=nisa.engine.scalar),
        "gpsimd": lambda: nisa.tensor_copy(dst=tile, src=in_psum, engine=nisa.engine.gpsimd),
        "shuffle": lambda: nisa.nc_stream_shuffle(dst=tile[0:32], src=tile[0:32], shuffle_mask=[40] * 32),
        "short shuffle": lambda: nisa.nc_stream_shuffle(dst=tile[0:32], src=tile[0:32], shuffle_mask=[0] * 16),
        "one row": lambda: nisa.tensor_tensor(dst=tile, data1=tile, data2=row, op=nl.add),
        "one number": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=row[0:1, 0:1]),
        "statistics": lambda: nisa.bn_stats(dst=sums, data=nl.ndarray((128, 513), dtype=x.dtype, buffer=nl.sbuf)),
        "repeated": lambda: nisa.tensor_copy(dst=tile, src=column),
        "exit": lambda: os._exit(0),
    }
    made[which]()


@nki.jit
def left_out(x, which):
    """What the interface may have and the model has not is refused; it does not get lost."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    made = {
        "where": lambda: nl.where(tile, tile, 0.0, mask=tile),
        "softmax": lambda: nl.softmax(tile, axis=1, compute_dtype=nl.float32),
        "store": lambda: nl.store(x, tile, dst_rmw_op=nl.add),
        "third": lambda: nl.add(tile, tile, tile),
        "second": lambda: nl.exp(tile, tile),
        "axis": lambda: nl.add(tile, tile, axis=1),
        "shapes": lambda: nl.where(tile, tile, tile[:, 0:3]),
    }
    made[which]()


@nki.jit
def operators(x, which):
    """An operator that takes more tiles than it is given, or fewer."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    made = {
        "sum_of_one": lambda: nisa.activation(dst=tile, data=tile, op=nl.add),
        "power_of_two": lambda: nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.exp),
        "second": lambda: nisa.scalar_tensor_tensor(dst=tile, data=tile, op0=nl.add, operand0=1.0, op1=nl.abs, operand1=tile),
        "scan": lambda: nisa.tensor_tensor_scan(dst=tile, data0=tile, data1=tile, initial=0.0, op0=nl.exp, op1=nl.add),
        "none": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add),
        "operand": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.abs, operand0=2.0),
        "reversed": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.abs, operand0=0.0, reverse0=True),
        "mean": lambda: nisa.tensor_scalar(dst=tile, data=tile, op0=nl.mean, operand0=1.0),
    }
    made[which]()


@nki.jit
def product_of_whole_numbers(x):
    whole = nl.ndarray((128, 128), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=whole, value=1)
    product = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(product, whole, whole)


@nki.jit
def activation_elsewhere(x):
    tile = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.exp, data=tile, engine=nisa.gpsimd_engine)


@nki.jit
def half_a_register(x):
    nisa.register_alloc(1.5)


@nki.jit
def no_memory(x):
    raise MemoryError("no room")
