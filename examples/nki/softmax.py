"""Softmax of the rows of x, in blocks of 128 rows; how many blocks there are is a number in memory."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def softmax(x, blocks):
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

        largest = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=largest, op=nl.maximum, data=tile, axis=1, negate=True)
        power = nl.ndarray((128, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=power, op=nl.exp, data=tile, bias=largest, reduce_op=nl.add,
                        reduce_res=total, reduce_cmd=nisa.reduce_cmd.reset_reduce)

        share = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=share, data=total)
        result = nl.ndarray((128, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=result, data=power, op0=nl.multiply, operand0=share)
        nisa.dma_copy(dst=out[rows, :], src=result)
    return out
