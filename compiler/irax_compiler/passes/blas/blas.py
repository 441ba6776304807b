"""The pass blas, which makes products of matrices calls of BLAS."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.iree import blas
from irax_compiler.mlir import Module, Operation, Value, dtype_of
from irax_compiler.ops import conversion
from irax_compiler.ops.dot import DotGeneral, widest
from irax_compiler.passes.annotate import add_reflection, reflection
from irax_compiler.passes.blas.executables import LETTERS, add_executable
from irax_compiler.passes.blas.layouts import Layout, Product, layout
from irax_compiler.passes.blas.measured import pays
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.rewriting import Pattern, Replacement, read_as, rewrite_in_order


@register_pass
@dataclass
class Blas(Pass):
    """Replaces products of matrices, and of matrices and vectors, by dispatches that call BLAS,
    where measurements say that it is faster than IREE's code. Equal products share an executable.
    Public functions get the reflection attribute `irax.libraries`, the packages that the program
    needs.

    With `always`, all products that BLAS supports are. Without the library, nothing changes.
    """

    name: ClassVar[str] = "blas"
    workers: int = 0
    """The number of workgroups that share a product; 0 means one per processor."""
    always: bool = False

    def run(self, module: Module) -> None:
        has_products = any(o.name == DotGeneral.name for o in nested(module.operation))
        if not has_products or (blas.calls() is None and not self.always):
            return
        calls = _Calls(module, self.always)
        for function in mlir.functions(module).values():
            calls.workers = self._workers(function)
            pattern = Pattern(self.name, (DotGeneral.name,), (), calls.replacement)
            rewrite_in_order(function, [pattern])
        if calls.executables:
            for function in mlir.functions(module).values():
                if mlir.is_public(function):
                    add_reflection(function, {"irax.libraries": blas.PACKAGE})

    def _workers(self, function: Operation) -> int:
        """Return the number of workgroups that run at a time."""
        if self.workers:
            return self.workers
        return 1 if reflection(function).get("irax.driver") == "sync" else processors()


def processors() -> int:
    """Return the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass
class _Calls:
    """The dispatches of a module that call BLAS."""

    module: Module
    always: bool
    workers: int = 1
    executables: dict[tuple[Product, int], str] = field(default_factory=dict)
    """The names of executables, by their computation and number of workers."""

    def replacement(self, operation: Operation) -> Replacement:
        """Return the dispatch's result for that of a `dot_general`, or for a transpose of that."""
        op = read_as(DotGeneral, operation)
        dtype = None if op is None else _summed_in(op, operation)
        found = None if op is None or dtype is None else layout(operation, op, dtype)
        if found is None or not (
            self.always or pays(found.product, dtype_of(found.lhs.array).name)
        ):
            return None
        return {found.result: self._dispatch(found)}

    def _dispatch(self, found: Layout) -> Value:
        dtype = found.product.dtype
        name = self._executable(found.product)
        factors = [conversion.convert(x.build(), dtype) for x in (found.lhs, found.rhs)]
        attributes = {
            "entry_points": mlir.array([mlir.parse_attribute(f"@{name}::@{name}")]),
            "operandSegmentSizes": mlir.parse_attribute("array<i32: 0, 2, 0, 0>"),
        }
        type_ = mlir.tensor_type(mlir.shape_of(found.result), dtype)
        product = mlir.emit("flow.dispatch", factors, attributes, [type_]).results[0]
        return conversion.convert(product, dtype_of(found.result))

    def _executable(self, product: Product) -> str:
        key = product, self.workers
        if key not in self.executables:
            self.executables[key] = mlir.unique_name(self.module, "product")
            add_executable(self.module, self.executables[key], *key)
        return self.executables[key]


def _summed_in(op: DotGeneral, operation: Operation) -> np.dtype | None:
    """Return the dtype that BLAS multiplies in; None if there is none."""
    dtypes = [op.dtype, *map(dtype_of, operation.operands)]
    if not all(dtype.name in (*LETTERS, "bfloat16", "float16") for dtype in dtypes):
        return None
    return widest(*dtypes)
