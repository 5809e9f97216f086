"""Kernels of the first generation that are refused."""

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def mask(x, which):
    """Conditions that Python would take apart."""
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    i, j = nl.mgrid[0:128, 0:64]
    made = {
        "and": lambda: (i < 100) and (j < 40),
        "or": lambda: (j < 10) or (j < 40),
        "not": lambda: not j < 40,
        "chain": lambda: 0 <= j < 40,
        "either": lambda: (j < 10) | (i < 40),
        "number": lambda: (j < 10) & 3,
    }
    nl.store(out[i, j], nl.load(x[i, j]), mask=made[which]())
    return out
