"""Structures of pytrees as plain data, which another process makes structures of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import optree

from irax.core.key_arrays import KeyArray
from irax.core.trees import array_trees
from irax.core.trees.registry import ARRAYS
from irax.execution.untraced.reading import NotDescribed

_KINDS: dict[type, str] = {
    tuple: "tuple",
    list: "list",
    dict: "dict",
    OrderedDict: "OrderedDict",
    type(None): "None",
}
_MADE: dict[str, Callable[[Any, list[Any]], Any]] = {
    "tuple": lambda _, children: tuple(children),
    "list": lambda _, children: children,
    "dict": lambda keys, children: dict(zip(keys, children, strict=True)),
    "OrderedDict": lambda keys, children: OrderedDict(zip(keys, children, strict=True)),
    "None": lambda *_: None,
}
_PLAIN = {type(None), bool, int, float, complex, str, bytes}

Node = tuple[str | int, Any, int]
"""A kind of container or the number of a class, static data, and the number of children; the kind
of leaves is "leaf"."""


def plain_of(spec: optree.PyTreeSpec, classes: Sequence[type]) -> list[Node]:
    """Return a structure as plain data. The classes of its nodes are numbers of `classes`.

    Raises:
        NotDescribed: there are other classes, or static data that is not plain.
    """
    found: list[Node] = []

    def node(kind: type, data: Any, children: Sequence[Any]) -> None:
        number = _KINDS.get(kind)
        if number is None:
            if kind is KeyArray or kind not in classes:
                raise NotDescribed(f"a result is of the class {kind.__qualname__}")
            number = classes.index(kind)
            data = None if optree.is_namedtuple_class(kind) else data
        _check_plain(data)
        found.append((number, data, len(children)))

    spec.walk([None] * spec.num_leaves, node, lambda _: found.append(("leaf", None, 0)))
    if structure_of(found, classes) != spec:
        raise NotDescribed("the structure of the results is not made again")
    return found


def structure_of(nodes: Sequence[Node], classes: Sequence[type]) -> optree.PyTreeSpec:
    """Return the structure that `plain_of` was given."""
    made: list[Any] = []
    for kind, data, count in nodes:
        if kind == "leaf":
            made.append(0)
            continue
        children = made[len(made) - count :]
        del made[len(made) - count :]
        if isinstance(kind, str):
            made.append(_MADE[kind](data, children))
        elif optree.is_namedtuple_class(classes[kind]):
            made.append(classes[kind](*children))
        else:
            registered: Any = optree.register_pytree_node.get(  # pyright: ignore
                classes[kind], namespace=ARRAYS
            )
            made.append(registered.unflatten_func(data, tuple(children)))
    (tree,) = made
    return array_trees.tree_structure(tree)


def _check_plain(data: Any) -> None:
    if type(data) in (tuple, list):
        for part in data:
            _check_plain(part)
    elif type(data) not in _PLAIN:
        raise NotDescribed(f"static data of a result is {data!r}")
