"""A kernel with more instructions that wait than an editor should hold hints: the rest is counted, and hover knows it."""

import lsp_client
from lsp_client import BEGIN, END, asked, opened

URI = "file:///large.mlir"
MOST = 1000


def kernel(pairs):
    lines = ['tally.kernel @large {', '  tally.engine "a"', '  tally.engine "b"', f'  tally.buffer "X" shape [{pairs}]']
    for i in range(pairs):
        lines += [f'  tally.instr "w{i}" on "a" writes ["X[{i}]"]', f'  tally.instr "r{i}" on "b" reads ["X[{i}]"]']
    return "\n".join(lines + ["}", ""])


def diagnostics(pairs, line):
    found = lsp_client.talk(BEGIN + opened(URI, kernel(pairs)) + asked(1, "hover", URI, (line, 18)) + END)
    published = next(each["params"]["diagnostics"] for each in found if "diagnostics" in each.get("params", {}))
    hover = next(each["result"]["contents"]["value"] for each in found if each.get("id") == 1)
    return [each for each in published if each["severity"] == 4], [each["message"] for each in published], hover


hints, texts, hover = diagnostics(MOST, 4 + 2 * MOST - 1)
assert len(hints) == MOST and not any("more instructions" in text for text in texts)

hints, texts, hover = diagnostics(MOST + 7, 4 + 2 * (MOST + 7) - 1)
assert len(hints) == MOST
assert sum(text.startswith("7 more instructions wait, too") for text in texts) == 1, texts[-2:]
assert "'w1006' -> 'r1006'" in hover, hover
