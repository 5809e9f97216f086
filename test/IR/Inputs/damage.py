"""damage.py truncate|flip FILE: gives a few damaged copies of FILE to tally-opt, more with TALLY_LONG set.

Fails unless each run ends with exit status 0 or 2, and 2 for all that is truncated.
"""

import os
import random
import subprocess
import sys


COPIES = 40 if os.environ.get("TALLY_LONG") else 12


def run(data):
    return subprocess.run(
        ["tally-opt", "-", "-o", "/dev/null"], input=data, capture_output=True, timeout=60
    ).returncode


def main():
    kind, path = sys.argv[1:]
    with open(path, "rb") as file:
        sound = file.read()
    rng = random.Random(1)
    assert run(sound) == 0, "the undamaged file is read"
    for number in range(COPIES):
        if kind == "truncate":
            damaged = sound[: 1 + number * (len(sound) - 1) // COPIES]
            allowed = [2]
        else:
            copy = bytearray(sound)
            for _ in range(rng.choice([1, 2, 5])):
                copy[rng.randrange(4, len(copy))] = rng.randrange(256)
            damaged = bytes(copy)
            allowed = [0, 2]
        code = run(damaged)
        assert code in allowed, f"{kind} {number}: exit status {code}"


main()
