"""Instructions that move, look for or summarise elements on the chip."""

import neuronxcc.nki.isa as first_isa
import neuronxcc.nki.language as first_nl
import nki
import nki.isa as nisa
import nki.language as nl



def loaded(source):
    tile = nl.ndarray(source.shape, dtype=source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, source)
    return tile


def stored(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def shuffled(x):
    """Neighbours change places in each quadrant; every fourth partition stays as it was: 7."""
    tile, swapped = loaded(x), nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(swapped, 7.0)
    mask = [255 if i % 4 == 3 else i ^ 1 for i in range(32)]
    nisa.nc_stream_shuffle(src=tile, dst=swapped, shuffle_mask=mask)
    return stored(swapped)


@nki.jit
def spread(x):
    """One partition, copied to a quadrant."""
    tile, copies = loaded(x), nl.ndarray((32, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.nc_stream_shuffle(src=tile, dst=copies, shuffle_mask=[5] * 32)
    return stored(copies)


@nki.jit
def summed(x, y):
    """By the DMA, one of them scaled."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_compute(dst=tile, srcs=[x, y, x], scales=(1.0, 2.0, 1.0), reduce_op=nl.add)
    return stored(tile)


@nki.jit
def spread_of_rows(x):
    """Mean and variance of each row, from two parts of it; the first part is odd."""
    tile, parts = loaded(x), nl.ndarray((x.shape[0], 12), dtype=nl.float32, buffer=nl.sbuf)
    nisa.bn_stats(dst=parts[:, 0:6], data=tile[:, 0:33])
    nisa.bn_stats(dst=parts[:, 6:12], data=tile[:, 33:x.shape[1]])
    result = nl.ndarray((x.shape[0], 2), dtype=nl.float32, buffer=nl.sbuf)
    nisa.bn_aggr(dst=result, data=parts)
    return stored(result)


def spread_first(x):
    """The same in the first generation, whose results are new tiles."""
    tile = first_nl.load(x)
    result = first_isa.bn_aggr(first_isa.bn_stats(tile))
    out = first_nl.ndarray(result.shape, dtype=x.dtype, buffer=first_nl.shared_hbm)
    first_nl.store(out, result)
    return out


@nki.jit
def largest(x, table):
    """The eight largest of each row; where they were they become -1, and the table gives what stands there."""
    tile, values = loaded(x), nl.ndarray((x.shape[0], 8), dtype=x.dtype, buffer=nl.sbuf)
    places = nl.ndarray((x.shape[0], 8), dtype=nl.uint32, buffer=nl.sbuf)
    nisa.max8(dst=values, src=tile)
    nisa.nc_match_replace8(dst=tile, data=tile, vals=values, imm=-1.0, dst_idx=places)
    looked_up = nl.ndarray((x.shape[0], 8), dtype=table.dtype, buffer=nl.sbuf)
    nisa.nc_n_gather(dst=looked_up, data=loaded(table), indices=places)
    return stored(tile), stored(places), stored(looked_up)


@nki.jit
def other_bits(x):
    """Pairs of bf16 move as f32: the other way round, and are bf16 again, all of them and every other one; a whole
    number in the last two columns."""
    rows, columns = x.shape
    pairs = nl.ndarray((rows, columns // 2), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(pairs, x.view(nl.float32))
    turned = nl.ndarray((columns // 2, rows), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_transpose(turned, pairs, engine=nisa.vector_engine)
    every = nl.ndarray((columns // 2, 2 * rows), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(every, turned.view(nl.bfloat16), op0=nl.multiply, operand0=2.0)
    second = nl.ndarray((columns // 2, rows), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.tensor_copy(second, turned.view(nl.bfloat16)[:, 1::2])
    number = nl.ndarray((rows, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(number, x.ap([[columns // 2, rows], [1, 1]], offset=columns // 2 - 1, dtype=nl.int32))
    return stored(every), stored(second), stored(number)


@nki.jit
def turned(x):
    """Tiles turned by a product with the identity, which each iteration asks for."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0] // 32):
        identity = loaded(nl.shared_identity_matrix(32, dtype=nl.float32))
        tile = loaded(x[i * 32:(i + 1) * 32])
        product = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(product, tile, identity)
        result = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(result, product)
        nisa.dma_copy(out[i * 32:(i + 1) * 32], result)
    return out


@nki.jit
def gathered_by_core(x, index):
    """Elements at the indices of the partition's core, which has them column by column."""
    tile, places = loaded(x), loaded(index)
    result = nl.ndarray((x.shape[0], 16 * index.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.local_gather(dst=result, src_buffer=tile, index=places, num_elem_per_idx=1,
                      num_valid_indices=16 * index.shape[1])
    return stored(result)


@nki.jit
def nonzero(x):
    """Of the first row of each 16; the others of the result stay 0."""
    tile = loaded(x)
    places = nl.ndarray((x.shape[0], x.shape[1] + 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(places, 0)
    nisa.nonzero_with_count(dst=places, src=tile, index_offset=100, padding_val=-1)
    return stored(places)


@nki.jit
def skipping(x, rows, start):
    """Rows by a table with entries beyond the tensor, and a copy to an address beyond it."""
    tile, table = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf), loaded(rows)
    nisa.memset(tile, 5.0)
    nisa.dma_copy(tile, x.ap([[x.shape[1], 128], [1, x.shape[1]]], vector_offset=table, indirect_dim=0),
                  oob_mode=nisa.oob_mode.skip)
    out = nl.ndarray((256, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    both = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(both, 0.0)
    nisa.dma_copy(out[0:128], both)
    nisa.dma_copy(out[128:256], tile)
    nisa.dma_copy(out.ap([[x.shape[1], 128], [1, x.shape[1]]], scalar_offset=loaded(start), indirect_dim=0), tile,
                  oob_mode=nisa.oob_mode.skip)
    return out


@nki.jit
def scaled_product(x, y):
    """Both are rounded in blocks of 8 partitions by 4 numbers; a word holds four."""
    words = []
    for source, element in ((x, nl.float8_e4m3fn_x4), (y, nl.float8_e5m2_x4)):
        tile, width = loaded(source), source.shape[1] // 4
        numbers = nl.ndarray((source.shape[0], width), dtype=element, buffer=nl.sbuf)
        scales = nl.ndarray((source.shape[0], width), dtype=nl.uint8, buffer=nl.sbuf)
        nisa.memset(scales, 1)
        nisa.quantize_mx(dst=numbers, src=tile, dst_scale=scales)
        words.append((numbers, scales))
    (a, scale_a), (b, scale_b) = words
    product = nl.ndarray((a.shape[1], b.shape[1]), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul_mx(dst=product, stationary=a, moving=b, stationary_scale=scale_a, moving_scale=scale_b)
    result = nl.ndarray(product.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(result, product)
    bits = nl.ndarray(a.shape, dtype=nl.uint32, buffer=nl.shared_hbm)
    nisa.dma_copy(bits.view(nl.float8_e4m3fn_x4), a)
    return stored(result), bits, stored(scale_b)


@nki.jit
def decoded(words, scales, ones, one_scales, element):
    """Products of words with words that hold one number: those of the first partition; and where they are numbers."""
    a, b = loaded(ones.view(element)), loaded(words.view(element))
    product = nl.ndarray((a.shape[1], b.shape[1]), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul_mx(dst=product, stationary=a, moving=b, stationary_scale=loaded(one_scales),
                      moving_scale=loaded(scales))
    limited = nl.ndarray(product.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(limited, product, op0=nl.minimum, operand0=1e9, op1=nl.maximum, operand1=-1e9)
    is_number = nl.ndarray(product.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(is_number, product, product, nl.equal)
    return stored(limited), stored(is_number)


@nki.jit
def added_up(x):
    """The first generation's sum over a loop: the destination is the other operand."""
    out = first_nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=first_nl.shared_hbm)
    total = first_nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=first_nl.sbuf)
    total[...] = 0.0
    for i in first_nl.affine_range(x.shape[0] // 128):
        tile = first_nl.load(x[i * 128:(i + 1) * 128])
        total[...] = first_nl.loop_reduce(tile, op=first_nl.add, loop_indices=[i])
    first_nl.store(out, total)
    return out


@nki.jit
def offset_in_rows(x, rows):
    """A register's row of a tensor that was reshaped: the unit is a row of the new shape."""
    table, tile = loaded(rows), nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.sbuf)
    flat = x.reshape((x.shape[0] * x.shape[1] // 8, 8))
    nisa.dma_copy(tile, flat.ap([[8, 4], [1, 8]], scalar_offset=table, indirect_dim=0))
    return stored(tile)


@nki.jit
def windows(x):
    """The largest of each window of three columns, which overlap: of an input, in tiles of rows."""
    rows, width = x.shape[0] // 2, x.shape[1]
    out = nl.ndarray((x.shape[0], width - 2), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(2):
        tile = nl.ndarray((rows, width - 2, 3), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x.ap([[width, rows], [1, width - 2], [1, 3]], offset=i * rows * width))
        largest = nl.ndarray((rows, width - 2), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=largest, op=nl.max, data=tile, axis=2)
        nisa.dma_copy(out[nl.ds(i * rows, rows)], largest)
    return out


@nki.jit
def expert(weights, chosen):
    """Columns 8 to 15 of one matrix of several, by a number in memory, go to the right half of rows from there on."""
    number, tile = loaded(chosen), nl.ndarray((32, 8), dtype=weights.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, weights.ap([[24, 32], [1, 8]], offset=8, scalar_offset=number, indirect_dim=0))
    out = nl.ndarray((40, 16), dtype=weights.dtype, buffer=nl.shared_hbm)
    empty = nl.ndarray((40, 16), dtype=weights.dtype, buffer=nl.sbuf)
    nisa.memset(empty, 0.0)
    nisa.dma_copy(out, empty)
    nisa.dma_copy(out.ap([[16, 32], [1, 8]], offset=8, scalar_offset=number, indirect_dim=0), tile)
    return out


@nki.jit
def neighbours(x):
    """Sums of three rows of each matrix, which overlap, loaded as they are from three axes."""
    count, rows, columns = x.shape
    tile = nl.ndarray((count, rows - 2, 3, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x.ap([[rows * columns, count], [columns, rows - 2], [columns, 3], [1, columns]]))
    sums = nl.ndarray((count, rows - 2, columns), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=sums, op=nl.add, data=tile, axis=2)
    return stored(sums)


@nki.jit
def tokens(x, table, start):
    """Half of the columns of rows by a table, from a row on that is in memory; what comes out goes to other rows."""
    places, first = loaded(table), loaded(start)
    half = x.shape[1] // 2
    tile = nl.ndarray((32, half), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x.ap([[x.shape[1], 32], [1, half]], offset=half, vector_offset=places, indirect_dim=0))
    more = nl.ndarray((32, half), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(more, x.ap([[x.shape[1], 32], [1, half]], offset=2, scalar_offset=first, indirect_dim=0))
    nisa.tensor_tensor(tile, tile, more, nl.add)
    out = nl.ndarray((x.shape[0], half), dtype=x.dtype, buffer=nl.shared_hbm)
    empty = nl.ndarray((x.shape[0], half), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(empty, 0.0)
    nisa.dma_copy(out, empty)
    nisa.dma_copy(out.ap([[half, 32], [1, half]], vector_offset=places, indirect_dim=0), tile)
    return out


@nki.jit
def every(x, y, of_one, of_two):
    """Each of these operators."""
    left, right = loaded(x), loaded(y)
    out = nl.ndarray((len(of_one) + len(of_two), *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    for number, name in enumerate([*of_one, *of_two]):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        if name in of_one:
            nisa.activation(dst=tile, op=getattr(nl, name), data=left)
        else:
            nisa.tensor_tensor(dst=tile, data1=left, data2=right, op=getattr(nl, name))
        nisa.dma_copy(out[number], tile)
    return out


@nki.jit
def chosen_largest(x, chosen):
    """The numbers that a predicate chooses, or 0.5, and the largest of each row."""
    tile, predicate = loaded(x), loaded(chosen)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    largest = nl.ndarray((x.shape[0], 1), dtype=x.dtype, buffer=nl.sbuf)
    nisa.select_reduce(dst=result, predicate=predicate, on_true=tile, on_false=0.5, reduce_res=largest,
                       reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_op=nl.maximum)
    return stored(result), stored(largest)


@nki.jit
def by_identity(x):
    """Transposed by a product with a constant on the chip, block by block."""
    rows, columns = x.shape
    out = nl.ndarray((columns, rows), dtype=x.dtype, buffer=nl.shared_hbm)
    identity = nl.shared_identity_matrix(128, dtype=nl.float32)
    for i in range(rows // 128):
        block = nl.ndarray((columns, 128), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(block, stationary=loaded(x[i * 128:(i + 1) * 128, :]), moving=identity[0:128, 0:128])
        turned = nl.ndarray((columns, 128), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=turned, src=block)
        nisa.dma_copy(out[:, i * 128:(i + 1) * 128], turned)
    return out
