"""Is what threads did, as a trace tells it, in the order of the dependences? timeline.py TRACE"""

import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
facts = trace["otherData"]
assert facts["measured_on"] == "threads" and facts["outcome"] == "finished" and facts["complete"], facts
runs = {}
for event in trace["traceEvents"]:
    if event.get("cat") == "instruction":
        runs[event["name"], event["args"]["run"]] = event["args"]
assert len(runs) == 60, len(runs)
for number in range(20):
    make, use, store = (runs[name, number] for name in ("make", "use", "store"))
    assert make["retire_ps"] <= use["start_ps"] and use["retire_ps"] <= store["start_ps"], number
    assert make["arrival_ps"] <= make["start_ps"] < make["finish_ps"] <= facts["total_ps"], number
    if number >= 2:
        assert runs["use", number - 2]["retire_ps"] <= make["start_ps"], number
        assert runs["store", number - 2]["retire_ps"] <= use["start_ps"], number
waits = [event for event in trace["traceEvents"] if event.get("cat") == "stall" and event["name"].startswith("waits for ")]
arrows = [event for event in trace["traceEvents"] if event.get("cat") == "dependence" and event["ph"] == "f"]
assert waits and len(waits) == len(arrows), (len(waits), len(arrows))
ends = sorted(round(event["ts"] + event["dur"], 3) for event in waits)
assert ends == sorted(round(event["ts"], 3) for event in arrows)
print(f"{len(runs)} instructions in order, in {facts['strategy']}")
