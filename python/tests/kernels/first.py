"""Kernels in the first generation of the interface: results are returned."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt
import numpy as np


@nki.jit
def add(a, b):
    """Index grids, and a mask for the rows that are left over."""
    rows, columns = a.shape
    out = nl.ndarray((rows, columns), dtype=a.dtype, buffer=nl.shared_hbm)
    place, column = nl.mgrid[0:128, 0:columns]
    for i in nl.affine_range((rows + 127) // 128, multi_buffer=2):
        inside = i * 128 + place < rows
        left = nl.load(a[i * 128 + place, column], mask=inside)
        right = nl.load(b[i * 128 + place, column], mask=inside)
        nl.store(out[i * 128 + place, column], value=left + right, mask=inside)
    return out


@nki.jit
def softmax(x):
    """Operators on tiles, reductions and columns."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // 128):
        tile = nl.load(x[nl.ds(i * 128, 128), :])
        shifted = nl.subtract(tile, nl.max(tile, axis=1))
        powers: nt.tensor[128, 512] = nl.exp(shifted)
        nl.store(out[nl.ds(i * 128, 128), :], powers / nl.sum(powers, axis=1))
    return out


@nki.jit
def product(a, b):
    """`sum += product` in PSUM, `dst[...] = operation`, and a reduction together with an activation."""
    depth, rows = a.shape
    out = nl.ndarray((rows, b.shape[1]), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    sums = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray((nl.par_dim(128), depth // 128, rows), dtype=nl.bfloat16, buffer=nl.sbuf)
    right = nl.ndarray((nl.par_dim(128), depth // 128, b.shape[1]), dtype=nl.bfloat16, buffer=nl.sbuf)
    for k in nl.affine_range(depth // 128):
        left[:, k, :] = nl.load(a[nl.ds(k * 128, 128), :], dtype=nl.bfloat16)
        right[:, k, :] = nl.load(b[nl.ds(k * 128, 128), :], dtype=nl.bfloat16)
    total = nl.zeros((rows, b.shape[1]), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range(depth // 128):
        total += nisa.nc_matmul(left[:, k, :], right[:, k, :])
    row = nl.ndarray((nl.par_dim(rows), 1), dtype=nl.float32, buffer=nl.sbuf)
    result = nl.ndarray((nl.par_dim(rows), b.shape[1]), dtype=nl.bfloat16, buffer=nl.sbuf)
    result[...] = nisa.activation(op=nl.exp, data=total, scale=0.01, reduce_op=nl.add, reduce_res=row[:, 0],
                                  reduce_cmd=nisa.reduce_cmd.reset_reduce)
    nl.store(out, result)
    nl.store(sums, row)
    return out, sums


@nki.jit
def rows_by_tile(x, table):
    """Rows whose numbers are in a tile, read by index grids, and written to others."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows, place = nl.load(table), nl.arange(128)[:, None]
    column = nl.arange(x.shape[1])[None, :]
    tile = nl.load(x[rows[place, 0], column])
    nl.store(out[rows[:, 1:2], column], tile)
    return out


@nki.jit
def scan(x):
    """What the language of kernels cannot say, between what it can."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    ones = nl.full(x.shape, 1.0, dtype=nl.float32)
    sums = nisa.tensor_tensor_scan(ones, tile, initial=0.0, op0=np.multiply, op1=np.add)
    nl.store(out, sums)
    return out


@nki.jit
def blocks(x):
    """The program of a launch grid that is traced."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first = nl.program_id(0) * 128
    rows = first + nl.arange(128)[:, None]
    columns = nl.arange(x.shape[1])[None, :]
    nl.store(out[rows, columns], nl.load(x[rows, columns]) * 3.0)
    return out


@nki.jit
def used_again(x):
    """A result that is assigned and used: the assignment must not take it away."""
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    kept = nl.ndarray((nl.par_dim(128), 64), dtype=x.dtype, buffer=nl.sbuf)
    tile = nl.load(x)
    squares = nisa.activation(op=nl.square, data=tile)
    kept[...] = squares
    nl.store(out[0], kept)
    nl.store(out[1], squares + kept)
    return out


@nki.jit
def windows(x):
    """Sums over windows that overlap: index grids, and tiles that are not boxes."""
    rows, columns = x.shape
    out = nl.ndarray((rows, columns - 2), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    row, first, offset = nl.mgrid[0:rows, 0:columns - 2, 0:3]
    nl.store(out, nl.sum(tile[row, first + offset], axis=2))
    return out


@nki.jit
def clipped(x):
    """Comparisons are operators like any other."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile * (tile > 0) + (tile <= -1))
    return out


@nki.jit
def decided(x):
    if nl.load(x) > 0:
        nl.store(x, 0.0)


@nki.jit
def pooled(x):
    """The largest of each 2 x 2 that overlap, in two axes; a mask lets the first rows through."""
    partitions, rows, columns = x.shape
    out = nl.ndarray((partitions, rows - 1, columns - 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    part, row, column, down, right = nl.mgrid[0:partitions, 0:rows, 0:columns - 1, 0:2, 0:2]
    largest = nl.max(tile[part, row + down, column + right], axis=(3, 4), mask=(row < rows - 1))
    part, row, column = nl.mgrid[0:partitions, 0:rows, 0:columns - 1]
    nl.store(out[part, row, column], value=largest, mask=(row < rows - 1))
    return out


@nki.jit
def transposes(x):
    """On both engines that can, and back."""
    out = nl.ndarray((2, x.shape[1], x.shape[0]), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    through_psum = nisa.tensor_copy(nisa.nc_transpose(tile), engine=nisa.gpsimd_engine)
    nl.store(out[0], through_psum)
    nl.store(out[1], nisa.nc_transpose(tile, engine=nisa.vector_engine))
    return out


@nki.jit
def zeros(a, b):
    """Zeros that are read as they are, and zeros of which a sum covers half."""
    rows, columns = a.shape[1], b.shape[1]
    out = nl.ndarray((2, rows, 2 * columns), dtype=nl.float32, buffer=nl.shared_hbm)
    none = nl.zeros((rows, 2 * columns), dtype=nl.float32, buffer=nl.psum)
    nl.store(out[0], nisa.tensor_copy(none))
    half = nl.zeros((rows, 2 * columns), dtype=nl.float32, buffer=nl.psum)
    half[:, 0:columns] += nisa.nc_matmul(nl.load(a), nl.load(b))
    nl.store(out[1], nisa.tensor_copy(half))
    return out


@nki.jit
def normed(x, weight):
    """Results under a mask that are assigned: the rest of the tile stays as it was."""
    rows, columns = x.shape
    out = nl.ndarray((rows, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    row, column = nl.arange(128)[:, None], nl.arange(columns)[None, :]
    factors = nl.load(weight.reshape((1, columns))).broadcast_to((128, columns))
    for i in nl.affine_range((rows + 127) // 128):
        inside = i * 128 + row < rows
        tile = nl.load(x[i * 128 + row, column], mask=inside)
        squares = nl.sum(nl.square(tile), axis=[1]) / columns
        result = nl.multiply(tile, nl.rsqrt(squares))
        result[...] = nl.multiply(result, factors, mask=inside)
        nl.store(out[i * 128 + row, column], value=result, mask=inside)
    return out


@nki.jit
def kept_outside(x):
    """Assigned under masks: with another type, so it is a copy, and where the mask lets nothing through."""
    out = nl.ndarray(x.shape, dtype=nl.bfloat16, buffer=nl.shared_hbm)
    row, column = nl.mgrid[0:x.shape[0], 0:x.shape[1]]
    tile, result = nl.load(x), nl.zeros(x.shape, dtype=nl.bfloat16, buffer=nl.sbuf)
    for i in nl.affine_range(3):
        result[...] = nl.multiply(tile, 2.0, dtype=nl.float16, mask=(row + 4 * i < 8))
    nl.store(out, result)
    return out


@nki.jit
def named(x, weight):
    """Functions of the language that are several instructions."""
    out = nl.ndarray((8, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    tile, factors = nl.load(x), nl.load(weight)
    nl.store(out[0], nl.softmax(tile, axis=-1))
    nl.store(out[1], nl.rms_norm(tile, factors, axis=1, n=x.shape[1]))
    nl.store(out[2], nl.var(tile, axis=[1]).broadcast_to(x.shape))
    nl.store(out[3], nl.all(nl.greater(tile, -1.0), axis=1).broadcast_to(x.shape))
    positive, column = nl.greater(tile, 0.0), nl.max(tile, axis=1, keepdims=True)
    nl.store(out[4], nl.where(positive, column, tile))
    nl.store(out[5], nl.where(positive, tile, -1))
    nl.store(out[6], nl.where(nl.greater(column, 1.5), 0.5, tile, dtype=nl.float16))
    nl.store(out[7], nl.subtract(1.0, column, dtype=nl.float16).broadcast_to(x.shape))
    return out


@nki.jit
def band(x):
    """A condition on index grids, and the numbers of one."""
    out = nl.ndarray((2, *x.shape), dtype=nl.float32, buffer=nl.shared_hbm)
    row, column = nl.arange(x.shape[0])[:, None], nl.arange(x.shape[1])[None, :]
    near = (row >= column) & (row < column + 5)
    nl.store(out[0], nisa.affine_select(pred=near, on_true_tile=nl.load(x), on_false_value=-1.0))
    nl.store(out[1], nl.copy(nisa.iota(3 * row - column + 2, dtype=nl.int32), dtype=nl.float32))
    return out


@nki.jit
def of_columns(x):
    """Sums over partitions, by gpsimd and by a product with ones."""
    out = nl.ndarray((2, x.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    tile, ones = nl.load(x), nl.ones((x.shape[0], 1), dtype=nl.float32, buffer=nl.sbuf)
    nl.store(out[0:1], nisa.tensor_partition_reduce(np.add, tile))
    nl.store(out[1:2], nl.copy(nl.matmul(ones, tile, transpose_x=True)))
    return out


@nki.jit
def of_results(x, y):
    """Products of what other functions of the language have left in psum."""
    tile, other = nl.load(x), nl.load(y)
    product = nl.matmul(tile, nl.transpose(other))
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.copy(nl.matmul(product, other)))
    return out
