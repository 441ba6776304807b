"""Derivatives of single ops at numbers, by the ops' own rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import inexact
from irax_compiler.ops.core import ArrayType, Op, UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.derive.vjp import derive_vjp

Array = np.ndarray[Any, Any]
Pullback = Callable[[Sequence[Array], Sequence[Array]], Sequence[Array]]


@lru_cache(maxsize=4096)
def pullback(op: Op, types: tuple[ArrayType, ...]) -> Pullback | None:
    """Return the function from an op's operands and the cotangents of its inexact results to the
    cotangents of its inexact operands; None if it has no derivative, or names a function.
    """
    module = mlir.new_module()
    function = mlir.new_function(module, "main", [mlir.tensor_type(*t) for t in types])
    try:
        with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            results = op.build(mlir.arguments(function))
        mlir.finish_function(function, results)
        if any(mlir.named_functions(reference) for reference in mlir.references(function)):
            return None
        count = len(results)
        name = derive_vjp(module, "main", [i for i, t in enumerate(types) if inexact(t.dtype)]).name
    except UnsupportedOp:
        return None
    evaluator = Evaluator(module)
    return lambda operands, cotangents: evaluator(name, [*operands, *cotangents])[count:]
