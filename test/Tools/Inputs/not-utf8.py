"""Runs every command on files and locations whose names are no UTF-8, and asks that all that comes out is.

usage: python3 not-utf8.py FOLDER
"""

import os
import pathlib
import subprocess
import sys

KERNEL = rb"""tally.kernel @k {
  tally.engine "e"
  tally.engine "f"
  tally.buffer "X" shape [4]
  tally.loop "A" trips 4 {
    tally.instr "i" on "e" writes ["X[A]"] loc("a\FFb.py":3:5)
    tally.instr "j" on "f" reads ["X[A]"] loc("a\FFb.py":4:5)
  }
}
"""

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
os.chdir(folder)
ODD = b"k\xff.mlir"
JSON = b"k\xfe.json"
plain = b"plain.mlir"
for path in (plain, ODD):
    with open(path, "wb") as file:
        file.write(KERNEL)
with open(b"wrong\xff.mlir", "wb") as file:
    file.write(b'tally.kernel @k { // \xff\n  tally.engine "e" \xfe tally.instr "i" on "d"\n}\n')
with open(b"wrong\xff.json", "wb") as file:
    file.write(b'{"schema": "tally-kernel", "version": 2, "name": "\xff"}')
subprocess.run(["tally", "compile", plain, "--format=json", "--locations", "-o", JSON], check=True)

count = 0


def is_clean(text):
    return all(c >= " " and c != "\x7f" and not "\x80" <= c <= "\x9f" or c in "\n\t" for c in text)


def check(what, output):
    global count
    count += 1
    try:
        assert is_clean(output.decode()), (what, output)
    except UnicodeDecodeError as error:
        sys.exit(f"{what}: {output[max(0, error.start - 60):error.start + 20]}")


def run(*arguments, files=()):
    for file in files:
        pathlib.Path(file).unlink(missing_ok=True)
    done = subprocess.run(["tally", *arguments], capture_output=True, check=False)
    assert done.returncode in (0, 1, 2), (arguments, done)
    check(arguments, done.stdout)
    check(arguments, done.stderr)
    for file in files:
        with open(file, "rb") as written:
            check(arguments, written.read())


for kernel in (plain, ODD, JSON):
    for line in ("compile", "compile --format=json", "compile --format=json --locations", "compile --listing",
                 "compile --format=scf", "compile --sync=manual", "compile --sync=manual --diagnostics=json", "plan",
                 "plan --format=json", "deps --explain", "deps --format=json", "deps --format=dot",
                 "explain --instr=j", "explain --instr=j --format=json", "check", "check --format=json",
                 "check --explore", "compare", "compare --format=json", "sim --machine=teaching",
                 "sim --machine=teaching --format=json", "sim --machine=teaching --check-data"):
        command, *options = line.split()
        run(command, kernel, *options)
    run("sim", kernel, "--machine=teaching", "--trace=t.json", files=["t.json"])
    run("report", kernel, "--machine=teaching", "-o", "r.html", files=["r.html"])
    run("compile", kernel, "--certify=c.cert", "-o", "c.mlir", files=["c.mlir"])
for output in ("text", "json"):
    for kernel in (b"wrong\xff.mlir", b"wrong\xff.json", b"none\xff.mlir"):
        run("plan", kernel, f"--diagnostics={output}")
    for option in (b"--machine=" + JSON, b"--machine=none\xff.json", b"--sync=" + ODD, b"--" + ODD, b"--trips=" + ODD,
                   b"--replay=" + ODD):
        run("check", plain, option, f"--diagnostics={output}")
    run("check", b"--replay=" + JSON, f"--diagnostics={output}")
    run("sim", plain, b"--machine=teaching", b"--set=" + ODD, f"--diagnostics={output}")
    run("compile", plain, b"-o", b"none/" + ODD, f"--diagnostics={output}")
    run("machine", "check", JSON, f"--format={output}")
    run(ODD, f"--diagnostics={output}")
print(count, "outputs are UTF-8")
