"""The incomplete gamma and beta functions over wide ranges, compiled, against SciPy."""

import numpy as np
import pytest
import scipy.special

import irax
import irax.numpy as jnp
from irax import lax


def draw(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Parameters of all sizes, and places around and far from their mean."""
    rng = np.random.default_rng(0)
    a = np.exp(rng.uniform(-4, 9, count))
    spread = np.exp(rng.uniform(-3, 3, count) / np.sqrt(1 + a))
    return a, a * np.where(rng.random(count) < 0.3, np.exp(rng.uniform(-3, 2, count)), spread)


@pytest.mark.parametrize("dtype, tolerance", [("float64", 3e-14), ("float32", 1e-5)])
@pytest.mark.slow
def test_as_scipy(dtype: str, tolerance: float) -> None:
    with irax.enable_x64(True):
        a, x = (v.astype(dtype) for v in draw(2000))
        wide = a.astype(float), x.astype(float)
        lower, upper = irax.jit(lambda a, x: (lax.igamma(a, x), lax.igammac(a, x)))(a, x)
        np.testing.assert_allclose(lower, scipy.special.gammainc(*wide), rtol=0, atol=tolerance)
        np.testing.assert_allclose(upper, scipy.special.gammaincc(*wide), rtol=0, atol=tolerance)
        rng = np.random.default_rng(1)
        p, q = (np.exp(rng.uniform(-3, 6, 2000)) for _ in range(2))
        parts = [v.astype(dtype) for v in (p, q, np.clip(rng.beta(p, q), 1e-6, 1 - 1e-6))]
        expected = scipy.special.betainc(*(v.astype(float) for v in parts))
        found = irax.jit(lax.betainc)(*parts)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2 * tolerance)


@pytest.mark.slow
def test_derivatives() -> None:
    with irax.enable_x64(True):
        a, x = draw(300)
        a = np.minimum(a, 500)
        x = np.clip(x, a / 2, 2 * a)
        h = 1e-5 * a
        expected = (scipy.special.gammainc(a + h, x) - scipy.special.gammainc(a - h, x)) / (2 * h)
        slopes = lambda a, x: (*irax.grad(lax.igamma, (0, 1))(a, x), irax.grad(lax.igammac)(a, x))
        by_a, by_x, upper_by_a = irax.jit(irax.vmap(slopes))(a, x)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(by_a, expected, rtol=1e-6, atol=1e-9 * scale)
        np.testing.assert_allclose(upper_by_a, -expected, rtol=1e-6, atol=1e-9 * scale)
        density = np.exp((a - 1) * np.log(x) - x - scipy.special.gammaln(a))
        np.testing.assert_allclose(by_x, density, rtol=1e-9)
        steep = np.abs(expected) > 1e-5 * scale
        found = lax.random_gamma_grad(a, x)[steep]
        np.testing.assert_allclose(found, (-expected / density)[steep], rtol=1e-5)


def test_what_has_no_derivative_says_so() -> None:
    for function, argnum in ((lax.igamma_grad_a, 0), (lax.random_gamma_grad, 1)):
        with pytest.raises(NotImplementedError, match="derivative already"):
            irax.grad(function, argnum)(2.0, 3.0)
    with pytest.raises(NotImplementedError, match="with respect to a and b"):
        irax.grad(lax.betainc)(2.0, 3.0, 0.5)
    slope = irax.grad(lax.betainc, 2)
    assert slope(jnp.float32(2), jnp.float32(1), jnp.float32(0.25)) == 0.5
    assert slope(jnp.float32(1), jnp.float32(2), jnp.float32(0)) == 2
    assert irax.grad(lax.igamma, 1)(1.0, 0.0) == 1
    with pytest.raises(TypeError, match=r"lax\.igamma: expected arrays of floats"):
        lax.igamma(1, 2)
