"""What a kernel handles while it is traced: memories, views of them, indices and registers.

A `Memory` is one allocation, with its numbers. A `View` is a pattern of a memory as the device's access
patterns are: an offset, and for each axis a stride and a count. Slices, index grids, reshapes and
`.ap` all make patterns, so the box of elements that a view touches (`locate`) is found in one place.

What comes from numbers that only a run knows is marked, never guessed: a `Register` whose value depends
on inputs is not `known`, and a view at such an address is `unknown`, so its tile says `X[@]`.
"""

from itertools import combinations, product
from math import gcd, prod
from typing import NamedTuple, Optional

import numpy as np

from .elements import find_element
from .places import here
from .refusal import Refusal


FAR = 2**24  # whole numbers up to here are exact in f32, which all arithmetic on memory is in


def refuse(message):
    raise Refusal(message, here())


# ---- Boxes ----------------------------------------------------------------------------------


class Box(NamedTuple):
    """The elements of a buffer that a pattern touches: for each dimension first, count and step.

    `exact`: these and no others, each once, except for axes along which the pattern repeats; `shape` is the
    pattern's with these as 1. `order`: how the pattern walks them, None if in row-major order.
    """

    firsts: tuple
    counts: tuple
    steps: tuple
    exact: bool
    order: Optional["Order"]
    shape: tuple


class Order(NamedTuple):
    """Another order than row-major: elements in row-major order, in `shape`, with their axes permuted."""

    shape: tuple
    axes: tuple

    def walked(self):
        """The shape of what is walked."""
        return tuple(self.shape[axis] for axis in self.axes)

    def back(self):
        """The permutation that undoes it."""
        return tuple(self.axes.index(axis) for axis in range(len(self.axes)))


def row_major(shape):
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def _unravel(offset, strides):
    place = []
    for stride in strides:
        place.append(offset // stride)
        offset -= place[-1] * stride
    return place


_boxes = {}


def locate(buffer, offset, shape, strides):
    """The box of a pattern in a buffer of this shape."""
    key = buffer, offset, shape, strides
    box = _boxes.get(key)
    if box is None:
        if len(_boxes) > 1_000_000:
            _boxes.clear()
        box = _boxes[key] = _locate(*key)
    return box


def _locate(buffer, offset, shape, strides):
    effective = tuple(1 if s == 0 else n for n, s in zip(shape, strides))
    axes = [(n, s) for n, s in zip(shape, strides) if n > 1 and s != 0]
    forward = all(stride > 0 for _, stride in axes)
    buffer_strides = row_major(buffer)
    if forward:
        firsts = _unravel(offset, buffer_strides)
        inward = sorted(axes, key=lambda axis: -axis[1])
        found = _walk(_merged(inward), buffer, buffer_strides, firsts)
        if found is not None:
            order = None if inward == axes else _order(axes)
            return Box(tuple(firsts), *found, True, order, effective)
    low = offset + sum((n - 1) * s for n, s in axes if s < 0)
    high = offset + sum((n - 1) * s for n, s in axes if s > 0)
    return _hull(low, high, buffer, buffer_strides, effective)


def _merged(axes):
    """Neighbouring axes that one axis can walk, merged."""
    merged = []
    for count, stride in reversed(axes):
        if merged and stride == merged[-1][0] * merged[-1][1]:
            merged[-1] = (count * merged[-1][0], merged[-1][1])
        else:
            merged.append((count, stride))
    return merged[::-1]


def _walk(axes, buffer, buffer_strides, firsts):
    """Counts and steps by dimension of axes from the outermost inwards; None if they make no box."""
    counts, steps = [1] * len(buffer), [1] * len(buffer)
    for count, stride in axes:
        while count > 1:
            dim = next((d for d, (extent, unit) in enumerate(zip(buffer, buffer_strides))
                        if extent > 1 and unit <= stride and stride % unit == 0), None)
            if dim is None or counts[dim] > 1:
                return None
            step = stride // buffer_strides[dim]
            row, rest = divmod(buffer[dim], step)
            steps[dim] = step
            if firsts[dim] + step * (count - 1) < buffer[dim]:
                counts[dim], count = count, 1
            elif row and not rest and firsts[dim] < step and count % row == 0:
                # It goes on in the dimension before, at the same place in each row.
                counts[dim], count = row, count // row
                stride = buffer_strides[dim] * buffer[dim]
            else:
                return None
    return tuple(counts), tuple(steps)


def _hull(low, high, buffer, buffer_strides, effective):
    """All from the first to the last element, with whole rows where they are in different ones."""
    first, last = _unravel(low, buffer_strides), _unravel(high, buffer_strides)
    counts, whole = [], False
    for dim, extent in enumerate(buffer):
        if whole:
            first[dim] = 0
        counts.append(extent if whole else last[dim] - first[dim] + 1)
        whole = whole or counts[-1] > 1
    return Box(tuple(first), tuple(counts), (1,) * len(buffer), False, None, effective)


def _order(axes):
    """Of axes that are walked from first to last, by their strides."""
    inward = sorted(range(len(axes)), key=lambda axis: -axes[axis][1])
    return Order(tuple(axes[axis][0] for axis in inward), tuple(inward.index(axis) for axis in range(len(axes))))


MOST_PARTS = 16


def split(buffer, offset, shape, strides):
    """Axes along which a pattern that is not a box becomes several boxes; none if they would be too many."""
    axes = [axis for axis, (count, stride) in enumerate(zip(shape, strides)) if 1 < count <= MOST_PARTS and stride]
    chosen = [parts for number in (1, 2, 3) for parts in combinations(axes, number)]
    for parts in sorted(chosen, key=lambda parts: prod(shape[axis] for axis in parts)):
        counts = tuple(1 if axis in parts else count for axis, count in enumerate(shape))
        if prod(shape[axis] for axis in parts) <= MOST_PARTS and all(
                locate(buffer, offset + sum(place), counts, strides).exact
                for place in product(*(range(0, shape[axis] * strides[axis], strides[axis]) for axis in parts))):
            return parts
    return ()


def limited(view, shape, limits):
    """The part of a tile that a mask lets through; a column stays."""
    if view.shape != shape:
        lead = [min(n, m) if n == s else n for n, s, m in zip(view.shape, shape, limits)]
        return view.first_of(lead + list(view.shape[len(lead):]))
    return view.first_of(limits)


class Pattern(NamedTuple):
    """The elements of a view that is not a box, or whose address comes from memory, in rows of its buffer.

    An element's row and column are those of the first element, plus a step for each axis times the index along it,
    plus `unit` times a number of the `source`-th tile that is read. `whole`: the last axis is that of whole rows."""

    shape: tuple
    steps: tuple  # of each axis, in rows and in columns
    source: Optional[int]
    unit: tuple
    each: bool  # each partition has a number of its own
    whole: bool


def _in_rows(row, first, shape, strides):
    """Shape, steps, and whether the last axis is whole rows; None if it cannot be said by rows and columns."""
    run, lead = 1, len(shape)
    while lead and (shape[lead - 1] == 1 or strides[lead - 1] == run):
        lead -= 1
        run *= shape[lead]
    if run % row == 0:
        rows = (run // row,) if run > row or not lead else ()
        shape, strides = (*shape[:lead], *rows, row), (*strides[:lead], *(row for _ in rows), 1)
    steps = tuple(divmod(stride, row) if stride > 0 else (stride, 0) for stride in strides)
    if min(strides, default=0) < 0 or first % row + sum(step * (count - 1) for (_, step), count in zip(steps, shape)) >= row:
        return None
    whole = run % row == 0 and first % row == 0 and not any(step for _, step in steps[:-1])
    return tuple(shape), steps, whole


def row_of(shape):
    """Elements in a row of a buffer."""
    return prod(shape[1:])


# ---- Memories -------------------------------------------------------------------------------


class Memory:
    """One allocation.

    `family` and `coordinates` say which of the allocations of its line it is (tree.py). `known`: its
    numbers follow from the kernel alone, not from its inputs. `modern`: it was made through the second
    generation of the interface, whose rules of indexing are its own. `tracer` does what operators on
    tiles ask for.
    """

    __slots__ = ("shape", "element", "space", "data", "family", "coordinates", "known", "modern",
                 "set_parts", "zero", "producer", "size", "tracer", "written",
                 "first", "version", "moved", "never_known", "own", "nans", "blank")

    def __init__(self, shape, element, space, modern, family, coordinates, tracer, data=None):
        self.shape, self.element, self.space, self.modern = shape, element, space, modern
        self.family, self.coordinates, self.tracer = family, coordinates, tracer
        self.size = prod(shape)
        if data is None:
            # No number; where the type has none, the one that tally's simulator has there.
            blank = np.nan if element.is_float else np.iinfo(element.dtype).min if element.dtype.kind == "i" else 0
            self.data = np.full(shape, blank, element.dtype)
        else:
            self.data = np.ascontiguousarray(element.fit(data)).reshape(shape)
        self.known, self.never_known = True, False
        self.written, self.version = False, 0
        self.moved = None  # where its only writer was made to write instead, and the version of that
        self.first = None  # of an input: its numbers before the kernel ran; `data` itself until it is written
        # Of whole numbers in HBM, where nothing has been written; of others, NaN says so.
        self.blank = np.ones(shape, bool) if data is None and space == "hbm" and not element.is_float else None
        self.nans = None  # where NaN was written, if anywhere; what nothing has written is NaN, too
        self.set_parts = None  # of a sum: where products have been added
        self.zero = False  # zeros that are not written yet
        self.own = None  # of a tensor that other programs write, too: what this one has of it (others.py)
        self.producer = None  # the operation whose result this is, and nothing else

    @property
    def place(self):
        return self.family.place

    def __del__(self):
        if hasattr(self, "data"):  # memory may have ended
            self.tracer.recorder.bytes -= self.data.nbytes


def whole(memory):
    return View(memory, 0, memory.shape, row_major(memory.shape))


class View:
    """A pattern of a memory; what kernels call a tensor or a tile."""

    __slots__ = ("memory", "offset", "shape", "strides", "unknown", "sources", "scattered", "outside", "other",
                 "moves", "loaded", "base", "unit", "wide", "narrow", "grids")

    def __init__(self, memory, offset, shape, strides, unknown=False, sources=(), scattered=None):
        self.memory, self.offset, self.shape, self.strides = memory, offset, shape, strides
        self.unknown, self.sources, self.scattered = unknown, sources, scattered
        self.moves = False  # whether a register is in its address: in a dynamic loop, it may be another one each time
        self.loaded = frozenset()  # the values of registers in its address
        self.base, self.unit = offset, 0  # the offset without what comes from memory, and the factor of that
        self.other = None  # the element type that its bits stand for, if it is not its memory's
        self.wide = self.narrow = 1  # memory's elements in one of this type, or the other way; the pattern counts these
        self.outside = None  # of scattered elements: which have no place in the memory
        self.grids = ()  # of index grids, that a mask may still limit: first index, factor along each axis, extent

    # What kernels ask of a tensor.
    dtype = property(lambda self: self.other or self.memory.element)
    buffer = property(lambda self: self.memory.space)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    name = property(lambda self: self.memory.family.name)
    base_tensor = property(lambda self: whole(self.memory))

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self):
        return f"<{self.memory.family.name}: {self.memory.element} {list(self.shape)}>"

    # ---- Data

    def read(self):
        if self.scattered is not None:
            return self.memory.data.reshape(-1)[self.scattered]
        return self._array()

    def write(self, values):
        values, memory = self.memory.element.fit(values), self.memory
        if memory.tracer.disturb is not None:
            values = memory.tracer.disturb(np.asarray(values))
        if memory.first is memory.data:
            memory.first = memory.data.copy()
        self._put(memory.data, values)
        if memory.blank is not None:
            self._put(memory.blank, np.zeros(np.shape(values), bool))
        self._note_nans(values)
        if memory.own is not None:
            memory.own.write(lambda numbers, mark: self._put(numbers, values if mark is None else mark))

    def _note_nans(self, values):
        memory = self.memory
        if memory.space == "hbm" and memory.element.is_float and (memory.nans is not None or np.isnan(values).any()):
            memory.nans = np.zeros(memory.shape, bool) if memory.nans is None else memory.nans
            self._put(memory.nans, np.isnan(values))

    def places(self):
        """The numbers of its elements, counted through the memory."""
        if self.scattered is not None:
            return self.scattered.reshape(-1)
        places = np.full(self.shape, self.offset, np.int64)
        for axis, (count, stride) in enumerate(zip(self.shape, self.strides)):
            places += (np.arange(count) * stride).reshape((-1,) + (1,) * (self.ndim - axis - 1))
        return places.reshape(-1)

    def once(self):
        """The same elements, each once if the view repeats them along an axis."""
        if self.scattered is not None or 0 not in self.strides:
            return self
        return self._with(self.offset, [1 if stride == 0 else n for n, stride in zip(self.shape, self.strides)], self.strides)

    def _put(self, numbers, values):
        """Into an array of the memory's shape."""
        if self.outside is not None:
            there = ~self.outside
            values = values.reshape(self.shape)[there] if np.ndim(values) else values
            numbers.reshape(-1)[self.scattered[there]] = values
        elif self.scattered is not None:
            numbers.reshape(-1)[self.scattered] = values.reshape(self.shape) if np.ndim(values) else values
        else:
            array = self._array(numbers)
            array[...] = values.reshape(self.shape) if np.size(values) == array.size else values

    def _array(self, data=None):
        data = self.memory.data if data is None else data
        item = data.itemsize
        try:
            return np.ndarray(self.shape, data.dtype, data, self.offset * item,
                              tuple(s * item for s in self.strides))
        except (ValueError, TypeError):
            refuse(f"{self!r} from element {self.offset} on, with strides {list(self.strides)}, leaves "
                   f"'{self.name}' of shape {list(self.memory.shape)}")

    def box(self):
        return locate(self.memory.family.shape, self.offset, self.shape, self.strides)

    def parts(self, axis):
        """One view for each place along an axis, which stays."""
        shape = tuple(1 if place == axis else count for place, count in enumerate(self.shape))
        return [self._with(self.offset + number * self.strides[axis], shape, self.strides)
                for number in range(self.shape[axis])]

    # ---- Other views of the same memory

    def _with(self, offset, shape, strides, unknown=False, sources=(), moves=False, registers=()):
        """`registers`: what else is in its address, by their identities."""
        if self.scattered is not None:
            refuse("a tensor at addresses from memory cannot be sliced or reshaped further; "
                   "slice or reshape it before")
        made = View(self.memory, offset, tuple(shape), tuple(strides), self.unknown or unknown,
                    self.sources + tuple(sources))
        made.other, made.unit = self.other, self.unit
        made.moves = self.moves or moves
        made.loaded = self.loaded.union(*map(values_in, registers))
        made.wide, made.narrow = self.wide, self.narrow
        made.base = self.base + offset - self.offset
        return made

    def first_of(self, shape):
        """The first elements along each axis."""
        made = self._with(self.offset, shape, self.strides)
        made.grids = self.grids
        return made

    def check_grids(self):
        """Indices of grids are inside their axes, now that masks have had their say."""
        for first, factors, extent in self.grids:
            ends = [factor * (count - 1) for factor, count in zip(factors, self.shape)]
            low, high = first + sum(end for end in ends if end < 0), first + sum(end for end in ends if end > 0)
            if low < 0 or high >= extent:
                refuse(f"index grids from {low} to {high} on an axis of {extent} of '{self.name}'; leave the rest out by 'mask='")

    def __getitem__(self, index):
        return indexed(self, index if isinstance(index, tuple) else (index,))

    def __setitem__(self, index, value):
        self.memory.tracer.assign(self[index], value)

    def depends_on(self, *_, kind=None):
        """An edge of the kernel's own, of the instruction whose result this is."""
        self.memory.tracer.recorder.obstacle("an edge by 'depends_on': order follows from data alone")
        return self

    # ---- What Python and NumPy ask for, and cannot have

    def _refused(self, what):
        refuse(f"{what} of the tensor '{self.name}': its numbers are not known before the kernel runs; compute on the device, "
               "with 'nki.language' or 'nki.isa', or load a number into a register")

    def __int__(self):
        self._refused("a Python number")

    __float__ = __int__

    def __array__(self, *_, **__):
        self._refused("an array of NumPy")

    def __array_ufunc__(self, function, method, *inputs, **_):
        """NumPy's numbers leave arithmetic with tiles to us."""
        turned = _TURNED.get(function.__name__)
        if turned is None or method != "__call__" or inputs[1] is not self:
            self._refused(f"NumPy's '{function.__name__}'")
        return getattr(self, turned)(inputs[0])

    # ---- Operators, each an instruction

    def __add__(self, other):
        return self.memory.tracer.arithmetic("add", self, other)

    def __radd__(self, other):
        return self.memory.tracer.arithmetic("add", self, other)

    def __sub__(self, other):
        return self.memory.tracer.arithmetic("subtract", self, other)

    def __rsub__(self, other):
        return self.memory.tracer.arithmetic("subtract", self, other, reverse=True)

    def __mul__(self, other):
        return self.memory.tracer.arithmetic("multiply", self, other)

    def __rmul__(self, other):
        return self.memory.tracer.arithmetic("multiply", self, other)

    def __truediv__(self, other):
        return self.memory.tracer.arithmetic("divide", self, other)

    def __rtruediv__(self, other):
        return self.memory.tracer.arithmetic("divide", self, other, reverse=True)

    def __neg__(self):
        return self.memory.tracer.arithmetic("multiply", self, -1.0, given={"dtype": self.dtype})

    def __iadd__(self, other):
        return self.memory.tracer.add_to(self, other)

    def _compared(self, name, other):
        """In the first generation an operator like the others."""
        if self.memory.modern:
            refuse(f"a Python comparison of a tensor: its numbers are not known before the kernel runs; compare on the "
                   f"device, by 'op=nl.{name}'")
        return self.memory.tracer.arithmetic(name, self, other)

    def __lt__(self, other):
        return self._compared("less", other)

    def __le__(self, other):
        return self._compared("less_equal", other)

    def __gt__(self, other):
        return self._compared("greater", other)

    def __ge__(self, other):
        return self._compared("greater_equal", other)

    def __eq__(self, other):
        if isinstance(other, (int, float, np.number, View, Register)):
            return self._compared("equal", other)
        return NotImplemented  # as None is

    def __ne__(self, other):
        if isinstance(other, (int, float, np.number, View, Register)):
            return self._compared("not_equal", other)
        return NotImplemented

    __hash__ = object.__hash__

    def __contains__(self, _):
        refuse(f"'in' of the tensor '{self.name}': its numbers are not known before the kernel runs; compare on the device, by "
               "'op=nl.equal'")

    def __bool__(self):
        """In the second generation, kernels ask so whether there is a tensor at all."""
        if self.size == 1 or not self.memory.modern:
            refuse(f"a Python condition on the tensor '{self.name}': its numbers are not known before the kernel runs. Whether there is "
                   "a tensor at all is asked by 'is not None'; a condition is computed on the device")
        self.memory.tracer.recorder.obstacle(f"a Python condition on the tensor '{self.name}' counts as true, since there is one; 'is "
                                             "not None' says so")
        return True

    def reshape(self, *shape):
        shape = tuple(int(n) for n in (shape[0] if isinstance(shape[0], (tuple, list)) else shape))
        if -1 in shape:
            rest = -prod(shape)
            shape = tuple(self.size // max(rest, 1) if n == -1 else n for n in shape)
        if prod(shape) != self.size:
            refuse(f"a tensor of shape {list(self.shape)} has no shape {list(shape)}")
        strides = reshaped(self.shape, self.strides, shape)
        if strides is None:
            refuse(f"a tensor of shape {list(self.shape)} and strides {list(self.strides)} has no "
                   f"shape {list(shape)} without a copy; copy it first")
        return self._with(self.offset, shape, strides)

    def reshape_dim(self, dim, shape):
        return self.reshape(self.shape[:dim] + tuple(shape) + self.shape[dim + 1:])

    def flatten_dims(self, start_dim, end_dim):
        return self.reshape(self.shape[:start_dim] + (-1,) + self.shape[end_dim + 1:])

    def expand_dim(self, dim):
        return self.reshape(self.shape[:dim] + (1,) + self.shape[dim:])

    def squeeze_dim(self, dim):
        return self.reshape(self.shape[:dim] + self.shape[dim + 1:])

    def permute(self, dims):
        return self._with(self.offset, [self.shape[d] for d in dims], [self.strides[d] for d in dims])

    def broadcast(self, dim, size):
        shape = self.shape[:dim] + (int(size),) + self.shape[dim + 1:]
        return self.broadcast_to(shape)

    def broadcast_to(self, *shape):
        shape = tuple(int(n) for n in (shape[0] if isinstance(shape[0], (tuple, list)) else shape))
        lead = len(shape) - len(self.shape)
        strides = [0] * lead
        for have, stride, extent in zip(self.shape, self.strides, shape[lead:]):
            if have not in (1, extent):
                refuse(f"a tensor of shape {list(self.shape)} does not go with {list(shape)}")
            strides.append(stride if have == extent else 0)
        return self._with(self.offset, shape, strides)

    def slice(self, dim, start, end, step=1):
        return self[(slice(None),) * dim + (slice(start, end, step),)]

    def select(self, dim, index):
        if isinstance(index, View):
            return self._moved(index, self.strides[dim], self.offset,
                               self.shape[:dim] + self.shape[dim + 1:],
                               self.strides[:dim] + self.strides[dim + 1:])
        offset = self.offset + int(index) * self.strides[dim]
        return self._with(offset, self.shape[:dim] + self.shape[dim + 1:],
                          self.strides[:dim] + self.strides[dim + 1:])

    def get_pattern(self):
        return [[stride, count] for stride, count in zip(self.strides, self.shape)]

    def is_contiguous(self):
        dim = 0 if self.memory.space == "hbm" else 1
        return self.strides[dim:] == row_major(self.shape[dim:])

    def is_indirect(self):
        return self.unknown or self.scattered is not None

    def ap(self, pattern=None, offset=None, scalar_offset=None, vector_offset=None, indirect_dim=0,
           dtype=None):
        """The device's access pattern: `[stride, count]` for each axis."""
        if dtype is not None and dtype != self.dtype:
            return self.view(dtype).ap(pattern, offset, scalar_offset, vector_offset, indirect_dim)
        pattern = pattern if pattern is not None else self.get_pattern()
        shape, strides = tuple(int(p[1]) for p in pattern), tuple(int(p[0]) for p in pattern)
        offset = self.offset + int(offset or 0)
        # Of the tensor as it was reshaped; a part of it has the strides of the whole.
        unit = (self.strides if self.size == self.memory.size else row_major(self.memory.shape))[indirect_dim]
        if vector_offset is not None:
            return self._scattered(vector_offset, unit, offset, shape, strides)
        if scalar_offset is not None:
            return self._moved(scalar_offset, unit, offset, shape, strides)
        return self._with(offset, shape, strides)

    def _moved(self, by, unit, offset, shape, strides):
        """`by` units further: a register, or a number in memory."""
        self.memory.tracer.recorder.far |= self.memory.size // max(unit, 1) > FAR
        if isinstance(by, Register):
            return self._with(offset + by.value * unit, shape, strides, not by.known, moves=True, registers=[by.identity])
        at = int(np.asarray(by.read()).reshape(-1)[0])
        made = self._with(offset + at * unit, shape, strides, not by.is_known_number(), (by,), moves=True)
        made.base, made.unit = self.base + offset - self.offset, unit
        return made

    def is_known_number(self):
        """Whether what is read here in a dynamic loop follows from the loop's index, if anything changes it at all. From
        another place in each iteration come any numbers."""
        memory = self.memory
        return memory.known and not self.unknown and not (self.moves and memory.tracer.recorder.is_dynamic)

    def _scattered(self, by, unit, offset, shape, strides):
        """Each partition at an address of its own, from `by`."""
        if by.size > shape[0] == by[0:shape[0]].size:
            by = by[0:shape[0]]
        index = offset + np.asarray(by.read()).reshape(-1)[:shape[0]].astype(np.int64) * unit
        for count, stride in zip(shape[1:], strides[1:]):
            index = index[..., None] + np.arange(count) * stride
        inside = np.clip(index, 0, self.memory.size - 1)
        view = View(self.memory, offset, shape, strides, True, self.sources + (by,), inside)
        view.unit, view.loaded = unit, self.loaded
        if (inside != index).any():
            view.outside = inside != index
        return view

    def leaves(self):
        """Whether an address from memory leads out of the tensor, as a whole."""
        first = self.offset + sum(min(0, s * (n - 1)) for n, s in zip(self.shape, self.strides))
        last = self.offset + sum(max(0, s * (n - 1)) for n, s in zip(self.shape, self.strides))
        return self.scattered is None and not 0 <= first <= last < self.memory.size

    def pattern(self, sources, shape=None):
        """For `tree.Tile`; `sources` has the numbers of the tiles that are read for addresses. None if no pattern
        says it, of the tensor in this shape or in that of its family."""
        if self.outside is not None or len(self.sources) > 1 or self.unknown and not self.sources:
            return None
        shape = shape or self.memory.family.shape
        row, source = row_of(shape), sources.get(id(self.sources[0])) if self.sources else None
        strides = self.strides if self.scattered is None else (0, *self.strides[1:])
        found = _in_rows(row, self.base, self.shape, strides)
        if found is None or self.sources and not self._column_fits(row):
            return None
        counts, steps, whole = found
        whole = whole and self.unit % row == 0
        if not whole and len(shape) != 2:
            return None
        return Pattern(counts, steps, source, divmod(self.unit, row), self.scattered is not None, whole)

    def _column_fits(self, row):
        """Whether the part of the address that is from memory leads to no other row by its column."""
        return self.unit % row == 0 or self.unit < row and (
            self.base % row + self.unit * int(np.max(self.sources[0].read())) < row)

    def common_row(self):
        """The longest row in which the view is whole rows, whatever its address from memory is."""
        run, lead = 1, self.ndim
        while lead and (self.shape[lead - 1] == 1 or self.strides[lead - 1] == run):
            lead -= 1
            run *= self.shape[lead]
        others = self.strides[1 if self.scattered is not None else 0:lead]
        return gcd(run, self.base, self.unit, self.memory.size, *others)

    def vector_select(self, dim, vector_offset):
        shape = (vector_offset.shape[0],) + self.shape[1:]
        return self._scattered(vector_offset, self.strides[dim], self.offset, shape, self.strides)

    def view(self, dtype):
        element = find_element(dtype)
        if element is self.dtype:
            return self
        if element is not None and (element.packed or self.dtype.packed) and element.dtype == self.memory.element.dtype:
            made = self._with(self.offset, self.shape, self.strides)
            made.other = element
            return made
        if element is None or (self.dtype.name, element.name) not in _VIEWS or not self._can_cast(element.itemsize):
            refuse(f"a view of '{self.dtype}' as '{dtype}' is not modelled; copy to a tensor of that type")
        have, want = self.itemsize, element.itemsize
        made = self._with(self.offset * have // want, (*self.shape[:-1], self.shape[-1] * have // want),
                          (*(stride * have // want for stride in self.strides[:-1]), 1))
        made.other, made.wide, made.narrow = element, max(1, want // have), max(1, have // want)
        return made

    def _can_cast(self, size):
        """Whether all that the view has side by side are whole elements of this size."""
        numbers = (self.offset, self.shape[-1], *self.strides[:-1])
        return self.wide == self.narrow == 1 and self.strides[-1] == 1 and not any(
            number * self.itemsize % size for number in numbers)

    def plain(self):
        """Of a view of another element type: one for each of the memory's elements in one of its own, or one that has
        each of them once, and which part of these it is (None: all, side by side)."""
        if self.wide > 1:
            return [View(self.memory, self.offset * self.wide + part, self.shape,
                         tuple(stride * self.wide for stride in self.strides)) for part in range(self.wide)], None
        if not any(stride % self.narrow for count, stride in zip(self.shape, self.strides) if count > 1):
            return [View(self.memory, self.offset // self.narrow, self.shape,
                         tuple(stride // self.narrow for stride in self.strides))], self.offset % self.narrow
        *others, last = self.strides
        if last != 1 or any(number % self.narrow for number in (self.offset, self.shape[-1], *others)):
            refuse(f"{self!r}, a view of '{self.memory.element}', that begins or ends inside an element")
        return [View(self.memory, self.offset // self.narrow, (*self.shape[:-1], self.shape[-1] // self.narrow),
                     (*(stride // self.narrow for stride in others), 1))], None


# Methods of the right operand, by NumPy's names of the operators.
_TURNED = {"add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__", "true_divide": "__rtruediv__",
           "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__", "greater_equal": "__le__"}

# Which element types may be looked at as which, by their bits.
_VIEWS = {("bfloat16", "float32"), ("bfloat16", "int32"), ("bfloat16", "uint32"), ("float32", "bfloat16")}


def merged(shape, strides):
    """The same elements in the same order, with as few axes as there can be."""
    return tuple(_merged([(n, s) for n, s in zip(shape, strides) if n != 1]))


def reshaped(shape, strides, wanted):
    """The strides with which the pattern has the wanted shape, or None."""
    have = list(merged(shape, strides))
    result, left, stride = [], 1, 1
    for extent in reversed(wanted):
        if extent == 1:
            result.append(0)
            continue
        if left == 1:
            left, stride = have.pop()
        if left % extent:
            return None
        result.append(stride)
        left //= extent
        stride *= extent
    return tuple(reversed(result))


def memories_in(result):
    """The memories of all tensors in lists, tuples, dictionaries and plain objects, each once."""
    found, pending, seen = {}, [result], set()
    while pending:
        thing = pending.pop()
        if isinstance(thing, View):
            found[id(thing.memory)] = thing.memory
        elif id(thing) not in seen and not isinstance(thing, type):
            seen.add(id(thing))
            if isinstance(thing, dict):
                pending += thing.values()
            elif isinstance(thing, (list, tuple, set, frozenset)):
                pending += thing
            elif not callable(thing):
                pending += getattr(thing, "__dict__", {}).values()
    return list(found.values())


class LoopReduce:
    """`dst[...] = nl.loop_reduce(x, op, ...)`: each iteration takes `x` and what `dst` was together."""

    __slots__ = ("tile", "operator")

    def __init__(self, tile, operator):
        self.tile, self.operator = tile, operator


# ---- Indices --------------------------------------------------------------------------------


class DynamicSlice:
    """`nl.ds(start, size)`; no tuple, since a tuple is several indices."""

    __slots__ = ("start", "size")

    def __init__(self, start, size):
        self.start, self.size = start, size


class Grid:
    """An array of indices that are affine in their place, as `nl.arange` and `nl.mgrid` make them.

    `registers` is the identity of the sum of registers in it, a number if there are none; `moves`: one was added in a dynamic loop, so
    it may be another number in each iteration."""

    __slots__ = ("shape", "first", "factors", "registers", "moves")
    __array_ufunc__ = None

    def __init__(self, shape, first, factors, registers=0, moves=False):
        self.shape, self.first, self.factors = shape, first, factors
        self.registers, self.moves = registers, moves and not isinstance(registers, int)

    @property
    def ndim(self):
        return len(self.shape)

    def dense(self):
        """Its numbers, for Python."""
        if not isinstance(self.registers, int):
            refuse("numbers of an index grid that a register is in: Python would see what it holds; grids are added, subtracted, and "
                   "multiplied by numbers")
        values = np.full(self.shape, self.first, np.int64)
        for axis, factor in enumerate(self.factors):
            steps = np.arange(self.shape[axis]) * factor
            values += steps.reshape((-1,) + (1,) * (len(self.shape) - axis - 1))
        return values

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if any(i is not None and i != slice(None) for i in index):
            return self.dense()[index]
        shape, factors, axis = [], [], 0
        for i in index + (slice(None),) * (self.ndim - sum(i is not None for i in index)):
            if i is None:
                shape.append(1)
                factors.append(0)
            else:
                shape.append(self.shape[axis])
                factors.append(self.factors[axis])
                axis += 1
        return Grid(tuple(shape), self.first, tuple(factors), self.registers, self.moves)

    def _padded(self, rank):
        lead = rank - self.ndim
        return (1,) * lead + self.shape, (0,) * lead + self.factors

    def _plus(self, other, sign):
        if isinstance(other, Register):
            if not other.known:
                refuse("an index grid at an address from memory is not modelled; use 'ap' with "
                       "'scalar_offset'")
            return Grid(self.shape, self.first + sign * other.value, self.factors, _combined(1, self.registers, sign, other.identity),
                        self.moves or other.recorder is not None and other.recorder.is_dynamic)
        if isinstance(other, (int, np.integer)):
            return Grid(self.shape, self.first + sign * int(other), self.factors, self.registers, self.moves)
        if isinstance(other, np.ndarray):
            return self.dense() + sign * other
        if not isinstance(other, Grid):
            return NotImplemented
        rank = max(self.ndim, other.ndim)
        (shape, factors), (others, more) = self._padded(rank), other._padded(rank)
        return Grid(tuple(map(max, shape, others)), self.first + sign * other.first,
                    tuple(a + sign * b for a, b in zip(factors, more)),
                    _combined(1, self.registers, sign, other.registers), self.moves or other.moves)

    def __add__(self, other):
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._plus(other, -1)

    def __rsub__(self, other):
        return self * -1 + other

    def __neg__(self):
        return self * -1

    def __mul__(self, factor):
        if not isinstance(factor, (int, np.integer)):
            return self.dense() * (factor.dense() if isinstance(factor, Grid) else factor)
        return Grid(self.shape, self.first * int(factor), tuple(f * int(factor) for f in self.factors),
                    _combined(int(factor), self.registers, 0, 0), self.moves)

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return self.dense() // other

    def __mod__(self, other):
        return self.dense() % other

    def __lt__(self, other):
        return Mask((self - other,))

    def __le__(self, other):
        return self < other + 1

    def __gt__(self, other):
        return Mask((self * -1 + other,))

    def __ge__(self, other):
        return self > other - 1


class Mask:
    """Where all of some affine grids are negative."""

    __slots__ = ("parts",)

    def __init__(self, parts):
        self.parts = parts

    def __and__(self, other):
        if not isinstance(other, Mask):
            refuse(f"a mask and {type(other).__name__}; masks go together by '&'")
        return Mask(self.parts + other.parts)

    def __bool__(self):
        refuse("a Python condition of a mask, which has one answer for each element: 'and', 'or', 'not', and comparisons in a chain "
               "leave parts of it out; say '&' between two masks in brackets, as in (i < 8) & (j < 4)")

    def _cannot(self, *_):
        refuse("a mask that keeps other elements than the first ones along an axis; say it by several operations")

    __or__ = __ror__ = __xor__ = __invert__ = _cannot

    def limits(self, shape):
        """For each axis of the shape how many of its first elements are let through."""
        counts = list(shape)
        for grid in self.parts:
            if not isinstance(grid, Grid):
                refuse("a mask that is not affine in its grid")
            if grid.moves:
                refuse("a mask that a register or the index of a dynamic loop is in: it would let other elements through in each iteration. "
                       "Choose them on the device, as by 'nl.where' and 'nisa.iota', or let the loop end before the last block")
            lead = len(shape) - grid.ndim
            axes = [axis for axis, factor in enumerate(grid.factors) if factor]
            if not axes:
                if grid.first >= 0:
                    counts[0] = 0
                continue
            if len(axes) > 1 or grid.factors[axes[0]] < 0 or lead < 0:
                refuse("a mask that keeps other elements than the first ones along an axis; "
                       "say it by several operations")
            axis, factor = axes[0] + lead, grid.factors[axes[0]]
            counts[axis] = min(counts[axis], max(0, -(grid.first // factor)))
        return tuple(counts)


def affine_grid(array):
    """The array of indices as a grid, or None if it is not affine."""
    array = np.asarray(array)
    if array.size == 0 or array.dtype.kind not in "iu":
        return None
    first = int(array.reshape(-1)[0])
    factors = []
    for axis, extent in enumerate(array.shape):
        place = tuple(1 if a == axis else 0 for a in range(array.ndim))
        factors.append(int(array[place]) - first if extent > 1 else 0)
    grid = Grid(array.shape, first, tuple(factors))
    return grid if np.array_equal(grid.dense(), array) else None


def indexed(view, index):
    """The view at an index in the way of NumPy, of index grids, or of the device."""
    if view.scattered is not None:
        refuse("a tensor at addresses from memory cannot be indexed further; index it before")
    index = _without_ellipsis(index, len(view.shape))
    by = [place for place, i in enumerate(index) if isinstance(i, View) and i.size > 1]
    if by:
        return _at_rows(view, index, *by)
    if any(isinstance(i, (Grid, np.ndarray)) and getattr(i, "ndim", 0) for i in index):
        return _at_grids(view, index)
    return _at_slices(view, index)


def _without_ellipsis(index, rank):
    given = sum(i is not None and i is not Ellipsis for i in index)
    if given > rank:
        refuse(f"{given} indices of a tensor of {rank} axes")
    if not any(i is Ellipsis for i in index):
        return index + (slice(None),) * (rank - given)
    at = next(k for k, i in enumerate(index) if i is Ellipsis)
    return index[:at] + (slice(None),) * (rank - given) + index[at + 1:]


def _at_slices(view, index):
    offset, registers = view.offset, []
    shape, strides, selected, axis = [], [], [], 0
    on_chip = view.memory.modern and view.memory.space != "hbm"
    for i in index:
        if i is None:
            shape.append(1)
            strides.append(0)
            continue
        extent, stride = view.shape[axis], view.strides[axis]
        view.memory.tracer.recorder.far |= extent > FAR
        if isinstance(i, (slice, DynamicSlice)):
            start, count, step, register = _range(i, extent)
            shape.append(count)
            strides.append(stride * step)
        else:
            start, register = _position(i, extent)
            if on_chip and axis == 0:
                shape.append(1)
                strides.append(stride)
            else:
                selected.append(len(shape))
        registers += [register] if register is not None else []
        offset += start * stride
        axis += 1
    # A tile keeps two axes, a tensor in HBM one.
    least = 2 if view.memory.space != "hbm" else 1
    for place in reversed(selected):
        if len(shape) < least:
            shape.insert(place, 1)
            strides.insert(place, 0)
    return _at_registers(view, offset, shape, strides, registers)


def _at_registers(view, offset, shape, strides, registers, grids=()):
    """Of registers in its address, and index grids with registers in them."""
    sums = [grid.registers for grid in grids if not isinstance(grid.registers, int)]
    return view._with(offset, shape, strides, not all(register.known for register in registers), moves=bool(registers or sums),
                      registers=[*sums, *(register.identity for register in registers)])


def _number_of(value):
    """A whole number, and the register that says it, or None."""
    if isinstance(value, Register):
        return value.value, value
    if isinstance(value, View):
        one = value.size == 1
        refuse("an index from memory; " + ("load it into a register, or use 'ap' with 'scalar_offset'" if one else
                                           "gather or scatter rows by 'ap' with 'vector_offset'"))
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        refuse(f"an index of type '{type(value).__name__}'; an index is a whole number, a slice, an index grid, or a register")
    return int(value), None


def _position(index, extent):
    number, register = _number_of(index)
    if number < -extent or number >= extent:
        refuse(f"index {number} of an axis of {extent}")
    return number % extent, register


def _range(part, extent):
    """First, count and step of a slice, and the register that its start is, or None."""
    if isinstance(part, DynamicSlice):
        start, register = _number_of(part.start)
        count, step = int(part.size), 1
    else:
        step = int(1 if part.step is None else part.step)
        if step < 1:
            refuse(f"a slice with a step of {step}; it is at least 1")
        start, register = _number_of(part.start if part.start is not None else 0)
        stop, _ = _number_of(part.stop if part.stop is not None else extent)
        if isinstance(part.start, Register) or isinstance(part.stop, Register):
            _check_length(part, extent, stop - start)
        if register is None:
            start, stop = (number + extent if number < 0 else number for number in (start, stop))
        count = max(0, -(-(stop - start) // step))
    if count < 1 or start < 0 or start + (count - 1) * step >= extent:
        refuse(f"elements {start} to {start + (count - 1) * step} of an axis of {extent}")
    return start, count, step, register


def _check_length(part, extent, length):
    """The length of a slice is the same whatever its registers hold."""
    if difference(extent if part.stop is None else identity_of(part.stop),
                  0 if part.start is None else identity_of(part.start)) != length:
        refuse(f"the length of the slice '{_bound(part.start)}:{_bound(part.stop)}' depends on a register, and sizes are "
               "numbers; use 'nl.ds(start, size)'")


def _bound(bound):
    if isinstance(bound, Register):
        return bound.name or "register"
    return "" if bound is None else str(bound)


def _at_grids(view, index):
    """Index grids, as NumPy has them: their axes first, then those of slices."""
    grids, extents_of, rest, offset, axis, registers = [], [], [], view.offset, 0, []
    for i in index:
        if i is None:
            refuse("None together with index grids")
        extent, stride = view.shape[axis], view.strides[axis]
        if isinstance(i, np.ndarray) and i.ndim:
            grid = affine_grid(i)
            grids.append((grid if grid is not None else refuse(
                "indices that are not affine in their place; gather with 'ap' and 'vector_offset'"), stride))
            extents_of.append(extent)
        elif isinstance(i, Grid):
            grids.append((i, stride))
            extents_of.append(extent)
        elif isinstance(i, (slice, DynamicSlice)):
            start, count, step, register = _range(i, extent)
            rest.append((len(grids), count, stride * step))
            offset += start * stride
            registers += [register] if register is not None else []
        else:
            start, register = _position(i, extent)
            offset += start * stride
            registers += [register] if register is not None else []
        axis += 1
    rank = max(grid.ndim for grid, _ in grids)
    shape, strides = [1] * rank, [0] * rank
    for grid, stride in grids:
        extents, factors = grid._padded(rank)
        offset += grid.first * stride
        for k in range(rank):
            if 1 < extents[k] != shape[k] > 1:
                refuse(f"index grids with {shape[k]} and {extents[k]} numbers along one axis; give each an axis of its own, as in "
                       "i[:, None] and j[None, :]")
            shape[k] = max(shape[k], extents[k])
            strides[k] += factors[k] * stride
    before = [(n, s) for place, n, s in rest if place == 0]
    behind = [(n, s) for place, n, s in rest if place > 0]
    axes = before + list(zip(shape, strides)) + behind
    made = _at_registers(view, offset, [n for n, _ in axes], [s for _, s in axes], registers, [grid for grid, _ in grids])
    made.grids = tuple((grid.first, (0,) * len(before) + grid._padded(rank)[1], extent) for grid, extent in zip(
        (grid for grid, _ in grids), extents_of))
    return made


def _at_rows(view, index, place, *others):
    """Rows whose numbers are in a tile, one in each partition."""
    by = index[place]
    if others or by.shape[0] != by.size:
        refuse("indices from memory in several places, or several of them in a partition; one tile with a number in each partition "
               "says which rows")
    index = (*index[:place], Grid((by.size, 1), 0, (0, 0)), *index[place + 1:])
    made = _at_grids(view, index)
    if made.shape[0] != by.size:
        refuse(f"{by.size} indices from memory, of a tile whose first axis has {made.shape[0]}; give each partition one")
    return made._scattered(by, view.strides[place], made.offset, made.shape, made.strides)


# ---- Registers ------------------------------------------------------------------------------


class Scope:
    """An iteration of a dynamic loop, after which the registers that it has made are gone."""

    __slots__ = ("name", "ended")

    def __init__(self, name):
        self.name, self.ended = name, False


def _kind_of(thing):
    return "a tensor" if isinstance(thing, View) else "an index grid" if isinstance(thing, Grid) else f"one of type '{type(thing).__name__}'"


class Register:
    """A register of the device, with the value that it has in this run.

    Python must not decide by it: the device runs the same code whatever it holds. `identity` tells what it holds
    from what any register holds that was set elsewhere, or earlier. One that is made in an iteration of a dynamic
    loop, as its index and all that is computed from it, is gone after that. The device has one body and any number
    of trips, but Python would take the number of this trip along.
    """

    __slots__ = ("_value", "known", "never_known", "name", "identity", "recorder", "home", "coordinates", "place")
    __array_ufunc__ = None

    def __init__(self, value, known=True, name: Optional[str] = None, identity=None, recorder=None):
        self._value, self.known, self.name, self.identity = value, known, name, identity
        self.recorder, self.home = recorder, recorder.scope() if recorder is not None else None
        self.coordinates, self.place, self.never_known = (), None, False  # of one that the kernel allocates

    def _check_home(self):
        if self.home is not None and self.home.ended:
            name = f" '{self.name}'" if self.name else ""
            refuse(f"the register{name} is used after the iteration of the dynamic loop over '{self.home.name}' that made it, as its "
                   "index or from it. Allocate a register before the loop and set it in the loop with 'nisa.register_move', or "
                   "compute the number from the loop's bound")

    @property
    def value(self):
        self._check_home()
        return self._value

    @value.setter
    def value(self, value):
        self._check_home()
        self._value = value

    def _refused(self, what):
        name = f" '{self.name}'" if self.name else ""
        refuse(f"{what} of the register{name}: its value is not known before the kernel runs; use "
               "'nl.dynamic_range' or 'while' for loops, and compute conditions on the device")

    def __bool__(self):
        self._refused("a Python condition")

    def __int__(self):
        self._refused("a Python number")

    __index__ = __float__ = __int__

    def _compared(self, other):
        if isinstance(other, Grid):
            return NotImplemented  # a mask, which the grid makes
        self._refused("a Python comparison")

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared

    def __hash__(self):
        self._refused("a key or a member of a set")

    def __str__(self):
        """The same in each iteration: a text may name a register, and does not tell what it holds."""
        return self.name or "register"

    __repr__ = __str__

    def __format__(self, form):
        if form:
            self._refused(f"a text with ':{form}'")
        return str(self)

    def _made(self, factor, plus, other):
        """`factor` times this one, and `plus` times the other."""
        if isinstance(other, Grid):
            return NotImplemented  # the grid adds it
        if not isinstance(other, (int, np.integer, Register)):
            refuse(f"a register and {_kind_of(other)}; registers are added to whole numbers and registers, and multiplied by whole numbers")
        value = factor * self.value + plus * _value(other)
        known = self.known and (not isinstance(other, Register) or other.known)
        return Register(value, known, self.name, _combined(factor, self.identity, plus, identity_of(other)), self.recorder)

    def __add__(self, other):
        return self._made(1, 1, other)

    __radd__ = __add__

    def __sub__(self, other):
        return self._made(1, -1, other)

    def __rsub__(self, other):
        return self._made(-1, 1, other)

    def __neg__(self):
        return self._made(-1, 0, 0)

    def __mul__(self, other):
        if isinstance(other, Register):
            refuse("a product of two registers is not modelled")
        if isinstance(other, Grid) or not isinstance(other, (int, np.integer)):
            refuse(f"a product of a register and {_kind_of(other)}; registers are multiplied by whole numbers")
        return self._made(int(other), 0, 0)

    __rmul__ = __mul__


def _unmodelled(sign):
    def refused(self, *_):
        if isinstance(self, Register):
            refuse(f"'{sign}' of a register is not modelled; registers are added, subtracted, and multiplied by numbers. Compute "
                   "it in memory, with 'nisa.tensor_scalar', and load that")
        refuse(f"'{sign}' of a tensor is not an operator of tiles; name the operation, as in 'nisa.tensor_scalar(op0=nl....)'")

    return refused


for _name, _sign in (("floordiv", "//"), ("truediv", "/"), ("mod", "%"), ("divmod", "divmod"), ("pow", "**"), ("lshift", "<<"),
                     ("rshift", ">>"), ("and", "&"), ("or", "|"), ("xor", "^"), ("matmul", "@"), ("abs", "abs"), ("round", "round"),
                     ("invert", "~")):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        for _class in (Register, View):
            if not hasattr(_class, _method):
                setattr(_class, _method, _unmodelled(_sign))


# What a register holds is a number, a value that was set somewhere, or a sum of values with factors.

_ONE = "one"


def _terms(identity):
    """How often each value is in what has this identity, and how often 1 is."""
    if isinstance(identity, int):
        return {_ONE: identity}
    return dict(identity[1]) if isinstance(identity, tuple) and identity[0] == "sum" else {identity: 1}


def _combined(factor, identity, plus, other):
    """The identity of a sum."""
    terms = {key: factor * count for key, count in _terms(identity).items()}
    for key, count in _terms(other).items():
        terms[key] = terms.get(key, 0) + plus * count
    terms = {key: count for key, count in terms.items() if count}
    if set(terms) <= {_ONE}:
        return terms.get(_ONE, 0)
    return next(iter(terms)) if list(terms.values()) == [1] else ("sum", frozenset(terms.items()))


def difference(identity, other):
    """By which number the values of two identities differ, None if that depends on others."""
    found = _combined(1, identity, -1, other)
    return found if isinstance(found, int) else None


def values_in(identity):
    """The values that a sum is made of."""
    return [key for key in _terms(identity) if key != _ONE]


def follows_indices(identity):
    """Whether it is made of indices of loops, and of numbers."""
    return all(key == _ONE or isinstance(key, tuple) and key[0] == "index" for key in _terms(identity))


def follows(identity, other):
    """The loops of whose indices, and of a number, the difference of two values is made; None if of others, too."""
    found = _combined(1, identity, -1, other)
    return {key[1] for key in _terms(found) if key != _ONE} if follows_indices(found) else None


def identity_of(number):
    return number.identity if isinstance(number, Register) else int(number)


def _value(number):
    return number.value if isinstance(number, Register) else int(number)
