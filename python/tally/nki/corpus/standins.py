"""Modules that drivers import and that need not be installed, for what drivers do with them.

  pytest                     marks, parameters and fixtures are kept where drivers.py finds them
  ml_dtypes, neuron_dtypes   element types, as `nki.language` has them
  torch_xla                  its device is the host's

Numbers are made by NumPy, and by torch where that is installed. Without it, a test or a reference that calls torch
ends there, and the page says so: an imitation would be compared with itself.
"""

import contextlib
import importlib.util
import os
import sys
import types

import numpy as np

from ..elements import ELEMENTS, cast, find_element


class Blank:
    """What stands for anything: a fixture, or the result of a kernel that did not run. It is false, 0 and
    empty, and all of its parts and results are the same."""

    def __init__(self, called=None):
        self.__dict__["_called"] = called

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **given):
        if self._called is not None:
            self._called(args, given)
        return self

    def __array__(self, dtype=None):
        return np.zeros((), dtype or np.float32)

    def __iter__(self):
        return iter(())

    def _same(self, *_):
        return self

    def __bool__(self):
        return False

    def __int__(self):
        return 0

    __index__ = __len__ = __int__

    def __float__(self):
        return 0.0

    def __setattr__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    __getitem__ = __neg__ = __pos__ = __abs__ = __invert__ = __round__ = __gt__ = __ge__ = _same
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = _same
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = _same
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _same
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _same

    def __divmod__(self, _):
        return self, self

    __rdivmod__ = __divmod__

    def _agrees(self, _):
        return _AGREED

    __eq__ = __lt__ = __le__ = _agrees
    __hash__ = object.__hash__


class _Agreed(Blank):
    """A Blank agrees with what it is compared with, so a driver goes on; nothing is noted of it."""

    def __bool__(self):
        return True


_AGREED = _Agreed()


class Skipped(Exception):
    """A driver ends one of its cases."""


# ---- pytest ---------------------------------------------------------------------------------


class Mark:
    def __init__(self, name, args=(), kwargs=None):
        self.name, self.args, self.kwargs = name, args, kwargs or {}

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return self._put(args[0])
        return Mark(self.name, args, kwargs)

    def _put(self, target):
        target.pytestmark = [*getattr(target, "pytestmark", ()), self]
        return target


class _Marks:
    def __getattr__(self, name):
        return Mark(name)


def _fixture(function=None, params=(), autouse=False, **_):
    if function is None:
        return lambda function: _fixture(function, params, autouse)
    function.is_fixture, function.is_autouse, function.values_of_request = True, autouse, list(params or ())
    return function


def _stop(reason="", **_):
    raise Skipped(str(reason))


def _fail(reason="", **_):
    raise AssertionError(str(reason))


class Raises:
    """An error is expected. Which one is not looked at: what a kernel raises here need not be what it raises on a chip."""

    swallowed = 0  # calls of kernels whose errors nobody has seen

    def __enter__(self):
        self.before = Raises.swallowed
        return self

    def __exit__(self, kind, error, _):
        self.type, self.value = kind, error
        if error is None and self.before == Raises.swallowed:
            raise AssertionError("no error is raised where the test expects one")
        return isinstance(error, Exception)

    def match(self, _):
        return True


def _raises(_=None, function=None, *args, match=None, check=None, **given):
    if function is None:
        return Raises()
    with Raises() as found:
        function(*args, **given)
    return found


def _approx(value, rel=None, abs=None, **_):
    from .comparisons import Approx  # which knows these stand-ins

    return Approx(value, rel, abs)


def _imported(name, **_):
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise Skipped(str(problem)) from None


def _class_of_pytest(name):
    if not name[0].isupper():
        raise AttributeError(name)
    return object  # for annotations


_NOT_GIVEN = object()


class _Patch:
    """What is set for one test, and undone after it."""

    def __init__(self):
        self.undo = contextlib.ExitStack()

    def setattr(self, thing, name, value=_NOT_GIVEN, raising=True):
        if value is _NOT_GIVEN:  # "module.name", value
            (place, _, last), value = thing.rpartition("."), name
            thing, name = importlib.import_module(place), last
        before = vars(thing).get(name, getattr(thing, name, _NOT_GIVEN)) if isinstance(thing, type) else getattr(thing, name, _NOT_GIVEN)
        if before is _NOT_GIVEN and raising:
            raise AttributeError(f"{thing!r} has no attribute '{name}'")
        self.undo.callback(*((delattr, thing, name) if before is _NOT_GIVEN else (setattr, thing, name, before)))
        setattr(thing, name, value)

    def delattr(self, thing, name, raising=True):
        if hasattr(thing, name) or raising:
            self.undo.callback(setattr, thing, name, getattr(thing, name))
            delattr(thing, name)

    def setitem(self, thing, name, value):
        self.undo.callback(*((thing.__setitem__, name, thing[name]) if name in thing else (thing.pop, name, None)))
        thing[name] = value

    def delitem(self, thing, name, raising=True):
        if name in thing or raising:
            self.undo.callback(thing.__setitem__, name, thing[name])
            del thing[name]

    def setenv(self, name, value, prepend=None):
        self.setitem(os.environ, name, f"{value}{prepend}{os.environ[name]}" if prepend and name in os.environ else str(value))

    def delenv(self, name, raising=True):
        self.delitem(os.environ, name, raising)

    def chdir(self, path):
        self.undo.callback(os.chdir, os.getcwd())
        os.chdir(path)

    def syspath_prepend(self, path):
        self.undo.callback(sys.path.__setitem__, slice(None), list(sys.path))
        sys.path.insert(0, str(path))

    @contextlib.contextmanager
    def context(self):
        yield from patches()


def patches():
    """pytest's `monkeypatch`, and what undoes it."""
    made = _Patch()
    yield made
    made.undo.close()


def _pytest():
    module = types.ModuleType("pytest")
    module.mark, module.fixture = _Marks(), _fixture
    module.param = lambda *values, id=None, marks=(): types.SimpleNamespace(values=values, id=id, marks=marks)
    module.skip = module.xfail = _stop
    module.fail = _fail
    module.raises, module.warns = _raises, lambda *_, **__: contextlib.suppress(Exception)
    module.approx = _approx
    module.importorskip = _imported
    module.__getattr__ = _class_of_pytest
    module.main = lambda *_, **__: 0
    module.hookimpl = lambda function=None, **_: function if function is not None else lambda given: given
    return {"pytest": module}


# ---- Element types, devices -----------------------------------------------------------------


def _static_cast(array, dtype):
    element = find_element(dtype)
    if element is None:
        return np.asarray(array).astype(dtype)
    return cast(np.asarray(array), element)


def _is_float(dtype):
    element = find_element(dtype)
    return element.is_float if element is not None else np.issubdtype(dtype, np.floating)


def _element_types():
    modules = {}
    for name in ("ml_dtypes", "neuron_dtypes"):
        module = modules[name] = types.ModuleType(name)
        module.__dict__.update(ELEMENTS)
        module.static_cast, module.is_float_type = _static_cast, _is_float
        module.__getattr__ = lambda missing, name=name: _unknown_type(name, missing)
        module.finfo, module.iinfo, module.sizeinbytes = _limits, np.iinfo, _bytes
    return modules


def _unknown_type(module, name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _UnknownType(f"{module}.{name}")


class _UnknownType:
    """A type that this package has not; to compare it is fine."""

    def __init__(self, name):
        self.name = self.__name__ = name

    def __repr__(self):
        return self.name


def _bytes(dtype):
    element = find_element(dtype)
    return element.itemsize if element is not None else np.dtype(dtype).itemsize


def _limits(dtype):
    element = find_element(dtype)
    largest = {"fp8": 240.0, "fp8_e4m3fn": 448.0, "fp8_e5m2": 57344.0, "bf16": 3.3895314e38}.get(
        element.tally if element is not None else None)
    if largest is None:
        return np.finfo(getattr(element, "dtype", dtype))
    return types.SimpleNamespace(max=largest, min=-largest, dtype=element)


def _devices():
    top, core, model = (types.ModuleType(name) for name in (
        "torch_xla", "torch_xla.core", "torch_xla.core.xla_model"))
    model.xla_device = lambda *_, **__: "cpu"
    model.mark_step = model.wait_device_ops = lambda *_, **__: None
    top.device, top.sync = model.xla_device, model.mark_step
    top.core, core.xla_model, top.__path__, core.__path__ = core, model, [], []
    return {"torch_xla": top, "torch_xla.core": core, "torch_xla.core.xla_model": model}


def modules():
    """All stand-ins by name. Those for tests and types are always used, so that results do not depend on
    what is installed; those for devices if there is none."""
    found = {**_pytest(), **_element_types()}
    if importlib.util.find_spec("torch_xla") is None:
        found.update(_devices())
    return found
