"""Traced arrays of which a derivative is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.core.tracing import Tracer
from irax_compiler import mlir
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.marks import stop_gradient
from irax_compiler.ops.registry import read


class _Perturbed(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tracer) and _is_perturbed(instance)


class JVPTracer(metaclass=_Perturbed):
    """The class of traced arrays whose values have a derivative with respect to the arguments of
    the function that is traced. Others in that function depend on arrays from outside alone, or on
    arguments by integers and `stop_gradient`.
    """


def _is_perturbed(x: Tracer) -> bool:
    trace = x.home
    captured = {trace.value_of(y) for y in trace.captures}
    seen: set[mlir.Value] = set()
    waiting = [x.value]
    while waiting:
        value = waiting.pop()
        if value in seen or not dtypes.issubdtype(mlir.dtype_of(value), np.inexact):
            continue
        seen.add(value)
        operation = mlir.definition(value)
        if operation is None:
            if value not in captured:
                return True
        elif not _stops(operation):
            waiting += [*operation.operands, *mlir.captured(operation)]
    return False


def _stops(operation: mlir.Operation) -> bool:
    try:
        return read(operation) == stop_gradient
    except UnsupportedOp:
        return False
