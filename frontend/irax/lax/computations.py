"""Python functions of scalars as computations that ops do element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.tracing import Input, Tracer, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax_compiler import api, mlir
from irax_compiler.ops.computation import Computation

Dtypes = Sequence[np.dtype[Any]]


def computation_of(
    what: str, function: Callable[..., Any], arguments: Sequence[tuple[Any, Dtypes]]
) -> tuple[Computation, Any]:
    """Trace a function of scalars to a `Computation`; return also the structure of its result.

    Args:
        what: the name of the calling function, for errors.
        function: of as many pytrees of scalars as there are `arguments`.
        arguments: the structure of each, and the dtypes of its leaves.

    Raises:
        NotImplementedError: it captures a traced value, or is not computed element by element.
    """
    counts = [len(dtypes) for _, dtypes in arguments]
    out_tree: Any = None

    def flat(*leaves: Array) -> list[Array]:
        nonlocal out_tree
        parts, start = [], 0
        for (tree, _), count in zip(arguments, counts, strict=True):
            parts.append(array_trees.tree_unflatten(tree, leaves[start : start + count]))
            start += count
        found, out_tree = array_trees.tree_flatten(function(*parts))
        return [as_array(x, f"{what}: what {name_of(function)} returns") for x in found]

    inputs = [Input(ShapedArray((), d)) for _, dtypes in arguments for d in dtypes]
    traced = trace_function(flat, inputs, what, name_of(function), fresh_module=True)
    if any(isinstance(x, Tracer) for x in traced.captures):
        raise NotImplementedError(
            f"{what}: {name_of(function)} uses a traced value from outside; it can use its own "
            "arguments and constants alone"
        )
    module = traced.builder.module
    mlir.make_public(mlir.functions(module)[traced.name])
    api.run_passes(module, [api.Decompose(), api.INLINE, api.REMOVE_DEAD_FUNCTIONS])
    block = mlir.body(mlir.functions(module)[traced.name])
    for result in traced.results:
        if result.shape:
            raise TypeError(
                f"{what}: {name_of(function)} must return scalars, got {result.dtype} of shape "
                f"{result.shape}"
            )
    return Computation.of(block), out_tree
