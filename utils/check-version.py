#!/usr/bin/env python3
"""Compares every version number of the project with that of CMakeLists.txt, the one place that decides it.

usage: check-version.py [--write]

Programs get the number from CMake. What CMake does not build states it again: the Python package, the extension
for editors, and the page that shows it. --write puts it right there.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NUMBER = r"\d+\.\d+\.\d+"
DECIDES = ("CMakeLists.txt", rf"^project\(tally VERSION ({NUMBER}) ")
STATES = (
    ("python/tally/__init__.py", rf'^__version__ = "({NUMBER})"$'),
    ("editors/vscode/package.json", rf'^  "version": "({NUMBER})",$'),
    ("docs/guide/Shells.md", rf"^tally-lsp-server ({NUMBER}) \("),
)


def found(root, file, pattern):
    """The one place of a number in a file."""
    places = list(re.finditer(pattern, (root / file).read_text(encoding="utf-8"), re.M))
    if len(places) != 1:
        sys.exit(f"error: {file} has {len(places)} versions, expected 1")
    return places[0]


def differences(root):
    """Files with another version than the one that decides, and where it stands in them."""
    version = found(root, *DECIDES)[1]
    for file, pattern in STATES:
        place = found(root, file, pattern)
        if place[1] != version:
            yield file, place, version


def put_right(root, file, place, version):
    text = (root / file).read_text(encoding="utf-8")
    (root / file).write_text(text[:place.start(1)] + version + text[place.end(1):], encoding="utf-8")


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    status = 0
    for file, place, version in list(differences(ROOT)):
        if sys.argv[1:]:
            put_right(ROOT, file, place, version)
        else:
            print(f"error: {file} states version {place[1]}, and {DECIDES[0]} {version}; 'check-version.py --write' puts it right")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
