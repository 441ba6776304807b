"""Auxiliary results of differentiated functions, which may be any Python objects."""

from __future__ import annotations

from typing import Any

from irax import tree_util
from irax.core.tracing import Tracer
from irax.core.trees import array_trees


@tree_util.register_pytree_node_class
class Auxiliary:
    """A pytree of any objects, as the pytree of its leaves that are being traced.

    >>> Auxiliary({"step": 1, "name": "train"}).value
    {'name': 'train', 'step': 1}
    """

    def __init__(self, value: Any) -> None:
        self.value: Any = value

    def tree_flatten(self) -> tuple[list[Any], Any]:
        """Return the traced leaves, and the structure with the others."""
        leaves, structure = array_trees.tree_flatten(self.value)
        traced = [x for x in leaves if isinstance(x, Tracer)]
        others = [None if isinstance(x, Tracer) else (x,) for x in leaves]
        return traced, (structure, tuple(others))

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> Auxiliary:
        """Return the pytree with arrays in the place of the traced leaves."""
        structure, others = aux_data
        arrays = iter(children)
        leaves = [next(arrays) if other is None else other[0] for other in others]
        return cls(array_trees.tree_unflatten(structure, leaves))
