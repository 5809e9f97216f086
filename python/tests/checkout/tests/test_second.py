"""Tests as a runner finds them: marks with parameters, a fixture that is handed kernel, arguments, reference."""

import ml_dtypes
import neuronxcc.nki as nki
import numpy as np
import pytest
from kernels.first import square
from kernels.second import add, exchanged, hangs, huge, kept_above, repeat, rows_in_turn, stuck, taken_in_turn, unknown


class Ask:
    def __init__(self, kernel, arguments, golden, rtol, cores=1):
        self.kernel, self.arguments, self.golden, self.rtol = kernel, arguments, golden, rtol
        self.cores = cores


def valid(rows, columns):
    return rows % 128 == 0


@nki.jit
def square_wrapper(x):
    return square(x)


class TestAdd:
    @pytest.mark.fast
    @pytest.mark.sweep(rows=[64, 512, 256], columns=[32], filter=valid)
    def test_add(self, runner, rows, columns):
        x = np.random.rand(rows, columns).astype(np.float32)
        y = np.random.rand(rows, columns).astype(np.float32)
        runner.execute(Ask(add, {"x.alias": x, "y": y}, {"out": x + y}, 1e-6))


@pytest.mark.parametrize("rows, wanted", [pytest.param(128, 4, id="four")])
def test_square(runner, rows, wanted):
    x = np.full((rows, 32), 2).astype(ml_dtypes.bfloat16)
    runner.execute(Ask(square_wrapper, {"x": x}, {"out": np.full((rows, 32), wanted)}, 1e-3))


def test_repeat():
    x = np.random.rand(512, 32).astype(np.float32)
    out = repeat(x, np.full((1, 1), 4, np.int32))
    np.testing.assert_allclose(out, x + 1, rtol=1e-5)


def test_exchanged(runner):
    x = np.random.rand(64, 32).astype(np.float32)
    runner.execute(Ask(exchanged, {"x": x}, {"out": np.concatenate([2 * x[32:], 2 * x[:32]])}, 1e-6, cores=2))


def test_taken_in_turn(runner):
    x = np.random.rand(64, 32).astype(np.float32)
    runner.execute(Ask(taken_in_turn, {"x": x}, {"out": x + 21}, 1e-6, cores=2))


def test_kept_above(runner):
    x = np.random.rand(64, 32).astype(np.float32)
    runner.execute(Ask(kept_above, {"x": x, "count": np.full((1, 1), 3, np.int32)}, {"out": np.full((64, 32), 2)}, 1e-6,
                       cores=2))


def test_rows_in_turn(runner):
    """In turns 1 and 3, core 0 has rows that core 1 has written since; in the others it has not."""
    x = np.random.rand(64, 32).astype(np.float32)
    first, second = np.arange(0, 64, 4), np.arange(1, 64, 4)
    rows = np.stack([np.stack(pair) for pair in ((first, second), (second, first), (second, first), (first, second),
                                                 (first, second))])
    runner.execute(Ask(rows_in_turn, {"x": x, "rows": rows[..., None].astype(np.int32)},
                       {"out": x + 5 * np.isin(np.arange(64) % 4, (0, 1))[:, None]}, 1e-6, cores=2))


def test_stuck():
    stuck[2](np.zeros((64, 32), np.float32))


def test_unknown():
    unknown(np.zeros((128, 32), np.float32))


def test_hangs():
    hangs(np.zeros((128, 32), np.float32))


@pytest.mark.parametrize("columns", [128, 256, 512])
def test_huge(columns):
    huge(np.zeros((128, columns), np.float32))
