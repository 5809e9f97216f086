#!/usr/bin/env python3
"""Compiles random kernels under every strategy and lets the outside interpreter judge the code.

usage: python3 utils/outside/campaign.py --tally=PATH [--seed=N] [--count=N] [--seconds=S] [--jobs=N]
           [--choices=N] [--out=FOLDER] [--features] [--without=KIND,...]

One seed is one kernel and one machine. Prints how many kernels, codes and runs were judged, what could
not be decided, and findings, each with the smallest kernel that was found to show it; with --out, also
as files. --features counts the kernels in which two features met. --without leaves kinds of findings out.

Exit status: 0 no finding, 1 findings, or nothing to judge.
"""

import argparse
import collections
import copy
import itertools
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import documents
from choices import choose
from draw import draw_branched, draw_nests, draw_kernel, draw_machine, draw_pair, draw_sums
from judge import Finding, judge, read_code

STRATEGIES = ("per-instruction", "per-loop", "per-engine", "auto", "barrier", "unrolled")
COUNTING = ("per-instruction", "per-loop", "per-engine", "barrier")
SECONDS = 60  # for one compilation
INEXACT = "longer than it has to"  # said of each wait that is
SHRINKING_STEPS = 150
PAIR = 8  # the last digit of seeds whose kernel is a pair in a nest
SIDE_BY_SIDE = (7, 21, 27, 39)  # and of those with nests side by side
BRANCHED = (5, 15, 25, 45)  # the rest by 50 of those whose consumers stand in a tree of branches


# ---- One kernel, one strategy -------------------------------------------------------------


class Compiled:
    """`code` is the text of the code, or None; then `refusal` says why, or `finding` that it crashed."""

    def __init__(self, code, messages, refusal=None, finding=None):
        self.code = code
        self.messages = messages
        self.refusal = refusal
        self.finding = finding


def compile_kernel(tally, folder, kernel, machine, options):
    """Starts the compiler once."""
    paths = [os.path.join(folder, name) for name in ("kernel.json", "machine.json")]
    for path, document in zip(paths, (kernel, machine)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
    command = [tally, "compile", paths[0], f"--machine={paths[1]}", "--format=json"] + options
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Compiled(None, "", finding=Finding("hang", f"no answer within {SECONDS} s"))
    if done.returncode == 0:
        return Compiled(done.stdout, done.stderr)
    errors = [line.split("error: ", 1)[1] for line in done.stderr.splitlines() if "error: " in line]
    if done.returncode not in (1, 2) or not errors:
        return Compiled(None, "", finding=Finding("crash", f"exit {done.returncode}: {done.stderr[-300:]}"))
    return Compiled(None, "", refusal=errors[0])


class Judged:
    """What came of one kernel under one strategy."""

    def __init__(self, refusal=None):
        self.refusal = refusal
        self.finding = None
        self.choice = ""
        self.undecided = []
        self.runs = 0


def judge_kernel(tally, folder, kernel, machine, options, choices, seed):
    return judge_compiled(compile_kernel(tally, folder, kernel, machine, options), kernel, machine, choices, seed)


def judge_compiled(compiled, kernel, machine, choices, seed):
    judged = Judged(compiled.refusal)
    judged.finding = compiled.finding
    if compiled.code is None:
        return judged
    try:
        code = read_code(compiled.code, documents.read_machine_file(machine))
        chosen = choose(code.kernel, random.Random(seed), choices)
        exact = INEXACT not in compiled.messages and promises_exactness(compiled.code)
        verdict, shown = judge(code, chosen, exact, documents.Kernel(kernel))
    except documents.Wrong as error:
        judged.finding = Finding("form", str(error))
        return judged
    judged.runs = len(chosen)
    judged.undecided = verdict.reasons
    if verdict.findings:
        judged.finding = verdict.findings[0]
        judged.choice = shown.options() if shown else ""
    return judged


def promises_exactness(code):
    """Barriers and resets hold back by design."""
    return '"op": "reset"' not in code and '"op": "barrier"' not in code


# ---- One seed -----------------------------------------------------------------------------


class Result:
    """All of one seed, small enough to travel between processes."""

    def __init__(self, seed, features):
        self.seed = seed
        self.features = features
        self.codes = collections.Counter()
        self.runs = 0
        self.refusals = []
        self.undecided = []
        self.findings = []


def draw_case(seed):
    """Kernel, machine and features of a seed; half of the kernels count on few bits, with bounded trips."""
    source = random.Random(seed)
    machine, features = draw_machine(source)
    few_bits = machine["limits"]["counter_bits"]["value"] < 32
    if seed % 10 == PAIR:
        kernel, more = draw_pair(source, f"seed{seed}")
    elif seed % 50 in BRANCHED:
        kernel, more = draw_branched(source, f"seed{seed}")
    elif seed % 50 in SIDE_BY_SIDE:
        kernel, more = draw_nests(source, f"seed{seed}")
    else:
        kernel, more = draw_kernel(source, f"seed{seed}", few_bits)
    return kernel, machine, features | more | draw_sums(source, machine, kernel)


def options_of(strategy, seed):
    """Switches of the compiler, by the seed: apart from its own, each strategy has the same."""
    source, options = random.Random(seed), ["--sync=" + strategy]
    own = source.random() < 0.3
    if strategy == "barrier" and own:
        options.append("--barrier-participants=all")
    if strategy == "auto" and own:
        options.append("--max-code-growth=2")
    if source.random() < 0.15:
        options.append("--overflow=refuse")
    if source.random() < 0.1:
        options.append(source.choice(("--no-fold", "--no-licm", "--no-cse", "--keep-counters")))
    if source.random() < 0.1:
        options.append("--keep-implied")
    return options


def ways_of(kernel, seed):
    """For each strategy that is worth trying: (its name, switches of the compiler)."""
    for strategy in STRATEGIES:
        if strategy != "unrolled" or constant(kernel):
            yield strategy, options_of(strategy, seed)


def judge_seed(tally, seed, choices):
    kernel, machine, features = draw_case(seed)
    result = Result(seed, features)
    with tempfile.TemporaryDirectory() as folder:
        for strategy, options in ways_of(kernel, seed):
            judged = judge_kernel(tally, folder, kernel, machine, options, choices, seed)
            note(result, strategy, options, judged, kernel, machine)
    check_auto(result, kernel, machine)
    return result


def constant(kernel):
    return all(isinstance(statement.get("trips", 0), int) for _, statement in statements_of(kernel["body"], []))


def note(result, strategy, options, judged, kernel, machine):
    result.runs += judged.runs
    result.undecided += [(strategy, reason) for reason in judged.undecided]
    if judged.refusal:
        result.refusals.append((strategy, judged.refusal))
    else:
        result.codes[strategy] += 1
    if judged.finding:
        result.findings.append((judged.finding.kind, str(judged.finding), options, judged.choice, kernel, machine))


def check_auto(result, kernel, machine):
    """`auto` does whatever a strategy that counts can do on the same machine."""
    refused = dict(result.refusals)
    able = [strategy for strategy in COUNTING if strategy not in refused]
    if "auto" in refused and able:
        message = f"refusal: auto says '{refused['auto']}', but {able[0]} is possible"
        result.findings.append(("refusal", message, options_of("auto", result.seed), "", kernel, machine))


# ---- Smaller kernels ----------------------------------------------------------------------


class Shrinker:
    """Takes parts out of a kernel as long as the same kind of finding stays."""

    def __init__(self, tally, kind, options, choices, seed):
        self.tally = tally
        self.kind = kind
        self.options = options
        self.choices = choices
        self.seed = seed
        self.steps = SHRINKING_STEPS

    def still_shows(self, kernel, machine):
        self.steps -= 1
        with tempfile.TemporaryDirectory() as folder:
            judged = judge_kernel(self.tally, folder, kernel, machine, self.options, self.choices, self.seed)
        return judged if judged.finding and judged.finding.kind == self.kind else None

    def shrink(self, kernel, machine):
        best = None
        progress = True
        while progress and self.steps > 0:
            progress = False
            for smaller in smaller_kernels(kernel):
                if self.steps <= 0:
                    break
                judged = self.still_shows(smaller, machine)
                if judged:
                    kernel, best, progress = smaller, judged, True
                    break
        return kernel, best


def smaller_kernels(kernel):
    """Copies with one part fewer: larger parts first."""
    for place in range(len(kernel.get("dependences", ()))):
        yield without(kernel, ["dependences", place])
    for path, statement in statements_of(kernel["body"], ["body"]):
        yield cleaned(without(kernel, path))
        for inner in ("body", "then", "else"):
            if inner in statement:
                yield cleaned(unwrapped(kernel, path, inner))
        for key in ("unroll", "sync", "uniform", "semaphore", "reads", "writes", "accumulates"):
            if key in statement:
                yield without(kernel, path + [key])
        if isinstance(statement.get("trips"), dict):
            yield with_value(kernel, path + ["trips"], 2)
    for key in ("reserves",):
        if key in kernel:
            yield without(kernel, [key])
    for place, engine in enumerate(kernel["engines"]):
        for key in ("weight", "completion", "reserves"):
            if key in engine:
                yield without(kernel, ["engines", place, key])


def statements_of(statements, path):
    for place, statement in enumerate(statements):
        here = path + [place]
        yield here, statement
        for inner in ("body", "then", "else"):
            yield from statements_of(statement.get(inner, ()), here + [inner])


def at(document, path):
    for step in path:
        document = document[step]
    return document


def without(kernel, path):
    made = copy.deepcopy(kernel)
    del at(made, path[:-1])[path[-1]]
    return made


def with_value(kernel, path, value):
    made = copy.deepcopy(kernel)
    at(made, path[:-1])[path[-1]] = value
    return made


def unwrapped(kernel, path, inner):
    made = copy.deepcopy(kernel)
    around, place = at(made, path[:-1]), path[-1]
    around[place:place + 1] = around[place][inner]
    return made


def cleaned(kernel):
    """Drops dependences of what is gone."""
    left = {statement["instr"] for _, statement in statements_of(kernel["body"], []) if "instr" in statement}
    names = {statement.get("loop") for _, statement in statements_of(kernel["body"], [])}
    if "dependences" in kernel:
        kernel["dependences"] = [
            dependence for dependence in kernel["dependences"]
            if {dependence["producer"], dependence["consumer"]} <= left and set(dependence.get("distance", {})) <= names]
    return kernel


# ---- Many seeds ---------------------------------------------------------------------------


class Total:
    """Sums over all seeds."""

    def __init__(self):
        self.kernels = self.runs = 0
        self.codes = collections.Counter()
        self.refusals = collections.Counter()
        self.undecided = collections.Counter()
        self.features = collections.Counter()
        self.findings = []

    def add(self, result):
        self.kernels += 1
        self.runs += result.runs
        self.codes += result.codes
        self.features.update(itertools.combinations_with_replacement(sorted(result.features), 2))
        self.refusals.update((strategy, re.sub(r"'[^']*'|\d+", "_", reason)) for strategy, reason in result.refusals)
        self.undecided.update(re.sub(r"\d+", "_", reason) for _, reason in result.undecided)
        self.findings += [(result.seed,) + finding for finding in result.findings]

    def tell(self):
        print(f"kernels: {self.kernels}, codes: {sum(self.codes.values())}, runs judged: {self.runs}, "
              f"refused: {sum(self.refusals.values())}, undecided: {sum(self.undecided.values())}, "
              f"findings: {len(self.findings)}")
        for reason, count in self.undecided.most_common(5):
            print(f"  undecided {count}: {reason}")

    def tell_more(self):
        for strategy, count in sorted(self.codes.items()):
            print(f"  {strategy}: {count} codes")
        for (strategy, reason), count in self.refusals.most_common(60):
            print(f"  refused {count} {strategy}: {reason[:150]}")
        names = sorted({name for pair in self.features for name in pair})
        possible = [pair for pair in itertools.combinations(names, 2) if not why_apart(*pair)]
        met = [pair for pair in possible if self.features[pair]]
        print(f"  features: {len(names)}; of {len(possible)} possible pairs {len(met)} met, by how many kernels:")
        for pair in sorted(possible, key=lambda pair: (self.features[pair], pair)):
            print(f"    {self.features[pair]} {pair[0]} with {pair[1]}")
        for pair in itertools.combinations(names, 2):
            if why_apart(*pair):
                print(f"    never {pair[0]} with {pair[1]}: {why_apart(*pair)}")


# Of these, one kernel or machine has one.
CHOICES = {"a machine's counters have one width": {"8 bits", "9 bits", "16 bits", "32 bits"},
           "a machine subtracts in one way": {"saturates", "wraps"},
           "a machine compares in one way": {"signed", "unsigned"},
           "runs of a machine's queues overlap or do not": {"overlap", "in order"},
           "a drawn kernel has either": {"accesses", "written"}}


def why_apart(one, other):
    """Why no kernel has both features; nothing if one may."""
    return next((why for why, names in CHOICES.items() if {one, other} <= names), "")


def run(options):
    """Gives out seeds while there is time, a few ahead of the workers."""
    total, end = Total(), time.monotonic() + options.seconds
    seeds = iter(range(options.seed, options.seed + options.count))
    waiting = collections.deque()
    with multiprocessing.Pool(options.jobs) as pool:
        while True:
            seed = next(seeds, None) if time.monotonic() < end else None
            if seed is not None:
                waiting.append(pool.apply_async(judge_seed, (options.tally, seed, options.choices)))
            if not waiting:
                return total
            if seed is None or len(waiting) > 2 * options.jobs:
                total.add(waiting.popleft().get())


def leave_out(total, kinds):
    total.findings = [finding for finding in total.findings if finding[1] not in kinds]


def tell_findings(total, options):
    shown = collections.Counter()
    for seed, kind, message, compiler_options, choice, kernel, machine in total.findings:
        shown[kind, compiler_options[0]] += 1
        if shown[kind, compiler_options[0]] > 3:
            continue
        if kind not in ("refusal", "hang"):
            kernel, judged = Shrinker(options.tally, kind, compiler_options, options.choices, seed).shrink(kernel, machine)
            message, choice = (str(judged.finding), judged.choice) if judged else (message, choice)
        print(f"\nseed {seed}, {' '.join(compiler_options)}: {message}")
        if choice:
            print(f"with {choice}")
        print(json.dumps(kernel))
        keep(options.out, seed, kind, compiler_options, kernel, machine)


def keep(out, seed, kind, options, kernel, machine):
    if not out:
        return
    os.makedirs(out, exist_ok=True)
    stem = os.path.join(out, f"{kind}-{options[0].removeprefix('--sync=')}-{seed}")
    for suffix, document in ((".json", kernel), (".machine.json", machine)):
        with open(stem + suffix, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
    with open(stem + ".options", "w", encoding="utf-8") as file:
        file.write(" ".join(options) + "\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--tally", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1 << 40)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--choices", type=int, default=12)
    parser.add_argument("--out")
    parser.add_argument("--features", action="store_true")
    parser.add_argument("--without", default="")
    options = parser.parse_args()
    total = run(options)
    leave_out(total, options.without.split(","))
    total.tell()
    if options.features:
        total.tell_more()
    tell_findings(total, options)
    if not total.runs:
        print("no code was judged")
    return 1 if total.findings or not total.runs else 0


if __name__ == "__main__":
    sys.exit(main())
