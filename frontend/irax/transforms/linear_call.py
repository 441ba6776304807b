"""linear_call: a call of a linear function whose transpose is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irax.core.array import Array, as_array, aval_of
from irax.core.avals import ShapeDtypeStruct
from irax.core.closures import captures_first, used_by
from irax.core.dispatch import bind, staged
from irax.core.module_builder import ModuleBuilder
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Traced, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, name_of
from irax.core.wrapping import wraps
from irax.transforms.custom_arguments import of_type
from irax_compiler.ops.control_flow.linear_calls import LinearCall


@api_boundary
def linear_call(
    fun: Callable[..., Any], fun_transpose: Callable[..., Any], residual_args: Any, linear_args: Any
) -> Any:
    """Return `fun(residual_args, linear_args)`, whose transpose is `fun_transpose`.

    Args:
        fun: a function of two pytrees of arrays, linear in the second.
        fun_transpose: takes the residuals, and a cotangent of the result; returns a cotangent of
            `linear_args`.
        residual_args: what both functions know. It has no derivatives.
        linear_args: what the functions are linear in.

    Raises:
        TypeError: the transpose does not return what `linear_args` is like.
        NotImplementedError: a derivative is taken with respect to the residuals.

    >>> divide = lambda r, x: x / r
    >>> f = lambda x: irax.custom_derivatives.linear_call(divide, divide, 4.0, x)
    >>> f(jnp.array(2.0)), irax.grad(f)(jnp.array(2.0))
    (Array(0.5, dtype=float32, weak_type=True), Array(0.25, dtype=float32, weak_type=True))
    """

    def write(_: ModuleBuilder) -> Any:
        args = residual_args, linear_args
        function, out_tree = _traced(fun, args)
        structs = [ShapeDtypeStruct(a.shape, a.dtype) for a in function.results]
        cotangent = array_trees.tree_unflatten(out_tree, structs)
        transposed, _ = _traced(_like(fun_transpose, linear_args), (residual_args, cotangent))
        (forward, back), captures = captures_first([function, transposed])
        arrays = [as_array(x, "linear_call: an argument") for x in array_trees.tree_leaves(args)]
        num_residuals = len(array_trees.tree_leaves(residual_args))
        op = LinearCall(forward, back, len(captures) + num_residuals)
        found = bind(op, *captures, *arrays, builder=function.builder)
        results = [found] if isinstance(found, Array) else found
        typed = [x.with_weak_type(w) for x, w in zip(results, function.weak, strict=True)]
        return array_trees.tree_unflatten(out_tree, typed)

    def run() -> Any:
        return array_trees.tree_map(as_array, fun(residual_args, linear_args))

    return staged(run, write, used_by(fun, fun_transpose, args=(residual_args, linear_args)))


def _traced(function: Callable[..., Any], args: tuple[Any, Any]) -> tuple[Traced, Any]:
    """Return a function, traced for arguments like these, and the structure of its result."""
    leaves, in_tree = array_trees.tree_flatten((args, {}))
    flat = FlatFunction(function, in_tree)
    inputs = [Input(aval_of(x, "linear_call: an argument")) for x in leaves]
    return trace_function(flat, inputs, "linear_call", name_of(function)), flat.out_tree


def _like(fun_transpose: Callable[..., Any], linear_args: Any) -> Callable[..., Any]:
    """Return the function with a check that what it returns is like the linear arguments."""
    leaves, expected = array_trees.tree_flatten(linear_args)

    @wraps(fun_transpose)
    def checked(residuals: Any, cotangent: Any) -> Any:
        found, structure = array_trees.tree_flatten(fun_transpose(residuals, cotangent))
        if structure != expected:
            raise TypeError(
                f"linear_call: {name_of(fun_transpose)} must return a cotangent of the structure "
                f"of linear_args, {expected}; got {structure}"
            )
        name = name_of(fun_transpose)
        typed = [
            of_type(ct, aval_of(x), name, "cotangent") for ct, x in zip(found, leaves, strict=True)
        ]
        return array_trees.tree_unflatten(structure, typed)

    return checked
