"""Collectives: communication between the lanes of a vmap whose axis has a name.

All take the name of the axis: `irax.vmap(f, axis_name="i")`. Operands may be pytrees.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from irax import tree_util
from irax.core import axis_names
from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.promotion import convert
from irax.core.tracing import Tracer
from irax.lax.arguments import array_of, canonical_axis
from irax.lax.reductions import reduce_max, reduce_min, reduce_sum
from irax.lax.structure import reshape
from irax_compiler.ops import collective as ops

Groups = Sequence[Sequence[int]] | None

# ---- which lane ----------------------------------------------------------------------------------


def axis_index(axis_name: Any) -> Array:
    """Return the index of this lane along a mapped axis; along several, as if they were one axis.

    Args:
        axis_name: the name that a vmap around gives the axis, or a tuple of names.

    Returns:
        A scalar of int32.

    Raises:
        NameError: no vmap around gives an axis this name.

    >>> irax.vmap(lambda x: irax.lax.axis_index("i"), axis_name="i")(irax.numpy.ones(3))
    Array([0, 1, 2], dtype=int32)
    """
    what = "lax.axis_index"
    found: Any = None
    for name, size in _sizes(what, _names(axis_name)):
        index = bind(ops.AxisIndex(axis_names.text_of(name), size))
        found = index if found is None else found * size + index
    return array_of(what, np.int32(0)) if found is None else found


def axis_size(axis_name: Any) -> int:
    """Return the number of lanes of a mapped axis, or the product of those of several axes.

    Raises:
        NameError: no vmap around gives an axis this name.

    >>> irax.vmap(lambda x: x / irax.lax.axis_size("i"), axis_name="i")(irax.numpy.ones(4))
    Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    return math.prod(size for _, size in _sizes("lax.axis_size", _names(axis_name)))


# ---- folding -------------------------------------------------------------------------------------


def psum(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the sum over all lanes; for a Python number, that number times the number of lanes.

    Args:
        x: an array or a pytree of arrays; booleans count as int32.
        axis_name: the name of the mapped axis, or a tuple of names; an int among them is a
            dimension of the array.
        axis_index_groups: must be None.

    Returns:
        The sums, the same in each lane.

    Raises:
        NameError: no vmap around gives an axis this name.
        NotImplementedError: groups of lanes.

    >>> irax.vmap(lambda x: x / irax.lax.psum(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    what = "lax.psum"
    _no_groups(what, axis_index_groups)
    names, dimensions = _split(axis_name)
    sizes = _sizes(what, names)

    def total(leaf: Any) -> Any:
        if isinstance(leaf, int | float | complex) and not isinstance(leaf, bool):
            for _, size in sizes:
                leaf *= size
            return leaf
        array = array_of(what, leaf)
        if array.dtype == np.bool_:
            array = convert(array, np.dtype(np.int32))
        if dimensions:
            array = reduce_sum(array, dimensions)
        for name, size in sizes:
            array = _all_reduce(array, name, size, "add")
        return array

    return tree_util.tree_map(total, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the mean over all lanes; arguments, results and errors as for `psum`.

    >>> irax.vmap(lambda x: x - irax.lax.pmean(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([-1.,  1.], dtype=float32)
    """
    _no_groups("lax.pmean", axis_index_groups)
    count = psum(1, axis_name)
    return tree_util.tree_map(lambda total: total / count, psum(x, axis_name))


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the maximum over all lanes, element by element; arguments and errors as for `psum`. It
    has no derivative.

    >>> irax.vmap(lambda x: irax.lax.pmax(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([3., 3.], dtype=float32)
    """
    return _extremum("lax.pmax", x, axis_name, axis_index_groups, "maximum", reduce_max)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the minimum over all lanes, element by element; arguments and errors as for `psum`. It
    has no derivative.

    >>> irax.vmap(lambda x: irax.lax.pmin(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([1., 1.], dtype=float32)
    """
    return _extremum("lax.pmin", x, axis_name, axis_index_groups, "minimum", reduce_min)


def _extremum(
    what: str,
    x: Any,
    axis_name: Any,
    groups: Groups,
    combiner: str,
    within: Callable[[Array, Sequence[int]], Array],
) -> Any:
    _no_groups(what, groups)
    names, dimensions = _split(axis_name)
    sizes = _sizes(what, names)

    def extremum(leaf: Any) -> Array:
        array = array_of(what, leaf)
        if dimensions:
            array = within(array, dimensions)
        for name, size in sizes:
            array = _all_reduce(array, name, size, combiner)
        return array

    return tree_util.tree_map(extremum, x)


def _all_reduce(x: Array, name: Hashable, size: int, combiner: str) -> Array:
    """Reduce over all lanes; an array that is not traced is the same in all."""
    if not isinstance(x, Tracer):
        return x * size if combiner == "add" else x
    op = ops.AllReduce(axis_names.text_of(name), size, combiner)
    return bind(op, x, weak_type=x.aval.weak_type)


# ---- moving --------------------------------------------------------------------------------------


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Groups = None,
    axis: int = 0,
    tiled: bool = False,
) -> Any:
    """Gather the arrays of all lanes, in each of them.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis, or a tuple of names, which count as one axis.
        axis_index_groups: must be None.
        axis: the dimension of the result along which the lanes lie.
        tiled: lay them one after the other along a dimension that the array has, instead of along
            a new one.

    Returns:
        The arrays of all lanes, along `axis`: a new dimension, or a larger one if `tiled`.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such dimension.
        NotImplementedError: groups of lanes.

    >>> irax.vmap(lambda x: irax.lax.all_gather(x, "i"), axis_name="i")(irax.numpy.arange(2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    what = "lax.all_gather"
    _no_groups(what, axis_index_groups)
    sizes = _sizes(what, _names(axis_name))
    count = math.prod(size for _, size in sizes)

    def gather(leaf: Any) -> Array:
        array = array_of(what, leaf)
        place = canonical_axis(what, axis, array.ndim if tiled else array.ndim + 1)
        extents = list(array.shape)
        for name, size in reversed(sizes):
            array = bind(ops.AllGather(axis_names.text_of(name), size, place), array)
        if tiled:
            extents[place] *= count
        else:
            extents.insert(place, count)
        return reshape(array, tuple(extents))

    return tree_util.tree_map(gather, x)


def psum_scatter(
    x: Any,
    axis_name: Hashable,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Any:
    """Sum over all lanes, and give each lane one part of the sum.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis.
        scatter_dimension: the dimension that is parted, as large as the axis.
        axis_index_groups: must be None.
        tiled: keep that dimension, which may be a multiple of the axis.

    Returns:
        Part i of the sum, in lane i; without the dimension, if it is not `tiled`.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such dimension, or it is of another size.
        NotImplementedError: groups of lanes, or several names.

    >>> irax.vmap(lambda x: irax.lax.psum_scatter(x, "i"), axis_name="i")(irax.numpy.ones((2, 2)))
    Array([2., 2.], dtype=float32)
    """
    what = "lax.psum_scatter"
    _no_groups(what, axis_index_groups)
    name, size = _one(what, axis_name)

    def scatter(leaf: Any) -> Array:
        array = array_of(what, leaf)
        place = canonical_axis(what, scatter_dimension, array.ndim)
        array, part = _parted(what, array, place, name, size, tiled)
        found = bind(ops.ReduceScatter(axis_names.text_of(name), size, place), array)
        return reshape(found, part)

    return tree_util.tree_map(scatter, x)


def all_to_all(
    x: Any,
    axis_name: Hashable,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Any:
    """Exchange parts of arrays: lane j gets part j of the array of each lane.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis.
        split_axis: the dimension that is parted, as large as the axis.
        concat_axis: the dimension of the result along which the parts lie, by the lane they come
            from.
        axis_index_groups: must be None.
        tiled: keep the dimension that is parted, which may be a multiple of the axis, and lay
            parts one after the other along a dimension that the array has.

    Returns:
        The parts, one of each lane.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such dimension, or it is of another size.
        NotImplementedError: groups of lanes, or several names.

    >>> x = irax.numpy.arange(4).reshape(2, 2)
    >>> irax.vmap(lambda x: irax.lax.all_to_all(x, "i", 0, 0), axis_name="i")(x)
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    what = "lax.all_to_all"
    _no_groups(what, axis_index_groups)
    name, size = _one(what, axis_name)

    def exchange(leaf: Any) -> Array:
        array = array_of(what, leaf)
        split = canonical_axis(what, split_axis, array.ndim)
        concat = canonical_axis(what, concat_axis, array.ndim)
        array, part = _parted(what, array, split, name, size, tiled)
        found = bind(ops.AllToAll(axis_names.text_of(name), size, split, concat), array)
        if not tiled:
            return found
        extents = list(part)
        extents[concat] *= size
        return reshape(found, tuple(extents))

    return tree_util.tree_map(exchange, x)


def pswapaxes(x: Any, axis_name: Hashable, axis: int, *, axis_index_groups: Groups = None) -> Any:
    """Swap a mapped axis and a dimension of the same size: `all_to_all(x, axis_name, axis, axis)`;
    errors as there.

    >>> x = irax.numpy.arange(4).reshape(2, 2)
    >>> irax.vmap(lambda x: irax.lax.pswapaxes(x, "i", 0), axis_name="i")(x)
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def ppermute(x: Any, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> Any:
    """Send the arrays of lanes to other lanes.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis.
        perm: pairs (source, destination) of lanes; no lane is twice a source or a destination.

    Returns:
        The array that was sent to the lane; zeros if none was.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: a lane that does not exist, or is twice a source or a destination.
        NotImplementedError: several names.

    >>> shift = [(0, 1), (1, 2)]
    >>> irax.vmap(lambda x: irax.lax.ppermute(x, "i", shift), axis_name="i")(irax.numpy.ones(3))
    Array([0., 1., 1.], dtype=float32)
    """
    what = "lax.ppermute"
    name, size = _one(what, axis_name)
    pairs = [(operator.index(source), operator.index(target)) for source, target in perm]
    for side, kind in zip(zip(*pairs, strict=True), ("sends", "gets"), strict=False):
        if any(not 0 <= lane < size for lane in side):
            raise ValueError(
                f"{what}: perm={pairs} has a lane that there is not; the axis {name!r} has lanes "
                f"0 to {size - 1}"
            )
        if len(set(side)) != len(side):
            raise ValueError(f"{what}: perm={pairs} has a lane that {kind} twice")
    sources = [-1] * size
    for source, target in pairs:
        sources[target] = source
    op = ops.Permute(axis_names.text_of(name), size, tuple(sources))

    def permute(leaf: Any) -> Array:
        array = array_of(what, leaf)
        return bind(op, array, weak_type=array.aval.weak_type)

    return tree_util.tree_map(permute, x)


def pshuffle(x: Any, axis_name: Hashable, perm: Sequence[int]) -> Any:
    """Permute the lanes: lane i gets the array of lane `perm[i]`; errors as for `ppermute`.

    Raises:
        ValueError: `perm` is no permutation of the lanes.

    >>> irax.vmap(lambda x: irax.lax.pshuffle(x, "i", [1, 0]), axis_name="i")(irax.numpy.arange(2))
    Array([1, 0], dtype=int32)
    """
    name, size = _one("lax.pshuffle", axis_name)
    if sorted(perm) != list(range(size)):
        raise ValueError(
            f"lax.pshuffle: perm={list(perm)} is no permutation of the {size} lanes of {name!r}"
        )
    return ppermute(x, axis_name, list(zip(perm, range(size), strict=True)))


def pbroadcast(x: Any, axis_name: Hashable, source: int) -> Any:
    """Broadcast the array of the lane `source` to all lanes.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such lane.
        NotImplementedError: several names.

    >>> irax.vmap(lambda x: irax.lax.pbroadcast(x, "i", 1), axis_name="i")(irax.numpy.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    what = "lax.pbroadcast"
    name, size = _one(what, axis_name)
    if not 0 <= operator.index(source) < size:
        raise ValueError(
            f"{what}: source={source} is not one of the lanes 0 to {size - 1} of the axis {name!r}"
        )
    return tree_util.tree_map(lambda leaf: all_gather(leaf, axis_name)[source], x)


# ---- arguments -----------------------------------------------------------------------------------


def _names(axis_name: Any) -> tuple[Any, ...]:
    return tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)


def _split(axis_name: Any) -> tuple[list[Any], list[int]]:
    """The names of mapped axes, and the dimensions of the array."""
    names = _names(axis_name)
    dimensions = [n for n in names if isinstance(n, int)]
    return [n for n in names if not isinstance(n, int)], dimensions


def _sizes(what: str, names: Sequence[Any]) -> list[tuple[Any, int]]:
    return [(name, axis_names.size_of(name, what)) for name in names]


def _one(what: str, axis_name: Any) -> tuple[Hashable, int]:
    names = _names(axis_name)
    if len(names) != 1:
        raise NotImplementedError(f"{what}: expected the name of one axis, got {axis_name!r}")
    return _sizes(what, names)[0]


def _no_groups(what: str, groups: Groups) -> None:
    if groups is not None:
        raise NotImplementedError(
            f"{what}: axis_index_groups is not supported: map along an axis for each group "
            "(irax.vmap of irax.vmap) instead"
        )


def _parted(
    what: str, x: Array, dimension: int, name: Hashable, size: int, tiled: bool
) -> tuple[Array, tuple[int, ...]]:
    """The array with a dimension of exactly the axis's size, and the shape of a part: that without
    the dimension or, if it is `tiled`, with what is left of it.
    """
    length = x.shape[dimension]
    fits = length % size == 0 if tiled else length == size
    if not fits:
        raise ValueError(
            f"{what}: dimension {dimension} of {x.aval} must be "
            f"{'a multiple of' if tiled else 'as large as'} the axis {name!r}, {size}"
        )
    before, after = x.shape[:dimension], x.shape[dimension + 1 :]
    if not tiled:
        return x, (*before, *after)
    part = (*before, length // size, *after)
    return reshape(x, (*before, size, length // size, *after)), part
