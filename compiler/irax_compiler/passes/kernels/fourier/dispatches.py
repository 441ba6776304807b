"""Fourier transforms as dispatches of kernels."""

from __future__ import annotations

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value
from irax_compiler.ops import core
from irax_compiler.ops.fft import Fft
from irax_compiler.passes.kernels.executables import (
    add_executable,
    dispatch,
    local_memory,
    memory,
    workers_of,
)
from irax_compiler.passes.kernels.fourier.kernel import Kernel
from irax_compiler.passes.kernels.fourier.transforms import Transform, transforms_of
from irax_compiler.passes.rewriting import Pattern, Replacement, rewrite_in_order

ALIGNMENT = 64
"""The alignment of scratch memory, in bytes."""


def write_dispatches(module: Module, shared_by: int) -> None:
    """Replace the Fourier transforms of a module by dispatches.

    Args:
        module: the module, which is rewritten in place.
        shared_by: the number of workgroups that share a transform; 0 means one per processor.
    """
    names: dict[Transform, str] = {}
    for function in mlir.functions(module).values():
        workers = shared_by or workers_of(function)

        def replacement(operation: Operation, workers: int = workers) -> Replacement:
            found = transforms_of(operation, workers)
            return _dispatched(module, names, found, operation) if found else None

        rewrite_in_order(function, [Pattern("fourier", (Fft.name,), (), replacement)])


def _dispatched(
    module: Module, names: dict[Transform, str], found: list[Transform], operation: Operation
) -> Value:
    x: Value = operation.operands[0]
    for transform in found:
        if transform not in names:
            names[transform] = mlir.unique_name(module, "fourier")
            _add_executable(module, names[transform], transform)
        type_ = x.type if transform.is_complex else operation.results[0].type
        operands = [x, core.constant(transform.twiddles)]
        x, *_ = dispatch(names[transform], operands, [type_, *transform.scratch_types])
    return x


def _add_executable(module: Module, name: str, transform: Transform) -> None:
    """Add the executable `name`: from an array and twiddle factors to one and scratch memory."""
    before, after = (transform.batch * length for length in transform.lengths)
    groups, numbers = transform.extents
    sizes = [before, transform.twiddles.size, after]
    if not transform.is_on_stack:
        sizes.append(groups * numbers)

    def build(_: Block, bindings: list[Value]) -> None:
        pairs = zip(bindings, sizes, strict=True)
        arrays = [memory(x, n, transform.dtype) for x, n in pairs]
        if transform.is_on_stack:
            arrays.append(local_memory(numbers, mlir.element_type(transform.dtype), ALIGNMENT))
        Kernel(transform, *arrays).build()

    in_place = {2: 0} if transform.is_in_place else None
    add_executable(module, name, (groups, 1), len(sizes), build, in_place=in_place)
