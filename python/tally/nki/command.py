"""`tally-nki FILE KERNEL --arg ...`: what the user types, and what is answered.

The kernel goes to stdout or to `-o`, everything else to stderr. The exit status is 0 if there is a
kernel and 2 if there is none.
"""

import argparse
import ast
import contextlib
import errno
import glob
import json
import os
import re
import signal
import sys
import threading
import time
import traceback

import numpy as np

from . import compare
from .commandline import SHELLS, Parser, check_limits, completion, nearest
from .document import as_text
from .elements import find_element
from .places import frame_below, is_users, place_of
from .refusal import Refusal, printable, said_by, shown_path
from .source import EXIT
from .trace import Raised, Tensor, default_root, trace_file
from .tree import Limits

_EXAMPLES = """examples:
  tally-nki scale.py scale --arg x=f32[128,512] -o k.json
  tally-nki ragged.py rows --arg x=bf16[1024,512] --arg n=i32[1,1]:5 --inputs=in --expect=want
  tally sim k.json --machine=trn2 --check-data --inputs=in --outputs=out --trips=n=5
  tally-nki compare k.json want out     see 'tally-nki compare --help'
  tally-nki corpus DIR     all kernels of a checkout; see 'tally-nki corpus --help'

A value of --arg is a tensor, TYPE[EXTENTS], of random numbers (whole numbers: 0), or of one number
after a colon; an array of NumPy, @FILE.npy or @FILE.npy:TYPE; an element type, nl.bfloat16; or a
literal of Python.

Exit status: 0 the kernel is written, 2 it is not: wrong use, or the kernel cannot be traced.
"""

CORPUS, COMPARE = "corpus", "compare"
_TENSOR = re.compile(r"([A-Za-z]\w*)\[([\d,\s]+)\](?::(.+))?")


def main(argv=None):
    """The exit status. Those who read what is printed may stop at any time."""
    try:
        status = _main(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except OSError as problem:
        where = f"'{problem.filename}'" if problem.filename else "to stdout"
        print(f"error: cannot write {where}: {problem.strerror}", file=sys.stderr)
        if isinstance(problem, BrokenPipeError):
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # what is left is not written at the end, either
    return 2


def _main(argv):
    if argv[:1] == [CORPUS]:
        from .corpus.command import main as corpus
        return corpus(argv[1:])
    if argv[:1] == [COMPARE]:
        return compare.main(argv[1:])
    parser = _parser()
    meant = nearest(argv[0], [CORPUS, COMPARE]) if argv and not os.path.exists(argv[0]) else ""
    if meant:
        parser.error(f"no file '{argv[0]}'; did you mean '{parser.prog} {meant}'?")
    options = parser.parse_args(argv)
    try:
        return _run(options)
    except Refusal as refusal:
        print(printable(_shown(refusal)), file=sys.stderr)
    except Raised as raised:
        print(printable(_traceback(raised)), file=sys.stderr)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
    return 2


def _parser():
    parser = Parser(prog="tally-nki", description="Traces a kernel written in NKI, and writes it as a kernel of tally.",
                    epilog=_EXAMPLES)
    parser.add_argument("--completion", action=_Completion, choices=SHELLS, metavar="SHELL",
                        help="print a script that completes commands and options in bash or zsh")
    parser.add_argument("file", metavar="FILE", help="the Python file of the kernel")
    parser.add_argument("kernel", metavar="KERNEL", help="the name of its function")
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE",
                        help="a parameter of the kernel; see below")
    parser.add_argument("-o", metavar="FILE", dest="output", help="where the kernel goes (stdout)")
    parser.add_argument("--inputs", metavar="DIR", help="write the inputs to DIR/BUFFER.npy")
    parser.add_argument("--expect", metavar="DIR", help="write NumPy's results to DIR/BUFFER.npy")
    parser.add_argument("--results-of", metavar="FILE",
                        help="write only --inputs and --expect, for the kernel in FILE, which was written before; loops may run 0 times")
    parser.add_argument("--summary", metavar="FILE", help="write the summary as JSON")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of random inputs (1)")
    parser.add_argument("--ring", type=int, default=2, metavar="N", help="copies of a tile that an iteration makes (2)")
    parser.add_argument("--root", metavar="DIR",
                        help="files below it are part of the kernel (the folder of FILE, or of its package)")
    parser.add_argument("--max-trips", action="append", default=[], metavar="LOOP=N",
                        help="a dynamic loop, or each loop of a value, runs at most N times whenever it is reached")
    parser.add_argument("--grid", default="", metavar="N,...", help="the launch grid")
    parser.add_argument("--program", default="", metavar="I,...",
                        help="which program of the grid is traced (0,...)")
    parser.add_argument("--max-operations", type=int, default=Limits().operations, metavar="N",
                        help="refuse a kernel that runs more operations (%(default)s)")
    parser.add_argument("--max-memory", type=int, default=Limits().bytes >> 20, metavar="MIB",
                        help="refuse a kernel whose buffers need more memory (%(default)s)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no summary and no progress")
    return parser


class _Completion(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        from .corpus.command import parser as corpus
        sys.stdout.write(completion(values, parser, {CORPUS: corpus(), COMPARE: compare.parser()}))
        parser.exit(0)


def _print(text):
    """To stdout, whole; Python has none where it is closed."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left is not tried again at the end
        raise


def _run(options):
    if options.ring < 1:
        raise Refusal(f"--ring={options.ring}: a ring has at least one slot")
    check_limits(options, "max_operations", "max_memory")
    most = dict(map(_bound, options.max_trips))
    if options.seed < 0:
        raise Refusal(f"--seed={options.seed}: a seed is a whole number of at least 0")
    if options.root is not None and not os.path.isdir(options.root):
        raise Refusal(f"--root={options.root}: there is no such folder")
    grid, program = _grid(options)
    random = np.random.default_rng(options.seed)
    arguments = {}
    for text in options.arg:
        name, value = argument(text, random)
        if name in arguments:
            raise Refusal(f"'--arg {name}=...' is given twice")
        arguments[name] = value
    _check_outputs(options)
    results_of = _written_before(options) if options.results_of else None
    limits = Limits(options.max_operations, bytes=options.max_memory << 20)
    progress = _Progress(options.quiet, options.root or default_root(options.file))
    with progress.looking():
        traced = trace_file(options.file, options.kernel, arguments, root=options.root, ring=options.ring,
                            grid=grid, program=program, limits=limits, most=most,
                            progress=progress, results_of=results_of)
    if traced.document is not None:
        text = as_text(traced.document)
        if options.output:
            _write(options.output, text)
        else:
            _print(text)
    for folder, arrays in ((options.inputs, traced.inputs), (options.expect, traced.expected)):
        if folder:
            save(folder, arrays)
    if options.expect:
        compare.save_facts(options.expect, options.kernel, traced.expected, traced.nans)
    if traced.summary is None:
        return 0
    if options.summary:
        _write(options.summary, json.dumps(traced.summary.as_json(), indent=1) + "\n")
    if not options.quiet:
        print(traced.summary.text(), file=sys.stderr)
    return 0


def _written_before(options):
    """The document that '--results-of' names."""
    for option, value in (("-o", options.output), ("--summary", options.summary), ("--max-trips", options.max_trips)):
        if value:
            raise Refusal(f"'--results-of' writes no kernel, so '{option}' has no use; leave one of them out")
    if not options.inputs and not options.expect:
        raise Refusal("'--results-of' writes only inputs and results; say where, by '--inputs=DIR' or '--expect=DIR'")
    try:
        with open(options.results_of, encoding="utf-8") as file:
            document = json.load(file)
        if [buffer["name"] + buffer["space"] + buffer["type"] for buffer in document["buffers"]] and document["name"]:
            if document["name"] != options.kernel:
                raise Refusal(f"'{options.results_of}' is kernel '{document['name']}', not '{options.kernel}'")
            return document
        raise ValueError("it has no buffers")
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Refusal(f"'{options.results_of}' cannot be read as a kernel in JSON: {problem}") from None


def _check_outputs(options):
    """What is written must replace neither what is read nor what else is written."""
    given = [(_file_and_type(value[1:])[0], f"is read by '--arg {name}=...'")
             for name, _, value in (text.partition("=") for text in options.arg) if value.startswith("@")]
    read = [(options.file, "is the kernel's own file"), *given]
    for option, path in (("-o", options.output), ("--summary", options.summary)):
        for other, what in read:
            if path and _same_file(path, other):
                raise Refusal(f"'{option} {path}' would replace '{other}', which {what}; name another file")
    if options.output and options.summary and _same_file(options.output, options.summary):
        raise Refusal(f"'--summary {options.summary}' would replace the kernel that '-o' writes there; name another file")
    if options.inputs and options.expect and os.path.realpath(options.inputs) == os.path.realpath(options.expect):
        raise Refusal(f"'--expect {options.expect}' is the folder of '--inputs', and would replace arrays there; name "
                      "another folder")
    nans = options.expect and os.path.join(options.expect, compare.NANS)
    for option, folder in (("--inputs", options.inputs), ("--expect", options.expect), ("--expect", nans)):
        for other, what in given:
            if folder and any(_same_file(path, other) for path in glob.glob(os.path.join(glob.escape(folder), "*.npy"))):
                raise Refusal(f"'{option} {folder}' may replace '{other}', which is there and {what}; name another folder")


def _same_file(path, other):
    """Devices, as /dev/null, take everything."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.isfile(path) and os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def save(folder, arrays):
    """Arrays as the data of `tally sim` reads them."""
    os.makedirs(folder, exist_ok=True)
    for name, array in arrays.items():
        whole = array.dtype.kind in "iu" and array.dtype.itemsize <= 4
        np.save(os.path.join(folder, f"{name}.npy"), array.astype(array.dtype.str if whole else "<f4"))


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _bound(text):
    name, _, number = text.rpartition("=")
    if not name or not number.isdecimal():
        raise Refusal(f"'--max-trips={text}' is not of the form LOOP=N, as in '--max-trips=i=64'")
    return name, int(number)


def _grid(options):
    """The launch grid, and the program of it."""
    grid, program = _numbers(options.grid), _numbers(options.program)
    if any(extent < 1 for extent in grid):
        raise Refusal(f"--grid={options.grid}: each extent is at least 1")
    if program and not grid:
        raise Refusal(f"--program={options.program}: a program is one of a launch grid; give that by '--grid=N,...'")
    if len(program) > len(grid) or any(not 0 <= number < extent for number, extent in zip(program, grid)):
        last = ",".join(str(extent - 1) for extent in grid)
        raise Refusal(f"--program={options.program}: the grid {options.grid} has programs {','.join('0' for _ in grid)} to {last}")
    return grid, program


def _numbers(text):
    try:
        return tuple(int(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise Refusal(f"'{text}' is not a list of whole numbers, as in '2,2'") from None


def argument(text, random):
    """The name and the value of what '--arg' is given."""
    name, equals, value = text.partition("=")
    try:
        if not equals or not name.isidentifier():
            raise Refusal("it is not of the form NAME=VALUE")
        return name, _value(value, random)
    except Refusal as refusal:
        raise Refusal(f"'--arg {_short(text)}': {refusal.message}") from None


def _short(text):
    return text if len(text) <= 100 else text[:97] + "..."


def _value(text, random):
    tensor = _TENSOR.fullmatch(text)
    if tensor:
        return _tensor(*tensor.groups(), random)
    if text.startswith("@"):
        return _array(text[1:])
    element = find_element(text[3:]) if text.startswith("nl.") else None
    if element is not None:
        return element
    return _literal(text, "the value is not a tensor as 'f32[128,512]', an array as '@x.npy', or a literal of Python; texts need quotes")


def _literal(text, problem):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise Refusal(problem) from None


def _tensor(kind, extents, fill, random):
    element = find_element(kind)
    try:
        shape = tuple(int(extent) for extent in extents.split(","))
    except ValueError:
        shape = (0,)
    if element is None:
        raise Refusal(f"unknown element type '{_short(kind)}'; tally knows f32, bf16, f16, fp8, i32, and those of 'nki.language'")
    if min(shape) < 1:
        raise Refusal("extents are whole numbers of at least 1")
    if int(np.prod(shape, dtype=object)) > 1 << 31:
        raise Refusal("the tensor has more than 2^31 elements; trace a smaller shape")
    if fill is None:
        if element.is_float:
            return Tensor(random.standard_normal(shape, np.float32), element)
        return Tensor(np.zeros(shape, np.int32), element)
    problem = f"'{_short(fill)}' is neither a number nor a list of the tensor's shape"
    values = _literal(fill, problem)
    try:
        values = np.broadcast_to(np.array(values), shape)
    except ValueError:
        raise Refusal(problem) from None
    if values.dtype.kind not in "fiub":
        raise Refusal(problem if not isinstance(_literal(fill, problem), int) else _allowed(element))
    return Tensor(np.ascontiguousarray(_checked(values, element)), element)


def _checked(values, element):
    """The numbers, if the element type has them; those of a float are rounded later."""
    if values.dtype.kind not in "fiub":
        raise Refusal(f"'{values.dtype}' are not whole numbers or floats")
    if not element.is_float:
        limits = np.iinfo(element.dtype)
        fits = (values == np.floor(values)) & (values >= limits.min) & (values <= limits.max)
    else:
        with np.errstate(over="ignore"):
            fits = np.isfinite(element.fit(np.asarray(values, np.float32))) | ~np.isfinite(values)
    if not fits.all():
        raise Refusal(f"{values[~fits].reshape(-1)[0]}: {_allowed(element)}")
    return values


def _allowed(element):
    if not element.is_float:
        limits = np.iinfo(element.dtype)
        return f"'{element.tally}' has whole numbers from {limits.min} to {limits.max}"
    return f"it is too large for '{element.tally}'"


def _file_and_type(value):
    file, colon, kind = value.rpartition(":")
    return (file, kind) if colon and find_element(kind) is not None else (value, None)


def _array(value):
    file, kind = _file_and_type(value)
    try:
        array = np.load(file)
    except (OSError, ValueError, EOFError) as problem:
        raise Refusal(f"cannot read '{file}': {problem}") from None
    if not isinstance(array, np.ndarray):
        raise Refusal(f"'{file}' holds several arrays; save the one that is meant by 'np.save'")
    element = find_element(kind or array.dtype)
    if element is None:
        raise Refusal(f"arrays of '{array.dtype}' are not tensors; name a type after a colon")
    if array.size == 0:
        raise Refusal(f"'{file}' is an array of shape {list(array.shape)}; extents are at least 1")
    return Tensor(_checked(array, element), element)


_EVERY = 5  # seconds between two lines of progress
_PATIENCE = 60  # seconds of the process without an operation
_WAITING = 600  # seconds by the clock without one, as of a kernel that sleeps


def _end_interrupted():
    os.write(2, b"error: interrupted\n")
    EXIT(2)


class _Progress:
    """Every few seconds: how far the trace is, and where. A kernel that does nothing on the device for a minute is refused."""

    def __init__(self, quiet, root):
        self.quiet, self.root, self.recorder, self.start = quiet, os.path.realpath(root), None, time.monotonic()
        self.interrupted = False
        self.operations, self.worked, self.moved = 0, time.process_time(), time.monotonic()

    def __call__(self, recorder):
        self.recorder = recorder

    @contextlib.contextmanager
    def looking(self):
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread may be asked
            return
        before = signal.signal(signal.SIGALRM, self._look), signal.getsignal(signal.SIGINT)
        if before[1] is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupt)
        signal.setitimer(signal.ITIMER_REAL, _EVERY, _EVERY)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before[0])
            signal.signal(signal.SIGINT, before[1])

    def _interrupt(self, *_):
        """Raised once; a kernel that catches it is ended a second later, or when it is asked again. Nothing is written yet."""
        if self.interrupted:
            _end_interrupted()
        self.interrupted = True
        signal.setitimer(signal.ITIMER_REAL, 1)
        raise KeyboardInterrupt

    def _look(self, _, frame):
        if self.interrupted:
            _end_interrupted()
        if self.recorder is None:
            return
        inner = frame_below(self.root)
        place = place_of(inner) if inner is not None and inner.f_back is not None else None  # the outermost one is the program's
        if not self.quiet:
            self._tell(place)
        if inner is None:
            return  # on the way to the kernel, or from it
        if self.recorder.operations != self.operations:
            self.operations, self.worked, self.moved = self.recorder.operations, time.process_time(), time.monotonic()
        elif time.monotonic() - self.moved > _WAITING and is_users(frame):
            raise Refusal(f"the kernel has waited for {_WAITING} s without an operation; does it end?", place)
        elif time.process_time() - self.worked > _PATIENCE and is_users(frame):
            raise Refusal(f"the kernel has worked for {_PATIENCE} s without an operation; does it end?", place)

    def _tell(self, place):
        recorder = self.recorder
        where = f", at {place}" if place is not None else ""
        if recorder.loops and recorder.loops[0].index >= 0:
            where += f", in iteration {recorder.loops[0].index + 1} of '{recorder.loops[0].name}'"
        with contextlib.suppress(RuntimeError):  # the kernel itself is printing
            print(f"... {recorder.operations} operations after {time.monotonic() - self.start:.0f} s{where}", file=sys.stderr)


def _shown(refusal):
    text, place = str(refusal), refusal.place
    if place is None:
        return text
    try:
        with open(place.file, encoding="utf-8") as file:
            line = file.read().splitlines()[place.line - 1]
    except (OSError, IndexError, UnicodeDecodeError):
        return text
    return f"{text}\n    {line.strip()}"


def _traceback(raised):
    """The kernel's own traceback, without the frames that are not the user's."""
    error = raised.error
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if os.path.realpath(frame.filename).startswith(os.path.realpath(raised.root) + os.sep)]
    said = said_by(error) or "without a message"
    for ours, users in (("'View'", "'tensor'"), ("'Register'", "'register'")):
        said = said.replace(ours, users)
    lines = [f"error: the kernel raises {type(error).__name__}: {said}"]
    if frames:
        lines = [f"{shown_path(frames[-1].filename)}:{frames[-1].lineno}: {lines[0]}", f"    {frames[-1].line}"]
    for frame in frames[-4:-1]:
        lines.append(f"{shown_path(frame.filename)}:{frame.lineno}: note: in '{frame.name}'")
        lines.append(f"    {frame.line}")
    return "\n".join(lines)
