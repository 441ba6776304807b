"""The pass reverse-traversal, which lets kernels begin with what the kernel before has left in the
cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.barrier import Barrier
from irax_compiler.ops.indexing.dynamic_slices import DynamicUpdateSlice
from irax_compiler.ops.registers import emit, index
from irax_compiler.ops.shape import Reshape
from irax_compiler.passes.core import Pass, nested, register_pass, runs_blocks
from irax_compiler.passes.kernels.ties import ties
from irax_compiler.sizes import Size

_DISPATCH, _NUMBER = "flow.dispatch", "stream.dispatch.workgroup.id"
_ALIASES = Reshape.name, DynamicUpdateSlice.name, Barrier.name
"""Operations whose result has most elements of their first operand, where they are."""


@register_pass
@dataclass
class ReverseTraversal(Pass):
    """Has kernels run from their last workgroup to the first where the last kernel that had the
    same arrays, of `large` bytes or more, ran from the first to the last.

    A kernel goes through memory in the order of its workgroups. Of an array that is larger than the
    caches, these then have the end. A kernel that begins there finds it in them; one that begins at
    the start reads all from memory.

    Kernels of IREE's, and of numbers of workgroups that are not known, go forwards. A kernel with
    several dispatches goes as it is best for the first.
    """

    name: ClassVar[str] = "reverse-traversal"
    large: int = 1 << 20

    def run(self, module: Module) -> None:
        kernels = {
            mlir.function_name(x.operation): x.operation
            for x in module.body.operations
            if x.operation.name == "stream.executable"
        }
        if kernels:
            ways = _Ways(kernels, self.large)
            for function in mlir.functions(module).values():
                for operation in nested(function):
                    if not runs_blocks(operation) and operation.name not in _ALIASES:
                        ways.go(operation)


@dataclass
class _Ways:
    """The ways that kernels go through arrays."""

    kernels: dict[str, Operation]
    """The executables that have not been dispatched yet, by their names."""
    large: int
    turned: set[str] = field(default_factory=set)
    """The names of those that go backwards."""
    last: dict[Value, bool] = field(default_factory=dict)
    """True if the last operation on an array went backwards."""

    def go(self, operation: Operation) -> None:
        """Take account of an operation. Choose the way of the kernel that it is the first dispatch
        of.
        """
        found = (_array_of(x) for x in (*operation.operands, *operation.results))
        arrays = {x: size for x in found if (size := _bytes_of(x)) >= self.large}
        if not arrays:
            return
        name = _kernel_of(operation)
        kernel = self.kernels.pop(name, None)
        if kernel is not None:
            sizes = {True: 0, False: 0}
            for x, size in arrays.items():
                if x in self.last:
                    sizes[self.last[x]] += size
            if sizes[False] > sizes[True] and _turn(kernel):
                self.turned.add(name)
        self.last |= dict.fromkeys(arrays, name in self.turned)


def _kernel_of(operation: Operation) -> str:
    """Return the name of the executable that an operation dispatches; "" for others."""
    if operation.name != _DISPATCH:
        return ""
    (entry,) = operation.attributes["entry_points"]  # pyright: ignore
    return entry.value[0]


def _array_of(x: Value) -> Value:
    """Return the array in whose memory a value is, or most of its elements were before."""
    while (operation := mlir.definition(x)) is not None:
        results: list[Value] = list(operation.results)
        place = results.index(x)
        if operation.name == _DISPATCH:
            place = ties(operation).get(place, -1)
        elif operation.name not in _ALIASES:
            return x
        if place < 0:
            return x
        x = operation.operands[place]
    return x


def _bytes_of(x: Value) -> int:
    """Return the bytes of an array; 0 if they are not known."""
    if not isinstance(x.type, mlir.RankedTensorType):
        return 0
    size = prod(shape_of(x))
    return 0 if isinstance(size, Size) else size * dtype_of(x).itemsize


def _turn(executable: Operation) -> bool:
    """Number the workgroups of a kernel from the last one. Return False if there is only one, or
    their number is not known.
    """
    inside = list(nested(executable))
    (returned,) = (x for x in inside if x.name == "stream.return")
    most = [count for x in returned.operands if (count := mlir.integer_of(x)) is not None]
    if len(most) < len(returned.operands):
        return False
    for number in inside:
        dimension: Any = number.attributes["dimension"] if number.name == _NUMBER else None
        count = 1 if dimension is None else most[dimension.value]
        if count == 1:
            continue
        (old,) = number.results
        with InsertionPoint.after(number), number.location:
            last = index(count - 1)
            turned = emit("arith.subi", last, old)
        mlir.replace_elsewhere(old, turned)
    return max(most) > 1
