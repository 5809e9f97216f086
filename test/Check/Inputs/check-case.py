"""Checks a kernel whose dependences are all needed.

With them: under every strategy that supports the kernel, every wait passes exactly when it should
(barriers: never too early), and nothing races. Without any one of them: the race check finds a race.

The accesses say what has to be ordered; the machine finishes an instruction before the next one of
its queue starts, so that only dependences between engines count.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
MACHINE = f"--machine={HERE / 'in-order.json'}"
EXACT = ["per-instruction", "per-loop", "per-engine"]


def check(kernel, *options):
    """The exit status, and for each kernel of the file what was found."""
    command = ["tally", "check", str(kernel), MACHINE, "--format=json", *options]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    checks = json.loads(done.stdout)["checks"] if done.stdout else []
    return done.returncode, checks, done.stdout + done.stderr


def expect(condition, what, output):
    if not condition:
        sys.exit(f"{what}:\n{output}")


def expect_right(kernel, what, promise, *options):
    status, checks, output = check(kernel, *options)
    expect(status == 0, f"{what} is not right", output)
    explored = checks[0]["explore"]
    expect(explored["promise"] == promise, f"{what} does not promise to be {promise}", output)
    expect(promise == "safe" or explored["overwaits"] == 0, f"{what} waits too long", output)


def constant_trips(text):
    """With numbers for trips that are known at run time only."""
    return re.sub(r'trips "m"', "trips 2", re.sub(r'trips "n"', "trips 5", text))


def without_each(text):
    """A kernel for each dependence, without that one, and what is gone."""
    lines = text.splitlines(keepends=True)
    kernels, gone = [], []
    for i, line in enumerate(lines):
        if line.strip().startswith("tally.dep "):
            kernel = "".join(lines[:i] + lines[i + 1:])
            kernels.append(re.sub(r"tally\.kernel @(\w+)", rf"tally.kernel @\1_{len(gone)}", kernel))
            gone.append(line.strip())
    return "\n".join(kernels), gone


def races(found):
    return [report for run in found["race"]["runs"] for report in run["reports"]
            if report["kind"] == "race" and report["severity"] == "error"]


def check_strategies(path, text, folder):
    for strategy in EXACT:
        expect_right(path, strategy, "exact", f"--sync={strategy}")
    expect_right(path, "barrier", "safe", "--sync=barrier")

    code = folder / "code.mlir"
    subprocess.run(["tally", "compile", str(path), MACHINE, "-o", str(code)], check=True,
                   capture_output=True)
    expect_right(path, "code of its own", "exact", str(code))

    constant = folder / "constant.mlir"
    constant.write_text(constant_trips(text), encoding="utf-8")
    if "tally.if" in text:
        status, _, output = check(constant, "--sync=unrolled")
        expect(status == 2 and "is decided at run time" in output, "'unrolled' is not refused", output)
    else:
        expect_right(constant, "unrolled", "exact", "--sync=unrolled")


def check_removals(text, folder):
    kernels, gone = without_each(text)
    expect(gone, "the kernel has no dependences", text)
    fewer = folder / "fewer.mlir"
    fewer.write_text(kernels, encoding="utf-8")
    for strategy in EXACT:
        status, checks, output = check(fewer, "--race", f"--sync={strategy}")
        expect(status == 1 and len(checks) == len(gone), f"{strategy} fails", output)
        for dependence, found in zip(gone, checks):
            expect(found["verdict"] == "no" and races(found),
                   f"no race is found under {strategy} without {dependence}", output)


def main(path):
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        check_strategies(path, text, pathlib.Path(folder))
        check_removals(text, pathlib.Path(folder))


main(pathlib.Path(sys.argv[1]))
