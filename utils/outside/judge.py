#!/usr/bin/env python3
"""Says whether code is right, from the documents alone.

usage: python3 utils/outside/judge.py CODE.json [--kernel=KERNEL.json] [--machine=MACHINE.json]
           [--trips=A=3,0,4] [--trips=B@act=1] [--takes=c=1,0] [--value=n=2]
           [--choices=N] [--seed=N] [--exact] [--format=text|json]

CODE.json is what `tally compile --format=json` prints. Without --trips, --takes and --value, N choices
of them are made. --kernel is the kernel as it was written: its tiles and dependences are then those that
count, and the code must be about it. --machine holds the code to the machine's limits, too. --exact: a wait that is
longer than the dependences of the code ask for is a mistake.

Exit status: 0 yes, 1 no, 2 could not decide (or wrong use).
"""

import argparse
import json
import random
import sys

import documents
from choices import choose
from control import ISSUE, NotAsTheKernel, RESET, WAIT, operations_of
from order import Epochs, Progress, Reach, System
from schedules import Search
from tiles import Memory, TooLarge, condition_of, conflict, formula_of, tied_values, values_of
from walk import Choice, Limit, Meaning

MOST_STEPS = 20_000  # of control and of walks, under one choice
MOST_STATES = 20_000
RANDOM_SCHEDULES = 60

YES, NO, UNDECIDED = "yes", "no", "could not decide"


class Finding:
    """What is wrong: `kind` is one of KINDS."""

    def __init__(self, kind, message):
        self.kind = kind
        self.message = message

    def __str__(self):
        return f"{self.kind}: {self.message}"


KINDS = {
    "form": "the document breaks its own rules",
    "kernel": "the code is about another kernel than the one that was written",
    "limits": "more of the machine is used than there is, or what is reserved",
    "count": "an instruction runs more or less often than the kernel says, or out of order",
    "deadlock": "an engine never reaches its end",
    "early": "a run is issued before a dependence is satisfied",
    "race": "two runs conflict, and nothing orders them",
    "overflow": "a semaphore passes what a wait can tell",
    "reset": "a reset meets what is still counted",
    "late": "a run waits for what its dependences do not ask",
    "asks": "a dependence that was found asks for more than the tiles do",
    "bounds": "a tile reaches beyond its buffer",
}


class Verdict:
    """*no* if there are findings, and otherwise *could not decide* if there are reasons for that."""

    def __init__(self):
        self.findings = []
        self.reasons = []

    def add(self, kind, message):
        self.findings.append(Finding(kind, message))

    def answer(self):
        return NO if self.findings else UNDECIDED if self.reasons else YES


# ---- What does not depend on decisions ----------------------------------------------------


def adopt(code, written, verdict):
    """Lets the tiles and dependences of the kernel as written count, if it is the same kernel."""
    kernel, split = code.kernel, code.machine.split
    ours, theirs = outline(kernel, split), outline(written, split)
    if ours != theirs:
        verdict.add("kernel", f"the code is about {ours}, but the kernel is {theirs}")
        return
    code.found_from_tiles = not written.dependences and not values_of(written)
    for name, instruction in written.instructions.items():
        kernel.instructions[name].told = kernel.instructions[name].accesses
        if all(kernel.buffers[ring].shape == written.buffers[ring].shape for ring in left_open(written)):
            kernel.instructions[name].accesses = instruction.accesses
    if written.dependences and list(map(str, written.dependences)) != list(map(str, kernel.dependences)):
        verdict.add("kernel", "the dependences of the code are not those that are written")


def left_open(kernel):
    """Buffers that may have another number of slots."""
    return [buffer.name for buffer in kernel.buffers.values() if buffer.ring]


def outline(kernel, split):
    """All of a kernel that is not tiles or dependences, as text; `split` if the machine is so."""

    def body(statements):
        return [statement(item) for item in statements]

    def statement(item):
        if isinstance(item, documents.Loop):
            value = formula_of(item.formula) if item.formula else item.value
            bounds = () if item.formula else (item.least, item.most)  # those of values stand below
            trips = (value, bounds, item.uniform)
            return ("loop", item.name, trips, body(item.body.statements))
        if isinstance(item, documents.If):
            return ("if", item.name, condition_of(item.when), item.uniform, body(item.then.statements), body(item.otherwise.statements))
        return ("instr", item.name, sorted(item.open | {item.queue.name}), item.semaphore, len(item.accesses))

    queues = [(queue.name, queue.engine, queue.weight, (queue.split or split) and queue.weight > 1) for queue in kernel.queues.values()]
    buffers = [(buffer.name, len(buffer.shape) if buffer.ring else buffer.shape, buffer.ring, buffer.type, buffer.space,
                buffer.address, buffer.partitions, sorted(buffer.alias), sorted(buffer.noalias)) for buffer in kernel.buffers.values()]
    values = sorted(tied_values(kernel).items())
    return repr((kernel.name, kernel.engines, queues, values, buffers, body(kernel.root.statements)))


def check_limits(code, verdict):
    """Reservations, pins [json/Kernel.md#a-kernel-as-json] and the limits of a machine that was named."""
    used = used_of(code)
    semaphores = {item for touched, _ in used.values() for item in touched}
    for item in sorted(semaphores & set(code.kernel.reserves)):
        verdict.add("limits", f"semaphore {item} is reserved, but used")
    if code.machine.semaphores is not None and semaphores and max(semaphores) >= code.machine.semaphores:
        verdict.add("limits", f"semaphore {max(semaphores)} of {code.machine.semaphores}")
    for engine, (_, registers) in used.items():
        for item in sorted(registers & set(code.kernel.engines[engine])):
            verdict.add("limits", f"register {item} of '{engine}' is reserved, but used")
        if code.machine.registers is not None and registers and max(registers) >= code.machine.registers:
            verdict.add("limits", f"register {max(registers)} of {code.machine.registers} on '{engine}'")


def used_of(code):
    """For each engine: the semaphores and registers that its operations name."""
    used = {}

    def visit(value, semaphores, registers):
        if isinstance(value, list):
            for item in value:
                visit(item, semaphores, registers)
        elif isinstance(value, dict):
            if "semaphore" in value:
                semaphores.update(range(value["semaphore"], value["semaphore"] + value.get("count", 1)))
            registers.update(value[key] for key in ("register", "dst", "counter") if value.get(key) is not None)
            for item in value.values():
                visit(item, semaphores, registers)

    for engine, program in code.programs.items():
        used[engine] = (set(), set())
        visit(program, *used[engine])
    return used


def check_pins(code, verdict):
    """An instruction that is pinned raises its semaphore, or none."""
    for program in code.programs.values():
        for operation in issues_of(program):
            pin = code.kernel.instructions[operation["instr"]].semaphore
            if operation["signal"] and pin not in (None, operation["signal"]["semaphore"]):
                verdict.add("limits", f"'{operation['instr']}' is pinned to semaphore {pin}, but raises another")


def issues_of(program):
    for operation in program:
        if operation["op"] == "issue":
            yield operation
        for part in ("body", "then", "else"):
            yield from issues_of(operation.get(part, []))


# ---- Under one choice ---------------------------------------------------------------------


class Case:
    """Code under one choice of all decisions: operations of all engines, and what the kernel asks."""

    def __init__(self, code, choice, verdict):
        self.code = code
        self.verdict = verdict
        self.kernel = code.kernel
        self.meaning = Meaning(code.kernel, choice, most=MOST_STEPS)
        operations = operations_of(code, choice, self.meaning, MOST_STEPS)
        self.engines = list(code.kernel.engines)
        self.operations = [operations[engine] for engine in self.engines]
        self.lists = [[as_tuple(operation) for operation in listed] for listed in self.operations]
        self.queues = [(self.engines.index(queue.engine), rings_of(queue, code.machine))
                       for queue in code.kernel.queues.values()]
        self.place = {operation.run: (engine, place) for engine, listed in enumerate(self.operations)
                      for place, operation in enumerate(listed) if operation.kind == ISSUE}
        self.asked = self.make_asked()
        self.asked_free = Progress(self.asked)

    def make_asked(self):
        """The least that orders runs: each is issued after those before it, when its dependences are
        satisfied. One semaphore for each queue counts what has retired."""
        lists, self.asked_place = [], {}
        for engine, name in enumerate(self.engines):
            operations = []
            for run in self.meaning.runs[name]:
                for queue, slot, _ in run.needs:
                    operations.append((WAIT, queue.position, 1 << 50 if slot is None else slot + 1, None))
                self.asked_place[run] = (engine, len(operations))
                queue = run.instruction.queue.position
                operations.append((ISSUE, queue, 1, queue))
            lists.append(operations)
        return System(lists, len(self.queues), [(engine, 0) for engine, _ in self.queues])

    def can_be_met(self):
        return all(done == len(listed) for done, listed in zip(self.asked_free.done, self.asked.lists))

    # ---- The questions ----

    def judge(self, exact):
        self.check_told()
        for run in self.meaning.in_order():
            for touch in run.touches:
                if touch.beyond():
                    self.verdict.add("bounds", f"{run} touches {touch} of {touch.buffer.shape}")
                    return
        machine = self.code.machine
        num = len(self.code.semaphores)
        if any(kind is RESET for listed in self.lists for kind, *_ in listed):
            epochs = Epochs(self.lists, num, self.queues, machine.bits, machine.signed)
            system, reach = epochs.system, epochs.reach
            if epochs.stuck and self.can_be_met():
                self.tell_deadlock(epochs.stuck, epochs.lists)
                return
            if epochs.broken:
                self.search(epochs.broken)
                return
        else:
            system = System(self.lists, num, self.queues, machine.bits, machine.signed)
            reach = Reach(system)
        self.check_order(system, reach, exact)

    def check_told(self):
        """The code's kernel touches what the kernel as written does, perhaps in other words."""
        for run in self.meaning.in_order():
            if run.told is not None and texts_of(run.told) != texts_of(run.touches):
                self.verdict.add("kernel", f"{run} touches {', '.join(texts_of(run.touches))}; in the code's kernel, it "
                                           f"touches {', '.join(texts_of(run.told))}")
                return

    def check_order(self, system, reach, exact):
        # First, because all others take it for granted that semaphores only grow.
        self.check_overflow(system, reach)
        self.check_deadlock(system, reach)
        self.check_early(reach)
        self.check_races(reach)
        if exact and not self.verdict.findings:
            self.check_late(system)
            if self.code.found_from_tiles:
                self.check_asked()

    def check_deadlock(self, system, reach):
        """[json/Execution.md#when-code-is-right]: every engine reaches the end of its code."""
        if self.can_be_met() and any(done < len(listed) for done, listed in zip(reach.free.done, system.lists)):
            self.tell_deadlock(reach.free.done, system.lists)

    def tell_deadlock(self, done, lists):
        stuck = [f"'{self.engines[engine]}' at operation {place}: {self.operations[engine][place]}"
                 for engine, place in enumerate(done) if place < len(lists[engine])]
        self.verdict.add("deadlock", "for ever: " + "; ".join(stuck))

    def check_early(self, reach):
        for runs in self.meaning.runs.values():
            for run in runs:
                for need in run.needs:
                    if not self.is_over(reach, need[0], need[1], run):
                        self.tell_early(run, *need)
                        return

    def tell_early(self, run, queue, slot, dependence):
        over = "enough runs have retired, which never happens" if slot is None \
            else f"{self.meaning.queues[queue][slot]} has retired"
        self.verdict.add("early", f"{run} may be issued before {over}, as dependence {dependence} asks")

    def is_over(self, reach, queue, slot, run):
        """Whether the run of this slot has surely retired when the other one is issued."""
        engine, place = self.place[run]
        if slot is None:
            return reach.free.done[engine] <= place
        return reach.without_run(queue.position, slot)[engine] <= place

    def check_races(self, reach):
        """[json/Meaning.md#which-tiles-conflict]: of each pair that may be out of order, whether it conflicts."""
        memory = Memory(self.kernel.buffers)
        order = {run: place for place, run in enumerate(self.meaning.in_order())}
        for first in order:
            if not first.touches:
                continue
            reached = reach.without_run(first.instruction.queue.position, first.slot)
            for engine, runs in enumerate(self.meaning.runs.values()):
                for second in self.issued_within(runs, reached[engine]):
                    if order[second] > order[first] and self.races(memory, first, second):
                        return

    def issued_within(self, runs, done):
        for run in runs:
            if self.place[run][1] >= done:
                return
            if run.touches:
                yield run

    def races(self, memory, first, second):
        in_turn = not self.code.machine.overlap and first.instruction.queue is second.instruction.queue
        if in_turn:
            return False
        for touch in first.touches:
            for other in second.touches:
                if conflict(memory, first, touch, second, other):
                    self.verdict.add("race", f"{second} {other.kind} {other} and may be issued before {first}, "
                                             f"which {touch.kind} {touch}, has retired")
                    return True
        return False

    def check_overflow(self, system, reach):
        """[json/Execution.md#when-code-is-right]: no semaphore passes what a wait can tell while one still waits."""
        largest = self.code.machine.largest
        high = {which for which, value in enumerate(reach.free.values) if value > largest}
        for engine, listed in enumerate(system.lists):
            waits = [place for place, (kind, semaphore, _, _) in enumerate(listed)
                     if kind is WAIT and semaphore in high]
            for place, values in reach.values_without(engine, waits):
                semaphore = listed[place][1]
                if values[semaphore] > largest:
                    self.verdict.add("overflow", f"semaphore {self.lists[engine][place][1]} reaches "
                                                 f"{values[semaphore]} while '{self.engines[engine]}' still waits for it")
                    return

    def check_late(self, system):
        """With nothing retired but what its own dependences and those of the runs before it ask for, each
        run is issued all the same."""
        needed = self.least_retirements()
        for engine, runs in enumerate(self.meaning.runs.values()):
            progress = None
            for run in runs:
                if run not in needed:
                    return
                if progress is None:
                    progress = Progress(system, retire_limits=list(needed[run]), late_rings=False)
                for queue, limit in enumerate(needed[run]):
                    if limit > progress.retire_limits[queue]:
                        progress.allow_retirements(queue, limit)
                if progress.done[engine] <= self.place[run][1]:
                    self.tell_late(run, needed[run], progress.done[engine])
                    return

    def tell_late(self, run, needed, done):
        retired = ", ".join(f"{count} of '{name}'" for name, count in zip(self.kernel.queues, needed))
        engine, _ = self.place[run]
        self.verdict.add("late", f"{run} is held back at {self.operations[engine][done]} although its dependences "
                                 f"are satisfied; {retired} have retired")

    def least_retirements(self):
        """For each run, how much of each queue has to retire before it can be issued."""
        needed, before = {}, [[0] * len(self.queues) for _ in self.engines]
        at_place = {place: run for run, place in self.asked_place.items()}
        for place in self.asked_free.order:
            run = at_place.get(place)
            if run is None:
                continue
            counts = before[place[0]]
            for queue, slot, _ in run.needs:
                producer = needed[self.meaning.queues[queue][slot]]
                counts = [max(left, right) for left, right in zip(counts, producer)]
                counts[queue.position] = max(counts[queue.position], slot + 1)
            needed[run] = before[place[0]] = counts
        return needed

    def check_asked(self):
        """[dependences/Promised.md#what-is-promised-about-dependences]: the last run that is asked for is one that this run of
        the consumer needs, or that an earlier one of it needed, or comes before such a one. Where a branch skips either,
        or a loop that runs no time does, nothing is promised."""
        conflicts, needed = self.find_conflicts(), {}
        for run in self.meaning.in_order():
            for first in conflicts.get(run, ()):
                pair = (first.instruction, run.instruction)
                needed[pair] = max(needed.get(pair, 0), first.number + 1)
            for dependence, count in run.asked:
                skips = self.meaning.skips(dependence.producer) or self.meaning.skips(run.instruction)
                if not skips and count > needed.get((dependence.producer, run.instruction), 0):
                    self.verdict.add("asks", f"{run} has to wait for {count} runs by dependence {dependence}, "
                                             "but conflicts with none so late")
                    return

    # ---- Where resets are not surely ordered ----

    def search(self, reason):
        """Looks at real schedules, one by one."""
        found = self.all_schedules(MOST_STATES)
        if found is False:
            held = [("ring", queue) for queue in range(len(self.queues))]
            held += [("engine", engine) for engine in range(len(self.engines))]
            found = self.make_search().by_chance(random.Random(0), RANDOM_SCHEDULES, held)
            if not found:
                self.verdict.reasons.append(f"{reason}, and there are too many schedules")
        if found:
            self.verdict.add(*found)

    def all_schedules(self, most):
        """What is wrong in some schedule; None if nothing is, False if there are too many states."""
        return self.make_search().all_states(most)

    def make_search(self):
        machine = self.code.machine
        system = System(self.lists, len(self.code.semaphores), self.queues, machine.bits, machine.signed)
        self.conflicts = self.find_conflicts()
        search = Search(system, self.bad_step, self.bad_end)
        self.stepper = search.stepper
        return search

    def find_conflicts(self):
        """By run, the runs before it that it conflicts with."""
        memory, order, found = Memory(self.kernel.buffers), self.meaning.in_order(), {}
        for place, second in enumerate(order):
            for first in order[:place]:
                in_turn = not self.code.machine.overlap and first.instruction.queue is second.instruction.queue
                if not in_turn and any(conflict(memory, first, touch, second, other)
                                       for touch in first.touches for other in second.touches):
                    found.setdefault(second, []).append(first)
        return found

    def bad_step(self, state, step):
        if step[0] != "engine":
            return None
        engine, place = step[1], state.done[step[1]]
        run = self.operations[engine][place].run
        if run is None:
            return None
        for queue, slot, dependence in run.needs:
            if slot is None or self.stepper.retired(state, queue.position) <= slot:
                return "early", f"{run} is issued before what {dependence} asks for has retired"
        for first in self.conflicts.get(run, ()):
            if self.stepper.retired(state, first.instruction.queue.position) <= first.slot:
                return "race", f"{run} is issued before {first} has retired, with which it conflicts"
        return None

    def bad_end(self, state):
        if self.can_be_met() and any(done < len(listed) for done, listed in zip(state.done, self.lists)):
            return "deadlock", "a schedule in which not all engines reach their end"
        return None


def texts_of(touches):
    return sorted(f"{touch.kind} {touch}" for touch in touches)


def as_tuple(operation):
    queue = operation.run.instruction.queue.position if operation.run else None
    return operation.kind, operation.semaphore, operation.number, queue


def rings_of(queue, machine):
    """[json/Execution.md#completion]: 0 where completions come whole."""
    return queue.weight if queue.weight > 1 and (queue.split or machine.split) else 0


def contradiction(code, choice, most):
    """Whether the walk over all schedules says otherwise than the questions of order: a text or None."""
    verdict = Verdict()
    case = Case(code, choice, verdict)
    if any(touch.beyond() for run in case.meaning.in_order() for touch in run.touches):
        return None
    found = case.all_schedules(most)
    case.judge(exact=False)
    kinds = {finding.kind for finding in verdict.findings}
    if found is False or verdict.reasons or "overflow" in kinds:
        return None
    if bool(found) != bool(kinds):
        return f"all schedules: {found}, order: {list(map(str, verdict.findings))}, with {choice.options()}"
    return None


# ---- All of it ----------------------------------------------------------------------------


def judge(code, choices, exact=False, kernel=None):
    """The verdict about checked code under each of the choices; the choice of the first finding."""
    verdict, shown = Verdict(), None
    if kernel:
        adopt(code, kernel, verdict)
    check_limits(code, verdict)
    check_pins(code, verdict)
    for choice in choices:
        if verdict.findings:
            break
        shown = choice
        judge_choice(code, choice, exact, verdict)
    return verdict, shown


def judge_choice(code, choice, exact, verdict):
    try:
        Case(code, choice, verdict).judge(exact)
    except NotAsTheKernel as error:
        verdict.add("count", str(error))
    except Limit:
        verdict.reasons.append(f"a run of more than {MOST_STEPS} steps with {choice.options()}")
    except TooLarge as error:
        verdict.reasons.append(str(error))


def read_code(text, machine=None):
    return documents.Code(documents.parse(text), machine)


# ---- Command line -------------------------------------------------------------------------


def read_file(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_lists(options, per_engine=True):
    """`A=3,0,4` and so on, as a table."""
    table = {}
    for option in options:
        name, _, listed = option.partition("=")
        table[name] = [int(number) for number in listed.split(",")]
    return table


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("code")
    parser.add_argument("--kernel")
    parser.add_argument("--machine")
    parser.add_argument("--trips", action="append", default=[])
    parser.add_argument("--takes", action="append", default=[])
    parser.add_argument("--value", action="append", default=[])
    parser.add_argument("--choices", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    options = parser.parse_args()
    try:
        machine = options.machine and documents.read_machine_file(documents.parse(read_file(options.machine)))
        kernel = options.kernel and documents.Kernel(documents.parse(read_file(options.kernel)))
        code = read_code(read_file(options.code), machine)
        if options.trips or options.takes or options.value:
            values = {name: listed[0] for name, listed in read_lists(options.value).items()}
            choices = [Choice(read_lists(options.trips), read_lists(options.takes), values)]
        else:
            choices = choose(code.kernel, random.Random(options.seed), options.choices)
    except (OSError, ValueError, documents.Wrong) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    verdict, shown = judge(code, choices, options.exact, kernel)
    tell(verdict, shown, code, options.format)
    return {YES: 0, NO: 1, UNDECIDED: 2}[verdict.answer()]


def tell(verdict, shown, code, form):
    if form == "json":
        print(json.dumps({
            "schema": "outside-verdict", "version": 1, "kernel": code.kernel.name, "strategy": code.strategy,
            "verdict": verdict.answer(), "reasons": verdict.reasons, "choice": shown.options() if shown else None,
            "findings": [{"kind": finding.kind, "message": finding.message} for finding in verdict.findings]}))
        return
    print(f"kernel '{code.kernel.name}', strategy '{code.strategy}', machine '{code.machine.name}'")
    for finding in verdict.findings:
        print(f"{finding}")
    if verdict.findings and shown:
        print(f"with {shown.options()}")
    for reason in verdict.reasons:
        print(f"open: {reason}")
    print(f"verdict: {verdict.answer()}")


if __name__ == "__main__":
    sys.exit(main())
