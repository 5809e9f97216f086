#!/usr/bin/env python3
"""Runs the tests of this folder; writes 'PASSED FAILED' to a file.

usage: run.py [RESULTS]

TALLY names the program that is asked about what was traced; without it, the built one.
"""

import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main():
    sys.path.insert(0, str(FOLDER.parent))
    sys.dont_write_bytecode = True
    tests = unittest.defaultTestLoader.discover(str(FOLDER), top_level_dir=str(FOLDER.parent))
    result = unittest.TextTestRunner(verbosity=1).run(tests)
    failed = len(result.failures) + len(result.errors)
    passed = result.testsRun - failed - len(result.skipped)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(f"{passed} {failed}\n", encoding="utf-8")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
