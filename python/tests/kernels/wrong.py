"""Kernels that cannot be traced, each for a reason of its own."""

import os
import random

import nki
import nki.isa as nisa
import nki.language as nl
import nosuchmodule


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
