"""Cumulative reductions in the kernels of loops, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import api
from irax_compiler.iree.dispatches import dispatched

SHAPES = [((300,), 0), ((7,), 0), ((2000,), 0), ((40, 33), 0), ((40, 33), 1), ((5, 30, 6), 1)]
FUNCTIONS = {
    "sum": (jnp.cumsum, np.add),
    "max": (irax.lax.cummax, np.maximum),
    "min": (irax.lax.cummin, np.minimum),
}


def _repeated(running: Any, axis: int) -> Any:
    def step(i: Any, x: Any) -> Any:
        return running(x, axis=axis) % 5 - i

    return lambda x: irax.lax.fori_loop(0, 4, step, x)


def _dispatches(f: Any, x: Any) -> list[str]:
    ir = irax.make_ir(f)(x)
    lowered = api.lower(ir.module, ir.func, "iree-cpu")
    return [dispatch.name for dispatch in dispatched(lowered, "iree-cpu").dispatches]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str):
    running, function = FUNCTIONS[name]
    generator = np.random.default_rng(0)
    arrays = [generator.integers(0, 9, shape).astype(np.int32) for shape, _ in SHAPES]
    loops = [_repeated(running, axis) for _, axis in SHAPES]
    results = irax.jit(lambda *xs: [f(x) for f, x in zip(loops, xs, strict=True)])(*arrays)
    for found, wanted, (shape, axis) in zip(results, arrays, SHAPES, strict=True):
        for i in range(4):
            wanted = function.accumulate(wanted, axis) % 5 - i
        np.testing.assert_array_equal(found, wanted, f"{shape} along {axis}")


@pytest.mark.slow
def test_dtypes():
    whole = np.random.default_rng(0).integers(0, 2, (3, 200))
    arrays = [whole.astype(dtype) for dtype in (np.float32, np.float64, np.bool_, np.uint8)]

    def repeated(x: Any) -> Any:
        return irax.lax.fori_loop(0, 3, lambda _, x: irax.lax.cummax(x, axis=1)[:, ::-1], x)

    with irax.enable_x64():
        results = irax.jit(lambda *xs: [repeated(x) for x in xs])(*arrays)
    for found, wanted in zip(results, arrays, strict=True):
        for _ in range(3):
            wanted = np.maximum.accumulate(wanted, 1)[:, ::-1]
        np.testing.assert_array_equal(found, wanted)


def test_backwards():
    x = np.arange(200, dtype=np.float32)

    def step(_: Any, x: Any) -> Any:
        return irax.lax.cumsum(x, reverse=True) * 0.01

    wanted = x
    for _ in range(3):
        wanted = np.cumsum(wanted[::-1])[::-1] * np.float32(0.01)
    found = irax.jit(lambda x: irax.lax.fori_loop(0, 3, step, x))(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_the_loop_is_one_kernel():
    """Dynamic time warping by rows: the last element of each follows from the one before."""

    def distance(d: Any) -> Any:
        def row(above: Any, costs: Any) -> Any:
            from_above = jnp.minimum(above, jnp.roll(above, 1).at[0].set(jnp.inf))
            total = jnp.cumsum(costs)
            return total + irax.lax.cummin(from_above - (total - costs)), None

        return irax.lax.scan(row, d[0], d[1:])[0]

    assert _dispatches(distance, jnp.ones((300, 300))) == ["kernel"]
