"""Helpers of the tests of irax.numpy: running a function outside and inside a trace."""

import numpy as np

from irax import tree_util
from irax.core.array import as_array
from irax.execution.jitted import PjitFunction
from irax_compiler.ops.evaluation.evaluator import Evaluator


def traced(function, *args):
    """The leaves of what `function` returns for traced arguments, as NumPy arrays, and their avals.

    The IR is evaluated, not compiled: that its ops mean the same on IREE is tested elsewhere.
    """
    leaves, _ = tree_util.tree_flatten(args)
    compiled, *_ = PjitFunction(function).traced_for(args, {})
    module, name = compiled.traced.builder.module, compiled.traced.name
    assert module.operation.verify()
    operands = [as_array(x).value for x in (*leaves, *compiled.traced.captures)]
    return Evaluator(module)(name, operands), compiled.traced.results


def run(function, *args):
    """The leaves of the result as NumPy arrays; inside a trace it must come out the same."""
    eager = [as_array(x) for x in tree_util.tree_leaves(function(*args))]
    values, avals = traced(function, *args)
    assert [x.aval for x in eager] == avals
    for x, value in zip(eager, values, strict=True):
        assert value.dtype == x.dtype
        np.testing.assert_allclose(wide(value), wide(x.value), rtol=1e-6, atol=1e-6)
    return [x.value for x in eager]


def wide(x):
    """Numbers in float64, or in complex128 if they are complex; nested in lists and tuples too."""
    if isinstance(x, list | tuple):
        return [wide(part) for part in x]
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def tolerance(dtype):
    """The relative and absolute tolerance of results computed in a dtype."""
    name = np.dtype(dtype).name
    eps = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "complex64": 2e-6}.get(name, 1e-12)
    return {"rtol": eps, "atol": eps}


def numbers(shape, dtype="float32", low=-4.0, high=4.0, seed=0):
    """Numbers of a dtype between two bounds (booleans: either)."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    if dtype == np.bool:
        return rng.random(shape) < 0.5
    if dtype.kind == "u":
        low = max(low, 0)
    if dtype.kind in "iu":
        return rng.integers(int(low), int(high) + 1, shape).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)
