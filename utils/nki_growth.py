#!/usr/bin/env python3
"""What four times the code gains on public kernels: a table of docs/guide/results/Growth.md.

    python3 utils/nki_growth.py FOLDER ...

Each folder is one that `tally-nki corpus` wrote. A row for each kernel whose written-out code is at
least ten times as long as that of `auto`.
"""

import json
import os
import subprocess
import sys


def tally(command, kernel, growth, *options):
    run = subprocess.run([os.environ.get("TALLY", "tally"), command, kernel, "--machine=trn2",
                          f"--max-code-growth={growth}", "--format=json", *options],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return json.loads(run.stdout)


def simulated(kernel, growth, *options):
    """Microseconds of a run with so much code."""
    return tally("sim", kernel, growth, *options)["runs"][0]["total_ps"] / 1e6


def size(kernel, growth):
    """Operations of the code."""
    attempts = tally("plan", kernel, growth, "--why")["plans"][0]["attempts"]
    return [attempt["operations"] for attempt in attempts if attempt["taken"]][-1]


def rows(folder):
    with open(os.path.join(folder, "corpus.json"), encoding="utf-8") as file:
        for kernel in json.load(file)["kernels"]:
            sizes, times = kernel.get("code", {}), kernel.get("latency", {})
            named = [(sizes, "auto"), (sizes, "unrolled"), (times, "ideal"), (times, "unrolled")]
            if any(of.get(name, {}).get("state") != "yes" for of, name in named):
                continue
            longer = sizes["unrolled"]["instructions"] / sizes["auto"]["instructions"]
            if longer < 10:
                continue
            path = os.path.join(folder, kernel["folder"], "kernel.json")
            ideal, unrolled = times["ideal"]["us"], times["unrolled"]["us"]
            best = min(ideal, unrolled)
            one, four = simulated(path, 1, *trips), simulated(path, 4, *trips)
            trips = [f"--trips={name}={','.join(map(str, counts))}" for name, counts in kernel["trips"].items()]
            free = [*trips, "--set=ctl.alu=0ns"]
            yield (f"| `{kernel['kernel']}` | {longer:.0f} | {ideal:,.0f} | {unrolled:,.0f} | {one:,.0f} | {one / ideal:.2f} "
                   f"| {simulated(path, 1, *free) / ideal:.2f} | {four:,.0f} "
                   f"| {size(path, 4) / size(path, 1):.1f} | {four / best:.2f} | {simulated(path, 4, *free) / best:.2f} |")


def main():
    print("| kernel | code, times | `ideal` | `unrolled` | `auto` | to `ideal` | free | growth 4 | code, times | to the best | free |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for folder in sys.argv[1:]:
        for row in rows(folder):
            print(row, flush=True)


if __name__ == "__main__":
    main()
