"""Patterns beside those that other software publishes of the same functions: no element more.

The functions and their patterns are those of the tests of SparseConnectivityTracer.jl and asdex.
"""

from __future__ import annotations

import numpy as np
import pytest

import irax.numpy as jnp
from irax import lax, nn, sparse
from irax.scipy.special import beta, erf


def v(*numbers):
    return np.array(numbers, np.float32)


def rows(pattern):
    return " ".join("".join(map(str, row)) for row in pattern.todense().astype(int))


def smaller(x):
    return lax.cond(x[0] < x[1], lambda: x[2], lambda: x[3])[None]


AT_A_POINT = {
    "product": (lambda x: (x[0] * x[1])[None], {(1, 1): "11", (1, 0): "01", (0, 0): "00"}),
    "quotient": (lambda x: (x[0] / x[1])[None], {(1, 1): "11", (0, 1): "10"}),
    "maximum": (lambda x: jnp.maximum(*x)[None], {(1, 2): "01", (2, 1): "10", (1, 1): "11"}),
    "minimum": (lambda x: jnp.minimum(*x)[None], {(1, 2): "10", (1, 1): "11"}),
    "where": (lambda x: jnp.where(x[0] > x[1], x[2], x[3])[None], {(1, 2, 3, 4): "0001"}),
    "cond": (smaller, {(1, 2, 3, 4): "0010", (2, 1, 3, 4): "0001"}),
    "powers": (lambda x: jnp.stack([x[0] ** (2 / 3), (2 / 3) ** x[0]]), {(1,): "1 1"}),
    "round": (jnp.round, {(1,): "0"}),
    "logdet": (lambda x: jnp.log(jnp.linalg.det(x.reshape(2, 2)))[None], {(1, -1, 2, 2): "1111"}),
    "dot": (lambda x: jnp.dot(x[:2], x[3:])[None], {(0, 1, 0, 1, 0): "10001"}),
    "relu6": (nn.relu6, {(-1,): "0", (1,): "1", (7,): "0"}),
    "hard_sigmoid": (nn.hard_sigmoid, {(-4,): "0", (0,): "1", (4,): "0"}),
    "hard_tanh": (nn.hard_tanh, {(-2,): "0", (0,): "1", (2,): "0"}),
}


@pytest.mark.parametrize("name", AT_A_POINT)
def test_jacobians_at_a_point(name):
    f, expected = AT_A_POINT[name]
    for x, pattern in expected.items():
        assert rows(sparse.sparsity(f, local=True)(v(*x))) == pattern


def mixed(x):
    return x[0] + x[1] * x[2] + 1 / x[3] + 1 * x[4]


HESSIANS = {
    "quotients": (lambda x: x[0] / x[1] + x[2] / 1 + 1 / x[3], "0100 1100 0000 0001"),
    "product": (lambda x: x[0] * x[1] + x[2] * 1 + 1 * x[3], "0100 1000 0000 0000"),
    "four factors": (lambda x: (x[0] * x[1]) * (x[2] * x[3]), "0111 1011 1101 1110"),
    "product of sums": (lambda x: (x[0] + x[1]) * (x[2] + x[3]), "0011 0011 1100 1100"),
    "square": (lambda x: jnp.sum(x) ** 2, "1111 1111 1111 1111"),
    "linear": (lambda x: (x[0] - x[1]) + (x[2] - 1) + (1 - x[3]), "0000 0000 0000 0000"),
    "copysign": (lambda x: jnp.copysign(x[0] * x[1], x[2] * x[3]), "0100 1000 0000 0000"),
    "trunc": (lambda x: jnp.trunc(x[0] * x[1] / (x[2] * x[3])), "0000 0000 0000 0000"),
    "differences": (lambda x: jnp.sum(jnp.diff(x) ** 3), "1100 1110 0111 0011"),
    "mixed": (mixed, "00000 00100 01000 00010 00000"),
    "power": (lambda x: mixed(x) + x[1] ** x[4], "00000 01101 01000 00010 01001"),
    "erf": (lambda x: erf(x[0]) + x[1], "10 00"),
    "beta": (lambda x: beta(x[0], x[1]) + x[2], "110 110 000"),
    "sum of sizes": (lambda x: jnp.sum(jnp.abs(x)), "0000 0000 0000 0000"),
    "largest size": (lambda x: jnp.max(jnp.abs(x)), "0000 0000 0000 0000"),
    "norm": (jnp.linalg.norm, "1111 1111 1111 1111"),
    "det": (lambda x: jnp.linalg.det(jnp.diag(x)), "011 101 110"),
    "clip": (lambda x: x[0] * jnp.clip(x[0], x[1], x[2]), "111 100 100"),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_hessians(name):
    f, expected = HESSIANS[name]
    size = len(expected.partition(" ")[0])
    assert rows(sparse.hessian_sparsity(f)(v(*np.linspace(0.3, 0.9, size)))) == expected


def test_hessians_at_a_point():
    def f(x):
        return x[0] + x[1] * x[2] + 1 / x[3] + x[1] * jnp.maximum(x[0], x[4])

    pattern = sparse.hessian_sparsity(f, local=True)
    assert rows(pattern(v(1, 3, 5, 1, 2))) == "00000 00101 01000 00010 01000"
    assert rows(pattern(v(4, 3, 5, 1, 2))) == "01000 10100 01000 00010 00000"
