"""associative_scan: all partial results of an associative function, in a logarithm of steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax.core import source
from irax.core.array import Array, as_array
from irax.core.callables import check_callable
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.lax import slicing, structure
from irax.lax.arguments import canonical_axis
from irax.lax.control_flow.carries import leaf_names, side_by_side


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Return the partial results e0, fn(e0, e1), fn(fn(e0, e1), e2), ... along an axis.

    The function is called on whole slices at once, about 2 log2(n) times.

    Args:
        fn: an associative function of two pytrees like `elems`, that works elementwise along the
            axis; it returns another such pytree.
        elems: a pytree of arrays, of the same size along the axis.
        reverse: begin at the end of the axis.
        axis: the axis; negative axes count from the last one.

    Returns:
        A pytree of arrays of the shapes of `elems`.

    Raises:
        TypeError: `fn` is not a function, or returns another structure.
        ValueError: sizes that disagree, or no arrays, or an axis that is not there.

    >>> irax.lax.associative_scan(lambda a, b: a * b, irax.numpy.arange(1.0, 5.0))
    Array([ 1.,  2.,  6., 24.], dtype=float32)
    """
    what = "lax.associative_scan"
    check_callable(fn, what)
    leaves, tree = array_trees.tree_flatten(elems)
    names = leaf_names("elems", elems)
    arrays = [as_array(x, f"{what}: {n}") for x, n in zip(leaves, names, strict=True)]
    if not arrays:
        raise ValueError(f"{what}: elems has no arrays")
    axes = [canonical_axis(what, axis, x.ndim) for x in arrays]
    sizes = {x.shape[a] for x, a in zip(arrays, axes, strict=True)}
    if len(sizes) > 1:
        listed = ", ".join(f"{n}: {x.aval}" for n, x in zip(names, arrays, strict=True))
        raise ValueError(f"{what}: expected one size along axis {axis}, got {listed}")

    def combine(first: Sequence[Array], second: Sequence[Array]) -> list[Array]:
        out = fn(array_trees.tree_unflatten(tree, first), array_trees.tree_unflatten(tree, second))
        found, out_tree = array_trees.tree_flatten(out)
        if out_tree != tree:
            error = array_trees.structure_error(tree, out, "elems", f"what {name_of(fn)} returns")
            raise TypeError(f"{what} at {source.user_line()}: {error}")
        results = [as_array(x, f"{what}: what {name_of(fn)} returns") for x in found]
        if any(x.shape != y.shape for x, y in zip(results, first, strict=True)):
            titles = ("arguments", f"what {name_of(fn)} returns")
            avals = [[x.aval for x in first], [x.aval for x in results]]
            raise TypeError(
                f"{what} at {source.user_line()}: {name_of(fn)} must keep the shapes of its "
                f"arguments, got\n{side_by_side(names, titles, avals)}"
            )
        return results

    def flipped(xs: Sequence[Array]) -> Sequence[Array]:
        if not reverse:
            return xs
        return [structure.rev(x, (a,)) for x, a in zip(xs, axes, strict=True)]

    return array_trees.tree_unflatten(tree, flipped(_partial(combine, flipped(arrays), axes)))


Combine = Callable[[Sequence[Array], Sequence[Array]], list[Array]]


def _partial(combine: Combine, xs: Sequence[Array], axes: Sequence[int]) -> Sequence[Array]:
    """Combines neighbours, which halves the problem; the results are the odd ones of the whole,
    and the even ones are these, combined with the element that follows.
    """
    size = xs[0].shape[axes[0]]
    if size < 2:
        return xs

    def part(values: Sequence[Array], start: int, end: int, stride: int) -> list[Array]:
        return [
            slicing.slice_in_dim(x, start, end, stride, a)
            for x, a in zip(values, axes, strict=True)
        ]

    pairs = combine(part(xs, 0, size - 1, 2), part(xs, 1, size, 2))
    odd = _partial(combine, pairs, axes)
    even = part(xs, 0, 1, 1)
    if size > 2:
        count = (size - 1) // 2
        later = combine(part(odd, 0, count, 1), part(xs, 2, size, 2))
        even = [structure.concatenate(p, a) for *p, a in zip(even, later, axes, strict=True)]
    return [_interleaved(e, o, a) for e, o, a in zip(even, odd, axes, strict=True)]


def _interleaved(even: Array, odd: Array, axis: int) -> Array:
    """even[0], odd[0], even[1], ... along an axis."""
    count = odd.shape[axis]
    both = [
        structure.expand_dims(slicing.slice_in_dim(x, 0, count, axis=axis), (axis + 1,))
        for x in (even, odd)
    ]
    shape = (*odd.shape[:axis], 2 * count, *odd.shape[axis + 1 :])
    mixed = structure.reshape(structure.concatenate(both, axis + 1), shape)
    if even.shape[axis] == count:
        return mixed
    return structure.concatenate(
        [mixed, slicing.slice_in_dim(even, count, count + 1, axis=axis)], axis
    )
