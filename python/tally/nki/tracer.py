"""Runs instructions: on NumPy's numbers, and into the trace.

`perform` is the one way for every instruction of the table. It binds arguments, builds the expressions,
computes them, writes the results as their types round them, and records the operation. Two habits of
the first generation are handled here as well: `dst[...] = nisa.op(...)` makes the operation write to
`dst`, as if its own result had never been, and `sum += nisa.nc_matmul(...)` makes it add there.
"""

from functools import lru_cache
from math import gcd

import numpy as np

from .elements import ELEMENTS, find_element, of_number, promoted
from .expressions import OPERATORS, MatMul, Reduce
from .instructions import INSTRUCTIONS, Call
from .loads import LOAD
from .others import Messages, Own, Shared, from_others
from .places import assigned_name, here
from .refusal import Refusal
from .tree import Limits, Operation, Recorder
from .values import FAR, LoopReduce, Memory, Register, View, difference, follows_indices, limited, memories_in, refuse, whole

ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync")
PRODUCTS = ("nc_matmul", "nc_matmul_mx")
DMA = ("dma_copy", "dma_transpose", "dma_compute")


@lru_cache(maxsize=None)
def _names(text):
    return tuple(name.strip() for name in text.split(",")) if text else ()


class Again(Exception):
    """The kernel is to be run again, with what was found added to these notes."""

    def __init__(self, unknown=(), rows=()):
        super().__init__("once more")
        self.unknown, self.rows = unknown, rows


class Notes:
    """What earlier runs of the kernel have found: places whose memories count as depending on inputs from the start,
    and the length of the rows of tensors that the kernel which is written has in another shape."""

    def __init__(self):
        self.unknown, self.rows = set(), {}

    def take(self, again):
        self.unknown.update(again.unknown)
        self.rows.update(again.rows)


class Tracer:
    """`notes`: of earlier runs. Where memories count as depending on inputs, zeros are written at once."""

    def __init__(self, limits=Limits(), progress=None, grid=(), program=(), notes=None):
        self.recorder = Recorder(limits, progress)
        self.grid, self.program, self.asked_program = tuple(grid), tuple(program), False
        self.last = None  # the latest operation, if its result is new and untouched
        self.latest = None  # whatever it is
        self.inputs, self.hbm, self.notes = [], [], notes or Notes()
        self.constants = {}  # by place and content
        self.messages = Messages(self)
        self.disturb = None  # gives other numbers than those that are written (corpus/recorder.py)
        self.cores = None  # the other programs of the grid, if they run (corpus/cores.py)

    def _again(self, **found):
        """Leaves the kernel, which cannot go on by catching it (trace.py)."""
        self.recorder.again = self.recorder.again or Again(**found)
        raise self.recorder.again

    # ---- Memory

    def allocate(self, shape, element, space, modern, name=None, data=None, place=None):
        if isinstance(shape, (int, np.integer)):
            shape = (shape,)
        try:
            given, shape = shape, tuple(int(n) for n in shape) or (1,)
        except TypeError:
            refuse(f"'{shape}' is not a shape; give whole numbers")
        if any(n != asked for n, asked in zip(shape, given)):
            refuse(f"a tensor of shape {list(given)}; extents are whole numbers")
        if min(shape) < 1:
            refuse(f"a tensor of shape {list(shape)}; extents are at least 1")
        kind = find_element(element)
        if kind is None:
            refuse(f"unknown element type '{element}'; tally knows {', '.join(ELEMENTS)}")
        place = place or here()
        size = int(np.prod(shape, dtype=object)) * kind.dtype.itemsize
        family, coordinates = self.recorder.family(name or assigned_name(place), shape, kind, str(space),
                                                   place, size)
        _check_fits(shape, kind, str(space), modern)
        memory = Memory(shape, kind, str(space), modern, family, coordinates, self, data)
        if memory.space == "hbm":
            self.hbm.append(memory)
            row = self.notes.rows.get(_identity(memory))
            if row is not None:
                family.shape, family.regrouped = (memory.size // row, row), True
        if place in self.notes.unknown:
            memory.known, memory.never_known = False, True
        return whole(memory)

    def input(self, name, array, element, place):
        view = self.allocate(array.shape, element, "hbm", True, name, array, place)
        view.memory.known = False
        self.inputs.append(view.memory)
        self.share(view.memory, (name, len(self.inputs)))
        view.memory.first = view.memory.data
        return view

    def constant(self, array, element, place, space="hbm"):
        """An input that is the same wherever the kernel asks for it."""
        array = np.ascontiguousarray(element.fit(array), element.dtype)
        key = place, space, element.name, array.shape, array.tobytes()
        if key not in self.constants:
            family = self.recorder.family_outside(f"constant_{len(self.inputs)}", array.shape, element, space, place,
                                                  array.nbytes)
            memory = self.constants[key] = Memory(array.shape, element, space, True, family, (), self, array)
            memory.known, memory.first = False, memory.data
            self.inputs.append(memory)
        return whole(self.constants[key])

    # ---- Other programs of the grid

    def share(self, memory, key):
        """Programs of a grid have one tensor in HBM, where each of them makes it."""
        if self.cores is not None:
            shared = self.cores.shared.setdefault((key, memory.shape), Shared(memory.data))
            memory.data, memory.own = shared.data, Own(shared, self.rank)

    @property
    def rank(self):
        return int(np.ravel_multi_index(self.program, self.grid)) if self.grid else 0

    def sendrecv(self, src, dst, send_to_rank, recv_from_rank, pipe_id=0, **_):
        if self.cores is None:
            refuse("'sendrecv' needs the other programs of the launch grid; 'tally-nki corpus' runs them")
        self._before_read(src)
        received = self.cores.exchange(self.rank, int(send_to_rank), int(recv_from_rank), pipe_id, np.array(src.read()))
        self.recorder.obstacle("what another program sends is an input, one message after the other")
        return self.perform("sendrecv", True, (), dict(src=src, dst=dst, received=self.messages.add(received, src.dtype)))

    def core_barrier(self, *_, **__):
        if self.cores is not None:
            self.recorder.obstacle("one program is traced: what others write in HBM is there from the start")
            self.cores.barrier(self.rank)

    def _take_from_others(self, view):
        """Others have written where this program reads, over numbers that it knows."""
        own = view.memory.own
        if own is None or self.recorder.interner.only_run or view.leaves():
            return
        if own.is_stale(view, self.recorder.is_dynamic or view.unknown):
            message = self.messages.add(np.array(view.once().read()), view.dtype)
            self.perform("core_barrier", True, (), dict(dst=view.once(), received=message))
            own.take(view)

    def returned(self, result):
        """What the kernel gives is still there at its end."""
        for memory in memories_in(result):
            memory.family.kept = memory.space == "hbm"
            if memory.space != "hbm":
                self._not_expected(memory, f"is returned from {memory.space}; copy it to a tensor in HBM")
            elif not memory.written:
                self._not_expected(memory, "is returned and never written")

    def _not_expected(self, memory, why):
        self.recorder.obstacle(f"'{memory.family.name}' {why}: '--expect' is without it", memory.family.place)

    def finish(self):
        """The kernel as a block; what came from other programs is among the inputs."""
        if self.recorder.far and not self.recorder.counters <= self.notes.unknown:
            raise Again(unknown=self.recorder.counters)
        block = self.recorder.finish()
        self.inputs += self.messages.finished()
        self.inputs += [memory for memory in from_others(self.hbm) if not any(memory is mine for mine in self.inputs)]
        return block

    # ---- Instructions

    def perform(self, name, modern, args=(), given=None, dst=None):
        """Runs an instruction of the table; gives the view of its first result."""
        row = INSTRUCTIONS[name]
        call = Call(row, self._bound(row, modern, args, given or {}))
        call.in_loop = self.recorder.depth > 0
        if dst is not None:
            call.arguments["dst"] = dst
        if call.dst is not None and not isinstance(call.dst, View):
            refuse(f"'{name}' writes to a tile, not to {type(call.dst).__name__} '{str(call.dst)[:40]}'")
        try:
            results = row.build(call)
            view = self._run(row, call, results, modern)
            if call.other_type is not None:
                self.recorder.obstacle(f"'dtype' {call.other_type} of what is written to a tile of {call.dst.dtype}: the tile's type counts")
            call.check_asked()
        except Refusal as refusal:
            refusal.place = refusal.place or here()
            raise
        return view

    def _bound(self, row, modern, args, given):
        names = _names(row.second if modern else row.first)
        known = set(names) | {"dst"}
        arguments = dict(zip(names, args))
        if len(args) > len(names):
            refuse(f"'{row.name}' takes {len(names)} arguments, not {len(args)}")
        for key, value in given.items():
            if key not in known:
                refuse(f"'{row.name}' has no argument '{key}'; it has {', '.join(names)}")
            arguments[key] = value
        return arguments

    def _run(self, row, call, results, modern):
        shapes = [view.shape for view in call.reads]
        for view in call.reads:
            self._before_read(view)
        limits = call.limits
        reads = call.reads if limits is None else [limited(view, call.first.shape, limits) for view in call.reads]
        targets, new = self._targets(row, call, results, shapes, modern)
        if limits is not None:
            targets = [_limited_result(view, expression, call.first.shape, limits)
                       for view, (_, expression) in zip(targets, results)]
            if 0 in limits:
                if new is not None:  # no operation makes it, of no elements
                    new.memory.producer = Operation(row.name, "", "", None, (), None, [("w", targets[0], None)])
                return new if new is not None else targets[0]
        for view in [*reads, *targets]:
            if view.outside is not None and call.oob_mode != "skip":
                refuse(f"an index of 'vector_offset' leads out of '{view.name}', {list(view.memory.shape)}, which the device reports as an "
                       "error; where that is meant, say 'oob_mode=nisa.oob_mode.skip'")
        # On the device, a copy to or from addresses beyond a tensor does nothing, if it may be skipped.
        # Where a dynamic loop moves them, no trace shows in which iterations that is.
        for view in [*reads, *targets] if call.oob_mode == "skip" and self.recorder.is_dynamic else ():
            view.unknown = view.unknown or view.moves
        leaving = [view for view in [*reads, *targets] if call.oob_mode == "skip" and view.leaves()]
        skipped = bool(leaving)
        if any(not view.unknown for view in leaving):
            return targets[0]  # wherever the kernel runs
        _check_chip(row, reads, targets)
        if modern:
            _check_lanes(row, self._asked(call), reads, targets)
        given = call.given if limits is None else [limited(view, call.first.shape, limits) for view in call.given]
        for view in [*given, *targets]:
            view.check_grids()
        for target in targets:
            _check_apart(row, target, reads)
        self._regroup(reads, targets)
        values = [None] * len(targets) if skipped else self._values(row, call, results, reads)
        engine, queue = self._engine(row, call, reads, targets[0])
        operation = Operation(row.name, engine, queue, call.cost(targets[0]),
                              tuple(expression for _, expression in results), here(),
                              [("r", view, None) for view in reads], tuple(call.numbers))
        for view in reads:
            if not view.memory.written and view.memory.first is None and not view.memory.zero:
                self.recorder.obstacle(f"'{view.name}' is read, and nothing has written it: in the text, it is an input")
        self._write(row, call, operation, targets, values, modern)
        self.latest = operation
        self._sources(operation)
        self.recorder.add(operation)
        self._note_known(row, call, reads, targets)
        if new is not None:
            new.memory.producer = operation
            self.last = operation, values[0]
        else:
            self.last = None
        return new if new is not None else targets[0]

    def _targets(self, row, call, results, shapes, modern):
        """Where the results go, and the new tile if one is made."""
        targets, new = [], None
        keepdims = call.keepdims  # asked in any case: a tile that is given has the shape that it has
        for destination, expression in results:
            if destination is None:
                shape = tuple(call.shape) if call.shape is not None else expression.shape(shapes)
                if keepdims and isinstance(expression, Reduce):
                    shape = tuple(1 if axis in expression.axes else n for axis, n in enumerate(call.first.shape))
                shape = shape if len(shape) > 1 else shape + (1,) * (2 - len(shape))
                space = row.space
                if row.name == "nc_transpose" and self._asked(call) not in (None, "tensor"):
                    space = "sbuf"
                element = call.dtype
                if element is None:
                    element = ("float32" if row.name in PRODUCTS else promoted([view.dtype for view in call.reads])
                               if row.name in _PROMOTING else call.reads[0].dtype)
                destination = new = self.allocate(shape, element, space, modern)
            if not isinstance(destination, View):
                refuse(f"'{row.name}' writes to a tile, not to {type(destination).__name__}")
            if destination.wide > 1 or destination.narrow > 1:
                refuse(f"'{row.name}' writes to a view of '{destination.memory.element}' as '{destination.dtype}'; write "
                       "to a tensor of that type")
            targets.append(destination)
        return targets, new

    def _values(self, row, call, results, reads):
        if row.name in PRODUCTS:
            lanes = 4 if call.stationary.dtype.packed else 1
            self.recorder.multiplied(lanes * call.stationary.size * call.sizes["nmov"])
        arrays = [view.read() for view in reads]
        try:
            with np.errstate(all="ignore"):
                return [expression.value(arrays) for _, expression in results]
        except (ValueError, TypeError) as problem:
            shapes = ", ".join(str(list(view.shape)) for view in reads)
            refuse(f"'{row.name}' of tiles of shapes {shapes}, which do not go together" if isinstance(problem, ValueError) else
                   f"'{row.name}' of tiles of shapes {shapes}: {problem}")

    def _write(self, row, call, operation, targets, values, modern):
        for number, (target, value) in enumerate(zip(targets, values)):
            role, flag = "w", None
            self._before_write(target, row.name in PRODUCTS and call.accumulate)
            if row.name in PRODUCTS:
                role, flag = "a", self._sum_flag(target, call.accumulate)
            elif target.memory.space == "psum" and not modern:
                self._mark_set(target)
            self._store(operation, target, value, flag, modern)
            operation.accesses.append((role, target, flag))

    def _store(self, operation, target, value, flag, modern):
        if value is None:
            return
        value = np.asarray(value)
        if value.size != target.size and modern and value.size > 1 and operation.name != "nc_stream_shuffle":
            refuse(f"'{operation.name}' makes a tile of shape {list(value.shape)}, and writes it to one "
                   f"of shape {list(target.shape)}")
        if value.size != target.size:
            try:
                value = np.broadcast_to(value.reshape(value.shape + (1,) * (target.ndim - value.ndim)),
                                        target.shape)
            except ValueError:
                refuse(f"'{operation.name}' makes a tile of shape {list(value.shape)}, and writes it to one "
                       f"of shape {list(target.shape)}")
        if flag == 1:
            value = target.read() + value.reshape(target.shape)
        target.write(value)

    def _asked(self, call):
        """The engine that is named, if it is one that the instruction can run on."""
        engine = None if call.engine is None else str(call.engine)
        if engine in (None, "unknown", "dma"):
            return None
        if engine not in ENGINES:
            refuse(f"'engine={engine}'; engines are {', '.join(ENGINES)}")
        only = {"tensor", "vector"} if call.row.name == "nc_transpose" else {call.row.engine} if call.row.engine in _ALONE else None
        if (engine not in only if only else engine == "tensor") or engine == "sync" and call.row.name not in DMA:
            refuse(f"'{call.row.name}' on engine '{engine}', which does not run it; usual is '{call.row.engine}'")
        return engine

    def _engine(self, row, call, reads, target):
        asked = self._asked(call)
        if row.name not in DMA:
            engine = asked or call.usual or row.engine
            return engine, engine
        out = target.memory.space == "hbm" and not (reads and reads[0].memory.space == "hbm")
        engine = asked or ("gpsimd" if out else "sync")
        return engine, f"{engine}.dma"

    def _sources(self, operation):
        """Addresses that come from memory are read, too."""
        for _, view, _ in list(operation.accesses):
            for source in view.sources:
                operation.accesses.append(("r", source, None))
            if view.unknown:
                self.recorder.obstacle("an address that only a run knows: the tile is 'X[@]'",
                                       operation.place)

    def _regroup(self, reads, targets):
        """Tensors get rows of another length if only then it can be said which of them are meant."""
        if self.recorder.interner.only_run:
            return
        for view, is_read in [*((view, True) for view in reads), *((view, False) for view in targets)]:
            memory = view.memory
            if memory.space != "hbm" or memory.coordinates or not (view.is_indirect() or is_read and _gathered(view)):
                continue
            row = self._row(view, is_read)
            if row is not None and memory.size // row <= _MOST_ROWS and self.notes.rows.get(_identity(memory)) != row:
                self._again(rows={_identity(memory): row})

    def _row(self, view, is_read):
        """How long rows have to be; None if they are right, or none are."""
        memory, sources = view.memory, {id(source): 0 for source in view.sources}
        shapes = [memory.family.shape]
        if is_read and _identity(memory) not in self.notes.rows:
            shapes.append((memory.size // memory.shape[-1], memory.shape[-1]))
        common = gcd(view.common_row(), self.notes.rows.get(_identity(memory), 0))
        for shape in [*shapes, (memory.size // common, common)]:
            pattern = view.pattern(sources, shape)
            if pattern is not None and (is_read or pattern.whole):
                return None if shape is shapes[0] else shape[1]
        return None

    def _note_known(self, row, call, reads, targets):
        known = all(view.memory.known for view in reads) and not any(
            view.unknown for view in [*reads, *targets])
        if known and self.recorder.is_dynamic:
            known = row.linear and _adds_constant(call, targets[0])
            if known:
                self.recorder.counters.add(targets[0].memory.place)
        for target in targets:
            memory = target.memory
            if row.name == "memset" and target.size == memory.size and target.scattered is None:
                memory.known = not memory.never_known
                if self.recorder.is_dynamic:
                    self.recorder.carries(memory)
            else:
                if not known:
                    self.recorder.demote(memory)
            memory.written = True
            memory.version += 1
            self.recorder.wrote(memory)

    # ---- Sums

    def _sum_flag(self, target, asked):
        """0 if a product sets its place in the sum, 1 if it is added there."""
        parts = self._parts(target)
        if asked is None:
            if parts.all():
                asked = True
            elif parts.any():
                refuse("a product is added to a place that earlier ones have covered in part; say "
                       "'accumulate', or use tiles of one shape")
            else:
                asked = False
        parts[...] = True
        return 1 if asked else 0

    def _parts(self, target):
        memory = target.memory
        if memory.set_parts is None:
            memory.set_parts = np.zeros(memory.size, bool)
        return np.ndarray(target.shape, bool, memory.set_parts, target.offset, target.strides)

    def _mark_set(self, target):
        if target.scattered is None:
            self._parts(target)[...] = True

    # ---- Zeros that a sum begins with are written only if something else looks at them. What is written first, in every
    # run and over all of them, does without.

    def _before_read(self, view):
        if view.memory.producer is not None:
            self.last = None
        if view.memory.zero:
            self._write_zeros(view.memory)
        self._take_from_others(view)
        if view.memory.moved is not None:
            self._copy_back(view.memory)

    def _copy_back(self, memory):
        """A result is used again after `dst[...] = result` has made its operation write to `dst`."""
        (dst, version), memory.moved = memory.moved, None
        if dst.memory.version != version:
            refuse(f"the result that was assigned to '{dst.name}' is used again, and '{dst.name}' has "
                   "changed since; use a tile of its own for it")
        self.recorder.obstacle("a copy that the kernel has not: a result is used again after it was assigned")
        self.perform("tensor_copy", True, (whole(memory), dst.reshape(memory.shape)))

    def _before_write(self, target, adds=False):
        memory = target.memory
        if memory.zero and (adds or self._may_not_run(memory) or not _covers(target)):
            self._write_zeros(memory)
        memory.zero = False

    def _may_not_run(self, memory):
        """Whether this is in a dynamic loop, which may run 0 times, that began after the memory was allocated."""
        return any(loop.trips is not None and (memory.family.loops[depth:depth + 1], memory.coordinates[depth:depth + 1])
                   != ((loop.id,), (loop.index,)) for depth, loop in enumerate(self.recorder.loops))

    def _write_zeros(self, memory):
        """Here, unless other runs do not come here; then where they are allocated, once more from the start."""
        memory.zero = False
        if self._may_not_run(memory):
            self._again(unknown={memory.family.place})
        self.perform("memset", True, (whole(memory), 0.0))
        self._mark_set(whole(memory))

    def zeros(self, shape, element, space, modern, name=None):
        view = self.allocate(shape, element, space, modern, name)
        view.memory.data[...] = 0
        if view.memory.space == "psum" and view.memory.family.place not in self.notes.unknown:
            view.memory.zero = True
        else:
            self.perform("memset", True, (view, 0.0))
            self._mark_set(view)
        return view

    # ---- What Python's operators on tiles ask for

    def arithmetic(self, name, x, y, reverse=False, given=None):
        """An operator of two tiles, or of a tile and a number; `given`, the type or the mask of the result."""
        from_numpy = isinstance(y, (int, float, np.number))
        if not from_numpy and not isinstance(y, View):
            refuse(f"'{name}' of a tile and {type(y).__name__}")
        given = dict(given or {})
        given.setdefault("dtype", _result_type(name, x, y))
        if from_numpy or _is_column(y, x):
            given.update(data=x, op0=_Named(name), operand0=y, reverse0=reverse)
            return self.perform("tensor_scalar", False, (), given)
        if _is_column(x, y):
            given.update(data=y, op0=_Named(name), operand0=x, reverse0=not reverse)
            return self.perform("tensor_scalar", False, (), given)
        pair = (y, x) if reverse else (x, y)
        given.update(data1=pair[0], data2=pair[1], op=_Named(name))
        return self.perform("tensor_tensor", False, (), given)

    def assign(self, dst, value):
        """`dst[...] = value`"""
        if isinstance(value, View):
            value, dst = self._through_mask(value, dst)
            same = value.memory is dst.memory and (value.offset, value.shape) == (dst.offset, dst.shape)
            if not same and 0 not in value.shape and not self._redirect(value, dst, None):
                self.perform("tensor_copy", False, (value,), dst=dst)
        elif isinstance(value, LoopReduce):
            self.perform("tensor_tensor", False, (), dict(data1=value.tile, data2=dst, op=value.operator), dst=dst)
        elif isinstance(value, (int, float, np.number)):
            self.perform("memset", True, (dst, value))
        else:
            refuse(f"a tile is set to a tile or a number, not to {type(value).__name__}")

    def _through_mask(self, value, dst):
        """Of a new result and where it is assigned, what the mask of its operation lets through: the rest stays."""
        made = self._made(value)
        if made is None or made.shape == value.shape:
            return value, dst
        if dst.shape != value.shape:
            refuse(f"a result of shape {list(value.shape)} under a mask is assigned to a tile of shape {list(dst.shape)}; "
                   "use one shape for both")
        return made, dst.first_of(made.shape)

    def _made(self, value):
        """The part of a new tile that its only operation has written, None if there is none or the view is not all of it."""
        producer = value.memory.producer
        if producer is None or value.size != value.memory.size:
            return None
        return next(view for role, view, _ in producer.accesses if role != "r" and view.memory is value.memory)

    def add_to(self, dst, value):
        """`dst += value`"""
        product = (isinstance(value, View) and dst.memory.space == "psum" and self.last is not None
                   and value.memory.producer is self.last[0]
                   and isinstance(self.last[0].results[0], MatMul))
        if product and self._redirect(value, dst, True):
            return dst
        value = self.arithmetic("add", dst, value)
        self.assign(dst, value)
        return dst

    def _redirect(self, value, dst, add):
        """Makes the latest operation write to `dst`; False if its result is not just made."""
        if self.last is None or value.memory.producer is not self.last[0]:
            return False
        operation, raw = self.last
        number, made = next((k, view) for k, (role, view, _) in enumerate(operation.accesses)
                            if role != "r" and view.memory is value.memory)
        if (value.size, value.offset) != (made.size, made.offset):
            return False
        asked = value.memory.element
        if asked not in (dst.memory.element, "float32") or dst.size != value.size or dst.unknown:
            return False
        if dst.memory.zero and (self._may_not_run(dst.memory) or not _covers(dst)):
            self._again(unknown={dst.memory.family.place})  # the operation, which ran already, needs zeros before it
        role, flag = operation.accesses[number][0], None
        if role == "a":
            if dst.memory.space != "psum":
                return False
            parts = self._parts(dst)
            flag = 1 if add and parts.all() else 0
            if add and parts.any() and not parts.all():
                refuse("a product is added to a place that earlier ones have covered in part")
            parts[...] = True
        self._before_write(dst)
        self._store(operation, dst, raw, flag, False)
        operation.accesses[number] = (role, dst, flag)
        dst.memory.known = dst.memory.known and value.memory.known
        dst.memory.written = True
        dst.memory.version += 1
        value.memory.moved = dst, dst.memory.version
        self.recorder.wrote(dst.memory)
        value.memory.producer = None
        self.last = None
        return True

    # ---- Registers

    def load_register(self, dst, src):
        if src.size != 1:
            refuse(f"a register is loaded from one number, not from a tile of shape {list(src.shape)}")
        self._before_read(src)
        number = np.asarray(src.read()).reshape(-1)[0]
        if number != number:
            refuse(f"a register is loaded from '{src.name}', which nothing has written")
        known = src.is_known_number()
        dst.name = dst.name or assigned_name(here())
        self._set_register(dst, int(number), self.recorder.new_value(), known)
        operation = Operation(LOAD, "sync", "sync", None, (), here(), [("r", src, None)])
        self.recorder.loads.add(dst.identity, operation)
        self.recorder.add(operation)
        self.last = None

    def move_register(self, dst, src):
        if not isinstance(src, Register):
            if not isinstance(src, (int, np.integer)):
                refuse(f"a register of '{src}'; registers hold whole numbers")
            self._set_register(dst, int(src), self.recorder.new_value(), True)
            return
        # What goes round among registers may take any number of iterations to show how; what a register adds to
        # itself, and what follows from indices, shows at once.
        steps = difference(src.identity, dst.identity) is not None and dst.known
        known = src.known and (not self.recorder.is_dynamic or steps or follows_indices(src.identity))
        self._set_register(dst, src.value, src.identity, known, carries=not steps)

    def _set_register(self, dst, value, identity, known, carries=True):
        dst.value, dst.identity = value, identity
        known = known and not dst.never_known
        if known:
            dst.known = True
            if carries:
                self.recorder.carries(dst)
        else:
            self.recorder.demote(dst)
        self.recorder.wrote(dst)

    def register(self, value):
        """A new one."""
        register = Register(0, True, assigned_name(here()), recorder=self.recorder)
        register.place, register.coordinates = here(), self.recorder.coordinates()
        register.identity = self.recorder.new_value()
        if register.place in self.notes.unknown:
            register.known, register.never_known = False, True
        if isinstance(value, View):
            self.load_register(register, value)
        elif value is not None:
            self.move_register(register, value)
        return register

    def store_register(self, dst, src):
        dst.write(np.asarray(src.value))
        dst.memory.known = dst.memory.known and src.known and not self.recorder.is_dynamic
        self.recorder.wrote(dst.memory)
        self.recorder.add(Operation("register_store", "sync", "sync", None, (), here(),
                                    [("w", dst, None)]))
        self.last = None


_ALONE = ("tensor", "scalar")  # engines whose instructions no other one runs
_PARTITIONS = 128  # of the chip's memories
_ROOM = {"sbuf": 224 << 10, "psum": 16 << 10}  # bytes of a partition, of the largest chip
_TO_HBM = (*DMA, "sendrecv", "core_barrier")


def _check_fits(shape, element, space, modern):
    """Whether the chip has room for a tile of this shape. In the first generation, its partitions may be any of several axes."""
    if space not in _ROOM or not modern and len(shape) > 2:
        return
    if shape[0] > _PARTITIONS:
        refuse(f"a tile of shape {list(shape)} in {space}, of {shape[0]} partitions; the chip has {_PARTITIONS}: allocate blocks of rows, "
               "or put some of them in another axis")
    size = int(np.prod(shape[1:], dtype=object)) * element.itemsize
    if size > _ROOM[space]:
        refuse(f"a tile of shape {list(shape)} in {space}, of {size} bytes in a partition; that has {_ROOM[space]}: loop over parts of it")


def _check_chip(row, reads, targets):
    """What the device cannot do, wherever its tiles are."""
    for view in [*reads, *targets]:
        on_chip = view.memory.space != "hbm"
        if not on_chip and row.name not in _TO_HBM:
            refuse(f"'{row.name}' of '{view.name}', which is in HBM; engines compute on tiles in sbuf and psum, so copy it "
                   "there first, by 'dma_copy' or 'nl.load'")
        if on_chip and row.name != "memset" and view.shape[:1] > (_PARTITIONS,):
            refuse(f"'{row.name}' of a tile of {view.shape[0]} partitions, {view!r}; the chip has {_PARTITIONS}: loop over blocks "
                   "of rows, or put some of them in another axis")
    if row.name in PRODUCTS and targets[0].memory.space != "psum":
        refuse(f"'{row.name}' writes to '{targets[0].name}', which is in {targets[0].memory.space}; products are made in psum: "
               "give it a tile there, and copy that")
    for view in reads if row.name in PRODUCTS else ():
        if view.memory.space != "sbuf":
            refuse(f"'{row.name}' reads '{view.name}', which is in {view.memory.space}; products are made of tiles in sbuf: copy it "
                   "there by 'nisa.tensor_copy'")


# What takes partitions together, moves numbers from one to another, or has addresses of its own.
_ACROSS = {*PRODUCTS, *DMA, "nc_transpose", "tensor_partition_reduce", "nc_stream_shuffle", "local_gather", "nonzero_with_count",
           "quantize_mx", "sendrecv", "core_barrier"}


def _check_lanes(row, engine, reads, targets):
    """Each partition has a lane of its own in an engine, and gpsimd does not reach psum."""
    rows = {view.shape[0] for view in [*reads, *targets] if view.shape}
    if row.name not in _ACROSS and len(rows) > 1:
        refuse(f"'{row.name}' of tiles of {', '.join(map(str, sorted(rows)))} partitions; an engine computes in each partition by "
               "itself: copy one partition to others by 'nisa.nc_stream_shuffle', or by 'nisa.dma_copy' of a tensor in HBM with a "
               "step of 0")
    in_psum = [view for view in [*reads, *targets] if view.memory.space == "psum"]
    if in_psum and row.name not in DMA and (engine or row.engine) == "gpsimd":
        refuse(f"'{row.name}' of '{in_psum[0].name}', which is in psum, and gpsimd does not reach it: copy it to sbuf by "
               "'nisa.tensor_copy' on another engine")


def _check_apart(row, target, reads):
    """Numbers that are added to memory at addresses from memory have places of their own."""
    if target.scattered is None or not any(view.scattered is not None and view.memory is target.memory for view in reads):
        return
    kept = target.scattered if target.outside is None else target.scattered[~target.outside]
    places, counts = np.unique(kept, return_counts=True)
    if counts.size and counts.max() > 1:
        refuse(f"'{row.name}' adds {counts.max()} numbers to one element of '{target.name}', number {places[counts.argmax()]}: what a "
               "device makes of indices that repeat is not modelled; add up what belongs together before")


def _covers(target):
    """Whether it is all of its memory."""
    marks = np.zeros(target.memory.size, bool)
    if target.scattered is None and not target.unknown:
        np.ndarray(target.shape, bool, marks, target.offset, target.strides)[...] = True
    return bool(marks.all())


_MOST_ROWS = 2**24  # an index is an f32


def _identity(memory):
    """Which tensor in HBM this is, in each run of the kernel."""
    return memory.family.place, memory.family.name, memory.shape


def _gathered(view):
    """Whether an input has to be gathered: the view is not a box of it."""
    return view.memory.first is not None and not view.memory.written and not view.box().exact


class _Named:
    """An operator by its name, as the language's functions are."""

    def __init__(self, name):
        self.operator = name


_COUNTERS = ("int32", "uint32", "float32")


def _adds_constant(call, target):
    """`x = x + c`, in place, on whole numbers: then x grows evenly until it is beyond `FAR`, where arithmetic in f32 rounds.
    Narrower types end before that, and those without a sign at 0."""
    data, step = call.data, call.operand0
    return (call.row.name == "tensor_scalar" and call.op1 is None and not call.reverse0
            and getattr(call.op0, "operator", None) in ("add", "subtract")
            and not isinstance(step, View) and float(step).is_integer() and target.memory.element.name in _COUNTERS
            and (target.memory.element.name != "uint32" or (step >= 0) == (call.op0.operator == "add"))
            and (data.memory, data.offset, data.shape) == (target.memory, target.offset, target.shape)
            and bool(np.all(np.abs(target.read()) < FAR) and np.all(np.mod(target.read(), 1) == 0)))


# Of what they read, the result has the type that holds all of it; of other instructions, that of the first tile.
_PROMOTING = {"tensor_tensor", "tensor_tensor_scan"}


def _result_type(name, x, y):
    """Of an operator. The second generation says nothing of numbers: only a fraction makes a float of whole numbers."""
    if name in OPERATORS and OPERATORS[name].integer:
        return x.dtype  # they take bits, and give as many
    if isinstance(y, View):
        return promoted([x.dtype, y.dtype])
    number = of_number(y)
    return promoted([x.dtype, number]) if not x.memory.modern or number.is_float and not x.dtype.is_float else x.dtype


def _is_column(x, wide):
    return (isinstance(wide, View) and x.ndim <= wide.ndim and x.shape[0] == wide.shape[0]
            and x.shape != wide.shape and all(n == 1 for n in x.shape[1:]))


def _limited_result(view, expression, shape, limits):
    gone = expression.axes if isinstance(expression, Reduce) else ()
    kept = [m for axis, m in enumerate(limits) if axis not in gone]
    have = [n for axis, n in enumerate(shape) if axis not in gone]
    if list(view.shape) == have:
        return view.first_of(kept)
    if view.shape[:len(have)] == tuple(have):
        return view.first_of(kept + list(view.shape[len(have):]))
    refuse(f"a mask on a tile of shape {list(shape)} and a result of shape {list(view.shape)}")
