"""Triangular matrices, against NumPy's general solver and plain elimination."""

import numpy as np
from tests.differential.cases.cases_complex import c128
from tests.differential.harness import Case, Operand, f64

from irax_compiler.ops.linalg.triangular import Cholesky, TriangularSolve


def positive(*extents: int, dtype: str = "f8") -> Operand:
    """Positive definite matrices."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        a = rng.standard_normal(extents)
        if dtype[0] == "c":
            a = a + 1j * rng.standard_normal(extents)
        return a @ np.conj(np.swapaxes(a, -1, -2)) + extents[-1] * np.eye(extents[-1])

    return Operand(extents, np.dtype(dtype), draw)


def eliminated(a: np.ndarray) -> np.ndarray:
    """The lower factor, column by column."""
    n = a.shape[-1]
    a, factor = a.copy(), np.zeros(a.shape, np.result_type(a, float))
    for j in range(n):
        column = a[..., :, j] / np.sqrt(a[..., j, j])[..., None]
        column[..., :j] = 0
        factor[..., :, j] = column
        a = a - column[..., :, None] * np.conj(column[..., None, :])
    return factor


def upper(a: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(eliminated(np.conj(np.swapaxes(a, -1, -2))), -1, -2))


def matrix(n: int, *batch: int, dtype: str = "f8") -> Operand:
    """Matrices whose triangles are well conditioned."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        a = rng.uniform(-1, 1, (*batch, n, n))
        if dtype[0] == "c":
            a = a + 1j * rng.uniform(-1, 1, (*batch, n, n))
        return a + 3 * np.eye(n)

    return Operand((*batch, n, n), np.dtype(dtype), draw)


def solve(name: str, op: TriangularSolve, a: Operand, b: Operand, **options) -> Case:
    def reference(a, b):
        a = np.tril(a) if op.lower else np.triu(a)
        if op.unit_diagonal:
            n = a.shape[-1]
            a = np.where(np.eye(n, dtype=bool), 1, a)
        if op.transpose_a != "NO_TRANSPOSE":
            a = np.swapaxes(a, -1, -2)
        if op.transpose_a == "ADJOINT":
            a = np.conj(a)
        if op.left_side:
            return np.linalg.solve(a, b)
        turned = np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2))
        return np.swapaxes(turned, -1, -2)

    return Case(name, op, [a, b], reference, tolerance=1e-4 if a.dtype.itemsize == 4 else 1e-12)


NO, TRANSPOSE, ADJOINT = "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"

CASES = [
    Case("cholesky", Cholesky(True), [positive(4, 4)], eliminated),
    Case("cholesky-batch", Cholesky(True), [positive(2, 3, 3)], eliminated),
    Case("cholesky-upper", Cholesky(False), [positive(3, 3)], upper),
    Case("cholesky-one", Cholesky(True), [positive(1, 1)], eliminated),
    Case("cholesky-none", Cholesky(True), [f64(2, 0, 0)], eliminated),
    Case("cholesky-complex", Cholesky(True), [positive(3, 3, dtype="c16")], eliminated),
    Case("cholesky-c64", Cholesky(True), [positive(3, 3, dtype="c8")], eliminated, tolerance=1e-4),
    Case(
        "cholesky-f32", Cholesky(True), [positive(40, 40, dtype="f4")], eliminated, tolerance=1e-4
    ),
    Case(
        "cholesky-blocks", Cholesky(True), [positive(70, 70)], eliminated, differentiable=False,
        tolerance=1e-12,
    ),
    Case("cholesky-many", Cholesky(True), [positive(40, 3, 3)], eliminated, differentiable=False),
    solve("solve", TriangularSolve(True, True, False, NO), matrix(4), f64(4, 2)),
    solve("solve-many", TriangularSolve(True, False, False, NO), matrix(3, 40), f64(40, 3, 1)),
    solve("solve-upper", TriangularSolve(True, False, False, NO), matrix(4), f64(4, 2)),
    solve("solve-unit", TriangularSolve(True, True, True, NO), matrix(3), f64(3, 2)),
    solve("solve-unit-upper", TriangularSolve(True, False, True, NO), matrix(3), f64(3, 2)),
    solve("solve-transposed", TriangularSolve(True, True, False, TRANSPOSE), matrix(3), f64(3, 2)),
    solve("solve-right", TriangularSolve(False, True, False, NO), matrix(3), f64(2, 3)),
    solve(
        "solve-right-transposed", TriangularSolve(False, False, True, TRANSPOSE), matrix(3),
        f64(2, 3),
    ),
    solve("solve-batch", TriangularSolve(True, True, False, NO), matrix(3, 2), f64(2, 3, 1)),
    solve(
        "solve-adjoint", TriangularSolve(True, True, False, ADJOINT), matrix(3, dtype="c16"),
        c128(3, 2),
    ),
    solve(
        "solve-right-adjoint", TriangularSolve(False, False, False, ADJOINT),
        matrix(3, dtype="c16"), c128(2, 3),
    ),
    solve("solve-nothing", TriangularSolve(True, True, False, NO), matrix(3), f64(3, 0)),
]  # fmt: skip
