"""Kernels of elementwise operations on views, run by IREE and compared with NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.passes.elementwise.views import Axis, View, axes

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


@pytest.mark.parametrize("length", LENGTHS)
def test_views_of_rows(length: int):
    _check(length, np.float32)


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
