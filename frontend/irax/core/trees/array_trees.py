"""Pytrees as transformations see them: a typed key is not a leaf but holds its words, and an array
of dtype float0 is no leaf either.

For users both are leaves like any array (`irax.tree_util`). What is traced are arrays of numbers,
so on the way into a trace a key is taken apart, and put together on the way out; an array of
float0, which has no elements, is part of the structure. The functions are those of
`irax.tree_util` otherwise.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import optree
from optree import PyTreeSpec as PyTreeDef

from irax import tree_util
from irax.core.avals import ShapeDtypeStruct
from irax.core.key_arrays import KeyArray
from irax.core.shardings.shardings import NamedSharding, of_rows
from irax.core.trees.errors import structure_error as structure_error
from irax.core.trees.registry import ARRAYS
from irax.core.trees.treedefs import flatten, unflatten
from irax.core.trees.treedefs import in_order as in_order
from irax.dtypes import KeyType, float0
from irax.tree_util import keystr as keystr

_IsLeaf = Callable[[Any], bool] | None


@dataclass(frozen=True)
class _Float0:
    """A node that stands for an array of dtype float0."""

    shape: tuple[int, ...]


def _no_parts(node: Any) -> tuple[tuple[()], tuple[int, ...]]:
    return (), node.shape


def _float0_array(shape: Any, parts: Any) -> Any:
    return np.zeros(shape, float0)


optree.register_pytree_node(_Float0, _no_parts, _float0_array, namespace=ARRAYS)  # pyright: ignore


def _is_float0(leaf: Any) -> bool:
    return type(leaf) is np.ndarray and leaf.dtype == float0


def _without_float0(tree: Any, is_leaf: _IsLeaf = None) -> Any:
    """A pytree with nodes for its arrays of dtype float0."""

    def node(leaf: Any) -> Any:
        return _Float0(leaf.shape) if _is_float0(leaf) else leaf

    return optree.tree_map(node, tree, is_leaf=is_leaf, namespace=ARRAYS)


def tree_flatten(tree: Any, is_leaf: _IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """The arrays of a pytree, and its structure."""
    leaves, treedef = flatten(tree, is_leaf, ARRAYS)
    if any(map(_is_float0, leaves)):
        leaves, treedef = flatten(_without_float0(tree, is_leaf), is_leaf, ARRAYS)
    return leaves, treedef


flatten_tangents = functools.partial(optree.tree_flatten, namespace=ARRAYS)
"""`tree_flatten` where arrays of dtype float0, the tangents of integers, are leaves."""


def flatten_like(tree: Any, structure: PyTreeDef) -> tuple[list[Any], PyTreeDef]:
    """Flatten tangents of values of a structure. Where that has a node for an array of float0,
    which is no leaf, a tangent of that dtype is such a node, too.
    """
    leaves, found = flatten_tangents(tree)
    if not any(map(_is_float0, leaves)):
        return leaves, found
    are_nodes = structure.walk([False] * structure.num_leaves, _are_float0, lambda leaf: [leaf])
    if not any(are_nodes) or len(are_nodes) != len(leaves):
        return leaves, found
    pairs = zip(leaves, are_nodes, strict=True)
    nodes = [_Float0(x.shape) if is_node and _is_float0(x) else x for x, is_node in pairs]
    return flatten_tangents(unflatten(found, nodes))


def _are_float0(kind: type, _: Any, children: tuple[list[bool], ...]) -> list[bool]:
    """Return a bool for each array in a node of a structure: True for those of float0."""
    return [True] if kind is _Float0 else list(chain(*children))


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The pytree of a structure with these leaves."""
    return unflatten(treedef, leaves)


def tree_leaves(tree: Any, is_leaf: _IsLeaf = None) -> list[Any]:
    """The arrays of a pytree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: _IsLeaf = None) -> PyTreeDef:
    """The structure of a pytree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_leaves_with_path(tree: Any) -> list[tuple[Any, Any]]:
    """The arrays of a pytree, each after its path."""
    return tree_util.tree_leaves_with_path(_without_float0(tree), namespace=ARRAYS)


def reshaped_float0(tree: Any, axes: Any, shape_of: Callable[[Any, int], Any]) -> Any:
    """Return a pytree with other shapes of its arrays of dtype float0: `shape_of(shape, axis)`, of
    an axis of a prefix of the tree. Where that is None, they stay.
    """
    leaves, treedef = tree_util.tree_flatten(tree)
    if not any(map(_is_float0, leaves)):
        return tree
    spread = tree_util.prefix_broadcast(axes, tree, lambda x: x is None)
    new = [
        np.zeros(shape_of(x.shape, axis), float0) if axis is not None and _is_float0(x) else x
        for x, axis in zip(leaves, spread, strict=True)
    ]
    return tree_util.tree_unflatten(treedef, new)


def stacked_float0(tree: Any, axes: Any, size: Any) -> Any:
    """Return a pytree of results of a slice with a mapped axis in its arrays of dtype float0."""

    def stacked(shape: Any, axis: int) -> Any:
        axis = axis % (len(shape) + 1)
        return (*shape[:axis], size, *shape[axis:])

    return reshaped_float0(tree, axes, stacked)


def whole_leaves(tree: Any) -> list[Any]:
    """The leaves of a pytree as users see them, keys whole, but for arrays of dtype float0."""
    return [x for x in tree_util.tree_leaves(tree) if not _is_float0(x)]


def whole_leaves_of(treedef: PyTreeDef, leaves: Iterable[Any]) -> list[Any]:
    """The leaves of a structure as users see them, of its arrays or of values in their places. No
    instance of a user's class is made, which may take arrays alone.
    """

    def node(kind: type, data: Any, children: tuple[list[Any], ...]) -> list[Any]:
        found = list(chain(*children))
        return [KeyArray(found[0], data)] if kind is KeyArray else found

    return treedef.walk(leaves, node, lambda leaf: [leaf])


def prefix_broadcast(prefix: Any, tree: Any, is_leaf: _IsLeaf = None, **names: str) -> list[Any]:
    """The leaves of a prefix of a pytree, each as often as there are arrays below it."""
    tree = _without_float0(tree)
    return tree_util.prefix_broadcast(prefix, tree, is_leaf, namespace=ARRAYS, **names)


def prefix_of(treedef: PyTreeDef, prefix: Any, what: str, is_leaf: _IsLeaf = None) -> list[Any]:
    """`prefix_broadcast` for a structure, of which no instance is made.

    Raises:
        ValueError: the prefix has a container that the structure lacks.
    """
    leaves, spec = tree_flatten(prefix, is_leaf)
    if not spec.is_prefix(treedef):
        raise ValueError(f"{what}: expected a prefix of {treedef}, got {spec}")
    counts = _counts(spec, treedef)
    return [x for x, count in zip(leaves, counts, strict=True) for _ in range(count)]


def _counts(prefix: PyTreeDef, treedef: PyTreeDef) -> list[int]:
    """The number of leaves of a structure below each leaf of a prefix."""
    if prefix.is_leaf():
        return [treedef.num_leaves]
    parts = zip(prefix.children(), treedef.children(), strict=True)
    return [count for own, part in parts for count in _counts(own, part)]


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """Applies a function to each array of a pytree, and to the words of keys."""
    leaves, treedef = tree_flatten(tree)
    return unflatten(treedef, map(function, leaves))


def with_words(tree: Any) -> Any:
    """Each `ShapeDtypeStruct` of keys as the keys that it stands for, of words without elements."""

    def keys(leaf: Any) -> Any:
        if not (isinstance(leaf, ShapeDtypeStruct) and isinstance(leaf.dtype, KeyType)):
            return leaf
        shape = (*leaf.shape, leaf.dtype.words)
        return KeyArray(ShapeDtypeStruct(shape, "uint32", sharding=leaf.sharding), leaf.dtype)

    return tree_util.tree_map(keys, tree)


def without_words(tree: Any) -> Any:
    """The inverse of `with_words`."""

    def struct(leaf: Any) -> Any:
        if isinstance(leaf, KeyArray):
            of_words = getattr(leaf.data, "sharding", None)
            is_divided = isinstance(of_words, NamedSharding)
            sharding = of_rows(of_words, leaf.ndim) if is_divided else of_words
            return ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)
        return ShapeDtypeStruct(leaf.shape, leaf.dtype) if _is_float0(leaf) else leaf

    return tree_util.tree_map(struct, tree)
