"""Runs a program that is built with ThreadSanitizer until a race is reported, and prints after how many runs.

usage: races.py NUMBER-OF-RUNS PROGRAM [ARGUMENT]...
"""

import subprocess
import sys

most = int(sys.argv[1])
for number in range(1, most + 1):
    result = subprocess.run(sys.argv[2:], capture_output=True, text=True, timeout=250)
    if "WARNING: ThreadSanitizer: data race" in result.stderr:
        print(f"a race in run {number}")
        sys.exit(1)
    if result.returncode != 0:
        sys.exit(f"exit {result.returncode}: {result.stderr[-1000:]}")
print(f"no race in {most} runs")
