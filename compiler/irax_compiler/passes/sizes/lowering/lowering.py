"""Numbers that a program computes from the sizes of its arguments, for the pass dynamic-shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value
from irax_compiler.mlir.bindings import ir
from irax_compiler.mlir.types import UNKNOWN_SIZE
from irax_compiler.ops import comparison
from irax_compiler.ops.core import UnsupportedOp, full
from irax_compiler.ops.size_code import computed
from irax_compiler.passes.core import enclosing
from irax_compiler.sizes import Size, variables
from irax_compiler.sizes.bounds import largest

INDEX = mlir.parse_type("index")
I64 = mlir.parse_type("i64")
I32 = mlir.parse_type("i32")
_ZERO = mlir.parse_attribute("0 : index")


MOST_BYTES = 1 << 60
"""The bytes that an array may have where IREE is to bound its size."""
LEAST = 1 << 10
"""The least that the largest value of a variable must be."""


class NotDynamic(UnsupportedOp):
    """An operation that is not compiled for sizes that are not known."""


class Lowering:
    """A function that is lowered: the sizes of its values, and numbers that it computes."""

    def __init__(self, function: Operation) -> None:
        self.function = function
        self.block = mlir.body(function)
        self.shapes: dict[Value, tuple[Any, ...]] = {}
        """The shapes, with names, of values of unknown size."""
        self.operation = function
        """The operation that is being rewritten."""
        self.result_shape: tuple[Any, ...] = ()
        """The shape, with names, of its result."""
        self.most = 0
        """The largest value of a variable for which the function is right."""
        self._numbers: dict[Any, Value] = {}
        self._extents: dict[Any, Value] = {}
        with mlir.InsertionPoint.at_block_begin(self.block), function.location:
            self._anchor = mlir.emit("arith.constant", [], {"value": _ZERO}, [INDEX])
            """An operation that stays where it is: numbers are computed before it."""

    # -- numbers --

    def find_most(self) -> None:
        """Find how large variables may be: so that IREE can bound the bytes of all arrays.

        Raises:
            NotDynamic: there are arrays of so many unknown sizes that they could be hardly large.
        """
        arrays = {(shape, mlir.dtype_of(x).itemsize) for x, shape in self.shapes.items()}
        self.most = next(
            n
            for n in (2**k - 1 for k in range(31, 0, -1))
            if all(prod(largest(d, n) for d in s) * size <= MOST_BYTES for s, size in arrays)
        )
        if self.most < LEAST:
            raise NotDynamic(f"arrays of so many unknown sizes that each could be {self.most} only")

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
        if name not in self._numbers:
            raise NotDynamic(f"no argument has the size {name}")
        return self._numbers[name]

    def sizes(self, values: Sequence[Any]) -> list[Value]:
        """Sizes of arrays as indices."""
        return [self.extent(n) for n in values]

    def extent(self, size: Any) -> Value:
        """The size of an array as an index, of which IREE is told the bounds."""
        if not isinstance(size, Size):
            return self.number(size)
        if size not in self._extents:
            number = self.number(size)
            least = int(max(size.scope.bounds(size)[0], 0))
            with self.at_start():
                self._extents[size] = _within(number, least, largest(size, self.most))
        return self._extents[size]

    def vector(self, values: Sequence[Any]) -> Value:
        """Sizes as a vector, as StableHLO's dynamic operations take them."""
        type_ = mlir.tensor_type((len(values),), np.dtype(np.int64))
        with self.at_start():
            numbers = [emit("arith.index_cast", [n], I64) for n in self.sizes(values)]
            return emit("tensor.from_elements", numbers, type_)

    def apart(self, x: Value, user: Operation) -> Value:
        """An array for an operation that updates it in place.

        What a step of a loop computes from nothing that the loop carries IREE computes before the
        loop, and then updates in each step.
        """
        loop = next((o for o in enclosing(user) if o.name == "stablehlo.while"), None)
        if loop is None or x not in self.shapes or _has_source(x, loop):
            return x
        other = self.spread(_unknown(0, mlir.dtype_of(x)), self.shapes[x], x.type)
        copy = emit("stablehlo.select", [_holds_in_step(loop, user), x, other], x.type)
        self.shapes[copy] = self.shapes[x]
        return copy

    def spread(self, scalar: Value, shape: Sequence[Any], type_: Type) -> Value:
        """A scalar broadcast to a shape."""
        none = mlir.parse_attribute("array<i64>")
        name = "stablehlo.dynamic_broadcast_in_dim"
        return emit(name, [scalar, self.vector(shape)], type_, broadcast_dimensions=none)

    def shape(self, value: Value) -> tuple[Any, ...]:
        """The shape of a value, with names."""
        return self.shapes.get(value) or mlir.shape_of(value)


def _has_source(x: Value, loop: Operation) -> bool:
    """True if an array is computed from arrays within a loop, from what that carries."""
    pending, seen = [x], {x}
    while pending:
        value = pending.pop()
        source = mlir.definition(value)
        if source is None:
            if _is_inside(value.owner, loop):
                return True
        elif _is_inside(source.block, loop):
            arrays = {y for y in (*source.operands, *mlir.captured(source)) if _is_array(y)}
            pending += arrays - seen
            seen |= arrays
    return False


def _is_array(x: Value) -> bool:
    return isinstance(x.type, ir.RankedTensorType)


def _is_inside(block: Any, loop: Operation) -> bool:
    """True if a block is in a loop."""
    owner = block.owner
    return owner == loop or any(outer == loop for outer in enclosing(owner))


def _holds_in_step(loop: Operation, user: Operation) -> Value:
    """A condition that always holds, which each step of a loop computes from what it carries."""
    *_, outermost = takewhile(lambda outer: outer != loop, (user, *enclosing(user)))
    block: Any = outermost.block
    numbers = [x for x in block.arguments if _is_array(x) and x.type.rank == 0]
    number = next((x for x in numbers if mlir.dtype_of(x).kind == "i"), None)
    if number is None:
        raise NotDynamic("an update of an array that is the same in each step of a loop")
    dtype = mlir.dtype_of(number)
    return comparison.greater_equal(number, _unknown(np.iinfo(dtype).min, dtype))


def _unknown(fill: Any, dtype: np.dtype) -> Value:
    """A scalar of which the compiler does not know what it is."""
    return mlir.emit("stablehlo.optimization_barrier", [full((), fill, dtype)]).results[0]


def _within(x: Value, least: int, most: int) -> Value:
    """A number of which IREE is told that it lies between two others.

    Where IREE finds no bounds for the bytes of an array, it takes offsets in memory that depend on
    them for constants.
    """
    bounds = mlir.parse_attribute(f"[[#util.int.assumption<umin = {least}, umax = {most}>]]")
    return emit("util.assume.int", [x], INDEX, assumptions=bounds)


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
            **mlir.segment_sizes(0, 1),
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
