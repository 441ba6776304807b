"""The pass blas, which makes products of matrices and factorizations calls of OpenBLAS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.iree import blas
from irax_compiler.mlir import Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.dot import DotGeneral, widest
from irax_compiler.ops.foreign import ForeignCall
from irax_compiler.passes.annotate import (
    FLOPS_PER_MICROSECOND,
    TASK_THRESHOLD,
    add_reflection,
    reflection,
)
from irax_compiler.passes.blas import convolutions, lapack
from irax_compiler.passes.blas.layouts import Layout, layout
from irax_compiler.passes.blas.library import LETTERS
from irax_compiler.passes.blas.measured import pays, pays_as_dispatch, pays_as_products
from irax_compiler.passes.blas.products import add_product
from irax_compiler.passes.blas.updates import SUMS, Update, update_of
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.executables import dispatch, workers_of
from irax_compiler.passes.host import is_host_call
from irax_compiler.passes.rewriting import Pattern, Replacement, read_as, rewrite_in_order


@register_pass
@dataclass
class Blas(Pass):
    """Replaces products of matrices, and of matrices and vectors, by dispatches that call BLAS, and
    calls of host functions that factor matrices or solve equations by dispatches that call LAPACK,
    where measurements say that it is faster. Equal computations share an executable. Public
    functions get the reflection attribute `irax.libraries`, the packages that the program needs.

    With `always`, all computations that the library supports are replaced. Without the library,
    nothing changes.
    """

    name: ClassVar[str] = "blas"
    workers: int = 0
    """The number of workgroups that share a computation; 0 means one per processor."""
    always: bool = False

    def run(self, module: Module) -> None:
        is_found = any(o.name in _REPLACED for o in nested(module.operation))
        if not is_found or (blas.calls() is None and not self.always):
            return
        calls = _Calls(module, self.always)
        for function in mlir.functions(module).values():
            self._choose_driver(function)
            calls.workers = self.workers or workers_of(function)
            rewrite_in_order(function, calls.patterns)
        if calls.executables:
            for function in mlir.functions(module).values():
                if mlir.is_public(function):
                    add_reflection(function, {"irax.libraries": blas.PACKAGE})

    def _choose_driver(self, function: Operation) -> None:
        """Have several cores share batches of matrices; a call of the host would have one core."""
        batches = [lapack.batch_of(o) for o in nested(function) if is_host_call(o)]
        work = sum(x.operations for x in batches if x is not None and x.count > 1)
        if work > TASK_THRESHOLD * FLOPS_PER_MICROSECOND and reflection(function):
            add_reflection(function, {"irax.driver": "task"})


_REPLACED = Convolution.name, DotGeneral.name, ForeignCall.name
"""The names of operations that may be replaced."""


@dataclass
class _Calls:
    """The dispatches of a module that call the library."""

    module: Module
    always: bool
    workers: int = 1
    executables: dict[object, str] = field(default_factory=dict)
    """The names of executables, by their computation and number of workers."""

    @property
    def patterns(self) -> list[Pattern]:
        return [
            Pattern("convolution", (Convolution.name,), (), self.convolution),
            Pattern("update", SUMS, (), self.update),
            Pattern("product", (DotGeneral.name,), (), self.product),
            Pattern("factorization", (ForeignCall.name,), (), self.factorization),
        ]

    def convolution(self, operation: Operation) -> Replacement:
        """Return the dispatch's result, or a product, for a convolution."""
        op = read_as(Convolution, operation)
        windows = None if op is None else convolutions.windows_of(operation, op)
        if op is None or windows is None:
            return None
        if not (windows.is_product or self.always or pays_as_products(windows)):
            return None
        x, y = operation.operands
        x = convolutions.padded(op, x)
        if windows.is_product:
            return convolutions.product(windows, x, y)
        tiles = convolutions.Tiles(windows, self.workers)

        def add(name: str) -> None:
            tiles.add_executable(self.module, name)

        name = self._executable("convolution", tiles, add)
        return dispatch(name, [x, y], tiles.types)[0]

    def update(self, operation: Operation) -> Replacement:
        """Return the dispatch's result for the sum of an array and a multiple of a product."""
        update = update_of(operation)
        found = None if update is None else self._layout(update.dot_general)
        if (
            update is None
            or found is None
            or found.result != update.product
            or found.product.is_of_vector
            or found.product.dtype.kind != "f"
            or dtype_of(update.array) != found.product.dtype
        ):
            return None
        return self._dispatch(found, update)

    def product(self, operation: Operation) -> Replacement:
        """Return the dispatch's result for that of a `dot_general`, or for a transpose of that."""
        found = self._layout(operation)
        return None if found is None else {found.result: self._dispatch(found)}

    def _layout(self, operation: Operation | None) -> Layout | None:
        """Return the layout of a `dot_general`; None if BLAS does not pay."""
        op = None if operation is None else read_as(DotGeneral, operation)
        dtype = None if operation is None or op is None else _summed_in(op, operation)
        if operation is None or op is None or dtype is None:
            return None
        found = layout(operation, op, dtype)
        if found is None or self.always or pays(found.product, dtype_of(found.lhs.array).name):
            return found
        return None

    def factorization(self, operation: Operation) -> Replacement:
        """Return a dispatch's results for those of a host function."""
        found = lapack.batch_of(operation, self.workers) if is_host_call(operation) else None
        if found is None or not (self.always or pays_as_dispatch(found)):
            return None
        operands = found.routine.operands(list(operation.operands))

        def add(name: str) -> None:
            found.add_executable(self.module, name, operands)

        name = self._executable(found.routine.name, found, add)
        results = dispatch(name, operands, found.types)
        return found.routine.finish(results[: len(found.routine.results)])

    def _dispatch(self, found: Layout, update: Update | None = None) -> Value:
        product = found.product
        factor = None if update is None else update.factor

        def add(name: str) -> None:
            add_product(self.module, name, product, self.workers, factor)

        name = self._executable("product", (product, self.workers, factor), add)
        operands = [conversion.convert(x.build(), product.dtype) for x in (found.lhs, found.rhs)]
        if update is not None:
            operands.append(update.array)
        type_ = mlir.tensor_type(shape_of(found.result), product.dtype)
        (result,) = dispatch(name, operands, [type_])
        return conversion.convert(result, dtype_of(found.result))

    def _executable(self, name: str, key: object, add: Callable[[str], None]) -> str:
        """Return the name of the executable for a computation, which `add` adds."""
        if key not in self.executables:
            self.executables[key] = mlir.unique_name(self.module, name)
            add(self.executables[key])
        return self.executables[key]


def _summed_in(op: DotGeneral, operation: Operation) -> np.dtype | None:
    """Return the dtype that BLAS multiplies in; None if there is none."""
    dtypes = [op.dtype, *map(dtype_of, operation.operands)]
    if not all(dtype.name in (*LETTERS, "bfloat16", "float16") for dtype in dtypes):
        return None
    return widest(*dtypes)
