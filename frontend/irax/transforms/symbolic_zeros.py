"""Zeros that derivative rules can tell by their type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, as_array, aval_of
from irax.core.avals import ShapedArray
from irax.core.dtypes.promotion import broadcast_to


def zeros(aval: ShapedArray) -> Array:
    """Return an array of zeros of a type."""
    return broadcast_to(as_array(np.zeros((), aval.dtype)), aval.shape)


class Zero:
    """A tangent or cotangent that is zero: of a type, without elements. Rules of
    primitives have these.
    """

    def __init__(self, aval: ShapedArray) -> None:
        self.aval: ShapedArray = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(val: Any) -> Zero:
        """Return the zero tangent of an array."""
        return Zero(aval_of(val, "Zero.from_primal_value").to_tangent_aval())


class SymbolicZero:
    """A tangent or cotangent that is zero: of a type, without elements.

    >>> zero = irax.custom_derivatives.SymbolicZero.from_primal_value(jnp.ones(3))
    >>> zero.shape, zero.instantiate()
    ((3,), Array([0., 0., 0.], dtype=float32))
    """

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval})"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return self.aval.ndim

    @property
    def size(self) -> int:
        return self.aval.size

    @staticmethod
    def from_primal_value(val: Any) -> SymbolicZero:
        """The zero among the tangents of an array; of dtype float0 for integers."""
        aval = aval_of(val, "SymbolicZero.from_primal_value")
        if dtypes.issubdtype(aval.dtype, np.inexact):
            return SymbolicZero(ShapedArray(aval.shape, aval.dtype))
        return SymbolicZero(ShapedArray(aval.shape, dtypes.float0))

    def instantiate(self) -> Any:
        """The zero as an array."""
        if self.dtype == dtypes.float0:
            return np.zeros(self.shape, dtypes.float0)
        return zeros(self.aval)


@dataclass(frozen=True)
class CustomVJPPrimal:
    """An array as `fwd` of a custom_vjp with `symbolic_zeros` gets it."""

    value: Any
    """The array."""
    perturbed: bool
    """False where no derivative is taken with respect to it."""


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """A pytree of `CustomVJPPrimal`s as the pytree of their values.

    Args:
        tree: a pytree of `CustomVJPPrimal`s.

    >>> primal = irax.custom_derivatives.CustomVJPPrimal(1.0, True)
    >>> irax.custom_derivatives.custom_vjp_primal_tree_values([primal])
    [1.0]
    """
    return tree_util.tree_map(
        lambda x: x.value, tree, is_leaf=lambda x: isinstance(x, CustomVJPPrimal)
    )


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zeros among the tangents of a pytree of arrays, as arrays or as `SymbolicZero`s.

    Args:
        val: a pytree of arrays.
        symbolic_zeros: True for `SymbolicZero`s, False for arrays of zeros.

    Raises:
        TypeError: a leaf is not an array.

    >>> irax.custom_derivatives.zero_from_primal(irax.numpy.ones(2))
    Array([0., 0.], dtype=float32)
    """

    def zero(leaf: Any) -> Any:
        found = SymbolicZero.from_primal_value(leaf)
        return found if symbolic_zeros else found.instantiate()

    return tree_util.tree_map(zero, val)
