"""Kernels in the second generation of the interface: `dst` first."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def scale(x, factor=2.0):
    """One loop; each iteration has tiles of its own."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0] // 128):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:(i + 1) * 128])
        result = nl.ndarray(tile.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=result, data=tile, op0=nl.multiply, operand0=factor, op1=nl.add, operand1=1.0)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128], src=result)
    return out


@nki.jit
def matmul(a, b):
    """Tiles kept in a Python list, and a sum over an inner loop."""
    depth, rows = a.shape
    columns = b.shape[1]
    out = nl.ndarray((rows, columns), dtype=nl.float32, buffer=nl.shared_hbm)
    for m in nl.affine_range(rows // 128):
        left = []
        for k in nl.affine_range(depth // 128):
            tile = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
            nisa.dma_copy(tile, a[k * 128:(k + 1) * 128, m * 128:(m + 1) * 128])
            left.append(tile)
        for n in nl.affine_range(columns // 256):
            total = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(depth // 128):
                right = nl.ndarray((128, 256), dtype=b.dtype, buffer=nl.sbuf)
                nisa.dma_copy(right, b[k * 128:(k + 1) * 128, n * 256:(n + 1) * 256])
                nisa.nc_matmul(total, left[k], right)
            result = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(result, total, engine=nisa.scalar_engine)
            nisa.dma_copy(out[m * 128:(m + 1) * 128, n * 256:(n + 1) * 256], result)
    return out


@nki.jit
def results_in_a_list(x, y):
    """A tensor in HBM for each iteration."""
    outs = []
    for source in (x, y):
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=source)
        out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        outs.append(out)
    return tuple(outs)


@nki.jit
def slots_by_hand(x):
    """A double buffer by `% 2`, one iteration ahead, with a prologue and an epilogue."""
    steps = x.shape[0] // 128
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    slots = nl.ndarray((128, 2, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(slots[:, 0, :], x[0:128])
    for i in range(steps):
        if i + 1 < steps:
            nisa.dma_copy(slots[:, (i + 1) % 2, :], x[(i + 1) * 128:(i + 2) * 128])
        done = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.activation(done, nl.square, slots[:, i % 2, :])
        nisa.dma_copy(out[i * 128:(i + 1) * 128], done)
    return out


@nki.jit
def two_names(x):
    """A double buffer of two tensors that Python swaps: iterations are alike in pairs."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    ping = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    pong = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    for i in range(x.shape[0] // 128):
        nisa.dma_copy(ping, x[i * 128:(i + 1) * 128])
        nisa.dma_copy(out[i * 128:(i + 1) * 128], ping)
        ping, pong = pong, ping
    return out


@nki.jit
def causal(q, k):
    """An inner loop that grows with the outer one."""
    tiles = q.shape[1] // 128
    out = nl.ndarray((q.shape[1], q.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(tiles):
        left = nl.ndarray((128, 128), dtype=q.dtype, buffer=nl.sbuf)
        nisa.dma_copy(left, q[:, i * 128:(i + 1) * 128])
        for j in range(i + 1):
            right = nl.ndarray((128, 128), dtype=k.dtype, buffer=nl.sbuf)
            nisa.dma_copy(right, k[:, j * 128:(j + 1) * 128])
            scores = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(scores, left, right)
            result = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(result, scores)
            nisa.dma_copy(out[i * 128:(i + 1) * 128, j * 128:(j + 1) * 128], result)
    return out


@nki.jit
def patterns(x):
    """Access patterns: `.ap`, reshapes and parts of them."""
    out = nl.ndarray((128, 4, 16), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    every = tile.ap([[128, 128], [2, 64]], offset=1)
    small = nl.ndarray((128, 64), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.activation(small, nl.exp, every, scale=0.125)
    for part in range(4):
        nisa.dma_copy(out[:, part, :], small.reshape((128, 4, 16))[:, part, :])
    return out


@nki.jit
def permuted(x):
    """Tiles in another order than their buffers', read and written."""
    out = nl.ndarray((128, 12), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 12), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    turned = nl.ndarray((128, 4, 3), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(turned, tile.reshape((128, 3, 4)).permute((0, 2, 1)))
    back = nl.ndarray((128, 3, 4), dtype=x.dtype, buffer=nl.sbuf)
    nisa.activation(back.permute((0, 2, 1)), nl.exp, turned)
    powers = nl.ndarray((128, 12), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(out, turned.reshape((128, 12)))
    nisa.dma_copy(powers, back.reshape((128, 12)))
    return out, powers


@nki.jit
def triangle(x):
    """Each row of tiles minus twice the sum of those before it; the first has none before it."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0] // 128):
        total = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf, name=f"rest_{i}")
        nisa.dma_copy(total, x[nl.ds(i * 128, 128)])
        for j in range(i):
            before = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf, name=f"before_{i}_{j}")
            nisa.dma_copy(before, x[nl.ds(j * 128, 128)])
            nisa.scalar_tensor_tensor(total, before, nl.multiply, -2.0, nl.add, total)
        nisa.dma_copy(out[nl.ds(i * 128, 128)], total)
    return out


@nki.jit
def moving_mask(x):
    """A mask, places and a factor that move from iteration to iteration."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    width = x.shape[1]
    for i in range(x.shape[0] // 128):
        tile = nl.ndarray((128, width), dtype=x.dtype, buffer=nl.sbuf)
        places = nl.ndarray((128, width), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[nl.ds(i * 128, 128)])
        nisa.affine_select(dst=tile, pattern=[[-1, width]], channel_multiplier=1, offset=128 * (i % 2) - 32,
                           on_true_tile=tile, on_false_value=-1.0, cmp_op=nl.greater_equal)
        nisa.iota(dst=places, pattern=[[1, width]], offset=1000 * (i // 2), channel_multiplier=0)
        nisa.scalar_tensor_tensor(tile, tile, nl.multiply, i + 1, nl.add, places)
        nisa.dma_copy(out[nl.ds(i * 128, 128)], tile)
    return out


@nki.jit
def returned_list(x):
    """Tensors that a loop makes, in the order of their rows."""
    parts = []
    for i in range(x.shape[0] // 128):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(tile, x[i * 128:(i + 1) * 128])
        nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)
        part = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(part, tile)
        parts.append(part)
    return parts


@nki.jit
def returned_deep(x):
    """The same in a dictionary in a tuple, as views of another shape."""
    parts = returned_list(x)
    return x.shape, {number: [part.reshape((64, 128))] for number, part in enumerate(parts)}


@nki.jit
def returned_tile(x):
    tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    return tile


@nki.jit
def scratch(x):
    """Through a tensor in HBM that each iteration makes, and that nothing returns."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(x.shape[0] // 128):
        tile = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:(i + 1) * 128])
        between = nl.ndarray((128, x.shape[1]), dtype=x.dtype, buffer=nl.private_hbm)
        nisa.dma_copy(dst=between, src=tile)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128], src=between)
    return out


@nki.jit
def with_bias(x, bias=None):
    """Asks whether there is a tensor."""
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=bias if bias else x)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out
