"""Transformations of loops of transformations of loops: every nesting of jit, grad and vmap with
cond, scan and while, two deep, to second order in both modes, against dual numbers.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

# ---- functions of a number, made of functions of a number ----------------------------------------


def while_loop(f, x):
    step = lambda s: (s[0] + 1, f(s[1]) + 0.1 * x)
    return lax.while_loop(lambda s: s[0] < 2, step, (0, x), max_steps=3)[1]


FORMS = {
    "": lambda f, x: f(x),
    "jit": lambda f, x: irax.jit(f)(x),
    "grad": lambda f, x: irax.grad(f)(x),
    "vmap": lambda f, x: jnp.sum(irax.vmap(f)(jnp.stack([x, 0.5 * x, -x]))),
    "cond": lambda f, x: lax.cond(x > 0.1, f, lambda y: y * y, x),
    "scan": lambda f, x: lax.scan(lambda c, s: (f(c) + s * x, c), x, 0.1 * jnp.ones(2))[0],
    "while": while_loop,
    "switch": lambda f, x: lax.switch(jnp.int32(x > 0.1), [lambda y: y * y, f], x),
    "fori": lambda f, x: lax.fori_loop(0, 2, lambda i, c: f(c) + 0.1 * x, x),
    "map": lambda f, x: jnp.sum(lax.map(f, jnp.stack([x, 0.5 * x, -x]))),
    "checkpoint": lambda f, x: irax.checkpoint(f)(x),
}


@dataclass(frozen=True)
class Dual:
    """A number and its derivative along the direction of some level."""

    level: int
    value: Any
    slope: Any

    def parts(self, level: int) -> tuple[Any, Any]:
        return (self.value, self.slope) if level == self.level else (self, 0.0)

    def __add__(self, other):
        level, (x, dx), (y, dy) = both(self, other)
        return Dual(level, x + y, dx + dy)

    def __mul__(self, other):
        level, (x, dx), (y, dy) = both(self, other)
        return Dual(level, x * y, x * dy + dx * y)

    def __gt__(self, other):
        return self.value > other

    __radd__, __rmul__ = __add__, __mul__


def both(x, y):
    level = max(v.level for v in (x, y) if isinstance(v, Dual))
    return level, *(v.parts(level) if isinstance(v, Dual) else (v, 0.0) for v in (x, y))


def sin(x):
    return Dual(x.level, sin(x.value), cos(x.value) * x.slope) if isinstance(x, Dual) else np.sin(x)


def cos(x):
    if isinstance(x, Dual):
        return Dual(x.level, cos(x.value), -1.0 * sin(x.value) * x.slope)
    return np.cos(x)


levels = itertools.count()


def derivative(f, x):
    level = next(levels)
    y = f(Dual(level, x, 1.0))
    return y.parts(level)[1] if isinstance(y, Dual) else 0.0


def three(f, x):
    return f(x) + f(0.5 * x) + f(-1.0 * x)


def twice(f, x):
    return f(f(x) + 0.1 * x) + 0.1 * x


def choice(f, x):
    return f(x) if x > 0.1 else x * x


PLAIN = {
    "": lambda f, x: f(x),
    "jit": lambda f, x: f(x),
    "grad": derivative,
    "vmap": three,
    "cond": choice,
    "scan": twice,
    "while": twice,
    "switch": choice,
    "fori": twice,
    "map": three,
    "checkpoint": lambda f, x: f(x),
}


def nested(names, forms, sin):
    """A function of x: each form of the next, and in the middle one that uses x from outside."""

    def whole(x):
        f = lambda z: sin(z) * x
        for name in reversed(names):
            f = lambda z, form=forms[name], f=f: form(f, z)
        return f(x)

    return whole


TRANSFORMS, LOOPS = ("", "jit", "grad", "vmap"), ("cond", "scan", "while")
NESTINGS = [
    (*pair, *after)
    for pair in itertools.product(TRANSFORMS, LOOPS)
    for after in itertools.product(TRANSFORMS, LOOPS)
]
OTHERS = [("switch", "grad", "fori"), ("fori", "vmap", "map"), ("map", "grad", "switch"),
          ("checkpoint", "scan", "checkpoint", "cond"), ("while", "checkpoint", "map")]  # fmt: skip
EVERY = 1 if os.environ.get("IRAX_SWEEP") else 31
"""The number of nestings for each that is tested. (13 would be those of a form in itself.)"""


@pytest.fixture(autouse=True)
def x64():
    with irax.enable_x64(True):
        yield


def named(names):
    return "-".join(n for n in names if n)


@pytest.mark.parametrize("names", [*NESTINGS[::EVERY], *OTHERS], ids=named)
@pytest.mark.slow
def test_derivatives(names):
    f, plain = nested(names, FORMS, jnp.sin), nested(names, PLAIN, sin)
    slope = lambda x: derivative(plain, x)
    for x in (0.7, -0.3):
        expected = [plain(x), slope(x), slope(x), derivative(slope, x), derivative(slope, x)]
        found = [
            irax.jvp(f, (x,), (1.0,))[0],
            irax.jvp(f, (x,), (1.0,))[1],
            irax.grad(f)(x),
            irax.grad(irax.grad(f))(x),
            irax.jvp(irax.grad(f), (x,), (1.0,))[1],
        ]
        np.testing.assert_allclose(np.asarray(found, float), expected, rtol=1e-9, atol=1e-12)
    lanes = irax.vmap(irax.grad(f))(jnp.array([0.7, -0.3]))
    np.testing.assert_allclose(lanes, [slope(0.7), slope(-0.3)], rtol=1e-9, atol=1e-12)


ON_IREE = [
    ("cond", "grad", "scan"),
    ("scan", "vmap", "cond"),
    ("while", "cond"),
    ("scan", "checkpoint", "scan", "cond"),
    ("vmap", "while", "grad", "scan"),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("names", NESTINGS if EVERY == 1 else ON_IREE, ids=named)
def test_on_iree(names):
    f, plain = nested(names, FORMS, jnp.sin), nested(names, PLAIN, sin)
    g = irax.jit(irax.vmap(irax.value_and_grad(f)))
    values, slopes = g(jnp.array([0.7, -0.3]))
    np.testing.assert_allclose(values, [plain(0.7), plain(-0.3)], rtol=1e-9, atol=1e-12)
    expected = [derivative(plain, 0.7), derivative(plain, -0.3)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(), (200,)])
def test_three_values_through_a_branch_on_iree(shape):
    """IREE itself loses the buffers of a branch that hands on three values as they are."""

    def step(carry, _):
        turned = lambda a, b, c: (a * b, b * c, c * a)
        return lax.cond(jnp.sum(carry[0]) > 0, turned, lambda *same: same, *carry), None

    segment = irax.checkpoint(lambda *carry: lax.scan(step, carry, None, length=3)[0])

    def f(x):
        start = (x, 2 * x, x + 1)
        return jnp.sum(sum(lax.scan(lambda c, _: (segment(*c), None), start, None, length=2)[0]))

    for x in (np.full(shape, 0.3), np.full(shape, -0.3)):
        np.testing.assert_allclose(irax.jit(irax.grad(f))(x), irax.grad(f)(x), rtol=1e-9)
