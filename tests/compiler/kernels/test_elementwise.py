"""Kernels of elementwise operations on views, run by IREE and compared with NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.passes.kernels.elementwise.search import FAR, NEAR, Search
from irax_compiler.passes.kernels.views import Axis, View, axes
from irax_compiler.pipeline import run_pipeline

LENGTHS = [1000, 64, 7]
"""The lengths of rows: with a rest of a vector, without, and shorter than one."""


def _views(np_: Any, x: Any, row: Any, column: Any) -> list[Any]:
    """Combine an array with views, each in a kernel."""
    rows, length = x.shape
    blocks = x.reshape(rows // 8, 8, length)
    return [
        x + row,
        np_.where(column[:, None] > row, x, column[:, None]),
        x[::2] + x[::-2],
        np_.transpose(blocks, (1, 0, 2)),
        x[:, ::-1] + column[:, None],
        np_.repeat(row, rows).reshape(length, rows) + column,
        np_.transpose(blocks, (1, 0, 2)) + blocks[0, 0],
        x[:, : length // 3 * 3 : 3] * column[:, None],
        np_.where(np_.arange(length) <= column[:, None], x, row),
    ]


def _drawn(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    numbers = np.random.default_rng(len(shape)).integers(0, 9, shape)
    return numbers.astype(dtype)


def _check(length: int, dtype: Any) -> None:
    rows = 8 * max(3, 6000 // length // 8)
    arrays = [_drawn(shape, dtype) for shape in ((rows, length), (length,), (rows,))]
    results = irax.jit(lambda x, row, column: _views(jnp, x, row, column))(*arrays)
    for found, wanted in zip(results, _views(np, *arrays), strict=True):
        np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("length", LENGTHS)
def test_views_of_rows(length: int):
    _check(length, np.float32)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, ml_dtypes.bfloat16])
def test_views_of_dtypes(dtype: Any):
    _check(77, dtype)


MOVES = [
    lambda np_, x: np_.transpose(x, (2, 0, 1)),
    lambda np_, x: x[1:4:2, ::-1, ::3],
    lambda np_, x: np_.broadcast_to(x[:, :1], (4, 5, 6)).reshape(4, 5, 2, 3),
    lambda np_, x: np_.transpose(x[::-1], (0, 2, 1)).reshape(2, 2, 6, 5)[:, 1],
    lambda np_, x: np_.transpose(x).reshape(6, 20),
    lambda np_, x: x[None, 1, 2, :, None],
]


@pytest.mark.parametrize("move", MOVES)
def test_view_of_moved_elements(move: Any):
    x = np.arange(120.0, dtype=np.float32).reshape(4, 5, 6)
    module = mlir.parse_module(irax.jit(lambda x: move(jnp, x)).lower(x).as_text())
    (function,) = mlir.functions(module).values()
    (result,) = mlir.terminator(mlir.body(function)).operands
    view = View.of(result)
    if view.array == result:  # copied by a reshape
        assert move is MOVES[4]
        return
    strides = [4 * n for n in view.strides]
    found = np.lib.stride_tricks.as_strided(x.ravel()[view.start :], mlir.shape_of(result), strides)
    np.testing.assert_array_equal(found, move(np, x))


def test_axes():
    assert axes((4, 1, 5, 6), [(30, 30, 6, 1)]) == [Axis(120, 3)]
    assert axes((4, 1, 5, 6), [(30, 30, 6, 1), (6, 0, 0, 1)]) == [
        Axis(4, 0),
        Axis(5, 2),
        Axis(6, 3),
    ]
    assert axes((4, 5, 6), [(30, 6, 1), (1, 0, 0)]) == [Axis(4, 0), Axis(30, 2)]


def test_several_results_that_share_operations():
    arrays = [_drawn((size,), np.float32) for size in (4096, 10_007)]

    def function(np_: Any, x: Any) -> Any:
        root, is_large = np_.sqrt(x), x > 4
        return root, np_.where(is_large, root * x, x), is_large, is_large | (x < 2)

    results = irax.jit(lambda *xs: [function(jnp, x) for x in xs])(*arrays)
    for founds, x in zip(results, arrays, strict=True):
        for found, wanted in zip(founds, function(np, x), strict=True):
            np.testing.assert_array_equal(np.asarray(found), wanted)


def _complex_results(np_: Any, z: Any, w: Any, number: Any) -> list[Any]:
    rows, _ = z.shape
    return [
        z * w - number,
        np_.where(z.real > 0, w, -z),
        np_.conj(z) * w[0] + z[:, :1],
        z[::2, ::-1] + w[1::2],
        np_.transpose(z.reshape(2, rows // 2, -1), (1, 0, 2)),
        w.imag,
        np_.abs(z) + np_.abs(w).real,
        z / (w + 20),
        np_.exp(z) * w,
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("length", [100, 64, 5])
def test_complex_numbers(length: int, dtype: Any):
    generator = np.random.default_rng(length)
    shape = (8 * (8000 // length // 8), length)
    z, w = (
        (generator.normal(size=shape) + 1j * generator.normal(size=shape)).astype(dtype)
        for _ in range(2)
    )
    number = dtype(2 - 3j)
    with irax.enable_x64(dtype == np.complex128):
        results = irax.jit(lambda *a: _complex_results(jnp, *a))(z, w, number)
    for found, wanted in zip(results, _complex_results(np, z, w, number), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, 2e-6, 2e-6)


def _joined(np_: Any, x: Any, y: Any, row: Any) -> list[Any]:
    half = x.shape[1] // 2
    left, right = x[:, :half], x[:, half : 2 * half]
    return [
        np_.stack([x * 2, y + 1], -1),
        np_.stack([x * 2, y + row, x - y], -1),
        np_.stack([x * 3, x * 3, y], -1),
        np_.stack([x > 0, y > 0], -1),
        np_.stack([x + 1, y], 1),
        np_.concatenate([x + 1, y * row]),
        np_.concatenate([left * row[:half] - right, left + right * row[:half]], -1),
        np_.stack([x + 2, np_.full_like(x, 3)], -1).reshape(-1) + 1,
        np_.concatenate([x * y + 1j * y, x * 2j], 1),
        np_.stack([x - 1j * y, x * 3j], -1),
        np_.cross(x[:, :3], y[:, :3] + 1),
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(300, 101), (2000, 6), (5000, 3)])
def test_concatenations_of_computed_values(shape: tuple[int, int]):
    generator = np.random.default_rng(0)
    x, y = generator.integers(-9, 9, (2, *shape)).astype(np.float32)
    row = np.arange(shape[1], dtype=np.float32)
    results = irax.jit(lambda *a: _joined(jnp, *a))(x, y, row)
    for found, wanted in zip(results, _joined(np, x, y, row), strict=True):
        np.testing.assert_array_equal(np.asarray(found), wanted)


def test_values_that_are_concatenated_and_returned():
    x = np.arange(6000, dtype=np.float32)
    both, twice = irax.jit(lambda x: (jnp.stack([x * 2, -x], -1), x * 2))(x)
    np.testing.assert_array_equal(both, np.stack([x * 2, -x], -1))
    np.testing.assert_array_equal(twice, x * 2)


def test_a_view_of_what_is_computed():
    """The view is no kernel's together with the array that it is one of."""

    def f(np_: Any, x: Any) -> Any:
        y = x * 2 - 3
        turned = np_.flip(y, 1)
        return [np_.where(turned > y, turned, y * 3), y + x]

    x = _drawn((36, 119), np.float64)
    for found, wanted in zip(irax.jit(lambda x: f(jnp, x))(x), f(np, x), strict=True):
        np.testing.assert_allclose(found, wanted)


def test_values_beside_a_view_of_them():
    def both_ways(x, flags):
        y = jnp.sort(x) + jnp.arange(5000.0)
        return y + y[::-1], jnp.where(flags, y, y[::-1])

    x = np.random.default_rng(0).standard_normal(5000).astype(np.float32)
    y = np.sort(x) + np.arange(5000, dtype=np.float32)
    total, chosen = irax.jit(both_ways)(x, x > 0)
    np.testing.assert_allclose(total, y + y[::-1], rtol=1e-6)
    np.testing.assert_allclose(chosen, np.where(x > 0, y, y[::-1]), rtol=1e-6)


def _chain(length: int, flipped: int) -> Any:
    def function(x: Any, y: Any) -> Any:
        for i in range(length):
            x = x * 0.5 + (y[::-1] if i == flipped else y)
        return x

    return function


def test_of_a_long_chain_few_clusters_are_tried(monkeypatch: pytest.MonkeyPatch):
    tried: list[int] = []
    connected = Search._connected
    monkeypatch.setattr(Search, "_connected", lambda *x: tried.append(1) or connected(*x))
    x = np.ones(4096, np.float32)
    module = mlir.parse_module(irax.jit(_chain(256, -1)).lower(x, x).as_text())
    run_pipeline(module, "elementwise")
    assert len(tried) <= 2 * 256 // (FAR // NEAR) + 1


@pytest.mark.parametrize("flipped", [0, 70, 199])
def test_a_view_in_a_long_chain_is_found(flipped: int):
    x = np.ones(4096, np.float32)
    module = mlir.parse_module(irax.jit(_chain(200, flipped)).lower(x, x).as_text())
    run_pipeline(module, "elementwise")
    (function,) = mlir.functions(module).values()
    names = [view.operation.name for view in mlir.body(function).operations]
    assert "flow.dispatch" in names
    assert "stablehlo.reverse" not in names
