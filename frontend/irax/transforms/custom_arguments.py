"""Arguments of functions with derivative rules of the user's own, and what those rules give."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any, Self

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.trees import array_trees
from irax.core.trees.parameter_names import ParameterNames


class Arguments:
    """The structure and the avals of a call's arguments, without their values.

    Functions of the module take the arguments that have a tangent first, then the others.
    """

    def __init__(
        self,
        kind: str,
        fun: Callable[..., Any],
        fixed: tuple[Any, ...],
        others: tuple[Any, ...],
        numbers: Sequence[int],
    ) -> None:
        self.fixed = fixed
        """The arguments that are not differentiated, at positions `numbers`."""
        leaves, self.in_tree = array_trees.tree_flatten((others, {}))
        count = len(fixed) + len(others)
        places = {n % count for n in numbers}
        self.names: list[str] = ParameterNames(fun).of_leaves(others, None, places)
        arrays = [as_array(x, f"{kind}: {n}") for x, n in zip(leaves, self.names, strict=True)]
        self.avals: list[ShapedArray] = [x.aval for x in arrays]
        self.perturbed = [True] * len(arrays)
        """For each leaf, True if a derivative is taken with respect to it."""
        self._numbers = numbers

    def arrays(self, others: tuple[Any, ...]) -> list[Array]:
        """The leaves of the differentiated arguments."""
        leaves, _ = array_trees.tree_flatten((others, {}))
        return [as_array(x) for x in leaves]

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for calls that can share one operation."""
        return (self.in_tree, *self.avals, *map(_identity, self.fixed))

    def with_perturbed(self, perturbed: Sequence[bool]) -> Self:
        """These arguments, where a derivative is taken with respect to some of them."""
        others = copy.copy(self)
        others.perturbed = list(perturbed)
        return others

    @property
    def order(self) -> list[int]:
        """The leaves in the order in which functions take them."""
        return sorted(range(len(self.avals)), key=lambda i: not self.perturbed[i])

    @property
    def num_perturbed(self) -> int:
        return sum(self.perturbed)

    @property
    def moving(self) -> list[bool]:
        """For each leaf, True if it has tangents and cotangents."""
        return [p and is_inexact(a) for p, a in zip(self.perturbed, self.avals, strict=True)]

    def in_place(self, values: Sequence[Any]) -> list[Any]:
        """Values in that order, in the order of the leaves."""
        found: list[Any] = [None] * len(self.avals)
        for i, value in zip(self.order, values, strict=True):
            found[i] = value
        return found

    def unflatten(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The differentiated arguments, of their leaves."""
        args, _ = array_trees.tree_unflatten(self.in_tree, leaves)
        return args

    @property
    def placeholders(self) -> tuple[Any, ...]:
        """The differentiated arguments, with plain objects as leaves."""
        return placeholders(self.in_tree)

    def joined(self, others: Sequence[Any]) -> list[Any]:
        """All arguments in their own order: those that are not differentiated, and others."""
        return joined(self.fixed, self._numbers, others)


def placeholders(in_tree: array_trees.PyTreeDef) -> tuple[Any, ...]:
    """Arguments by position, with plain objects as leaves. Classes of pytrees let such objects
    pass, as JAX's documentation tells; other values may be none that they take.
    """
    args, _ = array_trees.tree_unflatten(in_tree, [object() for _ in range(in_tree.num_leaves)])
    return args


def check_cotangents(found: Any, count: int, name: str) -> None:
    """Raise TypeError unless a rule returned a cotangent for each of `count` arguments."""
    if not isinstance(found, tuple | list) or len(found) != count:
        got = f"{len(found)} of them" if isinstance(found, tuple) else type(found).__name__
        raise TypeError(
            f"custom_vjp: bwd of {name} must return a tuple with a cotangent for each of its "
            f"{count} arguments, got {got}"
        )


def joined(fixed: Sequence[Any], numbers: Collection[int], others: Sequence[Any]) -> list[Any]:
    """All arguments of a call in their own order: those at positions `numbers`, and others."""
    first, second = iter(fixed), iter(others)
    count = len(fixed) + len(others)
    places = {n % count for n in numbers}
    return [next(first) if n in places else next(second) for n in range(count)]


def _identity(x: Any) -> Any:
    """Return an equal key for functions that are made anew each time, of the same code and the same
    values from outside; for other objects for the same object alone.
    """
    if not isinstance(x, types.FunctionType):
        return id(x)
    cells = (c.cell_contents for c in x.__closure__ or () if c != types.CellType())
    defaults = [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    return x.__code__, id(x.__globals__), *map(id, cells), *map(id, defaults)


def is_inexact(aval: ShapedArray) -> bool:
    """Return True if arrays of this type have tangents."""
    return dtypes.issubdtype(aval.dtype, np.inexact)


def of_type(
    x: Any, aval: ShapedArray, name: str, what: str, error: type[Exception] = TypeError
) -> Array:
    """A leaf that a rule returned, as an array of the type it must have; else raises `error`."""
    array = as_array(x, f"the rule of {name}: its {what}")
    if (array.shape, array.dtype) != (aval.shape, aval.dtype):
        raise error(f"the rule of {name} returned a {what} of type {array.aval}; expected {aval}")
    return array
