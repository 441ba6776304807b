"""Jacobians and Hessians: all derivatives of all results, by vmap over forward or reverse mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.callables import check_callable
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import convert
from irax.core.shardings.explicit_axes import is_divided, type_of
from irax.core.shardings.partition_specs import PartitionSpec
from irax.core.tracebacks import api_boundary
from irax.core.trees.flattening import bind_others, normalize_argnums
from irax.core.wrapping import name_aliases, wraps
from irax.execution.shardings.jit_shardings import divided_results
from irax.transforms.autodiff import ArgNums, jvp, vjp
from irax.transforms.auxiliary import Auxiliary
from irax.transforms.differentiable import check_differentiable, is_inexact
from irax.transforms.vmap import vmap
from irax_compiler.ops.shape import Iota
from irax_compiler.sizes import is_symbolic

P = ParamSpec("P")


@api_boundary
def jacfwd(
    fun: Callable[P, Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:
    """Return a function that computes the Jacobian of `fun` in forward mode, a column at a time:
    the better choice where there are more results than arguments.

    Args:
        fun: a function of pytrees of arrays; returns `(result, aux)` with `has_aux`.
        argnums: which positional arguments to differentiate with respect to.
        has_aux: return `(jacobian, aux)`.
        holomorphic: `fun` is a holomorphic function of complex arguments.

    Returns:
        A function that returns, for each leaf of the result, a pytree like the argument (a tuple of
        them where `argnums` is a sequence), with arrays of shape `result.shape + argument.shape`.

    Raises:
        TypeError: on a call, for arguments that are not floating-point, or that `holomorphic` does
            not go with.

    >>> jacfwd(lambda x: x**2)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    check_callable(fun, "jacfwd")

    @api_boundary
    @wraps(fun)
    def jacobian_forward(*args: Any, **kwargs: Any) -> Any:
        numbers = normalize_argnums(argnums, len(args), "jacfwd")
        chosen = tuple(args[i] for i in numbers)
        kinds = "c" if holomorphic else "f"
        check_differentiable(fun, chosen, numbers, "jacfwd", allow_int=False, kinds=kinds)
        function = bind_others(fun, args, kwargs, numbers)

        others: list[Any] = []

        def push(*tangents: Any) -> Any:
            value, *rest = jvp(function, chosen, tangents, has_aux=has_aux)
            if holomorphic:
                _check_complex(value, "jacfwd")
            if not has_aux:
                return rest[0], value
            traced, untraced = Auxiliary(rest[1]).tree_flatten()
            others.append(untraced)
            return rest[0], traced

        columns, extra = vmap(push, out_axes=(-1, None))(*_basis(chosen))
        jacobian = tree_util.tree_map(
            lambda column: _split_axis(column, chosen, -1, argnums), columns
        )
        if has_aux:
            return jacobian, Auxiliary.tree_unflatten(others[-1], extra).value
        return jacobian

    return jacobian_forward


@api_boundary
def jacrev(
    fun: Callable[P, Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]:
    """Return a function that computes the Jacobian of `fun` in reverse mode, a row at a time: the
    better choice where there are more arguments than results. It takes and returns what `jacfwd`
    does.

    Args:
        fun: a function of pytrees of arrays.
        argnums: which positional arguments to differentiate with respect to.
        has_aux: return `(jacobian, aux)`.
        holomorphic: `fun` is a holomorphic function of complex arguments; without it, results are
            real, and complex arguments allowed, as for `grad`.
        allow_int: allow integer arguments; their Jacobians have dtype float0.

    Raises:
        TypeError: `fun` is not a function, or what it is differentiated by are not floats.

    >>> jacrev(lambda x: x**2)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    check_callable(fun, "jacrev")

    @api_boundary
    @wraps(fun)
    def jacobian_reverse(*args: Any, **kwargs: Any) -> Any:
        numbers = normalize_argnums(argnums, len(args), "jacrev")
        chosen = tuple(args[i] for i in numbers)
        kinds = "c" if holomorphic else "fc"
        check_differentiable(fun, chosen, numbers, "jacrev", allow_int, kinds)
        function = bind_others(fun, args, kwargs, numbers)
        result, pullback, *aux = vjp(function, *chosen, has_aux=has_aux)
        (_check_complex if holomorphic else _check_real)(result, "jacrev")
        leaves, tree = tree_util.tree_flatten(
            chosen[0] if isinstance(argnums, int | np.integer) else chosen
        )
        moving = [is_inexact(as_array(x).aval) for x in leaves]

        def pull(cotangent: Any) -> list[Any]:
            found = tree_util.tree_leaves(pullback(cotangent))
            return [ct for ct, moves in zip(found, moving, strict=True) if moves]

        rows = iter(vmap(pull)(*_basis((result,))))
        # For each leaf of the arguments a pytree like the result: turned inside out at the end.
        parts = [
            _split_axis(next(rows), (result,), 0, 0) if moves else _none(result, x)
            for x, moves in zip(leaves, moving, strict=True)
        ]
        inner = tree_util.tree_structure(result)
        jacobian = tree_util.tree_transpose(tree, inner, tree_util.tree_unflatten(tree, parts))
        return (jacobian, aux[0]) if has_aux else jacobian

    return jacobian_reverse


jacobian = jacrev
name_aliases(globals(), "jacobian")


@api_boundary
def hessian(
    fun: Callable[P, Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[P, Any]:
    """Return a function that computes the Hessian of `fun`: forward over reverse mode. Arguments
    are those of `jacfwd`.

    Args:
        fun: a function of arrays.
        argnums: the argument, or a tuple of arguments, to differentiate with respect to.
        has_aux: True if `fun` returns a pair of its result and other data.
        holomorphic: True if `fun` is a holomorphic function of complex numbers.

    Raises:
        TypeError: `fun` is not a function, or what it is differentiated by are not floats.

    >>> hessian(lambda x: x**3)(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    inner = jacrev(fun, argnums, has_aux, holomorphic)
    return jacfwd(inner, argnums, has_aux, holomorphic)


def _none(result: Any, x: Any) -> Any:
    """The Jacobian of a result with respect to an array of integers."""
    return tree_util.tree_map(
        lambda y: np.zeros((*np.shape(y), *np.shape(x)), dtypes.float0), result
    )


def _check_complex(result: Any, what: str) -> None:
    for leaf in tree_util.tree_leaves(result):
        if as_array(leaf).dtype.kind != "c":
            raise TypeError(
                f"{what}: with holomorphic=True the function must return complex arrays, got "
                f"{as_array(leaf).aval}"
            )


def _check_real(result: Any, what: str) -> None:
    for leaf in tree_util.tree_leaves(result):
        aval = as_array(leaf).aval
        if not dtypes.issubdtype(aval.dtype, np.floating):
            hint = "; for a holomorphic function pass holomorphic=True, otherwise use vjp"
            raise TypeError(
                f"{what}: the function must return real floating-point arrays, got {aval}"
                + hint * (aval.dtype.kind == "c")
            )


def _basis(trees: tuple[Any, ...]) -> tuple[Any, ...]:
    """The unit vectors of a space of pytrees, along a new first axis of every leaf."""
    leaves, structure = tree_util.tree_flatten(trees)
    arrays = [as_array(x) for x in leaves]
    total = sum(x.size for x in arrays)
    columns, start = [], 0
    for x in arrays:
        if is_symbolic(total):
            rows, numbers = (bind(Iota((total, x.size), np.dtype(np.int32), d)) for d in (0, 1))
            ones = convert(rows - start == numbers, x.dtype)
            columns.append(ones.reshape(total, *x.shape))
        else:
            block = np.zeros((total, x.size), x.dtype)
            block[start : start + x.size] = np.eye(x.size)
            columns.append(ConcreteArray(block.reshape(total, *x.shape), x.weak_type))
        start += x.size
    divided = [_divided_as(x, column) for x, column in zip(arrays, columns, strict=True)]
    return tree_util.tree_unflatten(structure, divided)


def _divided_as(x: Array, rows: Array) -> Array:
    """Return rows, each of which is divided as the type of an array of its shape tells."""
    told = type_of(x)
    if not is_divided(told):
        return rows
    return divided_results("jacobian", PartitionSpec(None, *told.sharding.spec), rows)


def _split_axis(x: Array, trees: Sequence[Any], axis: int, argnums: Any) -> Any:
    """Cuts an axis that runs over all elements of `trees` into a pytree like them."""
    leaves, structure = tree_util.tree_flatten(tuple(trees))
    arrays = [as_array(leaf) for leaf in leaves]
    position = axis % x.ndim
    parts, start = [], 0
    for leaf in arrays:
        part = x[(*[slice(None)] * position, slice(start, start + leaf.size))]
        parts.append(part.reshape(*x.shape[:position], *leaf.shape, *x.shape[position + 1 :]))
        start += leaf.size
    split = tree_util.tree_unflatten(structure, parts)
    return split[0] if isinstance(argnums, int | np.integer) else split
