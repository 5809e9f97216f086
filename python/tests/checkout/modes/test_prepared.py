"""Numbers from fixtures, from what runs before all tests or each one, from generators without a seed, and from the time; some
that are not the same twice; and three references that are made of the kernel's own results."""

import os
import random
import time
import unittest
import uuid
from datetime import datetime, timezone

import numpy as np
import prepared
import pytest
from prepared import by_a_patch, by_chance, by_clip, by_dates, by_fixtures, by_indirect, by_module, by_rounding, by_sign, by_the_clock, by_the_process
from prepared import wrong_at_the_end, wrong_in_a_cleanup

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


def test_by_dates():
    now, then = datetime.now(timezone.utc), datetime(2020, 5, 17)
    assert isinstance(then, datetime) and datetime.utcnow() > then
    seeds = [now.microsecond, int(time.strftime("%S")), time.localtime().tm_sec, uuid.uuid1().int & 0xFFFF, uuid.uuid4().int & 0xFFFF, os.getrandom(1)[0]]
    x = np.random.default_rng(seeds).random((32, 16), np.float32)
    np.testing.assert_allclose(by_dates(x), 2 * x)


def test_by_the_process():
    with open("/dev/urandom", "rb") as file:
        x = np.random.default_rng(file.read(8)[0] + 1).random((32, 16), np.float32) + os.getpid()
    np.testing.assert_allclose(by_the_process(x), 2 * x)


def test_by_clip():
    x = np.random.rand(32, 16).astype(np.float32)
    got = by_clip(x)
    np.testing.assert_allclose(got, np.maximum(got, 2 * x))


@pytest.fixture
def rows(request):
    return np.random.rand(request.param, 16).astype(np.float32)


@pytest.mark.parametrize("factor, rows", [(2, 32), (2, 64)], indirect=["rows"])
def test_by_indirect(rows, factor):
    np.testing.assert_array_equal(by_indirect(rows), factor * rows)


def test_by_a_patch(monkeypatch, x):
    monkeypatch.setattr(prepared, "FACTOR", 3.0)
    monkeypatch.setenv("FACTOR", 3)
    np.testing.assert_allclose(by_a_patch(x), int(os.environ["FACTOR"]) * x, rtol=1e-6)


def test_after_the_patch():
    assert prepared.FACTOR == 2.0 and "FACTOR" not in os.environ


@pytest.fixture
def exact():
    found = []
    yield found
    np.testing.assert_array_equal(*found)


def test_wrong_at_the_end(exact, x):
    exact[:] = wrong_at_the_end(x), 2.5 * x
    np.testing.assert_allclose(*exact, rtol=0.45)


class Cleans(unittest.TestCase):
    def test_wrong_in_a_cleanup(self):
        x = np.random.rand(32, 16).astype(np.float32)
        got = wrong_in_a_cleanup(x)
        self.addCleanup(np.testing.assert_array_equal, got, 2.5 * x)
        np.testing.assert_allclose(got, 2.5 * x, rtol=0.45)
