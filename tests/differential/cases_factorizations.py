"""Factorizations: what is unique of them, against NumPy's solvers; derivatives by differences."""

import numpy as np
from tests.differential.cases_complex import c128
from tests.differential.cases_linalg import positive
from tests.differential.harness import Case, Operand, f64, of

from irax_compiler.ops.factorizations import Eigh, Lu, Qr, Svd


def lu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Plain elimination with the largest pivot, row by row."""
    a = x.copy()
    *_, m, n = a.shape
    pivots = np.empty((*a.shape[:-2], min(m, n)), np.int32)
    order = np.empty(a.shape[:-1], np.int32)
    for place in np.ndindex(*a.shape[:-2]):
        matrix, rows = a[place], np.arange(m)
        for k in range(min(m, n)):
            p = k + int(np.argmax(np.abs(matrix[k:, k])))
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


CASES = [
    Case("lu", Lu(), [f64(4, 4)], lu, tolerance=1e-12),
    Case("lu-batch", Lu(), [f64(2, 3, 3)], lu, tolerance=1e-12),
    Case("lu-tall", Lu(), [f64(5, 3)], lu, tolerance=1e-12),
    Case("lu-wide", Lu(), [f64(3, 5)], lu, tolerance=1e-12),
    Case("lu-complex", Lu(), [c128(3, 3)], lu, tolerance=1e-12),
    Case("lu-f32", Lu(), [of("f4", 6, 6)], lu, tolerance=1e-3),
    Case("qr", Qr(), [f64(4, 4)], np.linalg.qr, tolerance=1e-12),
    Case("qr-tall", Qr(), [f64(2, 5, 3)], np.linalg.qr, tolerance=1e-12),
    Case("qr-complex", Qr(), [c128(4, 3)], np.linalg.qr, tolerance=1e-12),
    Case("eigh", Eigh(), [apart(4, 4)], lambda x: np.linalg.eigh(x)[::-1], tolerance=1e-12),
    Case("eigh-odd", Eigh(), [apart(3, 3)], lambda x: np.linalg.eigh(x)[::-1], tolerance=1e-12),
    Case("svd", Svd(), [f64(4, 4)], lambda x: np.linalg.svd(x, False), tolerance=1e-12),
    Case("svd-tall", Svd(), [f64(5, 3)], lambda x: np.linalg.svd(x, False), tolerance=1e-12),
    Case("svd-wide", Svd(), [f64(2, 3, 5)], lambda x: np.linalg.svd(x, False), tolerance=1e-12),
]
