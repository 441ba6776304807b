"""The target iree-cpu: the host's CPU, by IREE."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.chips import IS_X86, compiling_for, vector_registers
from irax_compiler.determinism import is_marked
from irax_compiler.importing import alone
from irax_compiler.iree import tiling
from irax_compiler.iree.compiler import (
    CHIP_FLAG,
    Rewrite,
    has_large_arrays,
    has_very_large_arrays,
)
from irax_compiler.iree.pipelines import ALLOCATION, CONCURRENCY
from irax_compiler.iree.target import (
    SUBBYTE,
    IreeTarget,
    made_after,
    passes_after,
)
from irax_compiler.mlir import Module
from irax_compiler.ops.indexing.dynamic_slices import JOINTS
from irax_compiler.passes.core import CSE, Pass
from irax_compiler.passes.host.annotate import is_direct
from irax_compiler.passes.host.donation import Donation
from irax_compiler.passes.host.host import Host
from irax_compiler.passes.kernels.blas import Blas
from irax_compiler.passes.kernels.elementwise import Elementwise
from irax_compiler.passes.kernels.foreign_functions import ForeignFunctions
from irax_compiler.passes.kernels.fourier import Fourier
from irax_compiler.passes.kernels.fuse_kernels import FuseKernels
from irax_compiler.passes.kernels.loops import (
    InterruptChecks,
    Loops,
    LowerCountedLoops,
    PeelHostCalls,
)
from irax_compiler.passes.kernels.partial_sums import PartialSums
from irax_compiler.passes.kernels.reductions import Reductions
from irax_compiler.passes.legalize import sets
from irax_compiler.passes.legalize.legalize import Legalize
from irax_compiler.passes.legalize.target import OF_THE_EVALUATOR, register
from irax_compiler.passes.mesh.overlap_collectives import OverlapCollectives
from irax_compiler.passes.on_demand import OnDemand, has, has_many_arrays
from irax_compiler.passes.repairs.barriers import Barriers
from irax_compiler.passes.repairs.configure import Configure
from irax_compiler.passes.repairs.limit_fusion import LimitFusion
from irax_compiler.passes.repairs.part_gathers import PartGathers
from irax_compiler.passes.repairs.part_sums import PartSums
from irax_compiler.passes.repairs.store import Store
from irax_compiler.passes.sizes.dynamic_shapes import has_unknown_sizes
from irax_compiler.passes.standard import dynamic_passes, standard_passes

NAME = "iree-cpu"

IN_BYTES = OF_THE_EVALUATOR | {"float8_e4m3b11fnuz"}
"""Floats that IREE has no kernels for, or no arrays of."""

CHIPS = (
    ("host", "generic", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
    if IS_X86
    else ("host", "generic")
)
"""Just the processors of this host's kind: for others the linker is not here."""


def passes_on_flow() -> Sequence[Pass]:
    """Return the passes on IREE's dialect flow."""
    with alone():
        from irax_compiler.passes.repairs.carry_unused_results import CarryUnusedResults
        from irax_compiler.passes.repairs.copy_host_results import CopyHostResults
        from irax_compiler.passes.repairs.merge_kernels import MergeKernels
        from irax_compiler.passes.repairs.nested_constants import NestedConstants
        from irax_compiler.passes.repairs.overwrite import Overwrite
        from irax_compiler.passes.repairs.pin_splats import PinSplats
        from irax_compiler.passes.repairs.pin_update_sources import PinUpdateSources
        from irax_compiler.passes.repairs.remove_fusion_barriers import RemoveFusionBarriers
        from irax_compiler.passes.repairs.update_carries_in_place import UpdateCarriesInPlace

    return (
        RemoveFusionBarriers(),
        CSE,
        NestedConstants(),
        PinSplats(),
        CopyHostResults(),
        Overwrite(),
        UpdateCarriesInPlace(),
        MergeKernels(),
        PinUpdateSources(),
        CarryUnusedResults(),
        PinSplats(),  # of which carries begin as copies, too
    )


def passes_on_allocations() -> Sequence[Pass]:
    """Return the passes on IREE's dialect stream, once it has found the arrays of a program."""
    with alone():
        from irax_compiler.passes.repairs.plan_buffers import PlanBuffers

    return (PlanBuffers(),)


def passes_on_stream() -> Sequence[Pass]:
    """Return the passes on IREE's dialect stream."""
    with alone():
        from irax_compiler.passes.repairs.alignments import Alignments
        from irax_compiler.passes.repairs.link import Link
        from irax_compiler.passes.repairs.remove_loop_deallocations import RemoveLoopDeallocations

    return (RemoveLoopDeallocations(), Alignments(), Link())


def passes_on_memory() -> Sequence[Pass]:
    """Return the passes on IREE's dialect stream that programs of very large arrays need."""
    with alone():
        from irax_compiler.passes.repairs.allocate_large_arrays import AllocateLargeArrays

    return (AllocateLargeArrays(),)


def passes_on_hal() -> Sequence[Pass]:
    """Return the passes on IREE's dialect hal."""
    with alone():
        from irax_compiler.passes.repairs.strip_argument_checks import StripArgumentChecks

    return (StripArgumentChecks(),)


class CpuTarget(IreeTarget):
    """The processor, for which IREE may lay matrices out anew."""

    def tiles(self, module: Module) -> bool:
        return not has_unknown_sizes(module) and tiling.pays(module)

    def rewrites(self, chip: str = "") -> tuple[Rewrite, ...]:
        rewrites = [
            *super().rewrites(chip),
            made_after(ALLOCATION, passes_on_allocations, has_large_arrays, "resource.pack"),
            made_after("stream", passes_on_memory, has_very_large_arrays, "resource.alloca"),
            made_after("hal", passes_on_hal, is_direct),
        ]
        with compiling_for(chip):
            registers = vector_registers()
        if not registers.has_masks:
            configure = Configure(bytes=2 * registers.bytes)
            rewrites.append(passes_after("executable-configurations", [configure]))
        return tuple(rewrites)


CPU = register(
    CpuTarget(
        name=NAME,
        lacks=frozenset(),
        lacks_arrays_of=frozenset(),
        in_bytes=IN_BYTES,
        callbacks_lack=SUBBYTE | IN_BYTES,
        passes=(
            *standard_passes(NAME, calls_formulas=True, kernels_of_loops=True),
            OnDemand("invariant-sums", lambda module: is_marked(module.operation)),
            PeelHostCalls(),
            Loops(),
            OnDemand("piecewise", has(*JOINTS)),
            Legalize(NAME, "now"),
            LowerCountedLoops(),
            Fourier(),
            ForeignFunctions(),
            Blas(),
            Reductions(),
            PartialSums(),
            Elementwise(),
            FuseKernels(),
            OverlapCollectives(),
            Host(),
            Store(),
            LimitFusion(),
            PartGathers(),
            PartSums(),
            Barriers(),
            Donation(),
            OnDemand("reverse-traversal", has("stream.executable")),
            OnDemand("split-large-signatures", has_many_arrays),
            InterruptChecks(),
        ),
        dynamic_passes=dynamic_passes(NAME, (Blas(), Reductions(), Elementwise())),
        flow_passes=passes_on_flow,
        stream_passes=passes_on_stream,
        # They are about the code of kernels, and to verify that after each pass takes as long as
        # the passes. What IREE's verifier is known to find, it finds in other phases and in loops.
        unverified=frozenset(
            {
                *(CONCURRENCY, ALLOCATION, "stream"),
                *("executable-configurations", "executable-targets", "hal"),
            }
        ),
        legalizations=sets.IREE,
        host_functions={
            f"irax.{name}": name for name in ("eig", "eigh", "lu", "qr", "schur", "solve", "svd")
        },
        calls_python=True,
        overwrites=True,
        takes_numbers=True,
        flags=(
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            # The default of 32 KiB refuses some programs; more than this could overflow a
            # thread's stack.
            "--iree-llvmcpu-stack-allocation-limit=1048576",
            # Reductions are vectorised only if their order may change, as XLA's may: a sum of a
            # million floats takes 60 us and not 830, a softmax half the time.
            "--iree-llvmcpu-reassociate-fp-reductions=true",
            "--iree-llvmcpu-debug-symbols=false",
            # Kernels of convolutions and windows pad the parts of arrays that they read: a padded
            # copy of the images takes as much memory again.
            "--iree-dispatch-creation-enable-fuse-padding-into-linalg-consumer-ops",
            # Only data tiling calls functions of IREE's library of kernels.
            "--iree-llvmcpu-link-ukernel-bitcode=false",
        ),
        chip_flag=CHIP_FLAG,
        chip="host",
        chips=CHIPS,
    )
)
