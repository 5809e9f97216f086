"""`tally-nki compare KERNEL WANT GOT`: how far the simulator's results are from NumPy's.

`sim --outputs` writes the bits of types that NumPy has not, as bf16, and `tally-nki --expect` their numbers, so files cannot be
compared as they are. What NumPy has not computed is NaN in its files, and the simulator must have no number there, either. Where it
did compute NaN, `--expect` says so in files of their own. It also says which results there are, and of which kernel.
"""

import json
import os
import sys
from math import prod

import numpy as np

from .commandline import Parser
from .elements import stored
from .refusal import Refusal, printable

_EPILOG = """examples:
  tally-nki scale.py scale --arg x=bf16[128,512] -o k.json --inputs=in --expect=want
  tally sim k.json --machine=trn2 --inputs=in --outputs=out
  tally-nki compare k.json want out

Sums may be in another order, and then be rounded to the neighbour: for each element type, a part of the largest number is allowed.
A number that fills several elements, or is beyond 1e30, does not say what is large: it stands for something, as for minus infinity.

Where NumPy has computed NaN, tally must have NaN, and where it has computed nothing, tally must have no number. The verdict is
'nothing to compare' if NumPy has computed no number at all, or the folder has no result of this kernel.

Exit status: 0 all results are within what is allowed, 1 one is not, 2 nothing to compare, or wrong use.
"""

NANS = "nan"  # the folder in that of results: what NaN stands for there
NAN, OTHERS, NOTHING = 1, 2, 3  # NaN was computed; other programs write here; nothing was computed. That, too, says NaN without a word
_RESULTS = "results.json"  # which results there are

# How far sums in another order may be off, relative to the largest number, by the narrowest element type: they may be
# rounded to the neighbour, one unit in the last place.
_ALLOWED = {"f32": 1e-5, "f16": 2**-10, "bf16": 2**-7, "fp8": 2**-3, "fp8_e4m3fn": 2**-3, "fp8_e5m2": 2**-2}


def allowed(kinds):
    """For results of a kernel whose buffers have these element types."""
    return max((_ALLOWED.get(kind, 1e-5) for kind in kinds), default=1e-5)


def is_whole(kind):
    return kind in ("i8", "i16", "i32", "u8", "u16", "u32")


def kinds_of(path):
    """The element type of each buffer of a kernel."""
    with open(path, encoding="utf-8") as file:
        return {buffer["name"]: buffer["type"] for buffer in json.load(file)["buffers"]}


def how_many(want, nans):
    """The numbers that NumPy has computed."""
    return int((~np.isnan(want) if nans is None else ~np.isnan(want) & (nans.reshape(want.shape) < OTHERS)).sum())


class Difference:
    """Of the simulator's numbers from NumPy's: the largest one, relative to the largest number; how many numbers are missing, and
    how many are there in place of NaN, or where NumPy has computed nothing."""

    def __init__(self, got, want, nans=None, is_whole=False):
        poison = np.iinfo(got.dtype).min if got.dtype.kind in "iu" else np.nan  # where the simulator has no number
        nans = np.zeros(want.shape, np.uint8) if nans is None else nans.reshape(want.shape)
        with np.errstate(all="ignore"):
            got, want = got.astype(np.float64).reshape(want.shape), want.astype(np.float64)
            lacks = np.isnan(want) | (nans == NOTHING) | (nans == OTHERS)
            number = np.where(nans == NOTHING, ~np.isnan(got) & (got != poison), ~np.isnan(got))
            self.missing = int((~number & ~lacks).sum())
            self.instead = int((number & lacks & (nans == NAN)).sum())
            self.extra = int((number & lacks & ((nans == 0) | (nans == NOTHING))).sum())
            got, want = got[~lacks], want[~lacks]
            apart = np.where(got == want, 0, np.abs(got - want))
            relative = apart / np.maximum(_scale(want), np.where(np.isfinite(want), np.abs(want), 0))
            self.apart = int((apart > np.maximum(1, 1e-6 * np.abs(want))).sum()) if is_whole else 0
        self.largest = float(np.nan_to_num(relative, posinf=np.inf).max(initial=0))

    def text(self):
        """What else is wrong than numbers that differ."""
        return "".join(f"{count} {what}, " for count, what in (
            (self.missing, "are not written"), (self.instead, "are numbers where NumPy has NaN"),
            (self.extra, "are numbers where NumPy has computed none"), (self.apart, "are other whole numbers, by more than 1")) if count)

    def is_within(self, limit):
        return not self.text() and self.largest <= limit


def _scale(numbers):
    """The largest number that stands for itself: not for infinity, as 1e38, nor for something else, as what fills several elements;
    the largest of all where there is no such."""
    sizes, counts = np.unique(np.abs(numbers[np.isfinite(numbers)]), return_counts=True)
    for chosen in (sizes[(counts == 1) & (sizes < 1e30) & (sizes > 0)], sizes[sizes < 1e30], sizes):
        if chosen.max(initial=0) > 0:
            return chosen.max()
    return 1e-30


def save_facts(folder, kernel, results, nans):
    """Which results of a kernel are in a folder, and what NaN stands for in them. What another run has said is dropped."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, _RESULTS), "w", encoding="utf-8") as file:
        file.write(json.dumps({"kernel": kernel, "results": sorted(results)}) + "\n")
    folder = os.path.join(folder, NANS)
    if nans:
        os.makedirs(folder, exist_ok=True)
    for name in results:
        path = os.path.join(folder, f"{name}.npy")
        if name in nans:
            np.save(path, nans[name].astype(np.uint8))
        elif os.path.exists(path):
            os.remove(path)


def nans_in(folder, name):
    """What NaN stands for in a result; None if nothing is said, so that nothing was computed there."""
    folder = os.path.join(folder, NANS)
    return _loaded(folder, name) if os.path.exists(os.path.join(folder, f"{name}.npy")) else None


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
        with open(options.kernel, encoding="utf-8") as file:
            kernel = json.load(file)
        name, buffers = kernel["name"], {buffer["name"]: buffer for buffer in kernel["buffers"]}
        kinds = {name: buffer["type"] for name, buffer in buffers.items()}
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Refusal(f"'{options.kernel}' cannot be read as a kernel in JSON: {problem}") from None
    if os.path.realpath(options.want) == os.path.realpath(options.got):
        raise Refusal(f"'{options.want}' and '{options.got}' are one folder; name that of 'tally-nki --expect' first, then that of "
                      "'tally sim --outputs'")
    limit = allowed(kinds.values())
    answers = [_compared(options, result, buffers[result], limit) for result in _results(options, name, buffers)]
    verdict = "no" if "no" in answers else "yes" if "yes" in answers else "nothing to compare"
    print(f"verdict: {verdict}")
    return {"no": 1, "yes": 0}.get(verdict, 2)


def _results(options, kernel, buffers):
    """What '--expect' says that it has written, for this kernel; of a folder that it did not write, what is there."""
    if not os.path.isdir(options.want):
        raise Refusal(f"'{options.want}' is not a folder; 'tally-nki --expect={options.want}' writes the results of a kernel")
    path = os.path.join(options.want, _RESULTS)
    if not os.path.exists(path):
        return sorted(name for name in buffers if os.path.exists(os.path.join(options.want, f"{name}.npy")))
    try:
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
        of, results = said["kernel"], list(said["results"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Refusal(f"'{path}' does not say which results there are: {problem}") from None
    strangers = [name for name in results if name not in buffers]
    if of != kernel or strangers:
        which = f"of kernel '{of}'" if of != kernel else f"'{strangers[0]}', which is not a buffer"
        raise Refusal(f"'{options.want}' has results {which}, and '{options.kernel}' is kernel '{kernel}'; write both with one call")
    return results


def _compared(options, name, buffer, limit):
    """Says how far a result is off, and whether that is allowed; None if there is none."""
    want, nans = _loaded(options.want, name), nans_in(options.want, name)
    kind, size = buffer["type"], _size(buffer)
    for array, folder in ((want, options.want), (nans, os.path.join(options.want, NANS))):
        if array is not None and array.size != (size or array.size):
            raise Refusal(f"'{name}' has {array.size} elements in '{folder}', and {size} in '{options.kernel}'")
    numbers = how_many(want, nans)
    nan = 0 if nans is None else int((nans == NAN).sum())
    said = f"{name}: {kind}, {numbers} numbers{f' and {nan} NaN' if nan else ''}"
    if not numbers and not os.path.exists(os.path.join(options.got, f"{name}.npy")):
        print(f"{said}: nothing to compare")  # the simulator writes no file of what nothing wrote
        return None
    got = stored(kind, _loaded(options.got, name))
    if got.size != want.size:
        raise Refusal(f"'{name}' has {got.size} elements in '{options.got}', and {want.size} in '{options.want}'")
    found = Difference(got, want, nans, is_whole(kind))
    if not numbers and not nan and not found.extra:
        print(f"{said}: nothing to compare")
        return None
    answer = "yes" if found.is_within(limit) else "no"
    print(f"{said}: {found.text()}largest difference {found.largest:.1e} of the largest number, {limit:.1e} is allowed: {answer}")
    return answer


def _size(buffer):
    """How many elements; 0 if it has no shape of numbers."""
    shape = buffer.get("shape") or [0]
    return prod(shape) if all(isinstance(extent, int) for extent in shape) else 0


def _loaded(folder, name):
    path = os.path.join(folder, f"{name}.npy")
    try:
        array = np.load(path)
    except (OSError, ValueError, EOFError) as problem:
        raise Refusal(f"cannot read '{path}': {problem}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        raise Refusal(f"'{path}' holds '{getattr(array, 'dtype', type(array).__name__)}', not whole numbers or floats")
    return array
