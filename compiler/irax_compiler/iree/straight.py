"""The pipelines of straight programs: those without loops, branches and calls.

IREE's pipelines clean a program up after each step, again and again until nothing changes, and
nearly every pass that does so collects the patterns of all operations that are loaded. For a
program of few operations, that takes longer than the steps. These pipelines have the same steps,
and clean up where a step makes something superfluous. Passes on globals and calls, of which these
programs have few or none, run once, at the end.
"""

from __future__ import annotations

from irax_compiler.iree.pipelines import (
    ALLOCATION,
    CONCURRENCY,
    MATERIALIZE,
    TIDY,
    allocation,
    concurrency,
)

CLEAN = "any(canonicalize,cse,iree-util-simplify-global-accesses)"
"""Cleans functions and initializers up, and no kernels: the last pass is not for these."""


_HOST_READS = (b"\0global.load\0", b"\0tensor.load\0")
"""The operations that read a constant that several kernels use, and an element of an array."""


def reads_values(module: bytes) -> bool:
    """Return True for a module after IREE's phase flow, MLIR's bytecode, that reads constants or
    elements of arrays outside of kernels. What is done with these is simplified by further passes.
    """
    return any(name in module for name in _HOST_READS)


_CONCURRENCY = ",".join(
    (
        f"iree-hal-resolve-device-promises,iree-stream-verify-input,{CLEAN}",
        "iree-stream-clone-to-consumers,iree-stream-conversion",
        f"iree-stream-verify-lowering-to-tensors,{CLEAN},iree-util-combine-initializers",
        concurrency(CLEAN, CLEAN),
    )
)

_STREAM = ",".join(
    (
        "iree-stream-emplace-transients,iree-stream-materialize-transient-size-queries",
        f"any(iree-stream-pack-constants,iree-stream-layout-slices),{CLEAN}",
        f"iree-util-propagate-subranges,{CLEAN},iree-stream-automatic-reference-counting",
        "iree-stream-annotate-constant-transient-size,iree-stream-verify-lowering-to-cmd",
        f"{CLEAN},any(iree-stream-reuse-allocations,convert-scf-to-cf)",
        f"iree-stream-elide-timepoints,{CLEAN}",
        "iree-stream-annotate-dispatch-arguments,iree-stream-annotate-dispatch-assumptions",
        f"iree-stream-pack-dispatch-operands,{CLEAN}",
        f"iree-stream-fold-uniform-operands,{CLEAN},stream.executable(canonicalize),symbol-dce",
    )
)

_INLINE = "inline{default-pipeline=}"
"""Inlines, and leaves it to other passes to clean up."""

_VM = ",".join(
    (
        f"{_INLINE},symbol-dce,iree-util-combine-initializers",
        "any(convert-scf-to-cf,iree-affine-expand-index-ops,iree-lower-affine)",
        f"iree-util-propagate-subranges,{CLEAN},symbol-dce",
        "iree-util-fold-globals,iree-util-fuse-globals,iree-vm-conversion",
        "vm.module(iree-vm-reify-rodata-tables,iree-vm-hoist-inlined-rodata)",
        "vm.module(iree-vm-deduplicate-rodata,iree-vm-drop-unused-calls)",
        "symbol-dce,canonicalize,cse,vm.module(iree-vm-resolve-rodata-loads)",
        f"{_INLINE},symbol-dce",
        "vm.module(iree-vm-global-initialization),canonicalize,cse,canonicalize",
        "vm.module(iree-vm-drop-empty-module-initializers,iree-vm-annotate-functions)",
        "vm.module(iree-vm-convert-to-yieldable-calls,iree-vm-drop-optimization-barriers)",
        "vm.module(iree-vm-materialize-ref-discards)",
    )
)

PHASES = {
    CONCURRENCY: _CONCURRENCY,
    ALLOCATION: allocation(TIDY),
    "stream": _STREAM,
    "executable-sources": f"{MATERIALIZE},iree-hal-prune-executables",
    "vm": _VM,
}
"""The pipelines that take the places of those of `local`."""
