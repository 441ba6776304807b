"""Executables of a routine of LAPACK's for batches of matrices, which workers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops.registers import index
from irax_compiler.passes.host.host import read_host_call
from irax_compiler.passes.kernels.blas.lapack import Array, Lapack
from irax_compiler.passes.kernels.blas.library import LETTERS, Library
from irax_compiler.passes.kernels.blas.routines import ROUTINES, Routine, Shape
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import moved, plus
from irax_compiler.passes.kernels.executables import (
    SHARE,
    STACK,
    add_executable,
    address,
    base,
    local_memory,
    long,
    share,
    size_of_share,
    workgroup,
)

INT8 = np.dtype(np.int8)
LINE = 64
"""Scratch memory is aligned to this many bytes."""


@dataclass(frozen=True)
class Batch:
    """A routine for a batch of matrices, and the number of workers that share them."""

    routine: Routine
    extents: Shape
    """The dimensions of the batch."""
    workers: int

    @property
    def count(self) -> int:
        """The number of matrices."""
        return prod(self.extents)

    @property
    def operations(self) -> int:
        """The approximate number of multiplications and additions."""
        return self.count * self.routine.operations

    @property
    def _share(self) -> int:
        """The number of matrices of a workgroup."""
        return size_of_share(self.count, min(self.workers, self.operations // SHARE))

    @property
    def groups(self) -> int:
        """The number of workgroups."""
        return -(-self.count // self._share)

    @property
    def _is_on_stack(self) -> bool:
        """True if a workgroup has scratch memory, on its stack."""
        return 0 < sum(self._scratch) <= STACK

    @property
    def types(self) -> list[Type]:
        """The types of the dispatch's results: those of the routine, and scratch memory that is not
        on the stack.
        """
        results = [
            mlir.tensor_type((*self.extents, *shape), dtype)
            for shape, dtype in self.routine.results
        ]
        if self._is_on_stack:
            return results
        scratch = [mlir.tensor_type((self.groups, size), INT8) for size in self._scratch]
        for number, operand in self._scratch_in_place.items():
            shape = self.routine.shapes[operand]
            scratch[number] = mlir.tensor_type((*self.extents, *shape), self.routine.dtype)
        return [*results, *scratch]

    @property
    def _scratch_in_place(self) -> Mapping[int, int]:
        """The scratch arrays that may be in the memory of an operand: in batches, those of a
        workgroup would be less than the operand.
        """
        is_alone = self.count == 1 and not self._is_on_stack
        return self.routine.scratch_in_place if is_alone else {}

    @property
    def _scratch(self) -> list[int]:
        """The bytes of the scratch arrays of a workgroup."""
        return [-(-size // LINE) * LINE for size in self.routine.scratch]

    def add_executable(self, module: Module, name: str, operands: Sequence[Value]) -> Operation:
        """Add the executable `name` to a module, with one function of the same name. Return it."""
        given = [_bytes(x.type) // self.count for x in operands]
        results = [prod(shape) * dtype.itemsize for shape, dtype in self.routine.results]
        sizes = [*given, *results]

        of_all = [*map(_bytes, (x.type for x in operands)), *map(_bytes, self.types)]

        def build(block: Block, bindings: list[Value]) -> None:
            library = Library(self.routine.dtype, block)
            bases = [base(binding, size) for binding, size in zip(bindings, of_all, strict=True)]
            lapack = Lapack(library, library.scalar(1))
            if self._is_on_stack:
                memory = address(local_memory(sum(self._scratch), "i8", LINE))
                starts = accumulate(self._scratch[:-1], initial=0)
                first, homes = index(0), [plus(memory, start) for start in starts]
            else:
                first, homes = workgroup(0), bases[len(sizes) :]
            scratch = _arrays(homes, first, self._scratch)

            def work(number: Value) -> None:
                arrays = _arrays(bases[: len(sizes)], number, sizes)
                self.routine.build(lapack, [*arrays, *scratch])

            for_each(*share(self.count, self._share, 0), work)

        ties = {len(given) + i: number for i, number in self.routine.in_place.items()}
        ties |= {len(sizes) + i: number for i, number in self._scratch_in_place.items()}
        return add_executable(module, name, (self.groups, 1), len(of_all), build, in_place=ties)


def batch_of(operation: Operation, workers: int = 1) -> Batch | None:
    """Return the routine that computes what a call of a host function does, for the batch of its
    operands; None if there is none.
    """
    operands = list(operation.operands)
    name, parameters = read_host_call(operation)
    if name not in ROUTINES or any(0 in shape_of(x) for x in operands):
        return None
    dtype = dtype_of(operands[0])
    if dtype.name not in LETTERS:
        return None
    *extents, _, _ = shape_of(operands[0])
    shapes = tuple(shape_of(x)[-2:] for x in operands)
    return Batch(ROUTINES[name](dtype, shapes, **parameters), tuple(extents), workers)


def _bytes(type_: Any) -> int:
    return prod(type_.shape) * mlir.dtype_of_type(type_).itemsize


def _arrays(bases: Sequence[Value], number: Value, sizes: Sequence[int]) -> list[Array]:
    """The arrays of a number in lists of arrays of these sizes."""
    return [
        Array(long(moved(start, number, size)), size)
        for start, size in zip(bases, sizes, strict=True)
    ]
