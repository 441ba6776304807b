"""check_grads, to order 2 and in both modes, of functions that between them use every op there is.

In float64 and outside of jit, so that the differences are sharp and nothing is compiled.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax, nn
from irax.test_util import check_grads, check_jvp, check_vjp

RNG = np.random.default_rng(0)
X = RNG.uniform(0.3, 0.9, (3, 4))
Y = RNG.uniform(1.1, 1.9, (3, 4))
INDEX = np.array([2, 0, 2])
MASK = X > 0.6

FUNCTIONS = {
    "add": lambda x, y: x + y * 2.0,
    "subtract": lambda x, y: 1.0 - x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "remainder": lambda x, y: jnp.fmod(3 * x, y),
    "negate": lambda x, y: -x * y,
    "maximum": lambda x, y: jnp.maximum(2 * x, y),
    "minimum": lambda x, y: jnp.minimum(2 * x, y),
    "power": lambda x, y: x**y,
    "integer power": lambda x, y: x**3 + y**-2,
    "atan2": jnp.arctan2,
    "abs and sign": lambda x, y: jnp.abs(x - 0.61) * jnp.sign(y),
    "exponentials": lambda x, y: jnp.exp(x) + jnp.expm1(y) + jnp.exp2(x),
    "logarithms": lambda x, y: jnp.log(x) + jnp.log1p(y) + jnp.log2(y) + jnp.logaddexp(x, y),
    "roots": lambda x, y: jnp.sqrt(x) + jnp.cbrt(y) + lax.rsqrt(x),
    "trigonometric": lambda x, y: jnp.sin(x) * jnp.cos(y) + jnp.tan(x),
    "inverse": lambda x, y: jnp.arcsin(x) + jnp.arccos(x) + jnp.arctan(y),
    "hyperbolic": lambda x, y: jnp.sinh(x) * jnp.cosh(y) + jnp.tanh(x),
    "inverse hyperbolic": lambda x, y: jnp.arcsinh(x) + jnp.arccosh(y) + jnp.arctanh(x),
    "logistic": lambda x, y: nn.sigmoid(x) + nn.softplus(y) + nn.silu(x) + nn.gelu(y),
    "erf": lambda x, y: lax.erf(x) + lax.erfc(y) + lax.erf_inv(x),
    "gamma": lambda x, y: lax.lgamma(x) + lax.digamma(y),
    "select": lambda x, y: jnp.where(MASK, x * x, y),
    "clamp": lambda x, y: jnp.clip(x * y, 0.7, 1.2),
    "dot": lambda x, y: (x @ y.T) * jnp.dot(x[0], y[1]),
    "batched dot": lambda x, y: jnp.einsum("ij,ik->ijk", x, y),
    "sum and mean": lambda x, y: jnp.sum(x * y, 0) + jnp.mean(x),
    "max and min": lambda x, y: jnp.max(x, 1) * jnp.min(y),
    "prod": lambda x, y: jnp.prod(x, 1) * jnp.prod(y[:, :2]),
    "variance": lambda x, y: jnp.var(x) + jnp.std(y, 1),
    "cumulative": lambda x, y: jnp.cumsum(x, 1) * jnp.cumprod(y, 0),
    "norm": lambda x, y: jnp.linalg.norm(x) * jnp.linalg.norm(y, axis=0),
    "softmax": lambda x, y: nn.softmax(x) * nn.log_softmax(y, axis=0),
    "logsumexp": lambda x, y: nn.logsumexp(x * y, axis=1),
    "broadcast": lambda x, y: x[:, None, :] * y[None],
    "reshape": lambda x, y: jnp.reshape(x, (2, 6)) @ jnp.ravel(y)[:6],
    "transpose": lambda x, y: x.T @ y,
    "concatenate": lambda x, y: jnp.concatenate([x, y * x], 1) ** 2,
    "stack and split": lambda x, y: jnp.stack(jnp.split(x * y, 2, 1), 1),
    "pad": lambda x, y: jnp.pad(x, 1) * jnp.sum(y),
    "slice": lambda x, y: x[::2, 1:3] * y[:2, ::2],
    "reverse": lambda x, y: jnp.flip(x, 1) * y[::-1],
    "roll and tile": lambda x, y: jnp.roll(x, 1, 0) * jnp.tile(y[:1], (3, 1)),
    "dynamic_slice": lambda x, y: lax.dynamic_slice(x, (1, 2), (2, 2)) * y[0, 0],
    "dynamic_update_slice": lambda x, y: lax.dynamic_update_slice(x, y[:2, :2], (1, 1)) ** 2,
    "gather": lambda x, y: x[INDEX] * y[INDEX, INDEX][:, None],
    "scatter set": lambda x, y: x.at[np.array([0, 2])].set(y[:2]) ** 2,
    "scatter add": lambda x, y: x.at[INDEX].add(y) ** 2,
    "scatter min and max": lambda x, y: x.at[0].max(y[0] / 2) * x.at[1].min(y[1] / 3),
    "sort": lambda x, y: jnp.sort(x * y, axis=1),
    "take_along_axis": lambda x, y: jnp.take_along_axis(x, jnp.argsort(y, axis=1), 1) * y,
    "convert": lambda x, y: x.astype(jnp.float64) * y.astype(int),
    "vmap": lambda x, y: irax.vmap(lambda a, b: jnp.outer(a, b), (0, None))(x, y[0]),
    "jit": lambda x, y: irax.jit(lambda a: jnp.sin(a) * y)(x),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name):
    with irax.enable_x64(True):
        check_grads(FUNCTIONS[name], (jnp.asarray(X), jnp.asarray(Y)), order=2)


def test_tolerances_by_dtype():
    x = np.float32([1.0, 2.0])
    check_grads(lambda x: x**2, (x,), 1, atol={np.float32: 0.1}, rtol={np.float32: 0.1})
    with pytest.raises(AssertionError):
        check_grads(lambda x: x**2, (x,), 1, atol={np.float32: 1e-9}, rtol={np.float32: 1e-9})


def test_a_jvp_and_a_vjp_are_checked_by_themselves():
    f = lambda x, y: {"out": jnp.sin(x) * y}
    check_jvp(f, functools.partial(irax.jvp, f), (X, Y))
    check_vjp(f, functools.partial(irax.vjp, f), (X, Y))
    wrong = lambda args, tangents: (f(*args), {"out": tangents[0]})
    with pytest.raises(AssertionError, match="mine: jvp"):
        check_jvp(f, wrong, (X, Y), err_msg="mine")
    with pytest.raises(AssertionError, match="the value"):
        check_jvp(lambda x, y: f(y, x), functools.partial(irax.jvp, f), (X, Y))
    off = lambda x, y: (f(x, y), lambda ct: (ct["out"], ct["out"]))
    with pytest.raises(AssertionError, match="f: vjp"):
        check_vjp(f, off, (X, Y))
    check_vjp(f, off, (X, Y), atol=1e3)


def test_a_jump_beside_the_point():
    check_grads(lambda x: jnp.where(x > 1.001, x + 1.0, x), (jnp.float32(1.0),), order=1)
