"""Kernels whose loops run as often as a number in memory says."""

import nki
import nki.isa as nisa
import nki.language as nl


def register_from(tensor):
    """The number in a tensor of one element."""
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=tensor)
    register = nisa.register_alloc()
    nisa.register_load(register, number)
    return register


@nki.jit
def rows(x, n):
    """Tiles at an address that follows from the loop's index."""
    columns = x.shape[1]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count = register_from(n)
    for i in nl.dynamic_range(count):
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf, name=f"tile_{i}")
        nisa.dma_copy(dst=tile, src=x.ap([[columns, 128], [1, columns]], scalar_offset=i * 128))
        result = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.activation(dst=result, op=nl.exp, data=tile, scale=-0.5)
        nisa.dma_copy(dst=out.ap([[columns, 128], [1, columns]], scalar_offset=i * 128), src=result)
    return out


@nki.jit
def counter(x, n):
    """An address in memory to which each iteration adds, in a `while` on a register."""
    columns = x.shape[1]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    left = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=n)
    start = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=start, value=0)
    more = nisa.register_alloc()
    nisa.register_load(more, left)
    while more:
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.ap([[columns, 128], [1, columns]], scalar_offset=start))
        nisa.dma_copy(dst=out.ap([[columns, 128], [1, columns]], scalar_offset=start), src=tile)
        nisa.tensor_scalar(dst=start, data=start, op0=nl.add, operand0=128)
        nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
        nisa.register_load(more, left)
    return out


@nki.jit
def sums(x, n, m):
    """A dynamic loop in a dynamic loop, with a sum over the inner one."""
    columns = x.shape[2]
    out = nl.ndarray((x.shape[0], 128, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    outer, inner = register_from(n), register_from(m)
    for i in nl.dynamic_range(outer):
        total = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=total, value=0.0)
        for j in nl.dynamic_range(inner):
            tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[i, nl.ds(j * 128, 128), :])
            nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
        nisa.dma_copy(dst=out[i], src=total)
    return out


@nki.jit
def product(a, b, n):
    """`fori_loop` with a static loop inside, and a sum in PSUM over the dynamic one."""
    depth = register_from(n)
    out = nl.ndarray((128, b.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.ndarray((128, b.shape[1]), dtype=nl.float32, buffer=nl.psum)

    def step(k):
        left = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=a[nl.ds(k * 128, 128), :])
        right = nl.ndarray((128, b.shape[1]), dtype=b.dtype, buffer=nl.sbuf)
        for part in range(b.shape[1] // 64):
            nisa.dma_copy(dst=right[:, part * 64:(part + 1) * 64],
                          src=b[nl.ds(k * 128, 128), part * 64:(part + 1) * 64])
        nisa.nc_matmul(total, left, right)

    nl.fori_loop(0, depth, step)
    result = nl.ndarray((128, b.shape[1]), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=total)
    nisa.dma_copy(dst=out, src=result)
    return out


@nki.jit
def counted_by_python(x, n):
    """The device runs one body, so Python must not count its iterations."""
    count, at = register_from(n), 0
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for _ in nl.dynamic_range(count):
        nisa.dma_copy(dst=out[at:at + 128], src=x[at:at + 128])
        at += 128
    return out


@nki.jit
def first_is_special(x, n):
    """A condition on the index is a condition of Python."""
    count = register_from(n)
    for i in nl.dynamic_range(count):
        if i == 0:
            nisa.dma_copy(dst=x[0:128], src=x[128:256])


@nki.jit
def left_early(x, n):
    """`break` out of a dynamic loop."""
    count = register_from(n)
    for i in nl.dynamic_range(count):
        nisa.dma_copy(dst=x[0:128], src=x[128:256])
        break
    nisa.dma_copy(dst=x[0:128], src=x[128:256])


@nki.jit
def carried(x, n):
    """An address that the first iteration finds elsewhere than the others: three trips show it."""
    columns = x.shape[1]
    count = register_from(n)
    start = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=start, value=0)
    for _ in nl.dynamic_range(count):
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.ap([[columns, 128], [1, columns]], scalar_offset=start))
        nisa.memset(dst=start, value=128)


@nki.jit
def gathered(x, where, n):
    """Addresses from an input: known only when it runs."""
    columns = x.shape[1]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count = register_from(n)
    for i in nl.dynamic_range(count):
        start = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=start, src=where[nl.ds(i, 1), :])
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.ap([[columns, 128], [1, columns]], scalar_offset=start))
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=tile)
    return out


@nki.jit
def after_the_loop(x, n):
    """An address that has grown with the trips of a dynamic loop is not known after it."""
    columns = x.shape[1]
    out = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.shared_hbm)
    count = register_from(n)
    start = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=start, value=0)
    tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
    for _ in nl.dynamic_range(count):
        nisa.dma_copy(dst=tile, src=x.ap([[columns, 128], [1, columns]], scalar_offset=start))
        nisa.tensor_scalar(dst=start, data=start, op0=nl.add, operand0=128)
    nisa.dma_copy(dst=tile, src=x.ap([[columns, 128], [1, columns]], scalar_offset=start))
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def doubled(x, n):
    """An address that does not grow evenly, although two iterations would not show it."""
    columns = x.shape[1]
    count = register_from(n)
    start = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=start, value=1)
    tile = nl.ndarray((64, columns), dtype=x.dtype, buffer=nl.sbuf)
    for _ in nl.dynamic_range(count):
        nisa.dma_copy(dst=tile, src=x.ap([[columns, 64], [1, columns]], scalar_offset=start))
        nisa.tensor_scalar(dst=start, data=start, op0=nl.multiply, operand0=2)


@nki.jit
def start_and_step(x, last):
    """Bounds that are registers, and a step."""
    columns = x.shape[1]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    begin, end = nisa.register_alloc(0), register_from(last)
    for i in nl.dynamic_range(begin, end, 128):
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.ap([[columns, 128], [1, columns]], scalar_offset=i))
        nisa.activation(dst=tile, op=nl.sigmoid, data=tile)
        nisa.dma_copy(dst=out.ap([[columns, 128], [1, columns]], scalar_offset=i), src=tile)
    return out


@nki.jit
def running(x, n):
    """The largest number and the sum of powers of each row so far, both kept on the chip from trip to trip."""
    out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
    largest = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=largest, value=-100.0)
    nisa.memset(dst=total, value=0.0)
    count = register_from(n)
    for i in nl.dynamic_range(count):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
        top = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=top, op=nl.maximum, data=tile, axis=1)
        nisa.tensor_tensor(dst=top, data1=top, data2=largest, op=nl.maximum)
        change = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=change, data1=largest, data2=top, op=nl.subtract)
        nisa.activation(dst=change, op=nl.exp, data=change)
        nisa.tensor_scalar(dst=total, data=total, op0=nl.multiply, operand0=change)
        nisa.tensor_copy(dst=largest, src=top)
        power, part = (nl.ndarray((128, width), dtype=nl.float32, buffer=nl.sbuf) for width in (x.shape[1], 1))
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.subtract, operand0=top)
        nisa.activation(dst=power, op=nl.exp, data=tile, reduce_op=nl.add, reduce_res=part,
                        reduce_cmd=nisa.reduce_cmd.reset_reduce)
        nisa.tensor_tensor(dst=total, data1=total, data2=part, op=nl.add)
    nisa.dma_copy(dst=out[:, 0:1], src=largest)
    nisa.dma_copy(dst=out[:, 1:2], src=total)
    return out


@nki.jit
def triangles(x, n):
    """Loops of known trips, one of them as long as the other says, in a dynamic one."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count = register_from(n)
    for k in nl.dynamic_range(count):
        for i in range(4):
            total = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=total, src=x[nl.ds(k * 128, 128), i:i + 1])
            for j in range(i):
                before = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=before, src=x[nl.ds(k * 128, 128), j:j + 1])
                nisa.tensor_tensor(dst=total, data1=total, data2=before, op=nl.add)
            nisa.dma_copy(dst=out[nl.ds(k * 128, 128), i:i + 1], src=total)
    return out


@nki.jit
def two_values(x, n, m):
    """Registers that a function calls by one name, which is that of a tile, too; one of them says it twice."""
    columns = x.shape[1]
    out = nl.ndarray((3, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(register_from(n)):
        register = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=register, src=x[nl.ds(i * 128, 128), :])
        nisa.dma_copy(dst=out[0, nl.ds(i * 128, 128), :], src=register)
    for j in nl.dynamic_range(register_from(m)):
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(j * 128, 128), :])
        nisa.dma_copy(dst=out[1, nl.ds(j * 128, 128), :], src=tile)
    last = register_from(m)
    for _ in range(2):
        for k in nl.dynamic_range(last):
            nisa.dma_copy(dst=out[2, nl.ds(k * 128, 128), :], src=out[1, nl.ds(k * 128, 128), :])
        for k in nl.dynamic_range(last):
            nisa.dma_copy(dst=out[2, nl.ds(k * 128, 128), :], src=x[nl.ds(k * 128, 128), :])
    return out


def pair_from(counts):
    numbers = nl.ndarray((1, 2), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=numbers, src=counts)
    return numbers


@nki.jit
def loaded_again(x, counts):
    """One register, which is loaded again, and looped over with one more."""
    columns = x.shape[1]
    out = nl.ndarray((3, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    numbers = pair_from(counts)
    count = nisa.register_alloc()
    for part in range(2):
        nisa.register_load(count, numbers[0:1, part:part + 1])
        for i in nl.dynamic_range(count):
            tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
            nisa.dma_copy(dst=out[part, nl.ds(i * 128, 128), :], src=tile)
    for i in nl.dynamic_range(count + 1):
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
        nisa.dma_copy(dst=out[2, nl.ds(i * 128, 128), :], src=tile)
    return out


@nki.jit
def ragged(x, lengths, n):
    """Sums of parts of other lengths, each a number in memory."""
    columns = x.shape[2]
    out = nl.ndarray((x.shape[0], 128, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    parts = register_from(n)
    for part in nl.dynamic_range(parts):
        total = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=total, value=0)
        length = register_from(lengths[0:1, nl.ds(part, 1)])
        for i in nl.dynamic_range(length):
            tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[part, nl.ds(i * 128, 128), :])
            nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
        nisa.dma_copy(dst=out[part], src=total)
    return out


@nki.jit
def times(x, counts, n):
    """`while_loop` in a dynamic loop: each part of `x` is added up as often as a number in `counts` says."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    parts = register_from(n)
    for i in nl.dynamic_range(parts):
        left = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=counts[nl.ds(i, 1), :])
        total = nl.ndarray(x.shape[1:], dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=total, value=0.0)
        more = nisa.register_alloc()
        nisa.register_load(more, left)

        def step(register):
            tile = nl.ndarray(x.shape[1:], dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[i])
            nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
            nisa.tensor_scalar(dst=left, data=left, op0=nl.subtract, operand0=1)
            nisa.register_load(register, left)
            return register

        nl.while_loop(more, step)
        nisa.dma_copy(dst=out[i], src=total)
    return out


@nki.jit
def slices(x, n):
    """Slices that begin at a register and have one length."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(register_from(n)):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:(i + 1) * 128])
        nisa.dma_copy(dst=out[128 * i:128 + 128 * i], src=tile)
    return out


@nki.jit
def own_counter(x, n):
    """A `while` on a register that its body counts down, with another one that it counts up."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    left, at = register_from(n), nisa.register_alloc(0)
    while left:
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(at, 128)])
        nisa.dma_copy(dst=out[nl.ds(at, 128)], src=tile)
        nisa.register_move(at, at + 128)
        nisa.register_move(left, left - 1)
    return out


@nki.jit
def counter_in_loop(x, n, m):
    """A register that each iteration of a dynamic loop sets again, and counts in a `while`."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count, at = register_from(n), nisa.register_alloc(0)
    for i in nl.dynamic_range(count):
        left = register_from(m)
        nisa.register_move(at, i * 256)
        while left:
            tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[nl.ds(at, 128)])
            nisa.dma_copy(dst=out[nl.ds(at, 128)], src=tile)
            nisa.register_move(at, at + 128)
            nisa.register_move(left, left - 1)
    return out


@nki.jit
def names_again(x, n):
    """Names that are set before they are read again stand for anything before and after the loop, and lists of an iteration for
    what it makes."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count, tile, width = register_from(n), None, 7
    tiles = [x, x, x]
    for part in range(3):
        pass
    for i in nl.dynamic_range(count):
        width, tiles = x.shape[1], []
        for part in range(2):
            tile = nl.ndarray((64, width), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128 + 64 * part, 64)])
            tiles.append(tile)
        for part, tile in enumerate(tiles):
            nisa.dma_copy(dst=out[nl.ds(i * 128 + 64 * part, 64)], src=tile)
    return out


class Kept:
    """What iterations hand on."""

    def __init__(self, tile):
        self.tile = tile


@nki.jit
def reshaped(x, n):
    """Each iteration leaves a tensor in another shape than the first one has found it in."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    kept = Kept(nl.ndarray((128, 2, x.shape[1] // 2), dtype=x.dtype, buffer=nl.sbuf))
    for i in nl.dynamic_range(register_from(n)):
        kept.tile = kept.tile.reshape((128, x.shape[1]))
        nisa.dma_copy(dst=kept.tile, src=x[nl.ds(i * 128, 128)])
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128)], src=kept.tile)
    return out


@nki.jit
def falling(x, n):
    """An address that falls."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(register_from(n)):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(640 - i * 128, 128)])
        nisa.dma_copy(dst=out[nl.ds(640 - i * 128, 128)], src=tile)
    return out


@nki.jit
def unbounded(x, n):
    """A loop of which no tile says how often it can run."""
    out = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0)
    for _ in nl.dynamic_range(register_from(n)):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x)
        nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out


@nki.jit
def scratch(x, n):
    """Through a tensor in HBM that each iteration makes."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(register_from(n)):
        between = nl.ndarray((2, 64, x.shape[1]), dtype=x.dtype, buffer=nl.private_hbm)
        for part in range(2):
            rows = nl.ds(i * 128 + 64 * part, 64)
            nisa.dma_copy(dst=between[part], src=x[rows])
            nisa.dma_copy(dst=out[rows], src=between[part])
    return out


@nki.jit
def sums_of_products(x, n, m):
    """Sums that begin as zeros in PSUM: one for each iteration by a keyword, one by a habit, and one over all iterations."""
    width = x.shape[1]
    out = nl.ndarray((2, x.shape[0] // 16 * width, width), dtype=nl.float32, buffer=nl.shared_hbm)
    whole = nl.ndarray((width, width), dtype=nl.float32, buffer=nl.shared_hbm)
    outer, inner = register_from(n), register_from(m)

    def block(number):
        tile = nl.ndarray((16, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(16 * number, 16)])
        return tile

    def give(place, total):
        result = nl.ndarray((width, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=result, src=total)
        nisa.dma_copy(dst=place, src=result)

    over_all = nl.zeros((width, width), dtype=nl.float32, buffer=nl.psum)
    first = block(0)
    for i in nl.dynamic_range(outer):
        for way in range(2):
            total = nl.zeros((width, width), dtype=nl.float32, buffer=nl.psum)
            for j in nl.dynamic_range(inner):
                if way == 0:
                    nisa.nc_matmul(dst=total, stationary=first, moving=block(j))
                else:
                    nisa.nc_matmul(dst=total, stationary=first, moving=block(j), accumulate=True)
            give(out[way, nl.ds(i * width, width)], total)
        nisa.nc_matmul(dst=over_all, stationary=first, moving=block(i))
    nisa.nc_matmul(dst=over_all, stationary=first, moving=first)
    give(whole, over_all)
    return out, whole


@nki.jit
def counted(x, n, kind, first, step):
    """An address is a number in memory, of some type, that each iteration adds to."""
    out = nl.ndarray((1024, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    count, at = register_from(n), nisa.register_alloc()
    number = nl.ndarray((1, 1), dtype=kind, buffer=nl.sbuf)
    nisa.memset(dst=number, value=first)
    for i in nl.dynamic_range(count):
        nisa.register_load(at, number)
        tile = nl.ndarray((16, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(at, 16)])
        nisa.dma_copy(dst=out[nl.ds(16 * i, 16)], src=tile)
        nisa.tensor_scalar(dst=number, data=number, op0=nl.add, operand0=step)
    return out


@nki.jit
def prefixes(x, y, n):
    """Sums over the blocks before each block, each multiplied by the first one; the loop around says how often the inner ones run."""
    width = x.shape[1]
    out = nl.ndarray((x.shape[0] // 16, 16, width), dtype=nl.float32, buffer=nl.shared_hbm)
    products = nl.ndarray((x.shape[0] // 16, width, width), dtype=nl.float32, buffer=nl.shared_hbm)

    def block(number, source=x):
        tile = nl.ndarray((16, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=source[nl.ds(16 * number, 16)])
        return tile

    first = block(0)
    for i in nl.dynamic_range(register_from(n)):
        total = block(i)
        for j in nl.dynamic_range(i):
            nisa.tensor_tensor(dst=total, data1=total, data2=block(j), op=nl.add)
            for k in nl.dynamic_range(j, i + 1):
                nisa.tensor_tensor(dst=total, data1=total, data2=block(k, y), op=nl.add)
        nisa.dma_copy(dst=out[i], src=total)
        product = nl.zeros((width, width), dtype=nl.float32, buffer=nl.psum)
        nl.fori_loop(0, 2 * i, lambda k: nisa.nc_matmul(dst=product, stationary=first, moving=block(k)))
        result = nl.ndarray((width, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=result, src=product)
        nisa.dma_copy(dst=products[i], src=result)
    return out, products


@nki.jit
def suffixes(x, n):
    """An inner loop that runs less and less often, and an address that it counts in memory."""
    out = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(register_from(n)):
        total = nl.ndarray((16, x.shape[1]), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=total, value=1.0)
        at, place = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf), nisa.register_alloc()
        nisa.memset(dst=at, value=0)
        for _ in nl.dynamic_range(i, 4):
            nisa.register_load(place, at)
            tile = nl.ndarray((16, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[nl.ds(place, 16)])
            nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
            nisa.tensor_scalar(dst=at, data=at, op0=nl.add, operand0=16)
        nisa.dma_copy(dst=out[nl.ds(16 * i, 16)], src=total)
    return out


@nki.jit
def rows_by_a_table(x, n):
    """A row number from another place of a table in each iteration: 0 1 2 3 4 4 4 ..."""
    out = nl.ndarray((1024, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    count = register_from(n)
    table = nl.ndarray((1, 16), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=table, pattern=[[1, 16]], offset=0)
    nisa.tensor_scalar(dst=table, data=table, op0=nl.minimum, operand0=4)
    row = nisa.register_alloc(0)
    for i in nl.dynamic_range(count):
        nisa.register_load(row, table[0:1, nl.ds(i, 1)])
        tile, result = (nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf) for _ in range(2))
        nisa.dma_copy(dst=tile, src=out[nl.ds(row * 64, 64)])
        nisa.tensor_scalar(dst=result, data=tile, op0=nl.add, operand0=1.0)
        nisa.dma_copy(dst=out[nl.ds(row * 64, 64)], src=result)
    return out


@nki.jit
def rows_by_an_offset(x, n):
    """The same as an offset of a copy."""
    out = nl.ndarray((1024, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    count = register_from(n)
    table = nl.ndarray((1, 16), dtype=nl.int32, buffer=nl.sbuf)
    nisa.iota(dst=table, pattern=[[1, 16]], offset=0)
    for i in nl.dynamic_range(count):
        tile = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.ap(pattern=[[8, 64], [1, 8]], offset=0, scalar_offset=table[0:1, nl.ds(i, 1)], indirect_dim=0))
        nisa.dma_copy(dst=out[nl.ds(i * 64, 64)], src=tile)
    return out


@nki.jit
def through_hbm(x, n):
    """A tensor in HBM that each iteration makes."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count = register_from(n)
    for i in nl.dynamic_range(count):
        between = nl.ndarray((4, x.shape[1]), dtype=x.dtype, buffer=nl.private_hbm)
        nisa.dma_copy(dst=between, src=x[nl.ds(4 * i, 4)])
        nisa.dma_copy(dst=out[nl.ds(4 * i, 4)], src=between)
    return out


@nki.jit
def updated(x, n):
    """An input that is changed in place, and a result of whole numbers of which rows are left out."""
    out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
    count = register_from(n)
    for i in nl.dynamic_range(count):
        tile = nl.ndarray((4, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(4 * i, 4)])
        nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=5.0)
        nisa.dma_copy(dst=x[nl.ds(4 * i, 4)], src=tile)
        whole = nl.ndarray((4, x.shape[1]), dtype=nl.int32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=whole, src=tile)
        nisa.dma_copy(dst=out[nl.ds(4 * i, 4)], src=whole)
    return out, x


@nki.jit
def through_hbm_twice(x, n):
    """A tensor in HBM that each iteration of a dynamic loop makes, which is reached twice."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count = register_from(n)
    for part in range(2):
        for i in nl.dynamic_range(count):
            between = nl.ndarray((4, x.shape[1]), dtype=x.dtype, buffer=nl.private_hbm)
            nisa.dma_copy(dst=between, src=x[nl.ds(4 * i, 4)])
            nisa.dma_copy(dst=out[nl.ds(4 * i, 4)], src=between)
    return out


@nki.jit
def all_loaded_first(x, counts):
    """Registers that one loop loads, and another loops over."""
    out = nl.ndarray((2, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    numbers = pair_from(counts)
    registers = []
    for part in range(2):
        registers.append(nisa.register_alloc())
        nisa.register_load(registers[part], numbers[0:1, part:part + 1])
    for part in range(2):
        for i in nl.dynamic_range(registers[part]):
            nisa.dma_copy(dst=out[part, nl.ds(i * 128, 128), :], src=x[nl.ds(i * 128, 128), :])
    return out


@nki.jit
def side_by_side(x, counts):
    """The same, loaded by two lines."""
    out = nl.ndarray((2, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    numbers = pair_from(counts)
    first, second = nisa.register_alloc(), nisa.register_alloc()
    nisa.register_load(first, numbers[0:1, 0:1])
    nisa.register_load(second, numbers[0:1, 1:2])
    for part in range(2):
        for i in nl.dynamic_range((first, second)[part]):
            nisa.dma_copy(dst=out[part, nl.ds(i * 128, 128), :], src=x[nl.ds(i * 128, 128), :])
    return out


@nki.jit
def once_for_all(x, n):
    """The first iteration loads what all loop over."""
    out = nl.ndarray((3, *x.shape), dtype=x.dtype, buffer=nl.shared_hbm)
    count = nisa.register_alloc()
    for part in range(3):
        if part == 0:
            count = register_from(n)
        for i in nl.dynamic_range(count):
            nisa.dma_copy(dst=out[part, nl.ds(i * 128, 128), :], src=x[nl.ds(i * 128, 128), :])
    return out


@nki.jit
def a_sum_of_two(x, n, m):
    """A loop whose trips are a sum of two numbers in memory."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first, second = register_from(n), register_from(m)
    for i in nl.dynamic_range(first + second):
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=x[nl.ds(i * 128, 128), :])
    return out


@nki.jit
def apart(x, y, n):
    """What follows the loop on another engine has nothing to do with it."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(register_from(n)):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=tile)
    other = nl.ndarray((128, 4), dtype=y.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=other, data=nl.ndarray((128, 4), dtype=y.dtype, buffer=nl.sbuf), op0=nl.multiply, operand0=0.0)
    return out


@nki.jit
def computed(x, n):
    """How often the second loop runs is what the first one has counted, on an engine that has nothing else to do."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count, more = register_from(n), nisa.register_alloc()
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=number, value=2)
    for i in nl.dynamic_range(count):
        nisa.tensor_scalar(dst=number, data=number, op0=nl.add, operand0=1)
    nisa.register_load(more, number)
    for j in nl.dynamic_range(more):
        nisa.dma_copy(dst=out[nl.ds(16 * j, 16)], src=x[nl.ds(16 * j, 16)])
    return out


@nki.jit
def at_loaded(x, n):
    """The last block is at an address that a register says which is loaded in the loop."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count, at = register_from(n), nisa.register_alloc()
    row = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=row, value=0)
    for i in nl.dynamic_range(count):
        nisa.tensor_scalar(dst=row, data=row, op0=nl.add, operand0=16)
        nisa.register_load(at, row)
    tile = nl.ndarray((16, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[nl.ds(at, 16)])
    nisa.dma_copy(dst=out[0:16], src=tile)
    return out


@nki.jit
def ragged_blocks(x, lengths):
    """Part b copies its first blocks, from block 4 * b on; the last one has no more than four."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    numbers, length = nl.ndarray((1, 2), dtype=nl.int32, buffer=nl.sbuf), nisa.register_alloc()
    nisa.dma_copy(dst=numbers, src=lengths)
    for b in range(2):
        nisa.register_load(length, numbers[:, b:b + 1])
        for i in nl.dynamic_range(length):
            tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[nl.ds((4 * b + i) * 128, 128)])
            nisa.dma_copy(dst=out[nl.ds((4 * b + i) * 128, 128)], src=tile)
    return out
