"""The phases of IREE's compiler, and the passes of each."""

from __future__ import annotations

from collections.abc import Sequence

CONCURRENCY, ALLOCATION = "concurrency", "allocation"
"""The first parts of IREE's phase stream: they divide a program into parts, whose kernels they
order, and find the arrays of each. IREE has no names for them."""

ALL_PHASES = (
    *("input", "abi", "preprocessing", "global-optimization", "dispatch-creation", "flow"),
    *(CONCURRENCY, ALLOCATION, "stream", "executable-sources", "executable-configurations"),
    *("executable-targets", "hal", "vm"),
)

_CLEAN = "canonicalize,iree-stablehlo-canonicalize"
INPUT = ",".join(
    (
        f"func.func({_CLEAN},cse)",
        "func.func(iree-stablehlo-legalize-custom-calls,iree-stablehlo-legalize-control-flow)",
        "iree-stablehlo-to-stablehlo-preprocessing{order-conv-features=true}",
        f"func.func(iree-stablehlo-canonicalize,{_CLEAN}),inline",
        f"func.func({_CLEAN},cse,iree-stablehlo-canonicalize)",
        "func.func(iree-stablehlo-legalize-shape-computations,iree-stablehlo-to-linalg-ext)",
        f"iree-stablehlo-to-iree-input,reconcile-unrealized-casts,func.func({_CLEAN})",
        "iree-stablehlo-verify-compiler-input-legality",
        "iree-import-public,iree-import-ml-program,iree-sanitize-module-names",
    )
)
"""The phase input, with one more canonicalization before the conversion of StableHLO.

The conversion runs IREE's canonicalizations, too, and breaks those that move an operation of one
operand before the transpose or the reshape whose only use it is: it refuses the module, or, where
the types stay as they are, loses the operation. The elimination of common subexpressions leaves
such uses, so a canonicalization follows it."""

TIDY = "any(canonicalize,iree-util-simplify-global-accesses)"
"""Simplifies functions and initializers, and no kernels: the last pass is not for these. Equal
operations stay apart."""


def cleanup(*more: str, merges: bool = True, solves_sizes: bool = False) -> str:
    """Return the passes that IREE runs between the steps of a phase, and then `more`. Unless one
    `merges`, equal operations stay apart. One that `solves_sizes` finds those that loops carry.
    """
    # Simplify-global-accesses is for functions and initializers, so the others are, too. A pipeline
    # for each of the two would collect the patterns of all operations twice.
    equal = "cse," if merges else ""
    passes = f"canonicalize,{equal}iree-util-simplify-global-accesses,iree-util-apply-patterns"
    if solves_sizes:
        passes += ",iree-util-optimize-int-arithmetic"
    steps = (f"any({passes})", "iree-util-fold-globals", "iree-util-fuse-globals", *more)
    return ",".join(steps)


def concurrency(clean: str, tidy: str) -> str:
    """Return the passes that find the order of a program's kernels, and which run at once.

    They are IREE's, but for those that clean up: `clean` and `tidy`, thoroughly or not, where its
    pipeline does.
    """
    return ",".join(
        (
            "iree-stream-specialize-encodings,any(iree-stream-encode-host-tensors)",
            "stream.executable(iree-stream-encode-device-tensors),iree-stream-materialize-encodings",
            f"any(iree-stream-layout-slices),{clean}",
            "iree-stream-verify-lowering-to-async-resources",
            f"any(iree-stream-materialize-copy-on-write),{tidy},iree-stream-elide-async-copies",
            f"{tidy},any(iree-stream-emplace-allocations),iree-stream-refine-usage",
            f"{tidy},iree-stream-elide-async-copies,{clean}",
            "iree-stream-verify-async-access-ranges,iree-stream-place-transfer-executions",
            "any(iree-stream-schedule-execution,iree-stream-schedule-concurrency)",
        )
    )


def allocation(clean: str) -> str:
    """Return the passes that find the arrays of a program whose kernels have an order.

    They are IREE's, but for `clean`, which must leave equal operations apart. IREE fills an array
    with numbers of 64 bits by a kernel that reads nothing. Its pipeline makes one of two equal
    ones, of which each has its own array: a group of kernels then returns an array that nothing has
    written, or an update writes over one that is still read.
    """
    return ",".join(
        (
            f"iree-stream-propagate-timepoints,iree-stream-materialize-builtins,{clean}",
            "iree-stream-verify-lowering-to-async,iree-stream-schedule-allocation",
        )
    )


_ORDER = concurrency(cleanup("iree-util-ipo", solves_sizes=True), TIDY)
"""The passes for programs of all kinds. Sizes are solved before arrays are allocated: the pass
`iree-stream-refine-usage` of IREE 3.13 ends the process for nested loops that carry sizes."""

SCHEDULE = ",".join(
    (
        "iree-hal-resolve-device-promises,iree-stream-tensor-transformation-pipeline",
        _ORDER,
    )
)
ALLOCATE = allocation(cleanup("iree-util-ipo", merges=False))
VM = "iree-vm-transformation-pipeline"


def in_functions(passes: str) -> Sequence[str]:
    """Return passes on the functions of a module."""
    return [f"{kind}({passes})" for kind in ("util.func", "util.initializer")]


STREAM = ",".join(
    (
        "iree-stream-cmd-transformation-pipeline,iree-stream-optimization-pipeline",
        cleanup("iree-util-ipo,symbol-dce"),
    )
)
"""The rest of that phase."""

MATERIALIZE = "iree-hal-materialize-interfaces"
"""IREE's pass that gives kernels their arrays. It simplifies them in ten rounds. Where there is
more to do, it fails without a word, and leaves a module that it cannot go on with."""
SETTLE = "stream.executable(builtin.module(canonicalize{max-iterations=1000}))"
"""The pass that leaves nothing to simplify in kernels."""

NOT_SOLVED = "failed to solve for timepoint coverage"
"""IREE's error where it has not found in 32 iterations which waits others make superfluous."""
NOT_SETTLED = "maximum iteration count exceeded in fixed point pipeline"
"""IREE's error where passes that it repeats until they change nothing undo each other's changes,
such as the order of constants, or where a constant goes through many functions, one in each
iteration."""
WITHOUT_ITERATION = {
    CONCURRENCY: ",".join(
        (
            "iree-hal-resolve-device-promises,iree-stream-verify-input",
            cleanup("iree-util-ipo,iree-stream-clone-to-consumers,iree-stream-conversion"),
            "iree-stream-verify-lowering-to-tensors,inline",
            cleanup("iree-util-ipo,iree-util-combine-initializers"),
            *[cleanup("iree-util-ipo")] * 2,
            _ORDER,
        )
    ),
    "stream": ",".join(
        (
            "iree-stream-schedule-allocation,iree-stream-emplace-transients",
            "iree-stream-materialize-transient-size-queries",
            "any(iree-stream-pack-constants,iree-stream-layout-slices)",
            "iree-util-propagate-subranges",
            cleanup("iree-util-ipo,iree-stream-automatic-reference-counting"),
            "iree-stream-annotate-constant-transient-size,iree-stream-verify-lowering-to-cmd",
            *in_functions("iree-stream-reuse-allocations,convert-scf-to-cf"),
            *[cleanup("iree-util-ipo")] * 2,
            "iree-stream-fuse-dispatch-bindings,iree-stream-annotate-dispatch-arguments",
            "iree-stream-annotate-dispatch-assumptions,iree-stream-pack-dispatch-operands",
            cleanup("iree-util-ipo,iree-stream-fold-uniform-operands"),
            cleanup("iree-util-ipo,symbol-dce"),
        )
    ),
}
"""The pipelines of two phases with passes that run twice in place of until they change nothing, and
without the search for superfluous waits. In that of the phase stream, no pass computes with the
ranges of integers (see `OF_SIZES`)."""

OF_SIZES = {"stream": WITHOUT_ITERATION["stream"]}
"""The pipelines for programs that compute the sizes of memory: those for all sizes, and those of
several functions, where sizes are arguments and results. The pass
`iree-util-optimize-int-arithmetic` of IREE 3.13 finds no range for such a size, aligned, and then
takes another, which the same variable has later, for the only one: a loop's steps take the memory
that the loop begins with for as large as theirs."""

PIPELINES = {
    "input": INPUT,
    CONCURRENCY: SCHEDULE,
    ALLOCATION: ALLOCATE,
    "stream": STREAM,
    "vm": VM,
}
"""The pipelines of IREE's that have the passes of a phase, without the dialects of all targets.
Many passes collect the patterns of every dialect that is loaded, each time that they run."""

AFRESH = ("flow", "hal")
"""The phases before these, which load the dialects of all targets."""


def phases_after(phase: str) -> Sequence[str]:
    """Return IREE's phases after one, or all of them for an empty name. Raise ValueError if there
    is none of that name.
    """
    if phase and phase not in ALL_PHASES:
        raise ValueError(f"IREE has no phase {phase!r}; it has {', '.join(ALL_PHASES)}")
    return ALL_PHASES[ALL_PHASES.index(phase) + 1 if phase else 0 :]
