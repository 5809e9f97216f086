"""Which call of several is taken: of a test that is skipped on one chip, and of one whose result is compared."""

import enum
import types

import nki
import nki.language as nl
import nosuchmodule
import numpy as np
import pytest
from kernels.third import (behind_a_mistake, chosen_by_a_member, chosen_inside, compared_later, for_a_newer_chip, of_either_type,
                           never_a_number, none_of_it, one_of_two, partly_written, whole, with_a_broken_reference, with_itself,
                           without_numbers, words)

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
