"""Kernels of reductions, run by IREE and compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.passes.kernels.reductions import dispatches as reductions
from irax_compiler.passes.kernels.reductions.domains import Domain
from irax_compiler.passes.kernels.views import View

SHAPES = [(1, 129), (3, 77, 16), (8, 1, 40), (33, 130), (700, 257), (2, 31, 9, 8), (131080,)]
"""Odd sizes; of rows that a vector has too much room for; and one that workers divide."""


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are divided as for two processors, whatever the machine has."""
    monkeypatch.setattr(reductions, "workers_of", lambda function: 2)


def _array(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    generator = np.random.default_rng(len(shape))
    if np.dtype(dtype) == np.bool_:
        return generator.random(shape) < 0.5
    numbers = generator.normal(size=shape) * 3
    return numbers.astype(dtype) if np.dtype(dtype).kind != "u" else np.abs(numbers).astype(dtype)


def _axes(rank: int) -> list[Any]:
    """Return the axes that are folded: all, each, and all but the second."""
    others = tuple(d for d in range(rank) if d != 1)
    return [None, *range(rank), *([others] if rank > 2 else [])]


def _each(folds: Sequence[Callable[..., Any]], xs: Sequence[Any]) -> list[Any]:
    """Fold arrays over axes, each with the next function in turn."""
    pairs = [(x, axes) for x in xs for axes in _axes(x.ndim)]
    return [folds[i % len(folds)](x, axes) for i, (x, axes) in enumerate(pairs)]


def _check(function: Callable[..., Any], *arrays: np.ndarray, tolerance: float = 1e-5) -> None:
    """Compare a compiled function with the same one evaluated by NumPy."""
    results = irax.jit(function)(*arrays)
    expected = function(*map(jnp.asarray, arrays))
    for x, y in zip(results, expected, strict=True):
        np.testing.assert_allclose(
            np.asarray(x).astype(np.float64),
            np.asarray(y).astype(np.float64),
            rtol=tolerance,
            atol=tolerance,
        )


@pytest.mark.parametrize(
    "dtype",
    [np.float32, ml_dtypes.bfloat16, np.int8, np.uint16, np.bool_],
    ids=lambda d: np.dtype(d).name,
)
@pytest.mark.slow
def test_reductions_of_each_dtype(dtype: Any):
    arrays = [_array(shape, dtype) for shape in SHAPES[1:4]]

    def function(*xs: Any) -> list[Any]:
        folds = [jnp.sum, jnp.max, jnp.min, jnp.any]
        return [
            folds[(i + j) % 4](x, a) for i, x in enumerate(xs) for j, a in enumerate(_axes(x.ndim))
        ]

    _check(function, *arrays, tolerance=1e-2 if np.dtype(dtype).itemsize == 2 else 1e-5)


@pytest.mark.slow
def test_views_of_arrays():
    """Slices, reversals, transposes, and those whose lines are too short for vectors."""
    x, y = _array((40, 130), np.float32), _array((5, 40, 33), np.float32)

    def function(x: Any, y: Any) -> list[Any]:
        whole = [x[:, 1:] + x[:, :-1], x[::2, 3:] * 2, x[::-1] - x, x[:, ::-1] * x, x[3:, :20] ** 2]
        whole += [y.transpose(1, 0, 2) + 1, y[1:, ::3], y.transpose(2, 0, 1) * 3, y[::-1, 5:, :7]]
        folded = [fold(z, d) for z in whole for fold, d in ((jnp.sum, -1), (jnp.max, 0))]
        return [*folded, x[1:] / x[1:].sum(1, keepdims=True), (x[:, 2:] - x[:, 2:].mean(0)).T]

    _check(function, x, y)


@pytest.mark.slow
def test_what_follows_from_results():
    arrays = [_array(shape, np.float32) for shape in SHAPES]

    def normalized(x: Any, axis: Any) -> Any:
        mean, variance = (f(x, axis, keepdims=True) for f in (jnp.mean, jnp.var))
        return (x - mean) / jnp.sqrt(variance + 1e-5)

    def function(*xs: Any) -> list[Any]:
        folds = [irax.nn.softmax, normalized, irax.nn.log_softmax]
        return [
            folds[(i + j) % 3](x, a) for i, x in enumerate(xs) for j, a in enumerate(_axes(x.ndim))
        ]

    _check(function, *arrays, tolerance=1e-4)


@pytest.mark.slow
def test_special_values():
    x = _array((20, 100), np.float32)
    x[1, 99], x[2, 3], x[3, 98], x[4] = np.nan, np.inf, -np.inf, -np.inf

    def function(x: Any) -> list[Any]:
        folds = [jnp.sum, jnp.max, jnp.min, jnp.argmax, jnp.argmin, jnp.nansum]
        return [fold(x, axis) for fold in folds for axis in (0, 1, None)]

    _check(function, x)


def test_sums_are_exact_enough():
    x = np.random.default_rng(0).random(3_000_001).astype(np.float32)
    total = irax.jit(jnp.sum)(x)
    np.testing.assert_allclose(float(total), x.astype(np.float64).sum(), rtol=2e-7)


@pytest.mark.slow
def test_init_values_count_once():
    x, start = _array((131072,), np.float32), np.asarray(5, np.float32)

    def function(x: Any, start: Any) -> list[Any]:
        rows = x.reshape(512, 256)
        return [irax.lax.reduce(y, start, irax.lax.add, (0,)) for y in (x, rows, rows.T)]

    _check(function, x, start, tolerance=1e-3)


def test_groups_of_dimensions():
    domain = Domain((4, 1, 5, 6, 7), (0, 2, 3))
    module = mlir.parse_module("""
        func.func @main(%x: tensor<4x1x5x6x7xf32>, %y: tensor<6x7xf32>) {
          %0 = stablehlo.broadcast_in_dim %y, dims = [3, 4]
              : (tensor<6x7xf32>) -> tensor<4x1x5x6x7xf32>
          return
        }""")
    function = mlir.functions(module)["main"]
    broadcast = mlir.body(function).operations[0].operation.results[0]
    whole, part = map(domain.view, (mlir.arguments(function)[0], broadcast))
    assert whole is not None
    assert part is not None
    assert part.strides == (0, 0, 0, 7, 1)

    def axes(*views: View) -> list[tuple[int, bool]]:
        return [(axis.extent, domain.is_reduced(axis)) for axis in domain.axes(views)]

    assert axes(whole) == [(120, True), (7, False)]
    assert axes(whole, part) == [(20, True), (6, True), (7, False)]


@pytest.mark.slow
def test_short_rows() -> None:
    x, y = _array((90, 67, 3), np.float32), _array((3000, 7), np.int32)

    def folds(x: Any, y: Any) -> list[Any]:
        return [
            jnp.sum(x * x[..., :1], -1),
            jnp.prod(x, -1, initial=2.0),
            jnp.std(x, -1),
            jnp.max(jnp.clip(x, -1, 1), -1, initial=0.5),
            jnp.min(y, -1),
            jnp.sum(y, -1),
            jnp.any(x > 2, -1),
            jnp.all((y < 3) & (y > -5), -1),
            jnp.sum(x > 0, -1),
        ]

    _check(folds, x, y)
    bad = np.where(x > 4, np.nan, x)
    _check(lambda x: [jnp.max(x, -1), jnp.sum(x, -1)], bad)


@pytest.mark.slow
def test_products_are_overwritten_after_they_are_read() -> None:
    x = _array((150, 130), np.float32) / 9

    def results(x: Any) -> list[Any]:
        products = [(i + 1) * x @ x.T for i in range(7)]
        a, b, c, d, e, f, g = products
        return [
            irax.nn.softmax(a),
            irax.nn.softmax(b, axis=0),
            c + irax.nn.softmax(c),
            d - jnp.mean(d, 0),
            jnp.exp(e) / jnp.sum(jnp.exp(e)),
            f,
            irax.nn.softmax(jnp.where(jnp.arange(150)[:, None] >= jnp.arange(150), g, -1e9)),
            (f - jnp.mean(f, 1, keepdims=True)) / jnp.std(f, 1, keepdims=True),
        ]

    _check(results, x)


@pytest.mark.slow
def test_products_that_loops_read_again_are_not_overwritten() -> None:
    x = _array((150, 130), np.float32) / 9

    def results(x: Any) -> list[Any]:
        scores = x @ x.T
        step = lambda i, y: y + irax.nn.softmax(scores)
        return [irax.lax.fori_loop(0, 3, step, jnp.zeros_like(scores))]

    _check(results, x)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.float16])
def test_short_rows_of_narrow_numbers(dtype: Any) -> None:
    x = _array((5000, 5), np.int16)

    def folds(x: Any) -> list[Any]:
        x = (100 * x).astype(dtype)
        return [jnp.sum(x, -1, dtype=dtype), jnp.max(x, -1), jnp.min(x, -1), jnp.sum(x > 7, -1)]

    _check(folds, x)


@pytest.mark.slow
def test_few_elements_along_several_axes() -> None:
    x, y = _array((90, 2, 67, 4), np.float32), _array((150, 2, 60, 2), np.int32)

    def folds(x: Any, y: Any) -> list[Any]:
        return [
            jnp.max(x, (1, 3)),
            jnp.sum(x * x[:, :1, :, :1], (1, 3)),
            jnp.mean(x + jnp.arange(67.0)[:, None], (1, 3)),
            jnp.min(y, (1, 3), initial=0),
            jnp.any(jnp.transpose(y, (2, 0, 1, 3)) > 3, (2, 3)),
        ]

    _check(folds, x, y)


@pytest.mark.slow
def test_constants_too_large_to_be_folded_beforehand() -> None:
    assert irax.jit(lambda: jnp.ones((3000, 4000)).sum())() == 12e6
