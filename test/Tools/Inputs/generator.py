"""Checks that an input of f32 is what docs and Inputs.h say of random numbers.

usage: generator.py FILE.npy NAME SEED LOW HIGH
"""

import sys

import numpy as np

MASK = 2**64 - 1


def mix(state):
    state = (state + 0x9E3779B97F4A7C15) & MASK
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
    return state ^ state >> 31


def name_hash(name):
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def main():
    file, name, seed, low, high = sys.argv[1:]
    low, high = np.float32(low), np.float32(high)
    stream = mix(int(seed) + name_hash(name) & MASK)
    array = np.load(file).ravel()
    for i, number in enumerate(array):
        u = np.float32((mix(stream + i & MASK) >> 40) * 2.0**-24)
        should = low + u * (high - low)
        if number != should:
            sys.exit(f"element {i} is {number}, not {should}")
    print(f"{len(array)} numbers are as described")


main()
