"""Floating-point operations of factorizations of matrices, as LAPACK's algorithms take them, by the
leading terms of G. H. Golub and C. F. Van Loan, Matrix Computations, 4th edition, 2013.

A factorization of complex numbers counts as one of real numbers, as products of matrices do.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from irax_compiler.mlir import Operation, shape_of


def of_matrices(operation: Operation, count: Callable[[int, int], float]) -> float:
    """Return the operations for all matrices of the first operand, by those for one, which are a
    function of its numbers of rows and columns.
    """
    *batch, m, n = shape_of(operation.operands[0])
    return math.prod(batch) * count(m, n)


def lu(m: int, n: int) -> float:
    """Return the operations of an LU factorization.

    >>> lu(300, 300) == 2 * 300**3 / 3
    True
    """
    k = min(m, n)
    return 2 * m * n * k - (m + n) * k**2 + 2 * k**3 / 3


def reflections(m: int, n: int) -> float:
    """Return the operations of a QR factorization that leaves Q as reflections.

    >>> reflections(300, 300) == 4 * 300**3 / 3
    True
    """
    return 2 * lu(m, n)


def product_of_reflections(m: int, n: int, k: int) -> float:
    """Return the operations of the first n columns of a product of k reflections."""
    return 4 * m * n * k - 2 * (m + n) * k**2 + 4 * k**3 / 3


def hessenberg(n: int) -> float:
    """Return the operations of a reduction to Hessenberg's form, which leaves Q as reflections."""
    return 10 * n**3 / 3


def eigh(n: int, vectors: bool) -> float:
    """Return the operations of the eigenvalues of a Hermitian matrix."""
    return 9 * n**3 if vectors else 4 * n**3 / 3


def eig(n: int, vectors: bool) -> float:
    """Return the operations of the eigenvalues, or Schur's form, of a square matrix."""
    return (25 if vectors else 10) * n**3


def svd(m: int, n: int, vectors: bool, full: bool) -> float:
    """Return the operations of the singular values of a matrix."""
    m, n = max(m, n), min(m, n)
    if not vectors:
        return 4 * m * n**2 - 4 * n**3 / 3
    if full:
        return 4 * m**2 * n + 8 * m * n**2 + 9 * n**3
    return 14 * m * n**2 + 8 * n**3
