"""The pass outline, which makes elementwise functions that a program uses often functions of their
own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, parts
from irax_compiler.ops.composite import Composite, decomposition_of
from irax_compiler.ops.formulas import FormulaCall
from irax_compiler.ops.parts import Parts
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.special.series import ByFormula
from irax_compiler.passes.core import Pass, nested, register_pass, walk
from irax_compiler.passes.kernels.loops.memory import is_plain

_COMPLEX = 4
"""The number of real functions that a function of complex numbers counts as: its formula is as
long."""


@register_pass
@dataclass
class Outline(Pass):
    """Replaces elementwise functions of arrays of one size by calls of scalar functions, where a
    module has at least `many`: each is then legalized and compiled once. A long function counts as
    several. Complex arithmetic beside them, or of which there is as much, is split into parts.
    Elementwise composites are always replaced.
    """

    name: ClassVar[str] = "outline"
    many: int = 16

    def run(self, module: Module) -> None:
        composites = {decomposition_of(o) for o in nested(module.operation) if _is_composite(o)}
        functions = mlir.functions(module).items()
        blocks = [mlir.body(function) for name, function in functions if name not in composites]
        counts: Counter[int] = Counter()
        for operation in (o for block in blocks for o in _within(block)):
            if length := _length(operation):
                counts[_size(operation)] += length
        outlining = _Outlining(module, {size for size, n in counts.items() if n >= self.many})
        for block in blocks if counts else ():
            outlining.of_block(block, {})


def is_long(operation: Operation) -> bool:
    """True if an operation is an elementwise function of many instructions."""
    traits = traits_of(operation)
    if not isinstance(traits, elementwise.Elementwise):
        return _is_composite(operation) and isinstance(read(operation), ByFormula)
    is_short = parts.has_rule(operation) if parts.has_parts(operation) else traits.is_short
    return not is_short


def _length(operation: Operation) -> int:
    """Return the number of functions of real numbers that an operation counts as."""
    if not is_long(operation):
        return int(parts.has_rule(operation))
    traits = traits_of(operation)
    length = traits.length if isinstance(traits, elementwise.Elementwise) else 1
    return length * _COMPLEX if parts.has_parts(operation) else length


def _is_composite(operation: Operation) -> bool:
    return operation.name == Composite.name and all(map(_is_of_registers, operation.operands))


def _is_of_registers(x: Value) -> bool:
    """True if registers can hold the elements of a value, or their real and imaginary parts."""
    return is_plain(x) or (parts.is_complex(x) and prod(shape_of(x)) > 0)


def _size(operation: Operation) -> int:
    return prod(shape_of(operation.results[0]))


def _within(block: Block) -> Iterator[Operation]:
    """Return the operations of a block, and those of loops and branches in it."""
    for operation in walk(block):
        yield operation
        if traits_of(operation).captures:
            for region in operation.regions:
                yield from _within(region.blocks[0])


@dataclass
class _Outlining:
    module: Module
    sizes: set[int]
    """The sizes of arrays whose functions are outlined."""
    names: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The names of functions, by operation and its operands' dtypes."""

    def of_block(self, block: Block, known: Parts) -> None:
        """Rewrite a block, given the known parts of complex numbers."""
        for operation in walk(block):
            if traits_of(operation).captures:
                for region in operation.regions:
                    self.of_block(region.blocks[0], dict(known))
            elif len(operation.results) == 1 and self._is_taken(operation):
                with InsertionPoint(operation), operation.location:
                    found = self._replacement(operation, known)
                if found is not None:
                    mlir.replace(operation, [found])

    def _is_taken(self, operation: Operation) -> bool:
        return _size(operation) in self.sizes or _is_composite(operation)

    def _replacement(self, operation: Operation, known: Parts) -> Value | None:
        if is_long(operation):
            operands = [y for x in operation.operands for y in parts.parts_of(x, known)]
            return parts.together(self._call(operation, operands), known)
        if not parts.has_rule(operation):
            return None
        return parts.by_parts(operation, known)

    def _call(self, operation: Operation, operands: Sequence[Value]) -> Sequence[Value]:
        key = (read(operation).name, *(dtype_of(x).name for x in operation.operands))
        if key not in self.names:
            self.names[key] = self._function(operation, operands, "_".join(key).replace(".", "_"))
        name = self.names[key]
        function = mlir.function_beside(operation, name)
        dtypes = tuple(map(mlir.dtype_of_type, mlir.result_types(function)))
        return FormulaCall(name, dtypes).build(operands)

    def _function(self, operation: Operation, operands: Sequence[Value], name: str) -> str:
        """Return the name of the scalar function of an operation."""
        name = mlir.unique_name(self.module, name)
        types = [mlir.tensor_type((), dtype_of(x)) for x in operands]
        function = mlir.new_function(self.module, name, types, operation.location)
        with InsertionPoint(mlir.body(function)):
            given = iter(mlir.arguments(function))
            scalars = [
                elementwise.complex_(next(given), next(given))
                if parts.is_complex(x)
                else next(given)
                for x in operation.operands
            ]
            (result,) = read(operation).build(scalars)
            results = parts.parts_of(result, {})
        mlir.finish_function(function, results)
        return name
