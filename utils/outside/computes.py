#!/usr/bin/env python3
"""Holds what instructions compute against NumPy, on random expressions and edge values.

usage: python3 utils/outside/computes.py --tally=PATH [--seed=N] [--kernels=N] [--seconds=S]

One seed is one kernel of independent instructions, each with an expression, tiles of random formats and shapes, and
numbers that are edges of their formats. tally writes the results as files of NumPy; here, the same expressions are
computed from the pages in docs/guide/data alone. All bits must agree. Functions that a mathematical library rounds in its own way
(exp, tanh, ...) stand outermost, in f32, and may differ in the last places.

Exit status: 0 no difference, 1 differences, or nothing compared.
"""

import argparse
import collections
import math
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

F32 = np.float32
ULPS = 4  # of functions that are not exactly rounded

# ---------------------------------------------------------------------------------------------------------- formats


class Small:
    """A floating-point format of at most two bytes, as a table of all its numbers."""

    def __init__(self, exponent, fraction, finite=False):
        self.top = 1 << (exponent + fraction)
        bias = (1 << (exponent - 1)) - 1
        self.numbers = []
        for bits in range(self.top):
            e, f = bits >> fraction, bits & ((1 << fraction) - 1)
            scale = math.ldexp(1.0, max(e, 1) - bias - fraction)
            self.numbers.append((f + (0 if e == 0 else 1 << fraction)) * scale)
        self.limit = self.top - 1 if finite else ((1 << exponent) - 1) << fraction
        self.at_limit = math.nan if finite else math.inf
        self.nan = self.limit | (0 if finite else 1 << (fraction - 1))
        self.table = np.array(self.numbers[:self.limit + 1])
        self.dtype = np.uint8 if self.top < 256 else np.uint16

    def decode(self, bits):
        size = bits.astype(np.int64) & (self.top - 1)
        value = np.where(size < self.limit, self.table[np.minimum(size, self.limit)],
                         np.where(size == self.limit, self.at_limit, np.nan))
        return np.where(bits.astype(np.int64) & self.top, -value, value).astype(F32)

    def encode(self, values):
        """The nearest; of two the one with the even pattern; the limit stands for what is too large."""
        size = np.abs(values.astype(np.float64))
        above = np.clip(np.searchsorted(self.table, size), 1, self.limit)
        low, high = size - self.table[above - 1], self.table[above] - size
        nearest = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
        nearest = np.where(size >= self.table[self.limit], self.limit, nearest)
        nearest = np.where(np.isnan(values), self.nan, nearest)
        return (nearest | np.where(np.signbit(values), self.top, 0)).astype(self.dtype)


class Whole:
    def __init__(self, dtype):
        self.dtype = dtype
        self.info = np.iinfo(dtype)

    def decode(self, bits):
        return bits.astype(F32)

    def encode(self, values):
        near = np.rint(np.nan_to_num(values.astype(np.float64), nan=0, posinf=2.0**40, neginf=-2.0**40))
        return np.clip(near, self.info.min, self.info.max).astype(self.dtype)

    def whole(self, bits):
        return bits.astype(np.int64).astype(np.uint32).view(np.int32)


class Single:
    dtype = F32

    def decode(self, bits):
        return bits

    def encode(self, values):
        return values.astype(F32)


FORMATS = {
    "f32": Single(), "f16": Small(5, 10), "bf16": Small(8, 7), "fp8": Small(4, 3), "fp8_e5m2": Small(5, 2),
    "fp8_e3m4": Small(3, 4), "fp8_e4m3fn": Small(4, 3, True), "i8": Whole(np.int8), "u8": Whole(np.uint8),
    "i16": Whole(np.int16), "u16": Whole(np.uint16), "i32": Whole(np.int32), "u32": Whole(np.uint32),
}
FILES = {"f16": np.float16}  # in files by their own type; others as bits


# ------------------------------------------------------------------------------------------------------- arithmetic


def aligned(*values):
    """Shapes are aligned at their first axes."""
    rank = max(value.ndim for value in values)
    return np.broadcast_arrays(*(value.reshape(value.shape + (1,) * (rank - value.ndim)) for value in values))


def total(rows):
    """Sixteen partial sums, then these from first to last."""
    partial = np.zeros(rows.shape[:-1] + (16,), F32)
    for i in range(rows.shape[-1]):
        partial[..., i % 16] += rows[..., i]
    result = np.zeros(rows.shape[:-1], F32)
    for lane in range(16):
        result += partial[..., lane]
    return result


def fold(rows, combine):
    result = rows[..., 0]
    for i in range(1, rows.shape[-1]):
        result = combine(result, rows[..., i])
    return result


def larger(a, b):
    return np.where((a < b) | np.isnan(b), b, a)


def smaller(a, b):
    return np.where((b < a) | np.isnan(b), b, a)


def modulo(a, b):
    with np.errstate(all="ignore"):
        rest = np.fmod(a, b)
        return np.where(rest == 0, np.copysign(F32(0), b), np.where((rest < 0) != (b < 0), rest + b, rest)).astype(F32)


SCANS = {"+": np.add, "-": np.subtract, "*": np.multiply, "max": larger, "min": smaller}

EXACT1 = {
    "-": np.negative, "abs": np.abs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint,
    "sqrt": np.sqrt, "square": lambda x: x * x, "reciprocal": lambda x: F32(1) / x,
    "rsqrt": lambda x: F32(1) / np.sqrt(x),
    "sign": lambda x: np.where(x > 0, F32(1), np.where(x < 0, F32(-1), np.where(x == 0, F32(0), x))),
}
EXACT2 = {
    "max": larger, "min": smaller, "mod": modulo, "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}
SIGNS = {"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!="}


def of_double(function):
    """In double precision, rounded once: what a library comes close to."""
    return lambda *x: function(*(v.astype(np.float64) for v in x)).astype(F32)


def logistic(x):
    return 1 / (1 + np.exp(-x))


erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])
ROUGH1 = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "arctan": np.arctan, "tanh": np.tanh, "erf": erf,
    "sigmoid": logistic, "silu": lambda x: x / (1 + np.exp(-x).astype(F32)), "gelu": lambda x: x * 0.5 * erfc(-x / math.sqrt(2)),
    "softplus": lambda x: np.logaddexp(0, x),
}


def shifted(function):
    def shift(a, b):
        return np.array([function(int(x), int(y)) for x, y in zip(a.ravel(), b.ravel())], np.int64).reshape(a.shape)
    return shift


WHOLE2 = {
    "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor,
    "shl": shifted(lambda x, y: x << y if 0 <= y < 32 else 0),
    "shr": shifted(lambda x, y: (x & 0xFFFFFFFF) >> y if 0 <= y < 32 else 0),
    "sar": shifted(lambda x, y: x >> (y if 0 <= y < 32 else 31)),
    "iadd": np.add, "isub": np.subtract, "imul": lambda a, b: a * b,
}


def low_bits(values):
    return (values.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


# ------------------------------------------------------------------------------------------------------ expressions


class Tile:
    """A buffer that an instruction reads: `bits` as stored."""

    def __init__(self, format, bits):
        self.format, self.bits = format, bits

    def number(self):
        return FORMATS[self.format].decode(self.bits)

    def wholes(self):
        kind = FORMATS[self.format]
        return kind.whole(self.bits) if isinstance(kind, Whole) else nearest(self.number())


def nearest(values):
    near = np.rint(np.nan_to_num(values.astype(np.float64), nan=0, posinf=2.0**40, neginf=-2.0**40))
    return low_bits(np.clip(near, -(2**31), 2**32 - 1))


def number(value):
    return value.number() if isinstance(value, Tile) else value.astype(F32) if value.dtype == np.int32 else value


def wholes(value):
    return value.wholes() if isinstance(value, Tile) else value if value.dtype == np.int32 else nearest(value)


class Source:
    """Draws expressions: each is a text and its value, an array of f32 or of i32."""

    def __init__(self, random, seen):
        self.random, self.seen = random, seen
        self.tiles = []

    def shape(self, rank=None):
        rank = self.random.choice((1, 2, 2, 3)) if rank is None else rank
        return tuple(self.random.choice((1, 2, 3, 5, 8, 17)) for _ in range(rank))

    def tile(self, shape, kinds=tuple(FORMATS)):
        format = self.random.choice(kinds)
        self.seen[format] += 1
        self.tiles.append(Tile(format, self.bits(format, shape)))
        return f"r{len(self.tiles) - 1}", self.tiles[-1]

    def bits(self, format, shape):
        count, kind = math.prod(shape), FORMATS[format]
        source = np.random.default_rng(self.random.getrandbits(32))
        if self.random.random() < 0.5:  # any pattern
            size = np.dtype(kind.dtype).itemsize
            return np.frombuffer(source.bytes(count * size), kind.dtype).reshape(shape).copy()
        edges = np.array([0, -0.0, 1, -1, 0.5, 2.5, -3.5, 15.5, 240, 448, 464, 65504, 1e-7, 1e-40, 3e38, -3e38, np.inf,
                          -np.inf, np.nan, 2**24 + 1, 2**31, -2.0**31, 255, -128], F32)
        values = np.where(source.random(count) < 0.3, source.choice(edges, count),
                          source.normal(0, 4, count).astype(F32)).astype(F32)
        return kind.encode(values).reshape(shape)

    def expression(self, depth, shape):
        """Of numbers whose shape goes with `shape`."""
        choice = self.random.random()
        if depth == 0 or choice < 0.15:
            if self.random.random() < 0.15:
                value = self.random.choice((0.0, 0.5, 3.0, 1e-6, 2.5e8))
                return repr(value), np.array(value, F32)
            reach = tuple(n if self.random.random() < 0.8 else 1 for n in shape)
            return self.tile(reach[:len(shape) - self.random.choice((0, 0, 0, 1))] or (1,))
        kinds = [self.unary, self.binary, self.binary, self.choose, self.integers, self.convert, self.reduce, self.move,
                 self.rows, self.index, self.scan]
        return self.random.choice(kinds)(depth - 1, shape)

    def use(self, name):
        self.seen[name] += 1
        return name

    def unary(self, depth, shape):
        name = self.use(self.random.choice(sorted(EXACT1)))
        text, value = self.expression(depth, shape)
        return f"{name}({text})", EXACT1[name](number(value)).astype(F32)

    def binary(self, depth, shape):
        name = self.use(self.random.choice(sorted(EXACT2)))
        left, a = self.expression(depth, shape)
        right, b = self.expression(depth, shape)
        text = f"({left} {name} {right})" if name in SIGNS else f"{name}({left}, {right})"
        return text, EXACT2[name](*aligned(number(a), number(b))).astype(F32)

    def choose(self, depth, shape):
        self.use("select")
        parts = [self.expression(depth, shape) for _ in range(3)]
        condition, a, b = aligned(*(number(value) for _, value in parts))
        kept = [value for _, value in parts[1:] if not isinstance(value, Tile) and value.dtype == np.int32]
        if len(kept) == 2:
            condition, a, b = aligned(condition, *kept)
        return f"select({', '.join(text for text, _ in parts)})", np.where(condition != 0, a, b)

    def integers(self, depth, shape):
        name = self.use(self.random.choice(sorted(WHOLE2) + ["bitnot", "bits", "frombits"]))
        left, a = self.expression(depth, shape)
        if name == "bitnot":
            return f"bitnot({left})", ~wholes(a)
        if name == "bits":
            return f"bits({left})", np.where(np.isnan(number(a)), F32(np.nan), number(a)).astype(F32).view(np.int32)
        if name == "frombits":
            return f"frombits({left})", wholes(a).view(F32)
        right, b = self.expression(depth, shape)
        return f"{name}({left}, {right})", low_bits(WHOLE2[name](*aligned(wholes(a).astype(np.int64),
                                                                          wholes(b).astype(np.int64))))

    def convert(self, depth, shape):
        name = self.use(self.random.choice(sorted(FORMATS)))
        text, value = self.expression(depth, shape)
        kind = FORMATS[name]
        if not isinstance(kind, Whole):
            return f"{name}({text})", kind.decode(kind.encode(number(value)))
        if isinstance(value, Tile) and isinstance(FORMATS[value.format], Whole) or (
                not isinstance(value, Tile) and value.dtype == np.int32):
            exact = np.clip(wholes(value).astype(np.int64), kind.info.min, kind.info.max)
            return f"{name}({text})", low_bits(exact)
        return f"{name}({text})", low_bits(kind.encode(number(value)).astype(np.int64))

    def reduce(self, depth, shape):
        """Over one axis that is put in, or two, so that what is left goes with `shape`."""
        name = self.use(self.random.choice(("sum", "product", "max", "min")))
        count = self.random.choice((1, 1, 2))
        full, places = list(shape), []
        for _ in range(count):
            place = self.random.randrange(len(full) + 1)
            full.insert(place, self.random.choice((1, 2, 5, 17, 33)))
            places = [p + (p >= place) for p in places] + [place]
        text, value = self.tile(tuple(full))
        rows = np.moveaxis(number(value), sorted(places), range(len(shape), len(shape) + count))
        rows = rows.reshape(shape + (-1,))
        result = {"sum": total, "product": lambda r: fold(r, np.multiply), "max": lambda r: fold(r, larger),
                  "min": lambda r: fold(r, smaller)}[name](rows)
        is_last = places == [len(full) - 1]
        axes = "" if is_last and self.random.random() < 0.7 else f", [{', '.join(map(str, places))}]"
        return f"{name}({text}{axes})", result.astype(F32)

    def move(self, depth, shape):
        name = self.use(self.random.choice(("transpose", "permute", "reshape", "matmul")))
        if name == "reshape":
            text, value = self.tile((math.prod(shape),))
            return f"reshape({text}, [{', '.join(map(str, shape))}])", number(value).reshape(shape)
        if name == "matmul" and len(shape) == 2:
            depth = self.random.choice((1, 3, 20))
            (left, a), (right, b) = self.tile((depth, shape[0])), self.tile((depth, shape[1]))
            result = np.zeros(shape, F32)
            for k in range(depth):
                result = result + number(a)[k][:, None] * number(b)[k][None, :]
            return f"matmul({left}, {right})", result.astype(F32)
        if name == "transpose" and len(shape) >= 2:
            text, value = self.tile(shape[:-2] + (shape[-1], shape[-2]))
            return f"transpose({text})", np.swapaxes(number(value), -1, -2)
        order = list(range(len(shape)))
        self.random.shuffle(order)
        before = [0] * len(shape)
        for place, axis in enumerate(order):
            before[axis] = shape[place]
        text, value = self.tile(tuple(before))
        return f"permute({text}, [{', '.join(map(str, order))}])", np.transpose(number(value), order)

    def rows(self, depth, shape):
        """The largest of rows, where they are, and rows without them."""
        name = self.use(self.random.choice(("top", "find", "replace")))
        length = self.random.choice((shape[-1], shape[-1] + 3, 20))
        few = ("i8", "u8", "fp8", "f32")  # so that some numbers are equal
        if name == "top":
            length = max(length, shape[-1])
            text, value = self.tile(shape[:-1] + (length,), few)
            key = np.nan_to_num(number(value).astype(np.float64), nan=-1e300, posinf=1e300, neginf=-1e299)
            order = np.argsort(-key, axis=-1, kind="stable")[..., :shape[-1]]
            return f"top({text}, {shape[-1]})", np.take_along_axis(number(value), order, -1)
        if name == "find":
            (text, value), (sought, values) = self.tile(shape[:-1] + (length,), few), self.tile(shape, few)
        else:
            (text, value), (sought, values) = self.tile(shape, few), self.tile(shape[:-1] + (length,), few)
        a, v = number(value).reshape(-1, value.bits.shape[-1]), number(values).reshape(-1, values.bits.shape[-1])
        places, replaced = np.full(v.shape, -1, F32), a.copy()
        for row in range(a.shape[0]):
            taken = set()
            for j, x in enumerate(v[row]):
                place = next((i for i, y in enumerate(a[row]) if y == x and i not in taken), None)
                if place is not None:
                    taken.add(place)
                    places[row, j], replaced[row, place] = place, -9
        if name == "find":
            return f"find({text}, {sought})", places.reshape(shape)
        return f"replace({text}, {sought}, -9)", replaced.reshape(shape)

    def index(self, depth, shape):
        self.use("index")
        axis = self.random.randrange(len(shape))
        return f"index([{', '.join(map(str, shape))}], {axis})", np.indices(shape)[axis].astype(F32)

    def scan(self, depth, shape):
        self.use("scan")
        first, second = self.random.choice(list(SCANS)), self.random.choice(list(SCANS))
        (left, a), (right, b) = self.tile(shape), self.expression(0, shape)
        start, y = self.tile(shape[:-1] or (1,))
        a, b = aligned(number(a), number(b))
        y = number(y).reshape(shape[:-1])
        columns = []
        for i in range(shape[-1]):
            y = SCANS[second](SCANS[first](y, a[..., i]), b[..., i]).astype(F32)
            columns.append(y)
        return f"scan({first}, {second}, {left}, {right}, {start})", np.stack(columns, -1).astype(F32)


# ---------------------------------------------------------------------------------------------------------- kernels


class Instruction:
    def __init__(self, random, number_, seen):
        source = Source(random, seen)
        shape = source.shape()
        self.is_rough = random.random() < 0.2
        if self.is_rough:
            name = source.use(random.choice(sorted(ROUGH1)))
            text, value = source.tile(shape, ("f32", "bf16", "f16"))
            self.text, value = f"{name}({text})", of_double(ROUGH1[name])(number(value))
            self.format = "f32"
        else:
            self.text, value = source.expression(random.choice((1, 2, 3)), shape)
            self.format = random.choice(tuple(FORMATS))
        self.tiles = source.tiles
        self.shape = shape
        self.name = f"i{number_}"
        self.expected = self.stored(value, shape)

    def stored(self, value, shape):
        kind = FORMATS[self.format]
        of = FORMATS[value.format] if isinstance(value, Tile) else None
        if of is kind:
            stored = value.bits
        elif isinstance(of, Whole) and isinstance(kind, Whole):
            stored = np.clip(value.bits.astype(np.int64), kind.info.min, kind.info.max).astype(kind.dtype)
        elif isinstance(kind, Whole) and of is None and value.dtype == np.int32:
            stored = value.astype(kind.dtype)  # the low bits
        else:
            stored = kind.encode(number(value))
        if stored.size == math.prod(shape):
            return stored.reshape(shape)
        return np.broadcast_to(stored.reshape(stored.shape + (1,) * (len(shape) - stored.ndim)), shape)

    def statements(self):
        lines = [buffer_text(f"{self.name}r{i}", tile.format, tile.bits.shape) for i, tile in enumerate(self.tiles)]
        lines.append(buffer_text(f"{self.name}out", self.format, self.shape))
        reads = ", ".join(f'"{self.name}r{i}"' for i in range(len(self.tiles)))
        lines.append(f'  tally.instr "{self.name}" on "act" computes "{self.text}"' +
                     (f" reads [{reads}]" if reads else "") + f' writes ["{self.name}out"]')
        return lines

    def save(self, folder):
        for i, tile in enumerate(self.tiles):
            bits = tile.bits.view(FILES[tile.format]) if tile.format in FILES else tile.bits
            np.save(os.path.join(folder, f"{self.name}r{i}.npy"), bits)

    def difference(self, folder):
        """None if all is as expected."""
        got = np.load(os.path.join(folder, f"{self.name}out.npy"))
        if self.format in FILES:
            got = got.view(FORMATS[self.format].dtype)
        kind = FORMATS[self.format]
        a, b = kind.decode(got).ravel(), kind.decode(self.expected).ravel()
        if isinstance(kind, Whole):
            same = (got == self.expected).ravel()
        else:
            same = (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))
            if self.is_rough:
                same |= np.abs(a.astype(np.float64) - b) <= ULPS * np.spacing(np.abs(b)).astype(np.float64)
        if same.all():
            return None
        at = int(np.argmin(same))
        return f"{self.name}: {self.text}, as {self.format}: element {at} is {got.ravel()[at]}, not {self.expected.ravel()[at]}"


def buffer_text(name, format, shape):
    return f'  tally.buffer "{name}" shape [{", ".join(map(str, shape))}] type "{format}"'


def compare(tally, seed, seen):
    """How many instructions were compared, and what differs."""
    source = random.Random(seed)
    with np.errstate(all="ignore"):
        instructions = [Instruction(source, i, seen) for i in range(40)]
    statements = [line for instruction in instructions for line in instruction.statements()]
    with tempfile.TemporaryDirectory() as folder:
        path, into, out = (os.path.join(folder, name) for name in ("k.mlir", "in", "out"))
        os.mkdir(into)
        text = "\n".join(['tally.kernel @k {', '  tally.engine "act"', *statements, "}"])
        with open(path, "w", encoding="ascii") as file:
            file.write(text + "\n")
        for instruction in instructions:
            instruction.save(into)
        ran = subprocess.run([tally, "sim", path, f"--inputs={into}", f"--outputs={out}", "--sync=per-loop"],
                             capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            return 0, [f"seed {seed}: exit {ran.returncode}: {ran.stderr[:2000]}"]
        with np.errstate(all="ignore"):
            found = [instruction.difference(out) for instruction in instructions]
        return len(instructions), [f"seed {seed}: {one}" for one in found if one]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tally", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    seen, compared, findings = collections.Counter(), 0, []
    for seed in range(options.seed, options.seed + options.kernels):
        count, found = compare(options.tally, seed, seen)
        compared += count
        findings += found
        if time.monotonic() > end:
            break
    for finding in findings[:20]:
        print(finding)
    names = set(EXACT1) | set(EXACT2) | set(ROUGH1) | set(WHOLE2) | set(FORMATS)
    unseen = sorted(names - set(seen)) if compared > 2000 else []
    print(f"expressions: {compared}, differences: {len(findings)}" + (f", never drawn: {' '.join(unseen)}" if unseen else ""))
    return 1 if findings or compared == 0 or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
