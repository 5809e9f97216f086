"""Numbers in blocks that share a scale: what `quantize_mx` and `nc_matmul_mx` compute.

A word holds four small numbers, its lanes, and 8 partitions of it are a block. The number is its lane's times 2 to
the block's scale less 127. The scales of each 32 partitions are in four rows. If the tile of scales has as many rows
as that of words, these are the first ones of each 32; otherwise all scales follow one another.

The texts take lanes apart by bits: the magnitude of a small number, put where an f32 has the lowest bits of its
exponent and the highest of its fraction, is the same number times a power of two.
"""

from typing import NamedTuple

import numpy as np

from .elements import packed, unpacked
from .expressions import Function, Opaque

_BLOCK, _QUADRANT, _LANES = 8, 32, 4
_BIAS = 127


class _Kind(NamedTuple):
    bits: int  # of a lane
    fraction: int  # bits of it
    bias: int
    largest: float  # that is made
    beyond: str  # a factor for codes that are no numbers, {0} being the code without its sign

    @property
    def place(self):
        """How far the code is from where an f32 has it."""
        return 23 - self.fraction

    @property
    def factor(self):
        return f"{2.0**(_BIAS - self.bias)!r}"


_KINDS = {"fp8_e4m3fn": _Kind(8, 3, 7, 448, "select({0} == 127, inf - inf, 1)"),
          "fp8_e5m2": _Kind(8, 2, 15, 57344, "select({0} < 124, 1, select({0} == 124, inf, inf - inf))"),
          "fp4_e2m1": _Kind(4, 1, 1, 6, "")}


def _exponent(kind):
    """Of the largest number that is made."""
    return int(np.floor(np.log2(kind.largest)))


def _scale_rows(partitions, rows):
    """In which rows of a tile the scales of each eight partitions are."""
    blocks = np.arange(max(1, partitions // _BLOCK))
    return blocks if rows < partitions or partitions <= _QUADRANT else blocks // 4 * _QUADRANT + blocks % 4


def _as_rows(view):
    return view.reshape(view.shape[0], -1) if view.ndim > 2 else view


# ---- Numbers from words ---------------------------------------------------------------------


def _lane(kind, word, lane):
    """The text of one lane of a word."""
    half = 1 << (kind.bits - 1)
    code = f"shr({word}, {kind.bits * lane})"
    size = f"bitand({code}, {half - 1})"
    number = f"frombits(bitor(shl({size}, {kind.place}), shl(bitand({code}, {half}), {32 - kind.bits}))) * {kind.factor}"
    return f"{number} * {kind.beyond.format(size)}" if kind.beyond else number


def matmul(call):
    """The product of numbers in blocks; the four lanes are summed, too."""
    sides = [_side(call, *pair) for pair in ((call.stationary, call.stationary_scale), (call.moving, call.moving_scale))]
    (first, words, columns), (second, others, width) = sides
    call.sizes = {"nstat": columns, "nmov": width, "kind": ""}

    def product(a, scale_a, b, scale_b):
        return np.tensordot(words(a, scale_a), others(b, scale_b), axes=((0, 2), (0, 2)))

    template = " + ".join(f"matmul({first('{0}', '{1}', lane)}, {second('{2}', '{3}', lane)})" for lane in range(_LANES))
    reads = [call.read(view) for pair in ((call.stationary, call.stationary_scale), (call.moving, call.moving_scale))
             for view in (_as_rows(pair[0]), _scales(*pair))]
    return [(call.dst, Function("product of blocks", product, template, lambda *_: (columns, width), *reads))]


def _scales(words, scales):
    """The rows of scales that count, as a view: those of each quadrant together."""
    words, scales = _as_rows(words), _as_rows(scales)
    count, width = words.shape
    rows = _scale_rows(count, scales.shape[0])
    scales = scales[:, 0:width]
    if rows[-1] == len(rows) - 1:
        return scales[0:len(rows)]
    return scales[0:count].reshape((count // _QUADRANT, _QUADRANT, width))[:, 0:4]


def _side(call, words, scales):
    """Text by lane and NumPy's function of one operand, and how many columns it has."""
    words = _as_rows(words)
    element, (count, width) = words.dtype, words.shape
    kind, blocks = _KINDS[element.packed], max(1, count // _BLOCK)

    def text(word, scale, lane):
        factor = f"reshape(pow(2, {scale} - {_BIAS}), {[blocks, 1, width]})"
        numbers = f"reshape({_lane(kind, word, lane)}, {[blocks, count // blocks, width]})"
        return f"reshape({numbers} * {factor}, {[count, width]})"

    def numbers(x, scale):
        factors = np.ldexp(np.float32(1), scale.reshape(blocks, width).astype(np.int64) - _BIAS)
        return unpacked(element, x).reshape(count, width, _LANES) * np.repeat(factors, count // blocks, axis=0)[..., None]

    return text, numbers, width


# ---- Words from numbers ---------------------------------------------------------------------


def quantize(call):
    """Words and scales, quadrant by quadrant, since the rows of scales between them stay as they are."""
    element = call.dst.dtype
    source, words, scales = map(_as_rows, (call.src, call.dst, call.dst_scale))
    (count, _), width = source.shape, words.shape[1]
    rows = _scale_rows(count, scales.shape[0])
    results = []
    for first in range(0, count, _QUADRANT):
        part = source[first:min(count, first + _QUADRANT)]
        numbers = [call.read(part[:, lane::_LANES]) for lane in range(_LANES)]
        blocks = max(1, part.shape[0] // _BLOCK)
        at = int(rows[first // _BLOCK])
        made = _Quantized(element, part.shape[0], width, blocks)
        results += [(words[first:first + part.shape[0]], made.words(numbers)),
                    (scales[at:at + blocks, 0:width], made.scale(numbers))]
    return results


class _Quantized:
    """Of four tiles, the lanes."""

    def __init__(self, element, count, width, blocks):
        self.element, self.kind = element, _KINDS[element.packed]
        self.count, self.width, self.blocks = count, width, blocks

    def _scale_of(self, *lanes):
        largest = np.abs(np.stack(lanes, axis=-1).astype(np.float32))
        largest = largest.reshape(self.blocks, -1, self.width, _LANES).max(axis=(1, 3))
        return (largest.view(np.uint32) >> 23).astype(np.int64) - _exponent(self.kind)

    @property
    def _scale_text(self):
        largest = "max(max(abs({0}), abs({1})), max(abs({2}), abs({3})))"
        block = f"max(reshape({largest}, {[self.blocks, self.count // self.blocks, self.width]}), [1])"
        return f"shr(bits({block}), 23) - {_exponent(self.kind)}"

    def scale(self, lanes):
        return Function("scales of blocks", lambda *lanes: np.clip(self._scale_of(*lanes), 0, 255),
                        f"max(min({self._scale_text}, 255), 0)", lambda *_: (self.blocks, self.width), *lanes)

    def words(self, lanes):
        def words(*lanes):
            factors = np.ldexp(np.float32(1), self._scale_of(*lanes) - _BIAS)
            factors = np.repeat(factors, self.count // self.blocks, axis=0)
            numbers = np.stack([lane / factors for lane in lanes], axis=-1).reshape(self.count, -1)
            return packed(self.element, np.clip(numbers, -self.kind.largest, self.kind.largest))

        shape = lambda *_: (self.count, self.width)
        if self.kind.bits != 8:  # the language has no such format to round to
            return Opaque("numbers in blocks of four bits", words, *lanes, shape=shape())
        template = self._lane_text(0)
        for lane in range(1, _LANES):
            template = f"bitor({template}, shl({self._lane_text(lane)}, {self.kind.bits * lane}))"
        return Function("numbers in blocks", words, template, shape, *lanes)

    def _lane_text(self, lane):
        """The code of a number that is scaled, kept within what there is, and rounded."""
        blocks = [self.blocks, self.count // self.blocks, self.width]
        factor = f"reshape(pow(2, {self._scale_text} - {_BIAS}), {[self.blocks, 1, self.width]})"
        scaled = f"reshape(reshape({{{lane}}}, {blocks}) / {factor}, {[self.count, self.width]})"
        largest, kind = self.kind.largest, self.element.packed
        number = f"bits({kind}(max(min({scaled}, {largest}), -{largest})) / {self.kind.factor})"
        half = 1 << (self.kind.bits - 1)
        return f"bitor(bitand(shr({number}, {self.kind.place}), {half - 1}), bitand(shr({number}, {32 - self.kind.bits}), {half}))"
