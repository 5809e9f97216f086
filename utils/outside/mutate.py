#!/usr/bin/env python3
"""Would the outside interpreter notice a mistake? Puts mistakes into right code JSON and counts.

usage: python3 utils/outside/mutate.py --tally=PATH [--seed=N] [--most=N] [--jobs=N] [--rules] [--cross]
           [--seeds=N]

Prints how many mutants of each kind got a *no*. Exit status 1 if a kind stays below its rate (mutants.py),
or the right code itself gets a *no*. --rules then takes the rules of the interpreter away, one at a time,
and asks that the kinds that it is for suffer. --cross walks over all schedules of small runs, too, and asks
that the two ways of judging agree.
"""

import argparse
import collections
import json
import multiprocessing
import os
import random
import sys
import tempfile

import control
import documents
import judge
from campaign import STRATEGIES, compile_kernel, draw_case, promises_exactness, INEXACT
from choices import choose
from mutants import KINDS, mutants

CHOICES = 8
PER_SEED = 2  # mutants of a kind
MOST_STATES = 3000  # of a walk over all schedules


# ---- Rules that can be taken away ---------------------------------------------------------


def nothing(*arguments, **named):
    return None


def without_order(self, operation, a, b):
    """Arithmetic in which the order of operands does not matter."""
    return RIGHT_COMPUTE(self, operation, max(a, b), min(a, b))


RIGHT_COMPUTE = control.Control.compute

# Rule: where it is, what takes its place, and a kind of mutants that it is needed for.
RULES = {
    "Eq. 1": (judge.Case, "check_early", nothing, "threshold - 1"),
    "conflicts": (judge.Case, "check_races", nothing, "missing dependence"),
    "deadlock": (judge.Case, "check_deadlock", nothing, "lost signal"),
    "lateness": (judge.Case, "check_late", nothing, "threshold + 1"),
    "overflow": (judge.Case, "check_overflow", nothing, "too few bits"),
    "order of operands": (control.Control, "compute", without_order, "swapped operands"),
    "split completion": (judge, "rings_of", lambda queue, machine: 0, "split taken for whole"),
    "tiles as told": (judge.Case, "check_told", nothing, "other tile"),
    "tiles as written": (judge, "adopt", nothing, "other tile"),
}


class Without:
    """Takes a rule away for a while."""

    def __init__(self, rule):
        self.place, self.name, self.instead, self.kind = RULES[rule]

    def __enter__(self):
        self.right = getattr(self.place, self.name)
        setattr(self.place, self.name, self.instead)

    def __exit__(self, *_):
        setattr(self.place, self.name, self.right)


# ---- Mutants ------------------------------------------------------------------------------


class Subject:
    """Code that is right, with the kernel as it was written."""

    def __init__(self, code, kernel, machine, exact, seed):
        self.code = code
        self.kernel = kernel
        self.machine = machine
        self.exact = exact
        self.seed = seed

    def answer(self, code=None, kernel=None):
        """Of this code, or of a mutant of it: the verdict, or *no* if it is not well formed."""
        try:
            read = documents.Code(code or self.code)
            chosen = choose(read.kernel, random.Random(self.seed), CHOICES)
            verdict, _ = judge.judge(read, chosen, self.exact, documents.Kernel(kernel or self.kernel))
        except documents.Wrong:
            return judge.NO
        return verdict.answer()

    def contradiction(self, code=None):
        """On the smallest of the choices; a mutant may also not be well formed."""
        try:
            read = documents.Code(code or self.code)
            return judge.contradiction(read, choose(read.kernel, random.Random(self.seed), 1)[0], MOST_STATES)
        except (documents.Wrong, judge.NotAsTheKernel, judge.Limit, judge.TooLarge):
            return None


def subject_of(tally, seed):
    kernel, machine, _ = draw_case(seed)
    strategy = random.Random(seed).choice(STRATEGIES[:5])
    with tempfile.TemporaryDirectory() as folder:
        compiled = compile_kernel(tally, folder, kernel, machine, ["--sync=" + strategy])
    if compiled.code is None:
        return None
    exact = INEXACT not in compiled.messages and promises_exactness(compiled.code)
    return Subject(json.loads(compiled.code), kernel, machine, exact, seed)


def count_seed(tally, seed, kinds, rule=None):
    """For each kind (killed, all) on one seed; and whether the right code is right."""
    subject, counts = subject_of(tally, seed), {}
    if subject is None or subject.answer() != judge.YES:
        return counts, subject is None or subject.answer() != judge.NO
    for kind in kinds:
        made = list(mutants(kind, subject.code, subject.kernel, random.Random(seed), PER_SEED))
        if rule:
            with Without(rule):
                killed = sum(subject.answer(*mutant) == judge.NO for mutant in made)
        else:
            killed = sum(subject.answer(*mutant) == judge.NO for mutant in made)
        counts[kind] = (killed, len(made))
    return counts, True


def cross_seed(tally, seed):
    """Contradictions between the two ways of judging, on right code and on mutants."""
    subject = subject_of(tally, seed)
    if subject is None:
        return []
    codes = [subject.code] + [code for kind in KINDS for code, _ in
                              mutants(kind, subject.code, subject.kernel, random.Random(seed), 1)]
    found = [subject.contradiction(code) for code in random.Random(seed).sample(codes, min(5, len(codes)))]
    return [f"seed {seed}: {text}" for text in found if text]


def tell_contradictions(options, pool):
    tasks = [pool.apply_async(cross_seed, (options.tally, options.seed + turn)) for turn in range(options.most * 2)]
    found = [text for task in tasks for text in task.get()]
    print(f"all schedules against order: {len(tasks)} kernels, {len(found)} contradictions")
    for text in found[:5]:
        print(f"  {text[:500]}")
    return not found


class Campaign:
    """Goes through seeds until there are `most` mutants of each kind."""

    def __init__(self, options, kinds, rule=None):
        self.options = options
        self.kinds = list(kinds)
        self.rule = rule
        self.killed = collections.Counter()
        self.all = collections.Counter()
        self.wrong_seeds = []
        self.seeds = []

    def wanted(self):
        return [kind for kind in self.kinds if self.all[kind] < self.options.most]

    def run(self, pool, seeds):
        seeds, waiting = iter(seeds), collections.deque()
        while True:
            wanted = self.wanted()
            seed = next(seeds, None) if wanted else None
            if seed is not None:
                waiting.append((seed, pool.apply_async(count_seed, (self.options.tally, seed, wanted, self.rule))))
            if not waiting:
                return self
            if seed is None or len(waiting) > 2 * self.options.jobs:
                self.add(*waiting.popleft())

    def add(self, seed, task):
        counts, right = task.get()
        if not right:
            self.wrong_seeds.append(seed)
        if any(number for _, number in counts.values()):
            self.seeds.append(seed)
        for kind, (killed, number) in counts.items():
            self.killed[kind] += killed
            self.all[kind] += number

    def rate(self, kind):
        return 100 * self.killed[kind] / self.all[kind] if self.all[kind] else 0


def tell(campaign):
    """Prints the table; whether all kinds reach their rates."""
    good = not campaign.wrong_seeds
    for kind, (_, least) in KINDS.items():
        enough = campaign.rate(kind) >= least
        good = good and enough
        print(f"{kind:26} {campaign.killed[kind]:5} of {campaign.all[kind]:5}  {campaign.rate(kind):5.1f} %  "
              f"(at least {least} %){'' if enough else '  TOO FEW'}")
    for seed in campaign.wrong_seeds:
        print(f"seed {seed}: the code itself gets a no")
    return good


def tell_rules(options, pool, full):
    """Whether each rule is needed: without it, its kind is noticed less often."""
    good = True
    for rule, (_, _, _, kind) in RULES.items():
        without = Campaign(options, [kind], rule).run(pool, full.seeds)
        less = without.rate(kind) < full.rate(kind)
        good = good and less
        print(f"without {rule:20} {kind:26} {without.rate(kind):5.1f} % instead of {full.rate(kind):5.1f} %"
              f"{'' if less else '  NOT NEEDED'}")
    return good


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--tally", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", type=int, default=1000)  # where the search for rare kinds ends
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--cross", action="store_true")
    options = parser.parse_args()
    with multiprocessing.Pool(options.jobs) as pool:
        full = Campaign(options, KINDS).run(pool, range(options.seed, options.seed + options.seeds))
        good = tell(full)
        if options.rules:
            good = tell_rules(options, pool, full) and good
        if options.cross:
            good = tell_contradictions(options, pool) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
