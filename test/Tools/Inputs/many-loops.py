"""A kernel of many loops that hardly matter, and, at its end, one that runs often.

  many-loops.py COUNT
"""

import sys


def loop(name, trips, columns):
    access = f"x_{name}[{name}, 0:128, 0:{columns}]"
    return f"""  tally.loop "{name}" trips {trips} {{
    tally.instr "make_{name}" on "vector" writes ["{access}"] op "tensor_copy(n={columns})"
    tally.instr "use_{name}" on "scalar" reads ["{access}"] op "activation(n={columns})"
  }}"""


loops = [(f"cold{at}", 8, 4096) for at in range(int(sys.argv[1]))] + [("hot", 2000, 8)]
print('tally.kernel @many {\n  tally.engine "vector"\n  tally.engine "scalar"')
for name, trips, columns in loops:
    print(f'  tally.buffer "x_{name}" shape [{trips}, 128, {columns}] type "f32"')
print("\n".join(loop(*each) for each in loops))
print("}")
