"""What a kernel means: decisions, the walk of each engine, and what each run asks for.

An engine walks all bodies, also those in which it has no instruction, since Eq. 1 is counted in its
own history [json/Meaning.md#what-a-dependence-asks]. Engines that agree on all decisions walk alike.
"""

import bisect

from documents import common_loops, If, Loop, Table
from tiles import Access, evaluate, is_met, Surroundings, TileParser


# ---- Decisions ----------------------------------------------------------------------------


class Choice:
    """All decisions of one run: [json/Meaning.md#bodies-entries-and-iterations].

    `trips` and `takes` map the name of a loop or `if`, or `name@engine`, to a list that is gone
    through over and over, one entry for each time that it is reached. `values` are those of `$n`.
    """

    def __init__(self, trips, takes, values):
        self.trips = trips
        self.takes = takes
        self.values = values

    def trips_of(self, loop, engine, reached, iterations):
        """`iterations` are those of the loops around."""
        if loop.constant:
            return loop.least
        if loop.formula:
            formula = TileParser(loop.formula).parse_formula()
            return max(0, evaluate(formula, Surroundings(iterations, {}, {}, self.values)))
        listed = self.find(self.trips, loop, engine) or [max(2, loop.least)]
        return clip(listed[reached % len(listed)], loop.least, loop.most)

    def takes_then(self, branch, engine, reached, iterations):
        if branch.when:
            around = Surroundings(iterations, {}, {}, self.values)
            return is_met(TileParser(branch.when).parse_condition(), around)
        listed = self.find(self.takes, branch, engine) or [1]
        return bool(listed[reached % len(listed)])

    @staticmethod
    def find(table, what, engine):
        # Only where engines may disagree does the engine count.
        if not what.uniform and f"{what.name}@{engine}" in table:
            return table[f"{what.name}@{engine}"]
        return table.get(what.name)

    def options(self):
        """As on the command line."""
        parts = [f"--trips={name}={','.join(map(str, listed))}" for name, listed in sorted(self.trips.items())]
        parts += [f"--takes={name}={','.join(map(str, listed))}" for name, listed in sorted(self.takes.items())]
        parts += [f"--value={name}={value}" for name, value in sorted(self.values.items())]
        return " ".join(parts)


def clip(number, least, most):
    number = max(number, least)
    return number if most is None else min(number, most)


# ---- Walking ------------------------------------------------------------------------------


class Run:
    """One run of an instruction, by its own engine.

    `number` counts the runs of the instruction, `slot` those of its queue, both from 0. `place` orders
    runs as the sequential program does. `needs` are the slots of other queues that must have retired,
    as (queue, slot), where a slot of None can never be.
    """

    def __init__(self, instruction, number, place, iterations):
        self.instruction = instruction
        self.number = number
        self.place = place
        self.iterations = iterations
        self.slot = None
        self.needs = []
        self.asked = []  # (dependence, number of runs asked for)
        self.touches = []
        self.told = None  # touches as code tells them

    def __str__(self):
        at = "".join(f" {loop}={iteration}" for loop, iteration in self.iterations)
        return f"run {self.number} of '{self.instruction.name}'" + (f" (at{at})" if at else "")


class Limit(Exception):
    """The run is longer than asked for."""


class Walk:
    """The walk of one engine: its own runs, and the entries of all bodies."""

    def __init__(self, kernel, choice, engine, accesses=None, most=100_000):
        self.kernel = kernel
        self.choice = choice
        self.engine = engine
        self.accesses = accesses  # by instruction; None if tiles do not matter
        self.steps_left = most
        self.reached = {}
        self.entries = {}  # by body: iterations of its loops, in order
        self.skipped = set()  # branches that were not taken at least once, and loops that ran no time
        self.runs = []
        self.num_runs = {}
        self.trips_now = {}
        self.enter(kernel.root, (), ())

    def enter(self, body, iterations, place):
        self.steps_left -= 1
        if self.steps_left < 0:
            raise Limit()
        self.entries.setdefault(body, []).append(iterations)
        for index, statement in enumerate(body.statements):
            here = place + (index,)
            if isinstance(statement, Loop):
                self.enter_loop(statement, iterations, here)
            elif isinstance(statement, If):
                around = {outer.name: at for outer, at in zip(body.loops, iterations)}
                then = self.choice.takes_then(statement, self.engine, self.reach(statement), around)
                self.skipped.add(statement.otherwise if then else statement.then)
                self.enter(statement.then if then else statement.otherwise, iterations, here + (0 if then else 1,))
            elif statement.queue.engine == self.engine:
                self.add_run(statement, iterations, here)

    def enter_loop(self, loop, iterations, place):
        around = {outer.name: at for outer, at in zip(loop.body.loops, iterations)}
        trips = self.choice.trips_of(loop, self.engine, self.reach(loop), around)
        if trips == 0:
            self.skipped.add(loop.body)
        for iteration in range(trips):
            self.trips_now[loop.name] = trips
            self.enter(loop.body, iterations + (iteration,), place + (iteration,))

    def reach(self, what):
        count = self.reached.get(what, 0)
        self.reached[what] = count + 1
        return count

    def add_run(self, instruction, iterations, place):
        number = self.num_runs.get(instruction, 0)
        self.num_runs[instruction] = number + 1
        names = [loop.name for loop in instruction.body.loops]
        run = Run(instruction, number, place, list(zip(names, iterations)))
        run.asked = [(dependence, self.asks(dependence, number, iterations))
                     for dependence in instruction.dependences]
        if self.accesses is not None:
            around = Surroundings(dict(run.iterations), self.totals(), self.trips_now, self.choice.values)
            run.touches = touches_of(self.accesses[instruction].written, around)
            run.told = touches_of(self.accesses[instruction].told, around)
        self.runs.append(run)

    def totals(self):
        """[json/Meaning.md#tiles]: `total` is the number of earlier entries, 0 in the first."""
        return {body.name: len(entries) - 1 for body, entries in self.entries.items()}

    def asks(self, dependence, number, iterations):
        """How many runs of the producer must have retired [json/Meaning.md#what-a-dependence-asks]."""
        if dependence.flat is not None:
            return max(0, number + 1 - dependence.flat)
        common = common_loops(dependence.producer, dependence.consumer)
        is_table = isinstance(dependence.element, Table)
        if is_table and dependence.element.over:
            common = common[:[loop.name for loop in common].index(dependence.element.over)]
        elif is_table and dependence.producer.body is dependence.consumer.body:
            common = common[:-1]
        target = [iterations[level] - dependence.distance.get(loop.name, 0) for level, loop in enumerate(common)]
        if any(component < 0 for component in target):
            return 0

        # Entries come in the order of their iterations, so those asked for are the first.
        def entries_up_to(body, place, search):
            return search(self.entries.get(body, []), tuple(place), key=lambda entry: entry[:len(common)])

        asked = entries_up_to(dependence.producer.body, target, bisect.bisect_right)
        if dependence.element is None:
            return asked
        own, here = dependence.consumer.body, iterations[:len(common)]
        run = len(self.entries[own]) - 1 - entries_up_to(own, here, bisect.bisect_left)
        run = dependence.element.needed(run) if is_table else run - dependence.element
        before = entries_up_to(dependence.producer.body, target, bisect.bisect_left)
        return min(before + run + 1, asked) if run >= 0 else 0


class Meaning:
    """What the kernel means under one choice: the runs of each engine, with what each needs."""

    def __init__(self, kernel, choice, with_tiles=True, most=100_000):
        self.kernel = kernel
        self.choice = choice
        accesses = parse_accesses(kernel) if with_tiles else None
        walks = {engine: Walk(kernel, choice, engine, accesses, most) for engine in kernel.engines}
        self.runs = {engine: walk.runs for engine, walk in walks.items()}
        self.skipped = set().union(*(walk.skipped for walk in walks.values()))
        self.queues = {queue: [] for queue in kernel.queues.values()}
        for runs in self.runs.values():
            for run in runs:
                slots = self.queues[run.instruction.queue]
                run.slot = len(slots)
                slots.append(run)
        self.resolve()

    def resolve(self):
        """Turns numbers of runs into slots of queues."""
        by_instruction = {}
        for slots in self.queues.values():
            for run in slots:
                by_instruction.setdefault(run.instruction, []).append(run)
        for runs in self.runs.values():
            for run in runs:
                for dependence, count in run.asked:
                    if count:
                        producers = by_instruction.get(dependence.producer, [])
                        slot = producers[count - 1].slot if count <= len(producers) else None
                        run.needs.append((dependence.producer.queue, slot, dependence))

    def skips(self, instruction):
        """Whether a branch around the instruction was not taken at least once, or a loop ran no time."""
        body = instruction.body
        while body and body not in self.skipped:
            body = body.parent
        return body is not None

    def in_order(self):
        """All runs, as the sequential program has them [json/Meaning.md#runs-of-instructions]."""
        return sorted((run for runs in self.runs.values() for run in runs), key=lambda run: run.place)


def touches_of(accesses, around):
    return None if accesses is None else [touch for touch in (access.touch(around) for access in accesses) if touch]


class Accesses:
    """Of one instruction, parsed: as the kernel was written, and as code tells it, if these are two documents."""

    def __init__(self, instruction, buffers):
        self.written = self.parsed(instruction.accesses, instruction, buffers)
        same = instruction.told is None or instruction.told == instruction.accesses
        self.told = None if same else self.parsed(instruction.told, instruction, buffers)

    @staticmethod
    def parsed(accesses, instruction, buffers):
        return [Access(kind, tile, instruction, buffers) for kind, tile in accesses]


def parse_accesses(kernel):
    return {instruction: Accesses(instruction, kernel.buffers) for instruction in kernel.instructions.values()}
