"""Functions that join arrays, and that split them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array
from irax.core.dimensions import is_zero
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import promote_dtypes
from irax.core.dtypes.python_ints import check_ints
from irax.lax.arguments import (
    canonical_axis,
    canonical_int,
)
from irax.numpy.shapes.manipulation import atleast_1d, atleast_2d, atleast_3d, moveaxis, ndim, ravel
from irax.numpy.tables import no_out
from irax.typing import ArrayLike
from irax_compiler.sizes import larger, smaller

# ---- joining -------------------------------------------------------------------------------------


def _sequence(name: str, arrays: Any) -> list[Array]:
    """Return the members of a sequence of arrays, or the parts of an array along its first axis."""
    if isinstance(arrays, Array | np.ndarray):
        (x,) = as_arrays([arrays], name)
        if not x.ndim:
            raise TypeError(f"{name}: expected a sequence of arrays, got a scalar")
        return [lax.index_in_dim(x, i, keepdims=False) for i in range(x.shape[0])]
    if not isinstance(arrays, list | tuple):
        is_collection = hasattr(arrays, "__len__") and hasattr(arrays, "__iter__")
        if not is_collection or isinstance(arrays, str | bytes | Mapping):
            raise TypeError(f"{name}: expected a list or tuple of arrays, got {arrays!r}")
        arrays = list(arrays)
    if not arrays:
        raise ValueError(f"{name}: expected at least one array, got an empty sequence")
    found = as_arrays(arrays, name)
    if any(type(x) is int for x in arrays):
        check_ints(arrays, dtypes.lattice_result_type(*found)[0], name)
    return found


def _check_axis(name: str, axis: Any, expected: str = "axis: expected an integer") -> None:
    """Refuse a second array in the place of the axis, or of another parameter."""
    if isinstance(axis, Array | np.ndarray) and axis.ndim:
        raise TypeError(
            f"{name}: {expected}, got an array of shape {tuple(axis.shape)}; pass "
            f"the arrays in one list: {name}([a, b])"
        )


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    """Join arrays along an axis; with `axis=None`, flattened.

    Args:
        arrays: a sequence of arrays, promoted to one dtype; their shapes may differ along `axis`.
        axis: the axis along which they are joined.
        dtype: the dtype of the result.

    Raises:
        TypeError: not a sequence of arrays, or shapes that differ elsewhere.
        ValueError: an empty sequence, or scalars.

    >>> irax.numpy.concatenate([irax.numpy.arange(2), irax.numpy.ones(1)])
    Array([0., 1., 1.], dtype=float32)
    """
    _check_axis("concatenate", axis)
    parts = promote_dtypes(*_sequence("concatenate", arrays), what="concatenate")
    if dtype is not None:
        parts = [lax.convert_element_type(x, dtype) for x in parts]
    if axis is None:
        return lax.concatenate([ravel(x) for x in parts], 0)
    if not parts[0].ndim:
        raise ValueError("concatenate: scalars cannot be concatenated; use stack")
    for number, part in enumerate(parts):
        if part.ndim != parts[0].ndim:
            raise TypeError(
                f"concatenate: array {number} has shape {part.shape}, array 0 {parts[0].shape}; "
                "expected as many dimensions in all: reshape it, such as by x[None]"
            )
    return lax.concatenate(parts, canonical_axis("concatenate", axis, parts[0].ndim))


concat = concatenate


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Array:
    """Join arrays of one shape along a new axis.

    Args:
        arrays: a sequence of arrays of one shape.
        axis: the position of the new axis.
        out: not supported, since arrays are immutable.
        dtype: the dtype of the result.

    Raises:
        TypeError: not a sequence of arrays.
        ValueError: an empty sequence, or different shapes.

    >>> irax.numpy.stack([irax.numpy.zeros(2), irax.numpy.ones(2)], axis=1)
    Array([[0., 1.],
           [0., 1.]], dtype=float32)
    """
    no_out("stack", out)
    _check_axis("stack", axis)
    parts = _sequence("stack", arrays)
    if not parts:
        raise ValueError("stack: expected at least one array, got none")
    if len({x.shape for x in parts}) > 1:
        listed = ", ".join(str(x.shape) for x in parts)
        raise ValueError(f"stack: expected arrays of one shape, got shapes {listed}")
    axis = canonical_axis("stack", axis, parts[0].ndim + 1)
    return concatenate([lax.expand_dims(x, (axis,)) for x in parts], axis, dtype)


def vstack(tup: Any, dtype: Any = None) -> Array:
    """Stack arrays vertically, along the first axis; vectors are rows.

    Args:
        tup: a sequence of vectors and arrays, whose sizes may differ along the first axis.
        dtype: the dtype of the result; by default the one that they promote to.

    Raises:
        TypeError: `tup` is not a sequence of arrays, or shapes differ elsewhere.
        ValueError: an empty sequence.

    >>> jnp.vstack([jnp.arange(2), jnp.array([5, 6])])
    Array([[0, 1],
           [5, 6]], dtype=int32)
    """
    _check_axis("vstack", dtype, "dtype: expected a dtype")
    parts = [atleast_2d(x) for x in _sequence("vstack", tup)]
    return concatenate(parts, 0, dtype)


def hstack(tup: Any, dtype: Any = None) -> Array:
    """Stack arrays horizontally: along the second axis, vectors along the first.

    Args:
        tup: a sequence of arrays, whose shapes may differ along that axis.
        dtype: the dtype of the result; by default the one that they promote to.

    Raises:
        TypeError: `tup` is not a sequence of arrays, or shapes differ elsewhere.
        ValueError: an empty sequence.

    >>> jnp.hstack([jnp.arange(2), jnp.array([5, 6])])
    Array([0, 1, 5, 6], dtype=int32)
    """
    _check_axis("hstack", dtype, "dtype: expected a dtype")
    parts = [atleast_1d(x) for x in _sequence("hstack", tup)]
    return concatenate(parts, 0 if parts and parts[0].ndim == 1 else 1, dtype)


def dstack(tup: Any, dtype: Any = None) -> Array:
    """Stack arrays along the third axis.

    Args:
        tup: a sequence of arrays; (n,) counts as (1, n, 1), (m, n) as (m, n, 1).
        dtype: the dtype of the result; by default the one that they promote to.

    Raises:
        TypeError: `tup` is not a sequence of arrays, or shapes differ elsewhere.
        ValueError: an empty sequence.

    >>> jnp.dstack([jnp.arange(2), jnp.arange(2)]).shape
    (1, 2, 2)
    """
    _check_axis("dstack", dtype, "dtype: expected a dtype")
    parts = [atleast_3d(x) for x in _sequence("dstack", tup)]
    return concatenate(parts, 2, dtype)


def column_stack(tup: Any) -> Array:
    """Stack arrays along the second axis; vectors are columns.

    Args:
        tup: a sequence of vectors and matrices with the same number of rows.

    Returns:
        A matrix, of the dtype that they promote to.

    Raises:
        TypeError: `tup` is not a sequence of arrays, or numbers of rows differ.
        ValueError: an empty sequence.

    >>> jnp.column_stack([jnp.arange(2), jnp.array([5, 6])])
    Array([[0, 5],
           [1, 6]], dtype=int32)
    """
    parts = _sequence("column_stack", tup)
    return concatenate([x if x.ndim > 1 else lax.reshape(x, (x.size, 1)) for x in parts], 1)


def block(arrays: Any) -> Array:
    """Assemble nested lists of arrays: the innermost along the last axis, and so on outwards.

    Args:
        arrays: an array, or a list of such arguments; all lists are as deep as each other.

    Raises:
        ValueError: an empty list, or lists nested to different depths.
        TypeError: shapes that do not fit; a tuple in place of a list.

    >>> one = irax.numpy.ones((1, 1), dtype=int)
    >>> irax.numpy.block([[one, 2 * one], [3 * one, 4 * one]])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    depth = _depth(arrays)
    leaves = _flat(arrays)
    given = as_arrays(leaves, "block")
    check_ints(leaves, dtypes.lattice_result_type(*given)[0], "block")
    rank = max(depth, *(x.ndim for x in given))

    def put_together(item: Any, level: int) -> Array:
        if not isinstance(item, list):
            (x,) = as_arrays([item], "block")
            return lax.reshape(x, (1,) * (rank - x.ndim) + x.shape)
        return concatenate([put_together(part, level + 1) for part in item], level - depth)

    return put_together(arrays, 0)


def _depth(arrays: Any) -> int:
    if isinstance(arrays, tuple):
        raise TypeError("block: expected nested lists of arrays, got a tuple")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("block: expected at least one array in each list, got an empty list")
    depths = {_depth(part) for part in arrays}
    if len(depths) > 1:
        raise ValueError("block: expected lists nested to one depth")
    return 1 + depths.pop()


def _flat(arrays: Any) -> list[Any]:
    return [x for part in arrays for x in _flat(part)] if isinstance(arrays, list) else [arrays]


# ---- splitting -----------------------------------------------------------------------------------


def _split(name: str, ary: ArrayLike, sections: Any, axis: int, even: bool) -> list[Array]:
    (x,) = as_arrays([ary], name)
    axis = canonical_axis(name, axis, x.ndim)
    n = x.shape[axis]
    if not np.iterable(sections):
        if isinstance(sections, float | np.floating) and sections == np.floor(sections):
            sections = int(sections)
        sections = canonical_int(name, "indices_or_sections", sections)
        if sections < 1:
            raise ValueError(f"{name}: expected at least 1 section, got {sections}")
        share, more = divmod(n, sections)
        if even and not is_zero(more):
            raise ValueError(
                f"{name}: axis {axis} of shape {x.shape} cannot be split evenly into {sections} "
                "sections; use array_split"
            )
        ends = [share * i + smaller(more, i) for i in range(1, sections)]
    else:
        places = _concrete(name, "the places to split at", sections)
        ends = [canonical_int(name, "indices_or_sections", i) for i in places.tolist()]
    bounds = [0, *(smaller(larger(e + n * (e < 0), 0), n) for e in ends), n]
    return [
        lax.slice_in_dim(x, start, larger(start, stop), axis=axis)
        for start, stop in itertools.pairwise(bounds)
    ]


def _concrete(name: str, what: str, x: Any) -> np.ndarray[Any, Any]:
    """Return the elements of an argument that shapes depend on."""
    if isinstance(x, Array):
        why = f"{name} needs {what} to know the shape of its result"
        return x.concrete(why, errors.ConcretizationTypeError)
    return np.asarray([operator.index(i) for i in x])


def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array into a number of equal parts, or into parts that begin at given indices.

    Args:
        ary: an array.
        indices_or_sections: the number of parts, or the indices at which parts begin.
        axis: the axis along which to split.

    Raises:
        ValueError: it cannot be split evenly.

    >>> irax.numpy.split(irax.numpy.arange(3), [1])
    [Array([0], dtype=int32), Array([1, 2], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis, even=True)


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Split an array as `split`; if it cannot be split evenly, the first parts have one more.

    Args:
        ary: an array.
        indices_or_sections: a number of parts, or the indices at which to split.
        axis: the axis.

    Returns:
        A list of arrays.

    Raises:
        TypeError: `ary` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, or fewer than one part.

    >>> jnp.array_split(jnp.arange(5), 2)
    [Array([0, 1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    return _split("array_split", ary, indices_or_sections, axis, even=False)


def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """Split along the second axis, a vector along the first.

    Args:
        ary: an array.
        indices_or_sections: a number of equal parts, or the indices at which to split.

    Returns:
        A list of arrays.

    Raises:
        TypeError: `ary` is not an array.
        ValueError: a scalar, or the axis cannot be split evenly.

    >>> jnp.hsplit(jnp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    axis = 0 if ndim(ary) == 1 else 1
    return _split("hsplit", ary, indices_or_sections, axis, even=True)


def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """Split along the first axis.

    Args:
        ary: an array of at least one dimension.
        indices_or_sections: a number of equal parts, or the indices at which to split.

    Returns:
        A list of arrays.

    Raises:
        TypeError: `ary` is not an array.
        ValueError: a scalar, or the axis cannot be split evenly.

    >>> [part.shape for part in jnp.vsplit(jnp.ones((4, 3)), 2)]
    [(2, 3), (2, 3)]
    """
    return _split("vsplit", ary, indices_or_sections, 0, even=True)


def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """Split along the third axis.

    Args:
        ary: an array of at least three dimensions.
        indices_or_sections: a number of equal parts, or the indices at which to split.

    Returns:
        A list of arrays.

    Raises:
        TypeError: `ary` is not an array.
        ValueError: there is no third axis, or it cannot be split evenly.

    >>> [part.shape for part in jnp.dsplit(jnp.ones((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return _split("dsplit", ary, indices_or_sections, 2, even=True)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return the parts of an array along an axis, without that axis.

    Args:
        x: an array of at least one dimension.
        axis: the axis.

    Returns:
        A tuple of arrays.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis.

    >>> jnp.unstack(jnp.array([[1, 2], [3, 4]]))
    (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
    """
    return tuple(_sequence("unstack", moveaxis(x, axis, 0)))
