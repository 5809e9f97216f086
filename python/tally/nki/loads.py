"""Registers that are loaded from memory: what the trace shows of those that dynamic loops run by, or that are in addresses.

An engine that has a register in an address loads it before, in its own order. This can always be said.

Of what a loop runs by, the document can say it where the loop is reached after the load, in the same iterations of all loops around
that. So it can of a loop that goes on as the load says. While the kernel runs, these are the loads whose iterations are open when a loop asks for its value.
`loaders.py` finds them again in what the iterations have become. What cannot be said is an obstacle.
"""

from .values import values_in

LOAD = "register_load"


class Loads:
    """A use is a loop, whether it is asked again after each iteration, and which one of its values it is."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.places = {}  # of all loads, by the value
        self.open = {}  # loads in iterations that are not over, by the value
        self.of_head = {}  # all values that loads of a head were of
        self.used = {}  # all values, by the use
        self.addressing = {}  # the engines that have a value in an address
        self.missed = set()

    def add(self, value, operation):
        operation.value = value
        self.places[value], self.open[value] = operation.place, operation

    def close(self, operation, head):
        """It has its head, which says what used it; nothing does any more."""
        if operation.value is not None:
            self.open.pop(operation.value, None)
            self.of_head.setdefault(head, set()).add(operation.value)

    def use(self, loop, identities, again=False):
        """A loop begins, or goes on, by registers of these identities. The values that were loaded."""
        values = tuple(sorted({value for identity in identities for value in values_in(identity)} & self.places.keys()))
        for number, value in enumerate(values):
            use = loop.id, again, number
            self.used.setdefault(use, set()).add(value)
            if value in self.open:
                self.open[value].uses.add(use)
        return values

    def use_in_addresses(self, views, engine):
        for value in frozenset().union(*(view.loaded for view in views)) & self.places.keys():
            self.addressing.setdefault(value, set()).add(engine)

    def miss(self, value):
        if value not in self.missed:
            self.missed.add(value)
            self.recorder.obstacle("a register is loaded while the kernel runs, and no wait orders the load before a loop that depends on it",
                                   self.places[value])
