"""Writes headers (`--emit=c++ --calls`) of kernels whose names the C library has, too, and a file that includes all of them.

usage: space_names.py FOLDER HEADER.h

HEADER.h is such a header of another kernel. Names are those that look like functions of the C library in what it includes.
"""

import re
import subprocess
import sys
from pathlib import Path

NATURAL = ["pipe", "index", "log", "time", "read", "remove", "tanh", "memcpy", "sinf64x", "std", "main", "NAN"]
EVERY = 30  # of all that there are


def functions_of(header):
    text = subprocess.run(["c++", "-std=c++20", "-E", "-x", "c++", header], capture_output=True, text=True, check=True).stdout
    names, is_in_c = set(), False
    for line in text.splitlines():
        place = re.match(r'# \d+ "(.*?)"', line)
        if place:
            is_in_c = place[1].startswith("/usr/include/") and "/c++/" not in place[1]
        elif is_in_c:
            names.update(re.findall(r"\bextern [^()]*?\b([a-z]\w*) \(", line))
    return sorted(names)


def main():
    folder, header = Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(exist_ok=True)
    includes = []
    for name in NATURAL + functions_of(header)[::EVERY]:
        kernel = folder / f"{name}.mlir"
        kernel.write_text(f'tally.kernel @{name} {{\n  tally.engine "a"\n  tally.buffer "x" shape [4] type "f32"\n'
                          '  tally.instr "set" on "a" writes ["x[0]"]\n}\n', encoding="utf-8")
        subprocess.run(["tally", "compile", kernel, "--emit=c++", "--calls", "--quiet", "-o", folder / f"{name}.h"], check=True)
        includes.append(f'#include "{name}.h"\n')
    (folder / "all.cpp").write_text("".join(includes), encoding="utf-8")
    print(len(includes), "names")


if __name__ == "__main__":
    main()
