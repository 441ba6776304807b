"""linear_transpose: the transpose of a linear function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import as_array, aval_of
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.dispatch import call
from irax.core.dtypes.promotion import convert
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, name_of
from irax.core.trees.parameter_names import ParameterNames
from irax_compiler import api
from irax_compiler.ops.core import UnsupportedOp


@api_boundary
def linear_transpose(
    fun: Callable[..., Any], *primals: Any, reduce_axes: Any = ()
) -> Callable[..., Any]:
    """Return the transpose of a function that is linear in its arguments.

    Args:
        fun: a linear function of pytrees of arrays, which may be integers.
        primals: arrays, or shapes with dtypes (`ShapeDtypeStruct`), of the types of its arguments:
            their values do not matter.
        reduce_axes: accepted for JAX's sake, without effect.

    Returns:
        A function that takes a cotangent of the result's structure and returns a tuple with a
        cotangent for each argument: a pytree of the arrays that `fun` captures, which jitted
        functions take and return.

    Raises:
        TypeError: the cotangent is not like the result, or there are integers beside floats.
        NotImplementedError: the function is not linear; the error names the operation.

    >>> irax.linear_transpose(lambda x: 3 * x, 1.0)(2.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    check_callable(fun, "linear_transpose")
    leaves, in_tree = array_trees.tree_flatten((primals, {}))
    names = ParameterNames(fun).of_leaves(primals)
    avals = [aval_of(x, f"linear_transpose: {n}") for x, n in zip(leaves, names, strict=True)]
    flat = FlatFunction(fun, in_tree)
    inputs = [Input(a, None, n) for a, n in zip(avals, names, strict=True)]
    traced = trace_function(flat, inputs, "linear_transpose", name_of(fun))
    kinds = {_kind(aval) for aval in (*avals, *traced.results)}
    if len(kinds) > 1:
        raise TypeError(
            f"linear_transpose: {name_of(fun)} has arguments and results of types "
            f"{', '.join(map(str, (*avals, *traced.results)))}; expected floats and complex "
            "numbers, or integers, alone"
        )
    try:
        with traced.builder.deriving():
            derived = api.transpose(traced.builder.module, traced.name, wrt=range(len(avals)))
    except UnsupportedOp as error:
        if type(error) is not UnsupportedOp:
            raise
        raise UnsupportedOp(
            f"linear_transpose: {name_of(fun)} must be linear in its arguments: {error}"
        ) from None

    @api_boundary
    def transposed(captures: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
        given, structure = array_trees.tree_flatten(cotangent)
        if structure != flat.out_tree:
            what = "linear_transpose: the cotangent"
            raise TypeError(
                *array_trees.structure_error(flat.out_tree, cotangent, "the result", what).args
            )
        cts = []
        for leaf, aval in zip(given, traced.results, strict=True):
            ct = as_array(leaf, "linear_transpose: the cotangent")
            is_alike = ct.dtype == aval.dtype or (ct.weak_type and ct.dtype.kind == aval.dtype.kind)
            if ct.shape != aval.shape or not is_alike:
                raise TypeError(
                    f"linear_transpose: the cotangent has type {ct.aval}; expected {aval}"
                )
            cts.append(convert(ct, aval.dtype))
        weak = [aval.weak_type for aval in avals]
        found = call(traced.builder, derived.name, [*captures, *cts], weak)
        args, _ = array_trees.tree_unflatten(in_tree, found)
        return args

    return tree_util.Partial(transposed, traced.captures)


def _kind(aval: ShapedArray) -> type[Any]:
    """Return the kind of numbers that can be linear in numbers of this type."""
    return np.inexact if dtypes.issubdtype(aval.dtype, np.inexact) else np.integer
