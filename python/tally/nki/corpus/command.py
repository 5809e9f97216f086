"""`tally-nki corpus DIR`: walks a checkout and writes one page about all of its kernels.

Steps, each kept in a folder, so a second run goes on where the first one ended:

  1. find     kernels and drivers, by syntax
  2. note     each driver that names a kernel runs once, in a process of its own: which calls are there?
  3. trace    each kernel, at the smallest call that can be traced, in a process of its own
  4. measure  what `tally` says of it
  5. write    corpus.html and corpus.json

The exit status says whether there is a page, and nothing of the kernels: 0 if there is one, 2 if not.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from itertools import chain, count
from pathlib import Path

from ... import __version__
from ..commandline import Parser, check_limits
from ..refusal import Refusal
from ..tree import Limits
from . import again, found, measure, page, results, userfile

_EXAMPLES = """examples:
  tally-nki corpus ~/nki-samples -o samples
  tally-nki corpus ~/nki-samples -o samples --only=matmul --seconds=600
  tally-nki corpus ~/nki-library -o library --arguments=mine.json

The page is corpus.html in the folder of -o, and the same as JSON is corpus.json. Kernels and their
arguments come from the checkout: its tests and examples run with what is installed. A test that computes
its reference with torch has one only if torch is installed. For kernels that no test can be run for,
--arguments names a file (docs/guide/NkiCorpus.md).

Exit status: 0 the pages are written, 2 they are not: wrong use, or no kernel.
"""

TRIES = 6  # calls of a kernel that are tried, the smallest first; up to twice as many more turn out not to reach it
COMPARED_TRIES = 3  # of them, until the result of one has been compared
_TOO_MUCH = ("too large", "time limit", "memory limit")


def main(argv):
    options = parser().parse_args(argv)
    try:
        with _ended_as_by_hand():
            return Walk(options).run()
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
    except KeyboardInterrupt:
        print("error: interrupted; the same command goes on from here", file=sys.stderr)
    except OSError as problem:
        print(f"error: cannot write '{problem.filename}': {problem.strerror}", file=sys.stderr)
    return 2


@contextlib.contextmanager
def _ended_as_by_hand():
    """A walk that is asked to end, as by a limit of time on the whole, ends the process that it waits for, too."""

    def end(*_):
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may be asked
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _interrupted_later():
    """A process that is being started has no name yet by which it could be ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = []
    before = {number: signal.signal(number, lambda number, _: asked.append(number)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in asked:
            signal.raise_signal(number)


def parser():
    parser = Parser(prog="tally-nki corpus", description="Traces all kernels of a checkout at the shapes of their tests, "
                    "asks tally about each, and writes one page.", epilog=_EXAMPLES)
    parser.add_argument("root", metavar="DIR", help="the checkout")
    parser.add_argument("-o", metavar="DIR", dest="output", default="tally-corpus",
                        help="where pages and results go (tally-corpus)")
    parser.add_argument("--arguments", metavar="FILE", help="arguments for kernels that no test runs for")
    parser.add_argument("--only", metavar="TEXT", default="", help="kernels whose FILE:NAME contains it")
    parser.add_argument("--machine", default="trn2", metavar="NAME", help="the machine whose latency and code are told (trn2)")
    parser.add_argument("--seconds", type=int, default=300, metavar="N",
                        help="limit for each driver, trace, and question to tally (300)")
    parser.add_argument("--memory", type=int, default=12288, metavar="MIB", help="limit of each process, of tally, too; 0: none (12288)")
    parser.add_argument("--max-multiply-adds", type=float, default=1e10, metavar="N",
                        help="refuse a kernel whose products need more (1e10)")
    parser.add_argument("--max-operations", type=int, default=Limits().operations, metavar="N",
                        help="refuse a kernel that runs more operations (%(default)s)")
    parser.add_argument("--ring", type=int, default=2, metavar="N", help="copies of a tile that an iteration makes (2)")
    parser.add_argument("--again", action="store_true", help="keep nothing of earlier runs")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    return parser


class Walk:
    def __init__(self, options):
        self.options, self.root = options, os.path.realpath(options.root)
        if not os.path.isdir(self.root):
            raise Refusal(f"'{options.root}' is not a folder; name a checkout")
        check_limits(options, "seconds", "max_operations", "max_multiply_adds", "ring")
        self.output = Path(options.output).resolve()
        self.program = measure.find_program()
        self.limits = {"memory": options.memory, "max_operations": options.max_operations, "ring": options.ring,
                       "max_multiply_adds": int(options.max_multiply_adds)}
        names = hashlib.sha256(found.names(self.root, self.output)).hexdigest()
        kept = {**self.limits, "seconds": options.seconds, "torch": _has("torch"), "names": names}
        facts = measure.machine_facts(self.program, options.machine) if self.program else ""
        # Which calls a driver makes is not a question to tally, and may take an hour to find: they outlive another tally or machine.
        self.of_calls = results.common_key(kept)
        self.of_kernels = results.common_key({**kept, "machine": options.machine}, self.program, facts)
        self.users = userfile.read(options.arguments) if options.arguments else {}

    def run(self):
        self.checkout = found.walk(self.root)
        self.slugs = {**_slugs(self.checkout.drivers), **_slugs(kernel.id for kernel in self.checkout.kernels)}
        kernels = [kernel for kernel in self.checkout.kernels if self.options.only in kernel.id]
        if not kernels:
            left_out = f"; {self.checkout.in_tests} are in files of tests, and left out" if self.checkout.in_tests else ""
            why = (f"none of the {len(self.checkout.kernels)} there is called so" if self.checkout.kernels else
                   f"no function with a decorator as '@nki.jit'{left_out}")
            raise Refusal(f"no kernel in '{self.options.root}'{self._chosen()}: {why}")
        self._lock()
        self.say(f"{len(kernels)} kernels{self._chosen()}, {len(self.checkout.drivers)} files that may call them")
        unknown = sorted(set(self.users) - {name for kernel in self.checkout.kernels for name in (kernel.id, kernel.name)})
        if unknown:
            self.say(f"'{self.options.arguments}' has calls of {', '.join(unknown[:3])}{' and others' if len(unknown) > 3 else ''}; "
                     "no kernel here is called so")
        self.calls, self.problems = {}, [{"driver": file, "kind": "broken", "text": problem.split(": ", 1)[1], "file": file,
                                          "line": int(problem.split(":")[0])} for file, problem in self.checkout.broken.items()]
        self.files = {}  # that a driver has loaded or read
        # By call: the kernels that it was seen to reach, and what became of it, for all that are traced through it.
        self.entered, self.failed, self.traced, self.measured = {}, {}, {}, {}
        wanting = [kernel for kernel in kernels if not kernel.broken and self._of_the_user(kernel) is None]
        drivers = [driver for driver in self.checkout.drivers if found.calls(self.root, driver, wanting)]
        self._note_all(drivers)
        # One that no driver calls, but at most a kernel that a driver calls, may be called by what a driver imports.
        missing = {kernel.file for kernel in wanting if all(call["through"] for call in self.calls.get((kernel.file, kernel.name), ()))}
        if missing:
            imports = found.Imports(self.checkout, self.root)
            self._note_all([driver for driver in self.checkout.drivers if driver not in drivers
                            and missing & imports.reached(driver)])
        entries = [self._kernel(kernel, f"[{number}/{len(kernels)}]") for number, kernel in enumerate(kernels, 1)]
        self._write(entries)
        return 0

    def _lock(self):
        """Until this process ends, no other walk writes here."""
        self.output.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.output / ".lock", "w", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal(f"another walk writes into '{self.options.output}'; wait for it, or name another folder with -o") from None

    def _of_the_user(self, kernel):
        """The call that the file of --arguments has for it."""
        return self.users.get(kernel.id) or self.users.get(kernel.name)

    def _chosen(self):
        return f" with '{self.options.only}' in their names" if self.options.only else ""

    def say(self, text):
        if not self.options.quiet:
            print(text, file=sys.stderr, flush=True)

    # ---- What drivers call

    def _note_all(self, drivers):
        for number, driver in enumerate(drivers, 1):
            self._note(driver, f"[{number}/{len(drivers)}]")

    def _note(self, driver, count):
        path = self.output / "drivers" / f"{self.slugs[driver]}.json"
        noted = None if self.options.again else results.kept(path, self.of_calls, self.root)
        if noted is None:
            order = {"do": "note", "driver": driver, "seconds": self.options.seconds / 2}
            noted = self._child(order, self.output / "drivers" / self.slugs[driver])
            if "limit" in noted:
                noted = {"files": [driver], "calls": [], "problems": [], **noted, "problem": _ended_at(noted)}
            noted = results.keep(path, noted, self.of_calls, self.root)
            self.say(f"{count} {driver}: {len(noted['calls'])} calls{_why(noted.get('problem'))}")
        self.files[driver] = noted["files"]
        for call in noted["calls"]:
            for depth, (file, name) in enumerate(call["kernels"]):
                self.calls.setdefault((file, name), []).append(
                    {"driver": driver, "case": call["case"], "ordinal": call["ordinal"], "size": call["size"],
                     "foreign": call["foreign"], "through": call["kernels"][0][1] if depth else ""})
        for problem in [noted.get("problem"), *[entry for entry in noted["problems"]]]:
            if problem:
                self.problems.append({"driver": driver, **problem})

    def _child(self, order, folder, runs=1):
        """Runs one process; gives its answer, and if that is not whole, the limit that has ended it."""
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        answer = folder / "answer.json"
        order = {**order, **self.limits, "root": self.root, "answer": str(answer), "homes": self.checkout.homes, "torch": self.checkout.uses_torch,
                 "kernels": [[kernel.file, kernel.name] for kernel in self.checkout.kernels]}
        (folder / "order.json").write_text(json.dumps(order), encoding="utf-8")
        with open(folder / "log.txt", "w", encoding="utf-8") as log:
            process = None
            try:
                with _interrupted_later():
                    process = subprocess.Popen([sys.executable, "-m", "tally.nki.corpus.child", str(folder / "order.json")],
                                               stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                               env=self._environment(folder), cwd=folder)
                process.wait(runs * self.options.seconds)
                limit = None
            except subprocess.TimeoutExpired:
                _ask_to_end(process)
                limit = {"kind": "time limit", "text": f"time limit of {runs * self.options.seconds} s"}
            finally:
                if process is not None:
                    _end(process)
        shutil.rmtree(folder / "run", ignore_errors=True)
        told = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {"partial": True}
        if told.pop("partial", False):
            told["limit"] = limit or _death(process.returncode, (folder / "log.txt").read_text(errors="replace"))
        return told

    def _environment(self, folder):
        place = str(Path(__file__).resolve().parents[3])
        return {**os.environ, "TMPDIR": os.path.abspath(folder), "PYTHONPATH": os.pathsep.join(filter(None, [place, os.environ.get("PYTHONPATH")])),
                "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}

    # ---- One kernel

    def _kernel(self, kernel, count):
        folder = self.output / "kernels" / self.slugs[kernel.id]
        mine = self._of_the_user(kernel)
        calls = sorted(self.calls.get((kernel.file, kernel.name), ()),
                       key=lambda call: (bool(call["through"]), call["size"], call["driver"]))
        depends = json.dumps([mine, _spread(calls)[:3 * TRIES]], sort_keys=True)
        path = folder / "result.json"
        entry = None if self.options.again else results.kept(path, self.of_kernels, self.root, depends)
        if entry is None:
            started = time.monotonic()
            shutil.rmtree(folder, ignore_errors=True)
            try:
                entry = self._made(kernel, mine, calls, folder)
            except Exception as error:  # one kernel does not stop the walk, whatever it makes of us
                entry = {**_entry(kernel, folder), "state": "not traced", "problem": {
                    "kind": "ended", "text": f"tally-nki fails: {type(error).__name__}: {error}"}}
            entry["seconds"] = round(time.monotonic() - started, 1)
            entry = results.keep(path, entry, self.of_kernels, self.root, depends)
            self.say(f"{count} {kernel.id}: {page.line(entry)} ({entry['seconds']} s)")
        else:
            self.say(f"{count} {kernel.id}: kept")
        return entry

    def _made(self, kernel, mine, calls, folder):
        entry = _entry(kernel, folder)
        if kernel.broken:
            line, reason = kernel.broken.split(": ", 1)
            return {**entry, "state": "not traced",
                    "problem": {"kind": "broken", "text": reason, "file": kernel.file, "line": int(line)}}
        failed = []
        if mine is not None:
            calls = [{"driver": "", "case": "--arguments", "ordinal": 0, "size": 0, "foreign": 0, "through": "",
                      "user": mine}]
        too_much = None  # the size of a call that took too much; none that is larger is tried
        first, has_numbers = None, False  # a call that was traced, and whose result was compared with nothing
        differing = None  # one whose result differs, perhaps since a reference rounds what NumPy has not as it can
        tried = 0
        for call in _spread(calls):
            if tried == TRIES or has_numbers and tried >= COMPARED_TRIES:
                break
            if too_much is not None and call["size"] >= too_much or self._misses(kernel, call):
                continue
            if differing is not None and call["foreign"]:
                continue
            tried += 1
            answer = self._trace(kernel, call, folder)
            entry["files"] = sorted({*entry["files"], *answer.get("files", self.files.get(call["driver"], ()))})
            if "limit" in answer:
                too_much = call["size"]
            if answer.get("problem") is None and not (answer["comparisons"] and answer["has_numbers"]):
                if first is None or answer["has_numbers"] and not has_numbers:
                    first, has_numbers = call, answer["has_numbers"]
                continue
            problem = answer.get("problem")
            if problem is None:
                found = _reference(answer["comparisons"], "")
                if found["state"] == "agrees" or not call["foreign"] and differing is None:
                    return self._measured(entry, answer, call, failed, folder)
                differing = differing or call
                problem = {"kind": "differs", "text": _difference(found)}
            failed.append({"driver": call["driver"], "case": call["case"], **problem})
            if problem["kind"] in _TOO_MUCH:
                too_much = call["size"]
            if self._misses(kernel, call) and len(failed) < 2 * TRIES:  # which says nothing of the kernel
                tried -= 1
        if differing is not None:
            first = differing
            failed = [other for other in failed if other["kind"] != "differs"]
        if first is not None:
            answer = self._trace(kernel, first, folder)  # once more, since the folder has another one's
            if answer.get("problem") is None:
                return self._measured(entry, answer, first, failed, folder)
        problem = failed[0] if failed else self._no_call(kernel) if not calls else _MISSED
        return {**entry, "state": "not traced", "problem": problem, "failed_before": failed[1:]}

    def _measured(self, entry, answer, call, failed, folder):
        found = self.measured.get(_which(call))
        if found is None:
            found = measure.measured(self.program, self.options, folder, answer["trips"], answer["summary"]["obstacles"])
            if _which(call) in self.traced:
                self.measured[_which(call)] = found
        else:
            _linked(self.traced[_which(call)][1], folder)
        return {**entry, **_traced_entry(answer, call), "failed_before": failed, **found}

    def _trace(self, kernel, call, folder):
        if _which(call) in self.failed:
            return self.failed[_which(call)]
        if _which(call) in self.traced:
            answer, place, is_of_part = self.traced[_which(call)]
            if place != folder:
                self._clear(folder)
                _linked(place, folder)
            if not call["through"] and not is_of_part:
                return answer
            # The trace is the same, but not which of the numbers that are compared are made by this part of it.
            other = folder.parent / f"{folder.name}.part"
            found = self._asked(kernel, call, other)
            shutil.rmtree(other, ignore_errors=True)
            return {**answer, **found} if found.get("problem") is None and "limit" not in found else answer | _NOT_ALONE
        self._clear(folder)
        answer = self._asked(kernel, call, folder)
        if "limit" in answer and "summary" not in answer:
            return {"problem": {**answer["limit"], **answer.get("place", {})}}
        if answer.get("problem") is None or "does not reach" in answer["problem"]["text"]:
            self.entered[_which(call)] = answer["entered"]
            if answer.get("problem") is None and answer["entered"] and call["driver"]:
                self.traced[_which(call)] = answer, folder, bool(call["through"])
        elif call["through"]:
            self.failed[_which(call)] = answer
        return answer

    def _asked(self, kernel, call, folder):
        """The trace of a call, and what its driver compares."""
        order = {**call, "do": "trace", "folder": str(folder), "file": kernel.file, "name": kernel.name,
                 "kept": str(folder / "first.pickle")}
        answer = self._child(order, folder)
        if "limit" in answer:
            return {**answer, "why_not_compared": f"its driver does not end after the call: {answer['limit']['text']}"}
        return self._judged(answer, order, folder / "again") if answer.get("comparisons") else answer

    def _judged(self, answer, order, folder):
        """The answer with those comparisons that are with a reference: their driver runs again, with other results."""
        told = self._child({**order, "do": "again"}, folder, runs=len(again.WAYS))
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.remove(order["kept"])
        if "limit" in told:
            return {**answer, "comparisons": [], "why_not_compared": f"its driver does not run again: {told['limit']['text']}"}
        found = told["comparisons"]
        if answer["fails"] and all(made["passed"] for made in found):
            return {**answer, "comparisons": [], "why_not_compared": told["why_not"] or f"its test fails: {answer['fails']}"}
        return {**answer, "comparisons": found, "compared": [told["numbers"], answer["numbers"]],
                "made": told["made"], "why_not_compared": told["why_not"]}

    def _clear(self, folder):
        for which in [which for which, (_, place, _) in self.traced.items() if place == folder]:
            self.traced.pop(which)
            self.measured.pop(which, None)
        shutil.rmtree(folder, ignore_errors=True)

    def _misses(self, kernel, call):
        """Whether the call was seen not to reach the kernel."""
        return bool(call["through"]) and [kernel.file, kernel.name] not in self.entered.get(_which(call), [[kernel.file, kernel.name]])

    def _no_call(self, kernel):
        """Why there are no arguments."""
        named = [problem for problem in self.problems
                 if kernel.word in found.words(self.root, problem["driver"])]
        if not named:
            return {"kind": "no arguments", "text": "no test and no example of the checkout calls it"}
        first = next((problem for problem in named if kernel.word in problem.get("names", ())), named[0])
        return {**{key: value for key, value in first.items() if key != "names"}, "kind": "no arguments", "text": f"'{first['driver']}' does not get to a call: {first['text']}"}

    def _write(self, entries):
        document = page.document(self.options.root, self.program, self.options.machine, entries, self.checkout.in_tests,
                                 __version__)
        results.write(self.output / "corpus.json", json.dumps(document, indent=1) + "\n")
        results.write(self.output / "corpus.html", page.html(document))
        self.say(page.summary_line(document))
        self.say(f"written: {self.output / 'corpus.html'}")


_NOT_ALONE = {"comparisons": [], "why_not_compared": "its driver does not run as before"}
_MISSED = {"kind": "raised", "text": "no call that was traced reaches it"}


def _which(call):
    return call["driver"], call["case"], call["ordinal"]


def _entry(kernel, folder):
    return {"kernel": kernel.name, "file": kernel.file, "line": kernel.line, "files": [kernel.file],
            "folder": f"kernels/{folder.name}"}


def _traced_entry(answer, call):
    summary = answer["summary"]
    return {"state": "traced", "driver": call["driver"], "case": call["case"], "through": call["through"],
            "operations": summary["operations"], "instructions": summary["instructions"], "loops": summary["loops"],
            "dynamic_loops": summary["dynamic_loops"], "program": summary["program"], "trips": answer["trips"],
            "multiply_adds": answer["multiply_adds"], "obstacles": summary["obstacles"],
            "trace_seconds": answer["seconds"],
            "reference": _reference(answer["comparisons"], answer["why_not_compared"], answer.get("compared"), answer.get("made", 0))}


def _reference(comparisons, why_not, how_many=None, made=0):
    if not comparisons:
        return {"state": "not compared", "reason": why_not}
    worst = max(comparisons, key=lambda made: (not made["passed"], made.get("error", float("inf") if "why" in made else 0)))
    some = {"numbers": how_many, **({"made": made} if made else {})} if how_many is not None and how_many[0] < how_many[1] else {}
    return {"state": "agrees" if all(made["passed"] for made in comparisons) else "differs", "comparisons": len(comparisons), **some,
            **{key: value for key, value in worst.items() if key != "passed"}}


def _difference(found):
    text = "the result differs from the reference"
    if "why" in found:
        return f"{text}: {found['why']}"
    return text + (f": {found['error']:.2g} off, where the largest number is {found['largest']:.3g}" if "error" in found else "")


def _spread(calls):
    """The smallest call of each driver, then of each test, then one of each size, then the others."""
    chosen = []
    for key in (lambda call: call["driver"], lambda call: (call["driver"], call["case"].split("[")[0]),
                lambda call: call["size"], _which):
        seen = {key(call) for call in chosen}
        for call in calls:
            if key(call) not in seen:
                seen.add(key(call))
                chosen.append(call)
    return chosen


def _linked(place, folder):
    """The files of one folder, in another one too."""
    if place != folder:
        shutil.copytree(place, folder, copy_function=_link, dirs_exist_ok=True)


def _link(source, target):
    if not os.path.exists(target):
        os.link(source, target)


def _ask_to_end(process):
    """It may have something to say in its last seconds."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)


def _ended_at(noted):
    """What has ended the tests of a driver, and at which one."""
    at = f" at '{noted['case']}'" if "case" in noted else ""
    return {**noted["limit"], "text": noted["limit"]["text"] + at}


def _end(process):
    """Ends the process, and what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _death(status, log):
    """What ends a process before it has answered."""
    if "MemoryError" in log or "memory" in log.lower() and "alloc" in log.lower():
        return {"kind": "memory limit", "text": "memory limit"}
    if status == -signal.SIGKILL:
        return {"kind": "ended", "text": "ended by a signal that is not its own (of the system, if memory is short)"}
    if status < 0:
        return {"kind": "ended", "text": f"its process ended by {signal.Signals(-status).name}"}
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "")
    return {"kind": "ended", "text": f"its process ended with status {status}: {last[:200]}"}


def _has(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def _slugs(texts):
    """A name of a folder for each."""
    slugs, used = {}, set()
    for text in filter(lambda text: text not in slugs, texts):
        plain = re.sub(r"[^\w.-]+", "-", text.removesuffix(".py"))
        slugs[text] = next(name for name in chain([plain], (f"{plain}-{k}" for k in count(2))) if name.lower() not in used)
        used.add(slugs[text].lower())
    return slugs


def _why(problem):
    return f" ({problem['text']})" if problem else ""
