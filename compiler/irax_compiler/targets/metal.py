"""The target of Apple's GPUs: Metal, by IREE, by way of SPIR-V."""

from __future__ import annotations

from irax_compiler.iree.target import ASYNCHRONOUS, DOUBLES, IreeTarget
from irax_compiler.passes.legalize.gpu import sets
from irax_compiler.passes.legalize.target import OF_THE_EVALUATOR, register
from irax_compiler.passes.repairs.barriers import Barriers
from irax_compiler.passes.repairs.limit_fusion import LimitFusion
from irax_compiler.passes.standard import FEW, standard_passes

NAME = "iree-metal"

METAL = register(
    IreeTarget(
        name=NAME,
        passes=(*standard_passes(NAME, largest_constant=FEW), LimitFusion(), Barriers()),
        legalizations=sets.SPIRV,
        lacks=OF_THE_EVALUATOR | DOUBLES,
        flags=("--iree-hal-target-device=metal", ASYNCHRONOUS),
    )
)
