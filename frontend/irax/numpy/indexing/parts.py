"""Parsing of an index: the selection in each dimension of x, and the layout of `x[index]`.

NumPy's rules, all of them: ints, slices, Ellipsis, None, arrays of integers and of booleans; and
`ds`, a slice of known size.
Indices that are known while tracing (ints, slices, NumPy arrays) are resolved here, so that the IR
has none of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dimensions import size_of, symbolic_indices
from irax.core.dtypes.operands import broadcast_shapes
from irax.core.dtypes.promotion import convert
from irax.core.places import from_the_end, widened
from irax.numpy.indexing.windows import Slice
from irax_compiler.sizes import is_symbolic

NEW = -1
"""In a layout: a dimension of size 1 that None asked for."""
BLOCK = -2
"""In a layout: the dimensions that the index arrays have together."""

_LIMITS = np.iinfo(np.int32).min, np.iinfo(np.int32).max

Indices = Array | np.ndarray[Any, Any]


@dataclass
class Dim:
    """The selection in one dimension: `size` elements from `start` on, every `step`-th."""

    start: int
    size: int
    step: int = 1
    flipped: bool = False
    """The elements come in reverse."""
    taken: bool = False
    """An int chose the one element: the result lacks the dimension."""
    indices: Indices | None = None
    """The indices of the elements, counted from 0; None for a slice."""
    window: bool = False
    """`indices` is a scalar, where the `size` elements begin."""

    def last(self, n: int) -> Any:
        """The largest index that is in range, in a dimension of size `n`."""
        return n - self.size if self.window else n - 1


@dataclass
class Parts:
    """A parsed index for arrays of one shape."""

    shape: tuple[int, ...]
    """The shape of the array, with a 1 where the index has a lone True or False."""
    dims: list[Dim] = field(default_factory=list)
    """One for each dimension of `shape`."""
    layout: list[int] = field(default_factory=list)
    """The result's dimensions: numbers of dims, NEW or BLOCK."""
    block: tuple[int, ...] = ()
    """The shape that the index arrays broadcast to."""
    fancy: bool = False
    """There are index arrays other than scalars."""
    known: bool = True
    """No part of the index is traced."""
    outside: bool = False
    """A known index is out of range; `for_numpy` has the nearest valid one."""
    int_outside: str = ""
    """An int is out of range, and so is the whole index."""
    for_numpy: list[Any] = field(default_factory=list)
    """The index for NumPy: ints and index arrays without Arrays, moved into range."""

    def indexed(self) -> list[int]:
        """The dimensions that have index arrays or traced scalars."""
        return [d for d, dim in enumerate(self.dims) if dim.indices is not None]

    def windows(self) -> list[int]:
        """The dimensions of which a window is chosen."""
        return [d for d, dim in enumerate(self.dims) if dim.window]

    def result_shape(self, with_new: bool = True) -> tuple[int, ...]:
        """The shape of `x[index]`, with or without the dimensions that None adds."""
        shape: list[int] = []
        for place in self.layout:
            if place == BLOCK:
                shape.extend(self.block)
            elif place != NEW:
                shape.append(self.dims[place].size)
            elif with_new:
                shape.append(1)
        return tuple(shape)


def parse(shape: tuple[int, ...], index: Any, wrap: bool = True, is_update: bool = False) -> Parts:
    """Parse an index of an array of `shape`.

    Args:
        shape: the shape of the array.
        index: the expression between the brackets.
        wrap: negative integers count from the end; otherwise they are out of range.
        is_update: the elements are not read, so index arrays may index dimensions that have none.

    Raises:
        IndexError: too many indices, a mask of the wrong shape, a size that is not known.
        TypeError: not an index.
    """
    entries = index if isinstance(index, tuple) else (_alone(index),)
    items = [_item(entry) for entry in entries]
    consumed = sum(_consumes(item) for item in items)
    rest = len(shape) - consumed
    if rest < 0:
        raise IndexError(
            f"too many indices: the array has shape {shape}, of {len(shape)} dimensions, but "
            f"{consumed} were indexed"
        )
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise IndexError("an index can have a single Ellipsis ('...')")
    if not ellipses:
        items.append(Ellipsis)
    return _Parser(shape, rest, wrap, items, is_update).parts


def arrays_of(index: Any) -> list[Array]:
    """Return the arrays of integers in an index. Masks are read on the host."""
    entries = index if type(index) is tuple else (index,)
    given = [x.start if isinstance(x, Slice) else x for x in entries]
    return [x for x in given if isinstance(x, Array) and x.dtype != np.bool_]


class _Mask:
    """A boolean array in an index."""

    def __init__(self, value: np.ndarray[Any, Any]) -> None:
        self.value = value


def _alone(index: Any) -> Any:
    if isinstance(index, list | range):
        raise TypeError(
            f"an array cannot be indexed by a {type(index).__name__}: use a tuple, x[0, 1], for an "
            "index a dimension, or an array, x[irax.numpy.array([0, 1])], for several elements"
        )
    return index


def _item(entry: Any) -> Any:
    """An entry of an index as None, Ellipsis, slice, int, integer array, or `_Mask`."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice | Slice):
        return entry
    if isinstance(entry, bool | np.bool_):
        return _Mask(np.asarray(entry))
    if isinstance(entry, str | bytes):
        raise TypeError(f"an array cannot be indexed by a string, got {entry!r}")
    if isinstance(entry, list | tuple):
        entry = _of_list(entry)
    if isinstance(entry, Array | np.ndarray | np.generic):
        return _array_item(entry)
    try:
        return size_of(entry)
    except TypeError:
        raise TypeError(
            "an index is made of ints, slices, Ellipsis, None and arrays of ints or bools, got "
            f"{entry!r} of type {type(entry).__name__}"
        ) from None


def _of_list(entry: Any) -> np.ndarray[Any, Any] | Array:
    """Nested lists of numbers as an array; of NumPy's where all are known."""
    if not _has_traced(entry):
        return np.asarray(entry) if len(entry) else np.zeros(0, np.int64)
    parts = [as_array(_of_list(x) if isinstance(x, list | tuple) else x, "index") for x in entry]
    dtype = dtypes.result_type(*parts)
    return lax.concatenate([lax.expand_dims(convert(x, dtype), (0,)) for x in parts], 0)


def _has_traced(entry: Any) -> bool:
    if isinstance(entry, list | tuple):
        return any(map(_has_traced, entry))
    return isinstance(entry, Array) and not isinstance(entry, ConcreteArray)


def _array_item(entry: Any) -> Any:
    if entry.dtype == np.bool_:
        return _Mask(_known_mask(entry) if isinstance(entry, Array) else np.asarray(entry))
    if not dtypes.issubdtype(entry.dtype, np.integer):
        raise TypeError(
            f"an index array must have an integer or boolean dtype, got {entry.dtype.name} of "
            f"shape {entry.shape}: convert it with .astype(int)"
        )
    if isinstance(entry, ConcreteArray):
        entry = entry if entry.ndim else entry.value
    return entry if entry.ndim or isinstance(entry, Array) else int(entry)


def _known_mask(mask: Array) -> np.ndarray[Any, Any]:
    try:
        return mask.concrete("a boolean index", errors.ConcretizationTypeError)
    except errors.ConcretizationTypeError:
        raise errors.NonConcreteBooleanIndexError(
            f"a boolean index of type {mask.aval} at {source.user_line()}: how many elements it "
            "selects is not known while the function is traced, so the result has no shape. Keep "
            "all elements and choose by value, irax.numpy.where(mask, x, y), or give the number of "
            "elements: x[irax.numpy.nonzero(mask, size=n)]."
        ) from None


def _consumes(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.value.ndim if isinstance(item, _Mask) else 1


def _check_int(index: int) -> None:
    """Check that an index is one of the integers that there are arrays of.

    Raises:
        OverflowError: it is not.
    """
    info = np.iinfo(dtypes.canonicalize_dtype(int))
    if not info.min <= index <= info.max:
        wider = (
            "" if info.bits == 64 else ": irax.config.update('enable_x64', True) allows wider ones"
        )
        raise OverflowError(f"index {index} does not fit into {info.dtype}{wider}")


class _Parser:
    """Goes through the items of an index once, from left to right."""

    def __init__(
        self, shape: tuple[int, ...], rest: int, wrap: bool, items: list[Any], is_update: bool
    ) -> None:
        self.remaining = list(shape)
        self.wrap = wrap
        self.is_update = is_update
        self.blocks: list[tuple[int, ...]] = []
        self.runs = 0  # of items that NumPy counts as advanced: ints too, where there are arrays
        self.in_run = False
        self.block_at: int | None = None
        self.parts = Parts(())
        self.parts.fancy = any(
            isinstance(item, _Mask) or (isinstance(item, Array | np.ndarray) and item.ndim)
            for item in items
        )
        self.sizes: list[int] = []
        for item in items:
            self._advance(item, rest)
        self._place_block()
        self.parts.shape = tuple(self.sizes)

    def _advance(self, item: Any, rest: int) -> None:
        parts = self.parts
        advanced = not (item is None or item is Ellipsis or isinstance(item, slice | Slice))
        if advanced and not self.in_run:
            self.runs += 1
            if self.block_at is None:
                self.block_at = len(parts.layout)
        self.in_run = advanced
        if item is None:
            parts.layout.append(NEW)
            parts.for_numpy.append(None)
        elif item is Ellipsis:
            for _ in range(rest):
                self._slice(slice(None))
            parts.for_numpy.append(Ellipsis)
        elif isinstance(item, slice):
            parts.for_numpy.append(self._slice(item))
        elif isinstance(item, Slice):
            self._window(item)
        elif isinstance(item, int) or is_symbolic(item):
            self._int(item)
        elif isinstance(item, _Mask):
            self._mask(item.value)
        else:
            self._array(item, self.remaining.pop(0))

    def _add(self, size: int, dim: Dim) -> None:
        self.sizes.append(size)
        self.parts.dims.append(dim)

    def _slice(self, item: slice) -> slice:
        n = self.remaining.pop(0)
        item = slice(*(_slice_entry(e, item) for e in (item.start, item.stop, item.step)))
        if any(map(is_symbolic, (n, item.start, item.stop))):
            start, size, step = symbolic_indices(item, n)
        else:
            start, stop, step = item.indices(n)
            size = len(range(start, stop, step))
        if size == 0:
            dim = Dim(0, 0)
        elif step < 0:
            is_several = is_symbolic(size) or size > 1
            dim = Dim(start + (size - 1) * step, size, -step, flipped=is_several)
        else:
            dim = Dim(start, size, step)
        if not is_symbolic(size) and size < 2:
            dim.step = 1
        self.parts.layout.append(len(self.parts.dims))
        self._add(n, dim)
        return item

    def _window(self, item: Slice) -> None:
        n = self.remaining.pop(0)
        if not is_symbolic(n) and item.extent > n:
            raise TypeError(
                f"ds: a slice of {item.extent} elements of a dimension of size {n}; expected at "
                "most that many"
            )
        start = _places(as_array(item.start), n, self.wrap)
        if not isinstance(start, Array):
            start = as_array(start)
        self.parts.known = False
        self.parts.layout.append(len(self.parts.dims))
        dim = Dim(0, item.size, item.stride, indices=start, window=True)
        self._add(n, dim)

    def _int(self, item: int) -> None:
        n = self.remaining.pop(0)
        if n == 0:
            raise IndexError(f"index {item} of a dimension of size 0: it has no elements")
        place = item + n if item < 0 and self.wrap else item
        if 0 <= place < n:
            self._add(n, Dim(place, 1, taken=True))
            self.parts.for_numpy.append(place)
        else:  # a place for checks to see, as of an array
            _check_int(item)
            self.parts.int_outside = f"index {item} is out of range for a dimension of size {n}"
            self._array(np.asarray(item), n)

    def _mask(self, mask: np.ndarray[Any, Any]) -> None:
        sizes = tuple(self.remaining[: mask.ndim])
        # A mask without elements may have 0 anywhere, and chooses none.
        if mask.shape != sizes and any(
            m not in (n, 0) for m, n in zip(mask.shape, sizes, strict=True)
        ):
            raise IndexError(
                f"a boolean index of shape {mask.shape} does not match the dimensions that it "
                f"indexes, of shape {sizes}"
            )
        if not mask.ndim:  # as on a dimension of size 1, put in for it
            self._array(np.flatnonzero(mask), 1)
            self.parts.for_numpy[-1] = bool(mask)
            return
        del self.remaining[: mask.ndim]
        for size, places in zip(sizes, np.nonzero(mask), strict=True):
            self._array(places, size)

    def _array(self, indices: Indices, n: int) -> None:
        if not self.is_update and indices.size != 0 and n < 1:
            raise IndexError(
                f"an index array of shape {indices.shape} for a dimension of size 0: it has no "
                "elements"
            )
        self.blocks.append(indices.shape)
        indices = _places(indices, n, self.wrap)
        self._add(n, Dim(0, n, indices=indices))
        if isinstance(indices, ConcreteArray):
            indices = indices.value
        if not isinstance(indices, np.ndarray):
            self.parts.known = False
        elif indices.size and not 0 <= indices.min() <= indices.max() < n:
            self.parts.outside = True
            indices = np.clip(indices, 0, n - 1)
        self.parts.for_numpy.append(indices)

    def _place_block(self) -> None:
        parts = self.parts
        try:
            parts.block = broadcast_shapes(*self.blocks) if self.blocks else ()
        except ValueError as error:
            raise IndexError(f"the index arrays do not go together: {error}") from None
        if parts.fancy:
            assert self.block_at is not None
            parts.layout.insert(self.block_at if self.runs == 1 else 0, BLOCK)


def _slice_entry(entry: Any, item: slice) -> int | None:
    if entry is None:
        return None
    try:
        return size_of(entry)
    except errors.TracerIntegerConversionError:
        raise IndexError(
            f"a slice needs bounds that are known while tracing, got {item} at "
            f"{source.user_line()}: for a slice of known size that starts at a traced place, use "
            "irax.lax.dynamic_slice_in_dim(x, start, size)"
        ) from None
    except TypeError:
        raise TypeError(
            f"the bounds and the step of a slice must be ints or None, got {entry!r} of type "
            f"{type(entry).__name__}"
        ) from None


# ---- index arrays --------------------------------------------------------------------------------


def _places(indices: Indices, n: int, wrap: bool) -> Indices:
    """Return an index array as indices into a dimension of size `n`, of a dtype that can hold them;
    negative ones count from the end if `wrap`. What is out of range stays so.
    """
    if is_symbolic(n):
        indices = as_array(indices)
    elif isinstance(indices, np.ndarray):
        return _known_places(indices, n, wrap)
    elif isinstance(indices, ConcreteArray):
        value = indices.value
        fine = value.dtype == np.int32 and (not value.size or 0 <= value.min() <= value.max() < n)
        return indices if fine else _known_places(value, n, wrap)
    return from_the_end(indices, n) if wrap else widened(indices, n)


def _known_places(indices: np.ndarray[Any, Any], n: int, wrap: bool) -> np.ndarray[Any, Any]:
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(n))
    places = indices.astype(np.int64)
    if places.size and not 0 <= places.min() <= places.max() < n:
        if wrap:
            places = np.where(places < 0, places + n, places)
        if n <= _LIMITS[1]:  # a place far out of range at either end stands for all
            places = np.asarray(np.clip(places, *_LIMITS))
    return places if n > _LIMITS[1] else places.astype(np.int32)
