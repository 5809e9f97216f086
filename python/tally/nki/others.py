"""What one program of a launch grid gets from the others, as inputs of the kernel that is written.

One program is traced, so what others send or write is there from the start. Each line that receives has a buffer of
messages, one after the other. Elements of a shared tensor that only others write are in that tensor.
"""

import numpy as np

from .places import here
from .tree import Family
from .values import Memory, View, row_major


class Shared:
    """The numbers of a tensor in HBM that all programs have, and where any of them has written."""

    def __init__(self, data):
        self.data, self.written = data, np.zeros(data.size, bool)


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
    """Those tensors in which others have written what this program has not, with that as their first numbers."""
    for memory in memories:
        if memory.shared is None:
            continue
        theirs = (memory.shared.written & ~memory.own).reshape(memory.shape)
        if theirs.any():
            blank = np.full_like(memory.data, np.nan if memory.element.is_float else 0)
            memory.first = np.where(theirs, memory.data, blank if memory.first is None else memory.first)
            yield memory
