"""What one program of a launch grid gets from the others, as inputs of the kernel that is written.

One program is traced, so what others send or write is there from the start. Each line that receives has a buffer of
messages, one after the other. Elements of a shared tensor that others write are in that tensor, if this program reads
no other number there. Where it does, a message brings what they have now, before it is read.
"""

import numpy as np

from .places import here
from .values import Memory, View, row_major


class Shared:
    """The numbers of a tensor in HBM that all programs have, where any of them has written, and which have."""

    def __init__(self, data):
        self.data, self.written, self.writers = data, np.zeros(data.size, bool), set()


class Own:
    """What one program has of a shared tensor, from the first time on that any program writes to it.

    `data`: its numbers as far as the program knows them, by what it wrote and by messages. `first`: those that others
    had written where the program read them before it knew any. `written`, `known`, `seen`: where it was the last to
    write, where it knows numbers, and where these were first those of others."""

    def __init__(self, shared, rank):
        self.shared, self.rank, self.data = shared, rank, None

    def _begin(self):
        if self.data is None:
            self.data, self.first = np.zeros_like(self.shared.data), np.zeros_like(self.shared.data)
            self.written, self.known, self.seen = (np.zeros(self.shared.data.size, bool) for _ in range(3))

    def write(self, put):
        """`put` writes to an array of the tensor's shape: numbers, or where there are some."""
        self._begin()
        self.shared.writers.add(self.rank)
        put(self.data, None)
        for where in (self.written, self.known, self.shared.written):
            put(where, True)

    def take(self, view):
        """What the program has just written was brought by a message."""
        self.written[view.places()] = False

    def is_stale(self, view, always):
        """Whether a message has to bring what is read now. It `always` does, if others have written, where another answer
        in the next iteration would come from the inputs: in a dynamic loop, and at an address from memory."""
        if not self.shared.writers - {self.rank}:
            return False
        self._begin()
        places = view.places()
        data, known, first = (array.reshape(-1) for array in (self.shared.data, self.data, self.first))
        if always:
            return True
        new = places[self.shared.written[places] & ~self.known[places]]
        first[new] = known[new] = data[new]
        self.seen[new] = self.known[new] = True
        now, then = data[places], known[places]
        with np.errstate(invalid="ignore"):
            same = (now == then) | (now != now) & (then != then)
        return bool((~same & self.known[places]).any())

    def first_numbers(self, before, blank):
        """What the tensor holds at the start, or None if that is what was there `before`."""
        if self.data is None or not self.seen.any():
            return None
        shape = self.shared.data.shape
        return np.where(self.seen.reshape(shape), self.first, np.full(shape, blank) if before is None else before)

    def numbers(self):
        """What the program itself has written at the end; none elsewhere."""
        return np.full(self.shared.data.shape, np.nan) if self.data is None else np.where(self.has_written(), self.data, np.nan)

    def has_written(self):
        """Where the program was the last to write, at the end."""
        shape = self.shared.data.shape
        return np.zeros(shape, bool) if self.data is None else self.written.reshape(shape)


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
        data = np.zeros((1, *shape), element.dtype)
        family = self.tracer.recorder.family_outside("received", data.shape, element, "hbm", key[0], data.nbytes)
        memory = self.memories[key] = Memory(data.shape, element, "hbm", True, family, (), self.tracer, data)
        memory.known = False
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
    """Those tensors of which this program reads what others have written, with that as their first numbers."""
    for memory in memories:
        if memory.own is not None:
            first = memory.own.first_numbers(memory.first, np.nan if memory.element.is_float else 0)
            if first is not None:
                memory.first = first
                yield memory
