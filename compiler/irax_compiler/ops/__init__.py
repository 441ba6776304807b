"""Every op irax knows, a family a file.

Families refer to each other (the transpose of a broadcast is a reduction), so a family imports the
others as modules; names are taken only out of `elementwise`, by families that it does not know.
"""

from irax_compiler.ops import (  # importing a family registers its ops
    barrier,
    batch_norm,
    bessel,
    bitwise,
    branches,
    checkpoint,
    comparison,
    composite,
    computation,
    control_flow,
    conversion,
    convolution,
    custom_rules,
    dot,
    dynamic,
    elementwise,
    factorizations,
    fft,
    fold,
    gather,
    linalg,
    implicit,
    loops,
    mapped,
    marks,
    random_bits,
    reduce_window,
    reduction,
    scan,
    scatter,
    scatter_by,
    select_and_scatter,
    shape,
    sort,
    sort_by,
    special,
)
