"""Types that tell sums along axes of the mesh that are still to be taken."""

from __future__ import annotations

from collections.abc import Sequence

from irax import errors
from irax.core.array import Array
from irax.core.avals import ShapedArray
from irax.core.shardings.explicit_axes import layout_of, type_of
from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.core import Op
from irax_compiler.ops.sums import Sums, SumsToTake

_CURE = "bring them into other layouts before by irax.reshard, as P() takes the sum"


class SumsInTrace:
    """The sums that are still to be taken of the values of a function that is being traced."""

    def __init__(self, module: mlir.Module) -> None:
        self.known: dict[Value, Sums] = {}
        self._analysis = SumsToTake(mlir.Functions(module))

    def of(self, value: Value) -> Sums:
        """Return the sums that are still to be taken of a value."""
        return self._analysis.of_value(value, self.known)


def check_summands(op: Op, operands: Sequence[Array]) -> None:
    """Check that an operation on summands gives summands of the result.

    Raises:
        ShardingTypeError: it does not.
    """
    types = list(map(type_of, operands))
    summands = [i for i, aval in enumerate(types) if aval.sums.unreduced]
    if op.elementwise:
        _check_reduced(op, types)
    if not summands:
        return
    first = types[summands[0]]
    if not op.is_linear_in(summands):
        _refuse(op, types, f"it is not linear, and takes no {first} that is unreduced")
    others = [i for i, aval in enumerate(types) if aval.ndim or not first.ndim or op.elementwise]
    together = [i for i in others if op.is_linear_in(sorted({*summands, i}))]
    if any(types[i].sums.unreduced != first.sums.unreduced for i in together):
        _refuse(op, types, "all operands must be unreduced along the same axes, or none")
    if op.is_linear_in([0, 1]) or not _is_product(op):
        return
    by = types[1 - summands[0]]
    if not op.elementwise or by.sums.reduced != first.sums.unreduced:
        _refuse(
            op, types, "the other factor must be reduced along the axes that one is unreduced on"
        )


def _is_product(op: Op) -> bool:
    """True if it is linear in one of its two operands for each value of the other one."""
    return op.is_product or op.name == "stablehlo.divide"


def _check_reduced(op: Op, types: Sequence[ShapedArray]) -> None:
    """Raise ShardingTypeError for an array divided along an axis that another one is reduced on."""
    reduced = frozenset[str]().union(*(aval.sums.reduced for aval in types))
    if reduced & {axis for aval in types for axes in layout_of(aval) for axis in axes}:
        _refuse(op, types, "an operand is divided along axes that another one is reduced on")


def _refuse(op: Op, types: Sequence[ShapedArray], why: str) -> None:
    shown = " and ".join(map(str, types))
    raise errors.ShardingTypeError(f"{op.name} of {shown}: {why}; {_CURE}")
