"""The target of TPUs: the compiler in the PJRT plugin libtpu."""

from __future__ import annotations

from irax_compiler.passes.legalize.target import OF_THE_EVALUATOR, register
from irax_compiler.passes.legalize.xla import sets, tpu
from irax_compiler.passes.standard import standard_passes
from irax_compiler.targets.pjrt import PjrtTarget

LACKS = OF_THE_EVALUATOR - {"float4_e2m1fn", "float8_e3m4", "float8_e4m3"}
"""XLA has no 6-bit floats, and makes nan of float8_e8m0fnu's least number."""

TPU = register(
    PjrtTarget(
        name="tpu",
        lacks=LACKS,
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
