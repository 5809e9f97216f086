"""Iterations that are alike become a loop.

A block is a list of nodes (operations, loops, single iterations) and its numbers, in the order of the
nodes. Two blocks have one `key` if they are equal except for numbers. When a loop ends, its iterations are
rows of a matrix of numbers. A run of iterations of one key becomes a loop if each column has a pattern
in the iteration i:

  step              v + step*i
  Modular(s, m, f)  c + s*((a + f*i) mod m)         slots c and a, a modulo m
  Quotient(s, q)    c + s*((a + i) floordiv q)      slots c and a
  FIRST             0 in the first iteration, then 1: a sum that is set and then added to

What is left are slots, the numbers of the new node, which loops further out roll up in turn. Its first
iteration and its trips are such numbers, too, so a loop may run once more in each iteration of the loop
around it, as causal attention does. So each number of the text is exact in all iterations that ran; there is no guess in a loop of known trips. What
has no pattern stays: the matrix is cut where its rows stop to grow evenly, and iterations that stand
alone are written out.

A dynamic loop has one text for any number of trips, so its iterations must become one loop, with steps
alone. What grows in them grows evenly for a reason: Python cannot see which iteration it is (source.py),
registers are affine in the loop's index, and memory that is `known` has only constants added to it.
"""

from math import gcd
from typing import NamedTuple

import numpy as np

from .refusal import Refusal

PLAIN, FLAG = 0, -1  # kinds of numbers; m > 0: a number modulo m
FIRST = "first"


class Uneven(Refusal):
    """Iterations of a dynamic loop that are not a single body."""


class Modular(NamedTuple):
    scale: int
    modulus: int
    factor: int


class Quotient(NamedTuple):
    scale: int
    divisor: int


class Block:
    __slots__ = ("key", "numbers", "nodes")

    def __init__(self, key, numbers, nodes):
        self.key, self.numbers, self.nodes = key, numbers, nodes


class Rolled:
    """A loop over every `stride`-th iteration of a loop that was traced. The first of them and their number
    are in front of its slots; those of a dynamic loop are 0 and `trips`, which were those of the trace."""

    __slots__ = ("loop", "name", "place", "stride", "trips", "dynamic", "follows", "patterns", "body")

    def __init__(self, loop, stride, trips, patterns, body):
        self.loop, self.name, self.place = loop.id, loop.name, loop.place
        self.stride, self.trips = stride, trips
        self.dynamic = loop.trips if is_dynamic(loop) else None
        self.follows = loop.trips is not None and loop.trips.follows
        self.patterns, self.body = patterns, body


def is_dynamic(loop):
    """Whether the text says the trips by a value or a condition, and not by numbers."""
    return loop.trips is not None and not loop.trips.follows


class Single:
    """One iteration, written out. Its index, relative to the `Rolled` of the same loop around it, is in front
    of its numbers."""

    __slots__ = ("loop", "trips", "body")

    def __init__(self, loop, trips, body):
        self.loop, self.trips, self.body = loop, trips, body


class Interner:
    """Numbers for keys, and the kinds of the numbers of a block with that key."""

    def __init__(self, heads):
        self.heads, self.keys, self.kinds, self.parts = heads, {}, [], []
        self.only_run = False  # nothing is asked for but NumPy's results

    def block(self, node_keys, kinds):
        key = self.keys.get(node_keys)
        if key is None:
            key = self.keys[node_keys] = len(self.kinds)
            self.kinds.append(tuple(kinds))
            self.parts.append(node_keys)
        return key


def freeze(items, recorder):
    """The block of an iteration that has ended."""
    keys, numbers, kinds, nodes = [], [], [], []
    for item in items:
        if isinstance(item, Node):
            keys.append(item.key)
            numbers += item.numbers
            kinds += item.kinds
            nodes.append(item.node)
        else:
            head, own = recorder.finished(item)
            keys.append(head)
            numbers += own
            kinds += recorder.heads[head].kinds
            nodes.append(head)
    return Block(recorder.interner.block(tuple(keys), kinds), numbers, nodes)


class Node(NamedTuple):
    """A loop or single iteration as it stands in its block."""

    node: object
    key: tuple
    numbers: list
    kinds: list


def roll(loop, interner):
    """The nodes that the iterations of a loop become."""
    blocks = loop.iterations
    if interner.only_run:
        return []
    if loop.trips is not None:
        return _roll_dynamic(loop, blocks, interner)
    if not any(block.nodes for block in blocks):
        return []
    blocks = _aligned(blocks, interner)
    nodes, at = [], 0
    for start, end, stride in _stretches([block.key for block in blocks]):
        if stride == 1 and not blocks[start].nodes:
            pass  # iterations that do nothing
        elif stride == 1:
            nodes += _roll_run(loop, blocks, start, end, interner)
        else:
            nodes += _roll_groups(loop, blocks, start, end, stride, interner)
        at = end
    assert at == len(blocks)
    return nodes


MAX_STRIDE = 8


def _stretches(keys):
    """Ranges of iterations of one key, or of keys that come again after `stride` iterations."""
    start, total = 0, len(keys)
    while start < total:
        best = (start + 1, 1)
        for stride in range(1, MAX_STRIDE + 1):
            end = start + stride
            while end < total and keys[end] == keys[end - stride]:
                end += 1
            end -= (end - start) % stride
            if end - start >= 2 * stride and end > best[0]:
                best = (end, stride)
            if end == total:
                break
        # A short group would swallow the beginning of a run that goes on for long.
        yield (start, *best)
        start = best[0]


def _roll_run(loop, blocks, start, end, interner):
    """Iterations of one key: cut where no pattern goes on."""
    if end - start == 1:
        return [_single(loop, blocks[start], start, interner)]
    kinds = interner.kinds[blocks[start].key]
    matrix = np.array([block.numbers for block in blocks[start:end]], np.int64)
    matrix = matrix.reshape(end - start, len(kinds))
    patterns = _patterns(matrix, kinds)
    if patterns is not None:
        return [_rolled(loop, blocks[start], start, 1, matrix, patterns, kinds, interner)]
    nodes = []
    for low, high in _cuts(matrix, kinds):
        patterns = _patterns(matrix[low:high], kinds) if high - low > 1 else None
        if patterns is None:
            nodes += [_single(loop, blocks[start + i], start + i, interner) for i in range(low, high)]
        else:
            nodes.append(_rolled(loop, blocks[start + low], start + low, 1, matrix[low:high], patterns,
                                 kinds, interner))
    return nodes


def _cuts(matrix, kinds):
    """Maximal ranges of rows in which each column grows evenly."""
    flags = np.array([kind == FLAG for kind in kinds], bool)
    steps = np.diff(matrix, axis=0)
    even = np.ones(len(matrix), bool)  # does row i go on as the two before it?
    even[2:] = (steps[1:] == steps[:-1])[:, ~flags].all(axis=1) & (steps[1:, flags] == 0).all(axis=1)
    level = np.ones(len(matrix), bool)  # may row i follow row i - 1 at all?
    level[1:] = (steps[:, flags] >= 0).all(axis=1)
    start = 0
    while start < len(matrix):
        end = start + 1
        while end < len(matrix) and level[end] and (end - start < 2 or even[end]):
            end += 1
        yield start, end
        start = end


def _roll_groups(loop, blocks, start, end, stride, interner):
    """Iterations that come again after `stride` others: a loop over groups of them."""
    groups = []
    for at in range(start, end, stride):
        parts = [_single(loop, blocks[at + r], r, interner) for r in range(stride)]
        numbers = [number for part in parts for number in part.numbers]
        kinds = [kind for part in parts for kind in part.kinds]
        key = interner.block(tuple(part.key for part in parts), kinds)
        groups.append(Block(key, numbers, [part.node for part in parts]))
    kinds = interner.kinds[groups[0].key]
    matrix = np.array([group.numbers for group in groups], np.int64).reshape(len(groups), len(kinds))
    patterns = _patterns(matrix, kinds)
    if patterns is None:
        return [_single(loop, blocks[i], i, interner) for i in range(start, end)]
    return [_rolled(loop, groups[0], start, stride, matrix, patterns, kinds, interner)]


def _single(loop, block, index, interner):
    return Node(Single(loop.id, len(loop.iterations), block), ("s", loop.id, block.key),
                [index, *block.numbers], [PLAIN, *interner.kinds[block.key]])


def _rolled(loop, body, first, stride, matrix, patterns, kinds, interner):
    trips = len(matrix)
    numbers, own = ([first, trips], [PLAIN, PLAIN]) if not is_dynamic(loop) else ([], [])
    for column, (pattern, kind) in enumerate(zip(patterns, kinds)):
        value = int(matrix[0, column])
        if isinstance(pattern, Modular):
            low = int(matrix[:, column].min())
            numbers += [low, (value - low) // pattern.scale]
            own += [PLAIN, pattern.modulus]
        elif isinstance(pattern, Quotient):
            numbers += [value, _phase(matrix[:, column], pattern.divisor)]
            own += [PLAIN, PLAIN]
        elif pattern != FIRST:
            numbers.append(value)
            own.append(kind)
    node = Rolled(loop, stride, trips, patterns, Block(body.key, None, body.nodes))
    key = ("l", loop.id, stride, is_dynamic(loop), patterns, body.key)
    return Node(node, key, numbers, own)


# ---- Loops that run once, or not at all, in some iterations of the loop around them ----------


def _aligned(blocks, interner):
    """The blocks as those with most loops are. A loop that ran once is an iteration that stands alone, and one
    that did not run is not there; both become loops, if then all trips grow evenly."""
    keys = {block.key for block in blocks}
    if len(keys) == 1:
        return blocks
    loops = {key: sum(isinstance(part, tuple) and part[0] == "l" for part in interner.parts[key]) for key in keys}
    for target in sorted(keys, key=lambda key: (-loops[key], key))[:3]:
        rows = [block if block.key == target else _as(block, target, interner) for block in blocks]
        if loops[target] and sum(row is not None for row in rows) > sum(block.key == target for block in blocks):
            found = _even_trips(rows, blocks, target, interner)
            if found is not None:
                return found
    return blocks


def _widths(part, interner):
    """How many numbers a part of a block has."""
    if not isinstance(part, tuple):
        return len(interner.heads[part].kinds)
    if part[0] == "s":
        return 1 + len(interner.kinds[part[2]])
    return 2 * (not part[3]) + sum(map(slots, part[4]))


def slots(pattern):
    """How many numbers of the loop a pattern takes."""
    if pattern == FIRST:
        return 0
    return 2 if isinstance(pattern, (Modular, Quotient)) else 1


def _as(block, target, interner):
    """The block with the nodes of another one, or None. Numbers of a loop that did not run are None."""
    template, have = interner.parts[target], list(interner.parts[block.key])
    numbers, at = [], 0
    for part in template:
        width = _widths(part, interner)
        if have and have[0] == part:
            numbers += block.numbers[at:at + width]
            have.pop(0)
            at += width
        elif isinstance(part, tuple) and part[0] == "l" and not part[3] and part[2] == 1:
            _, loop, _, _, patterns, body = part
            if have and have[0] == ("s", loop, body) and _plain(patterns):
                own = _widths(have.pop(0), interner)
                index, *values = block.numbers[at:at + own]
                at += own
                if any(pattern == FIRST and value != 0 for pattern, value in zip(patterns, values)):
                    return None
                numbers += [index, 1, *(value for pattern, value in zip(patterns, values) if pattern != FIRST)]
            else:
                numbers += [None, 0, *[None] * (width - 2)]
        else:
            return None
    return Block(target, numbers, None) if not have else None


def _plain(patterns):
    return not any(isinstance(pattern, (Modular, Quotient)) for pattern in patterns)


def _even_trips(rows, blocks, target, interner):
    """The blocks with those rows that can be rolled with their neighbours; None if there is none."""
    nodes = next(block.nodes for block in blocks if block.key == target)
    columns, at = [], 0
    for part in interner.parts[target]:
        if isinstance(part, tuple) and part[0] == "l" and not part[3]:
            columns.append(at + 1)
        at += _widths(part, interner)
    result, start, gained = list(blocks), 0, False
    while start < len(rows):
        end = start
        while end < len(rows) and rows[end] is not None:
            end += 1
        run = rows[start:end]
        if len(run) > 2 and any(row.nodes is None for row in run):
            trips = np.array([[row.numbers[column] for column in columns] for row in run])
            if (np.diff(trips, 2, axis=0) == 0).all() and _filled(run):
                result[start:end] = [Block(target, row.numbers, nodes) for row in run]
                gained = True
        start = max(end, start + 1)
    return result if gained else None


def _filled(rows):
    """Numbers of loops that did not run are those with which they go on evenly; False if none are known."""
    for column in range(len(rows[0].numbers)):
        known = [(place, row.numbers[column]) for place, row in enumerate(rows) if row.numbers[column] is not None]
        if len(known) == len(rows):
            continue
        if len(known) < 2:
            return False
        (first, value), (second, other) = known[0], known[1]
        step, rest = divmod(other - value, second - first)
        if rest:
            return False
        for place, row in enumerate(rows):
            if row.numbers[column] is None:
                row.numbers[column] = value + step * (place - first)
    return True


# ---- Patterns -------------------------------------------------------------------------------


def _patterns(matrix, kinds):
    """The pattern of each column, or None if one has none."""
    steps = matrix[1] - matrix[0]
    rows = np.arange(len(matrix))[:, None]
    even = (matrix == matrix[0] + rows * steps).all(axis=0)
    patterns = []
    for column, kind in enumerate(kinds):
        step = int(steps[column])
        if kind == FLAG:
            pattern = _flag(matrix[:, column])
        elif even[column]:
            pattern = step % kind if kind > 0 else step
        elif kind > 0:
            pattern = _congruent(matrix[:, column], kind)
        else:
            pattern = _modular(matrix[:, column])
            pattern = _quotient(matrix[:, column]) if pattern is None else pattern
        if pattern is None:
            return None
        patterns.append(pattern)
    return tuple(patterns)


def _flag(column):
    if (column == column[0]).all():
        return 0
    return FIRST if column[0] == 0 and (column[1:] == 1).all() else None


def _congruent(column, modulus):
    step = int(column[1] - column[0]) % modulus
    wanted = column[0] + np.arange(len(column)) * step
    return step if ((column - wanted) % modulus == 0).all() else None


def _modular(column):
    low = int(column.min())
    scale = gcd(*(int(value) for value in np.unique(column - low)))
    places = (column - low) // scale
    modulus = int(places.max()) + 1
    factor = int(places[1] - places[0]) % modulus
    wanted = (places[0] + np.arange(len(column)) * factor) % modulus
    return Modular(scale, modulus, factor) if (places == wanted).all() else None


def _quotient(column):
    changes = np.flatnonzero(np.diff(column)) + 1
    jumps = np.diff(column)[changes - 1]
    if (jumps != jumps[0]).any():
        return None
    lengths = np.diff(np.concatenate(([0], changes, [len(column)])))
    divisor = int(lengths.max())
    if (lengths[1:-1] != divisor).any():
        return None
    return Quotient(int(jumps[0]), divisor)


def _phase(column, divisor):
    changes = np.flatnonzero(np.diff(column)) + 1
    return divisor - int(changes[0])


# ---- Dynamic loops --------------------------------------------------------------------------


def check_shown(name, place, trips, least, follows=False):
    """Whether a dynamic loop ran often enough for its text."""
    if trips < least:
        help = (f"the loop whose index says how often runs more often, until this one runs {least} times" if follows
                else f"it runs at least {least} times whenever it is reached")
        raise Refusal(f"the dynamic loop over '{name}' ran {trips} time{'s' if trips != 1 else ''} in this trace, which does not show how its iterations differ; "
                      f"give inputs with which {help}", place)


def _roll_dynamic(loop, blocks, interner):
    """The trips of a loop that follows another one are numbers, as those of loops of known trips are. It may run once, or not
    at all: then others show its text (`_aligned`)."""
    if not loop.trips.follows:
        check_shown(loop.name, loop.place, len(blocks), 3 if loop.carried else 2)
    if not any(block.nodes for block in blocks):
        return []
    if len(blocks) == 1:
        return [_single(loop, blocks[0], 0, interner)]
    blocks = _aligned(blocks, interner)
    for number, block in enumerate(blocks):
        if block.key != blocks[0].key:
            raise Uneven(f"iteration {number} of the dynamic loop over '{loop.name}' does something else "
                         "than iteration 0, but the device has one body for all of them; keep what "
                         "changes in memory or in registers",
                         _difference(blocks[0], block, interner) or loop.place)
    kinds = interner.kinds[blocks[0].key]
    matrix = np.array([block.numbers for block in blocks], np.int64).reshape(len(blocks), len(kinds))
    patterns = _patterns(matrix, kinds)
    if patterns is None or any(isinstance(pattern, (Modular, Quotient)) for pattern in patterns):
        raise Refusal(f"a tile in the dynamic loop over '{loop.name}' does not move evenly from iteration "
                      "to iteration, so no text says it for any number of trips; derive its address "
                      "from the loop's index alone", loop.place)
    return [_rolled(loop, blocks[0], 0, 1, matrix, patterns, kinds, interner)]


def _difference(first, second, interner):
    """The place of the first operation that differs."""
    for one, other in zip(first.nodes, second.nodes):
        if isinstance(one, int) and isinstance(other, int):
            if one != other:
                return interner.heads[other].place
        elif isinstance(one, (Rolled, Single)) and isinstance(other, (Rolled, Single)):
            if one.body.key != other.body.key:
                return _difference(one.body, other.body, interner)
    longer = max(first.nodes, second.nodes, key=len)
    rest = longer[min(len(first.nodes), len(second.nodes)):]
    return interner.heads[rest[0]].place if rest and isinstance(rest[0], int) else None
