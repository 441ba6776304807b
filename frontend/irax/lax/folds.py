"""Reductions by any computation: reduce, and reduce_window for windows that slide over arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import Array
from irax.core.dimensions import size_of
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.python_ints import check_ints
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.dtypes import result_type
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_axes
from irax.lax.computations import computation_of
from irax.lax.convolution import padtype_to_pads
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.reduce_window import ReduceWindow, Window
from irax_compiler.ops.reductions import reduce as reduction
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce

Pads = Sequence[tuple[int, int]]


@takes_out_sharding("lax.reduce", sums=True)
def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Reduce dimensions of one array, or of several at once, by any associative computation.

    Args:
        operands: an array, or a pytree of arrays of one shape.
        init_values: of the same structure, for each array a scalar of its dtype: the identity of
            the computation, which may be combined any number of times.
        computation: takes two pytrees of scalars of that structure, the accumulator and the next
            element, and returns one.
        dimensions: the dimensions to reduce.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        A pytree of arrays without these dimensions.

    Raises:
        TypeError: dtypes or shapes that differ, init values that are no scalars, or a computation
            that returns something else.
        ValueError: structures that differ, or no such dimensions.
        NotImplementedError: a computation that is not one element by element.

    >>> irax.lax.reduce(irax.numpy.arange(4), 0, lambda x, y: x + y, (0,))
    Array(6, dtype=int32)
    """
    what = "lax.reduce"
    arrays, inits, tree = _operands(what, operands, init_values)
    axes = canonical_axes(what, tuple(dimensions), arrays[0].ndim)
    combiner = _combiner(what, computation, arrays, tree)
    if isinstance(combiner, str):
        results = [bind(reduction.Reduce(combiner, axes), arrays[0], inits[0])]
    else:
        results = bind(VariadicReduce(combiner, axes), *arrays, *inits)
    return array_trees.tree_unflatten(tree, _weak_as(results, arrays, inits))


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Pads = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Reduce each of the windows that slide over an array, or over several at once.

    Args:
        operand: an array, or a pytree of arrays of one shape.
        init_value: of the same structure, a scalar for each array, which is what is padded with.
        computation: as for `reduce`.
        window_dimensions: the size of a window in each dimension.
        window_strides: the distance between starts of windows; by default 1.
        padding: before and after each dimension, or "VALID", "SAME" or "SAME_LOWER", which are
            counted for the array without `base_dilation`.
        base_dilation: the distance of the array's elements; by default 1.
        window_dilation: the distance of a window's elements; by default 1.

    Raises:
        TypeError, ValueError, NotImplementedError: as `reduce`; and numbers that are not one for
            each dimension, or not positive.

    >>> x = irax.numpy.arange(5.0)
    >>> irax.lax.reduce_window(x, -irax.numpy.inf, irax.lax.max, (3,), (2,))
    Array([2., 4.], dtype=float32)
    """
    what = "lax.reduce_window"
    arrays, inits, tree = _operands(what, operand, init_value)
    window = _window(
        what,
        arrays[0].shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation,
        window_dilation,
    )
    combiner = _combiner(what, computation, arrays, tree)
    results = bind(ReduceWindow(combiner, window), *arrays, *inits)
    return array_trees.tree_unflatten(tree, _weak_as(results, arrays, inits))


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Pads,
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """Return the number of windows in each dimension of an array: the shape of `reduce_window`.

    Args:
        operand_shape: the shape of the array.
        window_dimensions: the shape of the window.
        window_strides: an int for each dimension.
        padding: "SAME", "VALID", or a pair of ints for each dimension.
        base_dilation: the distance of the array's elements, an int for each dimension.
        window_dilation: the distance of the window's elements, an int for each dimension.

    Raises:
        TypeError: shapes or strides that are not ints.
        RuntimeError: another name of a padding.

    >>> irax.lax.reduce_window_shape_tuple((5,), (3,), (2,), "SAME")
    (3,)
    """
    what = "lax.reduce_window_shape_tuple"
    shape = tuple(map(operator.index, operand_shape))
    window = _window(
        what,
        shape,
        window_dimensions,
        window_strides,
        padding,
        base_dilation,
        window_dilation,
    )
    return window.count(shape)


def _operands(what: str, operands: Any, inits: Any) -> tuple[list[Array], list[Array], Any]:
    """The arrays and init values, of the arrays' dtypes, and their structure."""
    leaves, tree = array_trees.tree_flatten(operands)
    starts, init_tree = array_trees.tree_flatten(inits)
    if tree != init_tree:
        raise ValueError(f"{what}: operands have the structure {tree}, init values {init_tree}")
    if not leaves:
        raise ValueError(f"{what}: expected at least one array")
    arrays, values = as_arrays(leaves, what), as_arrays(starts, what)
    for i, (x, init) in enumerate(zip(arrays, values, strict=True)):
        if x.shape != arrays[0].shape:
            raise TypeError(
                f"{what}: got operands of shapes {arrays[0].shape} and {x.shape}; expected one "
                "shape"
            )
        if init.ndim:
            raise TypeError(f"{what}: an init value must be a scalar, got shape {init.shape}")
        check_ints(starts[i : i + 1], x.dtype, f"{what}: init value")
        if init.weak_type and result_type(x, init) == x.dtype:
            values[i] = init = convert(init, x.dtype)
        if init.dtype != x.dtype:
            raise TypeError(
                f"{what}: an init value must have its operand's dtype {x.dtype}, got {init.dtype}"
            )
    return arrays, values, tree


def _combiner(
    what: str, computation: Callable[[Any, Any], Any], arrays: Sequence[Array], tree: Any
) -> str | Computation:
    """Return the named combiner that a computation is, or else the computation itself."""
    dtypes = [x.dtype for x in arrays]
    found, out_tree = computation_of(what, computation, [(tree, dtypes), (tree, dtypes)])
    if out_tree != tree or found.result_dtypes != dtypes:
        given = ", ".join(map(str, found.result_dtypes))
        expected = ", ".join(map(str, dtypes))
        raise TypeError(
            f"{what}: {name_of(computation)} must return {expected} in the structure {tree}, got "
            f"{given} in {out_tree}"
        )
    name = found.operation(0, (0, 1)) if len(arrays) == 1 else None
    return name if name in reduction.COMBINERS else found


def _weak_as(
    results: Sequence[Array], arrays: Sequence[Array], inits: Sequence[Array]
) -> list[Array]:
    sources = zip(results, arrays, inits, strict=True)
    return [r.with_weak_type(x.weak_type and init.weak_type) for r, x, init in sources]


def _window(
    what: str,
    shape: tuple[int, ...],
    sizes: Sequence[int],
    strides: Sequence[int] | None,
    padding: str | Pads,
    base_dilation: Sequence[int] | None,
    window_dilation: Sequence[int] | None,
) -> Window:
    def positive(name: str, given: Sequence[int] | None) -> tuple[int, ...]:
        numbers = (1,) * len(shape) if given is None else tuple(map(operator.index, given))
        if len(numbers) != len(shape) or any(n < 1 for n in numbers):
            raise TypeError(
                f"{what}: {name} must be {len(shape)} positive ints, one for each dimension of an "
                f"array of shape {shape}, got {given}"
            )
        return numbers

    dims = positive("window_dimensions", sizes)
    steps = positive("window_strides", strides)
    base = positive("base_dilation", base_dilation)
    dilations = positive("window_dilation", window_dilation)
    if isinstance(padding, str):
        reach = [(n - 1) * d + 1 for n, d in zip(dims, dilations, strict=True)]
        pads: Any = padtype_to_pads(shape, reach, steps, padding)
    else:
        pads = padding
    pairs = tuple((size_of(low), size_of(high)) for low, high in pads)
    if len(pairs) != len(shape):
        raise ValueError(
            f"{what}: padding must be a pair for each of the {len(shape)} dimensions, got {padding}"
        )
    return Window(dims, steps, base, dilations, pairs)
