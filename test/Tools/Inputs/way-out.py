"""Whether each strategy that an error names as a way out does the kernel on that machine; with TALLY_LONG set, for every
kernel of the folder, otherwise for every third.

usage: way-out.py FOLDER GENERIC-MACHINE SEMAPHORES:REGISTERS:BITS...
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EVERY = 1 if os.environ.get("TALLY_LONG") else 3  # kernel
STRATEGIES = ["per-instruction", "per-loop", "per-engine", "barrier", "unrolled"]


def compile_with(kernel, machine, strategy):
    return subprocess.run(["tally", "compile", kernel, f"--machine={machine}", f"--sync={strategy}"],
                          capture_output=True, text=True, check=False)


def machine_file(folder, limits):
    machine = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    for name, value in zip(("semaphores", "registers_per_engine", "counter_bits"), limits.split(":")):
        machine["limits"][name]["value"] = int(value)
    path = Path(folder) / f"{limits.replace(':', '-')}.json"
    path.write_text(json.dumps(machine), encoding="utf-8")
    return path


errors = named = 0
with tempfile.TemporaryDirectory() as folder:
    for machine in [machine_file(folder, limits) for limits in sys.argv[3:]]:
        for kernel in sorted(Path(sys.argv[1]).glob("*.mlir"))[::EVERY]:
            done = {strategy: compile_with(kernel, machine, strategy) for strategy in STRATEGIES}
            done["auto"] = compile_with(kernel, machine, "auto")
            for strategy, result in done.items():
                errors += result.returncode != 0
                line = re.search(r"note: strateg.* this kernel on machine", result.stderr)
                promised = re.findall(r"'([a-z-]+)'", line.group()) if line else []
                named += len(promised)
                for other in promised:
                    if done[other].returncode != 0:
                        print(f"{kernel.name}, {machine.name}: {strategy} names {other}, which fails")
print(f"{errors} errors name {named} ways out")
