"""What a driver compares, from the moment on at which it has the results of the kernel.

All calls of functions that compare (`allclose`, `assert_allclose`, ...) are noted, with the tolerance that the driver has
chosen; of the operators `==` and `!=`, those of a result that is still an array as it was given. Which side is of the
result, and whether the other one is a reference, is seen when the driver runs again (again.py).
"""

import ast
import contextlib
import sys
import unittest
from typing import NamedTuple

import numpy as np

from ..elements import find_element, unpacked
from .standins import Blank

VALIDATOR = "the test's validator"
NONE_SEEN = "no comparison of its result is seen in the driver"
ASSERT = "assert"
APPROX = "pytest.approx"  # allows the larger one of its tolerances; all others allow their sum

class Comparison(NamedTuple):
    how: str
    sides: tuple  # numbers; of a validator, those of the result, and whether it accepts them
    absolute: float
    relative: float
    to_largest: bool  # of the reference


class Comparisons:
    """Those of one run of a driver. In later runs, all give what they gave in the first one (`answers`), whatever they
    find, so that the driver goes the same way; if it does not, they agree."""

    def __init__(self, answers=None):
        self.answers, self.given, self.next = [], answers, 0
        self.begun, self.loose, self.exact = False, [], []
        self.has_result = False  # one of them surely is with a result
        self.why_not = NONE_SEEN

    @property
    def made(self):
        """Operators count if the driver uses nothing looser."""
        return self.loose or self.exact

    def forget(self):
        self.begun, self.has_result, self.loose, self.exact = False, False, [], []

    def add(self, how, first, second, absolute, relative, to_largest=False):
        if not self.begun:
            return
        try:
            sides = tuple(np.atleast_1d(*map(_numbers, _unpacked(first, second))))
        except Exception:  # what the checkout compares need not be arrays
            return
        if np.ndim(absolute) or np.ndim(relative):
            self.why_not = "the test has a tolerance for each number, which is not followed"
            return
        if np.isnan(absolute) or np.isnan(relative):
            self.why_not = "the tolerance of the test is not a number"
            return
        self.has_result |= how != "==" and any(_is_watched(side) and not isinstance(side, OfAnother) for side in (first, second))
        if not sides[0].size or not sides[1].size:
            self.why_not = "the test compares no element"
        elif any(map(_is_all_nan, sides)):
            self.why_not = ("the test compares no number" if all(map(_is_all_nan, sides)) else
                            "of what the test compares, one side has only NaN")
        else:
            (self.exact if how == "==" else self.loose).append(Comparison(how, sides, float(absolute), float(relative), to_largest))

    def answer(self, how, sides, compare):
        """What the driver gets of a comparison."""
        if self.given is None:
            place = len(self.answers)
            self.answers.append(_Answer(how, _RAISES, place + 1))  # unless it comes back
            value = compare()
            self.answers[place] = _Answer(how, value, len(self.answers))
            return value
        before = self._before(how)
        if before is None:
            return _agreed(how, sides)
        self.next = before.end
        if isinstance(before.value, str):  # _RAISES; all others are true, false, arrays or nothing
            raise AssertionError("as in the first run")
        return before.value

    def _before(self, how):
        """What came of it in the first run, if that went the same way."""
        found = self.given[self.next] if self.next < len(self.given) else None
        return found if found is not None and found.how == how else None

    def holds(self, test):
        """Whether a check of the driver's own holds, which may compare inside. In later runs it does if it did in the first one."""
        return self._checked(ASSERT, lambda: bool(test()))

    def check(self, how, method):
        """The same of one that raises if it does not hold."""
        if self._checked(how, lambda: method() is None) is False:
            raise AssertionError("as in the first run")

    def _checked(self, how, test):
        if self.given is None:
            return self.answer(how, (), test)
        before = self._before(how)
        self.next += before is not None
        with contextlib.suppress(Exception):  # with other numbers, it need not be possible at all
            test()
        if before is None:
            return True
        self.next = before.end
        return before.value is True

    def judged(self, got, passed):
        """By a function of the test."""
        self.loose.append(Comparison(VALIDATOR, (_numbers(got), passed), 0, 0, False))


_RAISES = "raises"


class _Answer(NamedTuple):
    how: str
    value: object
    end: int  # of those that came while it was found, too


def allowance(made, result, of_it):
    """How far off each number of the result may be, at the places that are of it; None: it is a function of the test that
    says so, or both sides have shapes that differ. `result` is the side that is of the kernel."""
    if made.how == VALIDATOR:
        return None
    shapes = _of_one_shape(made.sides[result], made.sides[1 - result], made.to_largest)
    if shapes is None:
        return None
    with np.errstate(all="ignore"):
        allowed = np.broadcast_to(_allowed(made, result, *shapes), shapes[0].shape)
    if allowed.size == of_it.size:
        return allowed.reshape(of_it.shape)
    return np.full(of_it.shape, allowed.max(initial=0))


def counted(made, result, of_it, allowed):
    """Which numbers count as compared: those that would not pass as 0. Smaller ones do if they would not
    pass if they were off by a tenth of the usual size of those that are of the kernel. None does if half a number is
    allowed, whichever of the two that is."""
    if made.absolute == made.relative == 0:
        return np.ones(of_it.shape, bool)
    if made.relative >= 0.5:
        return np.zeros(of_it.shape, bool)
    left, right = _of_one_shape(made.sides[result], made.sides[1 - result], made.to_largest)
    sizes = np.where(np.isfinite(right), np.abs(right), 0)
    if sizes.size != of_it.size:
        sizes = np.full(of_it.shape, sizes.max(initial=0))
    sizes = sizes.reshape(of_it.shape)
    usual = sizes[of_it & (sizes > 0)]
    if not usual.size:  # a reference of zeros: what is far from them counts; if nothing is, 1 is usual
        most = np.abs(np.where(np.isfinite(left), left, 0)).max(initial=0)
        return np.full(of_it.shape, bool(allowed.max(initial=0) < (most or 0.1)))
    return allowed < np.maximum(sizes, np.median(usual) / 10)


def _allowed(made, result, left, right):
    """How far off each number may be. What a tolerance is relative to is the second side, whichever that is."""
    scale = np.abs(right if result == 0 or made.how == APPROX else left)
    largest = float(np.abs(right[np.isfinite(right)]).max(initial=0))
    relative = made.relative * (largest if made.to_largest else np.where(np.isfinite(scale), scale, 0))
    return np.maximum(made.absolute, relative) if made.how == APPROX else made.absolute + relative


def outcome(made, result):
    """What came of a comparison; `result` is the side that is of the kernel."""
    got, want = made.sides[result], made.sides[1 - result]
    said = {"how": made.how, "absolute": made.absolute, "relative": made.relative, "passed": False}
    shapes = _of_one_shape(got, want, made.to_largest)
    if shapes is None:
        return {**said, "why": f"shape {list(got.shape)}, and the reference has {list(want.shape)}"}
    left, right = shapes
    with np.errstate(all="ignore"):
        largest = float(np.abs(right[np.isfinite(right)]).max(initial=0))
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        difference = np.where(same, 0, np.abs(left - right))
        passed = bool((same | (difference <= _allowed(made, result, left, right))).all())
    # JSON has finite numbers only.
    error = {"error": float(difference.max(initial=0))} if np.isfinite(difference).all() else {
        "why": "one side has numbers that are not finite where the other's are"}
    return {**said, "passed": passed, "largest": largest, **error,
            "unwritten": int(np.isnan(left[~np.isnan(right)]).sum())}


def _of_one_shape(got, want, handed):
    """Both, as NumPy's functions make them of one shape; a reference that was handed over has all numbers of the result."""
    if got.size == want.size:
        return got.reshape(want.shape), want
    try:
        return None if handed else np.broadcast_arrays(got, want)
    except ValueError:
        return None


def _numbers(value):
    if is_tensor(value):
        value = value.detach()
        if "float" in str(value.dtype):
            value = value.float()
        import torch
        value = value.as_subclass(torch.Tensor).numpy()
    array = np.asarray(value)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if find_element(array.dtype) is None:
        raise TypeError(f"an array of '{array.dtype}' is not of numbers")
    return array


def _unpacked(first, second):
    """Of words that hold several numbers, these; the other side has their bits, in words of any type."""
    for one, other in ((first, second), (second, first)):
        element = find_element(one.dtype) if isinstance(one, np.ndarray) else None
        if element is not None and element.packed and isinstance(other, np.ndarray) and other.itemsize == element.itemsize:
            return [unpacked(element, np.ascontiguousarray(words).view(element.dtype.str)) for words in (first, second)]
    return first, second


def _is_all_nan(numbers):
    return numbers.dtype.kind == "f" and bool(np.isnan(numbers).all())


def is_tensor(value):
    kind = type(value)
    return kind.__module__.split(".")[0] == "torch" and hasattr(kind, "detach") or hasattr(kind, "watched_tensor")


# ---- Results that are watched ---------------------------------------------------------------


class Watched(np.ndarray):
    """A result of the kernel, and what is computed from it."""

    def __eq__(self, other):
        if isinstance(other, Approx):
            return other == self
        return _compared(self, other, np.equal(np.asarray(self), np.asarray(other)))

    def __ne__(self, other):
        if isinstance(other, Approx):
            return not other == self
        return ~_compared(self, other, np.equal(np.asarray(self), np.asarray(other)))

    __hash__ = None


class OfAnother(Watched):
    """The same of another kernel."""


def watched(array, wants_torch):
    """A result as the driver gets it."""
    return _watched_tensor(tensor(array)) if wants_torch else array.view(Watched)


def tensor(array):
    import torch

    element = find_element(array.dtype)
    plain = torch.from_numpy(np.ascontiguousarray(array, np.dtype(element.dtype.str)))
    kind = getattr(torch, element.name, plain.dtype) if element.is_float else plain.dtype
    return plain.to(kind) if isinstance(kind, torch.dtype) else plain


def _watched_tensor(tensor):
    import torch

    global _Tensor
    if _Tensor is None:
        class Result(torch.Tensor):
            watched_tensor = True

            def numpy(self):
                return np.asarray(self.as_subclass(torch.Tensor).numpy()).view(Watched)

            def __eq__(self, other):
                return _compared(self, other, self.as_subclass(torch.Tensor) == other)

            def __ne__(self, other):
                return ~_compared(self, other, self.as_subclass(torch.Tensor) == other)

            __hash__ = torch.Tensor.__hash__

        _Tensor = Result
    return tensor.as_subclass(_Tensor)


_Tensor = None
_comparisons = None  # of the driver that runs


def _compared(result, other, same):
    """By an operator; `same` is what it says."""
    if _comparisons is None:
        return same
    _comparisons.add("==", result, other, 0, 0)
    return _comparisons.answer("==", (result, other), lambda: same)


class Approx:
    """What `pytest.approx` gives: a number or numbers, and how far off another side may be."""

    __array_ufunc__ = None  # arrays ask it how they compare

    def __init__(self, value, relative=None, absolute=None):
        usual = 1e-6 if absolute is None else 0  # a tolerance that is given alone is the only one
        self.value = value
        self.absolute, self.relative = 1e-12 if absolute is None else absolute, usual if relative is None else relative

    def __eq__(self, other):
        try:
            off, want = np.abs(np.asarray(_plain(other)) - np.asarray(self.value)), np.abs(np.asarray(self.value))
            same = bool((off <= np.maximum(self.absolute, self.relative * want)).all())
        except Exception:  # dictionaries and the like
            return NotImplemented
        if _comparisons is None:
            return same
        _comparisons.add(APPROX, other, self.value, self.absolute, self.relative)
        return _comparisons.answer(APPROX, (), lambda: same)

    __hash__ = None


def _is_watched(value):
    return isinstance(value, Watched) or hasattr(type(value), "watched_tensor")


def _plain(value):
    """The same without a watch, for functions that compare inside."""
    if isinstance(value, Watched):
        return np.array(value, np.dtype(value.dtype.str))
    return value.as_subclass(type(value).__mro__[1]) if _is_watched(value) else value


# ---- Asserts --------------------------------------------------------------------------------


HOLDS = "__tally_holds__"


class Asserts(ast.NodeTransformer):
    """`assert C` becomes `assert __tally_holds__(lambda: C)`."""

    def visit_ClassDef(self, node):
        # What stands in a class itself is not seen from inside a function.
        node.body = [self.visit(part) if isinstance(part, (ast.FunctionDef, ast.ClassDef)) else part for part in node.body]
        return node

    def visit_Assert(self, node):
        if any(map(_is_of_its_place, ast.walk(node.test))):
            return node
        test = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.test)
        node.test = ast.copy_location(ast.Call(ast.Name(HOLDS, ast.Load()), [test], []), node.test)
        return ast.fix_missing_locations(node)


def _is_of_its_place(node):
    """Whether it would be something else inside a function."""
    return isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) or (
        isinstance(node, ast.Name) and node.id in ("super", "locals", "vars", "dir", "eval", "exec"))


# ---- Functions that compare -----------------------------------------------------------------


# What their tolerances are, absolute and relative, if they compare these sides and are given this.


def _close(absolute, relative):
    def tolerances(_, rtol=None, atol=None, *__, **___):
        return absolute if atol is None else atol, relative if rtol is None else rtol
    return tolerances


def _close_for_types(sides, rtol=None, atol=None, **_):
    known = {"float16": 1e-3, "bfloat16": 1.6e-2, "float32": 1.3e-6, "float64": 1e-7}
    names = [str(getattr(side, "dtype", "float64")).split(".")[-1] for side in sides]
    relative = max(known.get(name, 0) for name in names)
    return _close(1e-7 if relative == 1e-7 else 1e-5 if relative else 0, relative)(sides, rtol, atol)


def _decimals(usual):
    def tolerances(_, decimal=usual, *__, **___):
        return 1.5 * 10.0**-decimal, 0
    return tolerances


def _none(*_, **__):
    return 0, 0


# Module, function, and its tolerances, if it is taken for a comparison with a reference.
_COMPARE = (("numpy", "allclose", _close(1e-8, 1e-5)), ("numpy", "isclose", _close(1e-8, 1e-5)),
            ("numpy", "array_equal", _none), ("numpy", "array_equiv", _none),
            ("numpy.testing", "assert_allclose", _close(0, 1e-7)),
            ("numpy.testing", "assert_array_equal", _none), ("numpy.testing", "assert_equal", _none),
            ("numpy.testing", "assert_array_almost_equal", _decimals(6)), ("numpy.testing", "assert_almost_equal", _decimals(7)),
            ("numpy.testing", "assert_approx_equal", None), ("numpy.testing", "assert_array_less", None),
            ("numpy.testing", "assert_array_almost_equal_nulp", None), ("numpy.testing", "assert_array_max_ulp", None),
            ("torch", "allclose", _close(1e-8, 1e-5)), ("torch", "isclose", _close(1e-8, 1e-5)), ("torch", "equal", _none),
            ("torch.testing", "assert_close", _close_for_types))
_SIDES = ("a", "a1", "x", "actual", "input", "b", "a2", "y", "desired", "expected", "other")  # what they call them
_KEEP = (("torch", "from_numpy"), ("torch", "tensor"), ("torch", "as_tensor"))


def watch(comparisons, modules):
    """Makes the functions of NumPy and torch tell what they compare; `modules` are those that are loaded.
    Gives what undoes it."""
    global _comparisons
    _comparisons, undo = comparisons, []

    def put(module, name, function):
        undo.append((module, name, getattr(module, name)))
        setattr(module, name, function)

    for where, name, tolerances in _COMPARE:
        module = modules.get(where)
        if hasattr(module, name):
            put(module, name, _telling(comparisons, f"{where.split('.')[0]}.{name}", getattr(module, name), tolerances))
    for name in filter(_is_check, dir(unittest.TestCase)):
        put(unittest.TestCase, name, _checking(comparisons, name, getattr(unittest.TestCase, name)))
    for where, name in _KEEP:
        module = modules.get(where)
        if hasattr(module, name):
            put(module, name, _keeping(getattr(module, name)))
    return lambda: [setattr(*entry) for entry in reversed(undo)]


def _telling(comparisons, how, function, tolerances):
    def compare(*args, **given):
        sides = [*args[:2], *[given[name] for name in _SIDES if name in given]]
        if len(sides) != 2:
            return function(*args, **given)
        if any(isinstance(side, Blank) for side in sides):
            return _agreed(how, (0, 0))
        if tolerances is not None:
            comparisons.add(how, *sides, *tolerances(sides, *args[2:], **_without_sides(given)))
        elif comparisons.begun:
            comparisons.why_not = f"its test compares by '{how}', which is not followed"
        return comparisons.answer(how, sides, lambda: function(*map(_plain, args), **{
            key: _plain(value) for key, value in given.items()}))

    return compare


def _is_check(name):
    """Whether a method of a class of tests checks what it is given, and not what comes after it."""
    return name.startswith("assert") and not any(word in name for word in ("Raises", "Warns", "Logs"))


def _checking(comparisons, name, method):
    def check(self, *args, **given):
        comparisons.check(name, lambda: method(self, *args, **given))

    return check


def _without_sides(given):
    return {key: value for key, value in given.items() if key not in _SIDES}


def _agreed(how, sides):
    """What a comparison gives if all agree."""
    module, _, name = how.partition(".")
    if name == "isclose" or how == "==":
        same = np.ones(np.broadcast_shapes(*map(np.shape, sides)), bool)
        return sys.modules["torch"].from_numpy(same) if module == "torch" or any(map(is_tensor, sides)) else same
    return None if name.startswith("assert") else True


def _keeping(function):
    def made(value, *args, **given):
        if isinstance(value, Watched):
            return _watched_tensor(function(_plain(value), *args, **given))
        return function(value, *args, **given)

    return made
