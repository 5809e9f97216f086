#!/usr/bin/env python3
"""Prints two listings in two columns, the same engine at the same height.

usage: side-by-side.py LEFT RIGHT

A part begins at each line that begins with `engine NAME`; what comes before the first is a part of
its own. Parts are paired by that name.
"""

import re
import sys
from itertools import zip_longest


def parts(path):
    """The lines of each part by its engine's name, in order; '' for those before the first."""
    found, name = {"": []}, ""
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            match = re.match(r"engine (\w[^:\s]*)", line)
            if match:
                name = match.group(1)
            found.setdefault(name, []).append(line)
    return found


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    left, right = parts(sys.argv[1]), parts(sys.argv[2])
    width = max((len(line) for lines in left.values() for line in lines), default=0)
    for name in dict.fromkeys([*left, *right]):
        for a, b in zip_longest(left.get(name, []), right.get(name, []), fillvalue=""):
            print(f"{a:<{width}}  |  {b}".rstrip())


if __name__ == "__main__":
    main()
