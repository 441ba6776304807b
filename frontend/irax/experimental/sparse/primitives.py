"""Primitives of sparse operations under JAX's names, for libraries that bind them.

To bind one computes it by the function of sparse arrays that it belongs to, on arrays of JAX's
order: the values and then their places. Traces hold the operations of that function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import irax.numpy as jnp
from irax.experimental.sparse import bcoo, bcsr, layouts, matrices, products, structure
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.bcsr import BCSR
from irax.experimental.sparse.matrices import COO, CSR
from irax.extend.primitive import Primitive


class SparseInfo(NamedTuple):
    """The shape of a sparse array, and what is known of its places."""

    shape: tuple[int, ...]
    indices_sorted: bool = False
    unique_indices: bool = False


class COOInfo(NamedTuple):
    """The shape of a matrix in COO's form, and the order of its places."""

    shape: tuple[int, ...]
    rows_sorted: bool = False
    cols_sorted: bool = False


class SparsePrimitive(Primitive):
    """The primitive of a function of sparse arrays."""

    def __init__(self, name: str, function: Callable[..., Any], multiple_results: bool) -> None:
        super().__init__(name)
        self.multiple_results: bool = multiple_results
        self.def_impl(function)

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the function to arrays."""
        return self.impl(*args, **params)


PRIMITIVES: dict[str, SparsePrimitive] = {}
"""The primitives by their names as attributes: `coo_todense_p`."""

_Function = Callable[..., Any]


def _primitive(function: _Function) -> _Function:
    """Decorator: the function is that of a primitive of its name; a list of results is several."""
    name = function.__name__.removeprefix("_")
    has_several = function.__annotations__["return"] == "list[Any]"
    PRIMITIVES[f"{name}_p"] = SparsePrimitive(name, function, has_several)
    return function


def _bcoo(data: Any, indices: Any, spinfo: Any) -> BCOO:
    told = {"indices_sorted": spinfo.indices_sorted, "unique_indices": spinfo.unique_indices}
    return BCOO((data, indices), shape=tuple(spinfo.shape), **told)


def _parts(x: BCOO) -> list[Any]:
    return [x.data, x.indices]


@_primitive
def _todense(*bufs: Any, tree: Any) -> Any:
    return tree.unflatten(bufs).todense()


@_primitive
def _coo_fromdense(mat: Any, *, nse: int, index_dtype: Any) -> list[Any]:
    found = matrices.coo_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return [found.data, found.row, found.col]


@_primitive
def _coo_todense(data: Any, row: Any, col: Any, *, spinfo: Any) -> Any:
    return COO((data, row, col), shape=spinfo.shape).todense()


@_primitive
def _coo_matvec(data: Any, row: Any, col: Any, v: Any, *, spinfo: Any, transpose: bool) -> Any:
    return matrices.coo_matvec(COO((data, row, col), shape=spinfo.shape), v, transpose)


@_primitive
def _coo_matmat(data: Any, row: Any, col: Any, B: Any, *, spinfo: Any, transpose: bool) -> Any:
    return matrices.coo_matmat(COO((data, row, col), shape=spinfo.shape), B, transpose=transpose)


@_primitive
def _csr_fromdense(mat: Any, *, nse: int, index_dtype: Any) -> list[Any]:
    found = matrices.csr_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return [found.data, found.indices, found.indptr]


@_primitive
def _csr_todense(data: Any, indices: Any, indptr: Any, *, shape: tuple[int, ...]) -> Any:
    return CSR((data, indices, indptr), shape=shape).todense()


@_primitive
def _csr_matvec(
    data: Any, indices: Any, indptr: Any, v: Any, *, shape: tuple[int, ...], transpose: bool
) -> Any:
    return matrices.csr_matvec(CSR((data, indices, indptr), shape=shape), v, transpose)


@_primitive
def _csr_matmat(
    data: Any, indices: Any, indptr: Any, B: Any, *, shape: tuple[int, ...], transpose: bool
) -> Any:
    matrix = CSR((data, indices, indptr), shape=shape)
    return matrices.csr_matmat(matrix, B, transpose=transpose)


@_primitive
def _bcoo_fromdense(
    mat: Any, *, nse: int, n_batch: int, n_dense: int, index_dtype: Any
) -> list[Any]:
    options = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return _parts(bcoo.bcoo_fromdense(mat, nse=nse, **options))


@_primitive
def _bcoo_todense(data: Any, indices: Any, *, spinfo: Any) -> Any:
    return _bcoo(data, indices, spinfo).todense()


@_primitive
def _bcoo_extract(indices: Any, arr: Any, *, assume_unique: bool) -> Any:
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    data = jnp.zeros((*indices.shape[:-1], *arr.shape[n_batch + n_sparse :]), arr.dtype)
    pattern = BCOO((data, indices), shape=arr.shape)
    return bcoo.bcoo_extract(pattern, arr, assume_unique=assume_unique).data


@_primitive
def _bcoo_sort_indices(*bufs: Any, spinfo: Any) -> list[Any]:
    data, indices = bufs
    return _parts(layouts.bcoo_sort_indices(_bcoo(data, indices, spinfo)))


@_primitive
def _bcoo_sum_duplicates(*bufs: Any, spinfo: Any, nse: int | None) -> list[Any]:
    data, indices = bufs
    return _parts(layouts.bcoo_sum_duplicates(_bcoo(data, indices, spinfo), nse))


@_primitive
def _bcoo_transpose(
    data: Any, indices: Any, *, permutation: tuple[int, ...], spinfo: Any
) -> list[Any]:
    array = _bcoo(data, indices, spinfo)
    return _parts(structure.bcoo_transpose(array, permutation=permutation))


@_primitive
def _bcoo_dot_general(
    lhs_data: Any,
    lhs_indices: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any,
    lhs_spinfo: Any,
) -> Any:
    return products.bcoo_dot_general(
        _bcoo(lhs_data, lhs_indices, lhs_spinfo),
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )


@_primitive
def _bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> Any:
    return products.bcoo_dot_general_sampled(A, B, indices, dimension_numbers=dimension_numbers)


@_primitive
def _bcoo_spdot_general(
    lhs_data: Any,
    lhs_indices: Any,
    rhs_data: Any,
    rhs_indices: Any,
    *,
    lhs_spinfo: Any,
    rhs_spinfo: Any,
    dimension_numbers: Any,
    preferred_element_type: Any,
) -> list[Any]:
    found: Any = products.bcoo_dot_general(
        _bcoo(lhs_data, lhs_indices, lhs_spinfo),
        _bcoo(rhs_data, rhs_indices, rhs_spinfo),
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )
    return _parts(found)


@_primitive
def _bcsr_fromdense(
    mat: Any, *, nse: int, n_batch: int, n_dense: int, index_dtype: Any
) -> list[Any]:
    options = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    found = bcsr.bcsr_fromdense(mat, nse=nse, **options)
    return [found.data, found.indices, found.indptr]


@_primitive
def _bcsr_todense(data: Any, indices: Any, indptr: Any, *, spinfo: Any) -> Any:
    return BCSR((data, indices, indptr), shape=spinfo.shape).todense()


@_primitive
def _bcsr_extract(indices: Any, indptr: Any, arr: Any) -> Any:
    return bcsr.bcsr_extract(indices, indptr, arr)


@_primitive
def _bcsr_dot_general(
    lhs_data: Any,
    lhs_indices: Any,
    lhs_indptr: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any,
    lhs_spinfo: Any,
) -> Any:
    return bcsr.bcsr_dot_general(
        BCSR((lhs_data, lhs_indices, lhs_indptr), shape=lhs_spinfo.shape),
        rhs,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )
