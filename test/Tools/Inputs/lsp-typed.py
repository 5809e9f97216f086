"""Types a kernel, letter by letter, and asks at each letter. The server has to answer all of it."""

import random
import sys

import lsp_client
from lsp_client import BEGIN, END, asked, changed, opened, position

URI = "file:///typed.mlir"
KERNEL = """tally.kernel @k {
  tally.engine "e" queues ["q" weight 2 split, "r"]
  tally.buffer "X" shape [4, 8] alias ["Y"] // \U0001d11e
  tally.loop "A" trips = "$n - 1" max 4 {
    tally.if "c" { tally.instr "i" on "q" reads ["X[A mod 2, $n:8]"] } else {
      tally.instr "j" on "e" writes ["X[total(A)]"]
    }
  }
  tally.dep "i" -> "j" at "A" = 1 raw
}
tally.code @k {
  tally.semaphore "s"
  tally.program "e" { tally.register "r" tally.set "r" = 1
    tally.for "A" { tally.issue "j" waits "s" >= "r" for [0] } }
}
"""

METHODS = ["hover", "completion", "definition", "references", "documentSymbol"]


def questions(number, text, places):
    given = b""
    for offset in places:
        for method in METHODS:
            more = {"context": {"includeDeclaration": True}} if method == "references" else {}
            given += asked(number, method, URI, position(text, offset), **more)
            number += 1
    return number, given


def type_all(texts, seed):
    """Each text in turn, with questions at its end and at two random places."""
    draw = random.Random(seed)
    given = BEGIN + opened(URI, "")
    number = 0
    for version, text in enumerate(texts, 2):
        places = [len(text), draw.randint(0, len(text)), draw.randint(0, len(text))]
        number, more = questions(number, text, places)
        given += changed(URI, text, version) + more
    found = lsp_client.talk(given + END, timeout=900)
    answered = {each["id"] for each in found if "result" in each and each["id"] not in ("begin", "end")}
    assert answered == set(range(number)), f"{number} questions, {len(answered)} answers"


def damaged(draw):
    """The kernel with some of it missing, doubled or replaced."""
    text = KERNEL
    for _ in range(draw.randint(1, 4)):
        begin = draw.randint(0, len(text))
        end = min(len(text), begin + draw.randint(0, 12))
        text = text[:begin] + draw.choice(["", text[begin:end] * 2, "{", "}", '"', "[", "@", "else {", "\r"]) + text[end:]
    return text


step = int(sys.argv[1])
type_all([KERNEL[:size] for size in range(0, len(KERNEL) + 1, step)], 1)
draw = random.Random(2)
type_all([damaged(draw) for _ in range(400 // step)], 3)
