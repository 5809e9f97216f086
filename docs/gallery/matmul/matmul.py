"""A product of matrices, tile by tile: left^T times right."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def matmul(left, right):
    depth, rows = left.shape
    columns = right.shape[1]
    out = nl.ndarray((rows, columns), dtype=left.dtype, buffer=nl.shared_hbm)
    for m in range(rows // 128):
        for n in range(columns // 512):
            total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in range(depth // 128):
                some = nl.ndarray((128, 128), dtype=left.dtype, buffer=nl.sbuf)
                others = nl.ndarray((128, 512), dtype=right.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=some, src=left[nl.ds(k * 128, 128), nl.ds(m * 128, 128)])
                nisa.dma_copy(dst=others, src=right[nl.ds(k * 128, 128), nl.ds(n * 512, 512)])
                nisa.nc_matmul(dst=total, stationary=some, moving=others)
            result = nl.ndarray((128, 512), dtype=left.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=total)
            nisa.dma_copy(dst=out[nl.ds(m * 128, 128), nl.ds(n * 512, 512)], src=result)
    return out
