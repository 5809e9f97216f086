"""Which call of several is taken: of a test that is skipped on one chip, and of one whose result is compared."""

import enum
import os
import tempfile
import types
import unittest

import nki
import nki.language as nl
import nosuchmodule
import numpy as np
import pytest
from kernels.inner import around_reached
from kernels.third import (behind_a_mistake, called_before, chosen_by_a_member, chosen_inside, compared_later, copied_by_hand, expected, failing,
                           finite, for_a_newer_chip, half_written, in_part, judged, make_first, never_a_number,
                           never_another, none_of_it, of_either_type, one_of_two, partly_written, peer, peer_of,
                           raising, some_close, stacked, warm, whole, with_a_broken_reference, with_itself,
                           without_numbers, words, written_before, zeros)

np.random.seed(0)  # a file that does this at once is one of tests all the same


class Platform(enum.Enum):
    TRN2 = "trn2"
    TRN3 = "trn3"


def test_newer(platform: Platform):
    if platform is Platform.TRN2:
        pytest.skip("for trn3")
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_array_equal(for_a_newer_chip(x), x)


def test_without_reference():
    compared_later(np.zeros((32, 32), np.float32))


def test_around_reached():
    """Compares nothing: what is called inside has a test of its own, which names no kernel."""
    around_reached(np.zeros((16, 32), np.float32))


@pytest.fixture
def rows():
    yield 64


class TestWithReference:
    @pytest.fixture
    def numbers(self, rows):
        return np.random.rand(rows, 32).astype(np.float32)

    def test_with_reference(self, numbers):
        np.testing.assert_array_equal(nki.simulate(compared_later)(numbers), numbers)


class Which(enum.Enum):
    SMALL = 1
    LARGE = 2


@pytest.mark.parametrize("which, rows", [*((Which.SMALL, rows) for rows in range(33, 40)), (Which.LARGE, 64)])
def test_chosen(which, rows):
    if which is Which.LARGE:
        x = np.random.rand(rows, 32).astype(np.float32)
        np.testing.assert_array_equal(chosen_by_a_member(x), x)
    else:
        behind_a_mistake(np.zeros((rows, 32), np.float32))


@pytest.mark.parametrize("case", [types.SimpleNamespace(config={"which": which, "rows": rows}) for which, rows in [
    *((Which.SMALL, rows) for rows in range(33, 40)), (Which.LARGE, 64)]])
def test_chosen_inside(case):
    if case.config["which"] is Which.LARGE:
        x = np.random.rand(case.config["rows"], 32).astype(np.float32)
        np.testing.assert_array_equal(chosen_inside(x), x)
    else:
        behind_a_mistake(np.zeros((case.config["rows"], 32), np.float32))


@pytest.mark.parametrize("dtype, rows", [*((nl.bfloat16, rows) for rows in (16, 32, 48)), (nl.float32, 64)])
def test_of_either_type(dtype, rows):
    """The reference knows nothing of bf16."""
    numbers = np.random.rand(rows, 32).astype(np.float32)
    np.testing.assert_array_equal(of_either_type(numbers.astype(dtype)), numbers)


def test_whole():
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_array_equal(whole(x), x)


def test_partly_written():
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_array_equal(partly_written(x), 2 * x)
    x[...] = 7  # the kernel has had other numbers


def test_nothing():
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_allclose(none_of_it(x)[0:0], 7 * x[0:0])


def test_itself():
    x = np.random.rand(64, 32).astype(np.float32)
    before = with_itself(x)
    np.testing.assert_allclose(with_itself(x) + 1, before + 1)


def test_never_a_number():
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_allclose(never_a_number(x) * np.nan, x * np.nan)


def test_one_of_two():
    x = np.random.rand(64, 32).astype(np.float32)
    first, _ = one_of_two(x)
    np.testing.assert_allclose(2 * first, 2 * x)


@pytest.mark.parametrize("way", range(4))
def test_copied(way):
    x = np.random.rand(64, 32).astype(np.float32)
    result, wanted = copied_by_hand(x), np.empty((64, 32), np.float32)
    if way == 0:
        wanted[...] = result
    elif way == 1:
        wanted = np.frombuffer(result.tobytes(), np.float32).reshape(64, 32)
    elif way == 2:
        wanted = np.array(result.tolist(), np.float32)
    else:
        result.tofile("copy.bin")
        wanted = np.fromfile("copy.bin", np.float32).reshape(64, 32)
    np.testing.assert_allclose(result, wanted)


def test_called_before():
    x = np.random.rand(64, 32).astype(np.float32)
    wanted = np.empty((64, 32), np.float32)
    wanted[...] = called_before(x)
    assert (called_before(x) == wanted).all()


def test_finite():
    x = np.random.rand(64, 32).astype(np.float32)
    result = finite(x)
    assert (np.isfinite(result) == True).all()  # noqa: E712
    np.testing.assert_allclose(result, np.array(np.asarray(result) / np.asarray(result).max()) * x.max())


def test_in_part():
    x = np.random.rand(64, 32).astype(np.float32)
    result = in_part(x)
    for _ in range(2):
        np.testing.assert_allclose(result[:8], x[:8])
    np.testing.assert_allclose(result[:8].T, x[:8].T)
    np.testing.assert_allclose(result[[60, 60]], x[[60, 60]])


def test_stacked():
    """Numbers of a type that NumPy has not are rounded when the kernel gets them; the reference has them rounded, too."""
    x = np.random.rand(64, 32).astype(nl.bfloat16)
    np.testing.assert_allclose(np.stack([stacked(x)] * 2), np.stack([x, x]))


def test_never_another():
    x = np.random.default_rng().random((64, 32)).astype(np.float32)
    assert not (never_another(x) != x).any()


class Accepting:
    class validator:
        def validate(self, result):
            return np.isfinite(result).all()


def test_judged(runner):
    x = np.random.rand(64, 32).astype(np.float32)
    runner.execute(types.SimpleNamespace(kernel=judged, arguments={"x": x}, golden=[Accepting()]))


def test_failing():
    """One comparison passes; what fails is none that is seen."""
    x = np.random.rand(64, 32).astype(np.float32)
    result = failing(x)
    np.testing.assert_allclose(result[0], x[0])
    assert np.abs(result - x).max() > 1


@pytest.mark.parametrize("folder", [os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__)), tempfile.gettempdir()])
def test_written_before(folder):
    """What a run writes is not for the next one to compare with."""
    x, path = np.ones((64, 32), np.float32), os.path.join(folder, "golden.npy")
    result = written_before(x)
    if not os.path.exists(path):
        np.save(path, result)
    np.testing.assert_array_almost_equal(result, np.load(path), decimal=3)


def test_zeros():
    x = np.zeros((64, 32), np.float32)
    np.testing.assert_array_almost_equal(zeros(x)[:2], x[:2], decimal=3)


def test_some_close():
    x = np.random.rand(64, 32).astype(np.float32)
    assert np.isclose(some_close(x), np.where(x > np.sort(x, None)[9], x, 3)).mean() > 0.9


def test_warm():
    warm(np.ones((32, 32), np.float32))
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_allclose(warm(x), x)


def test_peer():
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_allclose(peer(x), peer_of(x))


def test_raising():
    x = np.random.rand(64, 32).astype(np.float32)
    result = raising(x)
    np.testing.assert_allclose(result[0], x[0])
    if abs(result - x).max() < 1:
        raise ValueError("wrong")


class Copies(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(os.path.dirname(__file__), "factor.txt")) as file:
            self.factor = float(file.read())

    def test_expected(self):
        x = np.random.rand(64, 32).astype(np.float32)
        result = expected(x)
        with pytest.raises(AssertionError):
            np.testing.assert_allclose(result, x + 1)
        self.assertFalse(np.allclose(result, 2 * x))
        self.assertEqual(float(result.max()), pytest.approx(float(x.max())))
        np.testing.assert_allclose(result, self.factor * x)


def test_half_written():
    x = np.zeros((64, 32), np.int32)
    np.testing.assert_array_equal(half_written(x), x)


def test_inner():
    x = np.random.rand(64, 32).astype(np.float32)
    np.testing.assert_allclose(make_first()(x), x)


def test_few_rows():
    without_numbers(np.zeros((32, 32), np.float32), 32)


def test_more_rows():
    without_numbers(np.zeros((64, 32), np.float32), 64)


def test_words(runner):
    x = np.random.randint(0, 1 << 30, (64, 32)).astype(np.uint32) & 0x3F3F3F3F
    runner.execute(types.SimpleNamespace(kernel=words, arguments={"x": x}, golden={"out": x.view(np.float32)}, rtol=0))


TABLE = nosuchmodule.table([1, 2])


class Broken:
    @property
    def golden(self):
        return np.zeros(3) + TABLE


def test_with_a_broken_reference(runner):
    x = np.random.rand(32, 32).astype(np.float32)
    runner.execute(types.SimpleNamespace(kernel=with_a_broken_reference, arguments={"x": x}, expected=Broken()))
