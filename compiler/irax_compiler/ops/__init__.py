"""All ops that irax knows, one family per file.

Families refer to each other: the transpose of a broadcast is a reduction. So a family imports
others as modules, and imports single names only from `elementwise`, which imports no other family.
"""

from irax_compiler.ops import (
    barrier,
    bitwise,
    callback,
    collective,
    comparison,
    composite,
    computation,
    conversion,
    convolution,
    dot,
    elementwise,
    elementwise_map,
    fft,
    foreign,
    marks,
    random_bits,
    shape,
    structured,
    synonyms,
)
from irax_compiler.ops.control_flow import (
    branches,
    checkpoint,
    custom_batching,
    custom_rules,
    deferred_rules,
    implicit,
    scan,
    while_loops,
)
from irax_compiler.ops.indexing import (
    dynamic_slices,
    gather,
    scatter,
    select_and_scatter,
)
from irax_compiler.ops.linalg import eigen, householder, lapack, lu, matrices, spectral, triangular
from irax_compiler.ops.reductions import (
    batch_norm,
    cumulative,
    reduce,
    reduce_window,
    variadic_reduce,
)
from irax_compiler.ops.sorting import sort, top_k
from irax_compiler.ops.special import (
    bessel,
    beta,
    chlo_functions,
    gamma,
    hypergeometric,
    integrals,
    normal,
)
