"""What `tally` says of a traced kernel: each question one run of the program, with a limit of time.

An answer is a dictionary whose `state` says what became of the question. Only "yes" is a yes: "not run" and
"could not decide" come with their reasons.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from ..compare import Difference, allowed, how_many, is_whole, kinds_of, nans_in
from ..elements import stored
from ..refusal import Refusal
from . import memory

STRATEGIES = ("barrier", "per-loop", "auto", "unrolled", "ideal")
DATA_STRATEGIES = ("per-loop", "barrier", "auto", "unrolled", "per-instruction", "per-engine")  # those that make code


def find_program():
    """On the PATH, or in the folder of the program that runs."""
    return os.environ.get("TALLY") or shutil.which("tally") or shutil.which("tally", path=os.path.dirname(os.path.abspath(sys.argv[0])))


def machine_facts(program, machine):
    """What is known of a machine, and its description if that is a file; a refusal if there is none such."""
    try:
        done = subprocess.run([program, "machine", "check", machine, "--format=json"], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError as problem:
        raise Refusal(f"'{program}' does not run: {problem.strerror}") from None
    if done.returncode != 0:
        raise Refusal(f"--machine={machine}: {done.stderr.strip().removeprefix('error: ')}")
    installed = Path(shutil.which(program) or program).resolve().parent.parent / "share/tally/machines"
    folders = [Path(), Path(os.environ.get("TALLY_MACHINES", installed)), installed]
    paths = [folder / name for folder in folders for name in (machine, machine + ".json")]
    return done.stdout + "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())


class Tally:
    """The installed program, asked about one kernel."""

    def __init__(self, program, machine, seconds, folder, trips, most_memory=0):
        """`most_memory`: of the program, in MiB; 0: there is none."""
        self.program, self.machine, self.seconds, self.folder, self.memory = program, machine, seconds, folder, most_memory
        self.trips = [f"--trips={name}={','.join(map(str, counts))}" for name, counts in trips.items()]

    def ask(self, command, *options, trips=True, unrolled=False):
        """Exit status and stdout, or why there is none. `unrolled`: of the text whose trips are all constant."""
        constant = os.path.exists(os.path.join(self.folder, "constant.json"))
        words = [self.program, command, "constant.json" if unrolled and constant else "kernel.json", f"--machine={self.machine}", *options,
                 *(self.trips if trips else ())]
        try:
            done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, check=False,
                                  timeout=self.seconds, stdin=subprocess.DEVNULL, preexec_fn=lambda: memory.limit(self.memory))
        except subprocess.TimeoutExpired:
            return None, f"time limit of {self.seconds} s"
        except OSError as problem:
            return None, f"'{self.program}' does not run: {problem.strerror}"
        if self.memory and done.returncode not in (0, 1) and any(word in done.stderr for word in ("bad_alloc", "out of memory")):
            return None, f"memory limit of {self.memory} MiB"
        if done.returncode < 0:
            return None, f"'tally {command}' ended by signal {-done.returncode}"
        return done.returncode, done.stdout if done.stdout.strip() else done.stderr

    def document(self, command, *options, **given):
        status, text = self.ask(command, "--format=json", *options, **given)
        if status is None:
            return None, text
        try:
            return json.loads(text), ""
        except ValueError:
            return None, _first_line(text)


def _first_line(text):
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or ["no answer"]
    return lines[0].strip()[:300]


def not_run(reason):
    return {"state": "not run", "reason": reason}


def measured(program, options, folder, trips, obstacles):
    """All answers about the kernel in a folder; `obstacles` are what the trace could not say."""
    if program is None:
        why = "'tally' is not found; put it on the PATH, or name it with TALLY"
        return {"dependences": not_run(why), "race": not_run(why), "data": not_run(why), "timeline": not_run(why),
                "latency": {name: not_run(why) for name in STRATEGIES},
                "code": {name: not_run(why) for name in STRATEGIES}}
    tally = Tally(program, options.machine, options.seconds, folder, trips, options.memory)
    return {"dependences": _dependences(tally), "race": _race(tally), "data": _data(tally, obstacles),
            "latency": {name: _latency(tally, name) for name in STRATEGIES}, "code": _code(tally),
            "timeline": _timeline(tally)}


def _dependences(tally):
    found, why = tally.document("deps", trips=False)
    if found is None:
        return not_run(why)
    waited = [entry for entry in found["kernels"][0]["dependences"] if not entry["implied_by"]]
    exact = sum(entry["exact"] for entry in waited)
    return {"state": "yes" if exact == len(waited) else "no", "exact": exact, "all": len(waited)}


def _race(tally):
    """Of per-loop code, or if there is none, as where it needs more semaphores than there are, of auto code."""
    found, why = tally.document("check", "--race", "--sync=per-loop", trips=False)
    if found is None:
        found, _ = tally.document("check", "--race", "--sync=auto", trips=False)
        if found is None:
            return not_run(why)
        why = f"of 'auto' code, since there is no other: {why}"
    check = found["checks"][0]
    return {"state": check["verdict"], "reason": "; ".join(filter(None, (why, check["race"]["reason"])))}


def _data(tally, obstacles):
    """Whether the simulator's data equal NumPy's in the trace, under every strategy that there is for the kernel."""
    worst, run, missed = None, [], None
    for strategy in DATA_STRATEGIES:
        found = _data_under(strategy, tally, obstacles)
        told = {**found, "reason": f"{found.get('reason', '')} (under '{strategy}')"}
        if found["state"] == "not run":  # as unrolled code with trips that a run decides
            missed = missed or told
            continue
        if found["state"] != "yes":
            return told
        run.append(strategy)
        worst = found if worst is None or found["error"] > worst["error"] else worst
    return {**worst, "strategies": run} if run else missed


def _data_under(strategy, tally, obstacles):
    shutil.rmtree(os.path.join(tally.folder, "out"), ignore_errors=True)
    status, text = tally.ask("sim", f"--sync={strategy}", "--check-data", "--inputs=in", "--outputs=out",
                             unrolled=strategy == "unrolled")
    if status is None:
        return not_run(text)
    worst, kinds, numbers = 0.0, kinds_of(os.path.join(tally.folder, "kernel.json")), 0
    for name in sorted(name for name in os.listdir(os.path.join(tally.folder, "want")) if name.endswith(".npy")):
        path = os.path.join(tally.folder, "out", name)
        if not os.path.exists(path):
            return _not_followed(obstacles) or not_run(_first_line(text))
        got = stored(kinds[name.removesuffix(".npy")], np.load(path))
        want = np.load(os.path.join(tally.folder, "want", name))
        nans = nans_in(os.path.join(tally.folder, "want"), name.removesuffix(".npy"))
        numbers += how_many(want, nans)
        found = Difference(got, want, nans, is_whole(kinds[name.removesuffix(".npy")]))
        if found.text():
            return _not_followed(obstacles) or {"state": "no", "reason": f"of '{name[:-4]}', {found.text().removesuffix(', ')}"}
        worst = max(worst, found.largest)
    if not numbers:
        return not_run("NumPy has no number in its results")
    limit = allowed(kinds.values())
    if not worst <= limit:
        return _not_followed(obstacles) or {"state": "no", "error": worst, "allowed": limit,
                                            "reason": f"{worst:.1e} off NumPy"}
    if status != 0:
        fault = next((line.strip() for line in text.splitlines() if "not written" in line), None)
        # The kernel may read what nothing has written, and make nothing of it that is in its results.
        sound = fault is not None and "all of memory is as after the sequential run" in text
        return {"state": "yes" if sound else "no", "error": worst, "allowed": limit, "reason": fault or _first_line(text)}
    return {"state": "yes", "error": worst, "allowed": limit}


def _not_followed(obstacles):
    said = [entry for entry in obstacles if " computes " in entry["reason"]]
    if not said:
        return None
    first = said[0]
    return {"state": "not followed", "reason": f"{first.get('file', '')}:{first.get('line', '')}: {first['reason']}"}


def _latency(tally, strategy):
    found, why = tally.document("sim", f"--sync={strategy}", unrolled=strategy == "unrolled")
    if found is None:
        return not_run(why)
    run = found["runs"][0]
    if run["outcome"] != "finished":
        return {"state": run["outcome"]}
    return {"state": "yes", "us": run["total_ps"] / 1e6}


def _code(tally):
    sizes = _sizes(tally, unrolled=False)
    if os.path.exists(os.path.join(tally.folder, "constant.json")):
        sizes["unrolled"] = _sizes(tally, unrolled=True)["unrolled"]
    return sizes


def _sizes(tally, unrolled):
    found, why = tally.document("compare", trips=False, unrolled=unrolled)
    if found is None:
        return {name: not_run(why) for name in STRATEGIES[:-1]}
    sizes = {}
    for row in found["rows"]:
        if row["strategy"] in STRATEGIES:
            sizes[row["strategy"]] = (not_run(row["refused"]) if "refused" in row else
                                      {"state": "yes", "instructions": row["instructions"]})
    return sizes


def _timeline(tally):
    status, text = tally.ask("report", "--sync=barrier,per-loop,auto", "--max-pieces=20000", "-o", "timeline.html")
    if status in (0, 1):
        return {"state": "yes", "file": "timeline.html"}
    return not_run(text if status is None else _first_line(text))
