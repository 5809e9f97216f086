#!/usr/bin/env python3
"""Tests of the checker of prose: that each rule finds what it is for, at its place, and leaves good text alone.

    python3 utils/test-prose.py
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import prose

RULES = prose.word_rules(prose.WORDS.read_text(encoding="utf-8"))
WORDS_40 = " ".join(["word"] * 40)
WORDS_41 = " ".join(["word"] * 41)


def found(area, path, text):
    """The findings in a text, as (rule, line, column)."""
    places = []
    for finding in sorted(prose.check(area, Path(path), text, RULES), key=lambda each: each.place):
        before = text[:finding.place]
        places.append((finding.rule, before.count("\n") + 1, len(before) - before.rfind("\n")))
    return places


def in_docs(text):
    return [rule for rule, _, _ in found("docs", "docs/a.md", text)]


class WordTest(unittest.TestCase):
    def test_each_rule_finds_its_example(self):
        self.assertGreater(len(RULES), 20)
        for rule in RULES:
            with self.subTest(rule.pattern.pattern):
                self.assertTrue(rule.pattern.search(rule.example))
                self.assertTrue(rule.instead)
                self.assertIn("word", in_docs(f"A text says: {rule.example}.\n"))

    def test_words_that_may_be_right(self):
        for text in ("A threshold falls behind.", "No process is left behind.", "The dependences behind a wait.", "There is no load.",
                     "It is no longer there.", "The answer is no.", "It runs less than once.", "It takes one bit more or less.",
                     "So total(S) is 3.", "It is no more than that."):
            self.assertEqual(in_docs(text), [], text)

    def test_good_words_stay(self):
        for text in ("Nothing else is needed.", "Users who change it read this.", "An expert, who knows it, is faster.", "Either this or else that.",
                     "It takes so long that it fails.", "The first trip(I) runs.", "The trip counts of each loop.", "Some bodies differ.",
                     "A trip count is a number.", "An overtaken wait is late."):
            self.assertEqual(in_docs(text), [], text)

    def test_words_across_lines_and_in_any_case(self):
        self.assertEqual(found("docs", "a.md", "Numbers are drawn By\nChance here.\n"), [("word", 1, 19)])

    def test_code_and_addresses_are_not_looked_at(self):
        self.assertEqual(in_docs("See `nobody` and [this](nobody.md#who-is-it).\n\n```text\nnobody\n```\n\n    nobody raises it\n"), [])
        self.assertEqual(in_docs("[nobody](a.md)"), ["word"])


class SentenceTest(unittest.TestCase):
    def test_forty_words_are_allowed(self):
        self.assertEqual(in_docs(WORDS_40 + "."), [])
        self.assertEqual(in_docs(WORDS_41 + "."), ["long"])

    def test_paragraphs_items_cells_and_headings_end_a_sentence(self):
        half = " ".join(["word"] * 30)
        for text in (f"{half}\n\n{half}", f"- {half}\n- {half}", f"1. {half}\n2. {half}", f"| {half} | {half} |", f"# {half}\n{half}",
                     f"{half}. {half}", f"{half}? {half}", f"({half}.) {half}"):
            self.assertEqual(in_docs(text), [], text)
        for text in (f"{half}\n{half}", f"{half}; {half}", f"{half}: {half}", f"{half}, e.g. {half}", f"- {half}\n  {half}"):
            self.assertEqual(in_docs(text), ["long"], text)

    def test_code_counts_as_one_word(self):
        self.assertEqual(in_docs("`a b c` " * 40), [])
        self.assertEqual(in_docs("`a b c` " * 41), ["long"])


class OrderTest(unittest.TestCase):
    def test_conditions_begin_with_if(self):
        self.assertEqual(in_docs("Are there more semaphores than the machine has, sets share."), ["inverted"])
        self.assertEqual(in_docs("It is kept; is it read, it stays."), ["inverted"])
        self.assertEqual(in_docs("Does `x` hold, it passes."), ["inverted"])
        for text in ("Is it right, or not?", "If there are more, sets share.", "Do not wait, go on.", "Have a look, then."):
            self.assertEqual(in_docs(text), [], text)

    def test_sentences_begin_with_their_subject(self):
        self.assertEqual(in_docs("Tried are other thresholds."), ["verb-first"])
        self.assertEqual(in_docs("Two exist; kept is the first."), ["verb-first"])
        self.assertEqual(in_docs("The check tried others. Barriers are kept."), [])


class CodeTest(unittest.TestCase):
    def test_literals_of_programs_are_help_and_those_of_libraries_messages(self):
        self.assertEqual(found("messages", "lib/B.cpp", """f("nobody raises '{}' any more", name);"""), [("word", 1, 4)])
        text = 'auto x = f("a semaphore that nobody raises");\n'
        self.assertEqual(found("help", "tools/tally/A.cpp", text), [("word", 1, 30)])
        self.assertEqual(found("messages", "lib/Sync/A.cpp", text), [("word", 1, 30)])
        self.assertEqual(found("help", "lib/Sync/A.cpp", text) + found("messages", "tools/tally/A.cpp", text), [])

    def test_literals_side_by_side_are_one_text(self):
        self.assertEqual(found("messages", "lib/A.cpp", 'f("it runs by "\n  "chance here");\n'), [("word", 1, 12)])
        self.assertEqual(found("messages", "lib/A.cpp", 'f("it runs by ", "chance here now");\n'), [])
        self.assertEqual(found("messages", "lib/A.cpp", f'f("{WORDS_40} "\n"more");\n'), [("long", 1, 4)])

    def test_what_is_no_prose_is_left_alone(self):
        for text in ('f("nobody");', "// nobody says this here\n", 'f("the name is \'nobody\'");', '#include "a nobody raises it"\n'):
            self.assertEqual(found("messages", "lib/A.cpp", text), [], text)

    def test_raw_literals_without_their_examples(self):
        text = 'f(R"(Reads code that\nnobody wrote.\n\n  tally check nobody else has\n)");\n'
        self.assertEqual(found("help", "tools/A.cpp", text), [("word", 2, 1)])

    def test_all_comments_of_headers_and_what_opens_a_source(self):
        text = "//===- A.h - What nobody reads ---===//\n//\n// It is for nobody.\n//\n//   a picture of nobody\n\n/// For nobody.\nint a; ///< and nobody\n"
        self.assertEqual([line for _, line, _ in found("headers", "lib/A.cpp", text)], [1, 3, 5])
        for path in ("lib/A.h", "include/tally/A.h", "lib/Report/a.js"):
            self.assertEqual([line for _, line, _ in found("headers", path, text)], [1, 3, 5, 7, 8], path)

    def test_columns_and_quoted_messages_have_words_and_no_sentences(self):
        text = f"// A.h\n//\n//   deadlock    nobody can go on\n//   {WORDS_40} more\n//   is `nobody`\n\n/// `X[1], which nobody has yet written`\nint a;\n"
        self.assertEqual([line for _, line, _ in found("headers", "include/tally/A.h", text)], [3, 7])

    def test_operations_have_summaries_and_descriptions(self):
        text = ('// For nobody.\ndef Op {\n  let summary = "a wait that nobody ends";\n  let description = [{\n    It waits by\n    chance.\n\n'
                '    ```\n    nobody\n    ```\n  }];\n  let code = [{ nobody; }];\n}\n')
        self.assertEqual(found("headers", "include/tally/A.td", text), [("word", 1, 8), ("word", 3, 30), ("word", 5, 14)])

    def test_strings_of_python_programs(self):
        text = ('"""A program."""\nimport x\n\n\ndef f(a):\n    """What nobody reads.\n\n        nobody\n    """\n    # nobody\n'
                '    raise X(f"a semaphore {a[\'nobody\']} that " +\n            f"nobody of {f\'{a} nobody\'} raises "\n            "by chance")\n    y = ["nobody"]\n'
                '    z = """\n nobody reads this page\n"""\n')
        self.assertEqual(found("headers", "utils/a.py", text), [("word", 6, 13)])
        self.assertEqual(found("help", "utils/a.py", text), [("word", 12, 15), ("word", 13, 14)])
        self.assertEqual(found("help", "utils/test-prose.py", text), [])
        self.assertEqual(found("help", "utils/a.py", "nobody (\n'a wait for nobody'"), [])

    def test_strings_of_scripts(self):
        text = 'say("a wait that nobody ends", `the piece ${nobody} of nobody here`);\nf("nobody");\n'
        self.assertEqual(found("messages", "lib/Report/a.js", text), [("word", 1, 18), ("word", 1, 56)])

    def test_descriptions_of_machines_and_of_the_editor(self):
        text = '{"name": "nobody reads this", "description": "A machine that nobody has", "x": {"note": "drawn by chance"}}\n'
        self.assertEqual(found("messages", "machines/a.json", text), [("word", 1, 62), ("word", 1, 96)])
        self.assertEqual(found("messages", "editors/vscode/package.json", text), [("word", 1, 62), ("word", 1, 96)])
        self.assertEqual(found("messages", "test/a.json", text), [])

    def test_messages_and_comments_of_the_script(self):
        text = '#!/bin/bash\n# For nobody.\nsay "error: nobody installs \'$1\'"\n  # nobody\ndie "no network, by chance: $(nobody)"\necho "nobody"\n'
        self.assertEqual(found("help", "do", text), [("word", 3, 13), ("word", 5, 18)])
        self.assertEqual(found("headers", "do", text), [("word", 2, 7), ("word", 4, 5)])

    def test_python_and_the_script(self):
        self.assertEqual(found("headers", "utils/a.py", '#!/usr/bin/env python3\n"""Checks what\nnobody reads.\n\n    nobody else\n"""\n'), [("word", 3, 1)])
        self.assertEqual(found("help", "do", "say nobody\ncat <<'HELP'\n  test  for nobody\nHELP\n"), [("word", 3, 13)])


class ProgramTest(unittest.TestCase):
    def test_all_findings_are_shown_with_their_lines(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(prose, "ROOT", Path(folder).resolve()):
            path = Path(folder, "a.md")
            path.write_text("Good.\nA wait for nobody, by chance.\n", encoding="utf-8")
            out = io.StringIO()
            with mock.patch.object(sys, "argv", ["prose.py", str(path)]), contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(prose.main(), 1)
            lines = out.getvalue().splitlines()
            self.assertRegex(lines[0], r"^a\.md:2:12: error: 'nobody': name the component")
            self.assertEqual(lines[1:3], ["A wait for nobody, by chance.", "           ^"])
            self.assertRegex(lines[3], r"^a\.md:2:20: error: 'by chance': say")

    def test_strings_of_the_checker(self):
        text = 'let a = "a wait for nobody" (* nobody *)\nlet help = "a\\n\\\n    \\  waits by chance here"\n'
        self.assertEqual(found("messages", "proof/extraction/a.ml", text), [("word", 1, 21), ("word", 3, 14)])
        self.assertEqual(found("messages", "proof/extraction/certifier.ml", text), [])
        self.assertEqual(found("messages", "proof/theories/a.ml", text), [])

    def test_an_element_of_html_ends_a_sentence(self):
        half = " ".join(["word"] * 30)
        self.assertEqual(found("messages", "lib/a.cpp", f'auto a = "<p>{half}</p><p>{half}</p>";\n'), [])
        self.assertEqual([rule for rule, _, _ in found("messages", "lib/a.cpp", f'auto a = "{half} {half}";\n')], ["long"])

    def test_help_names_every_area(self):
        answer = subprocess.run([sys.executable, prose.__file__, "--help"], capture_output=True, text=True, check=True).stdout
        for area in prose.AREAS:
            self.assertIn(f"\n  {area} ", answer)


if __name__ == "__main__":
    unittest.main()
