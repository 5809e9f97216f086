"""Draws random kernels and machines, as JSON documents.

One seed, one kernel and one machine. Kernels either write their dependences or say what their instructions touch; the
features that they have are collected by name, so that a campaign can count which of them met. What is
drawn follows the rules of docs/guide/Language.md as far as that is easy; tally may refuse the rest.
"""

import copy
import math

SYNC = ("per-instruction", "per-loop", "per-engine", "barrier")
WEIGHTS = (1, 1, 1, 2, 3, 16)
RINGS = (1, 2, 2, 3, 4)


# ---- Machines -----------------------------------------------------------------------------


def draw_machine(random):
    """A document of kind `tally-machine` [machines/File.md#the-file-of-a-machine], and its features."""
    bits = random.choice((8, 9, 16, 32, 32))
    saturates, signed = random.random() < 0.5, random.random() < 0.4
    overlap, split = random.random() < 0.8, random.random() < 0.15
    semaphores = random.choice((None, None, None, None, 1, 2, 3, 4, 6, 8, 64))
    registers = random.choice((None, None, None, None, None, 2, 3, 4, 6, 8, 16))
    document = {
        "schema": "tally-machine", "version": 1, "name": "random", "description": "random", "engines": [],
        "limits": {"semaphores": limit(semaphores, "semaphores"),
                   "registers_per_engine": limit(registers, "registers"),
                   "counter_bits": limit(bits, "bits")},
        "alu": {"subtraction": "saturates" if saturates else "wraps"},
        "wait": {"compare": "signed" if signed else "unsigned"},
        "queue": {"overlap": overlap, "completion": "split" if split else "whole"},
        "encoding": {"instruction_bytes": limit(64, "bytes")},
    }
    features = {f"{bits} bits", "saturates" if saturates else "wraps", "signed" if signed else "unsigned",
                "overlap" if overlap else "in order"}
    features |= {"split machine"} if split else set()
    features |= {"few semaphores"} if semaphores and semaphores <= 8 else set()
    features |= {"few registers"} if registers and registers <= 8 else set()
    return document, features


def draw_sums(random, machine, kernel):
    """Says of some machines which engines of the kernel add up in order; the features."""
    if random.random() < 0.8:
        return set()
    machine["sums_in_order"] = [engine["name"] for engine in kernel["engines"] if random.random() < 0.4]
    return {"sums out of order"}


def limit(value, unit):
    return {"value": value, "unit": unit, "source": "drawn", "confidence": "estimate"}


# ---- Kernels ------------------------------------------------------------------------------


class KernelDrawer:
    """Draws one kernel; `features` are those that it has."""

    def __init__(self, random, name, few_bits=False):
        self.random = random
        self.apart = copy.copy(random)  # for what came later, so that older seeds give what they did
        self.features = set()
        self.few_bits = few_bits
        self.num_names = 0
        self.queues = []
        self.instructions = []  # (statement, loops and branches around it)
        self.loops = {}  # by name: statement
        self.document = {"schema": "tally-kernel", "version": 1, "name": name}
        self.by_accesses = self.chance(0.45)
        self.constant = self.chance(0.25)  # so that loops can be written out
        self.divergent = not self.constant and self.chance(0.15)
        self.regions = self.chance(0.15)
        self.budget = random.randrange(2, 9)
        self.depth = random.choice((0, 1, 1, 2, 2, 3))

    def chance(self, probability):
        return self.random.random() < probability

    def feature(self, name, probability):
        """Whether to use a feature here; it is noted if so."""
        if self.chance(probability):
            self.features.add(name)
            return True
        return False

    def later_feature(self, name, probability):
        if self.apart.random() < probability:
            self.features.add(name)
            return True
        return False

    def name(self, letter):
        self.num_names += 1
        return f"{letter}{self.num_names}"

    def draw(self):
        self.document["engines"] = [self.engine() for _ in range(self.random.choice((1, 2, 2, 3, 4)))]
        if self.by_accesses:
            self.document["buffers"] = []
        self.document["body"] = self.body([], 0)
        while len(self.instructions) < 2:
            self.document["body"].append(self.instruction([]))
        self.declare_values()
        if self.by_accesses:
            self.features.add("accesses")
            TileDrawer(self).draw()
        else:
            self.features.add("written")
            DependenceDrawer(self).draw()
        self.draw_numbers()
        return self.document

    def engine(self):
        engine = {"name": self.name("e"), **self.queue_kind()}
        self.queues.append(engine["name"])
        if self.feature("further queues", 0.2):
            engine["queues"] = [{"name": self.name("q"), **self.queue_kind()}
                                for _ in range(self.random.randrange(1, 3))]
            self.queues += [queue["name"] for queue in engine["queues"]]
        return engine

    def queue_kind(self):
        weight, kind = self.random.choice(WEIGHTS), {}
        if weight > 1:
            self.features.add("weights")
            kind["weight"] = weight
            if self.feature("split queue", 0.25):
                kind["completion"] = "split"
        return kind

    # ---- Statements ----

    def body(self, around, depth):
        statements = []
        for _ in range(self.random.randrange(1, 4)):
            if len(self.instructions) >= self.budget:
                break
            kind = self.random.random()
            if depth < self.depth and kind < 0.45:
                statements.append(self.loop(around, depth))
            elif depth < self.depth + 1 and kind < 0.6:
                statements.append(self.branch(around, depth))
            else:
                statements.append(self.instruction(around))
        return statements

    def instruction(self, around):
        statement = {"instr": self.name("i"), "queue": self.random.choice(self.queues)}
        agreed = all(outer.get("uniform", True) for _, outer in around)
        others = [queue for queue in self.queues if queue != statement["queue"]]
        if agreed and others and self.feature("open", 0.05):
            statement["or"] = self.random.sample(others, self.random.randrange(1, len(others) + 1))
        self.instructions.append((statement, list(around)))
        return statement

    def loop(self, around, depth):
        loop = {"loop": self.name("L"), "trips": self.trips(around)}
        constant = isinstance(loop["trips"], int)
        follows = not constant and "formula" in loop["trips"]
        if self.divergent and not constant and not follows and self.feature("divergent", 0.5):
            loop["uniform"] = False
        if self.feature("unroll", 0.08):
            loop["unroll"] = "full" if constant and self.chance(0.5) else self.random.choice((2, 3, 4))
        self.add_region(loop)
        self.loops[loop["loop"]] = loop
        loop["body"] = self.body(around + [("loop", loop)], depth + 1) or [self.instruction(around + [("loop", loop)])]
        self.features.add("nested" if any(kind == "loop" for kind, _ in around) else "loop")
        return loop

    def trips(self, around):
        if self.constant or self.chance(0.2):
            self.features.add("constant trips")
            return self.random.choice((0, 1, 2, 2, 3, 4, 5, 7))
        if self.feature("while", 0.08):
            return {"while": self.name("w")}
        if self.feature("formula", 0.25):
            return self.formula([loop["loop"] for kind, loop in around if kind == "loop"])
        trips = {"value": self.random.choice("nmk")}
        if self.feature("min", 0.25):
            trips["min"] = self.random.randrange(1, 3)
        if self.feature("max", 0.9 if self.few_bits else 0.5):
            trips["max"] = trips.get("min", 0) + self.random.choice((1, 2, 3, 5, 8, 20, 60, 300))
        return trips

    def declare_values(self):
        """Some of those that formulas, conditions and tiles may name, with bounds."""
        declared = [{"name": name} for name in ("t", "s", "v") if self.later_feature("declared value", 0.1)]
        for value in declared:
            if self.apart.random() < 0.3:
                value["min"] = 1
            if self.apart.random() < 0.6:
                value["max"] = self.apart.choice((3, 5, 8))
        if declared:
            self.document["values"] = declared

    def formula(self, loops):
        """Of few values, so that sibling loops have one; and of the loops around."""
        value = self.random.choice(("$t", "$t", "$s"))
        if loops and self.chance(0.6):
            loop = self.random.choice(loops)
            return {"formula": self.random.choice((f"{loop} + 1", f"{value} - {loop}", f"{value} - {loop} - 1", loop,
                                                   f"2*{loop}", f"{loop} mod 2 + 1", f"{loop} floordiv 2 + 1"))}
        if self.chance(0.3):
            return {"formula": self.random.choice((f"{value} + 1", f"{value} - 1", f"2*{value}", f"4 - {value}"))}
        formula = {"formula": value}
        if self.feature("max", 0.9 if self.few_bits else 0.3):
            formula["max"] = self.random.choice((3, 5, 8, 20))
        return formula

    def branch(self, around, depth):
        branch = {"if": self.name("c")}
        self.features.add("branch")
        if self.divergent and self.feature("divergent", 0.4):
            branch["uniform"] = False
        elif self.feature("condition", 0.25):
            branch["when"] = self.condition([loop["loop"] for kind, loop in around if kind == "loop"])
        self.add_region(branch)
        branch["then"] = self.body(around + [("then", branch)], depth + 1)
        if self.feature("else", 0.4):
            branch["else"] = self.body(around + [("else", branch)], depth + 1)
        return branch

    def condition(self, loops):
        def one():
            value = "$" + self.random.choice("tu")
            if not loops or self.chance(0.15):
                return self.random.choice((f"{value} > 1", f"{value} != 2", f"2*{value} <= 5", f"{value} == 3"))
            near, far = self.random.choice(loops), self.random.choice(loops)
            return self.random.choice((f"{near} == 0", f"{near} > 0", f"{near} < 2", f"{near} mod 2 == 1", f"{near} <= {far}", f"{near} != {far}",
                                       f"{near} < {value} - 1", f"{near} >= {value}", f"2*{near} + {far} > 3"))
        if not self.chance(0.3):
            return one()
        first, second = self.apart.sample(("and", "or"), 2)
        both = f"{one()} {second} {one()}"
        return f"{one()} {first} ({both})" if self.apart.random() < 0.3 else both

    def add_region(self, statement):
        if self.regions and self.feature("region", 0.4):
            statement["sync"] = self.random.choice(SYNC)

    # ---- Reservations and pins ----

    def draw_numbers(self):
        if self.feature("reserves", 0.06):
            self.document["reserves"] = sorted(self.random.sample(range(4), 2))
        for engine in self.document["engines"]:
            if self.feature("reserves", 0.04):
                engine["reserves"] = [self.random.randrange(3)]
        if self.chance(0.06):
            statement, _ = self.random.choice(self.instructions)
            statement["semaphore"] = self.random.randrange(4, 8)
            self.features.add("pins")


class DependenceDrawer:
    """Draws written dependences between the instructions of a kernel."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.random = kernel.random
        self.found = []

    def draw(self):
        wanted = self.random.randrange(1, 7)
        for _ in range(8 * wanted):
            if len(self.found) >= wanted:
                break
            made = self.dependence()
            if made and made not in self.found:
                self.found.append(made)
        self.kernel.document["dependences"] = self.found

    def dependence(self):
        order = self.kernel.instructions
        producer, consumer = self.random.randrange(len(order)), self.random.randrange(len(order))
        first, around = order[producer]
        second, around_second = order[consumer]
        common = prefix(around, around_second)
        made = {"producer": first["instr"], "consumer": second["instr"]}
        if self.random.random() < 0.3:
            made["kind"] = self.random.choice(("raw", "war", "waw"))
        if any(not statement.get("uniform", True) for _, statement in around):
            if self.random.random() < 0.4:
                return None
            made["allow_divergent"] = True
            self.kernel.features.add("allow_divergent")
        drawers = [self.distance, self.distance, self.flat, self.element]
        return self.random.choice(drawers)(made, producer < consumer, around, around_second, common)

    def distance(self, made, forward, around, around_second, common):
        """Lexicographically positive, or none with the producer first."""
        loops = [statement["loop"] for kind, statement in common if kind == "loop"]
        if not loops or forward and self.random.random() < 0.35:
            self.kernel.features.add("distance 0")
            return made if forward else None
        distance = {self.random.choice(loops): self.steps()}
        for loop in loops[loops.index(next(iter(distance))) + 1:]:
            if self.random.random() < 0.5:
                distance[loop] = self.random.randrange(-3, 4)
                self.kernel.features.add("several loops")
        made["distance"] = distance
        self.kernel.features.add("distance")
        return made

    def steps(self):
        if self.random.random() < 0.04:
            self.kernel.features.add("far")
            return self.random.choice((7, 20, 63, 64, 65, 66, 200))
        return self.random.choice((1, 1, 1, 2, 2, 3, 4))

    def flat(self, made, forward, around, around_second, common):
        if len(common) != len(around) or len(common) != len(around_second):
            return None
        made["flat"] = self.random.choice((0, 1, 1, 2, 3)) if forward else self.random.choice((1, 1, 2, 3, 5))
        self.kernel.features.add("flat")
        return made

    def element(self, made, forward, around, around_second, common):
        # Both stand in two loops, or nests of loops, that are in one body.
        own = [path[len(common):] for path in (around, around_second)]
        if not all(is_numbered(path) for path in own):
            return None
        if any(len(path) > 1 for path in own):
            self.kernel.features.add("nests")
        made["element"] = self.random.randrange(-3, 4)
        loops = [statement["loop"] for kind, statement in common if kind == "loop"]
        if not forward or loops and self.random.random() < 0.4:
            if not loops:
                return None
            made["distance"] = {loops[-1]: self.random.choice((1, 1, 2, 3))}
        self.kernel.features.add("element")
        return made


def is_in_order(table, producers, consumers, back):
    """Whether no run of a consumer needs a later iteration of the body around both than allowed; in each are these numbers of runs."""
    period, each = len(table["runs"]), table["each"]
    needed = [run // period * each + table["runs"][run % period] for run in range(2 * period * consumers)]
    keeps_up = each * consumers <= period * producers
    return keeps_up and all(run // consumers - need // producers >= back for run, need in enumerate(needed))


def is_numbered(path):
    """Whether the iterations of loops in one another, of which all but the outermost have constant trips, number runs."""
    inner = [statement.get("trips") for _, statement in path[1:]]
    return path != [] and all(kind == "loop" for kind, _ in path) and all(isinstance(trips, int) and trips > 0 for trips in inner)


def prefix(one, other):
    common = []
    for left, right in zip(one, other):
        if left[0] != right[0] or left[1] is not right[1]:
            break
        common.append(left)
    return common


class TileDrawer:
    """Draws buffers, and what each instruction touches of them; always within bounds.

    An index either is cut by `mod` to the extent, or counts a loop whose trips are bounded.
    """

    ELEMENTS = ("bf16", "f32", "fp8_e5m2", "i4", "")

    def __init__(self, kernel):
        self.kernel = kernel
        self.random = kernel.random
        self.feature = kernel.feature

    def draw(self):
        self.buffers = self.kernel.document["buffers"]
        for place in range(self.random.randrange(1, 4)):
            self.buffers.append(self.buffer(place))
        for statement, around in self.kernel.instructions:
            for _ in range(self.random.choice((0, 1, 1, 2, 2))):
                kind = self.random.choice(("reads", "reads", "writes", "writes", "accumulates"))
                statement.setdefault(kind, []).append(self.tile(around))
                if kind == "accumulates":
                    self.kernel.features.add("accumulates")

    def buffer(self, place):
        buffer = {"name": f"X{place}"}
        extents = self.random.choice((0, 1, 1, 1, 2, 2))
        if extents:
            buffer["shape"] = [self.random.choice((1, 2, 3, 4, 6, 12)) for _ in range(extents)]
        kind = self.random.choice(self.ELEMENTS)
        if kind:
            buffer["type"] = kind
        if self.feature("address", 0.3):
            buffer["space"], buffer["address"] = "s", self.random.choice((0, 0, 2, 4, 8, 24))
            if extents and self.kernel.later_feature("partitions", 0.4):
                first, dim = self.kernel.apart.choice((0, 0, 1, 3)), self.kernel.apart.randrange(extents)
                buffer["partitions"] = {"first": first, "dim": dim}
        earlier = [other["name"] for other in self.buffers]
        if earlier and self.feature("alias", 0.15):
            buffer["alias"] = [self.random.choice(earlier)]
        elif earlier and self.feature("noalias", 0.1):
            buffer["noalias"] = [self.random.choice(earlier)]
        return buffer

    def tile(self, around):
        buffer = self.random.choice(self.buffers)
        loops = [statement for kind, statement in around if kind == "loop"]
        text = buffer["name"]
        if self.feature("anywhere", 0.05):
            text += "[@]"
        elif buffer.get("shape") and self.random.random() < 0.85:
            text += "[" + ", ".join(self.dim(extent, loops, around) for extent in buffer["shape"]) + "]"
        if loops and self.feature("guard", 0.12):
            text += " if " + " and ".join(self.guard(loops) for _ in range(self.random.choice((1, 1, 2))))
        return text

    def dim(self, extent, loops, around):
        drawers = [self.ring, self.ring, self.ring, self.affine, self.part, self.whole, self.strided, self.value]
        return self.random.choice(drawers)(extent, loops, around)

    def ring(self, extent, loops, around):
        """One slot of as many as there are, or of fewer."""
        slots = self.random.choice([ring for ring in RINGS if ring <= extent] or [1])
        self.kernel.features.add("ring")
        return f"({self.count(loops, around)}) mod {slots}"

    def count(self, loops, around):
        """An expression that may be any number."""
        if not loops:
            return str(self.random.randrange(5))
        loop = self.random.choice(loops)["loop"]
        shapes = [loop, loop, loop, f"{loop} + {self.random.randrange(1, 4)}"]
        if self.feature("total", 0.25):
            shapes = [f"total({loop})", f"total({loop}) + 1"]
            branches = [statement["if"] + ("" if kind == "then" else ".else") for kind, statement in around if kind != "loop"]
            shapes += [f"total({branch})" for branch in branches]
        if self.feature("trips of", 0.05):
            shapes = [f"trips({loop}) - {loop}"]
        if self.feature("floordiv", 0.1):
            shapes = [f"{loop} floordiv {self.random.randrange(1, 4)}"]
        if len(loops) > 1 and self.feature("skew", 0.2):
            other = self.random.choice(loops)["loop"]
            shapes = [f"{loop} + {other}", f"2*{loop} - {other}", f"{loop} mod 2 + {other} mod 2", f"-{loop} + {other}",
                      f"-{loop} mod 3 + {other}", f"{other} - 2*({loop} - 1)", f"{loop}*3 - {other} floordiv 2",
                      f"{loop} - {other} - 1", f"3 - {loop} + {other}"]
        return self.random.choice(shapes)

    def affine(self, extent, loops, around):
        """Counts a bounded loop, as far as it fits."""
        bounded = [loop for loop in loops if 0 < most_trips(loop) <= extent]
        if not bounded:
            return self.part(extent, loops, around)
        loop = self.random.choice(bounded)
        self.kernel.features.add("affine")
        most, step = most_trips(loop), 1
        if (most - 1) * 2 < extent and self.random.random() < 0.5:
            step = 2
        offset = self.random.randrange(extent - (most - 1) * step)
        forms = [f"{step}*{loop['loop']} + {offset}", f"{offset + (most - 1) * step} - {step}*{loop['loop']}"]
        width = self.random.choice((1, step)) if offset + (most - 1) * step + step <= extent else 1
        return forms[0] + f":{width}" if width > 1 else self.random.choice(forms)

    def part(self, extent, loops, around):
        first = self.random.randrange(extent)
        return f"{first}:{self.random.randrange(1, extent - first + 1)}"

    def whole(self, extent, loops, around):
        return f"0:{extent}"

    def strided(self, extent, loops, around):
        stride = self.random.choice((2, 3))
        first = self.random.randrange(min(stride, extent))
        self.kernel.features.add("stride")
        return f"{first}:{(extent - 1 - first) // stride + 1}:{stride}"

    def value(self, extent, loops, around):
        if extent < 4 or not self.feature("run-time value", 0.5):
            return self.ring(extent, loops, around)
        return f"$v:{extent - 3}"  # values are chosen from 0 to 3

    def guard(self, loops):
        loop = self.random.choice(loops)["loop"]
        return self.random.choice((f"{loop} == 0", f"{loop} > 0", f"{loop} != 1", f"{loop} mod 2 == 0",
                                   f"{loop} < trips({loop}) - 1", f"{loop} >= trips({loop}) - 1", f"{loop} <= 1"))


def most_trips(loop):
    trips = loop["trips"]
    if isinstance(trips, int):
        return trips
    return trips.get("max", 0)


def draw_kernel(random, name, few_bits=False):
    """A document and its features."""
    drawer = KernelDrawer(random, name, few_bits)
    document = drawer.draw()
    return document, drawer.features


def draw_pair(random, name):
    """Two or three instructions that hold one another back in a nest, with the numbers at their edges: weights, distances and trips
    near what few bits hold, parts of transfers, inner loops that are entered again. Kernels of all kinds hardly ever have these at once.
    """
    weight, split = random.choice((2, 3, 16, 60)), random.random() < 0.5
    dma = {"name": "dma", "weight": weight} | ({"completion": "split"} if split else {})
    features = {"pair", "written", "weights", "loop", "distance", "distance 0"} | ({"split queue"} if split else set())
    names = ["outer", "inner"][-random.choice((1, 2, 2)):]
    features |= {"nested"} if len(names) > 1 else set()
    constant = random.random() < 0.4
    features |= {"constant trips"} if constant else set()
    loads = ["left", "right"][:random.choice((1, 1, 2))]
    body = [{"instr": load, "queue": "dma"} for load in loads] + [{"instr": "use", "queue": "act"}]
    for loop in reversed(names):
        trips = random.choice((2, 3, 5, 9)) if constant else {"value": loop, "max": random.choice((3, 5, 90))}
        body = [{"loop": loop, "trips": trips, "body": body}]
    dependences = [{"producer": load, "consumer": "use"} for load in loads]
    if random.random() < 0.7:
        steps = random.choice((1, 1, 2, 70, 200))
        dependences.append({"producer": "use", "consumer": "left", "distance": {random.choice(names): steps}})
    if random.random() < 0.4:
        dependences[0] = dict(dependences[0], distance={random.choice(names): random.choice((1, 8, 63, 130, 200))})
    if len(names) > 1 and random.random() < 0.2:
        features.add("around")  # one that waits before the inner loop, and one behind it
        body[0]["body"] = [{"instr": "early", "queue": "act"}, *body[0]["body"], {"instr": "late", "queue": "act"}]
        dependences += [{"producer": "left", "consumer": "early", "distance": {"outer": 1}},
                        {"producer": "left", "consumer": "late"}]
    kernel = {"schema": "tally-kernel", "version": 1, "name": name, "engines": [dma, {"name": "act"}], "body": body,
              "dependences": dependences}
    return kernel, features


def draw_branched(random, name):
    """One producer in a loop somewhere in a tree of branches, and consumers all over it, which wait for what it did in an iteration
    before: several need the same value, each on a path of its own.
    """
    weight, consumers, bodies = random.choice((1, 2, 3, 16)), [], []

    def consumer():
        consumers.append(f"use{len(consumers)}")
        return {"instr": consumers[-1], "queue": "act"}

    def body(depth):
        statements = [consumer() for _ in range(random.choice((0, 1, 1)))]
        if depth > 0:
            branch = {"if": f"c{len(bodies)}_{depth}_{random.randrange(10 ** 6)}", "then": body(depth - 1)}
            if random.random() < 0.8:
                branch["else"] = body(depth - 1)
            statements.append(branch)
        if random.random() < 0.3:
            statements.append(consumer())
        bodies.append(statements)
        return statements

    tree = body(random.choice((2, 3)))
    trips = random.choice((2, 3, {"value": "m", "max": 3}))
    random.choice(bodies).append({"loop": "E", "trips": trips, "body": [{"instr": "load", "queue": "dma"}]})
    kernel = {"schema": "tally-kernel", "version": 1, "name": name,
              "engines": [{"name": "act"}, {"name": "dma"} | ({"weight": weight} if weight > 1 else {})],
              "body": [{"loop": "B", "trips": {"value": "n", "max": 9}, "body": tree}],
              "dependences": [{"producer": "load", "consumer": name, "distance": {"B": 1}} for name in consumers]}
    features = {"branched", "written", "branch", "loop", "nested", "distance"} | ({"weights"} if weight > 1 else set())
    return kernel, features


def draw_nests(random, name):
    """Two or three nests of constant trips side by side, in loops around them.

    Dependences lead from run to run, by numbers or by tables, also over a loop around. Or they follow from a ring that each nest
    goes through in its own way.
    """
    outer = [{"loop": "A", "trips": random.choice((2, 3, 4, {"value": "n", "max": 4}))}]
    if random.random() < 0.4:
        outer.append({"loop": "B", "trips": random.randrange(1, 4)})
    features = {"side by side", "loop", "nested", "constant trips"}
    ring, nests, numbers = random.randrange(2, 6), [], []
    by_accesses = random.random() < 0.5
    for number in range(random.choice((2, 2, 3))):
        loops = [{"loop": f"N{number}{level}", "trips": random.randrange(1, 5)} for level in range(random.choice((1, 1, 2)))]
        instruction = {"instr": f"i{number}", "queue": random.choice(("dma", "act"))}
        if by_accesses:
            names = [loop["loop"] for loop in outer + loops]
            terms = [f"{random.randrange(1, 3)}*{loop}" for loop in names if random.random() < 0.6]
            terms.append(f"total({names[-1]})" if random.random() < 0.3 else str(random.randrange(ring)))
            instruction[random.choice(("reads", "writes", "writes"))] = [f"X[({' + '.join(terms)}) mod {ring}]"]
        numbers.append(math.prod(loop["trips"] for loop in loops))
        nests.append(nested(loops, [instruction]))
    kernel = {"schema": "tally-kernel", "version": 1, "name": name, "engines": [{"name": "dma"}, {"name": "act"}],
              "body": [nested(outer, nests)]}
    if by_accesses:
        features.add("accesses")
        kernel["buffers"] = [{"name": "X", "shape": [ring]}]
        return kernel, features
    features.add("written")
    made = [run_by_run(random, outer, numbers, features) for _ in range(random.randrange(1, 4))]
    kernel["dependences"] = [one for number, one in enumerate(made) if one and one not in made[:number]]
    return kernel, features


def nested(loops, statements):
    for loop in reversed(loops):
        statements = [loop | {"body": statements}]
    return statements[0]


def run_by_run(random, outer, numbers, features):
    """From one nest to another; nothing if a run would need one that is still to come."""
    producer, consumer = random.sample(range(len(numbers)), 2)
    made = {"producer": f"i{producer}", "consumer": f"i{consumer}"}
    forward = producer < consumer
    each, first = random.randrange(5), random.randrange(-3, 2)
    table = {"runs": sorted(first + random.randint(0, each) for _ in range(random.randrange(1, 6))), "each": each}
    if table["runs"][-1] + each < 0 or each == 0 and table["runs"][-1] < 0:
        return None  # no run needs any
    over = random.randrange(-1, len(outer))
    if over < 0:
        if not forward:
            made["distance"] = {outer[-1]["loop"]: 1}
        made["element"] = random.choice((table, first))
        features.add("element")
        return made
    # Runs of all iterations inside the loop that the table goes over.
    if not is_in_order(table, numbers[producer], numbers[consumer], 0 if forward else 1):
        return None
    made["element"] = table | {"over": outer[over]["loop"]}
    features.add("table over a loop")
    return made


def draw_tied(random, name):
    """Few instructions in loops whose trips follow from the same values and from one another, so that counts of different loops are
    equal, or always one larger; and loops that never run, whatever their bounds are.
    """
    names, instructions = iter(range(1, 100)), []

    def trips(loops):
        if loops and random.random() < 0.5:
            near, far = loops[-1], loops[0]
            return {"formula": random.choice((f"{near} + 1", f"$n - {near}", far, f"{near} mod 2", f"{far} - {near}",
                                              f"{near} - {near}", f"2*{far} - {near}", f"({far} + {near}) floordiv 2"))}
        if random.random() < 0.6:
            return {"formula": random.choice(("$n", "$n", "$m", "$n - $m", "3 - $n"))}
        return random.choice((2, {"value": "v"}, {"value": "v", "min": 1, "max": 3}))

    def body(loops, branches=0):
        statements = []
        for _ in range(random.choice((1, 2, 2, 3))):
            kind = random.random()
            if len(instructions) < 6 and len(loops) < 3 and kind < 0.6:
                loop = f"L{next(names)}"
                statements.append({"loop": loop, "trips": trips(loops), "body": body(loops + [loop], branches)})
            elif len(instructions) < 6 and branches < 2 and kind < 0.68:
                statements.append({"if": f"c{next(names)}", "then": body(loops, branches + 1)})
            else:
                instructions.append((f"i{next(names)}", loops))
                statements.append({"instr": instructions[-1][0], "queue": random.choice("abb")})
        return statements

    statements = body([])
    if len(instructions) < 2:
        statements += body([])
    dependences = []
    for _ in range(random.choice((1, 2, 3))):
        producer, consumer = random.choice(instructions), random.choice(instructions)
        common = [loop for loop in producer[1] if loop in consumer[1]]
        forward = instructions.index(producer) < instructions.index(consumer)
        if common and (not forward or random.random() < 0.5):
            distance = {random.choice(common): random.choice((1, 1, 2, 3))}
        elif forward:
            distance = {}
        else:
            continue
        dependences.append({"producer": producer[0], "consumer": consumer[0], "distance": distance})
    return {"schema": "tally-kernel", "version": 1, "name": name,
            "engines": [{"name": "a"}, {"name": "b", "weight": random.choice((1, 2))}], "body": statements,
            "dependences": dependences}


def draw_narrow(random, name):
    """Dependences that reach about as far as counters of few bits do, or further, in loops without bounds: the code leaves out waits
    that matter only where numbers do not fit. And the number of bits.
    """
    bits, weight, loops = random.choice((8, 8, 9)), random.choice((3, 16, 16, 60, 100)), ["outer", "inner"][:random.choice((1, 1, 2))]
    body = [{"instr": "load", "queue": "dma"}, {"instr": "use", "queue": "act"}]
    for loop in reversed(loops):
        trips = [{"value": loop}, {"value": loop, "max": 90}, {"formula": "$n"}] + [{"formula": "outer + 1"}] * (loop == "inner")
        body = [{"loop": loop, "trips": random.choice(trips), "body": body}]
    dependences = [{"producer": "load", "consumer": "use"}] * random.choice((0, 1))
    for _ in range(random.choice((1, 1, 2))):
        producer, consumer = random.choice((("load", "load"), ("use", "load"), ("load", "use")))
        reach = 2 ** bits // weight
        steps = random.choice((reach + 1, reach + 2, reach + 5, reach // 2 + 1))
        dependences.append({"producer": producer, "consumer": consumer, "distance": {random.choice(loops): steps}})
    kernel = {"schema": "tally-kernel", "version": 1, "name": name,
              "engines": [{"name": "dma"} | ({"weight": weight} if weight > 1 else {}), {"name": "act"}], "body": body,
              "dependences": dependences}
    return kernel, bits


def draw_in_place(random, name):
    """A ring of two in a loop, which instructions of two engines read, write, and change in place, with a few dependences of
    any kind; and trips. Other kernels seldom have one instruction that touches the same tile in several ways.
    """
    trips = {"A": random.randrange(1, 5)}
    body = []
    for number in range(random.randrange(2, 5)):
        tile = f"X[{random.choice(('0', 'A mod 2', '(A + 1) mod 2'))}]"
        kinds = random.choice((("reads",), ("writes",), ("reads", "writes"), ("reads", "writes"), ("reads", "accumulates")))
        body.append({"instr": f"i{number}", "queue": random.choice(("dma", "dma", "act"))} | {kind: [tile] for kind in kinds})
    pairs = [(first, second) for second in range(len(body)) for first in range(len(body))]
    dependences = []
    for first, second in random.sample(pairs, random.randrange(1, 3)):
        distance = {} if first < second and random.random() < 0.6 else {"distance": {"A": 1}}
        dependences.append({"producer": f"i{first}", "consumer": f"i{second}"} | distance)
    kernel = {"schema": "tally-kernel", "version": 1, "name": name, "engines": [{"name": "dma"}, {"name": "act"}],
              "buffers": [{"name": "X", "shape": [2]}], "dependences": dependences,
              "body": [{"loop": "A", "trips": {"value": "n", "max": 60}, "body": body}]}
    return kernel, trips


def draw_rare(random, name):
    """Two accesses that conflict in few runs only, by the numbers in their guards and by equations between their tiles, with no
    dependence between them; and trips with which they do. Other kernels have guards that hold in short runs.
    """
    trips = {"A": random.randrange(4, 40)} | ({"B": random.randrange(2, 9)} if random.random() < 0.4 else {})
    places = [{loop: random.randrange(count) for loop, count in trips.items()} for _ in range(2)]
    indices = [rare_index(random, place) for place in places]
    tiles = [f"X[{index} + {max(value for _, value in indices) - value}]" for index, value in indices]
    texts = [tile + " if " + " and ".join(rare_guard(random, place, trips) for _ in range(random.choice((1, 1, 2))))
             for tile, place in zip(tiles, places)]
    kinds = random.choice((("writes", "reads"), ("reads", "writes"), ("writes", "writes")))
    body = [{"instr": instr, "queue": queue, kind: [text]} for instr, queue, kind, text in zip("pc", ("dma", "act"), kinds, texts)]
    for loop in reversed(trips):
        body = [{"loop": loop, "trips": {"value": f"n{loop}", "max": 60}, "body": body}]
    body.append({"instr": "other", "queue": "act"})
    kernel = {"schema": "tally-kernel", "version": 1, "name": name, "engines": [{"name": "dma"}, {"name": "act"}],
              "buffers": [{"name": "X", "shape": [8000]}], "body": body, "dependences": [{"producer": "p", "consumer": "other"}]}
    return kernel, trips


def rare_index(random, place):
    """A sum over loops, as text and its value there."""
    terms = {loop: random.choice((1, 1, 2, 3, 16, 33)) for loop in place if random.random() < 0.7}
    text = " + ".join(f"{factor}*{loop}" for loop, factor in terms.items()) or "0"
    value = sum(factor * place[loop] for loop, factor in terms.items())
    modulus = random.randrange(2, 60)
    return (f"({text}) mod {modulus}", value % modulus) if terms and random.random() < 0.3 else (text, value)


def rare_guard(random, place, trips):
    """Holds there."""
    loop = random.choice(sorted(trips))
    at, count, modulus = place[loop], trips[loop], random.randrange(3, 12)
    forms = [f"{loop} == {at}", f"{loop} == {at}", f"{loop} mod {modulus} == {at % modulus}", f"trips({loop}) == {count}",
             f"trips({loop}) mod {modulus} == {count % modulus}", f"{loop} == trips({loop}) - {count - at}",
             f"{loop} floordiv {modulus} >= {at // modulus}", f"trips({loop}) > {count - 1}"]
    if "B" in trips:
        factor = random.randrange(1, 4)
        forms.append(f"A + {factor * place['B']} == {factor}*B + {place['A']}")
    return random.choice(forms)


def draw_turning(random, name):
    """Code written by hand that is wrong only beyond a number in it, and trips and decisions with which it is.

    A counter of 8 bits or a cap begins again, a threshold has fallen behind, or no branch is taken. The interpreter judges whether it is, so
    some may be right.
    """
    ways = (draw_capped, draw_wrapping, draw_untaken, draw_drifting, draw_falling, draw_together, draw_wrapped_cap)
    return random.choice(ways)(random, name)


def draw_capped(random, name):
    most, step = random.randrange(10, 400), random.choice((1, 1, 2, 16))
    number = {"register": 2} if random.random() < 0.4 else {"value": most * step}
    before = [alu("move", 2, {"value": most * step}), alu("move", 0, {"value": 0})]
    counted = {"register": 0}
    body = [alu("add", 0, counted, {"value": step})]
    if random.random() < 0.3:  # the smaller of two that stay as far apart
        body += [alu("add", 3, counted, {"value": random.randrange(3)}), alu("min", 3, counted, {"register": 3})]
        counted = {"register": 3}
    body += [alu("min", 1, counted, number), issue("c", 1)]
    return turning_code(name, [], before + [loop_of(body)], step), {"A": [most + 1]}, {}


def draw_wrapping(random, name):
    step = random.choice((1, 2, 5))
    before = [alu("move", 0, {"value": 0})]
    body = [alu("add", 0, {"register": 0}, {"value": step}), issue("c", 0)]
    document = turning_code(name, [], before + [loop_of(body)], step)
    document["machine"]["counter_bits"] = 8
    return document, {"A": [256 // step + 1]}, {}


def draw_wrapped_cap(random, name):
    """A cap that is large until it has passed the largest number, once or several times."""
    bits, first = random.choice((16, 32)), random.randrange(10, 400)
    numbers = 1 << bits
    factor = -(-numbers * random.randrange(1, first) // first)  # `first` times it is less than `first` beyond a multiple of it
    before = [alu("move", 0, {"value": 0}), alu("move", 1, {"value": 0})]
    body = [alu("add", 0, {"register": 0}, {"value": 1})]
    way = random.randrange(3)
    if way == 0:
        before += [alu("move", 1, {"value": numbers - 1}), alu("add", 1, {"register": 1}, {"value": first})]
    elif way == 1:
        body.append(alu("mul", 1, {"register": 0}, {"value": factor}))
    else:
        body.append(alu("add", 1, {"register": 1}, {"value": factor}))
    body += [alu("min", 2, {"register": 0}, {"register": 1}), issue("c", 2)]
    document = turning_code(name, [], before + [loop_of(body)], 1)
    document["machine"]["counter_bits"] = bits
    return document, {"A": [first]}, {}


def draw_drifting(random, name):
    step = random.randrange(3, 80)
    less = random.choice((1, 1, 2, step // 2))
    before = [alu("move", 0, {"value": 0})]
    counted = [alu("mul", 1, {"register": 0}, {"value": step - less})]
    if random.random() < 0.3:
        before.append(alu("move", 1, {"value": 0}))
        counted = [alu("add", 1, {"register": 1}, {"value": step - less})]
    body = [alu("add", 0, {"register": 0}, {"value": 1})] + counted + [issue("c", 1)]
    return turning_code(name, [], before + [loop_of(body)], step), {"A": [step // less + 2]}, {}


def draw_falling(random, name):
    number, step = random.randrange(10, 300), random.choice((1, 1, 3))
    before = [alu("move", 0, {"value": 0}), alu("move", 1, {"value": number * step})]
    body = [alu("add", 0, {"register": 0}, {"value": 1}), alu("sub", 1, {"register": 1}, {"value": step}),
            alu("gt", 2, {"value": random.choice((1, step))}, {"register": 1}), alu("sub", 2, {"register": 0}, {"register": 2}),
            issue("c", 2)]
    return turning_code(name, [], before + [loop_of(body)], 1), {"A": [number + 1]}, {}


def draw_together(random, name):
    """A mistake only where one loop has run so often and another one longer than so often."""
    first, second = random.randrange(10, 60), random.randrange(12, 90)
    before = [alu("move", place, {"value": 0}) for place in (0, 1)]
    before.append({"op": "loop", "loop": "B", "counter": None,
                   "body": [alu("add", 1, {"register": 1}, {"value": 1}), issue("n")]})
    body = [alu("add", 0, {"register": 0}, {"value": 1}), alu("gt", 2, {"register": 1}, {"value": first - 1}),
            alu("gt", 3, {"register": 1}, {"value": first}), alu("sub", 2, {"register": 2}, {"register": 3}),
            alu("gt", 3, {"register": 0}, {"value": second}), alu("mul", 2, {"register": 2}, {"register": 3}),
            alu("sub", 2, {"register": 0}, {"register": 2}), issue("c", 2)]
    document = turning_code(name, [], before + [loop_of(body)], 1)
    other = {"loop": "B", "trips": {"value": "m", "max": 100}, "body": [{"instr": "n", "queue": "act"}]}
    document["kernel"]["body"].insert(0, other)
    document["engines"][0]["code"].insert(0, {"op": "loop", "loop": "B", "counter": None, "body": []})
    return document, {"A": [second + 2], "B": [first]}, {}


def draw_untaken(random, name):
    branches = [f"b{i}" for i in range(random.randrange(2, 12))]
    before = [alu("move", 0, {"value": 0}), alu("move", 1, {"value": 0})]
    before += [{"op": "if", "if": branch, "then": [issue(f"n{branch}"), alu("move", 0, {"value": 1})], "else": []}
               for branch in branches]
    body = [alu("add", 1, {"register": 1}, {"value": 1}), alu("mul", 2, {"register": 1}, {"register": 0}), issue("c", 2)]
    return turning_code(name, branches, before + [loop_of(body)], 1), {"A": [1]}, {branch: [False] for branch in branches}


def turning_code(name, branches, consumer, amount):
    """`p` writes what `c` reads, on another engine."""
    pair = [{"instr": "p", "queue": "dma", "writes": ["X[A]"]}, {"instr": "c", "queue": "act", "reads": ["X[A]"]}]
    body = [{"if": branch, "then": [{"instr": f"n{branch}", "queue": "act"}]} for branch in branches]
    kernel = {"schema": "tally-kernel", "version": 1, "name": name, "engines": [{"name": "dma"}, {"name": "act"}],
              "buffers": [{"name": "X", "shape": [3000]}],
              "body": body + [{"loop": "A", "trips": {"value": "n", "max": 3000}, "body": pair}], "dependences": []}
    machine = {"name": "drawn", "counter_bits": 32, "subtraction": "saturates", "compare": "unsigned", "overlap": True,
               "completion": "whole"}
    producer = loop_of([{**issue("p"), "signal": {"semaphore": 0, "amount": amount}}])
    programs = [{"engine": "dma", "registers": [], "code": [producer]},
                {"engine": "act", "registers": [{"id": i, "name": f"r{i}"} for i in range(4)], "code": consumer}]
    return {"schema": "tally-code", "version": 2, "kernel": kernel, "strategy": "manual", "machine": machine,
            "semaphores": [{"id": 0, "name": "s"}], "barriers": [], "engines": programs, "dependences": []}


def alu(operation, dst, a, b=None):
    return {"op": "alu", "operation": operation, "dst": dst, "a": a} | ({"b": b} if b else {})


def issue(instr, threshold=None):
    wait = None if threshold is None else {"semaphore": 0, "threshold": {"register": threshold}, "dependences": []}
    return {"op": "issue", "instr": instr, "wait": wait, "signal": None}


def loop_of(body):
    return {"op": "loop", "loop": "A", "counter": None, "body": body}
