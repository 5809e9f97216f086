#!/usr/bin/env python3
"""Puts mistakes into the compiler, one at a time, and asks that the campaign finds each.

usage: python3 utils/outside/mistakes.py [--patches=FOLDER] [--only=NAME,...] [--work=FOLDER]
           [--configure=COMMAND] [--build=COMMAND] [--seconds=S] [--seed=N] [--jobs=N]

For each NAME.patch in FOLDER (utils/outside/mistakes): applies it to a copy of the sources, builds, and
judges random kernels until there is a finding that the compiler without the patch does not have. Each
mistake costs a build of what depends on the patched file, and up to S seconds.

The commands run in the copy; the build has to leave `tally` in {build}/bin.

Exit status: 0 all were found, 1 not all.
"""

import argparse
import functools
import itertools
import multiprocessing
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from campaign import judge_seed

ROOT = Path(__file__).resolve().parent.parent.parent
CHOICES = 25


def command(words, **named):
    return subprocess.run(words, capture_output=True, text=True, check=False, **named)


class Copy:
    """The sources at HEAD, in a folder where they may be broken."""

    def __init__(self, options):
        self.options = options
        self.source = options.work / "source"
        self.build_folder = options.work / "build"
        self.tally = self.build_folder / "bin" / "tally"

    def make(self):
        """All files are new, so that nothing built from broken ones stays."""
        self.shell(f"rm -rf {self.source} && mkdir -p {self.source} && "
                   f"git -C {ROOT} archive HEAD | tar -x -m -C {self.source}")
        self.shell(self.options.configure)
        self.build()

    def shell(self, text):
        text = text.replace("{source}", str(self.source)).replace("{build}", str(self.build_folder))
        done = command(["sh", "-c", text], cwd=self.options.work)
        if done.returncode:
            raise OSError(f"'{text}' failed: {(done.stdout + done.stderr)[-1000:]}")

    def build(self):
        self.shell(self.options.build)

    def patch(self, path, *more):
        done = command(["patch", "-p1", "--no-backup-if-mismatch", "-i", str(path)] + list(more), cwd=self.source)
        if done.returncode:
            raise OSError(f"'{path.name}' does not apply: {done.stdout[-500:]}")


def findings_of(tally, seed):
    """Seed, and messages by what does not depend on where a finding lies in a random kernel."""
    result = judge_seed(str(tally), seed, CHOICES)
    return seed, {(kind, options[0]): message for kind, message, options, *_ in result.findings}


def hunt(copy, right, options):
    """The first finding that the right compiler does not have for the same seed: (seed, message)."""
    end = time.monotonic() + options.seconds
    with multiprocessing.Pool(options.jobs) as pool:
        for first in itertools.count(options.seed, 8 * options.jobs):
            seeds = range(first, first + 8 * options.jobs)
            for seed, found in pool.imap(functools.partial(findings_of, copy.tally), seeds):
                known = findings_of(right, seed)[1] if found else {}
                news = [message for key, message in found.items() if key not in known]
                if news:
                    return seed, news[0]
                if time.monotonic() > end:
                    return None


def listed_names(folder):
    """The names in the table of README.md."""
    return re.findall(r"^\| `([\w-]+)` \|", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


def try_mistake(copy, path, right, options):
    """Whether it was found; prints a line."""
    start = time.monotonic()
    copy.patch(path)
    try:
        copy.build()
        built = time.monotonic()
        found = hunt(copy, right, options)
    finally:
        copy.patch(path, "-R")
    took = f"built in {built - start:.0f} s, searched {time.monotonic() - built:.0f} s"
    print(f"{path.stem:24} {'found' if found else 'NOT FOUND'}, {took}"
          + (f": seed {found[0]}: {found[1][:150]}" if found else ""), flush=True)
    return bool(found)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--patches", type=Path, default=ROOT / "utils" / "outside" / "mistakes")
    parser.add_argument("--only", default="")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mistakes")
    parser.add_argument("--configure", default="cmake -S {source} -B {build} -G Ninja -DCMAKE_BUILD_TYPE=Release "
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DTALLY_ENABLE_TESTS=OFF -DTALLY_ENABLE_BENCHMARKS=OFF")
    parser.add_argument("--build", default="cmake --build {build} --target tally")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.work = options.work.absolute()
    options.work.mkdir(parents=True, exist_ok=True)
    copy = Copy(options)
    try:
        copy.make()
        right = options.work / "tally-as-it-is"
        right.write_bytes(copy.tally.read_bytes())
        right.chmod(0o755)
        return try_all(copy, right, options)
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def try_all(copy, right, options):
    paths = {path.stem: path for path in sorted(options.patches.glob("*.patch"))}
    names = options.only.split(",") if options.only else list(dict.fromkeys(listed_names(options.patches) + list(paths)))
    found = 0
    for name in names:
        if name not in paths:
            print(f"{name:24} no patch yet")
            continue
        found += try_mistake(copy, paths[name], right, options)
    print(f"{found} of {len(names)} found")
    return 0 if found == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
