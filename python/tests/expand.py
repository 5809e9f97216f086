"""Rolls a trace out again, operation by operation: the definition of what rolling up must keep.

Written from the meaning of patterns alone: it runs every loop and evaluates every number.
"""

from tally.nki import rollup


def expanded(traced):
    """The head and the numbers of every operation, in order."""
    found, ran = [], {}
    for (loop, _), trips in traced.recorder.entries.items():
        ran.setdefault(loop, []).append(trips)
    _run(traced.block.nodes, list(traced.block.numbers), traced.recorder.heads, ran, found)
    return found


def _run(nodes, numbers, heads, ran, found):
    """Executes nodes; takes their numbers, and the trips of dynamic loops, from the front of the lists."""
    for node in nodes:
        if isinstance(node, int):
            own = [numbers.pop(0) for _ in heads[node].kinds]
            found.append((node, tuple(own)))
        elif isinstance(node, rollup.Single):
            numbers.pop(0)
            _run(node.body.nodes, numbers, heads, ran, found)
        else:
            _, trips = (numbers.pop(0), numbers.pop(0)) if node.dynamic is None else (0, ran[node.loop].pop(0))
            slots = [numbers.pop(0) for pattern in node.patterns for _ in range(_slots(pattern))]
            for iteration in range(trips):
                _run(node.body.nodes, _numbers(node.patterns, list(slots), iteration), heads, ran, found)


def _slots(pattern):
    if pattern == rollup.FIRST:
        return 0
    return 2 if isinstance(pattern, (rollup.Modular, rollup.Quotient)) else 1


def _numbers(patterns, slots, iteration):
    """The numbers of the body in one iteration."""
    numbers = []
    for pattern in patterns:
        if pattern == rollup.FIRST:
            numbers.append(0 if iteration == 0 else 1)
        elif isinstance(pattern, rollup.Modular):
            base, place = slots.pop(0), slots.pop(0)
            numbers.append(base + pattern.scale * ((place + pattern.factor * iteration) % pattern.modulus))
        elif isinstance(pattern, rollup.Quotient):
            base, place = slots.pop(0), slots.pop(0)
            numbers.append(base + pattern.scale * ((place + iteration) // pattern.divisor))
        else:
            numbers.append(slots.pop(0) + pattern * iteration)
    return numbers
