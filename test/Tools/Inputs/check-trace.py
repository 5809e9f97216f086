"""Compares a trace with its documented format, docs/guide/simulator/Traces.md, and with its run.

usage: check-trace.py TRACE.json [RUN.json]

TRACE.json  what `tally sim --trace` wrote
RUN.json    what `tally sim --format=json` said of the same run

What a trace must hold follows from the trace itself: each wait that ends has an arrow, and each arrow a counter
that was raised while it lasted. What RUN.json says of conditions, engines, queues and waits must stand in the trace, too.
"""

import json
import re
import sys
from bisect import bisect_left
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
OTHER = {"schema", "version", "kernel", "strategy", "machine", "outcome", "total_ps", "events", "complete",
         "trips", "trips_not_given", "seed", "command"}
MAY_BE_OTHER = {"strategy_not_given", "machine_not_given", "guards", "guards_given"}
SAME_IN_RUN = ("kernel", "strategy", "strategy_not_given", "machine", "machine_not_given", "outcome", "total_ps",
               "trips", "trips_not_given", "guards", "guards_given", "seed")
STALLS = re.compile(r"waits for .+|queue full|drains")
TIME = re.compile(r'"(ts|dur)":(?!\d+\.\d{6}[,}])')
WAITS = "waits for "
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
        if faults:
            return
        for event in self.events:
            self.check_event(event)
        self.check_slices()
        self.check_arrows()
        self.check_counters()
        if self.run["complete"]:
            self.check_every_wait()
            self.check_every_raise()

    def check_run(self):
        missing, unknown = sorted(OTHER - set(self.run)), sorted(set(self.run) - OTHER - MAY_BE_OTHER)
        hold(not missing and not unknown, f"otherData is without {missing}, or has {unknown}")
        if missing:
            return
        hold((self.run["schema"], self.run["version"]) == ("tally-trace", 1), "schema and version")
        hold(("guards" in self.run) == ("guards_given" in self.run), "'guards' without 'guards_given', or the other way round")
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
        hold(self.run["outcome"] != "finished" or event["ts"] + event["dur"] <= self.run["total_ps"], f"after the end: {event}")
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

    def check_every_wait(self):
        """Each wait ends by an arrow of its semaphore, except those that last to the end of a run that does not finish."""
        ends = {(last["pid"], last["ts"], last["name"]) for last in (arrow.get("f") for arrow in self.arrows.values()) if last}
        for (pid, _), slices in self.slices.items():
            for event in slices:
                end = event["ts"] + event["dur"]
                endless = self.run["outcome"] != "finished" and end == self.run["total_ps"]
                if event["cat"] == "stall" and event["name"].startswith(WAITS) and not endless:
                    hold((pid, end, event["name"].removeprefix(WAITS)) in ends, f"no arrow ends {event}")

    def check_every_raise(self):
        """The counter of its semaphore is raised while an arrow lasts."""
        times = {name: [event["ts"] for event in values if event["args"]["value"]] for name, values in self.counters.items()}
        for number, arrow in self.arrows.items():
            if set(arrow) == {"s", "f"}:
                known = times.get(arrow["f"]["name"], [])
                after = bisect_left(known, arrow["s"]["ts"])
                hold(after < len(known) and known[after] <= arrow["f"]["ts"], f"no counter is raised during arrow {number}")

    def check_against(self, document):
        """Conditions, and sums of slices, are those that the run states."""
        run = document["runs"][0]
        for key in SAME_IN_RUN:
            hold(self.run.get(key) == run.get(key), f"'{key}' is {self.run.get(key)}, not {run.get(key)}")
        hold(self.run.get("command") == document["command"], f"'command' is {self.run.get('command')}")
        self.pid_of = {name: pid for pid, name in self.engines.items()}
        hold(set(self.pid_of) == {row["engine"] for row in run["engines"]} | {"semaphores"}, f"processes are {sorted(self.pid_of)}")
        for row in run["engines"]:
            self.check_engine(row)
        self.check_queues(run)
        for row in run["waits"]:
            self.check_wait(row)

    def total(self, engine, category, name="", op=None):
        return sum(event["dur"] for event in self.slices[self.pid_of.get(engine), SEQUENCER]
                   if event["cat"] == category and event["name"].startswith(name) and op in (None, event["args"]["op"]))

    def check_engine(self, row):
        for key, category, name in (("control_ps", "control", ""), ("waiting_ps", "stall", WAITS),
                                    ("queue_full_ps", "stall", "queue full"), ("draining_ps", "stall", "drains")):
            found = self.total(row["engine"], category, name)
            hold(found == row[key], f"{key} of '{row['engine']}': {found}, not {row[key]}")

    def check_queues(self, run):
        """A queue is a thread of an engine."""
        threads = {name.removeprefix("queue "): thread for thread, name in self.threads.items() if thread[1] != SEQUENCER}
        hold(set(threads) >= {row["queue"] for row in run["queues"]}, f"queues are {sorted(threads)}")
        for row in run["queues"]:
            slices = self.slices[threads.get(row["queue"])]
            found = len(slices), sum(event["dur"] for event in slices)
            hold(found == (row["instructions"], row["occupied_ps"]), f"queue '{row['queue']}' has {found}")

    def check_wait(self, row):
        """What one operation waits, and the dependences that it waits for."""
        found = self.total(row["engine"], "stall", WAITS, row["operation"])
        hold(found == row["waiting_ps"], f"operation {row['operation']} of '{row['engine']}' waits {found}, not {row['waiting_ps']}")
        for event in self.slices[self.pid_of.get(row["engine"]), SEQUENCER]:
            if event["cat"] == "stall" and event["name"].startswith(WAITS) and event["args"]["op"] == row["operation"]:
                hold(event["name"] == WAITS + row["semaphore"], f"another semaphore than '{row['semaphore']}': {event}")
                hold(event["args"].get("dependences") == row["dependences"], f"other dependences than {row['dependences']}: {event}")


def main():
    trace = Trace(sys.argv[1])
    trace.check()
    if len(sys.argv) > 2 and not faults:
        trace.check_against(json.load(open(sys.argv[2], encoding="utf-8")))
    print("\n".join(faults[:20]), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
