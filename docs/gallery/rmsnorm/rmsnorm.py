"""Rows divided by the root of the mean of their squares, 128 rows at a time."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def rmsnorm(x, blocks):
    columns = x.shape[1]
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)

    number = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=blocks)
    count = nisa.register_alloc()
    nisa.register_load(count, number)

    for i in nl.dynamic_range(count):
        rows = nl.ds(i * 128, 128)
        tile = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[rows, :])

        square = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=square, op=nl.square, data=tile, reduce_op=nl.add,
                        reduce_res=total, reduce_cmd=nisa.reduce_cmd.reset_reduce)
        mean = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=mean, data=total, op0=nl.multiply, operand0=1.0 / columns,
                           op1=nl.add, operand1=1e-6)
        share = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=share, op=nl.rsqrt, data=mean)

        result = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=result, data=tile, op0=nl.multiply, operand0=share)
        nisa.dma_copy(dst=out[rows, :], src=result)
    return out
