"""What is known of the options of `tally-nki`: slips, help, the manual, and completion name the same ones."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import unittest

from tally.nki import commandline
from tally.nki.command import main

PROGRAMS = ((), ("corpus",))


def said(*arguments):
    """Exit status, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()


def offered(*words):
    """What bash offers for the last word."""
    script = said("--completion=bash")[1]
    script += f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _tally_nki\n" + 'printf "%s\\n" "${COMPREPLY[@]}"\n'
    return subprocess.run(["bash", "-uc", script], check=True, capture_output=True, text=True).stdout.split()


class SlipTest(unittest.TestCase):
    def test_options(self):
        for program in PROGRAMS:
            for slip, meant in (("--rnig", "--ring"), ("--manul=1", "--manual"), ("--max-operatons", "--max-operations"),
                                ("--quite", "--quiet")):
                name = slip.partition("=")[0]
                words = " ".join(("tally-nki", *program))
                self.assertEqual(said(*program, "x", slip, "3"), (
                    2, "", f"error: unknown option '{name}' of '{words}'; did you mean '{meant}'?\n"
                    f"note: '{words} --help' says what there is\n"))

    def test_what_is_near_nothing(self):
        self.assertIn("error: unknown option '--zebra' of 'tally-nki'\n", said("--zebra")[2])
        self.assertIn("error: unknown option '-z' of 'tally-nki'; did you", said("-z")[2])

    def test_beginnings_are_no_options(self):
        self.assertIn("unknown option '--max-op'", said("--max-op=3", "a", "b")[2])

    def test_values_are_not_looked_at(self):
        for words in (("-5", "k"), ("a.py", "k", "--", "--rnig"), ("-ok.json", "a.py")):
            self.assertNotIn("unknown option", said(*words)[2])

    def test_commands(self):
        self.assertIn("no file 'corpsu'; did you mean 'tally-nki corpus'?", said("corpsu", "dir")[2])
        self.assertNotIn("did you mean", said("scale.py", "dir")[2])

    def test_distances(self):
        for name, meant in (("--agr", "--arg"), ("--rg", "--arg"), ("--aarg", "--arg"), ("--erg", "--arg"), ("--xyz", ""), ("x", "")):
            self.assertEqual(commandline.nearest(name, ["--inputs", "--arg"]), meant, name)
        self.assertEqual(commandline.nearest("--ot", ["--to"]), "--to")  # swapped: one slip, not two


class SameOptionsTest(unittest.TestCase):
    def test_help_manual_and_shells(self):
        zsh = said("--completion=zsh")[1]
        for program in PROGRAMS:
            help_text = said(*program, "--help")[1]
            listed = help_text.partition("\noptions:\n")[2].partition("\nexamples:\n")[0]
            known = set(re.findall(r"(?:^  |, )(--?[\w-]+)", listed, re.M))
            self.assertGreater(len(known), 12)
            self.assertEqual({name.rstrip("=") for name in offered("tally-nki", *program, "-")}, known)
            page = said(*program, "--manual")[1]
            terms = " ".join(re.findall(r"^\.TP\n(.*)", page, re.M)).replace("\\-", "-")
            self.assertEqual(set(re.findall(r"\\fB(--?[\w-]+)\\fR", terms)), known)
            function = re.search(rf"^_tally_nki_{program[0] if program else 'trace'}\(\) {{\n(.*?)^}}", zsh, re.M | re.S)[1]
            self.assertEqual(set(re.findall(r"^    '\*?(--?[\w-]+)", function, re.M)), known)

    def test_each_option_has_a_text(self):
        for program in PROGRAMS:
            page = said(*program, "--manual")[1]
            for term, text in re.findall(r"^\.TP\n(.*)\n(.*)", page, re.M):
                self.assertRegex(text, r"^\w.*\w \w", term)

    def test_examples_have_these_options(self):
        for program in PROGRAMS:
            page = said(*program, "--manual")[1].replace("\\-", "-")
            self.assertIn("\n.SH EXIT STATUS\n", page)
            for line in page.partition("\n.SH EXAMPLES\n")[2].partition("\n.fi")[0].splitlines():
                own = line.strip().startswith("tally-nki") and ("corpus" in line) == bool(program)
                for name in re.findall(r"(?<=\s)(--[\w-]+)", line.partition(" see ")[0]) if own else ():
                    self.assertIn(f"\\fB{name}\\fR", page)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_pages_can_be_set(self):
        for program in PROGRAMS:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=said(*program, "--manual")[1], text=True,
                                  capture_output=True, check=True)
            self.assertEqual(done.stderr, "")


class CompletionTest(unittest.TestCase):
    def test_words(self):
        self.assertEqual(offered("tally-nki", "cor"), ["corpus"])
        self.assertEqual(offered("tally-nki", "com"), ["compare"])
        self.assertEqual(offered("tally-nki", "compare", "--man"), ["--manual"])
        self.assertEqual(offered("tally-nki", "--sum"), ["--summary="])
        self.assertEqual(offered("tally-nki", "--completion", "=", "z"), ["zsh"])
        self.assertEqual(offered("tally-nki", "--completion", "b"), ["bash"])
        self.assertEqual(offered("tally-nki", "corpus", "--on"), ["--only="])
        self.assertEqual(offered("tally-nki", "corpus", "--sum"), [])
        self.assertEqual(offered("tally-nki", "--seed", ""), [])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_reads_it(self):
        done = subprocess.run(["zsh", "-fn"], input=said("--completion=zsh")[1], text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
