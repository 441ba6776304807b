"""The pass materialize-folded-constants, which gives reductions in kernels arrays of the constants
that they fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.passes.core import Pass, nested, register_pass

_GENERIC, _CONSTANT = "linalg.generic", "arith.constant"


@register_pass
class MaterializeFoldedConstants(Pass):
    """Has reductions of IREE's dialect flow read each constant that they fold from an array.

    IREE has found such constants: of `x == x`, or of elements of an array that is full of one. Its
    pass `generic-vectorization` folds one that is no vector once for each vector of elements, not
    for each element.
    """

    name: ClassVar[str] = "materialize-folded-constants"

    def run(self, module: Module) -> None:
        for generic in [o for o in nested(module.operation) if o.name == _GENERIC]:
            kinds: Any = generic.attributes["iterator_types"]
            folds = list(_folds(generic)) if "reduction" in str(kinds) else []
            place = _input(generic) if folds else None
            if place is not None:
                _read(generic, place, folds)


def _folds(generic: Operation) -> Iterator[tuple[Operation, int]]:
    """Yield the operations that fold a constant, with the number of the operand that it is."""
    block = mlir.body(generic)
    accumulators = list(block.arguments)[len(block.arguments) - len(generic.results) :]
    for operation in [o.operation for o in block.operations]:
        if len(operation.operands) == 2 and any(x in accumulators for x in operation.operands):
            for i, x in enumerate(operation.operands):
                made = mlir.definition(x)
                if made is not None and made.name == _CONSTANT:
                    yield operation, i


def _input(generic: Operation) -> int | None:
    """Return the number of an array of known sizes that a reduction reads; None without one."""
    count = len(generic.operands) - len(generic.results)
    for i, x in enumerate(list(generic.operands)[:count]):
        type_ = x.type
        if isinstance(type_, mlir.RankedTensorType) and type_.has_static_shape and type_.rank:
            return i
    return None


def _read(generic: Operation, place: int, folds: list[tuple[Operation, int]]) -> None:
    """Replace a reduction by one that reads constants from arrays, in the way of one of its own."""
    operands, block = list(generic.operands), mlir.body(generic)
    count = len(operands) - len(generic.results)
    like, attribute = operands[place], generic.attributes["indexing_maps"]
    maps: list[Any] = list(attribute)  # pyright: ignore
    constants = [operation.operands[i] for operation, i in folds]
    with InsertionPoint(generic), generic.location:
        arrays = [_full(x, like) for x in constants]
        attributes = {name: generic.attributes[name] for name in generic.attributes}
        more = [maps[place]] * len(arrays)
        attributes["indexing_maps"] = mlir.array([*maps[:count], *more, *maps[count:]])
        attributes |= mlir.segment_sizes(count + len(arrays), len(generic.results))
        given = [*operands[:count], *arrays, *operands[count:]]
        types = [x.type for x in generic.results]
        new = mlir.emit(_GENERIC, given, attributes, types, regions=1)
        elements = list(block.arguments)
        types = [x.type for x in (*elements[:count], *constants, *elements[count:])]
        inside = Block.create_at_start(new.regions[0], types)
    own = list(inside.arguments)
    for (operation, i), x in zip(folds, own[count:], strict=False):
        operation.operands[i] = x
    kept = [*own[:count], *own[count + len(arrays) :]]
    env: dict[Value, Value] = dict(zip((*elements, *own), (*kept, *own), strict=True))
    with InsertionPoint(inside), generic.location:
        for view in block.operations:
            mlir.copy(view.operation, env)
    mlir.replace(generic, new.results)


def _full(constant: Value, like: Value) -> Value:
    """Build an array of the shape of another one that is full of a constant."""
    made = mlir.definition(constant)
    assert made is not None
    element = str(made.attributes["value"]).partition(" : ")[0]
    extents = "x".join(map(str, shape_of(like)))
    value = mlir.parse_attribute(f"dense<{element}> : tensor<{extents}x{constant.type}>")
    return mlir.emit(_CONSTANT, [], {"value": value}, [value.type]).results[0]
