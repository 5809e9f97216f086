"""Whether docs/guide/json/Check.md tells all keys of what `tally check` prints, and no others.

Runs the command on the kernels that are given, in both modes, and replays what they show.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

# What stands in the text as keys do, but are values.
VALUES = {"exact", "safe", "early", "late", "order", "deadlock", "race", "unordered", "reset", "wrap",
          "stale", "outside", "error", "warning", "wait", "raise", "drain", "branch", "credit", "drop", "noalias"}


def documented(path):
    """Words in code, alone (`kind`) or in quotes in an object (`{"file", "line"}`)."""
    text = path.read_text(encoding="utf-8")
    part = text[text.index("`tally check`: `{"):]
    names = set()
    for code in re.findall(r"`([^`]+)`", part):
        names |= set(re.findall(r'"([a-z_]+)"', code) if code.startswith("{")
                     else re.findall(r"^[a-z_]+$", code))
    return names


def keys_of(value):
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    return set()


def run(*options):
    done = subprocess.run(["tally", "check", "--format=json", *options], text=True,
                          capture_output=True, check=False)
    return json.loads(done.stdout)


def main(doc, kernels):
    printed = set()
    with tempfile.TemporaryDirectory() as folder:
        for kernel in kernels:
            witness = pathlib.Path(folder) / "w.json"
            printed |= keys_of(run(kernel, f"--witness={witness}", "--schedules=5"))
            if witness.exists():
                printed |= keys_of(run(f"--replay={witness}"))
                witness.unlink()
    told = documented(doc)
    for what, names in (("not in Check.md", printed - told),
                        ("only in Check.md", told - printed - VALUES)):
        if names:
            sys.exit(f"{what}: {', '.join(sorted(names))}")


main(pathlib.Path(sys.argv[1]), sys.argv[2:])
