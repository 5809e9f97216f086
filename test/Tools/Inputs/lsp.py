"""Opens a file in tally-lsp-server, and prints what it answers to questions.

usage: lsp.py FILE [QUESTION...]

A question is `hover:TEXT`, `definition:TEXT`, `references:TEXT`, `completion:TEXT`, or `symbols`. The cursor stands where `^` is in TEXT;
the text without it is looked for in the file, outside of lines that are comments. Places are printed as LINE:COLUMN, from 1, with the text that stands
there. Diagnostics come first. `change:OLD=>NEW` changes the text before the questions that follow.
"""

import pathlib
import re
import sys

import lsp_client

URI = "file:///k.mlir"
SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}


class Text:
    def __init__(self, text):
        self.text = text
        self.lines = text.split("\n")
        self.plain = re.sub(r"(?m)^//[^\n]*", lambda found: " " * len(found[0]), text)

    def cursor(self, marked):
        at = self.plain.find(marked.replace("^", ""))
        assert at >= 0, f"not in the text: {marked}"
        return lsp_client.position(self.text, at + marked.index("^"))

    def place(self, span):
        def offset(where):
            line = self.lines[where["line"]].encode("utf-16-le")
            return len(line[:2 * where["character"]].decode("utf-16-le"))
        start, end = offset(span["start"]), offset(span["end"])
        line, last = span["start"]["line"], span["end"]["line"]
        shown = self.lines[line][start:end] if line == last else self.lines[line][start:] + " ..."
        return f"{line + 1}:{start + 1} [{shown}]"


def show_symbols(text, symbols, indent):
    for symbol in symbols:
        print(f"{indent}{symbol['detail']} {symbol['name']} {text.place(symbol['selectionRange'])}")
        show_symbols(text, symbol.get("children", []), indent + "  ")


def show(text, question, answer):
    print(f"--- {question}")
    kind = question.split(":")[0]
    result = answer["result"]
    if not result:
        print("nothing")
    elif kind == "hover":
        print(text.place(result["range"]))
        print(result["contents"]["value"])
    elif kind == "completion":
        print(" ".join(item["label"] for item in result["items"]) or "nothing")
        print("takes the place of",
              sorted({text.place(item["textEdit"]["range"]) for item in result["items"]}))
    elif kind == "symbols":
        show_symbols(text, result, "")
    else:
        for place in result:
            print(text.place(place["range"]))


def show_diagnostics(text, params):
    print(f"--- diagnostics of version {params['version']}")
    for each in params["diagnostics"]:
        print(f"{text.place(each['range'])} {each['source']} {SEVERITIES[each['severity']]}: "
              f"{each['message']}")
        for note in each.get("relatedInformation", []):
            print(f"  {text.place(note['location']['range'])} note: {note['message']}")


def main():
    texts = [Text(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))]
    given = lsp_client.BEGIN + lsp_client.opened(URI, texts[0].text)
    questions = []
    for number, question in enumerate(sys.argv[2:]):
        kind, _, marked = question.partition(":")
        text = texts[-1]
        if kind == "change":
            old, new = marked.split("=>")
            assert old in text.text, f"not in the text: {old}"
            at = text.text.index(old, text.text.index("\ntally.kernel"))
            texts.append(Text(text.text[:at] + new + text.text[at + len(old):]))
            given += lsp_client.changed(URI, texts[-1].text, len(texts))
            given += lsp_client.asked(f"after {len(texts)}", "hover", URI, (0, 0))  # which examines it
            continue
        method = "documentSymbol" if kind == "symbols" else kind
        cursor = text.cursor(marked) if marked else None
        more = {"context": {"includeDeclaration": True}} if kind == "references" else {}
        given += lsp_client.asked(number, method, URI, cursor, **more)
        questions.append((number, question, text))
    found = lsp_client.talk(given + lsp_client.END)
    for each in found:
        if each.get("method") == "textDocument/publishDiagnostics":
            show_diagnostics(texts[each["params"]["version"] - 1], each["params"])
    answers = {each["id"]: each for each in found if "id" in each}
    for number, question, text in questions:
        show(text, question, answers[number])


main()
