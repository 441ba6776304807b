"""odeint against solutions in closed form and SciPy's; its adjoint against derivatives of these."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import irax
import irax.numpy as jnp
from irax.experimental.ode import odeint

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(3, 3))
Y = RANDOM.normal(size=3)
TIMES = np.array([0.0, 0.3, 1.0])


@pytest.fixture(autouse=True)
def x64():
    with irax.enable_x64(True):
        yield


def linear(y, t, a):
    return a @ y


def exponential(a, y, times):
    return np.stack([scipy.linalg.expm(a * (t - times[0])) @ y for t in times])


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit], ids=["evaluator", "iree"])
def test_linear_system(transform):
    ys = transform(lambda y, t, a: odeint(linear, y, t, a))(Y, TIMES, A)
    np.testing.assert_allclose(ys, exponential(A, Y, TIMES), rtol=1e-7)


def test_against_scipy():
    def pendulum(y, t):
        return {"angle": y["speed"], "speed": -jnp.sin(y["angle"]) - 0.1 * y["speed"] + jnp.cos(t)}

    times = np.linspace(0, 10, 7)
    ys = odeint(pendulum, {"angle": 1.0, "speed": 0.0}, times)
    expected = scipy.integrate.solve_ivp(
        lambda t, y: [y[1], -np.sin(y[0]) - 0.1 * y[1] + np.cos(t)],
        (0, 10), [1.0, 0.0], t_eval=times, rtol=1e-10, atol=1e-10,
    ).y  # fmt: skip
    np.testing.assert_allclose(ys["angle"], expected[0], atol=1e-6)
    np.testing.assert_allclose(ys["speed"], expected[1], atol=1e-6)


def loss(y, times, a):
    return jnp.sum(odeint(linear, y, times, a) ** 2)


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit], ids=["evaluator", "iree"])
@pytest.mark.slow
def test_adjoint(transform):
    found = transform(irax.grad(loss, (0, 1, 2)))(Y, TIMES, A)
    plain = lambda y, times, a: np.sum(exponential(a, y, times) ** 2)
    for number, (ct, x) in enumerate(zip(found, (Y, TIMES, A), strict=True)):
        direction = RANDOM.normal(size=x.shape)

        def along(s, number=number, x=x, direction=direction):
            args = [Y, TIMES, A]
            args[number] = x + s * direction
            return plain(*args)

        quotient = (along(1e-5) - along(-1e-5)) / 2e-5
        np.testing.assert_allclose(np.sum(np.asarray(ct) * direction), quotient, rtol=1e-5)


def test_values_from_outside_and_of_other_dtypes():
    def f(a):
        slope = lambda y, t, n, scale: scale["s"] * a * y * n
        return odeint(slope, 1.0, TIMES, 2, {"s": jnp.float32(0.5)})[-1]

    np.testing.assert_allclose([f(0.7), irax.grad(f)(0.7)], np.exp(0.7), rtol=1e-6)


def test_second_derivatives_and_lanes():
    f = lambda a: odeint(lambda y, t, a: a * y, 1.0, TIMES, a)[-1]
    rates = np.array([0.1, 0.5, 0.7])
    np.testing.assert_allclose(irax.vmap(irax.grad(f))(rates), np.exp(rates), rtol=1e-6)
    np.testing.assert_allclose(irax.grad(irax.grad(f))(0.7), np.exp(0.7), rtol=1e-6)


def test_complex_numbers():
    f = lambda a: jnp.real(odeint(lambda y, t, a: (a + 1j) * y, 1.0 + 0j, TIMES, a)[-1])
    np.testing.assert_allclose(irax.grad(f)(0.7), np.exp(0.7) * np.cos(1), rtol=1e-6)


def test_tolerances_and_steps():
    stiff = lambda y, t: -1000 * (y - jnp.cos(t))
    rough = odeint(stiff, 1.0, np.array([0.0, 1.0]), rtol=1e-2, atol=1e-2)
    fine = odeint(stiff, 1.0, np.array([0.0, 1.0]))
    exact = scipy.integrate.solve_ivp(
        lambda t, y: -1000 * (y - np.cos(t)), (0, 1), [1.0], method="Radau", rtol=1e-10, atol=1e-10
    ).y[0, -1]
    assert abs(float(fine[-1]) - exact) < 1e-6 < abs(float(rough[-1]) - exact) < 1e-2
    even = lambda n: odeint(lambda y, t: 1.0, 0.0, np.array([0.0, 1.0]), mxstep=n, hmax=0.25)[-1]
    assert np.isnan(even(3))  # it takes 4 steps of a quarter at least
    np.testing.assert_allclose(even(8), 1.0)


def test_what_cannot_be_reached_is_nan():
    ys = odeint(lambda y, t: y**2, 1.0, np.array([0.0, 0.5, 2.0]))
    np.testing.assert_allclose(ys[:2], [1.0, 2.0], rtol=1e-6)
    assert np.isnan(ys[2])


def test_errors():
    with pytest.raises(TypeError, match="vector of floats"):
        odeint(lambda y, t: y, 1.0, np.array([0, 1]))
    with pytest.raises(TypeError, match="y0"):
        odeint(lambda y, t: y, 1, TIMES)
    with pytest.raises(TypeError, match="func"):
        odeint(lambda y, t: (y, y), 1.0, TIMES)
    with pytest.raises(TypeError, match="custom_vjp"):
        irax.jacfwd(lambda y: odeint(lambda y, t: y, y, TIMES))(1.0)


def test_ravel_pytree():
    tree = {"a": jnp.arange(4.0).reshape(2, 2), "b": (jnp.complex128(1 + 2j), 3)}
    vector, unravel = irax.flatten_util.ravel_pytree(tree)
    np.testing.assert_array_equal(vector, [0, 1, 2, 3, 1 + 2j, 3])
    again = unravel(vector)
    irax.tree_util.tree_map(np.testing.assert_array_equal, again, tree)
    assert [x.dtype.name for x in irax.tree_util.tree_leaves(again)] == [
        "float64", "complex128", "int64",
    ]  # fmt: skip
    assert irax.flatten_util.ravel_pytree(())[0].shape == (0,)
    with pytest.raises(TypeError, match="6 elements"):
        unravel(vector[1:])
    with pytest.raises(TypeError, match="dtype complex"):
        unravel(vector > 1)


def test_unravel_of_one_dtype_takes_any():
    _, unravel = irax.flatten_util.ravel_pytree([jnp.ones(2), jnp.ones((1, 1))])
    _, same = irax.flatten_util.ravel_pytree([jnp.zeros(2), jnp.zeros((1, 1))])
    assert (unravel, hash(unravel)) == (same, hash(same))  # a static argument of jit
    found = unravel(jnp.array([True, False, True]))
    assert [x.dtype for x in found] == [np.bool, np.bool]
    np.testing.assert_array_equal(found[1], [[True]])


def test_third_derivative():
    # tan(y / 2) grows by exp(t)
    solved = lambda y: odeint(lambda y, t: jnp.sin(y), y, jnp.array([0.0, 1.0]))[-1]
    closed = lambda y: 2 * jnp.arctan(jnp.e * jnp.tan(y / 2))
    third = [irax.grad(irax.grad(irax.grad(f)))(1.0) for f in (solved, closed)]
    np.testing.assert_allclose(*third, rtol=1e-5)


def test_slope_as_list_of_numbers():
    ys = odeint(lambda y, t: [y[1], -y[0]], jnp.array([0.0, 1.0]), TIMES)
    np.testing.assert_allclose(ys, np.stack([np.sin(TIMES), np.cos(TIMES)], 1), atol=1e-7)


@pytest.mark.slow
def test_a_slope_that_jumps_at_the_solution():
    """Steps are as small as the tolerance: a hundred thousand of them."""
    ys = odeint(lambda y, t: jnp.where(y < 1, 1.0, -1.0), 0.5, jnp.linspace(0.0, 1.0, 3), hmax=1.0)
    np.testing.assert_allclose(ys, [0.5, 1, 1], atol=1e-5)
