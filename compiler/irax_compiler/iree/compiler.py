"""Compilation by IREE: the flags of its compiler, and its run for a target."""

from __future__ import annotations

import functools
import itertools
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irax_compiler import blas, cache, own_files, spans
from irax_compiler.iree import linking, references, temporary
from irax_compiler.iree.invocation import CompileError, invocation, run_phases
from irax_compiler.iree.pipelines import (
    AFRESH,
    ALLOCATION,
    CONCURRENCY,
    OF_SIZES,
    PIPELINES,
    phases_after,
)
from irax_compiler.versions import bundled_tool

if TYPE_CHECKING:  # these import IREE's bindings, which whoever has a program does without
    from irax_compiler.iree.kernels_aside import KernelsAside
    from irax_compiler.iree.local import Pipelines
    from irax_compiler.mlir import Module

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

CHIP_FLAG = "--iree-llvmcpu-target-cpu="
FOR_THIS_PROCESSOR = f"{CHIP_FLAG}host"
"""The flag of programs for the processor that they are compiled on."""

DATA_TILING = (
    "--iree-opt-data-tiling",
    "--iree-llvmcpu-enable-ukernels=all",
    "--iree-llvmcpu-link-ukernel-bitcode=true",
)

_CALLS_LIBM = re.compile(
    r"(?:(?:stablehlo|math|arith)\.(?:sine?|cos(?:ine)?|tanh?|atan2|remainder|remf|powf|cbrt)\b|chlo\.)"
    r"[^\n]*f64|complex<f64>"
)
"""Finds operations that become calls of sin, cos, tanh, atan2 or fmod of float64."""

_LOOP = re.compile(r"stablehlo\.while|scf\.(?:for|while) [^\n]*tensor<")
"""Finds loops outside of kernels that may carry arrays."""

_BRANCH = re.compile(r"stablehlo\.(?:if|case)\b|scf\.if [^\n]*tensor<")
"""Finds branches outside of kernels that may return arrays."""

_FUNCTION = re.compile(r"^  func\.func", re.M)
"""Finds functions outside of kernels."""

_BODY = re.compile(r"^  func\.func .*{$", re.M)
"""Finds those that are no imports."""

_FOLD = re.compile(r"stablehlo\.reduce(?:_window)?\W+%(?!arg\d)")
"""Finds reductions of what is computed, which IREE may compute in the same kernel."""

_JOIN = re.compile(r"stablehlo\.(?:concatenate|pad|scatter)\b")
"""Finds arrays that are put together of parts, which two of them may have in common."""

_MANY = 64
"""The lines of a module from which IREE may make many kernels of it."""

_LARGE, _VERY_LARGE = 1 << 11, 1 << 20
"""The elements of an array from which it may matter where it is in memory, and whose it is."""

_WRITE = re.compile(r"flow\.dispatch .* -> .*%|stablehlo\.(?:dynamic_update_slice|scatter)")
"""Finds kernels that return an operand's memory, and updates."""

_SHAPE = re.compile(r"tensor<((?:\d+x)+)")

_UNKNOWN_SIZE = re.compile(r"tensor<(?:\d+x)*\?")

_TOO_LONG_TO_PRINT = 4 << 20


@dataclass(frozen=True)
class Rewrite:
    """A rewrite of a module between IREE's phases."""

    phase: str
    """The phase that it follows."""
    name: str
    """The rewrite's name. Artefacts are kept by it."""
    run: Callable[[Module], bool]
    """Rewrites the module in place, and returns False if it left it as it was, where it knows."""
    pays: Callable[[str], bool] = lambda text: True
    """Return False for the text of a module, as IREE gets it, that it would leave as it is."""
    operation: str = ""
    """The operation without which a module stays as it is, if there is one: its name without that
    of its dialect, as MLIR's bytecode has it."""
    is_own: bool = True
    """False if it runs code of another package, whose versions are not told apart: then artefacts
    are not kept."""


def compile(
    module: str | bytes,
    flags: Sequence[str] = (),
    *,
    data_tiling: bool = False,
    identity: bytes | None = None,
    rewrites: Sequence[Rewrite] = (),
    unverified: frozenset[str] = frozenset(),
    aside: KernelsAside | None = None,
) -> bytes:
    """Compiles a lowered module, MLIR text or bytecode, to a .vmfb.

    Artefacts are kept on disk (see `cache`).

    Args:
        module: StableHLO as it leaves `lowering.lower`.
        flags: IREE's flags for the device, after those that all programs are compiled with.
        rewrites: what is done between IREE's phases, in their order.
        unverified: the phases of IREE in which the module is not verified after each pass; for
            programs with loops outside of kernels, it is in the phase stream.
        data_tiling: lays matrices out anew for multiplication, where IREE can compile that;
            `tiling` says for which programs it pays.
        identity: the module without what its artefact does not depend on, such as locations: the
            cache goes by this. Without it, it goes by the module.
        aside: the module's kernels, if IREE is to get them after the phases that are not about
            kernels.

    Raises:
        CompileError: IREE refuses the module; its diagnostics name operation and location.
        ValueError: IREE does not know one of the flags.
    """
    data = module.encode() if isinstance(module, str) else module
    if data_tiling:
        try:
            tiled = (*FLAGS, *flags, *DATA_TILING)
            return _compile(data, tiled, identity or data, rewrites, unverified, aside)
        except CompileError:
            pass  # a defect of data tiling, or of the module: compiling it without will tell
    return _compile(data, (*FLAGS, *flags), identity or data, rewrites, unverified, aside)


def _compile(
    module: bytes,
    flags: Sequence[str],
    identity: bytes,
    rewrites: Sequence[Rewrite],
    unverified: frozenset[str],
    aside: KernelsAside | None,
) -> bytes:
    form = "shared library" if _is_shared_library(flags) else "IREE's form"
    code = own_files.compiler() if all(x.is_own for x in rewrites) else None
    own = [*flags, form, *(x.name for x in rewrites)]
    key = None if code is None else cache.key(identity, [code, *own])
    with spans.span("cache", "look-up") as details:
        artefact = None if key is None else cache.load(key)
        details["found"] = artefact is not None
    if artefact is None:
        artefact = _invoke_iree(
            module, flags, rewrites=rewrites, unverified=unverified, aside=aside
        )
        if key is not None:
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
    module: bytes,
    flags: Sequence[str],
    after: str = "",
    rewrites: Sequence[Rewrite] = (),
    unverified: frozenset[str] = frozenset(),
    aside: KernelsAside | None = None,
) -> bytes:
    temporary.check()
    given = aside.rest if aside else module
    with invocation(given, flags, "text") as run:
        text = "" if len(given) > _TOO_LONG_TO_PRINT else run.text()
        if text.strip() == "module {\n}":
            raise run.failure("the module is empty")
    chosen = [x for x in rewrites if x.pays(text)]
    if aside:
        chosen.insert(0, Rewrite(aside.phase, "", aside.put_back))
    if _has_loops(text):
        unverified -= {CONCURRENCY, ALLOCATION, "stream"}
    flags = (*flags, *linking_flags(module, text, flags))
    if not after and _has_pipelines(flags):
        return _by_pipelines(given, flags, chosen, unverified, text)
    pipelines = {**PIPELINES, **OF_SIZES} if computes_sizes(text) else PIPELINES
    for phase in _ends(after, {*AFRESH, *(x.phase for x in chosen)}):
        given = run_phases(given, flags, after, phase, unverified=unverified, pipelines=pipelines)
        given, after = _rewritten(given, [x for x in chosen if x.phase == phase]), phase
    return _program(given, flags, after, unverified, bool(text), pipelines)


def _by_pipelines(
    given: bytes,
    flags: Sequence[str],
    rewrites: Sequence[Rewrite],
    unverified: frozenset[str],
    text: str,
) -> bytes:
    """Return the program of a module for this processor, compiled by pipelines of passes (see
    `local`); `text` is the module's, or empty if it is too long.
    """
    from irax_compiler.iree import local

    given = local.with_device(given, linking.Linker.without(flags))
    if is_straight(text):
        try:
            return _through(local.OF_STRAIGHT, given, flags, rewrites, unverified, True)
        except CompileError:
            pass  # a defect of the module, or it lacks a step of IREE's: all of them will tell
    pipelines = local.OF_UNKNOWN_SIZES if computes_sizes(text) else local.OF_ALL
    return _through(pipelines, given, flags, rewrites, unverified, bool(text))


def _through(
    pipelines: Pipelines,
    given: bytes,
    flags: Sequence[str],
    rewrites: Sequence[Rewrite],
    unverified: frozenset[str],
    may_be_printed: bool,
) -> bytes:
    """Return the program of a module that states its device: pipelines of passes compile it."""
    from irax_compiler import mlir
    from irax_compiler.iree import kernel_cache, local, straight
    from irax_compiler.passes.host.annotate import LARGEST_SIZE

    ends = {*local.AFRESH, *(x.phase for x in rewrites)} - {"hal"}
    if pipelines is local.OF_STRAIGHT:
        ends.add("flow")
        # What one invocation leaves, the next verifies. After each pass, that would take as long
        # as the passes.
        unverified |= pipelines.phases.keys()
    is_for_all_sizes = LARGEST_SIZE.encode() in given
    # Passes do not link, so programs that are linked in different ways share their sessions.
    of_passes = linking.Linker.without(flags)

    begin = given

    def advanced(given: bytes, phases: Sequence[str]) -> bytes:
        chosen = pipelines.with_fused_bindings if is_for_all_sizes else pipelines
        for before, phase in itertools.pairwise(phases):
            given = run_phases(
                given,
                of_passes,
                before,
                phase,
                unverified=unverified,
                pipelines=chosen.phases,
                use=phase,
            )
            given = _rewritten(given, [x for x in rewrites if x.phase == phase])
        return given

    phases = ["", *_ends("", ends)]
    cut = phases.index(kernel_cache.PHASE)
    for pair in itertools.pairwise(phases[: cut + 1]):
        given = advanced(given, pair)
        may_be_straight = pair[1] == "flow" and pipelines is local.OF_STRAIGHT
        if may_be_straight and straight.reads_values(given):
            pipelines = local.OF_ALL
    kernels = kernel_cache.Kernels.of(given, flags)
    program = kernels.program if kernels else mlir.parse_module(given)
    if not is_for_all_sizes and kernel_cache.binds_too_many(program):
        fused = pipelines.with_fused_bindings
        if fused is not pipelines:
            return _through(fused, begin, flags, rewrites, unverified, may_be_printed)
    if kernels is None:
        given = advanced(given, phases[cut:])
    else:
        given = kernels.joined(kernels.new and advanced(kernels.new, phases[cut:]))
    given = local.to_hal(given, flags, pipelines, kernels)
    given = _rewritten(given, [x for x in rewrites if x.phase == "hal"])
    return _program(given, of_passes, "hal", unverified, may_be_printed, pipelines.phases)


def _ends(after: str, ends: set[str]) -> list[str]:
    """Return the phases after one that end an invocation of IREE, in order: after them a rewrite
    follows, or another invocation takes less time.
    """
    return [phase for phase in phases_after(after) if phase in ends]


def _program(
    module: bytes,
    flags: Sequence[str],
    after: str,
    unverified: frozenset[str],
    may_be_printed: bool,
    pipelines: Mapping[str, str] = PIPELINES,
) -> bytes:
    """Return the program of a module that IREE's phases have been run on up to `after`."""
    with invocation(module, flags, after) as run:
        run.execute_phases(after, unverified=unverified, pipelines=pipelines)
        if after == "vm" or not may_be_printed:
            return run.program()
        text = run.text()
        cured = references.with_own_registers(references.with_own_references(text))
        if cured == text:
            return run.program()
    return _program(cured.encode(), flags, "vm", unverified, may_be_printed)


def _rewritten(data: bytes, rewrites: Sequence[Rewrite]) -> bytes:
    """Return a module, MLIR's bytecode, after rewrites."""
    rewrites = [x for x in rewrites if x.operation.encode() in data]
    if not rewrites:
        return data
    from irax_compiler import mlir

    module = mlir.parse_module(data)
    changes = [rewrite.run(module) for rewrite in rewrites]
    return mlir.bytecode(module) if any(changes) else data


def has_branches_or_updates_or_is_long(text: str) -> bool:
    """Return True for a module that has loops or branches outside of kernels, updates parts of
    arrays, puts several together, or may become many kernels; also for one that is too long to
    print, of which the text is empty.
    """
    updates = "stablehlo.dynamic_update_slice" in text or len(_JOIN.findall(text)) > 1
    return _has_branches(text) or updates or text.count("\n") >= _MANY or _has_loops(text)


def writes_over_arrays(text: str) -> bool:
    """Return True for a module with kernels or updates that may write over their operands, and for
    one that is too long to print.
    """
    return not text or _WRITE.search(text) is not None


def is_straight(text: str) -> bool:
    """Return True for the text of a module that has one function, and no loops or branches outside
    of kernels; False for an empty one, that of a module that is too long to print.
    """
    is_one = len(_FUNCTION.findall(text)) == 1
    return is_one and not _has_loops(text) and not _has_branches(text)


def has_functions(text: str) -> bool:
    """Return True for the text of a module of several functions outside of kernels, imports left
    out, and for the empty one of a module that is too long to print.
    """
    return not text or len(_BODY.findall(text)) > 1


def computes_sizes(text: str) -> bool:
    """Return True for the text of a module for all sizes, or of several functions, and for the
    empty one of a module that is too long to print.
    """
    return has_functions(text) or _UNKNOWN_SIZE.search(text) is not None


def folds_computed_elements(text: str) -> bool:
    """Return True for a module with reductions of arrays that are no arguments, and for one that is
    too long to print.
    """
    return not text or _FOLD.search(text) is not None


def has_large_arrays(text: str, elements: int = _LARGE) -> bool:
    """Return True for a module with arrays of so many elements, and for one that is too long to
    print.
    """
    shapes = set(_SHAPE.findall(text))
    return not text or any(
        math.prod(int(size) for size in shape.split("x") if size) >= elements for shape in shapes
    )


def has_very_large_arrays(text: str) -> bool:
    """Return True for a module with arrays of megabytes, which together may need memory that
    `allocate-large-arrays` allocates, and for one that is too long to print.
    """
    return has_large_arrays(text, _VERY_LARGE)


def _has_branches(text: str) -> bool:
    return _BRANCH.search(text) is not None


def _has_loops(text: str) -> bool:
    return not text or _LOOP.search(text) is not None


def linking_flags(module: bytes, text: str, flags: Sequence[str]) -> tuple[str, ...]:
    """Return the flags for a program that is a shared library; none for one in IREE's own form.

    `text` is the module's, or empty if it is too long.
    """
    calls_others = blas.is_called(module)
    calls_c = _is_shared_library(flags) or not text or _CALLS_LIBM.search(text)
    if not (calls_others or calls_c):
        return ()
    return linking.flags(module)


def _is_shared_library(flags: Sequence[str]) -> bool:
    """Return True for flags of programs for this processor, where shared libraries can be made and
    loaded. IREE's own form runs wherever such a processor is, but has all of libm compiled into it,
    which takes a fifth of the time of a small program.
    """
    return FOR_THIS_PROCESSOR in flags and _can_load_libraries()


def _has_pipelines(flags: Sequence[str]) -> bool:
    """Return True for flags of programs that `local` compiles. It lays no matrices out anew."""
    return _is_shared_library(flags) and not set(DATA_TILING) & {*flags}


@functools.cache
def _can_load_libraries() -> bool:
    """Return True if IREE's runtime, which writes them to the folder of temporary files, can load
    shared libraries that the linker makes which comes with IREE.
    """
    if sys.platform != "linux" or bundled_tool("iree-lld") is None:
        return False
    return temporary.holds_programs()
