"""Programs as people write them in JAX, and arguments for them: what make.py exports.

Needs JAX; the tests need only what was exported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax.scipy import special

RANDOM = np.random.default_rng(1)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}
"""Each program's function and arguments, by its name."""


def normal(*shape: int, scale: float = 1.0) -> np.ndarray[Any, Any]:
    return (scale * RANDOM.normal(size=shape)).astype(np.float32)


def positive(n: int) -> np.ndarray[Any, Any]:
    a = normal(n, n)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


def program(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = (function, arguments)
        return function

    return register


# ---- networks ------------------------------------------------------------------------------------


@program(normal(6, 5), normal(5), normal(5, 3), normal(4, 6), np.array([0, 2, 1, 2], np.int32))
def mlp(w1, b1, w2, x, labels):
    logits = nn.relu(x @ w1 + b1) @ w2
    return -jnp.mean(nn.log_softmax(logits)[jnp.arange(4), labels])


@program(normal(3, 3, 1, 4, scale=0.3), normal(4), normal(36, 3, scale=0.3), normal(2, 8, 8, 1))
def cnn(kernel, bias, w, images):
    y = lax.conv_general_dilated(
        images, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    y = nn.gelu(y + bias)
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jnp.sum(nn.softmax(y.reshape(2, 36) @ w) ** 2)


@program(normal(1, 4, 3), normal(3, 3, 2, scale=0.5))
def upsampling(x, kernel):
    return lax.conv_transpose(x, kernel, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@program(normal(2, 4, 6), normal(6, 6), normal(6, 6), normal(6, 6))
def attention(x, wq, wk, wv):
    def heads(w):
        return (x @ w).reshape(2, 4, 2, 3).transpose(0, 2, 1, 3)

    q, k, v = heads(wq), heads(wk), heads(wv)
    scores = jnp.einsum("bhid,bhjd->bhij", q, k) / jnp.sqrt(3.0)
    mask = jnp.tril(jnp.ones((4, 4), bool))
    weights = nn.softmax(jnp.where(mask, scores, -1e9))
    return jnp.einsum("bhij,bhjd->bihd", weights, v).reshape(2, 4, 6)


@program(normal(5, 2, 3), normal(3, 4), normal(4, 4, scale=0.5), normal(2, 4))
def rnn_scan(xs, wx, wh, h):
    def step(h, x):
        h = jnp.tanh(x @ wx + h @ wh)
        return h, jnp.sum(h, axis=1)

    h, sums = lax.scan(step, h, xs)
    return h, sums


@program(normal(4, 2, 3), normal(5, 12, scale=0.5), normal(12), normal(2, 2))
def lstm(xs, w, b, h):
    w = w[:, :8]

    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(jnp.concatenate([x, h], axis=1) @ w + b[:8], 4, axis=1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), None

    (h, c), _ = lax.scan(step, (h, jnp.zeros_like(h)), xs)
    return jnp.sum(h * c)


@program(normal(3, 6), normal(6), normal(6))
def layer_norm(x, scale, shift):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift


@program(normal(7, 4), np.array([[0, 3], [6, 3]], np.int32))
def embedding(table, tokens):
    return jnp.take(table, tokens, axis=0).mean(axis=1)


@program(normal(3, 4), normal(4, 4), normal(4, 4))
def checkpointed(x, w1, w2):
    @jax.checkpoint
    def block(x, w):
        return x + jnp.sin(x @ w)

    return jnp.sum(block(block(x, w1), w2) ** 2)


@program(normal(4, 3), normal(3), normal(3), np.float32(0.1))
def adam_step(x, w, m, rate):
    gradient = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    m = 0.9 * m + 0.1 * gradient
    return w - rate * m / (jnp.abs(m) + 1e-3), m


# ---- signals and linear algebra ------------------------------------------------------------------


@program(normal(3, 8))
def fft(x):
    y = jnp.fft.fft(x)
    return jnp.abs(jnp.fft.ifft(y * jnp.exp(-0.3 * jnp.arange(8)))) ** 2


@program(normal(2, 9), normal(3))
def spectral_filter(x, gains):
    y = jnp.fft.rfft(x, axis=1)
    return jnp.fft.irfft(y.at[:, :3].multiply(gains), n=9, axis=1)


@program(normal(3, 6))
def sort(x):
    order = jnp.argsort(x[0])
    return jnp.sort(x, axis=1)[:, :4], x[:, order]


@program(normal(3, 8))
def top_k(x):
    values, places = lax.top_k(x, 3)
    return jnp.tanh(values), places


@program(positive(4), normal(4, 2))
def linear_solve(a, b):
    return jnp.linalg.solve(a, b)


@program(positive(4), normal(4))
def cholesky(a, b):
    factor = jnp.linalg.cholesky(a)
    y = jax.scipy.linalg.solve_triangular(factor, b, lower=True)
    return jnp.sum(y**2) + 2 * jnp.sum(jnp.log(jnp.diag(factor)))


@program(positive(4) + np.diag(np.arange(4, dtype=np.float32) * 3))
def eigenvalues(a):
    return jnp.linalg.eigvalsh((a + a.T) / 2)


@program(normal(4, 3))
def qr(a):
    q, r = jnp.linalg.qr(a)
    return q @ jnp.tanh(r)


@program(normal(3, 3) + 3 * np.eye(3, dtype=np.float32))
def determinant(a):
    sign, log = jnp.linalg.slogdet(a)
    return sign * log, jnp.linalg.inv(a)


# ---- loops and branches --------------------------------------------------------------------------


@program(normal(3, 2), normal(3, 2))
def physics_loop(position, velocity):
    def step(_, state):
        x, v = state
        gap = x[:, None] - x[None]
        squares = jnp.sum(gap**2, axis=-1) + 0.1
        force = -jnp.sum(gap * squares[..., None] ** -1.5, axis=1)
        v = v + 0.05 * force
        return x + 0.05 * v, v

    x, v = lax.fori_loop(0, 6, step, (position, velocity))
    return jnp.sum(v**2) / 2 + jnp.sum(x)


@program(normal(10))
def heat_equation(u):
    def step(u, _):
        u = u + 0.2 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))
        return u, u[5]

    return lax.scan(step, u, length=7)


@program(np.float32(2.5), np.float32(1.2))
def newton(a, x):
    return lax.fori_loop(0, 5, lambda _, x: x - (x**3 - a) / (3 * x**2), x)


@program(np.int32(1), normal(4))
def branches(which, x):
    def damped(x):
        return jnp.exp(-(x**2))

    y = lax.switch(which, [jnp.sin, damped, lambda x: x * x], x)
    return lax.cond(which > 0, lambda y: 2 * y, lambda y: y - 1, y)


@program(normal(5), normal(5))
def associative_scan(a, b):
    def combine(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    return lax.associative_scan(combine, (jnp.tanh(a), b))[1]


@program(normal(6, 2), np.array([2, 0, 2, 1, 0, 2], np.int32))
def segments(x, ids):
    totals = jax.ops.segment_sum(x, ids, num_segments=3)
    return totals / (1 + jnp.bincount(ids, length=3)[:, None])


# ---- others --------------------------------------------------------------------------------------


@program(np.array([3, 5], np.uint32), normal(4))
def dropout(key, x):
    keep = jax.random.bernoulli(key, 0.6, x.shape)
    return jnp.where(keep, x / 0.6, 0) + 0.1 * jax.random.normal(key, x.shape)


@program(normal(2), normal(2), np.array([0, 7], np.uint32))
def reparametrised(mean, log_scale, key):
    noise = jax.random.normal(key, (16, 2))
    return jnp.mean(jnp.cos(mean + jnp.exp(log_scale) * noise))


@program(normal(4) ** 2 + 0.5, normal(4) ** 2 + 0.5)
def special_functions(a, b):
    return special.gammaln(a) + special.erf(b) - special.digamma(a * b), special.expit(a - b)


@program(normal(4), normal(4))
def logistic_regression_hessian(w, x):
    return jax.hessian(lambda w: jnp.log1p(jnp.exp(-jnp.dot(w, x))))(w)


@program(normal(3, 4), np.int32(1))
def updates(x, i):
    x = x.at[i, 1:3].add(2 * x[0, :2])
    x = lax.dynamic_update_slice(x, jnp.sin(x[:1]), (i, 0))
    return jnp.cumsum(x, axis=1), jnp.max(x, axis=0), jnp.pad(x, ((1, 0), (0, 2)))[:, ::2]


@program(normal(3, 3))
def custom_rule(x):
    @jax.custom_jvp
    def softplus(x):
        return jnp.log1p(jnp.exp(x))

    softplus.defjvp(lambda x, dx: (softplus(*x), dx[0] * nn.sigmoid(x[0])))
    return jnp.sum(softplus(3 * x) ** 2)


@program(normal(3), normal(3))
def complex_numbers(re, im):
    z = lax.complex(re, im)
    w = jnp.exp(z) / (2 + z * z)
    return jnp.real(w), jnp.imag(w), jnp.angle(w)


@program(normal(4, 4), normal(2, 4, 4))
def lower_precision(w, x):
    y = jnp.einsum("bij,jk->bik", x.astype(jnp.bfloat16), w.astype(jnp.bfloat16))
    return jnp.sum(y.astype(jnp.float32), axis=(1, 2))
