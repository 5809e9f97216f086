"""Each word of operations in these files has a text, and each name in them is declared.

usage: lsp-words.py FILE...
"""

import pathlib
import re
import sys

import lsp_client
from lsp_client import BEGIN, END, asked, opened, position

# Not clauses: what MLIR has for every operation, and parts of the clause before them.
OTHERS = {"attributes", "loc", "module", "line", "column"}
TOKEN = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|attributes \{[^}]*\}|loc\([^)]*\)|[A-Za-z_][\w.]*|->|>=')


def check(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    words = [found for found in TOKEN.finditer(text)
             if re.match(r"\w|->|>=", found[0]) and "{" not in found[0] and "(" not in found[0] and found[0] not in OTHERS]
    uri = "file:///words.mlir"
    given = BEGIN + opened(uri, text)
    for number, found in enumerate(words):
        given += asked(number, "hover", uri, position(text, found.start()))
    answers = {each["id"]: each.get("result") for each in lsp_client.talk(given + END) if "id" in each}
    for number, found in enumerate(words):
        before = text[:found.start()]
        if before.endswith("@"):
            continue
        assert answers[number], f"{path}:{position(text, found.start())[0] + 1}: nothing is said of {found[0]!r}"
        said = answers[number]["contents"]["value"]
        assert "not declared" not in said, said
    print(f"{path}: {len(words)} words")
    assert words


for file in sys.argv[1:]:
    check(file)
