"""Classes of pytrees in files: how objects of the user's are written and read."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import optree

from irax.core.key_arrays import KeyArray
from irax.core.trees import array_trees
from irax.core.trees.registry import NAMESPACE
from irax.dtypes import KEY_TYPES
from irax_runtime import trees


@dataclass(frozen=True)
class _Node:
    """The functions that write and read objects of a class of the user's."""

    name: str
    serialize: Callable[[Any], bytes]
    deserialize: Callable[[bytes], Any]
    make: Callable[[Any, Sequence[Any]], Any]


_NODES: dict[type, _Node] = {}


def register_pytree_node_serialization(
    nodetype: type,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> type:
    """Lets exported functions take and return objects of a class that is registered as a pytree.

    In `irax_runtime.load`, which has no such class, such an object is the tuple of its children.

    Args:
        nodetype: the class.
        serialized_name: its name in files.
        serialize_auxdata: takes the static data of an object to bytes.
        deserialize_auxdata: takes them back.
        from_children: takes static data and children to an object; by default, as registered.

    Raises:
        ValueError: the class is no pytree, or class or name are registered already.
    """
    registered = optree.register_pytree_node.get(nodetype, namespace=NAMESPACE)
    if registered is None:
        raise ValueError(f"register_pytree_node_serialization: {nodetype.__name__} is no pytree")
    _check_new(nodetype, serialized_name)
    make: Any = from_children or registered.unflatten_func
    _NODES[nodetype] = _Node(serialized_name, serialize_auxdata, deserialize_auxdata, make)
    return nodetype


def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type:
    """Gives a class of named tuples its name in files, so that functions read again return it.
    Others become named tuples of the same fields.

    Args:
        nodetype: the class.
        serialized_name: its name in files.

    Raises:
        ValueError: it is no such class, or class or name are registered already.

    >>> from typing import NamedTuple
    >>> class Interval(NamedTuple):
    ...     low: float
    ...     high: float
    >>> register = irax.export.register_namedtuple_serialization
    >>> register(Interval, serialized_name="example.Interval").__name__
    'Interval'
    """
    if not (issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise ValueError(f"register_namedtuple_serialization: {nodetype.__name__} is none")
    _check_new(nodetype, serialized_name)
    trees.NAMED_TUPLES[serialized_name] = nodetype
    return nodetype


def _check_new(nodetype: type, name: str) -> None:
    names = {*trees.NAMED_TUPLES, *(node.name for node in _NODES.values())}
    if nodetype in _NODES or nodetype in trees.NAMED_TUPLES.values() or name in names:
        raise ValueError(f"{nodetype.__name__}, or a class named {name!r}, is registered already")


_FIRST = "threefry2x32"
"""The generator of keys in files that name none."""


def describe(tree: Any) -> trees.Spec:
    """Return a structure's description. Raises TypeError for classes that are not registered."""
    leaves = [trees.Leaf(i) for i in range(tree.num_leaves)]
    return trees.describe(array_trees.tree_unflatten(tree, leaves), parts)


def parts(x: Any) -> tuple[str, str, Sequence[Any]]:
    """Name, static data and children of an object of a registered class."""
    if isinstance(x, KeyArray):
        generator = x.key_type.generator
        return trees.KEY, "" if generator == _FIRST else generator, [x.data]
    node = _NODES.get(type(x))
    if node is None:
        raise TypeError(
            f"export: a {type(x).__name__} cannot be written to a file: register its class with "
            "irax.export.register_pytree_node_serialization"
        )
    level = optree.tree_flatten_one_level(x, namespace=NAMESPACE)
    return node.name, base64.b64encode(node.serialize(level[1])).decode(), list(level[0])


def make(name: str, data: str, children: Sequence[Any]) -> Any:
    """Make an object of a class by its name. Raises TypeError if the class is not registered."""
    if name == trees.KEY:
        return KeyArray(children[0], KEY_TYPES[data or _FIRST])
    for node in _NODES.values():
        if node.name == name:
            return node.make(node.deserialize(base64.b64decode(data)), children)
    raise TypeError(
        f"deserialize: the function has objects of the class {name!r}: register it with "
        "irax.export.register_pytree_node_serialization"
    )
