"""The pass convert-precision, which does operations in a narrower floating-point type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import ClassVar

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, inexact
from irax_compiler.ops import bitcast, conversion
from irax_compiler.ops.composite import Composite, decomposition_of
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.structured import StructuredOp
from irax_compiler.passes.core import Pass, PassError, register_pass

DTYPES = ("bf16", "f16", "f32", "f8E4M3FN", "f8E5M2")


@register_pass
@dataclass
class ConvertPrecision(Pass):
    """Does operations on wider floats in `dtype`: bf16, f16, f32, f8E4M3FN or f8E5M2. `only`
    are the numbers of these operations among all that compute floats, in the order of the module;
    none stands for all. Between two such operations numbers stay narrow; for others, and in the
    types of functions, they are converted back.
    """

    name: ClassVar[str] = "convert-precision"
    dtype: str = "bf16"
    only: tuple[int, ...] = ()

    def run(self, module: Module) -> None:
        if self.dtype not in DTYPES:
            raise PassError(f"dtype={self.dtype}: expected one of {', '.join(DTYPES)}")
        there = candidates(module)
        beyond = [n for n in self.only if n >= len(there)]
        if beyond:
            raise PassError(f"only={beyond[0]}: the module has {len(there)} such operations")
        dtype = mlir.DTYPES[self.dtype]
        chosen = {there[n] for n in self.only} or set(there)
        for operation, is_chosen in [(o, o in chosen) for o in _inside(module)]:
            if is_chosen or (_moves(operation) and _is_narrow(operation, dtype)):
                _convert(operation, dtype)


def candidates(module: Module) -> list[Operation]:
    """Return the operations that compute floats of floats, in order: those that can be done in
    another precision.
    """
    return [o for o in _inside(module) if _computes_floats(o) and not _moves(o)]


def _inside(module: Module) -> Iterator[Operation]:
    """Yield the operations of all functions but those that only say what composites do."""
    functions = mlir.functions(module)
    operations = {name: list(_within(f)) for name, f in functions.items()}
    every = (o for inner in operations.values() for o in inner)
    defining = {decomposition_of(o) for o in every if o.name == Composite.name}
    for name, inner in operations.items():
        if name not in defining:
            yield from inner


def _within(operation: Operation) -> Iterator[Operation]:
    """Yield the operations inside of another, those of loops and branches included."""
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                yield inner
                if isinstance(_op(inner), StructuredOp):
                    yield from _within(inner)


def _op(operation: Operation) -> Op | None:
    try:
        return read(operation)
    except UnsupportedOp:
        return None


_OF_BITS = (bitcast.BitcastConvert, conversion.ReducePrecision, conversion.Convert)


def _computes_floats(operation: Operation) -> bool:
    given = [x for x in operation.operands if mlir.is_inexact(x)]
    floats = [*given, *operation.results]
    if not given or not operation.results or effects.has_effects(operation):
        return False
    if any(not mlir.is_inexact(x) or dtype_of(x).kind == "c" for x in floats):
        return False
    op = _op(operation)
    if op is None or not op.is_pure or isinstance(op, _OF_BITS):
        return False
    return operation.name.startswith(("stablehlo.", "chlo.")) and operation.name != Composite.name


def _moves(operation: Operation) -> bool:
    return traits_of(operation).moves


def _is_narrow(operation: Operation, dtype: np.dtype) -> bool:
    """True if all floats that an operation moves were converted from a type."""
    floats = [x for x in operation.operands if mlir.is_inexact(x)]
    return bool(floats) and all(dtype_of(_narrowest(x)) == dtype for x in floats)


def _retyped(op: Op, dtype: np.dtype) -> Op:
    """Return an op with the parameters that are floating-point types changed."""
    if not is_dataclass(op):
        return op
    found = {f.name: getattr(op, f.name) for f in fields(op) if f.init}
    floats = [k for k, v in found.items() if isinstance(v, np.dtype) and inexact(v)]
    return replace(op, **dict.fromkeys(floats, dtype)) if floats else op


def _convert(operation: Operation, dtype: np.dtype) -> None:
    dtypes = [dtype_of(x) for x in operation.results]
    op = read(operation)
    with InsertionPoint(operation), operation.location:
        given = list(operation.operands)
        operands = [_narrow(x, dtype) if mlir.is_inexact(x) else x for x in given]
        results = _retyped(op, dtype).build(operands)
        results = [conversion.convert(y, d) for y, d in zip(results, dtypes, strict=True)]
    mlir.replace(operation, results)
    for x in set(given):  # conversions back that nothing uses any more
        made = mlir.definition(x)
        if made is not None and made.name == conversion.Convert.name and not mlir.num_uses(x):
            made.erase()


def _narrow(x: Value, dtype: np.dtype) -> Value:
    """Convert a value; not if it was converted from that type, in which it is exact."""
    source = _narrowest(x)
    return source if dtype_of(source) == dtype else conversion.convert(x, dtype)


def _narrowest(x: Value) -> Value:
    """Return what a value was converted from, if it was; else the value."""
    made = mlir.definition(x)
    return x if made is None or made.name != conversion.Convert.name else made.operands[0]
