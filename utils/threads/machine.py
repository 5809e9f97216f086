#!/usr/bin/env python3
"""Measures this computer as a machine of tally, and how well the simulator predicts code on threads with these prices.

usage: machine.py --tally=PATH [--write] [--repeat=N] [--oversubscribe]

Steps:  1. prices    of copies and arithmetic on what another thread has written, and of a signal until its waiter goes on: medians,
                     from timelines of `tally run`
        2. predict   for kernels on two threads (and three, where there are as many cores or it is told to), `tally sim` says how
                     much longer code with barriers takes than `auto`
        3. compare   with what `tally run` measures

With --write, the prices become machines/threads.json. Prints a table. Exit status: 0, or 2 if it was not possible. Other programs
that run meanwhile change what is measured; medians hide a part of that.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = ROOT / "machines/threads.json"
SIZES = (1024, 16384)  # elements, of f32


def run(arguments, *words):
    result = subprocess.run([arguments.tally, *map(str, words)], capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        print(f"error: {' '.join(map(str, words))}\n{result.stderr[-2000:]}", file=sys.stderr)
        sys.exit(2)
    return result.stdout


# ---- Kernels ------------------------------------------------------------------------------

# What instructions compute, by the name of their operation. Of a product, n is the number of multiplications.
COMPUTES = {"copy": "r0", "scale": "r0 * 2 + 1", "exp": "exp(r0)", "product": "matmul(r0, r0)"}


class Kernel:
    """Rings of two tiles; an instruction of iteration A reads what an earlier one of A wrote."""

    def __init__(self, name, iterations, steps):
        self.name, self.iterations, self.steps = name, iterations, steps
        self.threads = len({engine for engine, *_ in steps})

    def text(self):
        engines = dict.fromkeys(engine for engine, *_ in self.steps)
        lines = [f"tally.kernel @{self.name} {{"] + [f'  tally.engine "{engine}"' for engine in engines]
        body, before = [f'  tally.loop "A" trips {self.iterations} {{'], "in"
        for number, (engine, operation, n) in enumerate(self.steps):
            shape = self.shape(n, operation)
            tile, slot = ", ".join(f"0:{extent}" for extent in shape), "A mod 2"
            if number == 0:
                lines.append(f'  tally.buffer "in" shape {[2, *shape]} type "f32"')
            lines.append(f'  tally.buffer "t{number}" shape {[2, *shape]} type "f32"')
            n = shape[0] ** 3 if operation == "product" else n
            body.append(f'    tally.instr "{operation}{number}" on "{engine}" op "{operation}(n={n})" computes "{COMPUTES[operation]}" '
                        f'reads ["{before}[{slot}, {tile}]"] writes ["t{number}[{slot}, {tile}]"]')
            before = f"t{number}"
        return "\n".join(lines + body + ["  }", "}"]) + "\n"

    def shape(self, n, operation):
        isSquare = any(name == "product" for _, name, _ in self.steps)
        return [int(n ** 0.5)] * 2 if isSquare else [n]


def prices_of(arguments, work):
    """Of each operation, a part that is always paid, and one for each element; of a signal, how long until its waiter goes on."""
    prices = {}
    for operation in COMPUTES:
        points = []
        for size in SIZES:
            events = timeline(arguments, work, Kernel(f"one_{operation}", 300, [("one", "copy", size), ("two", operation, size)]))
            spans = [e["args"]["finish_ps"] - e["args"]["start_ps"] for e in events if e.get("cat") == "instruction" and e["pid"] == 2]
            points.append((int(size ** 0.5) ** 3 if operation == "product" else size, statistics.median(spans) / 1000))
        (n, a), (m, b) = points
        slope = max((b - a) / (m - n), 0)
        prices[operation] = (max(a - slope * n, 0), slope)
    gaps, latencies = [], []
    events = timeline(arguments, work, Kernel("handoff", 1000, [("one", "copy", 16), ("two", "copy", 16), ("one", "scale", 16)]))
    done = sorted((e["args"]["finish_ps"], e["pid"], e["args"]["start_ps"]) for e in events if e.get("cat") == "instruction")
    for event in events:
        if event.get("cat") == "stall":
            end = event["ts"] * 1e6 + event["dur"] * 1e6
            raised = [finish for finish, pid, _ in done if pid != event["pid"] and finish <= end]
            if raised:
                latencies.append((end - raised[-1]) / 1000)
    one = sorted((start, finish) for finish, pid, start in done if pid == 1)
    gaps = [(b[0] - a[1]) / 1000 for a, b in zip(one, one[1:])]
    return prices, statistics.median(latencies), min(gaps)


def timeline(arguments, work, kernel):
    file, trace = work / "kernel.mlir", work / "trace.json"
    file.write_text(kernel.text(), encoding="utf-8")
    write_inputs(work, kernel)
    run(arguments, "run", file, "--machine=generic", f"--inputs={work}", f"--timeline={trace}", "--repeat=7", "--quiet", *options(arguments))
    return json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]


def options(arguments):
    return ["--oversubscribe"] if arguments.oversubscribe else []


def write_inputs(work, kernel):
    _, operation, n = kernel.steps[0]
    shape = (2, *kernel.shape(n, operation))
    count = 2 * n if len(shape) == 2 else shape[0] * shape[1] * shape[2]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * ((64 - (len(header) + 11) % 64) % 64) + "\n"
    (work / "in.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(4 * count))


# ---- The description ----------------------------------------------------------------------


def processor():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return " ".join(line.split(":", 1)[1].split())
    return "this computer"


def description(prices, latency, gap):
    source = (f"measured by utils/threads/machine.py on {processor()}, at a load of {os.getloadavg()[0]:.0f} on "
              f"{len(os.sched_getaffinity(0))} cores")

    def parameter(value, unit):
        return {"value": value, "unit": unit, "source": source, "confidence": "measured"}

    def nothing(unit):
        return {"value": 0, "unit": unit, "source": "part of other prices", "confidence": "estimate"}

    zeros = ("ctl.alu", "ctl.loop_begin", "ctl.loop_end", "ctl.branch", "ctl.wait", "ctl.carried", "ctl.signal", "ctl.reset", "ctl.drain",
             "sem.visible", "sem.spacing", "latency")
    parameters = {"ctl.dispatch": parameter(round(gap, 1), "ns"), "sem.wake": parameter(round(latency), "ns"),
                  **{name: nothing("ns") for name in zeros},
                  "clock": {"value": 1, "unit": "GHz", "source": "so that a cycle is a nanosecond", "confidence": "published"},
                  "dma.depth": {"value": 16, "unit": "transfers", "source": "lib/Exec/Counters.h", "confidence": "published"},
                  "cost.default": {"value": 1000, "unit": "cycles", "source": "a guess", "confidence": "estimate"},
                  "queue.depth": {"value": 16, "unit": "instructions", "source": "lib/Exec/Counters.h", "confidence": "published"}}
    for operation, (start, each) in prices.items():
        parameters[f"cost.{operation}"] = parameter(f"{start:.0f} + {each:.4f} * n", "cycles")
    unlimited = {"value": None, "source": "counters are variables", "confidence": "published"}
    return {"schema": "tally-machine", "version": 1, "name": "threads",
            "description": "Threads of a processor with caches that are coherent, as 'tally run' and --emit=c++ use them",
            "engines": [],
            "limits": {"semaphores": {**unlimited, "unit": "semaphores"}, "registers_per_engine": {**unlimited, "unit": "registers"},
                       "counter_bits": {"value": 32, "unit": "bits", "source": "lib/Exec/Counters.h", "confidence": "published"}},
            "alu": {"subtraction": "saturates"}, "wait": {"compare": "unsigned"}, "queue": {"overlap": False},
            "encoding": {"instruction_bytes": {"value": 16, "unit": "bytes", "source": "a guess", "confidence": "estimate"}},
            "parameters": parameters}


# ---- Predicted, and measured --------------------------------------------------------------

KERNELS = [
    Kernel("copy_scale", 1200, [("one", "copy", 16384), ("two", "scale", 16384)]),
    Kernel("there_and_back", 1200, [("one", "scale", 4096), ("two", "exp", 4096), ("one", "copy", 4096)]),
    Kernel("chain", 1200, [("one", "exp", 2048), ("two", "scale", 2048), ("one", "copy", 2048), ("two", "exp", 2048)]),
    Kernel("products", 600, [("one", "copy", 1024), ("two", "product", 1024), ("one", "scale", 1024)]),
    Kernel("small", 1000, [("one", "scale", 256), ("two", "scale", 256)]),
    Kernel("three", 1200, [("one", "exp", 2048), ("two", "exp", 2048), ("three", "exp", 2048)]),
    Kernel("three_small", 1000, [("one", "scale", 256), ("two", "scale", 256), ("three", "scale", 256)]),
]


def compare(arguments, work, machine):
    cores, errors = len(os.sched_getaffinity(0)), []
    print(f"{'kernel':<16}{'threads':>8}{'predicted':>11}{'measured':>10}{'error':>8}")
    for kernel in KERNELS:
        if kernel.threads > cores and not arguments.oversubscribe:
            print(f"{kernel.name:<16}{kernel.threads:>8}  not measured: there are {cores} cores")
            continue
        file = work / f"{kernel.name}.mlir"
        file.write_text(kernel.text(), encoding="utf-8")
        write_inputs(work, kernel)
        totals = [json.loads(run(arguments, "sim", file, f"--machine={machine}", f"--sync={sync}", "--format=json", "--quiet"))
                  for sync in ("barrier", "auto")]
        predicted = total_of(totals[0]) / total_of(totals[1])
        told = json.loads(run(arguments, "run", file, f"--machine={machine}", f"--inputs={work}", f"--repeat={arguments.repeat}",
                              "--format=json", "--quiet", *options(arguments)))
        measured = told["times"][1]["ratio"]
        if kernel.threads <= cores:
            errors.append(abs(predicted / measured - 1))
        print(f"{kernel.name:<16}{kernel.threads:>8}{predicted:>11.2f}{measured:>10.2f}{100 * (predicted / measured - 1):>7.0f}%"
              + ("" if kernel.threads <= cores else "  on fewer cores than threads"))
    print(f"mean error {100 * statistics.mean(errors):.0f} %, largest {100 * max(errors):.0f} %")


def total_of(document):
    return document["runs"][0]["total_ps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tally", required=True)
    parser.add_argument("--write", action="store_true", help="put the prices into machines/threads.json")
    parser.add_argument("--repeat", type=int, default=31)
    parser.add_argument("--oversubscribe", action="store_true", help="also with more threads than cores")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        machine = TARGET if arguments.write else work / "threads.json"
        machine.write_text(json.dumps(description(*prices_of(arguments, work)), indent=2) + "\n", encoding="utf-8")
        compare(arguments, work, machine)


if __name__ == "__main__":
    main()
