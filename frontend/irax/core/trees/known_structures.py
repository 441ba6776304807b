"""The leaves of pytrees whose structure is expected.

To flatten a tree takes ten times as long as to see that it has a structure, and to take its leaves.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import optree

from irax.core.trees.array_trees import PyTreeDef, flatten_tangents
from irax.core.trees.registry import ARRAYS

Taken = Callable[[tuple[Any, ...], dict[str, Any]], Any]
"""Takes the arguments of a call to their leaves, or to None where they have another structure."""

_LOOSE = {OrderedDict, defaultdict}
"""Classes whose nodes optree takes for each other's, whatever else the structure says of them."""
_DICT = object()
_NODES_OF_CALLS = 3
"""The nodes of a call's arguments that are no leaves, at least: a tuple, a dict, and their pair."""


def taking(structure: PyTreeDef) -> Taken:
    """Return a function that takes arguments of this structure to their leaves. It does not look
    into leaves: they may be trees.
    """
    if structure.num_nodes == structure.num_leaves + _NODES_OF_CALLS:
        return _of_leaves(structure)
    try:
        levels = _levels(structure)
    except Exception:  # from a class of the user's, which knows no leaves but arrays
        levels = None
    if levels is None:
        return lambda args, kwargs: _flattened(structure, args, kwargs)
    flatten = structure.flatten_up_to

    def leaves(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tree: Any = args, kwargs
        try:
            for prefix, places in levels:
                nodes = prefix.flatten_up_to(tree)
                for place in places:
                    if type(nodes[place]) is not dict:
                        return None
            return flatten(tree)
        except ValueError:
            return None

    return leaves


def _of_leaves(structure: PyTreeDef) -> Taken:
    """Return a function that takes the leaves from a call whose arguments are all leaves."""
    made: Any = structure.unflatten(range(structure.num_leaves))
    places: dict[str, int] = made[1]
    count, names = len(made[0]), sorted(places, key=lambda name: places[name])
    if not names:
        return lambda args, kwargs: None if kwargs or len(args) != count else args
    many, first, named = len(names), names[0], operator.itemgetter(*names)

    def leaves(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) != count or len(kwargs) != many:
            return None
        try:
            return args + ((kwargs[first],) if many == 1 else named(kwargs))
        except KeyError:
            return None

    return leaves


def _flattened(structure: PyTreeDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tree: Any = args, kwargs
    leaves, found = flatten_tangents(tree)
    return leaves if found == structure else None


def _levels(structure: PyTreeDef) -> list[tuple[PyTreeDef, list[int]]] | None:
    """Return structures that have leaves in the places of dicts, the outermost ones first, and
    these places: optree takes any dict for one. None where that is not enough.
    """
    kinds: set[type] = set()
    structure.walk([None] * structure.num_leaves, lambda kind, *_: kinds.add(kind), None)
    if kinds & _LOOSE:
        return None
    made: Any = structure.unflatten(range(structure.num_leaves))
    args, kwargs = made
    found: list[tuple[PyTreeDef, list[int]]] = []
    while True:
        depth = len(found)
        tree: Any = _above(args, depth), {name: _above(x, depth) for name, x in kwargs.items()}
        leaves, prefix = flatten_tangents(tree)
        places = [i for i, leaf in enumerate(leaves) if leaf is _DICT]
        if not places:
            return found
        found.append((prefix, places))


def _above(node: Any, depth: int) -> Any:
    """Return a tree with a leaf in the place of each dict that is in so many others."""
    is_dict = type(node) is dict
    if is_dict and depth == 0:
        return _DICT
    try:
        children, data, _, unflatten = optree.tree_flatten_one_level(node, namespace=ARRAYS)
    except ValueError:  # it is a leaf
        return node
    return unflatten(data, [_above(child, depth - is_dict) for child in children])
