"""Factorizations: what is unique of them, against NumPy's solvers; derivatives by differences."""

from functools import partial

import numpy as np
import scipy.linalg
from tests.differential.cases.cases_complex import c128
from tests.differential.cases.cases_linalg import matrix, positive
from tests.differential.harness import Case, Operand, f64, of

from irax_compiler.ops.linalg.eigen import Eig, Schur
from irax_compiler.ops.linalg.householder import (
    Hessenberg,
    HouseholderProduct,
    HouseholderQr,
    Qr,
    QrOrder,
)
from irax_compiler.ops.linalg.lu import Lu, Solve
from irax_compiler.ops.linalg.spectral import Eigh, Svd


def lu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plain elimination with the largest pivot, row by row."""
    a = x.copy()
    *_, m, n = a.shape
    pivots = np.empty((*a.shape[:-2], min(m, n)), np.int32)
    order = np.empty(a.shape[:-1], np.int32)
    for place in np.ndindex(*a.shape[:-2]):
        matrix, rows = a[place], np.arange(m)
        for k in range(min(m, n)):
            sizes = np.abs(matrix[k:, k].real) + np.abs(matrix[k:, k].imag)
            p = k + int(np.argmax(sizes))
            pivots[place][k] = p
            matrix[[k, p]], rows[[k, p]] = matrix[[p, k]], rows[[p, k]]
            matrix[k + 1 :, k] /= matrix[k, k]
            matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
        order[place] = rows
    return a, pivots, order


def apart(*extents: int, dtype: str = "f8") -> Operand:
    """Hermitian matrices whose eigenvalues lie apart."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        a = positive(*extents, dtype=dtype).draw(rng) / extents[-1]
        return a + np.diag(3.0 * np.arange(extents[-1]))

    return Operand(extents, np.dtype(dtype), draw)


def packed(function: str):
    """LAPACK's own, of one matrix."""

    def reference(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = scipy.linalg.lapack.get_lapack_funcs(function, dtype=x.dtype)(x)
        return found[0], found[1]

    return reference


def product(packed: np.ndarray, taus: np.ndarray) -> np.ndarray:
    """Reflections multiplied out, one by one."""
    m, n = packed.shape
    result = np.eye(m, dtype=packed.dtype)
    for k, tau in enumerate(taus):
        v = packed[:, k].copy()
        v[:k], v[k] = 0, 1
        result = result @ (np.eye(m) - tau * np.outer(v, np.conj(v)))
    return result[:, :n]


def eig(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = np.linalg.eig(x)
    return values.astype(complex), vectors.astype(complex)


def schur(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pairs = [scipy.linalg.schur(matrix) for matrix in x.reshape(-1, *x.shape[-2:])]
    return tuple(np.stack(part).reshape(x.shape) for part in zip(*pairs, strict=True))


def order(x: np.ndarray) -> np.ndarray:
    return scipy.linalg.qr(x, pivoting=True)[2]


QR, SVD, EIGH = Qr(full=False), Svd(full=False, vectors=True), Eigh(vectors=True)
complete = partial(np.linalg.qr, mode="complete")
thin = partial(np.linalg.svd, full_matrices=False)
values = partial(np.linalg.svd, compute_uv=False)

NOT_DIFFERENTIABLE = {"irax.qr_order", "irax.schur"}
CASES = [
    Case("lu", Lu(), [f64(4, 4)], lu, tolerance=1e-12),
    Case("lu-batch", Lu(), [f64(2, 3, 3)], lu, tolerance=1e-12),
    Case("lu-many", Lu(), [f64(60, 3, 3)], lu, tolerance=1e-12, differentiable=False),
    Case("lu-tall", Lu(), [f64(5, 3)], lu, tolerance=1e-12),
    Case("lu-wide", Lu(), [f64(3, 5)], lu, tolerance=1e-12),
    Case("lu-complex", Lu(), [c128(3, 3)], lu, tolerance=1e-12),
    Case("lu-f32", Lu(), [of("f4", 6, 6)], lu, tolerance=1e-3),
    Case("solve", Solve(), [matrix(4), f64(4, 2)], np.linalg.solve, tolerance=1e-12),
    Case("solve-batch", Solve(), [matrix(3, 2), f64(2, 3, 1)], np.linalg.solve, tolerance=1e-12),
    Case(
        "solve-complex", Solve(), [matrix(3, dtype="c16"), c128(3, 3)], np.linalg.solve,
        tolerance=1e-12,
    ),
    Case("qr", QR, [f64(4, 4)], np.linalg.qr, tolerance=1e-12),
    Case("qr-tall", QR, [f64(2, 5, 3)], np.linalg.qr, tolerance=1e-12),
    Case("qr-complex", QR, [c128(4, 3)], np.linalg.qr, tolerance=1e-12),
    Case("qr-full", Qr(full=True), [f64(2, 5, 3)], complete, tolerance=1e-12, differentiable=False),
    Case("qr-full-square", Qr(full=True), [f64(3, 3)], complete, tolerance=1e-12),
    Case("qr_order", QrOrder(), [f64(4, 6)], order, differentiable=False),
    Case("qr_order-tall", QrOrder(), [c128(6, 4)], order, differentiable=False),
    Case("householder_qr", HouseholderQr(), [f64(5, 3)], packed("geqrf"), tolerance=1e-12),
    Case("householder_qr-wide", HouseholderQr(), [f64(3, 4)], packed("geqrf"), tolerance=1e-12),
    Case("householder_qr-complex", HouseholderQr(), [c128(3, 3)], packed("geqrf"), tolerance=1e-12),
    Case("hessenberg", Hessenberg(), [f64(4, 4)], packed("gehrd"), tolerance=1e-12),
    Case("hessenberg-complex", Hessenberg(), [c128(3, 3)], packed("gehrd"), tolerance=1e-12),
    Case(
        "householder_product", HouseholderProduct(), [f64(5, 3), f64(3)], product, tolerance=1e-12
    ),
    Case(
        "householder_product-complex", HouseholderProduct(), [c128(4, 4), c128(2)], product,
        tolerance=1e-12,
    ),
    Case("eigh", EIGH, [apart(4, 4)], lambda x: np.linalg.eigh(x)[::-1], tolerance=1e-12),
    Case("eigh-odd", EIGH, [apart(3, 3)], lambda x: np.linalg.eigh(x)[::-1], tolerance=1e-12),
    Case("eigh-values", Eigh(vectors=False), [apart(4, 4)], np.linalg.eigvalsh, tolerance=1e-12),
    Case("svd", SVD, [f64(4, 4)], thin, tolerance=1e-12),
    Case("svd-tall", SVD, [f64(5, 3)], thin, tolerance=1e-12),
    Case("svd-wide", SVD, [f64(2, 3, 5)], thin, tolerance=1e-12),
    Case("svd-values", Svd(full=False, vectors=False), [f64(2, 3, 5)], values, tolerance=1e-12),
    Case(
        "svd-full", Svd(full=True, vectors=True), [f64(5, 3)], np.linalg.svd, tolerance=1e-12,
        differentiable=False,
    ),
    Case("eig", Eig(vectors=True), [f64(4, 4)], eig, tolerance=1e-12),
    Case("eig-batch", Eig(vectors=True), [f64(2, 3, 3)], eig, tolerance=1e-12),
    Case("eig-complex", Eig(vectors=True), [c128(3, 3)], eig, tolerance=1e-12),
    Case(
        "eig-values", Eig(vectors=False), [f64(3, 3)], lambda x: np.linalg.eigvals(x).astype("c16"),
        tolerance=1e-12,
    ),
    Case("schur", Schur(), [f64(2, 4, 4)], schur, tolerance=1e-12, differentiable=False),
    Case("schur-complex", Schur(), [c128(3, 3)], schur, tolerance=1e-12, differentiable=False),
]  # fmt: skip
