"""Element types: their names in Python, in the kernel document and in NumPy.

NumPy has neither bf16 nor fp8. Their numbers are kept as float32 that the type can hold: whatever is
written is rounded to it first, as the data of `tally sim` is.
"""

import numpy as np


class Element:
    """A type such as `nl.float32`. It equals its name, and what NumPy calls it.

    It is also a type for NumPy, which takes `dtype` for it: that notes the element, so an array keeps it
    through slices, copies and arithmetic (`find_element`)."""

    def __init__(self, name, tally, dtype, size, fit, packed=None):
        self.packed = packed  # of what it holds four, in its bits
        self.name = self.__name__ = name
        self.tally, self.itemsize, self.fit = tally, size, fit
        self.dtype = np.dtype(dtype, metadata={"element": name})

    def __eq__(self, other):
        return find_element(other) is self

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    __repr__ = __str__

    @property
    def is_float(self):
        return self.dtype.kind == "f"


def _float(dtype):
    return lambda values: np.asarray(values, dtype)


def _bfloat16(values):
    """To nearest, halves to even, on the upper half of the bits."""
    values = np.ascontiguousarray(values, np.float32)
    bits = values.view(np.uint32)
    rounded = (bits + (((bits >> 16) & 1) + 0x7FFF)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), values, rounded.view(np.float32))


def _small_float(fraction_bits, least_exponent, largest, beyond):
    def fit(values):
        values = np.asarray(values, np.float32)
        exponent = np.maximum(np.frexp(values)[1] - 1, least_exponent)
        quantum = np.ldexp(np.float32(1), exponent - fraction_bits)
        with np.errstate(all="ignore"):
            rounded = np.where(np.isfinite(values), np.rint(values / quantum) * quantum, values)
        return np.where(np.abs(rounded) > largest, np.copysign(np.float32(beyond), values), rounded)

    return fit


def _integer(dtype):
    limits = np.iinfo(dtype)

    def fit(values):
        values = np.asarray(values)
        if values.dtype == np.int64:  # of an operation on whole numbers: its low bits
            return values.astype(dtype)
        if values.dtype.kind in "iub":
            return np.clip(values.astype(np.int64), limits.min, limits.max).astype(dtype)
        rounded = np.rint(np.nan_to_num(np.asarray(values, np.float64)))
        return np.clip(rounded, limits.min, limits.max).astype(dtype)

    return fit


_INF = float("inf")

ELEMENTS = {
    name: Element(name, *rest)
    for name, *rest in [
        # name, in the kernel, in NumPy, bytes, rounding
        ("float32", "f32", np.float32, 4, _float(np.float32)),
        ("tfloat32", "f32", np.float32, 4, _float(np.float32)),
        ("bfloat16", "bf16", np.float32, 2, _bfloat16),
        ("float16", "f16", np.float16, 2, _float(np.float16)),
        ("float8_e4m3", "fp8", np.float32, 1, _small_float(3, -6, 240, _INF)),
        ("float8_e4m3fn", "fp8_e4m3fn", np.float32, 1, _small_float(3, -6, 448, np.nan)),
        ("float8_e5m2", "fp8_e5m2", np.float32, 1, _small_float(2, -14, 57344, _INF)),
        ("int32", "i32", np.int32, 4, _integer(np.int32)),
        ("uint32", "u32", np.uint32, 4, _integer(np.uint32)),
        ("int16", "i16", np.int16, 2, _integer(np.int16)),
        ("uint16", "u16", np.uint16, 2, _integer(np.uint16)),
        ("int8", "i8", np.int8, 1, _integer(np.int8)),
        ("uint8", "u8", np.uint8, 1, _integer(np.uint8)),
        ("bool_", "u8", np.uint8, 1, _integer(np.uint8)),
        # Four numbers in a word, for products that are scaled in blocks.
        ("float8_e4m3fn_x4", "u32", np.uint32, 4, _integer(np.uint32), "fp8_e4m3fn"),
        ("float8_e5m2_x4", "u32", np.uint32, 4, _integer(np.uint32), "fp8_e5m2"),
        ("float4_e2m1fn_x4", "u16", np.uint16, 2, _integer(np.uint16), "fp4_e2m1"),
    ]
}

# What the command line calls them, and NumPy where it has another name.
_OTHER_NAMES = {"bool": "bool_", "float64": "float32", "int64": "int32", "fp32": "float32",
                "bf16": "bfloat16", "fp8": "float8_e4m3", "f32": "float32", "f16": "float16",
                "i32": "int32", "u32": "uint32", "i16": "int16", "u16": "uint16", "i8": "int8",
                "u8": "uint8"}


def find_element(what):
    """The element type that `what` (a type, a name, a NumPy type) stands for, or None."""
    if isinstance(what, Element):
        return what
    if isinstance(what, (np.dtype, type)):
        try:
            dtype = np.dtype(what)
        except TypeError:
            return None
        what = (dtype.metadata or {}).get("element", dtype.name)
    if not isinstance(what, str):
        return None
    name = str(what)
    return ELEMENTS.get(_OTHER_NAMES.get(name, name))


# Bits of the exponent and of the fraction.
_BITS = {"float32": (8, 23), "tfloat32": (8, 10), "bfloat16": (8, 7), "float16": (5, 10), "float8_e4m3": (4, 3),
         "float8_e4m3fn": (4, 3), "float8_e5m2": (5, 2)}


def promoted(elements):
    """The type of what an operation makes of these: it holds the numbers of all of them, or of the float types if there are
    any. It is one of theirs if that does, and a wider one if none does."""
    kinds = {element.name: element for element in elements}
    chosen = [element for element in kinds.values() if element.is_float] or list(kinds.values())
    if len(chosen) == 1 or any(element.packed for element in kinds.values()):
        return next(iter(elements)) if len(kinds) == 1 or not chosen else chosen[0]
    wider = ("bfloat16", "float16", "float32") if chosen[0].is_float else ("int16", "int32", "float32")
    return next(element for element in [*chosen, *map(ELEMENTS.get, wider)] if all(_holds(element, other) for other in chosen))


def _holds(wide, element):
    if wide is element or wide.name == "float32":
        return True
    if wide.is_float:
        return all(have >= need for have, need in zip(_BITS[wide.name], _BITS[element.name]))
    have, need = np.iinfo(wide.dtype), np.iinfo(element.dtype)
    return have.min <= need.min and have.max >= need.max


def of_number(value):
    """The type of a number: its own if NumPy has made it, and the widest there is otherwise."""
    if isinstance(value, np.generic):
        return find_element(value.dtype) or ELEMENTS["float32"]
    return ELEMENTS["uint8" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"]


# Bits of the fraction, bias of the exponent, whether the largest codes are infinite, and rounding.
_CODES = {"fp8": (3, 7, "inf", _small_float(3, -6, 240, _INF)),
          "fp8_e4m3fn": (3, 7, "nan", _small_float(3, -6, 448, np.nan)),
          "fp8_e5m2": (2, 15, "inf", _small_float(2, -14, 57344, _INF)),
          "fp4_e2m1": (1, 1, "", _small_float(1, 0, 6, 6))}


def _numbers_of(kind):
    """The numbers of the codes without the sign, in their order."""
    fraction, bias, beyond, _ = _CODES[kind]
    codes = np.arange(8 if kind == "fp4_e2m1" else 128)
    exponent, rest = codes >> fraction, codes & (1 << fraction) - 1
    numbers = np.where(exponent > 0, np.ldexp(1 + rest / 2**fraction, exponent - bias),
                       np.ldexp(rest / 2**fraction, 1 - bias)).astype(np.float32)
    if beyond == "nan":
        numbers[-1] = np.nan
    elif beyond == "inf":
        top = exponent == exponent.max()
        numbers[top] = np.where(rest[top] == 0, np.inf, np.nan)
    return numbers


def stored(element, bits):
    """Numbers from the file of a type that NumPy has not: their bits, as whole numbers."""
    if element == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32) if bits.dtype.kind == "u" else bits
    if element not in _CODES or bits.dtype.kind != "u":
        return bits
    numbers = _numbers_of(element)
    return np.concatenate([numbers, -numbers])[bits]


def packed(element, values):
    """Numbers [..., 4n] as words [..., n]; the first of four has the lowest bits."""
    kind, word = element.packed, element.dtype
    numbers, values = _numbers_of(kind), _CODES[kind][3](values)
    width = 8 * element.itemsize // 4
    codes = np.searchsorted(numbers[np.isfinite(numbers)], np.abs(values)).astype(np.uint32)
    codes = np.where(np.isnan(values), len(numbers) - 1, codes) | (np.signbit(values).astype(np.uint32) << (width - 1))
    codes = codes.reshape(*codes.shape[:-1], -1, 4) << (width * np.arange(4, dtype=np.uint32))
    return np.asarray(np.bitwise_or.reduce(codes, axis=-1), word)


def unpacked(element, words):
    """The numbers [..., 4n] in words [..., n]."""
    numbers, width = _numbers_of(element.packed), 8 * element.itemsize // 4
    codes = (np.asarray(words, np.uint32)[..., None] >> (width * np.arange(4, dtype=np.uint32))) & ((1 << width) - 1)
    values = np.concatenate([numbers, -numbers])[codes]
    return values.reshape(*values.shape[:-2], -1)


def rounded(values, element):
    """An array of the element type. (NumPy drops what tells bf16 from f32 if it only converts.)"""
    array = np.empty(np.shape(values), element.dtype)
    array[...] = element.fit(values)
    return array


def cast(array, element):
    """Numbers of the host as an element type has them; those of four in a word become four, and the other way."""
    have = find_element(array.dtype)
    array = unpacked(have, array) if have is not None and have.packed else array
    if element.packed:
        return packed(element, array)
    return rounded(array, element)
