#!/usr/bin/env python3
"""Looks for types that are defined twice under one name.

Two headers of two libraries that define tally::Value are no error to compiler and linker, which
take either for both. Every type of a named namespace must be defined in one file.

  utils/check-definitions.py            in the sources beside this script
  utils/check-definitions.py FOLDER     in others
"""

import collections
import pathlib
import re
import sys

FOLDERS = ["include", "lib", "tools", "fuzz"]
TOKEN = re.compile(
    r"namespace\s*(?P<space>[\w:]*)\s*\{"
    r"|\b(?:struct|class|union|enum(?:\s+class)?)\s+(?P<type>[\w:]+)(?:\s+final)?\s*(?::[^;{()]*)?\{"
    r"|\{|\}"
)


def without_text(source):
    """The source less comments and literals, which may hold braces."""
    source = re.sub(r"//.*", "", source)
    return re.sub(r'"(\\.|[^"\\\n])*"|(?<!\w)\'(\\.|[^\'\\\n])+\'', '""', source)


def types_of(source):
    """The types that stand directly in namespaces with a name."""
    around = []  # names of namespaces; None: something else
    for token in TOKEN.finditer(without_text(source)):
        if token.group() == "}":
            if around:
                around.pop()
        elif token["space"] is not None:
            around.append(token["space"])
        else:
            name = token["type"]
            if name and "::" not in name and all(around):
                yield "::".join([*around, name])
            around.append(None)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    places = collections.defaultdict(set)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".cpp"}:
                for name in types_of(path.read_text()):
                    places[name].add(str(path.relative_to(root)))
    twice = {name: files for name, files in places.items() if len(files) > 1}
    for name, files in sorted(twice.items()):
        print(f"'{name}' is defined in {' and in '.join(sorted(files))}")
    return 1 if twice or not places else 0


if __name__ == "__main__":
    sys.exit(main())
