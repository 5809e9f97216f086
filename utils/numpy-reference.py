#!/usr/bin/env python3
"""Compares what a kernel of the catalogue computed with its definition.

usage: numpy-reference.py KERNEL INPUTS OUTPUTS

INPUTS and OUTPUTS are the folders of `tally kernels emit KERNEL --inputs` and `tally sim --outputs`.
Everything here is written from the mathematics alone, in double precision and without tiles,
engines or loops over them. Numbers are compared by the largest error, relative to the largest number
of the result; what is allowed stands with each kernel, with the reason.
"""

import os
import sys

import numpy as np

# What rounding to f32 (24 bits of precision), bf16 (8 bits) or fp8 e4m3 (4 bits) may change, relatively.
F32 = 2.0**-24
BF16 = 2.0**-8
FP8 = 2.0**-4


# ---- Files --------------------------------------------------------------------------------


def fp8_numbers():
    """The number of each byte: sign, 4 bits of exponent (bias 7), 3 of fraction."""
    numbers = np.empty(256)
    for byte in range(256):
        sign = -1.0 if byte & 0x80 else 1.0
        exponent, fraction = byte >> 3 & 15, byte & 7
        if exponent == 15:
            numbers[byte] = np.nan if fraction else sign * np.inf
        elif exponent == 0:
            numbers[byte] = sign * fraction * 2.0**-9
        else:
            numbers[byte] = sign * (1 + fraction / 8) * 2.0 ** (exponent - 7)
    return numbers


FP8_NUMBERS = fp8_numbers()


def numbers_of(bits):
    """Numbers in double precision; bf16 and fp8 stand in files as their bits."""
    if bits.dtype == np.uint16:
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if bits.dtype == np.uint8:
        return FP8_NUMBERS[bits]
    return bits.astype(np.int64 if bits.dtype == np.int32 else np.float64)


class Folder:
    """Arrays by name; large ones stay on disk until they are used."""

    def __init__(self, path):
        self.path = path

    def bits(self, name):
        return np.load(os.path.join(self.path, name + ".npy"), mmap_mode="r")

    def __getitem__(self, name):
        return numbers_of(np.ascontiguousarray(self.bits(name)))


# ---- Comparing ----------------------------------------------------------------------------


class Comparison:
    """Collects the largest errors of arrays that may come in pieces."""

    def __init__(self):
        self.results = {}

    def add(self, name, allowed, is_, should):
        error, largest, count = self.results.get(name, (0.0, 0.0, 0))[:3]
        # NaN is no error that could be compared, so it counts as an infinite one.
        difference = np.nan_to_num(np.abs(is_ - should), nan=np.inf, posinf=np.inf)
        self.results[name] = (
            max(error, float(difference.max(initial=0))),
            max(largest, float(np.abs(should).max(initial=0))),
            count + should.size,
            allowed,
        )

    def report(self, kernel):
        right = True
        for name, (error, largest, count, allowed) in self.results.items():
            share = error / largest if largest else float("inf")
            right &= share <= allowed
            print(
                f"{kernel}: {name}, {count} numbers up to {largest:.3g}: "
                f"largest error {share:.2e}, allowed {allowed:.2e}"
                f"{'' if share <= allowed else '  WRONG'}"
            )
        return right


# ---- Kernels ------------------------------------------------------------------------------


def add_many_loop(inputs, outputs, compare):
    # One sum, one rounding.
    total = inputs["a"] + inputs["b"]
    compare.add("c", BF16, outputs["c"], total)
    compare.add("d", BF16, outputs["d"], total)


def adamw(inputs, outputs, compare):
    # The last two chunks are there only to be loaded.
    p, g, m, v = (inputs[name][:-2] for name in "PGMV")
    rate, decay, beta1, beta2, eps, step = 1e-2, 0.01, 0.9, 0.999, 1e-8, 10
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    unbiased_m, unbiased_v = m / (1 - beta1**step), v / (1 - beta2**step)
    # Both parts of a sum are rounded, and the sum.
    compare.add("M", 3 * F32, outputs["M"][:-2], m)
    compare.add("V", 3 * F32, outputs["V"][:-2], v)
    # The update is rounded five times, but is smaller than the parameter.
    update = rate * unbiased_m / (np.sqrt(unbiased_v) + eps)
    compare.add("P", 3 * F32, outputs["P"][:-2], (1 - rate * decay) * p - update)


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def flash_attention(inputs, outputs, compare):
    keys, values = inputs["K"][0], inputs["V"][0]
    result = outputs["O"]
    queries = inputs["Q"]
    # Weights are rounded and so is the result; of the rest, the weights' errors cancel mostly.
    for group in range(1, len(result)):
        scores = queries[group - 1].T @ keys / np.sqrt(len(keys))
        compare.add("O", 4 * BF16, result[group], softmax(scores) @ values)


def rmsnorm(inputs, outputs, compare):
    gamma = inputs["GAMMA"][0]
    # The last two tiles of X are there only to be loaded.
    for tile in range(len(outputs.bits("Q"))):
        x = numbers_of(inputs.bits("X")[tile])
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * gamma
        scale = np.maximum(np.abs(x).max(axis=-1) / 240, 1e-6)
        # The rows are rounded before they are measured.
        compare.add("SCALE", 2 * BF16, numbers_of(outputs.bits("SCALE")[tile]), scale)
        quantised = numbers_of(outputs.bits("Q")[tile])
        compare.add("Q", FP8 + 3 * BF16, quantised, x / scale[:, None])


def matmul(inputs, outputs, compare):
    compare.add("OUT", BF16 + 1e-5, outputs["OUT"], inputs["L"].T @ inputs["R"])


def moe(inputs, outputs, compare):
    tokens, experts = inputs["TOKENS"], inputs["EXPERT"][:, 0]
    x, affinity = inputs["IN"], inputs["AFFINITY"]
    inner = inputs.bits("DOWN").shape[1]
    no_token = tokens.max()
    out = np.zeros_like(x)
    for expert in np.unique(experts):
        rows = tokens[experts == expert].ravel()
        rows = rows[rows != no_token]
        gate_up = x[rows] @ numbers_of(inputs.bits("GATE_UP")[expert])
        gate, up = gate_up[:, :inner], gate_up[:, inner:]
        h = gate / (1 + np.exp(-gate)) * up
        y = h @ numbers_of(inputs.bits("DOWN")[expert])
        # A token goes to an expert once.
        out[rows] += affinity[rows, expert][:, None] * y
    # Activations and products of them are rounded, then both sums.
    compare.add("OUT", 4 * BF16, outputs["OUT"][:no_token], out[:no_token])


KERNELS = {
    "add_many_loop": add_many_loop,
    "adamw": adamw,
    "flash_attention": flash_attention,
    "rmsnorm": rmsnorm,
    "matmul": matmul,
    "matmul-k-unrolled": matmul,
    "moe-384-4": moe,
    "moe-2048-8": moe,
    "moe-4096-16": moe,
}


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in KERNELS:
        sys.exit(f"{__doc__}\nKERNEL is one of {', '.join(KERNELS)}.")
    name, inputs, outputs = sys.argv[1:]
    compare = Comparison()
    KERNELS[name](Folder(inputs), Folder(outputs), compare)
    sys.exit(0 if compare.report(name) else 1)


if __name__ == "__main__":
    main()
