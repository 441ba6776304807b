"""Reverse mode of loops that carry the norm of their last step to know when to end. Where a step
was zero, the norm has an infinite derivative, which no cotangent may meet.
"""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

X = np.array([4.0, 9.0, 1.0])  # Newton's steps are zero in the end


@pytest.fixture(autouse=True)
def _wide():
    with irax.enable_x64(True):
        yield


def newton(root, x):
    step = (root * root - x) / (2 * root)
    return root - step, jnp.sqrt(jnp.sum(step**2))


def while_loop(x):
    def body(carry):
        return newton(carry[0], x)

    return lax.while_loop(lambda c: c[1] > 0, body, (x, 1.0), max_steps=20)[0]


def scan(x):
    def step(carry, _):
        root, _ = carry
        found = newton(root, x)
        return found, found[1]

    return lax.scan(step, (x, 1.0), length=12)[0][0]


def nested(x):
    """The norm of an inner loop decides in an outer one."""

    def body(i, carry):
        root, size = carry
        found, new = lax.fori_loop(0, 4, lambda _, c: newton(c[0], x), (root, size))
        return lax.cond(size > 0, lambda: (found, new), lambda: (root, size))

    return lax.fori_loop(0, 4, body, (x, 1.0))[0]


@pytest.mark.parametrize("f", [while_loop, scan, nested])
def test_the_norm_of_a_step_is_in_no_gradient(f):
    def loss(x):
        return f(x).sum()

    expected = 0.5 / np.sqrt(X)
    np.testing.assert_allclose(irax.grad(loss)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(irax.jit(irax.grad(loss))(X), expected, rtol=1e-12)
    many = irax.vmap(irax.grad(loss))(np.stack([X, X * 4]))
    np.testing.assert_allclose(many, [expected, expected / 2], rtol=1e-12)


def test_second_derivatives():
    hessian = irax.hessian(lambda x: scan(x).sum())(X)
    np.testing.assert_allclose(hessian, np.diag(-0.25 * X**-1.5), rtol=1e-12)
