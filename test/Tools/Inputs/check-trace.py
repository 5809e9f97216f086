"""Holds a trace to its documented format, docs/guide/simulator/Traces.md, and to the run that it is of.

usage: check-trace.py TRACE.json [RUN.json]

TRACE.json  what `tally sim --trace` wrote
RUN.json    what `tally sim --format=json` said of the same run: totals of engines and queues have to agree
"""

import json
import re
import sys
from collections import defaultdict

FIELDS = {
    "M": {"ph", "name", "pid", "tid", "args"},
    "X": {"ph", "cat", "name", "pid", "tid", "ts", "dur", "args"},
    "s": {"ph", "cat", "name", "id", "pid", "tid", "ts"},
    "f": {"ph", "cat", "name", "id", "pid", "tid", "ts", "bp"},
    "C": {"ph", "name", "pid", "tid", "ts", "args"},
    "i": {"ph", "s", "name", "pid", "tid", "ts"},
}
ARGUMENTS = {
    "control": {"op"},
    "stall": {"op"},
    "instruction": {"op", "run", "arrival_ps", "start_ps", "finish_ps", "retire_ps"},
}
OPTIONAL = {"loc", "dependences"}
OTHER = {"schema", "version", "kernel", "strategy", "machine", "outcome", "total_ps", "events", "complete"}
MAY_BE_OTHER = {"machine_not_given", "trips", "trips_not_given", "guards", "guards_given", "seed", "command"}
STALLS = re.compile(r"waits for .+|queue full|drains")
TIME = re.compile(r'"(ts|dur)":(?!\d+\.\d{6}[,}])')
SEQUENCER = 1

faults = []


def hold(condition, text):
    if not condition:
        faults.append(text)


class Picoseconds(int):
    """Exact, whatever the time is: the text has six decimals of microseconds."""

    def __new__(cls, text):
        whole, _, part = text.partition(".")
        return int.__new__(cls, int(whole) * 10**6 + int(part.ljust(6, "0")))


class Trace:
    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        found = TIME.search(text)
        hold(not found, f"a time without six decimals: {text[found.start():found.start() + 40] if found else ''}")
        document = json.loads(text, parse_float=Picoseconds)
        hold(set(document) == {"displayTimeUnit", "traceEvents", "otherData"}, f"keys are {sorted(document)}")
        self.events, self.run = document["traceEvents"], document["otherData"]
        self.engines, self.threads = {}, {}
        self.slices = defaultdict(list)
        self.arrows = defaultdict(dict)
        self.counters = defaultdict(list)

    def check(self):
        self.check_run()
        for event in self.events:
            self.check_event(event)
        self.check_slices()
        self.check_arrows()
        self.check_counters()

    def check_run(self):
        hold(OTHER <= set(self.run) <= OTHER | MAY_BE_OTHER, f"otherData has {sorted(self.run)}")
        hold((self.run["schema"], self.run["version"]) == ("tally-trace", 1), "schema and version")
        hold(self.run["outcome"] in ("finished", "deadlock", "cut off"), f"outcome {self.run['outcome']}")
        ends = [event for event in self.events if event["ph"] == "i"]
        hold(len(self.events) - len(ends) == self.run["events"], f"{len(self.events)} events, {self.run['events']} stated")
        hold(self.run["complete"] == (not ends), "'complete', but it ends early, or the other way round")
        hold(not ends or self.events[-1] is ends[-1] and len(ends) == 1, "the end of a trace that is cut is its last event")

    def check_event(self, event):
        kind = event["ph"]
        hold(kind in FIELDS and set(event) == FIELDS[kind], f"fields of {event}")
        if kind == "M":
            self.check_name(event)
        elif kind == "X":
            hold((event["pid"], event["tid"]) in self.threads, f"a slice on a thread without a name: {event}")
            arguments, wanted = set(event["args"]), ARGUMENTS.get(event["cat"], set())
            hold(event["cat"] in ARGUMENTS and wanted <= arguments <= wanted | OPTIONAL, f"arguments of {event}")
            self.slices[event["pid"], event["tid"]].append(event)
        elif kind in "sf":
            hold(kind not in self.arrows[event["id"]], f"two '{kind}' of arrow {event['id']}")
            hold(event["cat"] == "dependence", f"category of {event}")
            self.arrows[event["id"]][kind] = event
        elif kind == "C":
            hold(self.engines.get(event["pid"]) == "semaphores", f"a counter outside of 'semaphores': {event}")
            hold(set(event["args"]) == {"value"} and event["args"]["value"] >= 0, f"value of {event}")
            self.counters[event["name"]].append(event)

    def check_name(self, event):
        known = {"process_name": self.engines, "thread_name": self.threads}[event["name"]]
        key = event["pid"] if event["name"] == "process_name" else (event["pid"], event["tid"])
        hold(key not in known, f"{key} has two names")
        known[key] = event["args"]["name"]

    def check_slices(self):
        """Nothing of one thread overlaps: a sequencer does one thing at a time, a queue starts one after the other."""
        for thread, slices in self.slices.items():
            slices.sort(key=lambda event: (event["ts"], event["dur"]))
            for one, other in zip(slices, slices[1:]):
                hold(one["ts"] + one["dur"] <= other["ts"], f"{one} and {other} overlap")
            for event in slices:
                self.check_slice(event, thread[1] == SEQUENCER)

    def check_slice(self, event, is_sequencer):
        hold((event["cat"] == "instruction") != is_sequencer, f"a slice on the wrong kind of thread: {event}")
        hold(event["dur"] > 0 or event["cat"] == "instruction", f"an empty slice: {event}")
        hold(self.run["outcome"] != "finished" or event["ts"] + event["dur"] <= self.run["total_ps"], f"behind the end: {event}")
        if event["cat"] == "stall":
            hold(STALLS.fullmatch(event["name"]), f"name of {event}")
        if event["cat"] == "instruction":
            times = [event["args"][key] for key in ("arrival_ps", "start_ps", "finish_ps", "retire_ps")]
            hold(times == sorted(times) and times[1] == event["ts"], f"times of {event}")

    def check_arrows(self):
        """An arrow leads from a slice that has begun to the end of a wait, and not back in time."""
        starts = {key: {event["ts"] for event in slices} for key, slices in self.slices.items()}
        ends = {key: {event["ts"] + event["dur"] for event in slices} for key, slices in self.slices.items()}
        for number, arrow in self.arrows.items():
            if set(arrow) != {"s", "f"}:
                hold(not self.run["complete"], f"arrow {number} has no beginning or no end")
                continue
            first, last = arrow["s"], arrow["f"]
            hold(first["ts"] <= last["ts"] and first["name"] == last["name"], f"arrow {number} leads back, or changes its name")
            if self.run["complete"]:
                hold(first["ts"] in starts.get((first["pid"], first["tid"]), ()), f"arrow {number} begins at no slice")
                hold(last["ts"] in ends.get((last["pid"], last["tid"]), ()), f"arrow {number} ends at no wait")

    def check_counters(self):
        for name, values in self.counters.items():
            times = [event["ts"] for event in values]
            hold(times == sorted(times), f"counter '{name}' goes back in time")

    def check_against(self, run):
        """Sums of slices are those that the run states."""
        pid_of = {name: pid for pid, name in self.engines.items()}

        def total(pid, category, pattern):
            return sum(event["dur"] for event in self.slices[pid, SEQUENCER]
                       if event["cat"] == category and re.match(pattern, event["name"]))

        for row in run["engines"]:
            pid = pid_of[row["engine"]]
            for key, category, pattern in (("control_ps", "control", ""), ("waiting_ps", "stall", "waits for "),
                                           ("queue_full_ps", "stall", "queue full"), ("draining_ps", "stall", "drains")):
                hold(total(pid, category, pattern) == row[key], f"{key} of '{row['engine']}': {total(pid, category, pattern)}, not {row[key]}")
        count = sum(event["cat"] == "instruction" for slices in self.slices.values() for event in slices)
        hold(count == run["instructions"], f"{count} instructions, not {run['instructions']}")


def main():
    trace = Trace(sys.argv[1])
    trace.check()
    if len(sys.argv) > 2:
        trace.check_against(json.load(open(sys.argv[2], encoding="utf-8"))["runs"][0])
    print("\n".join(faults[:20]), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
