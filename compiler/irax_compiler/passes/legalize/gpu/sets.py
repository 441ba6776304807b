"""The sets of legalizations for GPUs, in the order in which they are applied."""

from __future__ import annotations

from irax_compiler.passes.legalize.gpu import gpu, sorting_networks, spirv, steps
from irax_compiler.passes.legalize.iree import (
    broadcasts,
    convolution_forms,
    cumulative_windows,
    fusion,
    moves,
    products,
    short_rows,
    small_windows,
    sorting,
    triangular,
)
from irax_compiler.passes.legalize.numerics import (
    exponentials,
    floats,
    fourier,
    logarithms,
    narrow_floats,
    powers,
    powers_in_single,
    remainders,
    trigonometry,
    trigonometry_of_doubles,
)
from irax_compiler.passes.legalize.sets import IREE, ON_HOST

_ON_CPU = (
    *ON_HOST,
    sorting.sort_of_short_rows,
    fourier.fourier_transform_of_long_real_rows,
    fourier.fourier_transform_without_kernel,
    convolution_forms.convolution_of_sequences,
    narrow_floats.smallest_normal_of_float8,
    narrow_floats.nan_of_float8,
    trigonometry_of_doubles.trigonometric_function_of_doubles,
    trigonometry.atan2_of_doubles,
    exponentials.exponential_of_doubles,
    exponentials.exponential_minus_one_by_vectors,
    exponentials.tanh_of_doubles,
    exponentials.logistic_of_doubles,
    logarithms.log_of_doubles,
    floats.rounding_by_addition,
    floats.clamp_by_choices,
    broadcasts.broadcast_of_columns,
    products.contraction_of_bfloat16,
    products.contraction_of_bytes,
    products.contraction_of_small_integers,
    products.contraction_with_vector,
    products.extremum_of_bfloat16,
    short_rows.reduction_of_broadcast_rows,
    short_rows.reduction_of_short_rows,
    short_rows.reduction_beside_short_rows,
    small_windows.small_windows,
    fusion.booleans_of_choice,
    fusion.scatter_of_own_elements,
    cumulative_windows.cumulative_by_vectors,
    moves.gather_by_vectors,
    moves.scatter_by_vectors,
    moves.reverse_by_vectors,
    moves.concatenate_by_vectors,
    moves.pad_by_vectors,
    triangular.triangular_solve_in_kernel,
    triangular.cholesky_in_kernel,
)

GPU = (
    fourier.fourier_transform,
    sorting_networks.sort_by_exchanges,
    *(legalization for legalization in IREE if legalization not in _ON_CPU),
    gpu.contraction_of_float8,
    gpu.float32_of_float8,
    gpu.float8_of_float32,
    gpu.reduction_of_complex,
    gpu.scatter_of_computed_updates,
    gpu.reduction_from_computed_init,
    gpu.slice_of_reduction,
    gpu.slice_with_constant,
    gpu.sort_by_any_order,
)
"""The legalizations that IREE needs for GPUs."""

SPIRV = (
    spirv.windows_of_complex,
    spirv.iota_of_narrow,
    spirv.remainder_of_signed,
    remainders.remainder_of_singles,
    powers.cube_root,
    spirv.unsigned_division,
    floats.log_plus_one_of_singles,
    exponentials.exponential_of_singles,
    exponentials.exponential_minus_one_of_singles,
    exponentials.logistic_of_singles,
    exponentials.tanh_of_singles,
    *(
        powers_in_single.power_of_singles if c is powers.power_of_floats else c
        for c in GPU
        if c is not powers.cube_root
    ),
    steps.reduction_in_parts,
    steps.contraction_in_parts,
    steps.convolution_in_parts,
    steps.window_in_parts,
    steps.scatter_in_parts,
    spirv.contraction_of_computed_operands,
    spirv.unfused_product,
    spirv.unfused_reduction,
    spirv.constant_of_complex,
    spirv.convert_of_booleans,
    spirv.select_of_complex,
    spirv.leading_zeros_of_narrow,
    spirv.extremum_of_zeros,
    steps.too_many_steps,
)
"""The legalizations that IREE needs for SPIR-V, which Vulkan and Metal run."""
