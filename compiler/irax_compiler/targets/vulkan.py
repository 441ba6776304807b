"""The target of Vulkan's GPUs, by IREE: any GPU with the limits that Vulkan guarantees, or a given
chip.
"""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler.iree import spirv
from irax_compiler.iree.target import ASYNCHRONOUS, DOUBLES, IreeTarget
from irax_compiler.mlir import Module
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.passes.legalize.gpu import sets
from irax_compiler.passes.legalize.target import OF_THE_EVALUATOR, register
from irax_compiler.passes.repairs.barriers import Barriers
from irax_compiler.passes.repairs.limit_fusion import LimitFusion
from irax_compiler.passes.standard import FEW, standard_passes

NAME = "iree-vulkan"

CHIPS = (
    *("rdna1", "rdna2", "rdna3", "rdna4", "cdna1", "cdna2", "cdna3", "cdna4"),
    *("pascal", "volta", "turing", "ampere", "ada"),
    *("valhall", "valhall1", "valhall2", "valhall3", "valhall4", "adreno"),
    "vp_android_baseline_2022",
    *("gfx1030", "gfx1100", "gfx1150", "gfx1200", "gfx942"),
    *("sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_120"),
    *("a100", "rtx3070", "rtx3080", "rtx3090", "rtx4060", "rtx4070", "rtx4080", "rtx4090"),
    *("rx7800xt", "rx7900xtx", "rx9070xt"),
    *("mali-g57", "mali-g78", "mali-g310", "mali-g510", "mali-g615", "mali-g710", "mali-g715"),
    *("adreno-730", "adreno-740", "adreno-750"),
)


class VulkanTarget(IreeTarget):
    """Vulkan's devices, whose kernels are looked at for races."""

    def compile(self, module: Module, chip: str = "", donated: Sequence[int] = ()) -> bytes:
        artefact = super().compile(module, chip, donated)
        if spirv.races(artefact):
            raise UnsupportedOp(
                "IREE compiles this program for Vulkan to a kernel whose threads do not wait for "
                "each other where they must; run it on the device 'cpu'"
            )
        return artefact


VULKAN = register(
    VulkanTarget(
        name=NAME,
        passes=(*standard_passes(NAME, largest_constant=FEW), LimitFusion(), Barriers()),
        legalizations=sets.SPIRV,
        # There are no functions of float64, and on many devices no float64 at all.
        lacks=OF_THE_EVALUATOR | DOUBLES,
        flags=("--iree-hal-target-device=vulkan", ASYNCHRONOUS),
        chip_flag="--iree-vulkan-target=",
        chips=CHIPS,
        any_chip=(*spirv.ANY_CHIP, ASYNCHRONOUS),
    )
)
