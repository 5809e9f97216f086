"""The second generation: what tests with parameters call."""

import time

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def add(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0] // 128):
        left = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        right = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=x[nl.ds(i * 128, 128)])
        nisa.dma_copy(dst=right, src=y[nl.ds(i * 128, 128)])
        nisa.tensor_tensor(dst=left, data1=left, data2=right, op=nl.add)
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128)], src=left)
    return out


@nki.jit
def repeat(x, count):
    """As often as a number in memory says."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=count)
    trips = nisa.register_alloc()
    nisa.register_load(trips, number)
    for i in nl.dynamic_range(trips):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128)])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128)], src=tile)
    return out


@nki.jit
def exchanged(x):
    """Two cores: each doubles its half and sends it; the first one adds, after a barrier, what is in HBM."""
    assert nl.num_programs(0) == 2, "for two cores"
    me, half = nl.program_id(0), x.shape[0] // 2
    sent = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    mine = nl.ndarray((half, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    theirs = nl.ndarray((half, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=mine, src=x[nl.ds(me * half, half)])
    nisa.tensor_scalar(dst=mine, data=mine, op0=nl.multiply, operand0=2.0)
    nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1 - me, recv_from_rank=1 - me, pipe_id=0)
    nisa.dma_copy(dst=sent[nl.ds(me * half, half)], src=theirs)
    nisa.core_barrier(sent, (0, 1))
    if me == 0:
        for i in range(2):
            tile = nl.ndarray((half, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=sent[nl.ds(i * half, half)])
            nisa.dma_copy(dst=out[nl.ds(i * half, half)], src=tile)
    return out


@nki.jit
def stuck(x):
    """The second core never sends."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    if nl.program_id(0) == 0:
        nisa.sendrecv(src=tile, dst=tile, send_to_rank=1, recv_from_rank=1, pipe_id=0)
    return x


@nki.jit
def unknown(x):
    nisa.frobnicate(dst=x, src=x)
    return x


@nki.jit
def hangs(x):
    while True:
        time.sleep(0.1)


@nki.jit
def huge(x):
    """More multiply-adds than the walk allows."""
    out = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[:, 0:128])
    for _ in range(8):
        product = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=product, stationary=tile, moving=tile)
        nisa.tensor_copy(dst=tile, src=product)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def taken_in_turn(x):
    """Two cores add to the same rows, one after the other, three times: each starts from what the other one wrote."""
    assert nl.num_programs(0) == 2, "for two cores"
    me = nl.program_id(0)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for turn in range(6):
        if turn % 2 == me:
            tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=out if turn else x)
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=float(turn + 1))
            nisa.dma_copy(dst=out, src=tile)
        nisa.core_barrier(out, (0, 1))
    return out


@nki.jit
def kept_above(x, count):
    """Two cores, each with half of the rows: as often as memory says, these become what the other half is, at least 2."""
    assert nl.num_programs(0) == 2, "for two cores"
    me, half = nl.program_id(0), x.shape[0] // 2
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    mine = nl.ndarray((half, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=mine, src=x[nl.ds(me * half, half)])
    nisa.dma_copy(dst=out[nl.ds(me * half, half)], src=mine)
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=count)
    trips = nisa.register_alloc()
    nisa.register_load(trips, number)
    nisa.core_barrier(out, (0, 1))
    for _ in nl.dynamic_range(trips):
        tile = nl.ndarray((half, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=out[nl.ds((1 - me) * half, half)])
        nisa.core_barrier(out, (0, 1))
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.maximum, operand0=2.0)
        nisa.dma_copy(dst=out[nl.ds(me * half, half)], src=tile)
        nisa.core_barrier(out, (0, 1))
    return out


@nki.jit
def rows_in_turn(x, rows):
    """Two cores add to rows that a table names: whether the other one has written them follows from the table alone."""
    assert nl.num_programs(0) == 2, "for two cores"
    me, half, columns = nl.program_id(0), x.shape[0] // 2, x.shape[1]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    mine = nl.ndarray((half, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=mine, src=x[nl.ds(me * half, half)])
    nisa.dma_copy(dst=out[nl.ds(me * half, half)], src=mine)
    nisa.core_barrier(out, (0, 1))
    for turn in range(rows.shape[0]):
        index = nl.ndarray((16, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=index, src=rows[turn, me])
        place = out.ap([[columns, 16], [1, columns]], vector_offset=index, indirect_dim=0)
        tile = nl.ndarray((16, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=place)
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=place, src=tile)
        nisa.core_barrier(out, (0, 1))
    return out
