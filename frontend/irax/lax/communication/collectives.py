"""Collectives: communication between the lanes of a vmap whose axis has a name, or between the
devices of a mesh in a `shard_map`.

All take the name of the axis: `irax.vmap(f, axis_name="i")`. Operands may be pytrees.

In a `shard_map` that checks which values are the same on all devices, operands count as differing
between them, and sums and extrema as being the same.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from irax import tree_util
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import convert, select
from irax.core.shardings import axis_names
from irax.core.shardings.axis_names import BoundAxis, text_of
from irax.core.shardings.forbidden_axes import check_collective
from irax.core.shardings.pvary import pvary
from irax.core.tracing import Tracer
from irax.lax.arguments import array_of, canonical_axis
from irax.lax.communication.lane_groups import LaneGroups
from irax.lax.reductions import reduce_max, reduce_min, reduce_sum
from irax.lax.slicing import dynamic_index_in_dim
from irax.lax.structure import reshape, transpose
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
    return _index(_found("lax.axis_index", _names(axis_name)))


def _index(axes: Sequence[BoundAxis]) -> Array:
    """The index of this lane along some axes, as if they were one."""
    found: Any = None
    for axis in axes:
        index = bind(ops.AxisIndex(text_of(axis.name), axis.size))
        found = index if found is None else found * axis.size + index
    return as_array(np.int32(0)) if found is None else found


def axis_size(axis_name: Any) -> int:
    """Return the number of lanes of a mapped axis, or the product of those of several axes.

    Args:
        axis_name: the name of a mapped axis, or a tuple of names.

    Raises:
        NameError: no vmap around gives an axis this name.

    >>> irax.vmap(lambda x: x / irax.lax.axis_size("i"), axis_name="i")(irax.numpy.ones(4))
    Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    return _width(_found("lax.axis_size", _names(axis_name)), ())


# ---- folding -------------------------------------------------------------------------------------


def psum(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the sum over all lanes; for a Python number, that number times the number of lanes.

    Args:
        x: an array or a pytree of arrays; booleans count as int32.
        axis_name: the name of the mapped axis, or a tuple of names; an int among them is a
            dimension of the array.
        axis_index_groups: groups of lanes, each of which communicates by itself; by default all
            lanes do together. Lanes of several axes count as those of one, the last axis fastest.

    Returns:
        The sums, the same in each lane.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: a lane is not in one group; or in a `shard_map`, the array differs between
            devices along some of the axes, and is the same along others.

    >>> irax.vmap(lambda x: x / irax.lax.psum(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    what = "lax.psum"
    names, dimensions = _split(axis_name)
    axes = _axes(what, names)
    groups = _groups(what, axis_index_groups, axes, of_one_size=False)

    def total(leaf: Any) -> Any:
        if isinstance(leaf, int | float | complex) and not isinstance(leaf, bool):
            return leaf * _own_width(axes, groups)
        array = array_of(what, leaf)
        _check_alike(what, array, axes)
        if array.dtype == np.bool_:
            array = convert(array, np.dtype(np.int32))
        if dimensions:
            array = reduce_sum(array, dimensions)
        return _all_reduce(array, axes, "add", groups)

    return tree_util.tree_map(total, x)


def pmean(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the mean over all lanes; arguments, results and errors as for `psum`.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis, or a tuple of names.
        axis_index_groups: groups of lanes, each of which communicates by itself; by default all do.

    Raises:
        NameError: no vmap around gives an axis this name.

    >>> irax.vmap(lambda x: x - irax.lax.pmean(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([-1.,  1.], dtype=float32)
    """
    count = psum(1, axis_name, axis_index_groups=axis_index_groups)
    totals = psum(x, axis_name, axis_index_groups=axis_index_groups)
    return tree_util.tree_map(lambda total: total / count, totals)


def pmax(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the maximum over all lanes, element by element; arguments and errors as for `psum`. It
    has no derivative.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis, or a tuple of names.
        axis_index_groups: groups of lanes, each of which communicates by itself; by default all do.

    Raises:
        NameError: no vmap around gives an axis this name.

    >>> irax.vmap(lambda x: irax.lax.pmax(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([3., 3.], dtype=float32)
    """
    return _extremum("lax.pmax", x, axis_name, axis_index_groups, "maximum", reduce_max)


def pmin(x: Any, axis_name: Any, *, axis_index_groups: Groups = None) -> Any:
    """Return the minimum over all lanes, element by element; arguments and errors as for `psum`. It
    has no derivative.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis, or a tuple of names.
        axis_index_groups: groups of lanes, each of which communicates by itself; by default all do.

    Raises:
        NameError: no vmap around gives an axis this name.

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
    names, dimensions = _split(axis_name)
    axes = _axes(what, names)
    own_groups = _groups(what, groups, axes, of_one_size=False)

    def extremum(leaf: Any) -> Array:
        array = array_of(what, leaf)
        if dimensions:
            array = within(array, dimensions)
        return _all_reduce(array, axes, combiner, own_groups)

    return tree_util.tree_map(extremum, x)


def _check_alike(what: str, x: Array, axes: Sequence[BoundAxis]) -> None:
    """Raise ValueError for an array that differs between devices along some axes alone."""
    checked = {text_of(axis.name) for axis in axes if axis.is_checked}
    varying = checked & x.aval.vma
    if varying and varying != checked:
        same = sorted(checked - varying)
        raise ValueError(
            f"{what}: an array of type {x.aval} differs between devices along {sorted(varying)}, "
            f"and is the same along {same}: sum it along each by itself, or cast it before by "
            f'irax.lax.pcast(x, {tuple(same)}, to="varying")'
        )


def _all_reduce(x: Array, axes: Sequence[BoundAxis], combiner: str, groups: ops.Groups) -> Array:
    """Reduce over all lanes; an array that is not traced is the same in all."""
    if not isinstance(x, Tracer):
        return x * _own_width(axes, groups) if combiner == "add" else x
    x = _varying(x, axes)
    if not _are_of_an_op(axes, groups):
        own = LaneGroups(groups, _index(axes))
        return own.reduced(x, combiner, lambda rows: _all_reduce(rows, axes, combiner, ()))
    for axis in axes:
        is_invariant = axis.is_checked and not groups
        op = ops.AllReduce(text_of(axis.name), axis.size, combiner, groups, is_invariant)
        x = bind(op, x, weak_type=x.aval.weak_type)
    return x


# ---- moving --------------------------------------------------------------------------------------


def all_gather(
    x: Any,
    axis_name: Any,
    *,
    axis_index_groups: Groups = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Any:
    """Gather the arrays of all lanes, in each of them.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis, or a tuple of names, which count as one axis.
        axis_index_groups: groups of lanes, as large as each other, each of which communicates by
            itself; by default all lanes do together.
        axis: the dimension of the result along which the lanes lie.
        tiled: lay them one after the other along a dimension that the array has, instead of along
            a new one.
        to: "varying", or "invarying" or "reduced" for a result that counts as the same on all
            devices of a mesh.

    Returns:
        The arrays of all lanes, along `axis`: a new dimension, or a larger one if `tiled`.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such dimension, `to` is none of these, or groups have several sizes.

    >>> irax.vmap(lambda x: irax.lax.all_gather(x, "i"), axis_name="i")(irax.numpy.arange(2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    what = "lax.all_gather"
    if to not in ("varying", "invarying", "reduced"):
        raise ValueError(f'{what}: to must be "varying", "invarying" or "reduced", got {to!r}')
    names = _names(axis_name)
    axes = _axes(what, names)
    groups = _groups(what, axis_index_groups, axes)
    count = _width(axes, groups)

    def gather(leaf: Any) -> Array:
        array = _varying(array_of(what, leaf), axes)
        place = canonical_axis(what, axis, array.ndim if tiled else array.ndim + 1)
        extents = list(array.shape)
        if not _are_of_an_op(axes, groups):
            rows = LaneGroups(groups, _index(axes)).taken(all_gather(array, names))
            array = _moved(rows, 0, place)
        else:
            for each in reversed(axes):
                name = text_of(each.name)
                op = ops.AllGather(name, each.size, place, groups, invariant=to != "varying")
                array = bind(op, array)
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
        axis_index_groups: groups of lanes, as large as each other, each of which communicates by
            itself; by default all lanes do together.
        tiled: keep that dimension, which may be a multiple of the axis.

    Returns:
        Part i of the sum, in lane i; without the dimension, if it is not `tiled`.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such dimension, it is of another size, or groups are not of one
            size.

    >>> irax.vmap(lambda x: irax.lax.psum_scatter(x, "i"), axis_name="i")(irax.numpy.ones((2, 2)))
    Array([2., 2.], dtype=float32)
    """
    what = "lax.psum_scatter"
    axes = _axes(what, _names(axis_name))
    groups = _groups(what, axis_index_groups, axes)

    def scatter(leaf: Any) -> Array:
        array = _varying(array_of(what, leaf), axes)
        place = canonical_axis(what, scatter_dimension, array.ndim)
        array, part = _parted(what, array, place, axes, groups, tiled)
        if not _are_of_an_op(axes, groups):
            whole = _all_reduce(array, axes, "add", groups)
            return reshape(LaneGroups(groups, _index(axes)).own_part(whole, place), part)
        for axis in axes:
            array = bind(ops.ReduceScatter(text_of(axis.name), axis.size, place, groups), array)
        return reshape(array, part)

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
        axis_index_groups: groups of lanes, as large as each other, each of which communicates by
            itself; by default all lanes do together.
        tiled: keep the dimension that is parted, which may be a multiple of the axis, and lay
            parts one after the other along a dimension that the array has.

    Returns:
        The parts, one of each lane.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such dimension, it is of another size, or groups are not of one
            size.

    >>> x = irax.numpy.arange(4).reshape(2, 2)
    >>> irax.vmap(lambda x: irax.lax.all_to_all(x, "i", 0, 0), axis_name="i")(x)
    Array([[0, 2],
           [1, 3]], dtype=int32)
    """
    what = "lax.all_to_all"
    axes = _axes(what, _names(axis_name))
    groups = _groups(what, axis_index_groups, axes)
    count = _width(axes, groups)

    def exchange(leaf: Any) -> Array:
        array = _varying(array_of(what, leaf), axes)
        split = canonical_axis(what, split_axis, array.ndim)
        concat = canonical_axis(what, concat_axis, array.ndim)
        array, part = _parted(what, array, split, axes, groups, tiled)
        if not _are_of_an_op(axes, groups):
            own = LaneGroups(groups, _index(axes))
            rows = own.taken(all_gather(array, _names(axis_name)))
            found = _moved(own.own_part(rows, split + 1), 0, concat)
        elif len(axes) == 1:
            (axis,) = axes
            name = text_of(axis.name)
            found = bind(ops.AllToAll(name, axis.size, split, concat, groups), array)
        else:
            found = _exchanged(array, split, concat, axes)
        if not tiled:
            return found
        extents = list(part)
        extents[concat] *= count
        return reshape(found, tuple(extents))

    return tree_util.tree_map(exchange, x)


def _exchanged(x: Array, split: int, concat: int, axes: Sequence[BoundAxis]) -> Array:
    """The exchange along several axes, each of which has a dimension of the array from `split` on,
    one axis after the other.
    """
    count = len(axes)
    rest = [d for d in range(x.ndim) if not split <= d < split + count]
    x = transpose(x, [*range(split, split + count), *rest])
    for place, axis in enumerate(axes):
        x = bind(ops.AllToAll(text_of(axis.name), axis.size, place, place), x)
    whole = reshape(x, (math.prod(x.shape[:count]), *x.shape[count:]))
    return transpose(whole, [*range(1, concat + 1), 0, *range(concat + 1, whole.ndim)])


def pswapaxes(x: Any, axis_name: Hashable, axis: int, *, axis_index_groups: Groups = None) -> Any:
    """Swap a mapped axis and a dimension of the same size: `all_to_all(x, axis_name, axis, axis)`;
    errors as there.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis.
        axis: the dimension, an int.
        axis_index_groups: groups of lanes, each of which communicates by itself; by default all do.

    Raises:
        NameError: no vmap around gives an axis this name.

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

    >>> shift = [(0, 1), (1, 2)]
    >>> irax.vmap(lambda x: irax.lax.ppermute(x, "i", shift), axis_name="i")(irax.numpy.ones(3))
    Array([0., 1., 1.], dtype=float32)
    """
    what = "lax.ppermute"
    axes = _axes(what, _names(axis_name))
    size = _width(axes, ())
    pairs = [(operator.index(source), operator.index(target)) for source, target in perm]
    for side, kind in zip(zip(*pairs, strict=True), ("sends", "gets"), strict=False):
        if any(not 0 <= lane < size for lane in side):
            raise ValueError(
                f"{what}: perm={pairs} has a lane that there is not; the axis {axis_name!r} has "
                f"lanes 0 to {size - 1}"
            )
        if len(set(side)) != len(side):
            raise ValueError(f"{what}: perm={pairs} has a lane that {kind} twice")
    sources = [-1] * size
    for source, target in pairs:
        sources[target] = source

    def permute(leaf: Any) -> Array:
        array = _varying(array_of(what, leaf), axes)
        if len(axes) != 1:
            return _taken(array, axis_name, sources)
        op = ops.Permute(text_of(axes[0].name), size, tuple(sources))
        return bind(op, array, weak_type=array.aval.weak_type)

    return tree_util.tree_map(permute, x)


def _taken(x: Array, axis_name: Any, sources: Sequence[int]) -> Array:
    """The array of the lane of several axes that is this lane's source, or zeros."""
    whole = all_gather(x, axis_name)
    source = as_array(np.array(sources, np.int32))[axis_index(axis_name)]
    row = dynamic_index_in_dim(whole, source, 0, keepdims=False)
    return select(source >= 0, row, 0, "lax.ppermute")


def pshuffle(x: Any, axis_name: Hashable, perm: Sequence[int]) -> Any:
    """Permute the lanes: lane i gets the array of lane `perm[i]`; errors as for `ppermute`.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis.
        perm: a permutation of the lanes' numbers.

    Raises:
        ValueError: `perm` is no permutation of the lanes.

    >>> irax.vmap(lambda x: irax.lax.pshuffle(x, "i", [1, 0]), axis_name="i")(irax.numpy.arange(2))
    Array([1, 0], dtype=int32)
    """
    size = _width(_axes("lax.pshuffle", _names(axis_name)), ())
    if sorted(perm) != list(range(size)):
        raise ValueError(
            f"lax.pshuffle: perm={list(perm)} is no permutation of the {size} lanes of "
            f"{axis_name!r}"
        )
    return ppermute(x, axis_name, list(zip(perm, range(size), strict=True)))


def pbroadcast(x: Any, axis_name: Hashable, source: int) -> Any:
    """Broadcast the array of the lane `source` to all lanes.

    Args:
        x: an array or a pytree of arrays.
        axis_name: the name of the mapped axis.
        source: the number of a lane.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: there is no such lane.

    >>> irax.vmap(lambda x: irax.lax.pbroadcast(x, "i", 1), axis_name="i")(irax.numpy.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    what = "lax.pbroadcast"
    size = _width(_axes(what, _names(axis_name)), ())
    if not 0 <= operator.index(source) < size:
        raise ValueError(
            f"{what}: source={source} is not one of the lanes 0 to {size - 1} of the axis "
            f"{axis_name!r}"
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


def _axes(what: str, names: Sequence[Any]) -> list[BoundAxis]:
    """The axes of a collective."""
    found = _found(what, names)
    check_collective(what, found)
    return found


def _found(what: str, names: Sequence[Any]) -> list[BoundAxis]:
    return [axis_names.find(name, what) for name in names]


def _are_of_an_op(axes: Sequence[BoundAxis], groups: ops.Groups) -> bool:
    """True for groups that the ops have: of one size, along one axis."""
    return not groups or (len(axes) == 1 and len(set(map(len, groups))) == 1)


def _moved(x: Array, source: int, target: int) -> Array:
    """An array with one of its dimensions in another place."""
    order = [d for d in range(x.ndim) if d != source]
    order.insert(target, source)
    return transpose(x, order)


def _own_width(axes: Sequence[BoundAxis], groups: ops.Groups) -> Any:
    """The number of lanes that communicate with this one."""
    if len(set(map(len, groups))) < 2:
        return _width(axes, groups)
    return LaneGroups(groups, _index(axes)).size


def _width(axes: Sequence[BoundAxis], groups: ops.Groups) -> int:
    """The number of lanes that communicate with each other, where it is the same for all."""
    return len(groups[0]) if groups else math.prod(axis.size for axis in axes)


def _varying(x: Array, axes: Sequence[BoundAxis]) -> Array:
    """An array that counts as differing between devices along the axes."""
    return pvary(x, {text_of(axis.name) for axis in axes if axis.is_checked})


def _groups(
    what: str, groups: Groups, axes: Sequence[BoundAxis], of_one_size: bool = True
) -> ops.Groups:
    """Groups of lanes, checked.

    Raises:
        ValueError: they are not all the lanes, each once, or not of one size, if they must be.
    """
    if groups is None:
        return ()
    given = tuple(tuple(map(operator.index, group)) for group in groups)
    lanes = sorted(lane for group in given for lane in group)
    count = math.prod(axis.size for axis in axes)
    if lanes != list(range(count)) or not all(given):
        raise ValueError(
            f"{what}: axis_index_groups={groups!r} must cover all of the {count} lanes of "
            f"{', '.join(repr(axis.name) for axis in axes)} exactly once, in groups that have some"
        )
    if of_one_size and len({len(group) for group in given}) != 1:
        raise ValueError(f"{what}: axis_index_groups={groups!r} must be of one size")
    return given


def _parted(
    what: str,
    x: Array,
    dimension: int,
    axes: Sequence[BoundAxis],
    groups: ops.Groups,
    tiled: bool,
) -> tuple[Array, tuple[int, ...]]:
    """The array with a dimension for each axis, and the shape of a part: that without these
    dimensions or, if it is `tiled`, with what is left of the one that they were.
    """
    length, count = x.shape[dimension], _width(axes, groups)
    fits = length % count == 0 if tiled else length == count
    if not fits:
        named = ", ".join(repr(axis.name) for axis in axes)
        raise ValueError(
            f"{what}: dimension {dimension} of {x.aval} must be "
            f"{'a multiple of' if tiled else 'as large as'} the axis {named}, {count}"
        )
    before, after = x.shape[:dimension], x.shape[dimension + 1 :]
    rest = (length // count, *after) if tiled else after
    sizes = (count,) if groups else tuple(axis.size for axis in axes)
    return reshape(x, (*before, *sizes, *rest)), (*before, *rest)
