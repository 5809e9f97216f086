"""`tally-nki compare KERNEL WANT GOT`: how far the simulator's results are from NumPy's.

`sim --outputs` writes the bits of types that NumPy has not, as bf16, and `tally-nki --expect` their numbers, so files cannot be
compared as they are. What NumPy has not computed is left out.
"""

import json
import os
import sys

import numpy as np

from .commandline import Parser
from .elements import stored
from .refusal import Refusal

_EPILOG = """examples:
  tally-nki scale.py scale --arg x=bf16[128,512] -o k.json --inputs=in --expect=want
  tally sim k.json --machine=trn2 --inputs=in --outputs=out
  tally-nki compare k.json want out

Sums may be in another order, and then be rounded to the neighbour: for each element type, a part of the largest number is allowed.

Exit status: 0 all results are within what is allowed, 1 one is not, 2 wrong use.
"""

# How far sums in another order may be off, relative to the largest number, by the narrowest element type: they may be
# rounded to the neighbour, one unit in the last place.
_ALLOWED = {"f32": 1e-5, "f16": 2**-10, "bf16": 2**-7, "fp8": 2**-3, "fp8_e4m3fn": 2**-3, "fp8_e5m2": 2**-2}


def allowed(kinds):
    """For results of a kernel whose buffers have these element types."""
    return max(_ALLOWED.get(kind, 1e-5) for kind in kinds)


def kinds_of(path):
    """The element type of each buffer of a kernel."""
    with open(path, encoding="utf-8") as file:
        return {buffer["name"]: buffer["type"] for buffer in json.load(file)["buffers"]}


def difference(got, want):
    """The largest difference relative to the largest number, and how many numbers are missing."""
    with np.errstate(all="ignore"):
        got, want = got.astype(np.float64).reshape(want.shape), want.astype(np.float64)
        written = ~np.isnan(want)
        missing = int(np.isnan(got[written]).sum())
        apart = np.where(got[written] == want[written], 0, np.abs(got[written] - want[written]))
    scale = max(1e-30, np.abs(want[written][np.isfinite(want[written])]).max(initial=0))
    return float(apart.max(initial=0) / scale), missing


def parser():
    made = Parser(prog="tally-nki compare", description="Compares the simulator's results with NumPy's.", epilog=_EPILOG)
    made.add_argument("kernel", metavar="KERNEL", help="the kernel, as 'tally-nki -o' wrote it")
    made.add_argument("want", metavar="WANT", help="the folder of 'tally-nki --expect'")
    made.add_argument("got", metavar="GOT", help="the folder of 'tally sim --outputs'")
    return made


def main(argv):
    options = parser().parse_args(argv)
    try:
        return _run(options)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
    return 2


def _run(options):
    try:
        kinds = kinds_of(options.kernel)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Refusal(f"'{options.kernel}' cannot be read as a kernel in JSON: {problem}") from None
    names = sorted(name for name in kinds if os.path.exists(os.path.join(options.want, f"{name}.npy")))
    if not names:
        raise Refusal(f"'{options.want}' has no result of this kernel; write them by 'tally-nki --expect={options.want}'")
    limit, right = allowed(kinds.values()), True
    for name in names:
        want = _loaded(options.want, name)
        computed = int((want == want).sum())
        got = stored(kinds[name], _loaded(options.got, name)) if computed else want  # the simulator writes no file of what nothing wrote
        if got.size != want.size:
            raise Refusal(f"'{name}' has {got.size} elements in '{options.got}', and {want.size} in '{options.want}'")
        off, missing = difference(got, want)
        fine = not missing and off <= limit
        right = right and fine
        lacking = f"{missing} are not written, " if missing else ""
        print(f"{name}: {kinds[name]}, {computed} numbers: {lacking}largest difference {off:.1e} of the largest number, "
              f"{limit:.1e} is allowed: {'yes' if fine else 'no'}")
    print(f"verdict: {'yes' if right else 'no'}")
    return 0 if right else 1


def _loaded(folder, name):
    path = os.path.join(folder, f"{name}.npy")
    try:
        return np.load(path)
    except (OSError, ValueError) as problem:
        raise Refusal(f"cannot read '{path}': {problem}") from None
