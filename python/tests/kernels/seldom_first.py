"""Instructions that kernels seldom call, in the first generation."""

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out


def column(x):
    return nl.ndarray((nl.par_dim(x.shape[0]), 1), dtype=nl.float32, buffer=nl.sbuf)


@nki.jit
def turned(x):
    """A copy and a transpose by DMA, and a tile of one number."""
    tile = nl.ndarray((nl.par_dim(x.shape[0]), x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return stored(nisa.dma_transpose(tile)), stored(nisa.memset(x.shape, 3.0, nl.float32))


@nki.jit
def with_sums(x):
    """Results together with what they are in sum: scaled, squared, and as powers."""
    tile, sums, largest, all_powers = nl.load(x), column(x), column(x), column(x)
    doubled = nisa.tensor_scalar_reduce(data=tile, op0=nl.multiply, operand0=2.0, reduce_op=nl.add, reduce_res=sums)
    squares = nisa.activation_reduce(op=nl.square, data=tile, reduce_op=nl.maximum, reduce_res=largest)
    powers = nisa.exponential(tile, max_value=largest, reduce_res=all_powers, reduce_cmd=nisa.reduce_cmd.reset_reduce)
    return stored(doubled), stored(sums), stored(squares), stored(largest), stored(powers), stored(all_powers)


@nki.jit
def mixed(x, y):
    """`(1 - x) * y`, one over it, and where that is larger than `x`; half the sum of rows."""
    left, right = nl.load(x), nl.load(y)
    product = nisa.scalar_tensor_tensor(data=left, op0=nl.subtract, operand0=1.0, reverse0=True, op1=nl.multiply,
                                        operand1=right)
    inverse = nisa.reciprocal(product)
    nisa.tensor_copy_predicated(src=inverse, dst=left, predicate=nisa.tensor_tensor(inverse, left, op=nl.greater))
    half = nisa.tensor_scalar(nisa.tensor_reduce(nl.add, right, axis=1), op0=nl.multiply, operand0=0.5)
    return stored(product), stored(inverse), stored(left), stored(half)


@nki.jit
def places(x, table):
    """The eight largest of each row, where they are, what a table has there, and the row without them."""
    tile = nl.load(x)
    values = nisa.max8(src=tile)
    where = nisa.nc_find_index8(data=tile, vals=values, dtype=nl.uint32)
    rest = nisa.nc_match_replace8(data=tile, vals=values, imm=-1.0)
    return stored(values), stored(where), stored(nisa.nc_n_gather(data=nl.load(table), indices=where)), stored(rest)


@nki.jit
def shuffled(x):
    """Neighbours change places."""
    tile = nl.load(x)
    swapped = nl.ndarray((nl.par_dim(x.shape[0]), x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.nc_stream_shuffle(src=tile, dst=swapped, shuffle_mask=[i ^ 1 for i in range(32)])
    return stored(swapped)


@nki.jit
def by_names(x):
    """Grids by the names of their axes; parameters as this generation calls them."""
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    grid = nl.mgrid[0:128, 0:64]
    tile = nl.copy(src=nl.load(x[grid.p, grid.x], mask=None), dtype=None)
    nl.store(out[grid.p, grid.x], nl.where(tile > 0, tile, 0.0, mask=None), mask=(grid.p < 100) & (grid.x < 40))
    return out


@nki.jit
def of_all_rows(x, gamma):
    """A tensor of one axis, the same for all rows."""
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), nl.load(gamma.reshape((1, 64)).broadcast_to((128, 64)))))
    return out
