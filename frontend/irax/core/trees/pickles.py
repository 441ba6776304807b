"""Structures of pytrees as lists of nodes, in the form in which JAX pickles them: children stand
before their containers. Only containers of Python's own have such a form.
"""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any

import optree

_LEAF, _NONE, _TUPLE, _NAMED_TUPLE, _LIST, _DICT = range(6)
"""The kinds of nodes."""
_KINDS: dict[type | None, int] = {
    None: _LEAF,
    type(None): _NONE,
    tuple: _TUPLE,
    list: _LIST,
    dict: _DICT,
}
_Node = tuple[int, int, Any, None, int, int]
"""The kind, the number of children, the keys of a dict or the class of a named tuple, None, the
number of leaves, and that of nodes."""


_registry: list[Any] = []
"""The registry of containers, which JAX's pickles name, once it is there."""


def register(registry: Any) -> None:
    """State which object pickles of structures name as their registry."""
    _registry[:] = [registry]


def reduced(kind: type, spec: optree.PyTreeSpec) -> Any:
    """Return what pickle is to write of an object of a class that holds a structure."""
    nodes = nodes_of(spec)
    if nodes is None:
        return kind, (spec,)
    return getattr(copyreg, "__newobj__"), (kind,), (_registry[0], nodes)  # noqa: B009


def nodes_of(spec: optree.PyTreeSpec) -> list[_Node] | None:
    """Return the nodes of a structure; None if it has containers of other classes."""
    is_named = spec.type is not None and optree.is_namedtuple_class(spec.type)
    kind = _NAMED_TUPLE if is_named else _KINDS.get(spec.type)
    if kind is None:
        return None
    found: list[_Node] = []
    for child in spec.children():
        nodes = nodes_of(child)
        if nodes is None:
            return None
        found += nodes
    data: Any = {_NAMED_TUPLE: spec.type, _DICT: spec.entries()}.get(kind)
    count = spec.num_children
    return [*found, (kind, count, data, None, spec.num_leaves, spec.num_nodes)]


def spec_of(nodes: Sequence[Any]) -> optree.PyTreeSpec:
    """Return the structure of nodes.

    Raises:
        ValueError: it has containers of other classes.
    """
    done: list[optree.PyTreeSpec] = []
    for kind, count, data, custom, *_ in nodes:
        children = done[len(done) - count :]
        del done[len(done) - count :]
        match kind:
            case 0:
                made = optree.treespec_leaf()
            case 1:
                made = optree.treespec_none()
            case 2:
                made = optree.treespec_tuple(children)
            case 3:
                made = optree.treespec_namedtuple(data(*children))
            case 4:
                made = optree.treespec_list(children)
            case 5:
                made = optree.treespec_dict(dict(zip(data, children, strict=True)))
            case _:
                raise ValueError(
                    f"a pickled PyTreeDef of JAX's has a container of {custom or data}; expected "
                    "tuples, lists, dicts and None: pickle the pytree, or take its structure anew"
                )
        done.append(made)
    (whole,) = done
    return whole
