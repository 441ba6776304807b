"""Arguments whose tangents are zero, and the results whose tangents are zero then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import as_array
from irax.core.dispatch import bind
from irax.core.refs import refs
from irax.core.tracing import Traced
from irax.core.trees import array_trees
from irax.core.wrapping import wraps
from irax.transforms.differentiable import is_inexact
from irax_compiler import api, mlir
from irax_compiler.ops import marks


def spread(what: str, flags: Any, tree: Any) -> list[bool]:
    """Return a bool for each leaf of a structure: that of `flags` for the part that it stands for.
    Containers are matched by their number of children alone.

    Raises:
        ValueError: `flags` is no tree of bools, or has another number of children somewhere.
    """
    if isinstance(flags, bool):
        return [flags] * tree.num_leaves
    if not isinstance(flags, tuple | list | dict):
        raise ValueError(
            f"{what}: expected a bool, or a tuple of them for the children of a container, got "
            f"{flags!r}"
        )
    parts = [flags[k] for k in sorted(flags)] if isinstance(flags, dict) else flags
    children = tree.children()
    if len(parts) != len(children):
        raise ValueError(f"{what}: {flags!r} has {len(parts)} items for {len(children)} children")
    pairs = zip(parts, children, strict=True)
    return [x for part, child in pairs for x in spread(what, part, child)]


def held(function: Callable[..., Any], nonzero: Sequence[bool]) -> Callable[..., Any]:
    """Return a function that has no derivative in the leaves of its arguments that are not
    `nonzero`.
    """

    @wraps(function)
    def partly(*args: Any) -> Any:
        leaves, tree = array_trees.tree_flatten(args)
        pairs = zip(leaves, nonzero, strict=True)
        kept = [x if n or isinstance(x, refs.Ref) else _stopped(x) for x, n in pairs]
        return function(*array_trees.tree_unflatten(tree, kept))

    return partly


def _stopped(leaf: Any) -> Any:
    x = as_array(leaf)
    return bind(marks.stop_gradient, x, weak_type=x.weak_type) if is_inexact(x.aval) else x


def nonzero_results(traced: Traced, wrt: Sequence[int], tree: Any) -> Any:
    """Return the structure `tree` of the first results of a traced function: False for those that
    have no derivative in any of its inputs `wrt`.
    """
    with traced.builder.deriving():
        derived = api.jvp(traced.builder.module, traced.name, list(wrt))
    function = mlir.Functions(traced.builder.module)[derived.name]
    returned = iter(list(mlir.terminator(mlir.body(function)).operands)[len(traced.results) :])
    flags = [is_inexact(a) and bool(mlir.splat(next(returned)) != 0) for a in traced.results]
    return array_trees.tree_unflatten(tree, flags[: tree.num_leaves])
