"""Functions with rules of their own for `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax import lax
from irax.core.trees import array_trees
from irax.transforms.custom_vmap import custom_vmap

__all__ = ["custom_vmap", "sequential_vmap"]


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """A function that `vmap` calls for one lane after the other, in a loop.

    Args:
        f: a function of arrays.

    Raises:
        TypeError: `f` is not a function.

    >>> f = irax.custom_batching.sequential_vmap(lambda x: x + 1.0)
    >>> irax.vmap(f)(irax.numpy.arange(3.0))
    Array([1., 2., 3.], dtype=float32)
    """
    function = custom_vmap(f)

    def rule(axis_size: int, in_batched: Any, *args: Any) -> tuple[Any, Any]:
        mapped = array_trees.tree_leaves(in_batched)
        leaves, tree = array_trees.tree_flatten(args)

        def one(rows: Sequence[Any]) -> Any:
            own = iter(rows)
            merged = [next(own) if m else x for x, m in zip(leaves, mapped, strict=True)]
            return function(*array_trees.tree_unflatten(tree, merged))

        return lax.map(one, [x for x, m in zip(leaves, mapped, strict=True) if m]), True

    function.def_vmap(rule)
    return function
