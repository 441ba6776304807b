"""Complex numbers: their parts, and derivatives of and by them."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.test_util import check_grads

Z = np.array([0.5 + 0.25j, -0.75 + 1j], np.complex64)


def test_parts():
    np.testing.assert_array_equal(jnp.real(Z), Z.real)
    np.testing.assert_array_equal(jnp.imag(Z), Z.imag)
    np.testing.assert_array_equal(jnp.conj(Z), Z.conj())
    np.testing.assert_array_equal(jnp.asarray(Z).imag, Z.imag)
    assert jnp.real(Z).dtype == np.float32


def test_the_gradient_of_a_real_function():
    """df/dx - i df/dy."""
    gradient = irax.grad(lambda z: jnp.sum(jnp.real(z) ** 2 * 3 + jnp.imag(z) ** 3))(Z)
    np.testing.assert_allclose(gradient, 6 * Z.real - 3j * Z.imag**2, rtol=1e-6)


def test_holomorphic_functions():
    gradient = irax.grad(lambda z: jnp.sin(z) * z, holomorphic=True)(Z[0])
    np.testing.assert_allclose(gradient, np.cos(Z[0]) * Z[0] + np.sin(Z[0]), rtol=1e-5)


@pytest.mark.parametrize(
    "f", [jnp.exp, jnp.abs, lambda z: z * jnp.conj(z), lambda z: jnp.real(z) * jnp.sin(z)]
)
def test_derivatives_to_second_order(f):
    check_grads(f, (Z,), order=2, atol=0.05, rtol=0.05)


def test_compiled():
    def loss(z):
        return jnp.sum(jnp.abs(jnp.exp(z) * z) ** 2)

    np.testing.assert_allclose(
        irax.jit(irax.grad(loss))(Z), irax.grad(loss)(Z), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: irax.grad(lambda z: z * z)(Z[0]), "pass holomorphic=True"),
        (lambda: irax.grad(lambda z: z * z, holomorphic=True)(1.0), "expected a complex one"),
        (lambda: irax.grad(jnp.abs, holomorphic=True)(Z[0]), "must return a complex scalar"),
        (lambda: irax.jacfwd(lambda z: z)(Z), "expected a real one"),
    ],
)
def test_wrong_kinds(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("name", ["grad", "jvp"])
def test_against_jax(name):
    jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")

    def f(np_):
        return lambda z: np_.sum(np_.abs(np_.sin(z) / (z + 2)) + np_.imag(z * z))

    if name == "grad":
        ours, theirs = irax.grad(f(jnp))(Z), jax.grad(f(jax.numpy))(Z)
    else:
        direction = np.array([1 - 1j, 0.5j], np.complex64)
        ours = irax.jvp(f(jnp), (Z,), (direction,))[1]
        theirs = jax.jvp(f(jax.numpy), (Z,), (direction,))[1]
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("size", [4, 80])  # the second is computed in the program
def test_products_with_constants(size):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, size)) + 1j * rng.standard_normal((2, size))

    def product(x, jnp=jnp):
        matrix = jnp.sin(jnp.arange(1.0 * size * size)).reshape(size, size) + 0j
        return jnp.einsum("ik,jk->ij", x, matrix)

    with irax.enable_x64():
        found = irax.jit(product)(x)
    np.testing.assert_allclose(found, product(x, np), rtol=1e-9)


def test_arrays_of_equal_elements_of_complex128():
    def run(x):
        full = jnp.full(4, 1 + 1j)
        return full, irax.lax.scan(lambda c, i: (c, c * i), full, x)[0], jnp.concatenate([x, full])

    x = np.array([1j, 2.0])
    with irax.enable_x64():
        full, carried, joined = irax.jit(run)(x)
    np.testing.assert_array_equal(full, np.full(4, 1 + 1j))
    np.testing.assert_array_equal(carried, full)
    np.testing.assert_array_equal(joined, np.concatenate([x, full]))


EQUAL = [jnp.zeros, jnp.ones, lambda n, dtype: jnp.full(n, 2 - 1j, dtype)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("equal", EQUAL, ids=["zeros", "ones", "full"])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_updates_of_equal_elements(equal, dtype):
    def run(x, i):
        start = equal(4, dtype)
        slices = irax.lax.dynamic_update_slice(start, x[:2], (i,))
        selected = irax.lax.cond(i > 0, lambda: start.at[i].set(x[0]), lambda: start)
        return start.at[i].set(1j), start.at[i].add(x[1])[::-1], slices.real, selected

    with irax.enable_x64():
        x, start = np.array([1 + 2j, 3j, 1], dtype), np.asarray(equal(4, dtype))
        found = irax.jit(run)(x, 1)
    expected = [start.copy() for _ in range(4)]
    expected[0][1], expected[2][1:3], expected[3][1] = 1j, x[:2], x[0]
    expected[1][1] += x[1]
    expected[1:3] = expected[1][::-1], expected[2].real
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_gradient_of_an_element():
    def loss(x, i):
        return jnp.abs(x[i]) ** 2

    x = np.array([3 + 4j, 1j, 2], np.complex64)
    found = irax.jit(irax.grad(loss))(x, 1)
    np.testing.assert_allclose(found, [0, -2j, 0], rtol=1e-6)
