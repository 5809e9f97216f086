"""Prints a kernel in which engines, queues, buffers, instructions, loops and values have every name that programs contain.

usage: all_names.py 0|1 PROGRAM.cpp...

Names are identifiers of the programs, and macros of the headers that these include. Buffers and run-time values must
differ: with 0, every second name is one of a buffer and the others are those of values; with 1, the other way round.
"""

import re
import subprocess
import sys
from pathlib import Path

NUM_ENGINES = 64


def names_of(program):
    text = Path(program).read_text(encoding="utf-8")
    text = re.sub(r"//.*|'.'|\"(\\.|[^\"\\])*\"", " ", text)
    definitions = subprocess.run(["c++", "-std=c++20", "-dM", "-E", program], capture_output=True, text=True, check=True).stdout
    macros = re.findall(r"^#define (\w+)", definitions, re.MULTILINE)
    return {name for name in re.findall(r"\b[A-Za-z_]\w*", text) + macros if not name.startswith("__")}


def quoted(name):
    return f"\\22{name}\\22"


def main():
    first = int(sys.argv[1])
    names = sorted(set().union(*map(names_of, sys.argv[2:])))
    buffers, values = names[first::2], names[1 - first::2]
    print("tally.kernel @all_names {")
    for number in range(NUM_ENGINES):
        print(f'  tally.engine "{names[number]}" queues ["{names[-1 - number]}"]')
    for name in buffers:
        print(f'  tally.buffer "{name}" shape [8] type "f32"')
    for number, name in enumerate(names):
        engine = number % NUM_ENGINES
        queue = names[engine] if number % 3 else names[-1 - engine]
        read, written = (quoted(buffers[(number + step) % len(buffers)]) for step in (0, 1))
        print(f'  tally.loop "{name}" trips "{values[number % len(values)]}" max 8 {{')
        print(f'    tally.instr "{name}" on "{queue}" computes "r0 + 1" reads ["{read}[7 - {quoted(name)}]"] '
              f'writes ["{written}[total({quoted(name)}) mod 8]"]')
        print("  }")
    print("}")


if __name__ == "__main__":
    main()
