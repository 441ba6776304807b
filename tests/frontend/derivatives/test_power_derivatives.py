"""Second derivatives of powers, by all orders of the two modes."""

import numpy as np
import pytest

import irax
from irax import lax

MODES = (irax.jacfwd, irax.jacrev)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize(("x", "y"), [(4.0, 0.0), (1.0, 0.0), (2.0, 1.0), (0.5, 3.0)])
def test_second_derivatives_are_the_formulas(outer, inner, x, y):
    both = y * (y - 1) * x ** (y - 2), x ** (y - 1) * (1 + y * np.log(x))
    expected = [both, (both[1], np.log(x) ** 2 * x**y)]
    hessian = outer(inner(lax.pow, (0, 1)), (0, 1))
    np.testing.assert_allclose(hessian(x, y), expected, rtol=1e-5)
    np.testing.assert_allclose(irax.jit(hessian)(x, y), expected, rtol=1e-5)


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("inner", MODES)
@pytest.mark.parametrize(("y", "expected"), [(2.0, 2.0), (3.0, 0.0), (4.0, 0.0)])
def test_at_a_base_of_zero_too(outer, inner, y, expected):
    np.testing.assert_array_equal(
        outer(inner(lax.pow, (0, 1)), (0, 1))(0.0, y), [(expected, 0.0), (0.0, 0.0)]
    )
