"""Linear algebra as JAX exports it for the CPU, in LAPACK's custom calls: values on the evaluator
and on IREE, and derivatives, against JAX's own. It needs JAX (`make oracle`).
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests import oracle

from irax_compiler import mlir
from irax_compiler.lowering import check, lower
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
jnp = jax.numpy
jlax = jax.lax.linalg
jsp = pytest.importorskip("jax.scipy.linalg")


def matrices(*shape: int, dtype: str = "f8") -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def square(x: Any) -> Any:
    return x @ jnp.conj(jnp.swapaxes(x, -1, -2)) + jnp.eye(x.shape[-1])


REAL, COMPLEX, BATCH, TALL = (
    matrices(4, 4),
    matrices(3, 3, dtype="c16"),
    matrices(2, 3, 3),
    matrices(4, 3),
)
DIFFERENTIABLE: dict[str, tuple[Any, ...]] = {
    "solve": (jnp.linalg.solve, REAL, matrices(4, 2)),
    "solve-complex": (jnp.linalg.solve, COMPLEX, COMPLEX[:, :2]),
    "inv": (jnp.linalg.inv, BATCH),
    "det": (jnp.linalg.det, REAL),
    "slogdet": (lambda x: jnp.linalg.slogdet(x)[1], BATCH),
    "cholesky": (lambda x: jnp.linalg.cholesky(square(x)), BATCH),
    "cholesky-upper": (lambda x: jsp.cholesky(square(x)), COMPLEX),
    "qr": (lambda x: jnp.linalg.qr(x), TALL),
    "qr-complex": (lambda x: jnp.linalg.qr(x), COMPLEX),
    "eigh": (jnp.linalg.eigh, BATCH),
    "eigvalsh": (jnp.linalg.eigvalsh, COMPLEX),
    "svd": (lambda x: jnp.linalg.svd(x, full_matrices=False), TALL.T),
    "svdvals": (jnp.linalg.svdvals, BATCH),
    "eigvals": (jnp.linalg.eigvals, COMPLEX),
    "triangular": (
        lambda a, b: jsp.solve_triangular(a, b, trans=1, unit_diagonal=True),
        REAL,
        matrices(4),
    ),
    "expm": (jsp.expm, REAL),
}
OTHERS: dict[str, tuple[Any, ...]] = {
    "qr-complete": (lambda x: jnp.linalg.qr(x, mode="complete"), TALL),
    "qr-pivoted": (lambda x: jlax.qr(x, pivoting=True), TALL),
    "eigvalsh-upper": (lambda x: jnp.linalg.eigvalsh(x, "U", symmetrize_input=False), REAL),
    "svd-full": (jnp.linalg.svd, TALL),
    "eig": (jnp.linalg.eig, REAL),
    "schur": (jsp.schur, REAL),
    "hessenberg": (jlax.hessenberg, COMPLEX),
    "tridiagonal": (jlax.tridiagonal, COMPLEX),
    "tridiagonal-upper": (lambda x: jlax.tridiagonal(x, lower=False), REAL),
    "ormqr": (lambda a, t, c: jlax.ormqr(a, t, c, transpose=True), TALL, matrices(3), TALL),
    "householder": (jlax.householder_product, COMPLEX, COMPLEX[0]),
}


@pytest.fixture(autouse=True)
def with_doubles() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def exported(f: Callable[..., Any], arguments: Any) -> tuple[mlir.Module, list[np.ndarray]]:
    """The module, and what JAX has as its results."""
    module = mlir.parse_module(jax.jit(f).lower(*arguments).as_text())
    return module, oracle.results(f, *arguments)


def assert_close(found: Any, expected: Any) -> None:
    for x, y in zip(found, expected, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


CASES = {**DIFFERENTIABLE, **OTHERS}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CASES)
def test_value(name: str) -> None:
    f, *arguments = CASES[name]
    module, expected = exported(f, arguments)
    check(module)
    assert_close(Evaluator(module)("main", arguments), expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["solve", "qr-complete", "eig"])
def test_on_iree(name: str) -> None:
    f, *arguments = CASES[name]
    module, expected = exported(f, arguments)
    program = cpu().load(CPU.compile_text(mlir.bytecode(lower(module))), "main")
    assert_close([b.numpy() for b in program([cpu().put(x) for x in arguments])], expected)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_reverse_mode(name: str) -> None:
    f, x, *others = DIFFERENTIABLE[name]
    module, results = exported(f, [x, *others])
    cotangents = [matrices(*r.shape, 1, dtype=r.dtype.str[1:])[..., 0] for r in results]
    run_pipeline(module, "vjp{func=main wrt=0}")
    *_, found = Evaluator(module)("main.vjp", [x, *others, *cotangents])
    _, pull = jax.vjp(lambda x: jax.tree_util.tree_leaves(f(x, *others)), x)
    (expected,) = pull([jnp.asarray(c) for c in cotangents])
    assert_close([found], [np.asarray(expected)])


def of_three_diagonals(x: Any) -> Any:
    return jlax.tridiagonal_solve(x[0], x[1], x[2], x)


@pytest.mark.parametrize(
    "f, message",
    [
        (lambda x: jlax.eig(x), "dgeev_ffi.*left eigenvectors: not supported"),
        # 0.12 writes it as a loop
        *([] if oracle.is_0_12() else [(of_three_diagonals, "dgtsv_ffi.*not supported")]),
    ],
)
def test_what_is_refused_is_named(f: Callable[..., Any], message: str) -> None:
    module, _ = exported(f, [REAL])
    with pytest.raises(UnsupportedOp, match=message):
        check(module)


def test_failure_is_nan() -> None:
    module, expected = exported(jnp.linalg.cholesky, [-np.eye(2)])
    assert np.isnan(expected[0]).any()
    assert_close(Evaluator(module)("main", [-np.eye(2)]), expected)
