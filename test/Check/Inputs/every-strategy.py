"""Compiles a kernel for a machine that is named by its numbers, under every strategy: right code, or a clear refusal.

usage: every-strategy.py SOURCE KERNEL [KEY=VALUE...] [--trips=L=N]

KEY=VALUE changes the machine, see SETTINGS. On this machine just those strategies refuse the kernel that the file lists,
with words of the reason:

    // REFUSED per-instruction: needs 5 semaphores

All others make code that `tally check` accepts, once for trips up to 2 and once for `--trips`, and in which the outside
interpreter finds nothing. On the machines of OTHERS (the first alone unless TALLY_LONG is set) each strategy may refuse, with an error at a place; what it makes must be
as right.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

STRATEGIES = ["per-instruction", "per-loop", "per-engine", "auto", "barrier", "unrolled"]
SETTINGS = {"semaphores": None, "registers": None, "bits": 32, "subtraction": "saturates", "compare": "unsigned",
            "overlap": True}
OTHERS = [{"bits": 8, "subtraction": "wraps", "compare": "signed"},
          {"bits": 9, "subtraction": "wraps", "semaphores": 3},
          {"bits": 8, "compare": "signed", "semaphores": 1, "registers": 4}]
CHOICES = 8  # of trips, for the interpreter

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "utils" / "outside"))
# pylint: disable=wrong-import-position
from campaign import INEXACT, promises_exactness
from choices import choose
from judge import UNDECIDED, YES, judge, read_code
from walk import Choice


def machine_of(settings):
    """The description of a machine with these numbers, and otherwise without limits."""
    wanted = SETTINGS | settings

    def limit(value, unit):
        return {"value": value, "unit": unit, "source": "by definition", "confidence": "published"}

    return {
        "schema": "tally-machine", "version": 1, "name": "tight", "description": "As the test says", "engines": [],
        "limits": {"semaphores": limit(wanted["semaphores"], "semaphores"),
                   "registers_per_engine": limit(wanted["registers"], "registers"),
                   "counter_bits": limit(wanted["bits"], "bits")},
        "alu": {"subtraction": wanted["subtraction"]}, "wait": {"compare": wanted["compare"]},
        "queue": {"overlap": wanted["overlap"]},
        "encoding": {"instruction_bytes": limit(64, "bytes")}}


def setting(argument):
    key, _, value = argument.partition("=")
    assert key in SETTINGS, key
    return key, json.loads(value) if re.fullmatch(r"\d+|true|false|null", value) else value


class Group:
    """One kernel on one machine."""

    def __init__(self, kernel, settings, trips, folder):
        self.kernel = kernel
        self.settings = settings
        self.trips = trips
        self.machine = folder / "machine.json"
        self.machine.write_text(json.dumps(machine_of(settings)), encoding="utf-8")

    def run(self, command, strategy, *options):
        return subprocess.run(["tally", command, str(self.kernel), f"--machine={self.machine}", f"--sync={strategy}", *options],
                              text=True, capture_output=True, check=False)

    def fail(self, strategy, what, output=""):
        sys.exit(f"{strategy} on {self.settings or 'a machine without limits'}: {what}\n{output}")

    def refusal(self, strategy):
        """The reason, or None after the code was found right."""
        done = self.run("compile", strategy, "--format=json")
        if done.returncode == 0:
            self.expect_right(strategy, done)
            return None
        error = re.search(r"^.+:\d+:\d+: error: (.+)", done.stderr, re.MULTILINE)
        if done.returncode != 2 or not error:
            self.fail(strategy, f"neither code nor a refusal, exit {done.returncode}", done.stderr)
        return error.group(1)

    def expect_right(self, strategy, compiled):
        self.expect_yes(strategy, "--race", "--explore", "--max-trips=2")
        if self.trips:
            self.expect_yes(strategy, "--race", f"--trips={self.trips}")
        self.judge(strategy, compiled.stdout, INEXACT not in compiled.stderr and promises_exactness(compiled.stdout))

    def expect_yes(self, strategy, *options):
        done = self.run("check", strategy, *options)
        # Queues that hold more than the explorer follows are left to the other judges.
        is_full = "full at times" in done.stdout and "race:    yes" in done.stdout
        # Nor does any run have to reach a distance; then only waits that are too long can be seen.
        unowed = done.stdout.count("could not decide: nothing is compared: no dependence asks")
        is_unowed = unowed > 0 and unowed == done.stdout.count("could not decide:")
        if done.returncode and not is_full and not is_unowed:
            self.fail(strategy, f"tally check {' '.join(options)} does not say yes", done.stdout + done.stderr)

    def judge(self, strategy, text, exact):
        """Of long runs it may leave open whether they are right."""
        code = read_code(text, None)
        self.expect_answer(strategy, (YES,), judge(code, choose(code.kernel, random.Random(1), CHOICES), exact))
        if self.trips:
            loop, _, number = self.trips.partition("=")
            self.expect_answer(strategy, (YES, UNDECIDED), judge(code, [Choice({loop: [int(number)]}, {}, {})], exact))

    def expect_answer(self, strategy, right, judged):
        verdict, shown = judged
        if verdict.answer() not in right:
            self.fail(strategy, f"the outside interpreter says {verdict.answer()}",
                      "\n".join([str(found) for found in verdict.findings] + verdict.reasons + [str(shown and shown.options())]))


def listed_refusals(text):
    return dict(re.findall(r"^// REFUSED ([-a-z]+): (.+)$", text, re.MULTILINE))


def expect_as_listed(group, listed):
    for strategy in STRATEGIES:
        reason, wanted = group.refusal(strategy), listed.get(strategy)
        if reason and wanted and wanted in reason:
            continue
        if reason or wanted:
            group.fail(strategy, f"refused for '{reason}', not '{wanted}'" if reason else f"not refused for '{wanted}'")


def main(kernel, arguments):
    trips = next((argument.removeprefix("--trips=") for argument in arguments if argument.startswith("--trips=")), None)
    settings = dict(setting(argument) for argument in arguments if not argument.startswith("--"))
    with tempfile.TemporaryDirectory() as folder:
        own = Group(kernel, settings, trips, pathlib.Path(folder))
        expect_as_listed(own, listed_refusals(kernel.read_text(encoding="utf-8")))
        for other in OTHERS if os.environ.get("TALLY_LONG") else OTHERS[:1]:
            group = Group(kernel, other, trips, pathlib.Path(folder))
            made = [strategy for strategy in STRATEGIES if group.refusal(strategy) is None]
            if made and "auto" not in made and made != ["unrolled"]:
                group.fail("auto", f"refuses, but {made[0]} does not")


main(pathlib.Path(sys.argv[2]), sys.argv[3:])
