#!/usr/bin/env python3
"""Makes mistakes in right code, runs it on threads, and compares what is seen with what `tally check --race` says.

usage: second_opinion.py --tally=PATH [--mutants=N] [--runs=N] [--kernels=NAME,...] [--random=SEED:N] [--strategies=NAME,...]
                         [--seed=N] [--jobs=N] [--json=FILE] [--work=FOLDER]

A mutant is the code of a kernel without one wait, or with one threshold that is lower by one. Each is written as C++ and built
with ThreadSanitizer, which knows nothing of tally. Many codes with all their mutants are one program: a mutant differs from its
code in one function. It runs up to --runs times, until ThreadSanitizer reports a race, memory is not as after the sequential run,
or no thread can go on. Threads take turns, in another order in each run (repeated.h).

Right code is run as often, and must never be reported. Nor must mutants in which the check sees nothing wrong: a wait can be
one that others imply. Nor is it an error if nothing is seen where threads keep the order by themselves: dependences between runs that
share no element, and between instructions of one queue. Those on which it cannot decide are not called wrong; all of them that are seen are listed.

Prints a table, and each mutant about which the two differ. Exit status: 0 right code is not reported, and at least 90 % of the
mutants that the check calls wrong are seen; 1 otherwise; 2 it was not possible.
"""

import argparse
import collections
import copy
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "utils/outside"))
from mutants import at, waits_of  # noqa: E402

STRATEGIES = ["per-instruction", "per-loop", "per-engine", "auto", "barrier", "unrolled"]
LEAST_SEEN = 0.9
RACE, DATA, HANG, NOTHING = 66, 65, 67, 0
SEEN = {RACE: "ThreadSanitizer", DATA: "wrong data", HANG: "stuck", NOTHING: "nothing"}
HARNESS = Path(__file__).resolve().parent / "repeated.h"


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def run(command, allowed=(0,), **more):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=3600, **more)
    if result.returncode not in allowed:
        fail(f"{' '.join(map(str, command))}\nexit {result.returncode}\n{result.stdout[-2000:]}\n{result.stderr[-3000:]}")
    return result


# ---- Mistakes -----------------------------------------------------------------------------


class Mistake:
    """At one wait of one engine: in JSON, which the check reads, and in the line of C++ that the wait becomes."""

    def __init__(self, path, operation, place):
        self.path, self.engine, self.place = path, path[1], place  # of the waits of this engine
        self.is_alone = operation["op"] == "wait"


class NoWait(Mistake):
    kind = "wait removed"

    def make(self, code):
        if self.is_alone:
            del at(code, self.path[:-1])[self.path[-1]]
        else:
            at(code, self.path)["wait"] = None

    def line(self, match):
        return PAUSE


class LowThreshold(Mistake):
    """By one, where it is above 0."""

    kind = "threshold lowered"

    def make(self, code):
        lower(code, self.path)

    def line(self, match):
        counter, threshold, rest = match.groups()
        return f"{counter}.wait(tally::subtractToZero({threshold}, 1){rest}); {PAUSE}"


def mistakes_in(code):
    waits = collections.Counter()
    for path, operation in waits_of(code):
        place = waits[path[1]]
        waits[path[1]] += 1
        yield NoWait(path, operation, place)
        if operation["wait"]["threshold"].get("value") != 0:
            yield LowThreshold(path, operation, place)


def lower(code, path):
    wait, engine = at(code, path)["wait"], code["engines"][path[1]]
    threshold = wait["threshold"]
    if "value" in threshold:
        wait["threshold"] = {"value": threshold["value"] - 1}
        return
    new = {"register": len(engine["registers"])}
    engine["registers"].append({"id": new["register"], "name": "lowered"})
    at(code, path[:-1])[path[-1]:path[-1]] = [
        {"op": "alu", "operation": "gt", "dst": new["register"], "a": threshold, "b": {"value": 0}},
        {"op": "alu", "operation": "sub", "dst": new["register"], "a": threshold, "b": new}]
    wait["threshold"] = new


PAUSE = "tally::pause();"  # where the mistake is, so that others may go on

KINDS = (NoWait.kind, LowThreshold.kind)


# ---- Kernels ------------------------------------------------------------------------------


class Subject:
    """A kernel under one strategy."""

    def __init__(self, tally, work, name, strategy):
        self.tally, self.name, self.strategy = tally, name, strategy
        self.work = work / f"{name}-{strategy}"
        self.work.mkdir(parents=True)
        self.inputs, self.expected = self.work / "inputs", self.work / "expected"
        self.inputs.mkdir()
        self.kernel = self.work / "kernel.mlir"
        self.trips, self.mutants = [], []
        if name in CATALOGUE:
            run([tally, "kernels", "emit", name, f"--inputs={self.inputs}", "-o", self.kernel])
            self.machine, self.trips = ["--machine=trn2"], list(CATALOGUE[name])
        else:
            seed = name.removeprefix("seed-")
            self.kernel.write_text(run([f"{tally}-fuzz", "--threads", "--print", f"--seed={seed}"]).stdout, encoding="utf-8")
            self.machine = ["--machine=teaching"]

    def compile(self):
        """False if the strategy refuses the kernel, or there is nothing that a run could show."""
        code = self.work / "code.json"
        compiled = run([self.tally, "compile", self.kernel, *self.machine, f"--sync={self.strategy}", "--format=json",
                        "--quiet", "-o", code], allowed=(0, 2))
        if compiled.returncode != 0:
            return False
        self.code = json.loads(code.read_text(encoding="utf-8"))
        self.queues = dict(queues_of(self.code["kernel"]["body"]))
        if self.name not in CATALOGUE:
            self.draw_run()
        simulated = run([self.tally, "sim", code, *self.machine, *self.trips, f"--inputs={self.inputs}",
                         f"--outputs={self.expected}", "--check-data", "--quiet"], allowed=(0, 2))
        return simulated.returncode == 0

    def draw_run(self):
        """Few trips, and whole numbers in all buffers."""
        kernel = self.code["kernel"]
        self.trips = [f"--trips={loop}={count}" for loop, count in few_trips(kernel["body"])] + ["--guards=1"]
        source = random.Random(self.name)
        for buffer in kernel["buffers"]:
            write_numbers(self.inputs / f"{buffer['name']}.npy", buffer, source)

    def find_mutants(self):
        self.mutants = [Mutant(self, number, mistake) for number, mistake in enumerate(mistakes_in(self.code), 1)]

    def program(self):
        return run([self.tally, "compile", self.work / "code.json", *self.machine, "--sync=manual", "--emit=c++", "--pauses",
                    "--queue-threads", "--quiet"]).stdout


class Mutant:
    def __init__(self, subject, number, mistake):
        self.subject, self.number, self.mistake, self.kind = subject, number, mistake, mistake.kind
        self.file = subject.work / f"mutant-{number}.json"
        self.seen, self.after = None, 0

    def judge(self):
        """What the check says."""
        code = copy.deepcopy(self.subject.code)
        self.mistake.make(code)
        self.file.write_text(json.dumps(code), encoding="utf-8")
        result = run([self.subject.tally, "check", self.file, *self.subject.machine, *self.subject.trips, "--race", "--quiet"],
                     allowed=(0, 1, 2))
        self.says = {0: "right", 1: "wrong", 2: "open"}[result.returncode]
        reasons = [line.split("error: ", 1)[1] for line in result.stdout.splitlines() + result.stderr.splitlines() if "error: " in line]
        self.reason = reasons[0] if reasons else ""
        if self.says == "wrong" and reasons and all(map(self.is_kept_by_threads, reasons)):
            self.says = "kept"

    def is_kept_by_threads(self, reason):
        """Whether threads cannot show it: a dependence asks for an order where no element is shared, or a queue's thread has finished
        an instruction before it begins the next, which a machine may not."""
        race = re.match(r"race: nothing makes '([^']*)'.* wait for '([^']*)'", reason)
        queues = self.subject.queues
        return reason.startswith("unordered: ") or race is not None and queues[race.group(1)] == queues[race.group(2)]

    def change(self, functions):
        """The function of its engine in C++, with the mistake."""
        engine = self.mistake.engine
        waits = [match for match in WAIT.finditer(functions[engine])]
        match = waits[self.mistake.place]
        new = self.mistake.line(match)
        self.where = f"{match.group(0)} {'is not there' if new == PAUSE else 'becomes ' + new}"
        return functions[engine][:match.start()] + new + functions[engine][match.end():]

    def describe(self):
        engine = self.subject.code["kernel"]["engines"][self.mistake.engine]["name"]
        return f"{self.subject.name}, {self.subject.strategy}: {self.kind} on '{engine}' ({self.where})"


def queues_of(statements):
    for statement in statements:
        if "instr" in statement:
            yield statement["instr"], statement["queue"]
        for inner in ("body", "then", "else"):
            yield from queues_of(statement.get(inner, ()))


def few_trips(statements):
    for statement in statements:
        trips = statement.get("trips")
        if isinstance(trips, dict) and "formula" not in trips:
            yield statement["loop"], min(max(trips.get("min", 0), 3), trips.get("max", 3))
        for inner in ("body", "then", "else"):
            yield from few_trips(statement.get(inner, ()))


TYPES = {"f32": ("<f4", "<f"), "i32": ("<i4", "<i"), "i16": ("<i2", "<h"), "u8": ("|u1", "<B"), "bf16": ("<u2", "<f")}


def write_numbers(file, buffer, source):
    kind, packed = TYPES[buffer["type"]]
    elements = b""
    for _ in range(math.prod(buffer["shape"])):
        element = struct.pack(packed, source.randrange(100))
        elements += element[2:] if buffer["type"] == "bf16" else element
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(buffer['shape'])}, }}"
    header += " " * ((64 - (len(header) + 11) % 64) % 64) + "\n"
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + elements)


# ---- One program for many codes -----------------------------------------------------------

FUNCTION = re.compile(r"^void (\w+)\(\) \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
START = re.compile(r"^int start\(int argc, char \*\*argv\) \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)


WAIT = re.compile(r"(\w+)\.wait\((\w+)((?:, \w+)*)\);")


def functions_of(program, code):
    """What engines do, by their number."""
    kernel = program[program.index("\nnamespace kernel {"):]
    functions = {match.group(1): match.group(0) for match in FUNCTION.finditer(kernel)}
    threads = [name for name in re.findall(r"program\.addThread\((\w+)\);", program)]
    engines = [name for name in threads if not name.startswith("serve_")]
    waits = collections.Counter(path[1] for path, _ in waits_of(code))
    for number, name in enumerate(engines):
        if len(WAIT.findall(functions[name])) != waits[number] or functions[name].count(".wait(") != waits[number]:
            fail(f"'{name}' does not have {waits[number]} waits, as in JSON")
    return threads, engines, [functions[name] for name in engines]


def with_mutants(number, subject):
    """The namespace of a right program, with a further function for each mutant; and what stands before it."""
    program = subject.program()
    threads, engines, functions = functions_of(program, subject.code)
    variants, table = "", ""
    for mutant in subject.mutants:
        name = engines[mutant.mistake.engine]
        variants += "\n" + mutant.change(functions).replace(f"void {name}()", f"void mutant_{mutant.number}()")
        table += f"  program.replace({mutant.number}, {threads.index(name)}, mutant_{mutant.number});\n"
    start = START.search(program).group(0)
    campaign = start.replace("tally::Program program;", "repeated::Program program;").replace("  return program.run", table + "  return program.run")
    head, kernel = program[:program.index("} // namespace kernel")].split("\nnamespace kernel {\n", 1)
    return head, f"\nnamespace kernel_{number} {{\n" + kernel.replace(start, variants + "\n" + campaign) + "}\n"


def with_turns(head):
    """Threads that pause or wait do as repeated.h says."""
    for old, new in (("\nnamespace tally {\n", "\nnamespace repeated {\nvoid pause();\nvoid wait(bool isFirst);\n} // namespace repeated\n\nnamespace tally {\n"),
                     ("    if (spins < spinning) {\n", "    repeated::wait(spins++ == 0);\n    return;\n    if (spins < spinning) {\n"),
                     ("inline void pause() {\n", "inline void pause() {\n  repeated::pause();\n  return;\n")):
        if head.count(old) != 1:
            fail(f"the program does not have {old!r} once")
        head = head.replace(old, new)
    return head


def build(work, subjects, pool):
    """A program whose first argument says which code runs, and the second which mutant of it."""
    parts = list(pool.map(with_mutants, range(len(subjects)), subjects))
    starts = ", ".join(f"kernel_{number}::start" for number in range(len(subjects)))
    source, program = work / "all.cpp", work / "all"
    source.write_text(
        with_turns(parts[0][0]) + HARNESS.read_text(encoding="utf-8") + "".join(kernel for _, kernel in parts) +
        f"\nint main(int argc, char **argv) {{\n  int (*starts[])(int, char **) = {{{starts}}};\n"
        "  return starts[std::atoi(argv[1])](argc - 1, argv + 1);\n}\n", encoding="utf-8")
    run(["g++", "-std=c++20", "-O1", "-pthread", "-fsanitize=thread", source, "-o", program])
    return program


# ---- Running ------------------------------------------------------------------------------


def prefix_for(program):
    """ThreadSanitizer of gcc 12 cannot be where some kernels put memory at random."""
    for prefix in ([], ["setarch", os.uname().machine, "-R"]):
        try:
            result = subprocess.run([*prefix, program, "0", "0", "0", "."], capture_output=True, text=True, timeout=60)
        except FileNotFoundError:
            break
        if "unexpected memory mapping" not in result.stderr and "personality" not in result.stderr:
            return prefix
    fail("ThreadSanitizer does not run here ('unexpected memory mapping'); as root, try 'sysctl vm.mmap_rnd_bits=28'")


def execute(command, subject, number, runs):
    """What is seen of a mutant, or of the right code (0), and after how many runs."""
    options = {"TSAN_OPTIONS": f"halt_on_error=1:exitcode={RACE}:report_signal_unsafe=0"}
    result = run([*command, number, runs, subject.expected, f"--inputs={subject.given}", *subject.trips],
                 allowed=tuple(SEEN), env={**os.environ, **options})
    after = re.findall(r"^run (\d+)", result.stdout, re.MULTILINE)
    return result.returncode, int(after[-1]) if after else 1, result.stdout + result.stderr


def give_inputs(subject):
    """What nothing writes and no file holds, as the simulator has chosen it."""
    subject.given = subject.work / "given"
    subject.given.mkdir()
    for file in [*subject.expected.iterdir(), *subject.inputs.iterdir()]:
        if (subject.inputs / file.name).exists() or is_only_read(subject.code["kernel"], file.stem):
            (subject.given / file.name).write_bytes(file.read_bytes())


def is_only_read(kernel, buffer):
    def touched(statements, kinds):
        for statement in statements:
            for kind in kinds:
                for tile in statement.get(kind, ()):
                    yield re.match(r"[^\[ ]*", tile).group(0)
            for inner in ("body", "then", "else"):
                yield from touched(statement.get(inner, ()), kinds)

    return buffer not in touched(kernel["body"], ("writes", "accumulates"))


# ---- The campaign -------------------------------------------------------------------------

# Of the kernels of the catalogue, those of which a thousand runs take seconds; with their options.
CATALOGUE = {
    "matmul": [],
    "adamw": [],
    "rmsnorm": [],
    "flash_attention": [],
}

MOST = 40    # of each code: mutants that the check calls wrong
OTHERS = 4   # of each code: mutants in which the check sees nothing wrong
TOGETHER = 8  # codes in one program


class Report:
    def __init__(self):
        self.counts = collections.Counter()  # (kind, what the check says, what is seen)
        self.missed, self.extra, self.undecided, self.reported, self.rows = [], [], [], [], []
        self.codes = self.runs = 0

    def add(self, mutant):
        self.counts[mutant.kind, mutant.says, SEEN[mutant.seen]] += 1
        self.rows.append({"what": mutant.describe(), "kind": mutant.kind, "check": mutant.says, "reason": mutant.reason,
                          "seen": SEEN[mutant.seen], "runs": mutant.after})
        line = f"{mutant.describe()}: the check says {mutant.says}" + (f" ({mutant.reason})" if mutant.reason else "")
        if mutant.says == "wrong" and mutant.seen == NOTHING:
            self.missed.append(line)
        if mutant.says != "wrong" and mutant.seen != NOTHING:
            (self.extra if mutant.says == "right" else self.undecided).append(f"{line}; seen: {SEEN[mutant.seen]} in run {mutant.after}")

    def total(self, says, seen=None, kind=None):
        return sum(count for (k, s, n), count in self.counts.items()
                   if s == says and seen in (None, n) and kind in (None, k))

    def text(self):
        lines = [f"{self.codes} codes, each right in {self.runs} runs" if not self.reported else "right code is reported",
                 f"{'mutants':<20}{'called wrong':>14}" + "".join(f"{SEEN[seen]:>18}" for seen in SEEN) + f"{'not called wrong':>18}"]
        for kind in (*KINDS, None):
            row = [self.total("wrong", SEEN[seen], kind) for seen in SEEN]
            lines.append(f"{kind or 'all':<20}{self.total('wrong', kind=kind):>14}" + "".join(f"{n:>18}" for n in row) +
                         f"{sum(self.total(says, kind=kind) for says in ('right', 'open', 'kept')):>18}")
        soon = sorted(row["runs"] for row in self.rows if row["check"] == "wrong" and row["seen"] != "nothing")
        if soon:
            lines.append(f"seen in the first run: {soon.count(1)}; half of them by run {soon[len(soon) // 2]}, the last in run {soon[-1]}")
        for title, listed in (("right code that is reported", self.reported), ("called right, and seen", self.extra),
                              ("not decided, and seen", self.undecided),
                              ("called wrong, and not seen", self.missed)):
            lines += [f"{title}: {len(listed)}"] + [f"  {line}" for line in listed]
        return "\n".join(lines)

    def is_good(self):
        wrong = self.total("wrong")
        return (not self.reported and not self.extra and wrong > 0 and wrong - len(self.missed) >= LEAST_SEEN * wrong)


class Campaign:
    def __init__(self, arguments, work, pool):
        self.arguments, self.work, self.pool = arguments, work, pool
        self.tally = Path(arguments.tally).resolve()
        self.source = random.Random(arguments.seed)
        self.report = Report()

    def run(self):
        taken = []
        for name, strategy in self.pairs():
            if self.missing(taken) <= 0:
                break
            subject = self.subject(name, strategy)
            if subject is not None:
                taken.append(subject)
            if len(taken) == TOGETHER:
                self.look_at(taken)
                taken = []
        if taken:
            self.look_at(taken)
        return self.report

    def pairs(self):
        names = [name for name in self.arguments.kernels.split(",") if name]
        strategies = self.arguments.strategies.split(",")
        catalogue = [(name, strategy) for name in names for strategy in strategies]
        self.source.shuffle(catalogue)
        first, count = map(int, self.arguments.random.split(":"))
        drawn = [(f"seed-{seed}", strategies[seed % len(strategies)]) for seed in range(first, first + count)]
        # By turns, so that whatever ends the campaign, it has seen both.
        for place in range(max(len(catalogue), len(drawn))):
            yield from catalogue[place:place + 1]
            yield from drawn[place:place + 1]

    def missing(self, taken):
        """How many mutants are still to be called wrong."""
        return self.arguments.mutants - self.report.total("wrong") - sum(
            mutant.says == "wrong" for subject in taken for mutant in subject.mutants)

    def subject(self, name, strategy):
        """A code with those of its mutants that run; none if the strategy refuses the kernel, or it has no waits."""
        subject = Subject(self.tally, self.work, name, strategy)
        if not subject.compile():
            return None
        subject.find_mutants()
        self.source.shuffle(subject.mutants)
        del subject.mutants[2 * MOST:]
        list(self.pool.map(Mutant.judge, subject.mutants))
        wrong = [mutant for mutant in subject.mutants if mutant.says == "wrong"]
        others = [mutant for mutant in subject.mutants if mutant.says != "wrong"]
        subject.mutants = wrong[:MOST] + others[:OTHERS]
        give_inputs(subject)
        return subject if subject.mutants else None

    def look_at(self, subjects):
        program = build(self.work, subjects, self.pool)
        prefix = prefix_for(program)
        for number, subject in enumerate(subjects):
            subject.command = [*prefix, program, number]
        list(self.pool.map(self.run_right, subjects))
        for mutant in self.pool.map(self.run_mutant, [mutant for subject in subjects for mutant in subject.mutants]):
            self.report.add(mutant)
        print(f"{self.report.codes} codes: {self.report.total('wrong')} mutants called wrong, {len(self.report.missed)} of them "
              "not seen", file=sys.stderr, flush=True)

    def run_right(self, subject):
        seen, after, output = execute(subject.command, subject, 0, self.arguments.runs)
        self.report.codes, self.report.runs = self.report.codes + 1, self.arguments.runs
        if seen != NOTHING:
            self.report.reported.append(f"{subject.name}, {subject.strategy}: {SEEN[seen]} in run {after}\n{output[-2000:]}")

    def run_mutant(self, mutant):
        # Where nothing should be seen, it is not looked for as long.
        runs = self.arguments.runs if mutant.says == "wrong" else max(self.arguments.runs // 10, 1)
        mutant.seen, mutant.after, _ = execute(mutant.subject.command, mutant.subject, mutant.number, runs)
        return mutant


def campaign(arguments, work):
    with ThreadPoolExecutor(arguments.jobs) as pool:
        report = Campaign(arguments, work, pool).run()
    if not report.codes:
        fail(f"no code was looked at: see what '{arguments.tally} compile' says of a kernel with --machine=teaching")
    print(report.text())
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(report.rows, indent=1), encoding="utf-8")
    return 0 if report.is_good() else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tally", required=True)
    parser.add_argument("--mutants", type=int, default=500, help="how many that the check calls wrong")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--kernels", default=",".join(CATALOGUE), help="of the catalogue")
    parser.add_argument("--random", default="1:1000", help="random kernels: the first seed, and how many")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--work", help="where programs are kept; without it, nowhere")
    arguments = parser.parse_args()
    if arguments.work:
        sys.exit(campaign(arguments, Path(arguments.work)))
    with tempfile.TemporaryDirectory() as work:
        sys.exit(campaign(arguments, Path(work)))


if __name__ == "__main__":
    main()
