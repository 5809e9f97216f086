"""From a file and arguments to a kernel of tally, with inputs and expected results."""

import os
import sys
import traceback
import types
from typing import NamedTuple

import numpy as np

from . import places, source
from .compare import NAN, NOTHING, OTHERS
from .document import buffers_of, kernel_document, written_in
from .loops import hooks
from .modules import Kernel, offered
from .refusal import Place, Refusal, first_refusal, forget_first, said_by
from .resolve import Resolver, trips_of_run, tying
from .rollup import Uneven
from .tracer import Again, Notes, Tracer
from .tree import Limits, TooLarge


class Tensor(NamedTuple):
    """An argument that is an array in HBM."""

    array: np.ndarray
    element: str


class Traced(NamedTuple):
    document: dict
    summary: object
    inputs: dict  # by buffer
    expected: dict  # by buffer
    nans: dict  # by buffer, what NaN stands for there (compare.py), if for anything
    recorder: object
    block: object
    nodes: list  # instructions and loops of the document
    constant: dict  # the document without loops that run as often as others say, if it has any


class Raised(Exception):
    """The kernel raised something of its own."""

    def __init__(self, error, root):
        super().__init__(said_by(error))
        self.error, self.root = error, root


def default_root(path):
    """The folder of the file, or that of the outermost package that it is part of."""
    folder = os.path.dirname(os.path.abspath(path))
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def trace_file(path, kernel, arguments, *, root=None, **options):
    """Traces a kernel of a file. `arguments` holds Tensors and plain values by parameter; for `options`
    see `traced`."""
    path = os.path.abspath(path)
    root = os.path.abspath(root) if root else default_root(path)
    return traced(lambda tracer: _run(tracer, path, kernel, arguments, root), **options)


def traced(run, *, name=None, ring=2, grid=(), program=(), limits=Limits(), progress=None, keep_log=False,
           only_run=False, most=None, results_of=None):
    """Traces what `run` does with a tracer; it gives the function of the kernel. `most`: bounds on the trips of dynamic loops.

    With `only_run` there are NumPy's results and no document, whatever the trips of dynamic loops. So it is with `results_of`,
    a document of this kernel, by whose buffers the results are called.
    """
    notes = Notes()
    while True:
        tracer = Tracer(limits, progress, grid, program, notes)
        tracer.recorder.log = [] if keep_log else None
        tracer.recorder.interner.only_run = only_run = only_run or results_of is not None
        try:
            function = run(tracer)
            block = tracer.finish()
            break
        except Uneven:
            # A number that later iterations make unknown was known in the first one: once more, without.
            if tracer.recorder.demoted <= notes.unknown:
                raise
            notes.take(Again(unknown=tracer.recorder.demoted))
        except Again as again:
            notes.take(again)
        finally:
            places.forget()
    if tracer.recorder.operations == 0:
        raise Refusal(f"the kernel '{function.__name__}' ran no operation of 'nki.isa' or 'nki.language', so there is nothing to "
                      "write; if what it does depends on its arguments, give others by '--arg'", place_of_function(function))
    return _result(tracer, block, function, name or function.__name__, ring, only_run, most, results_of)


def place_of_function(function):
    return Place(function.__code__.co_filename, function.__code__.co_firstlineno, 0)


def _run(tracer, path, kernel, arguments, root):
    """Loads the file and runs the kernel; gives its function."""
    recorder, running = tracer.recorder, []

    def launch(kernel, args, kwargs):
        """Kernels that the file itself calls when it is loaded do not run."""
        return kernel.function(*args, **kwargs) if running else None

    with source.guarded(offered(tracer, launch), hooks(recorder), root) as finder:
        function = _find(source_module(path, finder, root, kernel, recorder), kernel, path)
        place = place_of_function(function)
        given = {key: tracer.input(key, value.array, value.element, place)
                 if isinstance(value, Tensor) else value for key, value in arguments.items()}
        _check_arguments(function, given, place)
        running.append(function)
        tracer.returned(call(function, given, recorder, root))
    return function


def _result(tracer, block, function, name, ring, only_run, most, results_of):
    recorder = tracer.recorder
    document = summary = buffers = nodes = constant = None
    if results_of is not None:
        buffers = buffers_of(results_of, dict.fromkeys(memory.family for memory in [*tracer.inputs, *tracer.hbm]))
    if not only_run:
        resolver = Resolver(recorder)
        nodes = resolver.kernel(block)
        document, summary, buffers = kernel_document(name, recorder, nodes, ring, most)
        if tying(nodes):
            plain = Resolver(recorder, tying(nodes)).kernel(block)
            constant = kernel_document(name, recorder, plain, ring, most)[0]
        summary.program, summary.apart = _program(tracer), [
            (*recorder.loop_info[loop][:2], count, loop in resolver.rolled) for loop, count in resolver.written_out.items()]
        summary.trips = {name: _period(trips) for name, trips in trips_of_run(nodes, recorder).items()}
    # Of a kernel that was written before, all that it writes: where no loop has run, that is as it was.
    written = None if results_of is None else written_in(results_of)
    results = [memory for memory in tracer.hbm
               if (memory.written if written is None else buffers.get(memory.family, ("",))[0] in written)]
    expected = _arrays(results, buffers, "data")
    gapped = {memory.family for memory in results if _has_gaps(memory)}
    nans = _arrays([memory for memory in results if memory.family in gapped], buffers, "nans")
    if summary is not None and not expected:
        summary.obstacle("the kernel leaves nothing in HBM: '--expect' is empty",
                         place_of_function(function))
    return Traced(document, summary, _arrays(tracer.inputs, buffers, "first"), expected, nans, recorder, block, nodes, constant)


def _period(trips):
    """The shortest list that, from its start again and again, gives these."""
    return next(trips[:length] for length in range(1, len(trips) + 1)
                if all(number == trips[place % length] for place, number in enumerate(trips)))


def _arrays(memories, buffers, which):
    """The numbers of memories in HBM by buffer. One that was made in loops is a part of its buffer; of a ring, only the
    last ones would be left, so it has none."""
    arrays = {}
    for memory in memories:
        name, layout = (memory.family.name, None) if buffers is None else buffers.get(memory.family, (None, None))
        if name is None:
            continue
        if not memory.coordinates:
            arrays[name] = _numbers(memory, which)
        elif layout is not None and not layout.ring:
            part = _numbers(memory, which)
            blank = NOTHING if which == "nans" else np.nan if part.dtype.kind == "f" else 0
            arrays.setdefault(name, np.full(layout.shape, blank, part.dtype))[memory.coordinates] = part
    return arrays


def _has_gaps(memory):
    """Whether it is to be said what stands where there are no numbers of NumPy's."""
    return memory.nans is not None or memory.own is not None or memory.blank is not None and (memory.coordinates or memory.blank.any())


def _numbers(memory, which):
    """The numbers; at the end, those that this program has written or taken, if other programs write, too. Or what NaN stands for."""
    if which == "nans":
        numbers = np.zeros(memory.shape, np.uint8) if memory.nans is None else memory.nans * np.uint8(NAN)
        if memory.blank is not None:
            numbers[memory.blank] = NOTHING
        if memory.own is not None:
            numbers = np.where(memory.own.has_written(), numbers, np.uint8(OTHERS))
        return numbers.reshape(memory.family.shape)
    numbers = getattr(memory, which) if which != "data" or memory.own is None else memory.own.numbers()
    return numbers.reshape(memory.family.shape)


def _program(tracer):
    """Which program of the launch grid this is, in words."""
    if not tracer.grid:
        return "0 of 1" if tracer.asked_program else None
    program = tracer.program + (0,) * (len(tracer.grid) - len(tracer.program))
    return f"{', '.join(map(str, program))} of {', '.join(map(str, tracer.grid))}"


def source_module(path, finder, root, kernel, recorder):
    """The module of the file. One that goes on to run its kernels may fail where they are there already."""
    try:
        return source.load(path, finder, root)
    except Refusal:
        raise
    except BaseException as error:  # whatever the file does when it is loaded
        if _is_ours(error):
            raise
        module = next((module for module in finder.loaded
                       if module.__file__ == path and hasattr(module, kernel)), None)
        if module is None:
            raise Raised(error, root) from error
        recorder.obstacle(f"the file raises {type(error).__name__} when it is loaded, after the kernel",
                          last_place(error, root))
        return module


def _find(module, kernel, path):
    found = getattr(module, kernel, None)
    if found is None:
        kernels = [key for key, value in vars(module).items() if isinstance(value, Kernel)]
        functions = [key for key, value in vars(module).items()
                     if isinstance(value, types.FunctionType) and value.__module__ == module.__name__]
        there = (f"its kernels are: {', '.join(kernels)}" if kernels else f"its functions are: {', '.join(functions)}" if functions
                 else "it has no function: give the file that defines the kernel")
        raise Refusal(f"there is no '{kernel}' in '{path}'; {there}")
    function = getattr(found, "function", found)
    function = getattr(function, "function", function)
    if not hasattr(function, "__code__"):
        raise Refusal(f"'{kernel}' in '{path}' is not a function")
    return function


def _check_arguments(function, given, place):
    code = function.__code__
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    takes_any = bool(code.co_flags & 0x08)
    for key in given:
        if key not in names and not takes_any:
            raise Refusal(f"'{function.__name__}' has no parameter '{key}'; it has {', '.join(names)}", place)
    optional = len(function.__defaults__ or ())
    required = code.co_varnames[:code.co_argcount - optional]
    missing = [key for key in required if key not in given]
    if missing:
        raise Refusal(f"no value for {', '.join(map(repr, missing))}; say '--arg NAME=VALUE' for each", place)


def call(function, given, recorder, root):
    """What the function gives; what it raises of its own is a `Raised`. A refusal decides though the kernel catches it."""
    forget_first()
    try:
        result = function(**given)
        _raise_first(recorder, None)
        return result
    except (Refusal, Again) as error:
        _raise_first(recorder, error)
        raise
    except RecursionError as error:
        _raise_first(recorder, recorder.refusal)
        place, name = last_place(error, root), function.__name__
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if place is not None and (frame.f_code.co_filename, frame.f_lineno) == place[:2]:
                name = frame.f_code.co_name
        raise Refusal(f"'{name}' recurses without end; Python's limit is {sys.getrecursionlimit()} calls: let it end, or write a loop", place) from None
    except SystemExit as error:
        _raise_first(recorder, recorder.refusal)
        raise Refusal(f"'{function.__name__}' exits from Python; let it return, or raise an error that says what is wrong",
                      last_place(error, root)) from None
    except MemoryError as error:
        raise TooLarge("the machine has no memory left for the kernel's tensors; trace it at a smaller shape", last_place(error, root)) from None
    except BaseException as error:  # whatever the kernel does
        if _is_ours(error):
            raise
        _raise_first(recorder, recorder.refusal)
        raise Raised(error, root) from error
    finally:
        forget_first()


def _is_ours(error):
    """Whether it is raised past the kernel, by us or by the user's keyboard."""
    return isinstance(error, (KeyboardInterrupt, Again)) or type(error).__module__.startswith(__name__.rpartition(".")[0] + ".")


def _raise_first(recorder, other):
    """Raises what ended the run, or else the first refusal, unless it is this one."""
    first = recorder.again or first_refusal()
    if first is not None and first is not other:
        raise first


def last_place(error, root):
    place, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(root):
            place = Place(trace.tb_frame.f_code.co_filename, trace.tb_lineno, 0)
        trace = trace.tb_next
    return place
