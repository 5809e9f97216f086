#!/usr/bin/env python3
"""Looks for types and functions that are defined twice under one name.

Two headers of two libraries that define tally::Value, or an inline tally::isSplit(const Queue &),
are not errors to compiler and linker, which take either for both; of a function in two libraries the
linker takes the first that it sees. Every type of a named namespace must be defined in one file,
and every function, templates too, but those that are static.

  utils/check-definitions.py            in the sources beside this script
  utils/check-definitions.py FOLDER     in others
"""

import collections
import pathlib
import re
import sys

FOLDERS = ["include", "lib", "tools", "fuzz", "oracle"]
TOKEN = re.compile(
    r"namespace\s*(?P<space>[\w:]*)\s*\{"
    r"|\b(?:struct|class|union|enum(?:\s+class)?)\s+(?P<type>[\w:]+)(?:\s+final)?\s*(?::[^;{()]*)?\{"
    r"|\{|\}"
)


def without_text(source):
    """The source less comments and literals, which may hold braces."""
    source = re.sub(r"//.*|=\s*\{\}", "", source)
    return re.sub(r'"(\\.|[^"\\\n])*"|(?<!\w)\'(\\.|[^\'\\\n])+\'', '""', source)


def type_only(parameter):
    """A parameter without its name and its default."""
    words = re.findall(r"[\w:]+|[^\w\s:]", parameter.split("=")[0])
    named = len(words) > 1 and re.match(r"\w+$", words[-1]) and words[-2] != "const"
    return " ".join(words[:-1] if named else words)


def function_in(text):
    """The function that this text in front of a brace begins, with its types; None: there is none."""
    head = re.search(r"(?P<before>.*?)(?P<name>\boperator\W+|[\w:]+)\s*\((?P<parameters>.*)\)[\w\s]*$",
                     text.rsplit(";", 1)[-1], re.DOTALL)
    if not head or "::" in head["name"] or re.search(r"\bstatic\b|=", head["before"]):
        return None
    parameters = re.split(r",(?![^<(]*[>)])", head["parameters"])
    return f"{head['name'].strip()}({', '.join(type_only(each) for each in parameters)})"


def definitions_in(source):
    """The types and functions that stand directly in namespaces with a name."""
    source = without_text(re.sub(r"^\s*#.*(\\\n.*)*", "", source, flags=re.MULTILINE))
    around = []  # names of namespaces; None: something else
    last = 0  # where the latest brace is
    for token in TOKEN.finditer(source):
        text = source[last : token.start()]
        last = token.end()
        if token.group() == "}":
            if around:
                around.pop()
        elif token["space"] is not None:
            around.append(token["space"])
        else:
            name = token["type"] or (around and function_in(text))
            if name and "::" not in name.split("(")[0] and all(around):
                yield "::".join([*around, name])
            around.append(None)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    places = collections.defaultdict(set)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".h", ".cpp"}:
                for name in definitions_in(path.read_text()):
                    places[name].add(str(path.relative_to(root)))
    twice = {name: files for name, files in places.items() if len(files) > 1}
    for name, files in sorted(twice.items()):
        print(f"'{name}' is defined in {' and in '.join(sorted(files))}")
    return 1 if twice or not places else 0


if __name__ == "__main__":
    sys.exit(main())
