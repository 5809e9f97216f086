#!/usr/bin/env python3
"""Writes code of tally for an imaginary chip: the shape of a back end, in one page.

    tally compile KERNEL --format=json | assemble.py

A back end walks the operations of each engine once. It needs no analysis: every wait, signal and number
stands in the document (docs/guide/json/Execution.md). An operation that the chip does not have is an error here, so
that nothing is left out silently.
"""

import json
import sys


def operand(value):
    return f"r{value['register']}" if "register" in value else str(value["value"])


def arithmetic(operation):
    values = [operand(operation[key]) for key in ("a", "b") if key in operation]
    return f"{operation['operation']:5} r{operation['dst']}, {', '.join(values)}"


def wait(waited):
    return f"wait  s{waited['semaphore']} >= {operand(waited['threshold'])}"


def assemble(operations, depth):
    """Lines of assembly; a loop or branch is closed by `end`."""
    for operation in operations:
        lines = []
        if operation["op"] == "alu":
            lines = [arithmetic(operation)]
        elif operation["op"] in ("wait", "issue"):
            lines = [wait(operation["wait"])] if operation["wait"] else []
            if operation["op"] == "issue":
                signal = operation["signal"]
                raises = f", then s{signal['semaphore']} += {signal['amount']}" if signal else ""
                lines.append(f"run   {operation['instr']}{raises}")
        elif operation["op"] == "loop" and "unroll" not in operation:
            counter = operation["counter"]  # a register that holds the number of the iteration, from 1
            lines = [f"loop  {operation['loop']}" + ("" if counter is None else f", r{counter}")]
        else:
            sys.exit(f"error: the chip has no '{operation['op']}' as in {json.dumps(operation)[:80]}")
        yield from ("  " * depth + line for line in lines)
        if operation["op"] == "loop":
            yield from assemble(operation["body"], depth + 1)
            yield "  " * depth + "end"


def main():
    code = json.load(sys.stdin)
    if (code["schema"], code["version"]) != ("tally-code", 2):
        sys.exit("error: this is not version 2 of tally-code")
    for engine in code["engines"]:
        print(f"engine {engine['engine']}:")
        print("\n".join(assemble(engine["code"], 1)))


if __name__ == "__main__":
    main()
