"""Random kernels, as Python text: nested loops, some of them dynamic, over tiles at random addresses.

Each kernel copies and combines rows of one buffer on the chip, which every read follows, so a wrong
tile, slot or order gives other numbers at the end. Addresses are what people write: affine, `% m`,
`// d`, slots by turns, tiles in lists, first and last iterations apart.
"""

import random

ROWS = 24  # of the buffer; each address is taken modulo this where it is not in bounds by itself
HEAD = """import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x{parameters}):
    out = nl.ndarray((128, {rows}, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    data = nl.ndarray((128, {rows}, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(data, x)
"""


class Kernel:
    def __init__(self, seed, dynamic=False):
        self.random, self.dynamic = random.Random(seed), dynamic
        self.lines, self.loops, self.registers, self.names = [], [], [], 0
        self.body(1, 4 + self.random.randrange(6))
        self.add(1, "nisa.dma_copy(out, data)")

    def text(self):
        head = HEAD.format(rows=ROWS, parameters="".join(f", {name}" for name, _ in self.registers))
        for name, _ in self.registers:
            head += (f"    number_{name} = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)\n"
                     f"    nisa.dma_copy(number_{name}, {name})\n"
                     f"    register_{name} = nisa.register_alloc()\n"
                     f"    nisa.register_load(register_{name}, number_{name})\n")
        return head + "\n".join(self.lines) + "\n    return out\n"

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def new(self, start):
        self.names += 1
        return f"{start}{self.names}"

    def body(self, depth, statements):
        for _ in range(statements):
            kind = self.random.random()
            if kind < 0.4 and depth < 4:
                self.loop(depth)
            elif kind < 0.5 and self.static():
                self.condition(depth)
            elif kind < 0.6 and depth < 4:
                self.listed(depth)
            elif kind < 0.7 and self.registers:
                self.number(depth)
            else:
                self.step(depth)

    def static(self):
        return [(name, trips) for name, trips, dynamic in self.loops if not dynamic]

    def loop(self, depth):
        name, trips = self.new("i"), self.random.choice([1, 2, 3, 4, 5])
        if self.dynamic and self.random.random() < 0.5:
            register = self.register(max(2, trips))
            kind = self.random.random()
            if kind < 0.4:  # again, in each iteration of the loops around
                self.add(depth, f"nisa.register_load(register_{register}, number_{register})")
            elif kind < 0.5 and not any(dynamic for _, _, dynamic in self.loops) and self.loops:
                self.add(depth, f"if {self.loops[-1][0]} == 0:")
                self.add(depth + 1, f"nisa.register_load(register_{register}, number_{register})")
            self.add(depth, f"for {name} in nl.dynamic_range(register_{register}):")
            self.loops.append((name, 6, True))
        else:
            self.add(depth, f"for {name} in range({trips}):")
            self.loops.append((name, trips, False))
        self.body(depth + 1, 1 + self.random.randrange(3))
        self.loops.pop()

    def register(self, trips):
        """A new one, or one that another loop has run by."""
        if self.registers and self.random.random() < 0.2:
            return self.random.choice(self.registers)[0]
        self.registers.append((self.new("n"), trips))
        return self.registers[-1][0]

    def number(self, depth):
        """Written again, so that later loads wait for what is around it."""
        name, _ = self.random.choice(self.registers)
        self.add(depth, f"nisa.tensor_scalar(number_{name}, number_{name}, nl.add, 0)")

    def condition(self, depth):
        name, trips = self.random.choice(self.static())
        test = self.random.choice(["== 0", "> 0", f"== {trips - 1}", "% 2 == 0"])
        self.add(depth, f"if {name} {test}:")
        self.step(depth + 1)

    def listed(self, depth):
        """Tiles that one loop makes and another uses."""
        tiles, first, second = self.new("tiles"), self.new("i"), self.new("i")
        trips = self.random.choice([2, 3])
        self.add(depth, f"{tiles} = []")
        self.add(depth, f"for {first} in range({trips}):")
        self.add(depth + 1, f"{tiles}.append(nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf))")
        self.add(depth + 1, f"nisa.activation({tiles}[{first}], nl.copy, "
                            f"data[:, {self.row(first, trips)}, :], scale=0.5)")
        self.add(depth, f"for {second} in range({trips}):")
        self.add(depth + 1, f"nisa.tensor_copy(data[:, {self.row(second, trips)}, :], "
                            f"{tiles}[{self.random.choice([second, f'{trips - 1} - {second}'])}])")

    def row(self, name=None, trips=None):
        """An address from the loops around, in bounds."""
        terms, most = [], 0
        loops = [(loop, count, False) for loop, count in ([(name, trips)] if name else [])] + self.loops
        for loop, count, dynamic in loops:
            kind = self.random.random()
            if kind < 0.45 and most + 2 * (count - 1) < ROWS - 2:
                factor = self.random.choice([1, 1, 2])
                terms.append(loop if factor == 1 else f"{factor} * {loop}")
                most += factor * (count - 1)
            elif kind < 0.6 and not dynamic and most < ROWS - 4:
                terms.append(f"({loop} + {self.random.randrange(3)}) % {self.random.choice([2, 3])}")
                most += 2
            elif kind < 0.7 and not dynamic and most < ROWS - 4:
                terms.append(f"{loop} // 2")
                most += (count - 1) // 2
        terms.append(str(self.random.randrange(ROWS - most)))
        return f"nl.ds({' + '.join(terms)}, 1)"

    def step(self, depth):
        """Through a tile of its own, which becomes a ring."""
        tile = self.new("t")
        self.add(depth, f"{tile} = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)")
        self.add(depth, f"nisa.tensor_scalar({tile}, data[:, {self.row()}, :], nl.multiply, 0.5, False, "
                        f"nl.add, {self.random.randrange(1, 9)}.0)")
        self.add(depth, f"nisa.tensor_tensor(data[:, {self.row()}, :], {tile}, data[:, {self.row()}, :], "
                        "nl.add)")
