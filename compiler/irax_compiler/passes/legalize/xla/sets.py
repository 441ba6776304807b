"""The set of legalizations for XLA, in the order in which they are applied."""

from __future__ import annotations

from irax_compiler.passes.legalize.iree import definitions, products
from irax_compiler.passes.legalize.numerics import complex_functions, complex_numbers, integers
from irax_compiler.passes.legalize.xla import xla

XLA = (
    integers.constant_of_booleans,
    definitions.windows_of_empty_array,
    definitions.reduction_in_another_dtype,
    products.contraction_by_algorithm,
    products.reduction_of_one,
    xla.bitcast_of_booleans,
    complex_numbers.bitcast_of_complex,
    complex_functions.complex_cube_root,
    products.narrow_reduction,
    xla.windows_over_padded,
    products.narrow_windows,
    products.narrow_scatter,
    xla.scatter_into_scalar,
    xla.reversed_convolution,
)
"""The legalizations for XLA's compilers behind PJRT."""
