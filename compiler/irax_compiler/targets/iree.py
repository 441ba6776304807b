"""The targets `iree-...`: IREE's compiler, in this process.

A target may name a chip (`iree-cuda:sm_80`); without one, it means the chip in `TARGETS`.
"""

from __future__ import annotations

import functools
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from irax_compiler.targets import branches, cache, chips, spirv
from irax_compiler.targets.invocation import CompileError, bundled_tool, invocation

FLAGS = (
    "--iree-input-type=stablehlo",
    # Without this, float64 silently becomes float32.
    "--iree-input-demote-f64-to-f32=false",
    # What follows from constants is computed where the program is loaded. IREE would compile, load
    # and run another program for it; the pass `fold` has left little of it.
    "--iree-opt-const-eval=false",
    "--iree-hal-executable-debug-level=0",
    "--iree-vm-bytecode-module-strip-source-map=true",
)


@dataclass(frozen=True)
class IreeTarget:
    """What IREE must know to compile for a kind of device."""

    flags: tuple[str, ...]
    chip_flag: str = ""
    """The flag that names the chip, up to its value."""
    chip: str = ""
    """The chip that programs are for where none is named."""
    chips: tuple[str, ...] = ()
    """Those that IREE knows, the usual ones first. With others it crashes, ends the process, or
    refuses every program."""
    newer: tuple[str, ...] = ()
    """Those that IREE does not know, but that run programs for `chip`."""
    any_chip: tuple[str, ...] = ()
    """What takes the place of the flags and the chip where none is named."""


ASYNCHRONOUS = "--iree-execution-model=async-external"
"""Programs that take fences: one to wait for, one to say that the results are there."""


TARGETS = {
    "iree-cpu": IreeTarget(
        (
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            # The default of 32 KiB refuses some programs; more than this could overflow a
            # thread's stack.
            "--iree-llvmcpu-stack-allocation-limit=1048576",
            # Reductions are vectorised only if their order may change, as XLA's may: a sum of a
            # million floats takes 60 us and not 830, a softmax half the time.
            "--iree-llvmcpu-reassociate-fp-reductions=true",
            "--iree-llvmcpu-debug-symbols=false",
        ),
        "--iree-llvmcpu-target-cpu=",
        "host",
        chips.CPU,
    ),
    "iree-vulkan": IreeTarget(
        ("--iree-hal-target-device=vulkan", ASYNCHRONOUS),
        "--iree-vulkan-target=",
        "",
        chips.VULKAN,
        any_chip=(*spirv.ANY_CHIP, ASYNCHRONOUS),
    ),
    # The PTX of sm_80 runs on all newer chips.
    "iree-cuda": IreeTarget(
        ("--iree-hal-target-device=cuda", ASYNCHRONOUS),
        "--iree-cuda-target=",
        "sm_80",
        chips.CUDA,
        chips.CUDA_NEWER,
    ),
    "iree-hip": IreeTarget(
        ("--iree-hal-target-device=hip", ASYNCHRONOUS),
        "--iree-rocm-target=",
        "gfx942",
        chips.HIP,
    ),
    "iree-metal": IreeTarget(("--iree-hal-target-device=metal", ASYNCHRONOUS)),
}
"""The targets that IREE compiles for, by family."""

DATA_TILING = ("--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all")

_CALLS_LIBM = re.compile(
    r"(?:(?:stablehlo|math|arith)\.(?:sine?|cos(?:ine)?|tanh?|atan2|remainder|remf|powf|cbrt)\b|chlo\.)"
    r"[^\n]*f64|complex<f64>"
)
"""Finds operations that become calls of sin, cos, tanh, atan2 or fmod of float64."""

_TOO_LONG_TO_PRINT = 4 << 20


def compile(
    module: str | bytes,
    flags: Sequence[str] = (),
    *,
    target: str = "iree-cpu",
    data_tiling: bool = False,
) -> bytes:
    """Compiles a lowered module, MLIR text or bytecode, to a .vmfb.

    Artefacts are kept on disk (see `cache`).

    Args:
        module: StableHLO as it leaves `lowering.lower`.
        flags: more of IREE's flags, after those of the target.
        target: one of `TARGETS`, or one with a chip after a colon. By default, the processor of
            this host.
        data_tiling: lays matrices out anew for multiplication, where IREE can compile that;
            `tiling` says for which programs it pays.

    Raises:
        CompileError: IREE refuses the module; its diagnostics name operation and location.
        UnsupportedOp: what IREE makes of the module for Vulkan would give other results now and
            then.
        ValueError: there is no such target or chip, or IREE does not know one of the flags.

    >>> text = "func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
    >>> artefact = compile(text)
    """
    data = module.encode() if isinstance(module, str) else module
    all_flags = (*flags_of(target), *flags)
    if data_tiling:
        try:
            return _compile(data, (*all_flags, *DATA_TILING))
        except CompileError:
            pass  # a defect of data tiling, or of the module: compiling it without will tell
    artefact = _compile(data, all_flags)
    if target.startswith("iree-vulkan") and spirv.races(artefact):
        from irax_compiler.ops.core import UnsupportedOp

        raise UnsupportedOp(
            "IREE compiles this program for Vulkan to a kernel whose threads do not wait for each "
            "other where they must; run it on the device 'cpu'"
        )
    return artefact


def flags_of(target: str) -> tuple[str, ...]:
    """IREE's flags for a target.

    Raises:
        ValueError: there is no such target, or it has no such chip.

    >>> flags_of("iree-cuda:sm_89")[-1]
    '--iree-cuda-target=sm_89'
    """
    family, _, chip = target.partition(":")
    if family not in TARGETS:
        raise ValueError(f"unknown target {target!r}; there are {', '.join(TARGETS)}")
    known = TARGETS[family]
    if chip and chip not in known.chips:
        raise ValueError(f"target {target!r}: {_unknown_chip(family, chip)}")
    if not chip and known.any_chip:
        return (*FLAGS, *known.any_chip)
    named = (f"{known.chip_flag}{chip or known.chip}",) if known.chip_flag else ()
    return (*FLAGS, *known.flags, *named)


def _unknown_chip(family: str, chip: str) -> str:
    known = TARGETS[family]
    if not known.chips:
        return f"{family} has no chips to choose from"
    if chip in known.newer:
        return f"IREE has no {chip}; programs for {known.chip} run on newer chips such as this"
    return f"{family} has no chip {chip!r}; there are {', '.join(known.chips)}"


def _compile(module: bytes, flags: Sequence[str]) -> bytes:
    key = cache.key(module, [*flags, "own references"])
    artefact = cache.load(key)
    if artefact is None:
        artefact = _invoke_iree(module, flags)
        cache.store(key, artefact)
    return artefact


def resume(module: bytes, phase: str, target: str, flags: Sequence[str] = ()) -> bytes:
    """The .vmfb of a module as it was after one of IREE's phases, "input", "flow", "vm", ...

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such target or phase.
    """
    return _invoke_iree(module, (*flags_of(target), *flags), phase)


def _invoke_iree(module: bytes, flags: Sequence[str], after: str = "") -> bytes:
    with invocation(module, flags) as run:
        if len(module) > _TOO_LONG_TO_PRINT or _CALLS_LIBM.search(run.text()):
            run.set_flags(*_libm_flags())
        if after:
            run.begin_after(after)
        if after == "vm" or len(module) > _TOO_LONG_TO_PRINT:
            run.execute()
            return run.program()
        run.end_with("vm")
        run.execute()
        text = run.text()
        cured = branches.with_own_references(text)
        if cured == text:
            return run.program()
    return _invoke_iree(cured.encode(), flags, "vm")


@functools.cache
def _libm_flags() -> tuple[str, ...]:
    """Makes a shared library, which finds C's functions where it is loaded.

    Only where it must be: IREE loads its own form of programs sooner, and from memory. On Linux
    the linker is the one that comes with IREE; elsewhere it is the system's.
    """
    flags = ("--iree-llvmcpu-link-embedded=false",)
    linker = bundled_tool("iree-lld")
    if sys.platform != "linux" or linker is None:
        return flags
    return (*flags, f"--iree-llvmcpu-system-linker-path={shlex.quote(str(linker))} -flavor gnu")
