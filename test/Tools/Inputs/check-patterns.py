"""Asks tally about kernels: python check-patterns.py FOLDER NAME..."""

import json
import subprocess
import sys
from pathlib import Path

TRIPS = {"ragged": ["sequences=4", "rows=3,0,7,1"], "paged_attention": ["sequences=3", "pages=4,1,6"], "causal_attention": ["blocks=5"],
         "triangular_solve": ["rows=6"], "halo": ["strips=5"], "fifo": ["cycles=6"], "split_k": ["part=4"], "pipeline": ["n=16"]}

LONGER = {"pipeline": [("scale", "scale9")]}  # docs/guide/kernels/Patterns.md says why


def ask(*command):
    return json.loads(subprocess.run(["tally", *command, "--machine=trn2", "--format=json"], check=True, capture_output=True, text=True).stdout)


for name in sys.argv[2:]:
    kernel = str(Path(sys.argv[1]) / f"{name}.mlir")
    found = [dep for each in ask("deps", kernel)["kernels"] for dep in each["dependences"] if not dep["implied_by"]]
    longer = [(dep["producer"], dep["consumer"]) for dep in found if not dep["exact"]]
    assert found and longer == LONGER.get(name, []), (name, longer)
    trips = [f"--trips={each}" for each in TRIPS.get(name, [])]
    times = {}
    for strategy in ("barrier", "per-instruction", "per-loop", "per-engine", "auto"):
        sync = f"--sync={strategy}"
        verdict = ask("check", kernel, "--race", sync, *trips)["checks"][0]["race"]["verdict"]
        assert verdict == "yes", (name, strategy, verdict)
        times[strategy] = ask("sim", kernel, sync, *trips)["runs"][0]["total_ps"]
    assert times["auto"] < times["barrier"], (name, times)
    assert times["auto"] <= times["per-loop"], (name, times)
