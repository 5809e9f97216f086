"""Patterns of numbers, one by one."""

import unittest

import numpy as np

from tally.nki.resolve import Linear
from tally.nki.rollup import FIRST, FLAG, PLAIN, Modular, Quotient, _cuts, _patterns, _stretches
from tally.nki.values import Grid, Mask, locate, reshaped


def pattern(values, kind=PLAIN):
    found = _patterns(np.array(values, np.int64)[:, None], (kind,))
    return found[0] if found else None


class PatternTest(unittest.TestCase):
    def test_even(self):
        self.assertEqual(pattern([5, 8, 11]), 3)
        self.assertEqual(pattern([5, 5]), 0)

    def test_modular(self):
        self.assertEqual(pattern([0, 128, 0, 128]), Modular(128, 2, 1))
        self.assertEqual(pattern([1, 4, 2, 0, 3, 1]), Modular(1, 5, 3))
        self.assertEqual(pattern([0, 1, 2, 0, 2]), None)

    def test_quotient(self):
        self.assertEqual(pattern([3, 3, 5, 5, 7]), Quotient(2, 2))
        self.assertEqual(pattern([3, 5, 5, 5, 7]), Quotient(2, 3))
        self.assertEqual(pattern([3, 3, 5, 7, 7]), None)

    def test_flag(self):
        self.assertEqual(pattern([0, 1, 1], FLAG), FIRST)
        self.assertEqual(pattern([1, 1, 1], FLAG), 0)
        self.assertEqual(pattern([0, 0, 1], FLAG), None)

    def test_congruent(self):
        """A place modulo 3 that grows by 5 each time."""
        self.assertEqual(pattern([1, 0, 2, 1], 3), 2)
        self.assertEqual(pattern([1, 0, 1, 1], 3), None)

    def test_cuts(self):
        rows = np.array([[0], [2], [4], [5], [6], [9]], np.int64)
        self.assertEqual(list(_cuts(rows, (PLAIN,))), [(0, 3), (3, 5), (5, 6)])

    def test_stretches(self):
        self.assertEqual(list(_stretches("abbb")), [(0, 1, 1), (1, 4, 1)])
        self.assertEqual(list(_stretches("ababab")), [(0, 6, 2)])
        self.assertEqual(list(_stretches("abcabcd")), [(0, 6, 3), (6, 7, 1)])


class LinearTest(unittest.TestCase):
    def test_text(self):
        i, j = Linear(0, [("i", 1)]), Linear(0, [("j", -2)])
        self.assertEqual(Linear(3).text(), "3")
        self.assertEqual(i.times(4).plus(Linear(-1)).text(), "4*i - 1")
        self.assertEqual(j.text(), "-2*j")
        self.assertEqual(i.plus(Linear(1)).mod(2).times(8).plus(j).text(), "-2*j + 8*((i + 1) mod 2)")
        self.assertEqual(i.times(4).plus(Linear(5)).mod(2).text(), "1")
        self.assertEqual(i.floordiv(3).text(), "i floordiv 3")


class BoxTest(unittest.TestCase):
    def box(self, *arguments):
        found = locate(*arguments)
        return found.firsts, found.counts, found.steps, found.exact, found.order

    def test_boxes(self):
        self.assertEqual(self.box((4, 6), 7, (2, 3), (6, 1)), ((1, 1), (2, 3), (1, 1), True, None))
        self.assertEqual(self.box((4, 6), 1, (12,), (2,)), ((0, 1), (4, 3), (1, 2), True, None))
        self.assertEqual(self.box((4, 6), 0, (6, 4), (1, 6)), ((0, 0), (4, 6), (1, 1), True, ((4, 6), (1, 0))))
        self.assertEqual(self.box((4, 6), 4, (4,), (1,))[3], False)  # over the end of a row
        self.assertEqual(self.box((4, 6), 0, (4, 3), (1, 1))[3], False)  # windows that overlap

    def test_every_element(self):
        """An exact box holds what the pattern touches, any box at least that."""
        random = np.random.default_rng(1)
        for _ in range(2000):
            buffer = tuple(random.integers(1, 5, 3).tolist())
            shape = tuple(random.integers(1, 4, 2).tolist())
            strides = tuple(random.integers(0, 9, 2).tolist())
            size = int(np.prod(buffer))
            last = sum((n - 1) * s for n, s in zip(shape, strides))
            if last >= size:
                continue
            offset = int(random.integers(0, size - last))
            walked = [offset + a * strides[0] + b * strides[1]
                      for a in range(shape[0]) for b in range(shape[1])]
            touched = set(walked)
            box = locate(buffer, offset, shape, strides)
            axes = [f + s * np.arange(n) for f, n, s in zip(box.firsts, box.counts, box.steps)]
            held = np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), buffer).ravel().tolist()
            self.assertTrue(touched <= set(held))
            if box.exact:
                self.assertEqual(touched, set(held))
            if box.exact and 0 not in [s for n, s in zip(shape, strides) if n > 1]:
                held = np.array(held)
                if box.order is not None:
                    held = held.reshape(box.order.shape).transpose(box.order.axes).ravel()
                self.assertEqual(walked, held.tolist())

    def test_reshaped(self):
        """The strides of a reshape are those that NumPy would find, or there are none."""
        base = np.arange(24 * 4)
        for shape, strides in (((4, 6), (6, 1)), ((4, 6), (12, 1)), ((4, 3, 2), (24, 2, 1)),
                               ((6, 4), (1, 6))):
            view = np.ndarray(shape, base.dtype, base, 0, [8 * s for s in strides])
            for wanted in ((24,), (2, 12), (8, 3), (4, 2, 3), (2, 2, 6), (12, 2)):
                found = reshaped(shape, strides, wanted)
                if found is not None:
                    got = np.ndarray(wanted, base.dtype, base, 0, [8 * s for s in found])
                    self.assertTrue((got == view.reshape(wanted)).all(), (shape, strides, wanted))
                else:
                    self.assertFalse(np.shares_memory(view.reshape(wanted), base), (shape, strides, wanted))


class GridTest(unittest.TestCase):
    def test_affine(self):
        rows, columns = Grid((3,), 1, (2,)), Grid((4,), 0, (1,))
        grid = rows[:, None] * 5 + columns[None, :] - 2
        want = (1 + 2 * np.arange(3))[:, None] * 5 + np.arange(4) - 2
        self.assertTrue((grid.dense() == want).all())
        self.assertTrue((((grid // 2) % 3) == (want // 2) % 3).all())

    def test_mask(self):
        rows = Grid((8,), 3, (2,))
        for bound in range(0, 24):
            mask = rows < bound
            self.assertIsInstance(mask, Mask)
            self.assertEqual(mask.limits((8,)), (int(((3 + 2 * np.arange(8)) < bound).sum()),))


if __name__ == "__main__":
    unittest.main()
