"""Evenly spaced numbers, and grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core import transfer_guards
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import staged
from irax.core.dtypes.operands import as_arrays, broadcast_shapes, inexact_dtype
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.core.dtypes.python_ints import wide
from irax.core.shardings.sharded import apart_from
from irax.lax.arguments import canonical_int, canonical_shape
from irax.numpy.elementwise.exponentials import log10
from irax.numpy.elementwise.logic import equal, where
from irax.numpy.elementwise.rounding import floor
from irax.numpy.shapes.joining import stack
from irax.numpy.shapes.manipulation import broadcast_to, moveaxis
from irax.numpy.tables import floats, placed
from irax.numpy.ufuncs import abs, add, divide, multiply, power, sign, subtract
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.sizes import is_symbolic, larger


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: DTypeLike | None = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Return start, start + step, ... below stop; without stop, 0, step, ... below start.

    Args:
        start: the first number; or, without `stop`, the end, and the first number is 0.
        stop: the end, which is not included.
        step: the difference of neighbours, 1 by default.
        dtype: the dtype; by default that of the arguments.
        device: the device to put it on.
        out_sharding: the sharding of the result.

    Raises:
        ConcretizationTypeError: a traced argument: the shape would depend on it.
        ValueError: a complex number.
        TypeError: an argument that is not a number.

    >>> irax.numpy.arange(2, 8, 2)
    Array([2, 4, 6], dtype=int32)
    """
    given = [start, *(v for v in (stop, step) if v is not None)]
    if dtype is not None:
        dtype = dtypes.requested_dtype(dtype, "arange")
    with transfer_guards.explicit():  # numbers are no arrays that are copied
        arrays = as_arrays([v if dtype is None else wide(v, dtype) for v in given], "arange")
    if any(x.dtype.kind == "c" for x in arrays):
        raise ValueError("arange: start, stop and step must be real, got complex numbers")
    if dtype is None:
        dtype = dtypes.result_type(*arrays)
    numbers = [_number("arange", v) for v in given]
    if stop is None:  # what stands first is where they stop then, with a step as without
        numbers.insert(0, 0)
    if any(map(is_symbolic, numbers)):
        return placed("arange", _symbolic_arange(numbers, dtype), device, out_sharding)
    if len(numbers) > 2 and numbers[2] == 0:
        raise ZeroDivisionError(f"arange: step must not be 0, got arange{tuple(numbers)}")
    return placed("arange", _arange(numbers, dtype), device, out_sharding)


def _symbolic_arange(numbers: list[Any], dtype: np.dtype[Any]) -> Array:
    """The progression between sizes that may be symbolic, by a step that is known."""
    start, stop, step = *numbers[:2], (numbers[2:] or [1])[0]
    if not isinstance(step, int | np.integer) or step == 0:
        raise ValueError(
            f"arange: with symbolic dimensions, expected an int other than 0 as step, got {step!r}"
        )
    count = larger(-((start - stop) // step), 0)
    by, first = lax.full((), step, dtype), lax.full((), start, dtype)
    return add(multiply(lax.iota(dtype, count), by), first)


def _arange(numbers: list[Any], dtype: np.dtype[Any]) -> Array:
    # As integers, start and step lose their fractions before they are added up, traced or not.
    cut = dtype.kind in "iu" and any(isinstance(n, float | np.floating) for n in numbers)

    def counted() -> Array:
        return ConcreteArray(np.arange(*numbers).astype(dtype))

    if dtype == np.bool:
        return counted()
    if cut:
        return _progression(numbers, dtype)
    return staged(counted, lambda _: _progression(numbers, dtype))


def _progression(numbers: list[Any], dtype: np.dtype[Any]) -> Array:
    count = len(np.arange(*numbers))
    if len(numbers) == 1 or (numbers[0] == 0 and len(numbers) == 2):
        return lax.iota(dtype, count)
    first, by = numbers[0], numbers[2] if len(numbers) == 3 else 1
    first, by = (np.asarray(v).astype(dtype) for v in (first, by))
    return add(multiply(lax.iota(dtype, count), by), first)


def _number(name: str, x: Any) -> Any:
    if not isinstance(x, Array):
        return x
    why = f"{name} needs its arguments to know the shape"
    return x.concrete(why, errors.ConcretizationTypeError)[()]


def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return `num` evenly spaced numbers from start to stop.

    Args:
        start: a number or an array.
        stop: likewise.
        num: the number of elements.
        endpoint: True if `stop` is the last number, False if it is the one after that.
        retstep: True to return the distance, too.
        dtype: of the result; a float by default.
        axis: the axis along which the numbers lie.
        device: the device to put the result on.

    Raises:
        ValueError: `num` is negative.

    >>> irax.numpy.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    num = canonical_int("linspace", "num", num)
    if num < 0:
        raise ValueError(f"linspace: num must be at least 0, got {num}")
    first, last = promote_dtypes(start, stop, what="linspace")
    working = inexact_dtype(first.dtype)
    first, last = convert(first, working), convert(last, working)
    gaps = num - 1 if endpoint else num
    shape = broadcast_shapes(first.shape, last.shape)
    share = divide(lax.iota(working, num), larger(gaps, 1))
    share = lax.reshape(share, (num, *[1] * len(shape)))
    numbers = add(multiply(first, subtract(1, share)), multiply(last, share))
    if endpoint and num > 1:  # exactly the last one
        numbers = lax.concatenate(
            [numbers[:-1], lax.expand_dims(broadcast_to(last, shape), (0,))], 0
        )
    wanted = working if dtype is None else dtypes.requested_dtype(dtype, "linspace")
    if dtypes.issubdtype(wanted, np.integer):
        numbers = floor(numbers)
    result = placed("linspace", convert(moveaxis(numbers, 0, axis), wanted), device)
    step = divide(subtract(last, first), gaps) if gaps > 0 else lax.full((), np.nan, working)
    if dtypes.issubdtype(wanted, np.inexact):
        step = convert(step, wanted)
    return (result, step) if retstep else result


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Return `base` to the powers `linspace(start, stop, num)`.

    Args:
        start: the first exponent.
        stop: the last exponent.
        num: the number of elements.
        endpoint: False to leave `stop` out.
        base: the base of the powers.
        dtype: the dtype of the result.
        axis: the axis of the result along which they lie, if the exponents are arrays.

    Raises:
        TypeError: `start` or `stop` is not an array or a number, or `num` is not an int.
        ValueError: `num` is negative, or there is no such axis.

    >>> jnp.logspace(0, 2, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    powers = power(base, linspace(start, stop, num, endpoint, axis=axis))
    return powers if dtype is None else convert(powers, dtypes.requested_dtype(dtype, "logspace"))


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """Return `num` numbers from start to stop in geometric progression.

    Args:
        start: a number or an array; not 0.
        stop: likewise; of the same sign.
        num: the number of elements.
        endpoint: True if `stop` is the last number, False if it is the one after that.
        dtype: of the result; a float by default.
        axis: the axis along which the numbers lie.

    Raises:
        TypeError: `start` or `stop` is not an array or a number, or `num` is not an int.
        ValueError: `num` is negative, or there is no such axis.

    >>> irax.numpy.geomspace(1, 100, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    first, last = floats("geomspace", start, stop)
    working = first.dtype
    if working.kind == "c":
        # Both are rotated so that the path begins at a positive number.
        turn = divide(first, abs(first))
        powers = linspace(log10(divide(first, turn)), log10(divide(last, turn)), num, endpoint)
    else:
        turn = sign(first)
        powers = linspace(log10(abs(first)), log10(abs(last)), num, endpoint)
        powers = where(equal(sign(last), turn), powers, np.nan)
    numbers = multiply(power(10, powers), turn)
    places = range(numbers.shape[0])
    if places:  # exactly the ends
        numbers = numbers.at[0].set(first)
    if endpoint and len(places) > 1:
        numbers = numbers.at[-1].set(last)
    wanted = working if dtype is None else dtypes.requested_dtype(dtype, "geomspace")
    return convert(moveaxis(numbers, 0, axis), wanted)


# ---- grids ---------------------------------------------------------------------------------------


def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Array, ...]:
    """Return the coordinates of the points of a grid, given those along each axis.

    With "xy" indexing the first coordinate goes along the second dimension, as in a picture; with
    "ij" along the first. If `sparse`, each array has size 1 along the axes of the others.

    Args:
        xi: arrays of one dimension.
        copy: True for memory of their own: the results stay when the arguments are donated.
        sparse: True for arrays that broadcast to the grid.
        indexing: "xy" or "ij".

    Returns:
        A tuple of an array for each argument, of the shape of the grid.

    Raises:
        TypeError: not vectors.
        ValueError: an array of more than one dimension, or `indexing` is neither "xy" nor "ij".

    >>> irax.numpy.meshgrid(irax.numpy.arange(2), irax.numpy.arange(1), indexing="ij")
    (Array([[0],
           [1]], dtype=int32), Array([[0],
           [0]], dtype=int32))
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    vectors = as_arrays(xi, "meshgrid")
    for x in vectors:
        if x.ndim > 1:
            raise ValueError(f"meshgrid: expected vectors, got shape {x.shape}")
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = 1, 0
    shape = [1] * len(vectors)
    for x, place in zip(vectors, places, strict=True):
        shape[place] = x.size
    grids = []
    for x, place in zip(vectors, places, strict=True):
        own = [n if d == place else 1 for d, n in enumerate(shape)]
        thin = lax.reshape(x, own)
        grid = thin if sparse else broadcast_to(thin, tuple(shape))
        grids.append(apart_from(x, grid) if copy else grid)
    return tuple(grids)


def indices(dimensions: Sequence[int], dtype: DTypeLike | None = None, sparse: bool = False) -> Any:
    """Return the indices of each element of an array of shape `dimensions`, along a new
    first axis.

    Args:
        dimensions: a tuple of ints.
        dtype: the dtype of the indices, int32 by default.
        sparse: True for a tuple of arrays that broadcast, each with one axis longer than 1.

    Raises:
        TypeError: `dimensions` is not a shape, or `dtype` not a dtype.

    >>> jnp.indices((2, 2))[0]
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    sizes = canonical_shape("indices", dimensions)
    chosen = dtypes.requested_dtype(int if dtype is None else dtype, "indices")
    vectors = [lax.iota(chosen, n) for n in sizes]
    grids = meshgrid(*vectors, sparse=sparse, indexing="ij")
    if sparse:
        return tuple(grids)
    return stack(grids) if grids else as_array(np.zeros((0,), chosen))
