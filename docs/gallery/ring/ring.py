"""Tiles of an array are added up."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def ring(x):
    total = nl.ndarray((128, 2048), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    for i in range(x.shape[0] // 128):
        tile = nl.ndarray((128, 2048), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[nl.ds(i * 128, 128), :])
        nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    out = nl.ndarray((128, 2048), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=total)
    return out
