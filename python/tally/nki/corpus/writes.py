"""A driver writes only into the folder that it runs in, which is emptied before each run.

So numbers that it has from a kernel do not outlast the run, to be read as a reference in the next one; and the checkout
stays as it is. Python tells of all files that it opens or changes, whichever module asks; of what other programs or
libraries do by themselves, it cannot.
"""

import errno
import os
import sys

_STREAMS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

# Which arguments of an event are paths that change, each with that of the folder that it is relative to.
_CHANGES = {"os.mkdir": ((0, 2),), "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.rename": ((0, 2), (1, 3)),
            "os.link": ((1, 3),), "os.symlink": ((1, 2),), "os.truncate": ((0, None),), "sqlite3.connect": ((0, None),)}


def only_in(folder):
    """From now on, in this process."""
    folder = os.path.realpath(folder)

    def refuse(path, whole, inside=None):
        """`whole`: the file that a link leads to is what changes; otherwise, the entry of the folder."""
        if isinstance(path, int) or path in _STREAMS:
            return
        shown = os.fsdecode(path)
        place = os.path.join(os.readlink(f"/proc/self/fd/{inside}") if inside not in (None, -1) else "", shown)
        head, tail = os.path.split(place)
        place = os.path.realpath(place) if whole else os.path.join(os.path.realpath(head), tail)
        if place != folder and not place.startswith(folder + os.sep):
            raise PermissionError(errno.EACCES, "a driver writes only into the folder that it runs in", shown)

    def told(event, given):
        if event == "open" and _writes(*given[1:]):
            refuse(given[0], whole=True)
        for path, inside in _CHANGES.get(event, ()):
            refuse(given[path], inside is None, given[inside] if inside is not None else None)

    sys.addaudithook(told)


def _writes(mode, flags):
    return bool(flags & _WRITES) if isinstance(flags, int) else any(letter in (mode or "") for letter in "wax+")
