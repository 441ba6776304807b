"""Index arrays, grids, and objects that are indexed by brackets, such as `mgrid[0:3]`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib._index_tricks_impl import IndexExpression

from irax import dtypes, errors, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, judge_ranks
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import check_ints
from irax.core.dtypes.strictness import library_methods
from irax.core.places import holds, place_dtype, within, wrapped
from irax.numpy.creation import array
from irax.numpy.matrices import diag_indices, tril_indices, triu_indices
from irax.numpy.ranges import arange, linspace, meshgrid
from irax.numpy.searching import nonzero
from irax.numpy.shapes.joining import concatenate, stack
from irax.numpy.shapes.manipulation import moveaxis, reshape
from irax.numpy.ufuncs import add, multiply
from irax.typing import ArrayLike, DTypeLike

# ---- places of a part of an array ----------------------------------------------------------------


def _shape_of(name: str, arr: Any, rank: int | None) -> tuple[int, ...]:
    shape = tuple(arr.shape) if hasattr(arr, "shape") else as_arrays([arr], name)[0].shape
    if len(shape) < 2 or rank not in (None, len(shape)):
        expected = "at least 2" if rank is None else f"{rank}"
        raise ValueError(f"{name}: expected {expected} dimensions, got shape {shape}")
    return shape


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """Return the indices of a matrix on the diagonal number k and below.

    Args:
        arr: a matrix.
        k: the diagonal; 0 is the main one, 1 the one to its right.

    Raises:
        TypeError: `arr` is not an array, or `k` is not an int.
        ValueError: `arr` is not a matrix.

    >>> jnp.tril_indices_from(jnp.eye(2))
    (Array([0, 1, 1], dtype=int32), Array([0, 0, 1], dtype=int32))
    """
    rows, columns = _shape_of("tril_indices_from", arr, 2)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """Return the indices of a matrix on the diagonal number k and above.

    Args:
        arr: a matrix.
        k: the diagonal; 0 is the main one, 1 the one to its right.

    Raises:
        TypeError: `arr` is not an array, or `k` is not an int.
        ValueError: `arr` is not a matrix.

    >>> jnp.triu_indices_from(jnp.eye(2))
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = _shape_of("triu_indices_from", arr, 2)
    return triu_indices(rows, k, columns)


def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """Return the indices of the main diagonal of an array whose axes have one size.

    Args:
        arr: an array with at least two dimensions.

    Raises:
        ValueError: fewer than two axes, or different sizes.

    >>> jnp.diag_indices_from(jnp.eye(2))
    (Array([0, 1], dtype=int32), Array([0, 1], dtype=int32))
    """
    shape = _shape_of("diag_indices_from", arr, None)
    if len(set(shape)) > 1:
        raise ValueError(f"diag_indices_from: expected axes of one size, got shape {shape}")
    return diag_indices(shape[0], len(shape))


def mask_indices(
    n: int, mask_func: Callable[[ArrayLike, int], Array], k: int = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """Return the indices of the elements of an n by n matrix that a function such as `triu` keeps.

    Args:
        n: the number of rows and columns.
        mask_func: takes a matrix and `k`, puts zeros where it does not keep elements.
        k: the function's second argument.
        size: the number of indices: see `nonzero`.

    Raises:
        TypeError: `n` is not an int, or `mask_func` is not a function.

    >>> irax.numpy.mask_indices(2, irax.numpy.triu)
    (Array([0, 0, 1], dtype=int32), Array([0, 1, 1], dtype=int32))
    """
    rows, columns = nonzero(mask_func(lax.full((n, n), 1, np.int32), k), size=size)
    return rows, columns


def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Return index arrays for the grid of some indices of each axis.

    Args:
        args: vectors of integers; booleans stand for the indices where they hold.

    Raises:
        ValueError: not vectors.

    >>> x = irax.numpy.arange(9).reshape(3, 3)
    >>> x[irax.numpy.ix_(irax.numpy.array([0, 2]), irax.numpy.array([1]))]
    Array([[1],
           [7]], dtype=int32)
    """
    results = []
    for d, x in enumerate(as_arrays([array(v) for v in args], "ix_")):
        if x.ndim != 1:
            raise ValueError(f"ix_: expected vectors, got shape {x.shape}")
        places = nonzero(x)[0] if x.dtype == np.bool else x
        places = places if places.size else convert(places, dtypes.default_int())
        sides = [places.size if e == d else 1 for e in range(len(args))]
        results.append(lax.reshape(places, sides))
    return tuple(results)


def ravel_multi_index(
    multi_index: Sequence[ArrayLike],
    dims: Sequence[int],
    mode: str = "raise",
    order: str = "C",
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """Convert indices along each axis to indices into the flattened array.

    Args:
        multi_index: integers for each axis; broadcast.
        dims: the shape.
        mode: for indices out of range: "clip": the nearest; "wrap": the index modulo the size;
            "ignore": no check; "raise": a ValueError, which needs known integers.
        order: "C", or "F" where the first axis runs fastest.
        dtype: of the result; by default, the dtype that the indices promote to, or a wider one if
            that cannot hold all places.

    Raises:
        TypeError: not integers.
        ValueError: another number of axes, indices out of range with "raise", or a `dtype` that
            cannot hold all places.
        ConcretizationTypeError: traced integers with "raise".

    >>> irax.numpy.ravel_multi_index((irax.numpy.array([0, 1]), irax.numpy.array([2, 2])), (2, 3))
    Array([2, 5], dtype=int32)
    """
    name = "ravel_multi_index"
    if order not in ("C", "F"):
        raise ValueError(f"{name}: order must be 'C' or 'F', got {order!r}")
    if mode not in ("raise", "clip", "wrap", "ignore"):
        raise ValueError(f"{name}: mode must be 'raise', 'clip', 'wrap' or 'ignore', got {mode!r}")
    places = as_arrays([multi_index[i] for i in range(len(multi_index))], name)
    if len(places) != len(dims):
        raise ValueError(f"{name}: got places along {len(places)} axes for the shape {tuple(dims)}")
    judge_ranks(places, name)
    result: Any = 0
    axes = range(len(dims)) if order == "C" else reversed(range(len(dims)))
    wanted = dtypes.result_type(*places) if dtype is None else dtypes.requested_dtype(dtype, name)
    if not dtypes.issubdtype(wanted, np.integer):
        raise ValueError(f"{name}: dtype must be that of integers, got {wanted}")
    count = math.prod(int(n) for n in dims)
    if not holds(wanted, count - 1):
        if dtype is not None:
            raise ValueError(
                f"{name}: dtype {wanted} cannot hold all places of the shape {tuple(dims)}: the "
                f"last is {count - 1}"
            )
        wanted = place_dtype(wanted, count)
    for d in axes:
        place, n = places[d], int(dims[d])
        if not dtypes.issubdtype(place.dtype, np.integer):
            raise TypeError(f"{name}: places must be integers, got {place.dtype}")
        if mode == "raise":
            why = f"{name} with mode 'raise' needs the places; give mode='clip' or 'wrap'"
            known = place.concrete(why, errors.ConcretizationTypeError)
            if known.size and not 0 <= known.min() <= known.max() < n:
                raise ValueError(f"{name}: axis {d} has {n} places, got {known}")
        if mode == "clip":
            place = within(place, n)
        elif mode == "wrap":
            place = wrapped(place, max(n, 1))
        result = add(multiply(result, n), convert(place, wanted))
    (result,) = as_arrays([result], name)
    return convert(result, wanted)


# ---- written with brackets -----------------------------------------------------------------------

s_: IndexExpression = IndexExpression(maketuple=False)
index_exp: IndexExpression = IndexExpression(maketuple=True)


def _known(name: str, x: Any) -> Any:
    if not isinstance(x, Array):
        return x
    why = f"{name} needs its bounds to know the shape of its result"
    return x.concrete(why, errors.ConcretizationTypeError)[()]


def _range(name: str, key: slice) -> Array:
    """The numbers of a slice: a step `nj` asks for n of them, with the last one."""
    start, stop, step = (_known(name, v) for v in (key.start, key.stop, key.step))
    start, step = 0 if start is None else start, 1 if step is None else step
    if key.start is None and stop is None:  # as NumPy: no numbers
        stop = 0
    if stop is None:
        raise ValueError(f"{name}: expected a slice with an end, got {key}")
    if isinstance(step, complex):
        return linspace(start, stop, int(abs(step)))
    return arange(start, stop, step)


@library_methods
class Grid:
    """`mgrid` and `ogrid`."""

    def __init__(self, name: str, sparse: bool) -> None:
        self.name = name
        self.sparse = sparse

    def __repr__(self) -> str:
        return f"irax.numpy.{self.name}"

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        if isinstance(key, slice):
            return _range(self.name, key)
        ranges = [_range(self.name, k) for k in key]
        if not ranges:
            return () if self.sparse else lax.full((0,), 0, dtypes.default_int())
        dtype = dtypes.result_type(*ranges)
        ranges = [convert(x, dtype) for x in ranges]
        grids = meshgrid(*ranges, indexing="ij", sparse=self.sparse)
        return tuple(grids) if self.sparse else stack(grids)


mgrid: Grid = Grid("mgrid", sparse=False)
ogrid: Grid = Grid("ogrid", sparse=True)


@library_methods
class Joiner:
    """`r_` and `c_`: slices, numbers and arrays, one after the other.

    A first entry of text may say along which axis, how many dimensions all are to have at least,
    and which of these are theirs if they have fewer: "0,2,-1"; "r" and "c" make a matrix.
    """

    def __init__(self, name: str, axis: int, ndmin: int, trans1d: int) -> None:
        self.name = name
        self.axis: int = axis
        self.ndmin: int = ndmin
        self.trans1d: int = trans1d

    def __repr__(self) -> str:
        return f"irax.numpy.{self.name}"

    def __getitem__(self, key: Any) -> Array:
        entries = key if isinstance(key, tuple) else (key,)
        axis, ndmin, trans1d = self.axis, self.ndmin, self.trans1d
        matrix = None
        if entries and isinstance(entries[0], str):
            directive, *entries = entries
            if directive in ("r", "c"):
                matrix = directive
            else:
                axis, ndmin, trans1d = self._read(directive)
        parts = [self._part(entry, ndmin, trans1d) for entry in entries]
        if not parts:
            raise ValueError(f"{self.name}: expected something to join, got nothing")
        joined = concatenate(parts, axis)
        check_ints(entries, joined.dtype, self.name)
        if matrix is not None and joined.ndim == 1:
            return reshape(joined, (1, -1) if matrix == "r" else (-1, 1))
        return joined

    def _read(self, directive: str) -> tuple[int, int, int]:
        try:
            numbers = [int(part) for part in directive.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ValueError(
                f"{self.name}: expected 'r', 'c', or up to three ints such as '0,2,-1', got "
                f"{directive!r}"
            )
        given = [*numbers, *(self.axis, self.ndmin, self.trans1d)[len(numbers) :]]
        return given[0], given[1], given[2]

    def _part(self, entry: Any, ndmin: int, trans1d: int) -> Array:
        x = _range(self.name, entry) if isinstance(entry, slice) else array(entry)
        own = x.ndim if not isinstance(entry, slice) else 1
        if x.ndim >= ndmin:
            return x if x.ndim else reshape(x, (1,))
        x = reshape(x, (1,) * (ndmin - x.ndim) + x.shape)
        if trans1d == -1 or not own:
            return x
        # Its own dimensions begin at trans1d; the new ones are around them.
        start = trans1d + ndmin if trans1d < 0 else trans1d
        start = start - (own - 1 if trans1d < 0 else 0)
        return moveaxis(x, [*range(ndmin - own, ndmin)], [*range(start, start + own)])


r_: Joiner = Joiner("r_", axis=0, ndmin=1, trans1d=-1)
c_: Joiner = Joiner("c_", axis=-1, ndmin=2, trans1d=0)
