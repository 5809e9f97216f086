"""long-body.py N: a kernel with this many instructions in one body, each of which depends on the one before."""

import sys

number = int(sys.argv[1])
print('tally.kernel @long {\n  tally.engine "a"\n  tally.engine "b"\n  tally.loop "A" trips "n" {')
for each in range(number):
    print(f'    tally.instr "i{each}" on "{"ab"[each % 2]}"')
for each in range(1, number):
    print(f'    tally.dep "i{each - 1}" -> "i{each}"')
print("  }\n}")
