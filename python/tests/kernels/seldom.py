"""Instructions that kernels seldom call, in the second generation."""

import nki
import nki.isa as nisa
import nki.language as nl


def tile_like(x, columns=None, dtype=nl.float32):
    return nl.ndarray((x.shape[0], columns or x.shape[1]), dtype=dtype, buffer=nl.sbuf)


def loaded(x):
    tile = tile_like(x)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def turned(x):
    """A transpose on the way from HBM, and one over each element."""
    tile = nl.ndarray(x.shape[::-1], dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_transpose(dst=tile, src=x)
    inverse = tile_like(x)
    nisa.reciprocal(dst=inverse, data=loaded(x))
    return stored(tile), stored(inverse)


@nki.jit
def with_sums(x):
    """Results together with what they are in sum: scaled, squared, and as powers."""
    tile = loaded(x)
    doubled, squares, powers = (tile_like(x) for _ in range(3))
    sums, largest, all_powers = (tile_like(x, 1) for _ in range(3))
    nisa.tensor_scalar_reduce(dst=doubled, data=tile, op0=nl.multiply, operand0=2.0, reduce_op=nl.add, reduce_res=sums)
    nisa.activation_reduce(dst=squares, op=nl.square, data=tile, reduce_op=nl.maximum, reduce_res=largest)
    nisa.exponential(dst=powers, src=tile, max_value=largest, reduce_res=all_powers,
                     reduce_cmd=nisa.reduce_cmd.reset_reduce)
    return stored(doubled), stored(sums), stored(squares), stored(largest), stored(powers), stored(all_powers)


@nki.jit
def between(x, low, high):
    """The elements whose places lie between two bounds of their row, and the largest of them."""
    tile, kept, largest = loaded(x), tile_like(x), tile_like(x, 1)
    nisa.range_select(dst=kept, on_true_tile=tile, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=loaded(low),
                      bound1=loaded(high), range_start=3, on_false_value=-9.0, reduce_res=largest)
    return stored(kept), stored(largest)


@nki.jit
def over_rows(x):
    """Sums over partitions, and along each of them."""
    tile, ones, along = loaded(x), tile_like(x), tile_like(x)
    over = nl.ndarray((1, x.shape[1]), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_partition_reduce(dst=over, op=nl.add, data=tile)
    nisa.memset(dst=ones, value=1.0)
    nisa.tensor_tensor_scan(dst=along, data0=ones, data1=tile, initial=0.0, op0=nl.multiply, op1=nl.add)
    return stored(over), stored(along)


@nki.jit
def places(x):
    """The eight largest of each row, and where they are."""
    tile, values, where = loaded(x), tile_like(x, 8), tile_like(x, 8, nl.uint32)
    nisa.max8(dst=values, src=tile)
    nisa.nc_find_index8(dst=where, data=tile, vals=values)
    return stored(values), stored(where)


@nki.jit
def listed(x):
    """As many results as there are blocks of rows, in a list."""
    results = [nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm) for _ in range(x.shape[0] // 128)]
    for i, result in enumerate(results):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128)])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=3.0)
        nisa.dma_copy(dst=result, src=tile)
    return results


@nki.jit
def of_one(x):
    """Operators of one tile where an operand may stand: magnitudes and the largest, roots of what was scaled, and a sum."""
    tile, magnitudes, roots, result, largest = loaded(x), tile_like(x), tile_like(x), tile_like(x), tile_like(x, 1)
    nisa.tensor_scalar_reduce(dst=magnitudes, data=tile, op0=nl.abs, operand0=0.0, reduce_op=nl.maximum, reduce_res=largest)
    nisa.tensor_scalar(dst=roots, data=magnitudes, op0=nl.add, operand0=1.0, op1=nl.rsqrt, operand1=0.0)
    nisa.scalar_tensor_tensor(dst=result, data=roots, op0=nl.square, operand0=0.0, op1=nl.add, operand1=tile)
    return stored(magnitudes), stored(largest), stored(roots), stored(result)


@nki.jit
def typed(x):
    """A type next to a tile that has a type."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile, result = loaded(x), nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=tile, dtype=nl.float32)
    nisa.tensor_copy(dst=result, src=tile, dtype=nl.bfloat16)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def of_all_rows(x, gamma):
    """A tensor of one axis, the same for all rows."""
    rows, tile = x.shape[0], loaded(x)
    for_each = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=for_each, src=gamma.ap(pattern=[[0, rows], [1, gamma.shape[0]]], offset=0))
    nisa.tensor_tensor(dst=tile, data1=tile, data2=for_each, op=nl.multiply)
    return stored(tile)


@nki.jit
def further_from_zero(x, y):
    """Of two numbers that which is farther from zero, with its sign, and that which is nearer."""
    first, second = loaded(x), loaded(y)
    far, near = tile_like(x), tile_like(x)
    nisa.tensor_tensor(dst=far, data1=first, data2=second, op=nl.abs_max)
    nisa.tensor_tensor(dst=near, data1=first, data2=second, op=nl.abs_min)
    return stored(far), stored(near)


@nki.jit
def not_there(x, values):
    """The places of numbers, some of which are not there."""
    tile, wanted = loaded(x), loaded(values)
    of_32, of_16, signed = (nl.ndarray((x.shape[0], 8), dtype=each, buffer=nl.sbuf) for each in (nl.uint32, nl.uint16, nl.int32))
    for places in (of_32, of_16, signed):
        nisa.nc_find_index8(dst=places, data=tile, vals=wanted)
    return stored(of_32), stored(of_16), stored(signed)


@nki.jit
def added_by_table(x, places):
    """Rows that are added at places from memory."""
    sums = nl.ndarray((16, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    zeros, numbers = tile_like(x), nl.ndarray((16, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=zeros, value=0.0)
    nisa.dma_copy(dst=sums, src=zeros)
    nisa.dma_copy(dst=numbers, src=places)
    nisa.dma_copy(dst=sums.ap(pattern=[[8, 16], [1, 8]], offset=0, vector_offset=numbers, indirect_dim=0), src=loaded(x),
                  dst_rmw_op=nl.add)
    return sums
