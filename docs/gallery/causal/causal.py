"""Exponentials of scores, for the lower triangle of a matrix of blocks of 128 by 512."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def causal(queries, keys):
    rows, columns = queries.shape[1] // 128, 512
    out = nl.ndarray((queries.shape[1], keys.shape[1]), dtype=nl.float32, buffer=nl.shared_hbm)
    query = nl.ndarray(queries.shape, dtype=queries.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=query, src=queries)
    for i in range(rows):
        for j in range(i + 1):
            key = nl.ndarray((128, columns), dtype=keys.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=key, src=keys[:, nl.ds(j * columns, columns)])
            score = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=score, stationary=query[:, nl.ds(i * 128, 128)], moving=key)
            result = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
            nisa.activation(dst=result, op=nl.exp, data=score)
            nisa.dma_copy(dst=out[nl.ds(i * 128, 128), nl.ds(j * columns, columns)], src=result)
    return out
