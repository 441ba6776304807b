"""Loop-invariant code motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops.callback import Callback
from irax_compiler.ops.core import Recomputation, UnsupportedOp
from irax_compiler.ops.foreign_function import ForeignFunction
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import Pass, nested, register_pass, walk
from irax_compiler.passes.host.host import PREFIX, is_host_call

_OF_THE_USER = {f"{PREFIX}{name}" for name in (*Callback.imports, *ForeignFunction.imports)}


@register_pass
class LoopInvariantCodeMotion(Pass):
    """Moves expensive loop-invariant operations out of loops: products, reductions, library calls,
    sines. Arithmetic moves along if its result is no larger than its operands; otherwise a step
    would read more memory to save an addition. Applies to modules without calls.

    A loop with no steps then computes values that are not used. So callbacks are never moved.
    """

    name: ClassVar[str] = "loop-invariant-code-motion"

    def run(self, module: Module) -> None:
        loops = [o for o in nested(module.operation) if o.name == "stablehlo.while"]
        for loop in loops:  # the inner before the outer, out of which it may go on
            _hoist(loop)


def _hoist(loop: Operation) -> None:
    body = loop.regions[1].blocks[0]
    alike = _Alike(body)
    for operation in walk(body):
        alike.look_at(operation)
    taken = [operation for operation in walk(body) if operation in alike.worthwhile]
    outside: dict[Value, Value] = {}
    with InsertionPoint(loop):
        for operation in taken:
            mlir.copy(operation, outside)
    for operation in reversed(taken):
        if traits_of(operation).recomputation is not Recomputation.FREE:
            for x in operation.results:
                x.replace_all_uses_with(outside[x])
        if not any(mlir.num_uses(x) for x in operation.results):
            operation.erase()


@dataclass
class _Alike:
    """The loop-invariant values of a loop's body."""

    body: Block
    read: dict[Value, int] = field(default_factory=dict)
    """For each loop-invariant value of the body, the number of elements that a step reads to
    compute it."""
    worthwhile: set[Operation] = field(default_factory=set)
    """The operations to be taken out of the loop."""

    def look_at(self, operation: Operation) -> None:
        """Analyse the next operation of the body."""
        used = list(operation.operands)
        if operation.regions:
            used += mlir.captured(operation)
        known = [self._read(x) for x in used]
        if None in known or not _is_formula(operation):
            return
        size = sum(prod(shape_of(x)) for x in operation.results)
        given = max((n for n in known if n is not None), default=0)
        recomputation = traits_of(operation).recomputation
        if recomputation is Recomputation.FREE or (
            recomputation is Recomputation.CHEAP and size > given
        ):
            self.read.update(dict.fromkeys(operation.results, given))
            return
        self.read.update(dict.fromkeys(operation.results, size))
        self._take(operation)

    def _read(self, x: Value) -> int | None:
        """Return the number of elements read to compute a value; None if it varies between
        steps.
        """
        if x in self.read:
            return self.read[x]
        if self._is_inside(x):
            return None
        source = mlir.definition(x)
        is_free = source is not None and traits_of(source).recomputation is Recomputation.FREE
        return 0 if is_free else prod(shape_of(x))

    def _is_inside(self, x: Value) -> bool:
        source = mlir.definition(x)
        return (x.owner if source is None else source.block) == self.body

    def _take(self, operation: Operation) -> None:
        """Move an operation, and those of the body that it depends on, out of the loop."""
        if operation in self.worthwhile:
            return
        self.worthwhile.add(operation)
        used = list(operation.operands)
        if operation.regions:
            used += mlir.captured(operation)
        for x in used:
            source = mlir.definition(x)
            if source is not None and self._is_inside(x):
                self._take(source)


def _is_formula(operation: Operation) -> bool:
    """True if an operation's results depend on its operands alone."""
    if is_host_call(operation):
        target: Any = operation.attributes["call_target_name"]
        return target.value not in _OF_THE_USER
    try:
        return read(operation).is_pure
    except UnsupportedOp:
        return False
