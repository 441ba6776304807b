"""Definitions of other frameworks' custom calls: XLA's top-k kernels, LAPACK, and annotations of
devices and layouts.

In the IR they are `stablehlo.custom_call`s; their rules are those of their definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Type, Value, shape_of
from irax_compiler.ops import callback, collective, foreign_function, formulas, numpy_call
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.control_flow import shard_map
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.linalg import gpu_calls, lapack, xla_calls
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sorting import top_k
from irax_compiler.ops.structured import DefinedOp

Definition = Callable[..., Sequence[Value]]

CHLO = ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "erf_inv", "sinh", "tan")
"""The functions of an array that have such calls."""


@register_class
@dataclass(frozen=True)
class ForeignCall(DefinedOp):
    """A custom call of one of `TARGETS`."""

    name = "stablehlo.custom_call"
    num_results: ClassVar[int] = -1
    types: tuple[Type, ...]
    own_attributes: tuple[tuple[str, Attribute], ...]
    comparison: str = ""
    """The direction of the comparison that it is given as a function: "GT" or "LT"."""

    def attributes(self):
        return dict(self.own_attributes)

    def result_types(self, operands: Sequence[Value]):
        return self.types

    @classmethod
    def read(cls, operation: Operation) -> Op:
        attributes = {name: operation.attributes[name] for name in operation.attributes}
        target: Any = attributes["call_target_name"]
        if target.value == callback.TARGET:
            return callback.Callback.read(operation)
        if target.value == foreign_function.TARGET:
            return foreign_function.ForeignFunction.read(operation)
        if target.value == numpy_call.TARGET:
            return numpy_call.NumpyCall.read(operation)
        if target.value == formulas.TARGET:
            return formulas.FormulaCall.read(operation)
        if target.value in collective.KINDS:
            return collective.read_call(operation)
        if target.value == shard_map.TARGET:
            return shard_map.ShardMap.read(operation)
        if target.value not in TARGETS:
            raise UnsupportedOp(
                f"{operation.name} of {target} at {operation.location} is not supported: "
                "docs/custom-calls.md lists the names that are"
            )
        types = tuple(r.type for r in operation.results)
        return cls(types, tuple(attributes.items()), _comparison(operation))

    def extents(self) -> tuple[int, ...]:
        """The shape of the first result."""
        return mlir.shape_of_type(self.types[0])

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        attributes: dict[str, Any] = dict(self.own_attributes)
        return TARGETS[attributes["call_target_name"].value](self, attributes, operands)


def _comparison(operation: Operation) -> str:
    """The direction of the comparison of the first two arguments, in the function that a call
    names; empty if it names none.
    """
    called: Any = operation.attributes.get("called_computations")
    if called is None or not len(called):
        return ""
    function = mlir.function_beside(operation, called[0].value)
    compared = Computation.of(mlir.body(function)).comparison()
    if compared not in ("GT", "LT"):
        raise UnsupportedOp(
            f"{operation.name} of {operation.attributes['call_target_name']} at "
            f"{operation.location} orders by @{called[0].value}: expected a function that compares "
            "its first two arguments, GT or LT"
        )
    return compared


def _top_k(op: ForeignCall, attributes: dict[str, Any], operands: Sequence[Value]):
    """The largest (or smallest) along the last dimension, and their places."""
    (x,) = operands
    k = op.extents()[-1]
    given: Any = attributes.get("mhlo.attributes", {})
    if "largest" in given and not given["largest"].value:
        return top_k.first_sorted([x], len(shape_of(x)) - 1, k, "LT")
    return top_k.TopK(k).build([x])


def _top_k_of_xla(op: ForeignCall, attributes: dict[str, Any], operands: Sequence[Value]):
    """The first along the last dimension as a function orders them, and their places."""
    (x,) = operands
    k = op.extents()[-1]
    if op.comparison == "LT":
        return top_k.first_sorted([x], len(shape_of(x)) - 1, k, "LT")
    return top_k.TopK(k).build([x])


def _approximate_top_k(op: ForeignCall, attributes: dict[str, Any], operands: Sequence[Value]):
    """Define an approximate top-k along any dimension, of values and the operands sorted with them,
    as an exact one.
    """
    config: Any = attributes["mhlo.backend_config"]
    dimension = config["reduction_dim"].value
    count = op.extents()[dimension]
    return top_k.first_sorted(operands[: len(operands) // 2], dimension, count, op.comparison)


def _chlo(op: ForeignCall, attributes: dict[str, Any], operands: Sequence[Value]):
    """One of CHLO's functions, which StableHLO wraps in calls so as not to lose them."""
    name = attributes["call_target_name"].value.removeprefix("mhlo.")
    return mlir.emit(f"chlo.{name}", operands, results=op.types).results


def _same(op: ForeignCall, attributes: dict[str, Any], operands: Sequence[Value]):
    """Define an annotation of layout or sharding as the identity, which it is on one device."""
    if [x.type for x in operands] != list(op.types):
        target = attributes["call_target_name"].value
        raise UnsupportedOp(f"{op.name} of {target}: expected results of the operands' types")
    return list(operands)


NOTES = (
    *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"),
    *("LayoutConstraint", "MoveToDevice", "MoveToHost", "mark_tensor"),
    *("xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier"),
)
"""Calls whose results are their operands."""

TARGETS: dict[str, Definition] = {
    **dict.fromkeys(NOTES, _same),
    "mhlo.topk": _top_k,
    **{f"mhlo.{name}": _chlo for name in CHLO},
    "ApproxTopK": _approximate_top_k,
    **dict.fromkeys(("TopK", "__gpu$TopK"), _top_k_of_xla),
    **gpu_calls.TARGETS,
    **lapack.TARGETS,
    **xla_calls.TARGETS,
}
"""The definitions of custom calls, by their target names."""
