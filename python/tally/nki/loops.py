"""Loops while the kernel runs: what `for` and `while` of the user's files go through (source.py).

A loop over anything of known length is recorded iteration by iteration. A dynamic loop is one whose
bounds or condition are registers. It runs as often as the registers say in this trace, and what would
not be the same on the device is refused: the device has one body for all iterations, so Python must not
count them.
"""

import dis
import inspect
import sys

from . import attributes
from .places import here
from .refusal import Place, Refusal
from .state import MARK, State
from .tree import Trips
from .values import Register, difference, follows, identity_of, refuse

ROUND = "__tally_round__"  # the variable of loops that were 'while' (source.py)


class _Dynamic:
    """`nl.dynamic_range(...)`: what a `for` is given."""

    def __init__(self, recorder, start, stop, step):
        self.recorder, self.start, self.stop, self.step = recorder, start, stop, step
        self.names, self.name = (), "i"  # the variables of its 'for'
        self.is_dynamic = isinstance(start, Register) or isinstance(stop, Register)

    def __iter__(self):
        frame = sys._getframe(1)
        if self.is_dynamic and frame.f_code.co_flags & inspect.CO_GENERATOR:
            refuse("a dynamic loop in a generator: what uses it would be in another loop; write the 'for' where its values are used, "
                   "or a function that does it for one index, for 'nl.fori_loop'")
        found = [instruction for instruction in dis.get_instructions(frame.f_code) if instruction.opname != "EXTENDED_ARG"]
        names = [step.opname for step in found if step.offset >= frame.f_lasti][:2]
        if names != ["GET_ITER", "FOR_ITER"]:
            self.check_statement(False)
        return self.run(here(), frame)

    def check_statement(self, is_statement):
        if self.is_dynamic and not is_statement:
            refuse("a dynamic loop that is no 'for' statement, as in 'zip', 'enumerate', 'list' or a comprehension: Python would "
                   "count its iterations; write 'for i in nl.dynamic_range(...):', and derive from 'i' what goes along with it, as in "
                   "'x[nl.ds(128 * i, 128)]'")

    def run(self, place, frame, functions=()):
        first, last = (bound.value if isinstance(bound, Register) else int(bound)
                       for bound in (self.start, self.stop))
        known = not isinstance(self.start, Register) or self.start.known
        trips = max(0, -(-(last - first) // self.step))
        identity = tuple(map(identity_of, (self.start, self.stop, self.step)))
        value = Trips(self._value(frame), None, identity, self._follows()) if self.is_dynamic else None
        loop = self.recorder.open_loop(self.name, place, value)
        if value is not None:
            loop.trips = value._replace(loaded=self.recorder.loads.use(loop, identity))
        watch = _Watch(frame, loop, place, functions, self.names)
        try:
            for number in range(trips):
                self.recorder.begin_iteration(loop)
                yield Register(first + number * self.step, known, self.name, ("index", loop.id), self.recorder)
                watch.look()
            self.recorder.close_loop(loop)
        finally:
            _abandon(self.recorder, loop, place)

    def _follows(self):
        """Whether the trips are a sum of indices of loops around it; what these begin with is a number. The loops must show how it grows."""
        bounds = [bound for bound in (self.start, self.stop) if isinstance(bound, Register)]
        loops = follows(identity_of(self.stop), identity_of(self.start))
        if self.step != 1 or loops is None or not all(bound.known for bound in bounds):
            return False
        for loop in self.recorder.loops:
            loop.carried = loop.carried or loop.id in loops
        return True

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
    """Python's state must be the same after each iteration of a dynamic loop as before."""

    def __init__(self, frame, loop, place, functions, names=(ROUND,)):
        self.given, self.place = (frame, functions, names, loop), place
        self.before = State(*self.given) if loop.trips is not None and frame is not None else None

    def look(self):
        if self.before is None:
            return
        now = State(*self.given)
        change = self.before.change(now)
        if change is not None:
            raise Refusal(f"the dynamic loop {change} which the device does not see: it has one body for all "
                          "iterations; use the loop's index, or a register or a tensor from before the loop", self.place)
        if self.before.reshapes(now):  # the next iteration shows whether it minds
            self.given[-1].carried = True
        self.before = now


_MOST_TURNS = 10_000  # of a dynamic 'while' in a trace


def dynamic_while(recorder, condition, place, frame=None, functions=()):
    """`while register:`, as long as it is not 0."""
    return _dynamic_while(recorder, condition(), condition, place, frame, functions)


def _dynamic_while(recorder, register, condition, place, frame, functions=()):
    name = _variable(register, frame)
    loop = recorder.open_loop("while", place, Trips(None, name, place))
    loaded = recorder.loads.use(loop, [register.identity])
    loop.trips = loop.trips._replace(loaded=loaded)
    watch = _Watch(frame, loop, place, functions)
    value, identity = register.value, register.identity
    entered, counts_down = identity, True
    try:
        while value:
            recorder.begin_iteration(loop)
            yield register
            register = condition()
            if not isinstance(register, Register):
                raise Refusal("the condition of a dynamic 'while' is no longer a register", place)
            watch.look()
            recorder.loads.use(loop, [register.identity], again=True)
            value = register.value
            if value and register.identity == identity:
                raise Refusal(f"'while {name}' does not end: nothing in its body sets the register; set it there, by "
                              "'nisa.register_load' or 'nisa.register_move'", place)
            counts_down = counts_down and difference(identity, register.identity) == 1
            identity = register.identity
            if loop.index >= _MOST_TURNS:
                raise Refusal(f"'while {name}' ran more than {_MOST_TURNS} times in this trace; does it end? A few iterations show "
                              "how they differ, so give inputs with which it runs less often", place)
        if counts_down:  # it runs as often as the register said before
            loop.trips = Trips(name, None, (0, entered, 1), loaded=loaded)
        recorder.close_loop(loop)
    finally:
        _abandon(recorder, loop, place)


def hooks(recorder, runs=lambda: True):
    """The functions that the loops of the user's files call, by name. Loops that run while no kernel does are
    left alone."""

    def loop_for(iterable, names, line, column, is_statement):
        if not runs():
            return iterable
        frame = sys._getframe(1)
        place = Place(frame.f_code.co_filename, line, column)
        name = next((name.strip("_") for name in names if name.strip("_")), "i")
        if isinstance(iterable, _Dynamic):
            iterable.check_statement(is_statement)
            iterable.names, iterable.name = names, name
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

    def turn(line, column):
        if runs():
            recorder.turn(Place(sys._getframe(1).f_code.co_filename, line, column))

    return {MARK: loop_for, "__tally_while__": loop_while, "__tally_turn__": turn, **attributes.hooks()}


def _recorded(recorder, iterable, name, place):
    iterator, ends = iter(iterable), hasattr(iterable, "__len__")
    loop = recorder.open_loop(name, place)
    try:
        while True:
            # What makes the next value, perhaps a generator of the kernel, belongs to its iteration.
            recorder.begin_iteration(loop)
            if not ends:
                recorder.turn(place)
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
            recorder.turn(place)
            yield None
            _check_progress(loop, frame, place)
            holds = condition()
    finally:
        _abandon(recorder, loop, place)


_PATIENCE = 1024


def _check_progress(loop, frame, place):
    """A loop that changes nothing by which Python could decide to end goes on forever. To look takes time, so this is
    done seldom: after each power of two, at a few iterations in a row."""
    turns = loop.index + 1
    since = turns - (1 << turns.bit_length() - 1)
    if turns < _PATIENCE or since > 2:
        return
    now = State(frame, (), (ROUND,))
    if since and not now.opaque and loop.before.change(now) is None:
        loop.same += 1
    else:
        loop.same = 0
    loop.before = now
    if loop.same == 2:
        raise Refusal("this loop does not end: its iterations change nothing by which Python could leave it", place)
