#!/usr/bin/env python3
"""Checks the language of the project's texts: plain words, direct sentences, at most 40 words each.

usage: prose.py [--area AREA]... [--count] [FILE...]

  docs      every Markdown file
  help      what programs print: string literals in tools/ and of Python programs, the help and the messages of ./do
  messages  what libraries, the checker, pages and the editor print: string literals in lib/, include/, proof/extraction/
            and scripts, and descriptions in files of machines and of the editor
  headers   the comment that opens a source file, all comments of headers, scripts and ./do, descriptions of operations, and
            texts that open a Python module, class or function; of lines in columns, and of quoted messages, the words alone

With files, only these are read. --count prints how many findings each rule has in each area.

Rules:
  word        a pattern of utils/prose.txt, which also says what to write instead
  long        a sentence of more than 40 words; `code` counts as one word, table cells and list items stand alone
  inverted    a condition that begins with its verb: "Are there more, ..." instead of "If there are more, ..."
  verb-first  a sentence that begins with a participle and its verb: "Tried are ..."

Prints every finding as 'FILE:LINE:COLUMN: error: ...' with its line; the exit status is 1 if there is one.
"""

import argparse
import ast
import functools
import io
import os
import re
import sys
import tokenize
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "utils/prose.txt"
MOST_WORDS = 40
EXTRACTED = Path("proof/extraction/certifier.ml")  # Coq writes it
EXAMPLES = Path("utils/test-prose.py")  # its strings are texts that break the rules

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


# ---- Python -------------------------------------------------------------------------------


def line_starts(text):
    return [0] + [match.end() for match in re.finditer("\n", text)]


def strings_of_python(text):
    """(start, end) of each string, and None between two that do not stand side by side."""
    starts = line_starts(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            yield None


def parsed(text):
    try:
        return ast.parse(text)
    except SyntaxError:  # what a test of wrong input reads
        return ast.Module([], [])


def opening_texts(text):
    """Where the strings begin that open a module, a class or a function."""
    starts = line_starts(text)
    for node in ast.walk(parsed(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node, clean=False):
            yield starts[node.body[0].lineno - 1] + node.body[0].col_offset


def inside(text, start, end):
    """The content of a string, and its place."""
    quote = re.match(r'(?i)[rbfu]*("""|\'\'\'|"|\')', text[start:end])
    return text[start + quote.end():end - len(quote[1])], start + quote.end()


def docstrings(text):
    """Paragraphs of the texts that open a module, a class or a function; lines that are indented further are commands and pictures."""
    opening = set(opening_texts(text))
    for place in strings_of_python(text) if opening else ():
        if place and place[0] in opening:
            yield from paragraphs(*inside(text, *place), re.match(r"[ \t]*", text[text.rfind("\n", 0, place[0]) + 1:])[0])


def paragraphs(content, start, indent):
    """Lines of this indent that follow one another."""
    for match in re.finditer(rf"(?:^(?:{indent})?(?![ \t\n]).+\n?)+", content, re.M):
        masks = re.sub(r"`[^`\n]*`|'[^'\n ]*'|\"[^\"\n ]*\"", masked, match[0])
        yield from whole([(masks, start + match.start())])


def without_values(content):
    """A string without the values that are put in, which may have braces themselves."""
    before = None
    while content != before:
        before, content = content, re.sub(r"\{[^{}]*\}", masked, content)
    return content


def python_literals(text):
    """What a Python program says; strings side by side are one. Those of several lines are pages or scripts, and left alone."""
    opening, piece = set(opening_texts(text)), []
    for place in strings_of_python(text) if parsed(text).body else ():
        if place and place[0] not in opening and not re.match(r'(?i)[rbfu]*("""|\'\'\')', text[place[0]:]):
            content, start = inside(text, *place)
            piece.append((without_values(content), start))
        elif piece:
            yield from spoken(piece)
            piece = []


# ---- Scripts, descriptions ----------------------------------------------------------------


def help_of_script(text):
    """Lines of the help text of a shell script, in which columns leave no sentences to count."""
    for block in re.finditer(r"<<'HELP'\n(.*?)^HELP$", text, re.S | re.M):
        for line in re.finditer(r".+", block[1]):
            yield from whole([(line[0], block.start(1) + line.start())])


def messages_of_script(text):
    """What a shell script says while it runs, and why it ends."""
    for match in re.finditer(r'\b(?:say|die) "((?:\\.|[^"\\])*)"', text):
        yield from whole([(re.sub(r"\$\([^)]*\)|\$\{[^}]*\}|\$\w+|'[^']*'", masked, match[1]), match.start(1))])


def shell_comments(text):
    """Comments of a shell script, as those of C++."""
    yield from header_comments(re.sub(r"^([ \t]*)#(?!!) ?", lambda m: (m[1] + "//").ljust(len(m[0]))[-len(m[0]):], text, flags=re.M), True)


SCRIPT_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?P<string>(?:\\.|[^"\\\n])*)"|`(?P<template>(?:\\.|[^`\\])*)`', re.S)


def script_literals(text):
    """String and template literals of JavaScript."""
    for token in SCRIPT_TOKEN.finditer(text):
        for kind in ("string", "template"):
            if token[kind]:
                yield from spoken([(re.sub(r"\$\{[^{}]*\}", masked, token[kind]), token.start(kind))])


DESCRIBING = re.compile(r'"(?:description|source|summary|note|title|detail|markdownDescription)": "((?:\\.|[^"\\])*)"')


def described(text):
    """Descriptions in JSON."""
    for match in DESCRIBING.finditer(text):
        yield from whole([(re.sub(r"'[^']*'", masked, match[1]), match.start(1))])


def operation_descriptions(text):
    """Summaries and descriptions of operations, without their examples."""
    for match in re.finditer(r"let description = \[\{(.*?)\}\]", text, re.S):
        content = re.sub(r"^( *)```.*?^ *```", blanked, match[1], flags=re.S | re.M)
        indent = re.search(r"^( *)\S", content, re.M)
        yield from paragraphs(content, match.start(1), indent[1] if indent else "")
    yield from literals(text)


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
    return [prose for condition, reader in READERS[area] if condition(path) for prose in reader(text)]


def is_in(*tops):
    return lambda path: path.suffix in (".cpp", ".h") and path.parts[0] in tops


def ends(*suffixes):
    return lambda path: path.suffix in suffixes


def is_python(path):
    return path.suffix == ".py" and path != EXAMPLES


def is_script(path):
    return str(path) == "do"


def is_own_ocaml(path):
    return path.suffix == ".ml" and path.parts[:2] == EXTRACTED.parts[:2] and path != EXTRACTED


def is_described(path):
    return path.suffix == ".json" and path.parts[0] in ("machines", "editors")


READERS = {
    "docs": ((ends(".md"), markdown),),
    "help": ((is_in("tools"), literals), (is_script, help_of_script), (is_script, messages_of_script), (is_python, python_literals)),
    "messages": ((is_in("lib", "include"), literals), (is_own_ocaml, ocaml_literals), (ends(".js"), script_literals),
                 (is_described, described)),
    "headers": ((ends(".cpp"), functools.partial(header_comments, every=False)),
                (ends(".h", ".js", ".td"), functools.partial(header_comments, every=True)),
                (ends(".td"), operation_descriptions), (ends(".py"), docstrings), (is_script, shell_comments)),
}
AREAS = tuple(READERS)


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
            if name.endswith((".md", ".cpp", ".h", ".ml", ".py", ".js", ".td", ".json")) or name == "do":
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
        lines = line_starts(text)
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
