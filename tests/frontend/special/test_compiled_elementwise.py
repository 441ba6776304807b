"""Universal functions of numpy and functions of nn, compiled and evaluated, on a table of ordinary
and extreme points.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.frontend.special.test_compiled_special import POINTS

import irax
import irax.numpy as jnp
from irax import nn

UFUNCS = {
    name: getattr(np, name).nin
    for name in dir(jnp)
    if isinstance(getattr(np, name, None), np.ufunc) and getattr(np, name).signature is None
}
OF_NN = [
    *("celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh"),
    *("identity", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax", "mish", "relu", "relu6"),
    *("selu", "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus"),
    *("sparse_sigmoid", "squareplus", "standardize", "swish", "logsumexp"),
]
TINY = float(np.finfo(np.float32).tiny)
FLUSHED = {"glu", "mish", "silu", "swish"}
"""Functions with a factor that is flushed to zero where the product is not yet."""


def check(function: Callable[..., Any], operands: list[np.ndarray], least: float) -> None:
    eager = irax.tree.leaves(function(*operands))
    compiled = irax.tree.leaves(irax.jit(function)(*operands))
    for x, y in zip(map(np.asarray, eager), map(np.asarray, compiled), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        with np.errstate(invalid="ignore", over="ignore"):
            wide = x.astype(float), y.astype(float)
            near = np.abs(wide[0] - wide[1]) <= 3e-5 * np.abs(wide[0]) + least
        same = near | (x == y) | np.isnan(wide[0]) & np.isnan(wide[1])
        bad = [(i, x.flat[i], y.flat[i]) for i in np.flatnonzero(~same)]
        assert not bad, bad[:5]


@pytest.mark.sampled(36)
@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_universal_functions(name: str) -> None:
    rows = np.array(list(itertools.product(POINTS, repeat=UFUNCS[name])), np.float32).T
    function = getattr(jnp, name)
    operands = list(rows)
    try:
        function(*(x[:1] for x in operands))
    except (TypeError, ValueError):  # it takes integers
        whole = [0, 1, 2, 3, 5, 7, 31, 32, 100, 2**31 - 1, -1, -2, -7, -32, -100, -(2**31)]
        pairs = list(itertools.product(whole, repeat=UFUNCS[name]))
        operands = list(np.array(pairs, np.int32).T)
    check(function, operands, TINY)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", OF_NN)
def test_functions_of_nn(name: str) -> None:
    points = np.array(POINTS[:36], np.float32)
    finite = points[np.abs(points) < 1e30]
    least = TINY * (128 if name in FLUSHED else 1)
    for operand in (points, finite[: len(finite) // 2 * 2]):
        check(getattr(nn, name), [operand], least)
