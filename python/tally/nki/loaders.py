"""The instructions that load values from memory for engines (`loads` in the document).

An engine has registers of its own. It needs a value that a loop runs by if it has instructions in the loop, and, as it has to count
them, if it may wait for what the loop has done. So each such engine has the instruction, and goes on when that
has retired. So has each engine that issues an instruction with such a register in an address. There, no more has to be said: the
engine does one after the other. Which loops run by which loads, and where they are in addresses, is known from the trace (loads.py).
"""

from .loads import LOAD
from .resolve import Instruction, instructions


class _Load:
    """One that is written."""

    __slots__ = ("instruction", "values", "names", "loops")

    def __init__(self, instruction, values):
        self.instruction, self.values = instruction, values  # of its head
        self.names = set()  # of the document
        self.loops = []  # that run by its names


def placed(nodes, loads, name_of, order):
    """For each load that is written, by the `id` of its instruction: the engines that need it, and the names that it has for each.
    `name_of`: that of what a loop runs by. `order`: of engines."""
    placer = _Placer(loads, name_of)
    placer.body(nodes, {})
    placer.check()
    reach = _Reach(nodes, {number: {engine for value in values for engine in loads.addressing.get(value, ())}
                           for number, values in loads.of_head.items()})
    loaders = reach.loaders([load for load in placer.loads.values() if load.loops])
    needed = {}
    for instruction, engines in loaders:
        load = placer.loads.get(id(instruction))
        by_loops = reach.engines(load) if load is not None and load.loops else ()
        needed[id(instruction)] = [(engine, sorted(load.names) if engine in by_loops else ())
                                   for engine in sorted(engines, key=order.index)]
    return needed


class _Placer:
    def __init__(self, recorded, name_of):
        self.recorded, self.name_of = recorded, name_of
        self.loads, self.visible, self.found, self.written = {}, {}, {}, set()

    def body(self, nodes, around):
        """`around`: the loops around, and the names of what they run by."""
        shown = []
        for node in nodes:
            if not isinstance(node, Instruction):
                self._loop(node, around)
            elif node.head.uses:
                load = self.loads[id(node)] = _Load(node, self.recorded.of_head[node.head.number])
                for use in node.head.uses:
                    loop, again, _ = use
                    if again and loop in around:
                        self._add(use, load, *around[loop])
                    else:
                        self.visible.setdefault(use, []).append(load)
                        shown.append(use)
        for use in shown:
            self.visible[use].pop()

    def _loop(self, node, around):
        source = node.source
        self.written.add(source.loop)
        if source.dynamic is not None:
            name = self.name_of(source.dynamic)
            for number, value in enumerate(source.dynamic.loaded):
                use = source.loop, False, number
                load = next((load for load in reversed(self.visible.get(use, ())) if value in load.values), None)
                if load is not None:
                    self._add(use, load, node, name)
                else:
                    self.recorded.miss(value)
            around = {**around, source.loop: (node, name)}
        self.body(node.body, around)

    def _add(self, use, load, loop, name):
        load.names.add(name)
        load.loops.append(loop)
        self.found.setdefault(use, set()).update(load.values)

    def check(self):
        """Each value that a loop was seen to use is one of the load that is written for it."""
        for use, values in self.recorded.used.items():
            loop, _, number = use
            found = self.found.get(use, set()) | self.found.get((loop, False, number), set())
            for value in sorted(values - found) if loop in self.written else ():
                self.recorded.miss(value)


class _Reach:
    """Which engines need the values of a load: those that have them in addresses, and those of the loops that run by them. So do
    those that use a buffer of one of these after the load, or in the next iteration of a loop around it. An engine that loads something uses the
    buffer with the number, and has the loops around it."""

    def __init__(self, nodes, addressing):
        """`addressing`: the first of these, by the head of the load."""
        self.users, self.last = {}, {}
        self.place, self.first = {}, {}  # of each instruction: where it is; where the outermost loop around begins, or itself
        self.loading = []  # instructions that load, and their engines
        place = 0
        for node in nodes:
            begin = place
            for each in instructions([node]):
                self.place[id(each)], self.first[id(each)] = place, begin
                if each.head.operation != LOAD:
                    self._use(each, {each.head.engine})
                else:
                    self.loading.append((each, set(addressing.get(each.head.number, ()))))
                place += 1
        self.engines_of = {id(each): engines for each, engines in self.loading}

    def loaders(self, loads):
        """Instructions that load, with their engines: that of the instruction where none needs it."""
        self._grow(loads)
        for each, engines in self.loading:
            if not engines:
                engines.add(each.head.engine)
        self._grow(loads)
        return self.loading

    def _grow(self, loads):
        """What one more engine uses may ask for others."""
        changed = True
        while changed:
            changed = False
            for each, engines in self.loading:
                self._use(each, engines)
            self.last.clear()
            for load in loads:
                known = self.engines_of[id(load.instruction)]
                more = self.engines(load) - known
                known |= more
                changed |= bool(more)

    def engines(self, load):
        counting = frozenset(engine for loop in load.loops for each in instructions([loop])
                             for engine in self.engines_of.get(id(each), (each.head.engine,)))
        if counting not in self.last:
            self.last[counting] = self._last_use(counting)
        meeting = {engine for engine, place in self.last[counting].items() if place >= self.first[id(load.instruction)]}
        return counting | meeting

    def _use(self, instruction, engines):
        place = self.place[id(instruction)]
        for access in instruction.accesses:
            users = self.users.setdefault(access.tile.family, {})
            users.update((engine, max(place, users.get(engine, 0))) for engine in engines)

    def _last_use(self, counting):
        """Where each engine uses a buffer of one of these last."""
        last = {}
        for users in self.users.values():
            if not counting.isdisjoint(users):
                for engine, place in users.items():
                    last[engine] = max(place, last.get(engine, 0))
        return last
