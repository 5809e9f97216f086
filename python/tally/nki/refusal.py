"""What the user is told when a kernel cannot be traced.

A refusal names what was found, where, and the way out, in the form of a compiler's error. It is the
only exception that leaves the tracer on purpose: every other exception of a kernel is its
own, and is shown with its own traceback.
"""

import os
import threading
from typing import NamedTuple


class Place(NamedTuple):
    """A place in a Python file; `column` is 0 where it is not known."""

    file: str
    line: int
    column: int

    def __str__(self):
        return ":".join(str(part) for part in (shown_path(self.file), *self[1:]) if part)


def shown_path(path):
    """A path as users read it: from the current folder on, if it is below that."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def said_by(error):
    """The message of an error that is not ours, which may do anything when it is asked."""
    try:
        text = str(error)
    except BaseException:
        return "with a message that cannot be shown"
    return text if len(text) <= 1000 else text[:997] + "..."


def printable(text):
    """As a terminal may have it: control characters are written out."""
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_made = threading.local()


def forget_first():
    """What is refused from here on is the first again, in this thread."""
    _made.first = None


def first_refusal():
    """The first refusal since then, even if the kernel has caught it; None if there was none."""
    return getattr(_made, "first", None)


class Refusal(Exception):
    """The kernel cannot be traced. `place` is None if it is about the command line."""

    def __init__(self, message, place=None):
        super().__init__(message)
        self.message, self.place = message, place
        if first_refusal() is None:
            _made.first = self

    def __str__(self):
        start = f"{self.place}: " if self.place else ""
        return f"{start}error: {self.message}"
