#!/usr/bin/env python3
"""Fits the prices of control to the published ratios, within the ranges of machines/trn2.json.

Nothing is published about what register operations, loop ends, signals and waits cost. Latencies relative to barriers of
three kernels, which hang on them, are published: these nine ratios, and no others, are fitted. All other numbers that the
model gives are predictions.

The four prices are those that make the sum of the squares of log(model / published) least; they are written in whole ns.
Two more prices follow from them: a loop begins with one register operation, and a branch is a loop end without its two
register operations. To show how well each price is determined, it is moved to either end of its range, and the others are
fitted again.

    utils/fit-prices.py [--bin=build/release/bin] [--write]

--write puts the prices, with their provenance, into machines/trn2.json.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

try:
    import numpy as np
except ModuleNotFoundError:
    sys.exit("fit-prices.py: error: this Python has no NumPy; that of Debian may have it: /usr/bin/python3 utils/fit-prices.py")

from published import BARRIERS, COLUMNS, RATIOS

MACHINE = pathlib.Path(__file__).resolve().parent.parent / "machines/trn2.json"
FITTED = ("ctl.alu", "ctl.loop_end", "ctl.signal", "ctl.wait")
STEP = 0.5  # ns, for differences
ROUNDS = 12


def following(prices):
    """The prices that follow from the fitted ones."""
    alu, loop_end = prices[0], prices[1]
    return {"ctl.loop_begin": alu, "ctl.branch": loop_end - 2 * alu}


class Model:
    def __init__(self, bin_folder, machine):
        self.program = f"{bin_folder}/tally"
        parameters = machine["parameters"]
        self.low, self.high = np.array([parameters[name]["range"] for name in FITTED], dtype=float).T
        self.ranges = {name: parameters[name]["range"] for name in ("ctl.loop_begin", "ctl.branch")}
        self.known = {}

    def settings(self, prices):
        for name, value in zip(FITTED, prices):
            yield name, value
        for name, value in following(prices).items():
            yield name, min(max(value, self.ranges[name][0]), self.ranges[name][1])

    def ratios(self, prices):
        """The nine ratios with these prices, kernel by kernel."""
        key = tuple(round(float(price), 3) for price in prices)
        if key not in self.known:
            command = [self.program, "bench", "--size=paper", "--format=json", f"--kernels={','.join(RATIOS)}",
                       f"--strategies={','.join((BARRIERS,) + COLUMNS)}"]
            command += [f"--set={name}={value:.3f}ns" for name, value in self.settings(key)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            latency = {(r["kernel"], r["strategy"]): r["latency_ns"] for r in json.loads(done.stdout)["rows"]}
            self.known[key] = np.array([latency[kernel, one] / latency[kernel, BARRIERS]
                                        for kernel in RATIOS for one in COLUMNS])
        return self.known[key]

    def residuals(self, prices):
        return np.log(self.ratios(prices) / np.array(list(RATIOS.values())).ravel())

    def slopes(self, prices, free):
        """How the residuals change with each free price, for each ns."""
        columns = []
        for i in free:
            step = np.zeros(len(prices))
            step[i] = STEP if prices[i] + STEP <= self.high[i] else -STEP
            columns.append((self.residuals(prices + step) - self.residuals(prices)) / step[i])
        return np.array(columns).T

    def fit(self, start, fixed=()):
        """Least squares by damped Gauss-Newton steps, which stay within the ranges."""
        prices = np.clip(np.array(start, dtype=float), self.low, self.high)
        free = [i for i in range(len(prices)) if i not in fixed]
        damping = 1e-4
        cost = self.cost(prices)
        for _ in range(ROUNDS):
            slopes, residuals = self.slopes(prices, free), self.residuals(prices)
            while damping < 1e4:
                normal = slopes.T @ slopes
                step = np.linalg.solve(normal + damping * np.eye(len(free)), -slopes.T @ residuals)
                trial = prices.copy()
                trial[free] = np.round(np.clip(prices[free] + step, self.low[free], self.high[free]), 3)
                if self.cost(trial) < cost:
                    break
                damping *= 10
            else:
                break
            gain, cost = cost - self.cost(trial), self.cost(trial)
            prices, damping = trial, damping / 10
            if gain < 1e-7:
                break
        return prices

    def cost(self, prices):
        return float(np.sum(self.residuals(prices) ** 2))


def best_of_starts(model):
    """From the middle and all corners of the ranges: the model is not linear."""
    starts = [(model.low + model.high) / 2]
    for corner in range(2 ** len(FITTED)):
        starts.append(np.where([corner >> i & 1 for i in range(len(FITTED))], model.high, model.low))
    fits = []
    for number, start in enumerate(starts, 1):
        fits.append(model.fit(start))
        print(f"\r{number} of {len(starts)} starts", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return min(fits, key=model.cost)


def percent_of(cost):
    """The root of the mean square of the residuals, as people say it."""
    return f"{100 * (math.exp(math.sqrt(cost / (3 * len(RATIOS)))) - 1):.1f} %"


def determined(model, prices):
    """By price: the mean error if it is at either end of its range, and the others are fitted again."""
    for i in range(len(FITTED)):
        ends = []
        for end in (model.low[i], model.high[i]):
            start = prices.copy()
            start[i] = end
            ends.append(percent_of(model.cost(model.fit(start, fixed=(i,)))))
        yield ends


FOLLOWS = {"ctl.loop_begin": "ctl.alu", "ctl.branch": "ctl.loop_end and ctl.alu"}


def provenance(name, error, ends):
    """Where a price comes from: to what it was fitted, how well that went, and how much the ratios tell about it."""
    if name in FOLLOWS:
        return f"follows from {FOLLOWS[name]}, as utils/fit-prices.py has fitted them"
    rows = "; ".join(f"{kernel} {' '.join(f'{ratio:.2f}' for ratio in ratios)}" for kernel, ratios in RATIOS.items())
    return (
        f"fitted by utils/fit-prices.py to nine published ratios and nothing else ({rows}), with a mean error of {error}; "
        f"{ends[name][0]} or {ends[name][1]} with it at either end of its range"
    )


def write(model, prices, ends):
    text = MACHINE.read_text(encoding="utf-8")
    error = percent_of(model.cost(prices))
    for name, value in model.settings(prices):
        source = provenance(name, error, ends)
        head, entry, tail = re.split(rf'("{re.escape(name)}": \{{.*?\n    \}})', text, maxsplit=1, flags=re.DOTALL)
        entry = re.sub(r'"value": [^,]*', f'"value": {round(value):d}', entry)
        entry = re.sub(r'"source": "[^"]*"', f'"source": "{source}"', entry)
        entry = re.sub(r'"confidence": "[^"]*"', '"confidence": "derived"', entry)
        text = head + entry + tail
    MACHINE.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    model = Model(arguments.bin, json.loads(MACHINE.read_text(encoding="utf-8")))
    prices = best_of_starts(model)
    print(f"mean error of the nine ratios: {percent_of(model.cost(prices))}\n")
    print(f"{'price':<14}{'ns':>8}{'range':>14}   mean error with the price at either end of its range")
    ends = dict(zip(FITTED, determined(model, prices)))
    for name, price, low, high in zip(FITTED, prices, model.low, model.high):
        print(f"{name:<14}{price:>8.1f}{f'{low:g} to {high:g}':>14}   {ends[name][0]} and {ends[name][1]}")
    print(f"\n{'kernel':<20}{'':<12}{'published':>10}{'model':>8}{'error':>8}")
    rows = ((kernel, one, ratio) for kernel, known in RATIOS.items() for one, ratio in zip(COLUMNS, known))
    for (kernel, one, ratio), got in zip(rows, model.ratios(prices)):
        print(f"{kernel:<20}{one:<12}{ratio:>10.2f}{got:>8.3f}{100 * (got / ratio - 1):>7.0f}%")
    if arguments.write:
        write(model, prices, ends)


if __name__ == "__main__":
    main()
