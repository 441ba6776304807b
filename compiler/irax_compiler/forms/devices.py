"""Communication between devices in programs for one device: identities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import core

_COUNTS = ("mhlo.num_replicas", "mhlo.num_partitions")


def _is_alone(operation: Operation) -> bool:
    """True if the module is a program for one device."""
    module: Any = operation
    while module.name != "builtin.module":
        module = module.parent.operation
    counts = [module.attributes[name].value for name in _COUNTS if name in module.attributes]
    return math.prod(counts) == 1


def _numbers(operation: Operation, name: str) -> np.ndarray | None:
    """The elements of an attribute; None where it is something else than elements."""
    attribute: Any = operation.attributes[name]
    if not isinstance(attribute, mlir.ir.DenseElementsAttr):
        return None
    type_: Any = attribute.type
    return np.array(attribute).reshape(type_.shape)


def _own_values(operation: Operation, number: int) -> Sequence[Value] | None:
    """Return the operands where each group is a single device, or all devices are one."""
    groups = _numbers(operation, "replica_groups")
    if groups is None:
        return None
    is_own = _is_alone(operation) if groups.size == 0 else groups.shape[1] == 1 and 0 in groups
    return list(operation.operands) if is_own else None


def _own_or_zeros(operation: Operation, number: int) -> Sequence[Value] | None:
    """Return the operand of a permutation that maps device 0 to itself; zeros if it maps
    nothing.
    """
    pairs = _numbers(operation, "source_target_pairs")
    if pairs is None or pairs.any():
        return None
    (x,) = operation.operands
    return [x] if pairs.size else [core.zeros_like(x)]


def _zero(operation: Operation, number: int) -> Sequence[Value] | None:
    """Return 0, the number of the only device."""
    (result,) = operation.results
    return [core.full(shape_of(result), 0, dtype_of(result))] if _is_alone(operation) else None


_EXCHANGES = (
    *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_reduce"),
    "reduce_scatter",
)
FORMS = {
    **{f"stablehlo.{name}": _own_values for name in _EXCHANGES},
    "stablehlo.collective_permute": _own_or_zeros,
    "stablehlo.partition_id": _zero,
    "stablehlo.replica_id": _zero,
}
