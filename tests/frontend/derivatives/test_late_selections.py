"""Reverse mode of selections whose branches have infinite derivatives where they are not taken,
against forward mode, whose selections drop those, and against formulas.
"""

import numpy as np
import pytest

import irax
import irax.numpy as jnp

ERF_INV = """
func.func private @_where(%p: tensor<3xi1>, %x: tensor<3xf64>, %y: tensor<3xf64>) -> tensor<3xf64> {
  %0 = stablehlo.select %p, %x, %y : tensor<3xi1>, tensor<3xf64>
  return %0 : tensor<3xf64>
}
func.func public @main(%x: tensor<3xf64>) -> tensor<3xf64> {
  %zero = stablehlo.constant dense<0.0> : tensor<3xf64>
  %one = stablehlo.constant dense<1.0> : tensor<3xf64>
  %inf = stablehlo.constant dense<0x7FF0000000000000> : tensor<3xf64>
  %size = stablehlo.abs %x : tensor<3xf64>
  %ends = stablehlo.compare EQ, %size, %one : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
  %infinite = stablehlo.multiply %x, %inf : tensor<3xf64>
  %positive = stablehlo.compare GT, %x, %zero : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xi1>
  %root = stablehlo.sqrt %x : tensor<3xf64>
  %inner = call @_where(%positive, %root, %x)
      : (tensor<3xi1>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %outer = call @_where(%ends, %infinite, %inner)
      : (tensor<3xi1>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return %outer : tensor<3xf64>
}
"""


def safe_direction(x):
    length = jnp.sqrt((x * x).sum())
    return jnp.where(length > 0, x / length, 0.0)


def of_rows(x):
    lengths = jnp.sqrt((x * x).sum(1, keepdims=True))
    return jnp.where(lengths > 0, x / lengths, 0.0)


def moved(x):
    return jnp.where(x[:, None] > 0, jnp.sqrt(x).reshape(1, 2).T, x[:, None])


def nested(x):
    return jnp.select([x > 1, x > 0, x > -1], [jnp.log(x - 1), 1 / x, jnp.sqrt(x + 1)], x * jnp.inf)


def by_number(x):
    return jnp.where(x.sum() > 0, jnp.sqrt(x).sum() * x, x)


def of_two_selections(x):
    """The root of x is in branches of two selections, none of which is taken at 0."""
    root = jnp.sqrt(x)
    first = jnp.where(x > 1, root, jnp.where(x > 0, 2 * root, 3 * x))
    return first * jnp.where(x > 2, root * x, x + 1)


CASES = {
    of_two_selections: [np.array([0.0, 0.25, 1.5, 4.0])],
    safe_direction: [np.zeros(2), np.array([3.0, -4.0])],
    of_rows: [np.array([[0.0, 0.0], [3.0, -4.0]])],
    moved: [np.array([0.0, 4.0])],
    nested: [np.array([2.0, 1.0, 0.5, 0.0, -0.5])],
    by_number: [np.zeros(2), np.array([1.0, 4.0])],
}


@pytest.fixture(autouse=True)
def _wide():
    with irax.enable_x64(True):
        yield


@pytest.mark.parametrize("function", CASES)
def test_both_modes_agree(function):
    for x in CASES[function]:
        forward = irax.jacfwd(function)(x)
        assert np.isfinite(forward).all()
        np.testing.assert_allclose(irax.jacrev(function)(x), forward, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "function, slope",
    [
        (lambda x: jnp.maximum(jnp.log(x), -100.0), 4.0),
        (lambda x: jnp.minimum(jnp.divide(1, x), 9.0), -16.0),
    ],
)
def test_what_an_extremum_leaves_has_no_derivative(function, slope):
    """As the logarithms in a cross-entropy, which are no less than -100."""
    x = np.array([0.0, 0.25])
    np.testing.assert_array_equal(irax.grad(lambda x: function(x).sum())(x), [0, slope])
    np.testing.assert_array_equal(np.diag(irax.jacfwd(function)(x)), [0, slope])


def test_compiled_and_second_order():
    x = np.array([0.0, 4.0])
    slope = irax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0).sum())
    np.testing.assert_allclose(irax.jit(slope)(x), [0, 0.25])
    np.testing.assert_allclose(irax.jacrev(slope)(x), [[0, 0], [0, -1 / 32]])


def test_functions_that_modules_write_out():
    run = irax.ir.load(ERF_INV)
    slopes = irax.grad(lambda x: run(x).sum())(np.array([0.25, -0.5, 1.0]))
    np.testing.assert_array_equal(slopes, [1.0, 1.0, np.inf])
