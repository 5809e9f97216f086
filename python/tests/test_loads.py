"""Registers that are loaded from memory: which engines load the values that dynamic loops run by, and what is not said."""

import unittest

import numpy as np

from . import support
from .support import differences, one, race, trace

ROWS = support.random(1024, 16)
PAIR = np.array([[3, 2]], np.int32)


def loads(traced):
    """The engines that load each value, by the line of Python, and how many instructions do."""
    found = {}
    for statement in support.statements(traced).values():
        for value in statement.get("loads", ()):
            found.setdefault((value, statement["loc"]["line"]), []).append(statement["queue"])
    return {value: engines for (value, _), engines in found.items()}


def missed(traced):
    return [reason.rpartition("before ")[2] for reason, _ in traced.summary.obstacles if "register" in reason]


def unloaded(traced):
    """Engines in loops of which no load says the value for them: by a way of its own, from the document alone."""
    found = []

    def walk(body, have):
        have = set(have)
        for statement in body:
            if "loop" not in statement:
                have |= {(statement["queue"], value) for value in statement.get("loads", ())}
                continue
            trips = statement["trips"]
            name = trips.get("value") or trips.get("while") if isinstance(trips, dict) else None
            if name:
                found.extend((engine, name) for engine in engines(statement["body"]) if (engine, name) not in have)
            walk(statement["body"], have)

    def engines(body):
        return {engine for statement in body for engine in
                (engines(statement["body"]) if "loop" in statement else {statement["queue"].split(".")[0]})}

    walk(traced.document["body"], ())
    return found


class LoadsTest(unittest.TestCase):
    def check(self, traced, wanted, obstacles=()):
        self.assertEqual(loads(traced), wanted)
        self.assertEqual(missed(traced), list(obstacles))
        self.assertEqual(bool(unloaded(traced)), bool(obstacles))
        self.assertEqual(race(traced), "yes")

    def test_engines_of_the_loop(self):
        traced = trace("dynamic", "sums", x=support.random(4, 512, 32), n=one(2), m=one(3))
        engines = ["vector", "gpsimd", "sync"]
        self.check(traced, {"outer": engines, "inner": engines})

    def test_two_values(self):
        """Each of three loads is of one value, and the third one of two loops."""
        traced = trace("dynamic", "two_values", x=ROWS, n=one(3), m=one(2))
        self.check(traced, {"register.2": ["gpsimd", "sync"], "register.3": ["gpsimd", "sync"], "last": ["sync"]})

    def test_sum(self):
        """Each engine loads both numbers."""
        traced = trace("dynamic", "a_sum_of_two", x=ROWS, n=one(2), m=one(1))
        self.check(traced, {"register": ["sync", "sync"]})

    def test_start_and_step(self):
        traced = trace("dynamic", "start_and_step", x=ROWS, last=one(512))
        self.check(traced, {"end.trips": ["scalar", "gpsimd", "sync"]})

    def test_in_a_loop(self):
        """In each iteration, before the loop inside."""
        traced = trace("dynamic", "ragged", x=support.random(4, 512, 16), lengths=np.array([[2, 4, 3, 0]], np.int32), n=one(3))
        engines = ["vector", "gpsimd", "sync"]
        self.check(traced, {"parts": engines, "length": engines})

    def test_condition(self):
        """Before the loop, and at the end of each iteration."""
        traced = trace("dynamic", "counter", x=ROWS, n=one(3))
        queues = [statement["queue"] for name, statement in support.statements(traced).items() if name.startswith("register_load")]
        self.assertEqual(queues, 2 * ["vector", "gpsimd", "sync"])
        self.check(traced, {"more": ["vector", "gpsimd", "sync"]})

    def test_other_engine(self):
        """One that has nothing to do with the loop does not load its trips."""
        traced = trace("dynamic", "apart", x=ROWS, y=ROWS, n=one(3))
        self.assertIn("vector", traced.summary.engines)
        self.check(traced, {"register": ["gpsimd", "sync"]})

    def test_first_iteration(self):
        """What one iteration loads is there for all that come later."""
        traced = trace("dynamic", "once_for_all", x=ROWS, n=one(3))
        self.check(traced, {"count": ["sync"]})

    def test_not_said(self):
        """Loads that a loop depends on in other iterations, or not alone."""
        self.check(trace("dynamic", "all_loaded_first", x=ROWS, counts=PAIR), {}, ["a loop that depends on it"])
        self.check(trace("dynamic", "loaded_again", x=ROWS, counts=PAIR), {"count": ["gpsimd", "sync"]}, ["a loop that depends on it"])
        traced = trace("dynamic", "side_by_side", x=ROWS, counts=PAIR)
        self.assertEqual(loads(traced), {"first": ["sync"]})
        self.assertEqual(missed(traced), ["a loop that depends on it"])

    def test_addresses(self):
        """An engine that has the register in an address loads it before, and says nothing more."""
        traced = trace("dynamic", "counted", x=ROWS, n=one(3), kind=np.int32, first=2, step=3)
        self.check(traced, {"count": ["vector", "gpsimd", "sync"]})
        self.assertEqual(self.address_loads(traced), ["sync"])
        producers = {(entry["producer"], entry["consumer"]) for entry in support.dependences(traced)}
        self.assertIn(("memset.494", "register_load.496"), producers)

    def test_address_after_the_loop(self):
        """So it has the loop around the load, too."""
        traced = trace("dynamic", "at_loaded", x=ROWS, n=one(3))
        self.check(traced, {"count": ["vector", "gpsimd", "sync"]})
        self.assertEqual(self.address_loads(traced), ["sync"])

    def address_loads(self, traced):
        return [statement["queue"] for name, statement in support.statements(traced).items()
                if name.startswith("register_load") and "loads" not in statement]

    def test_loaded_from_what_a_loop_writes(self):
        """An engine that loads it waits for the loop, so it has to know how often that runs, by every strategy."""
        traced = trace("dynamic", "computed", x=ROWS, n=one(3))
        self.check(traced, {"count": ["vector", "sync"], "more": ["sync"]})
        self.assertEqual(differences(traced, trips=["count=3", "more=5"]), [])

    def test_written_in_the_kernel(self):
        """The load waits for what wrote the number, and that for the load before."""
        traced = trace("dynamic", "counter", x=ROWS, n=one(3))
        found = {(entry["producer"].split(".")[0], entry["consumer"]) for entry in support.dependences(traced)}
        for engine in ("vector", "gpsimd", "sync"):
            self.assertIn(("tensor_scalar", f"register_load.49.{engine}"), found)
        self.assertEqual(differences(traced, trips=["while=3"]), [])


if __name__ == "__main__":
    unittest.main()
