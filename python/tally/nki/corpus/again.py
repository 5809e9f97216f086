"""Whether what a driver compares a result with is a reference: numbers that owe nothing to the kernel.

A driver may have them from the kernel by any way: another call of it, a copy made by hand, bytes, a file. No mark on an
array outlasts all of these. So the driver runs again, in a process of its own, where each call of a kernel gives other
numbers, and comparisons say what they said before. A side that is the same then is a reference. If kernels are called several times, or
numbers are compared that no kernel gave as they are, the driver runs a third time, where only the call that is traced
gives other numbers. What is the same there is of another call; what differs from the second run is of none (as noise).
"""

import os
import pickle
import random
import time
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..elements import find_element, unpacked
from .comparisons import VALIDATOR, allowance, counted, outcome


class First(NamedTuple):
    """What the first run of the driver found."""

    key: tuple  # of the kernel
    results: Any  # as the kernel gives them
    made: list  # comparisons
    answers: list  # what came of all that the driver compares
    passes: bool  # as a test; of a program it is not known
    inputs: set  # calls of other kernels whose results are arguments
    changes: object = None  # of a part of the kernel: by how much each number changes with what it writes


def keep(path, first):
    with open(path, "wb") as file:
        pickle.dump(first, file)


def kept(path):
    with open(path, "rb") as file:
        return pickle.load(file)


def repeatable(modules):
    """Random numbers and times of a driver are the same in each of its runs, though it may have asked for new ones. All
    seeds that the driver does not give are made of a few words of the system; each time that is asked for is a little later."""
    seeds, ticks, seed = count(), count(1_700_000_000_000), random.Random.seed

    def words(size):
        return random.Random(next(seeds)).randbytes(size)

    def seeded(self, a=None, version=2):
        seed(self, next(seeds) if a is None else a, version)

    os.urandom = random._urandom = words  # NumPy's seeds are of these, too
    random.Random.seed = seeded
    random.seed = random._inst.seed
    time.time = time.perf_counter = lambda: next(ticks) / 1000
    time.time_ns = time.perf_counter_ns = lambda: next(ticks) * 1_000_000
    random.seed()
    np.random.seed()
    if "torch" in modules:
        modules["torch"].manual_seed(0)


# ---- Other numbers --------------------------------------------------------------------------


def others(array):
    """Another number for each one, of the same size roughly. They are not in proportion, so those that are divided by
    the largest are others, too; and they have the other sign and are at least 1, so signs and whole numbers are others."""
    return _each_another(array, _other_numbers)


def smaller(array):
    """The same for what a kernel goes on with, by which it may look for rows: of the same sign, and not more than before."""
    return _each_another(array, _smaller_numbers)


_AT_ONCE = 1 << 20  # numbers, so that what is computed with takes little memory


def _each_another(array, of_numbers):
    element, made = find_element(array.dtype), np.empty(array.shape, array.dtype)
    before, after = np.ascontiguousarray(array).reshape(-1), made.reshape(-1)
    for first in range(0, array.size, _AT_ONCE):
        part = before[first:first + _AT_ONCE]
        is_numbers = element.is_float and not element.packed
        after[first:first + _AT_ONCE] = of_numbers(part, element, _factors(first, part.size)) if is_numbers else _other_words(part, element)
    return made


def changes(results, disturbed):
    """By how much each number of a result is another one in that of a disturbed run; in one row."""
    pairs = [(_numbers(was).astype(np.float64), _numbers(now).astype(np.float64)) for was, now in zip(flat(results), flat(disturbed))]
    with np.errstate(invalid="ignore"):
        differences = [np.where(_equal(was, now), 0, np.abs(was - now)).reshape(-1) for was, now in pairs]
    return np.nan_to_num(np.concatenate(differences or [[]]), nan=np.inf)


def _other_words(array, element):
    """Of whole numbers, the last bit is another one; of words of four numbers, that of each."""
    width = 8 * element.itemsize // 4
    return array ^ array.dtype.type(sum(1 << width * k for k in range(4)) if element.packed else 1)


def _other_numbers(array, element, factors):
    with np.errstate(invalid="ignore"):
        is_large = np.abs(array) >= 4
        size = element.fit(np.where(is_large & np.isfinite(array), np.abs(array) / 4, 1) * factors)
        size = np.where(size == np.abs(array), element.fit(size + 1), size)
        is_positive = np.where((array > 0) | (array < 0), array > 0, np.arange(array.size) % 2)  # of 0, and of what is no number: either
    return np.where(is_positive, -size, size)


def _smaller_numbers(array, element, factors):
    with np.errstate(invalid="ignore"):
        made = element.fit(array * (factors / 4))
    return np.where((made == array) | ~np.isfinite(array), element.fit(factors / 4), made)


def _factors(first, count):
    """Between 1 and 2; each place has one of its own, as far as its type has different ones."""
    return 1 + np.modf(np.arange(first, first + count) * 0.6180339887)[0].astype(np.float32)


# ---- What the other runs say ----------------------------------------------------------------

_MADE_OF_IT = "what the test compares it with is made of the kernel's own results"
_NOT_OF_IT = "what the test compares is the same for other results"
_OF_OTHERS = "what the test compares is of another call"
_NOT_OF_PART = "what the test compares is not made of what this kernel writes, but of the rest of the one around it"
_SOME = "some numbers are not as the test's reference, and it passes"
_TOLERANCE = "the tolerance of the test is made of the kernel's own results"
_ANY = "the test allows differences as large as its numbers"
_NOT_SO = "with other results of the kernel, its driver does not compare the same"


def judged(first, second, third):
    """Of the comparisons of the first run, what came of those with references; how many numbers of the results they
    compare, and how many that are made of those; and if there are none, why. `third`: those of the third run, or of the second one if there is none."""
    found, compared, why_not = [], [], None
    for number, before in enumerate(first.made):
        later = [made[number] if number < len(made) else None for made in (second, third)]
        result, why = _result_of(before, *later)
        if why is not None:
            why_not = why_not or why
            continue
        said = {"how": VALIDATOR, "passed": before.sides[1]} if before.how == VALIDATOR else outcome(before, result)
        if first.passes and not said["passed"] and not before.to_largest and before.how != VALIDATOR:
            why_not = why_not or _SOME  # the test expects that, or only counts
            continue
        marks = _marks_that_count(before, result, [made.sides[result] for made in (before, *later)], first)
        if before.how != VALIDATOR and not marks.size:
            why_not = why_not or (_ANY if first.changes is None else _NOT_OF_PART)
            continue
        found.append(said)
        compared.append(marks)
    seen, made = _how_many_of(first, compared)
    return {"comparisons": found, "numbers": seen, "made": made, "why_not": why_not}


def _marks_that_count(before, result, numbers, first):
    """Those of numbers that a comparison would find wrong if they were; of a part of the kernel, if what it writes were."""
    marks, of_it = _marks_at(*numbers)
    allowed = allowance(before, result, of_it)
    if allowed is None:
        return marks[of_it]
    counts = of_it & counted(before, result, of_it, allowed)
    if first.changes is None or not first.changes.size:
        return marks[counts]
    known, places = np.unique(_marks_of_results(first.results), return_inverse=True)
    most = np.zeros(known.shape)
    np.maximum.at(most, places, first.changes)
    found = np.searchsorted(known, marks).clip(max=known.size - 1)
    is_as_given = known[found] == marks  # of what a test has made of several, it is not known how much it would change
    return marks[counts & (~is_as_given | (most[found] > allowed))]


def asks_for_a_third(first, second):
    """Whether some of what changes in the second run may be of another call, or of none."""
    marks = _marks_of_results(first.results)
    for before, now in zip(first.made, second):
        for was, is_now in zip(before.sides, now.sides):
            if _alike(before, now) and np.ndim(was) and not np.isin(_marks(was, is_now, is_now), marks).all():
                return True
    return False


def _alike(before, now):
    return now is not None and before.how == now.how and all(
        np.shape(a) == np.shape(b) for a, b in zip(before.sides, now.sides))


def _result_of(before, second, third):
    """Which side is of the result; or why the other one is not a reference."""
    if not _alike(before, second) or not _alike(before, third):
        return None, _NOT_SO
    if before.how == VALIDATOR:
        accepts = second.sides[1] and before.sides[1]
        return 0, _NOT_OF_IT if accepts or not _marks(before.sides[0], second.sides[0], third.sides[0]).size else None
    same = [_same(was, now) and _same(was, later) for was, now, later in zip(before.sides, second.sides, third.sides)]
    if not any(same):
        return None, _MADE_OF_IT
    if any((before.absolute, before.relative) != (now.absolute, now.relative) for now in (second, third)):
        return None, _TOLERANCE
    if all(same):
        return None, _NOT_OF_IT
    result = same.index(False)
    of_it = _marks_at(before.sides[result], second.sides[result], third.sides[result])[1]
    if not of_it.any():
        return result, _OF_OTHERS
    allowed = allowance(before, result, of_it)
    return result, _ANY if allowed is not None and not (of_it & counted(before, result, of_it, allowed)).any() else None


def _marks(first, second, third):
    """What tells a number of the result from others: what it is in the first run, and in the others. Those that stay
    the same when only the call that is traced gives other numbers are not of its result; neither are those that are
    not the same in both other runs."""
    marks, of_it = _marks_at(first, second, third)
    return marks[of_it]


def _marks_at(first, second, third):
    """The same at each place, and which places have one."""
    first, second, third = np.atleast_1d(first, second, third)
    of_it = ~_equal(first, third) & _equal(second, third) & (third == third)
    return np.where(first == first, first, _NAN) + 1j * np.where(of_it, third, 0), of_it


_NAN = -7.25e77  # stands for it in marks


def _marks_of_results(results):
    arrays = [(_numbers(array), _numbers(others(array))) for array in flat(results)]
    made = [_marks(*(side.astype(np.float64) for side in (was, now, now))) for was, now in arrays]
    return np.concatenate(made or [[]])


def _how_many_of(first, compared):
    """Those that are compared as the kernel gave them, and those that are made of such, as by a factor: of the latter it is
    not seen which ones they are made of. Each number counts once, however often it is compared, and as often as there are
    such in one comparison."""
    marks = _marks_of_results(first.results)
    distinct, most = np.unique(marks if first.changes is None else marks[first.changes > 0], return_counts=True)
    seen, made = np.zeros_like(most), 0
    for marks in {marks.tobytes(): marks for marks in compared}.values():
        if np.isin(marks, distinct).all():
            which, often = np.unique(marks, return_counts=True)
            places = np.searchsorted(distinct, which)
            seen[places] = np.maximum(seen[places], often)
        else:
            made += marks.size
    return int(np.minimum(seen, most).sum()), made


def _same(first, second):
    return first.shape == second.shape and bool(_equal(first, second).all())


def _equal(first, second):
    return (first == second) | ((first != first) & (second != second))


def flat(value):
    """The tensors of a result."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [] if value is None else [value]


def how_many(results, changes=None):
    """Numbers in results, those that nothing has written included; or those that change."""
    return int((changes > 0).sum()) if changes is not None else sum(numbers.size for numbers in map(_numbers, results))


def _numbers(array):
    element = find_element(array.dtype)
    return unpacked(element, array) if element is not None and element.packed else array
