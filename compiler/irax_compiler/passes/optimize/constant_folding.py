"""Constant folding: evaluates operations on constants at compile time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.core import Op, UnsupportedOp, constant, evaluated, full_like, no_calls
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.shape import Constant, Iota
from irax_compiler.passes.copies import is_kept_unknown
from irax_compiler.passes.core import Pass, register_pass, walk


@register_pass
@dataclass
class ConstantFolding(Pass):
    """Replaces operations on constants and iotas by constants of at most `elements` elements, or by
    larger ones that take no more room than their operands. Values are those of `evaluate`.

    IREE's own constant folding compiles and runs a program, which takes more time than the rest of
    a compilation.
    """

    name: ClassVar[str] = "constant-folding"
    elements: int = 4096

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            known: dict[Value, np.ndarray] = {}
            self._find(mlir.body(function), known)
            for value, array in known.items():
                _write_down(value, array, known)
            effects.remove_dead_operations(mlir.body(function))

    def _find(self, block: Block, known: dict[Value, np.ndarray]) -> None:
        """Add the values of a block that follow from constants, and those of loops and branches in
        it.
        """
        for operation in walk(block):
            if traits_of(operation).captures:
                for inner in (b for region in operation.regions for b in region.blocks):
                    self._find(inner, known)
            op = _pure(operation) if all(v in known for v in operation.operands) else None
            if op is None:
                continue
            written = _written(
                operation.results if isinstance(op, Constant) else operation.operands
            )
            if sum(prod(shape_of(v)) for v in operation.results) <= max(self.elements, written):
                known.update(_evaluated(op, operation, known))


def _written(values: Iterable[Value]) -> int:
    """Return the total number of elements of the constants that are not splats."""
    return sum(prod(shape_of(v)) for v in values if mlir.splat(v) is None)


def _pure(operation: Operation) -> Op | None:
    """Return the op, if its results depend on its operands alone, and may be known."""
    if is_kept_unknown(operation):
        return None
    try:
        op = read(operation)
    except UnsupportedOp:
        return None
    return op if op.is_pure and not traits_of(operation).captures else None


def _evaluated(
    op: Op, operation: Operation, known: dict[Value, np.ndarray]
) -> dict[Value, np.ndarray]:
    """Return the results of an operation on known operands; none, if NumPy cannot compute them."""
    if isinstance(op, Constant):
        return {operation.results[0]: mlir.dense_to_numpy(operation)}
    try:
        with np.errstate(all="ignore"):
            results = evaluated(op, no_calls, [known[v] for v in operation.operands])
    except (UnsupportedOp, TypeError):
        return {}
    return dict(zip(operation.results, results, strict=True))


def _write_down(value: Value, array: np.ndarray, known: dict[Value, np.ndarray]) -> None:
    """Replace a known value by a constant, if an operation uses it whose results are not known."""
    operation = mlir.definition(value)
    assert operation is not None
    if operation.name in (Constant.name, Iota.name):
        return
    users = [list(use.owner.results) for use in value.uses]
    if all(results and results[0] in known for results in users):
        return
    contents = np.asarray(array, dtype_of(value)).reshape(shape_of(value))
    with InsertionPoint(operation), operation.location:
        new = full_like(value, contents.flat[0]) if _is_splat(contents) else constant(contents)
    value.replace_all_uses_with(new)


def _is_splat(array: np.ndarray) -> bool:
    """True if all elements are equal, including the sign of zeros."""
    return array.size > 0 and array.tobytes() == array.flat[0].tobytes() * array.size
