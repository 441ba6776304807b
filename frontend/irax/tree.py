"""The functions of `irax.tree_util` under short names: `irax.tree.map` and so on."""

import dataclasses
from typing import Any

from irax.core.wrapping import name_aliases as _name_aliases
from irax.tree_util import tree_all as all
from irax.tree_util import tree_broadcast as broadcast
from irax.tree_util import tree_flatten as flatten
from irax.tree_util import tree_flatten_with_path as flatten_with_path
from irax.tree_util import tree_leaves as leaves
from irax.tree_util import tree_leaves_with_path as leaves_with_path
from irax.tree_util import tree_map as map
from irax.tree_util import tree_map_with_path as map_with_path
from irax.tree_util import tree_reduce as reduce
from irax.tree_util import tree_reduce_associative as reduce_associative
from irax.tree_util import tree_structure as structure
from irax.tree_util import tree_transpose as transpose
from irax.tree_util import tree_unflatten as unflatten


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

_name_aliases(globals(), *__all__)
