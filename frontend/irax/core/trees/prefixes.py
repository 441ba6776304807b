"""Prefixes of pytrees: trees whose leaves stand for whole subtrees, such as `in_axes`."""

from collections.abc import Callable
from typing import Any

import optree

from irax.core.trees.errors import structure_error
from irax.core.trees.registry import NAMESPACE
from irax.core.trees.treedefs import flatten, with_foreign


def prefix_broadcast(
    prefix: Any,
    tree: Any,
    is_leaf: Callable[[Any], bool] | None = None,
    *,
    prefix_name: str = "the prefix",
    tree_name: str = "the tree",
    namespace: str = NAMESPACE,
) -> list[Any]:
    """Return one leaf of a prefix for each leaf of a tree, in the order of the tree's leaves.

    A prefix has the containers of the tree down to some depth, where each of its leaves stands for
    all that the tree has there. This is what `in_axes` and its like are. None is a leaf of the
    prefix. A list at the top of the prefix does for a tuple.

    Args:
        prefix: the prefix.
        tree: any pytree.
        is_leaf: called with every subtree of the prefix; where it returns True, that is a leaf.
        prefix_name: what an error calls the prefix.
        tree_name: what an error calls the tree.
        namespace: the registry that says what is a container.

    Raises:
        ValueError: the prefix has a container that the tree lacks. The message says where.

    Example:
        >>> from irax.tree_util import prefix_broadcast
        >>> prefix_broadcast((0, None), ({"w": 1.0, "b": 2.0}, 3.0))
        [0, 0, None]
    """
    if type(tree) is tuple:
        prefix = _list_as_tuple(prefix)
    is_leaf = with_foreign(is_leaf)
    leaves, spec = optree.tree_flatten(prefix, is_leaf, none_is_leaf=True, namespace=namespace)
    subtrees = flatten_up_to(spec, tree, prefix_name, tree_name)
    return [
        leaf
        for leaf, subtree in zip(leaves, subtrees, strict=True)
        for _ in flatten(subtree, None, namespace)[0]
    ]


def _list_as_tuple(x: Any) -> Any:
    return tuple(x) if type(x) is list else x


def flatten_up_to(spec: optree.PyTreeSpec, tree: Any, expected_name: str, name: str) -> list[Any]:
    """Return the subtrees of a tree in the places of the leaves of a structure."""
    try:
        return spec.flatten_up_to(tree)
    except ValueError as error:
        raise structure_error(spec, tree, expected_name, name, prefix=True) from error
