"""The axes of meshes along which traced values may differ between devices."""

from __future__ import annotations

from collections.abc import Sequence

from irax.core.shardings import axis_names
from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.collective import Pvary
from irax_compiler.ops.varying import NONE, Axes, Varying


class VaryingAxes:
    """The varying axes of the values of a function that is being traced."""

    def __init__(self, module: mlir.Module) -> None:
        self.known: dict[Value, Axes] = {}
        self._analysis = Varying(mlir.Functions(module))

    def of(self, value: Value) -> Axes:
        """Return the axes along which a value varies."""
        return self._analysis.of_value(value, self.known)

    def joined(self, values: Sequence[Value]) -> list[Value]:
        """Return values that all vary along the same axes, for an operation on them together."""
        axes = [self.of(x) for x in values]
        together = NONE.union(*axes)
        pairs = zip(values, axes, strict=True)
        return [x if own == together else varied(x, together - own) for x, own in pairs]


def varied(x: Value, axes: Axes) -> Value:
    """Return a value that counts as varying along further axes."""
    for axis in sorted(axes):
        x = Pvary(axis, axis_names.size_of_text(axis))(x)
    return x
