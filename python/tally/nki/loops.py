"""Loops while the kernel runs: what `for` and `while` of the user's files go through (source.py).

A loop over anything of known length is recorded iteration by iteration. A dynamic loop is one whose
bounds or condition are registers. It runs as often as the registers say in this trace, and what would
not be the same on the device is refused: the device has one body for all iterations, so Python must not
count them.
"""

import dis
import sys

from .places import here, user_frame
from .refusal import Place, Refusal
from .tree import Trips
from .values import Register, Scope, identity_of, refuse


class _Dynamic:
    """`nl.dynamic_range(...)`: what a `for` is given."""

    def __init__(self, recorder, start, stop, step):
        self.recorder, self.start, self.stop, self.step = recorder, start, stop, step
        self.name = "i"

    def __iter__(self):
        frame = sys._getframe(1)
        if isinstance(self.stop, Register) or isinstance(self.start, Register):
            found = [instruction for instruction in dis.get_instructions(frame.f_code) if instruction.opname != "EXTENDED_ARG"]
            names = [step.opname for step in found if step.offset >= frame.f_lasti][:2]
            if names != ["GET_ITER", "FOR_ITER"]:
                refuse("a dynamic loop that is no 'for' statement: Python would count its iterations; write "
                       "'for i in nl.dynamic_range(...):'")
        return self.run(here())

    def run(self, place, frame=None):
        first, last = (bound.value if isinstance(bound, Register) else int(bound)
                       for bound in (self.start, self.stop))
        known = not isinstance(self.start, Register) or self.start.known
        trips = max(0, -(-(last - first) // self.step))
        dynamic = isinstance(self.start, Register) or isinstance(self.stop, Register)
        identity = tuple(map(identity_of, (self.start, self.stop, self.step)))
        value = Trips(self._value(frame or user_frame()), None, identity) if dynamic else None
        loop = self.recorder.open_loop(self.name, place, value)
        watch = _Watch(frame, self.name, place) if frame is not None else None
        scope = Scope(self.name)
        try:
            for number in range(trips):
                self.recorder.begin_iteration(loop)
                yield Register(first + number * self.step, known, self.name, ("index", loop.id), (scope,) if dynamic else ())
                if watch is not None:
                    watch.look()
            self.recorder.close_loop(loop)
        finally:
            scope.ended = True
            _abandon(self.recorder, loop, place)

    def _value(self, frame):
        """The name of the value: that of the register, where it is the number of trips."""
        register = self.stop if isinstance(self.stop, Register) else self.start
        plain = register is self.stop and self.step == 1 and not isinstance(self.start, Register)
        name = _variable(register, frame)
        return name if plain and self.start == 0 else f"{name}.trips"


def _abandon(recorder, loop, place):
    """A loop that is left before its end. What is raised here would be lost, so it is kept."""
    if loop not in recorder.loops:
        return
    if loop.trips is not None:
        recorder.refusal = recorder.refusal or Refusal(
            "a dynamic loop is left by 'break', 'return' or an exception; the device runs all its "
            "iterations", place)
        recorder.loops[recorder.loops.index(loop):] = []
        recorder.block, recorder.copies = loop.parent, loop.copies
    else:
        recorder.close_loop(loop)


def dynamic_loop(recorder, start, stop, step):
    if int(step) < 1:
        refuse(f"a step of {step}; it is at least 1")
    return _Dynamic(recorder, start, stop, int(step))


def _variable(register, frame):
    """What the kernel calls the register where it loops over it."""
    for name, value in frame.f_locals.items() if frame is not None else ():
        if value is register:
            return name
    return register.name or "n"


class _Watch:
    """Python's numbers and lists in a dynamic loop must be the same after each iteration."""

    def __init__(self, frame, name, place):
        self.frame, self.name, self.place = frame, name, place
        self.before = self._state()

    def _state(self):
        state = {}
        for name, value in self.frame.f_locals.items():
            if isinstance(value, (bool, int, float, str)):
                state[name] = value
            elif isinstance(value, (list, dict, set)):
                state[name] = len(value)
        return state

    def look(self):
        now = self._state()
        for name, value in self.before.items():
            if name in now and now[name] != value and name not in (self.name, "__tally_round__"):
                raise Refusal(f"the dynamic loop changes Python's '{name}', which the device does not see: "
                              "it has one body for all iterations; use the loop's index, a register or "
                              "memory", self.place)
        self.before = now


def dynamic_while(recorder, condition, place, frame=None):
    """`while register:`, as long as it is not 0."""
    return _dynamic_while(recorder, condition(), condition, place, frame)


def _dynamic_while(recorder, register, condition, place, frame):
    loop = recorder.open_loop("while", place, Trips(None, _variable(register, frame or user_frame()), place))
    watch = _Watch(frame, "while", place) if frame is not None else None
    try:
        while register.value:
            recorder.begin_iteration(loop)
            yield register
            if watch is not None:
                watch.look()
            register = condition()
            if not isinstance(register, Register):
                raise Refusal("the condition of a dynamic 'while' is no longer a register", place)
        recorder.close_loop(loop)
    finally:
        _abandon(recorder, loop, place)


def hooks(recorder, runs=lambda: True):
    """The functions that the loops of the user's files call, by name. Loops that run while no kernel does are
    left alone."""

    def loop_for(iterable, name, line, column):
        if not runs():
            return iterable
        frame = sys._getframe(1)
        place = Place(frame.f_code.co_filename, line, column)
        if isinstance(iterable, _Dynamic):
            iterable.name = name
            return iterable.run(place, frame)
        if isinstance(iterable, Register):
            raise Refusal("a loop over a register; use 'nl.dynamic_range'", place)
        return _recorded(recorder, iterable, name, place)

    def loop_while(condition, line, column):
        if not runs():
            return _plain_while(condition)
        frame = sys._getframe(1)
        place = Place(frame.f_code.co_filename, line, column)
        return _while(recorder, condition, place, frame)

    return {"__tally_for__": loop_for, "__tally_while__": loop_while}


def _recorded(recorder, iterable, name, place):
    iterator = iter(iterable)
    loop = recorder.open_loop(name, place)
    try:
        while True:
            # What makes the next value, perhaps a generator of the kernel, belongs to its iteration.
            recorder.begin_iteration(loop)
            try:
                value = next(iterator)
            except StopIteration:
                recorder.take_back_iteration(loop)
                return
            yield value
    finally:
        _abandon(recorder, loop, place)


def _plain_while(condition):
    while condition():
        yield None


def _while(recorder, condition, place, frame):
    holds = condition()
    if isinstance(holds, Register):
        yield from _dynamic_while(recorder, holds, condition, place, frame)
        return
    loop = recorder.open_loop("while", place)
    try:
        while holds:
            recorder.begin_iteration(loop)
            yield None
            holds = condition()
    finally:
        _abandon(recorder, loop, place)
