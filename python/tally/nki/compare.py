"""`tally-nki compare KERNEL WANT GOT`: how far the simulator's results are from NumPy's.

`sim --outputs` writes the bits of types that NumPy has not, as bf16, and `tally-nki --expect` their numbers, so files cannot be
compared as they are. What NumPy has not computed, NaN in its files, is left out. Where it did compute NaN, `--expect` says so in files
of their own, and the simulator must have NaN.
"""

import json
import os
import sys

import numpy as np

from .commandline import Parser
from .elements import stored
from .refusal import Refusal, printable

_EPILOG = """examples:
  tally-nki scale.py scale --arg x=bf16[128,512] -o k.json --inputs=in --expect=want
  tally sim k.json --machine=trn2 --inputs=in --outputs=out
  tally-nki compare k.json want out

Sums may be in another order, and then be rounded to the neighbour: for each element type, a part of the largest number is allowed.

Where NumPy has computed NaN, tally must have NaN. The verdict is 'nothing to compare' if NumPy has computed no number at all, or
the folder has no result of this kernel.

Exit status: 0 all results are within what is allowed, 1 one is not, 2 nothing to compare, or wrong use.
"""

NANS = "nan"  # the folder in that of results

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


def difference(got, want, nans=None):
    """The largest difference relative to the largest number, how many numbers are missing, and how many are there in place of
    NaN, which NumPy has computed where `nans` says."""
    with np.errstate(all="ignore"):
        got, want = got.astype(np.float64).reshape(want.shape), want.astype(np.float64)
        written = ~np.isnan(want)
        missing = int(np.isnan(got[written]).sum())
        instead = 0 if nans is None else int((~np.isnan(got[nans.reshape(want.shape) & ~written])).sum())
        apart = np.where(got[written] == want[written], 0, np.abs(got[written] - want[written]))
    scale = max(1e-30, np.abs(want[written][np.isfinite(want[written])]).max(initial=0))
    return float(np.nan_to_num(apart, posinf=np.inf).max(initial=0) / scale), missing, instead


def save_nans(folder, arrays, results):
    """Where NumPy has computed NaN, for each of the results that has any; what another run has said of them is dropped."""
    folder = os.path.join(folder, NANS)
    if arrays:
        os.makedirs(folder, exist_ok=True)
    for name in results:
        path = os.path.join(folder, f"{name}.npy")
        if name in arrays:
            np.save(path, arrays[name].astype(np.uint8))
        elif os.path.exists(path):
            os.remove(path)


def nans_in(folder, name):
    """Where NumPy has computed NaN; None if it has nowhere."""
    folder = os.path.join(folder, NANS)
    return _loaded(folder, name).astype(bool) if os.path.exists(os.path.join(folder, f"{name}.npy")) else None


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
        print(printable(str(refusal)), file=sys.stderr)
    return 2


def _run(options):
    try:
        kinds = kinds_of(options.kernel)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Refusal(f"'{options.kernel}' cannot be read as a kernel in JSON: {problem}") from None
    names = sorted(name for name in kinds if os.path.exists(os.path.join(options.want, f"{name}.npy")))
    if not names and not os.path.isdir(options.want):
        raise Refusal(f"'{options.want}' is not a folder; 'tally-nki --expect={options.want}' writes the results of a kernel")
    limit = allowed(kinds.values())
    results = [_compared(options, name, kinds[name], limit) for name in names]
    verdict = "no" if "no" in results else "yes" if "yes" in results else "nothing to compare"
    print(f"verdict: {verdict}")
    return {"no": 1, "yes": 0}.get(verdict, 2)


def _compared(options, name, kind, limit):
    """Says how far a result is off, and whether that is allowed; None if there is none."""
    want, nans = _loaded(options.want, name), nans_in(options.want, name)
    if nans is not None and nans.size != want.size:
        raise Refusal(f"'{name}' has {nans.size} elements in '{os.path.join(options.want, NANS)}', and {want.size} in '{options.want}'")
    numbers, nan = int((want == want).sum()), 0 if nans is None else int(nans.sum())
    said = f"{name}: {kind}, {numbers} numbers{f' and {nan} NaN' if nan else ''}"
    if not numbers and not nan:  # and the simulator writes no file of what nothing wrote
        print(f"{said}: nothing to compare")
        return None
    got = stored(kind, _loaded(options.got, name))
    if got.size != want.size:
        raise Refusal(f"'{name}' has {got.size} elements in '{options.got}', and {want.size} in '{options.want}'")
    off, missing, instead = difference(got, want, nans)
    answer = "yes" if not missing and not instead and off <= limit else "no"
    lacking = (f"{missing} are not written, " if missing else "") + (f"{instead} are numbers where NumPy has NaN, " if instead else "")
    print(f"{said}: {lacking}largest difference {off:.1e} of the largest number, {limit:.1e} is allowed: {answer}")
    return answer


def _loaded(folder, name):
    path = os.path.join(folder, f"{name}.npy")
    try:
        array = np.load(path)
    except (OSError, ValueError, EOFError) as problem:
        raise Refusal(f"cannot read '{path}': {problem}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        raise Refusal(f"'{path}' holds '{getattr(array, 'dtype', type(array).__name__)}', not whole numbers or floats")
    return array
