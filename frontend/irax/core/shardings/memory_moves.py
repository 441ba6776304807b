"""Arrays that are moved to other memories of the devices that they are on."""

from __future__ import annotations

from irax.core.array import Array
from irax.core.dispatch import bind, staged
from irax.core.key_arrays import KeyArray
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings.memory_spaces import space_of
from irax_compiler.ops.marks import InMemory


def in_memory(x: Array, kind: str) -> Array:
    """Return an array in a memory of the devices that it is on: of a trace, by an operation that
    says so. That is for the space of the memory alone.
    """
    wanted, own = space_of(kind), x.aval.memory_space
    if isinstance(x, KeyArray) or wanted is own:
        return x

    def write(builder: ModuleBuilder) -> Array:
        builder.has_memories = True
        return bind(InMemory(wanted.kind, own.kind), x, weak_type=x.weak_type)

    return staged(lambda: x, write, [x])
