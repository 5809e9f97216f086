"""Checks that the help of ./do names each of its verbs, and no other.

usage: verbs.py DO
"""

import re
import subprocess
import sys
from pathlib import Path

program = sys.argv[1]
told = set(re.findall(r"^  (\w+) ", subprocess.run([program, "help"], check=True, capture_output=True, text=True).stdout, re.M))
known = set(re.findall(r"^verb_(\w+)\(\)", Path(program).read_text(encoding="utf-8"), re.M))
if told != known:
    sys.exit(f"the help has {sorted(told ^ known)}, or does not")
