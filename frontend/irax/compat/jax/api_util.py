"""jax.api_util: functions of pytrees as functions of flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from irax import tree_util
from irax.core.array import aval_of as shaped_abstractify
from irax.core.trees.array_trees import prefix_broadcast
from irax.extend.linear_util import (
    Store,
    WrappedFun,
    transformation2,
    transformation_with_aux2,
)

__all__ = [
    "argnums_partial",
    "debug_info",
    "donation_vector",
    "flatten_axes",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "rebase_donate_argnums",
    "safe_map",
    "shaped_abstractify",
]


@transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Store, in_tree: Any, *args_flat: Any) -> list[Any]:
    """A layer: the function of the leaves of `(args, kwargs)`, to the leaves of its result."""
    args, kwargs = tree_util.tree_unflatten(in_tree, args_flat)
    leaves, out_tree = tree_util.tree_flatten(f(*args, **kwargs))
    store.store(out_tree)
    return leaves


@transformation_with_aux2
def flatten_fun_nokwargs(
    f: Callable[..., Any], store: Store, in_tree: Any, *args_flat: Any
) -> list[Any]:
    """A layer: the function of the leaves of `args`, to the leaves of its result."""
    leaves, out_tree = tree_util.tree_flatten(f(*tree_util.tree_unflatten(in_tree, args_flat)))
    store.store(out_tree)
    return leaves


@transformation2
def _with_fixed(
    f: Callable[..., Any], dynamic: Sequence[int], fixed: Sequence[Any], *args: Any, **kwargs: Any
) -> Any:
    full = list(fixed)
    for number, value in zip(dynamic, args, strict=True):
        full[number] = value
    return f(*full, **kwargs)


def argnums_partial(
    f: WrappedFun, dyn_argnums: int | Sequence[int], args: Sequence[Any], **_: Any
) -> tuple[WrappedFun, tuple[Any, ...]]:
    """Return a function of some of its arguments, by number, and these arguments."""
    numbers = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    numbers = tuple(n % len(args) for n in numbers)
    return _with_fixed(f, numbers, tuple(args)), tuple(args[n] for n in numbers)


def flatten_axes(
    name: str, treedef: Any, axis_tree: Any, *, kws: bool = False, tupled_args: bool = False
) -> list[Any]:
    """Return a value for each leaf of a structure, of a tree that is a prefix of it."""
    tree = tree_util.tree_unflatten(treedef, [object()] * treedef.num_leaves)
    none = object()
    prefix = tree_util.tree_map(
        lambda x: none if x is None else x, axis_tree, is_leaf=lambda x: x is None
    )
    found = prefix_broadcast(prefix, tree, prefix_name=name, tree_name="the tree")
    return [None if x is none else x for x in found]


class DebugInfo:
    """The names of a traced function and of its arguments, for messages."""

    def __init__(self, traced_for: str, func: Any) -> None:
        self.traced_for: str = traced_for
        self.func_src_info: str = getattr(func, "__name__", str(func))


def debug_info(traced_for: str, fun: Any, *_: Any, **__: Any) -> DebugInfo:
    """Return the names of a function that is traced."""
    return DebugInfo(traced_for, fun)


def safe_map(f: Callable[..., Any], *args: Iterable[Any]) -> list[Any]:
    """Return what a function does to elements of sequences of one length."""
    return [f(*row) for row in zip(*args, strict=True)]


def donation_vector(
    donate_argnums: Iterable[int], donate_argnames: Iterable[str], in_tree: Any, *_: Any
) -> tuple[bool, ...]:
    """Return for each leaf of `(args, kwargs)` if its argument is donated."""
    positions, names = set(donate_argnums), set(donate_argnames)
    args, kwargs = tree_util.tree_unflatten(in_tree, [object()] * in_tree.num_leaves)
    by_position = [(i in positions, a) for i, a in enumerate(args)]
    by_name = [(name in names, a) for name, a in kwargs.items()]
    return tuple(
        donated for donated, a in [*by_position, *by_name] for _ in tree_util.tree_leaves(a)
    )


def rebase_donate_argnums(
    donate_argnums: Iterable[int], static_argnums: Iterable[int]
) -> tuple[int, ...]:
    """Return the numbers of donated arguments when the static ones are left out."""
    static = set(static_argnums)
    return tuple(n - sum(s < n for s in static) for n in donate_argnums if n not in static)
