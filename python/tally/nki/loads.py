"""Registers that are loaded from memory, as values that dynamic loops run by: what the trace shows of them.

The document can say it of a load and of loops that are reached after it in the same iterations of all loops around it, or of a loop
that goes on as it says. While the kernel runs, these are the loads whose iterations are open when a loop asks for its value.
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

    def use_as_address(self, register):
        for value in values_in(register.identity):
            if value in self.places:
                self.miss(value, "an address")

    def miss(self, value, what):
        if (value, what) not in self.missed:
            self.missed.add((value, what))
            self.recorder.obstacle(f"a register is loaded while the kernel runs, and no wait orders the load before {what} that depends on it",
                                   self.places[value])
