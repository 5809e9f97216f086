"""Compiles kernels to programs in C++, runs them, and compares all files with those of the sequential run.

usage: same_data.py [--runs=N] 'KERNEL.mlir [--inputs=FOLDER] [OPTION of tally]...'...

Prints one line for each. `tally sim --check-data` says that its files are those of the sequential run. All programs
are compiled together, each with a namespace of its own: what takes long is the standard library.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RUN_OPTIONS = ("--trips", "--guards")
EMIT_OPTIONS = ("--first-count", "--pauses", "--queue-threads")  # which are none of the simulator's
START = "\nnamespace kernel {\n"
END = "} // namespace kernel\n"


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=280)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {result.returncode}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
    return result.stdout


class Case:
    def __init__(self, text, work):
        self.text, self.work = text, work
        self.kernel, *options = shlex.split(text)
        self.inputs = [option for option in options if option.startswith("--inputs=")]
        options = [option for option in options if option not in self.inputs]
        self.at_run = [option for option in options if option.startswith(RUN_OPTIONS)]
        self.at_emit = [option for option in options if option.startswith(EMIT_OPTIONS)]
        self.at_compile = [option for option in options if option not in self.at_run + self.at_emit]
        work.mkdir()

    def program(self):
        run(["tally", "compile", self.kernel, *self.at_compile, "--emit=c++", *self.at_emit, "-o", self.work / "program.cpp"])
        return (self.work / "program.cpp").read_text(encoding="utf-8")

    def expect(self, earlier):
        """What it is to compute: the sequential run, and so all strategies, compute the same."""
        same = [self.kernel, *self.inputs, *self.at_run]
        for case in earlier:
            if [case.kernel, *case.inputs, *case.at_run] == same:
                self.expected = case.expected
                return
        self.expected = self.work / "expected"
        run(["tally", "sim", self.kernel, *self.at_compile, *self.at_run, *self.inputs,
             f"--outputs={self.expected}", "--check-data", "--quiet"])

    def check(self, program, runs):
        inputs, outputs = self.work / "inputs", self.work / "outputs"
        inputs.mkdir()
        outputs.mkdir()
        for option in self.inputs:
            shutil.copytree(option.removeprefix("--inputs="), inputs, dirs_exist_ok=True)
        for name in needed(program):
            if not (inputs / f"{name}.npy").exists():
                shutil.copy(self.expected / f"{name}.npy", inputs)
        for _ in range(runs):
            run([*program, f"--inputs={inputs}", f"--outputs={outputs}", *self.at_run])
            wrong = differing(self.expected, outputs)
            if wrong:
                sys.exit(f"{self.text}: other bytes in {', '.join(wrong)}")
        print("same data:", Path(self.kernel).name, *self.at_compile, *self.at_emit, *self.at_run)


def needed(program):
    """The buffers that the program reads and does not write."""
    answer = subprocess.run(program, capture_output=True, text=True, timeout=280)
    return re.findall(r"^error: buffer '(.*)' is read", answer.stderr, re.MULTILINE)


def differing(expected, found):
    return [file.name for file in sorted(expected.iterdir()) if file.read_bytes() != (found / file.name).read_bytes()]


def joined(programs):
    """One program, whose first argument is the number of the one that is meant."""
    text = programs[0][:programs[0].index(START)]
    for number, program in enumerate(programs):
        kernel = program[program.index(START):program.index(END)]
        text += kernel.replace(START, f"\nnamespace kernel_{number} {{\n") + "}\n"
    starts = ", ".join(f"kernel_{number}::start" for number in range(len(programs)))
    return text + f"""
int main(int argc, char **argv) {{
  int (*starts[])(int, char **) = {{{starts}}};
  return starts[std::atoi(argv[1])](argc - 1, argv + 1);
}}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("cases", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        cases = [Case(text, work / str(number)) for number, text in enumerate(arguments.cases)]
        (work / "all.cpp").write_text(joined([case.program() for case in cases]), encoding="utf-8")
        run(["c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", work / "all.cpp", "-o", work / "all"])
        for number, case in enumerate(cases):
            case.expect(cases[:number])
            case.check([work / "all", str(number)], arguments.runs)


if __name__ == "__main__":
    main()
