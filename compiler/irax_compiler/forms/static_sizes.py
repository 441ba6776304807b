"""Operations with dynamic names whose sizes are known: they become the static ones.

TensorFlow and torch_xla write `dynamic_iota` or `get_dimension_size` in modules all of whose types
are static. The sizes are then those of the results, or follow from constants.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.forms.unknown_sizes import CALLS, DYNAMIC, MOST, form_of
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import UnsupportedOp, full, no_calls
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice
from irax_compiler.ops.registry import read

_I32 = np.dtype(np.int32)
SET = "stablehlo.set_dimension_size"
GET = "stablehlo.get_dimension_size"
_SLICE = "stablehlo.real_dynamic_slice"
_NAMES = {SET} | {name for name in DYNAMIC if name != "stablehlo.bitcast_convert"}
_OF_RESULT = {
    "stablehlo.dynamic_iota": 0,
    "stablehlo.dynamic_reshape": 1,
    "stablehlo.dynamic_broadcast_in_dim": 1,
}
"""The numbers of the operands that are the shapes of the results."""
_DEPTH = 100
"""The most operations, one after the other, that sizes are computed by."""
_WORDS = [name.partition(".")[2] for name in (*_NAMES, *CALLS)]


def may_have_sizes(told: str) -> bool:
    """False for the words (see `words`) of a module without operations of dynamic names."""
    return any(word in told for word in _WORDS)


def rewrite(module: Module) -> None:
    """Rewrite the operations of dynamic names that are static. Others are left, and refused by name
    if they are run.

    Raises:
        ValueError: the sizes of an operation are others than its result has.
    """
    known = Known()
    for operation in mlir.operations_in(module.operation)[:-1]:
        is_form = operation.name in _NAMES or form_of(operation) in CALLS.values()
        if not is_form or len(operation.results) != 1 or not _is_static(operation):
            continue
        with InsertionPoint(operation), operation.location:
            try:
                found = known.static(operation)
            except NotKnown:
                continue
            except mlir.MLIRError as error:
                told = mlir.error_text(error)
                raise ValueError(f"{operation.name} at {operation.location}: {told}") from None
        (result,) = operation.results
        if found.type != result.type:
            raise ValueError(
                f"{operation.name} at {operation.location}: its sizes make a {found.type}, its "
                f"result is a {result.type}; expected the sizes of the result"
            )
        result.replace_all_uses_with(found)
        operation.erase()


def _is_static(operation: Operation) -> bool:
    types: list[Any] = [x.type for x in (*operation.operands, *operation.results)]
    return all(
        isinstance(t, mlir.RankedTensorType) and t.encoding is None and t.has_static_shape
        for t in types
    )


class NotKnown(Exception):
    """Raised for sizes that do not follow from constants."""


class Known:
    """The integers that follow from constants."""

    def __init__(self) -> None:
        self.values: dict[Value, Value] = {}
        self._found: dict[Value, np.ndarray[Any, Any] | None] = {}

    def static(self, operation: Operation) -> Value:
        """Build a static operation. Raises NotKnown for sizes that are not known."""
        operands = list(operation.operands)
        if operation.name == SET:
            if self.sizes(operation, 1) != (self.size(operation),):
                raise NotKnown
            return operands[0]
        self.values.update((x, x) for x in operands)
        if operation.name == _SLICE and self._elements(operands[1], _DEPTH) is None:
            return self._part(operation)
        form = form_of(operation)
        assert form is not None
        op, count = form(self, operation)
        if operation.name == GET:
            return full((), op, _I32)
        return op.build(operands[: max(count, 0)])[0]

    def sizes(self, operation: Operation, number: int) -> tuple[int, ...]:
        """The sizes that an operand has as its elements."""
        found = self._elements(operation.operands[number], _DEPTH)
        if found is not None:
            return tuple(int(n) for n in found.ravel())
        if _OF_RESULT.get(operation.name) == number:
            return mlir.shape_of(operation.results[0])
        raise NotKnown

    def _part(self, operation: Operation) -> Value:
        """Return a slice of known sizes and strides that begins anywhere within the array."""
        x, starts = operation.operands[0], operation.operands[1]
        strides, sizes = self.sizes(operation, 3), mlir.shape_of(operation.results[0])
        extents = tuple((n - 1) * s + 1 if n else 0 for n, s in zip(sizes, strides, strict=True))
        if any(n > m for n, m in zip(extents, mlir.shape_of(x), strict=True)):
            raise NotKnown
        each = (slicing.Slice((d,), (d + 1,), (1,))(starts) for d in range(len(sizes)))
        part = DynamicSlice(extents)(x, *map(shape.Reshape(()), each))
        return slicing.Slice((0,) * len(sizes), extents, strides)(part)

    def size(self, operation: Operation) -> int:
        """The size of the dimension that an operation names."""
        dimension: Any = operation.attributes["dimension"]
        return mlir.shape_of(operation.operands[0])[dimension.value]

    def _elements(self, value: Value, depth: int) -> np.ndarray[Any, Any] | None:
        if value not in self._found:
            self._found[value] = self._computed(value, depth)
        return self._found[value]

    def _computed(self, value: Value, depth: int) -> np.ndarray[Any, Any] | None:
        source = mlir.definition(value)
        if source is None or depth == 0 or len(source.results) != 1 or len(source.regions):
            return None
        if np.prod(mlir.shape_of(value), dtype=int) > MOST or not _is_static(source):
            return None
        given: list[np.ndarray[Any, Any]] = []
        for operand in source.operands:
            found = self._elements(operand, depth - 1)
            if found is None:
                return None
            given.append(found)
        try:
            return np.asarray(read(source).evaluate(no_calls, *given))
        except UnsupportedOp:
            return None
