"""Linear algebra on the host, with SciPy and without, against NumPy and by what defines it."""

import numpy as np
import pytest

from irax_runtime import linalg, optional

DTYPES = ("f4", "f8", "c8", "c16")


@pytest.fixture(params=["scipy", "numpy"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries that the host has: SciPy, or NumPy alone."""
    if request.param == "numpy":
        monkeypatch.setattr(optional, "module", lambda name: None)


def drawn(*shape: int, dtype: str = "f8") -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype
    tolerance = 500 * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(5, 5), (6, 4), (4, 6), (2, 3, 3), (80, 2, 2), (2, 0, 0), (3, 0)]
)
def test_lu(library: None, shape: tuple[int, ...], dtype: str) -> None:
    x = drawn(*shape, dtype=dtype)
    factors, pivots, order = linalg.lu(x)
    k = min(shape[-2:])
    assert pivots.shape == (*shape[:-2], k)
    lower = np.tril(factors[..., :k], -1) + np.eye(shape[-2], k, dtype=dtype)
    assert_close(lower @ np.triu(factors[..., :k, :]), np.take_along_axis(x, order[..., None], -2))
    assert np.abs(lower).max(initial=0) < (2**0.5 if dtype[0] == "c" else 1) + 1e-6
    rows = np.broadcast_to(np.arange(shape[-2]), order.shape).copy()
    for place in np.ndindex(*shape[:-2]):
        for i, other in enumerate(pivots[place]):
            rows[place][[i, other]] = rows[place][[other, i]]
    np.testing.assert_array_equal(rows, order)


@pytest.mark.parametrize("transpose_a", [0, 1, 2])
@pytest.mark.parametrize("left_side", [0, 1])
@pytest.mark.parametrize("lower", [0, 1])
def test_triangular_solve(library: None, lower: int, left_side: int, transpose_a: int) -> None:
    a = drawn(2, 4, 4, dtype="c16") + 3 * np.eye(4)
    b = drawn(2, 4, 3, dtype="c16") if left_side else drawn(2, 3, 4, dtype="c16")
    for unit_diagonal in (0, 1):
        x = linalg.triangular_solve(
            a, b, left_side=left_side, lower=lower, unit_diagonal=unit_diagonal,
            transpose_a=transpose_a,
        )  # fmt: skip
        t = np.tril(a) if lower else np.triu(a)
        t = np.where(np.eye(4, dtype=bool), 1, t) if unit_diagonal else t
        t = [t, np.swapaxes(t, -1, -2), np.conj(np.swapaxes(t, -1, -2))][transpose_a]
        assert_close(t @ x if left_side else x @ t, b)


def test_solve(library: None) -> None:
    a, b = drawn(2, 4, 4), drawn(2, 4, 3)
    assert_close(a @ linalg.solve(a, b), b)
    a[1] = np.ones((4, 4))
    with np.errstate(all="ignore"):
        x = linalg.solve(a, b)
    assert_close(a[0] @ x[0], b[0])
    assert not np.isfinite(x[1]).any()


def test_cholesky() -> None:
    a = drawn(3, 4, 4, dtype="c16")
    x = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(4)
    assert_close(linalg.cholesky(x, lower=1), np.linalg.cholesky(x))
    upper = linalg.cholesky(np.triu(x), lower=0)
    assert_close(np.conj(np.swapaxes(upper, -1, -2)) @ upper, x)
    x[1] *= -1
    found = linalg.cholesky(x, lower=1)
    assert np.isnan(found[1][np.tril_indices(4)]).all()
    assert not found[1][np.triu_indices(4, 1)].any()
    assert_close(found[[0, 2]], np.linalg.cholesky(x[[0, 2]]))


def test_one_matrix_that_is_not_finite_leaves_the_others_alone() -> None:
    x = drawn(2, 3, 3)
    x[1, 2, 0] = np.inf
    for function, options in (
        (linalg.eig, {"vectors": 1}),
        (linalg.eigh, {"vectors": 0}),
        (linalg.svd, {"full": 0, "vectors": 1}),
    ):
        for part, alone in zip(function(x, **options), function(x[0], **options), strict=True):
            np.testing.assert_array_equal(part[0], alone)
            assert np.isnan(part[1]).all()


def test_schur_needs_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    x = drawn(4, 4)
    t, z = linalg.schur(x)
    assert_close(z @ t @ z.T, x)
    monkeypatch.setattr(optional, "module", lambda name: None)
    with pytest.raises(RuntimeError, match="SciPy has: install it"):
        linalg.schur(x)
