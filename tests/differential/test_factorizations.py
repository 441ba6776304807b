"""The decompositions of factorizations, which other tools and devices run, on the evaluator."""

import numpy as np
import pytest
from tests.differential import harness
from tests.differential.cases.cases_factorizations import lu

from irax_compiler import mlir
from irax_compiler.ops.composite import ComposedOp
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.linalg.eigen import Eig, Schur
from irax_compiler.ops.linalg.householder import Qr
from irax_compiler.ops.linalg.lu import Lu
from irax_compiler.ops.linalg.spectral import Eigh, Svd
from irax_compiler.ops.linalg.triangular import Cholesky, TriangularSolve
from irax_compiler.passes.core import nested
from irax_compiler.passes.legalize.iree import triangular
from irax_compiler.passes.rewriting import rewrite_in_order
from irax_compiler.pipeline import run_pipeline

TOLERANCE = {t: 200 * harness.epsilon(np.dtype(t)) for t in ("f4", "f8", "c8", "c16")}
SHAPES = [(1, 1), (2, 2), (5, 5), (2, 4, 4), (7, 4)]


def decomposed(op: ComposedOp, x: np.ndarray) -> list[np.ndarray]:
    module = mlir.new_module()
    types = [mlir.tensor_type(x.shape, x.dtype)]
    function = mlir.new_function(module, "main", types, public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = op.build(mlir.arguments(function))
    mlir.finish_function(function, results)
    run_pipeline(module, "decompose")
    return Evaluator(module)("main", [x])


def drawn(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(np.swapaxes(x, -1, -2))


def close(found: np.ndarray, expected: np.ndarray, dtype: str) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=10 * TOLERANCE[dtype])


def assert_orthonormal(x: np.ndarray, dtype: str) -> None:
    products = adjoint(x) @ x
    close(products, np.broadcast_to(np.eye(x.shape[-1]), products.shape), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", [*SHAPES, (4, 7)])
def test_lu(shape: tuple[int, ...], dtype: str) -> None:
    x = drawn(shape, dtype)
    for found, expected in zip(decomposed(Lu(), x), lu(x), strict=True):
        close(found, expected, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape: tuple[int, ...], dtype: str) -> None:
    x = drawn(shape, dtype)
    q, r = decomposed(Qr(full=False), x)
    close(q @ r, x, dtype)
    assert_orthonormal(q, dtype)
    np.testing.assert_array_equal(r, np.triu(r))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_eigh(n: int, dtype: str) -> None:
    x = drawn((2, n, n), dtype)
    x = x + adjoint(x)
    vectors, values = decomposed(Eigh(vectors=True), x)
    close(values, np.linalg.eigvalsh(x), dtype)
    assert_orthonormal(vectors, dtype)
    close(x @ vectors, vectors * values[..., None, :], dtype)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("shape", [*SHAPES, (4, 7)])
def test_svd(shape: tuple[int, ...], dtype: str) -> None:
    x = drawn(shape, dtype)
    u, s, vh = decomposed(Svd(full=False, vectors=True), x)
    close(s, np.linalg.svd(x, compute_uv=False), dtype)
    close((u * s[..., None, :]) @ vh, x, dtype)
    assert_orthonormal(u, dtype)
    assert_orthonormal(adjoint(vh), dtype)


# ---- by blocks, where there is no library --------------------------------------------------------


def by_blocks(op: Op, *arrays: np.ndarray) -> np.ndarray:
    module = mlir.new_module()
    types = [mlir.tensor_type(x.shape, x.dtype) for x in arrays]
    function = mlir.new_function(module, "main", types, public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = op.build(mlir.arguments(function))
    mlir.finish_function(function, results)
    rewrite_in_order(function, [triangular.cholesky, triangular.triangular_solve])
    assert all(o.name != op.name for o in nested(function))
    return Evaluator(module)("main", arrays)[0]


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("n", [33, 96])
def test_cholesky_by_blocks(n: int, dtype: str) -> None:
    x = drawn((2, n, n), dtype)
    x = x @ adjoint(x) + n * np.eye(n)
    close(by_blocks(Cholesky(True), x), np.linalg.cholesky(x), dtype)


@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_solve_by_blocks(lower: bool, transpose: str) -> None:
    a, b = drawn((2, 70, 70), "c16") + 30 * np.eye(70), drawn((2, 70, 3), "c16")
    found = by_blocks(TriangularSolve(True, lower, False, transpose), a, b)
    a = np.tril(a) if lower else np.triu(a)
    close(found, np.linalg.solve(adjoint(a) if transpose == "ADJOINT" else a, b), "c16")


@pytest.mark.parametrize("op", [Eig(vectors=True), Schur()])
def test_what_no_other_device_has_is_refused_by_name(op: ComposedOp) -> None:
    with pytest.raises(UnsupportedOp, match=f"{op.name} .*this target has none"):
        decomposed(op, drawn((3, 3), "f8"))
