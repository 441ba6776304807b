"""The target of AMD's GPUs: HIP, by IREE."""

from __future__ import annotations

from irax_compiler.iree.target import ASYNCHRONOUS, IreeTarget
from irax_compiler.passes.legalize.gpu import gpu, sets
from irax_compiler.passes.legalize.target import register
from irax_compiler.passes.repairs.barriers import Barriers
from irax_compiler.passes.repairs.limit_fusion import LimitFusion
from irax_compiler.passes.standard import standard_passes

NAME = "iree-hip"

CHIPS = (
    *("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1250"),
    *("gfx1100", "gfx1101", "gfx1103", "gfx1150", "gfx1151", "gfx1200", "gfx1201"),
    *("cdna1", "cdna2", "cdna5"),
    *("mi100", "mi210", "mi250", "mi250x", "mi300a", "mi300x", "mi308x", "mi325x"),
    *("mi350x", "mi355x", "mi455x"),
    *("rx7700xt", "rx7800xt", "rx7900xt", "rx7900xtx", "rx9060xt", "rx9070", "rx9070xt"),
    *("w7700", "w7800", "w7900", "v710", "r9700"),
)

HIP = register(
    IreeTarget(
        name=NAME,
        passes=(*standard_passes(NAME), LimitFusion(), Barriers()),
        legalizations=(*sets.GPU, gpu.sign_of_doubles),
        flags=("--iree-hal-target-device=hip", ASYNCHRONOUS),
        chip_flag="--iree-rocm-target=",
        chip="gfx942",
        chips=CHIPS,
    )
)
