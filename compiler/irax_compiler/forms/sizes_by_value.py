"""Modules with `?` in types whose sizes are elements of arguments: `dynamic_iota` of an argument.

Such sizes cannot be named: which of them are the same, and so which operations are right, depends
on the elements. The module stays as it is until it is called. Then the shapes of arguments and the
elements that are sizes are known, and with them all sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.forms.unknown_sizes import DYNAMIC, MOST, Naming, is_unknown
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.mlir.types import UNKNOWN_SIZE
from irax_compiler.ops.core import no_calls
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import INLINE, REMOVE_DEAD_FUNCTIONS, nested
from irax_compiler.sizes import SymbolicScope

_WITHOUT_ELEMENTS = "stablehlo.get_dimension_size"


def arguments_of_sizes(function: Operation) -> list[int]:
    """Return the numbers of the arguments whose elements a function without calls may take for
    sizes; none for one whose sizes are known or have names.
    """
    if not is_unknown(function):
        return []
    pending = [x for o in nested(function) if o.name in DYNAMIC for x in list(o.operands)[1:]]
    pending += [
        x for o in nested(function) if o.name == "stablehlo.dynamic_iota" for x in o.operands
    ]
    seen: set[Value] = set()
    while pending:
        x = pending.pop()
        source = mlir.definition(x)
        if x not in seen and source is not None and source.name != _WITHOUT_ELEMENTS:
            pending += source.operands
        seen.add(x)
    return [i for i, x in enumerate(mlir.arguments(function)) if x in seen and _may_be_sizes(x)]


def _may_be_sizes(x: Any) -> bool:
    extents = list(x.type.shape)
    is_small = UNKNOWN_SIZE not in extents and np.prod(extents, dtype=int) <= MOST
    return is_small and mlir.dtype_of(x).kind in "iu"


def shapes_of_arguments(function: Operation) -> list[tuple[Any, ...]]:
    """Return the shapes of a function's arguments, with names for sizes that are not known."""
    return Naming(mlir.new_module(), function, SymbolicScope()).shapes()


def without_calls(module: Module) -> Module:
    """Return a module with the public functions of another, in which calls are inlined."""
    flat = mlir.clone_module(module)
    INLINE.run(flat)
    REMOVE_DEAD_FUNCTIONS.run(flat)
    return flat


def with_values(
    module: Module,
    func: str,
    shapes: Sequence[Sequence[int]],
    values: Mapping[int, np.ndarray[Any, Any]],
) -> Module:
    """Return a module with a function for arguments of some shapes, of which those of
    `arguments_of_sizes` have these values.

    Raises:
        ValueError: the function takes no arguments of these shapes and values.
        UnsupportedOp: a size depends on other arrays.
    """
    function = mlir.functions(module)[func]
    for i, (x, found) in enumerate(zip(mlir.arguments(function), shapes, strict=True)):
        own: Any = x.type
        pairs = list(zip(own.shape, found, strict=False))
        if len(own.shape) != len(found) or any(n not in (UNKNOWN_SIZE, m) for n, m in pairs):
            raise ValueError(f"argument {i} has shape {tuple(found)}; expected {own}")
    made = mlir.new_module()
    try:
        _Knowing(made, function, shapes, values).run(func)
        made.operation.verify()
    except (TypeError, mlir.MLIRError) as error:
        given = ", ".join(f"argument {i} = {x.tolist()}" for i, x in values.items())
        told = mlir.error_text(error) if isinstance(error, mlir.MLIRError) else error
        raise ValueError(f"{given}: {told}") from None
    return made


class _Knowing(Naming):
    """Builds a function anew for arguments of known shapes, some of known elements."""

    def __init__(
        self,
        module: Module,
        source: Operation,
        shapes: Sequence[Sequence[int]],
        values: Mapping[int, np.ndarray[Any, Any]],
    ) -> None:
        super().__init__(module, source, SymbolicScope())
        self._shapes = shapes
        arguments = mlir.arguments(source)
        self.known = {arguments[i]: x.astype(object) for i, x in values.items()}

    def shapes(self) -> list[tuple[Any, ...]]:
        return [tuple(extents) for extents in self._shapes]

    def _follow(self, operation: Operation) -> None:
        """Find the numbers that an operation computes from known ones, whichever it is."""
        super()._follow(operation)
        operands = list(operation.operands)
        if operation.name in DYNAMIC or operation.regions or len(operation.results) != 1:
            return
        (result,) = operation.results
        if result in self.known or not all(x in self.known for x in operands) or not operands:
            return
        op = read(operation)
        given = [self.known[x].astype(mlir.dtype_of(x)) for x in operands]
        self.known[result] = np.asarray(op.evaluate(no_calls, *given)).astype(object)
