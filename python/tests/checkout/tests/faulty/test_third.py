"""Mistakes in marks and in a conftest.py, and a test after them."""

import numpy as np
import pytest
from kernels.third import behind_a_mistake, cut_short, marked_wrongly


@pytest.mark.parametrize("rows", 64)
def test_marked_wrongly(rows):
    marked_wrongly(np.zeros((rows, 32), np.float32))


@pytest.mark.rows(0)
def test_cut_short(rows):
    cut_short(np.zeros((rows, 32), np.float32))


@pytest.mark.rows(1)
def test_behind_a_mistake(rows):
    x = np.random.rand(rows, 32).astype(np.float32)
    np.testing.assert_array_equal(behind_a_mistake(x), x)
