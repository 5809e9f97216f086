"""Kernels with registers and dynamic loops that cannot be traced, each for a reason of its own."""

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
def returned(n):
    part = None
    for i in nl.dynamic_range(register_from(n)):
        part = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=tile, value=1.0)
        nisa.dma_copy(dst=part, src=tile)
    return part


@nki.jit
def caught(n):
    register = register_from(n)
    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    try:
        value = float(int(register))
    except BaseException:
        value = 0.25
    nisa.memset(dst=tile, value=value)


@nki.jit
def slice_to(n):
    tile, register = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf), register_from(n)
    nisa.memset(dst=tile[:, 0:register], value=1.0)


@nki.jit
def slice_from(n):
    tile, register = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf), register_from(n)
    nisa.memset(dst=tile[:, register:], value=1.0)


@nki.jit
def slice_between(n):
    tile, register, other = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf), register_from(n), register_from(n)
    nisa.register_move(other, register + 2)
    nisa.register_move(register, 4)
    nisa.memset(dst=tile[:, register:other], value=1.0)


@nki.jit
def slice_grows(n):
    tile, register = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf), register_from(n)
    nisa.memset(dst=tile[:, register:2 * register], value=1.0)


@nki.jit
def last_index(x, n):
    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    for j in nl.dynamic_range(register_from(n)):
        first = j * 128
        nisa.memset(dst=tile, value=1.0)
    nisa.dma_copy(dst=tile, src=x[nl.ds(first, 128)])


@nki.jit
def last_inner_index(x, n):
    tile, register = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf), register_from(n)
    for _ in nl.dynamic_range(register):
        for j in nl.dynamic_range(register):
            first = j * 128
            nisa.memset(dst=tile, value=1.0)
        nisa.dma_copy(dst=tile, src=x[nl.ds(first, 128)])


@nki.jit
def listed(n):
    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    for _ in list(nl.dynamic_range(register_from(n))):
        nisa.memset(dst=tile, value=1.0)


@nki.jit
def counted(n):
    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=float(sum(1 for _ in nl.dynamic_range(register_from(n)))))


@nki.jit
def numbered(n):
    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    for _ in enumerate(nl.dynamic_range(register_from(n))):
        nisa.memset(dst=tile, value=1.0)
