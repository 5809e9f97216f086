#!/usr/bin/env python3
"""Prints 'PASSED FAILED' for the result file of a test runner.

usage: count-results.py KIND FILE

KIND is `shards` (ctest --output-junit), `lit` (lit --output) or `counts` (a file that holds the two numbers). Of `shards`, a
test with a number, as Deps.3, leaves the results of its cases next to that file, as Deps.3.xml in the form of GoogleTest;
any other test is one case. Each failed case is shown on stderr. A skipped case counts as neither. A file that is
missing, broken or empty of cases is one failure: a runner that did not get far enough to say
anything must not look like success.
"""

import json
import sys
from pathlib import Path
import xml.etree.ElementTree as ElementTree

LIT_PASSED = {"PASS"}  # no test here may be flaky or expected to fail
LIT_SKIPPED = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}
SHOWN_LINES = 30


def show(name, output):
    """A failed case with the end of what it printed."""
    lines = (output or "").strip().splitlines()
    shown = lines[-SHOWN_LINES:]
    print(f"FAILED {name}", *(f"  {line}" for line in shown), sep="\n", file=sys.stderr)


def junit_state(case):
    """passed, skipped or failed. A case whose program was not built is `notrun` too: it failed."""
    reason = case.find("skipped")
    if case.get("status") == "disabled":
        return "skipped"
    if reason is not None and reason.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "passed" if case.get("status") == "run" else "failed"


def case_state(case):
    """The same for a case of GoogleTest."""
    if case.find("failure") is not None:
        return "failed"
    return "passed" if case.get("result") == "completed" else "skipped"


def count_cases(path, program):
    """The cases of one shard; none if it did not get to its end."""
    if not path.exists():
        return []
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    for case in cases:
        if case_state(case) == "failed":
            show(f"{program}.{case.get('classname')}.{case.get('name')}",
                 "\n".join(failure.text or "" for failure in case.iter("failure")))
    return [case_state(case) for case in cases]


def shard_states(shard, folder):
    """A shard that failed although none of its cases did, or that says nothing of them, is a failure itself."""
    name = shard.get("name")
    program, _, number = name.rpartition(".")
    states = count_cases(folder / f"{name}.xml", program) if number.isdigit() else [junit_state(shard)]
    if not states or (junit_state(shard) == "failed" and (not number.isdigit() or "failed" not in states)):
        show(name, shard.findtext("system-out"))
    if not states or (junit_state(shard) == "failed" and "failed" not in states):
        states = [*states, "failed"]
    return states


def count_shards(path):
    shards = ElementTree.parse(path).getroot().iter("testcase")
    states = [state for shard in shards for state in shard_states(shard, Path(path).parent)]
    return states.count("passed"), states.count("failed")


def lit_state(code):
    if code in LIT_PASSED:
        return "passed"
    return "skipped" if code in LIT_SKIPPED else "failed"


def count_lit(path):
    with open(path, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    states = [lit_state(test["code"]) for test in tests]
    for test, state in zip(tests, states):
        if state == "failed":
            show(test["name"], test.get("output"))
    return states.count("passed"), states.count("failed")


def count_counts(path):
    with open(path, encoding="utf-8") as file:
        passed, failed = file.read().split()
    return int(passed), int(failed)


KINDS = {"shards": count_shards, "lit": count_lit, "counts": count_counts}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    try:
        passed, failed = KINDS[sys.argv[1]](sys.argv[2])
    except (OSError, ValueError, KeyError, TypeError, ElementTree.ParseError) as error:
        print(f"error: no results: {error}", file=sys.stderr)
        passed, failed = 0, 1
    if passed + failed == 0:
        print(f"error: no test ran, by '{sys.argv[2]}'", file=sys.stderr)
        failed = 1
    print(passed, failed)


if __name__ == "__main__":
    main()
