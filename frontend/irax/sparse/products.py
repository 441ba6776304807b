"""The elements of a derivative from products with the directions of colors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from irax import numpy as jnp
from irax import tree_util
from irax.core.array import Array
from irax.core.dtypes.kinds import float0
from irax.flatten_util import ravel_pytree
from irax.jaxprs.language import Jaxpr, jaxprs_in_params
from irax.jaxprs.make import make_jaxpr
from irax.lax.control_flow.scans import map as one_by_one
from irax.sparse.colors import Coloring
from irax.transforms.autodiff import jvp, linearize, vjp
from irax.transforms.vmap import vmap
from irax_compiler import api
from irax_compiler.ops.core import UnsupportedOp

TOGETHER = 1 << 21
"""The most bytes of products of all colors for which the arrays that convolutions and products of
matrices make on the way to them are in caches together, by `benchmarks.sparse_derivatives`."""
KNOWN = 1 << 24
"""The most bytes of directions of all colors that are numbers of the program. Kernels read them
faster than they compare colors with their numbers, but they take as much memory as the products."""
_MULTIPLYING = {"conv_general_dilated", "dot_general"}
_UNBOUNDED = {"while"}


def program(
    function: Callable[..., Any], coloring: Coloring, is_reverse: bool
) -> Callable[..., Any]:
    """The second result of a function, and the elements of the Jacobian of the first: by
    directional derivatives for the colors of columns, and cotangents for those of rows. If
    `is_reverse`, there are cotangents alone.
    """
    count, (height, width) = coloring.of_columns, coloring.pattern.shape
    colors = _narrow(coloring.colors, coloring.num_colors)
    across, down = colors[:width], colors[colors.size - height :]
    first_of_rows = 0 if is_reverse else count

    def compute(others: Any, *given: Any) -> tuple[Any, Array]:
        def of_given(*x: Any) -> Any:
            return function(others, *x)

        value, products = None, []
        if is_reverse or coloring.mode == "bidirectional":
            numbers = range(first_of_rows, coloring.num_colors)
            value, pulled = _rows(of_given, given, down, numbers)
            products.append(pulled)
        if not is_reverse:
            value, pushed = _columns(of_given, given, across, range(count))
            _check_height(pushed.shape[1], height)
            products.insert(0, pushed)
        flat = jnp.concatenate([x.ravel() for x in products])
        if coloring.mode == "acyclic":
            return value, _substituted(flat, coloring)
        return value, flat[_indices(coloring)]

    return compute


def _columns(
    function: Callable[..., Any], given: Any, colors: np.ndarray, numbers: range
) -> tuple[Any, Array]:
    """The second result of a function, and a directional derivative of the first for each of some
    colors of its columns.
    """
    vector, unravel = ravel_pytree(given)
    each = np.array(numbers, colors.dtype)

    def flat(value: Any, tangent: Any) -> Array:
        moving = [
            t if _is_differentiable(y) else jnp.zeros(jnp.shape(y), vector.dtype)
            for y, t in zip(*map(tree_util.tree_leaves, (value, tangent)), strict=True)
        ]
        return ravel_pytree(moving)[0]

    if _is_better_one_by_one(function, given, each.size * vector.nbytes):
        value, push, beside = linearize(function, *given, has_aux=True)

        def one(number: Any) -> Array:
            direction = (colors == number).astype(vector.dtype)
            return flat(value, push(*unravel(direction)))

        return beside, one_by_one(one, each)

    def push_together(direction: Any) -> tuple[Any, Array]:
        value, tangent, beside = jvp(function, given, unravel(direction), has_aux=True)
        return beside, flat(value, tangent)

    return vmap(push_together, out_axes=(None, 0))(_directions(colors, each, vector.dtype))


def _rows(
    function: Callable[..., Any], given: Any, colors: np.ndarray, numbers: range
) -> tuple[Any, Array]:
    """The second result of a function, and the product of a cotangent and the Jacobian of the first
    for each of some colors of its rows.
    """
    value, pull, beside = vjp(function, *given, has_aux=True)
    leaves, tree = tree_util.tree_flatten(value)
    is_real = not any(map(jnp.iscomplexobj, tree_util.tree_leaves(given)))
    if is_real and any(map(jnp.iscomplexobj, leaves)):
        raise UnsupportedOp(
            "jacobian: a result is complex, and products with cotangents give elements of real "
            "results alone; use mode='fwd'"
        )
    ends = np.cumsum([int(np.prod(jnp.shape(y))) for y in leaves], dtype=np.int64)
    _check_height(int(ends[-1]) if leaves else 0, colors.size)
    parts = np.split(colors, ends)[: len(leaves)]

    def product(number: Any) -> Array:
        cotangents = [
            (part == number).astype(y.dtype).reshape(jnp.shape(y))
            if _is_differentiable(y)
            else np.zeros(jnp.shape(y), float0)
            for part, y in zip(parts, leaves, strict=True)
        ]
        return ravel_pytree(pull(tree_util.tree_unflatten(tree, cotangents)))[0]

    each = np.array(numbers, colors.dtype)
    size = sum(y.nbytes for y in leaves if _is_differentiable(y))
    if _is_better_one_by_one(function, given, each.size * size):
        return beside, one_by_one(product, each)
    return beside, vmap(product)(each)


def _directions(colors: np.ndarray, numbers: np.ndarray, dtype: Any) -> Any:
    """For each number, ones where the colors are it and zeros elsewhere."""
    is_known = numbers.size * colors.size * np.dtype(dtype).itemsize <= KNOWN
    where = (colors if is_known else jnp.asarray(colors)) == numbers[:, None]
    return where.astype(dtype)


def _is_better_one_by_one(function: Callable[..., Any], given: Any, size: int) -> bool:
    """True if the products of the colors, of so many bytes together, are faster, and take less
    memory, one after the other: elementwise operations need no memory for all colors, convolutions
    and products of matrices do.
    """
    if size <= TOGETHER:
        return False
    names = set(_operations(make_jaxpr(function)(*given).jaxpr))
    return bool(names & _MULTIPLYING) and not names & _UNBOUNDED


def _operations(jaxpr: Jaxpr) -> Iterator[str]:
    """The names of the operations of a jaxpr and of those inside."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in jaxprs_in_params(equation.params):
            yield from _operations(inner)


def _check_height(size: int, height: int) -> None:
    if size != height:
        raise ValueError(
            f"coloring has a pattern of {height} rows, and the results of the function have {size} "
            "elements; expected as many rows"
        )


def _is_differentiable(y: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(y), jnp.inexact)


def _substituted(products: Array, coloring: Coloring) -> Array:
    """The elements of a symmetric matrix, from the products of an acyclic coloring.

    An unknown is what stands at its place, less the unknowns whose parent it is: the sum of what
    stands at its place and those of all below it, with signs by turns. Round k adds to each the
    sums of those 2^k below it.
    """
    forest = coloring.forest()
    signs = np.where(forest.depths % 2, -1, 1)
    where = forest.colors * coloring.pattern.shape[0] + forest.places
    sums = products[_narrow(where, products.size)] * signs.astype(products.dtype)
    above = forest.parents
    while above.max(initial=-1) >= 0:
        (those,) = np.nonzero(above >= 0)
        below = sums[_narrow(those, sums.size)]
        sums = sums.at[_narrow(above[those], sums.size)].add(below)
        above = np.where(above >= 0, above[above], -1)
    return (sums * signs.astype(products.dtype))[_narrow(forest.unknowns, sums.size)]


def _indices(coloring: Coloring) -> np.ndarray:
    """The places of the elements in the products, those of columns before those of rows."""
    pattern, (height, width) = coloring.pattern, coloring.pattern.shape
    found = api.flat_places(pattern.toscipy(), coloring.mode, coloring.colors, coloring.places())
    count = coloring.of_columns
    return _narrow(found, count * height + (coloring.num_colors - count) * width)


def _narrow(indices: np.ndarray, size: int) -> np.ndarray:
    """Indices into an array of some size, as int32 where that has them."""
    return indices.astype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)
