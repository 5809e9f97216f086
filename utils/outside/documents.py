"""Reads kernels, code and machines from JSON, as strictly as docs/guide/Json.md and the pages in docs/guide/json ask.

The outside interpreter is a second opinion on what tally emits. It is written from the documents
alone and imports nothing of tally; where a rule comes from a page of docs/guide, the heading is named as in
[json/Kernel.md#a-kernel-as-json], and a test looks whether that heading exists.

Reading gives plain objects with names resolved: `Kernel` with its tree of bodies, and `Code`. The
first mistake ends reading with `Wrong`, which says where in the document it lies.
"""

import json

BIGGEST = 2**31 - 1  # trips, distances, weights [language/Errors.md#errors-in-a-text]
MOST_PARTITIONS = 4096
STRATEGIES = ("per-instruction", "per-loop", "per-engine", "barrier")


class Wrong(Exception):
    """The document does not follow its rules."""

    def __init__(self, path, message):
        super().__init__(f"at '{path}': {message}")


# ---- Values and fields --------------------------------------------------------------------


def parse(text, path="document"):
    """JSON in which no key is given twice [Json.md#kernels-and-code-as-json]."""

    def no_key_twice(pairs):
        keys = [key for key, _ in pairs]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise Wrong(path, f"key '{min(twice)}' is given twice")
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=no_key_twice)
        is_compact = isinstance(value, dict) and value.get("schema") == "tally-compact"
        return Compact(value).document() if is_compact else value
    except (json.JSONDecodeError, RecursionError) as error:
        raise Wrong(path, f"no JSON: {error}") from None


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def check_fields(value, path, needed, allowed=()):
    """An object with all of the keys `needed`, and others only out of `allowed`."""
    if not isinstance(value, dict):
        raise Wrong(path, "expected an object")
    for key in value:
        if key not in needed and key not in allowed:
            raise Wrong(path, f"unknown key '{key}'")
    for key in needed:
        if key not in value:
            raise Wrong(path, f"key '{key}' is missing")
    return value


def number(value, path, least=0, most=BIGGEST):
    if not is_number(value) or not least <= value <= most:
        raise Wrong(path, f"expected a number from {least} to {most}")
    return value


def text(value, path):
    if not isinstance(value, str) or not value:
        raise Wrong(path, "expected a name")
    return value


def flag(value, path):
    if not isinstance(value, bool):
        raise Wrong(path, "expected true or false")
    return value


def items(value, path):
    """Pairs of an element and its path."""
    if not isinstance(value, list):
        raise Wrong(path, "expected an array")
    return [(item, f"{path}[{place}]") for place, item in enumerate(value)]


def one_of(value, path, choices):
    if value not in choices or not isinstance(value, str):
        raise Wrong(path, "expected one of " + ", ".join(f"'{choice}'" for choice in choices))
    return value


def check_schema(value, path, schema, versions):
    if value.get("schema") != schema:
        raise Wrong(path, f"'schema' is not '{schema}'")
    version = value.get("version")
    if not is_number(version) or version not in versions:
        raise Wrong(path, f"version {version} of '{schema}' is not known")
    return version


# ---- The compact form ---------------------------------------------------------------------


class Compact:
    """[json/Compact.md#the-compact-form]: what a document stands for."""

    def __init__(self, value):
        check_fields(value, "document", ("schema", "version", "names", "shapes", "document"))
        check_schema(value, "document", "tally-compact", (1,))
        self.items = value["document"]
        self.names = [name for name, _ in items(value["names"], "names")]
        if not all(isinstance(name, str) for name in self.names):
            raise Wrong("names", "expected texts")
        self.shapes = [self.read_shape(shape, at) for shape, at in items(value["shapes"], "shapes")]
        self.used = [0] * len(self.shapes)

    def read_shape(self, value, path):
        """The object, its number of lists, and its columns with what their entries stand for."""
        if not items(value, path) or not isinstance(value[0], dict):
            raise Wrong(path, "expected an object and its columns")
        holes = list(holes_of(value[0]))
        kinds = [hole for hole in holes if hole != []]
        if len(kinds) != len(value) - 1:
            raise Wrong(path, f"{len(kinds)} holes, but {len(value) - 1} columns")
        columns = [self.read_column(column, f"{path}[{place}]", kind == "")
                   for place, (column, kind) in enumerate(zip(value[1:], kinds), start=1)]
        return value[0], len(holes) - len(kinds), columns

    def read_column(self, value, path, of_names):
        read, total = [], 0
        for difference, at in items(value, path) or [(0, path)]:
            total += number(difference, at, -2**63, 2**63 - 1)
            read.append(total)
        return [self.names[number(entry, path, 0, len(self.names) - 1)] for entry in read] if of_names else read

    def document(self):
        made = self.objects(self.items, "document")
        if len(made) != 1:
            raise Wrong("document", f"expected one object, found {len(made)}")
        for place, (_, _, columns) in enumerate(self.shapes):
            if any(len(column) > max(self.used[place], 1) for column in columns):
                raise Wrong(f"shapes[{place}]", "a column is longer than the shape is used")
        return made[0]

    def objects(self, value, path):
        made, lists = [], []
        for item, at in items(value, path):
            if isinstance(item, list):
                lists.append(self.objects(item, at))
                continue
            shape, wanted, columns = self.shapes[number(item, at, 0, len(self.shapes) - 1)]
            if len(lists) != wanted:
                raise Wrong(at, f"the shape has {wanted} lists, but {len(lists)} arrays stand before it")
            entries = iter([column[min(self.used[item], len(column) - 1)] for column in columns])
            made.append(fill(shape, entries, iter(lists)))
            self.used[item] += 1
            lists = []
        if lists:
            raise Wrong(path, "the last array stands before no shape")
        return made


def is_hole(value):
    return value in ("", []) or is_number(value) and value == 0


def holes_of(value):
    """Those of a shape, in the order of the text."""
    if is_hole(value):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from holes_of(part)


def fill(value, entries, lists):
    if is_hole(value):
        return next(lists if value == [] else entries)
    if isinstance(value, dict):
        return {key: fill(part, entries, lists) for key, part in value.items()}
    return [fill(part, entries, lists) for part in value] if isinstance(value, list) else value


# ---- Kernels ------------------------------------------------------------------------------


def read_partitions(value, path, shape):
    """The first partition that a buffer takes, and its dimension that goes over partitions."""
    check_fields(value, path, (), ("first", "dim"))
    first = number(value.get("first", 0), path + ".first", 0, MOST_PARTITIONS - 1)
    dim = number(value.get("dim", 0), path + ".dim", 0)
    if dim >= len(shape):
        raise Wrong(path, f"there is no dimension {dim}")
    if first + shape[dim] > MOST_PARTITIONS:
        raise Wrong(path, f"there are at most {MOST_PARTITIONS} partitions")
    return first, dim


def read_ring(value, path):
    check_fields(value, path, ("max",), ("min",))
    least = number(value.get("min", 1), path + ".min", 1)
    return least, number(value["max"], path + ".max", least)


class Queue:
    """[json/Kernel.md#a-kernel-as-json]: a queue of an engine; `position` numbers all queues of the kernel."""

    def __init__(self, name, engine, position, weight, split):
        self.name = name
        self.engine = engine
        self.position = position
        self.weight = weight
        self.split = split
        self.adds_in_order = True  # until the machine is known


class Buffer:
    def __init__(self, name, shape, kind, space, address):
        self.name = name
        self.shape = shape
        self.type = kind
        self.space = space
        self.address = address
        self.alias = set()
        self.noalias = set()
        self.partitions = None  # the first one, and the dimension that goes over them
        self.ring = None  # the least and the most slots, if they are left open


class Body:
    """[json/Meaning.md#bodies-entries-and-iterations]: the kernel itself, a loop, or a branch of an `if`.

    `loops` are the loops around and including this body, outermost first.
    """

    def __init__(self, name, parent, loop):
        self.name = name
        self.parent = parent
        self.loop = loop
        self.statements = []
        self.loops = list(parent.loops) if parent else []
        if loop:
            self.loops.append(loop)


class Instruction:
    def __init__(self, name, queue, body):
        self.name = name
        self.queue = queue
        self.open = frozenset()  # names of queues that may be chosen instead
        self.body = body
        self.accesses = []  # (kind, text of the tile)
        self.told = None  # the same as code tells it, where `accesses` are those of the kernel as written
        self.semaphore = None
        self.dependences = []  # those whose consumer this is


class Loop:
    """Its trips: `least` to `most`, equal for a constant; `most` is None without a bound.

    Where a formula gives them, `formula` is its text, and `least` and `most` are those that are stated.
    """

    def __init__(self, name, value, least, most, formula, uniform):
        self.name = name
        self.value = value
        self.formula = formula
        self.least = least
        self.most = most
        self.uniform = uniform
        self.constant = value is None
        self.body = None


class If:
    """A branch; `otherwise` is there even if the document gives none, and is then empty."""

    def __init__(self, name, when, uniform):
        self.name = name
        self.when = when  # the text of its condition; None if only the run knows
        self.uniform = uniform
        self.then = None
        self.otherwise = None


class Table:
    """[json/Meaning.md#tables]: which run each of a few runs needs, and how much more the next ones do."""

    def __init__(self, runs, each, over):
        self.runs = runs
        self.each = each
        self.over = over  # the name of a loop around both; or None

    def needed(self, number):
        period, place = divmod(number, len(self.runs))
        return period * self.each + self.runs[place]

    def __str__(self):
        return f"{self.runs} each {self.each}" + (f" over {self.over}" if self.over else "")


class Dependence:
    """`distance` maps loops to numbers; `flat` and `element` are None where not given. `element` may be a table."""

    def __init__(self, producer, consumer, distance, flat, element, allow_divergent, semaphore):
        self.producer = producer
        self.consumer = consumer
        self.distance = distance
        self.flat = flat
        self.element = element
        self.allow_divergent = allow_divergent
        self.semaphore = semaphore

    def __str__(self):
        parts = [f"{loop} = {steps}" for loop, steps in self.distance.items()]
        if self.flat is not None:
            parts.append(f"flat {self.flat}")
        if self.element is not None:
            parts.append(f"element {self.element}")
        at = " at " + ", ".join(parts) if parts else ""
        return f"'{self.producer.name}' -> '{self.consumer.name}'{at}"


class Kernel:
    """A kernel with its names resolved."""

    def __init__(self, document, path="kernel"):
        check_fields(document, path, ("schema", "version", "name", "engines", "body"),
                     ("loc", "reserves", "values", "buffers", "dependences"))
        check_schema(document, path, "tally-kernel", (1, 2))
        self.name = text(document["name"], path + ".name")
        self.reserves = reserved(document, path)
        self.engines = {}  # name to reserved registers
        self.queues = {}
        self.buffers = {}
        self.loops = {}
        self.ifs = {}
        self.bodies = {}
        self.instructions = {}
        self.root = Body("", None, None)
        self.read_engines(document["engines"], path + ".engines")
        self.values = {}  # those that are declared: the least and the most
        self.read_values(document.get("values", []), path + ".values")
        self.read_buffers(document.get("buffers", []), path + ".buffers")
        self.read_statements(document["body"], path + ".body", self.root)
        self.dependences = [self.read_dependence(value, at)
                            for value, at in items(document.get("dependences", []), path + ".dependences")]
        for dependence in self.dependences:
            dependence.consumer.dependences.append(dependence)
            if dependence.semaphore is not None:  # the producer is pinned to it
                dependence.producer.semaphore = dependence.semaphore

    def read_engines(self, value, path):
        for engine, at in items(value, path):
            check_fields(engine, at, ("name",), ("weight", "completion", "queues", "reserves", "loc"))
            name = text(engine["name"], at + ".name")
            if name in self.engines:
                raise Wrong(at, f"engine '{name}' is declared twice")
            self.engines[name] = reserved(engine, at)
            self.add_queue(engine, at, name)
            for queue, at_queue in items(engine.get("queues", []), at + ".queues"):
                check_fields(queue, at_queue, ("name",), ("weight", "completion", "loc"))
                self.add_queue(queue, at_queue, name)

    def add_queue(self, value, path, engine):
        name = text(value["name"], path + ".name")
        if name in self.queues:
            raise Wrong(path, f"queue '{name}' is declared twice")
        weight = number(value.get("weight", 1), path + ".weight", 1)
        completion = one_of(value.get("completion", "whole"), path + ".completion", ("whole", "split"))
        self.queues[name] = Queue(name, engine, len(self.queues), weight, completion == "split")

    def read_values(self, value, path):
        for declared, at in items(value, path):
            check_fields(declared, at, ("name",), ("min", "max", "loc"))
            name = text(declared["name"], at + ".name")
            if name in self.values:
                raise Wrong(at, f"value '{name}' is declared twice")
            least = number(declared.get("min", 0), at + ".min")
            most = declared.get("max")
            self.values[name] = least, None if most is None else number(most, at + ".max", least)

    def read_buffers(self, value, path):
        for buffer, at in items(value, path):
            check_fields(buffer, at, ("name",), ("shape", "type", "space", "address", "partitions", "alias", "noalias", "ring", "loc"))
            name = text(buffer["name"], at + ".name")
            if name in self.buffers:
                raise Wrong(at, f"buffer '{name}' is declared twice")
            shape = [number(extent, at_extent, 1, 2**62)
                     for extent, at_extent in items(buffer.get("shape", []), at + ".shape")]
            address = buffer.get("address")
            if address is not None:
                number(address, at + ".address", 0, 2**62)
            made = Buffer(name, shape, buffer.get("type", ""), buffer.get("space", ""), address)
            made.alias = self.earlier_buffers(buffer.get("alias", []), at + ".alias")
            made.noalias = self.earlier_buffers(buffer.get("noalias", []), at + ".noalias")
            made.partitions = read_partitions(buffer["partitions"], at + ".partitions", shape) if "partitions" in buffer else None
            made.ring = read_ring(buffer["ring"], at + ".ring") if "ring" in buffer else None
            self.buffers[name] = made

    def earlier_buffers(self, value, path):
        for name, at in items(value, path):
            if name not in self.buffers:
                raise Wrong(at, f"no buffer '{name}' before this one")
        return set(value)

    def read_statements(self, value, path, body):
        for statement, at in items(value, path):
            if not isinstance(statement, dict):
                raise Wrong(at, "expected a statement")
            if "instr" in statement:
                body.statements.append(self.read_instruction(statement, at, body))
            elif "loop" in statement:
                body.statements.append(self.read_loop(statement, at, body))
            elif "if" in statement:
                body.statements.append(self.read_if(statement, at, body))
            else:
                raise Wrong(at, "expected 'instr', 'loop' or 'if'")

    def read_instruction(self, value, path, body):
        check_fields(value, path, ("instr", "queue"),
                     ("or", "op", "computes", "reads", "writes", "accumulates", "loads", "semaphore", "loc"))
        name = text(value["instr"], path + ".instr")
        if name in self.instructions:
            raise Wrong(path, f"instruction '{name}' is there twice")
        queue = one_of(value["queue"], path + ".queue", self.queues)
        made = Instruction(name, self.queues[queue], body)
        made.open = frozenset(one_of(other, at, self.queues) for other, at in items(value.get("or", []), path + ".or"))
        for kind in ("reads", "writes", "accumulates"):
            for tile, at in items(value.get(kind, []), f"{path}.{kind}"):
                made.accesses.append((kind, text(tile, at)))
        if "semaphore" in value:
            made.semaphore = number(value["semaphore"], path + ".semaphore", 0, 65535)
        self.instructions[name] = made
        return made

    def add_body(self, name, path, parent, loop):
        if name in self.bodies:
            raise Wrong(path, f"'{name}' is the name of two loops or branches")
        self.bodies[name] = Body(name, parent, loop)
        return self.bodies[name]

    def read_loop(self, value, path, body):
        check_fields(value, path, ("loop", "trips", "body"), ("uniform", "unroll", "sync", "loc"))
        name = text(value["loop"], path + ".loop")
        loop = Loop(name, *read_trips(value["trips"], path + ".trips"), read_uniform(value, path))
        check_sync(value, path)
        if value.get("unroll") != "full":
            number(value.get("unroll", 1), path + ".unroll", 1)
        self.loops[name] = loop
        loop.body = self.add_body(name, path, body, loop)
        self.read_statements(value["body"], path + ".body", loop.body)
        return loop

    def read_if(self, value, path, body):
        check_fields(value, path, ("if", "then"), ("when", "else", "uniform", "sync", "loc"))
        name = text(value["if"], path + ".if")
        when = text(value["when"], path + ".when") if "when" in value else None
        branch = If(name, when, read_uniform(value, path))
        check_sync(value, path)
        self.ifs[name] = branch
        branch.then = self.add_body(name, path, body, None)
        branch.otherwise = self.add_body(name + ".else", path, body, None)
        self.read_statements(value["then"], path + ".then", branch.then)
        self.read_statements(value.get("else", []), path + ".else", branch.otherwise)
        return branch

    def read_dependence(self, value, path):
        check_fields(value, path, ("producer", "consumer"),
                     ("kind", "distance", "flat", "element", "allow_divergent", "semaphore", "loc"))
        ends = [self.instructions[one_of(value[end], f"{path}.{end}", self.instructions)]
                for end in ("producer", "consumer")]
        if "kind" in value:
            one_of(value["kind"], path + ".kind", ("raw", "war", "waw"))
        distance = value.get("distance", {})
        common = [loop.name for loop in common_loops(*ends)]
        for loop in check_fields(distance, path + ".distance", (), common):
            number(distance[loop], f"{path}.distance.{loop}", -BIGGEST)
        flat, element = value.get("flat"), value.get("element")
        if flat is not None:
            number(flat, path + ".flat")
        if isinstance(element, dict):
            element = read_table(element, path + ".element", common)
        elif element is not None:
            number(element, path + ".element", -BIGGEST)
        if flat is not None and ("distance" in value or element is not None):
            raise Wrong(path, "'flat' stands alone")
        if flat is not None and ends[0].body is not ends[1].body:
            raise Wrong(path, "'flat' needs both ends in one body")
        semaphore = value.get("semaphore")
        if semaphore is not None:
            number(semaphore, path + ".semaphore", 0, 65535)
        divergent = flag(value.get("allow_divergent", False), path + ".allow_divergent")
        # Loops not named count 0, and a 0 that is written says no more.
        distance = {loop: steps for loop, steps in sorted(distance.items()) if steps}
        return Dependence(*ends, distance, flat, element, divergent, semaphore)


def read_table(value, path, common):
    check_fields(value, path, ("runs", "each"), ("over",))
    over = one_of(value["over"], path + ".over", common) if "over" in value else None
    runs = [number(item, at, -BIGGEST) for item, at in items(value["runs"], path + ".runs")]
    each = number(value["each"], path + ".each", -BIGGEST)
    if not 1 <= len(runs) <= 256:
        raise Wrong(path + ".runs", "a table has 1 to 256 runs")
    if any(after < before for before, after in zip(runs, runs[1:] + [runs[0] + each])):
        raise Wrong(path, "what is needed must not fall")
    return Table(runs, each, over)


def reserved(value, path):
    return [number(item, at, 0, 65535) for item, at in items(value.get("reserves", []), path + ".reserves")]


def read_uniform(value, path):
    return flag(value.get("uniform", True), path + ".uniform")


def check_sync(value, path):
    if "sync" in value:
        one_of(value["sync"], path + ".sync", STRATEGIES)


def read_trips(value, path):
    """[json/Kernel.md#a-kernel-as-json]: value (None for a constant), least, most, formula."""
    if is_number(value):
        return None, number(value, path), value, None
    if isinstance(value, dict) and "while" in value:
        check_fields(value, path, ("while",))
        return text(value["while"], path), 0, None, None
    key = "formula" if isinstance(value, dict) and "formula" in value else "value"
    check_fields(value, path, (key,), ("min", "max"))
    least = number(value.get("min", 0), path + ".min")
    most = value.get("max")
    if most is not None:
        number(most, path + ".max", least)
    named = text(value[key], f"{path}.{key}")
    return named, least, most, named if key == "formula" else None


def common_loops(one, other):
    """The loops around both, outermost first: a prefix of either's."""
    pairs = zip(one.body.loops, other.body.loops)
    common = []
    for left, right in pairs:
        if left is not right:
            break
        common.append(left)
    return common


# ---- Machines -----------------------------------------------------------------------------


class Machine:
    """[json/Execution.md#the-machine]: the rules that code counts on, and the limits that it was planned for."""

    KEYS = ("name", "counter_bits", "subtraction", "compare", "overlap", "completion")
    OPTIONAL = ("semaphores", "registers", "sums_in_order")

    def __init__(self, value, path="machine"):
        check_fields(value, path, self.KEYS, self.OPTIONAL)
        self.name = value["name"]
        self.bits = number(value["counter_bits"], path + ".counter_bits", 8, 32)
        self.saturates = one_of(value["subtraction"], path + ".subtraction", ("wraps", "saturates")) == "saturates"
        self.signed = one_of(value["compare"], path + ".compare", ("unsigned", "signed")) == "signed"
        self.overlap = flag(value["overlap"], path + ".overlap")
        self.split = one_of(value["completion"], path + ".completion", ("whole", "split")) == "split"
        self.semaphores = value.get("semaphores")
        self.registers = value.get("registers")
        self.sums_in_order = value.get("sums_in_order")
        self.range = 1 << self.bits  # numbers are below
        self.largest = self.range // 2 - 1 if self.signed else self.range - 1  # that a wait can tell

    def rules(self):
        return (self.bits, self.saturates, self.signed, self.overlap, self.split)

    def adds_in_order(self, engine):
        return self.sums_in_order is None or engine in self.sums_in_order


def read_machine_file(document):
    """Out of a file of kind `tally-machine` [machines/File.md#the-file-of-a-machine]."""
    try:
        limits = {key: limit["value"] for key, limit in document["limits"].items()}
        queue = document.get("queue", {})
        machine = Machine({
            "name": document["name"], "counter_bits": limits["counter_bits"],
            "subtraction": document["alu"]["subtraction"], "compare": document["wait"]["compare"],
            "overlap": queue["overlap"], "completion": queue.get("completion", "whole")})
    except (KeyError, TypeError, AttributeError) as error:
        raise Wrong("machine", f"no description of a machine: {error!r}") from None
    machine.semaphores = limits.get("semaphores")
    machine.registers = limits.get("registers_per_engine")
    machine.sums_in_order = document.get("sums_in_order")
    return machine


# ---- Code ---------------------------------------------------------------------------------

OPERATIONS = ("move", "add", "sub", "mul", "min", "gt")


class Code:
    """Checked code; the operations of an engine stay as they are in the document."""

    KEYS = ("schema", "version", "kernel", "strategy", "machine", "semaphores", "barriers", "engines")

    def __init__(self, document, machine=None):
        check_fields(document, "code", self.KEYS, ("dependences",))
        version = check_schema(document, "code", "tally-code", (1, 2))
        self.kernel = Kernel(document["kernel"])
        self.strategy = text(document["strategy"], "strategy")
        self.machine = self.choose_machine(document["machine"], version, machine)
        for queue in self.kernel.queues.values():
            queue.adds_in_order = self.machine.adds_in_order(queue.engine)
        self.semaphores = read_ids(document["semaphores"], "semaphores", ("id", "name"))
        self.barriers = read_ids(document["barriers"], "barriers", ("id", "participants"))
        self.registers = {}
        self.programs = {}
        for value, at in items(document["engines"], "engines"):
            self.read_engine(value, at)
        check_listed(self.kernel, document.get("dependences"))
        self.found_from_tiles = False  # whether the kernel as written has no dependences; see judge.adopt

    @staticmethod
    def choose_machine(value, version, named):
        """[json/Execution.md#the-machine]: what the code says, or what the reader names."""
        stated = Machine(value) if version == 2 and isinstance(value, dict) and len(value) > 1 else None
        if stated and named and stated.rules() != named.rules():
            raise Wrong("machine", "the code was made for a machine of other rules than the one named")
        if not stated and not named:
            raise Wrong("machine", "the code does not say its rules; name a machine that has them")
        return named or stated

    def read_engine(self, value, path):
        check_fields(value, path, ("engine", "registers", "code"))
        name = one_of(value["engine"], path + ".engine", self.kernel.engines)
        if name in self.programs:
            raise Wrong(path, f"engine '{name}' is there twice")
        self.registers[name] = read_ids(value["registers"], path + ".registers", ("id", "name"), ("role",))
        self.programs[name] = value["code"]
        OperationReader(self, name).block(value["code"], path + ".code", self.kernel.root)


def check_listed(kernel, value):
    """[json/Code.md#code-as-json]: the list names the kernel's dependences, in their order."""
    if value is None:
        return
    listed = read_ids(value, "dependences", ("id", "producer", "consumer"))
    ends = [(item["producer"], item["consumer"]) for item in listed]
    if ends != [(item.producer.name, item.consumer.name) for item in kernel.dependences]:
        raise Wrong("dependences", "they are not those of the kernel")


def read_ids(value, path, needed, allowed=()):
    """[json/Code.md#code-as-json]: ids are places in their lists, from 0."""
    for place, (item, at) in enumerate(items(value, path)):
        check_fields(item, at, needed, allowed)
        if item["id"] != place or isinstance(item["id"], bool):
            raise Wrong(at, f"id {item['id']} stands at place {place}")
    return value


class OperationReader:
    """Checks the operations of one engine: keys, ids, and where loops and branches stand."""

    def __init__(self, code, engine):
        self.code = code
        self.engine = engine
        self.num_registers = len(code.registers[engine])
        self.written_out = code.strategy == "unrolled"

    def block(self, value, path, body, inside_when=False):
        for operation, at in items(value, path):
            if not isinstance(operation, dict) or "op" not in operation:
                raise Wrong(at, "expected an operation")
            read = getattr(self, "read_" + str(operation["op"]), None)
            if read is None:
                raise Wrong(at, f"unknown operation '{operation['op']}'")
            if inside_when and operation["op"] in ("loop", "if", "issue"):
                # [json/Execution.md#operations]: `when` holds operations on registers and semaphores only.
                raise Wrong(at, f"'{operation['op']}' inside of 'when'")
            read(operation, at, body)

    def read_loop(self, value, path, body):
        check_fields(value, path, ("op", "loop", "counter", "body"), ("unroll",))
        loop = self.code.kernel.loops[one_of(value["loop"], path + ".loop", self.code.kernel.loops)]
        if value["counter"] is not None:
            self.register(value["counter"], path + ".counter")
        number(value.get("unroll", 1), path + ".unroll")
        self.check_place(loop.body, path, body)
        self.block(value["body"], path + ".body", loop.body)

    def read_if(self, value, path, body):
        check_fields(value, path, ("op", "if", "then"), ("else",))
        branch = self.code.kernel.ifs[one_of(value["if"], path + ".if", self.code.kernel.ifs)]
        self.check_place(branch.then, path, body)
        self.block(value["then"], path + ".then", branch.then)
        self.block(value.get("else", []), path + ".else", branch.otherwise)

    def check_place(self, inner, path, body):
        """[json/Execution.md#loops-branches-and-when]: the loops around are there; written-out ones need not be."""
        place = inner.parent
        while place is not body:
            if not self.written_out or place is None or not place.loop or not place.loop.constant:
                raise Wrong(path, f"'{inner.name}' does not stand there in the kernel")
            place = place.parent

    def read_issue(self, value, path, body):
        check_fields(value, path, ("op", "instr", "wait", "signal"))
        kernel = self.code.kernel
        instruction = kernel.instructions[one_of(value["instr"], path + ".instr", kernel.instructions)]
        if instruction.queue.engine != self.engine:
            raise Wrong(path, f"'{instruction.name}' is none of engine '{self.engine}'")
        self.check_place(instruction_place(instruction), path, body)
        if value["wait"] is not None:
            self.wait(value["wait"], path + ".wait")
        if value["signal"] is not None:
            check_fields(value["signal"], path + ".signal", ("semaphore", "amount"))
            self.signal(value["signal"], path + ".signal")

    def read_wait(self, value, path, body):
        check_fields(value, path, ("op", "wait"))
        self.wait(value["wait"], path + ".wait")

    def wait(self, value, path):
        check_fields(value, path, ("semaphore", "threshold"), ("dependences", "once"))
        self.semaphore(value["semaphore"], path + ".semaphore")
        self.operand(value["threshold"], path + ".threshold")
        for item, at in items(value.get("dependences", []), path + ".dependences"):
            number(item, at, 0, len(self.code.kernel.dependences) - 1)

    def read_signal(self, value, path, body):
        # A signal is an object of its own in both places where it may stand.
        check_fields(value, path, ("op", "signal"))
        check_fields(value["signal"], path + ".signal", ("semaphore", "amount"))
        self.signal(value["signal"], path + ".signal")

    def signal(self, value, path):
        self.semaphore(value["semaphore"], path + ".semaphore")
        number(value["amount"], path + ".amount", 1)

    def read_reset(self, value, path, body):
        check_fields(value, path, ("op", "semaphore", "count"))
        first = self.semaphore(value["semaphore"], path + ".semaphore")
        number(value["count"], path + ".count", 1, len(self.code.semaphores) - first)

    def read_drain(self, value, path, body):
        check_fields(value, path, ("op",))

    def read_alu(self, value, path, body):
        operation = one_of(value.get("operation"), path + ".operation", OPERATIONS)
        operands = ("a",) if operation == "move" else ("a", "b")
        check_fields(value, path, ("op", "operation", "dst") + operands)
        self.register(value["dst"], path + ".dst")
        for operand in operands:
            self.operand(value[operand], f"{path}.{operand}")

    def read_barrier(self, value, path, body):
        check_fields(value, path, ("op", "barrier", "body"))
        barrier = self.code.barriers[number(value["barrier"], path + ".barrier", 0, len(self.code.barriers) - 1)]
        if self.engine not in barrier["participants"]:
            raise Wrong(path, f"engine '{self.engine}' is not a participant")
        self.block(value["body"], path + ".body", body)

    def read_when(self, value, path, body):
        check_fields(value, path, ("op", "condition", "body"))
        self.operand(value["condition"], path + ".condition")
        self.block(value["body"], path + ".body", body, inside_when=True)

    def register(self, value, path):
        return number(value, path, 0, self.num_registers - 1)

    def semaphore(self, value, path):
        return number(value, path, 0, len(self.code.semaphores) - 1)

    def operand(self, value, path):
        """[json/Execution.md#registers]: a number in an operand is below 2^B."""
        if isinstance(value, dict) and set(value) == {"register"}:
            self.register(value["register"], path + ".register")
        elif isinstance(value, dict) and set(value) == {"value"}:
            number(value["value"], path + ".value", 0, self.code.machine.range - 1)
        else:
            raise Wrong(path, "expected a register or a value")


def instruction_place(instruction):
    """An instruction as if it were a body, for the question where it stands."""

    class Place:
        name = instruction.name
        parent = instruction.body

    return Place
