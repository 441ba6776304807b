"""The registry of containers as an object, for programs that look into it or pass it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from irax.core.trees import nodes as tree_nodes
from irax.core.trees import registry as tree_registry
from irax.core.trees.registry import KeyPath
from irax.core.trees.treedefs import PyTreeDef


@dataclass(frozen=True, eq=False)
class PyTreeRegistry:
    """The registry of containers, which functions of `irax.tree_util` read and write.

    Example:
        >>> from irax.tree_util import default_registry
        >>> default_registry.flatten_one_level({"a": [1, 2]})
        (([1, 2],), ('a',))
        >>> default_registry.flatten_one_level(3)
    """

    __module__ = "irax.tree_util"  # where it is pickled from, by the name of the only one

    flatten: Callable[..., tuple[list[Any], PyTreeDef]]
    """Takes a pytree to its leaves and its structure, as `tree_flatten`."""
    flatten_with_path: Callable[..., tuple[list[tuple[KeyPath, Any]], PyTreeDef]]
    """Does so with the keys that lead to each leaf, as `tree_flatten_with_path`."""

    def __reduce__(self) -> str:
        return "default_registry"

    def flatten_one_level(self, tree: Any) -> tuple[tuple[Any, ...], Any] | None:
        """Return the children of a container and its static data; None for a leaf."""
        return tree_nodes.flatten_one_level(tree) if self.is_node(type(tree)) else None

    def flatten_one_level_with_keys(
        self, tree: Any
    ) -> tuple[tuple[tuple[KeyPath, Any], ...], Any] | None:
        """Return the children of a container, each with its key, and its static data; None for a
        leaf.
        """
        if not self.is_node(type(tree)):
            return None
        children, static = tree_nodes.flatten_one_level_with_keys(tree)
        return tuple(((key,), child) for key, child in children), static

    def is_node(self, type: type) -> bool:
        """Return True if instances of a class are containers."""
        return tree_nodes.is_tree_node(type)

    def register_node(
        self,
        type: type,
        to_iterable: Callable[[Any], tuple[Any, Any]],
        from_iterable: Callable[[Any, Any], Any],
        to_iterable_with_keys: Callable[[Any], tuple[Any, Any]] | None = None,
    ) -> None:
        """Register a class of containers, as `register_pytree_node` does."""
        tree_registry.register_pytree_node(type, to_iterable, from_iterable, to_iterable_with_keys)

    def register_dataclass_node(
        self, type: type, data_fields: Sequence[str], meta_fields: Sequence[str]
    ) -> type:
        """Register a dataclass, as `register_dataclass` does."""
        return tree_registry.register_dataclass(type, data_fields, meta_fields)
