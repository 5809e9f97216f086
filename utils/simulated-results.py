#!/usr/bin/env python3
"""Writes the tables of docs/guide/Simulated.md.

The simulator gives the same numbers on every machine, so these tables follow from the programs alone. Each
stands under the command that it is made from; this script runs the command, and puts its numbers there, and the day
and the commit in front. With --check it writes nothing, and fails if the page has other numbers.

    utils/simulated-results.py [--check] [--bin=build/release/bin] [--first]
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys

from published import BARRIERS, COLUMNS, RATIOS, SHAPES, SIZES

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/guide/Simulated.md"
GROWTHS = ("1", "1.5", "2", "4")


def tally(bin_folder, *arguments):
    command = [f"{bin_folder}/tally", "bench", "--size=paper", "--format=json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def rounded(number):
    """A number of nanoseconds, as the text output writes it."""
    return f"{number:.0f}"


def strategies(bin_folder):
    for r in tally(bin_folder)["rows"]:
        if "latency_ns" not in r:
            yield row(r["kernel"], r["strategy"], *["-"] * 8)
            continue
        code = [r.get(key, "-") for key in ("code_bytes", "registers_per_engine", "semaphores", "waits")]
        times = (rounded(r[key]) if key in r else "-" for key in ("waiting_ns", "control_ns"))
        yield row(r["kernel"], r["strategy"], f"{r['normalized_latency']:.3f}", rounded(r["latency_ns"]), *code, *times)


def unrolling(bin_folder):
    def cell(r):
        return f"{r['normalized_latency']:.3f}, {r['code_bytes']:,}"

    def column(strategy, *options):
        rows = tally(bin_folder, f"--strategies=barrier,{strategy}", *options)["rows"]
        return {r["kernel"]: cell(r) for r in rows if r["strategy"].startswith(strategy)}

    columns = [column("auto", f"--max-code-growth={growth}") for growth in GROWTHS] + [column("manual")]
    for kernel in columns[0]:
        yield row(kernel, *(cells[kernel] for cells in columns))


def estimates(bin_folder):
    for r in tally(bin_folder, "--sensitivity", "--strategies=per-loop,auto")["sensitivity"]:
        numbers = (f"{r[key]:.3f}" for key in ("least", "normal", "most"))
        yield row(r["kernel"], r["strategy"], *numbers, r["least_at"], r["most_at"])


TITLES = {
    "add_many_loop": "`add_many_loop`",
    "matmul": "tiled product",
    "matmul-k-unrolled": "the same, innermost loop written out",
}


def published(bin_folder):
    strategies = ",".join(("barrier", BARRIERS, *COLUMNS))
    rows = tally(bin_folder, f"--strategies={strategies}", f"--kernels={','.join(RATIOS)}")["rows"]
    latency = {(r["kernel"], r["strategy"]): r["latency_ns"] for r in rows}
    for kernel, known in RATIOS.items():
        yield row(TITLES[kernel], "published", *(f"{ratio:.2f}" for ratio in known))
        for base in (BARRIERS, "barrier"):
            ratios = (latency[kernel, one] / latency[kernel, base] for one in COLUMNS)
            yield row("", f"model, to `{base}`", *(f"{ratio:.2f}" for ratio in ratios))


def sizes(bin_folder):
    def cell(size):
        if size is None:
            return "-"
        kilobytes, *counts = size
        return ", ".join([f"{kilobytes:,.1f} KB"] + [str(count) for count in counts if count is not None])

    columns = (BARRIERS, *COLUMNS)
    rows = tally(bin_folder, f"--strategies={','.join(columns)}", f"--kernels={','.join(SIZES)}")["rows"]
    ours = {(r["kernel"], r["strategy"]): (r["code_bytes"] / 1024, r["registers_per_engine"], r["semaphores"]) for r in rows}
    for kernel, known in SIZES.items():
        yield row(f"`{kernel}`", "published", *(cell(size) for size in known))
        yield row("", "here", *(cell(ours[kernel, column]) for column in columns))


def shapes(bin_folder):
    for r in tally(bin_folder, f"--strategies={BARRIERS}")["rows"]:
        loops, distances = SHAPES.get(r["kernel"], ("-", "-"))
        yield row(f"`{r['kernel']}`", loops, r["loops"], distances, ", ".join(r["offsets"]))


# Under which heading, and what makes the rows of the first table there.
TABLES = {
    "## What each strategy costs (simulated)": strategies,
    "## What unrolling is worth (simulated)": unrolling,
    "## What depends on an estimate (simulated)": estimates,
    "## Compared with published numbers (simulated)": published,
    "## Loops and distances, compared with the published ones": shapes,
    "## Size of the code, compared with the published one": sizes,
}


def with_table(lines, heading, rows):
    """The lines, with other rows under the header of the first table after a heading."""
    start = lines.index(heading)
    rule = next(i for i in range(start, len(lines)) if lines[i].startswith("|---"))
    end = next(i for i in range(rule + 1, len(lines)) if not lines[i].startswith("|"))
    return lines[: rule + 1] + rows + lines[end:]


def dated(lines):
    """The lines, with the day and the commit of now."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PAGE.parent).stdout.strip()
    changes = subprocess.run(["git", "status", "--porcelain", "--", "include", "lib", "tools", "machines"],
                             capture_output=True, text=True, check=True, cwd=PAGE.parent.parent.parent).stdout
    text = f"Written on {datetime.date.today()}, with the programs of commit {commit}{' and changes' if changes else ''}."
    return [text if line.startswith("Written on ") else line for line in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--first", action="store_true", help="only the first table")
    arguments = parser.parse_args()
    old = PAGE.read_text().split("\n")
    new = old
    for heading, rows in list(TABLES.items())[:1 if arguments.first else None]:
        new = with_table(new, heading, list(rows(arguments.bin)))
    if not arguments.check:
        PAGE.write_text("\n".join(dated(new)))
        return 0
    changed = [(a, b) for a, b in zip(old, new) if a != b]
    for before, after in changed[:10]:
        print(f"{PAGE.name} says\n  {before}\nand it is\n  {after}", file=sys.stderr)
    return 1 if changed or len(old) != len(new) else 0


if __name__ == "__main__":
    sys.exit(main())
