"""Dispatches for products of matrices, convolutions and factorizations: they call OpenBLAS, or are
code of irax's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from irax_compiler import blas, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, elementwise
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.dot import DotGeneral, widest
from irax_compiler.ops.foreign import ForeignCall
from irax_compiler.passes.core import nested
from irax_compiler.passes.host.annotate import (
    FLOPS_PER_MICROSECOND,
    TASK_THRESHOLD,
    add_reflection,
    reflection,
)
from irax_compiler.passes.host.host import is_host_call
from irax_compiler.passes.kernels.blas import convolutions, strips
from irax_compiler.passes.kernels.blas.batches import batch_of
from irax_compiler.passes.kernels.blas.epilogues import Epilogue
from irax_compiler.passes.kernels.blas.layouts import Layout, Product, layout
from irax_compiler.passes.kernels.blas.library import LETTERS
from irax_compiler.passes.kernels.blas.measured import pays, pays_as_dispatch, pays_as_products
from irax_compiler.passes.kernels.blas.products import add_product
from irax_compiler.passes.kernels.blas.windows import as_product, cut, in_pairs, windows_of
from irax_compiler.passes.kernels.executables import (
    IMPORTED,
    Executables,
    dispatch,
    sizes_of_function,
    workers_of,
)
from irax_compiler.passes.kernels.loops.memory import bound
from irax_compiler.passes.kernels.partial_sums import DEEP
from irax_compiler.passes.rewriting import Pattern, Replacement, read_as, rewrite_in_order
from irax_compiler.sizes import InconclusiveDimensionOperation, Size


def write_invariant_products(module: Module) -> None:
    """Replace all products of floats by code of irax's own whose sums are in one order, and
    convolutions but those with dilated rows.
    """
    calls = _Calls(module, always=True, is_invariant=True)
    for function in mlir.functions(module).values():
        calls.workers = workers_of(function)
        for name, of, rewrite in (
            ("convolution", Convolution.name, calls.convolution),
            ("complex", DotGeneral.name, _of_parts),
            ("product", DotGeneral.name, calls.product),
        ):
            rewrite_in_order(function, [Pattern(name, (of,), (), rewrite)], last_first=True)


def _of_parts(operation: Operation) -> Replacement:
    """Return a product of complex numbers from products of their parts."""
    op = read_as(DotGeneral, operation)
    if op is None or op.dtype.kind != "c":
        return None
    of_reals = replace(op, dtype=np.dtype(f"f{op.dtype.itemsize // 2}"))
    return elementwise.product_of_parts(of_reals, *operation.operands)


def write_calls(module: Module, workers: int, always: bool) -> None:
    """Replace computations by dispatches, where measurements say that it is faster, or `always`.

    Args:
        module: the module, which is rewritten in place.
        workers: the number of workgroups that share a computation; 0 means one per processor.
        always: True to replace all computations that the library supports.
    """
    calls, imports = _Calls(module, always), _imports(module)
    for function in mlir.functions(module).values():
        _choose_driver(function)
        calls.workers = workers or workers_of(function)
        # Users first: what an epilogue computes again, no earlier one has to give.
        rewrite_in_order(function, calls.patterns, last_first=True)
    if _imports(module) > imports:
        for function in mlir.functions(module).values():
            if mlir.is_public(function):
                add_reflection(function, {"irax.libraries": blas.PACKAGE})


def _choose_driver(function: Operation) -> None:
    """Have several cores share batches of matrices; a call of the host would have one core."""
    batches = [batch_of(o) for o in nested(function) if is_host_call(o)]
    work = sum(x.operations for x in batches if x is not None and x.count > 1)
    if work > TASK_THRESHOLD * FLOPS_PER_MICROSECOND and reflection(function):
        add_reflection(function, {"irax.driver": "task"})


def _imports(module: Module) -> int:
    """Return the number of functions that a module's executables find in libraries."""
    executables = (o for o in module.body.operations if o.operation.name == "stream.executable")
    inner = (o for x in executables for o in x.operation.regions[0].blocks[0].operations)
    modules = (o.operation for o in inner if o.operation.name == "builtin.module")
    return sum(IMPORTED in o.attributes for m in modules for o in m.regions[0].blocks[0].operations)


@dataclass
class _Calls:
    """The dispatches of a module that call the library."""

    module: Module
    always: bool
    workers: int = 1
    is_invariant: bool = False
    """True if the bits of products must not depend on their sizes."""

    def __post_init__(self) -> None:
        self.executables = Executables(self.module)

    @property
    def patterns(self) -> list[Pattern]:
        return [
            Pattern("convolution", (Convolution.name,), (), self.convolution),
            Pattern("product", (DotGeneral.name,), (), self.product),
            Pattern("factorization", (ForeignCall.name,), (), self.factorization),
        ]

    def convolution(self, operation: Operation) -> Replacement:
        """Return the dispatch's result, or a product, for a convolution."""
        op = read_as(Convolution, operation)
        windows = None if op is None else windows_of(operation, op)
        if op is None or windows is None:
            return None
        if self.is_invariant:
            windows = replace(windows, is_invariant=True)
            if not windows.is_of_lines or windows.is_sized:
                return None
        is_fast = windows.is_product or windows.is_of_lines or pays_as_products(windows)
        if not (is_fast or self.always):
            return None
        x, y = operation.operands
        if (pairs := in_pairs(windows, x, y)) is not None:
            windows, x, y = pairs
        x = cut(op, x)
        if windows.is_padded and not strips.pay(windows):
            windows, x = windows.padded(x)
        if windows.is_product:
            return as_product(windows, x, y)
        tiles = convolutions.Tiles(windows, self.workers)
        sizes = sizes_of_function()

        name = self.executables.add(
            "convolution", lambda name: tiles.add_executable(self.module, name, sizes)
        )
        return dispatch(name, list(map(bound, (x, y))), tiles.types, sizes=sizes)[0]

    def product(self, operation: Operation) -> Replacement:
        """Return the dispatch's results for that of a `dot_general` or a transpose of it, and for
        those of elementwise operations on it.
        """
        try:
            return self._product_of(operation)
        except InconclusiveDimensionOperation:  # then it is IREE's
            return None

    def _product_of(self, operation: Operation) -> Replacement:
        found = self._layout(operation)
        if found is None:
            return None
        epilogue = found.epilogue()
        if epilogue is None:
            return {found.result: self._dispatch(found)}
        with InsertionPoint(epilogue.place):
            return self._finished(found, epilogue)

    def _layout(self, operation: Operation) -> Layout | None:
        """Return the layout of a `dot_general`; None if IREE is faster."""
        op = read_as(DotGeneral, operation)
        dtype = None if op is None else _summed_in(op, operation)
        if op is None or dtype is None:
            return None
        found = layout(operation, op, dtype, self.is_invariant)
        if self.is_invariant:
            return found
        if found is not None and found.product.is_of_vector and _is_deep(found.product.k):
            return None  # OpenBLAS adds so many products one by one
        if found is None:
            return None
        given = dtype_of(found.lhs.array)
        is_own = found.product.is_of_lines and given == found.product.dtype
        return found if self.always or is_own or pays(found.product, given.name) else None

    def factorization(self, operation: Operation) -> Replacement:
        """Return a dispatch's results for those of a host function."""
        found = batch_of(operation, self.workers) if is_host_call(operation) else None
        if found is None or not (self.always or pays_as_dispatch(found)):
            return None
        operands = found.routine.operands(list(operation.operands))

        name = self.executables.add(
            found.routine.name, lambda name: found.add_executable(self.module, name, operands)
        )
        results = dispatch(name, operands, found.types)
        return found.routine.finish(results[: len(found.routine.results)])

    def _dispatch(self, found: Layout) -> Value:
        factors = found.operands()
        sizes = sizes_of_function()
        name = self._product(found.product, sizes)
        type_ = mlir.tensor_type(shape_of(found.result), found.product.dtype)
        (result,) = dispatch(name, factors, [type_], sizes=sizes)
        return conversion.convert(result, dtype_of(found.result))

    def _finished(self, found: Layout, epilogue: Epilogue) -> dict[Value, Value]:
        """Return the values that an epilogue gives, from a dispatch of product and epilogue."""
        factors = found.operands()
        operands = [*factors, *epilogue.operands]
        sizes = sizes_of_function()
        name = self._product(found.product, sizes, epilogue)
        ties = {i: len(factors) + number for i, number in epilogue.ties.items()}
        results = dispatch(name, operands, epilogue.types, ties, sizes=sizes)
        return epilogue.released(results)

    def _product(
        self, product: Product, sizes: Sequence[str], epilogue: Epilogue | None = None
    ) -> str:
        def build(name: str) -> Operation:
            return add_product(self.module, name, product, self.workers, epilogue, sizes)

        of_epilogue = () if epilogue is None else epilogue.description
        known = (product, self.workers, tuple(sizes), of_epilogue)
        return self.executables.add("product", build, None if of_epilogue is None else known)


def _is_deep(terms: Any) -> bool:
    return not isinstance(terms, Size) and terms > DEEP


def _summed_in(op: DotGeneral, operation: Operation) -> np.dtype | None:
    """Return the dtype that BLAS multiplies in; None if there is none."""
    dtypes = [op.dtype, *map(dtype_of, operation.operands)]
    if not all(dtype.name in (*LETTERS, "bfloat16", "float16") for dtype in dtypes):
        return None
    return widest(*dtypes)
