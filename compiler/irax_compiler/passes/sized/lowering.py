"""Numbers that a program computes from the sizes of its arguments, for the pass dynamic-shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value
from irax_compiler.mlir.bindings import ir
from irax_compiler.mlir.types import UNKNOWN_SIZE
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.size_code import computed
from irax_compiler.sizes import Size, variables

INDEX = mlir.parse_type("index")
I64 = mlir.parse_type("i64")
I32 = mlir.parse_type("i32")
_ZERO = mlir.parse_attribute("0 : index")


class NotDynamic(UnsupportedOp):
    """An operation that is not compiled for sizes that are not known."""


class Lowering:
    """A function that is lowered: the sizes of its values, and numbers that it computes."""

    def __init__(self, function: Operation) -> None:
        self.function = function
        self.block = mlir.body(function)
        self.shapes: dict[Value, tuple[Any, ...]] = {}
        """The shapes, with names, of values of unknown size."""
        self.result_shape: tuple[Any, ...] = ()
        """The shape, with names, of what is being rewritten."""
        self._numbers: dict[Any, Value] = {}
        with mlir.InsertionPoint.at_block_begin(self.block), function.location:
            self._anchor = mlir.emit("arith.constant", [], {"value": _ZERO}, [INDEX])
            """An operation that stays where it is: numbers are computed before it."""

    # -- numbers --

    def find_variables(self, shapes: Sequence[tuple[Any, ...]]) -> None:
        """Compute the variables from the sizes of arguments."""
        wanted = set(variables(n for shape in shapes for n in shape))
        places = [
            (n, x, d)
            for x, shape in zip(mlir.arguments(self.function), shapes, strict=True)
            for d, n in enumerate(shape)
            if isinstance(n, Size) and len(n.terms) <= 2 and len(variables([n])) == 1
        ]
        for n, x, d in places:
            (name,) = variables([n])
            (monomial, slope), *rest = n.terms
            is_linear = len(monomial) == 1 and monomial[0][1] == 1 and not monomial[0][0].operands
            if name in wanted and is_linear and not any(m for m, _ in rest):
                wanted.discard(name)
                with self.at_start():
                    size = emit("tensor.dim", [x, self.number(d)], INDEX)
                    if rest:
                        constant = self.number(sum(k for _, k in rest))
                        size = emit("arith.subi", [size, constant], INDEX)
                    if slope != 1:
                        size = emit("arith.divsi", [size, self.number(slope)], INDEX)
                    self._numbers[name] = size
        if wanted:
            raise NotDynamic(f"no argument has the size {', '.join(sorted(wanted))} itself")

    def at_start(self) -> Any:
        """The beginning of the function, as a place to build at."""
        return _Places(self._anchor)

    def number(self, size: Any) -> Value:
        """A size as an index, computed at the beginning of the function."""
        if size not in self._numbers:
            with self.at_start():
                self._numbers[size] = computed(size, self.number, self.variable)
        return self._numbers[size]

    def variable(self, name: str) -> Value:
        """The value of a variable as an index."""
        return self._numbers[name]

    def sizes(self, values: Sequence[Any]) -> list[Value]:
        """Sizes as indices."""
        return [self.number(n) for n in values]

    def vector(self, values: Sequence[Any]) -> Value:
        """Sizes as a vector, as StableHLO's dynamic operations take them."""
        type_ = mlir.tensor_type((len(values),), np.dtype(np.int32))
        with self.at_start():
            numbers = [emit("arith.index_cast", [n], I32) for n in self.sizes(values)]
            return emit("tensor.from_elements", numbers, type_)

    def shape(self, value: Value) -> tuple[Any, ...]:
        """The shape of a value, with names."""
        return self.shapes.get(value) or mlir.shape_of(value)


class _Places:
    """The place before an operation, and its location, to build others at in a `with` block."""

    def __init__(self, operation: Any) -> None:
        self._contexts = mlir.InsertionPoint(operation), operation.location

    def __enter__(self) -> None:
        for context in self._contexts:
            context.__enter__()

    def __exit__(self, *details: Any) -> None:
        for context in reversed(self._contexts):
            context.__exit__(*details)


def anonymous(shape: Sequence[Any], element: Type) -> Type:
    """A tensor type with `?` for symbolic sizes."""
    extents = [UNKNOWN_SIZE if isinstance(n, Size) else n for n in shape]
    return ir.RankedTensorType.get(extents, element, loc=mlir.UNKNOWN)


def emit(name: str, operands: Sequence[Value], result: Type, **attributes: Any) -> Value:
    """The result of one operation at the insertion point."""
    return mlir.emit(name, operands, attributes, [result]).results[0]


def array_of(numbers: Sequence[int]) -> str:
    """Numbers as the text of an attribute."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def element_wise(
    of: Lowering,
    shape: Sequence[Any],
    type_: Any,
    element: Callable[[list[Value]], Value],
) -> Value:
    """An array of which each element is computed from its place."""
    open_ = of.sizes([n for n in shape if isinstance(n, Size)])
    empty = emit("tensor.empty", open_, type_)
    rank = len(shape)
    places = ", ".join(f"d{d}" for d in range(rank))
    generic = mlir.emit(
        "linalg.generic",
        [empty],
        {
            "indexing_maps": mlir.parse_attribute(f"[affine_map<({places}) -> ({places})>]"),
            "iterator_types": mlir.parse_attribute(
                f"[{', '.join(['#linalg.iterator_type<parallel>'] * rank)}]"
            ),
            "operandSegmentSizes": mlir.parse_attribute("array<i32: 0, 1>"),
        },
        [type_],
        1,
    )
    block = generic.regions[0].blocks.append(type_.element_type)
    with mlir.InsertionPoint(block):
        numbers = [
            emit("linalg.index", [], INDEX, dim=mlir.parse_attribute(f"{d} : i64"))
            for d in range(rank)
        ]
        mlir.emit("linalg.yield", [element(numbers)], {}, [])
    return generic.results[0]
