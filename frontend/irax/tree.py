"""The functions of `irax.tree_util` under short names: `irax.tree.map` and so on."""

import dataclasses
from typing import Any

from irax import tree_util as _tree_util
from irax.core.wrapping import renamed as _renamed

all = _renamed(_tree_util.tree_all, "all", __name__)
broadcast = _renamed(_tree_util.tree_broadcast, "broadcast", __name__)
flatten = _renamed(_tree_util.tree_flatten, "flatten", __name__)
flatten_with_path = _renamed(_tree_util.tree_flatten_with_path, "flatten_with_path", __name__)
leaves = _renamed(_tree_util.tree_leaves, "leaves", __name__)
leaves_with_path = _renamed(_tree_util.tree_leaves_with_path, "leaves_with_path", __name__)
map = _renamed(_tree_util.tree_map, "map", __name__)
map_with_path = _renamed(_tree_util.tree_map_with_path, "map_with_path", __name__)
reduce = _renamed(_tree_util.tree_reduce, "reduce", __name__)
reduce_associative = _renamed(_tree_util.tree_reduce_associative, "reduce_associative", __name__)
structure = _renamed(_tree_util.tree_structure, "structure", __name__)
transpose = _renamed(_tree_util.tree_transpose, "transpose", __name__)
unflatten = _renamed(_tree_util.tree_unflatten, "unflatten", __name__)


def static(**kwargs: Any) -> Any:
    """A `dataclasses.field` that is static data in `irax.tree_util.register_dataclass`.

    It has the same arguments.

    Args:
        kwargs: the arguments of `dataclasses.field`.

    Raises:
        TypeError: `dataclasses.field` has no such argument.

    >>> import dataclasses
    >>> @irax.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: irax.Array
    ...     name: str = irax.tree.static(default="layer")
    >>> irax.tree.leaves(Layer(irax.numpy.ones(2)))
    [Array([1., 1.], dtype=float32)]
    """
    metadata = {"static": True, **(kwargs.pop("metadata", None) or {})}
    return dataclasses.field(**kwargs, metadata=metadata)


__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]
