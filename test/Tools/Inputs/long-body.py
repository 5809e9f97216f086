"""A loop of N instructions that load, compute and store in turn: long-body.py N"""

import sys

print('tally.kernel @long { tally.engine "sync" tally.engine "vector" tally.engine "gpsimd"')
print('tally.buffer "IN" shape [4] tally.buffer "OUT" shape [4] tally.buffer "D" tally.loop "i" trips "n" max 1000 {')
for number in range(int(sys.argv[1]) // 3):
    slot = number % 4
    print(f'tally.instr "load{number}" on "sync" writes ["IN[{slot}]"]')
    print(f'tally.instr "work{number}" on "vector" reads ["IN[{slot}]"] writes ["OUT[{slot}]"]')
    print(f'tally.instr "store{number}" on "gpsimd" reads ["OUT[{slot}]"] writes ["D"]')
print("} }")
