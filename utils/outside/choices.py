"""Chooses how often loops run and which branches are taken.

There are small numbers, and those around each distance, since that is where masks and rings change. There is another
number at each entry, since that is where counts of entries go wrong. Now and then there is a long run, for
counters of few bits.
"""

from documents import BIGGEST, Table
from tiles import values_of
from walk import Choice, Limit, Walk, clip

MOST_STEPS = 1500  # of a walk; what is longer is made shorter, if bounds allow
SMALL = (0, 1, 2, 3, 4)


def choose(kernel, random, count):
    distances = distances_of(kernel)
    values = values_of(kernel)
    return [choose_one(kernel, random, distances, values, turn) for turn in range(count)]


def distances_of(kernel):
    """By loop, the distances that dependences have on it; flat and element ones count for all."""
    everywhere, by_loop = set(), {}
    for dependence in kernel.dependences:
        element = dependence.element
        steps = [number for number in element.runs if abs(number) < 8] if isinstance(element, Table) else [element]
        everywhere |= {abs(number) for number in (dependence.flat, *steps) if number}
        for loop, distance in dependence.distance.items():
            if abs(distance) < BIGGEST // 2:
                by_loop.setdefault(loop, set()).add(abs(distance))
    return {loop: by_loop.get(loop, set()) | everywhere for loop in kernel.loops}


def choose_one(kernel, random, distances, values, turn):
    """The first choices are plain: all loops alike."""
    for most in (40, 12, 6, 3, 2, 1, 0):
        choice = draw(kernel, random, distances, values, turn, most)
        if fits(kernel, choice):
            break
    return choice


def fits(kernel, choice):
    try:
        for engine in kernel.engines:
            Walk(kernel, choice, engine, None, MOST_STEPS)
    except Limit:
        return False
    return True


def draw(kernel, random, distances, values, turn, most):
    trips, takes = {}, {}
    long_loop = random.choice(sorted(kernel.loops)) if kernel.loops and random.random() < 0.3 else None
    for loop in kernel.loops.values():
        for name in names(kernel, loop, random):
            trips[name] = draw_trips(random, loop, distances[loop.name], turn, most, loop.name == long_loop)
        if loop.constant or loop.formula:
            for name in [name for name in trips if name.split("@")[0] == loop.name]:
                del trips[name]
    for branch in [branch for branch in kernel.ifs.values() if not branch.when]:
        for name in names(kernel, branch, random):
            takes[name] = [random.randrange(2) for _ in range(random.randrange(1, 6))]
    drawn = {}
    for name, bounds in values.items():
        tied = [loop.name for loop in kernel.loops.values() if loop.formula and f"${name}" in loop.formula]
        drawn[name] = draw_value(random, *bounds, turn, most, sorted(set().union(*(distances[loop] for loop in tied))))
    return Choice(trips, takes, drawn)


def draw_value(random, least, most_allowed, turn, most, distances):
    """The first choices are plain here, too. `distances` are those on the loops that run so often."""
    around = [distance + step for distance in distances for step in (0, 1, 2)]
    drawn = turn + 1 if turn < 3 else random.choice([0, 1, 2, 3, 3, 5, 8] + [number for number in around if number <= most])
    return clip(min(drawn, most), least, most_allowed)


def values_with(kernel, trips, values):
    """The values, except those that give tied loops the trips that are told of their first entry."""
    found = dict(values)
    for loop in kernel.loops.values():
        if not loop.formula or loop.name not in trips:
            continue
        start = {outer.name: 0 for outer in loop.body.loops}
        named = {name: bounds for name, bounds in values_of(kernel).items() if f"${name}" in loop.formula}
        for name, (least, most) in named.items():
            for number in range(least, min(trips[loop.name][0] + 64, most if most is not None else BIGGEST) + 1):
                trial = found | {name: number}
                if Choice(trips, {}, trial).trips_of(loop, None, 0, start) == trips[loop.name][0]:
                    found = trial
                    break
    return found


def names(kernel, what, random):
    """Where engines may disagree, every second one decides for itself, and the others alike."""
    if what.uniform:
        return [what.name]
    return [what.name] + [f"{what.name}@{engine}" for engine in kernel.engines if random.random() < 0.5]


def draw_trips(random, loop, distances, turn, most, is_long):
    if turn < 3:
        return [clip(min(turn + 1, most), loop.least, loop.most)]
    pool = list(SMALL) + [distance + step for distance in distances for step in (-1, 0, 1, 2)]
    pool = [number for number in pool if 0 <= number <= most] or [0]
    if is_long:
        return [clip(random.randrange(most + 1), loop.least, loop.most)]
    return [clip(random.choice(pool), loop.least, loop.most) for _ in range(random.choice((1, 1, 2, 3, 4)))]
