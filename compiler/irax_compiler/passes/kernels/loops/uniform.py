"""The values of a loop that are the same for all elements for which it runs together."""

from __future__ import annotations

from collections.abc import Iterable

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops import registers
from irax_compiler.passes.core import inputs, walk
from irax_compiler.passes.kernels.loops.scope import Scope


def differing(loop: Operation, scope: Scope) -> set[int] | None:
    """Return the numbers of the carried values that differ between elements; None if the number of
    steps does.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    (goes_on,), last = (list(mlir.terminator(block).operands) for block in (condition, body))
    found = {i for i, x in enumerate(loop.operands) if _is_vector(x, scope)}
    while True:
        others = _differing(body, found, scope)
        more = found | {i for i, x in enumerate(last) if x in others or _is_vector(x, scope)}
        if more == found:
            break
        found = more
    is_one = goes_on in _differing(condition, found, scope) or _is_vector(goes_on, scope)
    return None if is_one else found


def _differing(block: Block, given: Iterable[int], scope: Scope) -> set[Value]:
    """Return the values of a block that differ between elements, if the given arguments do."""
    found = {block.arguments[i] for i in given}
    for operation in walk(block):
        if any(x in found or _is_vector(x, scope) for x in inputs(operation)):
            found.update(operation.results)
    return found


def _is_vector(x: Value, scope: Scope) -> bool:
    return x in scope.registers and registers.size_of(scope.registers[x]) > 1
