"""The target of NVIDIA's GPUs: CUDA, by IREE."""

from __future__ import annotations

from irax_compiler.iree.target import ASYNCHRONOUS, IreeTarget
from irax_compiler.passes.legalize.gpu import sets
from irax_compiler.passes.legalize.target import register
from irax_compiler.passes.repairs.barriers import Barriers
from irax_compiler.passes.repairs.limit_fusion import LimitFusion
from irax_compiler.passes.standard import standard_passes

NAME = "iree-cuda"

CHIPS = (
    *("sm_80", "sm_86", "sm_87", "sm_89"),
    *("sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_120", "sm_121"),
    *("pascal", "volta", "turing", "ampere", "ada"),
    *("a100", "rtx3070", "rtx3070ti", "rtx3080", "rtx3080ti", "rtx3090", "rtx3090ti"),
    *("rtx4060", "rtx4070", "rtx4080", "rtx4090"),
)
NEWER = (
    *("sm_90", "sm_90a", "sm_100", "sm_100a", "sm_101", "sm_103", "sm_110"),
    *("hopper", "h100", "h200", "blackwell", "b100", "b200"),
)

CUDA = register(
    IreeTarget(
        name=NAME,
        passes=(*standard_passes(NAME), LimitFusion(), Barriers()),
        legalizations=sets.GPU,
        flags=("--iree-hal-target-device=cuda", ASYNCHRONOUS),
        chip_flag="--iree-cuda-target=",
        chip="sm_80",  # whose PTX runs on all newer chips
        chips=CHIPS,
        newer=NEWER,
    )
)
