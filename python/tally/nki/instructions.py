"""The table of instructions: one row for each, with all that the tracer knows of it.

  name      in `nki.isa`
  engine    that runs it if the kernel does not say
  cost      its `op` text for the simulator; `n` is the number of elements in a partition
  first     its arguments in `neuronxcc.nki`, which returns results
  second    its arguments in `nki`, whose first is where the result goes
  build     what it computes, as expressions over the tiles that it reads (expressions.py)

A `build` function is given the `Call` and returns the results: pairs of a destination, or None for a
new tile, and an expression. Everything else (memory, engines, sums, the trace) is done for all of them
alike in tracer.py.
"""

from math import prod
from typing import Callable, NamedTuple

import numpy as np

from . import blocks
from .elements import find_element, promoted
from .expressions import (OPERATORS, WHOLE, Apply, Bits, Function, MatMul, Number, Opaque, Place, Read, Reduce,
                          Stacked, Transpose, Whole, find_operator, find_reduction, of_bits, stacked)
from .refusal import Refusal
from .values import Grid, Mask, Register, View, limited, reshaped, split


_QUADRANT = 32  # partitions that a shuffle works in
_EXACT = 2**24  # whole numbers up to here are exact in f32


class Instruction(NamedTuple):
    name: str
    engine: str
    cost: str
    first: str
    second: str
    build: Callable
    space: str = "sbuf"  # of a new result
    linear: bool = False  # adds constants at most, so numbers stay known in a dynamic loop


# Arguments that say how an instruction is done, and change no result.
_OF_NO_CONSEQUENCE = {"name", "engine", "priority", "dge_mode", "unique_indices", "tile_position", "tile_size", "perf_mode",
                      "is_stationary_onezero", "is_moving_onezero", "is_transpose"}


class Call:
    """One use of an instruction: its arguments by name, and the tiles that it reads."""

    def __init__(self, row, arguments):
        self.row, self.arguments = row, arguments
        self.asked = set()  # the arguments that were looked at
        self.given, self.reads, self.sizes = [], [], {}  # tiles as they are given, and what is read of them
        self.first = None  # the first tile that is read, whole
        self.numbers, self.in_loop = [], False
        self.usual = None  # the engine, if it is another one than of most uses

    def __getattr__(self, name):
        self.asked.add(name)
        return self.arguments.get(name)

    def check_asked(self):
        """An argument that nothing has looked at would change nothing here, but perhaps on the device."""
        for name, value in self.arguments.items():
            if name not in self.asked | _OF_NO_CONSEQUENCE and not (value is None or value is False):
                raise Refusal(f"'{name}' of '{self.row.name}' is not modelled, as it is given here")

    @property
    def other_type(self):
        """A 'dtype' that is not the type of the tile that is written, to which it makes no difference."""
        given = find_element(self.dtype) if self.dtype is not None and isinstance(self.dst, View) else None
        return given if given is not None and given != self.dst.dtype else None

    def read(self, view):
        if view is None:
            raise Refusal(f"'{self.row.name}' is not given all tiles that it reads; its arguments are "
                          f"{self.row.second if 'dst' in self.arguments else self.row.first}")
        if not isinstance(view, View):
            raise Refusal(f"'{self.row.name}' reads a tile, not {type(view).__name__} "
                          f"'{str(view)[:40]}'")
        self.first = view if self.first is None else self.first
        self.given.append(view)
        if view.wide > 1 or view.narrow > 1:
            views, part = view.plain()
            return other_bits(view, part, [self._read(plain, self._split(plain)) for plain in views])
        return self._read(view, self._split(view))

    @property
    def limits(self):
        """How many of the first elements along each axis the mask lets through; None without one."""
        return self.mask.limits(self.first.shape) if self.mask is not None and self.first is not None else None

    def _split(self, view):
        """The axes along which a tile on the chip is read box by box, if it is not a box itself."""
        if view.memory.space == "hbm" or view.is_indirect():
            return ()
        if self.limits is not None and 0 not in self.limits:
            part = limited(view, self.first.shape, self.limits)
        else:
            part = view
        axes = () if part.box().exact else split(view.memory.shape, part.offset, part.shape, part.strides)
        return axes if all(part.shape[axis] == view.shape[axis] for axis in axes) else ()

    def _read(self, view, axes):
        if axes:
            return Stacked(axes[0], view.ndim, [self._read(part, axes[1:]) for part in view.parts(axes[0])])
        self.reads.append(view)
        return Read(len(self.reads) - 1)

    def read_like(self, view, other):
        """A tile that meets another element by element, in the other's shape: the device looks at how
        many elements a partition has, and not at their axes."""
        same = isinstance(view, View) and isinstance(other, View) and view.shape != other.shape
        if not same or view.shape[:1] != other.shape[:1] or view.size != other.size:
            return self.read(view)
        if reshaped(view.shape, view.strides, other.shape) is not None:
            return self.read(view.reshape(other.shape))
        shape = other.shape
        repeated = f"select(index({list(view.shape)}, 0) < 0, 0, {{0}})"  # along axes of 1
        return Function("reshape", lambda x: x.reshape(shape), f"reshape({repeated}, {list(shape)})",
                        lambda _: shape, self.read(view))

    def operand(self, value):
        """A tile, or a number that is the same for all elements."""
        if isinstance(value, View):
            return self.read(value)
        if isinstance(value, Register):
            raise Refusal(f"a register as an operand of '{self.row.name}'; store it to memory first")
        if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__"):
            raise Refusal(f"an operand of '{self.row.name}' of type '{type(value).__name__}'; it is a tile or a number")
        return self.number(value)

    def number(self, value):
        """A number; a whole one may be another one in the next iteration of a loop around."""
        if not self.in_loop or not float(value).is_integer() or abs(value) >= _EXACT:
            return Number(value)
        self.numbers.append(int(value))
        return Whole(len(self.numbers) - 1, value)

    def bits(self, value):
        """An operand of an operator on bits, all of which count."""
        is_large = isinstance(value, (int, float, np.number)) and float(value).is_integer() and _EXACT <= abs(value) < 2**32
        return Bits(int(value)) if is_large else self.operand(value)

    def cost(self, default):
        view = default if self.first is None else self.first
        sizes = {"n": _row(view), "p": view.shape[0] if view.shape else 1,
                 "bytes": view.size * view.itemsize, **self.sizes}
        return self.row.cost.format(**sizes)


def other_bits(view, part, reads):
    """Numbers of 16 bits as words of 32, or the other way; the first one has the lower bits."""
    if view.wide > 1:
        text = "bitor(shr(bits({0}), 16), bits({1}))"
        return Function("pairs", lambda low, high: (_bits(low) >> 16 | _bits(high)).view(view.dtype.dtype),
                        f"frombits({text})" if view.dtype.is_float else text, lambda shape, _: shape, *reads)
    halves = [Function(f"half {half}", lambda x, half=half: _half(x, half), text, lambda shape: shape, *reads)
              for half, text in enumerate(("frombits(shl(bits({0}), 16))", "frombits(bitand(bits({0}), -65536))"))]
    if part is not None:
        return halves[part]
    *lead, count = view.shape
    parts = [f"reshape({half.template}, {[*lead, count // 2, 1]})" for half in halves]
    return Function("halves", lambda x: np.stack([_half(x, 0), _half(x, 1)], axis=-1).reshape(view.shape),
                    f"reshape({stacked(parts, view.ndim, view.ndim + 1)}, {list(view.shape)})", lambda _: view.shape, *reads)


def _bits(x):
    return np.ascontiguousarray(x, np.float32).view(np.uint32)


def _half(x, half):
    bits = _bits(x)
    return (bits & np.uint32(0xFFFF0000) if half else bits << np.uint32(16)).view(np.float32)


def _row(view):
    """Elements in a partition."""
    return prod(view.shape[1:])


def _free_axes(view):
    return tuple(range(1, view.ndim))


# ---- What they compute ----------------------------------------------------------------------


def _copy(call):
    if isinstance(call.src, View) and call.src.outside is not None and call.oob_mode == "skip":
        outside = call.src.outside
        return [(call.dst, Opaque("a copy that skips what is outside", lambda x, old: np.where(
            outside.reshape(x.shape), old.reshape(x.shape), x), call.read(call.src), call.read(call.dst)))]
    return [(call.dst, call.read(call.src))]


def _dma_copy(call):
    if call.dst_rmw_op is not None:
        source = call.read(call.src)
        return [(call.dst, Apply(find_operator(call.dst_rmw_op, 2), source, call.read(call.dst)))]
    return _copy(call)


def _memset(call):
    element = call.dst.dtype if isinstance(call.dst, View) else find_element(call.dtype)
    is_whole = element is not None and not element.is_float
    return [(call.dst, call.bits(call.value) if is_whole else call.number(call.value))]


def _operator(view, op, *arities):
    """An operator of a tile, and of others or numbers."""
    whole = isinstance(view, View) and not view.dtype.is_float
    return of_bits(find_operator(op, *arities), 8 * view.dtype.itemsize if whole else None, getattr(view, "dtype", type(view).__name__))


def _tensor_tensor(call):
    left, right = call.read(call.data1), call.read_like(call.data2, call.data1)
    operator = _operator(call.data1, call.op, 2)
    if not operator.integer and _are_whole(call):
        operator, call.usual = WHOLE.get(operator.name, operator), "gpsimd"
    return [(call.dst, Apply(operator, left, right))]


def _are_whole(call):
    """Whether operands and result are whole numbers of 32 bits, which gpsimd computes with as such."""
    views = [view for view in (call.data1, call.data2, call.dst) if view is not None]
    made = [] if call.dst is not None else [find_element(call.dtype) or promoted([view.dtype for view in views])]
    return (all(kind.name in ("int32", "uint32") for kind in [*(view.dtype for view in views), *made])
            and all(view.buffer != "psum" for view in views) and str(call.engine) != "vector")


def _applied(call, expression, op, operand, reverse):
    """An operator of one tile does without the operand, which is 0 then."""
    if op is None:
        if reverse or operand is not None and (isinstance(operand, (View, Register)) or operand != 0):
            raise Refusal(f"'{call.row.name}' gives an operand, or reverses it, without its operator")
        return expression
    operator = _operator(call.data, op, 1, 2)
    if operator.arity == 1:
        if reverse or operand is not None and (isinstance(operand, (View, Register)) or operand != 0):
            raise Refusal(f"'{operator.name}' takes one tile, and this '{call.row.name}' gives it an operand, or reverses them; "
                          "say 0.0 for the operand, and no 'reverse'")
        return Apply(operator, expression)
    if operand is None:
        raise Refusal(f"'{operator.name}' takes two tiles, and this '{call.row.name}' has no operand for it")
    arguments = (expression, call.bits(operand) if operator.integer else call.operand(operand))
    return Apply(operator, *(arguments[::-1] if reverse else arguments))


def _scaled(call):
    x = _applied(call, call.read(call.data), call.op0, call.operand0, call.reverse0)
    return _applied(call, x, call.op1, call.operand1, call.reverse1)


def _tensor_scalar(call):
    return [(call.dst, _scaled(call))]


def _tensor_scalar_reduce(call):
    x = _applied(call, call.read(call.data), call.op0, call.operand0, call.reverse0)
    return _with_reduction(call, x, call.data)


def _scalar_tensor_tensor(call):
    x = _applied(call, call.read(call.data), call.op0, call.operand0, call.reverse0)
    y = call.read_like(call.operand1, call.data)
    return [(call.dst, Apply(find_operator(call.op1, 2), *((y, x) if call.reverse1 else (x, y))))]


# Their reduction is what they are for. Of the others, only 'reset_reduce' makes it one of this instruction alone.
_ALWAYS_REDUCE = {"activation_reduce", "tensor_scalar_reduce"}


def _with_reduction(call, x, data, usual_op=None, usual_command="idle"):
    """The result, and where it is asked for its reduction over all free axes of 'data'.

    Without a tile for it, all that is said of it is of no consequence: what it leaves in the engine is read by no
    instruction that is modelled.
    """
    command, op, negate, _ = call.reduce_cmd or usual_command, call.reduce_op, call.reduce_res_negate, call.reduce_init
    if call.reduce_res is None:
        return [(call.dst, x)]
    if command == "idle" and call.row.name not in _ALWAYS_REDUCE:
        raise Refusal(f"'{call.row.name}' with a 'reduce_res', but 'reduce_cmd=idle', reads a sum that is in the engine from before; "
                      "say 'reduce_cmd=nisa.reduce_cmd.reset_reduce' for one of this instruction")
    if command not in ("reset_reduce", "idle"):
        raise Refusal(f"'reduce_cmd={command}' of '{call.row.name}' keeps a sum in the engine, "
                      "which is not modelled; use 'reset_reduce' and add the sums")
    total = Reduce(find_reduction(op or usual_op), x, _free_axes(data), data.ndim)
    return [(call.dst, x), (call.reduce_res, Apply(OPERATORS["negative"], total) if negate else total)]


def _activation(call):
    x = call.read(call.data)
    if isinstance(call.scale, View) or call.scale not in (None, 1, 1.0):
        x = Apply(OPERATORS["multiply"], x, call.operand(call.scale))
    if call.bias is not None:
        x = Apply(OPERATORS["add"], x, call.operand(call.bias))
    return _with_reduction(call, Apply(find_operator(call.op, 1), x), call.data)


def _exponential(call):
    x = call.read(call.src)
    if isinstance(call.max_value, View) or call.max_value:
        x = Apply(OPERATORS["subtract"], x, call.operand(call.max_value))
    return _with_reduction(call, Apply(OPERATORS["exp"], x), call.src, usual_op=np.sum)


def _tensor_reduce(call):
    axes = call.axis if isinstance(call.axis, (tuple, list)) else (call.axis,)
    if any(int(axis) % call.data.ndim == 0 for axis in axes):
        raise Refusal(f"'{call.row.name}' over axis 0 of {call.data!r}, its partitions, which this engine cannot take together; use "
                      "'tensor_partition_reduce', or a product with a tile of ones")
    x = Reduce(find_reduction(call.op), call.read(call.data), tuple(map(int, axes)), call.data.ndim)
    return [(call.dst, Apply(OPERATORS["negative"], x) if call.negate else x)]


def _partition_reduce(call):
    if call.dst is None:
        call.arguments["shape"] = (1, *call.data.shape[1:])
    return [(call.dst, Reduce(find_reduction(call.op), call.read(call.data), (0,), call.data.ndim))]


def _matmul(call):
    stationary, moving = call.read(call.stationary), call.read(call.moving)
    for name, most in (("stationary", 128), ("moving", 512)):
        if _row(call.arguments[name]) > most:
            raise Refusal(f"'{call.row.name}' of a '{name}' tile of {_row(call.arguments[name])} columns; the device takes {most} at "
                          "most: loop over parts of it")
    whole = next((view for view in (call.stationary, call.moving) if not view.dtype.is_float), None)
    if whole is not None:
        raise Refusal(f"'{call.row.name}' of '{whole.name}', which is {whole.dtype}; the device multiplies fp8, bf16, f16, tf32 and f32: "
                      "copy it to a tile of one of these")
    wide = any(view.dtype == "float32" for view in call.reads)
    call.sizes = {"nstat": _row(call.stationary), "nmov": _row(call.moving), "kind": ".fp32" if wide else ""}
    return [(call.dst, MatMul(stationary, moving))]


def _transpose(call):
    call.sizes = {"f": _row(call.data)}
    return [(call.dst, Transpose(call.read(call.data)))]


def _dma_transpose(call):
    source, rank = call.read(call.src), call.src.ndim
    axes = tuple(call.axes) if call.axes is not None else (3, 1, 2, 0) if rank == 4 else tuple(reversed(range(rank)))
    if rank == 2 and axes == (1, 0):
        return [(call.dst, Transpose(source))]
    return [(call.dst, Function("permute", lambda x: np.transpose(x, axes), f"permute({{0}}, {list(axes)})",
                            lambda shape: [shape[axis] for axis in axes], source))]


def _reciprocal(call):
    return [(call.dst, Apply(OPERATORS["reciprocal"], call.read(call.data)))]


def _predicated(call):
    """Where the predicate holds; elsewhere the destination stays."""
    predicate, source = call.read(call.predicate), call.operand(call.src)
    old = call.read(call.dst)
    values = (old, source) if call.reverse_pred else (source, old)
    return [(call.dst, Apply(OPERATORS["where"], predicate, *values))]


def _affine(pattern, partitions, offset, multiplier):
    values = np.asarray(offset) + multiplier * np.arange(partitions)
    for step, count in pattern:
        values = values[..., None] + step * np.arange(count)
    return values


def _affine_place(call, shape, pattern, offset, multiplier):
    """The same as an expression; None if it is not on tiles of this shape, or beyond exact numbers."""
    steps = [multiplier, *(step for step, _ in pattern)]
    counts = tuple(count for _, count in pattern)
    if prod(shape[1:]) != prod(counts):
        return None
    shape = (shape[0], *counts)
    reach = abs(offset) + sum(abs(step) * (count - 1) for step, count in zip(steps, shape))
    if reach > _EXACT:
        return None
    place = None
    for axis, step in enumerate(steps):
        if step or axis == len(steps) - 1 and place is None:
            along = Place(shape, axis)
            along = along if step == 1 else Apply(OPERATORS["multiply"], Number(step), along)
            place = along if place is None else Apply(OPERATORS["add"], place, along)
    return place if offset == 0 and not call.in_loop else Apply(OPERATORS["add"], place, call.number(offset))


def _of_grid(grid, shape):
    """An affine grid of the first generation as pattern, offset and multiplier, over all of a shape."""
    if not isinstance(grid, Grid) or grid.ndim != len(shape) or grid.ndim < 2:
        raise Refusal(f"an index expression that is not affine in {len(shape)} axes; make it of 'nl.arange' or 'nl.mgrid'")
    multiplier, *steps = (factor if have > 1 else 0 for factor, have in zip(grid.factors, grid.shape))
    return tuple(zip(steps, shape[1:])), grid.first, multiplier


def _of_pattern(call):
    pattern = tuple((int(step), int(count)) for step, count in call.pattern)
    return pattern, int(call.offset or 0), int(call.channel_multiplier or 0)


def _iota(call):
    if call.expr is not None:
        shape = call.arguments["shape"] = getattr(call.expr, "shape", ())
        call.arguments.setdefault("dtype", "int32")
        pattern, offset, multiplier = _of_grid(call.expr, shape)
    else:
        shape = call.dst.shape
        pattern, offset, multiplier = _of_pattern(call)
    place = _affine_place(call, shape, pattern, offset, multiplier)
    if place is not None:
        return [(call.dst, place)]
    return [(call.dst, Opaque("iota", lambda: _affine(pattern, shape[0], offset, multiplier).reshape(shape),
                              key=(pattern, offset, multiplier)))]


_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def _comparison(call, op):
    operator = find_operator(op, 2)
    if operator.name not in _COMPARISONS:
        raise Refusal(f"'{operator.name}' of '{call.row.name}' is not a comparison; comparisons are {', '.join(_COMPARISONS)}")
    return operator


def _affine_select(call):
    tile, otherwise = call.on_true_tile, np.float32(call.on_false_value)
    if call.pred is not None:
        if not isinstance(call.pred, Mask):
            raise Refusal(f"'pred' is a comparison of index grids, not {type(call.pred).__name__}")
        conditions, compare = [_of_grid(grid, tile.shape) for grid in call.pred.parts], OPERATORS["less"]
    else:
        conditions = [_of_pattern(call)]
        compare = _comparison(call, call.cmp_op) if call.cmp_op is not None else OPERATORS["equal"]
    shape = (tile.shape[0], *(count for _, count in conditions[0][0]))
    places = [_affine_place(call, tile.shape, *condition) for condition in conditions]
    if None not in places and reshaped(tile.shape, tile.strides, shape) is not None:
        result = call.read(tile.reshape(shape))
        for place in places:
            result = Apply(OPERATORS["where"], Apply(compare, place, Number(0)), result, Number(otherwise))
        return [(call.dst, result)]

    def select(x):
        for pattern, offset, multiplier in conditions:
            holds = compare.numpy(_affine(pattern, x.shape[0], offset, multiplier), 0).reshape(x.shape)
            x = np.where(holds != 0, x, otherwise)
        return x

    return [(call.dst, Opaque("a select by an affine condition", select, call.read(call.on_true_tile),
                              key=(tuple(conditions), compare.name, float(otherwise))))]


def _select_reduce(call):
    """What a predicate chooses, and the largest of it."""
    x, predicate = call.read(call.on_true), call.read_like(call.predicate, call.on_true)
    pair = (x, call.operand(call.on_false))
    chosen = Apply(OPERATORS["where"], predicate, *(pair[::-1] if call.reverse_pred else pair))
    return _with_reduction(call, chosen, call.on_true, usual_op=np.max)


def _range_select(call):
    first, second = _comparison(call, call.comp_op0), _comparison(call, call.comp_op1)
    otherwise = np.float32(-3.4028235e38 if call.on_false_value is None else call.on_false_value)
    start = call.range_start or 0

    def select(x, low, high):
        place = start + np.arange(x.reshape(x.shape[0], -1).shape[1])
        inside = first.numpy(place, low.reshape(-1, 1)) != 0
        inside &= second.numpy(place, high.reshape(-1, 1)) != 0
        return np.where(inside.reshape(x.shape), x, otherwise)

    x = Opaque("a select by a range", select, call.read(call.on_true_tile), call.read(call.bound0),
               call.read(call.bound1), key=(first.name, second.name, float(start), float(otherwise)))
    if len(call.on_true_tile.shape) == 2 and abs(start) + call.on_true_tile.shape[1] < _EXACT:
        tile, low, high = x.arguments
        place = Apply(OPERATORS["add"], Place(call.on_true_tile.shape, 1), call.number(start))
        inside = Apply(OPERATORS["logical_and"], Apply(first, place, low), Apply(second, place, high))
        x = Apply(OPERATORS["where"], inside, tile, Number(otherwise))
    return _with_reduction(call, x, call.on_true_tile, usual_op=np.max, usual_command="reset_reduce")


_SIGNS = {"multiply": "*", "add": "+", "subtract": "-", "maximum": "max", "minimum": "min"}
_COMMUTE = ("multiply", "add", "maximum", "minimum")


def _turned(x, y, reverse):
    return (y, x) if reverse else (x, y)


def _scan(call):
    multiply, add = find_operator(call.op0, 2), find_operator(call.op1, 2)
    reverse0, reverse1 = bool(call.reverse0), bool(call.reverse1)

    def scan(x, y, initial):
        result = np.empty(x.shape, np.float32)
        state = np.broadcast_to(np.asarray(initial, np.float32).reshape(-1), x.shape[:1])
        for column in range(x.shape[1]):
            state = multiply.numpy(*_turned(x[:, column], state, reverse0))
            result[:, column] = state = add.numpy(*_turned(state, y[:, column], reverse1))
        return result

    parts = call.read(call.data0), call.read(call.data1), call.operand(call.initial)
    plain = multiply.name in _COMMUTE and (add.name in _COMMUTE or not reverse1)
    if plain and add.name in _SIGNS and len(call.data0.shape) == 2:
        template = f"scan({_SIGNS[multiply.name]}, {_SIGNS[add.name]}, {{0}}, {{1}}, {{2}})"
        return [(call.dst, Function("scan", scan, template, lambda x, *_: x, *parts))]
    return [(call.dst, Opaque("a scan", scan, *parts, key=(multiply.name, add.name, reverse0, reverse1)))]


def _rows(x):
    return np.asarray(x).reshape(x.shape[0], -1)


def _max8(call):
    def largest(x):
        return -np.sort(-_rows(x), axis=1)[:, :8]

    if len(call.src.shape) == 2:
        return [(call.dst, Function("top", largest, "top({0}, 8)", lambda x: (x[0], 8), call.read(call.src)))]
    if call.dst is None:
        call.arguments["shape"] = (call.src.shape[0], 8)
    return [(call.dst, Opaque("the largest eight", largest, call.read(call.src)))]


def _places(x, values, backwards=False):
    """For each value where it stands in its row, or -1; equal values take one place after the other, `backwards` the last
    one first."""
    places = np.full(values.shape, -1, np.int64)
    for row, (data, wanted) in enumerate(zip(x, values)):
        free = np.ones(len(data), bool)
        for which, value in sorted(enumerate(wanted), reverse=backwards, key=lambda pair: pair[0]):
            at = np.flatnonzero((data == value) & free)
            if len(at):
                places[row, which] = at[0]
                free[at[0]] = False
    return places


def _found(call, target, backwards=False):
    """What is not there has all bits set, where the type has no -1."""
    element = find_element(call.dtype) if target is None else target.dtype
    absent = np.float32(np.iinfo(element.dtype).max if element is not None and element.dtype.kind == "u" else -1)

    def find(x, values):
        places = _places(_rows(x), _rows(values), backwards).astype(np.float32)
        return np.where(places < 0, absent, places)

    rows = _as_rows(call.vals)
    data, values = call.read(_as_rows(call.data)), call.read(rows)
    text = "find({0}, {1})"
    if backwards:
        text = _turned_round(f"find({{0}}, {_turned_round('{1}', *rows.shape)})", *rows.shape)
    if absent != -1:
        text = f"select({text} < 0, {int(absent)}, {text})"
    return Function("find", find, text, lambda _, values: values, data, values)


def _turned_round(text, count, width):
    """The rows of it, from their ends."""
    shape = [count, width, width]
    return f"sum(select(index({shape}, 1) + index({shape}, 2) == {width - 1}, reshape({text}, {[count, 1, width]}), 0), [2])"


def _as_rows(view):
    return view.reshape(view.shape[0], -1) if view.ndim > 2 else view


def _find_index8(call):
    return [(call.dst, _found(call, call.dst))]


def _match_replace8(call):
    """Eight values, the last one first: the first place of each gets another number, and `dst_idx` gets the places."""
    number = np.float32(call.imm)

    def replaced(x, values, _):
        result = np.array(_rows(x))
        for row, places in enumerate(_places(_rows(x), _rows(values))):
            result[row, places[places >= 0]] = number
        return result.reshape(x.shape)

    data, values = call.read(_as_rows(call.data)), call.read(_as_rows(call.vals))
    results = [(call.dst, Function("replace", replaced, "replace({0}, {1}, {2})", lambda x, *_: x, data, values,
                                   Number(number)))]
    if call.dst_idx is not None:
        results.append((call.dst_idx, _found(call, call.dst_idx, backwards=True)))
    return results


def _gather(call):
    """Elements of each partition, at indices of its own."""

    def gathered(x, index):
        return np.take_along_axis(x, index.astype(np.int64), axis=1)

    rows, indices = _as_rows(call.data), _as_rows(call.indices)
    data, index = call.read(rows), call.read(indices)
    (count, width), wanted = rows.shape, indices.shape[1]
    # One element of each row is where the index is.
    template = (f"sum(select(index({[count, wanted, width]}, 2) == reshape({{1}}, {[count, wanted, 1]}), "
                f"reshape({{0}}, {[count, 1, width]}), 0), [2])")
    return [(call.dst, Function("gather", gathered, template, lambda _, index: index, data, index))]


def _local_gather(call):
    """In each partition of a core of gpsimd, the elements at the core's indices: those of its partitions, column
    by column."""
    src, index = _as_rows(call.src_buffer), _as_rows(call.index)
    (count, width), each = src.shape, int(call.num_elem_per_idx or 1)
    cores, columns = count // _CORE_PARTITIONS, index.shape[1]
    wanted = int(call.num_valid_indices or _CORE_PARTITIONS * columns)
    if count % _CORE_PARTITIONS or index.shape[0] != count or wanted != _CORE_PARTITIONS * columns or each != 1:
        raise Refusal(f"'local_gather' of {wanted} times {each} elements, from {count} partitions and at indices of "
                      f"{index.shape[0]}; one element at each index of as many partitions, in sixteens, is modelled")

    def gathered(x, at):
        at = at.reshape(cores, _CORE_PARTITIONS, columns).transpose(0, 2, 1).reshape(cores, wanted)
        return np.take_along_axis(x, np.repeat(at, _CORE_PARTITIONS, axis=0).astype(np.int64), axis=1)

    at = f"permute(reshape({{1}}, {[cores, _CORE_PARTITIONS, columns]}), [0, 2, 1])"
    template = (f"sum(select(index({[cores, _CORE_PARTITIONS, wanted, width]}, 3) == "
                f"reshape({at}, {[cores, 1, wanted, 1]}), "
                f"reshape({{0}}, {[cores, _CORE_PARTITIONS, 1, width]}), 0), [3])")
    return [(call.dst, Function("local_gather", gathered, template, lambda *_: (cores, _CORE_PARTITIONS, wanted),
                                call.read(src), call.read(index)))]


_KEPT = 255  # the word of a shuffle's mask for 'as it was'


def _stream_shuffle(call):
    """In each quadrant, partition i becomes a copy of partition mask[i]."""
    mask, partitions = tuple(map(int, call.shuffle_mask)), call.dst.shape[0]
    wrong = [number for number in mask if not 0 <= number < _QUADRANT and number != _KEPT]
    if len(mask) != _QUADRANT or wrong:
        raise Refusal(f"a 'shuffle_mask' of {len(mask)} numbers{f', {wrong[0]} among them' if wrong else ''}; it has {_QUADRANT}, each of "
                      f"a partition of its quadrant, 0 to {_QUADRANT - 1}, or {_KEPT}, which leaves one as it is")
    if len(set(mask)) == 1 and partitions <= _QUADRANT and mask[0] < call.src.shape[0]:
        return [(call.dst, call.read(call.src[mask[0]:mask[0] + 1]))]  # one partition for all
    place = np.arange(partitions)
    wanted = np.array([mask[p % _QUADRANT] for p in place])
    kept, source = wanted == _KEPT, place // _QUADRANT * _QUADRANT + wanted

    def shuffle(x, old=None):
        result = x[np.minimum(source, len(x) - 1)]
        return result if old is None else np.where(kept.reshape((-1,) + (1,) * (x.ndim - 1)), old, result)

    src, dst = _as_rows(call.src), _as_rows(call.dst)
    tiles = [call.read(src)] + ([call.read(dst)] if kept.any() else [])
    return [(call.dst, Function("shuffle", shuffle, _shuffle_text(mask, src.shape[0], *dst.shape, kept.any()),
                                lambda *_: dst.shape, *tiles))]


def _shuffle_text(mask, sources, partitions, width, keeps):
    """One partition of the source is where the mask says, which is told number by number."""
    place = f"mod(index({[partitions]}, 0), {_QUADRANT})"
    said = str(mask[-1])
    for number in reversed(range(len(mask) - 1)):
        if mask[number] != mask[number + 1]:
            said = f"select({place} <= {number}, {mask[number]}, {said})"
    at = f"{said} + index({[partitions]}, 0) - {place}"
    text = (f"sum(select(index({[partitions, sources]}, 1) == ({at}), reshape({{0}}, {[1, sources, width]}), 0), [1])")
    return f"select({said} == {_KEPT}, {{1}}, {text})" if keeps else text


def _dma_compute(call):
    """The sources, each scaled, and all taken together by one operator."""
    scales = call.scales if call.scales is not None else (1.0,) * len(call.srcs)
    total = None
    for view, scale in zip(call.srcs, scales):
        x = call.read(view)
        x = x if scale == 1 else Apply(OPERATORS["multiply"], x, call.operand(scale))
        total = x if total is None else Apply(find_operator(call.reduce_op, 2), total, x)
    return [(call.dst, total)]


_MOST_STATISTICS = 512


def _statistics(call):
    """Of the elements at even places and at odd ones: how many, their mean, and the sum of squared distances."""

    def statistics(x):
        halves = [np.asarray(x[:, start::2], np.float32) for start in (0, 1)]
        parts = [(np.full(len(x), half.shape[1]), half.mean(1), half.var(1) * half.shape[1])
                 if half.shape[1] else (np.zeros(len(x)),) * 3 for half in halves]
        return np.stack([number for part in parts for number in part], axis=1).astype(np.float32)

    tile = _as_rows(call.data)
    if tile.shape[1] > _MOST_STATISTICS:
        raise Refusal(f"'{call.row.name}' of {tile.shape[1]} elements in a partition; the device takes {_MOST_STATISTICS} at most: take "
                      "them in parts, and put these together by 'bn_aggr'")
    (rows, width), x = tile.shape, call.read(tile)
    if width % 2:
        return [(call.dst, Opaque("statistics of an odd number of elements", statistics, x, shape=(rows, 6)))]
    half, which = width // 2, f"index({[rows, 2, 3]}, 2)"
    pairs = f"reshape({{0}}, {[rows, half, 2]})"
    mean = f"(sum({pairs}, [1]) / {half})"
    squares = f"sum(square({pairs} - reshape({mean}, {[rows, 1, 2]})), [1])"
    template = f"select({which} == 0, {half}, select({which} == 1, {mean}, {squares}))"
    return [(call.dst, Function("statistics", statistics, template, lambda _: (rows, 6), x))]


def _aggregated(call):
    """Mean and variance of what several such statistics are of."""

    def aggregate(x):
        parts = np.asarray(x, np.float64).reshape(len(x), -1, 3)
        counts, means, squares = parts[..., 0], parts[..., 1], parts[..., 2]
        total = counts.sum(1)
        mean = (counts * means).sum(1) / total
        spread = (squares + counts * (means - mean[:, None]) ** 2).sum(1) / total
        return np.stack([mean, spread], axis=1).astype(np.float32)

    tile = _as_rows(call.data)
    (rows, width), x = tile.shape, call.read(tile)
    shape = [rows, width // 3, 3]
    counts, means, squares = (f"sum(select(index({shape}, 2) == {part}, reshape({{0}}, {shape}), 0), [2])"
                              for part in range(3))
    mean = f"(sum({counts} * {means}) / sum({counts}))"
    spread = f"sum({squares} + {counts} * square({means} - {mean})) / sum({counts})"
    template = f"select(index({[rows, 2]}, 1) == 0, {mean}, {spread})"
    return [(call.dst, Function("aggregate", aggregate, template, lambda _: (rows, 2), x))]


_CORE_PARTITIONS = 16  # of one core of gpsimd, of which the first one counts
_MOST_FOUND = 1024  # numbers that 'find' looks for in a row


def _nonzero(call):
    """In the first partition of each core: the places that are not 0, then padding, and last how many."""
    offset, padding = int(call.index_offset or 0), -1 if call.padding_val is None else int(call.padding_val)
    src, dst = (_as_rows(view)[slice(0, None, _CORE_PARTITIONS)] for view in (call.src, call.dst))
    (count, width), length = src.shape, dst.shape[1] - 1
    if width > length:
        raise Refusal(f"'nonzero_with_count' of rows of {width} needs {width + 1} places, not {length + 1}")

    def nonzero(x):
        result = np.full((count, length), padding, np.int64)
        for row, numbers in enumerate(x):
            places = np.flatnonzero(numbers)
            result[row, :len(places)] = places + offset
        return result

    # Each number that is not 0 has a rank; the rank of the k-th place is looked for, in pieces of the row.
    piece = next(n for n in range(min(length, _MOST_FOUND), 0, -1) if length % n == 0)
    ranks = "select({0} != 0, scan(*, +, 1, {0} != 0, 0), 0)"
    pieces = [f"reshape(find({ranks}, index({[count, piece]}, 1) + {1 + piece * k}), {[count, 1, piece]})"
              for k in range(length // piece)]
    place = f"reshape({stacked(pieces, 1, 3)}, {[count, length]})"
    row = f"select({place} < 0, {padding}, {place} + {offset})"
    x = call.read(src)
    return [(dst[:, 0:length], Function("nonzero", nonzero, row, lambda _: (count, length), x)),
            (dst[:, length:], Function("count", lambda x: np.count_nonzero(x, axis=1)[:, None],
                                       f"reshape(sum({{0}} != 0), {[count, 1]})", lambda _: (count, 1), x))]


def _received(call):
    """What another program of the grid sends, while it receives the source (others.py)."""
    call.read(call.src)
    return [(call.dst, call.read(call.received))]


def _taken(call):
    """What all programs have of a tensor after a barrier (others.py)."""
    return [(call.dst, call.read(call.received))]


# ---- The table ------------------------------------------------------------------------------

_TAIL1 = ", mask, dtype, engine, name"
_TAIL2 = ", engine, name"
_RED = "op0, operand0, reverse0"

INSTRUCTIONS = {
    row.name: row
    for row in [
        Instruction("dma_copy", "sync", "dma_copy(bytes={bytes})",
                    "dst, src, mask, dst_rmw_op, oob_mode, dge_mode, name",
                    "dst, src, priority, oob_mode, dge_mode, engine, name, dst_rmw_op, unique_indices",
                    _dma_copy),
        Instruction("dma_transpose", "sync", "dma_transpose(bytes={bytes})", "src, axes, dge_mode" + _TAIL1,
                    "dst, src, axes, priority, dge_mode, oob_mode, name, engine", _dma_transpose),
        Instruction("tensor_copy", "vector", "tensor_copy(n={n})", "src" + _TAIL1,
                    "dst, src" + _TAIL2 + ", dtype", _copy),
        Instruction("memset", "vector", "memset(n={n})", "shape, value, dtype, mask, engine, name",
                    "dst, value" + _TAIL2, _memset, linear=True),
        Instruction("tensor_tensor", "vector", "tensor_tensor(n={n})", "data1, data2, op" + _TAIL1,
                    "dst, data1, data2, op" + _TAIL2 + ", dtype", _tensor_tensor),
        Instruction("tensor_scalar", "vector", "tensor_scalar(n={n})",
                    "data, " + _RED + ", op1, operand1, reverse1" + _TAIL1,
                    "dst, data, " + _RED + ", op1, operand1, reverse1" + _TAIL2 + ", dtype", _tensor_scalar,
                    linear=True),
        Instruction("tensor_scalar_reduce", "vector", "tensor_scalar_reduce(n={n})",
                    "data, " + _RED + ", reduce_op, reduce_res" + _TAIL1,
                    "dst, data, op0, operand0, reduce_op, reduce_res, reverse0, reduce_cmd, reduce_init, "
                    "reduce_res_negate, name", _tensor_scalar_reduce),
        Instruction("scalar_tensor_tensor", "vector", "scalar_tensor_tensor(n={n})",
                    "data, " + _RED + ", op1, operand1, reverse1" + _TAIL1,
                    "dst, data, op0, operand0, op1, operand1, reverse0, reverse1, name, engine, dtype",
                    _scalar_tensor_tensor),
        Instruction("tensor_reduce", "vector", "tensor_reduce(n={n})",
                    "op, data, axis, mask, dtype, negate, keepdims, engine, name",
                    "dst, op, data, axis, negate, keepdims, name, engine, dtype", _tensor_reduce),
        Instruction("tensor_partition_reduce", "gpsimd", "tensor_reduce(n={n})", "op, data" + _TAIL1,
                    "dst, op, data" + _TAIL2, _partition_reduce),
        Instruction("tensor_tensor_scan", "vector", "tensor_tensor_scan(n={n})",
                    "data0, data1, initial, op0, op1, reverse0, reverse1" + _TAIL1,
                    "dst, data0, data1, initial, op0, op1, reverse0, reverse1, name, engine", _scan),
        Instruction("tensor_copy_predicated", "vector", "tensor_copy_predicated(n={n})",
                    "src, dst, predicate, mask, dtype, reverse_pred, engine, name",
                    "dst, src, predicate, reverse_pred, name, engine", _predicated),
        Instruction("reciprocal", "vector", "reciprocal(n={n})", "data" + _TAIL1,
                    "dst, data" + _TAIL2 + ", dtype", _reciprocal),
        Instruction("activation", "scalar", "activation(n={n})",
                    "op, data, bias, scale, reduce_op, reduce_res, reduce_cmd" + _TAIL1,
                    "dst, op, data, bias, scale, reduce_op, reduce_res, reduce_cmd, name, engine, dtype",
                    _activation),
        Instruction("activation_reduce", "scalar", "activation_reduce(n={n})",
                    "op, data, reduce_op, reduce_res, bias, scale" + _TAIL1,
                    "dst, op, data, reduce_op, reduce_res, bias, scale, name, engine, dtype", _activation),
        Instruction("exponential", "vector", "activation_reduce(n={n})",
                    "src, max_value, reduce_res, reduce_cmd, reduce_init" + _TAIL1,
                    "dst, src, max_value, reduce_res, reduce_cmd, reduce_init, name, engine", _exponential),
        Instruction("nc_matmul", "tensor", "nc_matmul{kind}(nstat={nstat}, nmov={nmov})",
                    "stationary, moving, is_stationary_onezero, is_moving_onezero, mask, is_transpose, "
                    "tile_position, tile_size, perf_mode, name",
                    "dst, stationary, moving, is_stationary_onezero, is_moving_onezero, is_transpose, "
                    "accumulate, tile_position, tile_size, perf_mode, name, engine", _matmul, "psum"),
        Instruction("nc_matmul_mx", "tensor", "nc_matmul(nstat={nstat}, nmov={nmov})", "",
                    "dst, stationary, moving, stationary_scale, moving_scale, tile_position, tile_size, accumulate, "
                    "name, engine", blocks.matmul, "psum"),
        Instruction("quantize_mx", "vector", "tensor_copy(n={n})", "", "dst, src, dst_scale, name, engine",
                    blocks.quantize),
        Instruction("nc_transpose", "tensor", "nc_transpose(p={p}, f={f})", "data" + _TAIL1,
                    "dst, data" + _TAIL2 + ", dtype", _transpose, "psum"),
        Instruction("iota", "gpsimd", "iota(n={n})", "expr, dtype, mask, engine, name",
                    "dst, pattern, offset, channel_multiplier, name, engine", _iota),
        Instruction("affine_select", "gpsimd", "affine_select(n={n})", "pred, on_true_tile, on_false_value" + _TAIL1,
                    "dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op, offset, name, "
                    "engine", _affine_select),
        Instruction("range_select", "vector", "range_select(n={n})", "",
                    "dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd, reduce_res, "
                    "reduce_op, range_start, on_false_value, name, engine", _range_select),
        Instruction("select_reduce", "vector", "range_select(n={n})", "",
                    "dst, predicate, on_true, on_false, reduce_res, reduce_cmd, reduce_op, reverse_pred, name, engine",
                    _select_reduce),
        Instruction("max8", "vector", "max8(n={n})", "src" + _TAIL1, "dst, src" + _TAIL2, _max8),
        Instruction("nc_find_index8", "vector", "nc_find_index8(n={n})", "data, vals" + _TAIL1,
                    "dst, data, vals" + _TAIL2, _find_index8),
        Instruction("nc_match_replace8", "vector", "max8(n={n})", "data, vals, imm, dst_idx" + _TAIL1,
                    "dst, data, vals, imm, dst_idx" + _TAIL2, _match_replace8),
        Instruction("nc_n_gather", "gpsimd", "iota(n={n})", "data, indices" + _TAIL1,
                    "dst, data, indices" + _TAIL2, _gather),
        Instruction("local_gather", "gpsimd", "iota(n={n})", "",
                    "dst, src_buffer, index, num_elem_per_idx, num_valid_indices" + _TAIL2, _local_gather),
        Instruction("nc_stream_shuffle", "vector", "nc_stream_shuffle(n={n})", "src, dst, shuffle_mask" + _TAIL1,
                    "src, dst, shuffle_mask" + _TAIL2, _stream_shuffle),
        Instruction("dma_compute", "sync", "dma_copy(bytes={bytes})", "",
                    "dst, srcs, scales, reduce_op, dge_mode, unique_indices, oob_mode" + _TAIL2, _dma_compute),
        Instruction("bn_stats", "vector", "bn_stats(n={n})", "data" + _TAIL1, "dst, data" + _TAIL2,
                    _statistics),
        Instruction("bn_aggr", "vector", "bn_aggr(n={n})", "data" + _TAIL1, "dst, data" + _TAIL2,
                    _aggregated),
        Instruction("sendrecv", "gpsimd", "dma_copy(bytes={bytes})", "", "dst, src, received", _received),
        Instruction("core_barrier", "gpsimd", "", "", "dst, received", _taken),
        Instruction("nonzero_with_count", "gpsimd", "iota(n={n})", "",
                    "dst, src, index_offset, padding_val" + _TAIL2, _nonzero),
    ]
}
