"""Taylor mode, compared with derivatives of derivatives along the curve."""

from math import factorial

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.experimental.jet import jet

TERMS = [1.0, 0.5, -0.3, 0.2]


def nested(f, primals, series):
    """The derivatives along the curve, by forward mode within forward mode."""

    def along(t):
        return f(
            *(
                x + sum(c * t**k / factorial(k) for k, c in enumerate(terms, 1))
                for x, terms in zip(primals, series, strict=True)
            )
        )

    found = []
    for _ in series[0]:
        along = lambda t, g=along: irax.jvp(g, (t,), (1.0,))[1]
        found.append(along(0.0))
    return found


def check(f, primals, series, rtol=2e-4):
    value, terms = jet(f, primals, series)
    np.testing.assert_allclose(value, f(*primals), rtol=1e-6)
    for found, wanted in zip(terms, nested(f, primals, series), strict=True):
        np.testing.assert_allclose(found, wanted, rtol, atol=1e-5)


ELEMENTWISE = {
    **{
        name: getattr(jnp, name)
        for name in (
            *("sin", "cos", "tan", "tanh", "exp", "expm1", "log", "log1p", "sqrt", "sinh", "cosh"),
            *("arctan", "arcsin", "square", "abs", "reciprocal"),
        )
    },
    "logistic": lax.logistic,
    "rsqrt": lax.rsqrt,
    "stop_gradient": lambda x: jnp.sin(lax.stop_gradient(x * x)) * x,
    "cube": lambda x: x**3,
    "power": lambda x: x**2.5,
    "both": lambda x: x**x / (1 + x),
    "rule": irax.nn.softplus,
    "max": lambda x: jnp.maximum(x * x, 0.3),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str):
    check(ELEMENTWISE[name], (0.4,), ([*TERMS[:3]],))


A = jnp.array([[0.3, -0.5, 0.7], [1.1, 0.2, -0.4], [0.6, 0.9, -1.2]])
X = (jnp.array([0.3, 0.5, -0.7]),)
SERIES = ([jnp.array([1.0, 2.0, 0.5]), jnp.array([0.1, 0.2, 0.3])],)


def control(x):
    def step(c, i):
        return jnp.sin(c) * x[0] + i, c * c

    c, ys = lax.scan(step, x.sum(), jnp.arange(3.0))
    d = lax.fori_loop(0, 2, lambda i, v: v * x[1] + i, c)
    e = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x[2]), (0, d))[1]
    return lax.cond(e > 0, jnp.exp, irax.jit(jnp.sin), e) + ys.sum()


WHOLE = {
    "products": lambda x: (jnp.tanh(A @ x) ** 2).sum() + jnp.linalg.norm(A @ x),
    "control": control,
    "moves": lambda x: jnp.sort(x * x)[1] / x[0] + jnp.cumsum(x)[2] * x[jnp.array(1)],
    "choices": lambda x: jnp.where(x > 0, x, x * x).sum() + irax.nn.softmax(x)[0],
}


@pytest.mark.parametrize("name", WHOLE)
def test_functions(name: str):
    check(WHOLE[name], X, SERIES)


def test_several_arguments_and_integers():
    value, terms = jet(lambda x, n: {"a": x * n, "b": n}, (2.0, 3), ([1.0, 0.0], [0, 0]))
    assert (value["a"], value["b"]) == (6, 3)
    assert [list(map(float, terms[k])) for k in "ab"] == [[3, 0], [0, 0]]
    check(lambda x, y: x * y / (1 + x), (0.5, 2.0), (TERMS[:2], TERMS[1:3]))


def test_coefficients():
    _, terms = jet(jnp.exp, (0.0,), ([1.0, 0.0, 0.0],), factorial_scaled=False)
    np.testing.assert_allclose(terms, [1, 1 / 2, 1 / 6], rtol=1e-6)


def test_within_transformations():
    def second(x):
        return jet(jnp.sin, (x,), ([1.0, 0.0],))[1][1]

    assert irax.jit(second)(0.5) == pytest.approx(-np.sin(0.5))
    np.testing.assert_allclose(irax.vmap(second)(jnp.arange(3.0)), -np.sin(np.arange(3)), rtol=1e-5)
    assert irax.grad(second)(0.5) == pytest.approx(-np.cos(0.5))


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"1 primals and 2 series; expected as many"):
        jet(jnp.sin, (1.0,), ([1.0], [1.0]))
    with pytest.raises(ValueError, match=r"inconsistent lengths: \[1, 2\]"):
        jet(jnp.add, (1.0, 1.0), ([1.0], [1.0, 2.0]))
    with pytest.raises(ValueError, match=r"primal value at position 0 is not an array"):
        jet(lambda x: x[0], ([1.0],), ([[1.0]],))
    with pytest.raises(ValueError, match=r"term 1 of argument 0 has shape \(2,\); expected \(\)"):
        jet(jnp.sin, (1.0,), ([jnp.ones(2)],))
