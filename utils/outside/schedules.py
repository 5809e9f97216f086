"""Single schedules, for code whose resets are not surely ordered: all of them, or some at random.

The state is what [json/Execution.md#engines] to [json/Execution.md#completion] say: how far each engine is, what each queue
has retired (or each ring delivered), and the values of semaphores. A walk over all states gives yes or
no; where there are too many, random schedules can only find a no.
"""

from control import DRAIN, ISSUE, RESET, SIGNAL, WAIT


class State:
    """Flat and hashable: operations done, deliveries of each ring of each queue, values."""

    __slots__ = ("done", "delivered", "values")

    def __init__(self, done, delivered, values):
        self.done = done
        self.delivered = delivered
        self.values = values

    def key(self):
        return self.done, self.delivered, self.values


class Stepper:
    """All steps from a state; `lists` as in order.System."""

    def __init__(self, system):
        self.system = system
        self.rings = [rings or 1 for rings in system.rings]
        self.issues = [[] for _ in system.engine_of]  # signals of each run, by queue
        self.issued_before = []  # by engine and operation: how many each of its queues has issued
        for engine, operations in enumerate(system.lists):
            self.issued_before.append(self.count_issues(engine, operations))

    def count_issues(self, engine, operations):
        counts = dict.fromkeys(self.system.queues_of[engine], 0)
        table = [dict(counts)]
        for kind, semaphore, amount, queue in operations:
            if kind is ISSUE:
                counts[queue] += 1
                self.issues[queue].append((semaphore, amount))
            table.append(dict(counts))
        return table

    def start(self):
        delivered = tuple((0,) * rings for rings in self.rings)
        return State((0,) * len(self.system.lists), delivered, (0,) * self.system.num_semaphores)

    def retired(self, state, queue):
        return min(state.delivered[queue])

    def steps(self, state):
        """What can be done: ('engine', e) or ('ring', queue, ring)."""
        steps = []
        for engine, operations in enumerate(self.system.lists):
            if state.done[engine] < len(operations) and self.can_go(state, engine, operations[state.done[engine]]):
                steps.append(("engine", engine))
        for queue, engine in enumerate(self.system.engine_of):
            issued = self.issued_before[engine][state.done[engine]][queue]
            steps += [("ring", queue, ring) for ring, count in enumerate(state.delivered[queue]) if count < issued]
        return steps

    def can_go(self, state, engine, operation):
        kind, semaphore, threshold, _ = operation
        if kind is WAIT:
            return self.system.passes(state.values[semaphore], threshold)
        if kind is DRAIN:
            issued = self.issued_before[engine][state.done[engine]]
            return all(self.retired(state, queue) == count for queue, count in issued.items())
        return True

    def do(self, state, step):
        if step[0] == "engine":
            return self.operate(state, step[1])
        _, queue, ring = step
        rings = list(state.delivered[queue])
        semaphore, amount = self.issues[queue][rings[ring]]
        rings[ring] += 1
        delivered = state.delivered[:queue] + (tuple(rings),) + state.delivered[queue + 1:]
        # [json/Execution.md#completion]: the first rings add what does not divide evenly.
        share = (amount or 0) // len(rings) + (ring < (amount or 0) % len(rings))
        return State(state.done, delivered, self.raised(state.values, semaphore, share))

    def operate(self, state, engine):
        kind, semaphore, amount, _ = self.system.lists[engine][state.done[engine]]
        done = state.done[:engine] + (state.done[engine] + 1,) + state.done[engine + 1:]
        values = state.values
        if kind is SIGNAL:
            values = self.raised(values, semaphore, amount)
        elif kind is RESET:
            values = values[:semaphore] + (0,) * amount + values[semaphore + amount:]
        return State(done, state.delivered, values)

    @staticmethod
    def raised(values, semaphore, amount):
        if semaphore is None:
            return values
        return values[:semaphore] + (values[semaphore] + amount,) + values[semaphore + 1:]


class Search:
    """Looks for a bad state: `is_bad(state, step)` is asked before each step, and `at_end(state)` where
    nothing more can be done; both give a finding or None."""

    def __init__(self, system, is_bad, at_end):
        self.stepper = Stepper(system)
        self.is_bad = is_bad
        self.at_end = at_end

    def all_states(self, most):
        """A finding; None if there is surely none; False if there were too many states."""
        start = self.stepper.start()
        seen, stack = {start.key()}, [start]
        while stack:
            state = stack.pop()
            steps = self.stepper.steps(state)
            finding = self.look(state, steps)
            if finding:
                return finding
            for step in steps:
                following = self.stepper.do(state, step)
                if following.key() not in seen:
                    if len(seen) >= most:
                        return False
                    seen.add(following.key())
                    stack.append(following)
        return None

    def look(self, state, steps):
        if not steps:
            return self.at_end(state)
        return next((bad for bad in (self.is_bad(state, step) for step in steps) if bad), None)

    def by_chance(self, random, schedules, hold_back):
        """Random schedules; in each, one of `hold_back` (steps as in `steps`) comes only if nothing else can."""
        for _ in range(schedules):
            held = random.choice(hold_back) if hold_back else None
            finding = self.one_schedule(random, held)
            if finding:
                return finding
        return None

    def one_schedule(self, random, held):
        state = self.stepper.start()
        while True:
            steps = self.stepper.steps(state)
            finding = self.look(state, steps)
            if finding or not steps:
                return finding
            others = [step for step in steps if step[:2] != held]
            state = self.stepper.do(state, random.choice(others or steps))
