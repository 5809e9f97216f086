#!/usr/bin/env python3
"""Holds `tally check` against the outside interpreter, on right code and on mutants of it.

usage: python3 utils/outside/checks.py --tally=PATH [--seed=N] [--seconds=S] [--jobs=N]

One seed is one kernel and one machine, compiled under one strategy; its code and some mutants of it are judged by
both, under one choice of trips. With it come a kernel in which two conflict in few runs only, one that changes tiles in place, and code written by hand
that is wrong only beyond a number in it, or with no branch taken. The same code stands in one
file with that of another kernel, with trips for each, which must be judged as alone. A *yes* where the interpreter says *no* is a finding, and so is a *no* where it says *yes*.
Waits that are too long are left out: they are a matter of what the plan promised. So is whatever one of the two could
not decide.

Exit status: 0 no finding, 1 findings, or nothing to judge.
"""

import argparse
import collections
import itertools
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time

import documents
from campaign import compile_kernel, draw_case, ways_of
from choices import choose
from draw import draw_in_place, draw_machine, draw_rare, draw_turning
from judge import NO, YES, judge
from mutants import KINDS, mutants
from tiles import tied_values, values_of
from walk import Choice

MUTANTS = 4  # of one code
SECONDS = 60  # for one check
LIMITS = {"--explore": ["--max-states=10000"], "--race": ["--schedules=10"]}

# What a *no* of either side may rest on, for a check that does not look at accesses, and for one that does.
UNSAFE = {"explore": {"early", "order", "deadlock"}, "race": {"race", "unordered", "deadlock", "reset"}}
OURS = {"explore": {"early", "deadlock"}, "race": {"early", "deadlock", "race"}}
OF_KERNEL = {"other tile", "missing dependence"}  # mistakes that are not in the code alone


class Subject:
    """Code under one choice of trips, with what the interpreter says: `kinds` of findings."""

    def __init__(self, document, choice, what):
        self.text = json.dumps(document)
        self.what = what
        self.choice = choice
        verdict, _ = judge(documents.Code(document), [choice])
        self.decided = verdict.answer() in (YES, NO)
        self.kinds = {finding.kind for finding in verdict.findings}
        self.overlap = document["machine"]["overlap"]

    def options(self):
        given = {**self.choice.trips, **{name: [int(taken) for taken in listed] for name, listed in self.choice.takes.items()}}
        return [part for name, listed in sorted(given.items())
                for part in ("--trips", f"{name}={','.join(map(str, listed))}")]


def compiled_code(tally, kernel, machine, options):
    """None if it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = compile_kernel(tally, folder, kernel, machine, options)
    return compiled.code and json.loads(compiled.code)


def short_of_one(kernel, loops, source):
    """The kernel without one of the dependences that were found, or with another distance in its place."""
    written = kernel["dependences"]
    lost = source.choice(written)
    other = [{**lost, "distance": {source.choice(loops): 1}}] if loops and source.random() < 0.6 else []
    return {**kernel, "dependences": other + [dep for dep in written if dep is not lost]}


def untied(kernel):
    """Values that nothing binds."""
    return sorted(set(values_of(kernel)) - set(tied_values(kernel)))


def subjects_of(tally, seed):
    """Code of a seed, code that lacks a dependence, and mutants of it."""
    kernel, machine, _ = draw_case(seed)
    source = random.Random(seed)
    _, options = source.choice(list(ways_of(kernel, seed)))
    document = compiled_code(tally, kernel, machine, options)
    if document is None:
        return
    read = documents.Code(document).kernel
    if read.ifs or untied(read) or '"while"' in json.dumps(document):
        return  # decisions that have no option
    choices = choose(read, source, 6)
    choice = source.choice(choices)
    yield Subject(document, choice, "the code")
    if document["kernel"].get("dependences"):
        short = compiled_code(tally, short_of_one(document["kernel"], sorted(read.loops), source), machine, options + ["--deps=written"])
        for other in choices if short else ():
            yield Subject(short, other, "code without a dependence")
    for kind in source.sample([kind for kind in KINDS if kind not in OF_KERNEL], MUTANTS):
        for mutant, _ in mutants(kind, document, kernel, source, 1):
            try:
                yield Subject(mutant, choice, kind)
            except documents.Wrong:
                pass  # refused here, and perhaps not there


def rare_subjects(tally, seed):
    source = random.Random(f"rare {seed}")
    kernel, trips = draw_rare(source, f"rare{seed}")
    document = compiled_code(tally, kernel, draw_machine(source)[0], ["--deps=written"])
    if document:
        yield Subject(document, Choice({loop: [count] for loop, count in trips.items()}, {}, {}), "two that hardly ever meet")


def in_place_subjects(tally, seed):
    source = random.Random(f"in place {seed}")
    kernel, trips = draw_in_place(source, f"in_place{seed}")
    document = compiled_code(tally, kernel, draw_machine(source)[0], ["--deps=written"])
    if document:
        yield Subject(document, Choice({loop: [count] for loop, count in trips.items()}, {}, {}), "tiles that are changed in place")


def turning_subjects(seed):
    source = random.Random(f"turning {seed}")
    document, trips, takes = draw_turning(source, f"turning{seed}")
    yield Subject(document, Choice(trips, takes, {}), "code that is wrong beyond a number, or with nothing taken")


def neighbours_of(tally, seed):
    """Code of two kernels for one machine, whose loops have other names; none if one of them is refused."""
    kernel, machine, _ = draw_case(seed)
    source = random.Random(f"neighbours {seed}")
    rare, trips = draw_rare(source, f"rare{seed}")
    first, second = (compiled_code(tally, each, machine, ["--deps=written"]) for each in (kernel, rare))
    if first is None or second is None:
        return None
    read = documents.Code(first).kernel
    if read.ifs or values_of(read) or '"while"' in json.dumps(first):
        return None
    shown = Choice({loop: [count] for loop, count in trips.items()}, {}, {})
    return Subject(first, source.choice(choose(read, source, 6)), "the first of two"), Subject(second, shown, "the second of two")


def neighbour_contradictions(tally, seed):
    """Texts: what is said of a kernel next to another, and not of it alone. What is not decided in time says nothing."""
    neighbours = neighbours_of(tally, seed)
    if not neighbours:
        return
    text = f"[{', '.join(subject.text for subject in neighbours)}]"
    options = [option for subject in neighbours for option in subject.options()]
    together = answers(tally, text, ["--explore", "--race"] + options)
    for subject, beside in zip(neighbours, together):
        alone = check(tally, subject, ["--explore", "--race"] + subject.options())
        for name in alone.keys() & beside.keys():
            verdicts = {alone[name][0], beside[name][0]}
            if verdicts == {"yes", "no"}:
                yield subject, f"{name} says {beside[name][0]} to {subject.what} ({' '.join(options)}), and {alone[name][0]} to it alone"


def check(tally, subject, options):
    """By check (`explore`, `race`): its verdict and the kinds of its *no*; nothing if the code is refused."""
    return next(iter(answers(tally, subject.text, options)), {})


def answers(tally, text, options):
    """The same for each kernel of a file."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        limits = [limit for mode in LIMITS if mode in options for limit in LIMITS[mode]]
        command = [tally, "check", file.name, "--format=json", "--time=0.3", "--in-flight=8"] + limits + options
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return []
    if done.returncode not in (0, 1, 2) or not done.stdout:
        return []
    kinds = {"explore": lambda part: {part["kind"]},
             "race": lambda part: {report["kind"] for run in part["runs"] for report in run["reports"]
                                   if report["severity"] == "error"}}
    return [{name: (answer[name]["verdict"], kinds[name](answer[name])) for name in kinds if name in answer}
            for answer in json.loads(done.stdout)["checks"]]


def contradictions(tally, subject):
    """Texts: where the check and the interpreter cannot both be right."""
    if not subject.decided:
        return
    for name, (verdict, kinds) in check(tally, subject, ["--explore", "--race"] + subject.options()).items():
        ours = subject.kinds & OURS[name]
        if name == "race" and not subject.overlap:
            ours -= {"early"}  # runs of one queue are in order then, whatever the dependence says
        about = f"{subject.what} ({' '.join(subject.options())})"
        if verdict == "yes" and ours:
            yield f"{name} says yes to {about}, which is wrong: {', '.join(sorted(ours))}"
        if verdict == "no" and not subject.kinds and kinds & UNSAFE[name]:
            yield f"{name} says no to {about}, which is right: {', '.join(sorted(kinds & UNSAFE[name]))}"
    if "race" in subject.kinds:
        verdict, _ = check(tally, subject, ["--race"]).get("race", ("nothing", {}))
        if verdict in ("yes", "nothing"):
            yield f"race says {verdict} with trips of its own to {subject.what}, which is wrong with {' '.join(subject.options())}"


def all_subjects(tally, seed):
    return itertools.chain(subjects_of(tally, seed), rare_subjects(tally, seed), in_place_subjects(tally, seed),
                           turning_subjects(seed))


def check_seed(tally, seed):
    """How many codes were compared, how many of them are wrong, and contradictions with them."""
    subjects = [subject for subject in all_subjects(tally, seed) if subject.decided]
    found = [(subject, text) for subject in subjects for text in contradictions(tally, subject)]
    found += neighbour_contradictions(tally, seed)
    wrong = sum(bool(subject.kinds) for subject in subjects)
    return len(subjects), wrong, [(seed, subject.text, text) for subject, text in found]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--tally", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out")
    options = parser.parse_args()
    end, total, wrong, found = time.monotonic() + options.seconds, 0, 0, []
    waiting, seeds = collections.deque(), itertools.count(options.seed)
    with multiprocessing.Pool(options.jobs) as pool:
        while waiting or time.monotonic() < end:
            if time.monotonic() < end:
                waiting.append(pool.apply_async(check_seed, (options.tally, next(seeds))))
            if len(waiting) > 2 * options.jobs or time.monotonic() >= end:
                more, more_wrong, contradicted = waiting.popleft().get()
                total, wrong, found = total + more, wrong + more_wrong, found + contradicted
    print(f"codes: {total}, wrong: {wrong}, contradictions: {len(found)}")
    for place, (seed, text, message) in enumerate(found[:20]):
        print(f"seed {seed}: {message}")
        if options.out:
            os.makedirs(options.out, exist_ok=True)
            with open(os.path.join(options.out, f"{seed}-{place}.json"), "w", encoding="utf-8") as file:
                file.write(text)
    if not total:
        print("no code was compared")
    return 1 if found or not total else 0


if __name__ == "__main__":
    sys.exit(main())
