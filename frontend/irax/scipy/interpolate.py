"""irax.scipy.interpolate: interpolation on grids."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.strictness import library_methods
from irax.scipy.arguments import unsupported
from irax.typing import ArrayLike

_METHODS = ("linear", "nearest")


@library_methods
class RegularGridInterpolator:
    """An interpolator of values on a rectilinear grid, whose lines need not be evenly spaced.

    Args:
        points: for each dimension the positions of the grid's lines, an ascending vector.
        values: the values there, shape (len(points[0]), len(points[1]), ..., ...).
        method: "linear" or "nearest".
        bounds_error: only False.
        fill_value: the value outside; None continues the outermost cells.

    Raises:
        NotImplementedError: `bounds_error=True`.
        ValueError: another method, or shapes that do not go together.

    >>> grid = irax.numpy.array([0.0, 1.0])
    >>> RegularGridInterpolator((grid,), grid * 10)(irax.numpy.array([[0.25]]))
    Array([2.5], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[ArrayLike],
        values: ArrayLike,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        what = "RegularGridInterpolator"
        unsupported(what, "bounds_error", bounds_error, False)
        self.method: str = self._checked(method)
        (array,) = as_arrays([values], f"{what}: values")
        grid = as_arrays(points, f"{what}: points")
        if len(grid) > array.ndim:
            raise ValueError(f"{what}: {len(grid)} vectors of points, values of {array.ndim} axes")
        for i, (lines, size) in enumerate(zip(grid, array.shape, strict=False)):
            if lines.shape != (size,) or size < 2:
                raise ValueError(
                    f"{what}: points[{i}] must be a vector of length {size}, as values has the "
                    f"shape {array.shape}, and of at least 2; got shape {lines.shape}"
                )
        self.values: Array = convert(array, inexact_dtype(array.dtype))
        self.grid: tuple[Array, ...] = tuple(
            convert(lines, inexact_dtype(lines.dtype)) for lines in grid
        )
        if fill_value is not None:
            (outside,) = as_arrays([fill_value], f"{what}: fill_value")
            if outside.dtype.kind == "c" and self.values.dtype.kind != "c":
                raise ValueError(
                    f"{what}: fill_value must be a real number, as values are; got {fill_value!r}"
                )
        self.bounds_error: bool = bounds_error
        self.fill_value: Any = fill_value

    def _checked(self, method: str) -> str:
        if method not in _METHODS:
            raise ValueError(
                f"RegularGridInterpolator: method must be 'linear' or 'nearest', got {method!r}"
            )
        return method

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """Return the values at points of shape (..., dimensions), or a tuple of coordinates."""
        method = self.method if method is None else self._checked(method)
        count = len(self.grid)
        if isinstance(xi, tuple | list):
            parts = jnp.broadcast_arrays(*as_arrays(xi, "RegularGridInterpolator: xi"))
            at = jnp.stack(parts, -1)
        else:
            (at,) = as_arrays([xi], "RegularGridInterpolator: xi")
            if at.ndim == 1:  # places on a line, or one place
                at = at[:, None] if count == 1 else at[None]
        if not at.ndim or at.shape[-1] != count:
            raise ValueError(
                f"RegularGridInterpolator: places have {count} parts, got xi of shape {at.shape}"
            )
        columns = [convert(at[..., i], g.dtype) for i, g in enumerate(self.grid)]
        found = self._between(columns, method)
        if self.fill_value is None:
            return found
        outside = jnp.zeros(at.shape[:-1], bool)
        for x, lines in zip(columns, self.grid, strict=True):
            outside = outside | jnp.less(x, lines[0]) | jnp.greater(x, lines[-1])
        outside = outside.reshape(*outside.shape, *[1] * (found.ndim - outside.ndim))
        return jnp.where(outside, self.fill_value, found).astype(found.dtype)

    def _between(self, columns: Sequence[Array], method: str) -> Array:
        ends: list[list[tuple[Array, Array | None]]] = []
        for x, lines in zip(columns, self.grid, strict=True):
            cell = jnp.clip(jnp.searchsorted(lines, x, side="right") - 1, 0, lines.size - 2)
            share = (x - lines[cell]) / (lines[cell + 1] - lines[cell])
            if method == "nearest":
                ends.append([(jnp.where(jnp.less_equal(share, 0.5), cell, cell + 1), None)])
            else:
                ends.append([(cell, 1 - share), (cell + 1, share)])
        total: Any = None
        for corner in itertools.product(*ends):
            value = self.values[tuple(index for index, _ in corner)]
            for _, weight in corner:
                if weight is not None:
                    value = value * weight.reshape(*weight.shape, *[1] * (value.ndim - weight.ndim))
            total = value if total is None else total + value
        return total
