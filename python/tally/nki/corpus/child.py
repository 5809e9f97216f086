"""One process of the walk: notes the calls of one driver, traces one kernel, or runs its driver again.

  python -m tally.nki.corpus.child ORDER

ORDER is a file of JSON, which says what to do, and where the answer goes. What is known so far is answered on the way, as
partial: the driver may end the process, or take more time than it has. If a trace has come to nothing when its time is
over, it says where it is.
"""

import contextlib
import faulthandler
import functools
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from typing import NamedTuple

import numpy as np

from ..command import save
from ..compare import save_facts
from ..document import as_text
from ..loops import hooks
from ..modules import offered
from ..places import here
from ..refusal import Refusal, said_by, shown_path
from ..source import EXIT, Finder, guarded
from ..trace import Raised
from ..tree import Limits, TooLarge
from . import again, comparisons, drivers, files, memory, recorder, results, standins, userfile
from .drivers import Case
from .recorder import Done, Switch, Watcher


class Target(NamedTuple):
    ordinal: int
    limits: Limits
    ring: int


def main(order):
    with open(order, encoding="utf-8") as file:
        order = json.load(file)
    faulthandler.enable()
    _to_folder("run")  # of the driver
    memory.limit(order["memory"])
    if order["do"] == "trace":
        signal.signal(signal.SIGTERM, lambda *_: _tell_place(order))
    _answer(order, {"note": _noted, "trace": _traced, "again": _judged}[order["do"]](order))
    return 0


def _to_folder(name):
    """What is written goes there."""
    os.mkdir(name)
    os.chdir(name)
    os.environ["TMPDIR"], tempfile.tempdir = os.getcwd(), None  # which is found out in each run


def _tell_place(order):
    """Its time is over: where it is, is all that is said of a trace that is not made yet."""
    files.end_all()
    place = here()
    if place is not None and not os.path.exists(order["answer"]):
        _answer(order, {"place": _told(place, os.path.realpath(order["root"])), "partial": True})
    EXIT(1)


def _answer(order, answer):
    results.write(order["answer"], json.dumps(answer, indent=1))


class _Finds(Finder):
    """Modules of the checkout are found where they are, before all others: in its folders on the search path, which has
    that of the driver first, and then in the others."""

    changes = (comparisons.Asserts(),)

    def __init__(self, root, names, homes):
        super().__init__(root, names)
        self.homes, self.files = homes, set()

    def find_spec(self, name, path, target=None):
        if path is None and name in self.homes:
            mine = [place for place in sys.path if os.path.realpath(place).startswith(self.root)]
            path = mine + [os.path.join(self.root, place) for place in self.homes[name]] + sys.path
        return super().find_spec(name, path, target) or self._folder(name, path)

    def _folder(self, name, path):
        """A folder of the checkout without `__init__.py`, before a package of that name elsewhere."""
        from importlib.machinery import ModuleSpec

        for place in path or ():
            folder = os.path.join(place, name.split(".")[-1])
            if os.path.isdir(folder) and os.path.realpath(folder).startswith(self.root):
                spec = ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [folder]
                return spec
        return None

    def note(self, path):
        self.files.add(os.path.realpath(path))

    def run(self, module, path):
        self.note(path)
        super().run(module, path)


def _load_libraries(uses_torch):
    """Those whose functions compare."""
    for name in ("numpy.testing", *(("torch", "torch.testing") if uses_torch else ())):
        with contextlib.suppress(ImportError):
            __import__(name)


class _Place:
    """A driver of the checkout, ready to run."""

    def __init__(self, order, target=None, first=None, way=None):
        self.root = os.path.realpath(order["root"])
        self.path = os.path.join(self.root, order["driver"] or order["file"])
        self.switch = Switch()
        kernels = {(os.path.join(self.root, file), name) for file, name in order["kernels"]}
        self.watcher = Watcher(self.switch, kernels, self.root, target, first, way)
        self.homes, self.uses_torch = order["homes"], order["torch"]
        self.users = [order["user"]["folder"]] if "user" in order else []

    def __enter__(self):
        names = {**hooks(recorder.recorder_of(self.switch), self.switch.runs), comparisons.HOLDS: self.holds}
        modules = {**offered(self.switch, self.watcher.launch), **standins.modules()}
        self.guard = guarded(modules, names, self.root, lambda *given: _Finds(*given, self.homes))
        self.finder = self.guard.__enter__()
        sys.path[:0] = [os.path.dirname(self.path), self.root]
        _load_libraries(self.uses_torch)
        again.repeatable(sys.modules)
        self.unwatch = comparisons.watch(self.watcher.comparisons, sys.modules)
        roots = [self.root] + [os.path.realpath(place) for place in self.users]
        self.guarded = files.Guard(os.getcwd(), roots, self.finder.files.add)
        return self

    def __exit__(self, *_):
        self.guarded.end()
        self.unwatch()
        self.guard.__exit__(None, None, None)

    def holds(self, test):
        """Of an `assert` of the driver, or of a kernel."""
        return test() if self.switch.runs() else self.watcher.comparisons.holds(test)

    def cases(self):
        return drivers.cases(self.path, self.root, self.finder, self.watcher.handed)

    def files(self):
        """What its answer depends on; a `conftest.py` that may come, too."""
        return sorted({os.path.relpath(file, self.root) for file in [*self.finder.files, *drivers.conftests(self.path, self.root)]})


def _noted(order):
    """All calls of kernels in a driver, as far as it gets in its time."""
    calls, problems, found = [], [], {}
    known = {name.split(".")[-1] for _, name in order["kernels"]}
    with _Place(order) as place:
        end, watcher = time.monotonic() + order["seconds"], place.watcher

        def so_far(running=()):
            return {"calls": [*calls, *running], "problems": problems, "files": place.files()}

        def tell_call(case, call):
            """If it is the first one of its kernel in the case."""
            if not any(call.kernels == before.kernels for before in watcher.calls[:-1]):
                with place.guarded.own():
                    _answer(order, {**so_far(_calls_of(case, watcher.calls, place.root)), "partial": True, "case": case.id})

        try:
            calling = {}
            for case in _naming_first(place.cases(), known):
                test = case.id.split("[")[0], case.elements
                if calling.get(test, 0) >= drivers.MOST_CALLING and not case.is_first:
                    continue
                watcher.calls, watcher.tell_call = [], functools.partial(tell_call, case)
                with place.guarded.own():
                    _answer(order, {**so_far(), "partial": True, "case": case.id})
                problem = _ran(case, place.root, order["seconds"] / 3)
                if problem:
                    problems.append({"case": case.id, "names": sorted(known & case.names), **problem})
                calls += _calls_of(case, watcher.calls, place.root)
                calling[test] = calling.get(test, 0) + bool(watcher.calls)
                if time.monotonic() > end:  # tests that may come are not known
                    found = {"problem": {"kind": "time limit", "text": f"its tests take more than {order['seconds']:g} s"}}
                    break
        except (Exception, SystemExit) as error:  # the driver itself cannot be loaded
            found = {"problem": _problem(error, place.root)}
        return {**so_far(), **found}


def _naming_first(cases, known):
    """Tests that name a kernel, before others: there may be no time for all. What a program defines comes of its run."""
    others = []
    for case in cases:
        if drivers.is_of_test(case.id) and not known & case.names:
            others.append(case)
        else:
            yield case
    yield from others


def _calls_of(case, calls, root):
    return [{"case": case.id, "ordinal": call.ordinal, "size": call.size, "foreign": call.foreign,
             "kernels": [[os.path.relpath(file, root), name] for file, name in call.kernels]} for call in calls]


class _TooSlow(BaseException):
    """Takes so much time that none would be left for others."""


def _ran(case, root, seconds=0):
    """Why it ends early, if it does; `seconds` is a limit, if not 0."""

    def end(*_):
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        case.run()
    except Done:
        return None
    except _TooSlow:
        return {"kind": "time limit", "text": f"it takes more than {seconds:g} s"}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the checkout does
        return None if isinstance(error, SystemExit) and not error.code else _problem(error, root)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return None


def _fails(problem):
    """What a test says, if it fails: not what is not installed, not modelled, or left out here."""
    if problem is None or problem["kind"] != "raised" or problem["text"].startswith(("ImportError", "ModuleNotFoundError", "Skipped")):
        return ""
    return problem["text"]


def _target(order):
    limits = Limits(order["max_operations"], bytes=order["memory"] << 20 or Limits().bytes,
                    multiply_adds=order["max_multiply_adds"])
    return Target(order["ordinal"], limits, order["ring"])


def _run_case(order, place):
    if "user" in order:
        return _ran(Case("--arguments", lambda: _given_by_user(order, place)), place.root)
    return _ran(Case(order["case"], lambda: _find_and_run(order["case"], place)), place.root)


def _traced(order):
    """The trace of one call, and what its driver says of the result."""
    name = os.path.join(os.path.realpath(order["root"]), order["file"]), order["name"]
    with _Place(order, _target(order)) as place:
        watcher, started = place.watcher, time.monotonic()
        watcher.part = name if order["through"] else None

        def so_far():
            return {"files": place.files(), "seconds": round(time.monotonic() - started, 2),
                    "entered": sorted([os.path.relpath(file, place.root), name] for file, name in watcher.entered)}

        def tell_trace():
            """The driver goes on, and may not come back."""
            if not order["through"] or name in watcher.entered:
                with place.guarded.own():
                    _write(order["folder"], watcher.traced)
                    _answer(order, {**so_far(), **_of_trace(watcher, place.root), "partial": True})

        watcher.tell_trace = tell_trace
        problem = _run_case(order, place)
        answer = so_far()
        if watcher.failed is not None:
            problem = _problem(watcher.failed, place.root)
        if watcher.traced is None:
            return {**answer, "problem": problem or {"kind": "raised", "text": "the driver does not call it"}}
        if order["through"] and name not in watcher.entered:
            return {**answer, "problem": {"kind": "raised", "text": "the call that was traced does not reach it"}}
        made = watcher.comparisons.made
        if made and order["through"] and watcher.changes is None:
            made, watcher.comparisons.why_not = [], "the kernel around it does not run with other numbers in what this one writes"
        if made and not _has_numbers(watcher.traced):
            made, watcher.comparisons.why_not = [], "its results have no number"
        if made:
            passes = problem is None and drivers.is_of_test(order["case"])
            with place.guarded.own():
                again.keep(order["kept"], again.First(watcher.key, watcher.returned, made, watcher.comparisons.answers, passes,
                                                      watcher.inputs, watcher.changes))
        elif watcher.result is not None and problem and watcher.comparisons.why_not == comparisons.NONE_SEEN:
            watcher.comparisons.why_not = f"its driver ends before: {problem['text']}"
        return {**answer, **_of_trace(watcher, place.root), "comparisons": len(made), "fails": _fails(problem),
                "why_not_compared": watcher.comparisons.why_not}


def _of_trace(watcher, root):
    """What is known of it, before anything is compared."""
    summary = watcher.traced.summary.as_json()
    for said in summary["obstacles"]:
        if "file" in said:
            said["file"] = _below(said["file"], root)
    return {"summary": summary, "trips": watcher.traced.summary.trips, "multiply_adds": watcher.traced.recorder.multiply_adds,
            "has_numbers": _has_numbers(watcher.traced), "comparisons": 0, "fails": "", "why_not_compared": None,
            "numbers": again.how_many(again.flat(watcher.returned), watcher.changes), "problem": None}


def _judged(order):
    """Which comparisons of a driver are with a reference, seen by runs of it with other results."""
    first, runs = again.kept(order["kept"]), {}
    _load_libraries(order["torch"])  # once for all runs
    while (way := again.next_way(first, runs)) is not None:
        runs[way] = _apart(way, lambda: _run_again(order, first, again.WAYS[way]))
    return again.judged(first, runs)


def _run_again(order, first, way):
    with _Place(order, _target(order), first, way) as place:
        _run_case(order, place)
    return again.run_of(first, place.watcher.comparisons.made, place.watcher.had_others)


def _apart(name, run):
    """What it gives in a process of its own, which has a folder of its own. If that process ends, so does this one."""
    folder, kept = os.path.abspath(name), os.path.abspath(f"{name}.pickle")
    process = os.fork()
    if process == 0:
        _to_folder(folder)
        again.keep(kept, run())
        EXIT(0)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status < 0:
        with contextlib.suppress(OSError):  # of one that cannot be caught
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    if status:
        EXIT(status)
    shutil.rmtree(folder, ignore_errors=True)
    made = again.kept(kept)
    os.remove(kept)
    return made


def _has_numbers(traced):
    """Whether any result is a number, and not made of what nothing has written."""
    return any(np.isfinite(array).any() for array in traced.expected.values())


def _find_and_run(name, place):
    for case in place.cases():
        if case.id == name:
            place.watcher.calls = []
            case.run()
            return
        if case.id == "__main__":
            _ran_until_launch(case, place)


def _given_by_user(order, place):
    """The call that the file of --arguments describes."""
    target, place.watcher.target = place.watcher.target, None  # what the file calls itself does nothing
    module = drivers.load(os.path.join(place.root, order["file"]), place.root)
    place.watcher.target, place.watcher.calls = target, []
    kernel, given = getattr(module, order["name"]), userfile.arguments(order["user"])
    grid = tuple(order["user"].get("grid", ()))
    result = place.watcher.outside(getattr(kernel, "function", kernel), (), given, grid)
    wanted = userfile.reference(order["user"])
    if wanted is None:
        place.watcher.comparisons.why_not = "the file of --arguments names no reference"
        return
    results, wanted = again.flat(result), again.flat(wanted(**given))
    if len(results) != len(wanted):
        place.watcher.comparisons.why_not = f"its reference gives {len(wanted)} tensors, and the kernel {len(results)}"
        return
    for got, want in zip(results, wanted):
        place.watcher.comparisons.add(order["user"]["reference"], got, want, order["user"].get("absolute", 1e-8),
                                      order["user"].get("relative", 1e-5), to_largest=True)


def _ran_until_launch(case, place):
    """A program that is run only for what it defines: its own calls of kernels do nothing."""
    target, place.watcher.target = place.watcher.target, None
    _ran(case, place.root)
    place.watcher.target = target
    place.watcher.comparisons.forget()


def _write(folder, traced):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
        file.write(as_text(traced.document))
    if traced.constant is not None:
        with open(os.path.join(folder, "constant.json"), "w", encoding="utf-8") as file:
            file.write(as_text(traced.constant))
    save(os.path.join(folder, "in"), traced.inputs)
    save(os.path.join(folder, "want"), traced.expected)
    save_facts(os.path.join(folder, "want"), traced.document["name"], traced.expected, traced.nans)


def _problem(error, root):
    """What ended a case: the kind, the text and the place."""
    if isinstance(error, Raised):
        error = error.error
    kind = {TooLarge: "too large", Refusal: "refused", MemoryError: "memory limit"}.get(type(error), "raised")
    if isinstance(error, Refusal):
        kind = kind if kind != "raised" else "refused"
        return {"kind": kind, "text": error.message, **(_told(error.place, root) if error.place else {})}
    text = f"{type(error).__name__}: {said_by(error)}".strip(": ").splitlines()[0][:300]
    if isinstance(error, SyntaxError) and error.filename:
        return {"kind": kind, "text": text, "file": _below(error.filename, root), "line": error.lineno or 0}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename.startswith(root + os.sep)]
    if not frames:
        return {"kind": kind, "text": text}
    return {"kind": kind, "text": text, "file": _below(frames[-1].filename, root), "line": frames[-1].lineno}


def _told(place, root):
    return {"file": _below(place.file, root), "line": place.line}


def _below(path, root):
    path = os.path.realpath(path)
    return os.path.relpath(path, root) if path.startswith(root + os.sep) else shown_path(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
