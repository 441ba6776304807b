"""The pass dynamic-shapes: symbolic sizes become `?`, and numbers that the program computes.

The variables are sizes of the arguments of the one function that is left after inlining; all other
sizes follow from these at its beginning. Operations with symbolic parameters become StableHLO's
dynamic operations, or those of the dialects tensor and flow where IREE does not compile these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Type, Value
from irax_compiler.mlir.bindings import ir
from irax_compiler.mlir.types import UNKNOWN_SIZE, element_type
from irax_compiler.ops import shape as shape_ops
from irax_compiler.ops import slicing
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.dimension import Dimension
from irax_compiler.ops.indexing.dynamic_slices import DynamicUpdateSlice
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.sizes import Size, variables

_INDEX = mlir.parse_type("index")
_ZERO = mlir.parse_attribute("0 : index")
_I32 = mlir.parse_type("i32")
_BYTE = np.dtype(np.int8)
_SCALAR = mlir.tensor_type((), np.dtype(np.int32))
_WITH_SIZED_OPERANDS = {
    *("stablehlo.dot_general", "stablehlo.reduce", "stablehlo.transpose", "stablehlo.concatenate"),
    *("stablehlo.reverse", "stablehlo.broadcast_in_dim", "stablehlo.map", "stablehlo.slice"),
    *("stablehlo.dynamic_slice", "stablehlo.reshape"),
    *("stablehlo.optimization_barrier", "func.return", "stablehlo.return"),
}
"""The operations without symbolic parameters, elementwise ones aside, that IREE compiles for sizes
that are not known."""


_CALLS = {"stablehlo.custom_call", "stablehlo.composite", "func.call"}
"""Calls of the host's functions, which are left by then, and of functions of the module."""

_ALSO = {slicing.Pad.name, DynamicUpdateSlice.name}
"""Other operations that are rewritten where their results are of unknown size."""


class NotDynamic(UnsupportedOp):
    """An operation that is not compiled for sizes that are not known."""


@register_pass
@dataclass
class DynamicShapes(Pass):
    """Writes symbolic sizes as `?`, computed from the sizes of arguments.

    Raises:
        NotDynamic: an operation is not compiled for sizes that are not known; the function is to be
            refined for each size.
    """

    name = "dynamic-shapes"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            _check(function)
        for function in mlir.functions(module).values():
            _Lowering(function).run()


def has_unknown_sizes(module: Module) -> bool:
    """True for a module that this pass made: a function in it takes or returns arrays of unknown
    size.
    """
    functions = [f for f in mlir.functions(module).values() if f.regions[0].blocks]
    types = [x.type for f in functions for x in mlir.arguments(f)]
    return any(isinstance(t, mlir.RankedTensorType) and mlir.is_sized(t) for t in types)


def _check(function: Operation) -> None:
    for operation in nested(function):
        values = [*operation.operands, *operation.results]
        is_sized = operation.name.startswith("irax.") or any(
            mlir.is_sized(x.type) for x in values if isinstance(x.type, mlir.RankedTensorType)
        )
        if operation.name in _CALLS or (is_sized and not _is_compiled(operation)):
            raise NotDynamic(
                f"{operation.name} at {operation.location}: not compiled for sizes that are not "
                "known"
            )


def _is_compiled(operation: Operation) -> bool:
    name = operation.name
    if name.startswith("irax.") or name in _ALSO:
        op = read(operation)
        if isinstance(op, slicing.Pad):
            return not any(op.interior_padding) and all(
                _is_not_negative(n) for n in (*op.edge_padding_low, *op.edge_padding_high)
            )
        return type(op) in _LOWERINGS
    is_elementwise = name.startswith("stablehlo.") and traits_of(operation).elementwise
    return is_elementwise or name in _WITH_SIZED_OPERANDS


def _is_not_negative(n: Any) -> bool:
    return n.scope.bounds(n)[0] >= 0 if isinstance(n, Size) else n >= 0


class _Lowering:
    """Rewrites one function in place."""

    def __init__(self, function: Operation) -> None:
        self.function = function
        self.block = mlir.body(function)
        self.shapes: dict[Value, tuple[Any, ...]] = {}
        self.result_shape: tuple[Any, ...] = ()
        """The shape, with names, of what is being rewritten."""
        self._numbers: dict[Any, Value] = {}
        with mlir.InsertionPoint.at_block_begin(self.block), function.location:
            self._anchor = mlir.emit("arith.constant", [], {"value": _ZERO}, [_INDEX])
            """An operation that stays where it is: numbers are computed before it."""

    def run(self) -> None:
        """Rewrite the function."""
        arguments = [mlir.shape_of(x) for x in mlir.arguments(self.function)]
        self._strip(self.block)
        self._find_variables(arguments)
        for operation in nested(self.function):
            is_rewritten = operation.name in _ALSO and operation.results[0] in self.shapes
            if is_rewritten or operation.name.startswith("irax."):
                op = read_as_it_was(operation, self.shapes)
                with mlir.InsertionPoint(operation), operation.location:
                    (old,) = operation.results
                    self.result_shape = self.shape(old)
                    new = _LOWERINGS[type(op)](self, op, list(operation.operands), old.type)
                if old in self.shapes:
                    self.shapes[new] = self.shapes[old]
                old.replace_all_uses_with(new)
                operation.erase()
        mlir.set_function_type(self.function)

    def _strip(self, block: Block) -> None:
        """Remove the names of sizes from types, and keep the shapes that they tell."""
        for value in block.arguments:
            self._anonymous(value)
        for view in block.operations:
            for value in view.operation.results:
                self._anonymous(value)
            for region in view.operation.regions:
                for inner in region:
                    self._strip(inner)

    def _anonymous(self, value: Any) -> None:
        if isinstance(value.type, mlir.RankedTensorType) and mlir.is_sized(value.type):
            self.shapes[value] = mlir.shape_of(value)
            value.set_type(anonymous(self.shapes[value], value.type.element_type))

    # -- numbers --

    def _find_variables(self, shapes: Sequence[tuple[Any, ...]]) -> None:
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
                    size = _emit("tensor.dim", [x, self.number(d)], _INDEX)
                    if rest:
                        constant = self.number(sum(k for _, k in rest))
                        size = _emit("arith.subi", [size, constant], _INDEX)
                    if slope != 1:
                        size = _emit("arith.divsi", [size, self.number(slope)], _INDEX)
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
                self._numbers[size] = self._computed(size)
        return self._numbers[size]

    def _computed(self, size: Any) -> Value:
        if not isinstance(size, Size):
            value = mlir.parse_attribute(f"{size} : index")
            return mlir.emit("arith.constant", [], {"value": value}, [_INDEX]).results[0]
        total: Value | None = None
        for monomial, count in size.terms:
            factors = [self._atom(atom) for atom, power in monomial for _ in range(power)]
            if count != 1 or not factors:
                factors.insert(0, self.number(count))
            term = reduce(lambda x, y: _emit("arith.muli", [x, y], _INDEX), factors)
            total = term if total is None else _emit("arith.addi", [total, term], _INDEX)
        assert total is not None
        return total

    def _atom(self, atom: Any) -> Value:
        if not atom.operands:
            return self._numbers[atom.name]
        x, y = map(self.number, atom.operands)
        if atom.name != "mod":
            name = {"floordiv": "floordivsi", "max": "maxsi", "min": "minsi"}[atom.name]
            return _emit(f"arith.{name}", [x, y], _INDEX)
        quotient = _emit("arith.floordivsi", [x, y], _INDEX)
        return _emit("arith.subi", [x, _emit("arith.muli", [quotient, y], _INDEX)], _INDEX)

    def sizes(self, values: Sequence[Any]) -> list[Value]:
        """Sizes as indices."""
        return [self.number(n) for n in values]

    def vector(self, values: Sequence[Any]) -> Value:
        """Sizes as a vector, as StableHLO's dynamic operations take them."""
        type_ = mlir.tensor_type((len(values),), np.dtype(np.int32))
        with self.at_start():
            numbers = [_emit("arith.index_cast", [n], _I32) for n in self.sizes(values)]
            return _emit("tensor.from_elements", numbers, type_)

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


def read_as_it_was(operation: Operation, shapes: dict[Value, tuple[Any, ...]]) -> Op:
    """The op that an operation is, whose result has a type without names by now."""
    (result,) = operation.results
    type_ = result.type
    if result in shapes:
        result.set_type(mlir.tensor_type(shapes[result], mlir.dtype_of_type(type_)))
    op = read(operation)
    result.set_type(type_)
    return op


def _emit(name: str, operands: Sequence[Value], result: Type, **attributes: Any) -> Value:
    return mlir.emit(name, operands, attributes, [result]).results[0]


# ---- operations with symbolic parameters ---------------------------------------------------------


def _dimension(of: _Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    number = _emit("arith.index_cast", [of.number(op.size)], _I32)
    found = _emit("tensor.from_elements", [number], _SCALAR)
    return found if type_ == _SCALAR else _emit("stablehlo.convert", [found], type_)


def _broadcast(of: _Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    (x,) = operands
    own = of.shape(x)
    stretched = [d for d, n in enumerate(own) if n == 1]
    kept = [d for d, n in enumerate(own) if n != 1]
    return _emit(
        "stablehlo.dynamic_broadcast_in_dim",
        [x, of.vector(op.shape)],
        type_,
        broadcast_dimensions=mlir.parse_attribute(_array(op.broadcast_dimensions)),
        known_expanding_dimensions=mlir.parse_attribute(_array(stretched)),
        known_nonexpanding_dimensions=mlir.parse_attribute(_array(kept)),
    )


def _array(numbers: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, numbers))}>" if numbers else "array<i64>"


def _iota(of: _Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    along = mlir.parse_attribute(f"{op.iota_dimension} : i64")
    return _emit("stablehlo.dynamic_iota", [of.vector(op.shape)], type_, iota_dimension=along)


def _reshape(of: _Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    (x,) = operands
    own, new = ([n for n in s if isinstance(n, Size)] for s in (of.shape(x), op.shape))
    if mlir.dtype_of(x) == np.bool_:  # which flow has not
        wide = ir.RankedTensorType.get(
            type_.shape, element_type(np.dtype(np.int8)), loc=mlir.UNKNOWN
        )
        inner = ir.RankedTensorType.get(x.type.shape, wide.element_type, loc=mlir.UNKNOWN)
        as_bytes = _emit("stablehlo.convert", [x], inner)
        of.shapes[as_bytes] = of.shape(x)
        return _emit("stablehlo.convert", [_reshape(of, op, [as_bytes], wide)], type_)
    segments = mlir.parse_attribute(f"array<i32: 1, {len(own)}, {len(new)}>")
    operands = [x, *of.sizes(own), *of.sizes(new)]
    return _emit("flow.tensor.reshape", operands, type_, operandSegmentSizes=segments)


def _slice(of: _Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    place = (op.start_indices, of.result_shape, op.strides)
    return _at("tensor.extract_slice", of, operands, place, type_)


def _pad(of: _Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    """The scalar broadcast to the result's shape, with the operand written into it."""
    x, value = operands
    none = mlir.parse_attribute("array<i64>")
    vector = of.vector(of.result_shape)
    name = "stablehlo.dynamic_broadcast_in_dim"
    spread = _emit(name, [value, vector], type_, broadcast_dimensions=none)
    extents = of.shape(x)
    place = (op.edge_padding_low, extents, (1,) * len(extents))
    return _at("tensor.insert_slice", of, [x, spread], place, type_)


def _update(of: _Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    """The update written at the starts, moved so that it lies within the array."""
    x, update, *starts = operands
    extents = of.shape(update)
    places = []
    for start, n, size in zip(starts, of.shape(x), extents, strict=True):
        wide = _emit("stablehlo.convert", [start], _SCALAR)
        number = _emit("arith.index_cast", [_emit("tensor.extract", [wide], _I32)], _INDEX)
        with of.at_start():
            last = _emit("arith.subi", [of.number(n), of.number(size)], _INDEX)
        least = _emit("arith.maxsi", [number, of.number(0)], _INDEX)
        places.append(_emit("arith.minsi", [least, last], _INDEX))
    place = (places, extents, (1,) * len(extents))
    return _at("tensor.insert_slice", of, [update, x], place, type_)


def _at(
    name: str,
    of: _Lowering,
    operands: Sequence[Value],
    place: tuple[Sequence[Any], Sequence[Any], Sequence[int]],
    type_: Type,
) -> Value:
    """An operation of the dialect tensor on a part of an array: its offsets, sizes and strides,
    each of which is a size or an index that was computed.
    """
    found, stated, counts = list(operands), {}, [1] * len(operands)
    for kind, numbers in zip(("offsets", "sizes", "strides"), place, strict=True):
        known = [n if isinstance(n, int) else UNKNOWN_SIZE for n in numbers]
        open_ = [n if isinstance(n, Value) else of.number(n) for n in numbers if type(n) is not int]
        found += open_
        counts.append(len(open_))
        stated[f"static_{kind}"] = mlir.parse_attribute(_array(known))
    segments = mlir.parse_attribute(f"array<i32: {', '.join(map(str, counts))}>")
    return _emit(name, found, type_, operandSegmentSizes=segments, **stated)


_LOWERINGS: dict[type, Callable[[_Lowering, Any, list[Value], Any], Value]] = {
    Dimension: _dimension,
    shape_ops.BroadcastInDim: _broadcast,
    shape_ops.Iota: _iota,
    shape_ops.Reshape: _reshape,
    slicing.Slice: _slice,
    slicing.Pad: _pad,
    DynamicUpdateSlice: _update,
}
