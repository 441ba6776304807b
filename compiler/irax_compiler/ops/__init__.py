"""All ops that irax knows, one family per file.

Families use each other in their rules, and imports go one way: `shape`, `comparison`, `slicing` and
`elementwise` are below the others. Where two ops are made of each other (the transpose of a
broadcast is a sum), the builder of one is in a file below both, such as `reductions/building.py`.
"""

from irax_compiler.ops import (
    barrier,
    bitcast,
    bitwise,
    callback,
    clamp,
    collective,
    comparison,
    composite,
    computation,
    conversion,
    convolution,
    dimension,
    dot,
    elementwise,
    elementwise_map,
    fft,
    float_bits,
    foreign,
    foreign_function,
    marks,
    memory_kinds,
    own,
    parts,
    random_bits,
    shape,
    slicing,
    structured,
    synonyms,
    varying,
)
from irax_compiler.ops.control_flow import (
    branches,
    checkpoint,
    custom_batching,
    custom_rules,
    deferred_rules,
    implicit,
    linear_calls,
    scan,
    shard_map,
    user_primitives,
    while_loops,
)
from irax_compiler.ops.indexing import (
    dynamic_slices,
    gather_scatter,
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
    zeta,
)

own.note()
