"""What kernels may ask of a tensor, a register, an index grid: all else that these have belongs to the trace.

An offset or a value is a number of this trace, and Python could decide by it what the device does in every run. So in the
user's files `thing.offset` becomes `__tally_attribute__(thing, "offset")`, and `getattr` is one that looks as well. Of tensors and their
like it finds what is listed here, and the offset where no register is in it. Of other things it finds what it always does.
"""

import ast
import builtins

from .values import Grid, LoopReduce, Mask, Memory, Register, View

_ATTRIBUTE, _GETATTR = "__tally_attribute__", "__tally_getattr__"

_OFFERED = {
    View: {"ap", "base_tensor", "broadcast", "broadcast_to", "buffer", "depends_on", "dtype", "expand_dim", "flatten_dims", "get_pattern",
           "is_contiguous", "is_indirect", "itemsize", "name", "ndim", "permute", "reshape", "reshape_dim", "select", "shape", "size",
           "slice", "squeeze_dim", "strides", "vector_select", "view"},
    Register: {"name"},
    Grid: {"ndim", "shape"},
    Mask: set(),
    Memory: set(),
    LoopReduce: set(),
}
_WORDS = {View: "tensor", Register: "register", Grid: "index grid", Mask: "mask"}


def _has(kind):
    return {name for name in dir(kind) if not (name.startswith("__") and name.endswith("__"))}


_HIDDEN = {kind: frozenset(_has(kind) - offered) for kind, offered in _OFFERED.items()}
_NAMES = frozenset().union(*_HIDDEN.values())


class Attributes(ast.NodeTransformer):
    """Of a file. What it calls `getattr` itself stays."""

    def visit_Module(self, node):
        bound = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)}
        bound |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
        bound |= {inner.name for inner in ast.walk(node) if isinstance(inner, (ast.FunctionDef, ast.ClassDef, ast.alias))}
        self.has_own = "getattr" in bound
        return self.generic_visit(node)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr not in _NAMES or not isinstance(node.ctx, ast.Load):
            return node
        call = ast.Call(ast.Name(_ATTRIBUTE, ast.Load()), [node.value, ast.Constant(node.attr)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def visit_match_case(self, node):
        """A pattern has names and no calls. Not seen: what `case object(offset=found)` finds in a tensor."""
        node.guard = self.visit(node.guard) if node.guard is not None else None
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Name(self, node):
        if node.id == "getattr" and isinstance(node.ctx, ast.Load) and not self.has_own:
            node.id = _GETATTR
        return node


def _is_hidden(thing, name):
    if name == "offset" and type(thing) is View:
        return thing.moves or thing.unknown
    return type(name) is str and name in _HIDDEN.get(type(thing), ())


def _attribute(thing, name):
    if _is_hidden(thing, name):
        word = _WORDS.get(type(thing), type(thing).__name__)
        raise AttributeError(f"'{word}' object has no attribute '{name}': it would be a number of this trace, which Python must not see")
    return builtins.getattr(thing, name)


def _getattr(thing, name, *default):
    if _is_hidden(thing, name):
        return default[0] if default else _attribute(thing, name)
    return builtins.getattr(thing, name, *default)


def hooks():
    """What the changed files call, by name."""
    return {_ATTRIBUTE: _attribute, _GETATTR: _getattr}
