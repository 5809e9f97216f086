"""All interleavings at once, where semaphores only grow.

Is run P of a queue always over before operation X of an engine? Keep P from retiring forever, and let
everything else go as far as it can. Semaphores only grow, so no other interleaving gets farther: if
X is still not reached, P is always over before it; if X is reached, that is a schedule in which it is not.

`Progress` is that walk. Limits say how many runs of a queue may retire and how many operations an engine
may do. They can be raised later, and the walk goes on from where it stood, again as far as it can get. So one walk for each queue and engine answers all questions about it.

Resets break this, unless each is ordered against all that happens on its semaphore. Then the semaphore
between two resets is one of its own, which only grows. `Epochs` makes these and says what has to be
ordered for that; the question is asked of the system in which it is already assumed. That is not a circle:
the first step of a real schedule that is not possible there would have to break one of these orders.
"""

from control import DRAIN, ISSUE, RESET, SIGNAL, WAIT

FREE = 1 << 60  # no limit


class System:
    """Operations of all engines; engines and queues by number.

    `lists[e]` holds tuples (kind, semaphore, number, queue). `spare[s]` are what the last ring of a queue
    adds [json/Execution.md#completion], None for queues whose completions come whole.
    """

    def __init__(self, lists, num_semaphores, queues, bits=60, signed=False):
        self.lists = lists
        self.num_semaphores = num_semaphores
        self.engine_of = [engine for engine, _ in queues]
        self.rings = [rings for _, rings in queues]
        self.queues_of = [[] for _ in lists]
        for queue, (engine, _) in enumerate(queues):
            self.queues_of[engine].append(queue)
        self.mask = (1 << bits) - 1
        self.bias = 1 << (bits - 1) if signed else 0

    def passes(self, value, threshold):
        """[json/Execution.md#the-machine]: both sides read as B bits, with or without sign."""
        return (value + self.bias) & self.mask >= (threshold + self.bias) & self.mask


class Progress:
    """As far as everything gets within the limits.

    `late_rings`: of a run that may not retire, all rings but the last deliver, which is what lets the
    others get farthest; otherwise it delivers nothing.
    """

    def __init__(self, system, retire_limits=None, engine_limits=None, late_rings=True):
        self.system = system
        self.retire_limits = retire_limits or [FREE] * len(system.engine_of)
        self.engine_limits = engine_limits or [FREE] * len(system.lists)
        self.late_rings = late_rings
        self.done = [0] * len(system.lists)
        self.values = [0] * system.num_semaphores
        self.issued = [[] for _ in system.engine_of]  # signals of the runs that have not retired
        self.retired = [0] * len(system.engine_of)
        self.sleepers = {}  # by semaphore: engines that wait for it
        self.order = []  # engine and place of each operation, as they were done
        self.work = list(range(len(system.lists)))
        self.settle()

    def allow_retirements(self, queue, limit):
        self.retire_limits[queue] = limit
        self.retire(queue)
        self.work.append(self.system.engine_of[queue])  # it may drain
        self.settle()

    def allow_operations(self, engine, limit):
        self.engine_limits[engine] = limit
        self.work.append(engine)
        self.settle()

    def settle(self):
        while self.work:
            self.advance(self.work.pop())

    def advance(self, engine):
        """The engine goes on until it has to wait."""
        operations, limit = self.system.lists[engine], self.engine_limits[engine]
        place = self.done[engine]
        while place < len(operations) and place < limit:
            kind, semaphore, amount, queue = operations[place]
            if kind is WAIT:
                if not self.system.passes(self.values[semaphore], amount):
                    self.sleepers.setdefault(semaphore, []).append(engine)
                    break
            elif kind is ISSUE:
                self.issue(queue, semaphore, amount)
            elif kind is SIGNAL:
                self.add(semaphore, amount)
            elif kind is DRAIN and any(self.issued[queue] for queue in self.system.queues_of[engine]):
                break
            self.order.append((engine, place))
            place += 1
        self.done[engine] = place

    def issue(self, queue, semaphore, amount):
        if self.retired[queue] + len(self.issued[queue]) < self.retire_limits[queue]:
            self.retired[queue] += 1
            self.add(semaphore, amount)
            return
        rest = amount
        if semaphore is not None and self.late_rings and self.system.rings[queue]:
            # The last ring has the smallest share of each amount.
            rest = amount // self.system.rings[queue]
            self.add(semaphore, amount - rest)
        self.issued[queue].append((semaphore, rest))

    def retire(self, queue):
        waiting = self.issued[queue]
        count = min(len(waiting), self.retire_limits[queue] - self.retired[queue])
        for semaphore, amount in waiting[:count]:
            self.add(semaphore, amount)
        del waiting[:count]
        self.retired[queue] += count

    def add(self, semaphore, amount):
        if semaphore is None:
            return
        self.values[semaphore] += amount
        woken = self.sleepers.pop(semaphore, None)
        if woken:
            self.work.extend(woken)


class Reach:
    """How far each engine gets while something is held back.

    `without_run(q, slot)[e]` operations of engine e while the run has not retired, `without_operation(e,
    place)` while the operation has not been done.
    """

    def __init__(self, system):
        self.system = system
        self.by_queue = {}
        self.by_engine = {}
        self.free = Progress(system)

    def without_run(self, queue, slot):
        table = self.by_queue.setdefault(queue, [])
        if not table:
            limits = [FREE] * len(self.system.engine_of)
            limits[queue] = 0
            progress = Progress(self.system, retire_limits=limits)
            runs = self.free.retired[queue] + len(self.free.issued[queue])
            for retired in range(runs):
                progress.allow_retirements(queue, retired)
                table.append(list(progress.done))
        # What is never issued holds nothing back that the last one does not.
        return table[slot] if slot < len(table) else self.free.done

    def without_operation(self, engine, place):
        table = self.by_engine.setdefault(engine, [])
        if not table:
            progress = self.stopped(engine)
            for stop in range(len(self.system.lists[engine])):
                progress.allow_operations(engine, stop)
                table.append(list(progress.done))
        return table[place]

    def values_without(self, engine, places):
        """Yields, for each place in rising order, it and the values of semaphores while it has not been done."""
        progress = self.stopped(engine)
        for place in places:
            progress.allow_operations(engine, place)
            yield place, progress.values

    def stopped(self, engine):
        limits = [FREE] * len(self.system.lists)
        limits[engine] = 0
        return Progress(self.system, engine_limits=limits)


class Epochs:
    """Gives each semaphore a name of its own between two resets, along one schedule.

    `lists` are the operations with these names and without effect of resets; `stuck` is how far the
    engines got in that schedule if it did not end; `broken` says which order is not forced, or is None.
    """

    def __init__(self, lists, num_semaphores, queues, bits, signed):
        self.lists = [list(operations) for operations in lists]
        self.names = list(range(num_semaphores))  # the semaphore of each epoch
        self.now = list(range(num_semaphores))
        self.events = {}  # by epoch: engine, place of waits and signals; and runs that signal
        self.resets = []  # engine, place, ended epoch, begun epoch
        self.bits = bits
        self.signed = signed
        self.queues = queues
        self.issued = [0] * len(queues)
        schedule = Schedule(lists, num_semaphores, queues, bits, signed)
        ended = all(done == len(listed) for done, listed in zip(schedule.done, lists))
        self.stuck = None if ended else schedule.done
        self.rename(schedule.order)
        self.system = System(self.lists, len(self.names), queues, bits, signed)
        self.reach = Reach(self.system)
        self.broken = next(self.find_broken(), None)

    def rename(self, order):
        for engine, place in order:
            kind, semaphore, amount, queue = self.lists[engine][place]
            slot = None
            if kind is ISSUE:
                slot = self.issued[queue]
                self.issued[queue] += 1
            if kind is RESET:
                for which in range(semaphore, semaphore + amount):
                    self.begin_epoch(which, engine, place)
            elif semaphore is not None:
                epoch = self.now[semaphore]
                self.lists[engine][place] = (kind, epoch, amount, queue)
                self.events.setdefault(epoch, []).append((engine, place, queue, slot))

    def begin_epoch(self, semaphore, engine, place):
        self.resets.append((engine, place, self.now[semaphore], len(self.names)))
        self.now[semaphore] = len(self.names)
        self.names.append(semaphore)

    def find_broken(self):
        """Everything of the ended epoch comes before the reset, all of the next one after it."""
        begun = {}
        for engine, place, ended, next_epoch in self.resets:
            before = list(self.events.get(ended, []))
            if ended in begun:
                before.append(begun[ended] + (None, None))
            begun[next_epoch] = (engine, place)
            for event in before:
                if not self.comes_before(event, engine, place):
                    yield f"the reset of semaphore {self.names[ended]} may come before what it ends"
            for event in self.events.get(next_epoch, []):
                if not self.comes_after(event, engine, place):
                    yield f"the reset of semaphore {self.names[ended]} may come after what it begins"

    def comes_before(self, event, engine, place):
        other, other_place, queue, slot = event
        if slot is not None:  # a signal that comes with retirement
            return self.reach.without_run(queue, slot)[engine] <= place
        return other == engine or self.reach.without_operation(other, other_place)[engine] <= place


    def comes_after(self, event, engine, place):
        """A wait, too, must not even be tried before, when the old value may let it pass."""
        other, other_place, _, _ = event
        reached = self.reach.without_operation(engine, place)[other]
        tried = self.lists[other][other_place][0] is WAIT
        return other == engine or reached < other_place + (0 if tried else 1)


class Schedule(Progress):
    """One schedule in which all retires at once and resets have their effect."""

    def __init__(self, lists, num_semaphores, queues, bits, signed):
        super().__init__(System(lists, num_semaphores, queues, bits, signed))

    def advance(self, engine):
        """As in Progress, but resets set values back."""
        operations = self.system.lists[engine]
        while self.done[engine] < len(operations):
            kind, semaphore, amount, queue = operations[self.done[engine]]
            if kind is WAIT and not self.system.passes(self.values[semaphore], amount):
                self.sleepers.setdefault(semaphore, []).append(engine)
                return
            self.order.append((engine, self.done[engine]))
            self.done[engine] += 1
            if kind is ISSUE:
                self.issue(queue, semaphore, amount)
            elif kind is SIGNAL:
                self.add(semaphore, amount)
            elif kind is RESET:
                self.values[semaphore:semaphore + amount] = [0] * amount
