"""The file of --arguments: calls of kernels that no test of the checkout makes.

  {"schema": "tally-nki-arguments", "version": 1,
   "kernels": {"FILE:NAME" or "NAME": {"arguments": {"x": "f32[128,512]", "scale": 2.0},
                                       "reference": "module:function", "relative": 1e-5, "absolute": 1e-8,
                                       "grid": [2]}}}

Values are those of --arg, or any of JSON. The reference is a function of the user's, in a module of the file's
folder; it is called with the same arguments, as arrays of NumPy, and gives what the kernel gives.
"""

import hashlib
import importlib
import json
import os
import sys
from pathlib import Path

import numpy as np

from ..command import argument
from ..elements import rounded
from ..refusal import Refusal
from ..trace import Tensor


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as problem:
        raise Refusal(f"cannot read '{path}': {problem.strerror}") from None
    except ValueError as problem:
        raise Refusal(f"'{path}' is not JSON: {problem}") from None
    if not isinstance(document, dict) or document.get("schema") != "tally-nki-arguments":
        raise Refusal(f"'{path}' has no '\"schema\": \"tally-nki-arguments\"'; see docs/guide/NkiCorpus.md")
    kernels = document.get("kernels")
    if not isinstance(kernels, dict) or not all(isinstance(entry, dict) and isinstance(entry.get("arguments"), dict)
                                                for entry in kernels.values()):
        raise Refusal(f"'{path}': \"kernels\" gives \"arguments\" for each name; see docs/guide/NkiCorpus.md")
    for name, entry in kernels.items():
        for key in ("absolute", "relative"):
            value = entry.get(key, 0)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
                raise Refusal(f"'{path}': \"{key}\" of '{name}' is not a number that is 0 or larger")
    folder = os.path.dirname(os.path.abspath(path))
    return {name: {**entry, "folder": folder, "contents": _contents(entry, folder)} for name, entry in kernels.items()}


def _contents(entry, folder):
    """Of the files of the user that a call reads: what it gives holds as long as they stay as they are."""
    texts = [value[1:] for value in entry["arguments"].values() if isinstance(value, str) and value.startswith("@")]
    names = [text if os.path.isfile(os.path.join(folder, text)) else text.rpartition(":")[0] for text in texts]
    if isinstance(entry.get("reference"), str):
        names.append(entry["reference"].partition(":")[0].replace(".", os.sep) + ".py")
    paths = {name: Path(folder, name) for name in names}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for name, path in sorted(paths.items())}


def arguments(entry):
    """The arguments of a call, as the host has them."""
    random = np.random.default_rng(1)
    return {name: _value(name, value, random, entry["folder"]) for name, value in entry["arguments"].items()}


def _value(name, value, random, folder):
    if not isinstance(value, str):
        return value
    if value.startswith("@"):
        value = "@" + os.path.join(folder, value[1:])
    made = argument(f"{name}={value}", random)[1]
    if isinstance(made, Tensor):
        return rounded(made.array, made.element)
    return made


def reference(entry):
    """The user's function, or None."""
    if "reference" not in entry:
        return None
    module, _, name = entry["reference"].partition(":")
    sys.path.insert(0, entry["folder"])
    return getattr(importlib.import_module(module), name)
