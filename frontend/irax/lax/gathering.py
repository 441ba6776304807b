"""Reading and writing windows of an array at computed places, in their general forms."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import apply, broadcast_to, convert
from irax.core.key_arrays import KeyArray
from irax.core.trees import array_trees
from irax.lax.arguments import adapted, array_of, canonical_shape
from irax.lax.computations import computation_of
from irax.lax.structure import broadcast_in_dim, full
from irax.lax.window_numbers import check_numbers, check_windows
from irax.typing import ArrayLike
from irax_compiler.ops import bitwise, clamp, comparison, elementwise
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reductions import reduce, window_shapes

Dimensions = Sequence[int]


class GatherDimensionNumbers(NamedTuple):
    """The dimension numbers of a `gather`: they relate operand, indices and result.

    The last dimension of the indices holds the index vectors.
    """

    offset_dims: Dimensions
    """The dimensions of the result along which a window extends."""
    collapsed_slice_dims: Dimensions
    """The dimensions of the operand, with windows of size 1, that the result does not have."""
    start_index_map: Dimensions
    """The operand's dimension that each element of an index vector indexes."""
    operand_batching_dims: Dimensions = ()
    """The batching dimensions of the operand."""
    start_indices_batching_dims: Dimensions = ()
    """The dimensions of the indices that correspond to them, in order."""


class ScatterDimensionNumbers(NamedTuple):
    """The dimension numbers of a `scatter`: they relate operand, indices and updates.

    The last dimension of the indices holds the index vectors.
    """

    update_window_dims: Dimensions
    """The dimensions of the updates along which a window extends."""
    inserted_window_dims: Dimensions
    """The dimensions of the operand, with windows of size 1, that the updates do not have."""
    scatter_dims_to_operand_dims: Dimensions
    """The operand's dimension that each element of an index vector indexes."""
    operand_batching_dims: Dimensions = ()
    """The batching dimensions of the operand."""
    scatter_indices_batching_dims: Dimensions = ()
    """The dimensions of the indices that correspond to them, in order."""


class GatherScatterMode(enum.Enum):
    """The treatment of windows that do not lie within the operand."""

    CLIP = 1
    """They are moved inside."""
    FILL_OR_DROP = 2
    """A gather returns a fill value for them; a scatter drops them."""
    PROMISE_IN_BOUNDS = 3
    """The caller promises that there are none."""
    ONE_HOT = 4
    """As FILL_OR_DROP; the fill value is zero, as in a product with one-hot vectors."""

    @staticmethod
    def from_any(mode: GatherScatterMode | str | None) -> GatherScatterMode:
        """Return the mode of a name: "clip", "fill" or "drop" (also None), "promise_in_bounds",
        "one_hot".
        """
        if isinstance(mode, GatherScatterMode):
            return mode
        found = _MODES.get(mode)
        if found is None:
            raise ValueError(
                "GatherScatterMode: mode must be 'clip', 'fill', 'drop', 'promise_in_bounds' or "
                f"'one_hot', got {mode!r}"
            )
        return found


_MODES = {
    None: GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}


def _integers(what: str, indices: ArrayLike) -> Array:
    array = array_of(what, indices)
    if not dtypes.issubdtype(array.dtype, np.integer) or not array.ndim:
        raise TypeError(
            f"{what}: indices must be integers, with a last dimension for the index vectors, got "
            f"{array.aval}"
        )
    return array


def _ints(values: Dimensions) -> tuple[int, ...]:
    return tuple(map(operator.index, values))


def gather(
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: GatherScatterMode | str | None = None,
    fill_value: Any = None,
) -> Array:
    """Gather windows of the operand that begin at the index vectors.

    Args:
        operand: an array.
        start_indices: integers; the last dimension holds the index vectors.
        dimension_numbers: which dimensions correspond to each other.
        slice_sizes: the size of a window in each dimension of the operand.
        unique_indices: the caller promises that no two windows overlap; of no effect.
        indices_are_sorted: the caller promises that index vectors ascend.
        mode: what becomes of windows beyond the operand; by default they are filled.
        fill_value: with what; by default nan, the smallest signed or largest unsigned integer, or
            True.

    Raises:
        TypeError: indices that are not integers, or numbers that do not fit the shapes.

    >>> numbers = irax.lax.GatherDimensionNumbers((), (0,), (0,))
    >>> irax.lax.gather(irax.numpy.arange(4) * 10, irax.numpy.array([[3], [1]]), numbers, (1,))
    Array([30, 10], dtype=int32)
    """
    what = "lax.gather"
    x, indices = array_of(what, operand), _integers(what, start_indices)
    parsed = GatherScatterMode.from_any(mode)
    numbers = GatherDimensionNumbers(*map(_ints, dimension_numbers))
    sizes = _ints(slice_sizes)
    check_numbers(what, numbers, x.shape, indices.shape)
    check_windows(f"{what}: slice_sizes", numbers, x.shape, sizes)
    dims = window_shapes.WindowDims(
        _ints(numbers.offset_dims),
        _ints(numbers.collapsed_slice_dims),
        _ints(numbers.operand_batching_dims),
        _ints(numbers.start_indices_batching_dims),
        _ints(numbers.start_index_map),
        index_vector_dim=indices.ndim - 1,
    )
    op = gather_scatter.Gather(dims, sizes, indices_are_sorted)
    found = bind(op, x, indices, weak_type=x.weak_type)
    fills = parsed in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT)
    if not fills or not dims.index_map:
        return found
    if parsed is GatherScatterMode.ONE_HOT:
        fill_value = 0
    inside = _inside(indices, [x.shape[d] - sizes[d] for d in dims.index_map])
    batch = [d for d in range(found.ndim) if d not in dims.window_dims]
    inside = broadcast_in_dim(inside, found.shape, batch)
    fill = default_fill(x.dtype) if fill_value is None else fill_value
    fill = convert(array_of(what, fill), x.dtype, x.weak_type)
    return bind(comparison.select, inside, found, full(found.shape, fill), weak_type=x.weak_type)


def take_along(x: Array, places: Array, axis: int) -> Array:
    """Take elements along one axis at indices that differ for each position of the other axes; the
    indices are broadcast along the others.
    """
    places = broadcast_to(places, (*x.shape[:axis], places.shape[axis], *x.shape[axis + 1 :]))
    batching = tuple(d for d in range(x.ndim) if d != axis)
    dims = window_shapes.WindowDims(
        collapsed_dims=(axis,),
        operand_batching_dims=batching,
        indices_batching_dims=batching,
        index_map=(axis,),
        index_vector_dim=x.ndim,
    )
    op = gather_scatter.Gather(dims, (1,) * x.ndim, indices_are_sorted=False)
    return bind(op, x, places, weak_type=x.weak_type)


def default_fill(dtype: np.dtype[Any]) -> Any:
    """Return the value that a read beyond an array gives: nan, the smallest signed or largest
    unsigned integer, or True.
    """
    if dtypes.issubdtype(dtype, np.inexact):
        return np.nan
    if dtype == np.bool:
        return True
    if isinstance(dtype, dtypes.KeyType):
        words = np.full(dtype.words, 0xFFFFFFFF, np.uint32)
        return KeyArray(array_of("fill", words), dtype)
    info = dtypes.iinfo(dtype)
    value = info.min if dtypes.issubdtype(dtype, np.signedinteger) else info.max
    return np.array(value, dtype)


def _limits(indices: Array, limits: Sequence[int]) -> Array:
    """The largest start in each dimension, in the dtype of the indices."""
    most = dtypes.iinfo(indices.dtype).max
    return array_of("limits", np.array([min(n, most) for n in limits], indices.dtype))


def _inside(indices: Array, limits: Sequence[int]) -> Array:
    """Return True for each index vector whose window lies within the operand."""
    low = apply(comparison.greater_equal, indices, 0, what="gather")
    most = broadcast_to(_limits(indices, limits), indices.shape)
    high = apply(comparison.less_equal, indices, most, what="gather")
    both = apply(bitwise.and_, low, high, what="gather")
    true = array_of("gather", np.bool(True))
    return bind(reduce.Reduce("and", (indices.ndim - 1,)), both, true)


def _apart(indices: Array, limits: Sequence[int], extents: Sequence[int]) -> Array:
    """Return indices of which windows that are partly outside of the operand are so as a whole.
    They are dropped; StableHLO would write the elements that are inside.
    """
    if max(extents) > dtypes.iinfo(indices.dtype).max:
        indices = convert(indices, np.dtype(np.int32))
    batch = range(indices.ndim - 1)
    inside = broadcast_in_dim(_inside(indices, limits), indices.shape, batch)
    beyond = array_of("scatter", np.array(extents, indices.dtype))
    return bind(comparison.select, inside, indices, broadcast_to(beyond, indices.shape))


def _scatter(
    name: str,
    combiner: str,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode | str | None,
    computation: Computation | None = None,
) -> Array:
    what = f"lax.{name}"
    x, new = as_arrays([operand, updates], what)
    indices = _integers(what, scatter_indices)
    new = adapted(new, x.dtype)
    if new.dtype != x.dtype:
        raise TypeError(f"{what}: updates must have the operand's dtype {x.dtype}, got {new.dtype}")
    numbers = ScatterDimensionNumbers(*map(_ints, dimension_numbers))
    check_numbers(what, numbers, x.shape, indices.shape)
    dims = window_shapes.WindowDims(
        _ints(numbers.update_window_dims),
        _ints(numbers.inserted_window_dims),
        _ints(numbers.operand_batching_dims),
        _ints(numbers.scatter_indices_batching_dims),
        _ints(numbers.scatter_dims_to_operand_dims),
        index_vector_dim=indices.ndim - 1,
    )
    window = set(numbers.update_window_dims)
    batch = tuple(n for d, n in enumerate(new.shape) if d not in window)
    if batch != indices.shape[:-1] or new.ndim != len(batch) + len(window):
        raise TypeError(
            f"{what}: updates of shape {new.shape} do not fit: but for "
            f"update_window_dims={numbers.update_window_dims}, they must have the dimensions of "
            f"the indices, {indices.shape[:-1]}"
        )
    inserted = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    sizes = dims.sizes(x.shape, new.shape)
    extents = [0 if d in inserted else n for d, n in enumerate(sizes)]
    check_windows(f"{what}: the sizes of windows", numbers, x.shape, extents)
    parsed = GatherScatterMode.from_any(mode)
    ends = [x.shape[d] - sizes[d] for d in dims.index_map]
    is_dropped = parsed in (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT)
    if is_dropped and any(sizes[d] > 1 for d in dims.index_map):
        indices = _apart(indices, ends, [x.shape[d] for d in dims.index_map])
    if parsed is GatherScatterMode.CLIP and dims.index_map:
        limits = broadcast_to(_limits(indices, ends), indices.shape)
        zero = array_of(what, np.zeros((), indices.dtype))
        indices = bind(clamp.clamp, zero, indices, limits)
        indices_are_sorted = False
    if combiner == "subtract":
        combiner, new = "add", apply(elementwise.negate, new, what=what)
    if computation is None:
        op = gather_scatter.Scatter(combiner, dims, indices_are_sorted, unique_indices)
        return bind(op, x, indices, new, weak_type=x.weak_type)
    by = gather_scatter.ScatterBy(computation, dims, indices_are_sorted, unique_indices)
    return bind(by, x, indices, new)[0].with_weak_type(x.weak_type)


class ScatterFunction(Protocol):
    """A function that writes windows of an array."""

    def __call__(
        self,
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: GatherScatterMode | str | None = None,
    ) -> Array: ...


def _scatter_function(name: str, combiner: str, effect: str, example: str) -> ScatterFunction:
    def function(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: GatherScatterMode | str | None = None,
    ) -> Array:
        return _scatter(
            name,
            combiner,
            operand,
            scatter_indices,
            updates,
            dimension_numbers,
            indices_are_sorted,
            unique_indices,
            mode,
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""The operand, with the updates {effect} what begins at the index vectors.

    Args:
        operand: an array.
        scatter_indices: integers; the last dimension holds the index vectors.
        updates: windows, of the operand's dtype.
        dimension_numbers: which dimensions correspond to each other.
        indices_are_sorted: the caller promises that index vectors ascend.
        unique_indices: the caller promises that no two windows overlap.
        mode: what becomes of windows beyond the operand; by default they are left out.

    Raises:
        TypeError: indices that are not integers, another dtype, or numbers that do not fit.

    >>> x, five = jnp.array([1.0, 2.0, 3.0]), jnp.array([5.0])
    >>> numbers = irax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> irax.lax.{name}(x, jnp.array([[1]]), five, numbers)
    Array({example}, dtype=float32)
    """
    return function


scatter: ScatterFunction = _scatter_function("scatter", "set", "in place of", "[1., 5., 3.]")
scatter_add: ScatterFunction = _scatter_function("scatter_add", "add", "added to", "[1., 7., 3.]")
scatter_sub: ScatterFunction = _scatter_function(
    "scatter_sub", "subtract", "subtracted from", "[ 1., -3.,  3.]"
)
scatter_mul: ScatterFunction = _scatter_function(
    "scatter_mul", "multiply", "multiplied with", "[ 1., 10.,  3.]"
)
scatter_min: ScatterFunction = _scatter_function(
    "scatter_min", "minimum", "taken as upper bounds of", "[1., 2., 3.]"
)
scatter_max: ScatterFunction = _scatter_function(
    "scatter_max", "maximum", "taken as lower bounds of", "[1., 5., 3.]"
)


def scatter_apply(
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    func: Callable[[Array], Array],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: GatherScatterMode | str | None = None,
) -> Array:
    """Apply a function to each element of the windows of the operand.

    Where windows overlap it is done once for each. It has derivatives, and `vmap`, where they are
    said not to (`unique_indices`), or where there is but one.

    Args:
        operand: an array.
        scatter_indices: integers; the last dimension holds the index vectors.
        func: takes and returns a scalar of the operand's dtype.
        dimension_numbers: which dimensions correspond to each other.
        update_shape: the shape of updates, as `scatter_add` would take them.
        indices_are_sorted: the caller promises that index vectors ascend.
        unique_indices: the caller promises that no two windows overlap.
        mode: what becomes of windows beyond the operand; by default they are left out.

    Raises:
        TypeError: indices that are not integers, a function that gives another dtype, or numbers
            that do not fit.
        NotImplementedError: a function that uses traced values from outside.

    >>> numbers = irax.lax.ScatterDimensionNumbers((), (0,), (0,))
    >>> x, places = irax.numpy.arange(3.0), irax.numpy.array([[2], [1]])
    >>> irax.lax.scatter_apply(x, places, lambda y: 10 * y, numbers, update_shape=(2,))
    Array([ 0., 10., 20.], dtype=float32)
    """
    what = "lax.scatter_apply"
    x = array_of(what, operand)
    one = array_trees.tree_structure(0)
    computation, tree = computation_of(
        what, lambda old, _: func(old), [(one, [x.dtype]), (one, [x.dtype])]
    )
    if tree != one or computation.result_dtypes != [x.dtype]:
        raise TypeError(f"{what}: func must return a scalar of the operand's dtype {x.dtype}")
    return _scatter(
        "scatter_apply",
        "",
        x,
        scatter_indices,
        full(canonical_shape(what, update_shape), 0, x.dtype),
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
        computation,
    )
