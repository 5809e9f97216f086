"""The instructions that load values from memory for engines (`loads` in the document).

An engine has registers of its own. It needs a value that a loop runs by if it has instructions in the loop, and, as it has to count
them, if it may wait for what the loop has done. So each such engine has the instruction, and goes on when that
has retired. Which loops run by which loads is known from the trace (loads.py).
"""

from .loads import LOAD
from .resolve import Instruction, instructions


_LOOP = "a loop"


class _Load:
    """One that is written."""

    __slots__ = ("instruction", "values", "names", "engines", "loops")

    def __init__(self, instruction, values):
        self.instruction, self.values = instruction, values  # of its head
        self.names, self.engines = set(), []  # of the document
        self.loops = []  # that run by its names


def placed(nodes, loads, name_of, order):
    """The loads that are written, by the `id` of their instruction. `name_of`: that of what a loop runs by. `order`: of engines."""
    placer = _Placer(loads, name_of)
    placer.body(nodes, {})
    placer.check()
    reach = _Reach(nodes, order)
    for load in placer.loads.values():
        load.engines = reach.engines(load)
    return placer.loads


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
                    self.recorded.miss(value, _LOOP)
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
                self.recorded.miss(value, _LOOP)


class _Reach:
    """Which engines need the values of a load: those of the loops that run by them, and those that use a buffer of one of these after
    the load, or in the next iteration of a loop around it."""

    def __init__(self, nodes, order):
        self.order, self.users, self.last = order, {}, {}
        self.first = {}  # where the outermost loop around begins, or itself
        place = 0
        for node in nodes:
            begin = place
            for each in instructions([node]):
                self.first[id(each)] = begin
                if each.head.operation != LOAD:
                    for access in each.accesses:
                        self.users.setdefault(access.tile.family, {})[each.head.engine] = place
                place += 1

    def engines(self, load):
        counting = frozenset(each.head.engine for loop in load.loops for each in instructions([loop]) if each.head.operation != LOAD)
        if counting not in self.last:
            self.last[counting] = self._last_use(counting)
        meeting = {engine for engine, place in self.last[counting].items() if place >= self.first[id(load.instruction)]}
        return sorted(counting | meeting, key=self.order.index)

    def _last_use(self, counting):
        """Where each engine uses a buffer of one of these last."""
        last = {}
        for users in self.users.values():
            if not counting.isdisjoint(users):
                for engine, place in users.items():
                    last[engine] = max(place, last.get(engine, 0))
        return last
