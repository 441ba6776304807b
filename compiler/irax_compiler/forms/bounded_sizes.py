"""Sizes with a bound, `#stablehlo.bounds`, that are constants: arrays are cut to them, and all that
is computed of these has static types, too.

TensorFlow writes so with `set_dimension_size`.
"""

from __future__ import annotations

from typing import Any

from irax_compiler import mlir
from irax_compiler.forms import sizes_by_value
from irax_compiler.forms.static_sizes import GET, SET, Known, NotKnown
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops import slicing
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.registry import read


def with_constants(module: Module) -> Module:
    """Return a module without sizes that have bounds, where all of these are constants; otherwise,
    or if there are none, the module itself, whose operations are refused by name if they are run.
    """
    if not any(map(_is_bounded, mlir.operations_in(module.operation))):
        return module
    cut = sizes_by_value.without_calls(module)
    known = Known()
    try:
        for operation in mlir.operations_in(cut.operation)[:-1]:
            _narrow(operation, known)
        for function in mlir.functions(cut).values():
            mlir.set_function_type(function)
        cut.operation.verify()
    except (NotKnown, UnsupportedOp, TypeError, ValueError, mlir.MLIRError):
        return module
    return module if any(map(_is_bounded, mlir.operations_in(cut.operation))) else cut


def _is_bounded(operation: Operation) -> bool:
    return any(_has_bound(x) for x in operation.results)


def _has_bound(x: Value) -> bool:
    type_: Any = x.type
    is_tensor = isinstance(type_, mlir.RankedTensorType)
    return is_tensor and type_.encoding is not None and not type_.has_static_shape


def _narrow(operation: Operation, known: Known) -> None:
    """Put a static operation in the place of one of bounded results, or of the size of one."""
    is_size = operation.name == GET and not _has_bound(operation.operands[0])
    if not _is_bounded(operation) and not is_size:
        return
    if any(map(_has_bound, operation.operands)):
        raise NotKnown
    with InsertionPoint(operation), operation.location:
        if operation.name == SET:
            results = [_cut(operation, known)]
        elif is_size:
            results = [known.static(operation)]
        else:
            results = read(operation).build(list(operation.operands))
    mlir.replace(operation, results)


def _cut(operation: Operation, known: Known) -> Value:
    """Return an array cut to the size that one of its dimensions is set to."""
    x = operation.operands[0]
    (size,) = known.sizes(operation, 1)
    dimension: Any = operation.attributes["dimension"]
    limits = list(mlir.shape_of(x))
    if not 0 <= size <= limits[dimension.value]:
        raise NotKnown
    limits[dimension.value] = size
    ones = (1,) * len(limits)
    return slicing.Slice((0,) * len(limits), tuple(limits), ones)(x)
