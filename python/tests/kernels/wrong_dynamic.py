"""Kernels with registers and dynamic loops that cannot be traced, each for a reason of its own."""

import collections
import contextlib
import contextvars
import ctypes
import decimal
import functools
import hashlib
import io
import itertools
import logging
import operator
import os
import queue
import random
import re
import sys
import threading
import types
import warnings
import weakref
import zlib

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np


def register_from(tensor):
    """The number in a tensor of one element."""
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=tensor)
    register = nisa.register_alloc()
    nisa.register_load(register, number)
    return register


@nki.jit
def number_as_text(n):
    """A text that would tell what a register holds."""
    for i in nl.dynamic_range(register_from(n)):
        nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf, name=f"tile_{i:03d}")


@nki.jit
def returned_or_none(n):
    part = None
    for i in nl.dynamic_range(register_from(n)):
        part = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    return part


@nki.jit
def returned(n):
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


# ---- Python's state that an iteration changes: at an address that moves evenly, though the device has one body


class Cursor:
    """An object that counts."""

    made = 0
    __slots__ = ("at", "tiles", "__dict__")

    def __init__(self):
        self.at, self.tiles, self.last = 0, [], None

    def step(self):
        self.at += 128
        return self.at - 128


at_global, at_list = 0, [0]


def fill(x, first):
    nisa.dma_copy(dst=x[nl.ds(first, 128)], src=x[512:640])


@nki.jit
def in_attribute(x, n):
    cursor = Cursor()
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, cursor.at)
        cursor.at += 128


@nki.jit
def in_local(x, n):
    i = 0
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, i)
        i += 128


@nki.jit
def in_method(x, n):
    step = Cursor().step
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, step())


@nki.jit
def in_class(x, n):
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, Cursor.made)
        Cursor.made += 128


@nki.jit
def in_global(x, n):
    global at_global
    at_global = 0
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, at_global)
        at_global += 128


def from_list(x):
    fill(x, at_list[0])
    at_list[0] += 128


@nki.jit
def in_called(x, n):
    at_list[0] = 0
    for _ in nl.dynamic_range(register_from(n)):
        from_list(x)


def counting(x):
    fill(x, counting.at)
    counting.at += 128


@nki.jit
def in_function(x, n):
    counting.at = 0
    for _ in nl.dynamic_range(register_from(n)):
        counting(x)


@nki.jit
def in_iterator(x, n):
    places = itertools.count(0, 128)
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, next(places))


@nki.jit
def in_iterator_of_list(x, n):
    places = iter([0, 128, 256, 384])
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, next(places))


def places_of():
    place = 0
    while True:
        yield place
        place += 128


@nki.jit
def in_generator(x, n):
    places = places_of()
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, next(places))


@nki.jit
def in_default(x, n):
    def step(places=[0]):
        fill(x, places[0])
        places[0] += 128

    for _ in nl.dynamic_range(register_from(n)):
        step()


@nki.jit
def in_closure(x, n):
    places = []

    def step(_):
        fill(x, 128 * len(places))
        places.append(None)

    nl.fori_loop(0, register_from(n), step)


def step_of(x, places, _):
    fill(x, places[0])
    places[0] += 128


@nki.jit
def in_partial(x, n):
    nl.fori_loop(0, register_from(n), functools.partial(step_of, x, bytearray(1)))


@nki.jit
def in_nonlocal(x, n):
    at = 0

    def step(_):
        nonlocal at
        fill(x, at)
        at += 128

    nl.fori_loop(0, register_from(n), step)


@nki.jit
def in_while(x, n):
    state, left = types.SimpleNamespace(at=0), register_from(n)
    while left:
        fill(x, state.at)
        state.at += 128
        nisa.register_move(left, left - 1)


@nki.jit
def in_dictionary(x, n):
    places = {}
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, 128 * len(places))
        places[len(places)] = True


@nki.jit
def in_array(x, n):
    places = np.zeros(2, np.int32)
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, int(places[1]))
        places[1] += 128


@nki.jit
def none_before(x, n):
    last = None
    for i in nl.dynamic_range(register_from(n)):
        fill(x, 0 if last is None else 128)
        last = i


@nki.jit
def window_moves(x, n):
    window = x[0:128]
    for _ in nl.dynamic_range(register_from(n)):
        nisa.dma_copy(dst=window, src=x[512:640])
        window = x.ap([[8, 128], [1, 8]], offset=window.offset + 1024)


@nki.jit
def registers_change_places(x, n):
    """In an inner loop, those of an iteration of the outer one."""
    count = register_from(n)
    for _ in nl.dynamic_range(count):
        one, other = nisa.register_alloc(0), nisa.register_alloc(128)
        for _ in nl.dynamic_range(count):
            fill(x, one)
            one, other = other, one


@nki.jit
def by_chance(x, n):
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, 128 * (random.random() < 2))


@nki.jit
def index_before(x, n):
    """The index of the iteration before."""
    last = nisa.register_alloc(-1)
    for i in nl.dynamic_range(register_from(n)):
        fill(x, last + 1)
        last = i


@nki.jit
def register_of_iteration(x, n):
    for _ in nl.dynamic_range(register_from(n)):
        length = nisa.register_alloc(64)
        fill(x, 0)
    nisa.memset(dst=nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf), value=1.0)
    fill(x, length)


@nki.jit
def moved_to_constant(x, n):
    """The first iteration reads another number than all others, and two iterations do not show it."""
    at = nisa.register_alloc(0)
    for _ in nl.dynamic_range(register_from(n)):
        fill(x, at)
        nisa.register_move(at, 128)


# ---- Loops that are none, or that do not end


@nki.jit
def comprehended(x, n):
    tiles = [fill(x, 0) for _ in nl.dynamic_range(register_from(n))]
    fill(x, len(tiles))


@nki.jit
def zipped(x, n):
    for _, tile in zip(nl.dynamic_range(register_from(n)), [x, x]):
        fill(tile, 0)


def blocks(register):
    for i in nl.dynamic_range(register):
        yield i * 128


@nki.jit
def generated(x, n):
    for place in blocks(register_from(n)):
        fill(x, place)


@nki.jit
def never_set(x, n):
    register = register_from(n)
    while register:
        fill(x, 0)


@nki.jit
def never_zero(x, n):
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=n)
    register = nisa.register_alloc(number)
    while register:
        nisa.register_load(register, number)


@nki.jit
def endless_with_operations(x):
    while True:
        fill(x, 0)


@nki.jit
def endless_count(x):
    number = 0
    while number >= 0:
        number += 1


@nki.jit
def endless_iterator(x):
    for _ in itertools.count():
        pass


@nki.jit
def endless_generator(x):
    def numbers():
        while True:
            pass
        yield 0

    for _ in numbers():
        pass


@nki.jit
def endless_assignment(x):
    while (number := 1):
        pass


# ---- Questions to tensors and registers that Python would answer by itself


@nki.jit
def tile_as_condition(x, n):
    tile = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
    if tile:
        fill(x, 0)


@nki.jit
def number_in_tile(x, n):
    if 5 in n:
        fill(x, 0)


@nki.jit
def tile_is_number(x, n):
    if n == 5:
        fill(x, 0)


@nki.jit
def register_as_key(x, n):
    fill(x, {5: 128}.get(register_from(n), 0))


@nki.jit
def register_halved(x, n):
    fill(x, register_from(n) // 2)


@nki.jit
def tile_halved(x, n):
    return n // 2


# ---- The same in objects of all kinds: what makes one, and what an iteration does to it

VARIABLE, LOCAL, moved_by_name = contextvars.ContextVar("VARIABLE", default=0), threading.local(), 0
LOCAL.at = operator.moved_by_kernel = 0


@functools.lru_cache(maxsize=None)
def cached(key):
    return [key]


def asked(key):
    cached(key)
    return cached.cache_info().hits


def renamed(name):
    globals()[name] += 1


class Number(int):
    at = 0


class Failure(Exception):
    pass


def more(thing, name="at"):
    setattr(thing, name, getattr(thing, name) + 1)


def longer(thing, name):
    setattr(thing, name, (getattr(thing, name) or "") + "x")


KINDS = {
    "random_state": (lambda: np.random.RandomState(0), lambda it: it.rand()),
    "generator": (lambda: np.random.default_rng(0), lambda it: it.random()),
    "flat": (lambda: np.arange(20).flat, next),
    "nditer": (lambda: np.nditer(np.arange(20)), next),
    "until": (lambda: iter(itertools.count().__next__, -1), next),
    "found": (lambda: re.finditer("a", 20 * "a"), next),
    "packed": (lambda: zlib.compressobj(), lambda it: it.compress(b"a")),
    "by_name": (lambda: "moved_by_name", renamed),
    "module": (lambda: operator, lambda it: more(it, "moved_by_kernel")),
    "environment": (lambda: "TALLY_NKI_MOVED", lambda it: os.environ.__setitem__(it, os.environ.get(it, "") + "a")),
    "text": (lambda: io.StringIO("abcdefgh"), lambda it: it.read(1)),
    "bytes": (io.BytesIO, lambda it: it.write(b"a")),
    "reader": (lambda: io.BufferedReader(io.BytesIO(b"abcdefgh")), lambda it: it.read(1)),
    "queue": (queue.Queue, lambda it: it.put(1)),
    "simple_queue": (queue.SimpleQueue, lambda it: it.put(1)),
    "semaphore": (lambda: threading.Semaphore(50), lambda it: it.acquire()),
    "lock": (threading.RLock, lambda it: it.acquire()),
    "context": (lambda: VARIABLE, lambda it: it.set(it.get() + 1)),
    "decimal": (decimal.Context, lambda it: more(it, "prec")),
    "thread": (lambda: LOCAL, more),
    "cache": (lambda: 7, asked),
    "chain": (lambda: collections.ChainMap({}), lambda it: it.__setitem__(len(it), 1)),
    "weak": (lambda: (Number, weakref.WeakKeyDictionary()), lambda it: it[1].__setitem__(it[0], it[1].get(it[0], 0) + 1)),
    "error": (lambda: ValueError([0]), lambda it: it.args[0].append(1)),
    "own_error": (lambda: Failure([0]), lambda it: it.args[0].append(1)),
    "number": (lambda: Number(3), more),
    "memory": (lambda: memoryview(bytearray(4)), lambda it: it.__setitem__(0, it[0] + 1)),
    "stack": (contextlib.ExitStack, lambda it: it.callback(int)),
    "digest": (hashlib.sha256, lambda it: it.update(b"a")),
    "foreign": (lambda: ctypes.c_int(0), lambda it: more(it, "value")),
    "doc": (lambda: lambda: 0, lambda it: longer(it, "__doc__")),
    "function_name": (lambda: lambda: 0, lambda it: longer(it, "__qualname__")),
    "annotations": (lambda: lambda: 0, lambda it: it.__annotations__.__setitem__(str(len(it.__annotations__)), int)),
    "class_name": (lambda: Number, lambda it: longer(it, "__name__")),
    "class_doc": (lambda: Failure, lambda it: longer(it, "__doc__")),
    "module_doc": (lambda: sys.modules[__name__], lambda it: longer(it, "__doc__")),
    "recursion": (lambda: sys, lambda it: it.setrecursionlimit(it.getrecursionlimit() + 1)),
    "buffer_size": (lambda: np, lambda it: it.setbufsize(it.getbufsize() + 16)),
    "filters": (lambda: warnings, lambda it: it.filterwarnings("ignore", message=f"number {len(it.filters)}")),
    "flags": (lambda: np.zeros(2), lambda it: it.setflags(write=False)),
}


@nki.jit
def of_kind(x, n, kind):
    make, move = KINDS[kind]
    it = make()
    for i in nl.dynamic_range(register_from(n)):
        fill(x, i * 128)
        move(it)


@nki.jit
def allowed(x, n):
    """What leaves nothing for the next iteration, or only what people read."""
    stream, log = sys.stderr, logging.getLogger("tally_nki_allowed")
    for i in nl.dynamic_range(register_from(n)):
        print("an iteration", file=stream)
        log.debug("an iteration")
        warnings.warn("an iteration")
        name, = cached(f"{decimal.Decimal(1) + 1}")
        found = [match.start() for match in re.finditer("a", os.environ.get(name, "aa"))]
        fill(x, i * 128 + found[0])


@nki.jit
def seen(x, n, what):
    """Python looks at what only a run knows."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count, at = register_from(n), nl.arange(128)[:, None]
    for i in nl.dynamic_range(count):
        rows = x[nl.ds(i * 128, 128)]
        grid = at + i * 128
        if what == "offset":
            few = rows.offset < 4096
        elif what == "getattr":
            few = getattr(rows, "offset") < 4096
        elif what == "base":
            few = rows.base < 4096
        elif what == "data":
            few = rows.memory.data[0, 0] < 4096
        elif what == "read":
            few = rows.read()[0, 0] < 4096
        elif what == "value":
            few = count.value < 4
        elif what == "private":
            few = i._value < 4
        elif what == "first":
            few = grid.first < 4096
        elif what == "element":
            few = grid[0, 0] < 4096
        elif what == "floordiv":
            few = (grid // 128)[0, 0] < 4
        elif what == "mod":
            few = (grid % 512)[0, 0] < 128
        elif what == "dense":
            few = (grid + np.arange(8))[0, 0] < 4096
        else:
            few = (i * 128 + 1.5) < 4096
        if few:
            nisa.dma_copy(dst=out[nl.ds(i * 128, 128)], src=rows)
    return out


@nki.jit
def masked(x, n, where):
    """A mask that lets all through in the trace, and fewer in longer runs."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count = register_from(n)
    rows, columns = nl.arange(128)[:, None], nl.arange(x.shape[1])[None, :]
    for i in nl.dynamic_range(count):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        if where == "load":
            tile = nl.load(x[i * 128 + rows, columns], mask=i * 128 + rows < 500)
        elif where == "register":
            tile = nl.load(x[rows + i * 128, columns], mask=rows < count)
        else:
            nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128)])
        if where == "sum":
            tile[rows, columns] = nl.add(tile[rows, columns], 1.0, mask=(rows + i * 128 < 500) & (columns < 4))
        nl.store(out[rows + i * 128, columns], value=tile, mask=(500 > i * 128 + rows) if where == "store" else None)
    return out


class Counted(type):
    """Classes of this one count by themselves, as objects do."""
    at = 0


class Rows(metaclass=Counted):
    pass


@nki.jit
def in_objects_of_c(x, n, where):
    """A count that an object of C keeps, but no copy of it."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    count, problem, rows = register_from(n), OSError(), collections.defaultdict(iter(range(0, 640, 128)).__next__)
    type(Rows).at, problem.errno, problem.__cause__ = 0, 0, None
    for _ in nl.dynamic_range(count):
        if where == "member":
            at, problem.errno = problem.errno, problem.errno + 128
        elif where == "cause":
            at = problem.__cause__.args[0] if problem.__cause__ else 0
            problem.__cause__ = ValueError(at + 128)
        elif where == "factory":
            at = rows.pop("row", None) or rows["row"]
            del rows["row"]
        else:
            at, type(Rows).at = Rows.at, Rows.at + 128
        nisa.dma_copy(dst=out[at:at + 128], src=x[at:at + 128])
    return out
