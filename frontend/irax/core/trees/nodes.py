"""Containers of pytrees, one level of them: which there are, and what their children are."""

from typing import Any

import optree

from irax.core.trees.registry import NAMESPACE, KeyEntry, asking_for_keys, key_path
from irax.core.trees.treedefs import is_foreign, static_data


def is_tree_node(typ: type) -> bool:
    """Return True if instances of a class are containers: a named tuple, or of a registered class.

    Args:
        typ: a class.

    Raises:
        TypeError: `typ` is not a class.

    Example:
        >>> from irax.tree_util import is_tree_node
        >>> is_tree_node(list), is_tree_node(int)
        (True, False)
    """
    if not isinstance(typ, type):
        raise TypeError(f"is_tree_node: expected a class, got {typ!r}")
    if is_foreign(typ):
        return False
    known = optree.register_pytree_node.get(typ, namespace=NAMESPACE) is not None  # pyright: ignore
    return known or optree.is_namedtuple_class(typ)


def flatten_one_level(tree: Any, *, namespace: str = NAMESPACE) -> tuple[tuple[Any, ...], Any]:
    """Return the children of a container, and its static data.

    Args:
        tree: a container.
        namespace: the registry of containers; "irax" is the one of this package.

    Raises:
        ValueError: it is a leaf.

    Example:
        >>> from irax.tree_util import flatten_one_level
        >>> flatten_one_level({"a": [1, 2]})
        (([1, 2],), ('a',))
    """
    if is_foreign(type(tree)):
        raise ValueError(f"flatten_one_level: expected a container, got the leaf {tree!r}")
    found: Any = optree.tree_flatten_one_level(tree, namespace=namespace)
    children, static, kind = found[0], found[1], type(tree)
    return tuple(children), tuple(static) if kind is dict else static_data(kind, static)


def flatten_one_level_with_keys(
    tree: Any, *, namespace: str = NAMESPACE
) -> tuple[tuple[tuple[KeyEntry, Any], ...], Any]:
    """Return the children of a container, each with its key, and its static data.

    Args:
        tree: a container.
        namespace: the registry of containers; "irax" is the one of this package.

    Raises:
        ValueError: it is a leaf.

    Example:
        >>> from irax.tree_util import flatten_one_level_with_keys
        >>> flatten_one_level_with_keys((1, [2]))[0]
        ((SequenceKey(idx=0), 1), (SequenceKey(idx=1), [2]))
    """
    children, static = flatten_one_level(tree, namespace=namespace)
    with asking_for_keys():
        below = optree.tree_structure(tree, lambda node: node is not tree, namespace=namespace)
    keys = [key_path(accessor)[0] for accessor in below.accessors()]
    return tuple(zip(keys, children, strict=True)), static
