"""The state of Python that a loop could change: all that its next iteration, or what follows it, may read.

A dynamic loop has one body on the device, so Python's own state must be the same after each iteration as before. It is
followed from where it can be reached: from the local variables that are read before they are set again (`live`), and
from closures and globals. From there it goes through attributes, items, default arguments and iterators. What belongs
to modules that are not the user's is left out.

A tile or a register that is made in an iteration cannot be used after it (rings.py, values.py), so which one a name
stands for does not matter.
"""

import contextvars
import dis
import enum
import functools
import gc
import itertools
import os
import random
import re
import sys
import traceback
import types
import warnings
import zlib
from array import array
from collections import UserDict, UserList, deque

import numpy as np

from .elements import Element
from .values import DynamicSlice, Grid, Mask, Register, View, merged

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, type(Ellipsis), np.generic, Element, enum.Enum)
_GONE = "gone"
_WITHOUT_STATE = (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, re.Pattern, np.ufunc,
                  np.dtype, types.GetSetDescriptorType, types.MemberDescriptorType, types.FrameType, types.CodeType)
_PACKAGE = __name__.rpartition(".")[0]
MARK = "__tally_for__"  # a global of the user's files (source.py)


class State:
    """A copy of the state, by what Python calls its parts. `opaque`: there may be more that is not seen."""

    def __init__(self, frame, functions=(), without=(), loop=None):
        self.parts, self.loop, self.opaque = {}, loop, False
        self.shapes = {}  # of views, of which the parts say only the elements
        self._seen, self._kept = set(), []  # what is kept alive has an id of its own
        self._pending = deque((name, value) for name, value in _roots(frame, functions) if name not in without)
        self._caches, self._asks_caches = [], False
        self._pending.extend(_of_process())
        while self._pending:
            self._take(*self._pending.popleft())
        if self._asks_caches:  # how often they were of use is of no use to others
            self.parts.update((name, ("cache", repr(cache.cache_info()))) for name, cache in self._caches)

    def change(self, later):
        """What is said of the first part that is another one later; None if all are the same."""
        for name, part in self.parts.items():
            now = later.parts.get(name, part)
            if part[0] == "hidden":
                return f"may change Python's '{name}', a '{part[1]}' whose state cannot be followed,"
            if now != part and not (now[0] == part[0] and now[1] == _GONE):
                return f"changes Python's '{name}'" + (f" from {_words(part)} to {_words(now)}" if _words(part) != _words(now) else "") + ","
        return None

    def reshapes(self, later):
        """Whether the same elements have another shape later."""
        return any(later.shapes.get(part, shapes) != shapes for part, shapes in self.shapes.items())

    def _take(self, name, value):
        if isinstance(value, _PLAIN):
            inner = () if not _is_users_class(type(value)) else _of_member(value) if isinstance(value, enum.Enum) else _instance(value)[1]
            self._note(name, value, (type(value).__name__, repr(value)), inner)
        elif id(value) not in self._seen:
            self._seen.add(id(value))
            self._walk(name, value)

    def _note(self, name, value, part, inner=()):
        self.parts[name] = part
        self._kept.append(value)
        self._pending.extend((name + suffix, thing) for suffix, thing in inner)

    def _walk(self, name, value):
        """Notes the part, and where to go on from there."""
        for kinds, look in _KINDS:
            if isinstance(value, kinds):
                named = (name,) if kinds is functools._lru_cache_wrapper else ()
                self._note(name, value, *look(self, *named, value))
                return
        if _is_users_class(type(value)):
            self._note(name, value, *_instance(value))
            if _builtin_base(value) is object:
                return
        self._other(name, value)

    def _other(self, name, value):
        """An object of a type that is neither the user's nor known here."""
        kind = type(value).__module__.partition(".")[0], type(value).__qualname__
        wrapped = getattr(value, "__dict__", {}).get("__wrapped__")
        if isinstance(value, _WITHOUT_STATE) or _is_ours(value):
            self._note(name, value, ("other", *kind), [("()", wrapped)] if wrapped is not None else ())
            return
        parts = _reduced(value)
        if parts is not None:
            self._note(name, value, ("other", *kind), [(" (its state)", parts), *_members(value)])
            return
        self.opaque = True
        seen, more = _told(value), getattr(value, "__dict__", None)
        if not seen and more is None:
            self._note(name, value, ("hidden", ".".join(kind)))
        else:
            self._note(name, value, ("other", *kind, *seen), [(f".{key}", thing) for key, thing in (more or {}).items()])

    def _cache(self, name, cache):
        self._caches.append((f"{name} (its cache)", cache))
        return ("function", id(cache)), [("()", cache.__wrapped__), *_results(cache)]

    def _view(self, view):
        if self._is_gone(view.memory):
            return ("view", _GONE), ()
        part = "view", id(view.memory), view.offset, merged(view.shape, view.strides), view.unknown
        self.shapes.setdefault(part, set()).add(view.shape)
        return part, ()

    def _is_gone(self, memory):
        """Whether it was made in an iteration of a dynamic loop that is over, or is about to be."""
        recorder = memory.tracer.recorder
        open_loops = {loop.id: loop for loop in recorder.loops}
        for loop, index in zip(memory.family.loops, memory.coordinates):
            if recorder.loop_info[loop][2] is not None:
                now = open_loops.get(loop)
                if now is None or now is self.loop or now.index != index:
                    return True
        return False

    def _function(self, function):
        if MARK not in function.__globals__:
            return ("function", id(function)), ()
        code, inner = function.__code__, []
        for variable, cell in zip(code.co_freevars, function.__closure__ or ()):
            inner.append((f" (its {variable})", _content(cell)))
        names = code.co_varnames[:code.co_argcount]
        defaults = function.__defaults__ or ()
        inner += [(f"({parameter}=...)", value) for parameter, value in zip(names[len(names) - len(defaults):], defaults)]
        inner += [(f"({parameter}=...)", value) for parameter, value in (function.__kwdefaults__ or {}).items()]
        inner += [(f".{key}", value) for key, value in function.__dict__.items()]
        inner += _descriptions(function)
        self._asks_caches = self._asks_caches or "cache_info" in _names(code)
        self._pending.extend(_globals(function.__globals__, code))
        return ("function", id(code), tuple(function.__dict__)), inner

    def _module(self, module):
        if MARK in vars(module):
            self._pending.extend(_globals(vars(module)))
            return ("module", id(module)), ()
        if _is_ours(module):
            return ("module", id(module)), ()
        return ("module", id(module)), [(f".{name}", value) for name, value in list(vars(module).items())
                                        if isinstance(value, _PLAIN) and not name.startswith("_")]

    def _class(self, cls):
        if not _is_users_class(cls):
            return ("class", id(cls), cls.__module__), ()
        names = [name for name, value in vars(cls).items() if not _is_double(name) or isinstance(value, types.FunctionType)]
        return ("class", cls.__qualname__, tuple(names)), [(f".{name}", vars(cls)[name]) for name in names] + [
            (".__bases__", base) for base in cls.__bases__] + [(".__class__", type(cls))] + _descriptions(cls)

    def _register(self, register):
        home = register.home
        gone = home is not None and (home.ended or self.loop is not None and home is self.loop.scope)
        return ("register", _GONE if gone else id(register)), ()

    def _generator(self, generator):
        frame = generator.gi_frame
        return ("generator", frame.f_lasti if frame is not None else None), [
            (f" (its {name})", value) for name, value in (frame.f_locals if frame is not None else {}).items()]


def _descriptions(thing):
    """What a function or a class says of itself, as far as a kernel may change it."""
    names = "__name__", "__qualname__", "__module__", "__doc__", "__annotations__"
    return [(f".{name}", getattr(thing, name)) for name in names if hasattr(thing, name)]


def _attributes(value):
    """Those of its own, whatever its class makes of that."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


def _of_member(member):
    """What a member of an enumeration has, except its name and value: these never change."""
    return [(f".{name}", value) for name, value in _attributes(member).items()
            if name not in ("_value_", "_name_", "_sort_order_", "__objclass__")]


def _results(cache):
    """What a function that keeps its results has kept."""
    for kept in gc.get_referents(cache):
        for number, result in enumerate(kept.values()) if type(kept) is dict and kept is not cache.__dict__ else ():
            if type(result).__name__ == "_lru_list_elem":  # of a cache with a limit
                result = (gc.get_referents(result) or [None])[-1]
            yield f" (its result {number})", result


def _instance(value):
    attributes = dict(_attributes(value))
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            if isinstance(member, types.MemberDescriptorType):
                attributes.setdefault(name, _held(member, value))
    return ("object", type(value).__qualname__, tuple(sorted(attributes))), [
        *((f".{name}", attribute) for name, attribute in attributes.items()), (".__class__", type(value))]


def _members(value):
    """What objects of C have in places of their own, as exceptions have, and what `defaultdict` makes its items of."""
    for cls in type(value).__mro__:
        for name, member in vars(cls).items() if not _is_users_class(cls) else ():
            if isinstance(member, types.MemberDescriptorType) and name not in ("__dict__", "__weakref__"):
                yield f".{name}", _held(member, value)
    if isinstance(value, BaseException):
        lines = [(id(frame.f_code), line) for frame, line in traceback.walk_tb(value.__traceback__)]
        yield from ((".__cause__", value.__cause__), (".__context__", value.__context__), (".__traceback__", lines))


def _held(slot, value):
    try:
        return slot.__get__(value)
    except AttributeError:  # it is empty
        return None


def _sequence(_, value):
    more = _instance(value)[1] if _is_users_class(type(value)) else ()
    things = list(_builtin_base(value).__iter__(value))
    return ("sequence", type(value).__name__, len(things)), [*((f"[{place}]", thing) for place, thing in enumerate(things)), *more]


def _set(_, value):
    if all(isinstance(thing, _PLAIN) for thing in value):
        return ("set", tuple(sorted(map(repr, value)))), ()
    return ("set", len(value)), [(f"[{place}]", thing) for place, thing in enumerate(value)]


def _dict(_, value):
    items = list(_builtin_base(value).items(value))
    keys = tuple(repr(key) if isinstance(key, _PLAIN) else id(key) for key, _ in items)
    more = _instance(value)[1] if _is_users_class(type(value)) else ()
    more = [*more, *(_members(value) if type(value) is not dict else ())]
    return ("dict", keys), [*((f"[{key!r}]", thing) for key, thing in items), *more]


def _numbers(_, numbers):
    part = "array", numbers.shape, numbers.dtype.str, numbers.flags.writeable
    if numbers.dtype.hasobject:
        return (*part, 0), [(f"[{place}]", thing) for place, thing in enumerate(numbers.reshape(-1).tolist())]
    return (*part, zlib.crc32(np.ascontiguousarray(numbers).view(np.uint8)) if numbers.size else 0), ()


_KINDS = [
    (View, State._view),
    (Register, State._register),
    ((list, tuple, deque), _sequence),
    (dict, _dict),
    ((set, frozenset), _set),
    (types.FunctionType, State._function),
    (types.MethodType, lambda _, method: (("method",), [(".__self__", method.__self__), ("()", method.__func__)])),
    ((staticmethod, classmethod), lambda _, method: (("method",), [("()", method.__func__)])),
    (property, lambda _, thing: (("property",), [("()", thing.fget), ("() when set", thing.fset)])),
    (functools.partial, lambda _, thing: (("partial",), [("()", thing.func), (".args", thing.args), (".keywords", thing.keywords)])),
    (types.ModuleType, State._module),
    (type, State._class),
    ((types.SimpleNamespace, UserDict, UserList), lambda _, thing: _instance(thing)),
    ((bytearray, array, memoryview), lambda _, thing: (("bytes", bytes(thing)), ())),
    (functools._lru_cache_wrapper, State._cache),
    ((types.BuiltinFunctionType, types.MethodWrapperType), lambda _, method: (("method",), [(".__self__", method.__self__)])),
    (types.GeneratorType, State._generator),
    (types.CellType, lambda _, cell: (("cell",), [(".cell_contents", _content(cell))])),
    (np.ndarray, _numbers),
    (random.Random, lambda _, thing: (("random", hash(thing.getstate())), ())),
    (slice, lambda _, part: (("slice",), [(".start", part.start), (".stop", part.stop), (".step", part.step)])),
    (DynamicSlice, lambda _, part: (("slice",), [(".start", part.start), (".size", part.size)])),
    (Grid, lambda _, grid: (("grid", grid.shape, int(grid.first), grid.factors), ())),
    (Mask, lambda _, mask: (("mask",), [(".parts", mask.parts)])),
]


def _words(part):
    if part[0] in ("view", "register"):
        return {"view": "a tensor", "register": "a register"}[part[0]]
    if part[0] == "sequence":
        return f"{part[2]} elements"
    return part[1] if len(part) == 2 and isinstance(part[1], str) and len(part[1]) < 40 else "something else"


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _is_double(name):
    return name.startswith("__") and name.endswith("__")


def _is_users_class(cls):
    return MARK in getattr(sys.modules.get(cls.__module__), "__dict__", {})


def _is_ours(value):
    name = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
    return f"{name}.".startswith(f"{_PACKAGE}.") or any(value is stream for stream in _streams())


def _streams():
    """What is printed there is no state."""
    return sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__


def _builtin_base(value):
    return next(cls for cls in type(value).__mro__ if not _is_users_class(cls))


def _reduced(value):
    """What a copy of the object would be made of; None if it cannot be copied."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = value.__reduce_ex__(2)
    except Exception:  # of any type that cannot
        return repr(value) if isinstance(value, (itertools.count, itertools.repeat)) else None
    if isinstance(parts, str):
        return parts
    return [*parts[1:3], *(list(items) for items in parts[3:5] if items is not None)]


_QUESTIONS = ("tell", "qsize", "locked", "digest")


def _told(value):
    """What an object that cannot be copied says of itself."""
    told = []
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            if isinstance(member, (types.GetSetDescriptorType, types.MemberDescriptorType)) and not _is_double(name):
                told.append((name, _answer(lambda name=name: getattr(value, name))))
    told += [(name, _answer(getattr(value, name))) for name in _QUESTIONS if callable(getattr(type(value), name, None))]
    if isinstance(type(value).__repr__, types.WrapperDescriptorType) and type(value).__repr__ is not object.__repr__:
        told.append(("repr", _answer(lambda: repr(value))))
    return [(name, answer) for name, answer in told if answer is not None]


def _answer(question):
    """A plain value as text, None if it is none."""
    try:
        answer = question()
    except Exception:  # whatever it does not like
        return None
    return repr(answer) if isinstance(answer, _PLAIN) else None


# ---- Where it begins ------------------------------------------------------------------------


def _of_process():
    numbers = np.random.get_state()
    yield "random numbers", hash((random.getstate(), numbers[1].tobytes(), *numbers[2:]))
    yield "environment", hash(tuple(sorted(os.environ.items())))
    yield "current folder", os.getcwd()
    yield "recursion limit", sys.getrecursionlimit()
    yield "filters of warnings", hash(repr(warnings.filters))
    yield "settings of NumPy", repr((np.getbufsize(), np.geterr(), np.get_printoptions()))
    for variable, value in contextvars.copy_context().items():
        yield f"context variable {variable.name}", value


def _roots(frame, functions):
    code = frame.f_code
    names = live(frame) if code.co_flags & 0x01 else frame.f_locals  # optimized: local variables are in places of their own
    names = {*names, *code.co_cellvars, *code.co_freevars}
    variables = frame.f_locals
    yield from ((name, variables[name]) for name in variables if name in names)
    yield from ((getattr(function, "__name__", "body"), function) for function in functions)
    if MARK in frame.f_globals:
        yield from _globals(frame.f_globals, code)


def _globals(variables, code=None):
    """Global variables of a module: all, or those that the code may use."""
    names = tuple(variables) if code is None or not _BY_TEXT.isdisjoint(_names(code)) else _names(code)
    module = variables.get("__name__", "")
    for name in names:
        if name in variables and (not _is_double(name) or name in _OF_MODULE):
            yield f"global {module}.{name}", variables[name]


_OF_MODULE = frozenset(("__name__", "__doc__", "__file__", "__annotations__"))
_BY_TEXT = frozenset(("globals", "vars", "eval", "exec", "modules", "__dict__"))  # by which code may use any name


@functools.lru_cache(maxsize=4096)
def _names(code):
    """Names of globals and of attributes, also in the functions inside."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return tuple(dict.fromkeys(itertools.chain(code.co_names, *inner)))


def live(frame):
    """Local variables that may be read, from here on, before they are set."""
    return _live(frame.f_code).get(frame.f_lasti, frozenset(frame.f_code.co_varnames))


_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS", "JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD",
         "JUMP_BACKWARD_NO_INTERRUPT")
_FAST = re.compile("(LOAD|STORE|DELETE)_FAST")


@functools.lru_cache(maxsize=4096)
def _live(code):
    """Such variables at each instruction, by its offset."""
    steps = list(dis.get_instructions(code))
    place = {step.offset: number for number, step in enumerate(steps)}
    handlers = getattr(dis.Bytecode(code), "exception_entries", ())
    after = []
    for number, step in enumerate(steps):
        follow = [] if step.opname in _ENDS or number + 1 == len(steps) else [number + 1]
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            follow.append(place[step.argval])
        follow += [place[entry.target] for entry in handlers if entry.start <= step.offset < entry.end]
        after.append(follow)
    found, changes = [frozenset()] * len(steps), True
    while changes:
        changes = False
        for number in reversed(range(len(steps))):
            names = set().union(*(found[place] for place in after[number]))
            argument = steps[number].argval
            used = zip(_FAST.findall(steps[number].opname), argument if isinstance(argument, tuple) else (argument,))
            for does, name in reversed(list(used)):
                (names.add if does == "LOAD" else names.discard)(name)
            if names != found[number]:
                found[number], changes = frozenset(names), True
    return {step.offset: names for step, names in zip(steps, found)}
