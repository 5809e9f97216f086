"""slow_deps.py SIZE: a kernel whose dependences take long to find, as each pair of its tiles is another question."""

import sys


def kernel(size):
    lines = ['tally.kernel @slow {', '  tally.engine "a"', '  tally.engine "b"',
             '  tally.buffer "X" shape [100000]', '  tally.loop "A" trips "n" {', '    tally.loop "B" trips "m" {']
    for i in range(size):
        tile = f"X[(A*{i + 3} + B*{2 * i + 1}) mod {1000 + 7 * i}]"
        lines.append(f'      tally.instr "i{i}" on "{"ab"[i % 2]}" {"reads" if i % 3 else "writes"} ["{tile}"]')
    return "\n".join(lines + ["    }", "  }", "}", ""])


if __name__ == "__main__":
    print(kernel(int(sys.argv[1])), end="")
