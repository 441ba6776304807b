"""Shapes with symbolic dimensions, from text."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeGuard

from irax.core.array import aval_of
from irax.core.avals import ShapeDtypeStruct
from irax.core.trees import array_trees
from irax.core.trees.prefixes import prefix_broadcast
from irax_compiler.sizes import Size, SymbolicScope
from irax_compiler.sizes.parsing import parse_shape


def is_symbolic_dim(p: Any) -> TypeGuard[Size]:
    """Return True for a dimension that is an expression of names, and no number.

    Args:
        p: an int, or a dimension.

    >>> irax.export.is_symbolic_dim(irax.export.symbolic_shape("n")[0])
    True
    """
    return isinstance(p, Size)


def symbolic_dim_bounds(dimension: Any) -> tuple[float, float]:
    """Return what is known of a dimension: the least and the largest number that it can be, -inf
    and inf where nothing is.

    Args:
        dimension: an int, or a dimension.

    Raises:
        TypeError: it is neither.

    >>> n, m = irax.export.symbolic_shape("n, m", constraints=["n >= 8", "n <= 10"])
    >>> irax.export.symbolic_dim_bounds(2 * n + m)
    (17, inf)
    """
    if is_symbolic_dim(dimension):
        return dimension.scope.bounds(dimension)
    try:
        size = operator.index(dimension)
    except TypeError as error:
        raise TypeError(
            f"symbolic_dim_bounds: expected an int or a dimension, got {dimension!r}"
        ) from error
    return size, size


def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[int | None] | None = None,
) -> tuple[Any, ...]:
    """Return a shape with symbolic dimensions.

    Args:
        shape_spec: the dimensions as text: numbers, names, and sums and products of them,
            `floordiv(a, b)`, `mod(a, b)`, `max(a, b)` and `min(a, b)`. `_` stands for the dimension
            that `like` has there, and `...` for all that are left of it. None is `...`.
        constraints: what is known of the names: "n >= 8", "n <= m", "mod(n, 4) == 0". Each is at
            least 1.
        scope: the scope of the names, with its constraints; by default a new one.
        like: a shape for the placeholders, and to compare with.

    Raises:
        ValueError: the text is no shape, or does not fit `like`; both constraints and a scope.

    >>> irax.export.symbolic_shape("batch, 2*n + 1, ...", like=(8, 5, 3))
    (batch, 2*n + 1, 3)
    """
    spec = "..." if shape_spec is None else shape_spec
    if not isinstance(spec, str):
        raise ValueError(f"symbolic_shape: expected text such as 'batch, 784', got {shape_spec!r}")
    sizes = None if like is None else tuple(like)
    return parse_shape(spec, _scope("symbolic_shape", constraints, scope), sizes)


def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any:
    """Return `ShapeDtypeStruct`s like arguments, with symbolic dimensions.

    Args:
        args: a pytree of arrays or `ShapeDtypeStruct`s.
        shapes_specs: the shapes as `symbolic_shape` takes them: one for all arguments, or a pytree
            that is a prefix of `args`; None leaves shapes as they are.
        constraints: what is known of the names.
        scope: the scope of the names, with its constraints; by default a new one.

    Raises:
        ValueError: as in `symbolic_shape`; or `shapes_specs` is no prefix of `args`.

    >>> irax.export.symbolic_args_specs((jnp.ones((8, 784)),), "batch, ...")
    (ShapeDtypeStruct(shape=(batch, 784), dtype=float32),)
    """
    scope = _scope("symbolic_args_specs", constraints, scope)
    leaves, tree = array_trees.tree_flatten(args)
    specs = prefix_broadcast(
        shapes_specs, args, prefix_name="symbolic_args_specs: shapes_specs", tree_name="args"
    )
    found = []
    for leaf, spec in zip(leaves, specs, strict=True):
        aval = aval_of(leaf, "symbolic_args_specs")
        shape = symbolic_shape(spec, scope=scope, like=aval.shape)
        found.append(ShapeDtypeStruct(shape, aval.dtype, weak_type=aval.weak_type))
    return array_trees.tree_unflatten(tree, found)


def _scope(what: str, constraints: Sequence[str], scope: SymbolicScope | None) -> SymbolicScope:
    if scope is None:
        return SymbolicScope(constraints)
    if not isinstance(scope, SymbolicScope):
        raise ValueError(f"{what}: scope must be an irax.export.SymbolicScope, got {scope!r}")
    if tuple(constraints):
        raise ValueError(f"{what}: a scope has its own constraints: give one of the two")
    return scope
