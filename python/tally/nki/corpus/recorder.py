"""What a call of a kernel does while a driver of the checkout runs.

There are two passes. The first one notes every call: which kernel, how large its arguments are. The result is a
Blank, so a driver goes on as far as it can. In the second pass one call is traced, with its arguments as they
are, and gives NumPy's results; other kernels run on NumPy alone.

A result is watched: if the driver compares it with anything (`allclose`, `assert_allclose`, `==`, ...), the
comparison is noted, with the tolerance that the driver has chosen. A driver may also hand a kernel, its
arguments and a reference to a fixture, in one object; then the comparison is made here, relative to the
largest element of the reference.
"""

import copy
import inspect
import threading
import types
from enum import Enum
from itertools import count
from typing import NamedTuple

import numpy as np

from ..elements import find_element, unpacked
from ..modules import Kernel
from ..refusal import Refusal
from ..source import AbsentValue
from ..trace import Raised, call, place_of_function, traced
from ..tracer import Again, Notes, Tracer
from ..tree import TooLarge
from ..values import View
from .cores import Cores, Stuck
from .drivers import names_in
from .standins import Blank


class Done(BaseException):
    """Nothing that comes after this in the driver is needed."""


class Call(NamedTuple):
    """A call of a kernel in a driver: the `ordinal`-th of its case."""

    kernels: tuple  # (file, name) of the function, and of kernels that it may call
    ordinal: int
    size: int  # elements of all arguments
    foreign: int  # of them, those whose type NumPy has not


class Switch:
    """The tracer of the kernel that runs, for modules that are made once."""

    def __init__(self):
        self.local = threading.local()  # programs of a grid have a thread each

    def put(self, tracer):
        self.local.tracer = tracer

    def runs(self):
        return getattr(self.local, "tracer", None) is not None

    def __getattr__(self, name):
        if not self.runs():
            raise Refusal(f"'{name}' is asked for outside a kernel")
        return getattr(self.local.tracer, name)


class _Recorder:
    """The recorder of the tracer that runs."""

    def __init__(self, switch):
        self.__dict__["switch"] = switch

    def __getattr__(self, name):
        return getattr(self.switch.recorder, name)

    def __setattr__(self, name, value):
        setattr(self.switch.recorder, name, value)


def recorder_of(switch):
    return _Recorder(switch)


# ---- Both passes ----------------------------------------------------------------------------


_ITSELF = "the test compares it with another run of itself"


class Watcher:
    """Takes calls of kernels; `target` is (ordinal, limits, ring), or None in the first pass."""

    def __init__(self, switch, kernels, root, target=None):
        self.switch, self.known, self.root, self.target = switch, kernels, root, target
        self.calls, self.entered = [], set()
        self.traced = self.result = self.failed = self.key = None
        self.comparisons, self.exact = [], []
        self.why_not = "the driver compares its result with nothing"

    def launch(self, kernel, args, kwargs):
        function = kernel.function
        if self.switch.runs():
            self.entered.add(_key(function))
            return function(*args, **kwargs)
        return self.outside(function, args, kwargs, kernel.grid)

    def handed(self, args, kwargs):
        """A fixture was handed something: perhaps a kernel with its arguments and a reference."""
        for thing in [*args, *kwargs.values()]:
            found = _pair(thing)
            if found is not None:
                function, given = found
                launched = self.outside(function, (), given, (), _cores(thing))
                if launched is self.result is not None:
                    self._compare_handed(thing)
                if self.result is not None:
                    raise Done

    def outside(self, function, args, kwargs, grid, cores=0):
        """`cores`: a launch that is for several cores is tried on one, and on all if the kernel needs them."""
        ordinal = len(self.calls)
        self.calls.append(Call(self._keys(function), ordinal, *_sizes([args, kwargs])))
        if self.target is None:
            return Blank()
        if self.result is not None and self.comparisons:
            raise Done
        given = _bound(function, args, kwargs)
        if ordinal == self.target.ordinal:
            self.key = _key(function)
            try:
                self.traced, self.result = self._on_cores(function, given, grid, cores)
            except Exception as error:
                self.failed = error  # a test may expect one, and go on
                raise
            return self.result
        try:
            return self._run(function, given, grid, only_run=True)[1]
        except Exception:  # another kernel, which has a page of its own
            return Blank()

    def _on_cores(self, function, given, grid, cores):
        try:
            return self._run(function, given, grid, only_run=False)
        except (Raised, Refusal) as error:
            if grid or cores < 2 or isinstance(error, TooLarge):
                raise
            return self._run(function, given, (cores,), only_run=False)

    def _keys(self, function):
        """The function, and the kernels that it names."""
        keys, pending, seen = [_key(function)], [function], set()
        while pending and len(seen) < 400:
            function = pending.pop(0)
            if id(function) in seen:
                continue
            seen.add(id(function))
            for name in sorted(names_in(function.__code__)):
                found = function.__globals__.get(name)
                found = getattr(found, "function", found)
                if isinstance(found, types.FunctionType):
                    pending.append(found)
                    if _key(found) in self.known and _key(found) not in keys:
                        keys.append(_key(found))
        return tuple(keys)

    # ---- The second pass

    def _run(self, function, given, grid, only_run):
        """The trace of the first program, and the results of all."""
        wants_torch = any(_is_tensor(value) for value in _leaves(given))
        grid = tuple(max(1, int(extent)) for extent in grid)
        others = list(np.ndindex(*grid))[1:]
        notes, views = {program: Notes() for program in others}, None

        def run(first):
            nonlocal views
            tracers = [first] + [Tracer(self.target.limits, None, grid, program, notes[program])
                                 for program in others]
            if not others:
                views = self._program(function, given, first)
                return function
            cores = Cores(len(tracers))
            for tracer in tracers:
                tracer.cores = cores
                tracer.recorder.interner.only_run = tracer is not first or only_run
            results, errors = cores.run([lambda t=tracer: self._program(function, given, t) for tracer in tracers])
            for program, error in zip(others, errors[1:]):
                if isinstance(error, Again):
                    notes[program].take(error)
                    raise Again
            for error in sorted(filter(None, errors), key=lambda error: isinstance(error, Stuck)):
                raise error
            views = results[0]
            return function

        done = traced(run, ring=self.target.ring, grid=grid, program=(0,) * len(grid), limits=self.target.limits,
                      only_run=only_run)
        return done, _like(views, iter(_arrays(views)), wants_torch, count() if not only_run else _key(function))

    def _program(self, function, given, tracer):
        self.switch.put(tracer)
        try:
            inputs = {key: _on_device(value, key, tracer, function) for key, value in given.items()}
            result = call(function, inputs, tracer.recorder, self.root)
            tracer.returned(result)
            return result
        finally:
            self.switch.put(None)

    def compared(self, how, got, want, absolute, relative, to_largest=False):
        if self.is_itself(want):
            self.why_not = _ITSELF
        elif np.size(got) == 0 or not np.size(want) or _is_all_nan(want):
            self.why_not = "the test compares no element" if not np.size(got) else "the test compares no number"
        else:
            self.comparisons.append(_comparison(how, got, want, absolute, relative, to_largest))

    def is_itself(self, want):
        """Whether another call of the kernel that is traced has made it."""
        return self.key is not None and getattr(want, "made_by", None) == self.key

    def how_many(self):
        """How many of the results are compared, and how many there are; nothing if that is not known of a comparison."""
        of = [made["result"] for made in self.comparisons or self.exact]
        return None if None in of else (len(set(of)), len(flat(self.result)))

    def _compare_handed(self, thing):
        """With the reference that is in the same object."""
        try:
            wanted, absolute, relative = _reference(thing)
        except Exception as problem:  # the checkout's own reference
            self.why_not = f"its reference does not run: {_said(problem)}"
            return
        if wanted is None:
            self.why_not = "the test has no reference for it"
            return
        outputs = flat(self.result)
        wanted = list(wanted.values()) if isinstance(wanted, dict) else flat(wanted)
        if len(outputs) != len(wanted):
            self.why_not = f"it gives {len(outputs)} tensors, and its reference {len(wanted)}"
            return
        for got, want in zip(outputs, wanted):
            validator = getattr(want, "validator", None)
            if validator is not None:
                validator = validator() if isinstance(validator, type) else validator
                passed = bool(validator.validate(np.asarray(got)))
                self.comparisons.append({"how": "the test's validator", "passed": passed, "result": getattr(got, "number", None)})
            else:
                self.compared("the test's reference", got, want, absolute, relative, to_largest=True)


def _said(problem):
    if isinstance(problem, Refusal):
        return str(problem)
    return f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"


def _key(function):
    return function.__code__.co_filename, function.__name__


def _bound(function, args, kwargs):
    names = list(inspect.signature(function).parameters)
    given = dict(zip(names, args))
    # A name with a dot after it is the same parameter: a mark of the launch.
    given.update({key.split(".")[0]: value for key, value in kwargs.items()})
    return given


# ---- Arguments ------------------------------------------------------------------------------


def _is_tensor(value):
    kind = type(value)
    return kind.__module__.split(".")[0] == "torch" and hasattr(kind, "detach") or hasattr(kind, "watched_tensor")


def _leaves(value):
    if isinstance(value, AbsentValue):
        value.refuse()
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif _has_parts(value):
        yield from _leaves(vars(value))
    else:
        yield value


def _has_parts(value):
    """Whether it is an object of the checkout that may hold tensors."""
    return (hasattr(value, "__dict__") and not _is_tensor(value) and not isinstance(
        value, (type, Enum, np.ndarray, View, Kernel, Blank, types.FunctionType, types.ModuleType))
        and find_element(value) is None)


def _sizes(value):
    """How many elements there are, and how many of them are of a type that NumPy has not."""
    arrays = [leaf for leaf in _leaves(value) if isinstance(leaf, np.ndarray)]
    tensors = sum(int(leaf.numel()) for leaf in _leaves(value) if _is_tensor(leaf))
    return tensors + sum(array.size for array in arrays), sum(array.size for array in arrays if _is_foreign(array))


def _is_foreign(array):
    element = find_element(array.dtype)
    return element is not None and (bool(element.packed) or element.is_float and element.dtype.name != element.name)


def _host(value):
    """A tensor of the host as an array of NumPy, and its element type. Its numbers are rounded in place,
    so a reference that runs afterwards has the same."""
    if _is_tensor(value):
        kind = str(value.dtype).split(".")[-1]
        element = find_element(kind)
        array = value.detach().cpu()
        array = (array.float() if kind in ("bfloat16", "float16") else array).numpy()
        return np.asarray(array), element
    element = find_element(value.dtype)
    if element is not None and value.dtype == element.dtype and value.flags.writeable and element.is_float:
        value[...] = element.fit(value)
    return value, element


def _on_device(value, name, tracer, function):
    """The argument as the kernel sees it: arrays become tensors in HBM, wherever they are."""
    if isinstance(value, np.ndarray) or _is_tensor(value):
        array, element = _host(value)
        if element is None:
            raise Refusal(f"the argument '{name}' is an array of '{value.dtype}', which is not an element type")
        return tracer.input(name, np.asarray(array), element, place_of_function(function))
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_on_device(part, f"{name}_{k}", tracer, function) for k, part in enumerate(value))
    if isinstance(value, dict):
        return {key: _on_device(part, f"{name}_{key}", tracer, function) for key, part in value.items()}
    if _has_parts(value) and any(isinstance(leaf, np.ndarray) or _is_tensor(leaf) for leaf in _leaves(value)):
        made = copy.copy(value)
        for key, part in vars(value).items():
            object.__setattr__(made, key, _on_device(part, f"{name}_{key}", tracer, function))
        return made
    return value


# ---- Results --------------------------------------------------------------------------------


def flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [] if value is None else [value]


def _arrays(views):
    return [np.array(view.read(), view.dtype.dtype) for view in flat(views) if isinstance(view, View)]


def _like(views, arrays, wants_torch, mark):
    """The results in the form in which the kernel gives them. They are watched, with their numbers, if `mark` counts them; or it
    says which kernel has made them."""
    if isinstance(views, View):
        array = next(arrays)
        if not isinstance(mark, tuple):
            return _watched_tensor(_tensor(array), next(mark)) if wants_torch else _marked(array.view(Watched), number=next(mark))
        return _marked(_tensor(array) if wants_torch else array.view(Made), made_by=mark)
    if isinstance(views, (list, tuple)):
        return type(views)(_like(view, arrays, wants_torch, mark) for view in views)
    if isinstance(views, dict):
        return {key: _like(view, arrays, wants_torch, mark) for key, view in views.items()}
    return views


def _marked(array, **marks):
    for name, mark in marks.items():
        setattr(array, name, mark)
    return array


class Made(np.ndarray):
    """What another call of a kernel has made, and what is computed from it."""

    made_by = None

    def __array_finalize__(self, source):
        self.made_by = getattr(source, "made_by", None)


class Watched(np.ndarray):
    """A result of the kernel, and what is computed from it; `number` says which of the results."""

    number = None

    def __array_finalize__(self, source):
        self.number = getattr(source, "number", None)

    def __eq__(self, other):
        same = np.equal(np.asarray(self), np.asarray(other))
        _note_equal(self, other)
        return same

    __hash__ = None


def _note_equal(watched, other):
    if _watcher is None or _watched(other):
        return
    if _watcher.is_itself(other):
        _watcher.why_not = _ITSELF
    elif not _is_all_nan(other):
        _watcher.exact.append(_comparison("==", watched, other, 0, 0, False))


_watcher = None


def _tensor(array):
    import torch

    element = find_element(array.dtype)
    plain = torch.from_numpy(np.ascontiguousarray(array, np.dtype(element.dtype.str)))
    kind = getattr(torch, element.name, plain.dtype) if element.is_float else plain.dtype
    return plain.to(kind) if isinstance(kind, torch.dtype) else plain


def _watched_tensor(tensor, number):
    import torch

    global _Tensor
    if _Tensor is None:
        class Result(torch.Tensor):
            watched_tensor = True
            number = None

            def numpy(self):
                return _marked(np.asarray(self.as_subclass(torch.Tensor).numpy()).view(Watched), number=self.number)

            def __eq__(self, other):
                _note_equal(self, other)
                return self.as_subclass(torch.Tensor) == other

            __hash__ = torch.Tensor.__hash__

        _Tensor = Result
    return _marked(tensor.as_subclass(_Tensor), number=number)


_Tensor = None


# ---- Comparisons ----------------------------------------------------------------------------


def _numbers(value):
    if _is_tensor(value):
        value = value.detach()
        if "float" in str(value.dtype):
            value = value.float()
        import torch
        value = value.as_subclass(torch.Tensor).numpy()
    array = np.asarray(value)
    return array.astype(np.float64) if array.dtype.kind in "fiub" else array


def _comparison(how, got, want, absolute, relative, to_largest):
    number = getattr(got, "number", None)
    got, want = _unpacked(got, want)
    got, want = _numbers(got), _numbers(want)
    said = {"how": how, "absolute": float(absolute), "relative": float(relative), "passed": False, "result": number}
    if got.size != want.size:
        return {**said, "why": f"shape {list(got.shape)}, and the reference has {list(want.shape)}"}
    got = got.reshape(want.shape)
    with np.errstate(all="ignore"):
        largest = float(np.abs(want[np.isfinite(want)]).max(initial=0))
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        difference = np.where(same, 0, np.abs(got - want))
        allowed = absolute + relative * (largest if to_largest else np.abs(want))
        passed = bool((same | (difference <= allowed)).all())
    worst = float(np.nanmax(difference, initial=0)) if not np.isnan(difference).all() else float("nan")
    return {**said, "passed": passed, "largest": largest, "error": worst,
            "unwritten": int(np.isnan(got[~np.isnan(want)]).sum()) if got.dtype.kind == "f" else 0}


def _unpacked(got, want):
    """Of words that hold several numbers, these; the reference has their bits, in words of any type."""
    element = find_element(got.dtype) if isinstance(got, np.ndarray) else None
    if element is None or not element.packed or not isinstance(want, np.ndarray) or want.itemsize != element.itemsize:
        return got, want
    return [unpacked(element, np.ascontiguousarray(words).view(element.dtype.str)) for words in (got, want)]


def _is_all_nan(value):
    numbers = _numbers(value)
    return numbers.dtype.kind == "f" and bool(np.isnan(numbers).all())


def _watched(value):
    return isinstance(value, Watched) or hasattr(type(value), "watched_tensor")


# Module, function, and the tolerances that it has if none are given.
_COMPARE = (("numpy", "allclose", 1e-8, 1e-5), ("numpy.testing", "assert_allclose", 0, 1e-7),
            ("numpy", "array_equal", 0, 0), ("numpy.testing", "assert_array_equal", 0, 0),
            ("torch", "allclose", 1e-8, 1e-5), ("torch", "equal", 0, 0),
            ("torch.testing", "assert_close", 1e-5, 1.3e-6))
_KEEP = (("torch", "from_numpy"), ("torch", "tensor"), ("torch", "as_tensor"))


def watch(watcher, modules):
    """Makes the comparisons of NumPy and torch tell the watcher; `modules` are those that are loaded.
    Gives what undoes it."""
    global _watcher
    _watcher, undo = watcher, []

    def put(module, name, function):
        undo.append((module, name, getattr(module, name)))
        setattr(module, name, function)

    for where, name, absolute, relative in _COMPARE:
        module = modules.get(where)
        if hasattr(module, name):
            put(module, name, _telling(watcher, f"{where.split('.')[0]}.{name}", getattr(module, name),
                                       absolute, relative))
    for where, name in _KEEP:
        module = modules.get(where)
        if hasattr(module, name):
            put(module, name, _keeping(getattr(module, name)))
    return lambda: [setattr(*entry) for entry in reversed(undo)]


def _telling(watcher, how, function, absolute, relative):
    def compare(first, second, *args, **given):
        if isinstance(first, Blank) or isinstance(second, Blank):
            return True
        sides = [_watched(first), _watched(second)]
        if sum(sides) == 1:
            got, want = (first, second) if sides[0] else (second, first)
            rtol = given.get("rtol", args[0] if args and "equal" not in how else relative)
            atol = given.get("atol", args[1] if len(args) > 1 and "equal" not in how else absolute)
            rtol, atol = (relative if rtol is None else rtol), (absolute if atol is None else atol)
            watcher.compared(how, got, want, atol, rtol)
        return function(_plain(first), _plain(second), *args, **given)

    return compare


def _plain(value):
    """The same without a watch, for functions that compare inside."""
    if isinstance(value, Watched):
        return np.array(value, np.dtype(value.dtype.str))
    return value.as_subclass(type(value).__mro__[1]) if _watched(value) else value


def _keeping(function):
    def made(value, *args, **given):
        if isinstance(value, Watched):
            return _watched_tensor(function(_plain(value), *args, **given), value.number)
        return function(value, *args, **given)

    return made


# ---- What a fixture is handed ---------------------------------------------------------------

_REFERENCES = ("golden", "golden_output", "expected", "reference")
_CORES = ("logical_nc_config", "lnc", "cores")
_ABSOLUTE, _RELATIVE = ("absolute_accuracy", "atol"), ("relative_accuracy", "rtol")


def _pair(thing):
    """The function and its arguments, if the object has one function and a dictionary for it."""
    parts = getattr(thing, "__dict__", {})
    functions = [getattr(part, "function", part) for part in parts.values()
                 if isinstance(part, (Kernel, types.FunctionType))]
    if len(functions) != 1:
        return None
    names = set(inspect.signature(functions[0]).parameters)
    for part in parts.values():
        if isinstance(part, dict) and part and all(isinstance(key, str) and key.split(".")[0] in names
                                                   for key in part):
            return functions[0], part
    return None


def _cores(thing):
    """How many cores the launch is for, if the object or one of its parts says so."""
    for part in [thing, *vars(thing).values()]:
        for name in _CORES:
            found = getattr(part, name, 0) if not isinstance(part, (dict, Kernel)) else 0
            if isinstance(found, int) and found:
                return found
    return 0


def _reference(thing):
    """The reference, and tolerances absolute and relative, from the object or from its parts."""
    for part in [thing, *vars(thing).values()]:
        for name in _REFERENCES:
            found = getattr(part, name, None)
            if found is not None and not isinstance(found, types.FunctionType):
                if hasattr(type(found), "golden") or "golden" in getattr(found, "__dict__", {}):
                    found = found.golden  # made when it is asked for, which may fail
                return (found, *(next((getattr(part, key) for key in keys if hasattr(part, key)), default)
                                 for keys, default in ((_ABSOLUTE, 1e-8), (_RELATIVE, 1e-5))))
    return None, 0, 0
