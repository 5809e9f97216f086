#!/usr/bin/env python3
"""Holds the wheel of `./do wheel` to what users have of it: installed alone, elsewhere, it does what the sources do.

usage: check-wheel.py WHEEL

The wheel is installed into an empty folder, without a network; from there a kernel is traced, by the program
and by `python -m tally.nki`, and must give the bytes that the sources give.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNEL = [ROOT / "examples/nki/softmax.py", "softmax", "--arg", "x=f32[256,512]", "--arg", "blocks=i32[1,1]:2", "--quiet"]


def output(command, home, **variables):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **variables}
    done = subprocess.run([str(word) for word in command], cwd=home, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def main():
    wheel = Path(sys.argv[1]).resolve()
    version = re.search(r"^project\(tally VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)
    if wheel.name != f"tally-{version}-py3-none-any.whl":
        sys.exit(f"{wheel.name} is not of version {version}, which CMakeLists.txt names")
    with tempfile.TemporaryDirectory() as folder:
        home, packages = Path(folder), Path(folder) / "packages"
        python = "/usr/bin/python3"
        output([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check",
                "--root-user-action=ignore", "--target", packages, wheel], home)
        expected = output([python, ROOT / "python/tally-nki", *KERNEL], home)
        for command in ([python, "-m", "tally.nki"], [python, packages / "bin/tally-nki"]):
            found = output([*command, *KERNEL], home, PYTHONPATH=str(packages))
            if found != expected or '"tally-kernel"' not in found:
                sys.exit(f"{' '.join(map(str, command))} gives other bytes than the sources")
            told = output([*command, "--version"], home, PYTHONPATH=str(packages))
            if told != f"tally-nki {version}\n":
                sys.exit(f"{' '.join(map(str, command))} --version says {told!r}")


main()
