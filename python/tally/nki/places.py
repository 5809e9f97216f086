"""Where in the user's files something happens: the innermost frame that is neither ours nor NumPy's."""

import linecache
import os
import re
import sys

from .refusal import Place

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
# By the id of a code object, since to hash one takes long; each entry keeps its code object alive.
_is_ours = {}
_places = {}


def _ours(code):
    known = _is_ours.get(id(code))
    if known is None:
        file = code.co_filename
        known = code, file.startswith((_OURS, "<")) or f"{os.sep}numpy{os.sep}" in file
        _is_ours[id(code)] = known
    return known[1]


def is_users(frame):
    """Whether the frame is neither ours nor NumPy's."""
    return not _ours(frame.f_code)


def user_frame():
    """The innermost frame of the user's files, or None."""
    frame = sys._getframe(1)
    while frame is not None and _ours(frame.f_code):
        frame = frame.f_back
    return frame


def frame_below(root):
    """The innermost frame of a file below a folder that is not ours, or None: a library is told by the line that calls it."""
    frame = user_frame()
    while frame is not None and (_ours(frame.f_code) or not os.path.realpath(frame.f_code.co_filename).startswith(os.path.join(root, ""))):
        frame = frame.f_back
    return frame


def place_of(frame):
    key = (id(frame.f_code), frame.f_lasti)
    place = _places.get(key)
    if place is None:
        _ours(frame.f_code)
        for number, position in enumerate(frame.f_code.co_positions()):
            if 2 * number == frame.f_lasti and position[0] is not None:
                place = Place(frame.f_code.co_filename, position[0], (position[2] or 0) + 1)
                break
        else:
            place = Place(frame.f_code.co_filename, frame.f_lineno or 1, 0)
        _places[key] = place
    return place


def here():
    """The place in the user's files that is being executed, or None."""
    frame = user_frame()
    return place_of(frame) if frame is not None else None


def forget():
    """Drops what is kept of code objects, so that a traced module can be freed."""
    _is_ours.clear()
    _places.clear()


_ASSIGNMENT = re.compile(r"\s*([A-Za-z_]\w*)\s*(:[^=]+)?=[^=]")


def assigned_name(place):
    """The variable that a statement around the place sets, as a name for what is made there."""
    if place is None:
        return "tile"
    for number in range(place.line, max(0, place.line - 4), -1):
        line = linecache.getline(place.file, number)
        match = _ASSIGNMENT.match(line)
        if match and (number == place.line or line.rstrip().endswith(("(", ","))):
            return match.group(1)
    return "tile"
