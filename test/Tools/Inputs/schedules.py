"""Spoils what a schedule names, one thing after the other, and prints what `tally check --replay` says first.

usage: python3 schedules.py KERNEL FOLDER

Each of them ends with status 2 and its first message at the value that was spoilt.
"""

import json
import pathlib
import subprocess
import sys

kernel, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
right = {"schema": "tally-schedule", "version": 1, "kernel": {"file": kernel, "name": "pipe"}, "code": None,
         "strategy": None, "options": [], "machine": "generic", "trips": ["A=3"], "guards": 0, "in_flight": 4,
         "shows": "nothing", "steps": []}


def first_message(name, schedule, value, options=()):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(schedule), encoding="utf-8")
    done = subprocess.run(["tally", "check", f"--replay={path}", *options], capture_output=True, text=True, check=False)
    if value is not None:
        message = done.stderr.split(" error:")[0]
        column = path.read_text(encoding="utf-8").index(json.dumps(value)) + 1
        place = f'"column":{column}}}' if options else f":1:{column}:"
        assert done.returncode == 2 and place in message.split('"message"')[0], (name, column, done.stderr)
    print(f"{name}:", (done.stderr.splitlines() or ["none"])[0])


for name, value, change in (
        ("machine", "x", {"machine": "x"}),
        ("trips", "ZZ", {"trips": ["A=3", "ZZ"]}),
        ("twice", "A=4", {"trips": ["A=3", "A=4"]}),
        ("option", "--trips=ZZ", {"options": ["--no-fold", "--trips=ZZ"]}),
        ("file", "none.mlir", {"kernel": {"file": "none.mlir", "name": "pipe"}}),
        ("name", "pip", {"kernel": {"file": kernel, "name": "pip"}}),
        ("code", "none.json", {"code": "none.json"})):
    first_message(name, right | change, value)
first_message("json", right | {"kernel": {"file": "none.mlir", "name": "pipe"}}, "none.mlir", ["--diagnostics=json"])
first_message("right", right, None)
