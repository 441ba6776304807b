"""The pass dynamic-shapes: symbolic sizes become `?`, and numbers that the program computes.

The variables are sizes of the arguments of the one function that is left after inlining; all other
sizes follow from these at its beginning. Operations with symbolic parameters become StableHLO's
dynamic operations, or those of the dialects tensor, linalg and flow where IREE does not compile
these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value
from irax_compiler.ops import comparison, slicing
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.control_flow.while_loops import While
from irax_compiler.ops.core import Op
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.annotate import LARGEST_SIZE, add_reflection
from irax_compiler.passes.kernels.executables import SIZED_DISPATCH, VARIABLES
from irax_compiler.passes.sizes.lowering import indexing, moves, windows
from irax_compiler.passes.sizes.lowering.lowering import I64, Lowering, NotDynamic, anonymous, emit
from irax_compiler.sizes import Size, is_symbolic

_WITH_SIZED_OPERANDS = {
    *("stablehlo.dot_general", "stablehlo.reduce", "stablehlo.transpose", "stablehlo.concatenate"),
    *("stablehlo.reverse", "stablehlo.broadcast_in_dim", "stablehlo.map", "stablehlo.slice"),
    *("stablehlo.dynamic_slice", "stablehlo.reshape", "stablehlo.scatter"),
    *("stablehlo.if", "stablehlo.case", "stablehlo.while"),
    *("stablehlo.optimization_barrier", "func.return", "stablehlo.return"),
}
"""The operations without symbolic parameters, elementwise ones aside, that IREE compiles for sizes
that are not known."""

_LOWERINGS: dict[type, Callable[[Lowering, Any, list[Value], Any], Value]] = {
    **moves.LOWERINGS,
    **indexing.LOWERINGS,
    **windows.LOWERINGS,
}

_CALLS = {"stablehlo.custom_call", "stablehlo.composite", "func.call"}
"""Calls of the host's functions, which are left by then, and of functions of the module."""

_ALSO = {kind.name for kind in (*moves.ALSO, *indexing.LOWERINGS, *windows.LOWERINGS)}
"""Other operations that are rewritten where operands or results are of unknown size."""


@register_pass
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
            _Rewriting(function).run()


def has_unknown_sizes(module: Module) -> bool:
    """True for a module that this pass made: a function in it takes or returns arrays of unknown
    size.
    """
    functions = [f for f in mlir.functions(module).values() if f.regions[0].blocks]
    return any(map(_is_sized, (x for f in functions for x in mlir.arguments(f))))


def is_lowered_here(operation: Operation) -> bool:
    """True for an operation of unknown size of which this pass takes care itself, whatever the
    defects of the compiler are.
    """
    return operation.name in _OWN and any(map(_is_sized, (*operation.operands, *operation.results)))


_OWN = {kind.name for kind in indexing.LOWERINGS}


def _is_sized(value: Value) -> bool:
    return isinstance(value.type, mlir.RankedTensorType) and mlir.is_sized(value.type)


def _check(function: Operation) -> None:
    for operation in nested(function):
        if operation.name == SIZED_DISPATCH:
            continue
        values = [*operation.operands, *operation.results]
        is_sized = operation.name.startswith("irax.") or any(map(_is_sized, values))
        if operation.name in _CALLS or (is_sized and not _is_compiled(operation)):
            raise NotDynamic(
                f"{operation.name} at {operation.location}: not compiled for sizes that are not "
                "known"
            )


def _counts(loop: Operation) -> bool:
    """True for a loop whose condition compares a number with one from outside."""
    condition = loop.regions[0].blocks[0]
    test = mlir.definition(mlir.terminator(condition).operands[0])
    if test is None or test.name != comparison.Compare.name:
        return False
    limit = mlir.definition(test.operands[1])
    is_outside = limit is None or limit.block != condition or traits_of(limit).is_constant
    return is_outside and test.operands[0] in list(condition.arguments)


def _is_compiled(operation: Operation) -> bool:
    name = operation.name
    if name == While.name and any(map(_is_sized, operation.results)) and not _counts(operation):
        return False  # IREE's compiler crashes on some
    if name.startswith("irax.") or name in _ALSO:
        op = read(operation)
        if isinstance(op, slicing.Pad):
            return not any(map(is_symbolic, op.interior_padding))
        if isinstance(op, ReduceWindow):
            return windows.is_lowered(op, operation)
        return type(op) in _LOWERINGS
    is_elementwise = name.startswith("stablehlo.") and traits_of(operation).elementwise
    return is_elementwise or name in _WITH_SIZED_OPERANDS


class _Rewriting(Lowering):
    """Rewrites one function in place."""

    def run(self) -> None:
        """Rewrite the function."""
        arguments = [mlir.shape_of(x) for x in mlir.arguments(self.function)]
        self._strip(self.block)
        if self.shapes:
            self.find_most()
            add_reflection(self.function, {LARGEST_SIZE: str(self.most)})
        with mlir.InsertionPoint.after(self._anchor), self.function.location:
            self._sign(mlir.arguments(self.function))
        self.find_variables(arguments)
        with mlir.InsertionPoint.after(self._anchor), self.function.location:
            self._state_sizes(mlir.arguments(self.function))
        for operation in nested(self.function):
            if operation.name == SIZED_DISPATCH:
                with mlir.InsertionPoint(operation), operation.location:
                    self._dispatch(operation)
                continue
            traits = traits_of(operation)
            if len(operation.regions) and traits.captures:
                self._tie(operation)
            if operation.name == barrier.name:  # IREE does not know that sizes are the operands'
                with mlir.InsertionPoint.after(operation), operation.location:
                    self._state_sizes(operation.results)
            if traits.updates or operation.name == "stablehlo.while":
                with mlir.InsertionPoint(operation), operation.location:
                    for i in range(len(operation.results)):
                        operation.operands[i] = self.apart(operation.operands[i], operation)
            is_sized = operation.name in _ALSO and any(
                x in self.shapes for x in (*operation.operands, *operation.results)
            )
            if is_sized or operation.name.startswith("irax."):
                op = read_as_it_was(operation, self.shapes)
                with mlir.InsertionPoint(operation), operation.location:
                    (old,) = operation.results
                    self.operation, self.result_shape = operation, self.shape(old)
                    new = _LOWERINGS[type(op)](self, op, list(operation.operands), old.type)
                if old in self.shapes:  # another value may be where this one was
                    self.shapes[new] = self.shapes.pop(old)
                old.replace_all_uses_with(new)
                operation.erase()
        mlir.set_function_type(self.function)

    def _strip(self, block: Block) -> None:
        """Remove the names of sizes from types, and keep the shapes that they tell."""
        self._anonymous(block.arguments)
        for view in block.operations:
            self._anonymous(view.operation.results)
            for region in view.operation.regions:
                for inner in region:
                    self._strip(inner)

    def _anonymous(self, values: Iterable[Any]) -> None:
        for value in filter(_is_sized, values):
            self.shapes[value] = mlir.shape_of(value)
            value.set_type(anonymous(self.shapes[value], value.type.element_type))

    def _sign(self, arguments: Iterable[Any]) -> None:
        """Take arrays of unsigned integers as those of signed ones, of which other dialects than
        StableHLO can tell the size.
        """
        for x in arguments:
            if x not in self.shapes or mlir.dtype_of(x).kind != "u":
                continue
            uses, unsigned = list(x.uses), x.type
            x.set_type(moves.signed_type(x))
            found = moves.bits(self, x, unsigned)
            for use in uses:
                use.owner.operation.operands[use.operand_number] = found

    def _dispatch(self, operation: Operation) -> None:
        """Make a dispatch one that takes the values of variables, and IREE the sizes of arrays."""
        operands = list(operation.operands)
        names: Any = operation.attributes[VARIABLES]
        with self.at_start():
            numbers = [emit("arith.index_cast", [self.variable(x.value)], I64) for x in names]
        sizes = [
            self.sizes([n for x in values for n in self.shape(x) if isinstance(n, Size)])
            for values in (operands, operation.results)
        ]
        counts = 0, len(operands) + len(numbers), *map(len, sizes)
        entry = {"entry_points": operation.attributes["entry_points"]}
        types = [x.type for x in operation.results]
        given = [*operands, *numbers, *sizes[0], *sizes[1]]
        new = mlir.emit("flow.dispatch", given, entry | mlir.segment_sizes(*counts), types)
        for old, result in zip(operation.results, new.results, strict=True):
            if old in self.shapes:
                self.shapes[result] = self.shapes.pop(old)
            old.replace_all_uses_with(result)
        operation.erase()

    def _tie(self, operation: Operation) -> None:
        """State the sizes of what branches return and loops carry: IREE does not know that they are
        the same.
        """
        with mlir.InsertionPoint.after(operation), operation.location:
            self._state_sizes(operation.results)
        for block in (block for region in operation.regions for block in region):
            with mlir.InsertionPoint.at_block_begin(block), operation.location:
                self._state_sizes(block.arguments)

    def _state_sizes(self, values: Iterable[Any]) -> None:
        for value in [x for x in values if x in self.shapes]:
            uses = [use for use in value.uses if use.owner.operation.name != "tensor.dim"]
            open_ = [n for n in self.shapes[value] if isinstance(n, Size)]
            is_unsigned = mlir.dtype_of(value).kind == "u"
            held = moves.bits(self, value, moves.signed_type(value)) if is_unsigned else value
            tied = emit("flow.tensor.tie_shape", [held, *self.sizes(open_)], held.type)
            self.shapes[tied] = self.shapes[value]
            if is_unsigned:
                tied = moves.bits(self, tied, value.type)
            for use in uses:
                use.owner.operation.operands[use.operand_number] = tied


def read_as_it_was(operation: Operation, shapes: dict[Value, tuple[Any, ...]]) -> Op:
    """The op that an operation is, whose result has a type without names by now."""
    (result,) = operation.results
    type_ = result.type
    if result in shapes:
        result.set_type(mlir.tensor_type(shapes[result], mlir.dtype_of_type(type_)))
    op = read(operation)
    result.set_type(type_)
    return op
