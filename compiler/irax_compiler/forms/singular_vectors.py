"""The reduced form of singular value decompositions of which no more is used.

JAX for GPUs asks cuSOLVER for whole orthogonal matrices, and takes the first columns of them. The
other columns, any basis would do, have no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Value, shape_of
from irax_compiler.ops import slicing
from irax_compiler.ops.core import full

_CONFIG = "mhlo.backend_config"
_WHOLE = "full_matrices"
TARGETS = [f"{platform}solver_gesvd{letter}_ffi" for platform in ("cu", "hip") for letter in "jp"]
"""The functions whose vectors are columns of the third and fourth result."""


def reduced(operation: Operation, number: int) -> Sequence[Value] | None:
    """Return the results of the reduced form, its vectors padded with zeros, which nobody reads."""
    target: Any = operation.attributes["call_target_name"]
    if target.value not in TARGETS or _CONFIG not in operation.attributes:
        return None
    config: Any = operation.attributes[_CONFIG]
    options: dict[str, Attribute] = {item.name: item.attr for item in config}
    if not all(getattr(options.get(name), "value", False) for name in ("compute_uv", _WHOLE)):
        return None
    *rest, m, n = shape_of(operation.operands[0])
    count, vectors = min(m, n), operation.results[2:4]
    last = len(rest) + 1
    if m == n or not all(_reads_first(x, last, count) for x in vectors):
        return None
    options[_WHOLE] = mlir.ir.BoolAttr.get(False)
    attributes = {
        name: operation.attributes[name]
        for name in ("call_target_name", "api_version")
        if name in operation.attributes
    }
    attributes[_CONFIG] = mlir.ir.DictAttr.get(options)
    types = [x.type for x in operation.results]
    for i in (2, 3):
        extents = (*shape_of(vectors[i - 2])[:-1], count)
        types[i] = mlir.tensor_type(extents, mlir.dtype_of(vectors[i - 2]))
    made = mlir.emit(operation.name, list(operation.operands), attributes, types).results
    return [_widened(x, type_) for x, type_ in zip(made, operation.results, strict=True)]


def _reads_first(x: Value, dimension: int, count: int) -> bool:
    """True if nothing reads elements of `x` from number `count` on, along a dimension."""
    for user in mlir.users(x):
        if user.name == "stablehlo.transpose":
            order: Any = user.attributes["permutation"]
            if not _reads_first(user.results[0], list(order).index(dimension), count):
                return False
        elif user.name == "stablehlo.slice":
            limits: Any = user.attributes["limit_indices"]
            if list(limits)[dimension] > count:
                return False
        else:
            return False
    return True


def _widened(x: Value, like: Value) -> Value:
    extents, wanted = shape_of(x), shape_of(like)
    if extents == wanted:
        return x
    none = (0,) * len(extents)
    high = tuple(n - k for n, k in zip(wanted, extents, strict=True))
    return slicing.Pad(none, high, none)(x, full((), 0, mlir.dtype_of(x)))
