#!/usr/bin/env python3
"""How close `auto` comes to the best of all ways to unroll: a table of docs/guide/results/Growth.md.

    python3 utils/unroll_bounds.py [--bin=build/release/bin] [KERNEL ...]

For each of the nine kernels, every loop is unrolled by every factor, in all combinations whose instructions and loops,
without anything that synchronises, are at most four times as many as the operations of `auto` without more code.
The time of each is that of `ideal`, where nothing that synchronises takes time; the best of them, and what is written
out as a whole if that is not larger either, is compared with `auto` at `--max-code-growth=4`.
"""

import argparse
import itertools
import json
import pathlib
import re
import subprocess
import tempfile

GROWTH = 4
BYTES = 64  # of one operation, on trn2
LOOP = re.compile(r'( *tally\.loop "\w+" trips )(\d+|"\w+" max \d+)( ?)(.*)\{$')


class Loop:
    """A loop of a kernel's text: where it begins, how often it runs (None: a run decides), and its body."""

    def __init__(self, line=None, trips=1):
        self.line, self.trips, self.body = line, trips, []  # instructions, as the names of their queues, and loops

    def size(self, factors):
        """Operations by queue, without what synchronises: one for each instruction, two for each loop."""
        once = {}
        for part in self.body:
            for queue, count in (part.size(factors) if isinstance(part, Loop) else {part: 1}).items():
                once[queue] = once.get(queue, 0) + count
        if self.line is None:
            return once
        factor = factors[self.line]
        if factor == self.trips:
            return {queue: count * factor for queue, count in once.items()}
        rest = 0 if self.trips is not None and self.trips % factor == 0 else 1  # a body for what is left over
        loops = 2 * (1 + (rest and factor > 1))
        return {queue: count * (factor + (rest if factor > 1 else 0)) + loops for queue, count in once.items()}

    def inside(self):
        """The loops in it, outermost first."""
        for part in self.body:
            if isinstance(part, Loop):
                yield part
                yield from part.inside()


def read(text):
    root = Loop()
    open_loops = [root]
    for number, line in enumerate(text.split("\n")):
        found = LOOP.match(line)
        if found:
            loop = Loop(number, int(found[2]) if found[2].isdigit() else None)
            open_loops[-1].body.append(loop)
            open_loops.append(loop)
        elif "tally.instr" in line:
            open_loops[-1].body.append(re.search(r' on "(\w+)"', line)[1])
        elif line.strip() == "}" and len(open_loops) > 1:
            open_loops.pop()
    return root


def with_factors(text, factors):
    lines = text.split("\n")
    for number, factor in factors.items():
        if factor > 1:
            lines[number] = lines[number][:-1] + f"unroll {factor} {{"
    return "\n".join(lines)


def choices(root, most):
    """All combinations of factors, by the line of the loop, within a number of operations."""
    loops = list(root.inside())
    ranges = [range(1, (loop.trips or most) + 1) for loop in loops]
    for chosen in itertools.product(*ranges):
        factors = {loop.line: factor for loop, factor in zip(loops, chosen)}
        if sum(root.size(factors).values()) <= most:
            yield factors


class Tally:
    def __init__(self, folder):
        self.program = pathlib.Path(folder) / "tally"

    def ask(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, check=True).stdout

    def us(self, kernel, *options):
        found = json.loads(self.ask("sim", kernel, "--machine=trn2", "--format=json", *options))
        return found["runs"][0]["total_ps"] / 1e6

    def sizes(self, name, *options):
        """Bytes of code, by strategy."""
        found = json.loads(self.ask("bench", "--size=paper", f"--kernels={name}", "--format=json", *options))["rows"]
        return {row["strategy"].split(",")[0]: row["code_bytes"] for row in found if "code_bytes" in row}


def row_of(tally, name, folder):
    path, changed = folder / f"{name}.mlir", folder / "changed.mlir"
    tally.ask("kernels", "emit", name, "--size=paper", "-o", path)
    text, sizes = path.read_text(), tally.sizes(name, "--strategies=auto,unrolled")
    most = GROWTH * sizes["auto"]
    best, best_factors, tried = float("inf"), {}, 0
    for factors in choices(read(text), most // BYTES):
        tried += 1
        changed.write_text(with_factors(text, factors))
        time = tally.us(changed, "--sync=ideal")
        if time < best:
            best, best_factors = time, factors
    ideal, four = tally.us(path, "--sync=ideal"), tally.us(path, f"--max-code-growth={GROWTH}")
    written_out = tally.us(path, "--sync=unrolled") if sizes.get("unrolled", most + 1) <= most else float("inf")
    size = tally.sizes(name, "--strategies=auto", f"--max-code-growth={GROWTH}")["auto"]
    return (f"| `{name}` | {tried} | {', '.join(map(str, best_factors.values()))} | {best:,.1f} | {four:,.1f} | {four / best:.3f} | {ideal:,.1f} | "
            f"{'-' if written_out == float('inf') else f'{written_out:,.1f}'} | {four / min(ideal, written_out):.3f} | {sizes['auto']:,} -> {size:,} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--bin", default="build/release/bin")
    options = parser.parse_args()
    tally = Tally(options.bin)
    names = options.kernels or [line.split()[0] for line in tally.ask("kernels", "list").splitlines() if line.strip()]
    print("| kernel | ways | factors | the best | `auto` | to the best | `ideal` | `unrolled` | to these | bytes of code |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            print(row_of(tally, name, pathlib.Path(folder)), flush=True)


if __name__ == "__main__":
    main()
