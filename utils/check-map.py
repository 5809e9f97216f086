#!/usr/bin/env python3
"""Compares docs/internals/Architecture.md and CONTRIBUTING.md with the sources.

Each row of the map names a library and the libraries that its files may include. It is an error
when a folder has no row, a row no folder, an include is not in the map, or the map allows an
include that no file has. An arrow against the order of the rows is an error as well: so there
are no circles.

A header in include/tally that no code outside of its library includes belongs next to its sources; unit tests do not
count. A header that only its own library includes has the namespace of that library (tally::deps), which no other library has: so two
libraries may have a type of one name. And the files that the lists of CONTRIBUTING.md and the table of
thresholds name are there.

usage: check-map.py
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAP = ROOT / "docs/internals/Architecture.md"
LISTS = ROOT / "CONTRIBUTING.md"
OUTSIDE = ("bench", "examples", "fuzz", "oracle", "tools")  # who uses public headers besides the libraries


def documented():
    """Library -> the set that it may include, in the order of the map."""
    rows = {}
    for line in MAP.read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| \[(\w+)\]\(\.\./\.\./lib/\1/README\.md\) \|.*\| ([\w, -]+) \|$", line)
        if row:
            rows[row.group(1)] = set(re.findall(r"\w+", row.group(2)))
    return rows


def included():
    """Library -> library -> a file that includes it."""
    arrows = defaultdict(dict)
    for folder in [*(ROOT / "lib").iterdir(), *(ROOT / "include/tally").iterdir()]:
        for file in sorted([*folder.glob("*.cpp"), *folder.glob("*.h"), *folder.glob("*.td")]):
            for name in re.findall(r'#include "(?:tally|\.\.)/(\w+)/', file.read_text(encoding="utf-8")):
                if name != folder.name:
                    arrows[folder.name].setdefault(name, file.relative_to(ROOT))
    return arrows


def differences(rows, arrows, folders):
    order = list(rows)
    for name in sorted(folders - set(rows)):
        yield f"lib/{name} has no row in the map"
    for name in sorted(set(rows) - folders):
        yield f"the map has a row for {name}, but there is no lib/{name}"
    for name, allowed in rows.items():
        found = arrows.get(name, {})
        for other in sorted(set(found) - allowed):
            yield f"{found[other]} includes {other}, which the map does not allow {name}"
        for other in sorted(allowed - set(found)):
            yield f"the map allows {name} to include {other}, but no file of {name} does"
        for other in sorted(allowed & set(rows)):
            if order.index(other) > order.index(name):
                yield f"{name} includes {other}, which stands below it in the map"


def including():
    """Public header -> the files that include it."""
    files = defaultdict(set)
    for folder in ("include", "lib", *OUTSIDE):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".cpp", ".h", ".td"):
                for name in re.findall(r'#include ["<](tally/\w+/\w+\.h)[">]', file.read_text(encoding="utf-8")):
                    files[name].add(file.relative_to(ROOT))
    return files


def private_headers():
    """Headers in include/ that neither another folder nor a public header needs."""
    files = including()
    for header in sorted((ROOT / "include/tally").rglob("*.h")):
        path = header.relative_to(ROOT)
        own = ROOT / "lib" / header.parent.name
        users = files[str(path.relative_to("include"))]
        if all((ROOT / user).parent == own for user in users):
            yield f"no file outside of lib/{own.name} includes {path}; it belongs next to its sources"


def namespaces():
    """Libraries whose private headers are in tally itself, or in a namespace of another library."""
    owners = {}
    for folder in sorted((ROOT / "lib").iterdir()):
        shared = shared_headers(folder)
        for header in sorted(set(folder.glob("*.h")) - shared):
            names = re.findall(r"^namespace tally(?:::(\w+))?[\w:]* \{", header.read_text(encoding="utf-8"), re.MULTILINE)
            for name in names:
                owner = owners.setdefault(name, folder.name) if name else None
                if owner != folder.name:
                    yield f"{header.relative_to(ROOT)} is private, but in {f'tally::{name}, as headers of {owner}' if name else 'tally'}"


def shared_headers(folder):
    """Those next to the sources of a library that another library includes."""
    found = set()
    for file in (ROOT / "lib").rglob("*.*"):
        if file.parent != folder and file.suffix in (".cpp", ".h"):
            names = re.findall(rf'#include "\.\./{folder.name}/(\w+\.h)"', file.read_text(encoding="utf-8"))
            found.update(folder / name for name in names)
    return found


def missing_files():
    """Paths like `lib/Sync/Forms.cpp` in the lists and on the map; `Semantics.v` stands next to the one before it."""
    for document in (LISTS, MAP):
        for path in re.findall(r"`([\w.-]+/[\w./-]+\.\w+)`", document.read_text(encoding="utf-8")):
            if not (ROOT / path).exists() and not path.startswith("Check/"):
                yield f"{document.name} names '{path}', which is not there"


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    folders = {each.name for each in (ROOT / "lib").iterdir() if each.is_dir()}
    problems = [*differences(documented(), included(), folders), *private_headers(), *namespaces(), *missing_files()]
    for problem in problems:
        print(f"error: {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
