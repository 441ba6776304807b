"""Products of unsigned integers and booleans, converted before or summed in a wider dtype: IREE
widens every integer in a product as a signed one.
"""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

UNSIGNED = "bool", "uint8", "uint16"
WAYS = {
    "left": (lambda x, y: x @ y, lambda x, y: x @ y),
    "right": (lambda x, y: y @ x, lambda x, y: y @ x),
    "vector": (lambda x, y: x @ y[:, 0], lambda x, y: x @ y[:, 0]),
    "batch": (lambda x, y: x[None] @ y[None], lambda x, y: (x @ y)[None]),
    "rows": (irax.vmap(lambda x, y: x @ y), lambda x, y: (x * y).sum(1)),
    "twice": (lambda x, y: x.astype(np.float32) @ y, lambda x, y: x @ y),
}


def drawn(dtype, n, seed=0):
    """Integers, the largest too."""
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, (n, n)).astype(bool)
    x = generator.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (n, n), dtype, endpoint=True)
    x[0] = np.iinfo(dtype).max
    return x


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", [5, 40])
@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("wide", ["float32", "int32"])
def test_after_a_conversion(dtype, n, wide):
    def products(x, y):
        through = {way: "int32" if way == "twice" else wide for way in WAYS}
        return {way: f(x.astype(through[way]), y) for way, (f, _) in WAYS.items()}

    x = drawn(dtype, n)
    y = np.random.default_rng(1).integers(-9, 9, (n, n)).astype(wide)
    for way, found in irax.jit(products)(x, y).items():
        expected = WAYS[way][1](x.astype(np.float64), y.astype(np.float64))
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=way)


@pytest.mark.parametrize("wide", ["int64", "float64"])
def test_of_uint32(wide):
    x = drawn("uint32", 6)
    with irax.enable_x64(True):
        found = irax.jit(lambda x: x.astype(wide) @ (x % 2).astype(wide))(x)
    np.testing.assert_array_equal(found, x.astype(np.int64) @ (x % 2).astype(np.int64))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", [6, 70])
@pytest.mark.parametrize("right", ["int8", "uint8"])
@pytest.mark.parametrize("left", ["int8", "uint8"])
def test_summed_in_a_wider_dtype(left, right, n):
    x, y = drawn(left, n), drawn(right, n, 1)
    exact = x.astype(np.int64) @ y.astype(np.int64)
    as_int = irax.jit(lambda x, y: lax.dot(x, y, preferred_element_type="int32"))(x, y)
    np.testing.assert_array_equal(as_int, exact)
    as_float = irax.jit(lambda x, y: lax.dot(x, y, preferred_element_type="float32"))(x, y)
    np.testing.assert_allclose(as_float, exact, rtol=1e-5)


def test_in_a_convolution():
    x, y = drawn("uint8", 8)[None, None], drawn("uint8", 3, 1)[None, None]
    found = irax.jit(
        lambda x, y: lax.conv_general_dilated(
            x, y, (1, 1), "VALID", preferred_element_type=jnp.int32
        )
    )(x, y)
    windows = np.lib.stride_tricks.sliding_window_view(x[0, 0].astype(np.int64), (3, 3))
    np.testing.assert_array_equal(found[0, 0], (windows * y[0, 0]).sum((2, 3)))


def test_of_any_size():
    x = drawn("uint8", 7)
    y = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
    shapes = irax.export.symbolic_args_specs((x, y), ("n, 7", "7, 3"))
    program = irax.export.export(irax.jit(lambda x, y: x.astype(np.float32) @ y))(*shapes)
    np.testing.assert_allclose(program.call(x, y), x.astype(np.float64) @ y, rtol=1e-5)
