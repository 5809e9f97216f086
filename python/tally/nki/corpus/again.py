"""Whether what a driver compares a result with is a reference: numbers that owe nothing to the kernel.

A driver may have them from the kernel by any way: another call of it, a copy made by hand, bytes, a file. No mark on an
array outlasts all of these. So the driver runs once more, in a process of its own, where each call of the kernel gives
other numbers, and all comparisons pass. What is then another number on the side of the reference was made of the
kernel's results. What is still the same number on the side of the result (as of `isfinite`) says nothing of them.
"""

import pickle
import random
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..elements import find_element, unpacked
from .comparisons import Comparison


class First(NamedTuple):
    """What the first run of the driver found."""

    key: tuple  # of the kernel
    results: Any  # as the kernel gives them
    made: list  # comparisons


def keep(path, first):
    with open(path, "wb") as file:
        pickle.dump(first, file)


def kept(path):
    with open(path, "rb") as file:
        return pickle.load(file)


def repeatable(modules):
    """Random numbers of a driver are the same in each of its runs, though it may have asked for new ones."""
    seeds = count()
    makers = [(np.random, "default_rng"), (np.random, "RandomState"), (np.random, "seed"), (random, "seed")]
    for module, name in makers:
        setattr(module, name, _seeded(getattr(module, name), seeds))
    random.seed()
    np.random.seed()
    if "torch" in modules:
        modules["torch"].manual_seed(0)


def _seeded(function, seeds):
    def made(seed=None, *args, **given):
        return function(next(seeds) if seed is None else seed, *args, **given)

    return made


# ---- Other numbers --------------------------------------------------------------------------


def others(array):
    """Another number for each one, of the same size roughly. They are not in proportion, so those that are divided by
    the largest are others, too."""
    element, made = find_element(array.dtype), np.empty_like(array)
    made[...] = _other_words(array, element) if element.packed or not element.is_float else _other_numbers(array, element)
    return made


def _other_words(array, element):
    """Of whole numbers, the last bit is another one; of words of four numbers, that of each."""
    width = 8 * element.itemsize // 4
    return array ^ array.dtype.type(sum(1 << width * k for k in range(4)) if element.packed else 1)


def _other_numbers(array, element):
    factors = np.resize(np.array([0.5, 0.25], np.float32), array.size).reshape(array.shape)
    smaller = element.fit(array * factors)
    return np.where((smaller == array) | np.isinf(array), np.float32(1), smaller)


# ---- What the second run says ---------------------------------------------------------------

_MADE_OF_IT = "what the test compares it with is made of the kernel's own results"
_NOT_OF_IT = "what the test compares is the same for other results"


def judged(first, second):
    """Of the comparisons of the first run, those with references, how many numbers of the result they compare, and if there are
    none, why."""
    found, seen, why_not = [], {}, None
    for before, now in zip(first, [*second, *[None] * len(first)]):
        why = _why_not(before, now)
        if why is not None:
            why_not = why_not or why
            continue
        found.append(before.said)
        seen[before.got.shape, before.got.tobytes()] = _changed(before.got, now.got)
    return {"comparisons": found, "numbers": sum(seen.values()), "why_not": why_not}


def _why_not(before: Comparison, now: Comparison):
    if now is None or before.said["how"] != now.said["how"] or before.got.shape != now.got.shape:
        return "with other results of the kernel, its driver does not compare the same"
    if before.want is None:  # a function of the test judges
        return _NOT_OF_IT if now.said["passed"] and before.said["passed"] or not _changed(before.got, now.got) else None
    if not _same(before.want, now.want):
        return _MADE_OF_IT
    return None if _changed(before.got, now.got) else _NOT_OF_IT


def _same(first, second):
    return first.shape == second.shape and bool(_equal(first, second).all())


def _changed(first, second):
    return int((~_equal(first, second) & (first == first)).sum())


def _equal(first, second):
    return (first == second) | ((first != first) & (second != second))


def how_many(results):
    """Numbers in results; what nothing has written is none."""
    return sum(int((numbers == numbers).sum()) for numbers in map(_numbers, results))


def _numbers(array):
    element = find_element(array.dtype)
    return unpacked(element, array) if element is not None and element.packed else array
