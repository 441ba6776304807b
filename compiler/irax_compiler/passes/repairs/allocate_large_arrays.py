"""The pass allocate-large-arrays, which allocates large arrays from a pool that the device
keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass

_ALLOC, _ALLOCA = "stream.resource.alloc", "stream.resource.alloca"
_DEALLOCA = "stream.resource.dealloca"
_AFFINITY = "affinity"
_TIMEPOINT = mlir.parse_type("!stream.timepoint")


@register_pass
@dataclass
class AllocateLargeArrays(Pass):
    """Allocates arrays of at least so many bytes, temporaries and results, by the device's
    allocator, in a module of IREE's phase stream.

    The pool of IREE 3.13's queues takes memory for large arrays from the system in each call, fills
    it with zeros, and gives it back: `x + 1` of 200 MB took nine times as long. Small ones it has
    in less time. The device's allocator keeps what nothing refers to any more.

    A function refers to all its temporaries until it ends, and a loop runs ahead of the queue. So
    the temporaries of a function that has several large ones, and all arrays of one with loops or
    branches, stay the queue's, which has their memory back before.
    """

    name: ClassVar[str] = "allocate-large-arrays"
    least: int = 1 << 26

    def run(self, module: Module) -> bool:
        found = False
        for view in module.body.operations:
            if _is_straight(view.operation):
                found |= self._run_on(list(nested(view.operation)))
        return found

    def _run_on(self, operations: Sequence[Operation]) -> bool:
        """Allocate the large arrays of a function; return True if it has some."""
        freed = {o.operands[0]: o for o in operations if o.name == _DEALLOCA}
        large = [o for o in operations if o.name == _ALLOCA and self._is_large(o)]
        temporaries = sum(o.results[0] in freed for o in large)
        for operation in large:
            deallocation = freed.get(operation.results[0])
            if deallocation is None or temporaries == 1:
                _allocate(operation, deallocation)
        return bool(large)

    def _is_large(self, operation: Operation) -> bool:
        size = mlir.integer_of(operation.operands[0])
        return size is not None and size >= self.least


def _is_straight(operation: Operation) -> bool:
    """True for a function that is one block."""
    return operation.name.endswith(".func") and len(operation.regions[0].blocks) == 1


def _allocate(operation: Operation, deallocation: Operation | None) -> None:
    """Replace an allocation of the queue, and drop its deallocation, if there is one."""
    if deallocation is not None:
        mlir.replace(deallocation, [_awaited(deallocation, 2)])
    memory, made = operation.results
    found = mlir.attributes_of(operation)
    attributes = {_AFFINITY: found[_AFFINITY]} if _AFFINITY in found else {}
    made.replace_all_uses_with(_awaited(operation, 1))
    with InsertionPoint(operation), operation.location:
        kept = mlir.emit(_ALLOC, [operation.operands[0]], attributes, [memory.type])
    memory.replace_all_uses_with(kept.results[0])
    operation.erase()


def _awaited(operation: Operation, number: int) -> Value:
    """Return the timepoint that an operation awaits, its operand of some number, or one that is
    over.
    """
    if len(operation.operands) > number:
        return operation.operands[number]
    with InsertionPoint(operation), operation.location:
        return mlir.emit("stream.timepoint.immediate", [], {}, [_TIMEPOINT]).results[0]
