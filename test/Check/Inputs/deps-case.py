"""Leaves out the dependences of a kernel and has them found.

Where a queue does not overlap its instructions: no more are kept than were written, each is witnessed by
two accesses, and code that waits for them alone does not race; without any one of them it does. Where
it does overlap them, dependences within queues are found as well, and nothing races either.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
IN_ORDER = f"--machine={HERE / 'in-order.json'}"
OVERLAPPING = "--machine=generic"
# Each is one run, with decisions that a seed gives.
TRIPS = [[f"--trips=n={n}", f"--trips=m={m}"] for n, m in [(2, 2), (0, 2), (1, 2), (5, 2), (8, "2,0,3,1")]]


def run(*command):
    done = subprocess.run(["tally", *command], text=True, capture_output=True, check=False)
    return done.returncode, done.stdout


def expect(condition, what, output=""):
    if not condition:
        sys.exit(f"{what}:\n{output}")


def with_trips(text, trips):
    """Without a value for a loop that is not there."""
    return [t for t in trips if f'trips "{t[8]}"' in text]


def found(path, machine, *options):
    return json.loads(run("deps", str(path), machine, "--format=json", *options)[1])["kernels"][0]["dependences"]


def kept(deps):
    return [d for d in deps if d["implied_by"] is None]


def expect_no_race(folder, text, machine, deps):
    """In some runs there is nothing to compare, as no instruction runs; not in all. In others none touches anything, or no dependence asks for anything. What is found is written, so that
    it is found once."""
    path = written_into(folder, text, kept(deps))
    compared = 0
    for trips in TRIPS:
        for guards in range(3):
            status, output = run("check", str(path), machine, "--race", "--deps=written", f"--guards={guards}", *with_trips(text, trips))
            is_empty = status == 2 and "nothing is compared: no instruction runs" in output
            is_idle = status == 2 and "nothing is compared: no instruction is seen to touch" in output
            is_unowed = status == 2 and "nothing is compared: no dependence asks" in output
            compared += not is_empty
            expect(status == 0 or is_empty or is_idle or is_unowed, f"what is found does not suffice on {machine} for {trips}, guards {guards}", output)
    expect(compared > 0, "nothing was compared in any run")


def written(dep):
    """A dependence as text of the dialect."""
    words = f'  tally.dep "{dep["producer"]}" -> "{dep["consumer"]}" {dep["kind"]}'
    for form in ("flat", "element"):
        words += f" {form} {dep[form]}" if form in dep else ""
    at = ", ".join(f'"{loop}" = {k}' for loop, k in dep["distance"].items())
    return words + (f" at {at}" if at else "") + "\n"


def written_into(folder, text, deps):
    """The kernel with these dependences."""
    path = folder / "written.mlir"
    path.write_text(text.rstrip()[:-1] + "".join(map(written, deps)) + "}\n", encoding="utf-8")
    return path


def races_somewhere(path, text):
    longest = ["--trips=n=200", "--trips=m=2"]  # so that branches meet in all phases of rings
    runs = [[*with_trips(text, trips), f"--guards={g}"] for trips in [longest, *TRIPS] for g in range(6)]
    return any(run("check", str(path), IN_ORDER, "--race", "--deps=written", *options)[0] == 1 for options in runs)


def expect_each_needed(folder, text, deps):
    for left_out in deps:
        path = written_into(folder, text, [d for d in deps if d is not left_out])
        expect(races_somewhere(path, text), "nothing races without" + written(left_out))


def main(path):
    text = path.read_text(encoding="utf-8")
    hand = len(re.findall(r"^ *tally\.dep ", text, re.M))
    bare = "".join(l for l in text.splitlines(keepends=True) if not l.strip().startswith(("tally.dep ", "//")))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = folder / "bare.mlir"
        file.write_text(bare, encoding="utf-8")
        deps = found(file, IN_ORDER)
        expect(len(kept(deps)) <= hand, f"{len(kept(deps))} are kept, {hand} were written", "".join(map(written, kept(deps))))
        expect(all(d["example"] for d in deps), "a dependence has no witness")
        expect_no_race(folder, bare, IN_ORDER, deps)
        overlapping = found(file, OVERLAPPING)
        expect_no_race(folder, bare, OVERLAPPING, overlapping)
        expect_each_needed(folder, bare, kept(deps))
        more = {(d["producer"], d["consumer"]) for d in overlapping}
        expect({(d["producer"], d["consumer"]) for d in deps} <= more, "fewer are found where queues overlap")


main(pathlib.Path(sys.argv[1]))
