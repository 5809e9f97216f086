#!/usr/bin/env python3
"""Runs the tests of this folder, as many at a time as there are cores; writes 'PASSED FAILED' to a file.

usage: run.py [RESULTS]

TALLY names the program that is asked about what was traced; without it, the built one.
"""

import io
import multiprocessing
import os
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def cases_in(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases_in(test)
        else:
            yield test


def parts_of(suite):
    """What must stay together: the cases of a class that sets something up for all of them."""
    parts = {}
    for case in cases_in(suite):
        shared = "setUpClass" in vars(type(case))
        parts.setdefault(type(case) if shared else case.id(), unittest.TestSuite()).addTest(case)
    return sorted(parts.values(), key=lambda part: -part.countTestCases())


def run(part):
    """How many passed and failed, and what was printed of those."""
    text = io.StringIO()
    result = unittest.TextTestRunner(stream=text, verbosity=0).run(part)
    failed = len(result.failures) + len(result.errors)
    return max(0, result.testsRun - failed - len(result.skipped)), failed, text.getvalue() if failed else ""


def main():
    sys.path.insert(0, str(FOLDER.parent))
    sys.dont_write_bytecode = True
    parts = parts_of(unittest.defaultTestLoader.discover(str(FOLDER), top_level_dir=str(FOLDER.parent)))
    passed = failed = 0
    # Each in a process of its own: a test may change what Python holds for the whole process.
    with multiprocessing.get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        for more_passed, more_failed, text in pool.imap(run, parts, chunksize=1):
            passed += more_passed
            failed += more_failed
            print(text, end="", flush=True)
    print(f"{passed} passed, {failed} failed")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(f"{passed} {failed}\n", encoding="utf-8")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
