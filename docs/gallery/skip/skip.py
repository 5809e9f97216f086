"""A product with each block that is not zero, added up by rows. The flag of a block is 1, or 0 if it is skipped."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def skip(blocks, nonzero, factor):
    rows, columns = nonzero.shape
    out = nl.ndarray((rows * 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    flags = nl.ndarray((1, rows * columns), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=flags, src=nonzero.reshape((1, rows * columns)))
    left = nl.ndarray((128, 128), dtype=factor.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=factor)
    for i in range(rows):
        bank = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
        nisa.memset(dst=bank, value=0.0)
        for j in range(columns):
            flag = nisa.register_alloc()
            nisa.register_load(flag, flags[:, nl.ds(i * columns + j, 1)])
            for once in nl.dynamic_range(flag):
                block = nl.ndarray((128, 512), dtype=blocks.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=block, src=blocks[i, j])
                nisa.nc_matmul(dst=bank, stationary=left, moving=block, accumulate=True)
        row = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=row, src=bank)
        nisa.dma_copy(dst=out[nl.ds(i * 128, 128), :], src=row)
    return out
