"""Callbacks: calls of Python functions on the host, from inside of a program.

    stablehlo.custom_call @irax.callback(%x) {has_side_effect = true, backend_config =
        {key = "train.log_loss", kind = "debug", ordered = false, vmap_method = ""}}

The IR names the function by a key in a registry of this process. A callback of kind `pure` has no
side effect: it may be called any number of times, or never. The kinds `io` and `debug` have side
effects, which happen as often as the program says. Differentiation ignores `debug` callbacks. One
of kind `progress` is told how many steps of how many a loop has done, and returns the number of
steps after which it is to be told again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Type, Value, dtype_of, is_inexact, shape_of
from irax_compiler.ops import dry_run, shape
from irax_compiler.ops.attributes import FLAG, call_attributes
from irax_compiler.ops.control_flow import lanes
from irax_compiler.ops.core import Axis, Linear, Tangent, UnsupportedOp
from irax_compiler.ops.structured import StructuredOp
from irax_compiler.ops.transformation import (
    Batching,
    Differentiation,
    Evaluation,
    Transposition,
)

TARGET = "irax.callback"
"""The target name of the custom calls that are callbacks."""

Expected = Sequence[tuple[tuple[int, ...], np.dtype]]
"""The shapes and dtypes of the arrays that a function must return."""

Host = Callable[[Sequence[np.ndarray], Expected], Any]
"""A function of the host, from arrays to a list of arrays; it also gets the expected results'
types."""

CALLBACKS: WeakValueDictionary[str, Host] = WeakValueDictionary()
"""The functions by their keys. The holder of a module that names a function must keep it alive."""

VMAP_METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)
"""The ways in which a callback may be batched."""


class NotDifferentiable(UnsupportedOp, ValueError):
    """The derivative of a callback's results was asked for, which is unknown."""


@dataclass(frozen=True)
class Callback(StructuredOp):
    """A call of a function of the host's."""

    name = "stablehlo.custom_call"
    num_results: ClassVar[int] = -1
    imports: ClassVar[tuple[str, str]] = ("callback", "action")
    """The host functions that such calls become: without, and with a side effect."""
    key: str
    """The function's in `CALLBACKS`."""
    kind: str
    """One of "pure", "io", "debug" and "progress"."""
    types: tuple[Type, ...]
    """The types of the results."""
    ordered: bool = False
    """True if vmap must keep the order of its calls."""
    vmap_method: str = ""
    """One of `VMAP_METHODS`, or "" for none."""

    # -- building and reading --

    def attributes(self):
        return call_attributes(TARGET, self.config(), has_side_effect=self.kind != "pure")

    @property
    def import_parameters(self) -> dict[str, str]:
        """The parameters of the host function."""
        return {"key": self.key}

    def config(self) -> dict[str, Attribute]:
        """The fields that the IR holds in attributes."""
        return {
            "key": mlir.string(self.key),
            "kind": mlir.string(self.kind),
            "ordered": FLAG.encode(self.ordered),
            "vmap_method": mlir.string(self.vmap_method),
        }

    @property
    def called(self) -> str:
        """The name of the function of irax's that writes such calls."""
        return "pure_callback" if self.kind == "pure" else "io_callback"

    def result_types(self, operands: Sequence[Value]):
        return self.types

    @classmethod
    def read(cls, operation: Operation) -> Callback:
        config: Any = operation.attributes["backend_config"]
        values = {entry.name: entry.attr.value for entry in config}
        return cls(types=tuple(r.type for r in operation.results), **values)

    # -- meaning --

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        expected = [(shape_of(x), dtype_of(x)) for x in map(Linear, self.types)]
        if dry_run.is_active():
            return [np.zeros(*result) for result in expected]
        function = CALLBACKS.get(self.key)
        if function is None:
            raise UnsupportedOp(
                f"the program calls {self.key!r} of the Python process that traced it, which is "
                "not here: run it in that process"
            )
        return function([np.asarray(x, order="C") for x in operands], expected)

    # -- derivatives --

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        if any(is_inexact(Linear(t)) for t in self.types):
            raise self.not_differentiable("derivative")
        return self.build(primals), [None] * len(self.types)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        raise self.not_differentiable("transpose")

    def not_differentiable(self, what: str) -> NotDifferentiable:
        """Return the error for a derivative or a transpose of a callback."""
        return NotDifferentiable(
            f"{self.called} of {self.key} has no {what}: what the function computes is unknown to "
            "irax. Give the function around it a rule of its own with irax.custom_jvp or "
            "irax.custom_vjp, or hide its arguments with irax.lax.stop_gradient"
        )

    # -- batching --

    @property
    def batched_by(self) -> str:
        """One of `VMAP_METHODS`, or "" for none: effects are those of one lane after the other."""
        return "sequential" if self.kind != "pure" else self.vmap_method

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        if transform.over_devices:
            return lanes.one_by_one(transform, self.key, self.build, operands, axes)
        if self.kind == "io" and self.ordered:
            raise ValueError(
                f"vmap: the ordered io_callback of {self.key} has no order over lanes; use "
                "irax.lax.map, or ordered=False"
            )
        method = self.batched_by
        if method not in VMAP_METHODS:
            raise UnsupportedOp(
                f"vmap: {self.called} of {self.key} does not say how it works on many lanes: give "
                f"it vmap_method=, one of {', '.join(map(repr, VMAP_METHODS))}"
            )
        if method == "sequential":
            return lanes.one_by_one(transform, self.key, self.build, operands, axes)
        if method == "sequential_unrolled":
            return lanes.unrolled(transform, self.build, operands, axes)
        return self._at_once(transform.size, method, operands, axes)

    def _at_once(
        self, size: int, method: str, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        """One call for all lanes, whose axis is the first of operands and results."""

        def placed(x: Value, axis: Axis) -> Value:
            if axis is not None:
                return shape.move_axis(x, axis, 0)
            if method == "broadcast_all":
                return shape.batched_at(x, None, size, 0)
            if method == "expand_dims":
                return shape.reshape(x, (1, *shape_of(x)))
            return x

        types = tuple(
            mlir.tensor_type((size, *shape_of(x)), dtype_of(x)) for x in map(Linear, self.types)
        )
        given = [placed(x, axis) for x, axis in zip(operands, axes, strict=True)]
        return replace(self, types=types).build(given), [0] * len(types)


def is_callback(operation: Operation) -> bool:
    """True if an operation was built by `Callback`: it calls a Python function."""
    if operation.name != Callback.name:
        return False
    target: Any = operation.attributes["call_target_name"]
    return target.value == TARGET


def asks_for_steps(operation: Operation) -> bool:
    """True if an operation is a callback of kind `progress`."""
    return is_callback(operation) and Callback.read(operation).kind == "progress"
