"""Functions that move elements: shapes, axes, broadcasting, reversing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import errors, lax
from irax.core import source
from irax.core.array import Array
from irax.core.dimensions import size_of
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.operands import broadcast_shapes as _broadcast_shapes
from irax.core.dtypes.promotion import broadcast_to as _broadcast_to
from irax.core.shardings.sharded import apart_from
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import (
    array_of,
    canonical_axes,
    canonical_axis,
    canonical_shape,
    listed_axes,
)
from irax.typing import ArrayLike, Axis
from irax_compiler.sizes import is_symbolic

# ---- shape ---------------------------------------------------------------------------------------


def shape(a: Any) -> tuple[int, ...]:
    """Return the size of each dimension of an array, or of anything that has a shape.

    A list is taken for an array, with a DeprecationWarning.

    Args:
        a: an array, a number, nested lists of numbers, or an object with `shape`.

    Returns:
        A tuple of ints.

    >>> jnp.shape(jnp.ones((2, 3)))
    (2, 3)
    """
    return a.shape if hasattr(a, "shape") else np.shape(_judged("shape", a))


def ndim(a: Any) -> int:
    """Return the number of dimensions, as `shape` does.

    Args:
        a: an array, a number, or nested lists of numbers.

    >>> jnp.ndim(jnp.ones((2, 3)))
    2
    """
    return a.ndim if hasattr(a, "ndim") else np.ndim(_judged("ndim", a))


def size(a: Any, axis: Axis = None) -> int:
    """Return the number of elements, or the size of an axis, or the product of several.

    As for `shape`, anything that has a size will do, and a list.

    Args:
        a: an array, a number, nested lists of numbers, or an object with `shape`.
        axis: the axis or axes; all by default.

    Returns:
        An int.

    Raises:
        TypeError: `axis` is not an int.
        ValueError: there is no such axis.

    >>> irax.numpy.size(irax.numpy.ones((2, 3, 4)), (0, 1))
    6
    """
    if axis is None and hasattr(a, "size"):
        return a.size
    sizes = a.shape if hasattr(a, "shape") else np.shape(_judged("size", a))
    return math.prod(sizes[d] for d in canonical_axes("size", axis, len(sizes)))


def _judged(what: str, x: Any) -> Any:
    """Return an argument that NumPy knows the shape of; warn where it is no array or number."""
    if hasattr(x, "__irax_array__") or hasattr(x, "__jax_array__"):
        return array_of(what, x)
    if not isinstance(x, bool | int | float | complex):
        source.warn(f"{what}: {x!r} is no array: give irax.numpy.array(...)", DeprecationWarning)
    return x


def isscalar(element: Any) -> bool:
    """Return True for a number or an array of shape ().

    Args:
        element: any object.

    >>> jnp.isscalar(3.0), jnp.isscalar(jnp.arange(3))
    (True, False)
    """
    if isinstance(element, Array | np.ndarray) or hasattr(element, "__jax_array__"):
        return ndim(element) == 0
    return np.isscalar(element)


@takes_out_sharding("reshape", sums=True)
def reshape(
    a: ArrayLike,
    shape: Any,
    order: str = "C",
    *,
    copy: bool | None = None,
    out_sharding: Any = None,
) -> Any:
    """Reshape an array; one size may be -1, and follows from the others.

    Args:
        a: an array. NumPy's stay NumPy's, as in JAX: Python may read them in a trace, too.
        shape: ints, or one int.
        order: "C": the last axis runs fastest; "F": the first one does, in both shapes.
        copy: True for memory of its own: the result stays when `a` is donated.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: the sizes make up another number of elements.

    >>> irax.numpy.reshape(irax.numpy.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    (x,) = as_arrays([a], "reshape")
    sizes = _sizes(x, shape)
    is_reversed = _order("reshape", order) == "F"
    if isinstance(a, np.ndarray | np.generic) and not any(map(is_symbolic, sizes)):
        return np.reshape(a, sizes, order="F" if is_reversed else "C", copy=copy or None)
    if is_reversed:
        flat = lax.transpose(x, range(x.ndim)[::-1])
        return lax.transpose(lax.reshape(flat, sizes[::-1]), range(len(sizes))[::-1])
    result = lax.reshape(x, sizes)
    return apart_from(x, result) if copy else result


def _order(name: str, order: str) -> str:
    if order not in ("C", "F"):
        error = NotImplementedError if order in ("A", "K") else ValueError
        raise error(f"{name}: order must be 'C' or 'F', got {order!r}")
    return order


def _sizes(x: Array, shape: Any) -> tuple[int, ...]:
    """The sizes with -1 filled in."""
    if isinstance(shape, int | np.integer) or is_symbolic(shape):
        shape = (shape,)
    try:
        sizes = tuple(map(size_of, shape))
    except errors.JAXTypeError:  # a traced array
        raise
    except TypeError as error:
        raise TypeError(f"reshape: expected a shape of ints, got {shape!r}: {error}") from None
    open_places = [d for d, n in enumerate(sizes) if n == -1]
    known = math.prod(n for n in sizes if n != -1)
    if len(open_places) == 1 and known and x.size % known == 0:
        place = open_places[0]
        return (*sizes[:place], x.size // known, *sizes[place + 1 :])
    if open_places or any(n < 0 for n in sizes) or known != x.size:
        raise TypeError(
            f"reshape: cannot reshape an array of shape {x.shape} (size {x.size}) into shape "
            f"{sizes}: the sizes must multiply to {x.size}, and at most one may be -1"
        )
    return sizes


@takes_out_sharding("ravel", sums=True)
def ravel(a: ArrayLike, order: str = "C", *, out_sharding: Any = None) -> Array:
    """Flatten an array to one dimension; `order` as for `reshape`.

    Args:
        a: an array.
        order: "C" for row-major order, "F" for column-major order.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        A vector.

    Raises:
        TypeError: `a` is not an array or a number.
        ValueError: another order.

    >>> jnp.ravel(jnp.array([[1, 2], [3, 4]]))
    Array([1, 2, 3, 4], dtype=int32)
    """
    (x,) = as_arrays([a], "ravel")
    return reshape(x, (x.size,), "C" if order in ("K", "A") else order)


def expand_dims(a: ArrayLike, axis: int | Sequence[int]) -> Array:
    """Insert axes of size 1, at these positions of the result.

    Args:
        a: an array.
        axis: an int, or a tuple of ints.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such position, or it is given twice.

    >>> jnp.expand_dims(jnp.arange(3), 0).shape
    (1, 3)
    """
    (x,) = as_arrays([a], "expand_dims")
    axes = listed_axes(axis)
    return lax.expand_dims(x, axes)  # pyright: ignore[reportArgumentType]


def squeeze(a: ArrayLike, axis: Axis = None) -> Array:
    """Remove these axes, which must be of size 1; all axes of size 1 if None.

    Args:
        a: an array.
        axis: the axis or axes to remove; by default all of size 1.

    Raises:
        ValueError: an axis of another size.

    >>> jnp.squeeze(jnp.ones((1, 3, 1)), axis=0).shape
    (3, 1)
    """
    (x,) = as_arrays([a], "squeeze")
    if axis is None:
        axes = [d for d, n in enumerate(x.shape) if n == 1]
    else:
        axes = canonical_axes("squeeze", axis, x.ndim)
    return lax.squeeze(x, axes)


def _at_least(name: str, rank: int, arrays: Sequence[ArrayLike]) -> Any:
    def grown(x: Array) -> Array:
        if x.ndim >= rank:
            return x
        if rank == 3:  # a vector is a row of a first matrix, a matrix gets a last axis
            return lax.reshape(x, (1, x.size, 1) if x.ndim < 2 else (*x.shape, 1))
        return lax.reshape(x, (1,) * (rank - x.ndim) + x.shape)

    results = tuple(grown(x) for x in as_arrays(arrays, name))
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys: ArrayLike) -> Any:
    """Return arrays with at least one dimension.

    Args:
        arys: arrays or numbers.

    Returns:
        An array for each, in a tuple; the array itself if there is one.

    Raises:
        TypeError: not an array or a number.

    >>> jnp.atleast_1d(3.0)
    Array([3.], dtype=float32, weak_type=True)
    """
    return _at_least("atleast_1d", 1, arys)


def atleast_2d(*arys: ArrayLike) -> Any:
    """Return arrays with at least two dimensions; a vector becomes a row.

    Args:
        arys: arrays or numbers.

    Returns:
        An array for each, in a tuple; the array itself if there is one.

    Raises:
        TypeError: not an array or a number.

    >>> jnp.atleast_2d(jnp.arange(3)).shape
    (1, 3)
    """
    return _at_least("atleast_2d", 2, arys)


def atleast_3d(*arys: ArrayLike) -> Any:
    """Return arrays with at least three dimensions: (n,) becomes (1, n, 1), (m, n) becomes (m, n,
    1).

    Args:
        arys: arrays or numbers.

    Returns:
        An array for each, in a tuple; the array itself if there is one.

    Raises:
        TypeError: not an array or a number.

    >>> jnp.atleast_3d(jnp.ones((2, 3))).shape
    (2, 3, 1)
    """
    return _at_least("atleast_3d", 3, arys)


# ---- the order of axes ---------------------------------------------------------------------------


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Permute the axes: axis i of the result is axis axes[i]; reversed by default.

    Args:
        a: an array.
        axes: for each axis of the result, the axis of `a`.

    Raises:
        TypeError: `axes` does not name each axis once.

    >>> irax.numpy.transpose(irax.numpy.ones((2, 3))).shape
    (3, 2)
    """
    (x,) = as_arrays([a], "transpose")
    if axes is None:
        return lax.transpose(x, range(x.ndim)[::-1])
    order = [canonical_axis("transpose", axis, x.ndim) for axis in axes]
    if sorted(order) != list(range(x.ndim)):
        raise TypeError(
            f"transpose: axes={tuple(axes)} must name each axis of shape {x.shape} once"
        )
    return lax.transpose(x, order)


permute_dims = transpose


def matrix_transpose(x: ArrayLike, /) -> Array:
    """Exchange the last two axes.

    Args:
        x: an array of at least two dimensions.

    Raises:
        TypeError: not an array or a number.
        ValueError: fewer than two dimensions.

    >>> jnp.matrix_transpose(jnp.ones((5, 2, 3))).shape
    (5, 3, 2)

    >>> jnp.linalg.matrix_transpose(jnp.ones((2, 3))).shape
    (3, 2)
    """
    (x,) = as_arrays([x], "matrix_transpose")
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: expected at least 2 dimensions, got shape {x.shape}")
    return swapaxes(x, -1, -2)


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Array:
    """Exchange two axes.

    Args:
        a: an array.
        axis1: the one axis.
        axis2: the other axis.

    Raises:
        TypeError: `a` is not an array, or an axis is not an int.
        ValueError: there is no such axis.

    >>> jnp.swapaxes(jnp.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    (x,) = as_arrays([a], "swapaxes")
    first, second = (canonical_axis("swapaxes", axis, x.ndim) for axis in (axis1, axis2))
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return lax.transpose(x, order)


def moveaxis(a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Move axes `source` to positions `destination`; the others keep their order.

    Args:
        a: an array.
        source: the axis or axes to move.
        destination: their positions in the result.

    Raises:
        ValueError: different numbers of axes and positions, or one that is out of range.

    >>> jnp.moveaxis(jnp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    (x,) = as_arrays([a], "moveaxis")
    sources = canonical_axes("moveaxis", source, x.ndim)
    places = canonical_axes("moveaxis", destination, x.ndim)
    if len(sources) != len(places):
        raise ValueError(
            f"moveaxis: expected a destination for each source, got source={source} and "
            f"destination={destination}"
        )
    rest = iter(d for d in range(x.ndim) if d not in sources)
    moved = dict(zip(places, sources, strict=True))
    return lax.transpose(x, [moved[d] if d in moved else next(rest) for d in range(x.ndim)])


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """Move one axis to before the axis `start`.

    Args:
        a: an array.
        axis: the axis to move.
        start: the axis before which it comes, from 0 to a.ndim.

    Raises:
        TypeError: `a` is not an array, or `axis` or `start` is not an int.
        ValueError: there is no such axis.

    >>> jnp.rollaxis(jnp.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    (x,) = as_arrays([a], "rollaxis")
    axis = canonical_axis("rollaxis", axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - (axis < start))


# ---- broadcasting --------------------------------------------------------------------------------


@takes_out_sharding("broadcast_to")
def broadcast_to(array: ArrayLike, shape: Any, *, out_sharding: Any = None) -> Array:
    """Broadcast an array to a shape: along new leading axes, and axes of size 1.

    Args:
        array: an array or a number.
        shape: a tuple of ints, or an int.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ValueError: it does not fit.

    >>> jnp.broadcast_to(jnp.arange(2), (2, 2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    (x,) = as_arrays([array], "broadcast_to")
    return _broadcast_to(x, canonical_shape("broadcast_to", shape))


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes broadcast to together.

    Args:
        shapes: tuples of ints, or ints, which stand for one dimension.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: an argument is not a shape.
        ValueError: the shapes do not fit together.

    >>> jnp.broadcast_shapes((3, 1), (2,))
    (3, 2)
    """
    sizes = [canonical_shape("broadcast_shapes", s) for s in shapes]
    return _broadcast_shapes(*sizes, what="broadcast_shapes") if sizes else ()


def broadcast_arrays(*args: ArrayLike) -> tuple[Array, ...]:
    """Broadcast arrays to one shape; each keeps its dtype.

    Args:
        args: arrays or numbers.

    Returns:
        A tuple of arrays of one shape.

    Raises:
        TypeError: an argument is not an array or a number.
        ValueError: the shapes do not fit together.

    >>> jnp.broadcast_arrays(jnp.arange(2), jnp.ones((3, 1)))[0].shape
    (3, 2)
    """
    arrays = as_arrays(args, "broadcast_arrays")
    if not arrays:
        return ()
    target = _broadcast_shapes(*(x.shape for x in arrays), what="broadcast_arrays")
    return tuple(_broadcast_to(x, target) for x in arrays)


# ---- reversing -----------------------------------------------------------------------------------


def flip(m: ArrayLike, axis: Axis = None) -> Array:
    """Reverse the elements along some axes, all by default.

    Args:
        m: an array.
        axis: an int, or a tuple of ints.

    Raises:
        TypeError: `m` is not an array, or `axis` is not an int.
        ValueError: there is no such axis.

    >>> jnp.flip(jnp.arange(3))
    Array([2, 1, 0], dtype=int32)
    """
    (x,) = as_arrays([m], "flip")
    return lax.rev(x, canonical_axes("flip", axis, x.ndim))


def flipud(m: ArrayLike) -> Array:
    """Reverse the rows.

    Args:
        m: an array of at least one dimension.

    Raises:
        TypeError: not an array.
        ValueError: a scalar.

    >>> jnp.flipud(jnp.array([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]], dtype=int32)
    """
    return flip(m, 0)


def fliplr(m: ArrayLike) -> Array:
    """Reverse the columns.

    Args:
        m: an array of at least two dimensions.

    Raises:
        TypeError: not an array.
        ValueError: fewer than two dimensions.

    >>> jnp.fliplr(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]], dtype=int32)
    """
    return flip(m, 1)


def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Rotate by 90 degrees k times, from the first of `axes` towards the second.

    Args:
        m: an array of at least two dimensions.
        k: the number of quarter turns; negative ones go the other way.
        axes: the two axes of the plane.

    Raises:
        TypeError: `m` is not an array, or `axes` are not ints.
        ValueError: there is no such axis, or the two are the same.

    >>> jnp.rot90(jnp.array([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]], dtype=int32)
    """
    (x,) = as_arrays([m], "rot90")
    first, second = canonical_axes("rot90", tuple(axes), x.ndim)
    match k % 4:
        case 0:
            return x
        case 1:
            return swapaxes(flip(x, second), first, second)
        case 2:
            return flip(x, (first, second))
        case _:
            return flip(swapaxes(x, first, second), second)
