"""jax._src.lib.mlir.dialects: operations of StableHLO and CHLO, applied to traced arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from irax.core.dispatch import bind
from irax_compiler.ops.core import Op
from irax_compiler.ops.registry import registered_names, traits_named

_SHORT = {
    "mul": "multiply",
    "neg": "negate",
    "div": "divide",
    "max": "maximum",
    "min": "minimum",
} | {
    "exp": "exponential",
    "pow": "power",
    "rem": "remainder",
}
"""The classes that are named otherwise than their operations."""


class Operation:
    """An operation of a program, with its results: arrays that are being traced."""

    def __init__(self, results: list[Any]) -> None:
        self.results: list[Any] = results

    @property
    def result(self) -> Any:
        """The result of an operation that has one."""
        (only,) = self.results
        return only


class _Dialect:
    """The operations of a dialect: `hlo.AddOp(x, y).result` is `hlo.add(x, y)`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Op")).lower()
        full = f"{self._name}.{_SHORT.get(words, words)}"
        op = traits_named(full) if full in registered_names() else None
        if not isinstance(op, Op):
            raise AttributeError(
                f"{name}: irax has no operation {full} without parameters here; write the lowering "
                "as a function of jax.lax, with mlir.lower_fun",
                name=name,
            )

        def apply(*operands: Any) -> Any:
            values = (x.result if isinstance(x, Operation) else x for x in operands)
            return bind(op, *values)

        def build(*operands: Any) -> Operation:
            results = apply(*operands)
            return Operation(results if isinstance(results, list) else [results])

        return build if name.endswith("Op") else apply


stablehlo: _Dialect = _Dialect("stablehlo")
hlo: _Dialect = stablehlo
chlo: _Dialect = _Dialect("chlo")
