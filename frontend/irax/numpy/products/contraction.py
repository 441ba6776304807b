"""Products of arrays summed over axes: dot, matmul, tensordot and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import lax
from irax.core import source
from irax.core.array import Array
from irax.core.dtypes.operands import judge_ranks
from irax.core.dtypes.promotion import promote_dtypes
from irax.core.shardings.explicit_axes import are_in_types
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_axes, canonical_axis
from irax.lax.contraction import PrecisionLike
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise.complex_parts import conjugate
from irax.numpy.elementwise.logic import equal
from irax.numpy.matrices import diagonal
from irax.numpy.products.labelled import contract, einsum, stretched
from irax.numpy.searching import where
from irax.numpy.shapes.manipulation import moveaxis, ravel
from irax.numpy.ufuncs import multiply, subtract
from irax.typing import ArrayLike, DTypeLike


def _two(name: str, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    x, y = promote_dtypes(a, b, what=name)
    return x, y


def _misfit(
    name: str, x: Array, y: Array, rule: str, error: type[Exception] = TypeError
) -> Exception:
    return error(f"{name}: shapes {x.shape} and {y.shape} do not fit: {rule}")


@takes_out_sharding("dot", sums=True)
def dot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return the dot product: products summed over the last axis of `a` and the last but one of
    `b`.

    For vectors the inner product, for matrices the matrix product, for a scalar a multiple.

    Args:
        a: an array.
        b: an array.
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Returns:
        An array with the other axes of `a`, then those of `b`.

    Raises:
        TypeError: the axes have different sizes.

    >>> irax.numpy.dot(irax.numpy.ones((2, 3)), irax.numpy.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    x, y = _two("dot", a, b)
    if not x.ndim or not y.ndim:
        result = multiply(x, y)
        if preferred_element_type is None:
            return result
        return lax.convert_element_type(result, preferred_element_type)
    along = max(y.ndim - 2, 0)
    if x.shape[-1] != y.shape[along]:
        raise _misfit(
            "dot",
            x,
            y,
            f"the last axis of the first ({x.shape[-1]}) must equal axis {along} of the second "
            f"({y.shape[along]})",
        )
    numbers = (((x.ndim - 1,), (along,)), ((), ()))
    return lax.dot_general(x, y, numbers, precision, preferred_element_type)


@takes_out_sharding("matmul", sums=True)
def matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return the matrix product `a @ b` over the last two axes; leading axes are broadcast.

    A vector stands for a row on the left and a column on the right; the result lacks that axis.

    Args:
        a: an array of at least one dimension.
        b: likewise.
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: the inner axes have different sizes.
        ValueError: a scalar, or leading axes that do not fit.

    >>> irax.numpy.matmul(irax.numpy.ones((2, 3)), irax.numpy.ones((3, 1)))
    Array([[3.],
           [3.]], dtype=float32)
    """
    x, y = _two("matmul", a, b)
    if not x.ndim or not y.ndim:
        raise ValueError(
            f"matmul: expected at least 1 dimension, got shapes {x.shape} and {y.shape}; use "
            "multiply for scalars"
        )
    inner = y.shape[-2] if y.ndim > 1 else y.shape[0]
    if x.shape[-1] != inner:
        raise _misfit(
            "matmul",
            x,
            y,
            f"the last axis of the first ({x.shape[-1]}) must equal the "
            f"{'last but one' if y.ndim > 1 else 'only one'} of the second ({inner})",
        )
    rank = max(x.ndim, y.ndim) - 2
    if rank <= 0:  # as most are
        numbers = (((x.ndim - 1,), (0,)), ((), ()))
        return lax.dot_general(x, y, numbers, precision, preferred_element_type)
    x_labels = [*range(rank - x.ndim + 2, rank), "row", "sum"] if x.ndim > 1 else ["sum"]
    y_labels = [*range(rank - y.ndim + 2, rank), "sum", "column"] if y.ndim > 1 else ["sum"]
    out = [*range(rank), *(["row"] if x.ndim > 1 else []), *(["column"] if y.ndim > 1 else [])]
    x, x_labels, y, y_labels = stretched("matmul", x, x_labels, y, y_labels)
    return contract(x, x_labels, y, y_labels, out, precision, preferred_element_type)


def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: int = -1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the inner products of vectors along an axis; the other axes are broadcast.

    Args:
        x1: an array; of complex numbers, the conjugates are taken.
        x2: an array.
        axis: the axis of both.
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.

    Raises:
        TypeError: vectors of different lengths.

    >>> irax.numpy.vecdot(irax.numpy.ones((2, 3)), irax.numpy.arange(3.0))
    Array([3., 3.], dtype=float32)
    """
    x, y = _two("vecdot", x1, x2)
    judge_ranks([x, y], "vecdot", core=[1, 1])
    x = conjugate(moveaxis(x, canonical_axis("vecdot", axis, x.ndim), -1))
    y = moveaxis(y, canonical_axis("vecdot", axis, y.ndim), -1)
    if x.shape[-1] != y.shape[-1]:
        raise _misfit("vecdot", x, y, "the vectors must have the same length", ValueError)
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return einsum("...i,...i->...", x, y, **options)


def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the products of matrices in the last two axes and vectors in the last axis.

    Args:
        x1: matrices [..., m, n].
        x2: vectors [..., n]; leading axes broadcast.

    Returns:
        Vectors [..., m].

    Raises:
        TypeError: `x1` or `x2` is not an array.
        ValueError: the shapes do not fit.

    >>> jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    x, y = _two("matvec", x1, x2)
    judge_ranks([x, y], "matvec", core=[2, 1])
    if x.ndim < 2 or y.ndim < 1 or x.shape[-1] != y.shape[-1]:
        raise _misfit("matvec", x, y, "rows and vectors must have the same length", ValueError)
    return einsum("...ij,...j->...i", x, y)


def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """Return the products of conjugated vectors in the last axis and matrices in the last two.

    Args:
        x1: vectors [..., m], which are conjugated.
        x2: matrices [..., m, n]; leading axes broadcast.

    Returns:
        Vectors [..., n].

    Raises:
        TypeError: `x1` or `x2` is not an array.
        ValueError: the shapes do not fit.

    >>> jnp.vecmat(jnp.array([1, 1]), jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    """
    x, y = _two("vecmat", x1, x2)
    judge_ranks([x, y], "vecmat", core=[1, 2])
    if x.ndim < 1 or y.ndim < 2 or x.shape[-1] != y.shape[-2]:
        raise _misfit("vecmat", x, y, "vectors and columns must have the same length", ValueError)
    return einsum("...i,...ij->...j", conjugate(x), y)


def vdot(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the inner product of two flattened arrays; the first is conjugated.

    Args:
        a: an array, which is flattened.
        b: an array of as many elements.
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sum.

    Returns:
        An array of shape ().

    Raises:
        TypeError: `a` or `b` is not an array, or they differ in size.
        ValueError: there is no such precision.

    >>> jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 1]))
    Array(3.+0.j, dtype=complex64)
    """
    x, y = _two("vdot", a, b)
    return dot(
        conjugate(ravel(x)),
        ravel(y),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def inner(
    a: ArrayLike,
    b: ArrayLike,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return products summed over the last axis of both arrays.

    Args:
        a: an array [..., n].
        b: an array [..., n].
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.

    Returns:
        An array of the shape a.shape[:-1] + b.shape[:-1].

    Raises:
        TypeError: `a` or `b` is not an array, or their last axes differ.
        ValueError: there is no such precision.

    >>> jnp.inner(jnp.array([1, 2]), jnp.array([3, 4]))
    Array(11, dtype=int32)
    """
    x, y = _two("inner", a, b)
    if not x.ndim or not y.ndim:
        return dot(x, y, precision=precision, preferred_element_type=preferred_element_type)
    if x.shape[-1] != y.shape[-1]:
        raise _misfit("inner", x, y, "the last axes must have the same size")
    numbers = (((x.ndim - 1,), (y.ndim - 1,)), ((), ()))
    return lax.dot_general(x, y, numbers, precision, preferred_element_type)


def outer(a: ArrayLike, b: ArrayLike, out: None = None) -> Array:
    """Return the matrix of products of each element of `a` with each of `b`.

    Args:
        a: an array, which is flattened.
        b: an array, which is flattened.
        out: not supported.

    Returns:
        A matrix of shape (a.size, b.size), of the dtype that both promote to.

    Raises:
        TypeError: `a` or `b` is not an array or a number.
        NotImplementedError: `out` is given.

    >>> jnp.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    if out is not None:
        raise NotImplementedError("outer: the argument 'out' is not supported: use the result")
    x, y = _two("outer", a, b)
    return multiply(lax.reshape(x, (x.size, 1)), lax.reshape(y, (1, y.size)))


@takes_out_sharding("tensordot", sums=True)
def tensordot(
    a: ArrayLike,
    b: ArrayLike,
    axes: Any = 2,
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return products summed over axes of both arrays.

    Args:
        a: an array.
        b: an array.
        axes: the number of axes: the last ones of `a` with the first ones of `b`; or (axes of a,
            axes of b).
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.
        out_sharding: how the result is divided: a sharding, or a `PartitionSpec`.

    Raises:
        TypeError: axes of different sizes, or different numbers of them.

    >>> irax.numpy.tensordot(irax.numpy.ones((2, 3)), irax.numpy.ones((3, 4)), 1).shape
    (2, 4)
    """
    x, y = _two("tensordot", a, b)
    if isinstance(axes, int | np.integer):
        if not 0 <= axes <= min(x.ndim, y.ndim):
            raise TypeError(
                f"tensordot: axes={axes} is more than shapes {x.shape} and {y.shape} both have"
            )
        left, right = tuple(range(x.ndim - int(axes), x.ndim)), tuple(range(int(axes)))
    else:
        counts = [np.size(v) for v in axes]
        if len(set(counts)) > 1:
            raise TypeError(f"tensordot: expected as many axes of each array, got {axes}")
        left, right = (
            canonical_axes("tensordot", tuple(v) if isinstance(v, tuple | list) else v, z.ndim)
            for v, z in zip(axes, (x, y), strict=True)
        )
    if [x.shape[d] for d in left] != [y.shape[d] for d in right]:
        raise _misfit("tensordot", x, y, f"axes {left} and {right} must have the same sizes")
    numbers = ((left, right), ((), ()))
    return lax.dot_general(x, y, numbers, precision, preferred_element_type)


def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the Kronecker product: each element of `a` becomes a block, that element times `b`.

    Args:
        a: an array.
        b: an array; the one of fewer dimensions gets dimensions of size 1 in front.

    Returns:
        An array whose sizes are the products of theirs, of the dtype that both promote to.

    Raises:
        TypeError: `a` or `b` is not an array or a number.

    >>> jnp.kron(jnp.array([1, 10]), jnp.array([1, 2]))
    Array([ 1,  2, 10, 20], dtype=int32)
    """
    x, y = _two("kron", a, b)
    rank = max(x.ndim, y.ndim)
    x, y = (lax.reshape(v, (1,) * (rank - v.ndim) + v.shape) for v in (x, y))
    wide = multiply(
        lax.reshape(x, [n for size in x.shape for n in (size, 1)]),
        lax.reshape(y, [n for size in y.shape for n in (1, size)]),
    )
    return lax.reshape(wide, [n * m for n, m in zip(x.shape, y.shape, strict=True)])


def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: None = None,
) -> Array:
    """Return the sum of a diagonal: see `diagonal`.

    Args:
        a: an array of two or more dimensions.
        offset: the number of the diagonal; positive ones are above the main diagonal.
        axis1: the axis of the rows.
        axis2: the axis of the columns.
        dtype: the dtype of the sum.
        out: not supported, since arrays are immutable.

    Raises:
        TypeError: `a` is not an array, or an axis is not an int.
        ValueError: `a` has fewer than two dimensions, or there is no such axis.
        NotImplementedError: `out` is given.

    >>> jnp.trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    if not (isinstance(offset, Array) or are_in_types()):
        return reductions.sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)
    x = moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = (lax.broadcasted_iota(np.int32, x.shape[-2:], d) for d in (0, 1))
    chosen = equal(subtract(columns, rows), offset)
    return reductions.sum(where(chosen, x, lax.full_like(x, 0)), (-2, -1), dtype, out)


def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """Return the cross product of vectors of length 3; for length 2, with a DeprecationWarning, its
    one component that is not 0.

    Args:
        a: an array of vectors.
        b: likewise; the other axes are broadcast.
        axisa: the axis along which those of `a` lie.
        axisb: likewise for `b`.
        axisc: likewise for the result.
        axis: the axis for all three.

    Raises:
        ValueError: vectors of another length.

    >>> irax.numpy.cross(irax.numpy.array([1, 0, 0]), irax.numpy.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _two("cross", a, b)
    if min(x.ndim, y.ndim) > 1:
        judge_ranks([x, y], "cross")
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(
            f"cross: expected vectors of length 2 or 3, got {x.shape[-1]} and {y.shape[-1]}"
        )
    flat = x.shape[-1] == y.shape[-1] == 2
    if x.shape[-1] == 2 or y.shape[-1] == 2:
        source.warn(
            "cross: vectors of length 2 are deprecated, and an error in JAX 0.12 and NumPy 2.5: "
            "give them a third element, 0",
            DeprecationWarning,
        )

    def part(v: Array, i: int) -> Array:
        if i == v.shape[-1]:
            return lax.full(v.shape[:-1], 0, v.dtype)
        return lax.index_in_dim(v, i, v.ndim - 1, keepdims=False)

    def component(i: int, j: int) -> Array:
        return subtract(multiply(part(x, i), part(y, j)), multiply(part(x, j), part(y, i)))

    if flat:
        return component(0, 1)
    components = [component(1, 2), component(2, 0), component(0, 1)]
    rank = components[0].ndim
    joined = lax.concatenate([lax.expand_dims(c, (rank,)) for c in components], rank)
    return moveaxis(joined, -1, axisc)
