"""Scatters whose windows a gather makes, and that read them where it does, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp

DTYPES = (np.float32, np.float64, np.int32, np.int8, np.uint16, np.bool_)
KINDS = (np.int32, np.int16, np.uint8, np.uint32)
FUNCTIONS = {"add": np.add, "max": np.maximum, "min": np.minimum, "multiply": np.multiply}


def numbers(g: np.random.Generator, size: Any, dtype: Any) -> np.ndarray:
    return (g.integers(0, 2, size) if dtype == np.bool_ else g.integers(-3, 9, size)).astype(dtype)


def compare(seed: int) -> None:
    """A random program: rows, or blocks, of an array are combined with those of another one, or of
    an array of one number; there are places from the end, and places beyond.
    """
    g = np.random.default_rng((43, seed))
    dtype, kind = g.choice(DTYPES), g.choice(KINDS)
    window = tuple(g.choice([1, 3, 4, 8, 15, 16, 17, 33, 64], g.integers(1, 3)))
    rows, senders = int(g.integers(1, 90)), int(g.integers(1, 90))
    count = tuple(g.integers(1, 400, 1) if g.integers(0, 3) else g.integers(1, 20, 2))
    x, y = numbers(g, (senders, *window), dtype), numbers(g, (rows, *window), dtype)
    sender = g.integers(0, senders, count)
    if np.dtype(kind).kind == "i":
        sender -= senders * g.integers(0, 2, count)
    receiver = g.integers(0, rows + 5, count)
    name = "set" if dtype == np.bool_ else g.choice(["add", "max", "min", "multiply", "set"])
    is_filled, is_used, is_own = g.integers(0, 4, 3) == 0
    if name == "set":  # which of several stays is not stated
        receiver = g.permutation(rows + receiver.size)[: receiver.size].reshape(count)

    def program(x: Any, y: Any, s: Any, r: Any) -> Any:
        y = jnp.full(y.shape, y.ravel()[0] if is_filled else 0, y.dtype) if is_filled else y
        windows = (y if is_own else x)[s]
        at = getattr((y + 0 if dtype != np.bool_ else y).at[r], str(name))
        found = at(windows, mode="drop")
        return (found, windows) if is_used else (found,)

    if is_own:
        sender = sender % rows
    if is_filled:
        y = np.full_like(y, y.ravel()[0])
    given = (x, y, sender.astype(kind), receiver.astype(np.int32))
    windows = (y if is_own else x)[sender.astype(kind)]
    expected, inside = y.copy(), receiver < rows
    if name == "set":
        expected[receiver[inside]] = windows[inside]
    else:
        with np.errstate(over="ignore"):
            FUNCTIONS[str(name)].at(expected, receiver[inside], windows[inside])
    for jitted in (irax.jit(program), irax.jit(program, donate_argnums=1)):
        found = jitted(*(jnp.asarray(a.copy()) for a in given))
        np.testing.assert_allclose(found[0], expected, rtol=1e-5)
        if is_used:
            np.testing.assert_array_equal(found[1], windows)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    with irax.enable_x64():
        compare(seed)


def test_sums_are_in_order() -> None:
    """Floats of several sizes meet at a place: other orders have other sums."""
    g = np.random.default_rng(0)
    x = (g.standard_normal((50, 16)) * 10.0 ** g.integers(-6, 6, (50, 1))).astype(np.float32)
    senders, receivers = g.integers(0, 50, 3000), g.integers(0, 20, 3000)
    found = irax.jit(lambda x, s, r: irax.ops.segment_sum(x[s], r, 20))(x, senders, receivers)
    expected = np.zeros((20, 16), np.float32)
    np.add.at(expected, receivers, x[senders])
    np.testing.assert_array_equal(found, expected)
