"""Kernels written in NKI, as kernels of tally: run on NumPy, recorded, and rolled up.

The data flows one way, a module for each idea:

  source.py        loads the user's files, with loops that say where they begin and end
  modules.py       the modules that kernels import while they are traced
  loops.py         loops while the kernel runs; dynamic ones
  state.py         Python's state that a dynamic loop must not change
  values.py        memories, views, index grids, registers
  elements.py      element types and their rounding
  instructions.py  the table of instructions
  expressions.py   the table of operators; what instructions compute, in NumPy and as text
  tracer.py        runs an instruction and records it
  tree.py          the trace: loops, iterations, operations
  rollup.py        iterations that are alike become loops
  resolve.py       numbers as expressions of loop variables
  rings.py         how many copies of a tile there are
  document.py      the kernel as JSON, and the summary
  command.py       `tally-nki`
  compare.py       `tally-nki compare`: the simulator's results against NumPy's
  commandline.py   its options: slips, manual pages, completion
  corpus/          `tally-nki corpus`: all kernels of a checkout

Nothing here is compiled; Python 3.11 and NumPy are all it needs.
"""

from .refusal import Refusal
from .trace import Traced, trace_file

__all__ = ["Refusal", "Traced", "trace_file"]
