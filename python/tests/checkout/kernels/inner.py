"""All that is here runs inside another kernel, in a test that compares nothing, and by way of a plain function in a test that compares."""

import nki

from .third import behind_a_mistake


@nki.jit
def reached(x):
    return behind_a_mistake(x)


@nki.jit
def around_reached(x):
    return reached(x)
