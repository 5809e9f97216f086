"""Kernels whose tests prepare what they need, by all the ways that a runner of tests has."""

import nki
import nki.isa as nisa
import nki.language as nl


def doubled(x, factor=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=factor)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def by_sign(x):
    return doubled(x)


@nki.jit
def by_rounding(x):
    return doubled(x)


@nki.jit
def by_fixtures(x):
    return doubled(x)


@nki.jit
def by_module(x):
    return doubled(x)


@nki.jit
def by_chance(x):
    return doubled(x)


@nki.jit
def by_the_clock(x):
    return doubled(x)


@nki.jit
def by_dates(x):
    return doubled(x)


@nki.jit
def by_the_process(x):
    return doubled(x)


@nki.jit
def by_clip(x):
    return doubled(x)


@nki.jit
def by_indirect(x):
    return doubled(x)


@nki.jit
def before_the_end(x):
    return doubled(x)


@nki.jit
def after_the_end(x):
    return doubled(x)


FACTOR = 2.0


@nki.jit
def by_a_patch(x):
    return doubled(x, FACTOR)


@nki.jit
def wrong_at_the_end(x):
    return doubled(x)


@nki.jit
def wrong_in_a_cleanup(x):
    return doubled(x)
