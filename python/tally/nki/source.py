"""Loads the user's files for one trace, with loops that say where they begin and end.

Little is changed on the way from the file to bytecode:

  for x in E:      for x in __tally_for__(E, ("x",), line, column, True):
  while C:         for _ in __tally_while__(lambda: C, line, column):
  x.offset         __tally_attribute__(x, "offset")         (attributes.py)

The lines stay, and so do `break`, `continue` and `else`. This holds for the files below the kernel's
folder (`root`); other modules load as always. Loops in generators only count their turns, by
`__tally_turn__`, since what uses a generator runs in the middle of them.

Tracing leaves Python as it was: modules, import hooks, search path, environment, random numbers,
warnings, built-in names and what signals do. A module from outside the folder that a kernel imports stays imported.
"""

import ast
import builtins
import contextlib
import decimal
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import re
import signal
import sys
import threading
import tokenize
import types
import warnings

import numpy as np

from .attributes import Attributes
from .places import here, user_frame
from .refusal import Place, Refusal

_FOR, _WHILE, _TURN = "__tally_for__", "__tally_while__", "__tally_turn__"


class _Loops(ast.NodeTransformer):
    """Wraps what loops go over."""

    def __init__(self):
        self.plain = [True]  # whether loops of the function around are left alone

    def _function(self, node):
        yields = any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for inner in _own_nodes(node))
        self.plain.append(yields)
        node = self.generic_visit(node)
        self.plain.pop()
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node):
        self.plain.append(True)
        node = self.generic_visit(node)
        self.plain.pop()
        return node

    def visit_GeneratorExp(self, node):
        return node

    def _wrapped(self, iterable, target, node, is_statement):
        call = ast.Call(ast.Name(_FOR, ast.Load()),
                        [iterable, ast.Constant(_target_names(target)), *_place(node), ast.Constant(is_statement)], [])
        return ast.fix_missing_locations(ast.copy_location(call, iterable))

    def _counted(self, node):
        """A loop that is left alone otherwise."""
        turn = ast.Expr(ast.Call(ast.Name(_TURN, ast.Load()), _place(node), []))
        node.body.insert(0, ast.fix_missing_locations(ast.copy_location(turn, node)))
        return node

    def visit_For(self, node):
        self.generic_visit(node)
        if self.plain[-1]:
            return self._counted(node)
        node.iter = self._wrapped(node.iter, node.target, node, True)
        return node

    def _comprehension(self, node):
        self.generic_visit(node)
        if not self.plain[-1]:
            for part in node.generators:
                part.iter = self._wrapped(part.iter, part.target, part.iter, False)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = _comprehension

    def visit_While(self, node):
        self.generic_visit(node)
        if self.plain[-1] or any(isinstance(inner, (ast.NamedExpr, ast.Await))
                                 for inner in ast.walk(node.test)):
            return self._counted(node)
        test = ast.Lambda(ast.arguments([], [], None, [], [], None, []), node.test)
        call = ast.Call(ast.Name(_WHILE, ast.Load()), [test, *_place(node)], [])
        loop = ast.For(ast.Name("_", ast.Store()), call, node.body, node.orelse)
        loop.target.id = "__tally_round__"
        return ast.fix_missing_locations(ast.copy_location(loop, node))


def _place(node):
    return [ast.Constant(node.lineno), ast.Constant(node.col_offset + 1)]


def _own_nodes(function):
    """The nodes of a function without those of functions inside it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    pending = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _target_names(target):
    return tuple(node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def compiled(path, *changes):
    """The code of a file, and the modules that it cannot do without. `changes` are made in its tree, after its loops."""
    try:
        return _compiled(path, changes)
    except (RecursionError, MemoryError):
        raise Refusal(f"'{path}' nests too deeply for Python's parser") from None


def _compiled(path, changes):
    if os.path.exists(path) and not os.path.isfile(path):
        raise Refusal(f"cannot read '{path}': it is not a file")
    try:
        with tokenize.open(path) as file:
            tree = ast.parse(file.read(), path)
    except OSError as problem:
        raise Refusal(f"cannot read '{path}': {problem.strerror}") from None
    except SyntaxError as problem:
        raise Refusal(f"the file does not parse: {problem.msg}; does Python itself read it?",
                      Place(path, problem.lineno or 0, problem.offset or 0)) from None
    except (UnicodeDecodeError, ValueError) as problem:
        raise Refusal(f"'{path}' is not Python text: {problem}") from None
    imported = set(_imports(tree))
    for change in (_Loops(), Attributes(), *changes):
        tree = change.visit(tree)
    return compile(tree, path, "exec", dont_inherit=True), imported


def _imports(tree):
    """Modules that the file imports outside of `try`, where it could do without them; relative ones begin
    with dots."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield "." * node.level + node.module
        if not isinstance(node, ast.Try):
            pending += ast.iter_child_nodes(node)


class Absent(types.ModuleType):
    """A module that is not installed: an error where it is used, and not where it is imported."""

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _AbsentThing(f"{self.__name__}.{name}")


class _AbsentThing:
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return self._name

    def __eq__(self, other):  # two files may compare what they name
        return type(other) is type(self) and other._name == self._name

    def __hash__(self):
        return hash(self._name)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return type(self)(f"{self._name}.{name}")

    def __getitem__(self, _):
        return self

    def __or__(self, _):
        return self

    __ror__ = __or__

    def __mro_entries__(self, _):
        return (object,)

    def __call__(self, *args, **_):
        # As a decorator it leaves its function alone.
        if len(args) == 1 and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        frame = user_frame()
        if frame is not None and frame.f_code.co_name == "<module>":
            return AbsentValue(self._name)
        self.refuse()

    def refuse(self, *_):
        raise Refusal(f"'{self._name}' is called, and '{self._name.split('.')[0]}' is not installed", here())


class AbsentValue(_AbsentThing):
    """What a file sets while it is loaded, by a call of a module that is not installed: an error where it is used."""

    __array__ = __bool__ = __float__ = __index__ = __int__ = __iter__ = __len__ = _AbsentThing.refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = __neg__ = _AbsentThing.refuse
    __lt__ = __le__ = __gt__ = __ge__ = _AbsentThing.refuse


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads files below the root with their loops wrapped."""

    changes = ()  # of the trees of its files, apart from their loops

    def __init__(self, root, names):
        self.root, self.names, self.absent, self.loaded = root, names, set(), []

    def find_spec(self, name, path, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.has_location or not spec.origin.endswith(".py"):
            return None
        if not os.path.realpath(spec.origin).startswith(self.root + os.sep):
            return None
        spec.loader = self
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self.run(module, module.__spec__.origin)

    def misses(self, imported, package):
        """Modules that may be absent: the named ones, and those that they are part of."""
        for name in imported:
            if name.startswith("."):
                name = importlib.util.resolve_name(name, package) if package else name.lstrip(".")
            self.absent |= {name, name.split(".")[0]}

    def run(self, module, path):
        code, imported = compiled(path, *self.changes)
        self.misses(imported, getattr(module.__spec__, "parent", ""))
        self.loaded.append(module)
        module.__dict__.update(self.names)
        exec(code, module.__dict__)


class _AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: what no other one has found, if the user's files name it."""

    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path, target=None):
        top = sys.modules.get(name.split(".")[0])
        if "." in name and getattr(top, "is_interface", False):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name.split(".")[0] not in self.finder.absent:
            return None
        if "." in name and not isinstance(top, Absent) and not self._is_missing(name):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def _is_missing(self, name):
        """Whether a file of the kernel names a module of its own folder that is not there."""
        mine = {module.__name__.split(".")[0] for module in self.finder.loaded}
        parent = sys.modules.get(name.rpartition(".")[0])
        return name.split(".")[0] in mine and (name in self.finder.absent or isinstance(parent, Absent) or any(
            absent.startswith(f"{name}.") for absent in self.finder.absent))

    def create_module(self, spec):
        top = sys.modules.get(spec.name.split(".")[0])
        return type(top)(spec.name) if getattr(top, "is_interface", False) else Absent(spec.name)

    def exec_module(self, module):
        pass


EXIT = os._exit  # what it is outside of a trace


def _refuse_exit(*_):
    raise Refusal("'os._exit' ends Python, and nothing is written; let the kernel return", here())


_HOOKS = [(sys, "excepthook"), (sys, "displayhook"), (sys, "unraisablehook"), (sys, "breakpointhook"), (threading, "excepthook")]
_WATCHERS = [(sys.gettrace, sys.settrace), (sys.getprofile, sys.setprofile),
             (threading.gettrace, threading.settrace), (threading.getprofile, threading.setprofile)]


def _is_made(name, module):
    """Whether a kernel has put it there, and no import: packages have parts without a file that they need later, as 'torch.ops'."""
    return "." not in name and (getattr(module, "__spec__", None) is None or getattr(module, "__name__", name) != name)


@contextlib.contextmanager
def guarded(offered, names, root, finder=Finder):
    """Python as kernels find it; as it was before when it is over. Gives the finder."""
    finder = finder(os.path.realpath(root), names)
    absent = _AbsentFinder(finder)
    modules, path, meta_path = dict(sys.modules), list(sys.path), list(sys.meta_path)
    environment, folder = dict(os.environ), os.getcwd()
    states = random.getstate(), np.random.get_state(), sys.getrecursionlimit(), np.geterr(), np.getbufsize(), np.get_printoptions()
    names, handlers, decimals = dict(vars(builtins)), _handlers(), decimal.getcontext().copy()
    collects, thresholds, arguments = gc.isenabled(), gc.get_threshold(), (sys.argv, list(sys.argv))
    callbacks, asyncs = list(gc.callbacks), sys.get_asyncgen_hooks()
    hooks, path_hooks = [getattr(module, hook) for module, hook in _HOOKS], list(sys.path_hooks)
    watchers, keyboard, trouble = [ask() for ask, _ in _WATCHERS], sys.stdin, np.geterrcall()
    tops = {offer.partition(".")[0] for offer in offered}
    hidden = [name for name in modules if name.partition(".")[0] in tops]
    try:
        # What a kernel prints is no part of the document.
        with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
            warnings.filterwarnings("ignore", module=re.escape(__name__.rpartition(".")[0]))  # the device has none
            for name in hidden:
                del sys.modules[name]
            sys.modules.update(offered)
            sys.meta_path[:] = [finder, *meta_path, absent]
            os._exit = _refuse_exit
            yield finder
    finally:
        os._exit = EXIT
        for (_, watch), watcher in zip(_WATCHERS, watchers):
            watch(watcher)
        for (module, hook), function in zip(_HOOKS, hooks):
            setattr(module, hook, function)
        sys.stdin = keyboard
        np.seterrcall(trouble)
        sys.meta_path[:] = meta_path
        sys.path[:] = path
        sys.path_hooks[:] = path_hooks
        mine = {id(module) for module in [*finder.loaded, *offered.values()]}
        for name, module in list(sys.modules.items()):
            offer = id(module) in mine or isinstance(module, Absent) or getattr(module, "is_interface", False)
            if offer or name not in modules and (name.partition(".")[0] in tops or _is_made(name, module)):
                del sys.modules[name]
        sys.modules.update({name: module for name, module in modules.items()
                            if sys.modules.get(name) is not module})
        _restore_environment(environment)
        with contextlib.suppress(FileNotFoundError):  # it has been removed
            os.chdir(folder)
        sys.argv, sys.argv[:] = arguments[0], arguments[1]
        gc.callbacks[:] = callbacks
        sys.set_asyncgen_hooks(*asyncs)
        gc.set_threshold(*thresholds)
        (gc.enable if collects else gc.disable)()
        random.setstate(states[0])
        np.random.set_state(states[1])
        sys.setrecursionlimit(states[2])
        np.seterr(**states[3])
        np.setbufsize(states[4])
        np.set_printoptions(**states[5])
        decimal.setcontext(decimals)
        for name in set(vars(builtins)) - set(names):
            del vars(builtins)[name]
        vars(builtins).update(names)
        for number, handler in handlers.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)
        importlib.invalidate_caches()


def _handlers():
    """What signals do, where it can be set: only in the main thread, and only if Python has set it."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    return {number: handler for number, handler in handlers.items() if handler is not None}


def _restore_environment(environment):
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def load(path, finder, root):
    """The module of a file, as the package below the root that it is part of, or by its folder."""
    sys.path[:0] = [os.path.dirname(path), root]
    name = os.path.splitext(os.path.relpath(path, root))[0].replace(os.sep, ".")
    if "." in name:
        return importlib.import_module(name)
    module = types.ModuleType(name)
    module.__file__ = path
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=path)
    sys.modules[name] = module
    finder.run(module, path)
    return module
