"""jax._src.tree_util: jax.tree_util, and its registry to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from irax.tree_util import *  # noqa: F403
from irax.tree_util import (
    PyTreeDef,
    default_registry,
    flatten_one_level,
    tree_structure,
    tree_unflatten,
)


def prefix_errors(
    prefix_tree: Any, full_tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> list[Callable[[str], ValueError]]:
    """Return functions from a name to the error that a tree is no prefix of another one; none if it
    is.
    """
    structure = tree_structure(prefix_tree, is_leaf)
    try:
        structure.flatten_up_to(full_tree)
    except ValueError as error:
        message = str(error)
        return [lambda name: ValueError(f"{name}: {message}")]
    return []


class _Entry:
    """Takes containers of a class apart, and puts them together again."""

    def to_iter(self, tree: Any) -> tuple[Iterable[Any], PyTreeDef]:
        """Return the children, and what they are put together by."""
        return flatten_one_level(tree)[0], tree_structure(tree, lambda node: node is not tree)

    def from_iter(self, whole: PyTreeDef, children: Iterable[Any]) -> Any:
        """Return a container of other children."""
        return tree_unflatten(whole, children)


class _Registry:
    """The classes of containers."""

    def __contains__(self, cls: object) -> bool:
        return isinstance(cls, type) and default_registry.is_node(cls)

    def __getitem__(self, cls: type) -> _Entry:
        if cls not in self:
            raise KeyError(cls)
        return _Entry()


_registry = _Registry()
