"""Vectors of matrices by SciPy's LAPACK, where it is installed: they have the signs that compiled
programs and JAX give them. NumPy's LAPACK chooses others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from irax_compiler.ops.scipy_modules import scipy_module

Array = np.ndarray[Any, Any]

MANY = 1024
"""The number of matrices beyond which NumPy's loop over them is worth other signs."""


def eigenvectors(x: Array) -> Sequence[Array]:
    """Return eigenvectors and eigenvalues of Hermitian matrices, of their lower triangles.

    Raises:
        LinAlgError: LAPACK gives up on one of them.
    """
    if not _is_lapacks(x):
        return np.linalg.eigh(x)[::-1]
    n, letter = x.shape[-1], x.dtype.char
    solve = _routine(f"{letter}heevd" if x.dtype.kind == "c" else f"{letter}syevd")

    def one(matrix: Array) -> tuple[Array, Array]:
        values, vectors, failed = solve(matrix, lower=1)
        _check(failed)
        return vectors, values

    return _each(one, x, [((n, n), x.dtype), ((n,), np.zeros((), x.dtype).real.dtype)])


def singular_vectors(x: Array, full: bool) -> Sequence[Array]:
    """Return U, the singular values and the adjoint of V: square if `full`, else as many vectors
    as values.

    Raises:
        LinAlgError: LAPACK gives up on one of them.
    """
    if not _is_lapacks(x):
        return np.linalg.svd(x, full)
    m, n = x.shape[-2:]
    k, solve = min(m, n), _routine(f"{x.dtype.char}gesdd")
    lengths = (m, n) if full else (k, k)

    def one(matrix: Array) -> tuple[Array, Array, Array]:
        u, values, vh, failed = solve(matrix, full_matrices=int(full))
        _check(failed)
        return u, values, vh

    real = np.zeros((), x.dtype).real.dtype
    results = [((m, lengths[0]), x.dtype), ((k,), real), ((lengths[1], n), x.dtype)]
    return _each(one, x, results)


def _is_lapacks(x: Array) -> bool:
    is_few = x.size > 0 and prod(x.shape[:-2]) <= MANY
    return is_few and x.dtype.char in "fdFD" and scipy_module("linalg.lapack") is not None


def _routine(name: str) -> Callable[..., Any]:
    letters = {"f": "s", "d": "d", "F": "c", "D": "z"}
    return getattr(scipy_module("linalg.lapack"), letters[name[0]] + name[1:])


def _check(failed: int) -> None:
    if failed:
        raise np.linalg.LinAlgError(f"LAPACK stopped with {failed}")


def _each(
    function: Callable[[Array], Sequence[Array]], x: Array, results: Sequence[tuple[Any, Any]]
) -> list[Array]:
    """Return the results of a function for each matrix of a batch."""
    batch = x.shape[:-2]
    found = [np.empty((*batch, *shape), dtype) for shape, dtype in results]
    for place in np.ndindex(batch):
        for array, part in zip(found, function(x[place]), strict=True):
            array[place] = part
    return found
