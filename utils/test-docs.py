#!/usr/bin/env python3
"""Tests of check-docs.py: what a console block expects, and which pages are too long.

    python3 utils/test-docs.py
"""

import importlib.util
import tempfile
import unittest
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("check_docs", Path(__file__).with_name("check-docs.py"))
check_docs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_docs)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, text, name="page.md"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class ConsoleTest(Folder):
    def problem(self, block):
        """What is wrong with the one command of a block."""
        case, = check_docs.cases_of(self.page(f"```console\n{block}\n```\n"))
        return check_docs.run(case, self.folder, self.folder)

    def test_output_is_compared(self):
        self.assertIsNone(self.problem("$ echo one; echo two\none\ntwo"))
        self.assertIn("other output than documented", self.problem("$ echo one; echo two\none"))

    def test_dots_stand_for_lines_and_ends_of_lines(self):
        for expected in ("...\ntwo", "one\n...", "one...\n...", "o...\nt...", "...\none\n...\ntwo\n..."):
            self.assertIsNone(self.problem(f"$ echo one; echo two\n{expected}"), expected)
        self.assertIn("other output", self.problem("$ echo one; echo two\n...\nthree"))

    def test_dots_alone_expect_nothing(self):
        for expected in ("...", "\n...", "...\n\n...", "   ..."):
            self.assertIn("any output would do", self.problem(f"$ echo one\n{expected}"), expected)

    def test_without_lines_the_status_counts(self):
        self.assertIsNone(self.problem("$ echo one"))
        self.assertIn("exit status 3", self.problem("$ exit 3"))
        self.assertIn("exit status 3", self.problem("$ echo one; exit 3\none"))

    def test_a_repeated_command_may_be_left_out(self):
        self.assertIsNone(self.problem("$ printf 'one\\n\\nagain: tally x\\n'\none"))
        self.assertIsNone(self.problem("$ printf 'one\\n\\nagain: tally x\\n'\none\n\nagain: tally x"))
        self.assertIn("other output", self.problem("$ printf 'one\\n\\nagain: tally x\\n'\none\n\nagain: tally y"))

    def test_progress_is_left_out(self):
        self.assertIsNone(self.problem("$ printf '... 242 operations after 5 s, at k.py:3:1\\none\\n'\none"))
        self.assertIn("other output", self.problem("$ printf '... 242 operations\\none\\n'\none"))


class LinkTest(Folder):
    def test_links_lead_to_files_and_headings(self):
        self.page("# One\n\n## Two words, here\n", "other.md")
        page = self.page("[a](other.md) [b](other.md#two-words-here) [c](none.md) [d](other.md#three) `[e](none.md)` [f](https://x.y)\n")
        self.assertEqual(check_docs.bad_links(page), ["no file 'none.md'", "no heading 'other.md#three'"])


class LengthTest(Folder):
    def long(self, name, count):
        self.page("line\n" * count, name)
        return [problem for folder in check_docs.MOST_LINES for problem in check_docs.long_pages(self.folder, folder)]

    def test_each_folder_has_its_limit(self):
        self.assertEqual(self.long("docs/guide/a/A.md", 120) + self.long("docs/internals/b/B.md", 200), [])
        self.assertEqual(self.long("docs/guide/a/A.md", 121), ["docs/guide/a/A.md has 121 lines; 120 are allowed: make two pages of it"])
        self.assertIn("docs/internals/b/B.md has 201 lines; 200 are allowed: make two pages of it", self.long("docs/internals/b/B.md", 201))

    def test_a_few_may_be_longer(self):
        self.assertEqual(self.long("docs/guide/Tutorial.md", 300), [])
        self.assertNotEqual(self.long("docs/internals/Tutorial.md", 300), [])


if __name__ == "__main__":
    unittest.main()
