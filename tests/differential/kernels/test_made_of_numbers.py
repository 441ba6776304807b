"""Arrays that programs make of numbers alone, several equal ones at a time: compiled, beside NumPy.

IREE would make such arrays anew rather than copy them, and then find that they are equal.
"""

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

DTYPES = [np.float64, np.float32, np.float16, np.int64, np.int8, np.complex128]


@pytest.fixture(autouse=True)
def wide():
    with irax.enable_x64():
        yield


def check(found, expected):
    for a, b in zip(irax.tree_util.tree_leaves(found), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(a), b, strict=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_update_leaves_equal_arrays_as_they_are(dtype):
    @irax.jit
    def updated(u, i):
        x = jnp.full(9, 3, dtype)
        y, z = lax.optimization_barrier((x, x.at[2:4].set(u)))
        return y, z, lax.dynamic_update_slice(x, u, (i,))

    u = np.array([5, 7]).astype(dtype)
    x = np.full(9, 3, dtype)
    y, z = x.copy(), x.copy()
    y[2:4] = z[6:8] = u
    check(updated(u, 6), [x, y, z])


def test_gradient_of_a_convolution_beside_floor_division():
    """The cotangent is one number throughout, which is an operand of two convolutions."""

    def loss(x, k, a):
        numbers = ("NCW", "OIW", "NCW")
        y = lax.conv_general_dilated(x, k, [1], [(0, 0)], dimension_numbers=numbers)
        return jnp.sum(y) * 0.5 + jnp.sum(a // (abs(k) + 0.5))

    x, k = np.arange(9.0).reshape(1, 3, 3), np.ones((2, 3, 3))
    value, gradients = irax.jit(irax.value_and_grad(loss, (0, 1, 2)))(x, k, 1.75)
    expected = [0.5 * np.sum(x * k) + 18, np.ones((1, 3, 3)), 0.5 * x.repeat(2, 0), np.float64(0)]
    check((value, *gradients), expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_loops_that_stack_constants(dtype):
    """A stack that is returned and used again is its kernel's second result."""
    x = np.arange(3).astype(dtype)

    @irax.jit
    def mapped(x):
        z = lax.map(lambda r: jnp.zeros(2, dtype), x)
        return z, z + x[:, None]

    check(mapped(x), [np.zeros((3, 2), dtype), x.repeat(2).reshape(3, 2)])

    @irax.jit
    def scanned(x):
        y, z = lax.scan(lambda c, _: (c + 1, (jnp.full(2, 4, dtype), c)), 5, None, 3)[1]
        return y, y.at[1].set(x[2]), z.at[2].set(1), lax.dynamic_update_slice(z, z[1:], (0,))

    y = np.full((3, 2), 4, dtype)
    updated = y.copy()
    updated[1] = x[2]
    check(scanned(x), [y, updated, np.array([5, 6, 1]), np.array([6, 7, 7])])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_a_stack_as_small_as_the_counter(dtype):
    @irax.jit
    def first(x):
        stack = lax.scan(lambda c, _: (c, jnp.full(1, -1.8, dtype)), 0, None, 2)[1]
        return lax.dynamic_update_slice(stack, x, (0, 0)), stack

    x = np.full((1, 1), 3, dtype)
    stack = np.full((2, 1), -1.8, dtype)
    check(first(x), [np.concatenate([x, stack[:1]]), stack])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_loop_begins_as_a_number_that_is_used_after_it(dtype):
    @irax.jit
    def total(x, n, y):
        zero = jnp.zeros((), dtype)
        step = lambda i, sums: sums + jnp.sum(x * (sums + 1), dtype=dtype)
        return lax.fori_loop(0, n, step, zero) + (y + lax.optimization_barrier(zero))

    x = np.zeros((300, 400), dtype)
    x[7, 9] = 1
    np.testing.assert_array_equal(total(x, 3, np.array(2, dtype)), np.array(7 + 2, dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_loop_begins_as_what_is_used_after_it(dtype):
    """A kernel makes it, and another uses it with the result of the loop."""

    @irax.jit
    def total(x, n, y):
        start = lax.optimization_barrier(y + 1)
        step = lambda i, sums: sums + jnp.sum(x * (sums + 1), dtype=dtype)
        return lax.fori_loop(0, n, step, start) * start

    x = np.zeros((300, 400), dtype)
    x[7, 9] = 1
    np.testing.assert_array_equal(total(x, 3, np.array(2, dtype)), np.array(31 * 3, dtype))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_no_elements(dtype):
    x = np.arange(300).reshape(2, 150).astype(dtype)
    added = irax.jit(lambda x: x + jnp.sum(x[:0], 0, dtype=dtype))
    factor = irax.jit(lambda x: jnp.prod(x[:0], 0, dtype=dtype))
    check((added(x), factor(x)), [x, np.ones(150, dtype)])


def test_an_element_of_a_comparison_that_is_never_true():
    @irax.jit
    def elements(x):
        never = (x < x)[:, 15:16, 7:8]
        return never, jnp.broadcast_to(never, (2, 4, 3))

    check(
        elements(np.zeros((2, 16, 31), np.uint32)),
        [np.zeros((2, 1, 1), bool)] + [np.zeros((2, 4, 3), bool)],
    )


@pytest.mark.parametrize("dtype", [np.complex128, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_arrays_that_begin_with_the_same_part(dtype):
    a, b, c, d = (np.array(x, dtype) for x in ([1], [2], [3], [4, 5]))
    zeros = np.zeros(2, dtype)
    joined = irax.jit(
        lambda a, b, c, d: (jnp.concatenate([a, b, d, a]), jnp.concatenate([a, c, zeros, a]))
    )
    expected = [np.concatenate([a, b, d, a]), np.concatenate([a, c, zeros, a])]
    check(joined(a, b, c, d), expected)
