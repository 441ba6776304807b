"""Pytrees as transformations see them: a typed key is not a leaf but holds its words.

For users an array of typed keys is a leaf like any array (`irax.tree_util`). What is traced are
arrays of numbers, so on the way into a trace a key is taken apart, and put together on the way out.
The functions are those of `irax.tree_util` otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import optree

from irax import tree_util
from irax.core.avals import ShapeDtypeStruct
from irax.core.key_arrays import KeyArray
from irax.core.tree_registry import ARRAYS
from irax.dtypes import KeyType
from irax.tree_util import PyTreeDef as PyTreeDef
from irax.tree_util import keystr as keystr
from irax.tree_util import structure_error as structure_error
from irax.tree_util import tree_unflatten as tree_unflatten
from irax.tree_util import treedef_is_leaf as treedef_is_leaf

_IsLeaf = Callable[[Any], bool] | None


def tree_flatten(tree: Any, is_leaf: _IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The arrays of a pytree, and its structure."""
    return optree.tree_flatten(tree, is_leaf, namespace=ARRAYS)


def tree_leaves(tree: Any, is_leaf: _IsLeaf = None) -> list[Any]:
    """The arrays of a pytree."""
    return optree.tree_leaves(tree, is_leaf, namespace=ARRAYS)


def tree_structure(tree: Any, is_leaf: _IsLeaf = None) -> PyTreeDef:
    """The structure of a pytree."""
    return optree.tree_structure(tree, is_leaf, namespace=ARRAYS)


tree_leaves_with_path = functools.partial(tree_util.tree_leaves_with_path, namespace=ARRAYS)
prefix_broadcast = functools.partial(tree_util.prefix_broadcast, namespace=ARRAYS)


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """Applies a function to each array of a pytree, and to the words of keys."""
    leaves, treedef = tree_flatten(tree)
    return treedef.unflatten(map(function, leaves))


def with_words(tree: Any) -> Any:
    """Each `ShapeDtypeStruct` of keys as the keys that it stands for, of words without elements."""

    def keys(leaf: Any) -> Any:
        if not (isinstance(leaf, ShapeDtypeStruct) and isinstance(leaf.dtype, KeyType)):
            return leaf
        return KeyArray(ShapeDtypeStruct((*leaf.shape, leaf.dtype.words), "uint32"), leaf.dtype)

    return tree_util.tree_map(keys, tree)


def without_words(tree: Any) -> Any:
    """The inverse of `with_words`."""

    def struct(leaf: Any) -> Any:
        return ShapeDtypeStruct(leaf.shape, leaf.dtype) if isinstance(leaf, KeyArray) else leaf

    return tree_util.tree_map(struct, tree)
