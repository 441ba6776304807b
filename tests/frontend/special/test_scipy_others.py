"""The smaller modules of irax.scipy, against SciPy's."""

import numpy as np
import pytest
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.ndimage
import scipy.optimize

import irax
import irax.numpy as jnp
import irax.scipy as ours
from irax.test_util import check_grads

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 5)).astype(np.float32)


def close(found, expected, tolerance=1e-5) -> None:
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("name", ["dct", "idct"])
def test_cosine_transforms(name: str, norm) -> None:
    for options in ({}, {"axis": 0}, {"n": 3}, {"n": 8}, {"n": 1}):
        found = getattr(ours.fft, name)(X, norm=norm, **options)
        close(found, getattr(scipy.fft, name)(X, norm=norm, **options))
    several = f"{name}n"
    for options in ({}, {"axes": (0,)}, {"s": (3, 6)}, {"s": (7,), "axes": (0,)}):
        found = getattr(ours.fft, several)(X, norm=norm, **options)
        close(found, getattr(scipy.fft, several)(X, norm=norm, **options))
    check_grads(getattr(ours.fft, name), (X,), order=1, atol=1e-2, rtol=1e-2)


PLACES = RNG.uniform(-9, 12, (2, 30)).astype(np.float32)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
def test_map_coordinates(mode: str, order: int) -> None:
    theirs = {"constant": "grid-constant", "wrap": "grid-wrap"}.get(mode, mode)
    for image in (X, RNG.integers(0, 9, (4, 5)).astype(np.int32)):
        found = ours.ndimage.map_coordinates(image, PLACES, order, mode, 2.5)
        assert found.dtype == image.dtype
        wide = image.astype(float)
        outside = image.dtype.type(2.5)  # as JAX has it
        expected = scipy.ndimage.map_coordinates(
            wide, PLACES, order=order, mode=theirs, cval=outside
        )
        if image.dtype == np.int32:
            assert np.abs(found - expected).max() <= 0.5001
        else:
            close(found, expected, 1e-4)


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, None, 7.0])
def test_interpolation_on_grids(method: str, fill) -> None:
    grid = [np.sort(RNG.uniform(0, 5, n)) for n in (4, 5)]
    values = RNG.standard_normal((4, 5, 2))
    places = RNG.uniform(-1, 6, (3, 7, 2))
    with irax.enable_x64(True):
        for v in (values, values[..., 0]):
            made = [
                m.interpolate.RegularGridInterpolator(grid, v, method, False, fill)
                for m in (ours, scipy)
            ]
            close(made[0](places), made[1](places), 1e-9)
            close(made[0](tuple(places.T)), made[1](tuple(places.T)), 1e-9)


def test_quantization_and_integrals() -> None:
    codes = RNG.standard_normal((3, 5)).astype(np.float32)
    for points, book in ((X, codes), (X[0], codes[0])):
        found, expected = (m.cluster.vq.vq(points, book) for m in (ours, scipy))
        np.testing.assert_array_equal(found[0], expected[0])
        close(found[1], expected[1])
    close(ours.integrate.trapezoid(X, dx=0.5), scipy.integrate.trapezoid(X, dx=0.5))


def rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_minima() -> None:
    with irax.enable_x64(True):
        start = np.array([-1.2, 1.0, 0.5])
        found = ours.optimize.minimize(rosenbrock, start, method="BFGS")
        assert found.success
        assert found.status == 0
        close(found.x, np.ones(3), 1e-4)
        theirs = scipy.optimize.minimize(scipy.optimize.rosen, start, method="BFGS")
        assert found.nit < 3 * theirs.nit
        bowl = lambda x, a: jnp.sum((x - a) ** 2 * jnp.arange(1.0, 4))
        solve = lambda a: ours.optimize.minimize(bowl, start, (a,), method="BFGS").x
        close(irax.jit(solve)(2.0), np.full(3, 2.0), 1e-5)
        short = {"maxiter": 2}
        stopped = ours.optimize.minimize(rosenbrock, start, method="BFGS", options=short)
        assert not stopped.success
        assert (stopped.status, stopped.nit) == (1, 2)


def test_minima_that_float32_does_not_see_in_values() -> None:
    places = np.arange(3, dtype=np.float32)
    bowls = (
        lambda x: jnp.sum((x - places) ** 2) + jnp.sum(x[:2] ** 2),
        lambda x: 1000 + jnp.sum((x - 3) ** 2),
        rosenbrock,
    )
    for bowl, place in zip(bowls, ([0, 0.5, 2], [3, 3, 3], [1, 1, 1]), strict=True):
        found = ours.optimize.minimize(bowl, jnp.zeros(3), method="BFGS")
        assert found.success
        close(found.x, np.array(place, np.float32), 1e-4)


def test_minima_of_steep_functions() -> None:
    steep = np.diag([1e4, 1e4]).astype(np.float32)
    found = ours.optimize.minimize(lambda x: jnp.mean((steep @ x) ** 2), jnp.ones(2), method="BFGS")
    assert found.success
    close(found.x, np.zeros(2), 1e-6)


LIMITED = "l-bfgs-experimental-do-not-rely-on-this"


@pytest.mark.slow
def test_minima_without_a_matrix() -> None:
    with irax.enable_x64(True):
        start = np.linspace(0.2, 0.7, 6)
        solve = irax.jit(
            lambda x: ours.optimize.minimize(
                rosenbrock, x, method=LIMITED, options={"gtol": 1e-6, "ftol": 1e-16, "maxcor": 5}
            )
        )
        found = solve(start)
        assert found.success
        assert (found.status, found.hess_inv) == (0, None)
        close(found.x, np.ones(6), 1e-6)
        close(found.fun, rosenbrock(found.x), 1e-12)
        theirs = scipy.optimize.minimize(scipy.optimize.rosen, start, method="L-BFGS-B")
        assert found.nit < 3 * theirs.nit


@pytest.mark.parametrize("method", ["BFGS", LIMITED])
def test_a_first_step_is_short(method: str) -> None:
    """The slope of a function of large values says nothing of how far its minimum is."""
    with irax.enable_x64(True):
        weights = jnp.arange(1.0, 6)
        bowl = lambda x: 1e6 * jnp.sum(weights * x**2)
        start = np.array([-1.2, 1, 2, 0.5, 0])
        found = ours.optimize.minimize(bowl, start, method=method, options={"maxiter": 1})
        assert found.fun < bowl(start)
        assert found.nfev < 5
        close(ours.optimize.minimize(bowl, start, method=method).x, np.zeros(5), 1e-5)


def test_minima_of_functions_of_complex_numbers() -> None:
    place = np.array([1, 2 - 3j, 4, -5j], np.complex64)
    found = ours.optimize.minimize(
        lambda z: jnp.sum(jnp.abs(z - place) ** 2 * jnp.arange(1.0, 5)), 0 * place, method=LIMITED
    )
    assert found.success
    assert found.x.dtype == np.complex64
    close(found.x, place, 1e-4)


@pytest.mark.parametrize(
    "option, status", [("maxiter", 1), ("maxfun", 2), ("maxgrad", 3), ("ftol", 4), ("maxls", 5)]
)
def test_why_a_search_ends(option: str, status: int) -> None:
    value = {"ftol": 1e9, "maxls": 0}.get(option, 1)
    found = ours.optimize.minimize(
        rosenbrock, jnp.zeros(3), method=LIMITED, options={option: value}
    )
    assert not found.success
    assert (found.status, found.nit) == (status, 1)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: ours.optimize.minimize(rosenbrock, X[0], 3, method="BFGS"),
            TypeError,
            "args must be a tuple",
        ),
        (lambda: ours.fft.dct(X, 3), NotImplementedError, "type=3"),
        (lambda: ours.fft.dct(X, norm="x"), ValueError, "norm must be"),
        (lambda: ours.ndimage.map_coordinates(X, PLACES, 3), NotImplementedError, "order=3"),
        (lambda: ours.ndimage.map_coordinates(X, PLACES[:1], 1), ValueError, "each of the 2"),
        (lambda: ours.cluster.vq.vq(X, X[0]), ValueError, "both have one dimension"),
        (
            lambda: ours.interpolate.RegularGridInterpolator((X[0],), X[0], bounds_error=True),
            NotImplementedError,
            "bounds_error",
        ),
        (
            lambda: ours.optimize.minimize(rosenbrock, X[0], method="Newton"),
            NotImplementedError,
            "method='Newton'",
        ),
        (
            lambda: ours.optimize.minimize(rosenbrock, X[0], method="BFGS", options={"a": 1}),
            TypeError,
            "no option 'a'",
        ),
    ],
)
def test_wrong_arguments(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("norm", [None, "backward", "forward", "ortho"])
def test_norms_of_cosine_transforms(norm):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(3, 5)) + 1j * rng.normal(size=(3, 5))).astype(np.complex64)
    for name in ("dctn", "idctn"):
        found = getattr(ours.fft, name)(x, norm=norm)
        assert found.dtype == np.complex64
        close(found, getattr(scipy.fft, name)(x, norm=norm), 1e-4)
    with pytest.raises(ValueError, match="norm"):
        ours.fft.dct(x, norm="none")


def test_places_and_values_of_wrong_kinds():
    points = (jnp.arange(3.0), jnp.arange(2.0))
    at = ours.interpolate.RegularGridInterpolator(points, jnp.arange(6.0).reshape(3, 2))
    np.testing.assert_allclose(at(jnp.array([0.5, 0.5])), [1.5])
    with pytest.raises(ValueError, match="fill_value must be a real number"):
        ours.interpolate.RegularGridInterpolator(points, jnp.zeros((3, 2)), fill_value=1j)
    with pytest.raises(TypeError, match="coordinates must be real"):
        ours.ndimage.map_coordinates(jnp.arange(3.0), [jnp.array([0.5j])], 1)
    with pytest.raises(TypeError, match="multigammaln: d must be an int"):
        ours.special.multigammaln(2.5, 0.5)
    with pytest.raises(TypeError, match="bernoulli: n must be an int"):
        ours.special.bernoulli(2.5)


def test_distances_of_samples_widen_the_result():
    heights = jnp.array([1, 2], "float16")
    assert jnp.trapezoid(heights, dx=jnp.array([2.0])).dtype == np.float32
    np.testing.assert_allclose(jnp.trapezoid(jnp.array([1.0, 3.0]), dx=2j), 4j)
