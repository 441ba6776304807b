"""The target of TPUs: the compiler in the PJRT plugin libtpu."""

from __future__ import annotations

from irax_compiler.passes.legalize.xla import sets, tpu
from irax_compiler.passes.standard import standard_passes
from irax_compiler.targets.pjrt import PjrtTarget
from irax_compiler.targets.target import register

TPU = register(
    PjrtTarget(
        name="tpu",
        passes=standard_passes("tpu"),
        legalizations=(
            tpu.rounding_of_doubles,
            tpu.cumulative_reduction_of_doubles,
            tpu.double_fourier_transform,
            tpu.select_and_scatter_by_definition,
            *sets.XLA,
            tpu.convolution_of_long_integers,
            tpu.contraction_of_long_integers,
        ),
    )
)
