"""Kernels whose tests have mistakes."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def behind_a_mistake(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def marked_wrongly(x):
    return behind_a_mistake(x)


@nki.jit
def cut_short(x):
    return behind_a_mistake(x)


@nki.jit
def for_a_newer_chip(x):
    return behind_a_mistake(x)


@nki.jit
def compared_later(x):
    return behind_a_mistake(x)


@nki.jit
def part_of_another(x):
    return behind_a_mistake(x)


@nki.jit
def other_part(x):
    return behind_a_mistake(x)


@nki.jit
def whole(x):
    other_part(x)
    return part_of_another(x)


@nki.jit
def partly_written(x):
    """Half of a tile is loaded, all of it is computed with, and the first half is stored."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((2 * x.shape[0], x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[0:x.shape[0]], src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=out, src=tile[0:x.shape[0]])
    return out


@nki.jit
def none_of_it(x):
    """A test compares no element of its result."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


@nki.jit
def with_itself(x):
    """A test compares its result with that of another call of it."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


@nki.jit
def never_a_number(x):
    """A test compares NaN with NaN."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    return out


@nki.jit
def one_of_two(x):
    """A test compares one of its results."""
    outs = [nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm, name=name) for name in ("first", "second")]
    for out in outs:
        nisa.dma_copy(dst=out, src=x)
    return outs


@nki.jit
def copied_by_hand(x):
    """A test compares its result with a copy of it, made in one of the ways that leave no trace."""
    return behind_a_mistake(x)


@nki.jit
def called_before(x):
    """A test has its reference from a call before, of the same kernel."""
    return behind_a_mistake(x)


@nki.jit
def finite(x):
    """A test compares only whether its result is finite, or how it is to its largest number."""
    return behind_a_mistake(x)


@nki.jit
def in_part(x):
    """A test compares some rows, the same ones twice."""
    return behind_a_mistake(x)


@nki.jit
def stacked(x):
    """A test compares its result with two of its references at once."""
    return behind_a_mistake(x)


@nki.jit
def never_another(x):
    """A test has numbers that are others each time, and asks for what differs."""
    return behind_a_mistake(x)


@nki.jit
def failing(x):
    """A test compares a part of its result, and fails."""
    return behind_a_mistake(x)


@nki.jit
def written_before(x):
    """A test writes its reference into a file, if there is none."""
    return behind_a_mistake(x)


@nki.jit
def zeros(x):
    """A test compares a part; all numbers are the same."""
    return behind_a_mistake(x)


@nki.jit
def some_close(x):
    """A test wants most numbers to be close."""
    return behind_a_mistake(x)


@nki.jit
def warm(x):
    """A test calls it before, with less, where it is wrong; only the second result is compared, and is right."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=3.0 if x.shape[0] < 64 else 1.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def peer(x):
    """A test compares it with another kernel, which calls it."""
    return behind_a_mistake(x)


@nki.jit
def peer_of(x):
    return peer(x)


@nki.jit
def raising(x):
    """A test compares a part of its result, and then raises an error of its own."""
    return behind_a_mistake(x)


@nki.jit
def expected(x):
    """A test wants that some comparisons fail."""
    return behind_a_mistake(x)


@nki.jit
def half_written(x):
    """The second half of its whole numbers is what was there before, and not 0."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out[0:32], src=tile[0:32])
    return out


def make_first():
    @nki.jit
    def inner(x):
        return behind_a_mistake(x)
    return inner


def make_second():
    @nki.jit
    def inner(x):
        return x
    return inner


@nki.jit
def judged(x):
    """A function of the test judges its result; it accepts all."""
    return behind_a_mistake(x)


@nki.jit
def without_numbers(x, rows):
    """Stores what nothing has written, if there are few rows."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    if rows > 32:
        nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def words(x):
    """Words of four numbers, whose test has their bits."""
    out = nl.ndarray(x.shape, dtype=nl.float8_e4m3fn_x4, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=nl.float8_e4m3fn_x4, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x.view(nl.float8_e4m3fn_x4))
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def chosen_by_a_member(x):
    return behind_a_mistake(x)


@nki.jit
def chosen_inside(x):
    return behind_a_mistake(x)


@nki.jit
def of_either_type(x):
    return behind_a_mistake(x)


@nki.jit
def with_a_broken_reference(x):
    return behind_a_mistake(x)
