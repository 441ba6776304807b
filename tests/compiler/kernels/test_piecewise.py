"""Kernels of arrays that are put together of parts, run by IREE and compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
import irax.scipy.signal
from irax_compiler import api, mlir
from irax_compiler.iree.dispatches import dispatched
from irax_compiler.mlir import dtype_of
from irax_compiler.passes.kernels.piecewise.places import Box, Divided, Line, move_of

SHAPES = [(9000,), (70, 83), (12, 17, 40), (3000, 3), (2, 5000)]
"""Rows with a rest of a vector and shorter than one; lines, planes and volumes."""


def _inner(x: Any) -> tuple[slice, ...]:
    return tuple(slice(1, -1) if n > 2 else slice(None) for n in x.shape)


def _neighbours(np_: Any, x: Any) -> Any:
    """Add what is beside each element, around the ends."""
    return sum(np_.roll(x, by, axis) for by in (1, -1) for axis in range(x.ndim))


def _padded(np_: Any, x: Any, mode: str) -> Any:
    p = np_.pad(x, 2, mode=mode)
    low, high = (tuple(slice(at, at + n) for n in x.shape) for at in (0, 4))
    return p[low] - 2 * p[high]


def _framed(np_: Any, x: Any) -> Any:
    """Pad what is computed, and compute with that."""
    inner = x[_inner(x)]
    edges = [(0, 0) if n == m else (1, 1) for n, m in zip(x.shape, inner.shape, strict=True)]
    return x + 3 * np_.pad(inner * inner, edges, constant_values=2)


def _reversed(np_: Any, x: Any) -> Any:
    flipped = np_.flip(np_.roll(x, 3, -1), -1)
    return np_.where(flipped > x, flipped, x + 1)


def _set(np_: Any, x: Any) -> Any:
    """Update ends of what is computed, and use it twice."""
    y = x * 3 + 1
    if np_ is jnp:
        y = y.at[0].set(0).at[..., -1].set(x[..., 0]).at[_inner(x)].add(x[_inner(x)])
    else:
        y[0] = 0
        y[..., -1] = x[..., 0]
        y[_inner(x)] += x[_inner(x)]
    return y - x


def _transposed(np_: Any, x: Any) -> Any:
    return x + np_.roll(x.T, 2, 0).T


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    _neighbours,
    lambda np_, x: _padded(np_, x, "constant"),
    lambda np_, x: _padded(np_, x, "wrap"),
    lambda np_, x: _padded(np_, x, "edge"),
    lambda np_, x: _padded(np_, x, "reflect"),
    _framed,
    _reversed,
    _set,
    _transposed,
]


def _drawn(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return np.random.default_rng(len(shape)).integers(0, 5, shape).astype(dtype)


def _check(x: np.ndarray) -> None:
    found = irax.jit(lambda x: [program(jnp, x) for program in PROGRAMS])(x)
    for result, program in zip(found, PROGRAMS, strict=True):
        np.testing.assert_array_equal(np.asarray(result), program(np, x))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape: tuple[int, ...]):
    _check(_drawn(shape, np.float32))


def test_parts_of_rows_that_are_not_whole_vectors():
    """Nothing beyond a row is written where its second part ends."""
    x = np.random.default_rng(0).standard_normal((16, 40017), np.float32)
    f = irax.jit(lambda x: x + jnp.roll(x, 1, 1))
    for _ in range(20):
        np.testing.assert_array_equal(f(x), x + np.roll(x, 1, 1))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, ml_dtypes.bfloat16])
def test_dtypes(dtype: Any):
    _check(_drawn((70, 83), dtype))


@pytest.mark.slow
def test_booleans():
    x = _drawn((70, 83), np.int32) > 2
    found = irax.jit(lambda x: jnp.roll(x, 1, 0) & ~jnp.pad(x, 1)[2:, :-2])(x)
    np.testing.assert_array_equal(found, np.roll(x, 1, 0) & ~np.pad(x, 1)[2:, :-2])


def _wave(np_: Any, psi: Any, potential: Any) -> Any:
    near = np_.roll(psi, 1, 0) + np_.roll(psi, -1, 1) - 4 * psi
    padded = np_.pad(psi * potential, 1)
    return near * 1j + padded[2:, 1:-1] - padded[1:-1, :-2].real


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(70, 83), (3000, 3), (400, 17)])
def test_complex_numbers(shape: tuple[int, ...]):
    generator = np.random.default_rng(0)
    psi, potential = generator.integers(-9, 9, (2, *shape)).astype(np.float32)
    psi = psi + 1j * potential[::-1]
    found = irax.jit(lambda *arrays: _wave(jnp, *arrays))(psi, potential)
    assert found.dtype == np.complex64
    np.testing.assert_array_equal(found, _wave(np, psi, potential))


def test_a_step_of_complex_numbers_is_one_kernel():
    def step(psi: Any, potential: Any) -> Any:
        return psi + 1j * jnp.roll(psi, 1, 0) + jnp.roll(psi, 1, 1) * potential

    arrays = jnp.ones((100, 120), jnp.complex64), jnp.ones((100, 120), jnp.complex64)
    assert _dispatches(step, *arrays) == ["piecewise"]


def _dispatches(f: Callable[..., Any], *arguments: Any) -> list[str]:
    ir = irax.make_ir(f)(*arguments)
    lowered = api.lower(ir.module, ir.func, "iree-cpu")
    return [dispatch.name for dispatch in dispatched(lowered, "iree-cpu").dispatches]


def test_a_step_of_a_wave_is_one_kernel():
    """The Laplacian is padded, and the boundaries are set."""

    def step(state: Any, _: Any) -> Any:
        u, v = state
        near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        v = v + 0.1 * jnp.zeros_like(u).at[1:-1, 1:-1].set(near)
        u = (u + 0.1 * v).at[0].set(0).at[-1].set(0).at[:, 0].set(0).at[:, -1].set(0)
        return (u, v), None

    def run(u: Any) -> Any:
        return irax.lax.scan(step, (u, u), None, length=50)[0]

    names = _dispatches(run, jnp.ones((400, 500)))
    assert [name for name in names if not name.startswith("copy_800000")] == ["piecewise"]


def test_a_step_of_life_is_one_kernel():
    def step(_: Any, cells: Any) -> Any:
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        near = sum(jnp.roll(cells, shift, (0, 1)) for shift in shifts)
        return jnp.where((near == 3) | ((cells == 1) & (near == 2)), 1, 0)

    def run(cells: Any) -> Any:
        return irax.lax.fori_loop(0, 50, step, cells)

    names = _dispatches(run, jnp.ones((450, 450), jnp.int32))
    assert [name for name in names if not name.startswith("copy_")] == ["piecewise"]


@pytest.mark.slow
def test_a_blurred_image_is_one_kernel():
    kernel = jnp.array([[1.0, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16

    def blurred(x: Any) -> Any:
        return irax.scipy.signal.convolve2d(x, kernel, mode="same")

    assert _dispatches(blurred, jnp.ones((450, 450))) == ["piecewise"]


PARTS = """
func.func @main(%x: tensor<5xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<5xf32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def test_places_of_parts():
    module = mlir.parse_module(PARTS)
    (function,) = mlir.functions(module).values()
    joined = next(iter(mlir.body(function).operations)).results[0]
    assert dtype_of(joined) == np.float32

    def found(start: int, step: int, extent: int) -> Any:
        return move_of(joined)((Line(start, 0, step),), Box((0,), (extent,)))

    x, y = mlir.arguments(function)
    assert found(0, 1, 5) == (x, (Line(0, 0, 1),))
    assert found(7, -1, 3) == (y, (Line(2, 0, -1),))
    for start, step, extent, at in [(0, 1, 8, 5), (7, -1, 8, 3), (0, 2, 4, 3), (3, 3, 2, 1)]:
        with pytest.raises(Divided) as raised:
            found(start, step, extent)
        assert (raised.value.axis, raised.value.at) == (0, at)


def test_many_shifts_of_what_was_shifted_twice():
    """Each step is a kernel. In one, the first would be computed for 2^30 sequences of shifts."""

    def steps(np_: Any, x: Any) -> Any:
        for i in range(30):
            x = np_.concatenate([x[1:], x[:1]]) / 2 + np_.roll(x, i) / 4
        return x

    x = np.random.default_rng(1).random(5000, np.float32)
    compiled = irax.jit(lambda x: steps(jnp, x)).lower(x).compile()
    np.testing.assert_allclose(compiled(x), steps(np, x), rtol=1e-5)
    assert compiled.as_text().count("dispatch @piecewise") >= 25


def test_parts_along_a_dimension_before_one_of_single_elements():
    """A part without its dimensions of one element is apart in the result."""
    r = np.random.default_rng(0)
    a, b, c = (r.random(s, np.float32) for s in [(700, 3, 3, 1), (1, 1, 700, 3), (3, 1, 700, 3)])

    def function(np_: Any, a: Any, b: Any, c: Any) -> Any:
        parts = np_.concatenate([b, 2 * b, b])
        return a * np_.transpose(c - parts, (2, 3, 0, 1))

    compiled = irax.jit(lambda *arrays: function(jnp, *arrays))
    np.testing.assert_allclose(compiled(a, b, c), function(np, a, b, c), rtol=1e-6)
