"""Kernels that write over operands, beside the evaluator: no value that is read again is lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
import irax.scipy.sparse.linalg
from irax import lax

SIZES = [
    (64, 300),
    *(pytest.param(size, marks=pytest.mark.slow) for size in [(3, 5), (16, 33), (300, 301)]),
]
"""Rests of vectors, and several workgroups."""


def chain(x, y):
    a = x @ y
    b = jnp.sin(a) + x[:, :1]
    c = jnp.tanh(jnp.reshape(jnp.sort(jnp.reshape(b, (-1,))), b.shape)) * 2 + b.max(0)
    return c @ y.T, b


def used_again(x, y):
    a = x @ y
    b = jnp.exp(a) + jnp.flip(a, 1)
    return a, jnp.cumsum(b, 0), jnp.cos(b) + b.sum(0)


def of_arguments(x, y):
    return jnp.sin(x), jnp.sin(x) @ jnp.cos(y), x


def in_loop(x, y):
    a = x @ y

    def step(_, state):
        b, c = state
        b = jnp.sin(jnp.cumsum(b, 1) / b.shape[1] + a)
        return jnp.cos(jnp.sort(b, 1)) + c, b

    return lax.fori_loop(0, 7, step, (a, a * 2))


def carried(x, y):
    """Next values over what a loop carries, of which others read more, before and after."""
    a = x @ y

    def step(_, state):
        b, c, d, total = state
        slope = jnp.sum(jnp.sort(b, 1) * c) / b.size
        after = jnp.cos(b) + 0.5 * c
        return after, jnp.sin(c) - slope * jnp.flip(d, 1), jnp.tanh(d) + after, total + d.max()

    return lax.fori_loop(0, 7, step, (a, jnp.sin(a), a, jnp.float32(0)))


def begun(x, y):
    """Loops in kernels that begin with what others make, once or twice, and with an argument."""
    a, b = jnp.cumsum(x @ y, 0), x @ jnp.cos(y)
    c = lax.fori_loop(0, 3, lambda i, c: jnp.flip(jnp.sin(c), 1) + i, a)
    d, e = lax.fori_loop(0, 4, lambda i, s: (jnp.flip(s[1], 0), s[0] * 0.5), (b, b))
    f = lax.fori_loop(0, 2, lambda i, f: jnp.flip(f, 0) + f[i], x)
    return c, d, e, f


def in_branches(x, y):
    a = jnp.cumsum(x @ y, 0)
    return lax.cond(a[0, 0] > 0, lambda b: jnp.sin(b) + a, lambda b: jnp.cos(b), a), a


def several_results(x, y):
    a, b = jnp.cumsum(x @ y, 0), jnp.cumsum(x @ y + 1, 1)
    c, d = a * b, a - b
    return jnp.sort(c, 0) + jnp.sort(d, 1), jnp.cumsum(c + d, 1)


PROGRAMS = [chain, used_again, of_arguments, in_loop, carried, begun, in_branches, several_results]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_values(program, size):
    generator, (n, m) = np.random.default_rng(0), size
    x = generator.standard_normal((n, m)).astype(np.float32)
    y = generator.standard_normal((m, m)).astype(np.float32) / m
    given = jnp.asarray(x), jnp.asarray(y)
    compiled = irax.jit(program)
    results = compiled(*given), compiled(*given)
    with irax.disable_jit():
        expected = irax.tree_util.tree_leaves(program(x, y))
    for found in results:
        pairs = zip(irax.tree_util.tree_leaves(found), expected, strict=True)
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(given[0], x)
    np.testing.assert_array_equal(given[1], y)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [5000, (500, 10)])
def test_constants_that_are_made_by_equal_kernels(n):
    """IREE computes them once, and merges the equal kernels of all."""
    key = irax.random.key(5)
    x = np.zeros(n, np.float32)
    found = irax.jit(lambda x: x + irax.random.normal(key, x.shape))(x)
    np.testing.assert_allclose(found, irax.random.normal(key, x.shape), rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_memory():
    """An activation between two convolutions takes none."""
    x, y = np.ones((4, 20, 20, 32), np.float32), np.ones((3, 3, 32, 32), np.float32)

    def two_layers(x, y):
        def layer(x):
            numbers = ("NHWC", "HWIO", "NHWC")
            return lax.conv_general_dilated(x, y, (1, 1), "SAME", dimension_numbers=numbers)

        return layer(jnp.sin(layer(x)))

    memory = irax.jit(two_layers).lower(x, y).compile().memory_analysis()
    assert memory.temp_size_in_bytes == x.nbytes


@pytest.mark.slow
def test_memory_of_carried_arrays():
    """A step makes the product with the matrix, and one other array beside those that it carries:
    a kernel that sums many products does not write over its operands.
    """
    b = np.ones((300, 400), np.float32)

    def product(x):
        return 4.1 * x - jnp.pad(x[1:], ((0, 1), (0, 0))) - jnp.pad(x[:-1], ((1, 0), (0, 0)))

    solve = irax.jit(lambda b: irax.scipy.sparse.linalg.cg(product, b, maxiter=9)[0])
    memory = solve.lower(b).compile().memory_analysis()
    assert memory.output_size_in_bytes == b.nbytes
    assert memory.temp_size_in_bytes < 4.1 * b.nbytes


@pytest.mark.slow
def test_concatenations_of_one_size():
    """The kernels of their parts write to their places: nothing keeps a part of the program."""
    x = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)

    @irax.jit
    def products(x, y):
        return irax.lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, y))

    for y in (x, np.cos(x)):
        factors = np.tanh(y)
        total, expected = 0.0, []
        for a, b in zip(factors.astype(np.float64), y, strict=True):
            total = total * a + b
            expected.append(total)
        np.testing.assert_allclose(products(factors, y)[1], expected, rtol=1e-3, atol=1e-4)
    memory = products.lower(x, x).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 2.1 * x.nbytes


@pytest.mark.slow
def test_long_chains_of_one_kernel():
    """Each dispatch is compared with the others of its kernel, and so are what made the operands:
    no recursion, and no path twice.
    """
    x = np.exp(1j * np.arange(256)).astype(np.complex64)

    def steps(np_: Any, x: Any) -> Any:
        for _ in range(150):
            x = np_.fft.fft(x) / 32 + x
        return x

    np.testing.assert_allclose(irax.jit(lambda x: steps(jnp, x))(x), steps(np, x), rtol=1e-3)
