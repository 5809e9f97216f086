#!/usr/bin/env python3
"""References for the calls in nki-calls.json, and the arrays that these need.

usage: nki_calls.py

Writes the arrays into the folder nki-calls next to this file. `tally-nki corpus --arguments=utils/nki-calls.json`
imports the references: each gets the arguments of the kernel, as arrays of NumPy, and gives what the kernel gives.
Numbers of bf16 come as f32. All is written from the mathematics, without tiles.
"""

import os

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nki-calls")


# ---- Images ---------------------------------------------------------------------------------


def twice_as_large(src_arr):
    """Linear interpolation along all axes but the first two: a new point is a quarter of the way to the next old one."""
    for axis in range(2, src_arr.ndim):
        old = np.moveaxis(src_arr, axis, 0)
        before, after = np.concatenate([old[:1], old[:-1]]), np.concatenate([old[1:], old[-1:]])
        new = np.stack([0.75 * old + 0.25 * before, 0.75 * old + 0.25 * after], 1)
        src_arr = np.moveaxis(new.reshape(-1, *old.shape[1:]), 0, axis)
    return src_arr


def largest_of_window(in_tensor, pool_size):
    return np.lib.stride_tricks.sliding_window_view(in_tensor, (pool_size, pool_size)).max((2, 3))


# ---- Products -------------------------------------------------------------------------------


def product(lhsT, rhs):
    return lhsT.T @ rhs


def attention(q, k, v, softmax_scale, use_causal_mask, mixed_precision):
    """By blocks of rows, since all scores at once would need a gigabyte."""
    result = np.empty((q.shape[0], q.shape[2], v.shape[2]), np.float32)
    for batch, row in np.ndindex(q.shape[0], q.shape[2] // 512):
        rows = slice(512 * row, 512 * (row + 1))
        scores = softmax_scale * (q[batch, :, rows].T @ k[batch])
        weights = np.exp(scores - scores.max(1, keepdims=True))
        result[batch, rows] = weights @ v[batch] / weights.sum(1, keepdims=True)
    return result


# ---- Products of blocks that share a scale ----------------------------------------------------
#
# A word has four numbers of fp8_e5m2. The numbers of eight words, one below the other, share a scale, which is a
# power of 2. The four numbers of a word are four terms of the sum.


def product_of_words(stationary_mx_data, stationary_mx_scale, moving_mx_data, moving_mx_scale, mx_dtype):
    return sum_of_four(scaled(stationary_mx_data, stationary_mx_scale), scaled(moving_mx_data, moving_mx_scale))


def product_with_quantized(stationary_mx_data, stationary_mx_scale, moving_data_bf16, stationary_mx_dtype, moving_mx_dtype):
    moving = moving_data_bf16.reshape(len(moving_data_bf16), -1, 4)
    return sum_of_four(scaled(stationary_mx_data, stationary_mx_scale), quantized(moving))


def product_of_quantized(stationary_hbm, moving_hbm, mx_dtype, use_tensor_copy):
    """The four numbers of a word are 128 rows apart."""
    return sum_of_four(*(quantized(rows.reshape(4, 128, -1).transpose(1, 2, 0)) for rows in (stationary_hbm, moving_hbm)))


def sum_of_four(stationary, moving):
    return np.einsum("kmq,knq->mn", stationary, moving, optimize=True)


def scaled(words, scales):
    # A byte of fp8_e5m2 is the upper half of a number of f16.
    codes = np.ascontiguousarray(words, "<u4").view(np.uint8).reshape(*words.shape, 4)
    numbers = (codes.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    return np.ldexp(numbers, np.repeat(scales.astype(np.int32) - 127, 8, 0)[:, :, None])


def quantized(numbers):
    """Numbers [rows, columns, 4], rounded as their words hold them."""
    blocks = numbers.reshape(-1, 8, *numbers.shape[1:])
    # The largest number of a block gets the largest exponent of fp8_e5m2, which is 15.
    scale = np.frexp(np.abs(blocks).max((1, 3), keepdims=True))[1] - 1 - 15
    values = np.ldexp(blocks, -scale)
    step = np.ldexp(1.0, np.maximum(np.frexp(values)[1], -13) - 3)  # of three bits; no exponent is below -14
    return np.ldexp(np.clip(np.round(values / step) * step, -57344, 57344), scale).reshape(numbers.shape)


# ---- Scans ------------------------------------------------------------------------------------


def selective_scan(delta, u, A, B, C):
    """Step by step: what all states of a channel decay to, and what comes in."""
    state = np.zeros((*delta.shape[:2], A.shape[1]), np.float32)
    result = np.empty_like(delta)
    for step in range(delta.shape[2]):
        decay = np.exp(delta[:, :, step, None] * A)
        state = decay * state + (delta * u)[:, :, step, None] * B[:, None, :, step]
        result[:, :, step] = (state * C[:, None, :, step]).sum(-1)
    return result


# ---- Sums of rows -----------------------------------------------------------------------------


def sum_by_token(input, T, K):
    tokens = np.ascontiguousarray(input[:, -2:], np.float32).view(np.uint32) >> 16  # bits of bf16, the lower half first
    tokens = tokens[:, 0] | tokens[:, 1] << 16
    return np.stack([input[tokens == token, :-2].sum(0) for token in range(T)])


# ---- Arrays -----------------------------------------------------------------------------------


def words(random, rows, columns):
    numbers = random.standard_normal((rows, 4 * columns)).astype("<f2").view("<u2") >> 8
    return numbers.astype(np.uint8).view("<u4")


def rows_of_tokens(random, tokens, of_each, columns, all_rows):
    """Rows with the number of their token in two more columns, among others that have none; all in any order."""
    result = np.full((all_rows, columns + 2), -1, np.float32)
    chosen = random.permutation(all_rows)[:tokens * of_each]
    result[chosen, :columns] = random.standard_normal((len(chosen), columns))
    result[chosen, columns] = (np.repeat(np.arange(tokens, dtype=np.uint32), of_each) << 16).view(np.float32)
    result[chosen, columns + 1] = 0
    return result


def main():
    random = np.random.default_rng(1)
    os.makedirs(FOLDER, exist_ok=True)
    for name, array in {
            "stationary": words(random, 128, 128), "stationary-scale": random.integers(117, 128, (16, 128), np.uint8),
            "moving": words(random, 128, 512), "moving-scale": random.integers(117, 128, (16, 512), np.uint8),
            "rows": rows_of_tokens(random, 4, 4, 2880, 32),
            "delta": random.random((1, 256, 2048), np.float32), "decay": -random.random((256, 16), np.float32)}.items():
        np.save(os.path.join(FOLDER, name + ".npy"), array)


if __name__ == "__main__":
    main()
