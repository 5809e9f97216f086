"""A walk of a small checkout: each kernel of it is a state that the page must tell from all others."""

import ast
import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path

import numpy as np
import numpy.testing  # before it is watched

from tally.nki.command import main
from tally.nki.compare import OTHERS
from tally.nki.corpus import again, command, comparisons, measure, page, userfile

from tally.nki.elements import ELEMENTS, rounded, unpacked

from .support import machine, tally_program

CHECKOUT = Path(__file__).parent / "checkout"
ROOT = Path(__file__).resolve().parents[2]
LIMITS = ("--seconds=20", "--max-multiply-adds=1e7", f"--machine={machine()}")


def walk(root, output, *options, program=tally_program()):
    """Exit status, progress and kernels by name."""
    err = io.StringIO()
    before, os.environ["TALLY"] = os.environ.get("TALLY"), program or ""
    try:
        with contextlib.redirect_stderr(err):
            status = main(["corpus", str(root), "-o", str(output), *LIMITS, *options])
    finally:
        os.environ.pop("TALLY") if before is None else os.environ.update(TALLY=before)
    path = Path(output) / "corpus.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return status, err.getvalue(), document


def by_name(document):
    return {row["kernel"]: row for row in document["kernels"]}


def _processes_of(order):
    """Those that carry out an order."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if str(order).encode() in (folder / "cmdline").read_bytes():
                yield int(folder.name)
        except OSError:  # it has ended since
            pass


class CorpusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="tally-corpus-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.root = cls.folder / "checkout"
        shutil.copytree(CHECKOUT, cls.root, ignore=shutil.ignore_patterns("__pycache__"))
        cls.status, cls.progress, cls.document = walk(cls.root, cls.folder / "out")
        cls.rows = by_name(cls.document)

    def test_all_are_there(self):
        self.assertEqual(self.status, 0)
        self.assertEqual(sorted(self.rows), sorted(["scale", "halves", "square", "lonely", "add", "repeat", "unknown",
                                                    "hangs", "huge", "cut_off", "exchanged", "stuck",
                                                    "behind_a_mistake", "marked_wrongly", "cut_short",
                                                    "for_a_newer_chip", "compared_later", "part_of_another",
                                                    "whole", "reached", "around_reached", "partly_written", "without_numbers", "words",
                                                    "chosen_by_a_member", "chosen_inside", "of_either_type", "taken_in_turn", "other_part",
                                                    "with_a_broken_reference", "kept_above",
                                                    "rows_in_turn", "none_of_it", "with_itself", "never_a_number", "one_of_two",
                                                    "copied_by_hand", "called_before", "finite", "in_part", "stacked",
                                                    "never_another", "judged", "failing", "written_before", "zeros", "some_close", "warm", "peer", "peer_of",
                                                    "raising", "expected", "half_written", "make_first.inner", "make_second.inner", "tripled", "of_mode", "not_so", "late_part", "late_entry",
                                                    "by_sign", "by_rounding", "by_fixtures", "by_module", "by_chance", "by_the_clock", "by_dates", "by_the_process", "by_clip",
                                                    "by_indirect", "before_the_end", "after_the_end",
                                                    "by_a_patch", "wrong_at_the_end", "wrong_in_a_cleanup"]))
        self.assertEqual(self.document["in_tests"], 1)
        found = self.document["summary"]
        self.assertEqual((found["kernels"], found["traced"]), (75, 65))
        self.assertEqual(found["reference"], {"agrees": 37, "differs": 4, "not compared": 24})

    def test_not_a_reference(self):
        """What is not compared with a reference, though the test compares."""
        own = "what the test compares it with is made of the kernel's own results"
        for name, reason in (("none_of_it", "the test compares no element"), ("never_a_number", "the test compares no number"),
                             ("with_itself", own), ("copied_by_hand", own), ("finite", own),
                             ("failing", "its test fails: AssertionError"), ("raising", "its test fails: ValueError: wrong"),
                             ("peer", own), ("peer_of", own), ("called_before", own), ("by_sign", own), ("by_rounding", own),
                             ("by_clip", own), ("by_the_process", again._NOT_TWICE),
                             ("some_close", "some numbers are not as the test's reference, and it passes"),
                             ("judged", "what the test compares is the same for other results")):
            self.assertEqual(self.rows[name]["reference"], {"state": "not compared", "reason": reason}, name)
        found = self.rows["written_before"]["reference"]
        self.assertEqual(found["state"], "not compared")
        self.assertRegex(found["reason"], "PermissionError: .*writes only into the folder that it runs in: .*golden.npy")
        self.assertFalse((self.root / "tests/golden.npy").exists())

    def test_how_many_numbers(self):
        """Those that are compared, each once, of all; what a test makes of them is apart."""
        for name, numbers in (("one_of_two", [0, 4096]), ("in_part", [9 * 32, 2048]), ("scale", None), ("stacked", None),
                              ("zeros", [64, 2048]), ("warm", None), ("partly_written", None), ("words", None), ("never_another", None)):
            found = self.rows[name]["reference"]
            self.assertEqual((found["state"], found.get("numbers")), ("agrees", numbers), name)
            self.assertEqual(found.get("made"), 2048 if name == "one_of_two" else None, name)

    def test_agrees(self):
        """Both generations; a grid, whose programs together are the result; a wrapper; a dynamic loop."""
        for name, how in (("scale", "numpy.allclose"), ("add", "the test's reference"),
                          ("square", "the test's reference"), ("repeat", "numpy.assert_allclose")):
            self.assertEqual(self.rows[name]["reference"]["state"], "agrees", name)
            self.assertEqual(self.rows[name]["reference"]["how"], how)
        self.assertEqual(self.rows["scale"]["program"], "0 of 2")
        self.assertEqual(self.rows["square"]["through"], "square_wrapper")
        self.assertEqual(self.rows["repeat"]["trips"], {"i": [4]})

    def test_cores(self):
        """Programs that send to one another, and share HBM; what one of them gets from others is an input."""
        row = self.rows["exchanged"]
        self.assertEqual((row["reference"]["state"], row["program"]), ("agrees", "0 of 2"))
        self.assertEqual(row["operations"], 8)
        if tally_program():
            self.assertEqual((row["race"]["state"], row["data"]["state"]), ("yes", "yes"))
        # What the other one wrote over known numbers is brought when it is read, twice; in a dynamic loop, always.
        for name, operations in (("taken_in_turn", 11), ("kept_above", 16),
                                 ("rows_in_turn", 27)):
            row = self.rows[name]
            self.assertEqual((row["reference"]["state"], row["operations"]), ("agrees", operations))
            if tally_program():
                self.assertEqual((row["race"]["state"], row["data"]["state"]), ("yes", "yes"))
        # What the other core may have written is brought in each turn, so five turns are one loop.
        self.assertEqual(self.rows["rows_in_turn"]["instructions"], 7)
        self.assertIn("program 0 waits for a message from program 1", self.rows["stuck"]["problem"]["text"])

    def test_smallest_call(self):
        """64 rows are filtered out, so 256 are the smallest: two trips."""
        self.assertEqual((self.rows["add"]["operations"], self.rows["add"]["instructions"]), (8, 4))

    def test_differs(self):
        row = self.rows["halves"]
        self.assertEqual((row["state"], row["reference"]["state"]), ("traced", "differs"))
        self.assertGreater(row["reference"]["error"], 0.1)
        self.assertEqual(self.rows["half_written"]["reference"]["state"], "differs")
        self.assertIn("<b>halves</b>", (self.folder / "out/corpus.html").read_text(encoding="utf-8"))

    def test_not_traced(self):
        for name, kind, place in [("unknown", "refused", "kernels/second.py:73"), ("hangs", "time limit", "kernels/second.py:80"),
                                  ("huge", "too large", "kernels/second.py:91"),
                                  ("lonely", "no arguments", None), ("cut_off", "broken", "kernels/broken.py:6")]:
            row = self.rows[name]
            self.assertEqual((row["state"], row["problem"]["kind"]), ("not traced", kind), name)
            if place:
                self.assertEqual(f"{row['problem']['file']}:{row['problem']['line']}", place)

    def test_mistakes_of_the_checkout(self):
        """A mistake in what makes the cases of a test is told for its kernel; the tests after it run."""
        self.assertEqual(self.rows["behind_a_mistake"]["reference"]["state"], "agrees")
        for name, text in (("marked_wrongly", "TypeError"), ("cut_short", "ZeroDivisionError")):
            problem = self.rows[name]["problem"]
            self.assertEqual(problem["kind"], "no arguments")
            self.assertRegex(problem["text"], f"'tests/faulty/test_third.py' does not get to a call: {text}")
        self.assertEqual((problem["file"], problem["line"]), ("tests/faulty/conftest.py", 7))

    def test_twins(self):
        """Two kernels of a file may have one name; one of them is called."""
        self.assertEqual(self.rows["make_first.inner"]["reference"]["state"], "agrees")
        self.assertEqual(self.rows["make_second.inner"]["problem"]["kind"], "no arguments")

    def test_what_a_test_expects(self):
        """It is of a class with what runs before it, and reads a file; that a comparison fails may be what it wants."""
        row = self.rows["expected"]
        self.assertEqual((row["reference"]["state"], row["case"]), ("agrees", "Copies.test_expected[0]"))
        kept = json.loads((self.folder / "out" / row["folder"] / "result.json").read_text(encoding="utf-8"))
        self.assertIn("tests/factor.txt", kept["files"])
        self.assertIn("tests/conftest.py", kept["files"])

    def test_two_walks(self):
        """Only one writes into a folder."""
        folder = self.folder / "locked"
        first = command.Walk(command.parser().parse_args([str(self.root), "-o", str(folder)]))
        first._lock()
        status, progress, _ = walk(self.root, folder, "--only=add")
        self.assertEqual(status, 2)
        self.assertIn("another walk writes into", progress)
        first.lock.close()

    def test_names_of_folders(self):
        self.assertEqual(command._slugs(["x/y.py:k", "x-y.py:k", "X/y.py:k"]),
                         {"x/y.py:k": "x-y.py-k", "x-y.py:k": "x-y.py-k-2", "X/y.py:k": "X-y.py-k-3"})

    def test_which_call(self):
        """A test that is skipped on trn2 runs for trn3; a call that is compared comes before a smaller one that is
        not, and one with NumPy's types before one whose result differs with others."""
        for name, case in (("of_either_type", "test_of_either_type[3]"), ("for_a_newer_chip", "test_newer[0]"),
                           ("compared_later", "TestWithReference.test_with_reference[0]")):
            row = self.rows[name]
            self.assertEqual((row["reference"]["state"], row["case"]), ("agrees", case))
        (before,) = self.rows["of_either_type"]["failed_before"]
        self.assertEqual((before["case"], before["kind"]), ("test_of_either_type[0]", "differs"))

    def test_through_another(self):
        """No test names it, but a kernel that a test names."""
        _, progress, document = walk(self.root, self.folder / "through", "--only=part_of_another")
        row = by_name(document)["part_of_another"]
        self.assertEqual((row["through"], row["reference"]["state"]), ("whole", "agrees"))
        # Two parts of one call are measured once, and each has all files. The result of one of them is not used.
        parts = [self.rows[name] for name in ("part_of_another", "other_part")]
        self.assertEqual(*[{key: value for key, value in part.items() if key not in (
            "kernel", "line", "folder", "seconds", "key", "reference", "trace_seconds")} for part in parts])
        self.assertEqual([part["reference"].get("reason") for part in parts], [None, again._NOT_OF_PART])
        files = [{path.name for path in (self.folder / "out" / part["folder"]).iterdir()} for part in parts]
        self.assertIn("kernel.json", files[0])
        self.assertEqual(files[0], files[1] | {"order.json", "log.txt", "answer.json"})

    def test_prepared(self):
        """What comes before a test runs, each fixture once; and what a test makes at random, or of the time, is the same in each run."""
        for name in ("by_fixtures", "by_module", "by_chance", "by_the_clock", "by_dates", "by_indirect", "by_a_patch"):
            self.assertEqual(self.rows[name]["reference"]["state"], "agrees", (name, self.rows[name]))

    def test_the_end(self):
        """A test that ends its process keeps its call; the page says where the tests after it were lost."""
        found = self.rows["before_the_end"]
        self.assertEqual((found["state"], found["reference"]["reason"]),
                         ("traced", "its driver does not end after the call: its process ended by SIGSEGV"))
        self.assertRegex(self.rows["after_the_end"]["problem"]["text"],
                         r"^'modes/test_the_end.py' does not get to a call: its process ended by SIGSEGV at 'test_before\[0\]'$")

    def test_modes(self):
        """Of a part, only calls count that reach it, though others of the same test are compared. It is called as what a module
        has, and the test's own folder has modules of names that others have, too."""
        found = self.rows["tripled"]
        self.assertEqual((found["through"], found["reference"]["reason"]), ("of_mode", again._OF_OTHERS))
        text = (self.folder / "out" / found["folder"] / "kernel.json").read_text()
        self.assertIn("r0 * 3", text)
        self.assertEqual(self.rows["of_mode"]["reference"]["state"], "agrees")
        self.assertEqual(self.rows["not_so"]["reference"]["reason"],
                         "its test fails: AssertionError: no error is raised where the test expects one")

    def test_late(self):
        """Calls that do not reach a part are not among those that are tried."""
        found = self.rows["late_part"]
        self.assertEqual((found["state"], found["through"], found["reference"]["state"]), ("traced", "late_entry", "agrees"))
        self.assertEqual(len(found["failed_before"]), 7)

    def test_through_a_function(self):
        """Its test names no kernel, but loads a function whose module loads it. Another kernel calls it, too, in a test that compares nothing."""
        row = self.rows["reached"]
        self.assertEqual((row["driver"], row["through"]), ("tests/test_parts.py", "entry"))
        self.assertEqual(row["reference"]["state"], "agrees")

    def test_unwritten(self):
        """What nothing has written may be read, and is told; a call whose results are made of it comes last."""
        row = self.rows["partly_written"]
        if tally_program():
            self.assertEqual((row["reference"]["state"], row["data"]["state"]), ("agrees", "yes"))
            self.assertIn("reads tile[64, 0], which is not written yet", row["data"]["reason"])
        self.assertEqual(self.rows["without_numbers"]["case"], "test_more_rows[0]")

    def test_words(self):
        """Words of four numbers are compared as numbers, whatever type the reference has for their bits."""
        found = self.rows["words"]["reference"]
        self.assertEqual((found["state"], found["error"]), ("agrees", 0))
        self.assertTrue(1 < found["largest"] < 2)

    def test_each_member(self):
        """Of each member of an enumeration, the lightest set of parameters runs; the member may be inside a parameter."""
        for name in ("chosen_by_a_member", "chosen_inside"):
            self.assertEqual(self.rows[name]["reference"]["state"], "agrees", name)

    def test_broken_reference(self):
        """What a reference raises when it is asked for is told; so is what it needs and is not installed, as a table that
        its file makes while it is loaded."""
        found = self.rows["with_a_broken_reference"]["reference"]
        self.assertEqual(found["state"], "not compared")
        self.assertRegex(found["reason"], "its reference does not run: .*test_calls.py.*'nosuchmodule.table' is called")

    def test_too_large(self):
        """A call takes too much; larger ones are not tried."""
        self.assertEqual(self.rows["huge"]["failed_before"], [])

    def test_tally(self):
        """What the program says; without it, that it was not asked."""
        row = self.rows["add"]
        if not tally_program():
            self.assertEqual(row["race"]["state"], "not run")
            return
        self.assertEqual((row["race"]["state"], row["data"]["state"]), ("yes", "yes"))
        self.assertEqual(row["data"]["strategies"], ["per-loop", "barrier", "auto", "unrolled", "per-instruction", "per-engine"])
        self.assertEqual((self.rows["repeat"]["data"]["state"], self.rows["repeat"]["data"]["strategies"]),
                         ("yes", ["per-loop", "barrier", "auto", "per-instruction", "per-engine"]))
        self.assertEqual(row["dependences"]["exact"], row["dependences"]["all"])
        self.assertLess(row["latency"]["auto"]["us"], row["latency"]["barrier"]["us"])
        self.assertGreater(row["code"]["per-loop"]["instructions"], 0)
        self.assertEqual(self.rows["repeat"]["latency"]["unrolled"]["state"], "not run")
        self.assertTrue((self.folder / "out" / row["folder"] / "timeline.html").exists())

    def test_no_code_of_one_strategy(self):
        """A kernel that needs more semaphores than there are under 'per-loop' is asked about under the others."""
        if not tally_program():
            self.skipTest("no tally is built; name one with TALLY")
        row = self.rows["add"]

        class Refusing(measure.Tally):
            refused = ("--sync=per-loop",)

            def ask(self, command, *options, **given):
                sync = next((option for option in options if option.startswith("--sync=")), None)
                if sync in self.refused:
                    return 2, "kernel.json:1:1: error: needs 287 semaphores\n"
                return super().ask(command, *options, **given)

        tally = Refusing(tally_program(), machine(), 60, self.folder / "out" / row["folder"], row["trips"])
        race, data = measure._race(tally), measure._data(tally, [])
        self.assertEqual(race["state"], "yes")
        self.assertIn("of 'auto' code, since there is no other: kernel.json:1:1: error: needs 287", race["reason"])
        self.assertEqual((data["state"], data["strategies"]), ("yes", ["barrier", "auto", "unrolled", "per-instruction", "per-engine"]))
        Refusing.refused += tuple(f"--sync={strategy}" for strategy in measure.DATA_STRATEGIES)
        self.assertEqual((measure._race(tally)["state"], measure._data(tally, [])["state"]), ("not run", "not run"))

    def test_memory_of_tally(self):
        """It has the limit that all processes have; where it needs more, that is told."""
        for text, memory, answer in (("ulimit -v", 300, (0, "307200\n")), ("echo error: out of memory >&2; exit 2", 300, (None, "memory limit of 300 MiB")),
                                     ("echo error: out of memory >&2; exit 2", 0, (2, "error: out of memory\n")),
                                     ("echo std::bad_alloc >&2; kill -ABRT $$", 300, (None, "memory limit of 300 MiB"))):
            program = self.folder / "limited"
            program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            program.chmod(0o755)
            self.assertEqual(measure.Tally(str(program), "trn2", 60, self.folder, {}, memory).ask("sim"), answer)

    def test_without_numbers(self):
        """A result without a number agrees with nothing."""
        row = self.rows["add"]
        folder = self.folder / "none"
        shutil.copytree(self.folder / "out" / row["folder"], folder)
        for path in (folder / "want").glob("*.npy"):
            np.save(path, np.full_like(np.load(path), np.nan))
        if tally_program():
            found = measure._data(measure.Tally(tally_program(), machine(), 60, folder, row["trips"]), [])
            self.assertEqual((found["state"], "where NumPy has computed none" in found["reason"]), ("no", True))
            (folder / "want/nan").mkdir(exist_ok=True)
            for path in (folder / "want").glob("*.npy"):  # as if other programs had written it
                np.save(folder / "want/nan" / path.name, np.full(np.load(path).shape, OTHERS, np.uint8))
            found = measure._data(measure.Tally(tally_program(), machine(), 60, folder, row["trips"]), [])
            self.assertEqual(found["state"], "not run")

    def test_page(self):
        text = (self.folder / "out/corpus.html").read_text(encoding="utf-8")
        for row in self.document["kernels"]:
            self.assertIn(f"<b>{row['kernel']}</b>", text)
        self.assertIn("kernels/second.py:73", text)
        self.assertNotRegex(text, r"""(src|href)=["'](https?:)?//""")
        self.assertEqual(text, page.html(self.document))

    def test_goes_on(self):
        """A second walk keeps what holds; a file that changed is done again, with what has loaded it."""
        again = self.folder / "again"
        shutil.copytree(self.folder / "out", again)
        _, progress, document = walk(self.root, again)
        self.assertEqual(document, self.document)
        self.assertEqual(progress.count(": kept"), 75)
        file = self.root / "kernels/first.py"
        text = file.read_text(encoding="utf-8")
        try:
            file.write_text(text.replace("* 0.25", "* 0.5"), encoding="utf-8")
            _, progress, document = walk(self.root, again, "--only=first")
            self.assertEqual(by_name(document)["halves"]["reference"]["state"], "agrees")
            self.assertNotIn("halves: kept", progress)
        finally:
            file.write_text(text, encoding="utf-8")

    def test_cut_off(self):
        """What was made before a walk ended is not made again."""
        shutil.copytree(self.folder / "out", self.folder / "part")
        for path in (self.folder / "part/kernels").iterdir():
            if json.loads((path / "result.json").read_text(encoding="utf-8"))["kernel"] == "add":
                (path / "result.json").unlink()
        _, progress, document = walk(self.root, self.folder / "part")
        self.assertEqual((progress.count(": kept"), progress.count(" -> ")), (74, 1))
        self.assertEqual(by_name(document)["add"]["state"], "traced")

    def test_ended(self):
        """A walk that is asked to end ends the process that it waits for, and goes on later."""
        out = self.folder / "ended"
        walk = subprocess.Popen([sys.executable, "-m", "tally.nki", "corpus", self.root, "-o", out, "--only=hangs", "--seconds=99"],
                                env={**os.environ, "PYTHONPATH": str(CHECKOUT.parents[1]), "TALLY": ""},
                                stderr=subprocess.PIPE, text=True)
        order = out / "kernels/kernels-second.py-hangs/order.json"
        while not order.exists():
            self.assertIsNone(walk.poll())
            time.sleep(0.1)
        walk.terminate()
        self.assertIn("interrupted; the same command goes on", walk.communicate(timeout=30)[1])
        self.assertEqual((walk.returncode, list(_processes_of(order))), (2, []))

    def test_ended_at_the_start(self):
        """A process that is just being started is ended, too: the walk is interrupted once it has it."""
        started = False
        with self.assertRaises(KeyboardInterrupt), command._ended_as_by_hand(), command._interrupted_later():
            signal.raise_signal(signal.SIGTERM)
            started = True
        self.assertTrue(started)

    def test_no_time_for_all_calls(self):
        """A driver whose time is over has perhaps more calls, and says so."""
        order = json.loads((self.folder / "out/drivers/tests-test_second/order.json").read_text(encoding="utf-8"))
        path, answer = self.folder / "hurried.json", self.folder / "calls.json"
        path.write_text(json.dumps({**order, "seconds": 0, "answer": str(answer)}), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "tally.nki.corpus.child", path], cwd=self.folder, env={**os.environ, "PYTHONPATH": str(CHECKOUT.parents[1])},
                       check=True, capture_output=True)
        found = json.loads(answer.read_text(encoding="utf-8"))
        self.assertEqual((len(found["calls"]), found["problem"]["text"]), (1, "its tests take more than 0 s"))

    def test_fails_after_its_end(self):
        """What comes after a test is a part of it."""
        for name in ("wrong_at_the_end", "wrong_in_a_cleanup"):
            self.assertEqual(self.rows[name]["reference"]["state"], "differs", name)

    def checkout(self, name, **files):
        """A small one, with a kernel."""
        root = self.folder / name
        root.mkdir()
        shutil.copy(self.root / "modes/tripled.py", root)
        for file, text in files.items():
            (root / f"{file}.py").write_text(text, encoding="utf-8")
        return root

    def test_what_was_not_there(self):
        """A result depends on what its driver looks for in vain, and on which files there are."""
        root = self.checkout("vain", test_vain="""import glob, os
import numpy as np
from tripled import tripled
try:
    from given import factor
except ImportError:
    factor = 3
here = os.path.dirname(__file__)

def test():
    x = np.random.rand(32, 16).astype(np.float32)
    more = os.path.exists(os.path.join(here, "more.txt")) + len(glob.glob(os.path.join(here, "*.dat")))
    np.testing.assert_allclose(tripled(x), (factor + more) * x, rtol=1e-6)
""")
        out = self.folder / "vain-page"
        for name in ("more.txt", "a.dat", "given.py"):
            _, progress, document = walk(root, out)
            self.assertEqual(by_name(document)["tripled"]["reference"]["state"], "agrees", name)
            self.assertIn("tripled: kept", walk(root, out)[1])
            (root / name).write_text("factor = 4\n", encoding="utf-8")
            _, progress, document = walk(root, out)
            self.assertEqual(by_name(document)["tripled"]["reference"]["state"], "differs", name)
            (root / name).unlink()

    def test_odd_files(self):
        """Names in another encoding, pipes, files that do not parse; the page has all that may be a kernel."""
        root = self.checkout("odd", deep="import nki\n@nki.jit\ndef deep(x):\n    return " + "-" * 100000 + "x\n")
        (root / "latin.py").write_bytes(b"import nki\n@nki.jit\ndef latin(x):\n    return '\xe9'\n")
        os.mkfifo(root / "pipe.py")
        os.mkfifo(root / "conftest.py")
        (root / "endless.py").symlink_to("/dev/zero")
        (Path(os.fsdecode(os.fsencode(root) + b"/test_\xff.py"))).write_text("""import numpy as np
from tripled import tripled
x = np.ones((32, 16), np.float32)

def test():
    np.testing.assert_allclose(tripled(x), 3 * x)
""", encoding="utf-8")
        status, progress, document = walk(root, self.folder / "odd-page")
        rows = by_name(document)
        self.assertEqual((status, sorted(rows)), (0, ["deep", "latin", "tripled"]), progress)
        self.assertEqual(rows["tripled"]["reference"]["state"], "agrees")
        self.assertEqual([rows[name]["problem"]["kind"] for name in ("deep", "latin")], ["broken", "broken"])
        self.assertIn("kept", walk(root, self.folder / "odd-page")[1])

    def test_own_folder(self):
        """A driver may remove the folder that it runs in."""
        root = self.checkout("gone", test_gone="""import os, shutil
import numpy as np
from tripled import tripled
x = np.ones((32, 16), np.float32)

def test():
    folder = os.getcwd()
    os.chdir("/")
    shutil.rmtree(folder)
    np.testing.assert_allclose(tripled(x), 3 * x)
    for make in (os.mkfifo, os.mknod):
        try:
            make(os.path.join(os.path.dirname(__file__), "made"))
        except PermissionError:
            continue
        raise AssertionError(make)
    try:
        os.fork()
    except PermissionError:
        return
    raise AssertionError("it starts a process")
""")
        _, progress, document = walk(root, self.folder / "gone-page")
        self.assertEqual(by_name(document)["tripled"]["reference"]["state"], "agrees", progress)
        self.assertFalse((root / "made").exists())

    def test_slow_tests(self):
        """One of a file leaves time for others; those that name a kernel come first."""
        root = self.checkout("slow", test_slow="""import time
import numpy as np
from tripled import tripled

x = np.random.rand(32, 16).astype(np.float32)

def test_a():
    time.sleep(60)

def test_b():
    time.sleep(60)
    tripled(x)

def test_c():
    np.testing.assert_allclose(tripled(x), 3 * x)
""")
        _, progress, document = walk(root, self.folder / "slow-page", "--seconds=15")
        self.assertIn("test_slow.py: 1 calls", progress)
        self.assertEqual(by_name(document)["tripled"]["reference"]["state"], "agrees")

    def test_options_and_program(self):
        """Other options, or another tally, are another question."""
        _, progress, document = walk(self.root, self.folder / "other", "--only=second.py:add", "--ring=3")
        self.assertIn("add: 8 -> 4", progress)
        _, progress, _ = walk(self.root, self.folder / "other", "--only=second.py:add", "--ring=2")
        self.assertNotIn("kept", progress)

    @unittest.skipUnless(tally_program(), "there is no tally here")
    def test_another_tally(self):
        """It is asked again about each kernel; which calls the drivers make is kept."""
        out, program = self.folder / "another", self.folder / "tally"
        program.symlink_to(tally_program())
        walk(self.root, out, "--only=second.py:add")
        status, progress, _ = walk(self.root, out, "--only=second.py:add", program=str(program))
        self.assertEqual(status, 0)
        self.assertIn("add: 8 -> 4", progress)
        self.assertNotRegex(progress, "kept|: [0-9]+ calls")

    @unittest.skipUnless(tally_program(), "there is no tally here")
    def test_machine(self):
        """One that is not there ends the walk before it begins; one that has other prices is another question."""
        status, progress, document = walk(self.root, self.folder / "nowhere", "--machine=nonsense")
        self.assertEqual((status, document), (2, None))
        self.assertIn("--machine=nonsense: unknown machine 'nonsense'", progress)
        path = self.folder / "mine.json"
        text = Path(machine()).read_text(encoding="utf-8") if os.path.exists(machine()) else ""
        if text:
            path.write_text(text, encoding="utf-8")
            walk(self.root, self.folder / "prices", "--only=second.py:add", f"--machine={path}")
            path.write_text(text.replace('"value": 0', '"value": 1', 1), encoding="utf-8")
            _, progress, _ = walk(self.root, self.folder / "prices", "--only=second.py:add", f"--machine={path}")
            self.assertNotIn("kept", progress)

    def test_arguments(self):
        """A user's call, with a reference of the user's."""
        (self.folder / "mine.py").write_text("def same(x):\n    return x\n", encoding="utf-8")
        path = self.folder / "mine.json"
        path.write_text(json.dumps({"schema": "tally-nki-arguments", "version": 1, "kernels": {
            "unknown": {"arguments": {"x": "f32[128,32]"}}, "missing": {"arguments": {}},
            "square": {"arguments": {"x": "bf16[128,16]:1"}, "reference": "mine:same"},
            "halves": {"arguments": {"x": "f32[128,16]"}, "reference": "mine:same"}}}), encoding="utf-8")
        _, progress, document = walk(self.root, self.folder / "user", f"--arguments={path}", "--only=first")
        self.assertIn(f"'{path}' has calls of missing; no kernel here is called so\n", progress)
        rows = by_name(document)
        self.assertEqual(rows["square"]["reference"]["state"], "agrees")
        self.assertEqual(rows["square"]["case"], "--arguments")
        text = (self.folder / "user" / rows["square"]["folder"] / "kernel.json").read_text(encoding="utf-8")
        self.assertIn('"name": "x", "shape": [128, 16], "type": "bf16"', text)
        self.assertEqual(rows["halves"]["reference"]["state"], "differs")
        # What a file of the user says now counts, and what it loads and reads.
        (self.folder / "helper.py").write_text("import numpy as np\nfactor = np.load('" + str(self.folder / "factor.npy") + "')\n", encoding="utf-8")
        np.save(self.folder / "factor.npy", 1)
        (self.folder / "mine.py").write_text("import helper\n\ndef same(x):\n    return helper.factor * x\n", encoding="utf-8")
        _, progress, document = walk(self.root, self.folder / "user", f"--arguments={path}", "--only=first.py:square")
        self.assertEqual(by_name(document)["square"]["reference"]["state"], "agrees")
        _, progress, document = walk(self.root, self.folder / "user", f"--arguments={path}", "--only=first.py:square")
        self.assertIn("square: kept", progress)
        for change in (lambda: np.save(self.folder / "factor.npy", 2), lambda: (self.folder / "helper.py").write_text("factor = 3\n", encoding="utf-8")):
            change()
            _, progress, document = walk(self.root, self.folder / "user", f"--arguments={path}", "--only=first.py:square")
            self.assertNotIn("square: kept", progress)
            self.assertEqual(by_name(document)["square"]["reference"]["state"], "differs")
        (self.folder / "mine.py").write_text("def same(x):\n    return 0 * x + 0.25\n", encoding="utf-8")
        _, progress, document = walk(self.root, self.folder / "user", f"--arguments={path}", "--only=first")
        self.assertNotRegex(progress, "(square|halves): kept")
        self.assertEqual(by_name(document)["square"]["reference"]["state"], "differs")

    def test_our_calls(self):
        """The calls of the page that says how public kernels fare: each reference takes the arguments of its call."""
        path = ROOT / "utils/nki-calls.json"
        spec = importlib.util.spec_from_file_location("nki_calls", ROOT / "utils/nki_calls.py")
        references = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(references)
        entries = userfile.read(path)
        self.assertEqual(len(entries), 15)
        for name, entry in entries.items():
            module, function = entry["reference"].split(":")
            self.assertEqual(module, "nki_calls", name)
            self.assertEqual(set(inspect.signature(getattr(references, function)).parameters), set(entry["arguments"]), name)

    def test_arguments_of_a_file_that_calls(self):
        """A user's call is traced, and not that which the file makes when it is loaded. No driver needs to run."""
        root = self.folder / "eager"
        root.mkdir()
        first = (self.root / "kernels/first.py").read_text(encoding="utf-8").split("if __name__")[0]
        (root / "eager.py").write_text(first + "square(np.ones((64, 8), np.float32))\n", encoding="utf-8")
        path = self.folder / "eager.json"
        path.write_text(json.dumps({"schema": "tally-nki-arguments", "version": 1, "kernels": {
            "square": {"arguments": {"x": "f32[32,4]"}}}}), encoding="utf-8")
        _, progress, document = walk(root, self.folder / "eagerly", f"--arguments={path}", "--only=square")
        self.assertNotIn(" calls", progress)
        text = (self.folder / "eagerly" / by_name(document)["square"]["folder"] / "kernel.json").read_text(encoding="utf-8")
        self.assertIn('"name": "x", "shape": [32, 4]', text)

    def test_refused(self):
        empty = self.folder / "empty"
        empty.mkdir()
        (self.folder / "bad.json").write_text("{}", encoding="utf-8")
        for root, options, text in [(self.folder / "nosuch", (), "is not a folder"), (empty, (), "no kernel in"),
                                    (self.root, ("--only=zzz",), "with 'zzz' in their names"),
                                    (self.root, ("--arguments=nosuch.json",), "cannot read 'nosuch.json'"),
                                    (self.root, (f"--arguments={self.folder / 'bad.json'}",), "tally-nki-arguments")]:
            status, progress, document = walk(root, self.folder / "none", *options)
            self.assertEqual((status, document), (2, None), text)
            self.assertRegex(progress, re.escape(text))


class ComparisonsTest(unittest.TestCase):
    """Functions that compare, on what a kernel gives."""

    def compared(self, compare, answers=None):
        made = comparisons.Comparisons(answers)
        made.begun = True
        unwatch = comparisons.watch(made, sys.modules)
        try:
            compare(comparisons.watched(np.array([1, np.nan, np.inf, 3], np.float32), False))
        finally:
            unwatch()
        return made

    def test_tolerances(self):
        """Each is noted once, with the tolerances that it has by itself or is given, by position or by name."""
        want = np.array([1, np.nan, np.inf, 3])
        for compare, absolute, relative in [
                (lambda got: np.allclose(got, want, 1e-3, equal_nan=True), 1e-8, 1e-3),
                (lambda got: np.isclose(a=got, b=want), 1e-8, 1e-5),
                (lambda got: np.array_equal(got, want), 0, 0), (lambda got: np.array_equiv(got, want), 0, 0),
                (lambda got: np.testing.assert_allclose(desired=want, actual=got, atol=1e-2), 1e-2, 1e-7),
                (lambda got: np.testing.assert_array_equal(got, want), 0, 0),
                (lambda got: np.testing.assert_equal(got, want), 0, 0),
                (lambda got: np.testing.assert_array_almost_equal(got, want, decimal=3), 1.5e-3, 0),
                (lambda got: np.testing.assert_array_almost_equal(got, want), 1.5e-6, 0),
                (lambda got: np.testing.assert_almost_equal(got, want), 1.5e-7, 0)]:
            (found,) = self.compared(compare).made
            self.assertEqual((found.absolute, found.relative), (absolute, relative))
            np.testing.assert_array_equal(found.sides, [want, want])
            self.assertTrue(comparisons.outcome(found, 0)["passed"])

    def test_not_finite(self):
        """Where one side is not, no difference is a number; JSON has none such."""
        for want in ([1, 2, 3, 3], [1, np.nan, 3, 3], [1, np.nan, -np.inf, 3]):
            (found,) = self.compared(lambda got, want=want: np.allclose(got, np.array(want))).made
            self.assertNotIn("error", comparisons.outcome(found, 0))
            json.dumps(comparisons.outcome(found, 0), allow_nan=False)

    def test_all_pass(self):
        for compare in (lambda got: self.assertTrue(np.isclose(got, [[5], [6]]).all()),
                        lambda got: np.testing.assert_array_less(got, -7), lambda got: np.testing.assert_equal(got, 7),
                        lambda got: self.assertTrue(np.array_equal(a1=got, a2=7)), lambda got: self.assertTrue((got == 7).all())):
            self.compared(compare, answers=[])

    def test_as_in_the_first_run(self):
        """What came of a comparison comes of it again."""
        def ways(got, want):
            self.assertEqual(np.allclose(got, want, equal_nan=True), False)
            with self.assertRaises(AssertionError):
                np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal((got == want), [False, False, True, True])
        first = self.compared(lambda got: ways(got, [7, 1, np.inf, 3]))
        again = self.compared(lambda got: ways(got, [1, np.nan, np.inf, 3]), first.answers)
        self.assertEqual((len(first.loose), len(again.loose), again.next), (3, 3, len(first.answers)))

    def test_asserts(self):
        """They hold as in the first run, and what is compared inside is noted; what is not possible later is not tried."""
        tree = comparisons.Asserts().visit(ast.parse("def check(got, want):\n assert got.max() < 4\n"
                                                     " assert (got == want).all() and 6 // int(3 - want[0]) > 0\n assert True"))

        def check(got, want):
            names = {comparisons.HOLDS: lambda test: comparisons._comparisons.holds(test)}
            exec(compile(tree, "check.py", "exec"), names)
            names["check"](got, want)
        first = self.compared(lambda got: check(got[:1], np.array([1])))
        again = self.compared(lambda got: check(got[3:] + 6, np.array([3])), first.answers)
        self.assertEqual((len(first.exact), len(again.exact), again.next), (1, 1, len(first.answers)))
        with self.assertRaises(AssertionError):
            self.compared(lambda got: check(got[3:], np.array([1])))

    def test_asserts_of_their_place(self):
        """Those that would say something else inside a function stay as they are."""
        for test in ("super().check()", "'got' in locals()", "eval('got') is got", "(n := 3) > 2"):
            text = f"assert {test}"
            self.assertEqual(ast.unparse(comparisons.Asserts().visit(ast.parse(text))), text)

    def test_not_followed(self):
        made = self.compared(lambda got: np.testing.assert_array_less(got[:1], 2))
        self.assertEqual((made.made, made.why_not), ([], "its test compares by 'numpy.assert_array_less', which is not followed"))
        made = self.compared(lambda got: np.testing.assert_equal({"got": got.tolist()}, {"got": [1, np.nan, np.inf, 3]}))
        self.assertEqual(made.made, [])

    def test_types(self):
        """Tolerances of torch are those of the types; any object with a type will do."""
        def given(*names):
            return comparisons._close_for_types([types.SimpleNamespace(dtype=f"torch.{name}") for name in names])
        self.assertEqual([given("bfloat16", "float32"), given("float16", "float64"), given("float64", "float64"), given("int32", "int32")],
                         [(1e-5, 1.6e-2), (1e-5, 1e-3), (1e-7, 1e-7), (0, 0)])


class OthersTest(unittest.TestCase):
    def test_each_number(self):
        """Each number becomes another one of its type, and those in proportion do not stay so."""
        for name, element in ELEMENTS.items():
            if element.packed:
                continue
            numbers = rounded(np.array([[0, 1, 2, 1e-7, 3e-3], [100, np.inf, 57, 96, 1]], np.float64), element)
            numbers[np.isnan(numbers)] = 1  # where the type has no infinity
            made = again.others(numbers)
            self.assertEqual((made.dtype, made.shape), (numbers.dtype, numbers.shape))
            self.assertTrue((made != numbers).all() and np.isfinite(made).all(), name)
            np.testing.assert_array_equal(element.fit(made), made)
            self.assertFalse((made * numbers[0, 1] == numbers * made[0, 1]).all(), name)

    def test_what_rows_are_looked_for_by(self):
        """Where a kernel goes on with other numbers, rows that it looks for by them are still there."""
        numbers = rounded(np.array([1, 2, 7, 96, -3], np.float64), ELEMENTS["float32"])
        for made in (again.smaller(numbers), again.disturbed(numbers)):
            self.assertTrue((made != numbers).all() and (np.sign(made) == np.sign(numbers)).all() and (np.abs(made) < np.abs(numbers)).all())
        np.testing.assert_array_equal(again.disturbed(rounded(np.arange(4), ELEMENTS["int32"])), [1, 0, 3, 2])

    def test_larger_and_smaller(self):
        """Of each type, as far as it has such; a NaN becomes a number."""
        for name, element in ELEMENTS.items():
            if element.packed or name == "bool_":
                continue
            numbers = rounded(np.array([1, 2, 3, 8, 20], np.float64), element)
            more, less = again.larger(numbers).astype(np.float64), again.smaller(numbers).astype(np.float64)
            self.assertTrue((more >= numbers).all() and (more[:3] > numbers[:3]).all(), name)
            self.assertTrue((less <= numbers).all() and (less[1:] < numbers[1:]).all(), name)
            if element.is_float:
                odd = again.larger(rounded(np.array([np.nan, 440, -440]), element))
                self.assertTrue(np.isfinite(odd).all(), name)
        ends = np.array([np.iinfo(np.int32).min, np.iinfo(np.int32).max], np.int32)
        self.assertEqual((again.larger(ends)[1], again.smaller(ends)[0]), (ends[1], ends[0]))

    def test_words(self):
        """Of words that hold several numbers, each of them."""
        for element in filter(lambda element: element.packed, ELEMENTS.values()):
            words = np.arange(6, dtype=element.dtype).reshape(2, 3)
            before, after = (unpacked(element, array) for array in (words, again.others(words)))
            self.assertTrue((before != after).all(), element.name)

    def test_what_nothing_has_written(self):
        """It counts, and is another number in other runs."""
        numbers = np.array([np.nan, 1], np.float32)
        self.assertEqual(again.how_many([numbers]), 2)
        self.assertTrue(np.isfinite(again.others(rounded(numbers, ELEMENTS["float32"]))).all())


class JudgedTest(unittest.TestCase):
    """Which side is a reference: by the numbers of several runs."""

    RESULT = np.array([1, 2, np.nan, 2], np.float32)
    changes = None

    def run_of(self, compare, way, number, answers):
        """`compare` is given the result of the call that is traced, that of another one, and the number of the run."""
        made = comparisons.Comparisons(answers)
        made.begun = True
        result = self.RESULT if way is None else way.numbers(self.RESULT)
        unwatch = comparisons.watch(made, sys.modules)
        try:
            compare(result, (self.RESULT if way is None or way.alone else result) + 1, number)
        except AssertionError:
            pass
        finally:
            unwatch()
        return made

    def judged(self, compare, passes=True):
        """Those that pass or not, how many numbers, why not, and whether one run changed only the call that is traced."""
        made = self.run_of(compare, None, 0, None)
        first = again.First(("k.py", "k"), self.RESULT, made.made, made.answers, passes, set(), self.changes)
        self.assertEqual(again.may_be_of_others(first, again.run_of(first, first.made, False)), False)
        runs = {}
        while (way := again.next_way(first, runs)) is not None:
            runs[way] = again.run_of(first, self.run_of(compare, again.WAYS[way], len(runs) + 1, first.answers).made, False)
        found = again.judged(first, runs)
        self.made = found["made"]
        return [one["passed"] for one in found["comparisons"]], found["numbers"], found["why_not"], "alone" in runs

    def test_whole(self):
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_array_equal(got, self.RESULT)), ([True], 4, None, False))

    def test_made_of_signs_or_whole_numbers(self):
        """What is made of the signs or the whole numbers of a result changes with it."""
        for made, result in ((np.sign, [1, -1, 1]), (np.round, [0, 0]), (np.floor, [0, 0]), (np.trunc, [0, 0]), (np.abs, [3, 9])):
            self.RESULT = np.array(result, np.float32)
            found = self.judged(lambda got, *_, made=made: np.testing.assert_allclose(got, made(got)), passes=False)
            self.assertEqual(found[:3], ([], 0, again._MADE_OF_IT), made.__name__)

    def test_made_of_results_up_to_some(self):
        """What is made of results may be the same for results that go one way, or that are far enough."""
        small, large = np.array([0.5, 1, 1.5, 0.75], np.float32), np.array([9, 7, 3, 5], np.float32)
        for result, made in ((small, lambda got: np.maximum(got, small)), (-small, lambda got: np.minimum(got, -small)),
                             (large, lambda got: np.clip(got, large / 2, large)), (large, lambda got: np.clip(got, large, 99)),
                             (-small, lambda got: np.where(got < 0.1, got, 1 - small) if (got > 0).all() else -small),
                             (small, lambda got: small if got.mean() < 2 else 2 * small),
                             (large, lambda got: large if got.mean() > 4 else large / 2),
                             (np.array([9, 7, 3, 5], np.int32), lambda got: large if got.mean() < 10 else 2 * large),
                             (large, lambda got: large if np.abs(got).mean() > 2 else got),
                             (small, lambda got: min((small, 2 * small, 4 * small), key=lambda each: np.abs(got - each).sum())),
                             (large, lambda got: np.where(np.abs(got - large) < 40, got, large))):
            self.RESULT = result
            found = self.judged(lambda got, *_, made=made: np.testing.assert_array_equal(got, made(got)))
            self.assertEqual(found[:3], ([], 0, again._MADE_OF_IT), result)

    def test_zeros(self):
        """Where the reference and the result are 0, a tolerance that 1 would pass by says nothing."""
        self.RESULT = np.zeros(4, np.float32)
        for most, counted in ((1e-3, 4), (1, 0), (1e9, 0)):
            found = self.judged(lambda got, *_, most=most: np.testing.assert_allclose(got, np.zeros(4), atol=most))
            self.assertEqual(found[1:3], (counted, None if counted else again._ANY), most)

    def test_other_call(self):
        """It is not compared; of both together, the numbers of one count."""
        want = self.RESULT + 1
        self.assertEqual(self.judged(lambda _, other, __: np.testing.assert_array_equal(other, want)), ([], 0, again._OF_OTHERS, True))
        found = self.judged(lambda got, other, _: np.testing.assert_array_equal(np.stack([got, other]), np.stack([self.RESULT, want])))
        self.assertEqual(found, ([True], 4, None, True))

    def test_reference_of_another_call(self):
        self.assertEqual(self.judged(lambda got, other, _: np.testing.assert_array_equal(got, other - 1)), ([], 0, again._MADE_OF_IT, False))

    def test_noise(self):
        """What is another number in each run is of no call."""
        found = self.judged(lambda _, __, run: np.testing.assert_allclose(np.full(4, run / 8), np.ones(4), atol=2))
        self.assertEqual(found, ([], 0, again._OF_OTHERS, True))

    def test_another_reference_in_each_run(self):
        """It is seen by a run with the same results that it owes nothing to them."""
        for compare in (lambda got, _, run: np.testing.assert_allclose(got, self.RESULT + run),
                        lambda got, _, run: run == 1 or np.testing.assert_allclose(got, self.RESULT + run // 2)):
            self.assertEqual(self.judged(compare)[:3], ([], 0, again._NOT_TWICE))

    def test_single_numbers(self):
        found = self.judged(lambda got, *_: np.testing.assert_allclose(np.nansum(got), 5))
        self.assertEqual((found, self.made), (([True], 0, None, True), 1))

    def test_made_of_results(self):
        """However many they are, it is not seen which numbers they are made of."""
        def compare(got, *_):
            for factor in (2, 3):
                np.testing.assert_allclose(got[:2] * factor, self.RESULT[:2] * factor)
        self.assertEqual((self.judged(compare), self.made), (([True] * 2, 0, None, True), 4))

    def test_tolerances_that_allow_all(self):
        """A difference as large as the numbers says nothing of them; where all are 0, they are equal."""
        for options in ({"atol": np.inf}, {"atol": 3}, {"rtol": 1}, {"rtol": np.inf}):
            compare = lambda got, *_, options=options: np.testing.assert_allclose(got[:2], [2, 3], **options)  # noqa: E731
            self.assertEqual(self.judged(compare)[:3], ([], 0, again._ANY), options)
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_allclose(got[:2], [2, 3], atol=2.9))[0], [True])
        for swapped in ({"rtol": 1}, {"rtol": 0.6}, {"rtol": 4}):
            compare = lambda got, *_, options=swapped: np.testing.assert_allclose([2, 3], got[:2], **options)  # noqa: E731
            self.assertEqual(self.judged(compare)[:3], ([], 0, again._ANY), swapped)
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_allclose(got[:2], [2, 3], rtol=0.95))[:3], ([], 0, again._ANY))
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_allclose([1.1, 2.2], got[:2], rtol=0.4))[0], [True])

    def test_numbers_that_a_tolerance_spares(self):
        """Those that would pass as 0 do not count, however large one of them is; nor does how large the wrong ones are."""
        self.RESULT = np.array([1000, 1, 2, 3], np.float32)
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_allclose(got, self.RESULT, atol=10)), ([True], 1, None, False))
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_allclose(got[1:], [1, 2, 3], atol=0.01)), ([True], 3, None, False))
        # The usual size is that of the kernel's numbers.
        self.RESULT = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
        found = self.judged(lambda got, *_: np.testing.assert_allclose(np.append(got, [1e6] * 9), [0.9] * 4 + [1e6] * 9, atol=1))
        self.assertEqual(found[:3], ([], 0, again._ANY))
        self.RESULT = np.array([400, 500, 600, 700], np.float32)
        for options in ({"atol": 799}, {"atol": 0.6, "rtol": 0.7}):
            found = self.judged(lambda got, *_, options=options: np.testing.assert_allclose(got, [1, 2, 2, 1], **options), passes=False)
            self.assertEqual(found[:3], ([], 0, again._ANY), options)

    def test_parts(self):
        """Of the results, the kernel that is asked for makes only the second half."""
        self.changes = np.array([0, 0, 1, 0.5])
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_array_equal(got, self.RESULT)), ([True], 2, None, False))
        self.RESULT = np.array([1, 2, 3, 4], np.float32)
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_array_equal(got[:2], [1, 2]))[:3], ([], 0, again._NOT_OF_PART))
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_array_equal(got[1:], [2, 3, 4]))[:3], ([True], 2, None))
        # As wrong as the part may be, the comparison would not find that.
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_allclose(got, self.RESULT, atol=0.7))[:3], ([True], 1, None))
        self.assertEqual(self.judged(lambda got, *_: np.testing.assert_allclose(got[3:], [4], atol=0.7))[:3], ([], 0, again._NOT_OF_PART))

    def test_tolerance_of_results(self):
        """What is as wrong as it is passes by it."""
        compare = lambda got, *_: np.testing.assert_allclose(got[:2], 9, atol=np.abs(got[:2] - 9).max())  # noqa: E731
        self.assertEqual(self.judged(compare)[:3], ([], 0, again._TOLERANCE))

    def test_expected_to_differ(self):
        """A test that passes expects that; a program may only tell."""
        compare = lambda got, *_: self.assertFalse(np.allclose(got, 5))  # noqa: E731
        self.assertEqual(self.judged(compare)[:3], ([], 0, again._SOME))
        self.assertEqual(self.judged(compare, passes=False)[:2], ([False], 4))

    def test_overlapping(self):
        """Each number counts once, though it is compared twice, and the same number is there twice."""
        def compare(got, *_):
            for end in (1, 2, 2):
                np.testing.assert_array_equal(got[:end], self.RESULT[:end])
        self.assertEqual(self.judged(compare), ([True] * 3, 2, None, False))

    def test_sides(self):
        """A tolerance is relative to the second side; one relative to no number allows nothing."""
        for compare, passes in [(lambda got: np.allclose(1, got, rtol=0.5), True), (lambda got: np.allclose(got, 1, rtol=0.5), False),
                                (lambda got: np.allclose(got, np.inf), False),
                                (lambda got: got == comparisons.Approx(2.4, 0.2), True),
                                (lambda got: 2.0 == comparisons.Approx(2.4, absolute=0.1), False)]:
            made = comparisons.Comparisons()
            made.begun = True
            unwatch = comparisons.watch(made, sys.modules)
            self.assertEqual(bool(np.all(compare(np.full(3, 2, np.float32).view(comparisons.Watched)))), passes)
            unwatch()
            (found,) = made.made
            result = 1 if np.all(found.sides[1] == 2) else 0
            self.assertEqual(comparisons.outcome(found, result)["passed"], passes)


if __name__ == "__main__":
    unittest.main()
