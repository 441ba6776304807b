"""Ties of dispatches: the operands in whose memory results are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation


def ties(operation: Operation) -> dict[int, int]:
    """Return the operands that a dispatch, an update or a call writes to, by the number of the
    result.
    """
    if operation.name == "flow.tensor.update":
        return {0: 0}
    if "tied_operands" not in operation.attributes:
        return {}
    segments: Any = operation.attributes.get("operandSegmentSizes", (0,))
    numbers: Any = operation.attributes["tied_operands"]
    return {i: segments[0] + x.value for i, x in enumerate(numbers) if x.value >= 0}


def tie(dispatch: Operation, tied: Mapping[int, int]) -> None:
    """Have a dispatch write results to operands, by the numbers of both, as `ties` returns them."""
    workload = mlir.segments(dispatch)[0]
    numbers = [tied[i] - workload if i in tied else -1 for i in range(len(dispatch.results))]
    with dispatch.location:
        indices = [mlir.parse_attribute(f"{number} : index") for number in numbers]
        dispatch.attributes["tied_operands"] = mlir.array(indices)
