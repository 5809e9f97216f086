"""The kernel as tally's JSON (docs/guide/json/Kernel.md), and what is to be said about it.

An instruction's `computes` is written only if the language of kernels says exactly what NumPy has
computed. All tiles must be boxes, with the shapes that the expression needs or as
many elements (`reshape`, `permute`), and every operator must have a text. Otherwise it is left out, and counted
with the reason: the order of instructions is checked as before, and their numbers are not followed.
"""

import json
import re
from itertools import count
from math import prod
from typing import NamedTuple

from .expressions import Unsayable, is_elementwise, numbered
from .loaders import placed
from .refusal import Refusal, shown_path
from .resolve import Linear, Loop, Reach, free_name, instructions, loops
from .rings import layouts

ENGINE_ORDER = ("tensor", "vector", "scalar", "gpsimd", "sync")


class Summary:
    """What became of a trace."""

    def __init__(self, name, operations):
        self.name, self.operations = name, operations
        self.program = None  # which one of a launch grid was traced
        self.instructions = self.loops = 0
        self.apart = []  # loops, their places, and how many of their iterations are written out, and whether others are in a loop
        self.dynamic, self.rings, self.engines, self.obstacles = [], [], {}, {}
        self.unbounded = []  # dynamic loops of which nothing says how often they run at most
        self.patterns = {}  # of addresses that do not grow evenly, in the order of the text
        self.regrouped = []  # tensors in another shape than the kernel's
        self.trips = {}  # of dynamic loops in this run: how often each ran, each time it was reached

    @property
    def written_out(self):
        return sum(count for _, _, count, _ in self.apart)

    def obstacle(self, reason, place, count=1):
        key = reason, place
        self.obstacles[key] = self.obstacles.get(key, 0) + count

    def as_json(self):
        return {
            "schema": "tally-nki-summary", "version": 1, "name": self.name, "program": self.program,
            "operations": self.operations, "instructions": self.instructions,
            "loops": self.loops, "dynamic_loops": self.dynamic, "unbounded": self.unbounded, "trips": self.trips,
            "iterations_written_out": self.written_out,
            "written_out": [{"loop": name, "count": count, **_where(place)} for name, place, count, _ in self.apart],
            "patterns": list(self.patterns),
            "rings": [{"buffer": buffer, "depth": depth} for buffer, depth in self.rings],
            "regrouped": [{"buffer": buffer, "shape": list(shape)} for buffer, shape in self.regrouped],
            "engines": self.engines,
            "obstacles": [{"reason": reason, "count": count, **_where(place)}
                          for (reason, place), count in self._sorted()],
        }

    def _sorted(self):
        return sorted(self.obstacles.items(), key=lambda item: (str(item[0][1]), item[0][0]))

    def text(self):
        program = f" (program {self.program})" if self.program else ""
        counts = _counted(self.operations, "operation"), _counted(self.instructions, "instruction"), _counted(self.loops, "loop")
        lines = [f"{self.name}{program}: {counts[0]} -> {counts[1]}, {counts[2]}"]
        if self.dynamic:
            lines.append("  dynamic loops: " + ", ".join(self.dynamic))
        if self.unbounded:
            lines.append("  no bound: " + ", ".join(self.unbounded) + f"; '--max-trips={self.unbounded[0]}=N' gives one")
        differing = [f"--trips={name}={','.join(map(str, trips))}" for name, trips in self.trips.items() if len(trips) > 1]
        if differing:
            lines.append("  this run: " + " ".join(differing))
        for name, place, count, others in self.apart:
            why = f"unlike those around {'it' if count == 1 else 'them'}" if others else \
                "the only one" if count == 1 else "each unlike the next one, or alone"
            lines.append(f"  written out: {place}: {_counted(count, 'iteration')} of '{name}', {why}")
        if self.patterns:
            lines.append("  patterns: " + ", ".join(self.patterns))
        if self.rings:
            lines.append("  rings: " + ", ".join(f"{buffer} of {depth}" for buffer, depth in self.rings))
        if self.regrouped:
            lines.append("  in other rows: " + ", ".join(f"{buffer} as {list(shape)}" for buffer, shape in self.regrouped))
        lines.append("  engines: " + ", ".join(f"{name} {count}" for name, count in self.engines.items()))
        for (reason, place), count in self._sorted():
            times = f" ({count} times)" if count > 1 else ""
            lines.append(f"  not said: {place or ''}: {reason}{times}")
        return "\n".join(lines)


def _counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _where(place):
    return {"file": shown_path(place.file), "line": place.line} if place else {}


class Writer:
    """`most`: bounds on the trips of dynamic loops that the user gives, by the name of the loop or of its value."""

    def __init__(self, name, recorder, depth, most, files=True):
        self.recorder, self.depth, self.files = recorder, depth, files
        self.given, self.bounded = most, set()
        self.summary = Summary(name, recorder.operations)
        self.names, self.buffers, self.queues, self.values = {}, {}, {}, {}

    def write(self, nodes):
        self.layouts = layouts(nodes, self.depth, self.recorder.loop_info)
        for family, layout in self.layouts.items():
            self.buffers[family] = self._unique(self.names, free_name(family.name))
            if layout.ring:
                self.summary.rings.append((self.buffers[family], layout.ring))
            if family.regrouped:
                self.summary.regrouped.append((self.buffers[family], family.shape))
        self.loops, self.reach = {loop.name for loop in loops(nodes)}, Reach(nodes)
        self.written = {access.tile.family for instruction in instructions(nodes) for access in instruction.accesses
                        if access.tile.role != "r"}
        self.loads = placed(nodes, self.recorder.loads, self._value, ENGINE_ORDER)
        body = self._body(nodes)
        for name in set(self.given) - self.bounded:
            raise Refusal(f"--max-trips={name}={self.given[name]}: no dynamic loop and no value is called '{name}'; there are: "
                          f"{', '.join(self.summary.dynamic) or 'none'}")
        for (reason, place), count in self.recorder.obstacles.items():
            self.summary.obstacle(reason, place, count)
        return {"schema": "tally-kernel", "version": 2, "name": self.summary.name,
                "engines": self._engines(),
                "buffers": [{"name": self.buffers[family], "shape": layout.shape,
                             "type": family.element.tally, "space": family.space,
                             **self._loc(family.place)}
                            for family, layout in self.layouts.items()],
                "body": body}

    def _body(self, nodes):
        return [statement for node in nodes
                for statement in ([self._loop(node)] if isinstance(node, Loop) else self._on_each_engine(node))]

    def _loop(self, loop):
        source, self.summary.loops = loop.source, self.summary.loops + 1
        trips = None if loop.trips is None else (loop.trips.constant if loop.trips.is_constant()
                                                 else {"formula": loop.trips.text()})
        if source.dynamic is not None:
            value = self._value(source.dynamic)
            most = self._most(loop, value)
            # Only the trips of a value have a bound.
            word = "value" if source.dynamic.value or loop.name in self.bounded or value in self.bounded else "while"
            trips = {word: value}
            if word == "value" and most is not None:
                trips["max"] = most
            else:
                self.summary.unbounded.append(loop.name)
            self.summary.dynamic.append(f"{loop.name} ({word} {value})")
        elif source.follows:
            self.summary.dynamic.append(f"{loop.name} (trips {loop.trips.text()})")
        return {"loop": loop.name, "trips": trips, **self._loc(source.place), "body": self._body(loop.body)}

    def _most(self, loop, value):
        """The least bound on its trips, None if there is none."""
        bounds = [self.reach.most[loop.name]] if loop.name in self.reach.most else []
        for name in {loop.name, value} & set(self.given):
            self.bounded.add(name)
            bounds.append(self.given[name])
            ran = max(trips for (number, _), trips in self.recorder.entries.items() if number == loop.source.loop)
            if ran > self.given[name]:
                raise Refusal(f"--max-trips={name}={self.given[name]}: the loop ran {ran} time{'s' if ran != 1 else ''} in this trace", loop.source.place)
        return min(bounds, default=None)

    def _value(self, dynamic):
        """The name of what says how often a loop runs: that of its register, and of no buffer, loop or other value."""
        if dynamic.identity not in self.values:
            taken = {*self.buffers.values(), *self.loops, *self.values.values()}
            wanted = free_name(dynamic.value or dynamic.condition)
            names = (wanted if number == 1 else f"{wanted}.{number}" for number in count(1))
            self.values[dynamic.identity] = next(name for name in names if name not in taken)
        return self.values[dynamic.identity]

    def _on_each_engine(self, instruction):
        """Once, or on each engine for which it loads values."""
        head, needed = instruction.head, self.loads.get(id(instruction))
        if not needed:
            return [self._instruction(instruction, head.engine, head.queue)]
        return [self._instruction(instruction, engine, engine, names, f".{engine}" if len(needed) > 1 else "")
                for engine, names in needed]

    def _instruction(self, instruction, engine, queue, loaded=(), suffix=""):
        head = instruction.head
        self.summary.instructions += 1
        name = (f"{head.operation}.{head.place.line}" if head.place else head.operation) + suffix
        self.queues.setdefault(engine, set()).add(queue)
        self.summary.engines[engine] = self.summary.engines.get(engine, 0) + 1
        document = {"instr": self._unique(self.names, name), "queue": queue}
        if head.cost:
            document["op"] = head.cost
        for first in (first for access in instruction.accesses for first in access.firsts):
            self.summary.patterns.update({f"{inner.text()} {word} {by}": None for _, word, by, inner in first.parts})
        accesses = [self._gathered(access) for access in instruction.accesses]
        shown = [None] * len(accesses)
        try:
            computes = _computes(head, accesses, shown, instruction.numbers)
            if computes:
                document["computes"] = computes
        except Unsayable as reason:
            self.summary.obstacle(f"'{head.operation}' computes {reason}", head.place)
        for key, role in (("reads", "r"), ("writes", "w"), ("accumulates", "a")):
            tiles = [self._tile(access, instruction.positions, show)
                     for access, show in zip(accesses, shown) if access.tile.role == role]
            if tiles:
                document[key] = tiles
        if loaded:
            document["loads"] = loaded
        document.update(self._loc(head.place))
        return document

    def _gathered(self, access):
        """A tile that is not a box is gathered from its whole buffer if nothing writes that: no order depends on it."""
        tile = access.tile
        if tile.role != "r" or tile.whole or tile.exact or tile.pattern is None or tile.family in self.written:
            return access
        if len(self.layouts[tile.family].shape) != len(tile.family.shape):
            return access
        return access._replace(tile=tile._replace(whole=True))

    def _tile(self, access, positions, shown):
        tile, layout = access.tile, self.layouts[access.tile.family]
        name = self.buffers[tile.family]
        if tile.whole:
            return f"{name}[@]"
        indices = [index.text() for index in layout.lead(access, positions)]
        shown = shown or [True] * len(tile.counts)
        for first, count, step, show in zip(access.firsts, tile.counts, tile.steps, shown):
            text = first.text()
            if show or count > 1:
                text += f":{count}" + (f":{step}" if step > 1 else "")
            indices.append(text)
        conditions = " and ".join(dict.fromkeys(self.reach.leaves_out(access)))
        return f"{name}[{', '.join(indices)}]" + (f" if {conditions}" if conditions else "")

    def _engines(self):
        engines = []
        for engine in sorted(self.queues, key=ENGINE_ORDER.index):
            queues = sorted(self.queues[engine] - {engine})
            entry = {"name": engine}
            if queues:
                entry["queues"] = [{"name": queue, "weight": 16} for queue in queues]
            engines.append(entry)
        return engines

    def _loc(self, place):
        if place is None or not self.files:
            return {}
        return {"loc": {"file": shown_path(place.file), "line": place.line, "column": place.column}}

    @staticmethod
    def _unique(names, wanted):
        count = names[wanted] = names.get(wanted, 0) + 1
        if count == 1:
            return wanted
        return Writer._unique(names, f"{wanted}.{count}")


# ---- What an instruction computes -----------------------------------------------------------


def _computes(head, accesses, shown, numbers=()):
    """The text; fills in which axes of one the tiles show. Raises Unsayable."""
    reads = [access.tile for access in accesses if access.tile.role == "r"]
    targets = [access for access in accesses if access.tile.role != "r"]
    if not targets:
        return None
    if not head.results:
        raise Unsayable("what a register holds")
    read_accesses = [access for access in accesses if access.tile.role == "r"]
    for tile in reads:
        if not _can_gather(tile):
            _check_tile(tile)
    for access in targets:
        if not _can_scatter(access.tile):
            _check_tile(access.tile)
    shapes = _read_shapes(head.results, reads, [access.tile for access in targets])
    texts = [_reshaped(result.text(), reads, shapes) for result in head.results]
    texts = [_from_memory(text, read_accesses, shapes) for text in texts]
    texts = [_scattered(text, result.shape(shapes), access) if access.tile.whole
             else _turned(text, result.shape(shapes), access.tile)
             for text, result, access in zip(texts, head.results, targets)]
    read = target = 0
    for number, access in enumerate(accesses):
        if access.tile.role == "r":
            if read in shapes and not access.tile.whole:
                shown[number] = (_show(access.tile.counts, shapes[read]) if _fits(access.tile, shapes[read])
                                 else [True] * len(access.tile.counts))
            read += 1
        else:
            if not access.tile.whole:
                shown[number] = _show_target(head.results[target].shape(shapes), access.tile)
            target += 1
    return numbered("; ".join(_started(text, access) for text, access in zip(texts, targets)), numbers)


_MOST_ROWS = 2**24  # an index is an f32


def _can_gather(tile):
    """Whether its elements, or its rows, can be gathered from the whole buffer."""
    return tile.whole and tile.pattern is not None and not tile.family.loops and max(tile.family.shape) <= _MOST_ROWS


def _can_scatter(tile):
    """Whether it is rows of the buffer, at indices from memory."""
    return tile.role != "a" and _can_gather(tile) and tile.pattern.whole


def _place(access, which):
    """Row (0) or column (1) of each element, or of each row if the pattern is one of whole rows."""
    pattern = access.tile.pattern
    shape = pattern.shape[:-1] if pattern.whole else pattern.shape
    terms = [(steps[which], f"index({list(shape)}, {axis})")
             for axis, (steps, count) in enumerate(zip(pattern.steps, shape)) if steps[which] and count > 1]
    if pattern.source is not None and pattern.unit[which]:
        ones = [pattern.shape[0] if pattern.each else 1] + [1] * (len(shape) - 1)
        terms.append((pattern.unit[which], f"reshape(r{pattern.source}, {ones})"))
    if prod(shape) > 1 and not any(term.startswith("index") for _, term in terms) and not (
            pattern.each and prod(shape) == shape[0]):
        terms.insert(0, (0, f"index({list(shape)}, 0)"))  # gives it its shape
    text = " + ".join(f"{factor} * {term}".removeprefix("1 * ") for factor, term in terms)
    first = access.first[which]
    if first.key == Linear().key:
        return text or "0"
    return f"{text} + ({first.expression()})" if text else first.expression()


def _from_memory(text, accesses, shapes):
    """With a 'gather' for each tile that is gathered from the whole buffer."""
    for index, access in enumerate(accesses):
        tile = access.tile
        if not _can_gather(tile) or f"r{index}" not in text:
            continue
        shape = shapes.get(index, tile.pattern.shape)
        if prod(shape) != prod(tile.pattern.shape):
            raise Unsayable("an operand that repeats, at addresses that are not a box")
        places = ", ".join(_place(access, which) for which in range(1 if tile.pattern.whole else 2))
        found = _in_shape(f"gather(r{index}, {places})", _gathered_shape(tile), tuple(shape))
        text = re.sub(rf"\br{index}\b", lambda _, found=found: found, text)
    return text


def _gathered_shape(tile):
    return tile.pattern.shape[:-1] + tile.family.shape[1:] if tile.pattern.whole else tile.pattern.shape


def _scattered(text, shape, access):
    if prod(shape) != prod(access.tile.pattern.shape):
        raise Unsayable("a result that repeats, in rows at addresses from memory")
    return f"scatter({_in_shape(text, tuple(shape), _gathered_shape(access.tile))}, {_place(access, 0)})"


def _check_tile(tile):
    if tile.whole:
        raise Unsayable("with an address that only a run knows")
    if not tile.exact:
        raise Unsayable(f"with a tile of '{tile.family.name}' that is not a box of its buffer")


def _read_shapes(results, reads, targets):
    """The shape in which the text needs each tile."""
    wants = {}
    for result in results:
        result.wants(reads, wants)
    try:
        for index, shape in wants.items():
            _show_read(reads[index], shape)
        return wants
    except Unsayable:
        repeats = any(prod(result.shape(wants)) != prod(tile.counts) for result, tile in zip(results, targets))
        if repeats or not all(map(is_elementwise, results)):
            if all(_size(reads[index]) == prod(shape) for index, shape in wants.items()):
                return wants  # by 'reshape'
            if not repeats:
                raise
    # Element by element, axes that are 1 in all tiles say nothing.
    rank = max(map(len, wants.values()))
    padded = {index: shape + (1,) * (rank - len(shape)) for index, shape in wants.items()}
    kept = [axis for axis in range(rank) if any(shape[axis] > 1 for shape in padded.values())]
    wants = {index: tuple(shape[axis] for axis in kept) for index, shape in padded.items()}
    if len(set(wants.values())) == 1 and not any(reads[index].whole for index in wants):
        # Tiles of one shape may all be regrouped alike.
        counts = {tuple(n for n in reads[index].counts if n > 1) for index in wants}
        if len(counts) == 1:
            wants = dict.fromkeys(wants, counts.pop())
    try:
        for index, shape in wants.items():
            _show_read(reads[index], shape)
        return wants
    except Unsayable:
        if all(_size(reads[index]) == prod(shape) for index, shape in wants.items()):
            return wants
        raise


def _size(tile):
    return prod(tile.shape if tile.whole else tile.counts)


def _show_read(tile, shape):
    """Raises Unsayable if the tile cannot be read in this shape; one in another order is reshaped anyhow."""
    if not tile.whole and not (tile.order and prod(tile.counts) == prod(shape)):
        _show(tile.counts, shape)


def _fits(tile, shape):
    """Whether the tile can have this shape as it is."""
    if tile.order is not None:
        return False
    try:
        _show(tile.counts, shape)
        return True
    except Unsayable:
        return False


def _reshaped(text, reads, shapes):
    """With 'reshape' and 'permute' around each tile that has another shape or order than is needed."""
    for index, shape in shapes.items():
        tile = reads[index]
        if tile.whole or _fits(tile, shape):
            continue
        read, have = f"r{index}", None
        if tile.family.element.tally in _WHOLE_WORDS:
            read = f"bitor({read}, 0)"  # exactly: reshaped numbers are those of f32
        if tile.order is not None:
            read = f"permute({_in_shape(read, tile.counts, tile.order.shape)}, {list(tile.order.axes)})"
            have = tile.order.walked()
        text = re.sub(rf"\br{index}\b", _in_shape(read, have, shape), text)
    return text


_WHOLE_WORDS = ("i32", "u32")


def _in_shape(text, have, wanted):
    return text if have == wanted else f"reshape({text}, {list(wanted)})"


def _turned(text, shape, tile):
    """The elements of a result in the order in which its tile takes them."""
    if tile.order is None or prod(shape) == 1:
        return text
    if prod(shape) != prod(tile.counts):
        raise Unsayable(f"a result that repeats in a tile of '{tile.family.name}' in another order than its buffer's")
    return f"permute({_in_shape(text, shape, tile.order.walked())}, {list(tile.order.back())})"


def _show(counts, shape):
    """Which dimensions to write as ranges, so that the tile has this shape."""
    shown, at = [], 0
    for count in counts:
        fits = at < len(shape) and shape[at] == count
        if not fits and count != 1:
            raise Unsayable(f"on shape {list(shape)}, which its tile of {list(counts)} has not")
        shown.append(fits)
        at += fits
    if at < len(shape):
        raise Unsayable(f"on shape {list(shape)}, which its tile of {list(counts)} has not")
    return shown


def _show_target(result, tile):
    if prod(result) == prod(tile.counts) or tile.order is not None:
        return [True] * len(tile.counts)
    shown = _show(tile.counts, tile.shape)
    result = result + (1,) * (len(tile.shape) - len(result))
    if len(result) != len(tile.shape) or any(n not in (1, wanted) for n, wanted in zip(result, tile.shape)):
        raise Unsayable("a result of another shape than its tile")
    return shown


def _started(text, access):
    if access.start is None or access.start is False:
        return text
    return f"start({text})" if access.start is True else f"start({access.start}, {text})"


def as_text(document):
    """The document with a line for each engine, buffer and statement."""
    lines = ["{"]
    for key in ("schema", "version", "name"):
        lines.append(f" {json.dumps(key)}: {json.dumps(document[key])},")
    for key in ("engines", "buffers"):
        entries = [f"  {json.dumps(entry)}" for entry in document[key]]
        lines += [f" {json.dumps(key)}: [", ",\n".join(entries), " ],"]
    lines += [' "body": [', ",\n".join(_statement_lines(document["body"], "  ")), " ]", "}"]
    return "\n".join(lines) + "\n"


def _statement_lines(body, indent):
    for statement in body:
        if "loop" not in statement:
            yield indent + json.dumps(statement)
            continue
        head = json.dumps({key: value for key, value in statement.items() if key != "body"})
        inner = ",\n".join(_statement_lines(statement["body"], indent + "  "))
        yield f'{indent}{head[:-1]}, "body": [\n{inner}\n{indent}]}}'


def kernel_document(name, recorder, nodes, depth=2, most=None):
    """The document, its summary, and the name and the layout of each buffer by family."""
    writer = Writer(name, recorder, depth, most or {})
    document = writer.write(nodes)
    return document, writer.summary, {family: (writer.buffers[family], layout) for family, layout in writer.layouts.items()}


class Given(NamedTuple):
    """The layout of a buffer of a document that is there already."""

    shape: list
    ring: int = 0


def written_in(document):
    """The names of the buffers that instructions of a document write."""
    pending, names = list(document["body"]), set()
    while pending:
        entry = pending.pop()
        names.update(tile.partition("[")[0] for role in ("writes", "accumulates") for tile in entry.get(role, ()))
        pending += [each for part in entry.values() if isinstance(part, list) for each in part if isinstance(each, dict)]
    return names


def buffers_of(document, families):
    """The name and the layout of each of these families that has a buffer in HBM in a document of the same kernel."""
    found, left = {}, [buffer for buffer in document["buffers"] if buffer["space"] == "hbm"]
    for family in families:
        wanted = free_name(family.name)
        buffer = next((buffer for buffer in left if re.fullmatch(re.escape(wanted) + r"(\.\d+)?", buffer["name"])
                       and buffer.get("loc", {}).get("line") == (family.place.line if family.place else None)), None)
        if buffer is None:
            continue
        left.remove(buffer)
        extents, have = [*family.extents, *family.shape], buffer["shape"]
        made_in_loops = bool(family.extents) and have[-len(family.shape):] == list(family.shape)
        if made_in_loops and (len(have) != len(extents) or any(count > slots for count, slots in zip(extents, have))):
            continue  # a ring, of whose tensors some are overwritten
        if prod(extents) != prod(have) and not made_in_loops or family.element.tally != buffer["type"]:
            raise Refusal(f"'{wanted}' is {family.element.tally}{extents}, and {buffer['type']}{buffer['shape']} in the kernel that was "
                          "written before; give arguments of the same shapes and types", family.place)
        found[family] = buffer["name"], Given(buffer["shape"])
    return found
