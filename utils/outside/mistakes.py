#!/usr/bin/env python3
"""Puts mistakes into the compiler and its checks, one at a time, and asks that the outside interpreter finds each.

usage: python3 utils/outside/mistakes.py [--build=FOLDER] [--only=NAME,...] [--seconds=S] [--seed=N] [--jobs=N]
           [--work=FOLDER] [--list]

The mistakes are those of mistakes.txt. FOLDER (build/release) holds `tally` as it is, built with Ninja. For each mistake
the files that it changes are compiled from a copy, and linked in front of the libraries of the build; neither the sources
nor the build are touched. Then random kernels are compiled by `tally` with and without the mistake. Where the
outcome differs, or a check answers another way, the interpreter judges it. A mistake is found by the first finding that
`tally` without it does not have. The search ends when all are found, or after S seconds.

Exit status: 0 all were found, 1 not all.
"""

import argparse
import collections
import itertools
import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from campaign import STRATEGIES, compile_kernel, draw_case, judge_compiled, ways_of
from checks import all_subjects, contradictions

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = Path(__file__).resolve().parent / "mistakes.txt"
CHOICES = 40
NOT_JUDGED = ("crash", "hang")  # findings that need no interpreter


# ---- The table ----------------------------------------------------------------------------


class Mistake:
    """`edits` are (file, old lines, new lines); `in_check`: no compiled code changes, but a check's answer does.

    Where it is looked for: `seed` showed it once, kernels have the features `needs`, strategies are `under`.
    """

    def __init__(self, name, in_check):
        self.name = name
        self.in_check = in_check
        self.seed = None
        self.needs = set()
        self.under = STRATEGIES
        self.sentence = ""
        self.edits = []

    def files(self):
        return list(dict.fromkeys(file for file, _, _ in self.edits))

    def broken(self, file):
        """The text of a file with the mistake in it."""
        text = (ROOT / file).read_text(encoding="utf-8")
        for name, old, new in self.edits:
            if name == file:
                text = self.replaced(text, file, old, new)
        return text

    def replaced(self, text, file, old, new):
        """Indentation does not count."""
        found = list(re.finditer(r"\n *".join(map(re.escape, old)), text))
        if len(found) != 1:
            raise ValueError(f"{TABLE.name}: '{self.name}' wants to replace what is in '{file}' {len(found)} times: {old}")
        return text[:found[0].start()] + "\n".join(new) + text[found[0].end():]


def read_table(text):
    """Mistakes by name. The form is explained at the top of the table."""
    mistakes, lines = {}, [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    for line in lines:
        words = line.split()
        if words[0] in ("mistake", "mistake-in-check"):
            mistake = Mistake(words[1], words[0] == "mistake-in-check")
            if mistake.name in mistakes:
                raise ValueError(f"{TABLE.name}: '{mistake.name}' is there twice")
            mistakes[mistake.name] = mistake
        elif words[0] == "seed":
            mistake.seed = int(words[1])
        elif words[0] == "needs":
            mistake.needs = set(re.split(", *", line.removeprefix("needs ")))
        elif words[0] == "under":
            mistake.under = tuple(re.split(", *", line.removeprefix("under ")))
        elif words[0] == "in":
            mistake.edits.append((words[1], [], []))
        elif line.startswith(("- ", "+ ")):
            if line[0] == "-" and mistake.edits[-1][2]:  # another place of the same file
                mistake.edits.append((mistake.edits[-1][0], [], []))
            mistake.edits[-1][1 if line[0] == "-" else 2].append(line[2:].strip())
        else:
            mistake.sentence = (mistake.sentence + " " + line.strip()).strip()
    return mistakes


def all_mistakes():
    return read_table(TABLE.read_text(encoding="utf-8"))


# ---- Building -----------------------------------------------------------------------------


def including(files):
    """What is compiled: the files; of a header, those next to it that include it."""
    for file in files:
        if not file.endswith(".h"):
            yield file
            continue
        for source in sorted((ROOT / file).parent.glob("*.cpp")):
            if f'#include "{Path(file).name}"' in source.read_text(encoding="utf-8"):
                yield str(source.relative_to(ROOT))


class Builder:
    """Builds `tally` with a mistake out of what is built already."""

    def __init__(self, build, work):
        self.build = build.absolute()
        self.work = work.absolute()
        self.tally = self.build / "bin" / "tally"
        done = subprocess.run(["ninja", "-C", str(self.build), "-t", "commands", "bin/tally"], capture_output=True,
                              text=True, check=False)
        if done.returncode or not self.tally.exists():
            raise OSError(f"'{self.build}' is not a build folder of Ninja with 'bin/tally' in it")
        commands = [shlex.split(line) for line in done.stdout.splitlines() if "&&" in line or " -c " in line]
        self.compilations = {words[words.index("-c") + 1]: words for words in commands if "-c" in words}
        self.link = next(words for words in commands if "bin/tally" in words)

    def make(self, mistake):
        """The path of a `tally` with the mistake; from an earlier time, if nothing has changed."""
        folder = self.work / mistake.name
        folder.mkdir(parents=True, exist_ok=True)
        broken, tally = {file: mistake.broken(file) for file in mistake.files()}, folder / "tally"
        sources = {folder / Path(file).name: text for file, text in broken.items()}
        if tally.exists() and tally.stat().st_mtime > self.tally.stat().st_mtime and all(
                source.exists() and source.read_text(encoding="utf-8") == text for source, text in sources.items()):
            return tally
        compiled = list(including(broken))
        for file in compiled:
            (folder / Path(file).name).write_text((ROOT / file).read_text(encoding="utf-8"), encoding="utf-8")
        for source, text in sources.items():
            source.write_text(text, encoding="utf-8")
        objects = [self.compile(folder, file) for file in compiled]
        words = self.link[self.link.index("&&") + 1:]
        words = words[:words.index("&&")]
        place = words.index("-o")
        self.run(words[:place] + objects + ["-o", str(tally)] + words[place + 2:])
        return tally

    def compile(self, folder, file):
        source = folder / Path(file).name
        words = list(self.compilations[str(ROOT / file)])
        for flag, operands in (("-MD", 0), ("-MT", 1), ("-MF", 1), ("-o", 1), ("-c", 1)):
            place = words.index(flag)
            del words[place:place + 1 + operands]
        target = f"{source}.o"
        # Broken code may leave something unused.
        self.run(words + ["-O1", "-w", "-iquote", str((ROOT / file).parent), "-o", target, "-c", str(source)])
        return target

    def run(self, words):
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=self.build)
        if done.returncode:
            raise OSError(f"'{' '.join(words)}' failed: {done.stderr[-1000:]}")


# ---- Searching ----------------------------------------------------------------------------


def same(one, other):
    return (one.code, one.refusal, one.finding and one.finding.kind) == (other.code, other.refusal,
                                                                          other.finding and other.finding.kind)


def found_in_code(right, wrong, mistake, seed):
    """The first finding of a seed that the right compiler does not have."""
    kernel, machine, _ = draw_case(seed)
    with tempfile.TemporaryDirectory() as folder:
        for strategy, options in ways_of(kernel, seed):
            if strategy not in mistake.under:
                continue
            good, bad = (compile_kernel(tally, folder, kernel, machine, options) for tally in (right, wrong))
            if same(good, bad):
                continue
            finding = judge_compiled(bad, kernel, machine, CHOICES, seed).finding
            if finding and finding.kind not in NOT_JUDGED:
                known = judge_compiled(good, kernel, machine, CHOICES, seed).finding
                if not (known and known.kind == finding.kind):
                    return f"{' '.join(options)}: {finding}"
    return None


def found_in_check(right, wrong, seed):
    """The same, where a check answers."""
    for subject in all_subjects(right, seed):
        text = next(contradictions(wrong, subject), None)
        if text and not any(contradictions(right, subject)):
            return text
    return None


def look(task):
    right, wrong, mistake, seed = task
    found = found_in_check(right, wrong, seed) if mistake.in_check else found_in_code(right, wrong, mistake, seed)
    return mistake.name, seed, found


def seeds_of(mistake, first):
    if mistake.seed is not None:
        yield mistake.seed
    for seed in itertools.count(first):
        if mistake.needs <= draw_case(seed)[2]:
            yield seed


class Hunt:
    """Goes through seeds, one for each mistake in turn, until all are found or the time is over."""

    def __init__(self, right, mistakes, paths, options):
        self.right = right
        self.mistakes = mistakes
        self.paths = paths
        self.options = options
        self.found = {}

    def tasks(self):
        seeds = {name: seeds_of(mistake, self.options.seed) for name, mistake in self.mistakes.items()}
        while True:
            for name in [name for name in seeds if name not in self.found]:
                yield self.right, str(self.paths[name]), self.mistakes[name], next(seeds[name])

    def run(self, pool):
        start, waiting, tasks = time.monotonic(), collections.deque(), self.tasks()
        while len(self.found) < len(self.paths) and time.monotonic() < start + self.options.seconds:
            while len(waiting) <= self.options.jobs:
                waiting.append(pool.apply_async(look, (next(tasks),)))
            name, seed, text = waiting.popleft().get()
            if text and name not in self.found:
                self.found[name] = text
                print(f"{name:30} found after {time.monotonic() - start:.0f} s: seed {seed}, {text[:160]}", flush=True)


def build_one(task):
    builder, mistake = task
    return mistake.name, builder.make(mistake)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mistakes")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    try:
        mistakes = all_mistakes()
        if options.only:
            mistakes = {name: mistakes[name] for name in options.only.split(",")}
        if options.list:
            print("\n".join(f"{name:30} {mistake.sentence}" for name, mistake in mistakes.items()))
            return 0
        return find_all(mistakes, options)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def find_all(mistakes, options):
    builder, start = Builder(options.build, options.work), time.monotonic()
    with multiprocessing.Pool(options.jobs) as pool:
        paths = dict(pool.imap(build_one, [(builder, mistake) for mistake in mistakes.values()]))
        print(f"{len(paths)} mistakes, built in {time.monotonic() - start:.0f} s", flush=True)
        hunt = Hunt(str(builder.tally), mistakes, paths, options)
        hunt.run(pool)
    for name, mistake in mistakes.items():
        if name not in hunt.found:
            print(f"{name:30} NOT FOUND: {mistake.sentence}")
    print(f"{len(hunt.found)} of {len(mistakes)} found in {time.monotonic() - start:.0f} s")
    return 0 if len(hunt.found) == len(mistakes) else 1


if __name__ == "__main__":
    sys.exit(main())
