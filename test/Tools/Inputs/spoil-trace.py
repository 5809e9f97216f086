"""Checks that check-trace.py refuses a trace in which anything is missing or wrong.

usage: spoil-trace.py TRACE.json RUN.json

Each spoilt trace is the right one with one mistake; the number of events is put right, so that it does not give the mistake away.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKER = Path(__file__).with_name("check-trace.py")
CONDITIONS = ("kernel", "strategy", "strategy_not_given", "machine", "machine_not_given", "outcome", "total_ps",
              "trips", "trips_not_given", "guards", "guards_given", "seed", "command")


def keep(trace, wanted):
    trace["traceEvents"] = [event for event in trace["traceEvents"] if wanted(event)]


def without(kinds, name=None):
    """A trace without the events of these kinds, or without those of one name."""
    return lambda trace: keep(trace, lambda event: event["ph"] not in kinds or name not in (None, event["name"]))


def without_category(category):
    return lambda trace: keep(trace, lambda event: event.get("cat") != category)


def without_last_arrow(trace):
    last = max(event["id"] for event in trace["traceEvents"] if event["ph"] == "f")
    keep(trace, lambda event: event.get("id") != last)


def without_first_half_of_counters(trace):
    counters = [event for event in trace["traceEvents"] if event["ph"] == "C"]
    dropped = {id(event) for event in counters[:len(counters) // 2]}
    keep(trace, lambda event: id(event) not in dropped)


def each(kind, change):
    """A trace in which every event of a kind is changed."""
    def spoil(trace):
        for event in trace["traceEvents"]:
            if event["ph"] == kind:
                change(event)
    return spoil


def without_condition(key):
    return lambda trace: trace["otherData"].pop(key)


def other_condition(key):
    def spoil(trace):
        value = trace["otherData"][key]
        trace["otherData"][key] = (not value if isinstance(value, bool) else value + 1 if isinstance(value, int)
                                   else [*value, "n=99"] if isinstance(value, list) else value + "x")
    return spoil


def mistakes(trace):
    """Name, change, and what the checker has to say of it."""
    events = trace["traceEvents"]
    yield "no arrows", without("sf"), "no arrow ends"
    yield "an arrow fewer", without_last_arrow, "no arrow ends"
    for name in sorted({event["name"] for event in events if event["ph"] == "f"}):
        yield f"no arrows of {name}", without("sf", name), "no arrow ends"
        yield f"no counter of {name}", without("C", name), "no counter is raised"
    yield "no counters", without("C"), "no counter is raised"
    yield "half of the counters", without_first_half_of_counters, "no counter is raised"
    yield "counters of zero", each("C", lambda event: event["args"].update(value=0)), "no counter is raised"
    yield "no names", without("M"), "a slice on a thread without a name"
    for category in ("control", "stall", "instruction"):
        yield f"no slices of {category}", without_category(category), ""
    yield "waits without their dependences", each("X", lambda event: event["args"].pop("dependences", 0)), "arguments of|other dependences"
    for key in CONDITIONS:
        if key in trace["otherData"]:
            yield f"no '{key}'", without_condition(key), f"'{key}'"
            yield f"another '{key}'", other_condition(key), key
    yield "a condition that is none", lambda trace: trace["otherData"].update(colour="red"), "or has ['colour']"


def answer(trace, run, spoil, folder):
    """What the checker prints of a spoilt trace; empty if it accepts it."""
    spoil(trace)
    trace["otherData"]["events"] = len(trace["traceEvents"])
    path = Path(folder) / "spoilt.json"
    path.write_text(written(trace), encoding="utf-8")
    done = subprocess.run([sys.executable, CHECKER, path, run], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout if done.returncode else ""


def read(path):
    """Times stay the texts that they are."""
    return json.loads(Path(path).read_text(encoding="utf-8"), parse_float="time {}".format)


def written(trace):
    return re.sub(r'"time ([\d.]+)"', r"\1", json.dumps(trace, separators=(",", ":")))


def main():
    trace, run = sys.argv[1:]
    missed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, spoil, says in mistakes(read(trace)):
            found = answer(read(trace), run, spoil, folder)
            count += 1
            if not any(words in found for words in says.split("|")) or not found:
                missed += 1
                print(f"{name}: expected '{says}', but the checker says: {found or 'nothing'}")
        if said := answer(read(trace), run, lambda trace: None, folder):
            missed += 1
            print(f"the right trace: {said}")
    print(f"{count} mistakes, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
