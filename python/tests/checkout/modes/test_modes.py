"""One call with each mode, of which one is compared, after a check of its own; and a test of what must not be."""

import unittest

import numpy as np
import pytest
from third import not_so, of_mode

x = np.random.rand(64, 32).astype(np.float32)


class Modes(unittest.TestCase):
    def test_of_mode(self):
        of_mode(x[:32], "tripled")
        got = of_mode(x, "copied")
        assert np.abs(got - x).max() < 1e-3
        self.assertLess(np.abs(got - x).sum(), 1)
        np.testing.assert_allclose(got, x)


def test_not_so():
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(not_so(x), x)
