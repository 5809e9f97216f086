"""Kernels that say what they need not: arguments with the values that they have without."""

import nki
import nki.isa as nisa
import nki.language as nl


def _tiles():
    tile = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    column = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    sums = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    return tile, column, out, sums


@nki.jit
def plain(x):
    tile, column, out, sums = _tiles()
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_reduce(dst=column, op=nl.maximum, data=tile, axis=1)
    nisa.exponential(dst=tile, src=tile, max_value=column)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
    nisa.activation(dst=tile, op=nl.square, data=tile)
    nisa.tensor_scalar_reduce(dst=tile, data=tile, op0=nl.multiply, operand0=0.5, reduce_op=nl.add, reduce_res=column)
    nisa.tensor_tensor_scan(dst=tile, data0=tile, data1=tile, initial=0.0, op0=nl.multiply, op1=nl.add)
    nisa.select_reduce(dst=tile, predicate=tile, on_true=tile, on_false=0.0)
    nisa.dma_copy(dst=out, src=tile)
    nisa.dma_copy(dst=sums, src=column)
    return out, sums


@nki.jit
def spelled(x):
    tile, column, out, sums = _tiles()
    idle = nisa.reduce_cmd.idle
    nisa.dma_copy(dst=tile, src=x, priority=None, oob_mode=nisa.oob_mode.error, dge_mode=nisa.dge_mode.none, name="load",
                  dst_rmw_op=None, unique_indices=True)
    nisa.tensor_reduce(dst=column, op=nl.maximum, data=tile, axis=[1], keepdims=True, negate=False)
    nisa.exponential(dst=tile, src=tile, max_value=column, reduce_res=None, reduce_cmd=idle, reduce_init=0.0)
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0, reverse0=False, op1=None, operand1=0.0, reverse1=False)
    nisa.activation(dst=tile, op=nl.square, data=tile, bias=None, scale=1.0, reduce_op=nl.add, reduce_res=None,
                    reduce_cmd=nisa.reduce_cmd.reset_reduce)
    nisa.tensor_scalar_reduce(dst=tile, data=tile, op0=nl.multiply, operand0=0.5, reduce_op=nl.add, reduce_res=column,
                              reverse0=False, reduce_cmd=idle, reduce_init=None, reduce_res_negate=False)
    nisa.tensor_tensor_scan(dst=tile, data0=tile, data1=tile, initial=0.0, op0=nl.multiply, op1=nl.add, reverse0=True,
                            reverse1=True)
    nisa.select_reduce(dst=tile, predicate=tile, on_true=tile, on_false=0.0, reduce_res=None, reduce_cmd=idle,
                       reduce_op=nl.maximum, reverse_pred=False)
    nisa.dma_copy(dst=out, src=tile, oob_mode=nisa.oob_mode.skip)
    nisa.dma_copy(dst=sums, src=column)
    return out, sums


@nki.jit
def turned(x):
    """A scan whose operators do not commute, and a sum with its sign turned."""
    tile, column, out, sums = _tiles()
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor_scan(dst=tile, data0=tile, data1=tile, initial=1.0, op0=nl.subtract, op1=nl.subtract, reverse0=True,
                            reverse1=True)
    nisa.tensor_scalar_reduce(dst=tile, data=tile, op0=nl.multiply, operand0=0.5, reduce_op=nl.add, reduce_res=column,
                              reduce_res_negate=True)
    nisa.dma_copy(dst=out, src=tile)
    nisa.dma_copy(dst=sums, src=column)
    return out, sums


@nki.jit
def sum_from_before(x):
    tile, column, out, sums = _tiles()
    nisa.dma_copy(dst=tile, src=x)
    nisa.activation(dst=tile, op=nl.exp, data=tile, reduce_op=nl.add, reduce_res=column)
    nisa.dma_copy(dst=out, src=tile)
    nisa.dma_copy(dst=sums, src=column)
    return out, sums
