"""Python around instructions: classes, closures, helpers, and instructions that are seldom used."""

import dataclasses

import nki
import nki.isa as nisa
import nki.language as nl


class Config(nl.NKIObject):
    """Made from its annotations."""

    rows: int
    factor: float = 0.5


@dataclasses.dataclass(frozen=True)
class Part:
    index: int
    of: int

    def columns(self, total):
        width = total // self.of
        return slice(self.index * width, (self.index + 1) * width)


def loaded(source, columns):
    tile = nl.ndarray((128, columns.stop - columns.start), dtype=source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, source[:, columns])
    return tile


@nki.jit
def objects(x):
    """Tiles through helpers, dataclasses, dictionaries and closures."""
    config = Config(rows=128)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    parts = [Part(index, 4) for index in range(4)]
    tiles = {part: loaded(x, part.columns(x.shape[1])) for part in parts}

    def scaled(part):
        nisa.activation(tiles[part], nl.relu, tiles[part], scale=config.factor)

    for part in parts:
        scaled(part)
    for part in reversed(parts):
        nisa.dma_copy(out[:, part.columns(x.shape[1])], tiles[part])
    return out


@nki.jit
def halves(x):
    """`i // 2` and `(3 * i) % 5` as addresses, in a `while` of Python."""
    out = nl.ndarray((10, 128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 10, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    i = 0
    while i < 10:
        part = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(part, tile[:, nl.ds(i // 2, 1), :], tile[:, nl.ds((3 * i) % 5, 1), :], nl.subtract)
        nisa.dma_copy(out[i], part)
        i += 1
    return out


@nki.jit
def chosen(x, y):
    """Comparisons, predicated copies, and reductions over partitions."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    left, right = loaded(x, slice(0, x.shape[1])), loaded(y, slice(0, y.shape[1]))
    less = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(less, left, right, nl.less)
    nisa.tensor_copy_predicated(dst=left, src=right, predicate=less)
    nisa.scalar_tensor_tensor(dst=right, data=left, op0=nl.subtract, operand0=1.0, reverse0=True,
                              op1=nl.multiply, operand1=less)
    nisa.dma_copy(out, right)
    return out


@nki.jit
def causal_mask(x):
    """A select by place, which is traced and not followed."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = loaded(x, slice(0, x.shape[1]))
    nisa.affine_select(dst=tile, pattern=[[-1, x.shape[1]]], channel_multiplier=1, on_true_tile=tile,
                       on_false_value=-1e9, cmp_op=nl.greater_equal)
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def rows_by_table(x, table):
    """Each partition from a row of its own."""
    out = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(rows, table)
    tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x.ap([[x.shape[1], 128], [1, x.shape[1]]], vector_offset=rows, indirect_dim=0))
    nisa.dma_copy(out, tile)
    return out


@nki.jit
def generated(x):
    """Tiles from a generator, `break`, and an exception on the way."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    def tiles():
        for i in range(x.shape[0] // 128):
            tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(tile, x[i * 128:(i + 1) * 128])
            yield tile

    for i, tile in enumerate(tiles()):
        nisa.activation(tile, nl.square, tile)
        nisa.dma_copy(out[i * 128:(i + 1) * 128], tile)
        if i == 3:
            break
    try:
        for i in range(4, 6):
            nisa.dma_copy(out[i * 128:(i + 1) * 128], x[i * 128:(i + 1) * 128])
            if i == 5:
                raise ValueError
    except ValueError:
        nisa.dma_copy(out[768:896], x[768:896])
    for i in range(7, x.shape[0] // 128):
        nisa.dma_copy(out[i * 128:(i + 1) * 128], x[i * 128:(i + 1) * 128])
    return out


def pooled(x):
    """Sums of 2 x 2 neighbours: two axes that are not the last ones, of a tile that has fewer."""
    out = nl.ndarray((128, 4, 3), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 8, 6), dtype=x.dtype, buffer=nl.sbuf)
    sums = nl.ndarray((128, 4, 3), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    nisa.tensor_reduce(dst=sums, op=nl.add, data=tile.reshape((128, 4, 2, 3, 2)), axis=(2, 4))
    nisa.dma_copy(out, sums)
    return out


@nki.jit
def never_loaded(x):
    """A tile that nothing has written."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki.jit
def by_turns(x, trips):
    """Rows that go round after four iterations."""
    out = nl.ndarray((128 * trips, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(trips):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(128 * (i % 4), 128)])
        nisa.dma_copy(dst=out[nl.ds(128 * i, 128)], src=tile)
    return out


@nki.jit
def leaves_things(x):
    """Modules, callbacks and hooks of its own."""
    import gc
    import sys
    import types
    sys.modules["made_by_a_kernel"] = types.ModuleType("made_by_a_kernel")
    sys.modules["called_so_by_a_kernel"] = sys.modules["nki"] = sys.modules["nki.isa"] = gc
    sys.stdin = None
    import numpy as np
    np.seterrcall(print)
    gc.callbacks.append(lambda phase, info: None)
    sys.set_asyncgen_hooks(firstiter=lambda generator: None)
    out = nl.ndarray((128, 2), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x[0:128, nl.ds(nl.program_id(0), 2)])
    return out


class Kind:
    """Names that tensors have inside, too."""

    first, offset, value = 1, 2, 3

    def read(self):
        return self.value


class Own(Kind):
    def read(self):
        return super().read() + getattr(self, "first")


@nki.jit
def names_of_ours(x, kind):
    """Attributes of the kernel's own things, in patterns, calls and assignments."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    own = Own()
    own.offset += own.first
    match kind:
        case Kind.first if own.offset == 3:
            scale = own.read()
        case {Kind.value: _} | Kind.offset:
            scale = 2.0
        case _:
            scale = 3.0
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=scale + x[0:128].offset)
    nisa.dma_copy(dst=out, src=tile)
    return out
