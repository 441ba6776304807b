"""The pass store, which stores the operands of products, so that fusion computes them once."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value, shape_of
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.sorting.sort import Sort
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.rewriting import put_barrier_behind

_READERS = (DotGeneral.name, Convolution.name, Gather.name, ReduceWindow.name, Sort.name)
"""Operations that read elements of their operands several times."""


@register_pass
class Store(Pass):
    """Puts fusion barriers between elementwise operations and the products, convolutions, windows,
    gathers and sorts that read their results, perhaps moved or converted. IREE fuses some of them,
    such as a selection between broadcast arrays, and computes them again for each element that is
    read: a product of 2x2 matrices takes twenty times as long.

    What is moved or converted after the barrier is cheap, and is fused.
    """

    name: ClassVar[str] = "store"

    def run(self, module: Module) -> bool | None:
        is_changed = False
        for function in mlir.functions(module).values():
            readers = [o for o in nested(function) if o.name in _READERS]
            read: dict[Value, set[Operation]] = {}
            for reader in readers:
                for x, user in _computed(reader):
                    read.setdefault(x, set()).add(user)
            for x, users in read.items():
                put_barrier_behind(x, users)
                is_changed = True
        return is_changed


def _computed(reader: Operation) -> Iterator[tuple[Value, Operation]]:
    """The arrays that an operation reads and elementwise operations compute, and who reads them:
    the operation, or one that moves or converts the array for it.
    """
    for x in reader.operands:
        user = reader
        source = mlir.definition(x)
        while source is not None and _is_cheap(source):
            x, user = source.operands[0], source
            source = mlir.definition(x)
        if source is not None and traits_of(source).elementwise and prod(shape_of(x)) != 1:
            yield x, user


def _is_cheap(operation: Operation) -> bool:
    is_move = traits_of(operation).moves and len(operation.operands) == 1
    return is_move or operation.name == Convert.name
