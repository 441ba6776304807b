"""The parts of jacfwd and jacrev, of which libraries build Jacobians of their own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax import tree_util


def _ensure_index(x: Any) -> int | tuple[int, ...]:
    """Return an index, or a tuple of indices."""
    try:
        return operator.index(x)
    except TypeError:
        return tuple(operator.index(entry) for entry in x)


def argnums_partial2(
    f: Callable[..., Any], dyn_argnums: int | Sequence[int], args: Sequence[Any], kwargs: Any
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function of some of its arguments, by number, and these arguments."""
    given = _ensure_index(dyn_argnums)
    numbers = [n % len(args) for n in ((given,) if isinstance(given, int) else given)]

    def partial(*dynamic: Any) -> Any:
        full = list(args)
        for n, x in zip(numbers, dynamic, strict=True):
            full[n] = x
        return f(*full, **kwargs)

    return partial, tuple(args[n] for n in numbers)


def _std_basis(pytree: Any) -> Any:
    """Return the unit vectors of a pytree, along a new first axis of each leaf."""
    flat, unravel = irax.flatten_util.ravel_pytree(pytree)
    return irax.vmap(unravel)(jnp.eye(flat.size, dtype=flat.dtype))


def _unraveled(
    tree: Any, axis: int, array: Any, before: Sequence[int], after: Sequence[int]
) -> Any:
    leaves, structure = tree_util.tree_flatten(tree)
    ends = np.cumsum([np.size(leaf) for leaf in leaves])[:-1]
    parts = jnp.split(array, [int(end) for end in ends], axis)
    shaped = [
        part.reshape((*before, *np.shape(leaf), *after))
        for part, leaf in zip(parts, leaves, strict=True)
    ]
    return tree_util.tree_unflatten(structure, shaped)


def _jacfwd_unravel(input_pytree: Any, output_pytree_leaf: Any, arr: Any) -> Any:
    """Return the Jacobian of an output in each input, of its columns along the last axis."""
    return _unraveled(input_pytree, -1, arr, np.shape(output_pytree_leaf), ())


def _jacrev_unravel(output_pytree: Any, input_pytree_leaf: Any, arr: Any) -> Any:
    """Return the Jacobian of each output in an input, of its rows along the first axis."""
    return _unraveled(output_pytree, 0, arr, (), np.shape(input_pytree_leaf))


def _jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Return what `jax.jvp` does."""
    return irax.jvp(fun, primals, tangents, has_aux=has_aux)


def _vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return what `jax.vjp` does."""
    return irax.vjp(fun, *primals, has_aux=has_aux)


def _check(name: str, what: str, holomorphic: bool, allowed: type[np.generic], x: Any) -> None:
    dtype = jnp.result_type(x)
    wanted = np.complexfloating if holomorphic else allowed
    if not jnp.issubdtype(dtype, wanted):
        raise TypeError(
            f"{name}{' with holomorphic=True' if holomorphic else ''} requires {what}s of a dtype "
            f"that is a {wanted.__name__}, but got {dtype.name}"
        )


def _check_input_dtype_jacfwd(holomorphic: bool, x: Any) -> None:
    """Check the dtype of an argument of jacfwd.

    Raises:
        TypeError: it is not real, or, if `holomorphic`, not complex.
    """
    _check("jacfwd", "input", holomorphic, np.floating, x)


def _check_output_dtype_jacfwd(holomorphic: bool, x: Any) -> None:
    """Check the dtype of a result of jacfwd's function.

    Raises:
        TypeError: `holomorphic`, and it is not complex.
    """
    _check("jacfwd", "output", holomorphic, np.generic, x)


def _check_input_dtype_jacrev(holomorphic: bool, allow_int: bool, x: Any) -> None:
    """Check the dtype of an argument of jacrev.

    Raises:
        TypeError: it is no number with a fraction, unless `allow_int`, or, if `holomorphic`, not
            complex.
    """
    _check("jacrev", "input", holomorphic, np.generic if allow_int else np.inexact, x)


def _check_output_dtype_jacrev(holomorphic: bool, x: Any) -> None:
    """Check the dtype of a result of jacrev's function.

    Raises:
        TypeError: it is not real, or, if `holomorphic`, not complex.
    """
    _check("jacrev", "output", holomorphic, np.floating, x)
