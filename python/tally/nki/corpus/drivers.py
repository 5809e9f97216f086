"""Runs a driver of the checkout, case by case.

A file of tests has a case for each function `test_*` (of a class `Test*`, too) and each set of its
parameters; a program is one case, its run as `__main__`. Parameters come from `parametrize`, and from what a
`conftest.py` makes of other marks (`pytest_generate_tests`). If that cannot run, they come from any mark whose
keywords are lists with the names of parameters; a keyword that is a function of them filters the sets. The
lightest sets go first, of each member of an enumeration one before all others. Those that call themselves negative
are left out.

A parameter that no mark gives is a fixture: that of the test's class or file, or the member for trn2 if it is
annotated with an enumeration (for trn3, if the test is skipped on trn2). Otherwise it is a Blank, which looks at
what it is handed (recorder.py).

A program that calls a function of its own with one kernel by name is also run for other kernels:
`test("accuracy", v1)` is called with v2, v3, ... if they have the same parameters as v1.
"""

import ast
import contextlib
import enum
import functools
import inspect
import itertools
import math
import os
import sys
import tempfile
import tokenize
import types
import unittest
from pathlib import Path
from typing import Any, Callable, NamedTuple

import numpy as np

from ..elements import Element
from ..modules import Kernel
from ..source import compiled
from .found import is_class_of_tests
from .standins import Blank, Mark, Skipped, patches

MOST_SETS = 4000  # of parameters that are looked at
MOST_CASES = 10  # of one test, and
MOST_CALLING = 3  # of them with the same element types, if they call a kernel
TARGETS = ("trn2", "trn3")  # of a test that is skipped on the first one


class Case(NamedTuple):
    id: str
    run: Callable
    names: frozenset = frozenset()  # that its code uses
    is_first: bool = False  # with some member of an enumeration among its parameters
    elements: frozenset = frozenset()  # the element types among them


def cases(path, root, finder, handed):
    """The cases of a driver. `handed` is called with what fixtures are handed."""
    if _is_program(path):
        module = []
        yield Case("__main__", lambda: _run_program(path, finder, module))
        if module:
            yield from _siblings(path, module[0])
        return
    loaded = []
    for file in filter(os.path.isfile, conftests(path, root)):
        try:
            loaded.append(load(file, root))
        except (Exception, SystemExit) as error:  # the checkout's own file, which may need what is not installed
            yield _failed("conftest.py", error)
    module = load(path, root)
    _prepare(module, ("setUpModule", "setup_module"), module)
    for name, function, make, marks in _tests(module):
        try:
            made, error = _made_by(loaded, function, module, marks)
            if error is not None:
                yield _failed(f"{name}[conftest.py]", error, function)
            sets = _parameter_sets(function, made, marks)
            if error is not None and sets == [{}]:
                continue
        except Exception as error:  # the checkout's own marks
            yield _failed(f"{name}[]", error, function)
            continue
        firsts = _firsts(sets)
        sets = [*firsts, *(given for given in sets if not any(given is first for first in firsts))]
        for number, given in enumerate(sets[:MOST_CASES]):
            yield Case(f"{name}[{number}]", lambda m=make, g=given, marks=marks: _run_test(m(), module, g, handed, marks),
                       names_in(function.__code__), number < len(firsts),
                       frozenset(value for _, value in _leaves(given) if isinstance(value, Element)))


def _run_test(prepared, module, given, handed, marks):
    with prepared as function:
        _call(function, module, given, handed)
    if any(mark.name == "xfail" and mark.kwargs.get("strict") and all(mark.args) and mark.kwargs.get("condition", True) for mark in marks):
        raise AssertionError("it passes, and is marked as one that fails")


def _failed(name, error, function=None):
    """A case that reports a mistake in what makes cases; others go on."""

    def fail():
        raise error

    return Case(name, fail, names_in(function.__code__) if function else frozenset())


def is_of_test(name):
    """Whether a case is of a test, which fails or passes, and not of a program."""
    return name.endswith("]")


def names_in(code):
    """All names that a function uses, those of functions inside it, too."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_in(constant)
    return frozenset(names)


def _is_program(path):
    name = os.path.basename(path)
    return not (name.startswith("test_") or name.endswith("_test.py")) or not _has_tests(path)


def _has_tests(path):
    with tokenize.open(path) as file:
        tree = ast.parse(file.read(), path)
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    called = any(isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
                 and node.value.func.id in defined for node in tree.body)
    return (any(name.lower().startswith("test") for name in defined) or any(map(is_class_of_tests, tree.body))) and not called


def load(path, root):
    name = os.path.splitext(os.path.relpath(path, root))[0].replace(os.sep, ".")
    __import__(name)
    return sys.modules[name]


def _run_program(path, finder, started):
    module = types.ModuleType("__main__")
    module.__file__ = path
    started.append(module)
    sys.modules["__main__"], before = module, sys.modules.get("__main__")
    arguments, sys.argv = sys.argv, [path]
    try:
        code, imported = compiled(path, *finder.changes)
        finder.misses(imported, "")
        finder.note(path)
        module.__dict__.update(finder.names)
        exec(code, module.__dict__)
    finally:
        sys.argv = arguments
        sys.modules["__main__"] = before


# ---- Tests ----------------------------------------------------------------------------------


def _tests(module):
    """Name, function, what makes it ready to be called, in a `with`, and its marks, for each test."""
    for name, thing in list(vars(module).items()):
        if isinstance(thing, types.FunctionType) and name.startswith("test"):
            yield name, thing, functools.partial(_function, module, thing), _marks(thing, module)
        elif isinstance(thing, type) and thing.__module__ == module.__name__ and (
                name.startswith("Test") or issubclass(thing, unittest.TestCase)):
            for key, method in _methods(thing).items():
                if isinstance(method, types.FunctionType) and key.startswith("test"):
                    yield f"{name}.{key}", method, functools.partial(_method, thing, key), _marks(method, thing, module)


def _methods(kind):
    """Those of the classes that it is made of, too."""
    return {key: getattr(kind, key) for part in reversed(kind.__mro__) for key in vars(part) if hasattr(kind, key)}


def _marks(*owners):
    found = []
    for owner in owners:
        marks = getattr(owner, "pytestmark", ())
        found += [marks] if isinstance(marks, Mark) else marks
    return found


@contextlib.contextmanager
def _method(kind, key):
    """A method of a class of tests, with what comes before each test, and if it passes, what comes after."""
    made = kind(key) if issubclass(kind, unittest.TestCase) else kind()
    _prepare(made, ("setUpClass", "setup_class", "setUp", "setup_method"), getattr(made, key))
    yield getattr(made, key)
    _prepare(made, ("tearDown", "teardown_method"), getattr(made, key))
    while getattr(made, "_cleanups", None):
        function, given, named = made._cleanups.pop()
        function(*given, **named)


@contextlib.contextmanager
def _function(module, function):
    """The same of a function."""
    _prepare(module, ("setup_function",), function)
    yield function
    _prepare(module, ("teardown_function",), function)


def _prepare(owner, names, given):
    """Calls what runs before tests; some take what they run before."""
    for before in filter(callable, (getattr(owner, name, None) for name in names)):
        before(*[given][:len(inspect.signature(before).parameters)])


def _call(function, module, given, handed):
    for target in TARGETS:
        try:
            return _called(function, module, given, handed, target)
        except Skipped:
            if target == TARGETS[-1]:
                raise


def _called(function, module, given, handed, target):
    parameters = {name: parameter for name, parameter in inspect.signature(function).parameters.items() if name != "self"}
    owners = [getattr(function, "__self__", None), module]
    fixtures = _Fixtures(owners, given, handed, target)
    for things in (_methods(type(owners[0])), vars(module)):
        for name in [name for name, thing in things.items() if getattr(thing, "is_autouse", False) is True]:
            fixtures.get(name)
    asked = [name for name, parameter in parameters.items() if name in given or parameter.default is inspect.Parameter.empty]
    function(**{name: fixtures.get(name, parameters[name].annotation) for name in asked})
    fixtures.end()


class _ForFixture(NamedTuple):
    """A parameter of a test that its fixture is made of (`indirect`)."""

    value: Any

    def __bool__(self):
        return bool(self.value)


class _Fixtures:
    """Those of one run of a test. Each is made once, however many ask for it; parameters that are given are as fixtures."""

    def __init__(self, owners, given, handed, target):
        self.owners, self.handed, self.target = owners, handed, target
        self.given = {name: value.value for name, value in given.items() if isinstance(value, _ForFixture)}
        self.made = {name: value for name, value in given.items() if name not in self.given}
        self.open = []

    def get(self, name, annotation=None):
        if name not in self.made:
            self.made[name] = self._make(name, annotation)
        return self.made[name]

    def _make(self, name, annotation):
        if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
            return next((member for member in annotation if self.target in (member.name.lower(), member.value)),
                        next(iter(annotation)))
        found = next(filter(None, (_own_fixture(owner, name) for owner in self.owners)), None)
        if found is None and name == "monkeypatch":
            self.open.append(patches())
            return next(self.open[-1])
        if found is None:
            return Path(tempfile.mkdtemp()) if name == "tmp_path" else Blank(self.handed)
        first = next(iter(found.values_of_request), None)  # one is enough
        request = types.SimpleNamespace(param=self.given.get(name, first))
        value = found(**{needed: request if needed == "request" else self.get(needed, parameter.annotation)
                         for needed, parameter in inspect.signature(found).parameters.items()})
        if not inspect.isgenerator(value):
            return value
        self.open.append(value)  # what comes after the test is not to come before it
        return next(value)

    def end(self):
        """What comes after a test that passes: it may still find something wrong."""
        for value in reversed(self.open):
            next(value, None)


def _own_fixture(owner, name):
    found = getattr(owner, name, None)
    return found if getattr(found, "is_fixture", False) else None


def conftests(path, root):
    """Where a `conftest.py` may be for a file: in the folders around it."""
    folder = os.path.dirname(path)
    while folder.startswith(root):
        yield os.path.join(folder, "conftest.py")
        folder = os.path.dirname(folder)


class _Metafunc:
    """What a `conftest.py` is given to make sets of parameters of a test."""

    def __init__(self, function, module, marks, options):
        self.function, self.module, self.cls, self.sets, self.marks = function, module, None, [], marks
        self.fixturenames = [name for name in inspect.signature(function).parameters if name != "self"]
        self.definition, self.config = self, types.SimpleNamespace(getoption=self._option)
        self.options = options

    def _option(self, name, default=None, **_):
        return self.options.get(name.lstrip("-").replace("-", "_"), default)

    def get_closest_marker(self, name):
        return next((mark for mark in self.marks if mark.name == name), None)

    def iter_markers(self, name=None):
        return [mark for mark in self.marks if name in (None, mark.name)]

    def parametrize(self, *given, **named):
        self.sets.append(_sets_of(Mark("parametrize", given, named), self.function))


class _Options(dict):
    """What options of a runner of tests are if none is given."""

    def addoption(self, name, *_, default=None, action=None, dest=None, **__):
        self[dest or name.lstrip("-").replace("-", "_")] = False if action == "store_true" else default

    def addini(self, *_, **__):
        pass

    def getgroup(self, *_, **__):
        return self


def _made_by(conftests, function, module, marks):
    """The sets that a `conftest.py` makes, none if there is none that can; and the mistake of one that cannot."""
    mistake = None
    for conftest in conftests:
        if not hasattr(conftest, "pytest_generate_tests"):
            continue
        options = _Options()
        metafunc = _Metafunc(function, module, marks, options)
        try:
            getattr(conftest, "pytest_addoption", lambda _: None)(options)
            conftest.pytest_generate_tests(metafunc)
        except Exception as error:  # as above
            mistake = mistake or error
            continue
        if metafunc.sets:
            return metafunc.sets, mistake
    return [], mistake


def _parameter_sets(function, made, marks):
    """Sets of parameters, the lightest first; `made` are those of a `conftest.py`."""
    parts = [*made, *(_sets_of(mark, function) for mark in marks if not made or mark.name == "parametrize")]
    parts = [part for part in parts if part is not None]
    found = []
    for choice in itertools.islice(itertools.product(*parts), MOST_SETS):
        given = {}
        for part in choice:
            given.update(part)
        if not any("negative" in name and value for name, value in given.items()):
            found.append(given)
    return sorted(found, key=_weight)


def _firsts(sets):
    """The first set with each member of an enumeration: which kernel a test is for may be one. It may be a part of
    a parameter, as of the description of a case."""
    seen, firsts = set(), []
    for given in sets:
        members = {(name, value) for name, value in _leaves(given) if isinstance(value, enum.Enum)}
        if members - seen:
            seen |= members
            firsts.append(given)
    return firsts


def _sets_of(mark, function):
    if mark.name == "parametrize":
        names, values, indirect = _marked(*mark.args, **mark.kwargs)
        return [{name: _ForFixture(value) if name in indirect else value for name, value in zip(names, _values(each, len(names)))}
                for each in values]
    parameters = inspect.signature(function).parameters
    lists = {name: _light_first(value) for name, value in mark.kwargs.items() if name in parameters}
    if mark.args or not lists or not all(isinstance(values, list) for values in lists.values()):
        return None
    filters = [value for name, value in mark.kwargs.items() if name not in lists and callable(value)]
    found = (dict(zip(lists, values)) for values in itertools.product(*lists.values()))
    return list(itertools.islice((given for given in itertools.islice(found, MOST_SETS)
                                  if all(_passes(accepts, given) for accepts in filters)), 3 * MOST_CASES))


def _marked(argnames, argvalues, indirect=False, **_):
    """Names, values, and those of the names that are for fixtures."""
    names = [part.strip() for part in argnames.split(",")] if isinstance(argnames, str) else list(argnames)
    return names, argvalues, names if indirect is True else indirect or ()


def _values(value, count):
    value = getattr(value, "values", value) if not isinstance(value, dict) else value
    if count == 1 and not (isinstance(value, tuple) and len(value) == 1):
        return (value,)
    return value


def _light_first(values):
    values = getattr(values, "values", values) if not isinstance(values, dict) else values
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if not isinstance(values, (list, tuple, range)):
        return None
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return sorted(values) if numbers else list(values)


def _passes(accepts, given):
    """Whether a filter lets a set through: it says true, or something called 'valid'."""
    try:
        answer = accepts(**given)
    except Exception:  # the checkout's own function
        return False
    name = getattr(answer, "name", None)
    return name.lower() == "valid" if isinstance(name, str) else bool(answer)


def _weight(given):
    """How large the shapes may be: numbers count as factors."""
    return sum(math.log2(value) for _, value in _leaves(given)
               if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > 1)


def _leaves(value, name="", depth=5):
    """What a value is made of, and how each part is called there. An element type is whole: it says nothing of shapes."""
    if isinstance(value, dict):
        parts = value.items()
    elif hasattr(value, "__dict__") and not isinstance(value, (type, types.FunctionType, enum.Enum, Element)):
        parts = vars(value).items()
    elif isinstance(value, (list, tuple)):
        parts = ((name, part) for part in value)
    else:
        yield name, value
        return
    if depth:
        for key, part in parts:
            yield from _leaves(part, key, depth - 1)


# ---- Programs that name one kernel of several -----------------------------------------------


def _siblings(path, module):
    with tokenize.open(path) as file:
        tree = ast.parse(file.read(), path)
    for node in tree.body:
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
            continue
        names = [argument.id for argument in node.value.args if isinstance(argument, ast.Name)
                 and isinstance(getattr(module, argument.id, None), Kernel)]
        if len(names) != 1 or not isinstance(node.value.func, ast.Name):
            continue
        for name, kernel in list(vars(module).items()):
            if isinstance(kernel, Kernel) and name != names[0] and _alike(kernel, getattr(module, names[0])):
                yield Case(f"{node.value.func.id}({name})", lambda n=node, k=name, o=names[0]: eval(
                    compile(ast.fix_missing_locations(ast.Expression(_Renamed(o, k).visit(
                        ast.parse(ast.unparse(n.value), mode="eval").body))), path, "eval"), vars(module)))


def _alike(kernel, other):
    first, second = (list(inspect.signature(k.function).parameters) for k in (kernel, other))
    return first[:len(second)] == second


class _Renamed(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit_Name(self, node):
        return ast.Name(self.new if node.id == self.old else node.id, node.ctx)
