"""What an instruction computes, once: NumPy's value of it and its `computes` text from one expression.

Two tables and the expressions made of them. `OPERATORS` has a row for each operator of the language,
with its NumPy function and its text; `REDUCTIONS` for each one that reduces. An expression evaluates
to NumPy's result, and says itself in the language of kernels, or raises `Unsayable` with the reason.

Shapes are those of tally in both: operands are aligned at their first axes, and an axis of 1, or none,
goes with any. A tile's shape is that of its ranges in its buffer, so a view that was reshaped may have
no tile of its shape; `wants` finds for each operand the shape that the text needs.
"""

import math
import re
from typing import Callable, NamedTuple, Optional

import numpy as np

from .refusal import Refusal


class Unsayable(Exception):
    """The language of kernels cannot say it; the text is the reason."""


class Operator(NamedTuple):
    name: str
    arity: int
    numpy: Callable
    text: Optional[str]
    integer: bool = False  # on whole numbers and their bits


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


_STEPS = 256  # of a table of erf, for each 1
_LAST = 4  # from there on, it is 1 in f32
_ERF = np.array([math.erf(k / _STEPS) for k in range(_LAST * _STEPS + 2)])
_ERF_DX = 2 / math.sqrt(math.pi) * np.exp(-(np.arange(_ERF.size) / _STEPS) ** 2) / _STEPS


def _erf(x):
    """From a table of it and its derivative, by cubic polynomials in between: to 1e-11, as fast as NumPy's functions."""
    place = np.minimum(np.abs(x), np.float32(_LAST)).astype(np.float64) * _STEPS
    at = np.nan_to_num(place).astype(np.int64)
    t = place - at  # NaN stays
    rest, left, right = 1 - t, _ERF[at], _ERF[at + 1]
    made = (rest * rest * ((1 + 2 * t) * left + t * _ERF_DX[at])
            + t * t * ((3 - 2 * t) * right - rest * _ERF_DX[at + 1]))
    return np.copysign(made, x).astype(np.float32)


def _gelu_tanh(x):
    return x * _sigmoid(np.float32(1.5957691216) * (x + np.float32(0.044715) * x * x * x))


def _gelu_dx(x):
    half = np.float32(0.5)
    return half * (1 + _erf(x * np.float32(0.70710678119))) + x * np.float32(0.39894228040) * np.exp(-half * x * x)


def _gelu_sigmoid_dx(x):
    share = _sigmoid(np.float32(1.702) * x)
    return share * (1 + np.float32(1.702) * x * (1 - share))


def _logical(function):
    return lambda x, y: function(x != 0, y != 0).astype(np.float32)


def _compare(function):
    return lambda x, y: function(x, y).astype(np.float32)


_SIGMOID = "1 / (1 + exp(-{0}))"

# Text is in terms of atoms: a compound argument comes in brackets.
OPERATORS = {
    row.name: row
    for row in [
        Operator("add", 2, np.add, "{0} + {1}"),
        Operator("subtract", 2, np.subtract, "{0} - {1}"),
        Operator("multiply", 2, np.multiply, "{0} * {1}"),
        Operator("divide", 2, np.divide, "{0} / {1}"),
        Operator("maximum", 2, np.maximum, "max({0}, {1})"),
        Operator("minimum", 2, np.minimum, "min({0}, {1})"),
        # With its sign; of two that are as large, the second one.
        Operator("abs_max", 2, lambda x, y: np.where(abs(x) > abs(y), x, y), "select(abs({0}) > abs({1}), {0}, {1})"),
        Operator("abs_min", 2, lambda x, y: np.where(abs(x) < abs(y), x, y), "select(abs({0}) < abs({1}), {0}, {1})"),
        Operator("power", 2, np.power, "pow({0}, {1})"),
        Operator("mod", 2, np.mod, "mod({0}, {1})"),
        Operator("fmod", 2, np.fmod, None),
        Operator("equal", 2, _compare(np.equal), "{0} == {1}"),
        Operator("not_equal", 2, _compare(np.not_equal), "{0} != {1}"),
        Operator("less", 2, _compare(np.less), "{0} < {1}"),
        Operator("less_equal", 2, _compare(np.less_equal), "{0} <= {1}"),
        Operator("greater", 2, _compare(np.greater), "{0} > {1}"),
        Operator("greater_equal", 2, _compare(np.greater_equal), "{0} >= {1}"),
        Operator("logical_and", 2, _logical(np.logical_and), "select({0}, select({1}, 1, 0), 0)"),
        Operator("logical_or", 2, _logical(np.logical_or), "select({0}, 1, select({1}, 1, 0))"),
        Operator("logical_xor", 2, _logical(np.logical_xor),
                 "select({0}, select({1}, 0, 1), select({1}, 1, 0))"),
        Operator("bitwise_and", 2, np.bitwise_and, "bitand({0}, {1})", True),
        Operator("bitwise_or", 2, np.bitwise_or, "bitor({0}, {1})", True),
        Operator("bitwise_xor", 2, np.bitwise_xor, "bitxor({0}, {1})", True),
        Operator("left_shift", 2, np.left_shift, "shl({0}, {1})", True),
        Operator("right_shift", 2, np.right_shift, None, True),
        Operator("where", 3, lambda c, x, y: np.where(c != 0, x, y), "select({0}, {1}, {2})"),
        Operator("copy", 1, lambda x: x, "{0}"),
        Operator("exp", 1, np.exp, "exp({0})"),
        Operator("square", 1, np.square, "square({0})"),
        Operator("sqrt", 1, np.sqrt, "sqrt({0})"),
        Operator("rsqrt", 1, lambda x: 1 / np.sqrt(x), "rsqrt({0})"),
        Operator("reciprocal", 1, np.reciprocal, "reciprocal({0})"),
        Operator("silu", 1, lambda x: x * _sigmoid(x), "silu({0})"),
        Operator("sigmoid", 1, _sigmoid, _SIGMOID),
        Operator("silu_dx", 1, lambda x: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
                 "sigmoid({0}) * (1 + {0} * (1 - sigmoid({0})))"),
        Operator("erf", 1, _erf, "erf({0})"),
        Operator("erf_dx", 1, lambda x: np.float32(1.1283791671) * np.exp(-x * x), "1.1283791671 * exp(-square({0}))"),
        Operator("gelu", 1, lambda x: x * np.float32(0.5) * (1 + _erf(x * np.float32(0.5**0.5))), "gelu({0})"),
        Operator("gelu_dx", 1, _gelu_dx,
                 "0.5 * (1 + erf({0} * 0.70710678119)) + {0} * 0.39894228040 * exp(-0.5 * square({0}))"),
        Operator("relu", 1, lambda x: np.maximum(x, 0), "max({0}, 0)"),
        Operator("gelu_apprx_tanh", 1, _gelu_tanh,
                 "{0} / (1 + exp(-1.5957691216 * ({0} + 0.044715 * {0} * {0} * {0})))"),
        Operator("gelu_apprx_sigmoid", 1, lambda x: x * _sigmoid(np.float32(1.702) * x),
                 "{0} / (1 + exp(-1.702 * {0}))"),
        Operator("gelu_apprx_sigmoid_dx", 1, _gelu_sigmoid_dx,
                 "sigmoid(1.702 * {0}) * (1 + 1.702 * {0} * (1 - sigmoid(1.702 * {0})))"),
        Operator("mish", 1, lambda x: x * np.tanh(np.logaddexp(x, np.float32(0))), "{0} * tanh(softplus({0}))"),
        Operator("abs", 1, np.abs, "abs({0})"),
        Operator("negative", 1, np.negative, "-{0}"),
        Operator("sign", 1, np.sign, "sign({0})"),
        Operator("logical_not", 1, lambda x: (x == 0).astype(np.float32), "{0} == 0"),
        Operator("invert", 1, np.invert, "bitnot({0})", True),
        Operator("log", 1, np.log, "log({0})"),
        Operator("tanh", 1, np.tanh, "tanh({0})"),
        Operator("sin", 1, np.sin, "sin({0})"),
        Operator("cos", 1, np.cos, "cos({0})"),
        Operator("tan", 1, lambda x: np.sin(x) / np.cos(x), "sin({0}) / cos({0})"),
        Operator("arctan", 1, np.arctan, "arctan({0})"),
        Operator("softplus", 1, lambda x: np.logaddexp(x, np.float32(0)), "softplus({0})"),
        Operator("ceil", 1, np.ceil, "ceil({0})"),
        Operator("floor", 1, np.floor, "floor({0})"),
        Operator("trunc", 1, np.trunc, "trunc({0})"),
    ]
}


# The same of whole numbers of 32 bits: exact, but for the bits that do not fit.
WHOLE = {row.name.removeprefix("whole "): row for row in [
    Operator("whole add", 2, np.add, "iadd({0}, {1})", True),
    Operator("whole subtract", 2, np.subtract, "isub({0}, {1})", True),
    Operator("whole multiply", 2, np.multiply, "imul({0}, {1})", True),
]}


def of_bits(operator, bits, name):
    """An operator on words of this many bits; a shift to the right brings zeros, whatever the sign is."""
    if not operator.integer:
        return operator
    if bits is None:
        raise Refusal(f"'{operator.name}' of the bits of '{name}'; it takes whole numbers")
    if operator.name != "right_shift":
        return operator
    most = (1 << bits) - 1
    return operator._replace(name=f"right_shift {bits}", numpy=lambda x, by: np.where((by < 0) | (by > 31), 0, (x & most) >> (by & 31)),
                             text="shr({0}, {1})" if bits == 32 else f"shr(bitand({{0}}, {most}), {{1}})")


class Reduction(NamedTuple):
    name: str
    numpy: Callable
    text: Optional[str]


REDUCTIONS = {
    name: Reduction(name, function, text)
    for name, function, text in [
        ("add", np.sum, "sum"), ("sum", np.sum, "sum"), ("max", np.max, "max"),
        ("maximum", np.max, "max"), ("min", np.min, "min"), ("minimum", np.min, "min"),
        ("multiply", np.prod, "product"), ("prod", np.prod, "product"), ("mean", np.mean, None),
    ]
}

# NumPy's functions stand for operators, too: `op0=np.multiply`.
_OF_NUMPY = {row.numpy: row.name for row in OPERATORS.values()}
_OF_NUMPY.update({np.sum: "add", np.max: "maximum", np.min: "minimum", np.copy: "copy",
                  np.logical_and: "logical_and", np.logical_or: "logical_or", np.equal: "equal",
                  np.less: "less", np.less_equal: "less_equal", np.greater: "greater",
                  np.greater_equal: "greater_equal", np.not_equal: "not_equal"})
_ALIASES = {"max": "maximum", "min": "minimum", "sum": "add", "identity": "copy"}


def operator_name(what):
    """The name of the operator that `what` stands for, an operator of the language or one of NumPy."""
    name = getattr(what, "operator", None)
    name = name if isinstance(name, str) else _OF_NUMPY.get(what)  # what is not modelled has any attribute
    if what is None:
        raise Refusal("no operator is given; say 'op=' or what the instruction calls it, as 'op=nl.add'")
    if name is None:
        raise Refusal(f"unknown operator '{getattr(what, '__name__', what)}'; tally knows those of "
                      "'nki.language' that are in its table, and NumPy's functions of the same name")
    return name


_TILES = {1: "one tile", 2: "two tiles", 3: "three tiles"}  # by arity


def find_operator(what, *arities):
    """An operator of as many tiles as one of these numbers."""
    name = operator_name(what)
    name = _ALIASES.get(name, name)
    wanted = " or ".join(map(_TILES.get, arities))
    if name not in OPERATORS:
        raise Refusal(f"'{name}' is not an operator of {wanted}")
    operator = OPERATORS[name]
    if operator.arity not in arities:
        raise Refusal(f"'{name}' takes {_TILES[operator.arity]}, and what is given here has to take {wanted}")
    return operator


def find_reduction(what):
    name = operator_name(what)
    if name not in REDUCTIONS:
        raise Refusal(f"'{name}' reduces nothing; what does: {', '.join(sorted(REDUCTIONS))}")
    return REDUCTIONS[name]


# ---- Expressions ----------------------------------------------------------------------------


def _aligned(values):
    """Arrays of one number of axes: those with fewer get axes of 1 at the end."""
    rank = max((value.ndim for value in values if isinstance(value, np.ndarray)), default=0)
    return [value.reshape(value.shape + (1,) * (rank - value.ndim))
            if isinstance(value, np.ndarray) and value.ndim < rank else value for value in values]


def _number(x):
    if x != x:
        raise Unsayable("the number that is none")
    if x in (float("inf"), float("-inf")):
        return "inf" if x > 0 else "-inf"
    text = repr(float(np.float32(x)))
    return text[:-2] if text.endswith(".0") else text


class Read:
    """The `index`-th tile that the instruction reads."""

    def __init__(self, index):
        self.index = index
        self.key = ("r", index)

    def value(self, values):
        return values[self.index]

    def text(self):
        return f"r{self.index}"

    def shape(self, shapes):
        return shapes[self.index]

    def wants(self, operands, wants, structured=None):
        want(wants, self.index, structured or operands[self.index].shape)


class Number:
    def __init__(self, number):
        self.number = np.float32(number)
        self.key = ("n", float(number))

    def value(self, _):
        return self.number

    def text(self):
        return _number(self.number)

    def shape(self, _):
        return ()

    def wants(self, operands, wants):
        pass


class Whole:
    """A whole number that may be another one in each iteration: the `index`-th of its instruction."""

    def __init__(self, index, number):
        self.index, self.number = index, np.float32(number)
        self.key = ("w", index)

    def value(self, _):
        return self.number

    def text(self):
        return f"\0{self.index}\0"

    def shape(self, _):
        return ()

    def wants(self, operands, wants):
        pass


_WHOLE, _ADDED = re.compile("\0(\\d+)\0"), re.compile(" \\+ \0(\\d+)\0")


def numbered(text, numbers):
    """The text with its whole numbers, each an expression of the loops around."""

    def is_zero(match):
        number = numbers[int(match.group(1))]
        return number.is_constant() and number.constant == 0

    def put(match):
        number = numbers[int(match.group(1))]
        return number.expression() if number.is_constant() and number.constant >= 0 else f"({number.expression()})"

    return _WHOLE.sub(put, _ADDED.sub(lambda match: "" if is_zero(match) else match.group(0), text))


_CALL = re.compile(r"\w+\(.*\)")
_PLAIN_CALL = re.compile(r"\w+\(\{0\}(, \{\d\})*\)")


def _atom(expression):
    """The text of an argument, in brackets where it is more than a name, a number or a call."""
    text = expression.text()
    if isinstance(expression, Apply):
        simple = expression.operator.name != "copy" and _CALL.fullmatch(expression.operator.text)
    else:
        simple = not text.startswith("-")
    return text if simple else f"({text})"


class Bits:
    """A whole number of 32 bits that no f32 holds: its two halves are said."""

    def __init__(self, number):
        self.number = number & 0xFFFFFFFF
        self.key = ("bits", self.number)

    def value(self, _):
        return np.int64(_signed(self.number))

    def text(self):
        return f"bitor(shl({self.number >> 16}, 16), {self.number & 0xFFFF})"

    def shape(self, _):
        return ()

    def wants(self, operands, wants):
        pass


def _signed(whole):
    """Of a whole number its 32 bits, as a number with a sign: so it goes into further arithmetic."""
    return ((np.asarray(whole, np.int64) + 2**31) & 0xFFFFFFFF) - 2**31


class Apply:
    """An operator, element by element."""

    def __init__(self, operator, *arguments):
        self.operator, self.arguments = operator, arguments
        self.key = (operator.name, *(argument.key for argument in arguments))

    def value(self, values):
        arguments = [argument.value(values) for argument in self.arguments]
        if self.operator.integer:
            arguments = [np.asarray(x).astype(np.int64) for x in arguments]
        elif any(getattr(x, "dtype", None) != np.float32 for x in arguments):
            arguments = [np.asarray(x, np.float32) for x in arguments]
        made = self.operator.numpy(*_aligned(arguments))
        return _signed(made) if self.operator.integer else made

    def text(self):
        if self.operator.text is None:
            raise Unsayable(f"'{self.operator.name}'")
        if self.operator.name == "copy":
            return self.arguments[0].text()
        if _PLAIN_CALL.fullmatch(self.operator.text):
            return self.operator.text.format(*(argument.text() for argument in self.arguments))
        return self.operator.text.format(*map(_atom, self.arguments))

    def shape(self, shapes):
        return broadcast([argument.shape(shapes) for argument in self.arguments])

    def wants(self, operands, wants):
        for argument in self.arguments:
            argument.wants(operands, wants)


class Reduce:
    """Over some axes, which go."""

    def __init__(self, reduction, argument, axes, rank):
        self.reduction, self.argument, self.rank = reduction, argument, rank
        self.axes = tuple(sorted(axis % rank for axis in axes))
        self.key = ("reduce", reduction.name, argument.key, self.axes, rank)

    def value(self, values):
        array = np.asarray(self.argument.value(values), np.float32)
        return self.reduction.numpy(array, axis=self.axes)

    def text(self):
        if self.reduction.text is None:
            raise Unsayable(f"a reduction by '{self.reduction.name}'")
        if self.axes == (self.rank - 1,):
            return f"{self.reduction.text}({self.argument.text()})"
        return f"{self.reduction.text}({self.argument.text()}, {list(self.axes)})"

    def shape(self, shapes):
        shape = self.argument.shape(shapes)
        return tuple(n for axis, n in enumerate(shape) if axis not in self.axes)

    def wants(self, operands, wants):
        self.argument.wants(operands, wants)


class Transpose:
    """Of the first axis and all the others."""

    def __init__(self, argument):
        self.argument = argument
        self.key = ("transpose", argument.key)

    def value(self, values):
        array = self.argument.value(values)
        return array.reshape(array.shape[0], -1).T

    def text(self):
        return f"transpose({self.argument.text()})"

    def shape(self, shapes):
        first, rest = _matrix(self.argument.shape(shapes))
        return rest, first

    def wants(self, operands, wants):
        _as_matrix(self.argument, operands, wants)


class MatMul:
    """Over the first axis of both."""

    def __init__(self, stationary, moving):
        self.stationary, self.moving = stationary, moving
        self.key = ("matmul", stationary.key, moving.key)

    def value(self, values):
        a, b = (np.asarray(x.value(values), np.float32) for x in (self.stationary, self.moving))
        return a.reshape(a.shape[0], -1).T @ b.reshape(b.shape[0], -1)

    def text(self):
        return f"matmul({self.stationary.text()}, {self.moving.text()})"

    def shape(self, shapes):
        return tuple(_matrix(x.shape(shapes))[1] for x in (self.stationary, self.moving))

    def wants(self, operands, wants):
        _as_matrix(self.stationary, operands, wants)
        _as_matrix(self.moving, operands, wants)


class Place:
    """The index along one axis of a shape."""

    def __init__(self, shape, axis):
        self.extents, self.axis = tuple(shape), axis
        self.key = ("place", self.extents, axis)

    def value(self, _):
        return np.indices(self.extents, np.float32)[self.axis]

    def text(self):
        return f"index({list(self.extents)}, {self.axis})"

    def shape(self, _):
        return self.extents

    def wants(self, operands, wants):
        pass


class Function:
    """A function of whole tiles; `template` is its text, `shape_of` the shape that it makes of theirs."""

    def __init__(self, name, function, template, shape_of, *arguments):
        self.function, self.template, self.shape_of, self.arguments = function, template, shape_of, arguments
        self.key = ("call", name, template, *(argument.key for argument in arguments))

    def value(self, values):
        return self.function(*(argument.value(values) for argument in self.arguments))

    def text(self):
        return self.template.format(*(argument.text() for argument in self.arguments))

    def shape(self, shapes):
        return tuple(self.shape_of(*(argument.shape(shapes) for argument in self.arguments)))

    def wants(self, operands, wants):
        for argument in self.arguments:
            argument.wants(operands, wants)


def stacked(texts, axis, rank):
    """The text of what has one of these texts at each place along an axis, where they have one element."""
    *firsts, text = texts
    places = [1] * rank
    places[axis] = len(texts)
    for number, part in reversed(list(enumerate(firsts))):
        text = f"select(index({places}, {axis}) == {number}, {part}, {text})"
    return text


class Stacked:
    """Parts of a tile along one axis, of which each has one element there. The text picks each where it belongs."""

    def __init__(self, axis, rank, parts):
        self.axis, self.rank, self.parts = axis, rank, parts
        self.key = ("stacked", axis, rank, *(part.key for part in parts))

    def value(self, values):
        return np.concatenate([part.value(values) for part in self.parts], axis=self.axis)

    def text(self):
        return stacked([part.text() for part in self.parts], self.axis, self.rank)

    def shape(self, shapes):
        shape = list(self.parts[0].shape(shapes))
        shape[self.axis] = len(self.parts)
        return tuple(shape)

    def wants(self, operands, wants):
        for part in self.parts:
            part.wants(operands, wants)


class Opaque:
    """What NumPy computes and the language of kernels cannot say; `key` says which. Its shape is that of the
    first argument, unless it is given."""

    def __init__(self, name, function, *arguments, key=(), shape=None):
        self.name, self.function, self.arguments, self.made = name, function, arguments, shape
        self.key = ("opaque", name, key, *(argument.key for argument in arguments))

    def value(self, values):
        return self.function(*(argument.value(values) for argument in self.arguments))

    def shape(self, shapes):
        if self.made is not None:
            return self.made
        return self.arguments[0].shape(shapes) if self.arguments else ()

    def text(self):
        raise Unsayable(self.name)

    def wants(self, operands, wants):
        pass


def _matrix(shape):
    rest = 1
    for extent in shape[1:]:
        rest *= extent
    return (shape[0] if shape else 1), rest


def broadcast(shapes):
    """The shape of an operator's result: aligned at the first axes."""
    result = [1] * max((len(shape) for shape in shapes), default=0)
    for shape in shapes:
        for axis, extent in enumerate(shape):
            if extent != 1 and result[axis] not in (1, extent):
                raise Refusal(f"shapes that do not go together: "
                              f"{', '.join(str(list(shape)) for shape in shapes)}; they are aligned at "
                              "their first axes")
            result[axis] = max(result[axis], extent)
    return tuple(result)


def want(wants, index, shape):
    if wants.setdefault(index, shape) != shape:
        raise Unsayable("a tile that is read in two shapes")


def _as_matrix(expression, operands, wants):
    if not isinstance(expression, Read):
        raise Unsayable("a matrix that is computed on the way")
    expression.wants(operands, wants, _matrix(operands[expression.index].shape))


def is_elementwise(expression):
    if isinstance(expression, Apply):
        return all(map(is_elementwise, expression.arguments))
    return isinstance(expression, (Read, Number, Whole))
