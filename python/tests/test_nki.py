"""Kernels of our own, in both generations, traced and compared with NumPy through tally's data."""

import ast
import builtins
import contextlib
import gc
import io
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import numpy as np

from tally.nki import Refusal, trace_file
from tally.nki.document import as_text
from tally.nki.elements import ELEMENTS, cast, packed, promoted, unpacked
from tally.nki.expressions import OPERATORS
from tally.nki.instructions import INSTRUCTIONS, Call
from tally.nki.tree import Limits
from tally.nki.values import FAR
from tally.nki.trace import Raised, Tensor

from . import support
from .expand import expanded
from .support import KERNELS, differences, one, race, statement, statements, tensor, trace


def counts(traced):
    return traced.summary.operations, traced.summary.instructions, traced.summary.loops


class KernelTest(unittest.TestCase):
    """What is traced is right: in NumPy, in tally's data under every strategy, and when rolled out."""

    def check(self, traced, wants, tolerance=1e-5, numpy_tolerance=1e-5):
        self.assertEqual(expanded(traced), traced.recorder.log)
        for name, want in wants.items():
            got = traced.expected[name]
            error = np.abs(got - want).max() / np.abs(want).max()
            self.assertLess(error, numpy_tolerance, name)
        self.assertEqual(differences(traced, tolerance=tolerance), [])
        self.assertEqual(race(traced), "yes")


class TypesTest(KernelTest):
    """Types of results, and whole numbers, as the vendor's pages say it."""

    def traced(self, body, first=False, **arguments):
        """Of a kernel that is given here."""
        heads = ("import neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n" if first else
                 "import nki.isa as nisa\nimport nki.language as nl\n")
        with tempfile.TemporaryDirectory(prefix="tally-nki-") as folder:
            path = Path(folder) / "k.py"
            path.write_text(f"{heads}def k({', '.join(arguments)}):\n    " + body.replace("\n", "\n    ") + "\n", encoding="utf-8")
            return trace_file(path, "k", {key: value if isinstance(value, Tensor) else tensor(value) for key, value in arguments.items()},
                              keep_log=True)

    def test_promoted(self):
        for have, want in (("int32 float16", "float16"), ("uint16 tfloat32", "tfloat32"), ("float32 tfloat32", "float32"),
                           ("float32 bfloat16", "float32"), ("float16 bfloat16", "float32"), ("float8_e4m3 float16", "float16"),
                           ("float8_e4m3 bfloat16", "bfloat16"), ("float8_e4m3 float8_e5m2", "bfloat16"), ("int16 int32", "int32"),
                           ("uint8 uint16", "uint16"), ("uint16 int32", "int32"), ("int8 uint8", "int16"), ("int8 uint16", "int32"),
                           ("int32 uint32", "float32"), ("int8 int8", "int8"), ("float32 int8 uint8", "float32")):
            kinds = [ELEMENTS[name] for name in have.split()]
            for order in (kinds, kinds[::-1]):
                self.assertEqual(promoted(order).name, want, have)

    def test_results(self):
        """Of two types and of numbers, in both orders and generations."""
        i, f = np.arange(1024, dtype=np.int32).reshape(128, 8), support.random(128, 8)
        half = np.round(f * 64) / 64  # is itself in bf16 and f16
        body = "r = nl.{}({})\no = nl.ndarray(r.shape, dtype=r.dtype, buffer=nl.shared_hbm)\nnl.store(o, r)\nreturn o"
        for given, kinds, want, kind in (
                ("nl.load(x), nl.load(y)", ("i32", "f32"), i + f, "f32"), ("nl.load(y), nl.load(x)", ("i32", "f32"), i + f, "f32"),
                ("nl.load(x), nl.load(y)", ("bf16", "f32"), half + f, "f32"), ("nl.load(x), nl.load(y)", ("bf16", "f16"), half + half, "f32"),
                ("nl.load(x), 1.5", ("i32", "f32"), i + 1.5, "f32"), ("nl.load(x), 1.25", ("bf16", "f32"), half + 1.25, "f32"),
                ("nl.load(x), 2", ("i32", "f32"), i + 2, "i32")):
            arrays = [Tensor({"i32": i, "f32": f}.get(kind, half), kind) for kind in kinds]
            traced = self.traced(body.format("add", given), first=True, x=arrays[0], y=arrays[1])
            found = {buffer["name"]: buffer["type"] for buffer in traced.document["buffers"]}
            self.assertEqual(found["o"], kind, (given, kinds))
            self.check(traced, {"o": want})
        traced = self.traced(body.format("where", "nl.load(x) > 5, nl.load(x), nl.load(y)"), first=True, x=i, y=f)
        self.check(traced, {"o": np.where(i > 5, i, f)})

    def test_whole(self):
        """Exact on gpsimd; on the vector engine as f32."""
        random = np.random.RandomState(3)
        x, y = random.randint(-2**31, 2**31 - 1, (128, 8)).astype(np.int32), random.randint(1, 40, (128, 8)).astype(np.int32)
        body = ("o = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)\na, b, r = (nl.ndarray(x.shape, dtype=nl.int32, "
                "buffer=nl.sbuf) for _ in range(3))\nnisa.dma_copy(dst=a, src=x)\nnisa.dma_copy(dst=b, src=y)\n"
                "nisa.tensor_tensor(dst=r, data1=a, data2=b, op=nl.{}{})\nnisa.dma_copy(dst=o, src=r)\nreturn o")
        wide, more = x.astype(np.int64), y.astype(np.int64)
        for name, want in (("add", wide + more), ("subtract", wide - more), ("multiply", wide * more),
                           ("right_shift", np.where(more > 31, 0, (wide & 0xFFFFFFFF) >> (more & 31)))):
            traced = self.traced(body.format(name, ""), x=x, y=y)
            np.testing.assert_array_equal(traced.expected["o"], want.astype(np.int32), name)
            self.assertEqual(differences(traced), [])
            self.assertEqual(any(queue == "gpsimd" for queue in _queues(traced)), name != "right_shift")
        traced = self.traced(body.format("add", ", engine=nisa.engine.vector"), x=x, y=y)
        self.assertFalse((traced.expected["o"] == (wide + more).astype(np.int32)).all())
        with self.assertRaisesRegex(Refusal, "'bitwise_and' of the bits of 'float32'; it takes whole numbers"):
            self.traced("t = nl.load(x)\nr = nisa.tensor_tensor(t, t, op=nl.bitwise_and)\nreturn x", first=True, x=support.random(4, 4))

    def test_bits_as_a_number(self):
        """Of 32 bits, the first is the sign, wherever they go."""
        x = np.arange(-512, 512).astype(np.int32).reshape(128, 8).view(np.uint32) << 20
        body = ("o = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)\nt = nl.load(x)\nr = nl.ndarray(x.shape, "
                "dtype=nl.float32, buffer=nl.sbuf)\nr[...] = nl.add(nl.{}(t, {}), 0.0, dtype=nl.float32)\nnl.store(o, r)\nreturn o")
        for name, other in (("bitwise_and", 0xFFFF0000), ("left_shift", 1), ("bitwise_xor", 1 << 31)):
            traced = self.traced(body.format(name, other), first=True, x=Tensor(x, "u32"))
            self.assertEqual(differences(traced), [], name)

    def test_large_constants(self):
        """All bits of a constant count, though no f32 holds them."""
        x = np.random.RandomState(5).randint(0, 2**32, (128, 8), np.int64).astype(np.uint32)
        body = ("o = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\nt, r = (nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf) "
                "for _ in range(2))\nnisa.dma_copy(dst=t, src=x)\n{}\nnisa.dma_copy(dst=o, src=r)\nreturn o")
        for number in (2863311530, 305419897, 16777219, 0xFFFFFFFE, 0xFFFFFF00, 65535):
            for name, function in (("bitwise_and", np.bitwise_and), ("bitwise_xor", np.bitwise_xor)):
                line = f"nisa.tensor_scalar(dst=r, data=t, op0=nl.{name}, operand0={number})"
                traced = self.traced(body.format(line), x=Tensor(x, "u32"))
                np.testing.assert_array_equal(traced.expected["o"], function(x, np.uint32(number)), f"{name} {number}")
                self.assertEqual(differences(traced, strategies=("auto",)), [])
        traced = self.traced(body.format("nisa.memset(r, 16777219)"), x=Tensor(x, "u32"))
        np.testing.assert_array_equal(traced.expected["o"], np.full_like(x, 16777219))
        self.assertEqual(differences(traced, strategies=("auto",)), [])

    def test_short_shift(self):
        """Zeros come from the left of 16 bits."""
        x = np.arange(-512, 512, dtype=np.int16).reshape(128, 8)
        traced = self.traced("o = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\nt = nl.ndarray(x.shape, dtype=x.dtype, "
                             "buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=x)\nnisa.tensor_scalar(dst=t, data=t, op0=nl.right_shift, "
                             "operand0=3)\nnisa.dma_copy(dst=o, src=t)\nreturn o", x=Tensor(x, "i16"))
        np.testing.assert_array_equal(traced.expected["o"], (x.view(np.uint16) >> 3).view(np.int16))
        self.assertEqual(differences(traced), [])

    def test_transpose_of_four(self):
        x = support.random(4, 2, 3, 8)
        traced = self.traced("o = nl.ndarray((8, 2, 3, 4), dtype=x.dtype, buffer=nl.shared_hbm)\nt = nl.ndarray((8, 2, 3, 4), "
                             "dtype=x.dtype, buffer=nl.sbuf)\nnisa.dma_transpose(dst=t, src=x)\nnisa.dma_copy(dst=o, src=t)\nreturn o", x=x)
        self.check(traced, {"o": np.transpose(x, (3, 1, 2, 0))})

    def test_rows_by_tiles(self):
        """One number for each partition."""
        body = "o = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)\ni = nl.load(at)\nnl.store(o, nl.load(x[{}]))\nreturn o"
        x, at = support.random(128, 8), np.zeros((128, 2), np.int32)
        for index, text in (("i, nl.arange(8)[None, :]", "several of them in a partition"),
                            ("i[:, 0:1], i[:, 1:2]", "indices from memory in several places"),
                            ("i[:, 0:1], nl.arange(8)[:, None]", "index grids with 128 and 8 numbers along one axis")):
            with self.assertRaisesRegex(Refusal, text):
                self.traced(body.format(index), first=True, x=x, at=at)

    def test_offset_outside(self):
        """An index beyond the tensor is an error of the device."""
        body = ("o = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.shared_hbm)\ni = nl.ndarray((4, 1), dtype=nl.int32, buffer=nl.sbuf)\n"
                "nisa.dma_copy(dst=i, src=at)\nnisa.dma_copy(dst=o, src=x.ap([[8, 4], [1, 8]], vector_offset=i, indirect_dim=0){})\nreturn o")
        x = support.random(16, 8)
        for number in (-1, 16, 600):
            at = np.array([[1], [2], [number], [3]], np.int32)
            with self.assertRaisesRegex(Refusal, r"an index of 'vector_offset' leads out of 'x', \[16, 8\]"):
                self.traced(body.format(""), x=x, at=at)
            self.traced(body.format(", oob_mode=nisa.oob_mode.skip"), x=x, at=at)
        at[2] = 15
        np.testing.assert_array_equal(self.traced(body.format(""), x=x, at=at).expected["o"], x[[1, 2, 15, 3]])

    def test_masked_load(self):
        """What the mask leaves out stays as it was."""
        x = support.random(128, 16)
        traced = self.traced("o = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\ni, j = nl.mgrid[0:128, 0:16]\n"
                             "t = nl.zeros((128, 16), dtype=x.dtype, buffer=nl.sbuf)\nt[i, j] = nl.load(x[i, j], mask=j < 7)\n"
                             "nl.store(o, t)\nreturn o", first=True, x=x)
        self.check(traced, {"o": np.where(np.arange(16) < 7, x, 0)})

    def test_not_whole(self):
        for body, text in (("for i in nl.dynamic_range(2.5):\n    pass\nreturn x", "'dynamic_range' to or by 2.5; it takes whole numbers"),
                           ("nl.ndarray((4, 3.5), dtype=x.dtype, buffer=nl.sbuf)\nreturn x", "extents are whole numbers")):
            with self.assertRaisesRegex(Refusal, re.escape(text)):
                self.traced(body, x=support.random(4, 4))


def _queues(traced):
    pending, queues = list(traced.document["body"]), []
    while pending:
        entry = pending.pop()
        queues += [entry["queue"]] if "queue" in entry else []
        pending += entry.get("body", [])
    return queues


class SecondGenerationTest(KernelTest):
    def test_scale(self):
        x = support.random(512, 64)
        traced = trace("second", "scale", x=x, factor=3.0)
        self.check(traced, {"out": 3 * x + 1})
        # Three instructions in one loop, whose tiles are affine in it and whose buffers are rings.
        self.assertEqual(counts(traced), (12, 3, 1))
        load, scale, _ = statements(traced).values()
        self.assertEqual(load["reads"], ["x[128*i:128, 0:64]"])
        self.assertEqual(scale["reads"], ["tile[total(i) mod 2, 0:128, 0:64]"])
        self.assertEqual(scale["computes"], "(r0 * 3) + 1")
        self.assertEqual(traced.summary.obstacles, {})

    def test_places(self):
        """The place is that of the call in the user's file."""
        traced = trace("second", "scale", x=support.random(256, 64))
        place = statement(traced, "dma_copy")["loc"]
        line = (KERNELS / "second.py").read_text(encoding="utf-8").splitlines()[place["line"] - 1]
        self.assertTrue(line[place["column"] - 1:].startswith("nisa.dma_copy(dst=tile"), line)
        self.assertTrue(place["file"].endswith("second.py"))

    def test_matmul(self):
        a, b = support.random(384, 256), support.random(384, 512, seed=2)
        traced = trace("second", "matmul", a=a, b=b)
        self.check(traced, {"out": a.T @ b})
        self.assertEqual(counts(traced), (2 * 3 + 2 * 2 * (2 * 3 + 2), 5, 4))
        # The first product sets the sum. Tiles in the list have a dimension for the loop that made them.
        matmul = statement(traced, "nc_matmul")
        self.assertEqual(matmul["computes"], "start(k.2, matmul(r0, r1))")
        self.assertEqual(matmul["reads"][0], "tile[total(m) mod 2, k.2, 0:128, 0:128]")
        self.assertEqual(statement(traced, "tensor_copy")["queue"], "scalar")
        # A ring turns with the innermost loop that its tiles outlive.
        self.assertEqual(matmul["accumulates"], ["total_[total(n) mod 2, 0:128, 0:256]"])

    def test_results_in_a_list(self):
        """What has no gaps is a number, too, where another part of the buffer has NaN."""
        x, y = support.random(4, 8), support.random(4, 8, seed=2)
        x[0, 3] = np.nan
        traced = trace("second", "results_in_a_list", x=x, y=y)
        (name,) = traced.expected
        np.testing.assert_array_equal(traced.expected[name], np.stack([x, y]))
        np.testing.assert_array_equal(traced.nans[name] != 0, np.isnan(np.stack([x, y])))

    def test_slots_by_hand(self):
        x = support.random(128 * 7, 32)
        traced = trace("second", "slots_by_hand", x=x)
        self.check(traced, {"out": x * x})
        # `% 2` stays a slot; the last iteration, which loads nothing, comes after the loop.
        self.assertEqual(counts(traced), (21, 6, 1))
        texts = support.dumped(traced)
        self.assertIn("slots[0:128, (i + 1) mod 2:1, 0:32]", texts)
        self.assertEqual(traced.summary.written_out, 1)
        self.assertRegex(traced.summary.text(), r"\n  written out: \S*second\.py:\d+:5: 1 iteration of 'i', unlike those around it\n")

    def test_the_only_iteration(self):
        """None is around it that it could be unlike."""
        traced = trace("second", "slots_by_hand", x=support.random(128, 32))
        self.assertNotIn("unlike", traced.summary.text())

    def test_two_names(self):
        x = support.random(128 * 7, 32)
        traced = trace("second", "two_names", x=x)
        self.check(traced, {"out": x})
        # Three pairs, and the seventh iteration.
        self.assertEqual(counts(traced), (14, 6, 1))
        self.assertIn("x[256*i + 128:128, 0:32]", support.dumped(traced))

    def test_causal(self):
        q, k = support.random(128, 512), support.random(128, 512, seed=2)
        traced = trace("second", "causal", q=q, k=k)
        want = np.where(np.kron(np.tril(np.ones((4, 4))), np.ones((128, 128))) > 0, q.T @ k, np.nan)
        got = traced.expected["out"]
        self.assertTrue((np.isnan(got) == np.isnan(want)).all())
        self.assertLess(np.nanmax(np.abs(got - want)), 1e-3)
        self.assertEqual(expanded(traced), traced.recorder.log)
        self.assertEqual(differences(traced), [])
        self.assertEqual(race(traced), "yes")

    def test_patterns(self):
        x = support.random(128, 128)
        traced = trace("second", "patterns", x=x)
        want = np.exp(x[:, 1::2] * np.float32(0.125)).reshape(128, 4, 16)
        self.check(traced, {"out": want}, numpy_tolerance=1e-2)
        self.assertIn("tile[0:128, 1:64:2]", support.dumped(traced))

    def test_permuted(self):
        """Tiles that are read and written in another order than their buffers'."""
        x = support.random(128, 12)
        traced = trace("second", "permuted", x=x)
        want = x.reshape(128, 3, 4).transpose(0, 2, 1).reshape(128, 12)
        self.check(traced, {"out": want, "powers": np.exp(x)})
        self.assertEqual([statement(traced, name)["computes"] for name in ("tensor_copy", "activation")],
                         ["permute(reshape(r0, [128, 3, 4]), [0, 2, 1])",
                          "permute(exp(r0), [0, 2, 1])"])
        self.assertEqual(traced.summary.obstacles, {})


    def test_returned(self):
        """What is returned is all there at the end: none of it is in a ring."""
        x = support.random(512, 64)
        for kernel in ("returned_list", "returned_deep"):
            traced = trace("second", kernel, x=x)
            self.check(traced, {"part": 2 * x.reshape(4, 128, 64)})
            self.assertEqual(traced.summary.rings, [("tile", 2)])

    def test_scratch(self):
        """Nor is what is in HBM and is not returned: a dynamic loop has one tensor, others have one for each iteration."""
        x = support.random(512, 16)
        traced = trace("second", "scratch", x=x)
        self.check(traced, {"out": x})
        self.assertEqual(traced.summary.rings, [("tile", 2)])
        self.assertEqual(statement(traced, "dma_copy", 1)["writes"], ["between[i, 0:128, 0:16]"])
        traced = trace("dynamic", "scratch", x=x, n=one(3))
        self.check(traced, {})
        self.assertEqual(statement(traced, "dma_copy", 1)["writes"], ["between[0, part:1, 0:64, 0:16]"])

    def test_condition_on_tensor(self):
        """One of many numbers can only mean whether there is a tensor; the summary tells of it."""
        x = support.random(128, 8)
        traced = trace("second", "with_bias", x=x, bias=2 * x)
        self.check(traced, {"out": 2 * x})
        self.assertIn("a Python condition on the tensor 'bias' counts as true, since there is one", traced.summary.text())
        self.check(trace("second", "with_bias", x=x), {"out": x})

    def test_returned_elsewhere(self):
        """What is returned and is not in HBM has no results, and that is said."""
        traced = trace("second", "returned_tile", x=support.random(128, 64))
        self.assertEqual(traced.expected, {})
        self.assertRegex(traced.summary.text(), r"second\.py:\d+:12: 'tile' is returned from sbuf; copy it to a tensor in HBM: "
                                                r"'--expect' is without it")
        self.assertIn("the kernel leaves nothing in HBM: '--expect' is empty", traced.summary.text())

    def test_triangle(self):
        """Trips that follow the loop around are a formula, though the first loop runs not at all."""
        x = support.random(512, 8)
        traced = trace("second", "triangle", x=x)
        tiles = x.reshape(4, 128, 8)
        self.check(traced, {"out": np.concatenate([tile - 2 * tiles[:i].sum(0) for i, tile in enumerate(tiles)])})
        self.assertEqual(counts(traced), (20, 4, 2))
        loop = next(loop for loop in traced.document["body"][0]["body"] if "loop" in loop)
        self.assertEqual(loop["trips"], {"formula": "i"})
        self.assertEqual({buffer["name"] for buffer in traced.document["buffers"]}, {"x", "out", "rest", "before"})
        self.assertNotIn("formula", json.dumps(traced.constant))

    def test_moving_mask(self):
        """Whole numbers in what instructions compute may follow the loop."""
        x = support.random(512, 8)
        traced = trace("second", "moving_mask", x=x)
        i, row, column = np.indices((4, 128, 8))
        kept = np.where(row - column + 128 * (i % 2) - 32 >= 0, x.reshape(4, 128, 8), -1)
        self.check(traced, {"out": (kept * (i + 1) + column + 1000 * (i // 2)).reshape(512, 8)})
        self.assertEqual(counts(traced), (20, 5, 1))
        self.assertEqual(statement(traced, "iota")["computes"], "index([128, 8], 1) + (1000 * floor((i) / 2))")


class FirstGenerationTest(KernelTest):
    def test_add(self):
        a, b = support.random(300, 96), support.random(300, 96, seed=2)
        traced = trace("first", "add", a=a, b=b)
        self.check(traced, {"out": a + b})
        self.assertEqual(traced.summary.instructions, 8)  # a loop, and the rest of 44 rows

    def test_softmax(self):
        x = support.random(256, 512)
        powers = np.exp(x - x.max(1, keepdims=True))
        traced = trace("first", "softmax", x=x)
        self.check(traced, {"out": powers / powers.sum(1, keepdims=True)})
        self.assertEqual(traced.summary.loops, 1)

    def test_product(self):
        a, b = support.random(384, 64), support.random(384, 128, seed=2)
        traced = trace("first", "product", a=a, b=b)
        want = np.exp(0.01 * (a.T @ b))
        self.check(traced, {"out": want, "sums": want.sum(1, keepdims=True)}, tolerance=4e-3,
                   numpy_tolerance=1e-2)
        # Nothing is left of the tiles that operations would have made, nor of the zeros before the sum.
        names = [buffer["name"] for buffer in traced.document["buffers"]]
        self.assertEqual(sorted(names), ["a", "b", "left", "out", "result", "right", "row", "sums", "tile",
                                         "tile.2", "total_"])
        self.assertEqual(statement(traced, "nc_matmul")["computes"], "start(k.2, matmul(r0, r1))")

    def test_scan(self):
        x = support.random(128, 40)
        traced = trace("first", "scan", x=x)
        self.assertLess(np.abs(traced.expected["out"] - np.cumsum(x, 1)).max(), 1e-4)
        self.check(traced, {"out": np.cumsum(x, 1)})

    def test_used_again(self):
        x = support.random(128, 64)
        traced = trace("first", "used_again", x=x)
        self.check(traced, {"out": np.stack([x * x, 2 * x * x])})
        self.assertEqual([reason.split(":")[0] for reason, _ in traced.summary.obstacles],
                         ["a copy that the kernel has not"])

    def test_zeros(self):
        """Zeros in PSUM are written where something sees them, and not before a sum that covers them."""
        a, b = support.random(128, 32), support.random(128, 64, seed=2)
        traced = trace("first", "zeros", a=a, b=b)
        sums = np.concatenate([a.T @ b, np.zeros((32, 64), np.float32)], axis=1)
        self.check(traced, {"out": np.stack([np.zeros((32, 128)), sums])})
        self.assertEqual(len([name for name in statements(traced) if name.startswith("memset")]), 2)

    def test_normed(self):
        x, weight = support.random(300, 32), support.random(32, seed=2)
        want = x / np.sqrt((x * x).mean(1, keepdims=True)) * weight
        self.check(trace("first", "normed", x=x, weight=weight), {"out": want})

    def test_kept_outside(self):
        x = np.round(support.random(8, 16) * 16) / 16  # exact in f16 and in bf16
        self.check(trace("first", "kept_outside", x=x), {"out": 2 * x})

    def test_named(self):
        x, weight = support.random(128, 32), support.random(1, 32, seed=2)
        powers = np.exp(x - x.max(1, keepdims=True))
        wants = [powers / powers.sum(1, keepdims=True), x / np.sqrt((x * x).mean(1, keepdims=True)) * weight,
                 np.broadcast_to(x.var(1, keepdims=True), x.shape),
                 np.broadcast_to((x > -1).all(1, keepdims=True), x.shape)]
        most = x.max(1, keepdims=True)
        wants += [np.where(x > 0, most, x), np.where(x > 0, x, -1), np.where(most > 1.5, np.float32(0.5), x.astype(np.float16)),
                  np.broadcast_to((1 - most).astype(np.float16), x.shape)]
        self.check(trace("first", "named", x=x, weight=weight), {"out": np.stack(wants)})

    def test_of_columns(self):
        x = support.random(128, 24)
        self.check(trace("first", "of_columns", x=x), {"out": np.stack([x.sum(0), x.sum(0)])})

    def test_of_results(self):
        x, y = support.random(64, 32), support.random(64, 32)
        self.check(trace("first", "of_results", x=x, y=y), {"out": x @ y.T @ y})

    def test_band(self):
        x = support.random(16, 12)
        row, column = np.indices(x.shape)
        near = (row >= column) & (row < column + 5)
        traced = trace("first", "band", x=x)
        self.check(traced, {"out": np.stack([np.where(near, x, -1), 3 * row - column + 2])})
        self.assertEqual(traced.summary.obstacles, {})

    def test_grid(self):
        x = support.random(384, 16)
        traced = trace_file(KERNELS / "first.py", "blocks", {"x": tensor(x)}, grid=(3,), program=(1,))
        self.assertIn("x[128:128, 0:16]", support.dumped(traced))
        self.assertIn("program 1 of 3", traced.summary.text())


    def reasons(self, traced):
        return [reason for reason, _ in traced.summary.obstacles]

    def test_windows(self):
        x = support.random(16, 20)
        traced = trace("first", "windows", x=x)
        self.assertLess(np.abs(traced.expected["out"] - (x[:, :-2] + x[:, 1:-1] + x[:, 2:])).max(), 1e-5)
        # What is on the chip is read box by box.
        self.assertEqual(statement(traced, "tensor_reduce")["reads"],
                         ["tile[0:16, 0:18]", "tile[0:16, 1:18]", "tile[0:16, 2:18]"])
        self.check(traced, {})

    def test_clipped(self):
        x = support.random(128, 16)
        self.check(trace("first", "clipped", x=x), {"out": np.maximum(x, 0) + (x <= -1)})

    def test_pooled(self):
        x = support.random(16, 6, 8)
        traced = trace("first", "pooled", x=x)
        self.check(traced, {"out": np.max([x[:, i:i + 5, j:j + 7] for i in (0, 1) for j in (0, 1)], axis=0)})
        self.assertEqual(statement(traced, "tensor_reduce")["reads"],
                         [f"tile[0:16, {i}:5, {j}:7]" for i in (0, 1) for j in (0, 1)])
        self.assertEqual(traced.summary.obstacles, {})

    def test_transposes(self):
        x = support.random(128, 64)
        traced = trace("first", "transposes", x=x)
        self.check(traced, {"out": np.stack([x.T, x.T])})
        queues = [found["queue"] for found in statements(traced).values()]
        self.assertEqual(queues, ["sync.dma", "tensor", "gpsimd", "gpsimd.dma", "vector", "gpsimd.dma"])


class MoreTest(KernelTest):
    def test_objects(self):
        x = support.random(128, 64)
        traced = trace("more", "objects", x=x)
        self.check(traced, {"out": np.maximum(0.5 * x, 0)})
        self.assertEqual(counts(traced), (12, 3, 3))

    def test_generated(self):
        x = support.random(1280, 16)
        traced = trace("more", "generated", x=x)
        self.check(traced, {"out": np.concatenate([x[:512] ** 2, x[512:]])})
        self.assertEqual(counts(traced), (18, 6, 3))
        self.assertIn("tile[total(i) mod 2, 0:128, 0:16]", support.dumped(traced))

    def test_halves(self):
        x = support.random(128, 10, 8)
        traced = trace("more", "halves", x=x)
        self.check(traced, {"out": np.stack([x[:, i // 2] - x[:, (3 * i) % 5] for i in range(10)])})
        self.assertEqual(counts(traced), (21, 3, 1))
        reads = statement(traced, "tensor_tensor")["reads"]
        self.assertEqual(reads, ["tile[0:128, while floordiv 2:1, 0:8]",
                                 "tile[0:128, (3*while) mod 5:1, 0:8]"])

    def test_chosen(self):
        x, y = support.random(128, 32), support.random(128, 32, seed=2)
        traced = trace("more", "chosen", x=x, y=y)
        self.check(traced, {"out": (1 - np.maximum(x, y)) * (x < y)})

    def test_causal_mask(self):
        x = support.random(128, 128)
        traced = trace("more", "causal_mask", x=x)
        self.check(traced, {"out": np.where(np.tril(np.ones((128, 128))) > 0, x, np.float32(-1e9))})

    def test_pooled(self):
        x = support.random(128, 8, 6)
        traced = trace("more", "pooled", x=x)
        self.check(traced, {"out": x.reshape(128, 4, 2, 3, 2).sum((2, 4))})
        self.assertEqual(statement(traced, "tensor_reduce")["computes"],
                         "sum(reshape(r0, [128, 4, 2, 3, 2]), [2, 4])")

    def test_spelled(self):
        """An argument with the value that it has without being given is not refused."""
        x = support.random(128, 64)
        plain, spelled = trace("spelled", "plain", x=x), trace("spelled", "spelled", x=x)
        self.check(spelled, plain.expected)
        for one, other in zip(*(support.statements(traced).values() for traced in (plain, spelled)), strict=True):
            self.assertEqual([one.get(key) for key in ("op", "reads", "writes", "computes", "cost")],
                             [other.get(key) for key in ("op", "reads", "writes", "computes", "cost")])

    def test_turned(self):
        x = support.random(128, 64)
        state, want = np.ones(128, np.float32), np.empty_like(x)
        for column in range(64):
            want[:, column] = state = x[:, column] - (state - x[:, column])
        traced = trace("spelled", "turned", x=x)
        np.testing.assert_array_equal(traced.expected["out"], want / 2)
        np.testing.assert_allclose(traced.expected["sums"], -want.sum(1, keepdims=True) / 2, rtol=1e-5)
        self.assertNotIn("computes", statement(traced, "tensor_tensor_scan"))
        self.assertEqual(race(traced), "yes")

    def test_rows_by_tile(self):
        x, order = support.random(256, 32), np.random.default_rng(5).permutation(256)
        table = np.stack([order[:128], order[128:]], 1).astype(np.int32)
        traced = trace("first", "rows_by_tile", x=x, table=table)
        np.testing.assert_array_equal(traced.expected["out"][order[128:]], x[order[:128]])
        self.assertTrue(np.isnan(traced.expected["out"][order[:128]]).all())
        self.assertEqual(differences(traced), [])

    def test_rows_by_table(self):
        x, table = support.random(300, 16), (np.arange(128, dtype=np.int32)[:, None] * 7) % 300
        traced = trace("more", "rows_by_table", x=x, table=table)
        self.check(traced, {"out": x[table[:, 0]]})
        self.assertEqual(statement(traced, "dma_copy", 1)["computes"], "gather(r0, reshape(r1, [128]))")


class ChipTest(KernelTest):
    """Instructions on the chip, against NumPy; where the language cannot say them, NumPy's numbers are right all
    the same, and the order is checked."""

    def computed(self, traced, wants):
        self.assertEqual(expanded(traced), traced.recorder.log)
        self.assertEqual(race(traced), "yes")
        for got, want in zip(traced.expected.values(), wants, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)

    def test_shuffled(self):
        x = support.random(64, 8)
        place = np.arange(64)
        want = np.where((place % 4 == 3)[:, None], np.float32(7), x[place ^ 1])
        self.check(trace("chip", "shuffled", x=x), {"out": want})

    def test_spread(self):
        x = support.random(32, 8)
        traced = trace("chip", "spread", x=x)
        self.check(traced, {"out": np.repeat(x[5:6], 32, axis=0)})
        self.assertEqual(statement(traced, "nc_stream_shuffle")["reads"], ["tile[5:1, 0:8]"])

    def test_summed(self):
        x, y = support.random(128, 16), support.random(128, 16, seed=2)
        traced = trace("chip", "summed", x=x, y=y)
        self.check(traced, {"out": 2 * x + 2 * y})

    def test_statistics(self):
        x = support.random(128, 96) + 3
        want = np.stack([x.mean(1), x.var(1)], axis=1)
        self.computed(trace("chip", "spread_of_rows", x=x), [want])
        self.check(trace("chip", "spread_first", x=x), {"out": want})

    def test_largest(self):
        x = np.random.default_rng(3).permutation(128 * 32).reshape(128, 32).astype(np.float32)
        x[:, 9] = x.max(1)  # twice: one place after the other
        table = np.random.default_rng(4).integers(0, 999, (128, 32)).astype(np.int32)
        order = np.argsort(-x, axis=1, kind="stable")[:, :8]
        want = np.array(x)
        np.put_along_axis(want, order, -1, axis=1)
        traced = trace("chip", "largest", x=x, table=table)
        self.check(traced, {})
        tile, places, looked_up = traced.expected.values()
        self.assertTrue((tile == want).all())
        self.assertTrue((np.sort(places) == np.sort(order)).all())
        for row in range(128):  # of two that are equal, the later place comes first
            is_twice = x[row, order[row, 0]] == x[row, order[row, 1]]
            self.assertEqual(list(places[row, :2]), list(order[row, 1::-1] if is_twice else order[row, :2]))
        self.assertTrue((places[:, 2:] == order[:, 2:]).all())
        self.assertTrue((looked_up == np.take_along_axis(table, places.astype(np.int64), axis=1)).all())

    def test_nonzero(self):
        x = np.random.default_rng(5).integers(0, 3, (32, 12)).astype(np.float32)
        want = np.zeros((32, 13), np.int32)
        for row in (0, 16):
            found = np.flatnonzero(x[row])
            want[row] = [*(found + 100), *[-1] * (12 - len(found)), len(found)]
        self.check(trace("chip", "nonzero", x=x), {"out": want})


    def every(self, x, y, integer):
        """All operators that give numbers for these, small enough for a fault to show; gives their names."""
        with np.errstate(all="ignore"):
            values = {name: row.numpy(*(x, y)[:row.arity]) for name, row in OPERATORS.items()
                      if row.arity < 3 and row.text and row.integer == integer}
        values = {name: value for name, value in values.items() if np.isfinite(value).all()}
        one, two = ([name for name in values if OPERATORS[name].arity == arity] for arity in (1, 2))
        given = {key: tensor(value) for key, value in dict(x=x, y=y).items()}
        traced = trace_file(KERNELS / "chip.py", "every", {**given, "of_one": one, "of_two": two}, keep_log=True)
        self.check(traced, {"out": np.stack([values[name] for name in [*one, *two]])})
        self.assertEqual(traced.summary.obstacles, {})
        return set(values)

    def test_every_operator(self):
        """Each row of the table: NumPy's numbers are those that its text means."""
        x, y = (np.random.default_rng(seed).uniform(0.2, 1.2, (16, 8)).astype(np.float32) for seed in (1, 2))
        turned = np.where(np.indices(x.shape)[1] % 2, x, -x)
        every = {name for name, row in OPERATORS.items() if row.arity < 3 and row.text}
        integers = [np.arange(128).reshape(16, 8) * 9 % scale for scale in (97, 7)]
        self.assertEqual(self.every(x, y, False) | self.every(*integers, True), every)
        self.assertEqual(every - self.every(turned, y, False) - {name for name in every if OPERATORS[name].integer},
                         {"sqrt", "rsqrt", "log", "power"})

    def test_erf(self):
        """From a table, as exact as f32 is."""
        x = np.concatenate([np.linspace(-6, 6, 20001), np.geomspace(1e-38, 1, 200), [0, np.inf, -np.inf, 3.9999, 4, 4.001]]).astype(np.float32)
        want = np.array([math.erf(each) for each in x])
        got = OPERATORS["erf"].numpy(x).astype(np.float64)
        self.assertLess((np.abs(got - want) - 0.501 * np.spacing(np.abs(want).astype(np.float32))).max(), 0)
        self.assertTrue(np.isnan(OPERATORS["erf"].numpy(np.float32([np.nan]))).all())

    def test_derivatives(self):
        """They are those of the functions of whose names theirs are made."""
        x, step = support.random(64), 1e-3
        for name in ("erf", "gelu", "gelu_apprx_sigmoid", "silu"):
            slope = (OPERATORS[name].numpy(x + step) - OPERATORS[name].numpy(x - step)) / (2 * step)
            np.testing.assert_allclose(OPERATORS[f"{name}_dx"].numpy(x), slope, atol=1e-3)

    def test_by_identity(self):
        x = support.random(384, 16)
        traced = trace("chip", "by_identity", x=x)
        self.check(traced, {"out": x.T})
        spaces = {buffer["name"]: buffer["space"] for buffer in traced.document["buffers"]}
        self.assertEqual(spaces["constant_1"], "sbuf")
        self.assertEqual(sorted(traced.inputs), ["constant_1", "x"])

    def test_chosen_largest(self):
        x, chosen = support.random(32, 8), (np.arange(256).reshape(32, 8) % 3).astype(np.int32)
        want = np.where(chosen > 0, x, np.float32(0.5))
        traced = trace("chip", "chosen_largest", x=x, chosen=chosen)
        self.check(traced, {"out": want, "out.2": want.max(1, keepdims=True)})

    def test_skipping(self):
        x = support.random(64, 8)
        rows = np.arange(128, dtype=np.int32)[:, None] - 32  # 64 of them are in x
        inside = (rows >= 0) & (rows < 64)
        tile = np.where(inside, x[np.clip(rows[:, 0], 0, 63)], np.float32(5))
        for start, first in ((-1000, np.zeros_like(tile)), (0, tile), (1000, np.zeros_like(tile))):
            self.computed(trace("chip", "skipping", x=x, rows=rows, start=one(start)),
                          [np.concatenate([first, tile])])


    def test_scaled_product(self):
        """Within a scaling of 2^-3 of the largest number of a block, and exactly what the rounded numbers give."""
        x, y = support.random(128, 32), support.random(128, 64, seed=2)
        traced = trace("chip", "scaled_product", x=x, y=y)
        bits, product, scales = traced.expected.values()
        want = np.einsum("kiq,kjq->ij", x.reshape(128, 8, 4), y.reshape(128, 16, 4))
        self.assertLess(np.abs(product - want).max() / np.abs(want).max(), 0.1)
        numbers = unpacked(ELEMENTS["float8_e4m3fn_x4"], bits)
        blocks = np.abs(x).reshape(16, 8, 8, 4).max((1, 3))
        scale = np.repeat(np.repeat(2.0 ** (np.floor(np.log2(blocks)) - 8), 8, 0), 4, 1)
        np.testing.assert_allclose(numbers * scale, x, rtol=0.125, atol=scale.max() / 512)  # 511 becomes 448
        self.check(traced, {})
        # The scales of each 32 partitions are in the first four rows of theirs; the others stay as they were.
        written = np.isin(np.arange(128) % 32, range(4))
        self.assertTrue((scales[~written] == 1).all() and (scales[written] > 100).all())
        self.assertEqual(traced.summary.obstacles, {})

    def test_decoded(self):
        """Each code of each kind, in each lane: as NumPy has it, and as the text does."""
        for name, width in (("float8_e4m3fn_x4", 8), ("float8_e5m2_x4", 8), ("float4_e2m1fn_x4", 4)):
            element = ELEMENTS[name]
            codes = np.arange(1 << width, dtype=np.uint32)
            words = np.zeros((8, 4 * len(codes)), element.dtype)
            words[0] = np.concatenate([codes << (width * lane) for lane in range(4)])
            ones = packed(element, np.eye(8, 1, dtype=np.float32) * np.ones(4, np.float32))
            scales, halves = np.full((1, words.shape[1]), 126, np.uint8), np.full((1, 1), 127, np.uint8)
            kind = f"uint{8 * element.itemsize}"
            given = {"words": tensor(words, kind), "ones": tensor(ones, kind), "scales": tensor(scales, "uint8"),
                     "one_scales": tensor(halves, "uint8"), "element": element}
            traced = trace_file(KERNELS / "chip.py", "decoded", given, keep_log=True)
            limited, is_number = traced.expected.values()
            want = np.tile(unpacked(element, codes.astype(element.dtype)[:, None])[:, 0], 4) / 2
            np.testing.assert_array_equal(limited[0], np.clip(want, -1e9, 1e9))
            self.assertTrue((is_number[0] == ~np.isnan(want)).all())
            self.check(traced, {})

    def test_words(self):
        """Codes and numbers, in both directions; what is too large saturates or is none, by the type."""
        for name, largest in (("float8_e4m3fn_x4", 448), ("float8_e5m2_x4", 57344), ("float4_e2m1fn_x4", 6)):
            element = ELEMENTS[name]
            numbers = np.array([[0, -1, 1.5, largest, -largest, 0.5, 2, -0.0]], np.float32)
            words = packed(element, numbers)
            self.assertEqual((words.shape, words.dtype.str), ((1, 2), element.dtype.str))
            np.testing.assert_array_equal(unpacked(element, words), numbers)
            np.testing.assert_array_equal(cast(words, ELEMENTS["float32"]), numbers)

    def test_gathered_by_core(self):
        x = support.random(32, 20)
        index = np.random.default_rng(3).integers(0, 20, (32, 3)).astype(np.uint16)
        traced = trace_file(KERNELS / "chip.py", "gathered_by_core", {
            "x": tensor(x), "index": tensor(index, "uint16")}, keep_log=True)
        want = [[x[row, index[row // 16 * 16 + k % 16, k // 16]] for k in range(48)] for row in range(32)]
        self.check(traced, {"out": np.array(want)})

    def test_other_bits(self):
        x = ELEMENTS["bfloat16"].fit(support.random(8, 6))
        numbers = np.arange(8, dtype=np.int32) * 1234567 % 2**30
        x[:, 4:] = (numbers.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(8, 2)
        traced = trace_file(KERNELS / "chip.py", "other_bits", {"x": tensor(x, "bfloat16")}, keep_log=True)
        pairs = x.reshape(8, 3, 2).transpose(1, 0, 2)
        for got, want in zip(traced.expected.values(), (2 * pairs.reshape(3, 16), pairs[..., 1], numbers[:, None])):
            np.testing.assert_array_equal(got, want)
        self.check(traced, {})

    def test_turned(self):
        """A constant is one input, wherever it is asked for."""
        x = support.random(96, 32)
        traced = trace("chip", "turned", x=x)
        self.check(traced, {"out": x.reshape(3, 32, 32).transpose(0, 2, 1).reshape(96, 32)})
        self.assertEqual(counts(traced), (15, 5, 1))
        self.assertEqual([name for name in traced.inputs if name != "x"], ["constant_1"])

    def test_added_up(self):
        x = support.random(512, 8)
        self.check(trace("chip", "added_up", x=x), {"out": x.reshape(4, 128, 8).sum(0)})

    def test_offset_in_rows(self):
        x = support.random(16, 32)
        traced = trace("chip", "offset_in_rows", x=x, rows=one(6))
        self.computed(traced, [x.reshape(64, 8)[6:10]])


    def test_windows(self):
        """A tile that is not a box is gathered from an input, which nothing writes."""
        x = support.random(64, 12)
        traced = trace("chip", "windows", x=x)
        self.check(traced, {"out": np.max([x[:, k:k + 10] for k in range(3)], axis=0)})
        self.assertEqual(counts(traced), (6, 3, 1))
        self.assertEqual(statement(traced, "dma_copy")["reads"], ["x[@]"])

    def test_tokens(self):
        """Addresses from memory, read and written: rows of their own, and one for all."""
        x = support.random(64, 8)
        table = np.random.default_rng(3).permutation(64)[:32].astype(np.int32)[:, None]
        traced = trace("chip", "tokens", x=x, table=table, start=one(7))
        want = np.zeros((64, 4), np.float32)
        want[table[:, 0]] = x[table[:, 0], 4:] + x[7:39, 2:6]
        self.check(traced, {"out": want})
        self.assertEqual({reason for reason, _ in traced.summary.obstacles},
                         {"an address that only a run knows: the tile is 'X[@]'"})


    def test_expert(self):
        """What is read or written at an address from memory is whole rows, or one element of two indices."""
        weights = support.random(4, 32, 24)
        traced = trace("chip", "expert", weights=weights, chosen=one(2))
        want = np.zeros((40, 16), np.float32)
        want[2:34, 8:] = weights[2, :, 8:16]
        self.check(traced, {"out": want.reshape(80, 8)})
        self.assertEqual(traced.summary.regrouped, [("weights", (128, 24)), ("out", (80, 8))])
        self.assertIn("  in other rows: weights as [128, 24], out as [80, 8]\n", traced.summary.text())

    def test_neighbours(self):
        x = support.random(8, 6, 4)
        traced = trace("chip", "neighbours", x=x)
        self.check(traced, {"out": x[:, :-2] + x[:, 1:-1] + x[:, 2:]})
        self.assertEqual(traced.summary.regrouped, [("x", (48, 4))])

    def test_nonzero_in_wide_rows(self):
        x = np.random.default_rng(1).integers(0, 2, (16, 1100)).astype(np.float32)
        traced = trace("chip", "nonzero", x=x)
        self.check(traced, {})
        self.assertEqual(traced.expected["out"][0, -1], x[0].sum())


class SeldomTest(KernelTest):
    def test_of_all_rows(self):
        x, gamma = support.random(128, 64), support.random(64, seed=2)
        for file in ("seldom", "seldom_first"):
            self.one_of(file, "of_all_rows", x * gamma, x=x, gamma=gamma)

    def test_by_names(self):
        x = support.random(128, 64)
        traced = trace("seldom_first", "by_names", x=x)
        kept = np.zeros(x.shape, bool)
        kept[:100, :40] = True
        np.testing.assert_array_equal(np.isnan(traced.expected["out"]), ~kept)
        np.testing.assert_array_equal(traced.expected["out"][kept], np.maximum(x, 0)[kept])
        self.check(traced, {})

    def test_further_from_zero(self):
        x, y = support.random(128, 64), support.random(128, 64, seed=2)
        y[:, 0] = -x[:, 0]  # the second one, if they are equally far
        far, near = np.where(abs(x) > abs(y), x, y), np.where(abs(x) < abs(y), x, y)
        self.one_of("seldom", "further_from_zero", far, near, x=x, y=y)

    def test_added_by_table(self):
        x, places = support.random(16, 8), np.random.default_rng(7).permutation(16).astype(np.int32)[:, None]
        want = np.zeros((16, 8), np.float32)
        want[places[:, 0]] = x
        self.check(trace("seldom", "added_by_table", x=x, places=places), {"sums": want})
        places[3] = places[5]
        with self.assertRaisesRegex(Refusal, "adds 2 numbers to one element of 'sums'"):
            trace("seldom", "added_by_table", x=x, places=places)

    def test_not_there(self):
        x, values = np.tile(np.arange(16, dtype=np.float32), (4, 1)), np.tile(np.float32([3, 99, 0, -1, 15, 16, 7, 8]), (4, 1))
        there = np.tile([3, -1, 0, -1, 15, -1, 7, 8], (4, 1))
        self.one_of("seldom", "not_there", np.where(there < 0, 0xFFFFFFFF, there), np.where(there < 0, 0xFFFF, there), there,
                    x=x, values=values)

    """Instructions that kernels seldom call, alike in both generations."""

    def both(self, kernel, *wants, **arguments):
        """The results, in the order in which they are written."""
        for file in ("seldom", "seldom_first"):
            self.one_of(file, kernel, *wants, **arguments)

    def one_of(self, file, kernel, *wants, **arguments):
        traced = trace(file, kernel, **arguments)
        self.assertEqual(len(traced.expected), len(wants))
        self.check(traced, dict(zip(traced.expected, wants)))
        self.assertEqual(traced.summary.obstacles, {})

    def test_turned(self):
        x = support.random(64, 32)
        self.one_of("seldom", "turned", x.T, 1 / x, x=x)
        self.one_of("seldom_first", "turned", x.T, np.full_like(x, 3), x=x)

    def test_with_sums(self):
        x = support.random(128, 24)
        largest = np.square(x).max(1, keepdims=True)
        powers = np.exp(x - largest)
        self.both("with_sums", 2 * x, (2 * x).sum(1, keepdims=True), np.square(x), largest, powers,
                  powers.sum(1, keepdims=True), x=x)

    def test_of_one(self):
        x = support.random(128, 24)
        roots = 1 / np.sqrt(np.abs(x) + 1)
        self.one_of("seldom", "of_one", np.abs(x), np.abs(x).max(1, keepdims=True), roots, roots * roots + x, x=x)

    def test_between(self):
        x, place = support.random(128, 24), 3 + np.arange(24)
        low, high = np.arange(128, dtype=np.float32)[:, None] % 9, np.full((128, 1), 17, np.float32)
        kept = np.where((place >= low) & (place < high), x, np.float32(-9))
        self.one_of("seldom", "between", kept, kept.max(1, keepdims=True), x=x, low=low, high=high)

    def test_over_rows(self):
        x = support.random(128, 24)
        self.one_of("seldom", "over_rows", x.sum(0, keepdims=True), np.cumsum(x, axis=1), x=x)

    def test_mixed(self):
        x, y = support.random(128, 24), 1 + np.abs(support.random(128, 24, seed=2))
        product = (1 - x) * y
        self.one_of("seldom_first", "mixed", product, 1 / product, np.where(1 / product > x, 1 / product, x),
                    y.sum(1, keepdims=True) / 2, x=x, y=y)

    def test_places(self):
        x, table = support.random(128, 24), support.random(128, 24, seed=2)
        where = np.argsort(-x, axis=1)[:, :8]
        values, rest = np.take_along_axis(x, where, 1), np.array(x)
        np.put_along_axis(rest, where, -1, 1)
        self.one_of("seldom", "places", values, where, x=x)
        self.one_of("seldom_first", "places", values, where, np.take_along_axis(table, where, 1), rest, x=x, table=table)

    def test_listed(self):
        """Results that are made in a loop are one buffer, with a dimension for the loop."""
        x = support.random(512, 8)
        self.one_of("seldom", "listed", 3 * x.reshape(4, 128, 8), x=x)

    def test_shuffled(self):
        x = support.random(64, 8)
        self.one_of("seldom_first", "shuffled", x[np.arange(64) ^ 1], x=x)

    def test_typed(self):
        x = support.random(128, 8)
        traced = trace("seldom", "typed", x=x)
        self.check(traced, {"out": x})
        self.assertEqual([reason for reason, _ in traced.summary.obstacles],
                         ["'dtype' bfloat16 of what is written to a tile of float32: the tile's type counts"])


class DynamicTest(KernelTest):
    def test_rows_by_a_table(self):
        """The inputs of the trace do not decide on the text: what the first iterations read may go on otherwise."""
        x = support.random(1024, 8)
        for kernel in ("rows_by_a_table", "rows_by_an_offset"):
            texts = set()
            for trips in (3, 4, 8):
                traced = trace("dynamic", kernel, x=x, n=one(trips))
                texts.add(support.dumped(traced))
                self.assertIn("an address that only a run knows: the tile is 'X[@]'",
                              {reason for reason, *_ in traced.summary.obstacles})
            self.assertEqual(len(texts), 1)
        want = np.array(x)
        for row in (0, 1, 2, 3, 4, 4, 4, 4):
            want[64 * row:64 * row + 64] += 1
        traced = trace("dynamic", "rows_by_a_table", x=x, n=one(8))
        np.testing.assert_array_equal(traced.expected["out"], want)
        self.assertEqual(race(traced), "yes")

    """Loops that run as often as memory says are loops of run-time trips, right for other trips, too."""

    def other_trips(self, kernel, traced, trips, **arguments):
        """tally's data of the one document at other trips, against the Python run again."""
        for number in trips:
            again = support.rerun("dynamic", kernel, n=one(number), **arguments)
            loop = traced.summary.dynamic[0].split(" ")[0]
            self.assertEqual(differences(traced, trips=[f"{loop}={number}"], inputs=again.inputs,
                                         expected=again.expected, strategies=("per-loop", "auto")),
                             [], f"{number} trips")

    def test_slices(self):
        x = support.random(512, 8)
        traced = trace("dynamic", "slices", x=x, n=one(3))
        self.check(traced, {})
        self.other_trips("slices", traced, (0, 1, 4), x=x)

    def test_rows(self):
        x = support.random(1024, 32)
        traced = trace("dynamic", "rows", x=x, n=one(3))
        self.assertEqual(traced.summary.dynamic, ["i (value count)"])
        self.assertIn("x[128*i:128, 0:32]", support.dumped(traced))
        self.assertTrue(np.allclose(traced.expected["out"][:384], np.exp(-0.5 * x[:384])))
        self.assertEqual(expanded(traced), traced.recorder.log)
        self.assertEqual(differences(traced, trips=["count=3"]), [])
        self.assertEqual(race(traced), "yes")
        self.other_trips("rows", traced, (0, 5, 8), x=x)

    def test_counter(self):
        x = support.random(1024, 32)
        traced = trace("dynamic", "counter", x=x, n=one(3))
        self.assertEqual(traced.summary.dynamic, ["while (while more)"])
        # The address is in memory, but it follows from the kernel alone.
        load = statement(traced, "dma_copy", 1)
        self.assertEqual(load["reads"], ["x[128*while:128, 0:32]", "start[0:1, 0:1]"])
        self.assertEqual(expanded(traced), traced.recorder.log)
        self.assertEqual(race(traced), "yes")
        self.other_trips("counter", traced, (0, 1, 6), x=x)

    def test_own_counter(self):
        x = support.random(1024, 16)
        traced = trace("dynamic", "own_counter", x=x, n=one(3))
        self.assertEqual(traced.summary.dynamic, ["while (value left)"])
        self.assertEqual(statement(traced, "dma_copy", 1)["reads"], ["x[128*while:128, 0:16]"])
        self.check(traced, {})
        self.other_trips("own_counter", traced, (0, 1, 8), x=x)

    def test_counter_in_loop(self):
        x = support.random(1024, 16)
        traced = trace("dynamic", "counter_in_loop", x=x, n=one(3), m=one(2))
        # Both loops move one tile: what is beyond its buffer, however often they run, does not happen.
        self.assertEqual(self.bounds(traced), {"i": 4, "while": 8})
        self.assertEqual(statement(traced, "dma_copy", 2)["reads"], ["x[256*i + 128*while:128, 0:16] if 256*i + 128*while < 897"])
        self.check(traced, {})
        for n, m in ((4, 2), (1, 1), (4, 0), (0, 2)):
            again = support.rerun("dynamic", "counter_in_loop", x=x, n=one(n), m=one(m))
            self.assertEqual(differences(traced, trips=[f"i={n}", f"while={m}"], inputs=again.inputs, expected=again.expected,
                                         strategies=("per-loop", "auto")), [])

    def test_ragged_blocks(self):
        """In each part, a loop may run as often as it may in the one that leaves it most."""
        x, many = support.random(1024, 16), np.array([[6, 3]], np.int32)
        traced = trace("dynamic", "ragged_blocks", x=x, lengths=many)
        self.assertEqual(self.bounds(traced), {"i": 8})
        self.assertEqual(statement(traced, "dma_copy", 1)["reads"], ["x[512*b + 128*i:128, 0:16] if 512*b + 128*i < 897"])
        self.assertEqual(support.race(traced), "yes")
        for lengths in ((6, 3), (8, 0), (0, 4), (1, 2)):
            again = support.rerun("dynamic", "ragged_blocks", x=x, lengths=np.array([lengths], np.int32))
            self.assertEqual(differences(traced, trips=[f"i={lengths[0]},{lengths[1]}"], inputs=again.inputs, expected=again.expected,
                                         strategies=("per-loop", "auto")), [])

    def bounds(self, traced):
        """The most trips of each dynamic loop that has such a number."""
        found, pending = {}, list(traced.document["body"])
        while pending:
            statement = pending.pop()
            if "loop" in statement:
                pending += statement["body"]
                if isinstance(statement["trips"], dict) and "max" in statement["trips"]:
                    found[statement["loop"]] = statement["trips"]["max"]
        return found

    def test_reshaped(self):
        """The same elements in another shape are the same state, if a third iteration shows that none minds."""
        x = support.random(512, 16)
        traced = trace("dynamic", "reshaped", x=x, n=one(3))
        self.check(traced, {})
        self.other_trips("reshaped", traced, (0, 1, 4), x=x)
        with self.assertRaises(Refusal) as raised:
            trace("dynamic", "reshaped", x=x, n=one(2))
        self.assertIn("at least 3 times", str(raised.exception))

    def test_falling(self):
        x = support.random(1024, 16)
        traced = trace("dynamic", "falling", x=x, n=one(3))
        self.assertEqual(self.bounds(traced), {"i": 6})
        self.check(traced, {})
        self.other_trips("falling", traced, (0, 1, 6), x=x)

    def test_stated_bound(self):
        given = {"x": tensor(support.random(128, 16)), "n": tensor(one(3))}
        traced = trace_file(KERNELS / "dynamic.py", "unbounded", given)
        self.assertEqual((self.bounds(traced), traced.summary.unbounded), ({}, ["i"]))
        self.assertIn("  no bound: i; '--max-trips=i=N' gives one\n", traced.summary.text())
        for name in ("i", "register"):
            traced = trace_file(KERNELS / "dynamic.py", "unbounded", given, most={name: 5})
            self.assertEqual((self.bounds(traced), traced.summary.unbounded), ({"i": 5}, []))
            self.assertEqual(race(traced), "yes")
        for most, text in (({"j": 5}, "no dynamic loop and no value is called 'j'; there are: i (value register)"),
                           ({"i": 2}, "the loop ran 3 times in this trace")):
            with self.assertRaises(Refusal) as raised:
                trace_file(KERNELS / "dynamic.py", "unbounded", given, most=most)
            self.assertIn(text, str(raised.exception))
        # One on a condition becomes one of a value, since only these have bounds.
        given = {"x": tensor(support.random(1024, 32)), "n": tensor(one(3))}
        traced = trace_file(KERNELS / "dynamic.py", "counter", given, most={"while": 6})
        self.assertEqual((self.bounds(traced), traced.summary.dynamic), ({"while": 6}, ["while (value more)"]))
        self.assertEqual(race(traced), "yes")

    def test_names_again(self):
        x = support.random(512, 16)
        traced = trace("dynamic", "names_again", x=x, n=one(3))
        self.check(traced, {})
        self.other_trips("names_again", traced, (0, 1, 4), x=x)

    def test_nested(self):
        x = support.random(4, 512, 32)
        traced = trace("dynamic", "sums", x=x, n=one(2), m=one(3))
        self.assertEqual(traced.summary.dynamic, ["i (value outer)", "j (value inner)"])
        self.assertIn("x[i, 128*j:128, 0:32]", support.dumped(traced))
        self.assertEqual(expanded(traced), traced.recorder.log)
        self.assertEqual(race(traced), "yes")
        for n, m in ((4, 2), (3, 4), (3, 0), (0, 2)):
            again = support.rerun("dynamic", "sums", x=x, n=one(n), m=one(m))
            want = x[:n, :128 * m].reshape(n, m, 128, 32).sum(1)
            if n:
                self.assertTrue(np.allclose(again.expected["out"][:n], want, atol=1e-4))
            self.assertEqual(differences(traced, trips=[f"outer={n}", f"inner={m}"], inputs=again.inputs,
                                         expected=again.expected, strategies=("per-loop", "auto")), [])

    def test_running(self):
        """Numbers that stay on the chip from trip to trip."""
        x = support.random(1024, 32)
        traced = trace("dynamic", "running", x=x, n=one(3))
        self.assertEqual(race(traced), "yes")
        rows = x[:384].reshape(3, 128, 32).transpose(1, 0, 2).reshape(128, 96)
        top = rows.max(1)
        want = np.stack([top, np.exp(rows - top[:, None]).sum(1)], axis=1)
        np.testing.assert_allclose(traced.expected["out"], want, rtol=1e-4)
        self.other_trips("running", traced, (0, 1, 8), x=x)

    def test_triangles(self):
        x = support.random(1024, 4)
        traced = trace("dynamic", "triangles", x=x, n=one(2))
        self.assertEqual(traced.summary.instructions, 8)  # the number, its registers on three engines, and one body
        self.assertIn('{"formula": "i"}', support.dumped(traced))
        self.assertEqual(race(traced), "yes")
        np.testing.assert_allclose(traced.expected["out"][:256], np.cumsum(x[:256], axis=1), rtol=1e-4, atol=1e-5)
        self.other_trips("triangles", traced, (0, 1, 8), x=x)

    def test_follows(self):
        """An inner loop that runs as often as the index of a dynamic one around it says has a formula, and may run once or not at all."""
        x, y = support.random(160, 8), support.random(96, 8, seed=2)
        for kernel, given, most, formulas in [("prefixes", {"x": x, "y": y}, 6, ["i", "i - j + 1", "2*i"]), ("suffixes", {"x": x}, 10, ["-i + 4"])]:
            traced = trace("dynamic", kernel, n=one(4), **given)
            self.assertEqual(self.bounds(traced), {"i": most})
            self.assertEqual(re.findall(r'"formula": "(.*?)"', support.dumped(traced)), formulas)
            self.assertEqual([text for text in traced.summary.dynamic if "trips" in text],
                             [f"{loop} (trips {formula})" for loop, formula in zip(["j", "k", "k.2"] if kernel == "prefixes" else ["i.2"], formulas)])
            self.check(traced, {})
            self.other_trips(kernel, traced, (0, 1, 2, most), **given)
        # What an iteration leaves in memory for the next one is seen in the third.
        self.assertEqual(support.dumped(trace("dynamic", "suffixes", x=x, n=one(3))), support.dumped(traced))
        with self.assertRaises(Refusal) as raised:
            trace("dynamic", "prefixes", x=x, y=y, n=one(2))
        self.assertIn("the dynamic loop over 'i' ran 2 times in this trace", str(raised.exception))

    def test_never_loaded(self):
        traced = trace("more", "never_loaded", x=support.random(128, 8))
        self.assertEqual([reason for reason, _ in traced.summary.obstacles], ["'tile' is read, and nothing has written it: in the text, it is an input"])

    def test_patterns(self):
        """What goes round in a longer run is told, since it looks even in a shorter one."""
        short, long = (trace("more", "by_turns", x=support.random(512, 8), trips=trips).summary for trips in (3, 6))
        self.assertEqual((short.as_json()["patterns"], long.as_json()["patterns"]), ([], ["i mod 4"]))
        self.assertIn("  patterns: i mod 4\n", long.text())

    def test_names_of_ours(self):
        x = support.random(128, 8)
        for kind, scale in ((1, 4), (2, 2), ({3: 0}, 2), (7, 3)):
            self.assertTrue((trace("more", "names_of_ours", x=x, kind=kind).expected["out"] == scale * x).all())

    def test_leaves_things(self):
        def state():
            return list(gc.callbacks), sys.get_asyncgen_hooks(), set(sys.modules), sys.stdin, np.geterrcall()

        before = state()
        traced = trace("more", "leaves_things", x=support.random(128, 8))
        self.assertEqual(state(), before)
        self.assertEqual(traced.summary.program, "0 of 1")  # nobody has named a grid

    def test_two_values(self):
        """Registers of one name that hold two values, and a tile of that name."""
        x = support.random(512, 16)
        traced = trace("dynamic", "two_values", x=x, n=one(4), m=one(2))
        self.assertEqual(traced.summary.dynamic, ["i (value register.2)", "j (value register.3)", "k (value last)",
                                                  "k.2 (value last)"])
        self.check(traced, {})
        again = support.rerun("dynamic", "two_values", x=x, n=one(1), m=one(3))
        self.assertEqual(differences(traced, trips=["register.2=1", "register.3=3", "last=3"], inputs=again.inputs,
                                     expected=again.expected), [])

    def test_loaded_again(self):
        x = support.random(640, 16)
        traced = trace("dynamic", "loaded_again", x=x, counts=np.array([[4, 2]], np.int32))
        self.assertEqual(traced.summary.dynamic, ["i (value count)", "i.2 (value count.2)"])
        self.assertEqual(traced.summary.trips, {"i": [4, 2], "i.2": [3]})
        self.assertIn("  this run: --trips=i=4,2\n", traced.summary.text())
        self.check(traced, {})

    def test_ragged(self):
        x, lengths = support.random(4, 512, 16), np.array([[2, 4, 3, 0]], np.int32)
        traced = trace("dynamic", "ragged", x=x, lengths=lengths, n=one(3))
        self.assertEqual(traced.summary.trips, {"part": [3], "i": [2, 4, 3]})
        self.check(traced, {})
        for n in (0, 1, 4):
            again = support.rerun("dynamic", "ragged", x=x, lengths=lengths, n=one(n))
            self.assertEqual(differences(traced, trips=[f"parts={n}", "length=2,4,3,0"], inputs=again.inputs,
                                         expected=again.expected, strategies=("per-loop", "auto")), [])

    def test_while_loop(self):
        """In a dynamic loop, a loop whose body gives the register on which the next turn depends."""
        x, times = support.random(4, 128, 16), np.array([[2], [4], [3], [0]], np.int32)
        traced = trace("dynamic", "times", x=x, counts=times, n=one(3))
        self.assertEqual(traced.summary.trips, {"i": [3], "while": [2, 4, 3]})
        self.check(traced, {})
        for n in (0, 1, 4):
            again = support.rerun("dynamic", "times", x=x, counts=times, n=one(n))
            if n:
                self.assertTrue(np.allclose(again.expected["out"][:n], (times[:, :, None] * x)[:n], atol=1e-5))
            self.assertEqual(differences(traced, trips=[f"i={n}", "while=2,4,3,0"], inputs=again.inputs,
                                         expected=again.expected, strategies=("per-loop", "auto")), [])

    def test_gathered(self):
        """An address from an input is anywhere; the numbers are gathered from all of the tensor."""
        x, where = support.random(512, 32), np.array([[256], [0], [128], [64]], np.int32)
        traced = trace("dynamic", "gathered", x=x, where=where, n=one(3))
        load = statement(traced, "dma_copy", 2)
        self.assertEqual(load["reads"], ["x[@]", "start[total(i) mod 2, 0:1, 0:1]"])
        self.assertEqual(load["computes"], "gather(r0, index([128], 0) + reshape(r1, [1]))")
        self.assertTrue((traced.expected["out"][:384] == np.concatenate([x[256:384], x[:128], x[128:256]])).all())
        self.check(traced, {})
        self.other_trips("gathered", traced, (0, 1, 4), x=x, where=where)

    def test_after_the_loop(self):
        traced = trace("dynamic", "after_the_loop", x=support.random(512, 16), n=one(3))
        self.assertEqual(statement(traced, "dma_copy", 1)["reads"][0], "x[128*i:128, 0:16]")
        self.assertEqual(statement(traced, "dma_copy", 2)["reads"][0], "x[@]")

    def test_doubled(self):
        traced = trace("dynamic", "doubled", x=support.random(128, 16), n=one(2))
        self.assertEqual(statement(traced, "dma_copy", 1)["reads"][0], "x[@]")

    def test_counted(self):
        """A number in memory that each iteration adds to grows evenly only if it is whole and stays in its type's exact range."""
        x, n = support.random(2048, 8), one(3)
        for kind, first, step, reads in [
                ("int32", 0, 64, "x[64*i:16, 0:8]"), ("int32", 640, -64, "x[-64*i + 640:16, 0:8]"), ("float32", 0, 64, "x[64*i:16, 0:8]"),
                ("uint32", 8, 64, "x[64*i + 8:16, 0:8]"), ("uint32", 640, -64, "x[@]"), ("uint8", 0, 64, "x[@]"), ("uint8", 130, -50, "x[@]"),
                ("int8", 0, 40, "x[@]"), ("int16", 0, 64, "x[@]"), ("bfloat16", 0, 101, "x[@]"), ("float32", 0, 0.4, "x[@]")]:
            given = {"x": tensor(x), "n": tensor(n), "kind": kind, "first": first, "step": step}
            traced = trace_file(KERNELS / "dynamic.py", "counted", given)
            self.assertEqual(statement(traced, "dma_copy", 1)["reads"], [reads], (kind, step))
            self.assertEqual(race(traced), "yes")
        # A longer axis has places that no number in memory can count to.
        given = {"x": tensor(np.zeros((FAR + 16, 1), np.int32), "int8"), "n": tensor(n), "kind": "int32", "first": 0, "step": 64}
        self.assertEqual(statement(trace_file(KERNELS / "dynamic.py", "counted", given), "dma_copy", 1)["reads"], ["x[@]"])

    def test_start_and_step(self):
        x = support.random(1024, 16)
        traced = trace("dynamic", "start_and_step", x=x, last=one(384))
        self.assertEqual(traced.summary.dynamic, ["i (value end.trips)"])
        for last, trips in ((384, 3), (0, 0), (100, 1), (1024, 8)):
            again = support.rerun("dynamic", "start_and_step", x=x, last=one(last))
            self.assertEqual(differences(traced, trips=[f"i={trips}"], inputs=again.inputs,
                                         expected=again.expected, strategies=("per-loop", "auto")), [])

    def test_other_inputs(self):
        """The text does not depend on the trips of the trace."""
        x = support.random(1024, 32)
        texts = {support.dumped(trace("dynamic", "rows", x=x, n=one(number))) for number in (2, 3, 7)}
        self.assertEqual(len(texts), 1)

    def test_product(self):
        a, b = support.random(640, 128), support.random(640, 128, seed=2)
        traced = trace("dynamic", "product", a=a, b=b, n=one(3))
        self.assertEqual(traced.summary.dynamic, ["k (value depth)"])
        self.assertEqual(statement(traced, "nc_matmul")["computes"], "start(k, matmul(r0, r1))")
        self.assertTrue(np.allclose(traced.expected["out"], a[:384].T @ b[:384], atol=1e-3))
        self.assertEqual(expanded(traced), traced.recorder.log)
        self.assertEqual(race(traced), "yes")
        self.other_trips("product", traced, (1, 4, 5), a=a, b=b)

    def test_sums_of_products(self):
        """Zeros in PSUM are written where a loop that may run 0 times is all that adds to them, or a product says that it adds."""
        x = support.random(128, 8)
        traced = trace("dynamic", "sums_of_products", x=x, n=one(3), m=one(2))
        self.assertEqual(len([name for name in statements(traced) if name.startswith("memset")]), 3)
        self.assertNotIn("start(", support.dumped(traced))
        self.check(traced, {})
        part = [x[:16].T @ x[16 * i:16 * i + 16] for i in range(8)]
        for n, m in ((3, 0), (0, 2), (5, 1), (0, 0)):
            again = support.rerun("dynamic", "sums_of_products", x=x, n=one(n), m=one(m))
            whole, sums = part[0] + sum(part[:n]), np.tile(sum(part[:m], np.zeros((8, 8))), (n, 1))
            self.assertTrue(np.allclose(again.expected["whole"], whole, atol=1e-4))
            if n:
                self.assertTrue(np.allclose(again.expected["out"][:, :8 * n], sums, atol=1e-4))
            self.assertEqual(differences(traced, trips=[f"outer={n}", f"inner={m}"], inputs=again.inputs, expected=again.expected,
                                         strategies=("per-loop", "auto")), [])


class MistakeTest(unittest.TestCase):
    """What is wrong with code for a traced kernel is told where it is in Python."""

    def softmax(self, folder):
        """The document of the example, which is also written to `k.json`."""
        traced = trace_file(support.ROOT / "examples/nki/softmax.py", "softmax",
                            {"x": tensor(support.random(512, 64)), "blocks": tensor(one(3))})
        (folder / "k.json").write_text(as_text(traced.document), encoding="utf-8")
        return traced.document

    def test_removed_dependences(self):
        """A kernel with its dependences in writing, one of them left out."""
        with tempfile.TemporaryDirectory(prefix="tally-nki-") as name:
            folder = Path(name)
            document = self.softmax(folder)
            status, text = support.tally("deps", folder / "k.json", "--format=json", f"--machine={support.machine()}")
            self.assertEqual(status, 0, text)
            found = [{key: entry[key] for key in ("producer", "consumer", "kind", "distance") if entry.get(key)}
                     for entry in json.loads(text)["kernels"][0]["dependences"] if entry["implied_by"] is None]
            self.assertEqual(len(found), 11)
            for missing in [None, *found]:
                document["dependences"] = [entry for entry in found if entry is not missing]
                (folder / "less.json").write_text(json.dumps(document), encoding="utf-8")
                status, text = support.tally("check", folder / "less.json", "--race", f"--machine={support.machine()}")
                self.assertEqual(status, 0 if missing is None else 1, text)
                if missing is not None:
                    line = missing["consumer"].split(".")[1]
                    self.assertRegex(text, rf"softmax\.py:{line}:\d+: error: race: nothing makes '{missing['consumer']}'")

    def test_removed_waits(self):
        with tempfile.TemporaryDirectory(prefix="tally-nki-") as name:
            folder = Path(name)
            self.softmax(folder)
            status, text = support.tally("compile", folder / "k.json", "--format=json", "--locations",
                                         f"--machine={support.machine()}", "-o", folder / "code.json")
            self.assertEqual(status, 0, text)
            code = json.loads((folder / "code.json").read_text(encoding="utf-8"))
            waiting = list(_issues(code))
            self.assertEqual(len(waiting), 10)
            for issue in waiting:
                wait, issue["wait"] = issue["wait"], None
                (folder / "less.json").write_text(json.dumps(code), encoding="utf-8")
                status, text = support.tally("check", folder / "less.json", "--race")
                line = issue["instr"].split(".")[1]
                self.assertEqual(status, 1, text)
                self.assertRegex(text, rf"softmax\.py:{line}:\d+: error: ")
                issue["wait"] = wait


def _issues(code):
    """The issues of a code document that wait."""
    pending = [operation for engine in code["engines"] for operation in engine["code"]]
    while pending:
        operation = pending.pop()
        pending += operation.get("body", [])
        if operation["op"] == "issue" and operation["wait"]:
            yield operation


class RefusalTest(unittest.TestCase):
    """Each names the construct, the place and the way out."""

    def refused(self, *texts, line=None, file="wrong", limits=Limits(), **arguments):
        kernel = arguments.pop("kernel")
        arguments = arguments or {"x": support.random(128, 128)}
        given = {key: value if isinstance(value, str) else tensor(value) for key, value in arguments.items()}
        with self.assertRaises(Refusal) as raised:
            trace_file(KERNELS / f"{file}.py", kernel, given, limits=limits)
        for text in texts:
            self.assertIn(text, str(raised.exception))
        if line is not None:
            source = (KERNELS / f"{file}.py").read_text(encoding="utf-8").splitlines()
            self.assertIn(line, source[raised.exception.place.line - 1])

    def test_returned(self):
        self.refused("'part' is allocated in the dynamic loop over 'i' and returned; allocate it before the loop",
                     file="wrong_dynamic", line="part = nl.ndarray", kernel="returned", n=one(3))
        self.refused("changes Python's 'part' from None to a tensor", "a tensor from before the loop", file="wrong_dynamic",
                     line="for i in nl.dynamic_range", kernel="returned_or_none", n=one(3))

    def test_caught(self):
        """A refusal that the kernel catches decides, and the first one does."""
        self.refused("'nki.isa.frobnicate' is not modelled", line="nisa.frobnicate(", kernel="catches")
        self.refused("'nki.isa.frobnicate' is not modelled", line="nisa.frobnicate(", kernel="catches_and_raises")
        self.refused("a Python number of the register", file="wrong_dynamic", line="int(register)", kernel="caught", n=one(3))

    def test_exits(self):
        self.refused("'exits' exits from Python; let it return", line="sys.exit(0)", kernel="exits")

    def test_slice_of_register(self):
        """The length of a slice is a number, whichever of its ends is a register."""
        for kernel, text, line in [("slice_to", "'0:register'", "tile[:, 0:register]"),
                                   ("slice_from", "'register:'", "tile[:, register:]"),
                                   ("slice_between", "'register:register'", "register:other"),
                                   ("slice_grows", "'register:register'", "register:2 * register")]:
            self.refused(f"the length of the slice {text} depends on a register", "use 'nl.ds(start, size)'",
                         file="wrong_dynamic", line=line, kernel=kernel, n=one(3))

    def test_index_after_loop(self):
        for kernel in ("last_index", "last_inner_index"):
            self.refused("the register 'j' is used after the iteration of the dynamic loop over 'j' that made it", "'nisa.register_move'",
                         file="wrong_dynamic", line="x[nl.ds(first, 128)]", kernel=kernel, x=support.random(512, 8), n=one(3))

    def test_state_of_c(self):
        for where, name in [("member", "'problem.errno' from 0 to 128"), ("cause", "'problem.__cause__' from None"),
                            ("factory", "'rows.default_factory.__self__ (its state)"), ("class", "'global wrong_dynamic.Rows.__class__.at'")]:
            with self.subTest(where=where):
                self.refused(f"changes Python's {name}", "from before the loop", file="wrong_dynamic", kernel="in_objects_of_c",
                             x=support.random(640, 8), n=one(3), where=where, line="for _ in nl.dynamic_range")

    def test_state(self):
        """Python's state that an iteration changes, wherever it is, though iterations differ in numbers alone."""
        x = support.random(640, 8)
        for kernel, name in [
                ("in_attribute", "'cursor.at' from 0 to 128"), ("in_local", "'i' from 0"), ("in_method", "'step.__self__.at'"), ("in_class", "'global wrong_dynamic.Cursor.made'"),
                ("in_global", "'global wrong_dynamic.at_global'"), ("in_called", "'global wrong_dynamic.at_list[0]'"),
                ("in_function", "'global wrong_dynamic.counting.at'"), ("in_iterator", "'places (its state)"),
                ("in_iterator_of_list", "'places (its state)"), ("in_generator", "'places'"),
                ("in_default", "'step(places=...)[0]'"), ("in_closure", "'places' from 0 elements to 1 elements"),
                ("in_nonlocal", "'at' from 0 to 128"), ("in_partial", "'body.args[1]'"), ("in_while", "'state.at'"), ("in_dictionary", "'places'"),
                ("in_array", "'places'"), ("none_before", "'last' from None to a register"), ("window_moves", "'window'"),
                ("registers_change_places", "'one'"), ("by_chance", "'random numbers'")]:
            for trips in (2, 3):
                with self.subTest(kernel=kernel):
                    self.refused(f"changes Python's {name}", "from before the loop", file="wrong_dynamic", kernel=kernel, x=x, n=one(trips),
                                 line="while left" if kernel == "in_while" else "fori_loop" if kernel in ("in_closure", "in_nonlocal", "in_partial")
                                 else "for _ in nl.dynamic_range" if kernel != "none_before" else "for i in nl.dynamic_range")

    def test_state_of_all_kinds(self):
        """What an iteration changes is found in any object, or the object may be one whose state cannot be followed."""
        kernels = (KERNELS / "wrong_dynamic.py").read_text(encoding="utf-8")
        given = {"x": tensor(support.random(640, 8)), "n": tensor(one(3))}
        for kind in re.findall(r'^    "(\w+)": \(', kernels, re.M):
            with self.subTest(kind=kind), self.assertRaises(Refusal) as raised:
                trace_file(KERNELS / "wrong_dynamic.py", "of_kind", {**given, "kind": kind})
            self.assertRegex(str(raised.exception), "the dynamic loop (changes|may change) Python's '")
        with contextlib.redirect_stderr(io.StringIO()):
            trace_file(KERNELS / "wrong_dynamic.py", "allowed", given)

    def test_device(self):
        """What the device does not do."""
        self.refused("'whole', which is int32; the device multiplies fp8, bf16, f16, tf32 and f32", line="nisa.nc_matmul(product, whole", kernel="product_of_whole_numbers")
        self.refused("'activation' on engine 'gpsimd', which does not run it", line="engine=nisa.gpsimd_engine", kernel="activation_elsewhere")
        self.refused("a register of '1.5'; registers hold whole numbers", line="register_alloc(1.5)", kernel="half_a_register")
        self.refused("the machine has no memory left for the kernel's tensors", line="raise MemoryError", kernel="no_memory")

    def test_seen(self):
        """A number that belongs to this trace decides nothing in Python."""
        for what in ("offset", "getattr", "base", "data", "read"):
            with self.subTest(what=what), self.assertRaises(Raised) as raised:
                trace("wrong_dynamic", "seen", x=support.random(1280, 8), n=one(3), what=what)
            self.assertRegex(str(raised.exception.error), "'tensor' object has no attribute '(offset|base|memory|read)': it would be a number of this trace")
        for what, word in (("value", "register"), ("private", "register"), ("first", "index grid")):
            with self.subTest(what=what), self.assertRaises(Raised) as raised:
                trace("wrong_dynamic", "seen", x=support.random(1280, 8), n=one(3), what=what)
            self.assertRegex(str(raised.exception.error), f"'{word}' object has no attribute '(value|_value|first)'")
        for what in ("element", "floordiv", "mod", "dense"):
            self.refused("numbers of an index grid that a register is in", file="wrong_dynamic", line="few = (grid" if what != "element" else "few = grid[0",
                         kernel="seen", x=support.random(1280, 8), n=one(3), what=what)
        self.refused("a register and one of type 'float'", file="wrong_dynamic", line="i * 128 + 1.5", kernel="seen", x=support.random(1280, 8),
                     n=one(3), what="float")

    def test_masks_that_move(self):
        for where, line in (("load", "nl.load(x[i * 128"), ("register", "nl.load(x[rows"), ("sum", "tile[rows, columns] ="), ("store", "nl.store(")):
            with self.subTest(where=where):
                self.refused("a mask that a register or the index of a dynamic loop is in" if where != "register" else "an index grid at an address from memory",
                             file="wrong_dynamic", line=line, kernel="masked", x=support.random(1280, 8), n=one(3), where=where)

    def test_registers_of_iterations(self):
        x = support.random(640, 8)
        self.refused("the register 'i' is used after the iteration", file="wrong_dynamic", line="fill(x, last + 1)", kernel="index_before",
                     x=x, n=one(3))
        self.refused("the register 'length' is used after the iteration", file="wrong_dynamic", line="dst=x[nl.ds(first",
                     kernel="register_of_iteration", x=x, n=one(3))
        self.refused("at least 3 times", file="wrong_dynamic", line="for _ in nl.dynamic_range", kernel="moved_to_constant", x=x, n=one(2))
        self.refused("does not move evenly", file="wrong_dynamic", line="for _ in nl.dynamic_range", kernel="moved_to_constant", x=x,
                     n=one(3))

    def test_questions(self):
        """What Python would answer by itself, whatever the numbers are."""
        x = support.random(640, 8)
        for kernel, text, line in [
                ("tile_as_condition", "a Python condition on the tensor 'tile'", "if tile"),
                ("number_in_tile", "'in' of the tensor 'n'", "if 5 in n"),
                ("tile_is_number", "a Python comparison of a tensor", "if n == 5"),
                ("register_as_key", "a key or a member of a set of the register", "{5: 128}"),
                ("register_halved", "'//' of a register is not modelled", "// 2"),
                ("tile_halved", "'//' of a tensor is not an operator of tiles", "n // 2")]:
            with self.subTest(kernel=kernel):
                self.refused(text, file="wrong_dynamic", line=line, kernel=kernel, x=x, n=one(3))

    def test_text_of_register(self):
        self.refused("a text with ':03d' of the register 'i'", file="wrong_dynamic", line="tile_{i:03d}", kernel="number_as_text", n=one(3))

    def test_dynamic_without_for(self):
        x = support.random(640, 8)
        for kernel, line, text in (("comprehended", "for _ in nl.dynamic_range", "derive from 'i'"), ("zipped", "in zip(", "derive from 'i'"),
                                   ("generated", "for i in nl.dynamic_range(register)", "for 'nl.fori_loop'")):
            self.refused("a dynamic loop", text, file="wrong_dynamic", line=line, kernel=kernel, x=x, n=one(3))
        for kernel, line in (("listed", "list(nl.dynamic_range"), ("counted", "sum(1 for _ in nl"),
                             ("numbered", "enumerate(nl.dynamic_range")):
            self.refused("a dynamic loop that is no 'for' statement", "write 'for i in nl.dynamic_range(...):'",
                         file="wrong_dynamic", line=line, kernel=kernel, n=one(3))

    def test_dma_of_psum(self):
        self.refused("'dma_copy' of a tile in PSUM", "'nisa.tensor_copy'", line="nisa.dma_copy(dst=tile", kernel="copied_to_psum")

    def test_unknown_function(self):
        self.refused("'nki.isa.frobnicate' is not modelled", "Nki.md", line="nisa.frobnicate(",
                     kernel="unknown_function")

    def test_operators(self):
        """How many tiles an operator takes."""
        for which, text in (
                ("sum_of_one", "'add' takes two tiles, and what is given here has to take one tile"),
                ("power_of_two", "'exp' takes one tile, and what is given here has to take two tiles"),
                ("second", "'abs' takes one tile, and what is given here has to take two tiles"),
                ("scan", "'exp' takes one tile"), ("none", "'add' takes two tiles, and this 'tensor_scalar' has no operand"),
                ("operand", "'abs' takes one tile, and this 'tensor_scalar' gives it an operand"),
                ("reversed", "or reverses them; say 0.0"),
                ("mean", "'mean' is not an operator of one tile or two tiles")):
            with self.subTest(which=which):
                self.refused(text, line=f'"{which}"', kernel="operators", x=support.random(128, 8), which=which)

    def test_of_the_device(self):
        for which, text in (
                ("no operator", "gives an operand, or reverses it, without its operator"), ("reversed nothing", "without its operator"),
                ("float index", "an index of type 'float'"), ("true index", "an index of type 'bool'"), ("text", "of type 'str'"),
                ("no comparison", "'add' of 'affine_select' is not a comparison"), ("sums", "makes a tile of shape [128]"),
                ("engine", "'engine=bogus'; engines are tensor"), ("tensor engine", "on engine 'tensor', which does not run it"),
                ("scalar engine", "on engine 'scalar', which does not run it"), ("gpsimd", "gpsimd does not reach it"),
                ("shuffle", "40 among them"), ("short shuffle", "'shuffle_mask' of 16 numbers"),
                ("one row", "tiles of 1, 128 partitions"), ("one number", "tiles of 1, 128 partitions"),
                ("statistics", "the device takes 512 at most"), ("repeated", "makes a tile of shape [128, 1]"),
                ("exit", "'os._exit' ends Python")):
            with self.subTest(which=which):
                self.refused(text, line=f'"{which}"', kernel="of_the_device", x=support.random(128, 8), which=which)

    def test_masks(self):
        for which, text in (("and", "say '&' between two masks"), ("or", "say '&'"), ("not", "say '&'"), ("chain", "say '&'"),
                            ("either", "a mask that keeps other elements"), ("number", "a mask and int; masks go together")):
            with self.subTest(which=which):
                self.refused(text, line=f'"{which}"', file="wrong_first", kernel="mask", x=support.random(128, 64), which=which)

    def test_left_out(self):
        for which, text in (
                ("where", "'mask' of 'nl.where' is not modelled; it has condition, x, y, dtype"),
                ("softmax", "'compute_dtype' of 'nl.softmax'"), ("store", "'dst_rmw_op' of 'nl.store'"),
                ("third", "the arguments of 'nl.add': too many positional arguments"), ("second", "'nl.exp' of two tiles; it takes one"),
                ("axis", "'nl.add' of two tiles along an axis"),
                ("shapes", "'nl.where' of tiles of shapes [128, 8], [128, 3], [128, 8], which do not go together")):
            with self.subTest(which=which):
                self.refused(text, line=f'"{which}"', kernel="left_out", x=support.random(128, 8), which=which)

    def test_not_asked(self):
        """An argument that a row of the table has, and its function never looks at."""
        call = Call(INSTRUCTIONS["tensor_copy"], {"src": 1, "name": "x", "mask": None, "dtype": "bfloat16"})
        with self.assertRaisesRegex(Refusal, "'src' of 'tensor_copy' is not modelled"):
            call.check_asked()
        self.assertEqual(call.src, 1)
        with self.assertRaisesRegex(Refusal, "'dtype' of 'tensor_copy' is not modelled"):
            call.check_asked()

    def test_wrong_shapes(self):
        self.refused("shape [128, 128]", "shape [128, 100]", line="dma_copy(dst=tile", kernel="wrong_shapes")

    def test_beyond(self):
        self.refused("elements 64 to 191 of an axis of 128", line="x[64:192]", kernel="beyond")

    def test_condition(self):
        self.refused("a Python comparison of a tensor", "op=nl.greater", line="if tile[0:1, 0:1] > 0", kernel="condition")
        self.refused("a Python condition on the tensor 'tile'", "'is not None'", file="first", line="if nl.load(x) > 0", kernel="decided")

    def test_endless(self):
        self.refused("more than 1000 iterations", line="while True", kernel="endless",
                     limits=Limits(iterations=1000))

    def test_never_ends(self):
        """Loops that do not end are refused within seconds, with their line."""
        x = support.random(640, 8)
        for kernel, text, line in [
                ("never_set", "'while register' does not end: nothing in its body sets the register", "while register"),
                ("never_zero", "ran more than 10000 times in this trace", "while register"),
                ("endless_with_operations", "does not end: its iterations change nothing", "while True"),
                ("endless_count", "1000000 times without an operation", "while number >= 0"),
                ("endless_iterator", "1000000 times without an operation", "itertools.count()"),
                ("endless_generator", "1000000 times without an operation", "while True"),
                ("endless_assignment", "1000000 times without an operation", "while (number := 1)")]:
            with self.subTest(kernel=kernel):
                given = {"n": one(3)} if kernel.startswith("never") else {}
                start = time.process_time()
                self.refused(text, file="wrong_dynamic", line=line, kernel=kernel, x=x, **given)
                self.assertLess(time.process_time() - start, 30)
        self.refused("does not end: its iterations change nothing", line="while True", kernel="endless")

    def test_many(self):
        self.refused("more than 5000 operations", "--max-operations", line="nisa.memset", kernel="many",
                     limits=Limits(operations=5000))

    def test_deep(self):
        self.refused("recurses without end", line="down(", kernel="deep")

    def test_huge(self):
        self.refused("take more than 8192 MiB", "--max-memory", line="1 << 40", kernel="huge")

    def test_absent(self):
        self.refused("'nosuchmodule' is not installed", line="nosuchmodule.compute", kernel="absent")
        # What the file makes of it while it is loaded is refused where it is used; all other kernels of the file are traced.
        self.refused("'nosuchmodule.table.to' is called", line="TABLE + 1", kernel="absent_table")

    def test_device(self):
        """What the device cannot do."""
        for kernel, line, text in [
                ("in_hbm", "nisa.tensor_tensor", "'tensor_tensor' of 'x', which is in HBM"),
                ("zeros_in_hbm", "nl.zeros", "Make it by 'nl.ndarray', fill a tile in sbuf, and copy that"),
                ("too_tall", "nl.ndarray((2 *", "of 256 partitions; the chip has 128"),
                ("view_too_tall", "nisa.activation", "a tile of 256 partitions"),
                ("beyond_psum", "nl.zeros((128, 9", "of 18432 bytes in a partition; that has 16384"),
                ("beyond_sbuf", "nl.ndarray((128, 1 << 17", "of 262144 bytes in a partition; that has 229376"),
                ("product_from_psum", "nisa.nc_matmul(total, total", "'nc_matmul' reads 'total', which is in psum"),
                ("product_in_sbuf", "nisa.nc_matmul", "'total', which is in sbuf; products are made in psum"),
                ("too_wide", "nisa.nc_matmul", "a 'moving' tile of 1024 columns; the device takes 512"),
                ("lacks_a_tile", "nisa.dma_copy(dst=tile)", "its arguments are dst, src"),
                ("lacks_an_operator", "nisa.tensor_tensor(tile", "no operator is given"),
                ("of_numpy", "np.exp", "NumPy's 'exp' of the tensor"),
                ("as_number", "range(int(", "a Python number of the tensor 'tile'"),
                ("as_array", "np.asarray", "an array of NumPy of the tensor"),
                ("mask_of_another_axis", "nl.load(x[row", "index grids from 120 to 179 on an axis of 128 of 'x'; leave the rest"),
                ("over_partitions", "axis=0", "'tensor_reduce' over axis 0"),
                ("backwards", "::-1", "a step of -1")]:
            self.refused(text, line=line, kernel=kernel)

    def test_nothing(self):
        self.refused("ran no operation of 'nki.isa' or 'nki.language'", "give others by '--arg'", kernel="nothing")

    def test_sum_from_before(self):
        self.refused("reads a sum that is in the engine from before", "reduce_cmd=nisa.reduce_cmd.reset_reduce",
                     file="spelled", kernel="sum_from_before", line="reduce_res=column", x=support.random(128, 64))

    def test_no_such_kernel(self):
        self.refused("there is no 'nosuch'", "its kernels are: unknown_function, wrong_shapes", kernel="nosuch")
        with tempfile.TemporaryDirectory(prefix="tally-nki-") as folder:
            path = Path(folder) / "k.py"
            for text, said in (("def f(): pass\ndef g(): pass\n", "its functions are: f, g"), ("x = 1\n", "it has no function")):
                path.write_text(text, encoding="utf-8")
                with self.assertRaises(Refusal) as raised:
                    trace_file(path, "nosuch", {})
                self.assertIn(said, str(raised.exception))

    def test_parameters(self):
        self.refused("no parameter 'y'; it has x", kernel="nothing", y=support.random(128, 128))
        self.refused("no value for 'b'", file="first", kernel="add", a=support.random(128, 128))

    def test_unparsed(self):
        self.refused("does not parse", file="unparsed", kernel="broken", line="def broken")

    def test_dynamic(self):
        x = support.random(512, 128)
        self.refused("changes Python's 'at'", "one body", file="dynamic", line="for _ in nl.dynamic_range",
                     kernel="counted_by_python", x=x, n=one(3))
        self.refused("a Python comparison of the register 'i'", file="dynamic", line="if i == 0",
                     kernel="first_is_special", x=x, n=one(3))
        self.refused("left by 'break'", file="dynamic", line="for i in nl.dynamic_range", kernel="left_early",
                     x=x, n=one(3))
        self.refused("ran 1 time in this trace", "at least 2 times", file="dynamic",
                     line="for i in nl.dynamic_range", kernel="rows", x=x, n=one(1))
        self.refused("at least 3 times", file="dynamic", line="for _ in nl.dynamic_range", kernel="carried",
                     x=x, n=one(2))
        self.refused("does not move evenly", file="dynamic", line="for _ in nl.dynamic_range",
                     kernel="carried", x=x, n=one(3))

    def test_raises(self):
        with self.assertRaises(Raised) as raised:
            trace_file(KERNELS / "wrong.py", "raises", {"x": tensor(support.random(128, 128))})
        self.assertIsInstance(raised.exception.error, KeyError)


class ShapeTest(unittest.TestCase):
    """One kernel at two shapes gives one text, apart from numbers."""

    def same(self, file, kernel, first, second):
        texts = {re.sub(r"\d+", "#", support.dumped(trace(file, kernel, **given)))
                 for given in (first, second)}
        self.assertEqual(len(texts), 1)

    def test_shapes(self):
        r = support.random
        self.same("second", "scale", {"x": r(512, 64)}, {"x": r(768, 32)})
        self.same("second", "matmul", {"a": r(384, 256), "b": r(384, 512)},
                  {"a": r(256, 512), "b": r(256, 1024)})
        self.same("second", "slots_by_hand", {"x": r(1024, 16)}, {"x": r(640, 16)})
        self.same("first", "softmax", {"x": r(256, 128)}, {"x": r(512, 64)})
        self.same("dynamic", "rows", {"x": r(512, 16), "n": one(2)}, {"x": r(1024, 32), "n": one(5)})
        self.same("first", "normed", {"x": r(300, 16), "weight": r(16)}, {"x": r(700, 32), "weight": r(32)})

    def test_other_text(self):
        """Where a shape makes another text, the summary says which iterations are why."""
        given = [{"x": support.random(rows, 16), "weight": support.random(16)} for rows in (256, 300)]
        even, rest = (trace("first", "normed", **arguments).summary for arguments in given)
        self.assertEqual((even.apart, even.instructions * 2 - 1), ([], rest.instructions))
        (name, place, count, others), = rest.apart
        line = (KERNELS / "first.py").read_text(encoding="utf-8").splitlines()[place.line - 1]
        self.assertEqual((name, count, others, line.strip()), ("i", 1, True, "for i in nl.affine_range((rows + 127) // 128):"))


class DocumentedTest(unittest.TestCase):
    """What docs/guide/Nki.md lists is what there is."""

    def test_instructions(self):
        text = (support.ROOT / "docs/guide/Nki.md").read_text(encoding="utf-8")
        row = next(line for line in text.splitlines() if line.startswith("| instructions |"))
        first, second = (set(re.findall(r"`(\w+)`", cell)) for cell in row.split("|")[2:4])
        self.assertEqual(first, {name for name, row in INSTRUCTIONS.items() if row.first})
        self.assertEqual(first | second, set(INSTRUCTIONS))

    def test_own_kernels(self):
        """Each instruction is called by a kernel of our own, in each generation that has it."""
        called = {"neuronxcc": set(), "nki": set()}
        for path in [*KERNELS.glob("*.py"), *(KERNELS.parent / "checkout/kernels").glob("*.py")]:
            if path.stem in ("wrong", "wrong_dynamic", "unparsed", "broken"):  # they are refused
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            packages = {name.asname: node.names[0].name.split(".")[0] for node in ast.walk(tree)
                        if isinstance(node, ast.Import) for name in node.names if name.name.endswith(".isa")}
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in packages:
                    called[packages[node.value.id]].add(node.attr)
        self.assertEqual({name for name, row in INSTRUCTIONS.items() if row.first} - called["neuronxcc"], set())
        self.assertEqual(set(INSTRUCTIONS) - called["nki"], set())

    def test_operators(self):
        text = (support.ROOT / "docs/guide/Nki.md").read_text(encoding="utf-8")
        row = next(line for line in text.splitlines() if line.startswith("| operators |"))
        named = set(re.findall(r"`(\w+)`", row))
        by_class = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
                    "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor",
                    "invert", "left_shift", "right_shift", "where", "copy"}
        self.assertEqual(named, set(OPERATORS) - by_class)

    def test_types(self):
        text = (support.ROOT / "docs/guide/Nki.md").read_text(encoding="utf-8")
        row = next(line for line in text.splitlines() if line.startswith("Element types:"))
        self.assertEqual(set(re.findall(r"`(\w+)`", row)), set(ELEMENTS))


class StateTest(unittest.TestCase):
    """Python is afterwards as it was before."""

    def test_state(self):
        random.seed(7)
        np.random.seed(7)
        before = (dict(sys.modules), list(sys.path), list(sys.meta_path), dict(os.environ), random.getstate(),
                  np.random.get_state()[1].tolist(), builtins.range, sys.getrecursionlimit(), os.getcwd())
        trace_file(KERNELS / "wrong.py", "disturbs", {"x": tensor(support.random(128, 128))})
        with self.assertRaises(Refusal):
            trace_file(KERNELS / "wrong.py", "huge", {"x": tensor(support.random(128, 128))})
        after = (dict(sys.modules), list(sys.path), list(sys.meta_path), dict(os.environ), random.getstate(),
                 np.random.get_state()[1].tolist(), builtins.range, sys.getrecursionlimit(), os.getcwd())
        self.assertEqual(before, after)
        self.assertNotIn("nki", sys.modules)

    def test_names_and_signals(self):
        before = dict(vars(builtins)), signal.getsignal(signal.SIGTERM)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            trace_file(KERNELS / "wrong.py", "disturbs_more", {"x": tensor(support.random(128, 128))})
        self.assertEqual((dict(vars(builtins)), signal.getsignal(signal.SIGTERM)), before)

    def test_collector_and_arguments(self):
        before = gc.isenabled(), gc.get_threshold(), sys.argv, list(sys.argv)
        trace_file(KERNELS / "wrong.py", "disturbs_more", {"x": tensor(support.random(128, 128))})
        self.assertEqual((gc.isenabled(), gc.get_threshold(), sys.argv, list(sys.argv)), before)

    def test_hooks(self):
        """Of Python itself, and of its threads."""
        hooks = [sys.gettrace, sys.getprofile, threading.gettrace, threading.getprofile, lambda: sys.excepthook, lambda: sys.displayhook,
                 lambda: sys.unraisablehook, lambda: sys.breakpointhook, lambda: threading.excepthook, lambda: list(sys.path_hooks)]
        before = [ask() for ask in hooks]
        for raises in (False, True):
            with contextlib.suppress(Raised):
                trace_file(KERNELS / "wrong.py", "disturbs_hooks", {"x": tensor(support.random(128, 128)), "raises": raises})
            self.assertEqual([ask() for ask in hooks], before)

    def test_names_of_tensors(self):
        """Whatever the kernel calls a tensor, tally can read it."""
        for name, buffer in (("../../evil", "_.._.._evil"), ("9 lives", "_9_lives"), ("mod", "mod_"), ("'", "_"), ("\n", "_"), (".", "_.")):
            with tempfile.TemporaryDirectory(prefix="tally-nki-") as folder:
                path = Path(folder) / "k.py"
                path.write_text("import nki\nimport nki.isa as nisa\nimport nki.language as nl\n@nki.jit\ndef k(x):\n"
                                f"    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm, name={name!r})\n"
                                "    nisa.dma_copy(dst=out, src=x)\n    return out\n", encoding="utf-8")
                traced = trace_file(path, "k", {"x": tensor(support.random(8, 8))})
                self.assertEqual([entry["name"] for entry in traced.document["buffers"]], ["x", buffer])
                self.assertEqual(race(traced), "yes")

    def test_same_bytes(self):
        a, b = support.random(256, 128), support.random(256, 256)
        texts = {support.dumped(trace("second", "matmul", a=a, b=b)) for _ in range(2)}
        self.assertEqual(len(texts), 1)


if __name__ == "__main__":
    unittest.main()
