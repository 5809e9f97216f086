"""Compiles kernels to programs in C++, runs them, and compares all files with those of the sequential run.

usage: same_data.py KERNEL.mlir [--inputs=FOLDER] [--runs=N] [--cxx=FLAG]... -- [OPTION of tally]...

Prints one line. `tally sim --check-data` says that its files are those of the sequential run.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RUN_OPTIONS = ("--trips", "--guards")


def run(command, **keywords):
    result = subprocess.run(command, capture_output=True, text=True, timeout=280, **keywords)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {result.returncode}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
    return result.stdout


def needed(program):
    """The buffers that the program reads and does not write."""
    answer = subprocess.run([program], capture_output=True, text=True, timeout=280)
    return re.findall(r"^error: buffer '(.*)' is read", answer.stderr, re.MULTILINE)


def differing(expected, found):
    return [file.name for file in sorted(expected.iterdir()) if file.read_bytes() != (found / file.name).read_bytes()]


def main():
    own = sys.argv[1:]
    options = []
    if "--" in own:
        options = own[own.index("--") + 1:]
        own = own[:own.index("--")]
    parser = argparse.ArgumentParser()
    parser.add_argument("kernel")
    parser.add_argument("--inputs")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cxx", action="append", default=[])
    arguments = parser.parse_args(own)
    at_run = [option for option in options if option.startswith(RUN_OPTIONS)]
    at_compile = [option for option in options if option not in at_run]
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        read = [f"--inputs={arguments.inputs}"] if arguments.inputs else []
        run(["tally", "sim", arguments.kernel, *options, *read, f"--outputs={work / 'expected'}", "--check-data", "--quiet"])
        run(["tally", "compile", arguments.kernel, *at_compile, "--emit=c++", "-o", work / "program.cpp"])
        run(["c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", *arguments.cxx, work / "program.cpp", "-o", work / "program"])
        inputs = work / "inputs"
        inputs.mkdir()
        if arguments.inputs:
            shutil.copytree(arguments.inputs, inputs, dirs_exist_ok=True)
        for name in needed(work / "program"):
            shutil.copy(work / "expected" / f"{name}.npy", inputs)
        outputs = work / "outputs"
        outputs.mkdir()
        for _ in range(arguments.runs):
            run([work / "program", f"--inputs={inputs}", f"--outputs={outputs}", *at_run])
            wrong = differing(work / "expected", outputs)
            if wrong:
                sys.exit(f"{arguments.kernel} {' '.join(options)}: other bytes in {', '.join(wrong)}")
    print(f"same data: {Path(arguments.kernel).name} {' '.join(options)}".rstrip())


if __name__ == "__main__":
    main()
