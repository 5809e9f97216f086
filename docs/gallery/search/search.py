"""Logarithms of a row of positive numbers by Newton's method, until each number divided by e^x is nearly 1."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def search(numbers):
    shape = numbers.shape
    out = nl.ndarray(shape, dtype=numbers.dtype, buffer=nl.shared_hbm)
    number = nl.ndarray(shape, dtype=numbers.dtype, buffer=nl.sbuf)
    x = nl.ndarray(shape, dtype=numbers.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=number, src=numbers)
    nisa.dma_copy(dst=x, src=numbers)

    more = nisa.register_alloc(1)
    while more:
        power = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=power, op=nl.exp, data=x, scale=-1.0)
        share = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=share, data1=number, data2=power, op=nl.multiply)
        nisa.scalar_tensor_tensor(dst=x, data=share, op0=nl.subtract, operand0=1.0, op1=nl.add, operand1=x)

        least = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=least, op=nl.minimum, data=share, axis=1)
        far = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=far, data=least, op0=nl.less, operand0=0.9999)
        nisa.register_load(more, far)
    nisa.dma_copy(dst=out, src=x)
    return out
