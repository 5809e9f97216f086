#!/usr/bin/env python3
"""Runs every command of tally on kernels of every kind, in every form, with every option of note.

Each case is one choice for each of these factors:

    command    a command with its own options, as `check --race --format=json`
    kernel     one of a class: those in kernels/, the catalogue, those of this test, random ones (without
               and with accesses), and ones with code by hand
    form       text, bytecode, JSON, or text on stdin
    deps       as they are, found and written down before, or taken as written
    code       none, beside the kernel, or in another file
    strategy, machine, option

A command may say yes, no or that there is no answer. Whatever it says, this must hold:

    - its exit status is 0, 1 or 2, within the time allowed; no signal, no failed assertion
    - a status of 1 is given only by commands that ask a question, and the output says no
    - a status of 0 comes without an error, a status of 2 with one, or with 'could not decide'
    - no message is at '<unknown>:0'
    - JSON is well formed, and so is each line of --diagnostics=json, with the messages that the
      text has
    - a second run prints the same bytes, but for times that are measured

Without --full, the cases are such that any two choices of two factors meet in one (as far as they go
together), in an order drawn from the seed. They end after --seconds, or while more than a few pairs
are left, after three times as many. It fails if pairs still are left, unless the machine was too slow,
which it says with its numbers.

With --full, every command is run on every kernel, with the other factors drawn such that all pairs
meet as well. There is no time limit; a pair that goes together and was not met is a failure.

usage: check-matrix.py [--bin DIR] [--seconds N] [--full] [--seed N] [--jobs N] [--results FILE]
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INPUTS = ROOT / "test/Matrix/Inputs"
TIMEOUT_SECONDS = 60
FEW_PAIRS = 5              # that may be left without --full
SLOW_START_SECONDS = 0.06  # of a program on a machine that is too slow or too busy

STRATEGIES = ["per-instruction", "per-loop", "per-engine", "auto", "barrier", "unrolled"]
MACHINES = ["generic", "teaching", "trn2", "free-control", "narrow"]
FORMS = ["text", "bytecode", "json", "stdin"]
DEPS = ["as-is", "found", "written"]
CODES = ["none", "beside", "other"]
OPTIONS = ["", "--overflow=assume", "--overflow=refuse", "--keep-implied",
           "--barrier-participants=all", "--max-code-growth=4", "--no-fold", "--no-licm --no-cse",
           "--keep-counters"]

# Small enough for every kernel here, and the same on any machine: no limit is one of time.
EXPLORE = "--explore --guards=1 --max-states=2000 --time=1000"
RACE = "--race --guards=1 --schedules=3 --time=1000"
SIM = "--guards=1 --max-operations=20000"


def is_idle(case):
    """Whether the option has no effect, which is refused; code that is there has no strategy."""
    makes = case["code"] == "none"
    return (case["option"] == "--max-code-growth=4" and not (makes and case["strategy"] == "auto")
            or case["option"] == "--barrier-participants=all"
            and makes and case["strategy"] == "unrolled")


class Command:
    """A command line without its kernel, and what goes with it."""

    def __init__(self, line, strategy=True, options=True, code=False, machine=True, asks=False,
                 kernel=True, writes=None, second=False, measures=False):
        self.line = line
        self.strategy = strategy  # takes --sync
        self.options = options    # takes the options of plans
        self.code = code          # takes code in another file
        self.machine = machine    # takes --machine
        self.asks = asks          # may answer no
        self.kernel = kernel      # takes a kernel
        self.writes = writes      # an option that names a file to write
        self.second = second      # takes a second kernel
        self.measures = measures  # prints times that are never the same

    def allows(self, case):
        """Whether these choices go together; otherwise the first choice of a factor stands for all."""
        return ((self.strategy or case["strategy"] == STRATEGIES[0])
                and (self.options or (case["option"] == "" and case["deps"] != "written"))
                and not is_idle(case)
                and (self.machine or case["machine"] == MACHINES[0])
                and (self.code or case["code"] != "other")
                and (self.kernel or (case["form"] == "text" and case["deps"] == "as-is"
                                     and case["code"] == "none"))
                and not (case["form"] == "stdin" and (case["code"] == "other" or self.second)))


def in_formats(line, formats, **kind):
    return [Command(f"{line} --format={name}", **kind) for name in formats]


COMMANDS = [
    *in_formats("compile", ["text", "json", "scf"]),
    Command("compile --listing"),
    Command("compile --listing --expand-barriers"),
    Command("compile --certify --listing", asks=True),
    Command("compile", writes="-o"),
    Command("compile --emit=c++"),
    Command("compile --emit=c++ --calls --pauses"),
    Command("compile --emit=llvm", writes="-o"),
    *in_formats("plan", ["text", "json"]),
    *in_formats("plan --diff --against=barrier", ["text", "json"]),
    *in_formats("plan --diff", ["text", "json"], second=True),
    *in_formats("explain --instr={instr} --rows=5 --guards=1", ["text", "json"]),
    *in_formats("compare", ["text", "json"], strategy=False, options=False),
    *in_formats(f"check {EXPLORE}", ["text", "json"], code=True, asks=True),
    Command(f"check {EXPLORE} --reduction=none", code=True, asks=True),
    Command(f"check {EXPLORE} --hashes", code=True, asks=True),
    *in_formats(f"check {RACE}", ["text", "json"], code=True, asks=True),
    *in_formats("check --guards=1 --max-states=1000 --schedules=2 --time=1000", ["text", "json"],
                code=True, asks=True),
    Command(f"check {EXPLORE} --race --schedules=2", code=True, asks=True, writes="--witness"),
    *in_formats("deps", ["text", "json", "dot"], strategy=False, options=False),
    Command("deps --explain --keep-implied", strategy=False, options=False),
    *in_formats(f"sim {SIM}", ["text", "json"], code=True, asks=True),
    *in_formats(f"sim {SIM} --check-data --seed=7", ["text", "json"], code=True, asks=True),
    Command(f"sim {SIM} --sweep=ctl.alu=0,40", code=True, asks=True),
    Command(f"sim {SIM} --trace-limit=20kB", code=True, asks=True, writes="--trace"),
    *in_formats("run --guards=1 --repeat=2 --oversubscribe", ["text", "json"], code=True, asks=True, measures=True),
    *in_formats(f"report {SIM} --max-pieces=200 --sync=barrier,{{strategy}},ideal", ["html", "svg"],
                strategy=False, options=False, asks=True),
    Command(f"report {SIM} --max-pieces=200", strategy=False, options=False, code=True, asks=True,
            writes="-o"),
    *in_formats("bench --kernels=add_many_loop,adamw --strategies=barrier,{strategy},ideal",
                ["text", "json", "markdown"], strategy=False, options=False, kernel=False),
    *in_formats("kernels list", ["text", "json"], strategy=False, options=False, machine=False,
                kernel=False),
    Command("kernels emit rmsnorm --manual", strategy=False, options=False, machine=False,
            kernel=False),
    *in_formats("machine list", ["text", "json"], strategy=False, options=False, machine=False,
                kernel=False),
    Command("completion bash", strategy=False, options=False, machine=False, kernel=False),
    Command("completion zsh", strategy=False, options=False, machine=False, kernel=False),
    Command("manual check", strategy=False, options=False, machine=False, kernel=False),
    *in_formats("machine check {machine}", ["text", "json"], strategy=False, options=False,
                machine=False, kernel=False, asks=True),
]


# ---- Random kernels -------------------------------------------------------------------------


class RandomKernel:
    """The text of a small kernel; most are legal."""

    def __init__(self, seed, accesses):
        self.random = random.Random(seed)
        self.accesses = accesses
        self.lines = [f"tally.kernel @random_{seed} {{"]
        self.counter = itertools.count()
        self.queues, self.buffers, self.instrs = [], [], []
        self.engines()
        self.declare_buffers()
        self.body([], 1, 0)
        if not self.instrs:
            self.instr([])
        if not accesses:
            self.dependences()
        self.lines.append("}")

    def text(self):
        return "\n".join(self.lines) + "\n"

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def new(self, what):
        return f"{what}{next(self.counter)}"

    def clauses(self, *texts):
        """In any order."""
        present = [text for text in texts if text]
        self.random.shuffle(present)
        return "".join(f" {text}" for text in present)

    def queue_tail(self):
        return self.clauses(f"weight {self.random.choice([2, 16])}" if self.chance(40) else "",
                            self.random.choice(["split", "whole"]) if self.chance(30) else "")

    def engines(self):
        for _ in range(self.random.randint(1, 3)):
            name = self.new("e")
            self.queues.append(name)
            line = f'  tally.engine "{name}"{self.queue_tail()}'
            if self.chance(40):
                other = self.new("q")
                self.queues.append(other)
                line += f' queues ["{other}"{self.queue_tail()}]'
            self.lines.append(line)

    def declare_buffers(self):
        for _ in range(self.random.randint(1, 3)):
            shape = [self.random.randint(2, 4) for _ in range(self.random.randint(0, 2))]
            name = self.new("X")
            self.buffers.append((name, shape))
            self.lines.append(f'  tally.buffer "{name}"' + self.clauses(
                f"shape {shape}" if shape else "", 'type "f32"' if self.chance(60) else ""))

    def index(self, extent, loops):
        counted = [name for name in loops if not name.startswith("c")]
        choices = [str(self.random.randrange(extent)), f"0:{extent}"]
        for name in counted[-2:]:
            choices += [f"{name} mod {extent}", f"({name} + 1) mod {extent}",
                        f"total({name}) mod {extent}"]
        return self.random.choice(choices)

    def tile(self, loops):
        name, shape = self.random.choice(self.buffers)
        if not shape or self.chance(10):
            return name
        return f"{name}[{', '.join(self.index(extent, loops) for extent in shape)}]"

    def tiles(self, loops, most):
        return ", ".join(f'"{self.tile(loops)}"' for _ in range(self.random.randint(1, most)))

    def instr(self, loops):
        name = self.new("i")
        touches = ["", "", ""]
        if self.accesses:
            touches = [f"reads [{self.tiles(loops, 2)}]" if self.chance(60) else "",
                       f"writes [{self.tiles(loops, 1)}]" if self.chance(60) else "",
                       f"accumulates [{self.tiles(loops, 1)}]" if self.chance(10) else ""]
        self.lines.append("  " * (len(loops) + 1) + f'tally.instr "{name}"' + self.clauses(
            f'on "{self.random.choice(self.queues)}"',
            'op "f(interval=40ns, duration=90ns)"' if self.chance(70) else "", *touches))
        self.instrs.append((name, tuple(loops)))

    def body(self, loops, least, depth):
        for _ in range(self.random.randint(least, 3)):
            kind = self.random.randrange(10)
            if kind < 6 or depth == 3 or len(self.instrs) > 8:
                self.instr(loops)
            elif kind < 9:
                self.loop(loops, depth)
            else:
                self.branch(loops, depth)

    def loop(self, loops, depth):
        name = self.new("L")
        trips = self.random.choice([f"trips {self.random.randint(0, 4)}", 'trips "n"',
                                    f'trips "{name}" {self.clauses("min 1", "max 4")}',
                                    f'while "{self.new("w")}"'])
        blanks = "  " * (len(loops) + 1)
        self.lines.append(f'{blanks}tally.loop "{name}"' + self.clauses(
            trips, "divergent" if self.chance(10) else "",
            f"unroll {self.random.choice([2, 3])}" if self.chance(15) else "",
            'sync "barrier"' if self.chance(10) else "") + " {")
        self.body([*loops, name], 1, depth + 1)
        self.lines.append(f"{blanks}}}")

    def branch(self, loops, depth):
        name = self.new("c")
        blanks = "  " * (len(loops) + 1)
        self.lines.append(f'{blanks}tally.if "{name}" {{')
        self.body([*loops, name], 1, depth + 1)
        if self.chance(40):
            self.lines.append(f"{blanks}}} else {{")
            self.body([*loops, f"{name}.else"], 1, depth + 1)
        self.lines.append(f"{blanks}}}")

    def dependences(self):
        for _ in range(self.random.randint(0, 4)):
            (first, at), (second, to) = sorted(
                (self.random.choice(self.instrs), self.random.choice(self.instrs)),
                key=lambda instr: int(instr[0][1:]))
            common = [a for a, b in zip(at, to) if a == b and a.startswith("L")]
            backward = first == second or self.chance(40)
            producer, consumer = (second, first) if backward else (first, second)
            distance = ""
            if common and (backward or self.chance(40)):
                distance = f' at "{self.random.choice(common)}" = {self.random.randint(1, 3)}'
            if backward and not distance:
                continue
            self.lines.append(f'  tally.dep "{producer}" -> "{consumer}"{distance}')


# ---- Kernels and their forms ----------------------------------------------------------------


def without_code(text):
    """A module without its `tally.code`, as the printer lays it out."""
    return re.sub(r"^( *)tally\.code .*?^\1}\n", "", text, flags=re.MULTILINE | re.DOTALL)


class Source:
    """A kernel file, and others made from it when they are first asked for."""

    def __init__(self, matrix, name, text):
        self.matrix, self.name = matrix, name
        self.text = text
        self.files = {}
        self.lock = threading.Lock()
        found = re.search(r'tally\.instr "([^"]+)"', text)
        self.instr = found.group(1) if found else "none"
        self.has_code = "tally.code" in text

    def path(self, form, deps, code):
        """The file, or None if it cannot be made (a kernel that is refused has no code)."""
        key = (form, deps, code)
        with self.lock:
            if key not in self.files:
                self.files[key] = self.make(*key)
            return self.files[key]

    def make(self, form, deps, code):
        text = self.text
        deps_option = [] if deps == "found" else ["--deps=written"]
        if deps == "found" or (code != "none" and not self.has_code):
            source = self.store("source.mlir", without_code(text))
            text = self.matrix.output(["compile", source, *deps_option])
        if text is None:
            return None
        if code == "none":
            text = without_code(text)
        plain = self.store(f"{deps}-{code}.mlir", text)
        if form in ("text", "stdin"):
            return plain
        if form == "bytecode":
            target = str(self.folder() / f"{deps}-{code}.mlirbc")
            return target if self.matrix.convert(plain, target) else None
        return self.make_json(plain, deps, code, deps_option)

    def make_json(self, plain, deps, code, deps_option):
        strategy = ["--sync=manual"] if self.has_code and code != "none" else []
        text = self.matrix.output(["compile", plain, "--format=json", *deps_option, *strategy])
        if text is None:
            return None
        if code == "none":
            documents = json.loads(text)
            kernels = [each["kernel"] for each in
                       (documents if isinstance(documents, list) else [documents])]
            text = json.dumps(kernels if len(kernels) > 1 else kernels[0], indent=1)
        return self.store(f"{deps}-{code}.json", text)

    def folder(self):
        folder = self.matrix.folder / "kernels" / self.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def store(self, name, text):
        path = self.folder() / name
        path.write_text(text, encoding="utf-8")
        return str(path)


class Matrix:
    def __init__(self, programs, folder, seed, numbers):
        self.tally = str(programs / "tally")
        self.opt = str(programs / "tally-opt")
        self.folder = folder
        self.seed = seed
        self.environment = {"TALLY_MACHINES": str(ROOT / "machines"), "PATH": "/usr/bin:/bin"}
        self.narrow = str(folder / "narrow.json")
        Path(self.narrow).write_text(narrow_machine(), encoding="utf-8")
        self.classes = self.load(numbers)

    def output(self, arguments):
        done = subprocess.run([self.tally, *arguments], capture_output=True, text=True,
                              env=self.environment, timeout=TIMEOUT_SECONDS, check=False)
        return done.stdout if done.returncode == 0 else None

    def convert(self, source, target):
        done = subprocess.run([self.opt, source, "--emit-bytecode", "-o", target],
                              capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
        return done.returncode == 0

    def load(self, numbers):
        def files(folder, pattern="*.mlir"):
            return [Source(self, path.stem, path.read_text(encoding="utf-8"))
                    for path in sorted(folder.glob(pattern))]

        names = [each["name"] for each in
                 json.loads(self.output(["kernels", "list", "--format=json"]))["kernels"]]

        def emitted(*options):
            return [Source(self, f"{name}{''.join(options)}",
                           self.output(["kernels", "emit", name, *options])) for name in names]

        def randoms(accesses):
            kind = "accesses" if accesses else "plain"
            return [Source(self, f"random-{kind}-{n}", RandomKernel(n, accesses).text())
                    for n in range(self.seed, self.seed + numbers)]

        return {"kernels": files(ROOT / "kernels"), "catalogue": emitted(),
                "manual": emitted("--manual"), "matrix": files(INPUTS),
                "random": randoms(False), "random-accesses": randoms(True)}


def narrow_machine():
    """A machine with little of everything, whose counters wrap and are compared with sign."""
    machine = json.loads((ROOT / "machines/teaching.json").read_text(encoding="utf-8"))
    machine["name"] = "narrow"
    for name, value in {"semaphores": 6, "registers_per_engine": 5, "counter_bits": 9}.items():
        machine["limits"][name]["value"] = value
    machine["alu"]["subtraction"] = "wraps"
    machine["wait"]["compare"] = "signed"
    return json.dumps(machine, indent=2)


# ---- One case -------------------------------------------------------------------------------


class Case:
    """One choice for each factor, made into a command line."""

    def __init__(self, matrix, choice, source, number):
        self.matrix, self.choice, self.source = matrix, choice, source
        self.command = COMMANDS[choice["command"]]
        self.written = str(matrix.folder / f"written-{number}")

    def arguments(self):
        """None if a file that is needed cannot be made."""
        choice, command = self.choice, self.command
        values = {"instr": self.source.instr, "strategy": choice["strategy"],
                  "machine": self.machine(), "seed": str(self.matrix.seed)}
        arguments = [part.format(**values) for part in command.line.split()]
        self.input = None
        if command.kernel:
            deps = "found" if choice["deps"] == "found" else "as-is"
            beside = "beside" if choice["code"] == "beside" else "none"
            path = self.source.path(choice["form"], deps, beside)
            if path is None:
                return None
            if choice["form"] == "stdin":
                self.input = Path(path).read_bytes()
                path = "-"
            arguments.insert(1, path)
            if command.second:
                arguments.insert(2, path)
            if choice["code"] == "other":
                other = self.source.path(choice["form"], deps, "beside")
                if other is None:
                    return None
                arguments.insert(2, other)
        if command.strategy and choice["code"] == "none":
            arguments.append(f"--sync={choice['strategy']}")
        if command.machine:
            arguments.append(f"--machine={self.machine()}")
        if command.options:
            is_idle = choice["option"] == "--keep-implied" and choice["deps"] == "written"
            arguments += [] if is_idle else choice["option"].split()
            if choice["deps"] == "written":
                arguments.append("--deps=written")
        if command.writes:
            joint = "" if command.writes == "-o" else "="
            arguments.append(f"{command.writes}{joint}{self.written}")
        return arguments

    def machine(self):
        name = self.choice["machine"]
        return self.matrix.narrow if name == "narrow" else name

    def run(self, arguments, *more):
        return subprocess.run([self.matrix.tally, *arguments, *more], input=self.input or b"",
                              capture_output=True, env=self.matrix.environment,
                              timeout=TIMEOUT_SECONDS, check=False)

    def check(self):
        """(command line, what is wrong); the line is None if there is no such case."""
        arguments = self.arguments()
        if arguments is None:
            return None, []
        line = " ".join(["tally", *arguments])
        try:
            first = self.run(arguments)
            kept = self.files()
            second = self.run(arguments, "--diagnostics=json")
        except subprocess.TimeoutExpired:
            return line, [f"did not end within {TIMEOUT_SECONDS} s"]
        problems = self.judge(first)
        if (first.returncode, self.lasting(first), kept) != (second.returncode, self.lasting(second), self.files()):
            problems.append("a second run does something else")
        problems += judge_messages(first.stderr.decode(errors="replace"), second.stderr)
        return line, problems

    def lasting(self, done):
        """What it prints each time."""
        return re.sub(rb"[\d.]+|\s+", b" ", done.stdout) if self.command.measures else done.stdout

    def files(self):
        """What the command has written, by name; taken away."""
        folder, name = os.path.split(self.written)
        found = {}
        for path in sorted(Path(folder).glob(f"{name}*")):
            found[path.name] = path.read_bytes()
            path.unlink()
        return found

    def judge(self, done):
        out = done.stdout.decode(errors="replace")
        errors = done.stderr.decode(errors="replace")
        problems = []
        if done.returncode not in (0, 1, 2):
            problems.append(f"exit status {done.returncode}")
        for sign in ("Assertion", "terminate called", "Stack dump", "AddressSanitizer",
                     "runtime error:", "<unknown>:0"):
            if sign in errors:
                problems.append(f"'{sign}' on stderr")
        says_error = re.search(r"(^|: )error: ", errors, flags=re.MULTILINE) is not None
        undecided = re.search(r"could not decide|cut off|not covered|could not|interrupted"
                              r"|\"compared\": false",
                              out + errors) is not None
        says_no = re.search(r"verdict\"?: \"?no|deadlock|rejected|faults|the sequential run leaves|is not as after"
                            r"|does not come to its end|not every run|findings\"?: [1-9]", out + errors)
        if done.returncode == 0 and says_error:
            problems.append("status 0 with an error")
        if done.returncode == 1 and not (self.command.asks and says_no):
            problems.append("status 1, but nothing says no")
        if done.returncode == 2 and not (says_error or undecided):
            problems.append("status 2 without an error")
        if "--format=json" in self.command.line and out:
            problems += [f"stdout: {problem}" for problem in json_problems(out)]
        return problems


def json_problems(text):
    def refuse(word):
        raise ValueError(f"'{word}' is not JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return [str(error)]
    return []


def judge_messages(text, lines):
    """Whether each line is a message, and the text has it, too."""
    problems = []
    for line in lines.decode(errors="replace").splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            problems.append(f"no JSON on stderr: {line[:200]}")
            continue
        if set(message) != {"severity", "place", "message", "notes"}:
            problems.append(f"other members: {line[:200]}")
        elif message["severity"] in ("error", "warning", "remark"):
            for part in [message, *message["notes"]]:
                first = part["message"].split("\n")[0]
                if first not in text:
                    problems.append(f"not in the text: {first[:200]}")
    return problems


# ---- Choosing cases -------------------------------------------------------------------------


def factors(matrix):
    return {"command": list(range(len(COMMANDS))), "kernel": list(matrix.classes), "form": FORMS,
            "deps": DEPS, "code": CODES, "strategy": STRATEGIES, "machine": MACHINES,
            "option": OPTIONS}


def pairs_of(choice):
    names = sorted(choice)
    return {((a, choice[a]), (b, choice[b])) for a, b in itertools.combinations(names, 2)}


def fits(choice):
    return COMMANDS[choice["command"]].allows(choice)


def all_pairs(domain, chooser):
    """Those that a case can have."""
    pairs = set()
    for a, b in itertools.combinations(sorted(domain), 2):
        for x, y in itertools.product(domain[a], domain[b]):
            if any(fits(completed({a: x, b: y}, domain, chooser)) for _ in range(40)):
                pairs.add(((a, x), (b, y)))
    return pairs


def completed(some, domain, chooser):
    """With the other factors drawn; where a command has no choice, the one that goes."""
    choice = {name: some.get(name, chooser.choice(values)) for name, values in domain.items()}
    command = COMMANDS[choice["command"]]
    forced = {}
    if not command.strategy:
        forced["strategy"] = STRATEGIES[0]
    if not command.machine:
        forced["machine"] = MACHINES[0]
    if not command.options:
        forced["option"] = ""
        if choice["deps"] == "written":
            forced["deps"] = "as-is"
    if not command.kernel:
        forced.update(form="text", deps="as-is", code="none")
    if not command.code and choice["code"] == "other":
        forced["code"] = "none"
    if choice["form"] == "stdin" and (choice["code"] == "other" or command.second):
        forced["form"] = "text"
    for name, value in forced.items():
        if name not in some:
            choice[name] = value
    if is_idle(choice):
        if "option" not in some:
            choice["option"] = ""
        else:
            choice.update({name: value for name, value in (("strategy", "auto"), ("code", "none"))
                           if name not in some})
    return choice


def best_of(some, tries, open_pairs, domain, chooser):
    """Of some cases that have these choices, the one that has the most open pairs; None if none
    goes together."""
    drawn = [completed(some, domain, chooser) for _ in range(tries)]
    return max(filter(fits, drawn), default=None,
               key=lambda choice: len(pairs_of(choice) & open_pairs))


def pairwise(open_pairs, domain, chooser):
    """Cases until each pair is there: each the best of some that have the next open pair."""
    open_pairs = set(open_pairs)
    todo = sorted(open_pairs, key=str)
    chooser.shuffle(todo)
    for pair in todo:
        if pair not in open_pairs:
            continue
        best = best_of(dict(pair), 40, open_pairs, domain, chooser)
        if best is not None:
            open_pairs -= pairs_of(best)
            yield best, None


def everything(open_pairs, domain, chooser, classes):
    """Every command with every kernel (one kernel will do for a command that takes none)."""
    open_pairs = set(open_pairs)
    cases = [(command, name, source) for command, each in enumerate(COMMANDS)
             for name, sources in classes.items() for source in sources[:None if each.kernel else 1]]
    chooser.shuffle(cases)
    for command, name, source in cases:
        best = best_of({"command": command, "kernel": name}, 8, open_pairs, domain, chooser)
        open_pairs -= pairs_of(best)
        yield best, source


# ---- The run --------------------------------------------------------------------------------


class Run:
    """Performs cases, several at a time, and keeps count."""

    def __init__(self, matrix, options):
        self.matrix, self.options = matrix, options
        self.chooser = random.Random(options.seed)
        self.domain = factors(matrix)
        self.possible = all_pairs(self.domain, self.chooser)
        self.met = set()
        self.counts = {"passed": 0, "failed": 0, "impossible": 0}
        self.numbers = itertools.count()
        self.started = self.told = time.monotonic()

    def open_pairs(self):
        return self.possible - self.met

    def is_over(self):
        """Whether the time is up; with many pairs left, three times as much is allowed."""
        spent = (time.monotonic() - self.started) / self.options.seconds
        return not self.options.full and (spent > 3 or spent > 1 and len(self.open_pairs()) <= FEW_PAIRS)

    def all(self):
        if self.options.full:
            self.perform(everything(self.possible, self.domain, self.chooser, self.matrix.classes))
        for _ in range(20):  # a kernel that is refused has no code, so another one is drawn
            if not self.open_pairs() or self.is_over():
                break
            self.perform(pairwise(self.open_pairs(), self.domain, self.chooser))

    def perform(self, cases):
        with ThreadPoolExecutor(self.options.jobs) as pool:
            for batch in iter(lambda: list(itertools.islice(cases, 64)), []):
                for result in pool.map(self.look, batch):
                    self.count(*result)
                if self.is_over():
                    break

    def look(self, case):
        """The choice, the command line and what is wrong; the line is None if there is no such
        case, or no time for it."""
        choice, source = case
        if self.is_over():
            return choice, None, None
        number = next(self.numbers)
        is_chosen = source is not None
        if not is_chosen:
            source = random.Random(f"{choice} {number}").choice(self.matrix.classes[choice["kernel"]])
        line, problems = Case(self.matrix, choice, source, number).check()
        if line is None and is_chosen:  # it cannot be made so, but there is the text
            choice = {**choice, "form": "text", "deps": "as-is", "code": "none"}
            choice["option"] = "" if is_idle(choice) else choice["option"]
            line, problems = Case(self.matrix, choice, source, number).check()
        return choice, line, problems

    def count(self, choice, line, problems):
        if problems is None:
            return
        if line is None:
            self.counts["impossible"] += 1
            return
        self.met |= pairs_of(choice) & self.possible
        self.counts["failed" if problems else "passed"] += 1
        for problem in problems:
            print(f"FAILED {line}\n  {problem}", flush=True)
        if time.monotonic() - self.told > 30:
            self.told = time.monotonic()
            print(f"{self.text()} after {self.told - self.started:.0f} s", flush=True)

    def text(self):
        return (f"{self.counts['passed']} passed, {self.counts['failed']} failed; "
                f"{len(self.met)} of {len(self.possible)} pairs met, {len(self.open_pairs())} left; "
                f"{self.counts['impossible']} cases have no such kernel")

    def is_good(self):
        left = len(self.open_pairs())
        if self.counts["failed"] or not self.counts["passed"]:
            return False
        if left <= (0 if self.options.full else FEW_PAIRS):
            return True
        for pair in sorted(self.open_pairs(), key=str)[:10]:
            print(f"not met: {pair}")
        per_start = self.seconds_per_start()
        if not self.options.full and self.is_over() and per_start > SLOW_START_SECONDS:
            print(f"the machine is too slow for all pairs: {left} are left after "
                  f"{3 * self.options.seconds:.0f} s, and 'tally --version' takes "
                  f"{1000 * per_start:.0f} ms")
            return True
        return False

    def seconds_per_start(self):
        start = time.monotonic()
        for _ in range(10):
            subprocess.run([self.matrix.tally, "--version"], capture_output=True, check=False)
        return (time.monotonic() - start) / 10


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=ROOT / "build/release/bin", type=Path)
    parser.add_argument("--seconds", type=float, default=40, help="without --full")
    parser.add_argument("--full", action="store_true", help="every command on every kernel")
    parser.add_argument("--kernels", type=int, help="random ones of each class (25; in full, 50)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, help="a file for the two numbers")
    parser.add_argument("--keep", type=Path, help="a folder for all files, to repeat what fails")
    options = parser.parse_args()

    with contextlib.ExitStack() as stack:
        name = options.keep or stack.enter_context(
            tempfile.TemporaryDirectory(prefix="tally-matrix-"))
        Path(name).mkdir(parents=True, exist_ok=True)
        numbers = options.kernels or (50 if options.full else 25)
        run = Run(Matrix(options.bin.resolve(), Path(name), options.seed, numbers), options)
        run.all()
        print(run.text())
        is_good = run.is_good()
    if options.results:
        failed = run.counts["failed"] or (0 if is_good else 1)
        options.results.write_text(f"{run.counts['passed']} {failed}\n", encoding="utf-8")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
