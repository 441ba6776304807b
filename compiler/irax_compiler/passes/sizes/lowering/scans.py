"""Cumulative reductions along a symbolic size, as IREE's scans of one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions.cumulative import Run, run_of
from irax_compiler.ops.reductions.reduce import is_identity
from irax_compiler.passes.sizes.lowering.lowering import Lowering, anonymous, emit
from irax_compiler.passes.sizes.lowering.moves import bits, signed_type
from irax_compiler.sizes import Size

_OPERATIONS = {
    "add": {"f": "addf", "i": "addi", "u": "addi"},
    "multiply": {"f": "mulf", "i": "muli", "u": "muli"},
    "maximum": {"f": "maximumf", "i": "maxsi", "u": "maxui"},
    "minimum": {"f": "minimumf", "i": "minsi", "u": "minui"},
}
"""The operations of the dialect arith, by the kinds of dtypes."""


def scan_of(op: ReduceWindow, operands: Sequence[Value], extents: Sequence[Any]) -> Run | None:
    """Return the direction of a cumulative reduction that is a scan; None for others. Narrow floats
    are not: they are summed in wider ones.
    """
    run = run_of(op.window, tuple(extents))
    if run is None or not isinstance(op.computation, str) or len(operands) != 2:
        return None
    x, init = operands
    dtype = mlir.dtype_of(x)
    is_narrow = dtype.kind == "f" and dtype.itemsize < 4
    if is_narrow or dtype.kind not in _OPERATIONS.get(op.computation, {}):
        return None
    return run if is_identity(op.computation, init) else None


def scanned(of: Lowering, op: ReduceWindow, x: Value, run: Run, type_: Any) -> Value:
    """The scan of an array; backwards, of the reversed one."""
    dtype = mlir.dtype_of(x)
    name = f"arith.{_OPERATIONS[op.computation][dtype.kind]}"  # pyright: ignore
    given = bits(of, x, signed_type(x)) if dtype.kind == "u" else x
    if run.backwards:
        given = _reversed(given, run.dimension)
    found = _forwards(of, given, of.shape(x), run.dimension, name)
    if run.backwards:
        found = _reversed(found, run.dimension)
    return emit("stablehlo.bitcast_convert", [found], type_) if dtype.kind == "u" else found


def _reversed(x: Value, dimension: int) -> Value:
    dimensions = mlir.integers([dimension])
    return emit("stablehlo.reverse", [x], x.type, dimensions=dimensions)


def _forwards(of: Lowering, x: Any, shape: Sequence[Any], dimension: int, name: str) -> Value:
    element = x.type.element_type
    extents = [shape, [*shape[:dimension], *shape[dimension + 1 :]]]
    types = [anonymous(sizes, element) for sizes in extents]
    places = [
        emit("tensor.empty", of.sizes([n for n in sizes if isinstance(n, Size)]), type_)
        for sizes, type_ in zip(extents, types, strict=True)
    ]
    stated = {
        "dimension": mlir.parse_attribute(f"{dimension} : i64"),
        "inclusive": mlir.parse_attribute("true"),
    }
    scan = mlir.emit("iree_linalg_ext.scan", [x, *places], stated, types, 1)
    block = scan.regions[0].blocks.append(element, element)
    with mlir.InsertionPoint(block):
        so_far, here = block.arguments
        mlir.emit("iree_linalg_ext.yield", [emit(name, [so_far, here], element)], {}, [])
    return scan.results[0]
