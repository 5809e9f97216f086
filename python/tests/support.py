"""Traces a kernel and asks tally about it.

TALLY names the program and TALLY_MACHINE the machine; without the program, what needs it is skipped.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from tally.nki import trace_file
from tally.nki.command import save
from tally.nki.document import as_text
from tally.nki.compare import Difference
from tally.nki.elements import stored
from tally.nki.trace import Tensor

KERNELS = Path(__file__).parent / "kernels"
ROOT = Path(__file__).resolve().parents[2]
STRATEGIES = ("per-loop", "barrier", "auto", "unrolled")


def tally_program():
    """The program, or None if none is built."""
    given = os.environ.get("TALLY")
    if given and os.sep in given:
        given = os.path.abspath(given)  # tests run it in folders of their own
    built = ROOT / "build/release/bin/tally"
    return given or (str(built) if built.exists() else None)


def machine():
    return os.environ.get("TALLY_MACHINE") or str(ROOT / "machines/trn2.json")


def tally(*arguments):
    program = tally_program()
    if program is None:
        raise unittest.SkipTest("no tally is built; name one with TALLY")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def random(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def tensor(array, element=None):
    array = np.asarray(array)
    return Tensor(array, element or ("float32" if array.dtype.kind == "f" else "int32"))


def one(number):
    return np.array([[number]], np.int32)


def trace(name, kernel, **arguments):
    given = {key: tensor(value) if isinstance(value, np.ndarray) else value
             for key, value in arguments.items()}
    return trace_file(KERNELS / f"{name}.py", kernel, given, keep_log=True)


def rerun(name, kernel, **arguments):
    """NumPy's inputs and results of the Python run again, at any trips."""
    given = {key: tensor(value) for key, value in arguments.items()}
    return trace_file(KERNELS / f"{name}.py", kernel, given, only_run=True)


def differences(traced, trips=(), strategies=STRATEGIES, inputs=None, expected=None, tolerance=1e-5):
    """What is wrong with tally's data of a traced kernel, as a list of texts; at the trips of its trace if none are given."""
    found = []
    if not trips:
        trips = [f"{name}={','.join(map(str, counts))}" for name, counts in traced.summary.trips.items()]
    with tempfile.TemporaryDirectory(prefix="tally-nki-") as name:
        folder = Path(name)
        save(folder / "in", traced.inputs if inputs is None else inputs)
        for strategy in strategies:
            if strategy == "unrolled" and traced.summary.dynamic:
                continue
            document = traced.constant if strategy == "unrolled" and traced.constant else traced.document
            (folder / "k.json").write_text(as_text(document), encoding="utf-8")
            status, text = tally("sim", folder / "k.json", f"--machine={machine()}", f"--sync={strategy}",
                                 f"--inputs={folder / 'in'}", f"--outputs={folder / 'out'}", "--check-data",
                                 *[f"--trips={trip}" for trip in trips])
            if status != 0:
                found.append(f"{strategy}: exit {status}: {text[-600:]}")
                continue
            wanted = traced.expected if expected is None else expected
            kinds = {buffer["name"]: buffer["type"] for buffer in traced.document["buffers"]}
            found += [f"{strategy}: {text}" for text in _compared(folder / "out", wanted, tolerance, kinds,
                                                                    traced.nans if expected is None else {})]
    return found


def _compared(folder, expected, tolerance, kinds, nans):
    for name, want in expected.items():
        found = Difference(stored(kinds[name], np.load(folder / f"{name}.npy")), np.asarray(want, np.float64), nans.get(name))
        if not found.is_within(tolerance):
            yield f"{name}: {found.text()}{found.largest:.1e} off NumPy"


def race(traced):
    """The verdict of the race check."""
    with tempfile.TemporaryDirectory(prefix="tally-nki-") as name:
        path = Path(name) / "k.json"
        path.write_text(as_text(traced.document), encoding="utf-8")
        status, text = tally("check", path, "--race", f"--machine={machine()}")
        found = re.search(r"verdict: (.*)", text)
        if not found:
            return f"exit {status}: {text[-300:]}"
        return "yes" if found.group(1) == "yes" else f"{found.group(1)}: {text[-300:]}"


def dependences(traced):
    """All that wait, those that others imply, too."""
    with tempfile.TemporaryDirectory(prefix="tally-nki-") as name:
        path = Path(name) / "k.json"
        path.write_text(as_text(traced.document), encoding="utf-8")
        status, text = tally("deps", path, "--format=json", f"--machine={machine()}")
        found, _ = json.JSONDecoder().raw_decode(text[text.index("{"):] if status == 0 else "{}")  # remarks follow
        return found["kernels"][0]["dependences"]


def statements(traced):
    """All instructions of the document, by name."""
    pending, found = list(traced.document["body"]), {}
    while pending:
        statement = pending.pop(0)
        if "loop" in statement:
            pending = statement["body"] + pending
        else:
            found[statement["instr"]] = statement
    return found


def statement(traced, operation, number=0):
    """The instruction of this operation, the first one or the one with this number."""
    return [found for name, found in statements(traced).items()
            if name.split(".")[0] == operation][number]


def dumped(traced):
    return json.dumps(traced.document)
