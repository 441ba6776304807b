"""The base class of targets that IREE compiles for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from irax_compiler import locations, mlir, own_files
from irax_compiler.importing import alone
from irax_compiler.iree import compiler
from irax_compiler.iree.kernels_aside import keep_aside
from irax_compiler.iree.pipelines import CONCURRENCY
from irax_compiler.mlir import Module
from irax_compiler.passes.core import Pass
from irax_compiler.passes.legalize.target import Target, find
from irax_compiler.pipeline import run_passes

ASYNCHRONOUS = "--iree-execution-model=async-external"
"""Programs that take fences: one to wait for, one to say that the results are there."""

SUBBYTE = frozenset({"int2", "uint2", "int4", "uint4"})
"""Integers of which IREE's runtime has no arrays. On the CPU they are arrays of bytes."""

LACKS_ARRAYS_OF = frozenset({*SUBBYTE, "float8_e4m3b11fnuz"})
"""Dtypes that IREE's runtime has no arrays of."""

DOUBLES = frozenset({"float64", "complex128"})

_GROUP = "async.concurrent"
"""The operation of kernels that run at once."""


PassMaker = Callable[[], Sequence[Pass]]
"""Imports passes and returns them: most programs do without those between IREE's phases."""


def passes_on_flow() -> Sequence[Pass]:
    """Return the passes on the dialect flow that all devices need."""
    with alone():
        from irax_compiler.passes.repairs.carry_unused_results import CarryUnusedResults

    return (CarryUnusedResults(),)


def passes_on_stream() -> Sequence[Pass]:
    """Return the passes on the dialect stream that all devices need."""
    with alone():
        from irax_compiler.passes.repairs.remove_loop_deallocations import RemoveLoopDeallocations

    return (RemoveLoopDeallocations(),)


def passes_on_order() -> Sequence[Pass]:
    """Return the passes on the dialect stream, once kernels have an order, that programs need in
    which one writes over what another reads.
    """
    with alone():
        from irax_compiler.passes.repairs.order_updates import OrderUpdates

    return (OrderUpdates(),)


def passes_on_functions() -> Sequence[Pass]:
    """Return the passes on the dialect util that programs of several functions need."""
    with alone():
        from irax_compiler.passes.repairs.pin_signatures import PinSignatures

    return (PinSignatures(),)


def passes_on_folds() -> Sequence[Pass]:
    """Return the passes on the dialect flow that programs with reductions need."""
    with alone():
        from irax_compiler.passes.repairs.materialize_folded_constants import (
            MaterializeFoldedConstants,
        )

    return (MaterializeFoldedConstants(),)


def passes_on_kernels() -> Sequence[Pass]:
    """Return the passes on the dialect flow that all programs need, the last ones."""
    with alone():
        from irax_compiler.passes.repairs.anchor import Anchor

    return (Anchor(),)


@dataclass(frozen=True, kw_only=True)
class IreeTarget(Target):
    """A target of IREE's, with what its compiler must be told.

    A target may be named with a chip (`iree-cuda:sm_80`); without one, it means `chip`.
    """

    lacks_arrays_of: frozenset[str] = LACKS_ARRAYS_OF
    has_chips: bool = True
    flags: tuple[str, ...]
    chip_flag: str = ""
    """The flag that names the chip, up to its value."""
    chip: str = ""
    """The chip that programs are for where none is named."""
    chips: tuple[str, ...] = ()
    """Chips that IREE knows, the usual ones first. With others it crashes, ends the process, or
    refuses every program."""
    newer: tuple[str, ...] = ()
    """Chips that IREE does not know, but that run programs for `chip`."""
    flow_passes: PassMaker = passes_on_flow
    """Returns the passes on IREE's dialect flow, after the phase of that name, for programs with
    loops or many operations."""
    stream_passes: PassMaker = passes_on_stream
    """Returns the passes on IREE's dialect stream, likewise."""
    unverified: frozenset[str] = frozenset()
    """The phases of IREE in which modules are not verified after each pass."""
    any_chip: tuple[str, ...] = ()
    """The flags where no chip is named."""

    def flags_for(self, chip: str = "") -> tuple[str, ...]:
        """IREE's flags for a chip; without one, for the usual.

        Raises:
            ValueError: there is no such chip.
        """
        if chip:
            self.check_chip(chip)
        elif self.any_chip:
            return self.any_chip
        named = (f"{self.chip_flag}{chip or self.chip}",) if self.chip_flag else ()
        return (*self.flags, *named)

    def check_chip(self, chip: str) -> None:
        if chip not in self.chips:
            raise ValueError(f"target '{self.name}:{chip}': {self._unknown_chip(chip)}")

    def is_of_this_processor(self, chip: str = "") -> bool:
        return (chip or self.chip) == "host"

    def _unknown_chip(self, chip: str) -> str:
        if not self.chips:
            return f"{self.name} has no chips to choose from"
        if chip in self.newer:
            return f"IREE has no {chip}; programs for {self.chip} run on newer chips such as this"
        return f"{self.name} has no chip {chip!r}; there are {', '.join(self.chips)}"

    def tiles(self, module: Module) -> bool:
        """True if IREE should use data tiling for the module's products."""
        return False

    def compile(self, module: Module, chip: str = "", donated: Sequence[int] = ()) -> bytes:
        flags = self.flags_for(chip)
        # What programs for other processors are linked with is found in the text of kernels, too.
        aside = keep_aside(module) if compiler.FOR_THIS_PROCESSOR in flags else None
        return compiler.compile(
            mlir.bytecode(module),
            flags,
            data_tiling=self.tiles(module),
            identity=mlir.bytecode(locations.without(module)),
            rewrites=self.rewrites(chip),
            unverified=self.unverified,
            aside=aside,
        )

    def rewrites(self, chip: str = "") -> tuple[compiler.Rewrite, ...]:
        """The rewrites between IREE's phases of programs for a chip. Those after the same phase are
        in their order.
        """
        pays = compiler.has_branches_or_updates_or_is_long
        return (
            made_after("input", passes_on_functions, compiler.has_functions),
            made_after("flow", passes_on_folds, compiler.folds_computed_elements),
            made_after("flow", self.flow_passes, pays),
            made_after("flow", passes_on_kernels, lambda text: True),
            made_after(CONCURRENCY, passes_on_order, compiler.writes_over_arrays, _GROUP),
            made_after("stream", self.stream_passes, pays),
        )

    def compile_text(self, module: str | bytes) -> bytes:
        """The .vmfb of a lowered module, MLIR text or bytecode, for the usual chip."""
        return compiler.compile(
            module, self.flags_for(), rewrites=self.rewrites(), unverified=self.unverified
        )


def passes_after(phase: str, passes: Sequence[Pass]) -> compiler.Rewrite:
    """Return the rewrite of modules after one of IREE's phases by passes."""
    is_own = all(map(own_files.is_of_compiler, map(type, passes)))
    name = ", ".join(map(str, passes))
    return compiler.Rewrite(phase, name, lambda module: run_passes(module, passes), is_own=is_own)


def made_after(
    phase: str, make: PassMaker, pays: Callable[[str], bool], operation: str = ""
) -> compiler.Rewrite:
    """Return such a rewrite by passes that are made, and imported, where it pays, and where the
    module has an `operation`.
    """
    is_own, name = own_files.is_of_compiler(make), f"{make.__module__}.{make.__qualname__}"
    return compiler.Rewrite(
        phase, name, lambda module: run_passes(module, make()), pays, operation, is_own
    )


def iree_target(name: str) -> IreeTarget:
    """The target of a name. Raises ValueError where there is none, or it is not one of IREE's."""
    target = find(name)
    if not isinstance(target, IreeTarget):
        raise ValueError(f"{name} is not one of IREE's targets")
    return target


def all_flags(module: Module, name: str) -> tuple[str, ...]:
    """The flags that a lowered module is compiled with for a target, named with a chip or without.

    Raises:
        ValueError: there is no such target or chip, or it is not one of IREE's.
    """
    target = iree_target(name)
    tiled = compiler.DATA_TILING if target.tiles(module) else ()
    return (*compiler.FLAGS, *target.flags_for(name.partition(":")[2]), *tiled)
