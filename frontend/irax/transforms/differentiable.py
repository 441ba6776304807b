"""Checks that arguments and results of functions can be differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array, aval_of
from irax.core.avals import ShapedArray
from irax.core.refs import refs
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.core.trees.parameter_names import ParameterNames


def is_inexact(aval: ShapedArray) -> bool:
    """Return True if arrays of this type have derivatives."""
    return dtypes.issubdtype(aval.dtype, np.inexact)


def check_no_axes(reduce_axes: Any, what: str) -> None:
    """Raise NotImplementedError if `reduce_axes`, which JAX had once, is not empty."""
    if reduce_axes:
        raise NotImplementedError(f"{what}: reduce_axes={reduce_axes!r} is not supported")


def check_differentiable(
    fun: Callable[..., Any],
    chosen: Sequence[Any],
    numbers: Sequence[int],
    what: str,
    allow_int: bool,
    kinds: str = "f",
    abstract: bool = False,
) -> None:
    """Raises TypeError for an argument of a function, of those at some positions, that is not an
    array of a kind: "f" for real, "c" for complex, or both. If `abstract`, it may be a
    `ShapeDtypeStruct`.
    """
    parameters = ParameterNames(fun)
    for number, tree in zip(numbers, chosen, strict=True):
        for path, leaf in array_trees.tree_leaves_with_path(tree):
            name = f"{what}: {parameters.of(number)}{array_trees.keystr(path)}"
            aval = aval_of(leaf, name) if abstract else as_array(leaf, name).aval
            if not is_inexact(aval) and not allow_int:
                raise TypeError(
                    f"{name} has type {aval}; expected a floating-point array, because "
                    "integers have no derivative: pass a float (such "
                    "as 3.0), convert it with .astype(float), or leave the argument out of argnums"
                )
            is_complex = aval.dtype.kind == "c"
            if is_complex and "c" not in kinds:
                raise TypeError(
                    f"{name} has type {aval}; expected a real one: for complex arguments "
                    "use grad, jvp or vjp, or holomorphic=True"
                )
            if not is_complex and kinds == "c":
                raise TypeError(
                    f"{name} has type {aval}; expected a complex one, as holomorphic=True says"
                )


def checked_pair(out: Any, what: str, function: Any) -> tuple[Any, Any]:
    """Return what a function with `has_aux=True` returned.

    Raises:
        TypeError: it is no pair.
    """
    if not (isinstance(out, tuple) and len(out) == 2):
        raise TypeError(
            f"{what}: with has_aux=True, {name_of(function)} must return a pair (result, aux), "
            f"got {'one array' if isinstance(out, Array) else type(out).__name__}"
        )
    return out


def check_scalar(out: Any, has_aux: bool, holomorphic: bool = False) -> None:
    """Raises TypeError for a result that has no gradient."""
    value = out[0] if has_aux else out
    if not isinstance(value, Array | np.ndarray | np.generic | bool | int | float | complex):
        hint = ""
        if not has_aux and isinstance(value, tuple) and len(value) == 2:
            hint = "; to return further values beside the scalar, use has_aux=True"
        raise TypeError(
            f"grad: the function must return a scalar, got {type(value).__name__} {value!r}{hint}"
        )
    aval = as_array(value).aval
    if aval.shape != ():
        raise TypeError(
            f"grad: the function must return a scalar, got an array of shape {aval.shape}; reduce "
            "it (for example with irax.numpy.sum), or use jacrev or vjp"
        )
    if holomorphic and aval.dtype.kind != "c":
        raise TypeError(
            f"grad: with holomorphic=True the function must return a complex scalar, got dtype "
            f"{aval.dtype}"
        )
    if not holomorphic and not dtypes.issubdtype(aval.dtype, np.floating):
        raise TypeError(
            f"grad: the function must return a real floating-point scalar, got dtype {aval.dtype}"
            + ("; for a holomorphic function pass holomorphic=True" * (aval.dtype.kind == "c"))
        )


def check_no_refs(chosen: Any) -> None:
    """Raise an error if an argument to differentiate with respect to is a mutable array."""
    if any(isinstance(x, refs.Ref) for x in array_trees.tree_leaves(chosen)):
        raise TypeError(
            "grad: an argument to differentiate with respect to is a Ref; expected arrays: "
            "differentiate with respect to its elements, ref[...]"
        )
