"""What a run touches: tiles, and which of them conflict.

A tile is parsed by the grammar of [json/Meaning.md#tiles] into nested tuples and evaluated once for each run
of its instruction. The result is a `Touch`: a product of progressions, one for each dimension, or any
part of the buffer.
"""

import re

from documents import BIGGEST, Wrong

LETTERS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME_REST = LETTERS | set("0123456789.")
RESERVED = ("mod", "floordiv", "if", "and", "total", "trips")
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")


# ---- Reading [json/Meaning.md#tiles] --------------------------------------------------------------


def split_words(tile):
    """Words as (kind, text): kind is 'number', 'name', 'quoted' or the sign itself."""
    words, place = [], 0
    while place < len(tile):
        sign = tile[place]
        if sign.isspace():
            place += 1
        elif sign.isascii() and sign.isdigit():
            end = span(tile, place, lambda c: c.isascii() and c.isdigit())
            words.append(("number", tile[place:end]))
            place = end
        elif sign in LETTERS or not sign.isascii():
            end = span(tile, place, lambda c: c in NAME_REST or not c.isascii())
            words.append(("name", tile[place:end]))
            place = end
        elif sign == '"':
            word, place = quoted(tile, place + 1)
            words.append(("quoted", word))
        elif tile[place:place + 2] in COMPARISONS:
            words.append((tile[place:place + 2], ""))
            place += 2
        elif sign in "[]@,:+-*()$<>":
            words.append((sign, ""))
            place += 1
        else:
            raise Wrong(tile, f"unexpected '{sign}' in a tile")
    return words + [("end", "")]


def span(tile, place, belongs):
    while place < len(tile) and belongs(tile[place]):
        place += 1
    return place


def quoted(tile, place):
    word = ""
    while place < len(tile) and tile[place] != '"':
        if tile[place] == "\\":
            place += 1
            if place == len(tile) or tile[place] not in '"\\':
                raise Wrong(tile, "a backslash before neither '\"' nor another backslash")
        word += tile[place]
        place += 1
    if place == len(tile):
        raise Wrong(tile, "a quote is not closed")
    return word, place + 1


class TileParser:
    """One method for each line of the grammar; expressions become nested tuples."""

    def __init__(self, tile):
        self.tile = tile
        self.words = split_words(tile)
        self.place = 0

    def next_is(self, kind, word=None):
        found = self.words[self.place]
        return found[0] == kind and (word is None or found[1] == word)

    def take(self, kind, word=None):
        if not self.next_is(kind, word):
            raise Wrong(self.tile, f"expected {word or kind!r} at word {self.place + 1}")
        self.place += 1
        return self.words[self.place - 1][1]

    def accept(self, kind, word=None):
        if self.next_is(kind, word):
            self.place += 1
            return True
        return False

    def parse(self):
        buffer, dims, guards = self.name(), None, []
        if self.accept("["):
            dims = "@" if self.accept("@") else self.dims()
            self.take("]")
        if self.accept("name", "if"):
            guards = self.guards()
        self.take("end")
        return buffer, dims, guards

    def parse_condition(self):
        """A comparison, or a word and the conditions that it joins."""
        condition = self.condition()
        self.take("end")
        return condition

    def condition(self):
        parts = [self.clause()]
        joined = "or" if self.next_is("name", "or") else "and"
        while self.accept("name", joined):
            parts.append(self.clause())
        return (joined, *parts) if len(parts) > 1 else parts[0]

    def clause(self):
        if self.accept("name", "not"):
            return ("not", self.clause())
        start = self.place
        try:
            return self.guard()
        except Wrong:
            self.place = start
        self.take("(")
        condition = self.condition()
        self.take(")")
        return condition

    def guards(self):
        guards = [self.guard()]
        while self.accept("name", "and"):
            guards.append(self.guard())
        return guards

    def parse_formula(self):
        value = self.expression()
        self.take("end")
        return value

    def name(self):
        if self.next_is("quoted"):
            return self.take("quoted")
        if self.next_is("name") and self.words[self.place][1] in RESERVED:
            raise Wrong(self.tile, f"'{self.words[self.place][1]}' has to be quoted as a name")
        return self.take("name")

    def dims(self):
        dims = [self.dim()]
        while self.accept(","):
            dims.append(self.dim())
        return dims

    def dim(self):
        first, count, stride = self.expression(), ("number", 1), 1
        if self.accept(":"):
            count = self.expression()
            if self.accept(":"):
                stride = self.divisor()
        return first, count, stride

    def integer(self):
        return int(self.take("number"))

    def guard(self):
        left = self.expression()
        for comparison in COMPARISONS:
            if self.accept(comparison):
                return comparison, left, self.expression()
        raise Wrong(self.tile, "expected a comparison in a guard")

    def expression(self):
        value = self.term()
        while self.next_is("+") or self.next_is("-"):
            sign = self.words[self.place][0]
            self.place += 1
            value = (sign, value, self.term())
        return value

    def term(self):
        value = self.factor()
        while True:
            if self.accept("*"):
                value = self.product(value, self.factor())
            elif self.accept("name", "mod"):
                value = ("mod", value, self.divisor())
            elif self.accept("name", "floordiv"):
                value = ("floordiv", value, self.divisor())
            else:
                return value

    def product(self, left, right):
        if left[0] != "number" and right[0] != "number":
            raise Wrong(self.tile, "one side of '*' is a number")
        both = left[0] == right[0]
        return ("number", left[1] * right[1]) if both else ("*", left, right)

    def divisor(self):
        divisor = self.integer()
        if divisor < 1:
            raise Wrong(self.tile, "a divisor or stride is at least 1")
        return divisor

    def factor(self):
        if not self.accept("-"):
            return self.atom()
        value = self.atom()
        return ("number", -value[1]) if value[0] == "number" else ("negative", value)

    def atom(self):
        if self.next_is("number"):
            return ("number", self.integer())
        if self.accept("("):
            value = self.expression()
            self.take(")")
            return value
        if self.accept("$"):
            return ("value", self.name())
        for count in ("total", "trips"):
            if self.accept("name", count):
                self.take("(")
                value = (count, self.name())
                self.take(")")
                return value
        return ("iteration", self.name())


# ---- Evaluating ---------------------------------------------------------------------------


class Surroundings:
    """What a tile may ask of the run: see [json/Meaning.md#tiles]."""

    def __init__(self, iterations, totals, trips, values):
        self.iteration = iterations
        self.total = totals
        self.trips = trips
        self.value = values


def evaluate(expression, around):
    kind = expression[0]
    if kind == "number":
        return expression[1]
    if kind in ("iteration", "total", "trips", "value"):
        return getattr(around, kind)[expression[1]]
    left = evaluate(expression[1], around)
    if kind == "negative":
        return -left
    if kind == "mod":
        return left % expression[2]  # rounds down, as Python does
    if kind == "floordiv":
        return left // expression[2]
    right = evaluate(expression[2], around)
    return left + right if kind == "+" else left - right if kind == "-" else left * right


def holds(guard, around):
    comparison, left, right = guard[0], evaluate(guard[1], around), evaluate(guard[2], around)
    return {"==": left == right, "!=": left != right, "<": left < right,
            "<=": left <= right, ">": left > right, ">=": left >= right}[comparison]


def is_met(condition, around):
    word, *parts = condition
    if word == "not":
        return not is_met(parts[0], around)
    if word in ("and", "or"):
        return (any if word == "or" else all)(is_met(part, around) for part in parts)
    return holds(condition, around)


class Touch:
    """Elements of a buffer: `dims` of (first, count, stride), or None if it may be any part."""

    def __init__(self, buffer, kind, dims):
        self.buffer = buffer
        self.kind = kind
        self.dims = dims

    def beyond(self):
        """Whether it reaches out of its buffer."""
        if self.dims is None:
            return False
        return any(first < 0 or first + (count - 1) * stride >= extent
                   for (first, count, stride), extent in zip(self.dims, self.buffer.shape))

    def __str__(self):
        if self.dims is None:
            return f"{self.buffer.name}[@]"
        dims = [(first, count, stride if count > 1 else 1) for first, count, stride in self.dims]
        return f"{self.buffer.name}[" + ", ".join(":".join(map(str, dim)) for dim in dims) + "]"


class Access:
    """An access of an instruction, parsed; `touch` evaluates it for one run."""

    def __init__(self, kind, tile, instruction, buffers):
        self.kind = kind
        self.tile = tile
        name, self.dims, self.guards = TileParser(tile).parse()
        if name not in buffers:
            raise Wrong(tile, f"no buffer '{name}'")
        self.buffer = buffers[name]
        if isinstance(self.dims, list) and len(self.dims) != len(self.buffer.shape):
            raise Wrong(tile, f"{len(self.dims)} dimensions of a buffer of {len(self.buffer.shape)}")

    def touch(self, around):
        """What the run touches, or None if nothing."""
        if not all(holds(guard, around) for guard in self.guards):
            return None
        if self.dims == "@":
            return Touch(self.buffer, self.kind, None)
        if self.dims is None:
            return Touch(self.buffer, self.kind, [(0, extent, 1) for extent in self.buffer.shape])
        dims = [(evaluate(first, around), evaluate(count, around), stride)
                for first, count, stride in self.dims]
        if any(count < 1 for _, count, _ in dims):
            return None
        return Touch(self.buffer, self.kind, dims)


TILE_ONLY = (0, 3)  # a value that gives no trips may be anything; so small, most tiles hold it


def tied_values(kernel):
    """The run-time values that are one number each, and can be bound: for each name its bounds."""
    formulas = [(loop, TileParser(loop.formula).parse_formula()) for loop in kernel.loops.values() if loop.formula]
    conditions = [TileParser(branch.when).parse_condition() for branch in kernel.ifs.values() if branch.when]
    tied = {name: (0, None) for control in [formula for _, formula in formulas] + conditions for name in names_of_values(control)}
    for loop, formula in formulas:
        if formula[0] == "value":
            tied[formula[1]] = narrower(tied[formula[1]], (loop.least, loop.most))
    for name, bounds in kernel.values.items():
        tied[name] = narrower(tied.get(name, (0, None)), bounds)
    return tied


def values_of(kernel):
    """The run-time values `$n` in the tiles and formulas of a kernel: for each name its bounds."""
    found = {name: TILE_ONLY for instruction in kernel.instructions.values() for _, tile in instruction.accesses
             for name in names_of_values(list(TileParser(tile).parse()[1:]))}
    return dict(sorted((found | tied_values(kernel)).items()))


def names_of_values(part):
    if isinstance(part, tuple) and part and part[0] == "value":
        return {part[1]}
    inner = part if isinstance(part, (tuple, list)) else ()
    return set().union(*(names_of_values(each) for each in inner))


def formula_of(text):
    """A formula without what can be written in two ways."""
    return settled(TileParser(text).parse_formula())


def condition_of(text):
    """The same of a condition; None if there is none."""
    return settled(TileParser(text).parse_condition()) if text else None


def settled(part):
    """Numbers stand last in products."""
    if not isinstance(part, tuple):
        return part
    part = tuple(map(settled, part))
    return ("*", part[2], part[1]) if part[0] == "*" and part[1][0] == "number" else part


def narrower(one, other):
    """[language/Trips.md#trips-that-are-tied]: all bounds of a value count."""
    mosts = [most for _, most in (one, other) if most is not None]
    return max(one[0], other[0]), min(mosts, default=None)


def range_of(expression, bounds, loops):
    """[certificate/Format.md#the-format-of-a-certificate]: between which numbers an expression lies, None where there is no bound.

    `bounds` are those of values, `loops` those of trips of the loops around. Each name counts by itself.
    """
    kind = expression[0]
    if kind == "number":
        return expression[1], expression[1]
    if kind == "value":
        return bounds[expression[1]]
    if kind == "iteration":
        most = loops[expression[1]][1]
        return 0, None if most is None else most - 1
    first, last = range_of(expression[1], bounds, loops)
    if kind == "negative":
        return negated((first, last))
    if kind == "mod":
        modulus = expression[2]
        if first is None or last is None or first // modulus != last // modulus:
            return 0, modulus - 1
        return first % modulus, last % modulus
    if kind == "floordiv":
        return tuple(None if end is None else end // expression[2] for end in (first, last))
    other = range_of(expression[2], bounds, loops)
    if kind == "*":
        return times((first, last), other)
    other = negated(other) if kind == "-" else other
    return tuple(None if None in ends else sum(ends) for ends in zip((first, last), other))


def negated(bounds):
    first, last = bounds
    return None if last is None else -last, None if first is None else -first


def times(one, other):
    """One of the two is a number."""
    (factor, _), bounds = (one, other) if one[0] is not None and one[0] == one[1] else (other, one)
    first, last = (None if end is None else end * abs(factor) for end in bounds)
    return (0, 0) if factor == 0 else negated((first, last)) if factor < 0 else (first, last)


def trip_bounds(kernel):
    """For each loop the fewest and the most trips; None: without a bound."""
    values = values_of(kernel)
    bounds = {}
    for loop in kernel.loops.values():  # those around come first
        bounds[loop.name] = loop.least, loop.most
        if loop.formula:
            first, last = range_of(TileParser(loop.formula).parse_formula(), values, bounds)
            last = None if last is None or last >= BIGGEST else max(last, 0)
            first = min(max(first or 0, 0), BIGGEST if last is None else last)
            bounds[loop.name] = first, last
    return bounds


# ---- Conflicts [json/Meaning.md#which-tiles-conflict] ---------------------------------------------


class Memory:
    """Which buffers share memory, and how."""

    APART, EXACT, ANYWHERE = "apart", "exact", "anywhere"
    UNKNOWN_BYTES = 8
    MOST_PIECES = 100_000

    def __init__(self, buffers):
        self.buffers = buffers
        self.relations = {}

    def relation(self, one, other):
        key = (one.name, other.name)
        if key not in self.relations:
            self.relations[key] = self.find_relation(one, other)
        return self.relations[key]

    def find_relation(self, one, other):
        if one is other:
            return self.EXACT
        if other.name in one.noalias or one.name in other.noalias:
            return self.APART
        if other.name in one.alias or one.name in other.alias:
            return self.ANYWHERE
        if one.address is None or other.address is None or one.space != other.space:
            return self.APART
        if not overlap(byte_range(one), byte_range(other)) or not overlap(partition_range(one), partition_range(other)):
            return self.APART
        return self.EXACT if element_bytes(one) and element_bytes(other) else self.ANYWHERE

    def common(self, one, other):
        """Whether two touches may have an element in common."""
        relation = self.relation(one.buffer, other.buffer)
        if relation == self.APART:
            return False
        if relation == self.ANYWHERE or one.dims is None and other.dims is None:
            return True
        if one.buffer is other.buffer:
            if one.dims is None or other.dims is None:
                return True
            return all(meet(left, right) for left, right in zip(one.dims, other.dims))
        return self.common_bytes(one, other)

    def common_bytes(self, one, other):
        """Two buffers at addresses: a partition that both take, and then piece by piece."""
        if set(partitions(one)).isdisjoint(partitions(other)):
            return False
        left, right = sorted(pieces(one)), sorted(pieces(other))
        i = j = 0
        while i < len(left) and j < len(right):
            if overlap(left[i], right[j]):
                return True
            if left[i][1] <= right[j][1]:
                i += 1
            else:
                j += 1
        return False


def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1]


def element_bytes(buffer):
    """Of a type that is letters and then a number, with nothing or `_` after it, that number divided by 8; otherwise 0."""
    bits = int((re.match(r"[A-Za-z]+([0-9]+)(?:_|$)", buffer.type) or [0, 0])[1])
    return bits // 8 if bits % 8 == 0 else 0


def byte_dims(buffer):
    """The dimensions that are laid out in a partition: all but the one that goes over partitions."""
    return [place for place in range(len(buffer.shape)) if buffer.partitions is None or place != buffer.partitions[1]]


def byte_range(buffer):
    size = element_bytes(buffer) or Memory.UNKNOWN_BYTES
    for place in byte_dims(buffer):
        size *= buffer.shape[place]
    return buffer.address, buffer.address + size


def partition_range(buffer):
    if buffer.partitions is None:
        return 0, 1
    first, place = buffer.partitions
    return first, first + buffer.shape[place]


def partitions(touch):
    """Of a tile; those beyond its buffer, too."""
    first, last = partition_range(touch.buffer)
    if touch.dims is None or touch.buffer.partitions is None:
        return range(first, last)
    start, count, step = touch.dims[touch.buffer.partitions[1]]
    return range(first + start, first + start + count * step, step)


def pieces(touch):
    """Ranges of bytes of a partition, one for each run of neighbouring elements."""
    buffer = touch.buffer
    if touch.dims is None:
        return [byte_range(buffer)]
    places, size = byte_dims(buffer), element_bytes(buffer)
    starts, length, stride = [0], 1, 1
    for place in reversed(places):
        first, count, step = touch.dims[place]
        if place == places[-1] and step == 1:
            starts, length = [first], count
        else:
            starts = [start + (first + index * step) * stride for start in starts for index in range(count)]
        stride *= buffer.shape[place]
        if len(starts) > Memory.MOST_PIECES:
            raise TooLarge(f"a tile of '{buffer.name}' has too many pieces")
    return [(buffer.address + start * size, buffer.address + (start + length) * size) for start in starts]


class TooLarge(Exception):
    """The question is beyond what this interpreter tries; the answer is "could not decide"."""


def meet(one, other):
    """Whether two progressions have a number in common."""
    (first, count, step), (first2, count2, step2) = one, other
    low, high = max(first, first2), min(first + (count - 1) * step, first2 + (count2 - 1) * step2)
    if low > high:
        return False
    if step == 1 or step2 == 1:  # the other one has a number in the range, or not
        start, stride = (first2, step2) if step == 1 else (first, step)
        return start + -(-(low - start) // stride) * stride <= high
    numbers = range(first, first + count * step, step)
    return any(low <= value <= high and value in numbers for value in range(first2, first2 + count2 * step2, step2))


def conflict(memory, run, touch, other_run, other):
    """[json/Meaning.md#which-tiles-conflict]"""
    if touch.kind == "reads" and other.kind == "reads":
        return False
    queue = run.instruction.queue
    if touch.kind == "accumulates" and other.kind == "accumulates" \
            and queue.adds_in_order and queue is other_run.instruction.queue:
        return False
    return memory.common(touch, other)
