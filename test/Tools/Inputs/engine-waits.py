"""Whether 'tally explain' and 'tally sim' agree on how long an engine stands still.

usage: engine-waits.py KERNEL INSTRUCTION ENGINE TRIPS
"""

import json
import subprocess
import sys

kernel, instruction, engine, trips = sys.argv[1:]


def tally(*arguments):
    text = subprocess.run(["tally", *arguments, kernel, f"--trips={trips}", "--format=json", "--quiet"], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text)


answer = tally("explain", f"--instr={instruction}")["instructions"][0]
explained = answer["engine_waits"]
run = tally("sim")["runs"][0]
sums = next(row for row in run["engines"] if row["engine"] == engine)
stands = sum(sums[key] for key in ("waiting_ps", "queue_full_ps", "draining_ps"))
assert sum(wait["wait_ps"] for wait in explained) == stands > 0, (explained, sums)
assert [wait["wait_ps"] for wait in explained] == sorted((wait["wait_ps"] for wait in explained), reverse=True)

spans = {wait["instruction"]: wait["wait_ps"] for wait in explained if wait["instruction"]}
held = [row for no_wait in answer["needs_no_wait"] for row in no_wait.get("held_back", []) if row["engine"] == engine]
assert held and all(row["wait_ps"] == spans[row["instruction"]] for row in held), (held, spans)
