#!/usr/bin/env python3
"""Tests of the grammar of colours, without an editor: a small interpreter of TextMate's rules does its work.

usage: test_grammar.py [FILE...]

  scopes   in test/*.mlir, a comment names the scope of the text that its marks stand under:

               tally.loop "A" trips 4 {
           //  ^^^^^^^^^^ keyword.control
  words    outside strings and comments, no word of any kernel and code here is without a scope. The texts
           are the blocks of the documents, kernels/, test/, and the files that are named.
  names    every operation that the dialect has is known, and no other
"""

import json
import re
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
GRAMMAR = json.loads((HERE.parent / "syntaxes/tally.tmLanguage.json").read_text(encoding="utf-8"))
TEXTS = [Path(name) for name in sys.argv[1:] if name.endswith(".mlir")]


class Tokenizer:
    """The rules of the grammar, of which the first of those that match leftmost counts."""

    def __init__(self, grammar):
        self.grammar = grammar
        self.compiled = {}

    def rules(self, patterns):
        for rule in patterns:
            if "include" in rule:
                yield from self.rules([self.grammar["repository"][rule["include"][1:]]])
            elif "match" in rule or "begin" in rule:
                yield rule
            else:
                yield from self.rules(rule["patterns"])

    def search(self, pattern, line, at):
        regex = self.compiled.setdefault(pattern, re.compile(pattern))
        return regex.search(line, at)

    def step(self, stack, line, at):
        """(match, rule) that comes next; the rule is None where the innermost one ends."""
        inner = stack[-1]
        found = []
        if "end" in inner:
            found.append((self.search(inner["end"], line, at), None))
        for rule in self.rules(inner.get("patterns", [])):
            found.append((self.search(rule.get("match") or rule["begin"], line, at), rule))
        return min(((match, rule) for match, rule in found if match), key=lambda each: each[0].start(),
                   default=(None, None))

    def scopes(self, text):
        """For each line, for each character, the scopes that it has, outermost first."""
        stack = [self.grammar]
        for line in text.splitlines():
            marks = [[] for _ in line]
            at = 0

            def mark(start, end, name):
                for i in range(start, end):
                    if name:
                        marks[i].append(name)

            def around(start, end, rules):
                for rule in rules[1:]:
                    mark(start, end, rule.get("name"))

            while at <= len(line):
                match, rule = self.step(stack, line, at)
                start = match.start() if match else len(line)
                around(at, start, stack)
                if match is None:
                    break
                if rule is None:
                    around(start, match.end(), stack)
                    captures = stack.pop().get("endCaptures", {})
                else:
                    around(start, match.end(), stack)
                    mark(start, match.end(), rule.get("name"))
                    captures = rule.get("beginCaptures", rule.get("captures", {}))
                    if "begin" in rule:
                        stack.append(rule)
                for number, capture in captures.items():
                    mark(*match.span(int(number)), capture["name"])
                if match.end() == at and rule is not None and "begin" not in rule:
                    at += 1
                else:
                    at = match.end()
                if at == len(line) and match.end() == match.start():
                    break
            yield line, marks


def marked(path):
    """(line number, first, last, scope) for each mark; what is marked is the last line without marks."""
    lines = path.read_text(encoding="utf-8").splitlines()
    above = 0
    for number, line in enumerate(lines):
        marks = re.match(r"//( *)(\^+) ([\w.]+)$", line)
        if marks:
            first = 2 + len(marks[1])
            yield above, first, first + len(marks[2]) - 1, marks[3]
        else:
            above = number


def texts():
    """(name, text) of everything here that holds kernels or code."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        blocks = re.findall(r"^```mlir\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
        yield path.name, "\n".join(blocks)
    for path in [*sorted((ROOT / "kernels").glob("*.mlir")), *sorted((ROOT / "test/Check/written").glob("*.mlir")), *TEXTS]:
        yield path.name, path.read_text(encoding="utf-8")


class GrammarTest(unittest.TestCase):
    def test_marked_scopes(self):
        files = sorted(HERE.glob("*.mlir"))
        self.assertTrue(files)
        for path in files:
            lines = list(Tokenizer(GRAMMAR).scopes(path.read_text(encoding="utf-8")))
            seen = 0
            for number, first, last, scope in marked(path):
                line, marks = lines[number]
                for column in range(first, last + 1):
                    self.assertTrue(any(name.startswith(scope) for name in marks[column]),
                                    f"{path.name}:{number + 1}:{column + 1}: '{line[first:last + 1]}' has {marks[column]}, not '{scope}'")
                seen += 1
            self.assertGreater(seen, 20)

    def test_no_word_without_a_scope(self):
        words = 0
        for name, text in texts():
            for number, (line, marks) in enumerate(Tokenizer(GRAMMAR).scopes(text), 1):
                for word in re.finditer(r"\S+", line):
                    words += 1
                    for column in range(*word.span()):
                        self.assertTrue(marks[column], f"{name}:{number}:{column + 1}: '{word[0]}' has no scope")
        self.assertGreater(words, 1000)

    def test_operations_are_those_of_the_dialect(self):
        dialect = (ROOT / "include/tally/IR/TallyOps.td").read_text(encoding="utf-8")
        defined = set(re.findall(r"^def Tally_\w+ *: *Tally_\w*Op<\"(\w+)\"", dialect, re.M))
        self.assertGreater(len(defined), 20)
        known = set()
        for rule in GRAMMAR["repository"]["operation"]["patterns"]:
            if "tally" in rule["match"]:
                known |= set(re.search(r"\((.*)\)", rule["match"])[1].split("|"))
        self.assertEqual(known, defined)

    def test_every_rule_is_included(self):
        used = set(re.findall(r'"include": "#(\w+)"', json.dumps(GRAMMAR)))
        self.assertEqual(used, set(GRAMMAR["repository"]))


class ExtensionTest(unittest.TestCase):
    def test_files_are_there_and_well_formed(self):
        package = json.loads((HERE.parent / "package.json").read_text(encoding="utf-8"))
        contributes = package["contributes"]
        files = [language["configuration"] for language in contributes["languages"]]
        files += [each["path"] for kind in ("grammars", "snippets") for each in contributes[kind]]
        for file in files:
            json.loads((HERE.parent / file).read_text(encoding="utf-8"))
        self.assertEqual(contributes["grammars"][0]["scopeName"], GRAMMAR["scopeName"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
