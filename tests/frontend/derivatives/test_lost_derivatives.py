"""Errors for what would lose a derivative: Python's and NumPy's functions of traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

TRANSFORMATIONS: dict[str, Callable[..., Any]] = {
    "grad": irax.grad,
    "jvp": lambda f: lambda x: irax.jvp(f, (x,), (1.0,))[1],
    "vjp": lambda f: lambda x: irax.vjp(f, x)[1](1.0)[0],
    "jacfwd": irax.jacfwd,
    "linearize": lambda f: lambda x: irax.linearize(f, x)[1](1.0),
}


@pytest.fixture(params=TRANSFORMATIONS)
def derivative(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return TRANSFORMATIONS[request.param]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(x) * x,
        lambda x: float(jnp.sin(x)) * x,
        lambda x: abs(complex(x)) * x,
        lambda x: x.tolist() * x,
        lambda x: np.frombuffer(x.tobytes(), np.float32)[0] * x,
        lambda x: irax.checkpoint(lambda y: float(y) * y)(x),
        lambda x: irax.vmap(lambda y: y * float(x))(jnp.ones(2)).sum(),
        lambda x: irax.grad(lambda y: float(x) * y)(1.0) * x,
        lambda x: lax.scan(lambda c, _: (c * float(x), None), x, None, length=2)[0],
    ],
)
def test_what_python_computes(derivative, f):
    with pytest.raises(irax.errors.ConcretizationTypeError, match="has no derivative, and one is"):
        derivative(f)(2.5)


def test_what_numpy_computes(derivative):
    with pytest.raises(irax.errors.TracerArrayConversionError, match="stop_gradient"):
        derivative(lambda x: jnp.asarray(np.asarray(x) * 2) * x)(2.5)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: float(lax.stop_gradient(x)) * x, 2.5),
        (lambda x: float(np.asarray(lax.stop_gradient(x))) * x, 2.5),
        (lambda x: float(jnp.floor(x)) * x, 2),
        (lambda x: float(jnp.sign(x)) * x, 1),
        (lambda x: float(x > 0) * x, 1),
        (lambda x: float(x.astype(int)) * x, 2),
        (lambda x: float(jnp.where(x > 0, 3.0, 2.0)) * x, 3),
        (lambda x: float(jnp.ones(2).sum()) * x, 2),
        (lambda x: int(x) * x, 2),
        (lambda x: [1.0, 2.0, 3.0][x.astype(int)] * x, 3),
    ],
)
def test_what_has_no_derivative(derivative, f, expected):
    np.testing.assert_allclose(derivative(f)(2.5), expected)


def test_arguments_of_which_no_derivative_is_taken():
    assert irax.grad(lambda x, y: x * float(y))(1.0, 2.0) == 2
    with pytest.raises(irax.errors.ConcretizationTypeError):
        irax.grad(lambda x, y: x * float(y), argnums=(0, 1))(1.0, 2.0)


def test_functions_whose_rules_state_derivatives():
    @irax.custom_vjp
    def sine(x):
        return jnp.asarray(np.sin(np.asarray(x)))

    sine.defvjp(lambda x: (sine(x), float(np.cos(x))), lambda slope, g: (slope * g,))
    np.testing.assert_allclose(irax.grad(lambda x: sine(2 * x))(1.0), 2 * np.cos(2), 1e-6)
    with pytest.raises(irax.errors.TracerArrayConversionError):
        irax.grad(irax.grad(sine))(1.0)  # the rule is differentiated

    @irax.custom_jvp
    def cubed(x):
        return x**2 * float(x)

    cubed.defjvp(lambda primals, tangents: (cubed(*primals), 3 * primals[0] ** 2 * tangents[0]))
    np.testing.assert_allclose(irax.grad(cubed)(2.0), 12)
    np.testing.assert_allclose(irax.grad(irax.grad(cubed))(2.0), 12)
