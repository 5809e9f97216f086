"""What a driver does with files.

It writes only into the folder that it runs in, which is emptied before each run. So numbers that it has from a kernel
do not outlast the run, to be read as a reference in the next one; and the checkout stays as it is. What it reads of the
checkout, or asks for there in vain, is noted: its results depend on that; as does what a reference of the user's reads in its own folder.
Python tells of all files that it opens or changes, whichever module asks.
It cannot tell what other programs do, so a driver starts none; nor what libraries in other languages do by themselves.
"""

import contextlib
import errno
import importlib.util
import os
import sys

_STREAMS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

# Which arguments of an event are paths that change, each with that of the folder that it is relative to.
_CHANGES = {"os.mkdir": ((0, 2),), "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.rename": ((0, 2), (1, 3)),
            "os.link": ((1, 3),), "os.symlink": ((1, 2),), "os.truncate": ((0, None),), "sqlite3.connect": ((0, None),),
            "os.chmod": ((0, 2),), "os.chown": ((0, 3),), "os.utime": ((0, 3),)}
_STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty")


_guards = []  # of this process


def end_all():
    for guard in _guards:
        guard.end()


class Guard:
    """In this process, until it ends. `note` is told the files in one of the folders `roots` that are read, by the names
    by which they are asked for: a link may come to lead elsewhere."""

    def __init__(self, folder, roots, note):
        self.folder, self.roots, self.note, self.is_off = os.path.realpath(folder), roots, note, False
        _save_by_python(sys.modules.get("torch"))
        os.open = _opened_in(self, os.open)
        for name in ("mkfifo", "mknod"):  # Python does not tell of these
            setattr(os, name, self._refused(name))
        sys.addaudithook(self._told)
        _guards.append(self)

    def end(self):
        self.is_off = True

    @contextlib.contextmanager
    def own(self):
        """What is written is the walk's, and not the driver's."""
        before, self.is_off = self.is_off, True
        try:
            yield
        finally:
            self.is_off = before

    def read(self, path):
        for asked in dict.fromkeys(_source(name) for name in (os.path.abspath(path), os.path.realpath(path))):
            is_there = any(asked.startswith(root + os.sep) for root in self.roots) and not asked.startswith(self.folder + os.sep)
            if is_there and not os.path.isdir(asked):
                self.note(asked)

    def _told(self, event, given):
        if self.is_off:
            return
        if event == "open" and _writes(*given[1:]):
            self._refuse(given[0], whole=True)
        elif event == "open" and not isinstance(given[0], int):
            self.read(os.fsdecode(given[0]))
        elif event == "ctypes.dlopen" and given[0]:
            self.read(os.fsdecode(given[0]))
        elif event == "sqlite3.connect" and os.fsdecode(given[0]).startswith("file:"):
            self.read(os.fsdecode(given[0]).removeprefix("file:").partition("?")[0])
        elif event in _STARTS:
            raise PermissionError(errno.EACCES, "a driver of a walk starts no programs")
        for path, inside in _CHANGES.get(event, ()):
            self._refuse(given[path], inside is None, given[inside] if inside is not None else None)

    def _refuse(self, path, whole, inside=None):
        """`whole`: the file that a link leads to is what changes; otherwise, the entry of the folder."""
        if isinstance(path, int) or path in _STREAMS:
            return
        shown = os.fsdecode(path)
        place = os.path.join(os.readlink(f"/proc/self/fd/{inside}") if inside not in (None, -1) else "", shown)
        head, tail = os.path.split(place)
        place = os.path.realpath(place) if whole else os.path.join(os.path.realpath(head), tail)
        if place != self.folder and not place.startswith(self.folder + os.sep):
            raise PermissionError(errno.EACCES, "a driver writes only into the folder that it runs in", shown)

    def _refused(self, name):
        make = getattr(os, name)

        def made(path, *given, dir_fd=None, **named):
            if not self.is_off:
                self._refuse(path, False, dir_fd)
            return make(path, *given, dir_fd=dir_fd, **named)

        return made


def _opened_in(guard, function):
    """Python does not tell which folder a path is relative to."""

    def opened(path, flags, mode=0o777, *, dir_fd=None):
        if dir_fd is not None and not guard.is_off and not isinstance(path, int):
            place = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), os.fsdecode(path))
            return function(place, flags, mode)
        return function(path, flags, mode, dir_fd=dir_fd)

    return opened


def _source(path):
    """The file that the code in a file is made of; of all others, the file itself."""
    if not path.endswith(".pyc"):
        return path
    try:
        return importlib.util.source_from_cache(path)
    except ValueError:
        return path


def _writes(mode, flags):
    return bool(flags & _WRITES) if isinstance(flags, int) else any(letter in (mode or "") for letter in "wax+")


def _save_by_python(torch):
    """Torch opens files by itself if it is given a path."""
    if torch is None:
        return
    save = torch.save

    def saved(thing, place, *args, **given):
        if isinstance(place, (str, os.PathLike)):
            with open(place, "wb") as file:
                return save(thing, file, *args, **given)
        return save(thing, place, *args, **given)

    torch.save = saved
