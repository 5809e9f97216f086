"""Runs kernels on threads, and compares all files with those of the sequential run.

usage: run_all.py 'KERNEL.mlir [--inputs=FOLDER] [OPTION of tally]...'...

Prints one line for each. `tally sim --check-data` says that its files are those of the sequential run; buffers that it
fills with random numbers are inputs here.
"""

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=280)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {result.returncode}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
    return result.stdout


RUN_OPTIONS = ("--first-count", "--pauses", "--queue-threads")  # which are none of the simulator's
simulated = {}  # by kernel, inputs and trips: all strategies compute the same


def check(text, work):
    kernel, *options = shlex.split(text)
    inputs = [option.removeprefix("--inputs=") for option in options if option.startswith("--inputs=")]
    options = [option for option in options if not option.startswith("--inputs=")]
    at_run = [option for option in options if option.startswith(RUN_OPTIONS)]
    options = [option for option in options if option not in at_run]
    same = (kernel, *inputs, *(option for option in options if option.startswith(("--trips", "--guards"))))
    given = work / "given"
    given.mkdir(parents=True)
    for folder in inputs:
        shutil.copytree(folder, given, dirs_exist_ok=True)
    expected = simulated.setdefault(same, work / "expected")
    if not expected.exists():
        run(["tally", "sim", kernel, *options, f"--inputs={given}", f"--outputs={expected}", "--check-data", "--quiet"])
    for name in (file.name for file in expected.iterdir()):
        if not (given / name).exists():
            shutil.copy(expected / name, given / name)
    run(["tally", "run", kernel, *options, *at_run, f"--inputs={given}", f"--outputs={work / 'found'}", "--repeat=2", "--oversubscribe", "--quiet"])
    for file in sorted(expected.iterdir()):
        if file.read_bytes() != (work / "found" / file.name).read_bytes():
            sys.exit(f"{text}: other bytes in {file.name}")
    print("same data:", Path(kernel).name, *options, *at_run)


with tempfile.TemporaryDirectory() as folder:
    for number, case in enumerate(sys.argv[1:]):
        check(case, Path(folder) / str(number))
