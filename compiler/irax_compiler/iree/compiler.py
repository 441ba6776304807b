"""Compilation by IREE: the flags of its compiler, and its run for a target."""

from __future__ import annotations

import functools
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from irax_compiler import cache, spans
from irax_compiler.iree import addresses, blas, references
from irax_compiler.iree.invocation import CompileError, bundled_tool, invocation

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


DATA_TILING = ("--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all")

_CALLS_LIBM = re.compile(
    r"(?:(?:stablehlo|math|arith)\.(?:sine?|cos(?:ine)?|tanh?|atan2|remainder|remf|powf|cbrt)\b|chlo\.)"
    r"[^\n]*f64|complex<f64>"
)
"""Finds operations that become calls of sin, cos, tanh, atan2 or fmod of float64."""

_LOOP = re.compile(r"stablehlo\.while|scf\.for [^\n]*tensor<")
"""Finds loops outside of kernels that may carry arrays."""

_MANY = 64
"""The lines of a module from which IREE may make many kernels of it."""

_TOO_LONG_TO_PRINT = 4 << 20


Rewrite = Callable[[bytes], bytes | None]
"""Rewrites a module as it is after IREE's phase flow, as bytecode; None leaves it as it is."""


def compile(
    module: str | bytes,
    flags: Sequence[str] = (),
    *,
    data_tiling: bool = False,
    identity: bytes | None = None,
    on_flow: Rewrite | None = None,
) -> bytes:
    """Compiles a lowered module, MLIR text or bytecode, to a .vmfb.

    Artefacts are kept on disk (see `cache`).

    Args:
        module: StableHLO as it leaves `lowering.lower`.
        flags: IREE's flags for the device, after those that all programs are compiled with.
        on_flow: what is done between IREE's phases.
        data_tiling: lays matrices out anew for multiplication, where IREE can compile that;
            `tiling` says for which programs it pays.
        identity: the module without what its artefact does not depend on, such as locations: the
            cache goes by this. Without it, it goes by the module.

    Raises:
        CompileError: IREE refuses the module; its diagnostics name operation and location.
        ValueError: IREE does not know one of the flags.
    """
    data = module.encode() if isinstance(module, str) else module
    if data_tiling:
        try:
            return _compile(data, (*FLAGS, *flags, *DATA_TILING), identity or data, on_flow)
        except CompileError:
            pass  # a defect of data tiling, or of the module: compiling it without will tell
    return _compile(data, (*FLAGS, *flags), identity or data, on_flow)


def _compile(
    module: bytes, flags: Sequence[str], identity: bytes, on_flow: Rewrite | None
) -> bytes:
    key = cache.key(identity, [*flags, "own references", "carries, merge" if on_flow else ""])
    with spans.span("cache", "look-up") as details:
        artefact = cache.load(key)
        details["found"] = artefact is not None
    if artefact is None:
        artefact = _invoke_iree(module, flags, on_flow=on_flow)
        cache.store(key, artefact)
    return artefact


def resume(module: bytes, phase: str, flags: Sequence[str]) -> bytes:
    """The .vmfb of a module as it was after one of IREE's phases, "input", "flow", "vm", ...

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such phase.
    """
    return _invoke_iree(module, (*FLAGS, *flags), phase)


def _invoke_iree(
    module: bytes, flags: Sequence[str], after: str = "", on_flow: Rewrite | None = None
) -> bytes:
    with invocation(module, flags) as run:
        text = "" if len(module) > _TOO_LONG_TO_PRINT else run.text()
        if text.strip() == "module {\n}":
            raise run.failure("the module is empty")
        linking = linking_flags(module, text)
        if linking:
            run.set_flags(*linking)
            flags = (*flags, *linking)
        if on_flow is not None and _is_rewritten(text):
            run.execute_phases(after, "flow")
            rewritten = on_flow(run.bytecode())
            after = "flow"
            if rewritten is not None:
                return _invoke_iree(rewritten, flags, after)
        run.execute_phases(after)
        if after == "vm" or len(module) > _TOO_LONG_TO_PRINT:
            return run.program()
        text = run.text()
        cured = references.with_own_references(text)
        if cured == text:
            return run.program()
    return _invoke_iree(cured.encode(), flags, "vm")


def _is_rewritten(text: str) -> bool:
    """True for a module whose loops or kernels something is done about after the phase flow."""
    return not text or text.count("\n") >= _MANY or _LOOP.search(text) is not None


def linking_flags(module: bytes, text: str) -> tuple[str, ...]:
    """Return the flags for a program that calls C's functions or those of a library; none for
    others. `text` is the module's, or empty if it is too long, and then both may be called.
    """
    calls_others = not text or blas.is_called(text)
    if not (calls_others or _CALLS_LIBM.search(text)):
        return ()
    library = blas.library() if calls_others else None
    return _linker_flags(library, tuple(addresses.definitions(module)))


@functools.cache
def _linker_flags(library: Path | None, definitions: Sequence[str]) -> tuple[str, ...]:
    """Makes a shared library, which finds C's functions, and those of `library` if it calls any,
    where it is loaded. `definitions` are options that define symbols.

    Only where it must be: IREE loads its own form of programs sooner, and from memory. On Linux
    the linker is the one that comes with IREE; elsewhere it is the system's.
    """
    flags = ("--iree-llvmcpu-link-embedded=false",)
    linker = bundled_tool("iree-lld")
    if sys.platform != "linux" or linker is None:
        return flags
    command = [shlex.quote(str(linker)), "-flavor gnu", *definitions]
    if library is not None:
        command += ["--as-needed", shlex.quote(str(library))]
    return (*flags, f"--iree-llvmcpu-system-linker-path={' '.join(command)}")
