"""Whether what a driver compares a result with is a reference: numbers that owe nothing to the kernel.

A driver may have them from the kernel by any way: another call of it, a copy made by hand, bytes, a file. No mark on an
array outlasts all of these. So the driver runs again, in processes of its own, where each call of a kernel gives other
numbers, and comparisons say what they said before. A side that is the same in all of these runs is a reference; what is
made of results may be the same in one of them (`maximum(result, 0)`), so numbers go another way in each: the other sign,
larger, smaller. If kernels are called several times, or numbers are compared that no kernel gave as they are, only the
call that is traced gives other numbers in a further run. What is the same there is of another call; what differs from
the run before is of none (as noise). If no side is the same, a last run gives the numbers of the first one: a driver that
compares others then has not the same ones twice.
"""

import datetime
import os
import pickle
import random
import time
import uuid
from itertools import count, zip_longest
from typing import Any, Callable, NamedTuple

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


# ---- The same in each run -------------------------------------------------------------------


def repeatable(modules):
    """Random numbers and times of a driver are the same in each of its runs, though it may have asked for new ones. All
    seeds that the driver does not give are made of a few words of the system; each time that is asked for is a little later."""
    seeds, seed = count(), random.Random.seed

    def words(size, flags=0):
        return random.Random(next(seeds)).randbytes(size)

    def seeded(self, a=None, version=2):
        seed(self, next(seeds) if a is None else a, version)

    os.urandom = os.getrandom = random._urandom = words  # NumPy's seeds are of these, too
    random.Random.seed = seeded
    random.seed = random._inst.seed
    _repeat_times()
    uuid._generate_time_safe = None  # by the system's library; now of the time and of random numbers
    random.seed()
    np.random.seed()
    if "torch" in modules:
        modules["torch"].manual_seed(0)


def _repeat_times():
    """Of clocks that tell the time, and that which measures finely; others go on, by which libraries wait."""
    ticks = count(1_700_000_000_000)  # milliseconds

    def now():
        return next(ticks) / 1000

    time.time = time.perf_counter = now
    time.time_ns = time.perf_counter_ns = lambda: next(ticks) * 1_000_000
    for name in ("gmtime", "localtime", "ctime"):
        setattr(time, name, _of_time(getattr(time, name), now))
    time.asctime = _of_time(time.asctime, time.localtime)
    time.strftime = lambda text, *given, made=time.strftime: made(text, *(given or (time.localtime(),)))
    datetime.datetime, datetime.date = _Datetime, _Date


def _of_time(function, now):
    """A function of a time, and if none is given, of the current one."""
    return lambda given=None: function(now() if given is None else given)


class _OfAnyKind(type(datetime.date)):
    """Dates that others have made are instances, too."""

    def __instancecheck__(cls, thing):
        return isinstance(thing, cls.__base__)

    def __subclasscheck__(cls, kind):
        return issubclass(kind, cls.__base__)


class _Date(datetime.date, metaclass=_OfAnyKind):
    @classmethod
    def today(cls):
        return cls.fromtimestamp(time.time())


class _Datetime(datetime.datetime, metaclass=_OfAnyKind):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)

    today = now

    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(time.time(), datetime.timezone.utc).replace(tzinfo=None)


# ---- Other numbers --------------------------------------------------------------------------


def others(array):
    """Another number for each one, of the same size roughly. They are not in proportion, so those that are divided by
    the largest are others, too; and they have the other sign and are at least 1, so signs and whole numbers are others."""
    return _each_another(array, _other_numbers, _other_words)


def larger(array):
    """The same, of the same sign and much larger, as far as the type has such."""
    return _each_another(array, lambda *given: _larger_numbers(*given, 16), lambda words: _shifted(words, np.abs(words.astype(np.int64)) + 1))


def smaller(array):
    """The same, of the same sign and much smaller."""
    return _each_another(array, lambda *given: _smaller_numbers(*given, 1 / 32), lambda words: _shifted(words, -(np.abs(words.astype(np.int64)) // 2) - 1))


def disturbed(array):
    """The same for what a kernel goes on with, by which it may look for rows: not more than before."""
    return _each_another(array, lambda *given: _smaller_numbers(*given, 1 / 4), _other_words)


_AT_ONCE = 1 << 20  # numbers, so that what is computed with takes little memory


def _each_another(array, of_numbers, of_words):
    element, made = find_element(array.dtype), np.empty(array.shape, array.dtype)
    before, after = np.ascontiguousarray(array).reshape(-1), made.reshape(-1)
    for first in range(0, array.size, _AT_ONCE):
        part = before[first:first + _AT_ONCE]
        if element.packed:
            after[first:first + _AT_ONCE] = part ^ _last_bits(part.dtype, 8 * element.itemsize // 4)
        elif element.is_float:
            after[first:first + _AT_ONCE] = of_numbers(part, element, _factors(first, part.size))
        else:
            after[first:first + _AT_ONCE] = of_words(part)
    return made


def _last_bits(kind, width):
    """Of words of four numbers, the last bit of each."""
    return kind.type(sum(1 << width * k for k in range(4)))


def _other_words(words):
    return words ^ words.dtype.type(1)


def _shifted(words, by):
    kind = np.iinfo(words.dtype)
    return (words + by).clip(kind.min, kind.max).astype(words.dtype)


def changes(results, disturbed):
    """By how much each number of a result is another one in that of a disturbed run; in one row."""
    pairs = [(_numbers(was).astype(np.float64), _numbers(now).astype(np.float64)) for was, now in zip(flat(results), flat(disturbed))]
    with np.errstate(invalid="ignore"):
        differences = [np.where(_equal(was, now), 0, np.abs(was - now)).reshape(-1) for was, now in pairs]
    return np.nan_to_num(np.concatenate(differences or [[]]), nan=np.inf)


def _other_numbers(array, element, factors):
    with np.errstate(invalid="ignore"):
        is_large = np.abs(array) >= 4
        size = element.fit(np.where(is_large & np.isfinite(array), np.abs(array) / 4, 1) * factors)
        size = np.where(size == np.abs(array), element.fit(size + 1), size)
        is_positive = np.where((array > 0) | (array < 0), array > 0, np.arange(array.size) % 2)  # of 0, and of what is no number: either
    return np.where(is_positive, -size, size)


def _larger_numbers(array, element, factors, by):
    with np.errstate(all="ignore"):
        made = element.fit(array * (by * factors) + np.where(array < 0, -1, 1))
    return np.where(np.isfinite(made), made, np.where(np.isfinite(array), array, factors))


def _smaller_numbers(array, element, factors, by):
    with np.errstate(invalid="ignore"):
        made = element.fit(array * (factors * by))
    return np.where((made == array) | ~np.isfinite(array), element.fit(factors * by), made)


def _factors(first, count):
    """Between 1 and 2; each place has one of its own, as far as its type has different ones."""
    return 1 + np.modf(np.arange(first, first + count) * 0.6180339887)[0].astype(np.float32)


# ---- The other runs -------------------------------------------------------------------------


class Way(NamedTuple):
    """What kernels give in a run, made of what they gave in the first one."""

    numbers: Callable
    alone: bool = False  # only the call that is traced


WAYS = {"others": Way(others), "alone": Way(others, alone=True), "larger": Way(larger), "smaller": Way(smaller),
        "same": Way(np.array, alone=True)}


class Seen(NamedTuple):
    """A comparison of another run, next to that of the first one."""

    is_same: tuple  # whether each side is
    is_allowed_same: bool  # by its tolerance
    sides: tuple  # numbers of those that are not the same, otherwise None; of a validator, what it says, too


class Run(NamedTuple):
    seen: list  # of each comparison of the first run; None: there is none, or it compares something else
    had_others: bool  # calls of other kernels


def run_of(first, made, had_others):
    """What a run has made of the comparisons of the first one."""
    return Run([_seen(before, now) for before, now in zip_longest(first.made, made[:len(first.made)])], had_others)


def _seen(before, now):
    if now is None or now.how != before.how or any(np.shape(a) != np.shape(b) for a, b in zip(before.sides, now.sides)):
        return None
    is_same = tuple(_same(*map(np.asarray, sides)) for sides in zip(before.sides, now.sides))
    return Seen(is_same, (before.absolute, before.relative) == (now.absolute, now.relative),
                tuple(None if same and np.ndim(side) else side for same, side in zip(is_same, now.sides)))


def next_way(first, runs):
    """The way of the next run; None: enough is known. `runs` are those so far, by way."""
    if not runs:
        return "others"
    if len(runs) == 1 and (runs["others"].had_others or may_be_of_others(first, runs["others"])):
        return "alone"
    whys = [_side_of_result(before, later)[1] for before, later in _in_all_runs(first, runs)]
    if None in whys:
        return next((way for way in ("larger", "smaller") if way not in runs), None)
    return "same" if not {"larger", "same"} & runs.keys() and {_MADE_OF_IT, _NOT_SO} & set(whys) else None


def may_be_of_others(first, run):
    """Whether some of what changes in a run where all kernels give others may be of another call, or of none."""
    marks = _marks_of_results(first.results)
    return any(np.ndim(now) and not np.isin(_marks(was, now, now), marks).all()
               for before, seen in zip(first.made, run.seen) if seen is not None
               for was, now in zip(before.sides, seen.sides))


def _in_all_runs(first, runs):
    """Each comparison of the first run, and what it is in the others, by way."""
    for number, before in enumerate(first.made):
        yield before, {way: run.seen[number] for way, run in runs.items()}


_MADE_OF_IT = "what the test compares it with is made of the kernel's own results"
_NOT_OF_IT = "what the test compares is the same for other results"
_OF_OTHERS = "what the test compares is of another call"
_NOT_OF_PART = "what the test compares is not made of what this kernel writes, but of the rest of the one around it"
_SOME = "some numbers are not as the test's reference, and it passes"
_TOLERANCE = "the tolerance of the test is made of the kernel's own results"
_ANY = "the test allows differences as large as its numbers"
_NOT_SO = "with other results of the kernel, its driver does not compare the same"
_NOT_TWICE = "the test compares other numbers in each run, though the kernel gives the same"


def judged(first, runs):
    """Of the comparisons of the first run, what came of those with references; how many numbers of the results they
    compare, and how many that are made of those; and if there are none, why. `runs` are the other runs, by way."""
    found, compared, why_not = [], [], None
    for before, later in _in_all_runs(first, runs):
        result, why = _result_of(before, later)
        if why is not None:
            why_not = why_not or why
            continue
        said = {"how": VALIDATOR, "passed": before.sides[1]} if before.how == VALIDATOR else outcome(before, result)
        if first.passes and not said["passed"] and not before.to_largest and before.how != VALIDATOR:
            why_not = why_not or _SOME  # the test expects that, or only counts
            continue
        marks = _marks_that_count(before, result, _of_side(result, before, later), first)
        if before.how != VALIDATOR and not marks.size:
            why_not = why_not or (_ANY if first.changes is None else _NOT_OF_PART)
            continue
        found.append(said)
        compared.append(marks)
    seen, made = _how_many_of(first, compared)
    return {"comparisons": found, "numbers": seen, "made": made, "why_not": why_not}


def _of_side(side, before, later):
    """The numbers of one side, in the first run, with others, and with others of only the call that is traced."""
    first, *changed = [made.sides[side] for made in (before, later["others"], later.get("alone", later["others"]))]
    return [first, *(first if numbers is None else numbers for numbers in changed)]


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


def _side_of_result(before, later):
    """Which side is of the result, as far as it is seen by which one changes; or why the other one is not a reference."""
    later = dict(later)
    if "same" in later:
        control = later.pop("same")
        if control is None or not all(control.is_same):
            return None, _NOT_TWICE
    seen = list(later.values())
    if None in seen:
        return None, _NOT_SO
    if before.how == VALIDATOR:
        return 0, _NOT_OF_IT if before.sides[1] and any(made.sides[1] for made in seen) else None
    same = [all(made.is_same[side] for made in seen) for side in (0, 1)]
    if not any(same):
        return None, _MADE_OF_IT
    if not all(made.is_allowed_same for made in seen):
        return None, _TOLERANCE
    return (None, _NOT_OF_IT) if all(same) else (same.index(False), None)


def _result_of(before, later):
    """The same, as is seen by its numbers."""
    result, why = _side_of_result(before, later)
    if why is not None:
        return None, why
    of_it = _marks_at(*_of_side(result, before, later))[1]
    if not of_it.any():
        return None, _NOT_OF_IT if before.how == VALIDATOR else _OF_OTHERS
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
