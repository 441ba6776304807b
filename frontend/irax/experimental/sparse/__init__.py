"""Sparse arrays: `BCOO`, in coordinate form, `BCSR`, by compressed rows, and functions of them.

x = BCOO.fromdense(jnp.eye(3))
x @ v, x.T, x.sum(), x.todense(), sparsify(jnp.sin)(x)
"""

from typing import Any as _Any

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.experimental.sparse import linalg, methods
from irax.experimental.sparse.arithmetic import todense
from irax.experimental.sparse.bcoo import (
    BCOO,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_todense,
)
from irax.experimental.sparse.bcsr import (
    BCSR,
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
)
from irax.experimental.sparse.derivatives import (
    grad,
    jacfwd,
    jacobian,
    jacrev,
    value_and_grad,
)
from irax.experimental.sparse.forms import (
    JAXSparse,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
)
from irax.experimental.sparse.layouts import (
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_update_layout,
)
from irax.experimental.sparse.making import empty, eye, random_bcoo
from irax.experimental.sparse.matrices import (
    COO,
    CSC,
    CSR,
    coo_fromdense,
    coo_matmat,
    coo_matvec,
    coo_todense,
    csr_fromdense,
    csr_matmat,
    csr_matvec,
    csr_todense,
)
from irax.experimental.sparse.parts import (
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_slice,
)
from irax.experimental.sparse.products import (
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
)
from irax.experimental.sparse.sparsify import sparsify
from irax.experimental.sparse.structure import (
    bcoo_broadcast_in_dim,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_squeeze,
    bcoo_transpose,
)
from irax.experimental.sparse.windows import bcoo_conv_general_dilated, bcoo_gather
from irax_compiler.importing import import_module as _import_module

methods.attach()

__all__ = [
    "BCOO",
    "BCSR",
    "COO",
    "CSC",
    "CSR",
    "JAXSparse",
    "SparseEfficiencyError",
    "SparseEfficiencyWarning",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_conv_general_dilated",
    "bcoo_dot_general",
    "bcoo_dot_general_sampled",
    "bcoo_dynamic_slice",
    "bcoo_extract",
    "bcoo_fromdense",
    "bcoo_gather",
    "bcoo_multiply_dense",
    "bcoo_multiply_sparse",
    "bcoo_reduce_sum",
    "bcoo_reshape",
    "bcoo_rev",
    "bcoo_slice",
    "bcoo_sort_indices",
    "bcoo_squeeze",
    "bcoo_sum_duplicates",
    "bcoo_todense",
    "bcoo_transpose",
    "bcoo_update_layout",
    "bcsr_broadcast_in_dim",
    "bcsr_concatenate",
    "bcsr_dot_general",
    "bcsr_extract",
    "bcsr_fromdense",
    "bcsr_sum_duplicates",
    "bcsr_todense",
    "coo_fromdense",
    "coo_matmat",
    "coo_matvec",
    "coo_todense",
    "csr_fromdense",
    "csr_matmat",
    "csr_matvec",
    "csr_todense",
    "empty",
    "eye",
    "grad",
    "jacfwd",
    "jacobian",
    "jacrev",
    "linalg",
    "random_bcoo",
    "sparsify",
    "todense",
    "value_and_grad",
]

_absent: _GetAttr = _refuse_names(__name__)


def __getattr__(name: str) -> _Any:
    """Import primitives when they are first used."""
    if not name.endswith("_p"):
        return _absent(name)
    primitives = _import_module(f"{__name__}.primitives").PRIMITIVES
    return primitives[name] if name in primitives else _absent(name)
