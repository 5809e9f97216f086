"""The first generation: an example that runs itself, on NumPy."""

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def scale(x, factor):
    """Two programs of a launch grid, each with its half of the rows."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    row = nl.program_id(0) * 128 + nl.arange(128)[:, None]
    column = nl.arange(x.shape[1])[None, :]
    nl.store(out[row, column], nl.load(x[row, column]) * factor)
    return out


@nki.baremetal()
def halves(x):
    """Gives a quarter; its example wants the half."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x) * 0.25)
    return out


@nki.jit
def square(x):
    """Called by its test through a wrapper, in bf16."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, tile * tile)
    return out


@nki.jit
def lonely(x):
    return x


if __name__ == "__main__":
    numbers = np.random.rand(256, 64).astype(np.float32)
    scaled = scale[2](numbers, 3.0)
    assert np.allclose(scaled, numbers * 3, atol=1e-6)
    if not (halves(numbers[:128]) == numbers[:128] / 2).all():
        print("differs")
