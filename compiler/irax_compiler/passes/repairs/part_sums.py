"""The pass part-sums, which factors sums of products, so that IREE adds along one kind of dimension
at a time.

IREE 3.13 makes a contraction of vectors of the sum of a product. Where a dimension that is summed
over is one factor's alone, and another is of both, the contraction may not be valid: a pass that
drops leading dimensions of one element drops one of the sum, which has none. The verifier refuses
that. Unverified, as kernels are for the sake of time, it compiles or not as memory has it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, shape
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.core import full
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, outside_kernels, register_pass, walk
from irax_compiler.passes.rewriting import read_as

_Repeated = dict[Value, frozenset[int]]


@register_pass
class PartSums(Pass):
    """Adds up products along the dimensions that one factor is the same along, then along the
    others. Where several results are folded together, a barrier is behind such a product. Comes
    after the passes that make kernels of sums.
    """

    name: ClassVar[str] = "part-sums"

    def run(self, module: Module) -> bool | None:
        folds: dict[Block, list[Operation]] = {}
        for operation in outside_kernels(module):
            if operation.name == Reduce.name:
                folds.setdefault(operation.block, []).append(operation)
        changed = False
        for block, inside in folds.items():
            repeated = _repeated(block)
            for operation in inside:
                changed |= _part(operation, repeated)
        return changed


def _repeated(block: Block) -> _Repeated:
    """Return the dimensions along which the elements of a block's values are the same."""
    found: _Repeated = {}
    for operation in walk(block):
        if operation.name == shape.BroadcastInDim.name:
            found[operation.results[0]] = _stretched(operation)
        elif len(operation.results) == 1 and mlir.splat(operation.results[0]) is not None:
            found[operation.results[0]] = frozenset(range(len(shape_of(operation.results[0]))))
        elif traits_of(operation).elementwise and len(operation.operands):
            of = [found.get(x, frozenset()) for x in operation.operands]
            found[operation.results[0]] = frozenset.intersection(*of)
    return found


def _stretched(operation: Operation) -> frozenset[int]:
    op = read_as(shape.BroadcastInDim, operation)
    if op is None:
        return frozenset()
    sizes = zip(shape_of(operation.operands[0]), op.broadcast_dimensions, strict=True)
    kept = {d for n, d in sizes if n == op.shape[d]}
    return frozenset(range(len(op.shape))) - kept


def _part(operation: Operation, repeated: _Repeated) -> bool:
    """Part a sum; return True if it was one to part."""
    folded: Any = operation.attributes["dimensions"]
    dimensions = set(folded)
    changed = False
    for number in range(len(operation.operands) // 2):
        product = mlir.definition(operation.operands[number])
        if product is None or product.name != elementwise.multiply.name:
            continue
        of = [dimensions & repeated.get(x, frozenset()) for x in product.operands]
        first = next((some for some in of if 0 < len(some) < len(dimensions)), None)
        if first is None:
            continue
        op = read_as(Reduce, operation)
        if op is None:
            _apart(operation, number)
        elif op.combiner == "add":
            _add_up(op, operation, first)
            return True
        else:
            return False
        changed = True
    return changed


def _apart(operation: Operation, number: int) -> None:
    """Put a barrier before an operand."""
    with InsertionPoint(operation), operation.location:
        operation.operands[number] = barrier.build([operation.operands[number]])[0]


def _add_up(op: Reduce, operation: Operation, first: set[int]) -> None:
    """Add up along the `first` dimensions before the others."""
    x, init = operation.operands
    rest = tuple(d - sum(e < d for e in first) for d in op.dimensions if d not in first)
    with InsertionPoint(operation), operation.location:
        partial = replace(op, dimensions=tuple(sorted(first)))(x, full((), 0, dtype_of(x)))
        (total,) = replace(op, dimensions=rest).build([partial, init])
    mlir.replace(operation, [total])
