"""The command line: what it writes, what it refuses, and how it ends."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from tally.nki.command import main

from .support import KERNELS, machine, tally


def run(*arguments):
    """Exit status, stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()


VALUES = [("i32[2]:3000000000", "3000000000: 'i32' has whole numbers from -2147483648 to 2147483647"),
          ("i32[2]:99999999999999999999999", "'i32' has whole numbers from"), ("u8[2]:-1", "-1: 'u8' has whole numbers from 0 to 255"),
          ("i8[2]:200", "200: 'i8' has whole numbers from -128 to 127"), ("i32[2]:1.5", "1.5: 'i32' has whole numbers"),
          ("f32[4,4]:None", "'None' is neither a number nor a list"), ('f32[4,4]:"a"', "neither a number nor a list"),
          ("f32[2]:1j", "neither a number nor a list"), ("f16[2]:1e6", "1000000.0: it is too large for 'f16'"),
          ("f32[2]:" + 5000 * "(", "neither a number nor a list")]


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="tally-nki-")))

    def test_files(self):
        status, out, err = run(KERNELS / "second.py", "scale", "--arg", "x=f32[256,64]",
                               "--arg", "factor=3.0", "-o", self.folder / "k.json", f"--inputs={self.folder / 'in'}",
                               f"--expect={self.folder / 'want'}", f"--summary={self.folder / 's.json'}")
        self.assertEqual((status, out), (0, ""), err)
        self.assertIn("6 operations -> 3 instructions, 1 loop\n", err)
        kernel = json.loads((self.folder / "k.json").read_text(encoding="utf-8"))
        self.assertEqual((kernel["schema"], kernel["name"]), ("tally-kernel", "scale"))
        x, want = np.load(self.folder / "in/x.npy"), np.load(self.folder / "want/out.npy")
        self.assertTrue((want == 3 * x + 1).all())
        summary = json.loads((self.folder / "s.json").read_text(encoding="utf-8"))
        self.assertEqual((summary["operations"], summary["instructions"]), (6, 3))

    def test_nobody_reads(self):
        """What is printed goes to a pipe whose other end is closed."""
        (self.folder / "k.json").write_text('{"name": "k", "buffers": []}', encoding="utf-8")
        (self.folder / "want").mkdir()
        there, here = os.pipe()
        os.close(there)
        with open(here, "w", encoding="utf-8") as closed:
            ended = subprocess.run([sys.executable, "-m", "tally.nki", "compare", self.folder / "k.json", self.folder / "want", self.folder / "got"],
                                   stdout=closed, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(KERNELS.parents[1])},
                                   check=False)
        self.assertEqual((ended.returncode, ended.stderr), (2, "error: cannot write to stdout: Broken pipe\n"))

    def test_one(self):
        path = self.folder / "k.py"
        path.write_text("import nki.isa as nisa\ndef k(x):\n    nisa.dma_copy(dst=x[0:1], src=x[1:2])\n", encoding="utf-8")
        self.assertIn("k: 1 operation -> 1 instruction, 0 loops\n", run(path, "k", "--arg", "x=f32[2,2]", "-o", self.folder / "k.json")[2])

    def test_progress(self):
        """Every few seconds, how many operations there were so far, and where the kernel is."""
        path = self.folder / "many.py"
        path.write_text("import nki\nimport nki.isa as nisa\n@nki.jit\ndef k(x):\n    for i in range(3000):\n"
                        "        nisa.dma_copy(dst=x[0:1], src=x[1:2])\n", encoding="utf-8")
        with mock.patch("tally.nki.command._EVERY", 0.02):
            status, _, err = run(path, "k", "--arg", "x=f32[2,2]", "-o", self.folder / "k.json")
        self.assertEqual(status, 0, err)
        told = [line for line in err.splitlines() if line.startswith("...") and "iteration" in line]
        self.assertGreater(len(told), 1, err)
        self.assertRegex(told[-1], r"^\.\.\. \d+ operations after \d+ s, at .*many\.py:[56]:\d+, in iteration \d+ of 'i'$")
        _, _, err = run(path, "k", "--arg", "x=f32[2,2]", "-o", self.folder / "k.json", "-q")
        self.assertEqual(err, "")

    def test_progress_after_the_kernel(self):
        """While the kernel is written, none of its lines is named, nor one of the program that was started."""
        (self.folder / "launch.py").write_text("import sys\nimport tally.nki.command as command\ncommand._EVERY = 0.001\n"
                                               "sys.exit(command.main(sys.argv[1:]))\n", encoding="utf-8")
        done = subprocess.run([sys.executable, self.folder / "launch.py", KERNELS / "second.py", "scale", "--arg", "x=f32[1024,512]",
                               f"--inputs={self.folder / 'in'}", "-o", self.folder / "k.json"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(KERNELS.parents[1])}, check=True)
        told = [line for line in done.stderr.splitlines() if line.startswith("... ")]
        self.assertGreater(len(told), 1)
        self.assertNotIn("launch.py", done.stderr)

    def test_no_operation(self):
        """What works without an operation is refused, with its line, also in an expression."""
        path = self.folder / "silent.py"
        path.write_text("import nki\n@nki.jit\ndef k(x):\n    n = 1\n    return sum(n for _ in iter(int, n))\n", encoding="utf-8")
        before = signal.getsignal(signal.SIGALRM)
        with mock.patch("tally.nki.command._EVERY", 0.05), mock.patch("tally.nki.command._PATIENCE", 0.2):
            status, _, err = run(path, "k", "--arg", "x=f32[2,2]", "-o", self.folder / "k.json", "-q")
        self.assertEqual(status, 2)
        self.assertRegex(err, r"silent\.py:5:\d+: error: the kernel has worked for 0.2 s without an operation; does it end\?\n")
        self.assertEqual((signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)), (before, (0.0, 0.0)))
        path.write_text("import re, nki\n@nki.jit\ndef k(x):\n    re.match('(a|aa)+$', 'a' * 60 + 'b')\n", encoding="utf-8")
        with mock.patch("tally.nki.command._EVERY", 0.05), mock.patch("tally.nki.command._PATIENCE", 0.2):
            status, _, err = run(path, "k", "--arg", "x=f32[2,2]", "-o", self.folder / "k.json", "-q")
        self.assertRegex(err, r"silent\.py:4:\d+: error: the kernel has worked for 0.2 s without an operation")  # not a line of 're'
        path.write_text("import nki, time\n@nki.jit\ndef k(x):\n    time.sleep(60)\n", encoding="utf-8")
        with mock.patch("tally.nki.command._EVERY", 0.05), mock.patch("tally.nki.command._WAITING", 0.2):
            status, _, err = run(path, "k", "--arg", "x=f32[2,2]", "-o", self.folder / "k.json", "-q")
        self.assertEqual(status, 2)
        self.assertIn("silent.py:4:5: error: the kernel has waited for 0.2 s without an operation; does it end?\n", err)

    def test_compare(self):
        """Results in types that NumPy has not: the simulator writes their bits, and NumPy's are numbers."""
        kernel, want, got = self.folder / "k.json", self.folder / "want", self.folder / "got"
        status, _, err = run(KERNELS / "second.py", "scale", "--arg", "x=bf16[256,64]", "-o", kernel, f"--expect={want}")
        self.assertEqual(status, 0, err)
        bits = (np.load(want / "out.npy").view(np.uint32) >> 16).astype(np.uint16)
        got.mkdir()
        for change, said in ((0, "out: bf16, 16384 numbers: largest difference 0.0e+00 of the largest number, 7.8e-03 is allowed: yes\n"
                              "verdict: yes\n"), (1 << 14, "is allowed: no\nverdict: no\n")):
            np.save(got / "out.npy", bits ^ np.uint16(change))
            status, out, err = run("compare", kernel, want, got)
            self.assertEqual((status, err), (change > 0, ""))
            self.assertTrue(out.endswith(said), out)
        np.save(got / "out.npy", np.where(np.arange(64) < 3, np.uint16(0x7FC0), bits))
        self.assertIn("768 are not written", run("compare", kernel, want, got)[1])
        for wrong in (np.full(bits.shape, "a"), bits.astype(np.complex64)):
            np.save(got / "out.npy", wrong)
            self.assertIn("not whole numbers or floats", run("compare", kernel, want, got)[2])
        np.save(got / "out.npy", bits[1:])
        for words, text in (((kernel, want, got), "'out' has 16320 elements in"), ((kernel, want, self.folder), "cannot read"),
                            ((kernel, got / "no", got), "is not a folder"), ((want / "out.npy", want, got), "cannot be read as a kernel")):
            status, out, err = run("compare", *words)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(text, err)

    def test_compare_nan(self):
        """NaN that NumPy has computed is a result; what nothing has written is none."""
        kernel, want, got = self.folder / "k.json", self.folder / "want", self.folder / "got"
        path = self.folder / "half.py"
        path.write_text("import nki.isa as nisa\nimport nki.language as nl\ndef k(x):\n"
                        "    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
                        "    nisa.dma_copy(dst=out[0:2], src=x[0:2])\n    return out\n", encoding="utf-8")
        x = np.arange(32, dtype=np.float32).reshape(4, 8)
        x[0, 3] = np.nan
        for rows, said in ((x, "15 numbers and 1 NaN"), (np.full_like(x, np.nan), "0 numbers and 16 NaN"), (x[::-1], "16 numbers")):
            np.save(self.folder / "x.npy", rows)
            self.assertEqual(run(path, "k", "--arg", f"x=@{self.folder / 'x.npy'}", "-o", kernel, f"--expect={want}", "-q")[0], 0)
            got.mkdir(exist_ok=True)
            np.save(got / "out.npy", np.where(np.arange(4)[:, None] < 2, rows, np.nan))
            status, out, _ = run("compare", kernel, want, got)
            self.assertEqual((status, out.endswith("verdict: yes\n")), (0, True), out)
            self.assertIn(f"out: f32, {said}: largest", out)
        self.assertFalse((want / "nan" / "out.npy").exists())  # of the run before
        np.save(want / "nan" / "mine.npy", x)
        np.save(self.folder / "x.npy", x)
        run(path, "k", "--arg", f"x=@{self.folder / 'x.npy'}", "-o", kernel, f"--expect={want}", "-q")
        self.assertTrue((want / "nan" / "mine.npy").exists())
        status, _, err = run(path, "k", "--arg", f"x=@{want / 'nan/mine.npy'}", "-o", kernel, f"--expect={want}", "-q")
        self.assertEqual(status, 2)
        self.assertIn("mine.npy', which is there and is read by '--arg x=...'", err)
        np.save(got / "out.npy", np.nan_to_num(x))
        status, out, _ = run("compare", kernel, want, got)
        self.assertEqual((status, out.endswith("verdict: no\n")), (1, True), out)
        self.assertIn("1 are numbers where NumPy has NaN", out)
        np.save(want / "out.npy", np.full_like(x, np.nan))
        (want / "nan" / "out.npy").unlink()
        (self.folder / "none").mkdir()
        self.assertEqual(run("compare", kernel, self.folder / "none", got)[:2], (2, "verdict: nothing to compare\n"))
        status, out, _ = run("compare", kernel, want, got)
        self.assertEqual((status, out.endswith("verdict: no\n")), (1, True), out)
        self.assertIn("32 are numbers where NumPy has computed none", out)
        np.save(got / "out.npy", np.full_like(x, np.nan))
        self.assertEqual(run("compare", kernel, want, got)[:2], (2, "out: f32, 0 numbers: nothing to compare\nverdict: nothing to compare\n"))

    def test_compare_with_nothing(self):
        """What is made of what nothing has written is NaN for NumPy, and the simulator writes no file of it."""
        path = self.folder / "last.py"
        path.write_text("""import nki, nki.isa as nisa, nki.language as nl

def last(x, n):
    out = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=n)
    tile = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.dynamic_range(nisa.register_alloc(number)):
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
    nisa.dma_copy(dst=out, src=tile)
    return out
""", encoding="utf-8")
        kernel, want, got = self.folder / "last.json", self.folder / "w", self.folder / "g"
        got.mkdir()
        self.assertEqual(run(path, "last", "--arg", "x=f32[512,4]", "--arg", "n=i32[1,1]:3", "-o", kernel, "-q")[0], 0)
        self.assertEqual(run(path, "last", "--arg", "x=f32[512,4]", "--arg", "n=i32[1,1]:0", f"--results-of={kernel}", f"--expect={want}", "-q")[0], 0)
        status, out, _ = run("compare", kernel, want, got)
        self.assertEqual((status, out), (2, "out: f32, 0 numbers and 512 NaN: nothing to compare\nverdict: nothing to compare\n"))

    def test_compare_all(self):
        """All results of one kernel, each as large as its buffer, and in two folders."""
        kernel, want, got = self.folder / "k.json", self.folder / "want", self.folder / "got"
        path = self.folder / "two.py"
        path.write_text("import nki.isa as nisa\nimport nki.language as nl\ndef two(x):\n"
                        "    a = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
                        "    b = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
                        "    nisa.dma_copy(dst=a, src=x)\n    nisa.dma_copy(dst=b, src=x)\n    return a, b\n"
                        "def other(x):\n    return two(x)\n", encoding="utf-8")
        made = run(path, "two", "--arg", "x=f32[4,8]", "-o", kernel, f"--expect={want}", "-q")
        self.assertEqual(made[0], 0, made[2])
        shutil.copytree(want, got)
        self.assertEqual(run("compare", kernel, want, got)[0], 0)
        for change, said in ((lambda: (want / "b.npy").unlink(), f"cannot read '{want / 'b.npy'}'"),
                             (lambda: [np.save(folder / "b.npy", np.zeros((1, 8), np.float32)) for folder in (want, got)],
                              f"'b' has 8 elements in '{want}', and 32 in"),
                             (lambda: run(path, "other", "--arg", "x=f32[4,8]", f"--expect={want}", "-o", self.folder / "o.json", "-q"),
                              f"'{want}' has results of kernel 'other', and '{kernel}' is kernel 'two'")):
            change()
            status, out, err = run("compare", kernel, want, got)
            self.assertEqual((status, "yes" in out.split("\n")[-2:]), (2, False), out)
            self.assertIn(said, err)
        status, _, err = run("compare", kernel, want, self.folder / "two/../want")
        self.assertEqual(status, 2)
        self.assertIn("are one folder", err)

    def test_scale(self):
        """What is large is said by numbers that stand for themselves."""
        from tally.nki.compare import Difference
        want = np.arange(1.0, 65.0).reshape(8, 8)
        for fill, where in ((-3.4e38, want % 2 == 0), (1e38, want == 64), (-30000, want % 3 == 0), (np.inf, want == 1)):
            filled = np.where(where, fill, want)
            self.assertTrue(Difference(filled, filled).is_within(1e-5), fill)
            wrong = filled.copy()
            wrong[0, 4] += 0.5
            self.assertFalse(Difference(wrong, filled).is_within(1e-5), fill)
            lost = np.where(where, want, filled)
            self.assertFalse(Difference(lost, filled).is_within(1e-5), fill)
        whole = np.arange(8192, dtype=np.int32).reshape(64, 128)
        for large, off, answer in ((whole, 0, True), (whole, 1, True), (whole, 2, False), (whole + 2**30, 60, True), (whole + 2**30, 10000, False)):
            self.assertEqual(Difference(large + np.int32(off), large, is_whole=True).is_within(8e-3), answer, off)
        ones = np.where(want % 2, 1.0, 0.0)
        self.assertTrue(Difference(ones + 1e-7, ones).is_within(1e-5))
        self.assertFalse(Difference(ones + 1e-4, ones).is_within(1e-5))
        self.assertFalse(Difference(np.zeros((4, 4)), np.full((4, 4), np.nan)).is_within(1e-5))

    def test_refusals_name_places(self):
        """Of what is not modelled, and of what the kernel itself raises."""
        for line, text in (("nl.counter + 1", "k.py:6:5: error: 'nki.language.counter' is not modelled, and so it has no value"),
                           ("for _ in nl.rows: pass", "error: 'nki.language.rows' is not modelled"),
                           ("x.counter = 1", "k.py:6: error: the kernel raises AttributeError: 'tensor' object has no attribute 'counter'")):
            path = self.folder / "k.py"
            path.write_text("import nki\nimport nki.isa as nisa\nimport nki.language as nl\n@nki.jit\ndef k(x):\n"
                            f"    {line}\n    return x\n", encoding="utf-8")
            status, _, err = run(path, "k", "--arg", "x=f32[128,8]", "-o", self.folder / "k.json", "-q")
            self.assertEqual(status, 2)
            self.assertIn(text, err)

    def test_interrupted(self):
        """Though the kernel catches all that Python raises."""
        file = self.folder / "swallows.py"
        file.write_text("import time\ndef k(x):\n    while True:\n        try:\n            time.sleep(0.01)\n"
                        "        except BaseException:\n            pass\n", encoding="utf-8")
        command = [sys.executable, "-m", "tally.nki", str(file), "k", "--arg", "x=f32[4,4]", "-o", str(self.folder / "k.json")]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1],
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, err), (2, "error: interrupted\n"))
        self.assertFalse((self.folder / "k.json").exists())

    def test_results_of_ring(self):
        """A tensor in HBM that each iteration makes has one place for all, so it is not a result; others are."""
        kernel = self.folder / "k.json"
        given = KERNELS / "dynamic.py", "through_hbm", "--arg", "x=f32[32,8]"
        self.assertEqual(run(*given, "--arg", "n=i32[1,1]:4", "-o", kernel, "-q")[0], 0)
        for n in (0, 1, 2, 7):
            folders = f"--inputs={self.folder / f'in{n}'}", f"--expect={self.folder / f'want{n}'}"
            self.assertEqual(run(*given, "--arg", f"n=i32[1,1]:{n}", f"--results-of={kernel}", *folders), (0, "", ""))
            status, text = tally("sim", kernel, f"--machine={machine()}", f"--trips=i={n}", f"--inputs={self.folder / f'in{n}'}",
                                 f"--outputs={self.folder / 'out'}", "--check-data")
            self.assertEqual(status, 0, text)
            status, text, err = run("compare", kernel, self.folder / f"want{n}", self.folder / "out")
            self.assertEqual((status, f"out: f32, {32 * n} numbers" in text), (0 if n else 2, True), text + err)
            shutil.rmtree(self.folder / "out", ignore_errors=True)

    def test_results_of_rings(self):
        """The same where the loop is reached twice."""
        kernel = self.folder / "k.json"
        given = KERNELS / "dynamic.py", "through_hbm_twice", "--arg", "x=f32[32,8]"
        self.assertEqual(run(*given, "--arg", "n=i32[1,1]:4", "-o", kernel, "-q")[0], 0)
        for n in (0, 1, 2, 7):
            folders = f"--inputs={self.folder / 'in'}", f"--expect={self.folder / f'want{n}'}"
            self.assertEqual(run(*given, "--arg", f"n=i32[1,1]:{n}", f"--results-of={kernel}", *folders), (0, "", ""))
            self.assertEqual(int((~np.isnan(np.load(self.folder / f"want{n}" / "out.npy"))).sum()), 32 * n)

    def test_results_of_parts(self):
        """Whole numbers that nothing is written to, and an input that no iteration changes, are told from results."""
        kernel, out = self.folder / "k.json", self.folder / "out"
        given = KERNELS / "dynamic.py", "updated", "--arg", "x=f32[32,8]"
        self.assertEqual(run(*given, "--arg", "n=i32[1,1]:3", "-o", kernel, "-q")[0], 0)
        for n in (0, 1, 3, 8):
            folders = f"--inputs={self.folder / 'in'}", f"--expect={self.folder / 'want'}"
            self.assertEqual(run(*given, "--arg", f"n=i32[1,1]:{n}", f"--results-of={kernel}", *folders), (0, "", ""))
            self.assertEqual(json.loads((self.folder / "want/results.json").read_text())["results"], ["out", "x"])
            for trips in (n, n + 1, n - 1):
                if not 0 <= trips <= 8:
                    continue
                shutil.rmtree(out, ignore_errors=True)
                status, text = tally("sim", kernel, f"--machine={machine()}", f"--trips=i={trips}", f"--inputs={self.folder / 'in'}",
                                     f"--outputs={out}")
                self.assertEqual(status, 0, text)
                if not (out / "out.npy").exists():
                    np.save(out / "out.npy", np.full((32, 8), np.iinfo(np.int32).min, np.int32))
                status, text, err = run("compare", kernel, self.folder / "want", out)
                self.assertEqual(status, 0 if trips == n else 1, text + err)
                if trips == n:
                    self.assertIn("out: i32, 0 numbers: nothing" if n == 0 else f"out: i32, {32 * n} numbers: largest", text)

    def test_results_of(self):
        """Inputs and results for a kernel that was written before, at other trips, 0 among them."""
        kernel, got = self.folder / "k.json", self.folder / "out"
        x = "x=f32[4,640,8]"

        def given(outer, inner, x=x):
            return KERNELS / "dynamic.py", "sums", "--arg", x, "--arg", f"n=i32[1,1]:{outer}", "--arg", f"m=i32[1,1]:{inner}"

        self.assertEqual(run(*given(3, 2), "-o", kernel, "-q")[0], 0)
        for outer, inner, count in ((0, 3, 0), (2, 0, 2), (1, 1, 1), (4, 5, 4)):
            inputs, want = self.folder / f"in{outer}", self.folder / f"want{outer}"
            self.assertEqual(run(*given(outer, inner), f"--results-of={kernel}", f"--inputs={inputs}", f"--expect={want}"), (0, "", ""))
            status, text = tally("sim", kernel, f"--machine={machine()}", f"--trips=outer={outer}", f"--trips=inner={inner}",
                                 f"--inputs={inputs}", f"--outputs={got}", "--check-data")
            self.assertEqual(status, 0, text)
            status, text, _ = run("compare", kernel, want, got)
            self.assertIn(f"out: f32, {count * 128 * 8} numbers: ", text)
            self.assertEqual(status, 0 if count else 2, text)
        expect = f"--expect={self.folder / 'want'}"
        other = self.folder / "other.json"
        other.write_text(kernel.read_text().replace('"name": "sums"', '"name": "rows"', 1))
        for words, text in (((f"--results-of={kernel}", expect, "-o", self.folder / "l.json"), "so '-o' has no use"),
                            ((f"--results-of={kernel}",), "say where, by '--inputs=DIR'"),
                            ((f"--results-of={KERNELS / 'dynamic.py'}", expect), "cannot be read as a kernel"),
                            ((f"--results-of={other}", expect), "is kernel 'rows', not 'sums'"),
                            ((f"--results-of={kernel}", expect, "--arg", x), "'--arg x=...' is given twice"),
                            ((f"--results-of={kernel}", expect), "'x' is f32[4, 512, 8], and f32[4, 640, 8] in")):
            status, out, err = run(*given(3, 2, "x=f32[4,512,8]" if "640" in text else x), *words)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(text, err)
        self.assertFalse((self.folder / "want").exists())

    def test_bounds(self):
        given = KERNELS / "dynamic.py", "unbounded", "--arg", "x=f32[128,8]", "--arg", "n=i32[1,1]:3"
        status, out, err = run(*given, "--max-trips=i=7", "-q")
        self.assertEqual((status, err), (0, ""))
        self.assertIn('"trips": {"value": "register", "max": 7}', out)
        self.assertIn("is not of the form LOOP=N, as in '--max-trips=i=64'", run(*given, "--max-trips=7")[2])

    def test_stdout(self):
        """The document is all of stdout, whatever the kernel prints."""
        path = self.folder / "k.py"
        path.write_text("import nki.isa as nisa\nprint(1)\ndef k(x):\n    print(2)\n"
                        "    nisa.dma_copy(dst=x[0:1], src=x[1:2])\n", encoding="utf-8")
        status, out, err = run(path, "k", "--arg", "x=f32[2,2]", "-q")
        self.assertEqual(status, 0, err)
        self.assertEqual(json.loads(out)["name"], "k")
        self.assertEqual(err, "1\n2\n")

    def test_stdout_takes_nothing(self):
        command = (f"exec {sys.executable} -m tally.nki {KERNELS / 'second.py'} scale --arg 'x=f32[256,64]' "
                   "--arg factor=3.0 -q")
        for stream, problem in ((">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")):
            done = subprocess.run(["bash", "-c", f"{command} {stream}"], stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONPATH": str(KERNELS.parents[1])}, check=False)
            self.assertEqual((done.returncode, done.stderr), (2, f"error: cannot write to stdout: {problem}\n"))

    def test_values(self):
        path = self.folder / "k.py"
        path.write_text("import nki.isa as nisa\nimport nki.language as nl\n"
                        "def k(x, a, t, n):\n"
                        "    assert (a, t, n.dtype, x.dtype) == ((1, 'b'), nl.bfloat16, nl.int32, nl.bfloat16)\n"
                        "    nisa.dma_copy(dst=x[0:1], src=x[1:2])\n"
                        "    nisa.dma_copy(dst=n[0:1], src=n[1:2])\n", encoding="utf-8")
        np.save(self.folder / "x.npy", np.ones((2, 2), np.float32))
        status, _, err = run(path, "k", "--arg", f"x=@{self.folder / 'x.npy'}:bf16", "--arg", "a=(1, 'b')",
                             "--arg", "t=nl.bfloat16", "--arg", "n=i32[3,1]:[[5],[6],[7]]",
                             f"--inputs={self.folder / 'in'}", "-q", "-o", self.folder / "k.json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(np.load(self.folder / "in/n.npy").ravel().tolist(), [5, 6, 7])

    def test_file_that_calls(self):
        """A file that calls its kernel when it is loaded: that call is not part of the trace."""
        path = self.folder / "calls.py"
        path.write_text("import nki\nimport nki.isa as nisa\nimport nki.language as nl\n@nki.jit\ndef k(x):\n"
                        "    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)\n    nisa.memset(tile, 0.0)\n"
                        "    nisa.dma_copy(dst=x, src=tile)\n    return x\nresult = k[2](None)\nprint(result[0])\n",
                        encoding="utf-8")
        status, _, err = run(path, "k", "--arg", "x=f32[128,8]", "-o", self.folder / "k.json")
        self.assertEqual(status, 0, err)
        self.assertIn("k: 2 operations -> 2 instructions", err)
        self.assertIn("calls.py:11: the file raises TypeError when it is loaded, after the kernel", err)

    def test_file_that_exits(self):
        """A file that ends Python when it is loaded, without the kernel or after it."""
        path = self.folder / "exits.py"
        path.write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
        self.assertEqual(run(path, "k")[0], 2)
        path.write_text("import sys\nimport nki.isa as nisa\ndef k(x):\n    nisa.dma_copy(dst=x[0:1], src=x[1:2])\nsys.exit(0)\n",
                        encoding="utf-8")
        status, _, err = run(path, "k", "--arg", "x=f32[2,2]", "-o", self.folder / "k.json")
        self.assertEqual(status, 0, err)
        self.assertIn("exits.py:5: the file raises SystemExit when it is loaded, after the kernel", err)

    def test_refused(self):
        scale = KERNELS / "second.py", "scale"
        for arguments, text in [
                ((*scale, "--arg", "x"), "not of the form NAME=VALUE"),
                ((*scale, "--arg", "x=f99[1]"), "unknown element type 'f99'"),
                ((*scale, "--arg", "x=f32[0]"), "at least 1"),
                ((*scale, "--arg", "x=f32[1,1]:abc"), "neither a number"),
                ((*scale, "--arg", "x=f32[99999,99999]"), "2^31"),
                ((*scale, "--arg", "x=nonsense("), "or a literal of Python"),
                ((*scale, "--arg", "x=@nosuch.npy"), "cannot read 'nosuch.npy'"),
                ((*scale, "--arg", "x=f32[256,64]", "--ring=0"), "at least one slot"),
                ((*scale, "--arg", "x=f32[256,64]", "--max-operations=-3"), "--max-operations=-3: a limit is at least 1"),
                (("corpus", ".", "-o", self.folder / "out", "--seconds=0"), "--seconds=0: a limit is at least 1"),
                ((*scale, "--arg", "x=" + 5000 * "("), "x=((((("),
                *(((*scale, "--arg", f"x={value}"), text) for value, text in VALUES),
                *(((*scale, "--arg", "x=f32[256,64]", *options.split()), text) for options, text in [
                    ("--seed=-1", "--seed=-1: a seed is a whole number of at least 0"), ("--root=/nosuch", "--root=/nosuch: there is no such folder"),
                    ("--grid=0", "--grid=0: each extent is at least 1"), ("--program=1", "a program is one of a launch grid; give that by '--grid=N,...'"),
                    ("--grid=2 --program=5", "the grid 2 has programs 0 to 1"), ("--grid=2,3 --program=0,3", "has programs 0,0 to 1,2")]),
                ((*scale, "--arg", "x=f32[256,64]", "--grid=a"), "is not a list of whole numbers"),
                ((*scale, "--arg", "x=f32[256,64]", "-o", "/nosuch/k.json"), "cannot write '/nosuch/k.json'"),
                ((self.folder / "nosuch.py", "k"), "cannot read"),
                ((KERNELS / "wrong.py", "raises", "--arg", "x=f32[1]"), "raises KeyError: 'missing'")]:
            status, out, err = run(*arguments)
            self.assertEqual((status, out), (2, ""), arguments)
            self.assertIn(text, err)
            self.assertNotIn("Traceback", err)
            self.assertLess(len(err), 1000)

    def test_values_of_other_types(self):
        """An array of another type, or whose numbers the type has not."""
        scale, path = (KERNELS / "second.py", "scale", "--arg"), self.folder / "x.npy"
        for array, kind, text in [(np.full((2, 2), 1 << 40), "", "1099511627776: 'i32' has whole numbers from -2147483648 to 2147483647"),
                                  (np.full((2, 2), 0.5), ":u8", "0.5: 'u8' has whole numbers from 0 to 255"),
                                  (np.ones((2, 2), complex), "", "arrays of 'complex128' are not tensors"),
                                  (np.ones((2, 2), complex), ":f32", "'complex128' are not whole numbers or floats"),
                                  (np.full((2, 2), "a"), ":f32", "'<U1' are not whole numbers or floats"),
                                  (np.ones((0, 2)), "", "an array of shape [0, 2]; extents are at least 1")]:
            np.save(path, array)
            status, out, err = run(*scale, f"x=@{path}{kind}")
            self.assertEqual((status, out), (2, ""), text)
            self.assertIn(text, err)
        np.savez(self.folder / "x.npz", a=np.ones(3))
        self.assertIn("holds several arrays", run(*scale, f"x=@{self.folder / 'x.npz'}")[2])

    def test_raises_anything(self):
        """Errors that Python would not catch, that cannot be shown, or that would write to the terminal."""
        path = self.folder / "k.py"
        for raised, text in [("E", "raises E: with a message that cannot be shown"), ("B('hello')", "raises B: hello"),
                             ("ValueError('\\x1b[31mred')", r"raises ValueError: \x1b[31mred")]:
            head = "class E(Exception):\n    def __str__(self):\n        raise self\nclass B(BaseException):\n    pass\n"
            for body in (f"def k(x):\n    raise {raised}\n", f"raise {raised}\n"):
                path.write_text(head + body, encoding="utf-8")
                status, out, err = run(path, "k", "--arg", "x=f32[2,2]")
                self.assertEqual((status, out), (2, ""))
                self.assertIn(text, err)

    def test_replaces(self):
        """Nothing that is read is written over, nor anything that is written."""
        kernel, array = self.folder / "k.py", self.folder / "in/x.npy"
        text = "import nki.isa as nisa\ndef k(x):\n    nisa.dma_copy(dst=x[0:1], src=x[1:2])\n"
        kernel.write_text(text, encoding="utf-8")
        (self.folder / "link").symlink_to(kernel)
        array.parent.mkdir()
        np.save(array, np.ones((2, 2)))
        (self.folder / "links").mkdir()
        (self.folder / "links/y.npy").symlink_to(array)
        before, given = array.read_bytes(), ("--arg", f"x=@{array}:f32")
        self.assertNotEqual(before, b"")
        for options, said in [
                (["-o", kernel], "'-o .*/k.py' would replace '.*/k.py', which is the kernel's own file; name another file"),
                (["-o", self.folder / "link"], "'-o .*/link' would replace '.*/k.py', which is the kernel's own"),
                ([f"--summary={kernel}"], "'--summary .*/k.py' would replace '.*/k.py'"),
                (["-o", array], "'-o .*/x.npy' would replace '.*/in/x.npy', which is read by '--arg x=...'"),
                (["-o", self.folder / "a", f"--summary={self.folder / 'in/../a'}"], "'--summary .*/a' would replace the kernel"),
                ([f"--inputs={self.folder / 'a'}", f"--expect={self.folder / 'in/../a'}"],
                 "'--expect .*/a' is the folder of '--inputs', .*; name another folder"),
                ([f"--inputs={array.parent}"], "'--inputs .*/in' may replace '.*/in/x.npy', which is there and is read by "),
                ([f"--expect={self.folder / 'links'}"], "'--expect .*/links' may replace '.*/in/x.npy'")]:
            status, out, err = run(kernel, "k", *given, *options)
            self.assertEqual((status, out), (2, ""), options)
            self.assertRegex(err, f"^error: {said}")
            self.assertEqual((kernel.read_text(encoding="utf-8"), array.read_bytes()), (text, before))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["in", "k.py", "link", "links"])
        status, _, err = run(kernel, "k", *given, "-o", "/dev/null", "--summary=/dev/null", f"--inputs={self.folder / 'new'}")
        self.assertEqual(status, 0, err)

    def test_place(self):
        """A refusal quotes its line."""
        _, _, err = run(KERNELS / "wrong.py", "beyond", "--arg", "x=f32[128,128]")
        self.assertRegex(err, r"wrong\.py:\d+:\d+: error: elements 64 to 191 of an axis of 128\n"
                              r"    nisa\.dma_copy\(dst=tile, src=x\[64:192\]\)")


if __name__ == "__main__":
    unittest.main()
