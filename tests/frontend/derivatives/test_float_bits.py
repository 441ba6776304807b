"""Derivatives of what goes through the bits of floats: those that bits tell, and a warning where
they tell none.
"""

import numpy as np
import pytest
import scipy.special

import irax
import irax.numpy as jnp
from irax import lax, random
from irax_compiler import api
from irax_compiler.passes.derive.jvp import LostDerivative

X = np.array([0.3, -1.7, 12.0, -80.0], np.float32)
SIGN = np.int32(-(2**31))


def bits(x):
    return lax.bitcast_convert_type(x, np.int32)


def floats(x):
    return lax.bitcast_convert_type(x, np.float32)


def flushed(x):
    b = bits(x)
    return floats(jnp.where((b & ~SIGN) < 2**23, b & SIGN, b))


def in_a_call(x):
    return floats(irax.jit(lambda b: jnp.where(b > 0, b, b))(bits(x)))


def moved(x):
    b = jnp.stack([bits(x), jnp.zeros(4, np.int32)])
    return floats(lax.dynamic_slice(b[:, ::-1], (0, 0), (1, 4))[0])[::-1]


def from_unsigned(x):
    return floats(bits(x).astype(np.uint32).astype(np.int32))


def mantissa(x):
    return floats((bits(x) & np.int32(-(2**31) + 2**23 - 1)) | np.int32(126 << 23))


def with_sign_of_cosine(x):
    return floats((bits(x) & ~SIGN) | (bits(jnp.cos(x)) & SIGN))


def negated(x):
    return floats(bits(x) ^ SIGN)


def times_8(x):
    return floats(bits(x) + (np.int32(3) << 23))


def next_float(x):
    return floats(bits(x) + jnp.where(x > 0, 1, -1))


def exponent(x):
    return ((bits(x) >> 23) & 255).astype(np.float32) * x


CASES = [
    (flushed, lambda x: x, lambda x: 1 + 0 * x),
    (in_a_call, lambda x: x, lambda x: 1 + 0 * x),
    (moved, lambda x: x, lambda x: 1 + 0 * x),
    (from_unsigned, lambda x: x, lambda x: 1 + 0 * x),
    (mantissa, lambda x: np.frexp(x)[0], lambda x: 2.0 ** -np.frexp(x)[1]),
    (
        with_sign_of_cosine,
        lambda x: np.copysign(x, np.cos(x)),
        lambda x: np.sign(x) * np.sign(np.cos(x)),
    ),
    (negated, lambda x: -x, lambda x: -1 + 0 * x),
    (times_8, lambda x: 8 * x, lambda x: 8 + 0 * x),
    (next_float, lambda x: np.nextafter(x, np.float32(np.inf)), lambda x: 1 + 0 * x),
    (exponent, lambda x: (np.frexp(x)[1] + 126) * x, lambda x: np.frexp(x)[1] + 126),
]


@pytest.mark.parametrize("f, value, slope", CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_bits_tell_the_derivative(f, value, slope):
    x = X.astype(np.float64)
    if f is not next_float:
        np.testing.assert_allclose(f(X), value(x), rtol=1e-6)
    expected = slope(x)
    np.testing.assert_allclose(irax.jvp(f, (X,), (np.ones_like(X),))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(irax.grad(lambda x: f(x).sum())(X), expected, rtol=1e-6)


def test_bits_tell_second_derivatives():
    def second(f, x):
        square = irax.grad(lambda x: (f(x) ** 2).sum())
        return irax.grad(lambda x: square(x).sum())(x)

    found = irax.jit(lambda x: {f.__name__: second(f, x) for f, _, _ in CASES})(X)
    for f, _, slope in CASES:
        expected = 2 * slope(X.astype(np.float64)) ** 2
        np.testing.assert_allclose(found[f.__name__], expected, rtol=1e-5, err_msg=f.__name__)


def test_lanes_and_loops():
    x = X.astype(np.float64)
    alone = irax.vmap(irax.grad(mantissa))(X)
    np.testing.assert_allclose(alone, 2.0 ** -np.frexp(x)[1])

    def repeated(x):
        return lax.fori_loop(0, 3, lambda i, y: flushed(y) * 2, x)

    np.testing.assert_allclose(irax.grad(repeated)(1.5), 8)


def test_zero_and_infinity():
    np.testing.assert_array_equal(irax.grad(lambda x: flushed(x).sum())(np.float32([1e-40])), [0])
    x = np.array([0, np.inf], np.float32)
    slope = irax.grad(lambda x: negated(x).sum())
    assert np.isfinite(slope(x)).all()
    np.testing.assert_array_equal(irax.grad(lambda x: slope(x).sum())(x), [0, 0])


def test_bits_beside_constants_that_are_floats():
    """The maximum begins at a float, minus infinity."""
    x = np.float32([0.5, 3, 7])
    for f in (lambda x: jnp.frexp(jnp.max(x))[0], lambda x: jnp.frexp(jnp.max(x, initial=0))[0]):
        np.testing.assert_array_equal(irax.grad(f)(x), [0, 0, 0.125])


def inverse_square_root(x):
    return floats(0x5F3759DF - (bits(x) >> 1))


@pytest.mark.parametrize(
    "f",
    [
        inverse_square_root,
        lambda x: bits(x).astype(np.float32),
        lambda x: floats(lax.sort(bits(jnp.stack([x, -x])))).sum(),
        lambda x: lax.fori_loop(0, 2, lambda i, c: c * bits(x).astype(np.float32), 1.0),
        lambda x: floats(lax.scan(lambda c, y: (c, bits(y)), 0.0, x * jnp.ones(3))[1]).sum(),
        lambda x: floats(lax.fori_loop(0, 2, lambda i, b: b, bits(x))),
    ],
)
def test_a_lost_derivative_is_told(f):
    for derivative in (irax.grad(f), irax.grad(lambda x: irax.jit(f)(x) * x)):
        with pytest.warns(LostDerivative, match=r"test_float_bits.py.* is taken as zero"):
            derivative(2.0)


def test_nothing_is_told_where_nothing_is_lost():
    straight_through = irax.grad(lambda x: x + lax.stop_gradient(inverse_square_root(x) - x))
    assert straight_through(2.0) == 1
    drawn = irax.grad(lambda x: (x * random.normal(random.key(0), (3,))).sum())
    np.testing.assert_allclose(drawn(2.0), random.normal(random.key(0), (3,)).sum(), rtol=1e-6)
    assert irax.grad(lambda x: jnp.where(bits(x) > 0, x, -x))(-2.0) == -1
    sign_alone = irax.grad(lambda x: x * floats(bits(x) & SIGN | np.int32(127 << 23)))
    assert sign_alone(-2.0) == -1


GAMMALN = """
func.func private @_where(%c: tensor<3xi1>, %x: tensor<3xi64>, %y: tensor<3xi64>) -> tensor<3xi64> {
  %0 = stablehlo.select %c, %x, %y : tensor<3xi1>, tensor<3xi64>
  return %0 : tensor<3xi64>
}
func.func private @flush(%x: tensor<3xf64>) -> tensor<3xf64> {
  %sign = stablehlo.constant dense<0x8000000000000000> : tensor<3xi64>
  %size = stablehlo.constant dense<0x7FFFFFFFFFFFFFFF> : tensor<3xi64>
  %least = stablehlo.constant dense<0x0010000000000000> : tensor<3xi64>
  %0 = stablehlo.bitcast_convert %x : (tensor<3xf64>) -> tensor<3xi64>
  %1 = stablehlo.and %0, %size : tensor<3xi64>
  %2 = stablehlo.compare LT, %1, %least : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %3 = stablehlo.and %0, %sign : tensor<3xi64>
  %4 = func.call @_where(%2, %3, %0) : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %5 = stablehlo.bitcast_convert %4 : (tensor<3xi64>) -> tensor<3xf64>
  return %5 : tensor<3xf64>
}
func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = func.call @flush(%x) : (tensor<3xf64>) -> tensor<3xf64>
  %1 = chlo.lgamma %0 : tensor<3xf64> -> tensor<3xf64>
  return %1 : tensor<3xf64>
}
"""


def test_a_module_that_flushes_subnormal_numbers_by_their_bits():
    x, ones = np.array([0.3, 2.5, 40.0]), np.ones(3)
    module = api.parse(GAMMALN)
    _, gradient = api.evaluate(module, api.vjp(module).name, [x, ones])
    np.testing.assert_allclose(gradient, scipy.special.digamma(x), rtol=1e-12)
    module = api.parse(GAMMALN)
    first = api.jvp(module).name
    second = api.jvp(module, first, wrt=[0]).name
    *_, change = api.evaluate(module, second, [x, ones, ones])
    np.testing.assert_allclose(change, scipy.special.polygamma(1, x), rtol=1e-12)
