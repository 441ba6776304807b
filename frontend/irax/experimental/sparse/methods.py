"""The operators and methods of sparse arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import irax.numpy as jnp
from irax.core.dtypes.strictness import library
from irax.experimental.sparse import arithmetic
from irax.experimental.sparse.arithmetic import in_coordinates
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.forms import JAXSparse
from irax.experimental.sparse.layouts import (
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_update_layout,
)
from irax.experimental.sparse.sparsify import sparsify
from irax.experimental.sparse.structure import bcoo_reduce_sum, bcoo_reshape, bcoo_transpose


@library
def _transpose(self: BCOO, axes: Sequence[int] | None = None) -> BCOO:
    """Return it with its dimensions in another order.

    Raises:
        ValueError: `axes` does not name each dimension once.
        NotImplementedError: dimensions of different kinds change places.
    """
    order = range(self.ndim)[::-1] if axes is None else axes
    return bcoo_transpose(self, permutation=tuple(order))


@library
def _sum(self: Any, axis: int | Sequence[int] | None = None) -> Any:
    """Return sums of elements: a dense number, or a sparse array of sums along axes."""
    mat = in_coordinates(self)
    axes = range(mat.ndim) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    found = bcoo_reduce_sum(mat, axes=axes)
    return found if found.ndim else found.todense()


@library
def _item(self: JAXSparse, index: Any) -> Any:
    """Return the part that an index names, as `numpy.ndarray.__getitem__` does."""
    return sparsify(lambda x: x[index])(self)


def _rows(self: JAXSparse) -> Iterator[Any]:
    """Return an iterator over the parts along the first dimension."""
    return (_item(self, i) for i in range(len(self)))


@library
def _reshape(self: BCOO, *args: Any, **options: Any) -> BCOO:
    """Return it in another shape, as `bcoo_reshape` does."""
    sizes = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    sizes = [int(n) for n in sizes]
    if -1 in sizes:
        known = prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = self.size // max(known, 1)
    return bcoo_reshape(self, new_sizes=sizes, **options)


@library
def _sum_duplicates(self: BCOO, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
    """Return it with one value at each place; places whose values are zero are left out if asked
    for, where they are known. See `bcoo_sum_duplicates`.
    """
    if remove_zeros:
        limits = jnp.array(self.sparse_shape, self.indices.dtype)
        data, indices = self.whole()
        rest = tuple(range(self.n_batch + 1, data.ndim))
        is_zero = (data == 0).all(axis=rest) if rest else data == 0
        places = jnp.where(is_zero[..., None], limits, indices)
        self = BCOO((data, places), shape=self.shape)
    return bcoo_sum_duplicates(self, nse)


def attach() -> None:
    """Attach the operators to the classes."""
    shared: dict[str, Any] = {
        "__matmul__": arithmetic.matmul,
        "__rmatmul__": lambda self, other: arithmetic.matmul(other, self),
        "__mul__": arithmetic.multiply,
        "__rmul__": arithmetic.multiply,
        "__truediv__": arithmetic.divide,
        "__pow__": arithmetic.power,
        "__add__": arithmetic.add,
        "__radd__": arithmetic.add,
        "__sub__": arithmetic.subtract,
        "__rsub__": lambda self, other: arithmetic.subtract(other, self),
        "__neg__": arithmetic.negative,
        "__pos__": lambda self: self,
        "__abs__": arithmetic.absolute,
        "sum": _sum,
        "__getitem__": _item,
        "__iter__": _rows,
    }
    for name, function in shared.items():
        setattr(JAXSparse, name, function)
    own = {
        "transpose": _transpose,
        "reshape": _reshape,
        "sum_duplicates": _sum_duplicates,
        "sort_indices": bcoo_sort_indices,
        "update_layout": bcoo_update_layout,
    }
    for name, function in own.items():
        setattr(BCOO, name, function)
