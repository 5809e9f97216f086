#!/usr/bin/env python3
"""Gives mutants of certified code to the checker of certificates, and runs what it decides about.

usage: python3 utils/outside/certify.py --tally=PATH --certify=PATH [--seed=N] [--mutants=N] [--jobs=N]
           [--choices=N] [--out=FOLDER] [--kinds]

Each seed is a random kernel, compiled with --certify. First, the certificate that tally writes must be the
one that certificate.py writes, byte for byte. Where the code is certified, one or two mistakes at a time are
put into it, until there are N mutants in all. Then

    wrong yes   the checker certifies what the outside interpreter shows to be wrong
    wrong no    the checker rejects what was compiled, or what the outside interpreter finds right, also with the
                trips that the checker names, in all runs whose numbers the machine has: few bits are no fault of the code

Code that is neither certified nor rejected is not run. On every second seed the checker tries no runs
(--quick), which is what most of the time goes to. --kinds prints a table; --out keeps the code of findings.

Exit status: 0 nothing was found, 1 findings.
"""

import argparse
import collections
import copy
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile

import control
import documents
import judge
from campaign import compile_kernel, draw_case, INEXACT
from certificate import certificate_of, notes_of
from choices import choose, values_with
from draw import draw_narrow, draw_tied
from mutants import KINDS, alus_of, at, operations_of
from walk import Choice, Limit, Meaning

STRATEGIES = ("per-loop", "per-instruction", "auto")
ABOUT_KERNELS = ("other tile", "missing dependence")  # what a certificate takes as given
TIED, NARROW = (2, 6), (3, 4)  # seeds, of 8; on odd ones, only what is compiled is tried in runs
SINGLES = 12  # mutants of a kind, of one code
PAIRS = 60
SECONDS = 100  # for one certificate
MOST_FINDINGS = 50  # then it ends


# ---- Mistakes that bookkeeping invites ------------------------------------------------------


def operands_of(code):
    """Everything that is read, and its path."""
    for path, operation in operations_of(code):
        for key in ("a", "b"):
            if operation.get(key):
                yield path + [key], operation[key]
        if operation.get("wait"):
            yield path + ["wait", "threshold"], operation["wait"]["threshold"]


def setter(path, value):
    return lambda code, kernel: at(code, path[:-1]).__setitem__(path[-1], copy.deepcopy(value))


def other_register(code, kernel):
    for path, operand in operands_of(code):
        if "register" in operand:
            for other in range(len(code["engines"][path[1]]["registers"])):
                if other != operand["register"]:
                    yield setter(path, {"register": other})


def other_number(code, kernel):
    for path, operand in operands_of(code):
        if "value" in operand:
            for other in {operand["value"] + 1, max(0, operand["value"] - 1), 0} - {operand["value"]}:
                yield setter(path, {"value": other})


def other_result(code, kernel):
    for path, operation in alus_of(code, *documents.OPERATIONS):
        for other in range(len(code["engines"][path[1]]["registers"])):
            if other != operation["dst"]:
                yield setter(path + ["dst"], other)


def other_operation(code, kernel):
    for path, operation in alus_of(code, "add", "sub", "mul", "min", "gt"):
        for other in ("add", "sub", "mul", "min", "gt"):
            if other != operation["operation"]:
                yield setter(path + ["operation"], other)


def moved(code, path, to, place):
    """Takes an operation from its place to another; `to` is the list it goes to."""
    source, target = at(code, path[:-1]), at(code, to)
    operation = source.pop(path[-1])
    target.insert(place, operation)


def simple_of(code):
    for path, operation in operations_of(code):
        if operation["op"] in ("alu", "wait"):
            yield path, operation


def swapped(code, kernel):
    for path, _ in simple_of(code):
        if path[-1] > 0:
            yield lambda code, kernel, path=path: moved(code, path, path[:-1], path[-1] - 1)


def hoisted(code, kernel):
    """Before the loop or branch that it stands in, which may be of another engine's concern."""
    for path, _ in simple_of(code):
        if path[-2] in ("body", "then", "else"):
            yield lambda code, kernel, path=path: moved(code, path, path[:-3], path[-3])


def sunk(code, kernel):
    """To the end of its body."""
    for path, _ in simple_of(code):
        if path[-1] < len(at(code, path[:-1])) - 1:
            yield lambda code, kernel, path=path: moved(code, path, path[:-1], len(at(code, path[:-1])) - 1)


def repeated(code, kernel):
    for path, operation in simple_of(code):
        yield lambda code, kernel, path=path: at(code, path[:-1]).insert(path[-1], copy.deepcopy(at(code, path)))


def other_wait(code, kernel):
    """Of another instruction of the engine."""
    waits = [(path, operation["wait"]) for path, operation in operations_of(code) if operation.get("wait")]
    for path, wait in waits:
        for other, instead in waits:
            if other[1] == path[1] and instead != wait:
                yield setter(path + ["wait"], instead)


MISTAKES = {name: make for name, (make, _) in KINDS.items() if name not in ABOUT_KERNELS} | {
    "other register": other_register,
    "other number": other_number,
    "other result": other_result,
    "other operation": other_operation,
    "swapped operations": swapped,
    "hoisted operation": hoisted,
    "sunk operation": sunk,
    "repeated operation": repeated,
    "other wait": other_wait,
}


def mutants_of(code, source):
    """(names of the mistakes, code): some of each kind, and then two at a time."""
    changes = [(name, change) for name, make in MISTAKES.items() for change in some(source, make(code, code["kernel"]))]
    for name, change in changes:
        yield (name,), changed(code, change)
    for _ in range(PAIRS if changes else 0):
        (first, change), make = source.choice(changes), source.choice(sorted(MISTAKES))
        once = changed(code, change)
        for second in some(source, MISTAKES[make](once, once["kernel"]), 1):
            yield (first, make), changed(once, second)


def some(source, changes, most=SINGLES):
    changes = list(changes)
    return source.sample(changes, min(most, len(changes)))


def changed(code, change):
    made = copy.deepcopy(code)
    change(made, made["kernel"])
    return made


# ---- Running what was decided about -------------------------------------------------------


class Measured(control.Control):
    """The largest number that an engine computes, and whether one goes below zero, where numbers have 32 bits."""

    largest = 0
    below = False

    def compute(self, operation, a, b):
        plain_a, plain_b = self.plain(a), self.plain(b)
        raw = {"add": plain_a + plain_b, "mul": plain_a * plain_b, "sub": plain_a - plain_b}.get(operation, 0)
        if raw >= 0 or not self.machine.saturates:
            Measured.below |= raw < 0
            Measured.largest = max(Measured.largest, abs(raw))
        return super().compute(operation, a, b)

    def plain(self, number):
        return number - self.machine.range if number >= self.machine.range // 2 else number


def past_the_machine(wide, machine, choice, below):
    """Whether, up to the end of the run, there is a number that the machine does not have, which verdicts exclude by name.

    `below`: numbers below zero are among these.
    """
    Measured.largest, Measured.below = 0, False
    totals, waits = collections.Counter(), [0]
    try:
        meaning = Meaning(wide.kernel, choice, most=judge.MOST_STEPS)
        for engine in wide.kernel.engines:
            measured = Measured(wide, engine, choice, meaning.runs[engine], judge.MOST_STEPS)
            for operation in measured.operations:
                if operation.kind in (control.ISSUE, control.SIGNAL) and operation.number:
                    totals[operation.semaphore] += operation.number
                elif operation.kind == control.WAIT:
                    waits.append(abs(measured.plain(operation.number)))
    except (control.NotAsTheKernel, Limit):
        pass
    return (Measured.largest >= machine.range or below and Measured.below
            or max(waits + list(totals.values())) > machine.largest)


class Run:
    """What running a code shows: the finding of a kind, or none."""

    def __init__(self, document, seed, num_choices, exact, answer):
        self.finding = self.choice = None
        self.open = False
        try:
            wide, code = documents.Code(with_wide_counters(document)), documents.Code(document)
        except documents.Wrong as error:
            self.finding = judge.Finding("form", str(error))
            return
        # A fault that is there because numbers do not fit is none: the run is excluded, or has numbers that fit.
        performed = wide if answer.startswith("rejected") else code
        chosen = choose(code.kernel, random.Random(seed), num_choices)
        for choice in likely(code.kernel, answer, chosen) + chosen:
            # Who may use what of the machine is not in a certificate, so limits and pins are left aside.
            verdict = judge.Verdict()
            judge.judge_choice(performed, choice, exact, verdict)
            self.open |= bool(verdict.reasons)
            if verdict.findings and not self.excluded(verdict.findings[0].kind, answer, wide, code.machine, choice):
                self.finding, self.choice = verdict.findings[0], choice
                return

    @staticmethod
    def excluded(kind, answer, wide, machine, choice):
        """What the line of a yes says of itself, and what is not a ground for a no."""
        if answer.startswith("rejected"):
            # What is issued another number of times is so whatever the numbers.
            return kind != "count" and past_the_machine(wide, machine, choice, below=False)
        if "; while no " in answer and past_the_machine(wide, machine, choice, below=True):
            return True
        if kind == "late":
            return "adds no waiting is not covered" in answer or "by more than they ask for" in answer
        return kind in ("deadlock", "race") and "nothing deadlocks is not covered" in answer


def trips_told(answer):
    """The trips of the run that the checker tells of, by loop or branch; none if it tells of none."""
    told = re.search(r"; with (.*?), engine '", answer)
    if not told:
        return {}
    trips = {}
    for part in re.sub(r", \.\.\.$", "", told.group(1)).split(", "):
        loop = re.fullmatch(r"([\d ]+)(?: \.\.\.)? iterations? of '(.*)'", part)
        branch = re.fullmatch(r"(\S+) = ([\d ]+)(?: \.\.\.)?", part)
        if not loop and not branch:
            raise ValueError(f"what is '{part}' in '{answer}'?")
        numbers, name = loop.groups() if loop else reversed(branch.groups())
        trips[name] = [int(number) for number in numbers.split()]
    return trips


def likely(kernel, answer, chosen):
    """Runs with the trips that the checker tells of; how they took branches it does not tell. If it tells of none, plain runs
    in which all branches are taken.
    """
    trips = trips_told(answer)
    if not trips:
        return [Choice(choice.trips, {name: [1] for name in kernel.ifs}, choice.values) for choice in chosen[:3]]
    values = values_with(kernel, trips, chosen[0].values)
    ways = ([1], [1, 0], [0, 1], [1, 1, 0], [0]) if answer.startswith("rejected") else ([1],)
    return [Choice(trips, {name: takes for name in kernel.ifs}, values) for takes in ways]


# ---- One seed -----------------------------------------------------------------------------


class Result:
    """All of one seed, small enough to travel between processes."""

    def __init__(self, seed):
        self.seed = seed
        self.compared = 0  # certificates that were written twice
        self.base = None  # its strategy, if it is certified
        self.verdicts = collections.Counter()  # (verdict, what runs show)
        self.kinds = collections.Counter()  # (mistake, verdict)
        self.findings = []  # (kind, text, document)

    def add(self, kind, text, document=None):
        self.findings.append((kind, f"seed {self.seed}: {text}", document))


def certify_seed(options, seed):
    result = Result(seed)
    with tempfile.TemporaryDirectory() as folder:
        base, notes, exact = base_of(options, seed, folder, result)
        if base:
            judge_mutants(options, seed, folder, base, notes, exact, result)
    return result


def base_of(options, seed, folder, result):
    """Code that is certified and right, what its certificate says of it, and whether it waits for no more than asked."""
    strategy = STRATEGIES[seed % len(STRATEGIES)]
    base, written, messages = compiled_with(options, seed, folder, result, "--sync=" + strategy)
    if base is None:
        return None, None, False
    notes, exact = notes_of(written), INEXACT not in messages
    result.compared = 1
    if certificate_of(base, notes=notes) != written:
        result.add("writer", "tally writes another certificate than certificate.py", base)
    answer = checked(options, folder, [written], quick=True)[0]
    judge_mutant(options, seed, [strategy], base, answer, exact, result)
    if not answer.startswith("certified") or result.findings:
        return None, None, False
    result.base = strategy
    return base, notes, exact


def draw(seed):
    """Some seeds are where a checker may take a run for one that can happen, or for one that counts."""
    kernel, machine, _ = draw_case(seed)
    if seed % 8 in TIED:
        kernel = draw_tied(random.Random(seed), f"seed{seed}")
    elif seed % 8 in NARROW:
        kernel, bits = draw_narrow(random.Random(seed), f"seed{seed}")
        machine["limits"]["counter_bits"]["value"] = bits
    return kernel, machine


def compiled_with(options, seed, folder, result, strategy):
    """Code, its certificate, and messages. Code that is not covered is written, too."""
    kernel, machine = draw(seed)
    certificate, path = os.path.join(folder, "written.cert"), os.path.join(folder, "code.json")
    compiled = compile_kernel(options.tally, folder, kernel, machine,
                              [strategy, "--certify=" + certificate, "-o", path])
    if os.path.exists(path):
        return documents.parse(read(path)), read(certificate), compiled.messages
    if compiled.finding:
        rejected = "\nrejected: " in compiled.finding.message
        result.add("wrong no" if rejected else "crash", str(compiled.finding))
    return None, None, ""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def checked(options, folder, certificates, quick):
    """A line for each certificate."""
    path = os.path.join(folder, "mutants.cert")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(certificates)
    command = [options.certify, f"--seconds={SECONDS}"] + ["--quick"] * quick + [path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if len(lines) == len(certificates):
        return lines
    if len(certificates) == 1:
        return [done.stderr.strip() or f"exit {done.returncode}"]
    # One of them cannot be read, and then none is.
    return [line for certificate in certificates for line in checked(options, folder, [certificate], quick)]


def judge_mutants(options, seed, folder, base, notes, exact, result):
    made = list(mutants_of(base, random.Random(seed)))
    certificates = [certificate_of(code, f"mutant{place}", notes) for place, (_, code) in enumerate(made)]
    for (names, code), answer in zip(made, checked(options, folder, certificates, quick=seed % 2 == 1)):
        verdict = answer.split(":")[0]
        shown = judge_mutant(options, seed, names, code, answer, exact, result)
        result.verdicts[verdict, shown] += 1
        for name in names:
            result.kinds[name, verdict] += 1


def with_wide_counters(code):
    return code | {"machine": code["machine"] | {"counter_bits": 32}}


def judge_mutant(options, seed, names, code, answer, exact, result):
    """What running it shows, if it is run."""
    verdict = answer.split(":")[0]
    what = f"{', '.join(names)}: {answer}"
    if verdict not in ("certified", "rejected", "not covered", "error"):
        result.add("crash", what, code)
    if verdict not in ("certified", "rejected"):
        return "not run"
    run = Run(code, seed, options.choices, exact or verdict == "rejected", answer)
    for more in (10, 100):
        if verdict == "rejected" and not run.finding:
            run = Run(code, seed, more * options.choices, True, answer)
    if verdict == "certified" and run.finding:
        result.add("wrong yes", f"{what}\n  {run.finding} with {run.choice and run.choice.options()}", code)
    if verdict == "rejected" and not run.finding and not run.open:
        result.add("wrong no", what, code)
    return "wrong" if run.finding else "open" if run.open else "right"


# ---- Many seeds ---------------------------------------------------------------------------


class Total:
    def __init__(self):
        self.compared = self.mutants = 0
        self.bases = collections.Counter()
        self.verdicts = collections.Counter()
        self.kinds = collections.Counter()
        self.findings = []

    def add(self, result):
        self.compared += result.compared
        self.bases.update([result.base] if result.base else [])
        self.mutants += sum(result.verdicts.values())
        self.verdicts += result.verdicts
        self.kinds += result.kinds
        self.findings += result.findings

    def tell(self):
        bases = ", ".join(f"{count} {strategy}" for strategy, count in sorted(self.bases.items()))
        print(f"certificates written twice: {self.compared}; certified codes: {bases}")
        shown = collections.defaultdict(list)
        for (verdict, what), count in sorted(self.verdicts.items()):
            shown[verdict].append(f"{count} {what}")
        print(f"mutants: {self.mutants}; " + "; ".join(f"{verdict}: {', '.join(what)}" for verdict, what in shown.items()))
        print(f"findings: {len(self.findings)}")

    def tell_kinds(self):
        print(f"{'mistake':26} certified  rejected  not covered")
        for name in MISTAKES:
            print(f"{name:26} {self.kinds[name, 'certified']:9} {self.kinds[name, 'rejected']:9} "
                  f"{self.kinds[name, 'not covered']:12}")


def run(options):
    """Takes seeds in turn until there are enough mutants; which ones they are does not depend on the jobs."""
    total, waiting, seed = Total(), collections.deque(), options.seed
    with multiprocessing.Pool(options.jobs) as pool:
        while total.mutants < options.mutants and len(total.findings) < MOST_FINDINGS:
            while len(waiting) <= 2 * options.jobs:
                waiting.append(pool.apply_async(certify_seed, (options, seed)))
                seed += 1
            total.add(waiting.popleft().get())
    return total


def keep(folder, findings):
    os.makedirs(folder, exist_ok=True)
    for place, (kind, text, document) in enumerate(findings):
        if document:
            with open(os.path.join(folder, f"{kind.replace(' ', '-')}-{place}.json"), "w", encoding="utf-8") as file:
                json.dump(document, file, indent=1)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--tally", required=True)
    parser.add_argument("--certify", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--choices", type=int, default=8)
    parser.add_argument("--out")
    parser.add_argument("--kinds", action="store_true")
    options = parser.parse_args()
    total = run(options)
    if options.kinds:
        total.tell_kinds()
    for kind, text, _ in total.findings[:10]:
        print(f"{kind}: {text[:1500]}")
    if options.out:
        keep(options.out, total.findings)
    total.tell()
    return 1 if total.findings else 0


if __name__ == "__main__":
    sys.exit(main())
