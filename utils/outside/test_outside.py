#!/usr/bin/env python3
"""Tests of the outside interpreter that need no compiler: its rules on small code written by hand.

    python3 utils/outside/test_outside.py
"""

import ast
import copy
import json
import random
import re
import sys
import unittest
from pathlib import Path

import certify
import documents
import judge
import mistakes
import tiles
from mutants import KINDS, mutants
from mutate import RULES, Without
from order import Progress, System
from control import DRAIN, ISSUE, WAIT
from walk import Choice, Meaning

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs/guide"
GENERIC = {"name": "m", "counter_bits": 32, "subtraction": "saturates", "compare": "unsigned", "overlap": True,
           "completion": "whole"}


# ---- Small documents ----------------------------------------------------------------------


def instr(name, queue, **tile_lists):
    return {"instr": name, "queue": queue, **tile_lists}


def loop(name, trips, *body, **more):
    return {"loop": name, "trips": trips, "body": list(body), **more}


def dep(producer, consumer, **distance):
    return {"producer": producer, "consumer": consumer, **distance}


def make_kernel(body, dependences=(), engines=("a", "b"), buffers=(), **more):
    return {"schema": "tally-kernel", "version": 1, "name": "k",
            "engines": [{"name": engine} if isinstance(engine, str) else engine for engine in engines],
            "buffers": list(buffers), "body": body, "dependences": list(dependences), **more}


def issue(name, wait=None, signal=None):
    return {"op": "issue", "instr": name, "wait": wait and waits(*wait), "signal": signal and signals(*signal)}


def waits(semaphore, threshold):
    operand = {"register": int(threshold[1:])} if isinstance(threshold, str) else {"value": threshold}
    return {"semaphore": semaphore, "threshold": operand, "dependences": []}


def signals(semaphore, amount=1):
    return {"semaphore": semaphore, "amount": amount}


def alu(operation, dst, *operands):
    keys = zip(("a", "b"), operands)
    return {"op": "alu", "operation": operation, "dst": dst,
            **{key: {"register": int(item[1:])} if isinstance(item, str) else {"value": item} for key, item in keys}}


def runs(name, *body, counter=None):
    return {"op": "loop", "loop": name, "counter": counter, "body": list(body)}


def make_code(kernel, programs, semaphores=2, registers=4, strategy="manual", **machine):
    return {"schema": "tally-code", "version": 2, "kernel": kernel, "strategy": strategy,
            "machine": {**GENERIC, **machine},
            "semaphores": [{"id": place, "name": f"s{place}"} for place in range(semaphores)], "barriers": [],
            "engines": [{"engine": engine, "registers": [{"id": place, "name": f"r{place}"} for place in range(registers)],
                         "code": program} for engine, program in programs.items()]}


def verdict_of(code, trips=None, exact=False, takes=None):
    """The kind of the first finding, or the answer."""
    verdict, _ = judge.judge(documents.Code(code), [Choice(trips or {}, takes or {}, {})], exact)
    return verdict.findings[0].kind if verdict.findings else verdict.answer()


# ---- What the interpreter rests on --------------------------------------------------------


class SourceTest(unittest.TestCase):
    def test_headings_that_are_cited_exist(self):
        for path in HERE.glob("*.py"):
            for document, heading in re.findall(r"\[([\w/]+\.md)#([\w-]+)\]", path.read_text(encoding="utf-8")):
                lines = (DOCS / document).read_text(encoding="utf-8").splitlines()
                headings = [re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")
                            for line in lines if line.startswith("#")]
                self.assertIn(heading, headings, f"{path.name} cites {document}")

    def test_nothing_of_tally_is_imported(self):
        own = {path.stem for path in HERE.glob("*.py")}
        for path in HERE.glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
                    [node.module] if isinstance(node, ast.ImportFrom) else []
                for name in names:
                    self.assertIn(name.split(".")[0], own | sys.stdlib_module_names | {"numpy"})

    def test_example_of_the_documents(self):
        text = (DOCS / "json/Code.md").read_text(encoding="utf-8")
        block = next(part for part in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if '"tally-code"' in part)
        for trips in range(5):
            for takes in ([1], [0], [1, 0], [0, 1, 1]):
                self.assertEqual(verdict_of(documents.parse(block), {"A": [trips]}, True, {"last": takes}), "yes")


class ReadingTest(unittest.TestCase):
    def wrong(self, text, message):
        with self.assertRaisesRegex(documents.Wrong, re.escape(message)):
            documents.Code(documents.parse(text))

    def test_what_is_not_as_documented_is_refused(self):
        good = json.dumps(make_code(make_kernel([instr("p", "a"), instr("c", "b")]),
                                    {"a": [issue("p")], "b": [issue("c", (0, 1))]}))
        documents.Code(documents.parse(good))
        self.wrong(good.replace('"strategy"', '"strategi"'), "unknown key 'strategi'")
        self.wrong(good.replace('"barriers": []', '"barriers": [], "barriers": []'), "key 'barriers' is given twice")
        self.wrong(good.replace('"instr": "p", "wait"', '"instr": "q", "wait"'), "expected one of 'p', 'c'")
        self.wrong(good.replace('"value": 1', f'"value": {2**32}'), "expected a number from 0 to 4294967295")
        self.wrong(good.replace('"semaphore": 0', '"semaphore": 2'), "expected a number from 0 to 1")
        self.wrong(good.replace('"id": 1', '"id": 2'), "id 2 stands at place 1")
        self.wrong(good.replace('"engine": "a"', '"engine": "b"'), "'p' is none of engine 'b'")
        self.wrong(good.replace('"counter_bits": 32', '"counter_bits": 33'), "expected a number from 8 to 32")
        self.wrong(good[:-1], "no JSON")

    def test_code_stands_where_the_kernel_does(self):
        kernel = make_kernel([loop("A", 2, loop("B", 2, instr("p", "a")))])
        good = make_code(kernel, {"a": [runs("A", runs("B", issue("p")))]})
        self.assertEqual(verdict_of(good), "yes")
        bad = make_code(kernel, {"a": [runs("B", issue("p")), runs("B", issue("p"))]})
        self.wrong(json.dumps(bad), "'B' does not stand there in the kernel")

    def test_an_older_version_needs_a_machine(self):
        old = make_code(make_kernel([instr("p", "a")]), {"a": [issue("p")]})
        old.update(version=1, machine="m")
        self.wrong(json.dumps(old), "name a machine")
        documents.Code(old, documents.Machine(GENERIC))


class CompactTest(unittest.TestCase):
    """[json/Compact.md#the-compact-form]"""

    def setUp(self):
        compact, usual = ((DOCS / f"json/{page}.md").read_text(encoding="utf-8") for page in ("Compact", "Kernel"))
        self.text = next(block for block in re.findall(r"```json\n(.*?)```", compact, re.DOTALL) if '"tally-compact"' in block)
        self.usual = json.loads(re.search(r"```json\n(.*?)```", usual, re.DOTALL)[1])

    def wrong(self, what, by, message):
        self.assertEqual(self.text.count(what), 1)
        with self.assertRaisesRegex(documents.Wrong, re.escape(message)):
            documents.parse(self.text.replace(what, by))

    def test_example_of_the_documents(self):
        self.assertEqual(json.dumps(documents.parse(self.text)), json.dumps(self.usual))
        documents.Kernel(documents.parse(self.text))

    def test_what_is_left_out_at_the_end_of_a_column_is_nothing(self):
        longer = self.text.replace("[17,1],[2]", "[17,1],[2,0]")
        self.assertNotEqual(longer, self.text)
        self.assertEqual(documents.parse(longer), self.usual)

    def test_what_is_not_as_documented_is_refused(self):
        self.wrong('"version":1', '"version":2', "version 2 of 'tally-compact' is not known")
        self.wrong('"shapes"', '"shape"', "unknown key 'shape'")
        self.wrong('"names"', '"document"', "key 'document' is given twice")
        self.wrong('"waw"]', '"waw",3]', "at 'names': expected texts")
        self.wrong('[{"name":""},[2]]', "[]", "at 'shapes[0]': expected an object and its columns")
        self.wrong('[{"name":""},[2]]', '[{"name":""}]', "at 'shapes[0]': 1 holes, but 0 columns")
        self.wrong("[17,1],[2]", "[17,1],[2,0,0]", "at 'shapes[10]': a column is longer than the shape is used")
        self.wrong("[17,1]", "[17,2]", "expected a number from 0 to 18")
        self.wrong("[17,1]", "[17,true]", "at 'shapes[10][3][1]': expected a number")
        self.wrong("[9,10,10],11]", "[9,10,10],12]", "at 'document[4]': expected a number from 0 to 11")
        self.wrong("[9,10,10],11]", "11]", "at 'document[3]': the shape has 4 lists, but 3 arrays stand before it")
        self.wrong("[9,10,10],11]", "[9,10,10],11,[]]", "at 'document': the last array stands before no shape")
        self.wrong("[9,10,10],11]", "[9,10,10],11,0]", "at 'document': expected one object, found 2")


class TileTest(unittest.TestCase):
    def value(self, expression, **names):
        parser = tiles.TileParser(f"X[{expression}]")
        around = tiles.Surroundings(names, names, names, names)
        return tiles.evaluate(parser.parse()[1][0][0], around)

    def test_operators_group_from_the_left(self):
        self.assertEqual(self.value("10 - 3 - 2"), 5)
        self.assertEqual(self.value("A*2 mod 3", A=4), 2)
        self.assertEqual(self.value("A mod 3*2", A=4), 2)
        self.assertEqual(self.value("7 - 2*(A - 1)", A=2), 5)

    def test_minus_belongs_to_the_number_or_name_behind_it(self):
        self.assertEqual(self.value("-A mod 3", A=1), 2)
        self.assertEqual(self.value("-7 floordiv 2"), -4)
        self.assertEqual(self.value("A * -2 + 8", A=3), 2)
        self.assertEqual(self.value("-(A mod 3)", A=1), -1)

    def test_names(self):
        self.assertEqual(self.value('total(A) + trips(B) + $n + "a b"', A=1, B=2, n=4, **{"a b": 8}), 15)
        for wrong in ("mod", "--A", "A*B", "A mod 0", "A mod -2", "1:1:0", "", "A,", "total"):
            with self.assertRaises(documents.Wrong):
                self.value(wrong, A=1, B=1)

    def test_progressions_meet(self):
        for one in ((0, 3, 2), (1, 3, 2), (4, 1, 1), (0, 5, 1), (3, 2, 3), (2, 2, 5)):
            for other in ((0, 3, 2), (1, 3, 2), (4, 1, 1), (0, 5, 1), (3, 2, 3), (6, 2, 4)):
                numbers = [set(range(first, first + count * step, step)) for first, count, step in (one, other)]
                self.assertEqual(tiles.meet(one, other), bool(numbers[0] & numbers[1]), (one, other))


class MemoryTest(unittest.TestCase):
    def common(self, one, other, *buffers):
        kernel = documents.Kernel(make_kernel(
            [instr("p", "a", writes=[one]), instr("c", "b", reads=[other])], buffers=buffers))
        first, second = Meaning(kernel, Choice({}, {}, {})).in_order()
        memory = tiles.Memory(kernel.buffers)
        return any(tiles.conflict(memory, first, touch, second, other)
                   for touch in first.touches for other in second.touches)

    def test_one_buffer(self):
        buffer = {"name": "X", "shape": [4, 8]}
        self.assertTrue(self.common("X", "X[3, 7]", buffer))
        self.assertTrue(self.common("X[@]", "X[0, 0]", buffer))
        self.assertFalse(self.common("X[0:2, 0:8]", "X[2:2, 0:8]", buffer))
        self.assertFalse(self.common("X[0:4, 0:4:2]", "X[0:4, 1:4:2]", buffer))
        self.assertFalse(self.common("X", "X[0, 0] if 1 == 2", buffer))
        self.assertFalse(self.common("X", "X[0:1 - 1, 0]", buffer))

    def test_bytes_at_addresses(self):
        one = {"name": "X", "shape": [4, 4], "type": "bf16", "space": "s", "address": 0}
        two = {"name": "Y", "shape": [4], "type": "f32", "space": "s", "address": 24}
        self.assertTrue(self.common("X[3, 0]", "Y", one, two))
        self.assertFalse(self.common("X[2, 0:4]", "Y", one, two))
        self.assertFalse(self.common("X[2, 0:4]", "Y[2]", one, two) or self.common("X[3, 0:4]", "Y[2]", one, two))
        self.assertFalse(self.common("X", "Y", one, {**two, "space": "t"}))
        self.assertFalse(self.common("X", "Y", one, {**two, "noalias": ["X"]}))
        self.assertTrue(self.common("X[0, 0]", "Y[3]", one, {**two, "type": "t"}))
        self.assertTrue(self.common("X[0, 0]", "Y[3]", one, {**two, "alias": ["X"], "address": 4096}))

    def test_partitions(self):
        one = {"name": "X", "shape": [4, 4], "type": "bf16", "space": "s", "address": 0, "partitions": {}}
        two = {"name": "Y", "shape": [2, 4], "type": "bf16", "space": "s", "address": 4, "partitions": {"first": 2}}
        self.assertFalse(self.common("X[0:2, 0:4]", "Y", one, two))
        self.assertTrue(self.common("X[2, 2]", "Y[0, 0]", one, two))
        self.assertFalse(self.common("X[2, 2]", "Y[1, 0]", one, two) or self.common("X[2, 1]", "Y[0, 0]", one, two))
        self.assertTrue(self.common("X[0:2:3, 3]", "Y[1, 1]", one, two))
        self.assertFalse(self.common("X[0:2:3, 3]", "Y[0, 1]", one, two))
        columns = {**two, "partitions": {"first": 3, "dim": 1}}
        self.assertTrue(self.common("X[3, 3]", "Y[1, 0]", one, columns))
        self.assertFalse(self.common("X[3, 2]", "Y[1, 0]", one, columns) or self.common("X[3, 3]", "Y[1, 1]", one, columns))
        flat = {"name": "Y", "shape": [4], "type": "bf16", "space": "s", "address": 0}
        self.assertTrue(self.common("X[0, 1]", "Y[1]", one, flat))
        self.assertFalse(self.common("X[1, 1]", "Y", one, flat))


class AskedTest(unittest.TestCase):
    """Eq. 1, counted by hand."""

    def asked(self, body, dependence, trips=None, takes=None, values=None):
        kernel = documents.Kernel(make_kernel(body, [dependence]))
        meaning = Meaning(kernel, Choice(trips or {}, takes or {}, values or {}))
        return [run.asked[0][1] for run in meaning.in_order() if run.asked]

    def test_one_loop(self):
        body = [loop("A", 4, instr("p", "a"), instr("c", "b"))]
        self.assertEqual(self.asked(body, dep("p", "c")), [1, 2, 3, 4])
        self.assertEqual(self.asked(body, dep("p", "c", distance={"A": 2})), [0, 0, 1, 2])
        self.assertEqual(self.asked(body, dep("p", "c", flat=1)), [0, 1, 2, 3])

    def test_a_trip_that_starts_again(self):
        body = [loop("A", 2, loop("B", 3, instr("p", "a"), instr("c", "b")))]
        self.assertEqual(self.asked(body, dep("p", "c", distance={"B": 1})), [0, 1, 2, 0, 4, 5])
        self.assertEqual(self.asked(body, dep("p", "c", distance={"A": 1, "B": -1})), [0, 0, 0, 2, 3, 3])
        self.assertEqual(self.asked(body, dep("p", "c", flat=2)), [0, 0, 1, 2, 3, 4])

    def test_trips_that_follow(self):
        inner = loop("B", {"formula": "A + 1"}, instr("p", "a"))
        body = [loop("A", {"formula": "$n"}, inner, instr("c", "b"))]
        self.assertEqual(self.asked(body, dep("p", "c"), values={"n": 3}), [1, 3, 6])
        body = [loop("A", 4, loop("B", {"formula": "$n - 2*A"}, instr("p", "a")), instr("c", "b"))]
        self.assertEqual(self.asked(body, dep("p", "c"), values={"n": 5}), [5, 8, 9, 9])

    def test_bounds_of_formulas(self):
        body = [loop("A", {"formula": "$n", "min": 1, "max": 8}, loop("B", {"formula": "A + 1"}),
                     loop("C", {"formula": "3 - 2*A"}), loop("D", {"formula": "$n + A mod 4 floordiv 2 - $m"})),
                loop("E", {"formula": "$n", "max": 9})]
        bounds = tiles.trip_bounds(documents.Kernel(make_kernel(body)))
        self.assertEqual(bounds, {"A": (1, 8), "B": (1, 8), "C": (0, 3), "D": (0, 9), "E": (1, 8)})

    def test_nested_producer(self):
        body = [loop("A", 3, loop("B", "n" and {"value": "n"}, instr("p", "a")), instr("c", "b"))]
        self.assertEqual(self.asked(body, dep("p", "c"), {"B": [2, 0, 3]}), [2, 2, 5])
        self.assertEqual(self.asked(body, dep("p", "c", distance={"A": 1}), {"B": [2, 0, 3]}), [0, 2, 2])

    def test_branches(self):
        branch = {"if": "t", "then": [instr("p", "a")], "else": [instr("c", "b")]}
        self.assertEqual(self.asked([loop("A", 4, branch)], dep("p", "c", distance={"A": 1}), None, {"t": [1, 0, 1, 0]}),
                         [1, 2])

    def test_side_by_side(self):
        body = [loop("A", 2, loop("B", 3, instr("p", "a")), loop("C", 3, instr("c", "b")))]
        self.assertEqual(self.asked(body, dep("p", "c", element=0)), [1, 2, 3, 4, 5, 6])
        self.assertEqual(self.asked(body, dep("p", "c", element=1)), [0, 1, 2, 0, 4, 5])
        self.assertEqual(self.asked(body, dep("p", "c", element=-2)), [3, 3, 3, 6, 6, 6])
        self.assertEqual(self.asked(body, dep("p", "c", element=0, distance={"A": 1})), [0, 0, 0, 1, 2, 3])

    def test_tables(self):
        body = [loop("A", 2, loop("B", 2, instr("p", "a")), loop("C", 5, instr("c", "b")))]
        halves = {"runs": [0, 0], "each": 1}
        self.assertEqual(self.asked(body, dep("p", "c", element=halves)), [1, 1, 2, 2, 2, 3, 3, 4, 4, 4])
        self.assertEqual(self.asked(body, dep("p", "c", element={"runs": [-2, 1], "each": 3}, distance={"A": 1})),
                         [0, 0, 0, 0, 0, 0, 2, 2, 2, 2])
        body = [loop("A", 2, loop("B", 4, instr("p", "a"), instr("c", "b")))]
        self.assertEqual(self.asked(body, dep("p", "c", element={"runs": [-1, 0], "each": 1})), [0, 1, 1, 2, 0, 5, 5, 6])

    def test_tables_over_a_loop(self):
        body = [loop("A", 2, loop("B", 2, instr("p", "a")), loop("C", 3, instr("c", "b")))]
        self.assertEqual(self.asked(body, dep("p", "c", element={"runs": [0, 1, 1, 1, 2, 3], "each": 4, "over": "A"})),
                         [1, 2, 2, 2, 3, 4])
        body = [loop("Z", 2, loop("A", 2, loop("B", 2, instr("p", "a"), instr("c", "b"))))]
        self.assertEqual(self.asked(body, dep("p", "c", element={"runs": [-1, 0, 0], "each": 2, "over": "A"})),
                         [0, 1, 1, 2, 0, 5, 5, 6])

    def test_nests_side_by_side(self):
        first = loop("B", {"value": "n"}, loop("C", 2, instr("p", "a")))
        body = [loop("A", 2, first, loop("D", 2, loop("E", 3, instr("c", "b"))))]
        self.assertEqual(self.asked(body, dep("p", "c", element=0), {"B": [2, 3]}), [1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 9, 10])
        self.assertEqual(self.asked(body, dep("p", "c", element=2), {"B": [2, 3]}), [0, 0, 1, 2, 3, 4, 0, 0, 5, 6, 7, 8])
        self.assertEqual(self.asked(body, dep("p", "c", element=-1, distance={"A": 1}), {"B": [2, 3]}),
                         [0] * 6 + [2, 3, 4, 4, 4, 4])

    def test_the_history_is_the_consumers(self):
        body = [loop("A", 2, loop("B", {"value": "n"}, instr("p", "a"), uniform=False), instr("c", "b"))]
        self.assertEqual(self.asked(body, dep("p", "c", allow_divergent=True), {"B@a": [3], "B@b": [1]}), [1, 2])


# ---- Verdicts -----------------------------------------------------------------------------


class VerdictTest(unittest.TestCase):
    KERNEL = make_kernel([loop("A", 6, instr("p", "a"), instr("c", "b"))],
                         [dep("p", "c"), dep("c", "p", distance={"A": 2})])

    def pipe(self, bound=2, forward="r0", **machine):
        producer = [runs("A", alu("add", 0, "r0", 1), alu("sub", 1, "r0", 2), alu("gt", 2, "r0", bound),
                         alu("mul", 1, "r1", "r2"), issue("p", (1, "r1"), (0,)))]
        consumer = [runs("A", alu("add", 0, "r0", 1), issue("c", (0, forward), (1,)))]
        return make_code(self.KERNEL, {"a": producer, "b": consumer}, **machine)

    def test_right_code(self):
        self.assertEqual(verdict_of(self.pipe(), exact=True), "yes")

    def test_early_late_and_stuck(self):
        self.assertEqual(verdict_of(self.pipe(bound=3)), "early")
        self.assertEqual(verdict_of(self.pipe(forward=1)), "early")
        self.assertEqual(verdict_of(self.pipe(forward=2)), "early")
        self.assertEqual(verdict_of(self.pipe(forward=7)), "deadlock")
        late = self.pipe()
        late["engines"][0]["code"][0]["body"][1]["b"] = {"value": 1}  # one iteration too much
        self.assertEqual(verdict_of(late), "yes")
        self.assertEqual(verdict_of(late, exact=True), "late")

    def test_a_mask_matters_where_subtraction_wraps(self):
        self.assertEqual(verdict_of(self.pipe(bound=0), exact=True), "yes")  # stops at 0
        self.assertEqual(verdict_of(self.pipe(bound=0, subtraction="wraps")), "deadlock")
        self.assertEqual(verdict_of(self.pipe(subtraction="wraps"), exact=True), "yes")
        # 1 - 2 is -1 where waits compare signed.
        self.assertEqual(verdict_of(self.pipe(bound=0, subtraction="wraps", compare="signed"), exact=True), "yes")

    def straight(self, count, wait, **machine):
        kernel = make_kernel([loop("A", count, instr("p", "a")), instr("c", "b")], [dep("p", "c")])
        return make_code(kernel, {"a": [runs("A", issue("p", None, (0,)))], "b": [issue("c", (0, wait))]}, **machine)

    def test_widths(self):
        self.assertEqual(verdict_of(self.straight(255, 255, counter_bits=8)), "yes")
        self.assertEqual(verdict_of(self.straight(256, 255, counter_bits=8)), "overflow")
        self.assertEqual(verdict_of(self.straight(127, 127, counter_bits=8, compare="signed")), "yes")
        self.assertEqual(verdict_of(self.straight(128, 127, counter_bits=8, compare="signed")), "overflow")

    def test_a_limit_is_passed_only_while_it_matters(self):
        kernel = make_kernel([instr("p", "a"), loop("A", 300, instr("q", "a")), instr("c", "b")], [dep("p", "c")])
        programs = {"a": [issue("p", None, (0,)), runs("A", issue("q", None, (0,)))], "b": [issue("c", (0, 1))]}
        self.assertEqual(verdict_of(make_code(kernel, programs, counter_bits=8)), "overflow")
        kernel["dependences"] = [dep("p", "c"), dep("c", "q", distance={})]
        programs["a"] = [issue("p", None, (0,)), runs("A", issue("q", (1, 1), (0,)))]
        programs["b"] = [issue("c", (0, 1), (1,))]
        kernel["body"] = [instr("p", "a"), instr("c", "b"), loop("A", 300, instr("q", "a"))]
        self.assertEqual(verdict_of(make_code(kernel, programs, counter_bits=8)), "yes")

    def test_shares_of_a_split_queue(self):
        """Two transfers of two parts each: a value of 2 may be one part of either."""
        engines = ({"name": "a", "weight": 2, "completion": "split"}, "b")
        kernel = make_kernel([instr("p", "a"), instr("q", "a"), instr("c", "b")], [dep("p", "c")], engines)
        programs = {"a": [issue("p", None, (0, 2)), issue("q", None, (0, 2))], "b": [issue("c", (0, 2))]}
        self.assertEqual(verdict_of(make_code(kernel, programs)), "early")
        engines[0]["completion"] = "whole"
        self.assertEqual(verdict_of(make_code(kernel, programs)), "yes")
        self.assertEqual(verdict_of(make_code(kernel, programs, completion="split")), "early")
        programs["a"][1]["signal"] = None
        self.assertEqual(verdict_of(make_code(kernel, programs, completion="split")), "yes")

    def test_races(self):
        def code(tile, wait=None, **machine):
            kernel = make_kernel([loop("A", 3, instr("p", "a", writes=["X[A mod 2]"]), instr("c", "a", reads=[tile]))],
                                 buffers=[{"name": "X", "shape": [4]}])
            program = [alu("move", 0, 0), runs("A", alu("add", 0, "r0", 1), issue("p", None, (0,)), issue("c", wait))]
            return make_code(kernel, {"a": program}, **machine)

        self.assertEqual(verdict_of(code("X[A mod 2]")), "race")
        self.assertEqual(verdict_of(code("X[3]")), "race")  # p with itself, two iterations later
        self.assertEqual(verdict_of(code("X[A mod 2]", overlap=False)), "yes")
        self.assertEqual(verdict_of(code("X[A + 2]")), "bounds")

    def test_sums(self):
        """Of one queue they are added up in order, if the machine says so or says nothing about it."""
        def code(**machine):
            kernel = make_kernel([loop("A", 3, instr("p", "a", accumulates=["X"]))], buffers=[{"name": "X", "shape": [4]}])
            return make_code(kernel, {"a": [runs("A", issue("p"))]}, **machine)

        self.assertEqual(verdict_of(code()), "yes")
        self.assertEqual(verdict_of(code(sums_in_order=["a"])), "yes")
        self.assertEqual(verdict_of(code(sums_in_order=["b"])), "race")
        self.assertEqual(verdict_of(code(sums_in_order=[])), "race")

    def test_more_than_is_needed(self):
        """Which is promised not to be asked for, but where a branch skips one of the two."""
        def kernel(**found):
            branch = {"if": "t", "then": [instr("p", "a", writes=["X[A]"])]}
            body = [loop("A", 3, branch, instr("c", "b", reads=["X[A]"])), instr("d", "b", reads=["X[1]"])]
            return make_kernel(body, buffers=[{"name": "X", "shape": [3]}], **found)

        def kinds(*taken):
            signal, count = issue("p", None, (0,)), alu("add", 0, "r0", 1)
            waiting = [{"op": "if", "if": "t", "then": [count], "else": []}, issue("c", (0, "r0"))]
            programs = {"a": [runs("A", {"op": "if", "if": "t", "then": [signal], "else": []})],
                        "b": [alu("move", 0, 0), runs("A", *waiting), issue("d", (0, "r0"))]}
            found = kernel(dependences=[dep("p", "c"), dep("p", "d")])
            code = documents.Code(make_code(found, programs))
            verdict, _ = judge.judge(code, [Choice({}, {"t": list(taken)}, {})], True, documents.Kernel(kernel()))
            return [finding.kind for finding in verdict.findings]

        self.assertEqual(kinds(1), ["asks"])
        self.assertEqual(kinds(1, 0, 1), [])

    def test_more_than_is_needed_after_no_trips(self):
        """Which is promised not to be asked for, but where an inner loop around one of the two runs no time."""
        def kernel(**found):
            inner = loop("j", {"value": "m"}, instr("c", "b", writes=["X[A]"]))
            return make_kernel([instr("p", "a", writes=["X[1]"]), loop("A", 3, inner)], buffers=[{"name": "X", "shape": [3]}], **found)

        def kinds(*trips):
            programs = {"a": [issue("p", None, (0,))], "b": [runs("A", runs("j", issue("c", (0, 1))))]}
            code = documents.Code(make_code(kernel(dependences=[dep("p", "c")]), programs))
            choice = Choice({"j": list(trips)}, {}, {})
            verdict, _ = judge.judge(code, [choice], True, documents.Kernel(kernel()))
            return [finding.kind for finding in verdict.findings]

        self.assertEqual(kinds(1), ["asks"])
        self.assertEqual(kinds(0, 1), [])

    def test_tiles_as_told(self):
        """The code's kernel says the same in other words, or not."""
        def kernel(tile):
            return make_kernel([loop("A", 3, instr("p", "a", writes=[tile]))], buffers=[{"name": "X", "shape": [6]}])

        code = documents.Code(make_code(kernel("X[2*A:1]"), {"a": [runs("A", issue("p"))]}))
        for tile, kinds in (("X[A + A]", []), ("X[2*A:1:5] if A >= 0", []), ("X[A]", ["kernel"]), ("X[2*A:2]", ["kernel"])):
            verdict, _ = judge.judge(code, [Choice({}, {}, {})], kernel=documents.Kernel(kernel(tile)))
            self.assertEqual([finding.kind for finding in verdict.findings], kinds, tile)

    def test_counts(self):
        kernel = make_kernel([loop("A", {"value": "n"}, instr("p", "a"))])
        self.assertEqual(verdict_of(make_code(kernel, {"a": [runs("A", issue("p"))]}), {"A": [3]}), "yes")
        self.assertEqual(verdict_of(make_code(kernel, {"a": [runs("A", issue("p"), issue("p"))]})), "count")
        self.assertEqual(verdict_of(make_code(kernel, {"a": []})), "count")
        self.assertEqual(verdict_of(make_code(kernel, {}), {"A": [0]}), "yes")

    def test_the_counter_after_its_loop(self):
        kernel = make_kernel([loop("A", {"value": "n"}, instr("p", "a")), instr("c", "b")], [dep("p", "c")])
        programs = {"a": [runs("A", issue("p", None, (0,)))],
                    "b": [alu("move", 1, 0), runs("A", counter=1), issue("c", (0, "r1"))]}
        for trips in (0, 1, 5):
            self.assertEqual(verdict_of(make_code(kernel, programs), {"A": [trips]}, True), "yes")

    def test_reservations_and_pins(self):
        body = [instr("p", "a", semaphore=1), instr("c", "b")]
        kernel = make_kernel(body, [dep("p", "c")], reserves=[0])
        good = make_code(kernel, {"a": [issue("p", None, (1,))], "b": [issue("c", (1, 1))]})
        self.assertEqual(verdict_of(good), "yes")
        bad = make_code(kernel, {"a": [issue("p", None, (0,))], "b": [issue("c", (0, 1))]})
        self.assertEqual(verdict_of(bad), "limits")


class ResetTest(unittest.TestCase):
    """Two iterations that count from zero, with a meeting between them."""

    KERNEL = make_kernel([loop("A", 3, instr("p", "a"), instr("c", "b"))], [dep("p", "c"), dep("c", "p", distance={"A": 1})])

    def code(self, drain=True, order=("wait", "reset", "signal")):
        meet = {"wait": {"op": "wait", "wait": waits(1, 1)}, "reset": {"op": "reset", "semaphore": 0, "count": 2},
                "signal": {"op": "signal", "signal": signals(2)}}
        leader = [issue("p", None, (0,))] + [{"op": "drain"}] * drain + [meet[part] for part in order]
        other = [issue("c", (0, 1)), {"op": "drain"}, {"op": "signal", "signal": signals(1)},
                 {"op": "wait", "wait": waits(2, 1)}, {"op": "reset", "semaphore": 2, "count": 1}]
        return make_code(self.KERNEL, {"a": [runs("A", *leader)], "b": [runs("A", *other)]}, semaphores=3)

    def test_right_order(self):
        self.assertEqual(verdict_of(self.code()), "yes")

    def test_a_reset_that_comes_too_soon(self):
        self.assertNotEqual(verdict_of(self.code(order=("reset", "wait", "signal"))), "yes")
        self.assertNotEqual(verdict_of(self.code(order=("wait", "signal", "reset"))), "yes")
        self.assertNotEqual(verdict_of(self.code(order=("wait", "signal"))), "yes")


def ring(seconds, again=True, **machine):
    """A loop inside a loop, with rings of two slots, on two engines; code and kernel as written.

    `again`: each run of the inner loop has the same slots, and begins when the one before it is over. Trips must be odd, so
    that this is no more than the slots ask for.
    """
    slots = "X[0, " if again else "X[O, "
    body = [loop("O", 3, loop("A", {"value": "n", "max": 4},
                              instr("p", "a", writes=[slots + "(2*A - A) mod 2] if A >= 0"]),
                              instr("c", "b", reads=[slots + "A mod 2]"])))]
    pairs = [dep("p", "c"), dep("c", "p", distance={"A": 2})] + [dep("c", "p", distance={"O": 1, "A": -3})] * again
    kernel = make_kernel(body, pairs, ({"name": "a", "weight": 3}, "b"), [{"name": "X", "shape": [3, 2]}])
    over = {"op": "wait", "wait": {**waits(1, "r3"), "dependences": [2]}}
    producer = [alu("move", 3, 0), runs("O", runs(
        "A", alu("add", 0, "r0", 1), alu("sub", 1, "r0", 2), alu("gt", 2, "r4", 2), alu("mul", 1, "r1", "r2"),
        *[over] * again, issue("p", (1, "r1"), (0, 3)), counter=4), alu("move", 3, "r0"))]
    consumer = [runs("O", runs("A", alu("add", 0, "r0", 1), alu("mul", 1, "r0", 3), issue("c", (0, "r1"), (1,))))]
    code = make_code(kernel, {"a": producer, "b": consumer}, registers=5, **machine)
    written = {**copy.deepcopy(kernel), "dependences": []}
    return code, written, [Choice({"A": seconds}, {}, {})]


def branching():
    """The then-branch alone is waited for."""
    kernel = make_kernel([loop("A", 4, {"if": "t", "then": [instr("p", "a")], "else": [instr("q", "a")]}), instr("c", "b")],
                         [dep("p", "c")])
    branch = {"op": "if", "if": "t", "then": [issue("p", None, (0,))], "else": [issue("q")]}
    count = {"op": "if", "if": "t", "then": [alu("add", 0, "r0", 1)]}
    return (make_code(kernel, {"a": [runs("A", branch)], "b": [runs("A", count), issue("c", (0, "r0"))]}), kernel,
            [Choice({}, {"t": [1, 0, 1, 1]}, {}), Choice({}, {"t": [0]}, {})])


def long():
    """Three hundred runs are too many for eight bits."""
    kernel = make_kernel([loop("A", 300, instr("p", "a")), instr("c", "b")], [dep("p", "c")])
    return make_code(kernel, {"a": [runs("A", issue("p", None, (0,)))], "b": [issue("c", (0, 300))]}), kernel, [
        Choice({}, {}, {})]


class MutantTest(unittest.TestCase):
    """Right code by hand, and all mistakes of mutants.py in it: each kind is noticed somewhere."""

    def subjects(self):
        reset = ResetTest().code()
        yield VerdictTest().pipe(bound=0), VerdictTest.KERNEL, [Choice({}, {}, {})]  # no mask, on a machine that stops at 0
        yield from (ring([3, 1, 3]), ring([3], subtraction="wraps"), ring([3, 0, 1], subtraction="wraps"))
        yield ring([4, 3, 2], again=False, subtraction="wraps")
        yield from (branching(), long(), (reset, ResetTest.KERNEL, [Choice({}, {}, {})]))

    def answer(self, code, kernel, choices, exact):
        try:
            return judge.judge(documents.Code(code), choices, exact, documents.Kernel(kernel))[0].answer()
        except documents.Wrong:
            return judge.NO

    def test_each_kind_is_noticed(self):
        made, noticed = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        for code, kernel, choices in self.subjects():
            exact = '"reset"' not in json.dumps(code)
            self.assertEqual(self.answer(code, kernel, choices, exact), judge.YES)
            for kind in KINDS:
                for mutant in mutants(kind, code, kernel, random.Random(0), 1000):
                    made[kind] += 1
                    noticed[kind] += self.answer(*mutant, choices, exact) == judge.NO
        for kind, (_, least) in KINDS.items():
            self.assertGreater(noticed[kind], 0, kind)
            self.assertGreaterEqual(100 * noticed[kind], least * made[kind], (kind, noticed[kind], made[kind]))


class RuleTest(unittest.TestCase):
    """Without any one of the rules, a test above fails."""

    def failures(self):
        suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case)
                                   for case in (VerdictTest, MutantTest))
        result = unittest.TestResult()
        suite.run(result)
        return len(result.failures) + len(result.errors)

    def test_each_is_needed(self):
        self.assertEqual(self.failures(), 0)
        for rule in RULES:
            with Without(rule):
                self.assertGreater(self.failures(), 0, rule)


class CertifyTest(unittest.TestCase):
    """What the checker of certificates says is read as it is written (certify.py)."""

    def test_the_run_that_is_told(self):
        def told(run):
            return certify.trips_told(f"rejected: 'k' (auto): no wait; with {run}, engine 'e' is early")

        self.assertEqual(told("64 iterations of 'in'"), {"in": [64]})
        self.assertEqual(told("1 iteration of 'A', 0 2 3 ... iterations of 'B.x', c = 1 0, ..."),
                         {"A": [1], "B.x": [0, 2, 3], "c": [1, 0]})
        self.assertEqual(certify.trips_told("rejected: 'k' (auto): raises by 2; in a run, engine 'e'"), {})
        self.assertRaises(ValueError, told, "the wind from the east")


class MistakesTest(unittest.TestCase):
    """The mistakes that are put into the compiler (mistakes.py)."""

    def test_each_still_applies(self):
        table = mistakes.all_mistakes()
        self.assertGreaterEqual(len(table), 20)
        for mistake in table.values():
            with self.subTest(mistake.name):
                self.assertTrue(mistake.sentence)
                for file in mistake.files():
                    self.assertNotEqual(mistake.broken(file), (mistakes.ROOT / file).read_text(encoding="utf-8"))

    def test_a_table(self):
        text = "mistake a\n What.\nin f\n- x\n-   y\n+ z\n- u\n+ v\nmistake-in-check b\nseed 3\n"
        table = mistakes.read_table(text)
        self.assertEqual(table["a"].edits, [("f", ["x", "y"], ["z"]), ("f", ["u"], ["v"])])
        self.assertEqual((table["b"].in_check, table["b"].seed, table["a"].sentence), (True, 3, "What."))
        self.assertRaises(ValueError, mistakes.read_table, text + "mistake a\n")

    def test_old_text_is_there_once(self):
        mistake = mistakes.Mistake("m", False)
        self.assertEqual(mistake.replaced("a {\n    b;\n}", "f", ["a {", "b;"], ["c {"]), "c {\n}")
        self.assertRaises(ValueError, mistake.replaced, "a a", "f", ["a"], ["b"])
        self.assertRaises(ValueError, mistake.replaced, "c", "f", ["a"], ["b"])


class ProgressTest(unittest.TestCase):
    def test_limits_may_be_raised(self):
        system = System([[(ISSUE, 0, 1, 0)] * 3 + [(DRAIN, None, None, None)], [(WAIT, 0, 2, None)]], 1, [(0, 0)])
        progress = Progress(system, retire_limits=[0])
        self.assertEqual(progress.done, [3, 0])
        progress.allow_retirements(0, 2)
        self.assertEqual(progress.done, [3, 1])
        progress.allow_retirements(0, 3)
        self.assertEqual(progress.done, [4, 1])


if __name__ == "__main__":
    unittest.main()
