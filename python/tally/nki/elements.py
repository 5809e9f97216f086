"""Element types: their names in Python, in the kernel document and in NumPy.

NumPy has neither bf16 nor fp8. Their numbers are kept as float32 that the type can hold: whatever is
written is rounded to it first, as the data of `tally sim` is.
"""

import numpy as np


class Element:
    """A type such as `nl.float32`. It equals its name, and what NumPy calls it.

    It is also a type for NumPy, which takes `dtype` for it: that notes the element, so an array keeps it
    through slices, copies and arithmetic (`find_element`)."""

    def __init__(self, name, tally, dtype, size, fit):
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


def stored(element, bits):
    """Numbers from the file of a type that NumPy has not: their bits, as whole numbers."""
    kind = next(row for row in ELEMENTS.values() if row.tally == element)
    if bits.dtype.kind != "u" or not kind.is_float:
        return bits
    if element == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    fraction, bias, largest = {"fp8": (3, 7, None), "fp8_e4m3fn": (3, 7, 0x7F), "fp8_e5m2": (2, 15, None)}[element]
    codes = np.arange(128)
    exponent, rest = codes >> fraction, codes & (1 << fraction) - 1
    table = np.where(exponent > 0, np.ldexp(1 + rest / 2**fraction, exponent - bias),
                     np.ldexp(rest / 2**fraction, 1 - bias)).astype(np.float32)
    if largest is not None:
        table[largest] = np.nan
    else:
        top = exponent == exponent.max()
        table[top] = np.where(rest[top] == 0, np.inf, np.nan)
    return np.concatenate([table, -table])[bits]
