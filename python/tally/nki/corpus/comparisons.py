"""What a driver compares with the results of a kernel.

A result is watched: if the driver compares it with anything (`allclose`, `assert_allclose`, `==`, ...), the
comparison is noted, with the tolerance that the driver has chosen. Whether the other side is a reference at all, or
made of the result itself, is seen when the driver runs again (again.py).
"""

from typing import NamedTuple

import numpy as np

from ..elements import find_element, unpacked
from .standins import Blank


class Comparison(NamedTuple):
    said: dict  # how, within what, and what came of it
    got: np.ndarray  # the numbers of the result; those of the reference, None if a function of the test judges
    want: np.ndarray


class Comparisons:
    """Those of one run of a driver. All pass, whatever they find, if only their numbers are asked for."""

    def __init__(self, all_pass=False):
        self.all_pass, self.loose, self.exact = all_pass, [], []
        self.why_not = "no comparison of its result is seen in the driver"

    @property
    def made(self):
        """`==` counts if the driver uses nothing looser."""
        return self.loose or self.exact

    def forget(self):
        self.loose, self.exact = [], []

    def add(self, how, got, want, absolute, relative, to_largest=False):
        made = _comparison(how, got, want, absolute, relative, to_largest)
        if not made.got.size:
            self.why_not = "the test compares no element"
        elif not made.want.size or _is_all_nan(made.want):
            self.why_not = "the test compares no number"
        else:
            (self.exact if how == "==" else self.loose).append(made)

    def judged(self, got, passed):
        """By a function of the test."""
        self.loose.append(Comparison({"how": "the test's validator", "passed": passed}, _numbers(got), None))


def _comparison(how, got, want, absolute, relative, to_largest):
    got, want = (_numbers(side) for side in _unpacked(got, want))
    said = {"how": how, "absolute": float(absolute), "relative": float(relative), "passed": False}
    shapes = _of_one_shape(got, want, to_largest)
    if shapes is None:
        return Comparison({**said, "why": f"shape {list(got.shape)}, and the reference has {list(want.shape)}"}, got, want)
    left, right = shapes
    with np.errstate(all="ignore"):
        largest = float(np.abs(right[np.isfinite(right)]).max(initial=0))
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        difference = np.where(same, 0, np.abs(left - right))
        allowed = absolute + relative * (largest if to_largest else np.abs(right))
        passed = bool((same | (difference <= allowed)).all())
    worst = float(np.nanmax(difference, initial=0)) if not np.isnan(difference).all() else float("nan")
    return Comparison({**said, "passed": passed, "largest": largest, "error": worst,
                       "unwritten": int(np.isnan(left[~np.isnan(right)]).sum())}, got, want)


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
    return array.astype(np.float64) if array.dtype.kind in "fiub" else array


def _unpacked(got, want):
    """Of words that hold several numbers, these; the reference has their bits, in words of any type."""
    element = find_element(got.dtype) if isinstance(got, np.ndarray) else None
    if element is None or not element.packed or not isinstance(want, np.ndarray) or want.itemsize != element.itemsize:
        return got, want
    return [unpacked(element, np.ascontiguousarray(words).view(element.dtype.str)) for words in (got, want)]


def _is_all_nan(numbers):
    return numbers.dtype.kind == "f" and bool(np.isnan(numbers).all())


def is_tensor(value):
    kind = type(value)
    return kind.__module__.split(".")[0] == "torch" and hasattr(kind, "detach") or hasattr(kind, "watched_tensor")


# ---- Results that are watched ---------------------------------------------------------------


class Watched(np.ndarray):
    """A result of the kernel, and what is computed from it."""

    def __eq__(self, other):
        return _equal(self, other, np.equal(np.asarray(self), np.asarray(other)))

    def __ne__(self, other):
        return _different(self, other, np.not_equal(np.asarray(self), np.asarray(other)))

    __hash__ = None


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
                return _equal(self, other, self.as_subclass(torch.Tensor) == other)

            def __ne__(self, other):
                return _different(self, other, self.as_subclass(torch.Tensor) != other)

            __hash__ = torch.Tensor.__hash__

        _Tensor = Result
    return tensor.as_subclass(_Tensor)


_Tensor = None
_comparisons = None  # of the driver that runs


def _equal(result, other, same):
    return same | _noted(result, other)


def _different(result, other, different):
    return different & (not _noted(result, other))


def _noted(result, other):
    """Notes a comparison by an operator; whether it passes in any case."""
    if _comparisons is None:
        return False
    if not _is_watched(other):
        _comparisons.add("==", result, other, 0, 0)
    return _comparisons.all_pass


def _is_watched(value):
    return isinstance(value, Watched) or hasattr(type(value), "watched_tensor")


def _plain(value):
    """The same without a watch, for functions that compare inside."""
    if isinstance(value, Watched):
        return np.array(value, np.dtype(value.dtype.str))
    return value.as_subclass(type(value).__mro__[1]) if _is_watched(value) else value


# ---- Functions that compare -----------------------------------------------------------------

# Module, function, and the tolerances that it has if none are given.
_COMPARE = (("numpy", "allclose", 1e-8, 1e-5), ("numpy.testing", "assert_allclose", 0, 1e-7),
            ("numpy", "array_equal", 0, 0), ("numpy.testing", "assert_array_equal", 0, 0),
            ("torch", "allclose", 1e-8, 1e-5), ("torch", "equal", 0, 0),
            ("torch.testing", "assert_close", 1e-5, 1.3e-6))
_KEEP = (("torch", "from_numpy"), ("torch", "tensor"), ("torch", "as_tensor"))


def watch(comparisons, modules):
    """Makes the functions of NumPy and torch tell what they compare; `modules` are those that are loaded.
    Gives what undoes it."""
    global _comparisons
    _comparisons, undo = comparisons, []

    def put(module, name, function):
        undo.append((module, name, getattr(module, name)))
        setattr(module, name, function)

    for where, name, absolute, relative in _COMPARE:
        module = modules.get(where)
        if hasattr(module, name):
            put(module, name, _telling(comparisons, f"{where.split('.')[0]}.{name}", getattr(module, name),
                                       absolute, relative))
    for where, name in _KEEP:
        module = modules.get(where)
        if hasattr(module, name):
            put(module, name, _keeping(getattr(module, name)))
    return lambda: [setattr(*entry) for entry in reversed(undo)]


def _telling(comparisons, how, function, absolute, relative):
    passed = None if how.split(".")[1].startswith("assert") else True

    def compare(first, second, *args, **given):
        if isinstance(first, Blank) or isinstance(second, Blank):
            return True
        sides = [_is_watched(first), _is_watched(second)]
        if sum(sides) == 1:
            got, want = (first, second) if sides[0] else (second, first)
            rtol = given.get("rtol", args[0] if args and "equal" not in how else relative)
            atol = given.get("atol", args[1] if len(args) > 1 and "equal" not in how else absolute)
            rtol, atol = (relative if rtol is None else rtol), (absolute if atol is None else atol)
            comparisons.add(how, got, want, atol, rtol)
        if any(sides) and comparisons.all_pass:
            return passed
        return function(_plain(first), _plain(second), *args, **given)

    return compare


def _keeping(function):
    def made(value, *args, **given):
        if isinstance(value, Watched):
            return _watched_tensor(function(_plain(value), *args, **given))
        return function(value, *args, **given)

    return made
