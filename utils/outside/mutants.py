"""Puts one mistake into code JSON, or into the kernel that it is judged by.

Each kind below takes documents (code, kernel) and yields places where the mistake can be made; making
it gives new documents. What the interpreter must say to them is *no*, unless the mistake happens to
change nothing: code often holds waits that others imply. So each kind has a rate that is stated in KINDS.
"""

import copy
import re

# ---- Finding places -----------------------------------------------------------------------


def operations_of(code):
    """All operations, as paths into the document."""

    def visit(operations, path):
        for place, operation in enumerate(operations):
            here = path + [place]
            yield here, operation
            for inner in ("body", "then", "else"):
                yield from visit(operation.get(inner, ()), here + [inner])

    for place, engine in enumerate(code["engines"]):
        yield from visit(engine["code"], ["engines", place, "code"])


def waits_of(code):
    for path, operation in operations_of(code):
        if operation.get("wait"):
            yield path, operation


def alus_of(code, *kinds):
    for path, operation in operations_of(code):
        if operation["op"] == "alu" and operation["operation"] in kinds:
            yield path, operation


def at(document, path):
    for step in path:
        document = document[step]
    return document


# ---- Mistakes: generators of functions that change the two documents ----------------------


def drop_wait(code, kernel):
    for path, operation in waits_of(code):
        def change(code, kernel, path=path, alone=operation["op"] == "wait"):
            if alone:
                del at(code, path[:-1])[path[-1]]
            else:
                at(code, path)["wait"] = None
        yield change


def threshold(step):
    """A threshold that is larger or smaller by one, through a register of its own."""

    def places(code, kernel):
        for path, operation in waits_of(code):
            if step < 0 and operation["wait"]["threshold"].get("value") == 0:
                continue
            yield lambda code, kernel, path=path: shift(code, path, step)

    return places


def shift(code, path, step):
    wait, engine = at(code, path)["wait"], code["engines"][path[1]]
    if "value" in wait["threshold"]:
        wait["threshold"] = {"value": wait["threshold"]["value"] + step}
        return
    new = len(engine["registers"])
    engine["registers"].append({"id": new, "name": "mutant"})
    at(code, path[:-1]).insert(path[-1], {"op": "alu", "operation": "add" if step > 0 else "sub", "dst": new,
                                          "a": wait["threshold"], "b": {"value": 1}})
    wait["threshold"] = {"register": new}


def lose_signal(code, kernel):
    for path, operation in operations_of(code):
        if operation["op"] == "signal":
            yield lambda code, kernel, path=path: at(code, path[:-1]).pop(path[-1])
        elif operation.get("signal"):
            yield lambda code, kernel, path=path: at(code, path).update(signal=None)


def change_amount(code, kernel):
    for path, operation in operations_of(code):
        if operation.get("signal"):
            def change(code, kernel, path=path):
                signal = at(code, path)["signal"]
                signal["amount"] = 1 if signal["amount"] > 1 else 2
            yield change


def other_semaphore(code, kernel):
    count = len(code["semaphores"])
    for path, operation in waits_of(code):
        if count > 1:
            def change(code, kernel, path=path):
                wait = at(code, path)["wait"]
                wait["semaphore"] = (wait["semaphore"] + 1) % count
            yield change


def lose_operation(code, kernel):
    for path, _ in alus_of(code, "move", "add", "sub", "mul", "min", "gt"):
        yield lambda code, kernel, path=path: at(code, path[:-1]).pop(path[-1])


def swap_operands(code, kernel):
    for path, operation in alus_of(code, "sub", "gt"):
        if operation["a"] != operation["b"]:
            def change(code, kernel, path=path):
                operation = at(code, path)
                operation["a"], operation["b"] = operation["b"], operation["a"]
            yield change


def masks_matter(code):
    """Elsewhere what a mask hides is mostly zero, or less."""
    return code["machine"]["subtraction"] == "wraps" and code["machine"]["compare"] == "unsigned"


def drop_mask(code, kernel):
    """The product of a mask and a count becomes the count."""
    if not masks_matter(code):
        return
    masks = {(path[1], operation["dst"]) for path, operation in alus_of(code, "gt")}
    for path, operation in alus_of(code, "mul"):
        for mask, rest in (("a", "b"), ("b", "a")):
            if (path[1], operation[mask].get("register")) in masks:
                def change(code, kernel, path=path, rest=rest):
                    operation = at(code, path)
                    operation.update(operation="move", a=operation[rest])
                    del operation["b"]
                yield change


def other_bound(code, kernel):
    """A mask that opens an iteration too early."""
    for path, operation in alus_of(code, "gt"):
        if operation["b"].get("value", 0) > 0 and masks_matter(code):
            def change(code, kernel, path=path):
                at(code, path)["b"]["value"] -= 1
            yield change


def lose_reset(code, kernel):
    for path, operation in operations_of(code):
        if operation["op"] == "reset":
            yield lambda code, kernel, path=path: at(code, path[:-1]).pop(path[-1])


def lose_drain(code, kernel):
    for path, operation in operations_of(code):
        if operation["op"] == "drain":
            yield lambda code, kernel, path=path: at(code, path[:-1]).pop(path[-1])


def other_counter(code, kernel):
    """The iteration goes to a register of its own, so that the counter stays what it was."""
    for path, operation in operations_of(code):
        if operation["op"] == "loop" and operation["counter"] is not None:
            def change(code, kernel, path=path):
                registers = code["engines"][path[1]]["registers"]
                at(code, path)["counter"] = len(registers)
                registers.append({"id": len(registers), "name": "mutant"})
            yield change


def few_bits(code, kernel):
    """Code for wide counters on a machine of 8 bits."""
    if code["machine"]["counter_bits"] > 8:
        yield lambda code, kernel: code["machine"].update(counter_bits=8)


def other_subtraction(code, kernel):
    if any(alus_of(code, "sub")):
        def change(code, kernel):
            other = {"wraps": "saturates", "saturates": "wraps"}[code["machine"]["subtraction"]]
            code["machine"]["subtraction"] = other
        yield change


def split_completion(code, kernel):
    """Queues that were taken for whole deliver in parts."""
    for place, engine in enumerate(code["kernel"]["engines"]):
        if engine.get("weight", 1) > 1 and engine.get("completion", "whole") == "whole":
            def change(code, kernel, place=place):
                for document in (code["kernel"], kernel):
                    document["engines"][place]["completion"] = "split"
            yield change


def lose_issue(code, kernel):
    for path, operation in operations_of(code):
        if operation["op"] == "issue":
            yield lambda code, kernel, path=path: at(code, path[:-1]).pop(path[-1])


def swap_branches(code, kernel):
    for path, operation in operations_of(code):
        if operation["op"] == "if":
            def change(code, kernel, path=path):
                branch = at(code, path)
                branch["then"], branch["else"] = branch.get("else", []), branch["then"]
            yield change


def other_tile(code, kernel):
    """What was parsed wrongly: the kernel as written has another number or sign in a tile."""
    for path, text in tiles_of(kernel["body"], ["body"]):
        for match in re.finditer(r"mod (\d+)| [+-] |\b(\d+)\*|(==|!=|<=|>=|<|>)", text):
            new = changed_tile(text, match)
            yield lambda code, kernel, path=path, new=new: at(kernel, path[:-1]).__setitem__(path[-1], new)


def tiles_of(statements, path):
    for place, statement in enumerate(statements):
        for kind in ("reads", "writes", "accumulates"):
            for index, text in enumerate(statement.get(kind, ())):
                yield path + [place, kind, index], text
        for inner in ("body", "then", "else"):
            yield from tiles_of(statement.get(inner, ()), path + [place, inner])


def changed_tile(text, match):
    word = match.group()
    if word.startswith("mod"):
        new = f"mod {int(match.group(1)) + 1}"
    elif word.endswith("*"):
        new = f"{int(match.group(2)) + 1}*"
    else:
        new = {" + ": " - ", " - ": " + ", "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}[word]
    return text[:match.start()] + new + text[match.end():]


def lose_dependence(code, kernel):
    """A dependence that is missing: it stands nowhere in the code, and its waits ask for nothing."""
    for gone in range(len(code["kernel"].get("dependences", ()))):
        if kernel.get("dependences"):
            return
        yield lambda code, kernel, gone=gone: forget(code, gone)


def forget(code, gone):
    del code["kernel"]["dependences"][gone]
    code.pop("dependences", None)
    for path, operation in reversed(list(waits_of(code))):
        wait = operation["wait"]
        alone = wait["dependences"] == [gone]
        wait["dependences"] = [item - (item > gone) for item in wait["dependences"] if item != gone]
        if alone and operation["op"] == "wait":
            del at(code, path[:-1])[path[-1]]
        elif alone:
            operation["wait"] = None


# The least part of mutants, in percent, to which the interpreter must say no.
KINDS = {
    "dropped wait": (drop_wait, 50),
    "threshold + 1": (threshold(1), 50),
    "threshold - 1": (threshold(-1), 50),
    "lost signal": (lose_signal, 50),
    "wrong amount": (change_amount, 15),
    "other semaphore": (other_semaphore, 50),
    "lost register operation": (lose_operation, 20),
    "swapped operands": (swap_operands, 20),
    "dropped mask": (drop_mask, 20),
    "mask too early": (other_bound, 20),
    "lost reset": (lose_reset, 25),
    "lost drain": (lose_drain, 15),
    "wrong counter": (other_counter, 40),
    "too few bits": (few_bits, 3),
    "other subtraction": (other_subtraction, 3),
    "split taken for whole": (split_completion, 3),
    "lost instruction": (lose_issue, 95),
    "swapped branches": (swap_branches, 70),
    "other tile": (other_tile, 60),
    "missing dependence": (lose_dependence, 40),
}


def mutants(kind, code, kernel, random, most):
    """Up to `most` mutants (code, kernel), at random places."""
    changes = list(KINDS[kind][0](code, kernel))
    for change in random.sample(changes, min(most, len(changes))):
        mutant = copy.deepcopy((code, kernel))
        change(*mutant)
        yield mutant
