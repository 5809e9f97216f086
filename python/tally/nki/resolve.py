"""The rolled trace in terms of its loops: every number as an expression of loop variables.

rollup.py leaves patterns at each loop and numbers for the whole. From the outside in, a loop turns the
expressions of its own slots into those of the numbers in its body. Each place also knows where it is:
for each traced loop around it the iteration, as an expression, and the number of the iteration counted
over the whole run, from which rings are made (rings.py).
"""

import re
from collections import defaultdict
from typing import NamedTuple

from . import rollup
from .tree import Head


_RESERVED = {"mod", "floordiv", "if", "and", "total", "trips"}


def free_name(wanted):
    """A name that stands in a tile without quotes."""
    name = re.sub(r"[^A-Za-z0-9_.]", "_", wanted)
    name = name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
    return name + "_" if name in _RESERVED else name


class Linear:
    """`constant` + sum of factor*variable + sum of scale*(inner mod m) or scale*(inner floordiv q)."""

    __slots__ = ("constant", "factors", "parts")

    def __init__(self, constant=0, factors=(), parts=()):
        self.constant, self.factors, self.parts = constant, tuple(factors), tuple(parts)

    @property
    def key(self):
        return (self.constant, self.factors,
                tuple((scale, word, by, inner.key) for scale, word, by, inner in self.parts))

    def __eq__(self, other):
        return self.key == other.key

    __hash__ = None

    def plus(self, other):
        factors = dict(self.factors)
        for name, factor in other.factors:
            factors[name] = factors.get(name, 0) + factor
        return Linear(self.constant + other.constant,
                      [(name, factor) for name, factor in factors.items() if factor],
                      self.parts + other.parts)

    def times(self, scale):
        if scale == 0:
            return Linear()
        return Linear(self.constant * scale, [(name, factor * scale) for name, factor in self.factors],
                      [(factor * scale, *part) for factor, *part in self.parts])

    def mod(self, modulus):
        if modulus == 1:
            return Linear()
        inner = Linear(self.constant % modulus,
                       [(name, factor % modulus) for name, factor in self.factors if factor % modulus],
                       [part for part in self.parts if part[0] % modulus])
        if not inner.factors and not inner.parts:
            return Linear(inner.constant)
        return Linear(0, (), [(1, "mod", modulus, inner)])

    def floordiv(self, divisor):
        if not self.factors and not self.parts:
            return Linear(self.constant // divisor)
        return Linear(0, (), [(1, "floordiv", divisor, self)])

    def is_constant(self):
        return not self.factors and not self.parts

    def value(self, at):
        """With these values of the variables."""
        number = self.constant + sum(factor * at[name] for name, factor in self.factors)
        for scale, word, by, inner in self.parts:
            number += scale * (inner.value(at) % by if word == "mod" else inner.value(at) // by)
        return number

    def expression(self):
        """The same in what instructions compute, which have neither 'mod' nor 'floordiv' as operators."""
        terms = [(factor, f'"{name}"' if "." in name else name) for name, factor in self.factors]
        terms += [(scale, f"mod({inner.expression()}, {by})" if word == "mod" else
                   f"floor(({inner.expression()}) / {by})") for scale, word, by, inner in self.parts]
        text = "".join((" - " if factor < 0 else " + ") + (term if abs(factor) == 1 else f"{abs(factor)} * {term}")
                       for factor, term in terms)
        if self.constant or not text:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    def text(self):
        terms = [(factor, name) for name, factor in self.factors]
        terms += [(scale, f"{_operand(inner)} {word} {by}") for scale, word, by, inner in self.parts]
        text = ""
        for factor, term in terms:
            if factor not in (1, -1):
                term = f"{abs(factor)}*({term})" if " " in term else f"{abs(factor)}*{term}"
            elif " " in term:
                term = f"({term})" if len(terms) > 1 or self.constant else term
            text += (" - " if factor < 0 else " + ") + term
        if self.constant or not text:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text[3:] if text.startswith(" + ") else "-" + text[3:]


def _operand(inner):
    text = inner.text()
    return text if re.fullmatch(r"[\w.]+(\([\w.]+\))?", text) else f"({text})"


class Position(NamedTuple):
    """Where a place is in one traced loop: its iteration, and a count over the whole run."""

    loop: int
    index: Linear
    count: Linear


class Access(NamedTuple):
    tile: object
    coordinates: tuple
    firsts: tuple
    start: object  # of a sum: True (sets), False (adds), or the loop in whose first iteration it sets
    first: object  # of a pattern, its row and its column


class Instruction(NamedTuple):
    head: Head
    accesses: tuple
    positions: tuple
    numbers: tuple  # whole numbers in its expressions


class Loop(NamedTuple):
    name: str
    source: rollup.Rolled
    trips: Linear  # None of a dynamic loop
    body: list


class Resolver:
    """`constant`: loops, as they are in the block, that are written out, since others run as often as they say."""

    def __init__(self, recorder, constant=()):
        self.recorder, self.used = recorder, {}
        self.constant = {id(node) for node in constant}
        self.written_out = {}  # iterations, by loop
        self.rolled = set()  # loops of which others are in groups

    def kernel(self, block):
        numbers = [Linear(number) for number in block.numbers]
        return self._body(block, iter(numbers), ())

    def _body(self, block, numbers, positions):
        nodes = []
        for node in block.nodes:
            if isinstance(node, int):
                nodes.append(self._instruction(self.recorder.heads[node], numbers, positions))
            elif isinstance(node, rollup.Rolled):
                nodes += self._loop(node, numbers, positions)
            else:
                nodes += self._single(node, numbers, positions)
        return nodes

    def _instruction(self, head, numbers, positions):
        accesses = []
        for tile in head.tiles:
            coordinates = tuple(next(numbers) for _ in tile.family.loops)
            firsts = () if tile.whole else tuple(next(numbers) for _ in tile.family.shape)
            first = (next(numbers), next(numbers)) if tile.pattern is not None else None
            start = _start(next(numbers)) if tile.role == "a" else None
            accesses.append(Access(tile, coordinates, firsts, start, first))
        inside = tuple(next(numbers) for _ in range(head.numbers))
        return Instruction(head, tuple(accesses), positions, inside)

    def _loop(self, node, numbers, positions):
        first, trips = (next(numbers), next(numbers)) if node.dynamic is None else (Linear(), None)
        slots = [next(numbers) for pattern in node.patterns for _ in range(rollup.slots(pattern))]
        if trips is not None and trips.is_constant() and trips.constant == 0:
            return []
        if id(node) in self.constant:
            return [inner for k in range(trips.constant) for inner in self._iteration(node, first, slots, positions, k)]
        self.rolled.add(node.loop)
        name = self._name(node.name)
        variable, slots = Linear(0, [(name, 1)]), iter(slots)
        body = [_number(pattern, slots, variable, name) for pattern in node.patterns]
        index = first.plus(variable.times(node.stride))
        count = Linear(0, [(f"total({name})", node.stride)])
        inside = positions + (Position(node.loop, index, count),)
        return [Loop(name, node, trips, self._body(node.body, iter(body), inside))]

    def _iteration(self, node, first, slots, positions, k):
        slots, index = iter(slots), first.plus(Linear(k * node.stride))
        body = [_number(pattern, slots, Linear(k), Linear(min(k, 1))) for pattern in node.patterns]
        before = positions[-1].count.times(node.trips) if positions else Linear()
        inside = positions + (Position(node.loop, index, before.plus(index)),)
        return self._body(node.body, iter(body), inside)

    def _single(self, node, numbers, positions):
        index = next(numbers)
        if positions and positions[-1].loop == node.loop:
            around = positions[-1]  # one of a group of iterations
            here = Position(node.loop, around.index.plus(index), around.count.plus(index))
            return self._body(node.body, numbers, positions[:-1] + (here,))
        if node.body.nodes:
            self.written_out[node.loop] = self.written_out.get(node.loop, 0) + 1
        before = positions[-1].count.times(node.trips) if positions else Linear()
        here = Position(node.loop, index, before.plus(index))
        return self._body(node.body, numbers, positions + (here,))

    def _name(self, wanted):
        name = free_name(wanted)
        count = self.used[name] = self.used.get(name, 0) + 1
        return name if count == 1 else f"{name}.{count}"


def _number(pattern, numbers, variable, first):
    """`first`: what a sum says that is set in the first iteration."""
    if pattern == rollup.FIRST:
        return first
    base = next(numbers)
    if isinstance(pattern, rollup.Modular):
        place = next(numbers).plus(variable.times(pattern.factor))
        return base.plus(place.mod(pattern.modulus).times(pattern.scale))
    if isinstance(pattern, rollup.Quotient):
        place = next(numbers).plus(variable)
        return base.plus(place.floordiv(pattern.divisor).times(pattern.scale))
    return base.plus(variable.times(pattern)) if isinstance(base, Linear) else base


def _start(flag):
    return flag if isinstance(flag, str) else flag.constant == 0


def tying(nodes):
    """The loops of known trips that say how often others run."""
    named = {name for loop in loops(nodes) if loop.trips is not None for name in _variables(loop.trips)}
    return [loop.source for loop in loops(nodes) if loop.name in named and loop.trips is not None]


def _variables(linear):
    names = {name for name, _ in linear.factors}
    return names.union(*(_variables(inner) for *_, inner in linear.parts))


class Reach:
    """How far tiles move with dynamic loops. `most`: for such loops, by name, how often they can run until a tile has left
    its buffer; the kernel itself allows no more trips. Where several of them move a tile together, each is bounded with the
    others at 0, if all move it the same way, and `leaves_out` says which of their iterations there are. So it does where loops of
    known trips move it that stand around a dynamic one, which is bounded as in those of their iterations that leave it most."""

    def __init__(self, nodes):
        self.most, self.last, self.ends, self.around = {}, {}, {}, {}
        for loop, around in _nests(nodes):
            self.around[loop.name] = around
            if loop.trips is not None and self._moved(loop.trips):
                self.ends[loop.name] = loop.trips.plus(Linear(-1))
            self.last[loop.name] = None if loop.source.dynamic else self._ends(loop.trips)[1] - 1
        for instruction in instructions(nodes):
            around = set().union(*(_variables(position.index) for position in instruction.positions)) & set(self.ends)
            for access in instruction.accesses:
                for first, room in _rooms(access):
                    for end in self._at_ends(first):
                        self._bound(end, room, around)

    def _moved(self, first):
        return [(name, factor) for name, factor in first.factors if self.last[name] is None]

    def _at_ends(self, first):
        """The place in the first and in the last iteration of each loop that runs as often as a dynamic one around it says."""
        places = [first]
        for name in reversed(self.ends):  # from the inside out, as one may say how often others run
            if any(name in dict(place.factors) for place in places):
                places = [_replaced(place, name, end) for place in places for end in (Linear(), self.ends[name])]
        return places

    def _bound(self, first, room, around):
        """`around`: the loops around the tile that run as often as dynamic ones say. Where they do not run, nothing leaves."""
        dynamic = self._moved(first)
        if len({factor > 0 for _, factor in dynamic}) != 1:
            return
        for name, factor in dynamic:
            low, high = self._ends(first, self.around[name])
            left = room - high if factor > 0 else low
            trips = max(0, left // abs(factor) + 1)
            if all(self.ends[loop].value(defaultdict(int, {name: trips})) >= 0 for loop in around):
                self.most[name] = min(self.most.get(name, trips), trips)

    def leaves_out(self, access):
        """The condition under which a tile is in its buffer, if that is one on several loops; it holds for all that run."""
        for first, room in _rooms(access):
            moved = max(map(self._moved, self._at_ends(first)), key=len)
            moves = {factor > 0 for _, factor in moved}
            if len(moved) > 1 or any(self.around[name] & _variables(first) for name, _ in moved):
                yield from [f"{first.text()} < {room + 1}"] * (True in moves) + [f"{first.text()} >= 0"] * (False in moves)

    def _ends(self, linear, chosen=()):
        """The lowest and the highest value, with the variables of dynamic loops at 0. Or, by choice of some loops' iterations, how
        high the lowest one may be, and how low the highest."""
        low = high = linear.constant
        for name, factor in linear.factors:
            end = factor * (self.last[name] or 0)
            ends = sorted((0, end), reverse=name in chosen)
            low, high = low + ends[0], high + ends[1]
        for scale, word, by, inner in linear.parts:
            ends = (0, by - 1) if word == "mod" else [end // by for end in self._ends(inner)]
            ends = sorted((scale * end for end in ends), reverse=not _variables(inner).isdisjoint(chosen))
            low, high = low + ends[0], high + ends[-1]
        return low, high


def _replaced(linear, name, by):
    """With this for a variable, where that stands alone."""
    factor = dict(linear.factors).get(name, 0)
    rest = Linear(linear.constant, [pair for pair in linear.factors if pair[0] != name], linear.parts)
    return rest.plus(by.times(factor))


def _rooms(access):
    """For each dimension of a tile its first element, and the last one that this may be."""
    tile = access.tile
    for first, count, step, extent in zip(access.firsts, tile.counts or (), tile.steps or (), tile.family.shape):
        yield first, extent - 1 - (count - 1) * step


def _nests(nodes, around=frozenset()):
    """Each loop with the names of those around it."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node, around
            yield from _nests(node.body, around | {node.name})


def loops(nodes):
    for node in nodes:
        if isinstance(node, Loop):
            yield node
            yield from loops(node.body)


def trips_of_run(nodes, recorder):
    """How often the dynamic loops of the text ran in the trace: for each, by name, its trips each time it was reached."""
    found = {}

    def run(nodes, at):
        for node in nodes:
            if not isinstance(node, Loop) or not any(loop.trips is None for loop in loops([node])):
                continue
            if node.trips is None:
                around = next(instructions(node.body)).positions
                around = around[:[position.loop for position in around].index(node.source.loop)]
                trips = recorder.entries[node.source.loop, tuple(position.index.value(at) for position in around)]
                found.setdefault(node.name, []).append(trips)
            else:
                trips = node.trips.value(at)
            if any(isinstance(inner, Loop) for inner in node.body):
                for iteration in range(trips):
                    run(node.body, {**at, node.name: iteration})

    run(nodes, {})
    return found


def instructions(nodes):
    """All instructions, in the order of the text."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from instructions(node.body)
        else:
            yield node
