"""Passes that are imported where a module has something for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.passes import imported
from irax_compiler.passes.core import Pass, nested, outside_kernels

MANY_ARRAYS = 256
"""The most arguments and results of a function that is compiled as a whole."""

MANY_OPERATIONS = 128
"""The operations from which on the pass outline-sequences may find some."""


@dataclass
class OnDemand(Pass):
    """A pass by its name, with some of its options. It is imported where a module has something for
    it: to import all passes takes a fifth of the time that a small program takes to compile.
    """

    wanted: str
    has_work: Callable[[Module], bool]
    switches: tuple[str, ...] = ()
    """The options that are true, and false by default."""

    def run(self, module: Module) -> bool | None:
        return self.made().run(module) if self.has_work(module) else False

    def made(self) -> Pass:
        """Return the pass itself."""
        return imported(self.wanted)(**dict.fromkeys(self.switches, True))

    def __str__(self) -> str:
        options = " ".join(f"{name}=True" for name in self.switches)
        return f"{self.wanted}{{{options}}}" if options else self.wanted


def has(*names: str) -> Callable[[Module], bool]:
    """Return a function that tells if a module has an operation of one of these names."""
    return lambda module: any(o.name in names for o in outside_kernels(module))


def has_operations(count: int) -> Callable[[Module], bool]:
    """Return a function that tells if a module has so many operations."""
    return lambda module: any(True for _ in islice(nested(module.operation), count - 1, None))


def has_many_arrays(module: Module) -> bool:
    """Return True if a module has a public function of more than `MANY_ARRAYS` arguments and
    results.
    """
    public = filter(mlir.is_public, mlir.functions(module).values())
    return any(len(mlir.arguments(f)) + len(mlir.result_types(f)) > MANY_ARRAYS for f in public)
