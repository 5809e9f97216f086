"""Checks a kernel whose dependences are all needed: with them no strategy races, and without any
one of them the race check finds the race.

The accesses say what has to be ordered; the machine finishes an instruction before the next one of
its queue starts, so that only dependences between engines count.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
EXACT = ["per-instruction", "per-loop", "per-engine"]


def check(kernel, strategy, *options):
    command = ["tally", "check", str(kernel), f"--sync={strategy}",
               f"--machine={HERE / 'in-order.json'}", "--schedules=20", *options]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


def expect(condition, what, output):
    if not condition:
        sys.exit(f"{what}:\n{output}")


def without(text, line):
    """The kernel without that line of it."""
    lines = text.splitlines(keepends=True)
    return "".join(lines[:line] + lines[line + 1:])


def main(path):
    text = path.read_text(encoding="utf-8")
    for strategy in [*EXACT, "barrier", "unrolled"]:
        status, output = check(path, strategy, "--race")
        refused = strategy == "unrolled" and re.search(r"error:.*unrolled", output)
        # Barriers and the like may leave it open which schedule happens; they must not race.
        allowed = [0] if strategy in EXACT else [0, 2]
        expect(refused or status in allowed, f"{strategy} fails", output)
        if strategy != "unrolled":
            status, output = check(path, strategy, "--explore", "--bound=1", "--max-states=100000")
            expect(status in [0, 2] and "error" not in output, f"{strategy} is not right", output)

    dependences = [i for i, line in enumerate(text.splitlines())
                   if line.strip().startswith("tally.dep ")]
    expect(dependences, "the kernel has no dependences", text)
    with tempfile.TemporaryDirectory() as folder:
        for line in dependences:
            kernel = pathlib.Path(folder) / path.name
            kernel.write_text(without(text, line), encoding="utf-8")
            for strategy in EXACT:
                status, output = check(kernel, strategy, "--race")
                gone = text.splitlines()[line].strip()
                expect(status == 1 and "error: race: " in output,
                       f"no race is found under {strategy} without {gone}", output)


main(pathlib.Path(sys.argv[1]))
