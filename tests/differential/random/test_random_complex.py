"""Random programs of complex numbers: compiled against the same ones run at once.

`make fuzz` runs thousands.
"""

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

PROGRAMS = int(os.environ.get("IRAX_FUZZ", "0")) or 6
ROWS, COLUMNS = (3, 4, 8, 20), (2, 5, 8, 33)
Step = Callable[[Any, Any, Any, int], Any]


def by_axis(f: Callable[..., Any]) -> list[Step]:
    return [lambda a, b, i, n, axis=axis: f(a, axis=axis) for axis in (0, 1)]


def pieces(a: Any, b: Any, i: Any, n: int) -> Any:
    return jnp.concatenate([jnp.sqrt(x * (k + 3j)) for k, x in enumerate(jnp.split(a, n))])


def columns(a: Any, b: Any, i: Any, n: int) -> Any:
    m = a.shape[1]
    return jnp.stack([a[:, j] * b[:, 3 * j % m] for j in range(m)], 1)


def bounded(x: Any) -> Any:
    return x / (1 + jnp.abs(x))


STEPS: list[Step] = [
    lambda a, b, i, n: a + b * (1 + 2j),
    lambda a, b, i, n: a * b,
    lambda a, b, i, n: jnp.conj(a) - b,
    lambda a, b, i, n: jnp.exp(a),
    lambda a, b, i, n: lax.complex(a.real, b.imag),
    lambda a, b, i, n: a / (2 + jnp.abs(b)).sum(1, keepdims=True),
    lambda a, b, i, n: jnp.where(a.real > b.real, a, b),
    lambda a, b, i, n: jnp.zeros_like(a).at[i].set(a[0]),
    lambda a, b, i, n: jnp.ones_like(a).at[i].add(b[1]),
    lambda a, b, i, n: a.at[i].set(1j),
    lambda a, b, i, n: a.at[:, i % 2].mul(b[:, 0]),
    lambda a, b, i, n: lax.dynamic_update_slice(jnp.full_like(a, 2j), b[:2, :1], (i, i)),
    lambda a, b, i, n: a[jnp.arange(n)[::-1]],
    lambda a, b, i, n: jnp.take_along_axis(a, jnp.argsort(b.real, axis=1), 1),
    lambda a, b, i, n: jnp.roll(a, i, 0),
    lambda a, b, i, n: jnp.flip(a, 1) + b,
    lambda a, b, i, n: jnp.pad(a, ((1, 1), (0, 2)))[1:-1, 2:],
    lambda a, b, i, n: jnp.concatenate([a[1:], b[:1] * 2]),
    lambda a, b, i, n: a @ b.T.conj() @ a,
    lambda a, b, i, n: jnp.einsum("ij,kj->ik", a, b) @ b,
    lambda a, b, i, n: irax.vmap(lambda x, y: x * y.sum())(a, b),
    lambda a, b, i, n: irax.grad(lambda x: (jnp.abs(x) ** 2 * (1 + jnp.abs(b))).sum())(a),
    lambda a, b, i, n: lax.fori_loop(0, 3, lambda t, c: bounded(c * b + t), a),
    lambda a, b, i, n: lax.scan(lambda c, x: (bounded(c + x), c * x), a[0], b)[1],
    lambda a, b, i, n: lax.cond(i > 1, lambda: a * 2, lambda: b + 1),
    pieces,
    columns,
    *by_axis(jnp.fft.fft),
    *by_axis(jnp.cumsum),
    *by_axis(jnp.sort),
    *by_axis(lambda a, axis: a - a.mean(axis, keepdims=True)),
]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_compiled_programs_are_those_run_at_once(seed: int, dtype: Any) -> None:
    choice = random.Random(seed)
    shape = choice.choice(ROWS), choice.choice(COLUMNS)
    steps = [(choice.choice(STEPS), choice.random(), choice.random()) for _ in range(8)]
    kept = [choice.randrange(2, 10) for _ in range(2)]

    def program(a: Any, b: Any, i: Any) -> Any:
        values = [a, b]
        for step, left, right in steps:
            x, y = (values[int(part * len(values))] for part in (left, right))
            values.append(bounded(step(x, y, i, shape[0])))
        return [*(values[k] for k in kept), values[-1]]

    rng = np.random.default_rng(seed)
    a, b = (rng.normal(size=(2, *shape)) + 1j * rng.normal(size=(2, *shape))).astype(dtype)
    with irax.enable_x64():
        expected = program(jnp.asarray(a), jnp.asarray(b), np.int32(1))
        found = irax.jit(program)(a, b, np.int32(1))
    tolerance = 2e-3 if dtype == np.complex64 else 1e-9
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
