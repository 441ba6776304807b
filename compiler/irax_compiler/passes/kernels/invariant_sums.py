"""The pass invariant-sums, for programs whose rows have the same bits in all batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.chips import SSE, vector_registers
from irax_compiler.determinism import is_marked
from irax_compiler.importing import alone
from irax_compiler.mlir import InsertionPoint, Module, Value, dtype_of, inexact
from irax_compiler.ops import barrier, elementwise
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.passes.core import Pass, PassError, nested, register_pass
from irax_compiler.passes.rewriting import put_barrier_behind


@register_pass
@dataclass
class InvariantSums(Pass):
    """Replaces products of floats, convolutions and reductions by kernels of irax's own that fold
    the numbers of each element in one order, whatever the numbers of rows, columns, matrices and
    images, and whichever worker does it: in modules with a function that has the attribute
    `irax.deterministic`. Of a sum of two products, the second one is computed by itself: LLVM
    multiplies and adds in one rounding, and with which of the two depends on the kernel. A product
    that is rounded to a narrow dtype and converted back is kept so by a barrier: LLVM leaves the
    rounding out in some kernels.
    """

    name: ClassVar[str] = "invariant-sums"

    def run(self, module: Module) -> None:
        if not is_marked(module.operation):
            return
        if vector_registers() == SSE:
            raise PassError(
                'deterministic="batch": this chip does not multiply and add in one rounding; '
                "expected one of x86-64-v3 or later"
            )
        with alone():
            from irax_compiler.passes.kernels.blas.calls import write_invariant_products
            from irax_compiler.passes.kernels.reductions.dispatches import write_dispatches
        _keep_products_apart(module)
        _keep_roundings(module)
        write_invariant_products(module)
        write_dispatches(module, 0, is_invariant=True)


def _keep_products_apart(module: Module) -> None:
    for operation in list(nested(module.operation)):
        if operation.name not in _SUMS or dtype_of(operation.results[0]).kind != "f":
            continue
        first, second = (mlir.definition(x) for x in operation.operands)
        if first is None or second is None or first.name != _PRODUCT or second.name != _PRODUCT:
            continue
        with InsertionPoint(operation), operation.location:
            (apart,) = barrier.barrier.build([operation.operands[1]])
        operation.operands[1] = apart


def _keep_roundings(module: Module) -> None:
    for operation in list(nested(module.operation)):
        if operation.name != Convert.name:
            continue
        (x,), (rounded,) = operation.operands, operation.results
        source = mlir.definition(x)
        if source is None or source.name not in _KERNELS or not _narrows(x, rounded):
            continue
        users = [user for user in mlir.users(rounded) if user.name == Convert.name]
        if users:
            put_barrier_behind(rounded, users)


def _narrows(x: Value, y: Value) -> bool:
    wide, narrow = dtype_of(x), dtype_of(y)
    return inexact(wide) and inexact(narrow) and narrow.itemsize < wide.itemsize


_KERNELS = (DotGeneral.name, Convolution.name)
_PRODUCT = elementwise.multiply.name
_SUMS = (elementwise.add.name, elementwise.subtract.name)
