"""Tiles times the weights of each layer, all added up; weights and tiles arrive through queues of their own."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def two_queues(weights, tiles):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.memset(dst=y, value=0.0)
    for layer in range(weights.shape[1] // 128):
        w = nl.ndarray((128, 128), dtype=weights.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=w, src=weights[:, nl.ds(layer * 128, 128)], engine=nisa.scalar_engine)
        for t in range(tiles.shape[1] // 512):
            x = nl.ndarray((128, 512), dtype=tiles.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=x, src=tiles[:, nl.ds(t * 512, 512)])
            nisa.nc_matmul(dst=y, stationary=w, moving=x, accumulate=True)
    result = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=y)
    nisa.dma_copy(dst=out, src=result)
    return out
