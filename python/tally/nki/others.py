"""What one program of a launch grid gets from the others, as inputs of the kernel that is written.

One program is traced, so what others send or write is there from the start. Each line that receives has a buffer of
messages, one after the other. Elements of a shared tensor that others write are in that tensor, if this program sees
no other number there. Where it does, a barrier takes all of the tensor from a message.
"""

import numpy as np

from .places import here
from .tree import Family
from .values import Memory, View, row_major


class Shared:
    """The numbers of a tensor in HBM that all programs have, and where any of them has written."""

    def __init__(self, data):
        self.data, self.written = data, np.zeros(data.size, bool)


class Own:
    """What one program has of a shared tensor, from the first time on that any program writes to it.

    `data`: its numbers as far as the program knows them, by what it wrote and by barriers. `first`: those that others
    had written where the program saw them for the first time. `written`, `seen`: where it has written, or seen that."""

    def __init__(self, shared):
        self.shared, self.data = shared, None

    def _begin(self):
        if self.data is None:
            self.data, self.first = np.zeros_like(self.shared.data), np.zeros_like(self.shared.data)
            self.written, self.seen = np.zeros(self.shared.data.size, bool), np.zeros(self.shared.data.size, bool)

    def write(self, put):
        """`put` writes to an array of the tensor's shape: numbers, or where there are some."""
        self._begin()
        put(self.data, None)
        put(self.written, True)
        put(self.shared.written, True)

    def look(self):
        """At a barrier: whether there are other numbers than the program knows."""
        if not self.shared.written.any():
            return False
        self._begin()
        data, known = self.shared.data.reshape(-1), self.data.reshape(-1)
        new = self.shared.written & ~self.written & ~self.seen
        self.first.reshape(-1)[new] = known[new] = data[new]
        self.seen |= new
        with np.errstate(invalid="ignore"):
            changed = (known != data) & (self.written | self.seen) & ~((known != known) & (data != data))
        return bool(changed.any())

    def take(self):
        self.data[...] = self.shared.data

    def first_numbers(self, before, blank):
        """What the tensor holds at the start, or None if that is what was there `before`."""
        self.look()  # what there was to see after the last barrier
        if self.data is None or not self.seen.any():
            return None
        shape = self.shared.data.shape
        return np.where(self.seen.reshape(shape), self.first, np.full(shape, blank) if before is None else before)

    def numbers(self):
        """What the program knows at the end; none elsewhere."""
        if self.data is None:
            return np.full(self.shared.data.shape, np.nan)
        return np.where(self.written.reshape(self.data.shape), self.data, np.nan)


class Messages:
    """Buffers with all messages that were received, by place and shape."""

    def __init__(self, tracer):
        self.tracer, self.memories, self.counts = tracer, {}, {}

    def add(self, array, element):
        """A view of the message, as it stands after those before it."""
        key = here(), array.shape, element.name
        count = self.counts.get(key, 0)
        memory = self.memories.get(key) or self._made(key, array.shape, element)
        if count == len(memory.data):
            self._resized(memory, np.concatenate([memory.data, np.zeros_like(memory.data)]))
        memory.data[count] = array
        self.counts[key] = count + 1
        return View(memory, count * array.size, array.shape, row_major(array.shape))

    def _made(self, key, shape, element):
        family = Family("received", (), (1, *shape), element, "hbm", key[0])
        memory = Memory((1, *shape), element, "hbm", True, family, (), self.tracer, np.zeros((1, *shape), element.dtype))
        memory.known = False
        self.tracer.recorder.bytes += memory.data.nbytes
        self.memories[key] = memory
        return memory

    def _resized(self, memory, data):
        self.tracer.recorder.bytes += data.nbytes - memory.data.nbytes
        memory.data, memory.shape, memory.size = data, data.shape, data.size
        memory.family.shape = data.shape

    def finished(self):
        """The memories, as large as they have to be."""
        for key, memory in self.memories.items():
            self._resized(memory, memory.data[:self.counts[key]])
            memory.first = memory.data
        return list(self.memories.values())


def from_others(memories):
    """Those tensors in which others have written before this program has, with that as their first numbers."""
    for memory in memories:
        if memory.own is not None:
            first = memory.own.first_numbers(memory.first, np.nan if memory.element.is_float else 0)
            if first is not None:
                memory.first = first
                yield memory
