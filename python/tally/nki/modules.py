"""The modules that kernels import, for one trace: `nki` and `neuronxcc.nki` with what is below them.

The two generations of the interface differ in where results go and in how on-chip tensors are indexed,
so each import name has its own functions. A name that is not here is an `Unknown`: kernels may import,
compare and pass it on; to call it is refused, with the line.
"""

import functools
import inspect
import sys
import types
from math import prod

import numpy as np

from .commandline import nearest
from .elements import ELEMENTS, cast, find_element, of_number, promoted
from .expressions import OPERATORS, REDUCTIONS
from .instructions import INSTRUCTIONS
from .loops import dynamic_loop, dynamic_while
from .places import here, user_frame
from .refusal import Refusal
from .values import DynamicSlice, Grid, LoopReduce, Mask, Register, View, refuse


class Token(str):
    """A name of the interface that stands for itself, as an engine or a memory does."""

    name = property(str.__str__)


class Unknown:
    """A name that the interface may have and this package has not."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Unknown(f"{self._name}.{name}")

    def __call__(self, *args, **_):
        if len(args) == 1 and isinstance(args[0], (types.FunctionType, type, Kernel)):
            return args[0]  # a decorator
        module, _, name = self._name.rpartition(".")
        meant = nearest(name, sorted(vars(sys.modules[module]))) if module in sys.modules else ""
        raise Refusal(f"'{self._name}' is not modelled; " + (f"did you mean '{module}.{meant}'?" if meant else
                                                             "docs/guide/Nki.md lists what is"), here())

    def __getitem__(self, _):
        return self

    def __or__(self, _):
        return self

    __ror__ = __or__

    def __eq__(self, other):
        return isinstance(other, Unknown) and other._name == self._name

    def __hash__(self):
        return hash(self._name)

    def __repr__(self):
        return self._name

    def _refuse(self, *_):
        raise Refusal(f"'{self._name}' is not modelled, and so it has no value; docs/guide/Nki.md lists what is", here())

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __index__ = __int__ = __float__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __iter__ = _refuse


class Module(types.ModuleType):
    is_interface = True  # what is below it is a module, too

    def __init__(self, name):
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{self.__name__}.{name}")


class Kernel:
    """A decorated function. Called inside another kernel, it is part of it; `launch`, if given, does what a
    call from outside does."""

    def __init__(self, function, launch=None, grid=()):
        function = function.function if isinstance(function, Kernel) else function
        self.function, self.launch, self.grid = function, launch, grid
        functools.update_wrapper(self, function)

    def __getitem__(self, grid):
        return Kernel(self.function, self.launch, grid if isinstance(grid, tuple) else (grid,))

    def __call__(self, *args, **kwargs):
        if self.launch is not None:
            return self.launch(self, args, kwargs)
        return self.function(*args, **kwargs)


def _decorator(launch):
    """`@nki.jit` and `@nki.jit(...)`"""

    def decorate(function=None, **_):
        return Kernel(function, launch) if function is not None else decorate

    return decorate


def _as_it_is(function=None, **_):
    """A decorator that changes nothing, with arguments or without."""
    return function if function is not None else _as_it_is


class _Operator:
    """A function of the language that is also an operator of instructions: `op=nl.add`."""

    def __init__(self, name, language):
        self.operator, self.__name__, self._language = name, name, language

    def __call__(self, *args, **given):
        return _checked(self.operator, self._apply)(*args, **given)

    def _apply(self, x, y=None, *, axis=None, dtype=None, mask=None, keepdims=False):
        return self._language.apply(self.operator, x, y, axis, dtype, mask, keepdims)

    def __repr__(self):
        return f"nl.{self.operator}"


class Language:
    """What `nki.language` does, in one generation."""

    def __init__(self, tracer, modern):
        self.tracer, self.modern = tracer, modern

    # ---- Tensors

    def ndarray(self, shape, dtype=None, buffer=None, name=None, address=None):
        space = _space(buffer)
        if address is not None or getattr(buffer, "placed", False):
            self.tracer.recorder.obstacle("an explicit address: the tensor counts as memory of its own")
        view = self.tracer.allocate(shape, dtype or "float32", space, self.modern, name or None)
        if str(buffer) in ("hbm", "shared_hbm") and not view.memory.coordinates:
            self.tracer.share(view.memory, (here(), len(self.tracer.hbm)))
        return view

    def zeros(self, shape, dtype=None, buffer=None, name=None):
        _check_filled(buffer)
        return self.tracer.zeros(shape, dtype or "float32", _space(buffer), self.modern, name or None)

    def full(self, shape, fill_value, dtype=None, buffer=None, name=None):
        _check_filled(buffer)
        view = self.ndarray(shape, dtype, buffer, name)
        self.tracer.perform("memset", True, (view, fill_value))
        return view

    def ones(self, shape, dtype=None, buffer=None, name=None):
        return self.full(shape, 1.0, dtype, buffer, name)

    def zeros_like(self, x, dtype=None, buffer=None, name=None):
        return self.zeros(x.shape, dtype or x.dtype, buffer or x.buffer, name)

    def empty_like(self, x, dtype=None, buffer=None, name=None):
        return self.ndarray(x.shape, dtype or x.dtype, buffer or x.buffer, name)

    def load(self, src, mask=None, dtype=None):
        shape = src.shape if src.ndim > 1 else (src.shape[0] if src.ndim else 1, 1)
        tile = self.tracer.allocate(shape, dtype or src.dtype, "sbuf", self.modern)
        source = src if src.ndim > 1 else src.reshape(shape)
        if mask is not None and source is not src:
            refuse("a mask on a load of one axis; index with two")
        tile = self._moved(source, tile, mask)
        if mask is not None and tile.memory.written:
            tile.memory.producer = self.tracer.latest  # of what the mask lets through
        return tile

    def store(self, dst, value=None, mask=None):
        if isinstance(value, (int, float, np.number)):
            value = self.full(dst.shape, value, dst.dtype)
        if not isinstance(value, View):
            refuse(f"'store' of {type(value).__name__}, not of a tile")
        if value.shape != dst.shape and value.size == dst.size:
            value = value.reshape(dst.shape)
        self._moved(value, dst, mask)

    def _moved(self, source, target, mask):
        if isinstance(mask, (bool, np.bool_)):
            mask = None if mask else Mask((Grid((1,), 0, (0,)),))
        if mask is not None:
            limits = mask.limits(source.shape)
            if 0 in limits:
                return target
            part = target
            if target.shape == source.shape:
                part = target.first_of(limits)
            source = source.first_of(limits)
            self.tracer.perform("dma_copy", True, (part, source))
        else:
            self.tracer.perform("dma_copy", True, (target, source))
        return target

    def shared_constant(self, constant, dtype=None, space="hbm"):
        array = np.asarray(constant)
        element = find_element(dtype or find_element(array.dtype) or "float32")
        if element is None:
            refuse(f"unknown element type '{dtype}'; tally knows {', '.join(ELEMENTS)}")
        return self.tracer.constant(array, element, here(), space)

    def shared_identity_matrix(self, n=128, dtype="uint8", dst=None):
        # The second generation has it on the chip.
        space = "sbuf" if self.modern and dst is None else "hbm"
        matrix = self.shared_constant(np.eye(int(n), dtype=np.float32), dtype, space)
        if dst is None:
            return matrix
        self.tracer.perform("dma_copy", True, (dst, matrix))
        return dst

    # ---- Operators and functions

    def apply(self, name, x, y=None, axis=None, dtype=None, mask=None, keepdims=False):
        if name in REDUCTIONS and (axis is not None or isinstance(y, (int, tuple, list)) and name in
                                   ("sum", "max", "min", "mean", "prod")):
            if axis is not None and y is not None:
                refuse(f"'nl.{name}' of two tiles along an axis; it takes one")
            return self.reduce(name, x, axis if axis is not None else y, dtype, mask, keepdims)
        if axis is not None or keepdims:
            refuse(f"an axis of 'nl.{name}', which is element by element")
        given = {key: value for key, value in dict(dtype=dtype, mask=mask).items() if value is not None}
        if OPERATORS[name].arity == 1 if name in OPERATORS else y is None:
            if y is not None:
                refuse(f"'nl.{name}' of two tiles; it takes one")
            if name == "copy":
                return self.tracer.perform("tensor_copy", False, (x,), given)
            return self.tracer.perform("activation", False, (), dict(given, op=_Operator(name, self), data=x))
        if not isinstance(x, View):
            return self.tracer.arithmetic(name, y, x, reverse=True, given=given)
        return self.tracer.arithmetic(name, x, y, given=given)

    def reduce(self, name, x, axis, dtype=None, mask=None, keepdims=False):
        given = {key: value for key, value in dict(dtype=dtype, mask=mask, keepdims=keepdims or None).items()
                 if value is not None}
        result = self.tracer.perform("tensor_reduce", False, (), dict(
            given, op=_Operator("add" if name == "mean" else name, self), data=x, axis=axis))
        if name != "mean":
            return result
        axes = axis if isinstance(axis, (tuple, list)) else (axis,)
        return self.tracer.arithmetic("multiply", result, 1 / prod(x.shape[a] for a in axes), given={"dtype": result.dtype})

    def var(self, x, axis, dtype=None, mask=None, keepdims=False):
        mean = self.reduce("mean", x, axis, mask=mask)
        squares = self.apply("square", self.apply("subtract", x, mean, mask=mask), mask=mask)
        return self.reduce("mean", squares, axis, dtype, mask, keepdims)

    def all(self, x, axis, dtype=None, mask=None, keepdims=False):
        return self.reduce("min", self.apply("not_equal", x, 0, mask=mask), axis, dtype, mask, keepdims)

    def softmax(self, x, axis=-1, dtype=None, mask=None):
        powers = self.apply("exp", self.apply("subtract", x, self.reduce("max", x, axis, mask=mask), mask=mask), mask=mask)
        return self.apply("divide", powers, self.reduce("sum", powers, axis, mask=mask), dtype=dtype, mask=mask)

    def rms_norm(self, x, w, axis, n, epsilon=1e-06, dtype=None, mask=None):
        squares = self.reduce("sum", self.apply("square", x, mask=mask), axis, mask=mask)
        mean = self.tracer.perform("tensor_scalar", False, (), dict(
            data=squares, op0=_Operator("multiply", self), operand0=1 / n, op1=_Operator("add", self), operand1=epsilon))
        normal = self.apply("multiply", x, self.apply("rsqrt", mean), mask=mask)
        return self.apply("multiply", normal, w if w.shape == x.shape else w.broadcast_to(x.shape), dtype=dtype or x.dtype, mask=mask)

    def matmul(self, x, y, transpose_x=False):
        x = self._in_sbuf(x)
        if not transpose_x:
            x = self._in_sbuf(self.transpose(x))
        return self.tracer.perform("nc_matmul", False, (x, self._in_sbuf(y)))

    def _in_sbuf(self, tile):
        """For a product of the language, which may be handed what another function of it has left in psum, as 'transpose'."""
        in_psum = isinstance(tile, View) and tile.memory.space == "psum"
        return self.tracer.perform("tensor_copy", False, (tile,)) if in_psum else tile

    def transpose(self, x):
        return self.tracer.perform("nc_transpose", False, (x,))

    def loop_reduce(self, x, op, loop_indices, dtype=None):
        return LoopReduce(x, op)

    def where(self, condition, x, y, dtype=None):
        tiles = [tile for tile in (x, y, condition) if isinstance(tile, View)]
        values = [value for value in (x, y) if isinstance(value, View) or not self.modern] or [x, y]
        dtype = dtype or promoted([value.dtype if isinstance(value, View) else of_number(value) for value in values])
        shape = _common_shape("where", tiles)
        condition, x, y = (tile.broadcast_to(shape) if isinstance(tile, View) else self.full(shape, tile, dtype)
                           for tile in (condition, x, y))
        chosen = self.tracer.perform("tensor_copy", False, (y,), {"dtype": dtype})
        return self.tracer.perform("tensor_copy_predicated", True, (chosen, x, condition))

    def load_transpose2d(self, src, dtype=None):
        tile = self.tracer.allocate(src.shape[::-1], dtype or src.dtype, "sbuf", self.modern)
        return self.tracer.perform("dma_transpose", True, (tile, src))

    def expand_dims(self, x, axis):
        axis %= x.ndim + 1
        return x.reshape(x.shape[:axis] + (1,) + x.shape[axis:])

    def broadcast_to(self, x, shape):
        return x.broadcast_to(shape)

    # ---- Indices and loops

    def arange(self, *bounds):
        start, stop, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}[len(bounds)]
        return Grid((max(0, -(-(stop - start) // step)),), start, (step,))

    def static_range(self, start, stop=None, step=1, **_):
        """Other arguments are about the schedule."""
        if any(isinstance(bound, (Register, View)) for bound in (start, stop, step)):
            refuse("a loop of known trips over a register or a tensor; use 'nl.dynamic_range', to a register")
        return range(start) if stop is None else range(start, stop, step)

    def dynamic_range(self, start, stop=None, step=1):
        if stop is None:
            start, stop = 0, start
        if isinstance(step, Register):
            refuse("the step of 'dynamic_range' is a register; the device needs a number")
        for bound in (start, stop, step):
            if isinstance(bound, float) and bound != int(bound):
                refuse(f"'dynamic_range' to or by {bound}; it takes whole numbers")
        return dynamic_loop(self.tracer.recorder, start, stop, step)

    def fori_loop(self, lower, upper, body_fun, step=1):
        loop = dynamic_loop(self.tracer.recorder, lower, upper, step)
        loop.name = _parameter(body_fun)
        for index in loop.run(here(), user_frame(), (body_fun,)):
            body_fun(index)

    def while_loop(self, init, body_fun):
        register = self.tracer.register(init)
        register.name = getattr(init, "name", None)
        for _ in dynamic_while(self.tracer.recorder, lambda: register, here(), user_frame(), (body_fun,)):
            after = body_fun(register)
            if not isinstance(after, Register):
                refuse("the body of 'while_loop' gives no register; let it return the one on which the next turn depends")
            if after is not register:
                self.tracer.move_register(register, after)

    def program_id(self, axis=0):
        self.tracer.asked_program = True
        return self.tracer.program[axis] if axis < len(self.tracer.program) else 0

    def num_programs(self, axes=0):
        if isinstance(axes, (tuple, list)):
            return tuple(self.num_programs(axis) for axis in axes)
        return self.tracer.grid[axes] if axes is not None and axes < len(self.tracer.grid) else 1

    def program_ndim(self):
        return len(self.tracer.grid)


def _common_shape(name, tiles):
    try:
        return np.broadcast_shapes(*(tile.shape for tile in tiles))
    except ValueError:
        refuse(f"'nl.{name}' of tiles of shapes {', '.join(str(list(tile.shape)) for tile in tiles)}, which do not go together")


def _check_filled(buffer):
    if _space(buffer) == "hbm":
        refuse(f"a tensor in HBM that is filled when it is made: only engines fill tensors, and they reach sbuf and psum. Make it by "
               "'nl.ndarray', fill a tile in sbuf, and copy that by 'nisa.dma_copy'")


class _Meshgrid:
    """`nl.mgrid[0:128, 0:512]`"""

    def __getitem__(self, parts):
        parts = parts if isinstance(parts, tuple) else (parts,)
        shape = tuple(-(-(p.stop - (p.start or 0)) // (p.step or 1)) for p in parts)
        return _Grids(Grid(shape, p.start or 0, tuple(p.step or 1 if k == axis else 0 for k in range(len(parts))))
                      for axis, p in enumerate(parts))


class _Grids(list):
    """One for each axis: that of the partitions is `p`, and those after it are `x`, `y`, and `z`."""

    p, x, y, z = (property(lambda self, axis=axis: self[axis]) for axis in range(4))


class _Allocator:
    """`nki.compiler.sbuf`: places that the kernel chooses."""

    def __init__(self, space):
        self._space = space

    def _placed(self, *_, **__):
        return types.SimpleNamespace(space=self._space, placed=True)

    alloc = mod_alloc = _placed

    def auto_alloc(self):
        return types.SimpleNamespace(space=self._space, placed=False)


class _AnyIndex:
    """`nt.tensor[128, 512]`, an annotation"""

    def __getitem__(self, _):
        return self


class _NoReorder:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class NKIObject:
    """A class without a constructor gets one from its annotations, as a dataclass does."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if any("__init__" in base.__dict__ for base in cls.__mro__[:-1] if base is not NKIObject):
            return

        def init(self, *args, **given):
            names = [name for base in reversed(type(self).__mro__)
                     for name in base.__dict__.get("__annotations__", {})]
            for name, value in [*zip(names, args), *given.items()]:
                object.__setattr__(self, name, value)
            if hasattr(self, "__post_init__"):
                self.__post_init__()

        cls.__init__ = init


def _space(buffer):
    if buffer is None:
        return "sbuf"
    name = str(getattr(buffer, "space", buffer))
    if name in ("sbuf", "psum"):
        return name
    if name in ("hbm", "shared_hbm", "private_hbm"):
        return "hbm"
    refuse(f"unknown memory '{name}'; there are sbuf, psum, hbm, shared_hbm and private_hbm")


def _parameter(function):
    names = getattr(getattr(function, "__code__", None), "co_varnames", ())
    return next((name.strip("_") for name in names if name.strip("_")), "i")


def _refuse_psum(tiles):
    if any(isinstance(tile, View) and tile.buffer == "psum" for tile in tiles):
        refuse("'dma_copy' of a tile in PSUM; it moves between HBM and SBUF, and 'nisa.tensor_copy' moves to PSUM and from it")


def _instruction(tracer, name, modern):
    def function(*args, **given):
        if name == "dma_copy" and modern:
            _refuse_psum([*args[:2], *(given.get(key) for key in ("dst", "src"))])
        return tracer.perform(name, modern, args, given)

    function.__name__ = name
    return function


def _isa(tracer, modern, base):
    isa = Module(f"{base}.isa")
    for name, row in INSTRUCTIONS.items():
        if modern or row.first:
            setattr(isa, name, _instruction(tracer, name, modern))
    if not modern:
        # The first generation's `memset` makes its tile.
        def memset(shape, value, dtype="float32", **_):
            tile = tracer.allocate(shape, dtype, "sbuf", False)
            return tracer.perform("memset", True, (tile, value))

        isa.memset = memset
    for name in ("tensor", "vector", "scalar", "gpsimd", "unknown"):
        setattr(isa, f"{name}_engine", Token(name))
    isa.engine = _tokens("tensor", "vector", "scalar", "gpsimd", "sync", "dma", "unknown")
    isa.reduce_cmd = _tokens("idle", "reset", "reduce", "reset_reduce", "load_reduce")
    isa.dge_mode = _tokens("unknown", "swdge", "hwdge", "none")
    isa.oob_mode = _tokens("error", "skip")
    isa.matmul_perf_mode = _tokens("none", "double_row")
    isa.nc_version = types.SimpleNamespace(gen2=2, gen3=3, gen4=4)
    isa.get_nc_version = lambda: 3
    isa.register_alloc = lambda x=None: tracer.register(x)
    for name in ("move", "load", "store"):
        setattr(isa, f"register_{name}", _of_tracer(tracer, f"{name}_register"))
    isa.sendrecv = _of_tracer(tracer, "sendrecv")
    isa.core_barrier = _of_tracer(tracer, "core_barrier")
    isa.VirtualRegister = Register
    return isa


# As the generations call the same parameter.
_OTHER_NAMES = {"copy": {"src": "x"}, "broadcast_to": {"src": "x", "data": "x"}, "expand_dims": {"data": "x"},
                "zeros_like": {"a": "x"}, "empty_like": {"a": "x"}}


def _checked(name, function):
    """A function of the language that refuses what it would not do, instead of leaving it out."""
    signature = inspect.signature(function)
    others = _OTHER_NAMES.get(name, {})

    def checked(*args, **given):
        given = {others.get(key, key): value for key, value in given.items()}
        for key in [key for key in given if key not in signature.parameters and (key == "name" or given[key] is None)]:
            del given[key]  # of no consequence, or what it is without being said
        try:
            signature.bind(*args, **given)
        except TypeError as error:
            modelled = f"; it has {', '.join(signature.parameters)}"
            for key in (key for key in given if key not in signature.parameters):
                refuse(f"'{key}' of 'nl.{name}' is not modelled{modelled}")
            refuse(f"the arguments of 'nl.{name}': {error}{modelled}")
        return function(*args, **given)

    checked.__name__ = name
    return checked


def _of_tracer(tracer, name):
    return lambda *args, **given: getattr(tracer, name)(*args, **given)


def _tokens(*names):
    return types.SimpleNamespace(**{name: Token(name) for name in names})


def _language(tracer, modern, base):
    module, language = Module(f"{base}.language"), Language(tracer, modern)
    for name, element in ELEMENTS.items():
        setattr(module, name, element)
    for name in {*OPERATORS, *REDUCTIONS} - {"where"}:
        setattr(module, name, _Operator(name, language))
    for name in ("ndarray", "zeros", "full", "ones", "zeros_like", "empty_like", "load", "store", "matmul",
                 "transpose", "where", "load_transpose2d", "loop_reduce", "expand_dims", "broadcast_to", "arange",
                 "var", "all", "softmax", "rms_norm",
                 "shared_constant", "shared_identity_matrix", "static_range", "dynamic_range", "fori_loop",
                 "while_loop", "program_id", "num_programs", "program_ndim"):
        setattr(module, name, _checked(name, getattr(language, name)))
    module.range = module.affine_range = module.sequential_range = module.static_range
    for name in ("sbuf", "psum", "hbm", "shared_hbm", "private_hbm"):
        setattr(module, name, Token(name))
    module.mgrid, module.ds, module.par_dim = _Meshgrid(), DynamicSlice, lambda n: n
    module.NKIObject, module.NkiTensor, module.tensor = NKIObject, View, View
    module.nc = module.spmd_dim = lambda n, *_: n
    module.no_reorder = _NoReorder
    module.static_assert, module.static_cast = _static_assert, _static_cast
    module.device_print = lambda *_, **__: None
    module.is_sbuf = lambda buffer: _space(buffer) == "sbuf"
    module.is_psum = lambda buffer: _space(buffer) == "psum"
    module.is_hbm = lambda buffer: _space(buffer) == "hbm"
    module.is_on_chip = lambda buffer: _space(buffer) != "hbm"
    module.fp32 = types.SimpleNamespace(min=-3.4028235e38, max=3.4028235e38)
    module.tile_size = types.SimpleNamespace(
        pmax=128, psum_fmax=512, psum_bank_fmax=512, gemm_stationary_fmax=128, gemm_moving_fmax=512,
        bn_stats_fmax=512, psum_min_align=4, sbuf_min_align=1, psum_num_banks=8, sbuf_fmax=49152,
        total_available_sbuf_size=192 * 1024, sbuf_size_bytes=192 * 1024, sbuf_fmax_bytes=192 * 1024,
        psum_bank_fmax_bytes=2048)
    return module


def _simulated(kernel, *args, **given):
    return kernel(*args, **given)


def _static_cast(array, dtype):
    """Numbers of the host as an element type has them."""
    return cast(np.asarray(array), find_element(dtype))


def _static_assert(condition, message=""):
    if not condition:
        raise AssertionError(message)


def offered(tracer, launch=None):
    """All modules, by the names under which kernels import them; `launch` is that of their kernels."""
    modules = {}
    for base, modern in (("nki", True), ("neuronxcc.nki", False)):
        top = modules[base] = Module(base)
        top.language = modules[f"{base}.language"] = _language(tracer, modern, base)
        top.isa = modules[f"{base}.isa"] = _isa(tracer, modern, base)
        constants = modules[f"{base}.isa.constants"] = Module(f"{base}.isa.constants")
        for name in ("oob_mode", "dge_mode", "reduce_cmd", "engine", "nc_version"):
            setattr(constants, name, getattr(top.isa, name))
        top.typing = modules[f"{base}.typing"] = Module(f"{base}.typing")
        top.typing.tensor = top.typing.mutable_tensor = _AnyIndex()
        top.compiler = modules[f"{base}.compiler"] = Module(f"{base}.compiler")
        top.compiler.sbuf, top.compiler.psum = _Allocator("sbuf"), _Allocator("psum")
        top.compiler.skip_middle_end_transformations = top.compiler.enable_stack_allocator = _as_it_is
        top.compiler.force_auto_alloc = _as_it_is
        top.compiler.no_reorder = lambda *_, **__: _NoReorder()
        top.collectives = modules[f"{base}.collectives"] = Module(f"{base}.collectives")
        for name in ("jit", "trace", "baremetal", "benchmark", "profile"):
            setattr(top, name, _decorator(launch))
        top.simulate_kernel = _simulated
    modules["neuronxcc"] = Module("neuronxcc")
    modules["neuronxcc"].nki = modules["neuronxcc.nki"]
    return modules
