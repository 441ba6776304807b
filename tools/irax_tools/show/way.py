"""The way of a function to a program, pass by pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from irax_compiler import api, mlir
from irax_compiler.iree.phases import phases
from irax_compiler.mlir import Module
from irax_tools import derive
from irax_tools.sources import Source, of_each_device

Keep = Callable[[str, str, Module, str], None]
"""Takes a pass, what it belongs to (see `model.Stage`), its module, and its entry."""


@dataclass(frozen=True)
class Way:
    """The transformations and passes that a function goes through."""

    target: str = "iree-cpu"
    grad: bool = False
    wrt: Sequence[int] | None = None
    vmap: int | None = None
    """The number of lanes."""
    in_axes: Sequence[int | None] | None = None
    mesh: Mapping[str, int] | None = None
    """The mesh whose devices run it."""
    passes: Sequence[api.Pass] | None = None
    """Passes in place of those that lower for the target."""
    iree: bool = False
    """True to go on through the phases of IREE's compiler."""

    def derived(self, source: Source) -> Source:
        """The function that is shown: the source, its gradient, or either for several lanes."""
        if self.grad:
            source = derive.grad(source, self.wrt)
        if self.vmap is not None:
            source = derive.vmap(source, self.vmap, self.in_axes)
        return source

    def title(self, func: str) -> str:
        """A title for the result: `vmap of grad of f`."""
        lanes = "vmap of " if self.vmap is not None else ""
        return f"{lanes}{'grad of ' if self.grad else ''}{func}"


def walk(source: Source, way: Way, keep: Keep) -> None:
    """Goes the way of a function; `keep` gets its module as it is at first and after each pass.

    With `grad` and `vmap`, the gradient of each lane is what is computed.
    """
    name = source.func
    keep("traced" if source.is_traced else "read", "trace", source.module, name)

    def after_derivation(step: str, module: Module, entry: str) -> None:
        keep(step, "derive", module, entry)

    if way.grad:
        linearized = mlir.clone_module(source.module)
        linearize = api.Linearize(name, None if way.wrt is None else tuple(way.wrt))
        api.run_passes(linearized, [linearize])
        # It has two functions: what calls both is to come.
        keep(str(linearize), "derive", linearized, "")
        source = derive.grad(source, way.wrt, after=after_derivation)
    if way.vmap is not None:
        source = derive.vmap(source, way.vmap, way.in_axes, after=after_derivation)
    if way.mesh is not None:
        source = of_each_device(source, way.mesh, way.target)
        keep("partition", "lower", source.module, source.func)
    name = source.func

    def after_pass(step: str, module: Module) -> None:
        keep(step, "lower", module, name)

    if way.passes is not None:
        api.run_passes(source.module, way.passes, after_pass)
        return
    lowered = api.lower(source.module, name, way.target, after_pass)
    if way.iree:
        for phase, module in phases(lowered, way.target):
            keep(phase, "iree", module, "")
