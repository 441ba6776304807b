"""The pass that applies the cures a target needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.mlir import Module, Operation
from irax_compiler.passes.core import Pass, PassError, nested, register_pass
from irax_compiler.passes.legalize import (
    arguments,
    branches,
    broadcasts,
    complex_functions,
    complexes,
    contraction,
    convolution,
    convolution_forms,
    definitions,
    exchanges,
    floats,
    fourier,
    fusion,
    gpu,
    indexing,
    integers,
    loops,
    narrow,
    powers,
    remainders,
    single,
    small_matrices,
    sorting,
    spirv,
    steps,
    tpu,
    triangular,
    trigonometry,
    windows,
    xla,
)
from irax_compiler.passes.legalize.cure import Cure

IREE: list[Cure] = [
    definitions.by_definition,
    definitions.scatter_of_several,
    definitions.windows_of_nothing,
    windows.cumulative_window,
    definitions.fold_in_another_dtype,
    fourier.fourier_transform,
    small_matrices.small_triangular_solve,
    small_matrices.small_cholesky,
    triangular.triangular_solve_on_host,
    triangular.cholesky_on_host,
    triangular.triangular_solve,
    triangular.cholesky,
    broadcasts.broadcast_that_permutes,
    indexing.gather_of_known_rows,
    indexing.index_vectors_last,
    indexing.gather_beyond_the_array,
    indexing.empty_scatter,
    indexing.scatter_of_one_window,
    indexing.scatter_by_rows,
    sorting.sort_of_repeated_operands,
    sorting.first_on_host,
    sorting.sort_on_host,
    sorting.total_order_of_narrow,
    sorting.stable_sort,
    convolution.empty_convolution,
    convolution.narrow_convolution,
    convolution.complex_convolution,
    convolution.windows_that_stop_early,
    convolution.backward_kernel,
    convolution.convolution_of_moved,
    convolution_forms.convolution_to_few_places,
    convolution_forms.convolution_of_dilated,
    convolution_forms.convolution_by_elements,
    convolution_forms.convolution_of_another_layout,
    convolution_forms.convolution_of_volumes,
    integers.add_of_booleans,
    integers.reverse_of_unsigned,
    integers.windows_over_padded_unsigned,
    complexes.convert_of_complex,
    complex_functions.complex_cube_root,
    complex_functions.complex_angle,
    complex_functions.complex_power,
    complex_functions.complex_rsqrt,
    complex_functions.complex_logistic,
    complex_functions.complex_magnitude,
    complex_functions.complex_function,
    narrow.convert_of_float8,
    narrow.convert_of_double_to_narrow,
    narrow.float32_rounded_to_bfloat16,
    narrow.convert_to_float8,
    narrow.smallest_normal_of_float8,
    narrow.nan_of_float8,
    floats.convert_of_counter,
    floats.saturating_convert,
    floats.narrow_function,
    floats.log_plus_one_of_doubles,
    floats.exponential_minus_one_of_doubles,
    trigonometry.trigonometric_function,
    trigonometry.atan2_of_floats,
    powers.power_of_floats,
    powers.power_of_integers,
    powers.cube_root,
    contraction.empty_contraction,
    contraction.contraction_by_algorithm,
    contraction.narrow_contraction,
    contraction.contraction_of_booleans,
    contraction.reduction_of_one,
    contraction.narrow_reduction,
    contraction.reduction_of_uneven_rows,
    complexes.pad_of_complex,
    complexes.bitcast_of_complex,
    branches.branch_that_hands_on,
    loops.carry_that_is_overwritten,
    fusion.stride_to_nowhere,
    fusion.one_window_of_more,
    fusion.reshape_of_one_element,
    fusion.read_of_slice,
    fusion.pad_of_pad,
    fusion.update_of_part,
    arguments.update_of_argument,
    arguments.update_of_shared,
    complexes.constant_of_complex128,
    complexes.complex128_of_constants,
]
"""What IREE needs, wherever its programs run."""

ON_HOST = [
    triangular.triangular_solve_on_host,
    triangular.cholesky_on_host,
    sorting.first_on_host,
    sorting.sort_on_host,
]
"""Of these, what calls functions of the host's: which programs on the processor alone can."""

_ON_CPU = [
    *ON_HOST,
    narrow.smallest_normal_of_float8,
    narrow.nan_of_float8,
    contraction.reduction_of_uneven_rows,
    indexing.gather_of_known_rows,
]

ON_GPU = [
    exchanges.sort_by_exchanges,
    *(cure for cure in IREE if cure not in _ON_CPU),
    gpu.contraction_of_float8,
    gpu.float32_of_float8,
    gpu.float8_of_float32,
    gpu.reduction_of_complex,
    gpu.scatter_of_computed,
    gpu.fold_from_computed,
    gpu.slice_of_fold,
    gpu.fold_of_part,
    gpu.sort_by_any_order,
]

XLA = [
    integers.constant_of_booleans,
    definitions.windows_of_nothing,
    definitions.fold_in_another_dtype,
    contraction.contraction_by_algorithm,
    contraction.reduction_of_one,
    complexes.bitcast_of_complex,
    contraction.narrow_reduction,
    xla.windows_over_padded,
    xla.narrow_windows,
    xla.scatter_into_scalar,
    xla.reversed_convolution,
]
"""What XLA needs, behind PJRT."""

ON_VULKAN = [
    spirv.windows_of_complex,
    xla.narrow_windows,
    spirv.iota_of_narrow,
    remainders.remainder_of_singles,
    *[single.power_of_singles if c is powers.power_of_floats else c for c in ON_GPU],
    steps.reduction_in_parts,
    steps.contraction_in_parts,
    spirv.contraction_of_complex,
    steps.convolution_in_parts,
    steps.window_in_parts,
    steps.scatter_in_parts,
    spirv.contraction_of_computed,
    spirv.products_alone,
    spirv.reduction_alone,
    spirv.constant_of_complex,
    spirv.convert_of_booleans,
    spirv.select_of_complex,
    spirv.leading_zeros_of_narrow,
    steps.too_many_steps,
]
"""What Vulkan needs besides, and Metal, whose programs are made of SPIR-V, too."""

CURES: dict[str, list[Cure]] = {
    "chlo": [
        floats.float8_function,
        floats.digamma_at_zero,
        complex_functions.complex_function_of_chlo,
    ],
    "iree-cpu": IREE,
    "iree-vulkan": ON_VULKAN,
    "iree-cuda": ON_GPU,
    "iree-hip": [*ON_GPU, gpu.sign_of_doubles],
    "iree-metal": ON_VULKAN,
    "pjrt": XLA,
    "tpu": [
        tpu.rounding_of_doubles,
        tpu.running_fold_of_doubles,
        tpu.double_fourier_transform,
        tpu.select_and_scatter_by_definition,
        *XLA,
    ],
}
"""For each target the cures it needs ("chlo": MLIR's own expansion of that dialect). Each goes over
the whole module once, in this order: it sees
what those before it built, and never what it built itself."""


_ByName = dict[str, list[tuple[int, Operation]]]


@register_pass
@dataclass
class Legalize(Pass):
    """Leaves a module that `target` compiles, and that means on it what StableHLO says it means,
    as far as the target's defects are known. Types of functions stay as they are.
    """

    name: ClassVar[str] = "legalize"
    target: str = "iree-cpu"

    def run(self, module: Module) -> None:
        if self.target not in CURES:
            raise PassError(
                f"legalize: unknown target {self.target!r}; expected one of {', '.join(CURES)}"
            )
        named: _ByName | None = None
        for cure in CURES[self.target]:
            if named is None:
                named = _by_name(module)
            matching = [found for name in cure.operations for found in named.get(name, ())]
            # One that is replaced takes what is inside it along: that has its turn before.
            in_order = sorted(matching, key=lambda found: found[0])
            applied = [cure.apply(operation) for _, operation in in_order]
            if any(applied):
                named = None


def _by_name(module: Module) -> _ByName:
    """The operations of a module with their places, each after those inside it."""
    named: _ByName = {}
    for place, operation in enumerate(nested(module.operation)):
        named.setdefault(operation.name, []).append((place, operation))
    return named
