"""What is kept of earlier runs, and when it still holds.

Each result is a file of JSON with a `key`: a digest of all that it depends on. These are the package itself,
the options, the files of the checkout that were loaded, which ones there are at all, and for a kernel the program `tally`. A result whose key is the
same now is taken as it is; any other is made again.
"""

import hashlib
import json
import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def _digest(*parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else str(part).encode(errors="surrogateescape"))
        digest.update(b"\0")
    return digest.hexdigest()[:24]


def common_key(options, program=None, facts=""):
    """Of what all results of one kind depend on: `program` if they are its answers; `facts` are those of its machine."""
    sources = [path.read_bytes() for path in sorted(_PACKAGE.rglob("*.py"))]
    parts = [program]
    if program and os.path.exists(program):
        found = os.stat(program)
        parts += [found.st_size, found.st_mtime_ns]
    return _digest(*sources, *parts, facts, json.dumps(options, sort_keys=True))


def key(common, root, files, *more):
    """Of one result, which has loaded these files of the checkout."""
    contents = []
    for file in files:
        path = Path(root, file)
        try:
            contents += [file, path.read_bytes() if path.is_file() else "none"]
        except OSError:
            contents += [file, "gone"]
    return _digest(common, *more, *contents)


def kept(path, common, root, *more):
    """The result in a file, if it still holds."""
    try:
        result = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.get("key") == key(common, root, result.get("files", ()), *more) else None


def keep(path, result, common, root, *more):
    result = {**result, "key": key(common, root, result.get("files", ()), *more)}
    write(path, json.dumps(result, indent=1) + "\n")
    return result


def write(path, text):
    """All of the file, or nothing of it: a walk may be ended while it writes."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="backslashreplace")  # the checkout may say what is no text
    part.replace(path)
