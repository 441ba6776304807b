"""Programs for this processor, by pipelines of IREE's instead of its phases.

A phase loads the dialects of all of IREE's targets, and nearly every pass collects the patterns of
all operations that are loaded, each time that it runs. Here just the code of kernels goes through
phases, by itself. What a program does around them goes through sessions that have loaded what a few
passes need.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from irax_compiler import mlir, spans
from irax_compiler.iree import straight
from irax_compiler.iree.invocation import invocation
from irax_compiler.iree.kernel_cache import Kernels
from irax_compiler.iree.linking import Linker
from irax_compiler.iree.pipelines import (
    ALLOCATE,
    ALLOCATION,
    CONCURRENCY,
    INPUT,
    MATERIALIZE,
    OF_SIZES,
    SCHEDULE,
    VM,
    cleanup,
    in_functions,
)
from irax_compiler.mlir import InsertionPoint, Module, Operation

_ANNOTATION = "iree-stream-annotate-dispatch-arguments"
_STREAM = ",".join(
    (
        "iree-stream-cmd-transformation-pipeline",
        "iree-stream-optimization-pipeline{optimize-bindings=false}",
        f"{_ANNOTATION},iree-stream-annotate-dispatch-assumptions",
        "iree-stream-pack-dispatch-operands",
        cleanup("iree-stream-fold-uniform-operands"),
        cleanup("iree-util-ipo,symbol-dce"),
    )
)
"""The phase stream after the allocation, without `iree-stream-fuse-dispatch-bindings`. That pass
gives kernels whole arrays, and constants for where their parts begin: what programs have in common
would be different kernels (see `kernel_cache`). Devices that want arrays to begin at multiples of
some number need it, processors do not."""

PIPELINES = {
    "input": INPUT,
    "abi": "iree-abi-transformation-pipeline",
    "preprocessing": "",
    "global-optimization": "iree-global-optimization-transformation-pipeline",
    "dispatch-creation": "iree-dispatch-creation-pipeline",
    "flow": "iree-flow-transformation-pipeline",
    CONCURRENCY: SCHEDULE,
    ALLOCATION: ALLOCATE,
    "stream": _STREAM,
    "executable-sources": cleanup(MATERIALIZE, "iree-hal-prune-executables"),
    "vm": VM,
}
"""The pipelines that do what IREE's phases do for a program of one device, `with_device`."""

AFRESH = ("executable-sources", "executable-targets")
"""The phases before and after those that load the dialects of all targets. All that loads them
shares a session with these."""


def _to_hal(clean: str, clean_globals: str) -> str:
    """Return the passes of IREE's phase hal before it translates kernels to machine code. The pass
    that links them is its target's; the others are those of all targets.
    """
    return ",".join(
        (
            "iree-hal-conversion,iree-hal-outline-memoize-regions,iree-hal-prune-executables",
            clean,
            "iree-llvmcpu-link-executables{target=llvm-cpu},hal.executable(canonicalize)",
            "hal.executable(hal.executable.variant(iree-llvmcpu-assign-constant-ordinals,"
            "iree-llvmcpu-assign-import-ordinals,iree-hal-hoist-executable-objects))",
            "iree-hal-resolve-export-ordinals,iree-hal-materialize-resource-caches",
            "iree-hal-resolve-topology-queries,iree-hal-memoize-device-selection",
            "iree-hal-memoize-device-queries",
            clean_globals,
            *in_functions("iree-hal-elide-redundant-commands"),
        )
    )


def _after_code(*clean: str) -> str:
    """Return the passes of that phase after it."""
    return ",".join(
        (
            "iree-hal-initialize-devices,iree-affine-expand-index-ops,iree-lower-affine",
            *in_functions("convert-scf-to-cf"),
            "iree-hal-prune-executables,symbol-dce",
            *clean,
        )
    )


@dataclass(frozen=True)
class Pipelines:
    """The pipelines that a program goes through."""

    phases: Mapping[str, str]
    """The pipelines that do what IREE's phases of these names do."""
    to_hal: str
    """The passes of the phase hal up to the machine code of kernels."""
    after_code: str
    """The passes of that phase after it."""

    @cached_property
    def with_fused_bindings(self) -> Pipelines:
        """The pipelines of programs for all sizes, and of those with kernels of very many arrays,
        most of which are parts of one. Of arrays for all sizes, IREE says that they begin at
        multiples of 64 bytes, where these are rows that a loop counts; of numbers it says so in a
        way that the pass `alignments` takes back.
        """
        fuse, stream = "iree-stream-fuse-dispatch-bindings", self.phases["stream"]
        if fuse in stream:
            return self
        stream = stream.replace(_ANNOTATION, f"{fuse},{_ANNOTATION}")
        return replace(self, phases={**self.phases, "stream": stream})


OF_ALL = Pipelines(
    PIPELINES, _to_hal(cleanup(), cleanup()), _after_code(*[cleanup("iree-util-ipo")] * 2)
)
"""The pipelines of programs of all kinds."""

OF_STRAIGHT = Pipelines(
    {**PIPELINES, **straight.PHASES},
    _to_hal(straight.CLEAN, straight.CLEAN),
    _after_code(
        straight.CLEAN,
        "iree-util-ipo",
        straight.CLEAN,
        "iree-util-fold-globals,iree-util-fuse-globals",
    ),
)
"""The pipelines of straight programs."""

OF_UNKNOWN_SIZES = Pipelines({**PIPELINES, **OF_SIZES}, OF_ALL.to_hal, OF_ALL.after_code)
"""The pipelines of programs that compute the sizes of memory."""

_THE_FIRST = "#hal.device.ordinal<0> : !hal.device"
"""The device of a program, once its kernels are for it: the one that it is loaded for. IREE would
have the program look for a device of this kind."""


def with_device(module: bytes, flags: Sequence[str]) -> bytes:
    """Return a module with the device that it is for, as IREE's flags describe it."""
    device = mlir.parse_module(_device(tuple(flags))).operation
    parsed = mlir.parse_module(module)
    own: Any = parsed.operation.attributes
    for named in device.attributes:
        own[named] = device.attributes[named]
    with InsertionPoint.at_block_begin(parsed.body):
        for view in device.regions[0].blocks[0].operations:
            view.operation.clone()
    return mlir.bytecode(parsed)


@functools.lru_cache(maxsize=64)
def _device(flags: Sequence[str]) -> bytes:
    """Return a module with nothing but the device that IREE's flags describe."""
    with invocation(b"module {}", flags, AFRESH[-1]) as run:
        run.begin_after("abi")
        run.end_with("preprocessing")
        run.execute()
        return run.bytecode()


def to_hal(
    module: bytes, flags: Sequence[str], pipelines: Pipelines, kernels: Kernels | None = None
) -> bytes:
    """Return what IREE's phase hal makes of a module as it is after the phase before it; `kernels`
    has those of which the code is known, and keeps that of the others.
    """
    of_passes = Linker.without(flags)
    with spans.span("phase", "hal"):
        with invocation(module, of_passes, "to hal") as run:
            run.verify_passes(False)
            run.run_pipeline(pipelines.to_hal)
            parsed = mlir.parse_module(run.bytecode())
        _to_machine_code(parsed, flags, kernels)
        for device in _operations(parsed, "util.global"):
            if str(device.attributes["type"]) == "!hal.device":
                device.attributes["initial_value"] = mlir.parse_attribute(_THE_FIRST)
        with invocation(mlir.bytecode(parsed), of_passes, "after code") as run:
            run.verify_passes(False)
            run.run_pipeline(pipelines.after_code)
            return run.bytecode()


def _to_machine_code(module: Module, flags: Sequence[str], kernels: Kernels | None) -> None:
    """Replace the code of a module's kernels by machine code."""
    for executable in _operations(module, "hal.executable"):

        def code(executable: Operation = executable) -> tuple[bytes, Sequence[str]]:
            return _machine_code(_alone(executable), Linker.without(flags))

        if kernels is None:
            data, _ = _machine_code(_alone(executable), flags)
        else:
            data = kernels.library(executable, code)
        compiled = mlir.parse_module(data)
        with InsertionPoint(executable):
            copy = _operations(compiled, "hal.executable")[0].clone().operation
        for name in ("sym_name", "sym_visibility"):
            copy.attributes[name] = executable.attributes[name]
        executable.erase()


def _alone(executable: Operation) -> bytes:
    """Return a module with nothing but an executable, which IREE keeps though nothing calls it."""
    module = mlir.new_module()
    copy = executable.clone(ip=InsertionPoint(module.body)).operation
    copy.attributes["sym_visibility"] = mlir.string("public")
    return mlir.bytecode(module)


def _machine_code(module: bytes, flags: Sequence[str]) -> tuple[bytes, Sequence[str]]:
    """Return a module of an executable with machine code in place of its operations, and what IREE
    remarks.
    """
    with invocation(module, flags, AFRESH[-1]) as run:
        run.execute_phases("executable-targets", "hal", ("hal",), {})
        return run.bytecode(), run.remarks


def _operations(module: Module, name: str) -> list[Operation]:
    found = [x.operation for x in module.body.operations]
    return [x for x in found if x.name == name]
