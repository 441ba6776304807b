"""Choosing between the elements of arrays."""

from __future__ import annotations

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dispatch import bind, is_mapped
from irax.core.dtypes.promotion import apply, broadcast_to
from irax.core.shardings.explicit_axes import check_alike
from irax.execution.shardings.jit_shardings import divided_like
from irax.lax.arguments import array_of, strict
from irax.typing import ArrayLike
from irax_compiler.ops import clamp as clamp_op
from irax_compiler.ops import comparison


def _one_type(what: str, *cases: ArrayLike) -> list[Array]:
    arrays = strict(what, *cases)
    if len({x.shape for x in arrays}) > 1:
        listed = " and ".join(str(x.shape) for x in arrays)
        raise TypeError(f"{what}: got cases of shapes {listed}; expected one shape")
    return arrays


def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """Select elements of `on_true` where `pred` holds, and of `on_false` elsewhere.

    Args:
        pred: booleans, of the shape of the cases or a scalar.
        on_true: an array.
        on_false: an array of the same shape and dtype.

    Raises:
        TypeError: shapes or dtypes that differ, or a predicate that is not boolean.

    >>> irax.lax.select(irax.numpy.array([True, False]), irax.numpy.ones(2), irax.numpy.zeros(2))
    Array([1., 0.], dtype=float32)
    """
    return select_n(pred, on_false, on_true)


def select_n(which: ArrayLike, *cases: ArrayLike) -> Array:
    """Select each element from the case whose number is in `which`: booleans or integers.

    Args:
        which: booleans (for two cases) or integers, of the shape of the cases or a scalar.
        cases: arrays of one shape and dtype. A number beyond them chooses the last or first.

    Raises:
        TypeError: shapes or dtypes that differ, or no or too many cases.

    >>> irax.lax.select_n(irax.numpy.array([0, 2]), *(irax.numpy.full(2, n) for n in (7, 8, 9)))
    Array([7, 9], dtype=int32, weak_type=True)
    """
    what = "lax.select"
    index = array_of(what, which)
    check_alike(what, cases if np.ndim(which) == 0 else (which, *cases))
    if not cases:
        raise TypeError(f"{what}: expected at least one case")
    arrays = _one_type(what, *cases)
    shape = arrays[0].shape
    if not shape and is_mapped(index) and not any(map(is_mapped, arrays)):
        # in vmap, JAX takes numbers that are not mapped for cases of all elements
        shape = index.shape
        arrays = [broadcast_to(x, shape) for x in arrays]
    if index.ndim and index.shape != shape:
        raise TypeError(
            f"{what}: the predicate must be a scalar or of shape {shape}, that of the cases, got "
            f"{index.shape}"
        )
    is_bool = index.dtype == np.bool
    if not (dtypes.issubdtype(index.dtype, np.integer) or (is_bool and len(arrays) <= 2)):
        raise TypeError(
            f"{what}: the predicate must be boolean (for two cases) or integer, got {index.dtype} "
            f"for {len(arrays)} cases"
        )
    weak = all(x.weak_type for x in arrays)
    result = arrays[0]
    for number, case in enumerate(arrays[1:], 1):
        chosen = index if is_bool else apply(comparison.less_equal, number, index, what=what)
        result = bind(comparison.select, chosen, case, result, weak_type=weak)
    return result


def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """Clamp x to an interval: elements beyond a bound become that bound.

    Args:
        min: the lower bound, a scalar or of the shape of `x`.
        x: an array.
        max: the upper bound, likewise; it wins where the bounds cross.

    Raises:
        TypeError: shapes or dtypes that differ.

    >>> irax.lax.clamp(0.0, irax.numpy.array([-1.0, 0.5, 2.0]), 1.0)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    what = "lax.clamp"
    low, operand, high = strict(what, min, x, max)
    for bound in (low, high):
        if bound.ndim and bound.shape != operand.shape:
            raise TypeError(
                f"{what}: a bound must be a scalar or of shape {operand.shape}, got {bound.shape}"
            )
    low, high = (divided_like(what, b, operand) if b.ndim else b for b in (low, high))
    weak = low.weak_type and operand.weak_type and high.weak_type
    return bind(clamp_op.clamp, low, operand, high, weak_type=weak)
