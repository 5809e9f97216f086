#!/usr/bin/env python3
"""Checks the language of the project's texts: plain words, direct sentences, at most 40 words each.

usage: prose.py [--area AREA]... [--count] [FILE...]

  docs      every Markdown file
  help      what programs print: string literals in tools/, and the help of ./do
  messages  what libraries and the checker print: string literals in lib/, include/ and proof/extraction/
  headers   the comment that opens a source file or Python program, and all comments of public headers;
            of lines in columns, and of quoted messages, the words alone

With files, only these are read. --count prints how many findings each rule has in each area.

Rules:
  word        a pattern of utils/prose.txt, which also says what to write instead
  long        a sentence of more than 40 words; `code` counts as one word, table cells and list items stand alone
  inverted    a condition that begins with its verb: "Are there more, ..." instead of "If there are more, ..."
  verb-first  a sentence that begins with a participle and its verb: "Tried are ..."

Prints every finding as 'FILE:LINE:COLUMN: error: ...' with its line; the exit status is 1 if there is one.
"""

import argparse
import functools
import os
import re
import sys
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "utils/prose.txt"
MOST_WORDS = 40
EXTRACTED = Path("proof/extraction/certifier.ml")  # Coq writes it

CODE = "\x01"  # stands for each character of `code`, so that places stay where they are
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|vs|cf)\.$", re.I)
SENTENCE_END = re.compile(r"[.!?][\"')\]*_]*(?= |$)")
AUXILIARY = r"(?:is|are|was|were|has|have|had|does|do|did|can|could|should|would|will|may|might|must)"
SUBJECT = r"(?:there|the|an?|it|they|this|that|these|those|its|no|one|two|all|both|neither|any|such|\x01|[A-Z])"
INVERTED = re.compile(rf"(?:^|[;:] )(?!Have an? )(?i:{AUXILIARY}) {SUBJECT}(?![a-z])[^;:?]*?, ")
PARTICIPLE = r"(?:\w+ed|kept|said|left|held|shown|known|given|found|seen|made|written|meant)"
VERB_FIRST = re.compile(rf"(?:^|[;:] ){PARTICIPLE} (?:is|are|was|were|has|have)\b", re.I)


@dataclass(frozen=True)
class Finding:
    area: str
    rule: str
    place: int  # in the text of its file
    message: str


@dataclass(frozen=True)
class WordRule:
    pattern: re.Pattern
    instead: str
    example: str  # of a text that breaks it


class Prose:
    """A stretch of text in one piece, as a paragraph: white space is one blank, and each character has its place.

    What is drawn in columns has words, but no sentences.
    """

    def __init__(self, text, places, is_drawn=False):
        self.text = ""
        self.places = []
        self.is_drawn = is_drawn
        for letter, place in zip(text, places):
            if letter.isspace():
                letter = " "
            if letter != " " or (self.text and self.text[-1] != " "):
                self.text += letter
                self.places.append(place)


# ---- Markdown -----------------------------------------------------------------------------


def masked(match):
    return CODE * len(match[0])


def blanked(match):
    return re.sub(r"[^\n]", " ", match[0])


def markdown(text):
    """Paragraphs, headings, list items and table cells, without fenced blocks, `code` and addresses."""
    text = re.sub(r"^( *)```.*?^ *```", blanked, text, flags=re.S | re.M)
    text = re.sub(r"(?<=\n\n)(?: {4,}.*\n)+", blanked, text)
    text = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", masked, text, flags=re.S)
    text = re.sub(r"(?<=\])\([^)\s]*\)|<[^>\n]*>|https?://\S+", lambda m: " " * len(m[0]), text)
    text = re.sub(r"!?\[|\]", lambda m: " " * len(m[0]), text)
    piece = []
    for match in re.finditer(r".*\n?", text):
        line, start = match[0], match.start()
        content = line.strip()
        if line.lstrip().startswith("|"):
            yield from whole(piece)
            piece = []
            for cell in re.finditer(r"[^|\n]+", line):
                yield from whole([(cell[0], start + cell.start())])
            continue
        if not content or re.match(r"\s*(?:[-*] |\d+\. |#)", line):
            yield from whole(piece)
            piece = []
        if content:
            marker = re.match(r"\s*(?:[-*] |\d+\. |#+ )?", line).end()
            piece.append((line[marker:], start + marker))
        if line.startswith("#"):
            yield from whole(piece)
            piece = []
    yield from whole(piece)


def whole(lines):
    prose = Prose("".join(line for line, _ in lines),
                  [start + i for line, start in lines for i in range(len(line))])
    if prose.text.strip(" -:"):
        yield prose


# ---- C++ ----------------------------------------------------------------------------------

TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)'
    r'|(?P<raw>R"(?P<tag>\w*)\(.*?\)(?P=tag)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|'(?:\\.|[^'\\\n])+'"
    r'|(?P<space>\s+)|(?P<include>\#\s*include[^\n]*)|(?P<other>.)', re.S)


def literals(text):
    """String literals; those side by side are one. Lines of raw ones that are indented are examples."""
    piece = []
    for token in TOKEN.finditer(text):
        if token["string"]:
            piece.append((token["string"][1:-1], token.start() + 1))
        elif token["raw"]:
            start = token.start() + len(token["tag"]) + 3
            for paragraph in re.finditer(r"(?:^(?! ).+\n?)+", text[start:token.end() - len(token["tag"]) - 2], re.M):
                yield from whole([(paragraph[0], start + paragraph.start())])
        elif piece and not token["space"] and not token["comment"]:
            yield from spoken(piece)
            piece = []
    yield from spoken(piece)


def spoken(piece):
    """What a message says: a key or a pattern of another kind has no three words, next to one another or to a name."""
    piece = [(re.sub(r"\\.|\{[^{}]*\}|'[^' ]*'|</?[a-z][^<>]*>", masked_or_blank, line), start) for line, start in piece]
    word = rf"(?:[A-Za-z]+|{CODE}+)[,:;]?"
    text = " ".join(line for line, _ in piece)
    if re.search(rf"(?:{word} ){{2,}}{word}", text) and len(re.findall(r"[A-Za-z]{2,}", text)) >= 3:
        yield from whole(piece)


def masked_or_blank(match):
    if match[0].startswith("<"):  # an element of HTML ends a sentence
        return "." + " " * (len(match[0]) - 1)
    return ("  " if match[0].startswith("\\") else masked(match))


OCAML = re.compile(r'\(\*.*?\*\)|"(?P<string>(?:\\.|[^"\\])*)"|\'(?:\\.|[^\'\\])\'', re.S)


def ocaml_literals(text):
    """String literals, line by line: a long one is a help text, in which columns leave no sentences."""
    for token in OCAML.finditer(text):
        if token["string"]:
            for line in re.finditer(r".+", token["string"]):
                yield from spoken([(line[0], token.start("string") + line.start())])


def masked_unless_spoken(match):
    """Code, but not a message that is quoted: four words of it stand next to one another."""
    return match[0] if re.search(r"(?:\b[a-z]+ ){3}[a-z]", match[0]) else masked(match)


def docstring(text):
    """The text that opens a Python program; its indented lines are commands and pictures."""
    match = re.match(r'(?:#[^\n]*\n)*"""(.*?)"""', text, re.S)
    for paragraph in re.finditer(r"(?:^(?![ \t]).+\n?)+", match[1] if match else "", re.M):
        masks = re.sub(r"`[^`\n]*`|'[^'\n ]*'", masked, paragraph[0])
        yield from whole([(masks, match.start(1) + paragraph.start())])


def help_of_script(text):
    """Lines of the help text of a shell script, in which columns leave no sentences to count."""
    for block in re.finditer(r"<<'HELP'\n(.*?)^HELP$", text, re.S | re.M):
        for line in re.finditer(r".+", block[1]):
            yield from whole([(line[0], block.start(1) + line.start())])


def header_comments(text, every):
    """Paragraphs of the comment that opens a file, or of every comment; indented lines are drawn."""
    for block in re.finditer(r"(?:^[ \t]*//[^\n]*\n)+|[ \t]*///<[^\n]*\n(?:[ \t]*///<[^\n]*\n)*", text, re.M):
        piece = []
        for line in re.finditer(r"[^\n]*\n", block[0]):
            match = re.match(r"\s*//[/!]?<? ?", line[0])
            content, start = line[0][match.end():], block.start() + line.start() + match.end()
            title = re.match(r"===-+ ?(.*?)[-=/]*\n", content)
            if title:
                content, start = title[1] + "\n", start + title.start(1)
            content = re.sub(r"`[^`\n]*`|'[^'\n ]*'|\"[^\"\n ]*\"", masked_unless_spoken, content)
            drawn = re.match(r" {2,}", content) or "  " in content.strip()
            if not content.strip() or drawn or re.match(r"(?:[-*] |\w{1,3}[.)] )", content):
                yield from whole(piece)
                piece = []
            if content.strip() and drawn:
                yield Prose(content, range(start, start + len(content)), is_drawn=True)
            elif content.strip():
                piece.append((content, start))
        yield from whole(piece)
        if not every:
            return


# ---- Rules --------------------------------------------------------------------------------


def word_rules(text):
    rules = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, instead, example = (part.strip() for part in line.split("=>"))
            rules.append(WordRule(re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.I), instead, example))
    return tuple(rules)


@functools.cache
def any_of(rules):
    return re.compile("|".join(rule.pattern.pattern for rule in rules), re.I)


def sentences(text):
    start = 0
    for end in SENTENCE_END.finditer(text):
        if not ABBREVIATION.search(text[:end.start() + 1]):
            yield start, text[start:end.end()]
            start = end.end() + 1
    if text[start:].strip():
        yield start, text[start:]


def count_words(sentence):
    return sum(any(letter.isalnum() or letter == CODE for letter in word) for word in sentence.split())


def findings(area, prose, rules):
    for rule in rules if any_of(rules).search(prose.text) else ():
        for match in rule.pattern.finditer(prose.text):
            yield Finding(area, "word", prose.places[match.start()], f"'{match[0]}': {rule.instead}")
    for start, sentence in () if prose.is_drawn else sentences(prose.text):
        number = count_words(sentence)
        if number > MOST_WORDS:
            yield Finding(area, "long", prose.places[start],
                          f"a sentence of {number} words; {MOST_WORDS} are allowed: make it two, or leave words out")
        match = INVERTED.search(sentence)
        if match and not sentence.rstrip("\"')*_ ").endswith("?"):
            yield Finding(area, "inverted", prose.places[start + match.start()],
                          "a condition begins with its verb; begin it with 'if' or 'where'")
        match = VERB_FIRST.search(sentence)
        if match:
            yield Finding(area, "verb-first", prose.places[start + match.start()],
                          "a sentence begins with its verb; begin with the subject")


# ---- Areas --------------------------------------------------------------------------------


def pieces(area, path, text):
    """The stretches of prose that a file has for an area."""
    top, suffix = path.parts[0], path.suffix
    source = suffix in (".cpp", ".h")
    if area == "docs" and suffix == ".md":
        return markdown(text)
    if area == "help" and source and top == "tools" or area == "messages" and source and top in ("lib", "include"):
        return literals(text)
    if area == "messages" and suffix == ".ml" and path.parts[:2] == EXTRACTED.parts[:2] and path != EXTRACTED:
        return ocaml_literals(text)
    if area == "help" and str(path) == "do":
        return help_of_script(text)
    if area == "headers" and source:
        return header_comments(text, top == "include")
    if area == "headers" and suffix == ".py":
        return docstring(text)
    return ()


AREAS = ("docs", "help", "messages", "headers")


def check(area, path, text, rules):
    return [finding for prose in pieces(area, path, text) for finding in findings(area, prose, rules)]


def show(path, text, finding, lines):
    line = bisect_right(lines, finding.place) - 1
    column = finding.place - lines[line]
    print(f"{path}:{line + 1}:{column + 1}: error: {finding.message}")
    print(text[lines[line]:].split("\n", 1)[0])
    print(" " * column + "^")


def texts():
    """Every file that may hold prose, without what is built."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "build", "__")))
        for name in sorted(names):
            if name.endswith((".md", ".cpp", ".h", ".ml", ".py")) or name == "do":
                yield Path(folder, name).relative_to(ROOT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--area", action="append", choices=AREAS)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    rules = word_rules(WORDS.read_text(encoding="utf-8"))
    counts = Counter()
    for path in [Path(name).resolve().relative_to(ROOT) for name in options.files] or texts():
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        lines = [0] + [match.end() for match in re.finditer("\n", text)]
        for area in options.area or AREAS:
            found = sorted(check(area, path, text, rules), key=lambda finding: finding.place)
            for finding in found:
                counts[area, finding.rule] += 1
                if not options.count:
                    show(path, text, finding, lines)
    for (area, rule), number in sorted(counts.items() if options.count else ()):
        print(f"{area:9} {rule:11} {number:5}")
    print(f"{sum(counts.values())} findings", file=sys.stderr)
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
