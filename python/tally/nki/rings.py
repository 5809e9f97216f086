"""How many copies of a tile there are, and which one an iteration uses.

A family of allocations inside loops L1, ..., Ld needs an index for each of them, unless its tiles die
with the iteration that made them. Let `local` be how many of the outermost loops are, for every access,
in the very iteration in which its tile was allocated. After an iteration of the innermost of these,
nothing reads or writes the tile again, so a ring serves: slot `total(L) mod depth`, with one more slot for each
iteration that may overlap with the next. The loops inside of that get a dimension each, as long as they
are.

Only memory on the chip is in rings. A tensor in HBM has an index for each loop, whether the kernel returns it or not; one that
a dynamic loop allocates, and that is not returned, is one for all of its iterations.

Two slots are enough for one iteration to fill what the next one uses; the number is the user's choice
(`--ring`), since the language leaves it open.
"""

from .refusal import Refusal
from .resolve import instructions


class Layout:
    """A family as a buffer: the ring in front if there is one, then kept dimensions, then the tile."""

    def __init__(self, family, depth):
        self.family, self.depth = family, depth
        self.local = len(family.loops)

    @property
    def ring(self):
        return self.depth if self.local else 0

    @property
    def shape(self):
        kept = self.family.extents[self.local:]
        return ([self.depth] if self.ring else []) + kept + list(self.family.shape)

    def lead(self, access, positions):
        """The indices of the dimensions before the tile's own."""
        slot = [positions[self.local - 1].count.mod(self.depth)] if self.ring else []
        return slot + list(access.coordinates[self.local:])


def layouts(nodes, depth, loop_info):
    """The layout of each family that an instruction touches, in the order of the text."""
    found = {}
    for instruction in instructions(nodes):
        for access in instruction.accesses:
            family = access.tile.family
            layout = found.setdefault(family, Layout(family, depth))
            layout.local = min(layout.local, _same(access, instruction.positions))
    for layout in found.values():
        if layout.family.space == "hbm":
            _in_hbm(layout, loop_info)
        for loop in layout.family.loops[layout.local:]:
            name, place, trips = loop_info[loop]
            if trips is not None:
                raise Refusal(f"'{layout.family.name}' is allocated in the dynamic loop over '{name}' and "
                              f"{'returned' if layout.family.kept else 'used after that iteration'}; allocate it before the loop",
                              layout.family.place)
    return found


def _in_hbm(layout, loop_info):
    """Iterations of a dynamic loop share it, and all others have one of their own."""
    dynamic = [place for place, loop in enumerate(layout.family.loops, 1) if loop_info[loop][2] is not None]
    layout.local = max((place for place in dynamic if place <= layout.local and not layout.family.kept), default=0)
    layout.depth = 1


def _same(access, positions):
    """How many loops, from the outside, are in the iteration of the allocation."""
    count = 0
    for loop, coordinate, position in zip(access.tile.family.loops, access.coordinates, positions):
        if loop != position.loop or coordinate != position.index:
            break
        count += 1
    return count


