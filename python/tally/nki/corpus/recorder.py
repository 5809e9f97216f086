"""What a call of a kernel does while a driver of the checkout runs.

There are several passes. The first one notes every call: which kernel, how large its arguments are. The result is a
Blank, so a driver goes on as far as it can. In the second pass one call is traced, with its arguments as they
are, and gives NumPy's results; other kernels run on NumPy alone. What the driver compares with the results is noted
(comparisons.py). In later passes nothing is traced, and kernels give other numbers (again.py).

A driver may also hand a kernel, its arguments and a reference to a fixture, in one object; then the comparison is
made here, relative to the largest element of the reference.
"""

import copy
import inspect
import os
import threading
import types
from enum import Enum
from typing import NamedTuple

import numpy as np

from ..elements import find_element
from ..modules import Kernel
from ..refusal import Refusal
from ..source import AbsentValue
from ..trace import Raised, call, place_of_function, traced
from ..tracer import Again, Notes, Tracer
from ..tree import TooLarge
from ..values import View
from .again import changes, disturbed, flat
from .comparisons import Comparisons, OfAnother, is_tensor, tensor, watched
from .cores import Cores, Stuck
from .drivers import names_in
from .standins import Blank, Raises


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


# ---- All passes -----------------------------------------------------------------------------


class Watcher:
    """Takes calls of kernels; `target` is (ordinal, limits, ring), or None in the first pass. `first` is what the second pass has
    found, in later ones, and `way` what kernels give."""

    def __init__(self, switch, kernels, root, target=None, first=None, way=None):
        self.switch, self.known, self.root, self.target, self.first, self.way = switch, kernels, root, target, first, way
        self.calls, self.entered = [], set()
        self.results_before, self.inputs, self.had_others = {}, set(), False  # of other calls, by ordinal
        self.traced = self.result = self.returned = self.failed = self.key = None
        self.tell_call, self.tell_trace = lambda call: None, lambda: None  # as soon as there is one
        self.disturbed = None  # the part, while it writes other numbers
        self.part = self.changes = None  # a kernel that is traced through another one, and how results change with what it writes
        self.comparisons = Comparisons(None if first is None else first.answers)

    def launch(self, kernel, args, kwargs):
        function = kernel.function
        if self.switch.runs():
            self.entered.add(_key(function))
            tracer = self.switch.local.tracer
            before, tracer.disturb = tracer.disturb, disturbed if _key(function) == self.disturbed else tracer.disturb
            try:
                return function(*args, **kwargs)
            finally:
                tracer.disturb = before
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
            self.tell_call(self.calls[-1])
            Raises.swallowed += 1
            return Blank()
        if self.result is not None and self.comparisons.has_result:
            raise Done
        given = _bound(function, args, kwargs)
        _refuse_blanks(given)
        wants_torch = any(is_tensor(value) for value in _leaves(given))
        if ordinal == self.target.ordinal:
            self.inputs = {number for number, (key, results) in self.results_before.items()
                           if key != _key(function) and _are_in(results, given)}
            self.result = _each(self._target(function, given, grid, cores), lambda array: watched(array, wants_torch))
            self.comparisons.begun = True
            return self.result
        entered = set(self.entered)
        try:
            returned = self._run(function, given, grid, only_run=True)[1]
        except Exception:  # another kernel, which has a page of its own
            Raises.swallowed += 1
            return Blank()
        finally:
            self.entered = entered  # those of the call that is traced
        self.had_others = True
        if self.result is None:
            self.results_before[ordinal] = _key(function), flat(returned)
        if self.way is not None and not self.way.alone and ordinal not in self.first.inputs:
            returned = _each(returned, self.way.numbers)
        return _each(returned, tensor if wants_torch else lambda array: array.view(OfAnother))

    def _target(self, function, given, grid, cores):
        """What the call that is asked for returns: it is traced, or gives other results than in the first run."""
        if self.first is not None:
            for leaf in _leaves(given):
                if isinstance(leaf, np.ndarray):
                    _host(leaf)
            return _each(self.first.results, self.way.numbers)
        self.key = _key(function)
        again = _copied(given) if self.part is not None else None
        try:
            self.traced, self.returned, grid = self._on_cores(function, given, grid, cores)
        except Exception as error:
            self.failed = error  # a test may expect one, and go on
            raise
        # The driver goes on, and may change its arrays.
        self.traced = self.traced._replace(expected=_copies(self.traced.expected))
        if self.part in self.entered and again is not None:
            self.changes = self._changes_with_part(function, again, grid)
        self.tell_trace()
        return _each(self.returned, np.array)

    def _changes_with_part(self, function, given, grid):
        """How the numbers of the results change if all that the part writes are others. Not known, if that cannot be run."""
        self.disturbed = self.part
        try:
            disturbed = self._run(function, given, grid, only_run=True)[1]
        except Exception:  # as by an index that is another one
            return None
        finally:
            self.disturbed = None
        return changes(self.returned, disturbed)

    def _on_cores(self, function, given, grid, cores):
        """The trace, the results, and the grid that it ran on."""
        try:
            return *self._run(function, given, grid, only_run=False), grid
        except (Raised, Refusal) as error:
            if grid or cores < 2 or isinstance(error, TooLarge):
                raise
            return *self._run(function, given, (cores,), only_run=False), (cores,)

    def _keys(self, function):
        """The function, and the kernels that it names."""
        keys, pending, seen = [_key(function)], [function], set()
        while pending and len(seen) < 400:
            function = pending.pop(0)
            if id(function) in seen:
                continue
            seen.add(id(function))
            for found in self._named(function):
                pending.append(found)
                if _key(found) in self.known and _key(found) not in keys:
                    keys.append(_key(found))
        return tuple(keys)

    def _named(self, function):
        """The functions that its code names, by themselves or as those of modules of the checkout that it names."""
        names, functions, modules = sorted(names_in(function.__code__)), [], []
        pending = [function.__globals__.get(name) for name in names]
        while pending:
            found = pending.pop(0)
            if isinstance(found, types.ModuleType):
                if found not in modules and self._is_of_checkout(found):
                    modules.append(found)
                    pending += [vars(found).get(name) for name in names]
                continue
            found = getattr(found, "function", found)
            if isinstance(found, types.FunctionType) and found not in functions:
                functions.append(found)
        return functions

    def _is_of_checkout(self, module):
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        return any(os.path.realpath(place).startswith(self.root + os.sep) for place in places if place)

    # ---- The second pass

    def _run(self, function, given, grid, only_run):
        """The trace of the first program, and the results of all, as arrays."""
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
        return done, _each(views, lambda view: np.array(view.read(), view.dtype.dtype))

    def _program(self, function, given, tracer):
        self.switch.put(tracer)
        try:
            inputs = {key: _on_device(value, key, tracer, function) for key, value in given.items()}
            result = call(function, inputs, tracer.recorder, self.root)
            tracer.returned(result)
            return result
        finally:
            self.switch.put(None)

    def _compare_handed(self, thing):
        """With the reference that is in the same object."""
        try:
            wanted, absolute, relative = _reference(thing)
        except Exception as problem:  # the checkout's own reference
            self.comparisons.why_not = f"its reference does not run: {_said(problem)}"
            return
        if wanted is None:
            self.comparisons.why_not = "the test has no reference for it"
            return
        outputs = flat(self.result)
        if isinstance(wanted, dict) and isinstance(self.result, dict) and wanted.keys() == self.result.keys():
            wanted = [wanted[name] for name in self.result]
        wanted = list(wanted.values()) if isinstance(wanted, dict) else flat(wanted)
        if len(outputs) != len(wanted):
            self.comparisons.why_not = f"it gives {len(outputs)} tensors, and its reference {len(wanted)}"
            return
        for got, want in zip(outputs, wanted):
            validator = getattr(want, "validator", None)
            if validator is not None:
                validator = validator() if isinstance(validator, type) else validator
                self.comparisons.judged(got, bool(validator.validate(np.asarray(got))))
            else:
                self.comparisons.add("the test's reference", got, want, absolute, relative, to_largest=True)


def _said(problem):
    if isinstance(problem, Refusal):
        return str(problem)
    return f"{type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}"


def _key(function):
    return function.__code__.co_filename, function.__qualname__.replace(".<locals>", "")


def _are_in(results, given):
    """Whether a result, and not only one like it, is an argument."""
    arguments = [_host(leaf)[0] for leaf in _leaves(given) if isinstance(leaf, np.ndarray) or is_tensor(leaf)]
    return any(np.shares_memory(argument, result) for argument in arguments for result in results)


def _refuse_blanks(given):
    for name, value in given.items():
        if any(isinstance(leaf, Blank) for leaf in _leaves(value)):
            raise Refusal(f"the argument '{name}' is made by a fixture that does not run here, or of the result of another "
                          "kernel that cannot be traced")


def _bound(function, args, kwargs):
    names = list(inspect.signature(function).parameters)
    given = dict(zip(names, args))
    # A name with a dot after it is the same parameter: a mark of the launch.
    given.update({key.split(".")[0]: value for key, value in kwargs.items()})
    return given


# ---- Arguments ------------------------------------------------------------------------------


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
    return (hasattr(value, "__dict__") and not is_tensor(value) and not isinstance(
        value, (type, Enum, np.ndarray, View, Kernel, Blank, types.FunctionType, types.ModuleType))
        and find_element(value) is None)


def _sizes(value):
    """How many elements there are, and how many of them are of a type that NumPy has not."""
    arrays = [leaf for leaf in _leaves(value) if isinstance(leaf, np.ndarray)]
    tensors = sum(int(leaf.numel()) for leaf in _leaves(value) if is_tensor(leaf))
    return tensors + sum(array.size for array in arrays), sum(array.size for array in arrays if _is_foreign(array))


def _copied(given):
    """The arguments once more; none if they cannot be copied."""
    try:
        return copy.deepcopy(given)
    except Exception:  # objects of the checkout
        return None


def _copies(arrays):
    return {name: np.array(numbers) for name, numbers in arrays.items()}


def _is_foreign(array):
    element = find_element(array.dtype)
    return element is not None and (bool(element.packed) or element.is_float and element.dtype.name != element.name)


def _host(value):
    """A tensor of the host as an array of NumPy, and its element type. Its numbers are rounded in place,
    so a reference that runs afterwards has the same."""
    if is_tensor(value):
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
    if isinstance(value, np.ndarray) or is_tensor(value):
        array, element = _host(value)
        if element is None:
            raise Refusal(f"the argument '{name}' is an array of '{value.dtype}', which is not an element type")
        view = tracer.input(name, np.asarray(array), element, place_of_function(function))
        view.memory.first = np.array(view.memory.data)  # the kernel may write it, or the driver, later
        return view
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_on_device(part, f"{name}_{k}", tracer, function) for k, part in enumerate(value))
    if isinstance(value, dict):
        return {key: _on_device(part, f"{name}_{key}", tracer, function) for key, part in value.items()}
    if _has_parts(value) and any(isinstance(leaf, np.ndarray) or is_tensor(leaf) for leaf in _leaves(value)):
        made = copy.copy(value)
        for key, part in vars(value).items():
            object.__setattr__(made, key, _on_device(part, f"{name}_{key}", tracer, function))
        return made
    return value


# ---- Results --------------------------------------------------------------------------------


def _each(value, change):
    """The results, with each tensor changed."""
    if isinstance(value, (View, np.ndarray)):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_each(part, change) for part in value)
    if isinstance(value, dict):
        return {key: _each(part, change) for key, part in value.items()}
    return value


# ---- What a fixture is handed ---------------------------------------------------------------

_REFERENCES = ("golden", "golden_output", "expected", "reference")
_CORES = ("logical_nc_config", "lnc", "cores")
_ABSOLUTE, _RELATIVE = ("absolute_accuracy", "atol"), ("relative_accuracy", "rtol")


def _pair(thing):
    """The function and its arguments, if the object has one function and a dictionary for it."""
    parts = {name: part for name, part in getattr(thing, "__dict__", {}).items() if name not in _REFERENCES}
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
    functions = 0
    for part in [thing, *vars(thing).values()]:
        for name in _REFERENCES:
            found = getattr(part, name, None)
            functions += isinstance(found, types.FunctionType)
            if found is not None and not isinstance(found, types.FunctionType):
                if hasattr(type(found), "golden") or "golden" in getattr(found, "__dict__", {}):
                    found = found.golden  # made when it is asked for, which may fail
                return (found, *(next((getattr(part, key) for key in keys if hasattr(part, key)), default)
                                 for keys, default in ((_ABSOLUTE, 1e-8), (_RELATIVE, 1e-5))))
    if functions:
        raise Refusal("it is a function, and only the checkout's own runner knows what that is called with")
    return None, 0, 0
