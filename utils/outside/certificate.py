#!/usr/bin/env python3
"""Turns code JSON into a certificate, as docs/guide/certificate/Format.md has it.

usage: python3 utils/outside/certificate.py CODE.json

A second writer in addition to the one in tally, so that code of any origin, mutants and code with faults among
it, can be given to the checker of certificates. The kernel must be well formed, and so must the keys
and names of each operation. Where in the code an operation stands, and what it means there, is left to the checker: wrong code becomes a wrong certificate.

What a certificate says in addition to kernel and code is in neither, and is left out by default (`notes`).
"""

import math
import sys

from documents import (Code, If, Kernel, Loop, Machine, OPERATIONS, Table, Wrong, check_fields, check_listed, check_schema, common_loops, is_number,
                       items, one_of, parse, read_ids)
from tiles import TileParser, trip_bounds

NOTES = ("accesses", "granted", "waits-longer", "never-asks")


def notes_of(certificate):
    """[certificate/Format.md#the-format-of-a-certificate]: the lines of these members in a certificate that was written before."""
    return {member: line for line in certificate.splitlines() for member in NOTES if line.startswith(f"  ({member}")}


def quoted(name):
    """A backslash before quotes, itself, and the two digits of a control character."""
    def escaped(char):
        if char in '"\\':
            return "\\" + char
        return f"\\{ord(char):02X}" if ord(char) < 0x20 or ord(char) == 0x7F else char

    return '"' + "".join(map(escaped, name)) + '"'


class Text:
    """What is written so far. Ids are places in the kernel's lists; loops and branches count from 1."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.pieces = []
        self.engines, self.queues, self.instructions = map(places, (kernel.engines, kernel.queues, kernel.instructions))
        self.bodies = {name: place + 1 for name, place in places(kernel.bodies).items()}

    def put(self, piece):
        self.pieces.append(piece)

    def line(self, indent, piece):
        self.pieces.append("\n" + " " * indent + piece)

    def member(self, name, texts):
        self.line(2, f"({name}{''.join(' ' + text for text in texts)})")


def places(names):
    return {name: place for place, name in enumerate(names)}


# ---- The kernel ---------------------------------------------------------------------------


class KernelWriter(Text):
    def tables(self):
        self.member("engines", map(quoted, self.kernel.engines))
        self.member("queues", (f"({quoted(queue.name)} {self.engines[queue.engine]} {queue.weight} "
                               f"{'split' if queue.split else 'whole'})" for queue in self.kernel.queues.values()))
        kinds = self.kinds()
        self.line(2, "(loops")
        for name in self.kernel.bodies:
            self.line(4, f"({quoted(name)} {kinds[name]})")
        self.put(")")
        self.line(2, "(instructions")
        for name, instruction in self.kernel.instructions.items():
            self.line(4, f"({quoted(name)} {self.queues[instruction.queue.name]})")
        self.put(")")
        self.line(2, "(body")
        self.statements(self.kernel.root.statements, 4)
        self.put(")")

    def kinds(self):
        """By the name of each loop or branch, what it is."""
        found, bounds = {}, trip_bounds(self.kernel)
        for loop in self.kernel.loops.values():
            found[loop.name] = "loop" + trips(loop, *bounds[loop.name]) + self.tied(loop) + divergent(loop)
        for branch in self.kernel.ifs.values():
            found[branch.then.name] = "then" + divergent(branch)
            found[branch.otherwise.name] = "else" + divergent(branch)
        return found

    def tied(self, loop):
        return f" (tied {' '.join(self.terms(settled(TileParser(loop.formula).parse_formula())))})" if loop.formula else ""

    def terms(self, part):
        """Of a formula, operands before what is done with them."""
        kind, *rest = part
        if kind == "number":
            return [str(rest[0])]
        if kind == "value":
            return [f"(value {quoted(rest[0])})"]
        if kind == "iteration":
            return [f"(iteration {self.bodies[rest[0]]})"]
        if kind in ("+", "-"):
            return self.terms(rest[0]) + self.terms(rest[1]) + ["add" if kind == "+" else "sub"]
        return self.terms(rest[0]) + [f"({dict(scale='scale', mod='mod', floordiv='div')[kind]} {rest[1]})"]

    def statements(self, statements, indent):
        """Instructions that follow one another are one block."""
        open_block = False
        for statement in statements:
            if isinstance(statement, (Loop, If)):
                self.put(")" * open_block)
                open_block = False
                self.statement(statement, indent)
            else:
                if not open_block:
                    self.line(indent, "(block")
                open_block = True
                self.put(f" {self.instructions[statement.name]}")
        self.put(")" * open_block)

    def statement(self, statement, indent):
        if isinstance(statement, Loop):
            self.line(indent, f"(loop {self.bodies[statement.name]}")
            self.statements(statement.body.statements, indent + 2)
            self.put(")")
            return
        then, other = statement.then, statement.otherwise
        self.line(indent, f"(if {self.bodies[then.name]} {self.bodies[other.name]} (")
        self.statements(then.statements, indent + 2)
        self.put(") (")
        self.statements(other.statements, indent + 2)
        self.put("))")

    def dependences(self):
        self.line(2, "(dependences")
        for dependence in self.kernel.dependences:
            ends = (self.instructions[end.name] for end in (dependence.producer, dependence.consumer))
            ends = list(ends)
            for distance in self.distances(dependence):
                self.line(4, "({} {} {})".format(*ends, distance))
        self.put(")")

    def shortest(self, dependence):
        """Certificates have no tables: what one says is asked for at least."""
        runs, each = dependence.element.runs, dependence.element.each
        nearest = min(number - run for number, run in enumerate(runs))
        if dependence.producer.body is dependence.consumer.body:
            loop = self.bodies[dependence.consumer.body.loops[-1].name]
            return f"(distance ({loop} {nearest}))" if nearest else "(distance)"
        if each > len(runs):
            most = self.most_runs(dependence)
            if not most:
                return "(distance)"
            nearest = min(number - dependence.element.needed(number) for number in range(max(most - len(runs), 0), most))
        return f"(element {nearest})"

    def most_runs(self, dependence):
        """How many runs of the consumer's nest there can be; None if nothing bounds them."""
        around = len(common_loops(dependence.producer, dependence.consumer))
        bounds = [loop.most for loop in dependence.consumer.body.loops[around:]]
        most = None if None in bounds else math.prod(bounds)
        return most if most is not None and most <= (1 << 31) - 1 else None

    def shortest_over(self, dependence):
        """How many iterations of the innermost loop around both the run that is needed lies back at least."""
        table, same = dependence.element, dependence.producer.body is dependence.consumer.body
        loop = common_loops(dependence.producer, dependence.consumer)[-1]
        here, there = (math.prod(inner.most for inner in end.body.loops[end.body.loops.index(loop) + 1:])
                       for end in (dependence.consumer, dependence.producer))
        back = min(turn - table.needed((turn + 1) * here - 1) // there for turn in range(len(table.runs)))
        if same:
            return [f"(flat {back})" if back else "(distance)"]
        if self.is_before(dependence, loop) and (back == 0 or table.over != loop.name):
            return ["(distance)"]
        if table.over == loop.name:
            return [f"(distance ({self.bodies[loop.name]} {back}))"]
        rows, whole = [], ""
        around = common_loops(dependence.producer, dependence.consumer)
        for one in reversed(around[[each.name for each in around].index(table.over):]):
            rows.append(f"(distance ({self.bodies[one.name]} 1){whole})")
            whole = f" ({self.bodies[one.name]} {1 - one.most})" * (one.most != 1) + whole if one.constant else whole
        return rows

    def is_before(self, dependence, loop):
        """Whether the producer's part of the loop comes before the consumer's."""
        def place(end):
            body = end.body
            if body is loop.body:
                return loop.body.statements.index(end)
            return next(number for number, statement in enumerate(loop.body.statements)
                        if isinstance(statement, Loop) and statement in body.loops)
        return place(dependence.producer) < place(dependence.consumer)

    def distances(self, dependence):
        if isinstance(dependence.element, Table) and dependence.element.over:
            return self.shortest_over(dependence)
        return [self.distance(dependence)]

    def distance(self, dependence):
        if dependence.flat is not None:
            return f"(flat {dependence.flat})"
        if isinstance(dependence.element, Table):
            return self.shortest(dependence)
        head = "distance" if dependence.element is None else f"element {dependence.element}"
        steps = [(self.bodies[loop.name], dependence.distance[loop.name]) for loop in dependence.consumer.body.loops
                 if loop.name in dependence.distance]
        return f"({head}{''.join(f' ({loop} {step})' for loop, step in steps)})"


def settled(part):
    """A formula whose products have their number last: as one number, where several follow one another."""
    kind, *rest = part
    if kind in ("number", "value", "iteration"):
        return part
    if kind in ("mod", "floordiv"):
        return (kind, settled(rest[0]), rest[1])
    if kind == "negative":
        return scaled(settled(rest[0]), -1)
    left, right = map(settled, rest)
    if kind != "*":
        return (kind, left, right)
    return scaled(right, left[1]) if left[0] == "number" else scaled(left, right[1])


def scaled(part, factor):
    return (*part[:-1], part[-1] * factor) if part[0] in ("number", "scale") else ("scale", part, factor)


def trips(loop, least, most):
    if loop.constant:
        return f" (trips {least} {least})"
    if most is not None:
        return f" (trips {least} {most})"
    return f" (trips {least})" if least else ""


def divergent(statement):
    return "" if statement.uniform else " divergent"


# ---- The code -----------------------------------------------------------------------------


class CodeWriter(Text):
    """The operations of the engines, each with just the keys that it has [json/Execution.md#operations]."""

    def operations(self, value, path, indent):
        for operation, at in items(value, path):
            if not isinstance(operation, dict):
                raise Wrong(at, "expected an operation")
            write = getattr(self, "write_" + str(operation.get("op")), None)
            if write is None:
                raise Wrong(at, f"unknown operation '{operation.get('op')}'")
            write(operation, at, indent)

    def write_loop(self, value, path, indent):
        check_fields(value, path, ("op", "loop", "counter", "body"), ("unroll",))
        loop = one_of(value["loop"], path + ".loop", self.bodies)
        counter = "" if value["counter"] is None else f" (counter {register(value['counter'], path)})"
        self.line(indent, f"(loop {self.bodies[loop]}{counter}")
        self.operations(value["body"], path + ".body", indent + 2)
        self.put(")")

    def write_if(self, value, path, indent):
        check_fields(value, path, ("op", "if", "then"), ("else",))
        branch = one_of(value["if"], path + ".if", self.bodies)
        self.line(indent, f"(if {self.bodies[branch]} (")
        self.operations(value["then"], path + ".then", indent + 2)
        self.put(") (")
        self.operations(value.get("else", []), path + ".else", indent + 2)
        self.put("))")

    def write_issue(self, value, path, indent):
        check_fields(value, path, ("op", "instr", "wait", "signal"))
        instruction = one_of(value["instr"], path + ".instr", self.instructions)
        wait = "" if value["wait"] is None else " " + self.wait(value["wait"], path)
        signal = "" if value["signal"] is None else " " + self.signal(value["signal"], path)
        self.line(indent, f"(issue {self.instructions[instruction]}{wait}{signal})")

    def write_wait(self, value, path, indent):
        check_fields(value, path, ("op", "wait"))
        self.line(indent, self.wait(value["wait"], path))

    def write_signal(self, value, path, indent):
        check_fields(value, path, ("op", "signal"))
        self.line(indent, self.signal(value["signal"], path))

    def write_reset(self, value, path, indent):
        check_fields(value, path, ("op", "semaphore", "count"))
        self.line(indent, f"(reset {whole(value['semaphore'], path)} {whole(value['count'], path)})")

    def write_drain(self, value, path, indent):
        check_fields(value, path, ("op",))
        self.line(indent, "(drain)")

    def write_alu(self, value, path, indent):
        operation = one_of(value.get("operation"), path + ".operation", OPERATIONS)
        operands = ("a",) if operation == "move" else ("a", "b")
        check_fields(value, path, ("op", "operation", "dst") + operands)
        shown = " ".join([register(value["dst"], path)] + [operand(value[key], path) for key in operands])
        self.line(indent, f"({operation} {shown})")

    def write_barrier(self, value, path, indent):
        """A bracket on each side of what makes up the barrier."""
        check_fields(value, path, ("op", "barrier", "body"))
        for _ in self.around(value, path, indent):
            self.line(indent, f"(barrier {whole(value['barrier'], path)})")

    def write_when(self, value, path, indent):
        check_fields(value, path, ("op", "condition", "body"))
        for begins in self.around(value, path, indent):
            self.line(indent, f"(when {operand(value['condition'], path) if begins else 'end'})")

    def around(self, value, path, indent):
        """Writes the body between two brackets."""
        yield True
        self.operations(value["body"], path + ".body", indent)
        yield False

    @staticmethod
    def wait(value, path):
        check_fields(value, path, ("semaphore", "threshold"), ("dependences", "once"))
        return f"(wait {whole(value['semaphore'], path)} {operand(value['threshold'], path)})"

    @staticmethod
    def signal(value, path):
        check_fields(value, path, ("semaphore", "amount"))
        return f"(signal {whole(value['semaphore'], path)} {whole(value['amount'], path)})"

    def code(self, document):
        """The engines in the kernel's order; one that is not in the list has no code [json/Execution.md#engines]."""
        programs = {}
        for value, at in items(document["engines"], "engines"):
            check_fields(value, at, ("engine", "registers", "code"))
            read_ids(value["registers"], at + ".registers", ("id", "name"), ("role",))
            engine = one_of(value["engine"], at + ".engine", self.engines)
            if engine in programs:
                raise Wrong(at, f"engine '{engine}' is there twice")
            programs[engine] = (value["code"], at + ".code")
        self.line(2, "(code")
        for engine, number in self.engines.items():
            self.line(4, f"({number}")
            self.operations(*programs.get(engine, ([], "")), 6)
            self.put(")")
        self.put(")")


def whole(value, path):
    """Any whole number: whether it may stand here is for the checker to say."""
    if not is_number(value):
        raise Wrong(path, "expected a whole number")
    return value


def register(value, path):
    return f"r{whole(value, path)}"


def operand(value, path):
    if isinstance(value, dict) and set(value) == {"register"}:
        return register(value["register"], path)
    if isinstance(value, dict) and set(value) == {"value"}:
        return str(whole(value["value"], path))
    raise Wrong(path, "expected a register or a value")


# ---- All of it ----------------------------------------------------------------------------


class Writer(KernelWriter, CodeWriter):
    """Members in the order in which they stand."""

    def certificate(self, document, name, notes):
        machine = Machine(document["machine"])
        self.put("(certificate 1")
        self.member("kernel", [quoted(name or self.kernel.name)])
        self.member("strategy", [quoted(document["strategy"])])
        self.member("machine", [quoted(machine.name)])
        self.note(notes, "accesses")
        self.note(notes, "granted")
        self.member("arithmetic", [str(machine.bits), "saturates" if machine.saturates else "wraps",
                                   "signed" if machine.signed else "unsigned"])
        self.tables()
        self.dependences()
        self.note(notes, "waits-longer")
        self.note(notes, "never-asks")
        self.member("semaphores", (quoted(value["name"])
                                   for value in read_ids(document["semaphores"], "semaphores", ("id", "name"))))
        self.code(document)
        self.put(")\n")
        return "".join(self.pieces)

    def note(self, notes, member):
        if member in notes:
            self.put("\n" + notes[member])


def certificate_of(document, name=None, notes=()):
    """The text for a document of code, or `Wrong`. `name` takes the place of the kernel's."""
    check_fields(document, "code", Code.KEYS, ("dependences",))
    check_schema(document, "code", "tally-code", (2,))
    kernel = Kernel(document["kernel"])
    check_listed(kernel, document.get("dependences"))
    return Writer(kernel).certificate(document, name, notes)


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            print(certificate_of(parse(file.read())), end="")
    except (OSError, ValueError, Wrong) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
