"""The kernels and the drivers of a checkout, found by their syntax; nothing of it runs.

A kernel is a function with a decorator of NKI: `@nki.jit`, `@nki.baremetal(...)`, whatever the module is
called by the import. A driver is a file that may call kernels: it has tests, or it does something when it
runs as a program. Kernels in a file of tests do not count: what it decorates are wrappers of its own.
"""

import ast
import os
import re
import tokenize
from typing import NamedTuple

DECORATORS = ("jit", "baremetal", "benchmark", "profile", "trace")
_INTERFACE = ("nki", "neuronxcc")
_DECORATED = re.compile(r"@(?:\w+\.)*(?:jit|baremetal)\b")
_FUNCTION = re.compile(r"\s*def (\w+)")


class Kernel(NamedTuple):
    file: str  # below the checkout
    line: int  # of its `def`
    name: str  # with those of functions and classes around it
    broken: str  # why the file cannot be read, or nothing

    @property
    def id(self):
        return f"{self.file}:{self.name}"

    @property
    def word(self):
        """How a driver that calls it names it."""
        return self.name.split(".")[-1]


class Checkout(NamedTuple):
    kernels: list
    drivers: list  # files below the checkout, those with tests or a program
    homes: dict  # top-level module -> folders that it is in
    in_tests: int  # decorated functions in files of tests
    uses_torch: bool  # some file imports it
    broken: dict  # files of tests that do not parse, and why


def walk(root):
    kernels, drivers, in_tests, uses_torch, broken = [], [], 0, False, {}
    files = list(_python_files(root))
    for file in files:
        text, tree, problem = _parsed(os.path.join(root, file))
        if tree is None and is_test(file):
            broken[file] = problem
        elif tree is None:
            kernels += [Kernel(file, line, name, problem) for line, name in _by_text(text)]
        if tree is None:
            continue
        uses_torch |= any(name.split(".")[0] == "torch" for node in ast.walk(tree) for _, name in _imported(node))
        decorated = list(_decorated(tree))
        if is_test(file):
            in_tests += len(decorated)
        else:
            kernels += [Kernel(file, line, name, "") for line, name in decorated]
        if _drives(tree):
            drivers.append(file)
    return Checkout(kernels, drivers, _homes(files), in_tests, uses_torch, broken)


def is_test(file):
    """Whether a file is one of tests, by its name or a folder's."""
    *folders, name = file.split(os.sep)
    return name.startswith("test_") or name.endswith("_test.py") or any(
        folder in ("test", "tests") for folder in folders)


def calls(root, driver, kernels):
    """Whether the text of a driver names one of the kernels."""
    words = set(re.findall(r"\w+", _text(os.path.join(root, driver))))
    return any(kernel.word in words for kernel in kernels)


class Imports:
    """Which files of the checkout a file loads, by its import statements and those of what it loads."""

    def __init__(self, checkout, root):
        self.homes, self.root, self.known = checkout.homes, root, {}

    def reached(self, file):
        reached, pending = {file}, [file]
        while pending:
            more = self._of(pending.pop()) - reached
            reached |= more
            pending += more
        return reached

    def _of(self, file):
        if file not in self.known:
            _, tree, _ = _parsed(os.path.join(self.root, file))
            self.known[file] = {found for node in ast.walk(tree or ast.Module([], [])) for level, name in _imported(node)
                                for found in self._files(file, level, name)}
        return self.known[file]

    def _files(self, file, level, name):
        places = self.homes.get(name.split(".")[0], ())
        if level:
            place = file
            for _ in range(level):
                place = os.path.dirname(place)
            places = [place]
        for place in places:
            path = os.path.join(place, *filter(None, name.split(".")))
            for found in (path + ".py", os.path.join(path, "__init__.py")):
                if os.path.exists(os.path.join(self.root, found)):
                    yield found


def _imported(node):
    """Dots in front and name of each module that a statement may load."""
    if isinstance(node, ast.Import):
        yield from ((0, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.level, node.module or ""
        yield from ((node.level, ".".join(filter(None, [node.module, alias.name]))) for alias in node.names)


def _python_files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".py") and os.path.isfile(path):  # and no pipe, or a device
                yield os.path.relpath(path, root)


def names(root, without):
    """Of all files and folders of the checkout, and where its links lead: what a driver may find there, or look for in vain. Not
    those of `without`, a folder for results."""
    found = []
    for folder, folders, files in os.walk(os.fsencode(root)):
        folders[:] = sorted(name for name in folders if name not in (b".git", b"__pycache__")
                            and os.path.join(folder, name) != os.fsencode(without))
        for name in sorted([*folders, *files]):
            path = os.path.join(folder, name)
            found += [path, os.readlink(path) if os.path.islink(path) else b""]
    return b"\0".join(found)


def _text(path):
    """As much as can be read of it."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError:
        return ""
    except (SyntaxError, UnicodeDecodeError):  # it says that it is in another encoding, or is in none
        with open(path, encoding="latin-1") as file:
            return file.read()


def _parsed(path):
    """Text, syntax tree (None if there is none), and why there is none."""
    text = _text(path)
    try:
        with open(path, "rb") as file:
            return text, ast.parse(file.read(), path), ""
    except SyntaxError as problem:
        return text, None, f"{problem.lineno or 1}: the file does not parse: {problem.msg}"
    except (OSError, ValueError) as problem:
        return text, None, f"1: the file does not parse: {problem}"
    except (RecursionError, MemoryError):
        return text, None, "1: the file nests too deeply for Python's parser"


def _by_text(text):
    """Lines and names of decorated functions in a file that does not parse."""
    waiting = False
    for number, line in enumerate(text.splitlines(), 1):
        function = _FUNCTION.match(line)
        if waiting and function:
            yield number, function.group(1)
            waiting = False
        waiting = waiting or bool(_DECORATED.match(line.strip()))


def _decorated(tree):
    names, pending = _interface_names(tree), [(tree, "")]
    for node, around in pending:
        inside = around
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            inside = f"{around}{node.name}."
            if isinstance(node, ast.FunctionDef) and any(_is_decorator(d, names) for d in node.decorator_list):
                yield node.lineno, inside[:-1]
        pending += [(child, inside) for child in ast.iter_child_nodes(node)]


def _interface_names(tree):
    """What the file calls modules and functions of NKI."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names
                      if alias.name.split(".")[0] in _INTERFACE}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in _INTERFACE:
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _is_decorator(node, names):
    node = node.func if isinstance(node, ast.Call) else node
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    while isinstance(node, ast.Attribute):
        node = node.value
    return last in DECORATORS and getattr(node, "id", None) in names


def _drives(tree):
    """Whether the file has tests, or does more than define when it runs. What imports from its own package is not
    a program."""
    program = not any(isinstance(node, ast.ImportFrom) and node.level for node in tree.body)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name.lower().startswith("test") or is_class_of_tests(node):
            return True
        if program and isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
            return True
        if program and isinstance(node, (ast.Expr, ast.Assign)) and isinstance(node.value, ast.Call):
            return True
    return False


def is_class_of_tests(node):
    """Whether a class may be one of unittest: it is made of another one, and has tests."""
    return isinstance(node, ast.ClassDef) and bool(node.bases) and any(
        isinstance(part, ast.FunctionDef) and part.name.startswith("test") for part in node.body)


def _homes(files):
    """Where the top-level modules and packages of the checkout are."""
    folders = {os.path.dirname(file) for file in files}
    packages = {os.path.dirname(file) for file in files if os.path.basename(file) == "__init__.py"}
    for folder in list(folders):
        while folder:
            folder = os.path.dirname(folder)
            folders.add(folder)
    homes = {}
    for path in [*sorted(folders), *files]:
        folder, name = os.path.split(path)
        if name and folder not in packages and name != "__init__.py":
            homes.setdefault(name.removesuffix(".py"), []).append(folder)
    return {name: sorted(set(places), key=lambda place: (place.count(os.sep), place))
            for name, places in homes.items()}


def words(root, file):
    return set(re.findall(r"\w+", _text(os.path.join(root, file))))
