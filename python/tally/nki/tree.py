"""The trace: a tree of loops, iterations and operations.

Every loop of the kernel runs in full, on concrete numbers, so Python may do what it likes. The recorder
keeps, for the iteration that runs, the operations so far; when a loop ends, its iterations are rolled
up at once (rollup.py), so memory holds what is written and not what was run.

An operation is a `Head` and its numbers. The `Head` says everything except numbers, and is the same
object for all operations that are alike. The numbers are, for each tile, the iterations in which its
memory was allocated and the first element in each dimension; for each sum, whether it sets (0) or adds
(1). At the end come the whole numbers in its expressions. A `Family` holds all allocations of
one line in the iterations of the same loops.
"""

import re
from typing import NamedTuple, Optional

from . import rollup
from .loads import Loads
from .places import here
from .refusal import Refusal
from .values import Scope, row_of


_NUMBERS = re.compile(r"[-_]?\d+")


class Family:
    """The allocations of one line; `loops` are those around it, outermost first. `shape` is that of the document,
    which may have other rows than the kernel's."""

    __slots__ = ("name", "loops", "shape", "element", "space", "place", "extents", "regrouped", "kept")

    def __init__(self, name, loops, shape, element, space, place):
        self.name, self.loops, self.shape = name, loops, shape
        self.element, self.space, self.place = element, space, place
        self.extents, self.regrouped = [0] * len(loops), False
        self.kept = False  # the kernel returns one of them: none may take the place of another


class Tile(NamedTuple):
    """What an access says in addition to its numbers. `role` is 'r', 'w', or 'a' for a sum."""

    role: str
    family: Family
    counts: tuple
    steps: tuple
    exact: bool
    order: object  # values.Order, or None if it is row-major
    shape: tuple  # of the view, 1 along axes where it repeats
    whole: bool  # anything in the buffer: the address is known only at run time
    pattern: object  # values.Pattern of what is not a box, or None


class Head(NamedTuple):
    number: int
    operation: str
    engine: str
    queue: str
    cost: str
    results: tuple  # expressions, one for each tile written and then each sum
    place: object
    tiles: tuple
    kinds: tuple  # of the numbers, as rollup.py has them
    numbers: int  # how many of them, the last ones, are in its expressions
    uses: tuple  # of a load of a register (loads.py)


class Operation:
    """One instruction that ran; `targets` are the views that it writes or adds to."""

    __slots__ = ("name", "engine", "queue", "cost", "results", "place", "accesses", "numbers", "value", "uses", "record")

    def __init__(self, name, engine, queue, cost, results, place, accesses, numbers=()):
        self.name, self.engine, self.queue, self.cost = name, engine, queue, cost
        self.results, self.place, self.accesses = results, place, accesses
        self.numbers = numbers  # whole numbers in its expressions, which may differ in each iteration
        self.value, self.uses = None, set()  # of a register that it loads (loads.py)


class OpenLoop:
    __slots__ = ("id", "name", "place", "trips", "iterations", "index", "parent", "copies", "written",
                 "carried", "scope", "before", "same")

    def __init__(self, identity, name, place, trips, parent, copies):
        self.id, self.name, self.place, self.trips = identity, name, place, trips
        self.parent, self.copies = parent, copies
        self.iterations, self.index = [], -1
        self.written = []  # memories and registers, if the loop is dynamic
        self.carried = False  # a known number goes over from one iteration to the next
        self.scope = None  # of the iteration, if the loop is dynamic
        self.before, self.same = None, 0  # Python's state at an earlier iteration, and for how long it has not changed


class Trips(NamedTuple):
    """How often a dynamic loop runs: by a value, while a condition holds, or as the index of a loop around it says (`follows`).
    Values of one identity are one value. `loaded`: what was loaded of it."""

    value: Optional[str]
    condition: Optional[str]
    identity: object
    follows: bool = False
    loaded: tuple = ()


_MOST_IDLE = 1_000_000


class Limits(NamedTuple):
    operations: int = 2_000_000
    iterations: int = 10_000_000
    bytes: int = 8 << 30
    multiply_adds: int = 0  # of all products; 0: any number


class TooLarge(Refusal):
    """The kernel may be right, and takes more work than it is given."""


class Recorder:
    def __init__(self, limits=Limits(), progress=None):
        self.limits = limits
        if progress is not None:
            progress(self)
        self.heads, self._head_numbers = [], {}
        self.interner = rollup.Interner(self.heads)
        self.block, self.loops, self.copies = [], [], {}
        self.loop_ids, self.families = {}, {}
        self.loop_info = []
        self.most_trips = {}  # of each loop that follows another one and sets what its next iteration reads
        self.entries = {}  # of each dynamic loop, by the iterations around it: how often it ran
        self.registers_set = 0
        self.operations = self.iterations = self.bytes = self.multiply_adds = 0
        self.idle = 0  # turns of loops that may be endless since the last operation
        self.obstacles = {}
        self.log = None  # tests keep every operation here
        self.demoted = set()  # places of memories whose numbers an iteration of a dynamic loop made unknown
        self.counters, self.far = set(), False  # places of numbers in memory that loops count; whether addresses go beyond FAR
        self.refusal = None  # what could not be raised where it was found
        self.again = None  # why the kernel is to be run once more
        self.loads = Loads(self)

    # ---- Operations

    def add(self, operation):
        if self.refusal is not None:
            raise self.refusal
        self.operations += 1
        self.idle = 0
        if self.operations > self.limits.operations:
            raise TooLarge(f"the kernel ran more than {self.limits.operations} operations; trace it at a "
                          "smaller shape, or allow more with '--max-operations'", operation.place)
        if self.log is not None:
            self.log.append(operation)
        self.block.append(operation)

    def multiplied(self, count):
        self.multiply_adds += count
        if 0 < self.limits.multiply_adds < self.multiply_adds:
            raise TooLarge(f"the kernel takes more than {self.limits.multiply_adds:.0e} multiply-adds", here())

    def finished(self, operation):
        """The head and the numbers of an operation that nothing changes any more."""
        tiles, numbers, kinds = [], [], []
        sources = {id(view): place for place, view in enumerate(
            view for role, view, _ in operation.accesses if role == "r")}
        for role, view, flag in operation.accesses:
            memory, whole = view.memory, view.unknown
            box, family = None if whole else view.box(), memory.family
            pattern = view.pattern(sources) if whole or not box.exact else None
            tiles.append(Tile(role, family, None, None, False, None, view.shape, True, pattern) if whole else
                         Tile(role, family, box.counts, box.steps, box.exact, box.order, box.shape, False, pattern))
            numbers += memory.coordinates
            kinds += [rollup.PLAIN] * len(memory.coordinates)
            if not whole:
                numbers += box.firsts
                kinds += [rollup.PLAIN] * len(box.firsts)
            if pattern is not None:
                numbers += divmod(view.base, row_of(family.shape))
                kinds += [rollup.PLAIN, rollup.PLAIN]
            if role == "a":
                numbers.append(flag)
                kinds.append(rollup.FLAG)
        numbers += operation.numbers
        kinds += [rollup.PLAIN] * len(operation.numbers)
        self.loads.use_in_addresses([view for _, view, _ in operation.accesses], operation.engine)
        uses = tuple(sorted(operation.uses))
        key = (operation.name, operation.engine, operation.queue, operation.cost,
               tuple(result.key for result in operation.results), operation.place, tuple(tiles), uses)
        number = self._head_numbers.get(key)
        if number is None:
            number = self._head_numbers[key] = len(self.heads)
            self.heads.append(Head(number, operation.name, operation.engine, operation.queue,
                                   operation.cost, operation.results, operation.place, tuple(tiles),
                                   tuple(kinds), len(operation.numbers), uses))
        self.loads.close(operation, number)
        if self.log is not None:
            operation.record = number, tuple(numbers)
        return number, numbers

    def obstacle(self, reason, place=None):
        """Something that is counted, since the kernel that is written does not say it."""
        key = reason, place if place is not None else here()
        self.obstacles[key] = self.obstacles.get(key, 0) + 1

    # ---- Loops

    @property
    def depth(self):
        return len(self.loops)

    @property
    def is_dynamic(self):
        return any(loop.trips is not None for loop in self.loops)

    def coordinates(self):
        return tuple(loop.index for loop in self.loops)

    def open_loop(self, name, place, trips=None):
        parent = self.loops[-1].id if self.loops else None
        ordinal = self._count(("loop", place))
        key = parent, place, ordinal
        identity = self.loop_ids.setdefault(key, len(self.loop_ids))
        if identity == len(self.loop_info):
            self.loop_info.append((name, place, trips))
        loop = OpenLoop(identity, name, place, trips, self.block, self.copies)
        self.loops.append(loop)
        return loop

    def begin_iteration(self, loop):
        self._end_iteration(loop)
        self.iterations += 1
        if self.iterations > self.limits.iterations:
            raise Refusal(f"the kernel's loops began more than {self.limits.iterations} iterations; does "
                          "this one end?", loop.place)
        loop.index += 1
        loop.scope = Scope(loop.name) if loop.trips is not None else None
        self.block, self.copies = [], {}

    def turn(self, place):
        """A loop that may be endless goes on."""
        self.idle += 1
        if self.idle > _MOST_IDLE:
            raise Refusal(f"the kernel's loops went on {_MOST_IDLE} times without an operation; does this one end?", place)

    def scope(self):
        """The iteration of the innermost dynamic loop, None outside of all."""
        return next((loop.scope for loop in reversed(self.loops) if loop.trips is not None), None)

    def take_back_iteration(self, loop):
        """The iteration was none, unless something ran in it."""
        while self.loops[-1] is not loop:
            self.close_loop(self.loops[-1])
        if not self.block:
            loop.index -= 1
            self.block = None

    def _end_iteration(self, loop):
        """Whatever was opened inside, and left by an exception, ends with it."""
        while self.loops[-1] is not loop:
            self.close_loop(self.loops[-1])
        if self.block is not None and loop.index >= 0:
            loop.iterations.append(rollup.freeze(self.block, self))
        if loop.scope is not None:
            loop.scope.ended = True
        self.block = None

    def close_loop(self, loop):
        if loop not in self.loops:
            return
        self._end_iteration(loop)
        self.loops.pop()
        self.block, self.copies = loop.parent, loop.copies
        if loop.trips is not None:
            self._leave_dynamic(loop)
        self.block.extend(rollup.roll(loop, self.interner))

    def new_value(self):
        """What tells the value that a register is set to from all others."""
        self.registers_set += 1
        return "value", self.registers_set

    def _leave_dynamic(self, loop):
        """What the loop has written depends on how often it ran."""
        self.entries[loop.id, self.coordinates()] = loop.index + 1
        if loop.trips.follows and loop.carried:
            self.most_trips[loop.id] = max(self.most_trips.get(loop.id, 0), loop.index + 1)
        for thing in loop.written:
            self.demote(thing)
        for outer in self.loops:
            if outer.trips is not None:
                outer.written += loop.written

    def demote(self, thing):
        """The numbers of a memory or a register are known no more; if this is in a dynamic loop, an earlier iteration
        has taken them as known."""
        if thing.known and self.is_dynamic:
            self.demoted.add(thing.place)
        thing.known = False

    def carries(self, thing):
        """A memory or a register is set in dynamic loops. Those in whose iteration it was not allocated may read first
        what the iteration before has left; from the third one on, that shows."""
        for depth, loop in enumerate(self.loops):
            here = thing.coordinates[:depth + 1] == self.coordinates()[:depth + 1]
            if loop.trips is not None and not here:
                loop.carried = True

    def wrote(self, thing):
        """A memory or a register has a new value."""
        for loop in reversed(self.loops):
            if loop.trips is not None:
                loop.written.append(thing)
                break

    def _count(self, key):
        count = self.copies.get(key, 0)
        self.copies[key] = count + 1
        return count

    # ---- Allocations

    def family(self, name, shape, element, space, place, size):
        self._take_bytes(size, place)
        loops = tuple(loop.id for loop in self.loops)
        # Names of one line that differ in numbers are those of one tile in several iterations.
        key = (loops, place, _NUMBERS.sub("0", name), shape, element.tally, space)
        key += (self._count(key),)
        family = self.families.get(key)
        if family is None:
            family = self.families[key] = Family(name, loops, shape, element, space, place)
        elif family.name != name:
            family.name = _NUMBERS.sub("", family.name).strip("-_") or name
        coordinates = self.coordinates()
        for depth, index in enumerate(coordinates):
            family.extents[depth] = max(family.extents[depth], index + 1)
        return family, coordinates

    def family_outside(self, name, shape, element, space, place, size):
        """One that is there before the kernel runs, wherever it is asked for."""
        self._take_bytes(size, place)
        return Family(name, (), shape, element, space, place)

    def _take_bytes(self, size, place):
        self.bytes += size
        if self.bytes > self.limits.bytes:
            raise TooLarge(f"the kernel's tensors take more than {self.limits.bytes >> 20} MiB; trace it "
                          "at a smaller shape, or allow more with '--max-memory'", place)

    def finish(self):
        """The whole kernel as a block."""
        if self.refusal is not None:
            raise self.refusal
        while self.loops:
            self.close_loop(self.loops[-1])
        block = rollup.freeze(self.block, self)
        for loop, trips in self.most_trips.items():
            if not self.interner.only_run:
                rollup.check_shown(*self.loop_info[loop][:2], trips, 3, True)
        if self.log is not None:
            self.log = [operation.record for operation in self.log]
        return block
