#!/usr/bin/env python3
"""Runs two builds of tally on the same random kernels and compares, byte for byte, what they write.

For changes that must not change what tally does: keep the programs of the state before, and run
them against those of the state after. Half of the kernels state accesses, half dependences; each is
read as text and as JSON. Standard output, standard error and the exit status are compared.

usage: same-outputs.py BEFORE AFTER [--kernels N] [--seed N] [--jobs N] [--keep DIR]

BEFORE and AFTER are folders with the programs. With --keep, each pair of outputs that differ is
left there as NAME.before and NAME.after.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

COMMANDS = {
    "compile-loop": "compile {kernel} --sync=per-loop",
    "compile-auto": "compile {kernel} --sync=auto --listing",
    "compile-barrier": "compile {kernel} --sync=barrier --format=json",
    "compile-json": "compile {kernel} --sync=auto --format=json",
    "compile-narrow": "compile {kernel} --sync=auto --machine=teaching --format=json",
    "scf": "compile {kernel} --sync=per-engine --format=scf",
    "plan": "plan {kernel} --sync=per-loop",
    "plan-json": "plan {kernel} --sync=auto --format=json",
    "explain": "explain {kernel} --instr={instr} --rows=5 --guards=1",
    "explain-json": "explain {kernel} --instr={instr} --rows=5 --guards=1 --format=json",
    "deps": "deps {kernel} --explain",
    "explore": "check {kernel} --explore --guards=1 --max-states=2000 --time=1000",
    "race": "check {kernel} --race --guards=1 --schedules=3 --time=1000 --format=json",
    "check-auto": "check {kernel} --sync=auto --guards=1 --max-states=1000 --schedules=2 --time=1000",
    "sim": "sim {kernel} --guards=1 --max-operations=20000",
    "sim-json": "sim {kernel} --sync=auto --guards=1 --max-operations=20000 --format=json",
    "data": "sim {kernel} --guards=1 --max-operations=20000 --check-data --seed=7",
}


def random_kernels():
    """The class of utils/check-matrix.py that draws kernels."""
    spec = importlib.util.spec_from_file_location("matrix", ROOT / "utils/check-matrix.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RandomKernel


def instruction(text):
    at = text.find('tally.instr "') + len('tally.instr "')
    return text[at:text.index('"', at)]


def outcome(program, arguments, folder):
    done = subprocess.run([str(program), *arguments], capture_output=True, cwd=folder, check=False,
                          timeout=120, env={"TALLY_MACHINES": str(ROOT / "machines"), "PATH": "/usr/bin:/bin"})
    return done.stdout + b"\n-- stderr\n" + done.stderr + f"\n-- exit {done.returncode}\n".encode()


class Comparison:
    def __init__(self, before, after, folder, keep):
        self.programs = (Path(before) / "tally", Path(after) / "tally")
        self.folder = folder
        self.keep = keep

    def kernel(self, number, text):
        """The names of the outputs that differ, and how many there are."""
        plain = self.folder / f"k{number}.mlir"
        plain.write_text(text, encoding="utf-8")
        differing, total = [], 0
        for name, line in COMMANDS.items():
            arguments = [part.format(kernel=plain.name, instr=instruction(text))
                         for part in line.split()]
            total += 1
            if not self.same(f"k{number}-{name}", arguments):
                differing.append(f"{plain.name}: {' '.join(arguments)}")
        return differing, total

    def same(self, name, arguments):
        before, after = (outcome(program, arguments, self.folder) for program in self.programs)
        if before != after and self.keep:
            (self.keep / f"{name}.before").write_bytes(before)
            (self.keep / f"{name}.after").write_bytes(after)
        return before == after


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--kernels", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    draw = random_kernels()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(os.path.abspath(options.before), os.path.abspath(options.after), Path(folder), options.keep)
        with ThreadPoolExecutor(options.jobs) as pool:
            seeds = range(options.seed, options.seed + options.kernels)
            found = list(pool.map(lambda n: comparison.kernel(n, draw(n, n % 2 == 0).text()), seeds))
    total = sum(each for _, each in found)
    differing = [line for lines, _ in found for line in lines]
    print("\n".join(differing))
    print(f"{total} outputs of {options.kernels} kernels, {len(differing)} differ")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
