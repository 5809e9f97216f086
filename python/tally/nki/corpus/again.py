"""Whether what a driver compares a result with is a reference: numbers that owe nothing to the kernel.

A driver may have them from the kernel by any way: another call of it, a copy made by hand, bytes, a file. No mark on an
array outlasts all of these. So the driver runs once more, in a process of its own, where each call of the kernel gives
other numbers, and all comparisons pass. The side of a comparison on which there are others then is of the results; where
both sides have others, there is no reference. Where none has (as of `isfinite`), the results were not compared.
"""

import pickle
import random
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..elements import find_element, unpacked
from .comparisons import OF_EACH, VALIDATOR, outcome


class First(NamedTuple):
    """What the first run of the driver found."""

    key: tuple  # of the kernel
    results: Any  # as the kernel gives them
    made: list  # comparisons
    passes: bool  # as a test; of a program it is not known


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
    factors = np.resize(np.arange(16, 32, dtype=np.float32)[::3] / 64, array.size).reshape(array.shape)
    smaller = element.fit(array * factors)
    return np.where((smaller == array) | np.isinf(array), element.fit(factors), smaller)


# ---- What the second run says ---------------------------------------------------------------

_MADE_OF_IT = "what the test compares it with is made of the kernel's own results"
_NOT_OF_IT = "what the test compares is the same for other results"
_SOME = "some numbers are not as the test's reference, and it passes"


def judged(first, second):
    """Of the comparisons of the first run, what came of those with references; how many numbers of the results they
    compare; and if there are none, why."""
    found, compared, why_not = [], [], None
    for before, now in zip(first.made, [*second, *[None] * len(first.made)]):
        got, want, why = _sides(before, now)
        if why is not None:
            why_not = why_not or why
            continue
        said = {"how": VALIDATOR, "passed": before.sides[1]} if want is None else outcome(before, got[0], want)
        if before.how in OF_EACH and not said["passed"] and first.passes:
            why_not = why_not or _SOME
            continue
        found.append(said)
        compared.append(_marks(*got))
    return {"comparisons": found, "numbers": _how_many_of(first.results, compared), "why_not": why_not}


def _sides(before, now):
    """The numbers of the result, in both runs; those of the reference; or why there is none."""
    if now is None or before.how != now.how or any(np.shape(a) != np.shape(b) for a, b in zip(before.sides, now.sides)):
        return None, None, "with other results of the kernel, its driver does not compare the same"
    sides = list(zip(before.sides, now.sides))
    if before.how == VALIDATOR:
        accepts = sides[1][0] and sides[1][1]
        return sides[0], None, _NOT_OF_IT if accepts or not _changed(*sides[0]) else None
    same = [_same(*side) for side in sides]
    if all(same):
        return None, None, _NOT_OF_IT
    if not any(same):
        return None, None, _MADE_OF_IT
    got, want = (sides[1], sides[0]) if same[0] else sides
    return got, want[0], None if _changed(*got) else _NOT_OF_IT


def _marks(before, now):
    """What tells a number of a result from others: what it is in the first run, and in the second. Those that
    stay the same are of no result."""
    return (before + 1j * now)[(~_equal(before, now) & (before == before)).nonzero()].ravel()


def _how_many_of(results, compared):
    """Each number counts once, however often it is compared, and as often as there are such; but where a comparison
    changes numbers first, as by a factor, it is not seen which ones they are."""
    arrays = [(_numbers(array), _numbers(others(array))) for array in flat(results)]
    all_marks = np.concatenate([_marks(*(side.astype(np.float64) for side in pair)) for pair in arrays] or [[]])
    distinct, most = np.unique(all_marks, return_counts=True)
    seen, unknown = np.zeros_like(most), 0
    for marks in {marks.tobytes(): marks for marks in compared}.values():
        if np.isin(marks, distinct).all():
            which, often = np.unique(marks, return_counts=True)
            seen[np.searchsorted(distinct, which)] += often
        else:
            unknown += marks.size
    return min(int(np.minimum(seen, most).sum()) + unknown, all_marks.size)


def _same(first, second):
    return first.shape == second.shape and bool(_equal(first, second).all())


def _changed(first, second):
    return int((~_equal(first, second) & (first == first)).sum())


def _equal(first, second):
    return (first == second) | ((first != first) & (second != second))


def flat(value):
    """The tensors of a result."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [] if value is None else [value]


def how_many(results):
    """Numbers in results; what nothing has written is none."""
    return sum(int((numbers == numbers).sum()) for numbers in map(_numbers, results))


def _numbers(array):
    element = find_element(array.dtype)
    return unpacked(element, array) if element is not None and element.packed else array
