"""Runs every small kernel with two inputs, and lets NumPy compare each result with both inputs.

usage: numpy-all.py COMMAND..., the command that compares: COMMAND... KERNEL INPUTS OUTPUTS
"""

import json
import os
import subprocess
import sys
import tempfile


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def compare(kernel, inputs, outputs):
    result = subprocess.run([*sys.argv[1:], kernel, inputs, outputs], capture_output=True, text=True)
    if result.returncode not in (0, 1) or not result.stdout:
        sys.exit(result.stdout + result.stderr)
    return result.returncode == 0, result.stdout


def main():
    kernels = json.loads(run("tally", "kernels", "list", "--format=json"))["kernels"]
    right = wrong = 0
    for kernel in kernels:
        name = kernel["name"]
        with tempfile.TemporaryDirectory() as folder:
            inputs, others, outputs, file = (
                os.path.join(folder, part) for part in ("in", "others", "out", "k.mlir")
            )
            run("tally", "kernels", "emit", name, "--inputs", others, "--data-seed=2")
            run("tally", "kernels", "emit", name, "--inputs", inputs, "-o", file)
            trips = [f"--trips={trip}" for trip in kernel["trips"]["small"]]
            run("tally", "sim", file, "--machine=trn2", "--inputs", inputs, "--outputs", outputs, *trips)
            agrees, text = compare(name, inputs, outputs)
            right += agrees
            print(text, end="")
            wrong += not compare(name, others, outputs)[0]
    print(f"{right} kernels agree with NumPy, {wrong} do not with other inputs")


if __name__ == "__main__":
    main()
