"""irax.scipy.linalg, against SciPy."""

import inspect

import numpy as np
import pytest
import scipy.linalg

import irax
import irax.numpy as jnp
from irax.scipy import linalg
from irax.test_util import check_grads


@pytest.fixture(autouse=True)
def doubles():
    with irax.enable_x64():
        yield


def drawn(*shape: int, dtype: str = "f8") -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def positive(x: np.ndarray) -> np.ndarray:
    return x @ np.conj(x.T) + 2 * np.eye(len(x))


REAL, COMPLEX = drawn(4, 4), drawn(4, 4, dtype="c16")
POSITIVE, COMPLEX_POSITIVE = positive(REAL), positive(COMPLEX)
RIGHT, VECTOR = drawn(4, 2), np.arange(1.0, 6)


def close(found, expected) -> None:
    if not isinstance(expected, tuple | list):
        found, expected = (found,), (expected,)
    for x, y in zip(found, expected, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


CALLS = [
    *((name, (x,), {}) for name in ("det", "expm", "inv", "sqrtm") for x in (REAL, COMPLEX)),
    ("expm", (30 * REAL / 4,), {}),
    ("expm", (np.stack([REAL, 1e-3 * REAL]),), {}),
    ("expm", (np.zeros((0, 0)),), {}),
    ("expm_frechet", (REAL, REAL.T), {}),
    ("expm_frechet", (COMPLEX, REAL), {"compute_expm": False}),
    ("cholesky", (POSITIVE,), {}),
    ("cholesky", (COMPLEX_POSITIVE,), {"lower": True}),
    *(("lu", (x,), {"permute_l": p}) for p in (False, True) for x in (REAL, COMPLEX, REAL[:3])),
    ("lu_factor", (REAL,), {}),
    *(("lu_solve", (scipy.linalg.lu_factor(COMPLEX), RIGHT), {"trans": t}) for t in (0, 1, 2)),
    *(("cho_solve", (scipy.linalg.cho_factor(COMPLEX_POSITIVE, t), RIGHT), {}) for t in (0, 1)),
    *(("qr", (REAL[:, :3],), {"mode": mode}) for mode in ("full", "economic", "r")),
    ("qr", (REAL[:, :3],), {"pivoting": True}),
    ("qr", (REAL,), {"mode": "r", "pivoting": True}),
    ("qr_multiply", (REAL[:, :3], RIGHT[:3]), {"mode": "left"}),
    ("qr_multiply", (COMPLEX[:, :3], RIGHT.T), {"pivoting": True, "conjugate": True}),
    ("qr_multiply", (REAL[:, :3], RIGHT[:, 0]), {}),
    ("schur", (REAL,), {}),
    ("schur", (REAL,), {"output": "complex"}),
    ("hessenberg", (REAL,), {}),
    ("hessenberg", (COMPLEX,), {"calc_q": True}),
    ("hessenberg", (REAL[:1, :1],), {"calc_q": True}),
    ("svd", (REAL[:3],), {"compute_uv": False}),
    *(("polar", (x,), {"side": s}) for s in ("left", "right") for x in (REAL[:3], COMPLEX[:, :2])),
    *(("eigh", (x,), {"lower": t, "eigvals_only": True}) for t in (0, 1) for x in (REAL, COMPLEX)),
    *(("eigh", (REAL, POSITIVE), {"type": k, "eigvals_only": True}) for k in (1, 2, 3)),
    ("eigh_tridiagonal", (VECTOR, VECTOR[1:]), {"eigvals_only": True}),
    (
        "eigh_tridiagonal",
        (VECTOR, VECTOR[1:]),
        {"eigvals_only": True, "select": "i", "select_range": (1, 3)},
    ),
    ("solve", (REAL, RIGHT), {}),
    ("solve", (COMPLEX_POSITIVE, RIGHT), {"assume_a": "pos", "lower": True}),
    ("solve_sylvester", (REAL, POSITIVE, REAL), {}),
    ("solve_sylvester", (COMPLEX, REAL[:3, :3], COMPLEX[:, :3]), {}),
    *(("solve_triangular", (COMPLEX, RIGHT), {"trans": t}) for t in ("N", "T", "C")),
    ("solve_triangular", (REAL, RIGHT[:, 0]), {"lower": True, "unit_diagonal": True}),
    *((name, (VECTOR,), {}) for name in ("toeplitz", "hankel", "circulant", "companion")),
    *((name, (VECTOR,), {}) for name in ("fiedler", "fiedler_companion")),
    ("fiedler_companion", (np.arange(2.0, 9),), {}),
    ("toeplitz", (VECTOR, 1j * VECTOR[:3]), {}),
    ("hankel", (VECTOR, np.arange(3)), {}),
    ("leslie", (VECTOR, VECTOR[1:]), {}),
    ("block_diag", (VECTOR, REAL, 3), {}),
    *(
        ("convolution_matrix", (VECTOR, n), {"mode": mode})
        for mode in ("full", "same", "valid")
        for n in (2, 5, 6)
    ),
    *((name, (n,), {}) for name in ("dft", "hilbert", "invhilbert", "helmert") for n in (1, 4, 5)),
    *((f, (4,), {"kind": k}) for f in ("pascal", "invpascal") for k in ("lower", "upper")),
    *((name, (5,), {}) for name in ("pascal", "invpascal")),
    ("dft", (3, "sqrtn"), {}),
    ("helmert", (4,), {"full": True}),
    ("hadamard", (8,), {}),
]


@pytest.mark.parametrize(
    "name, arguments, options", CALLS, ids=[f"{i}-{c[0]}" for i, c in enumerate(CALLS)]
)
def test_values(name, arguments, options):
    found = getattr(linalg, name)(*arguments, **options)
    close(found, getattr(scipy.linalg, name)(*arguments, **options))


def test_generalized_eigenvectors():
    a, b = COMPLEX + np.conj(COMPLEX.T), COMPLEX_POSITIVE
    for kind, left, right in ((1, a, b), (2, a @ b, np.eye(4)), (3, b @ a, np.eye(4))):
        w, v = linalg.eigh(a, b, type=kind)
        close(left @ v, (right @ v) * w)
    w, v = linalg.eigh(a, eigvals=(1, 2))
    close(a @ v, v * w)
    w, v = linalg.eigh_tridiagonal(VECTOR, VECTOR[1:])
    tridiagonal = np.diag(VECTOR) + np.diag(VECTOR[1:], 1) + np.diag(VECTOR[1:], -1)
    close(tridiagonal @ v, v * w)


def test_complex_form_of_a_real_one():
    t, z = linalg.rsf2csf(*scipy.linalg.schur(REAL))
    close(z @ t @ np.conj(np.asarray(z).T), REAL)
    close(jnp.tril(t, -1), np.zeros((4, 4)))


def test_complex_forms_of_a_batch():
    forms = [scipy.linalg.schur(x) for x in (REAL, REAL.T, REAL @ REAL)]
    found = linalg.rsf2csf(*map(np.stack, zip(*forms, strict=True)))
    for i, form in enumerate(forms):
        for x, expected in zip(found, scipy.linalg.rsf2csf(*form), strict=True):
            close(x[i], expected)
    (t, z), unit = forms[0], np.eye(4, dtype=REAL.dtype)
    found = linalg.rsf2csf(t, np.stack([z, unit]))
    for i, own in enumerate((z, unit)):
        for x, expected in zip(found, scipy.linalg.rsf2csf(t, own), strict=True):
            close(x[i], expected)


def test_functions_of_matrices():
    close(linalg.funm(REAL, jnp.sin), scipy.linalg.funm(REAL, np.sin))
    close(linalg.funm(np.eye(3), jnp.exp), np.e * np.eye(3))
    value, error = linalg.funm(COMPLEX, jnp.exp, disp=False)
    close(value, scipy.linalg.expm(COMPLEX))
    assert error < 1e-10
    close(linalg.sqrtm(np.zeros((2, 2))), np.zeros((2, 2)))


def test_norms_beyond_all_squarings_are_nan():
    assert jnp.isnan(linalg.expm(1e9 * np.eye(2))).all()
    upper = np.triu(REAL)
    close(linalg.expm(upper, upper_triangular=True), scipy.linalg.expm(upper))


def test_equal_eigenvalues_have_no_sylvester_solution():
    assert jnp.isnan(linalg.solve_sylvester(np.eye(2), -np.eye(2), np.ones((2, 2)))).all()


DIFFERENTIABLE = {
    "expm": (linalg.expm, REAL),
    "expm-complex": (linalg.expm, 3 * COMPLEX),
    "expm_frechet": (lambda x: linalg.expm_frechet(x, REAL.T), REAL),
    "sqrtm": (linalg.sqrtm, COMPLEX_POSITIVE),
    "solve_sylvester": (lambda x: linalg.solve_sylvester(x, x.T, x @ x), POSITIVE),
    "polar": (linalg.polar, np.eye(3)),
    "lu_solve": (lambda x: linalg.lu_solve(linalg.lu_factor(x), RIGHT), REAL),
    "cho_solve": (lambda x: linalg.cho_solve(linalg.cho_factor(x), RIGHT), COMPLEX_POSITIVE),
    "eigh": (lambda x: linalg.eigh(x, POSITIVE, eigvals_only=True), REAL),
    "hessenberg": (linalg.hessenberg, REAL),
    "toeplitz": (linalg.toeplitz, VECTOR),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.slow
def test_derivatives_and_batches(name):
    f, x = DIFFERENTIABLE[name]
    check_grads(f, (x,), order=2, atol=1e-3, rtol=1e-3)
    batched = irax.tree_leaves(irax.vmap(f)(np.stack([x, 2 * x])))
    one, two = irax.tree_leaves(f(x)), irax.tree_leaves(f(2 * x))
    for found, *expected in zip(batched, one, two, strict=True):
        close(found, np.stack(expected))


@pytest.mark.parametrize("name", ["expm", "sqrtm"])
@pytest.mark.slow
def test_compiled(name):
    f, x = DIFFERENTIABLE[name]
    close(irax.jit(f)(x), f(x))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: linalg.expm(np.ones((2, 3))), ValueError, "expm: expected square"),
        (lambda: linalg.expm_frechet(REAL, np.eye(3)), ValueError, "of one shape"),
        (lambda: linalg.solve_triangular(REAL, RIGHT, trans=3), ValueError, "trans must be"),
        (lambda: linalg.solve(REAL, RIGHT[:3]), ValueError, "as many rows"),
        (lambda: linalg.cho_solve((REAL, True), RIGHT[:3]), ValueError, "as many rows"),
        (lambda: linalg.solve(REAL, RIGHT, assume_a="x"), ValueError, "assume_a must be"),
        (lambda: linalg.qr(REAL, mode="raw"), ValueError, "mode must be"),
        (lambda: linalg.qr_multiply(REAL[:, :3], RIGHT, mode="left"), ValueError, "does not fit"),
        (lambda: linalg.schur(REAL, output="x"), ValueError, "output must be"),
        (lambda: linalg.polar(REAL, side="x"), ValueError, "side must be"),
        (lambda: linalg.eigh(REAL, type=4), ValueError, "type must be"),
        (lambda: linalg.sqrtm(REAL, 2), NotImplementedError, "blocksize"),
        (lambda: linalg.sqrtm(np.stack([REAL, REAL])), ValueError, "irax.vmap"),
        (lambda: linalg.eigh_tridiagonal(VECTOR, VECTOR), ValueError, r"e \[n - 1\]"),
        (lambda: linalg.eigh_tridiagonal(VECTOR, VECTOR, select="v"), NotImplementedError, "'v'"),
        (lambda: linalg.solve_sylvester(REAL, REAL, RIGHT), ValueError, "expected A"),
        (lambda: linalg.hadamard(3), ValueError, "power of 2"),
        (lambda: linalg.pascal(3, "x"), ValueError, "kind must be"),
        (lambda: linalg.block_diag(np.ones((1, 1, 1))), ValueError, "at most 2 dimensions"),
        (lambda: linalg.leslie(VECTOR, VECTOR), ValueError, "leslie: expected"),
        (lambda: linalg.companion(VECTOR[:1]), ValueError, "two coefficients"),
        (lambda: linalg.convolution_matrix(VECTOR, 2, "x"), ValueError, "mode must be"),
        (lambda: linalg.dft(2, "x"), ValueError, "scale must be"),
    ],
)  # fmt: skip
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_every_function_says_what_it_does():
    functions = {n: f for n, f in vars(linalg).items() if inspect.isfunction(f)}
    assert all(f.__doc__ for f in functions.values())


def test_triangular_batches_with_one_right_hand_side():
    a = np.tril(drawn(3, 2, 2)) + 3 * np.eye(2)
    for b in (drawn(2, 4), drawn(2)):
        found = linalg.solve_triangular(a, b, lower=True)
        each = [scipy.linalg.solve_triangular(one, b, lower=True) for one in a]
        np.testing.assert_allclose(found, each, rtol=1e-5)
    rows = drawn(3, 2)
    with pytest.warns(FutureWarning, match="is taken for vectors"):
        found = linalg.solve_triangular(a, rows, lower=True)
    each = [
        scipy.linalg.solve_triangular(one, b, lower=True) for one, b in zip(a, rows, strict=True)
    ]
    np.testing.assert_allclose(found, each, rtol=1e-5)
    factors = (np.stack([np.linalg.cholesky(one @ one.T) for one in a]), True)
    right = drawn(2, 4)
    np.testing.assert_allclose(
        linalg.cho_solve(factors, right), np.linalg.solve(a @ a.mT, right), rtol=1e-4
    )


@pytest.mark.parametrize("dtype, limit", [("f4", 3.925724783138660), ("f8", 5.371920351148152)])
def test_exponentials_of_the_largest_matrices(dtype, limit):
    """The norm may be 2**(max_squarings + 1) times what the fraction is exact for, as in JAX."""
    with irax.enable_x64(dtype == "f8"):
        for squarings in (2, 16):
            norms = np.array([0.6, 0.99, 1.01]) * limit * 2 ** (squarings + 1)
            x = np.zeros((3, 2, 2), dtype)
            x[:, 0, 0] = -norms
            found = np.asarray(linalg.expm(x, max_squarings=squarings))
            expected = np.zeros((2, 2, 2))
            expected[:, 0, 0], expected[:, 1, 1] = np.exp(-norms[:2]), 1
            tolerance = 1e-3 if dtype == "f4" else 1e-9
            np.testing.assert_allclose(found[:2], expected, rtol=tolerance, atol=tolerance)
            assert np.isnan(found[2]).all()
