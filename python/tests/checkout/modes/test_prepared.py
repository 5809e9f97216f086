"""Numbers from fixtures, from what runs before all tests or each one, from generators without a seed, and from the time; and
two references that are made of the kernel's own results."""

import random
import time

import numpy as np
import pytest
from prepared import by_chance, by_fixtures, by_module, by_rounding, by_sign, by_the_clock

numbers = {}


def setup_module(module):
    module.numbers["all"] = np.random.RandomState().rand(32, 16).astype(np.float32)


def setup_function(function):
    numbers["for"] = function.__name__


@pytest.fixture
def x():
    made = np.random.rand(32, 16).astype(np.float32)
    yield made
    made[:] = 0


@pytest.fixture
def wanted(x):
    return 2 * x


def test_by_fixtures(x, wanted):
    np.testing.assert_array_equal(by_fixtures(x), wanted)


def test_by_module():
    assert numbers["for"] == "test_by_module"
    np.testing.assert_array_equal(by_module(numbers["all"]), 2 * numbers["all"])


def test_by_chance():
    source = np.random.Generator(np.random.PCG64())
    x = source.random((32, 16), np.float32) * np.float32(random.Random().random())
    assert isinstance(np.random.RandomState(), np.random.RandomState)
    np.testing.assert_allclose(by_chance(x), 2 * x)


def test_by_the_clock():
    x = np.random.default_rng(time.time_ns()).random((32, 16), np.float32)
    np.testing.assert_allclose(by_the_clock(x), 2 * x)


def test_by_sign():
    got = by_sign(np.sign(np.random.rand(32, 16) - 0.5).astype(np.float32))
    np.testing.assert_array_equal(got, 2 * np.sign(got))


def test_by_rounding():
    got = by_rounding(np.zeros((32, 16), np.float32))
    np.testing.assert_array_equal(got, np.round(got))
