"""The sum of tiles, each times a scale: how many there are, is a number in memory."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def edges(x, scale, tiles):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=tiles)
    n = nisa.register_alloc()
    nisa.register_load(n, number)

    total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    factor = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=factor, src=scale)
    for i in nl.dynamic_range(n):
        tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
        nisa.scalar_tensor_tensor(dst=total, data=tile, op0=nl.multiply, operand0=factor,
                                  op1=nl.add, operand1=total)
    nisa.dma_copy(dst=out, src=total)
    return out
