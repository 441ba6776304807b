"""Convolutions of bfloat16, which are summed in float32, compared with sums of slices in float64:
edges of tiles, odd features, strides, segments of windows. Processors without instructions for them
multiply floats.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import chips, mlir
from irax_compiler.lowering import lower

LAYOUT = ("NHWC", "HWIO", "NHWC")
CASES = [
    ((2, 14, 14, 32), (3, 3, 32, 40), 1, ((1, 1), (1, 1))),
    ((1, 40, 37, 3), (3, 3, 3, 16), 2, ((1, 1), (0, 1))),  # an odd number of features
    ((1, 24, 24, 8), (5, 5, 8, 3), 1, ((-2, 1), (3, -1))),  # fewer outputs than a vector has
    ((2, 9, 9, 33), (2, 2, 33, 70), 2, ((0, 0), (1, 0))),
    ((4, 8, 8, 400), (3, 3, 400, 64), 1, ((1, 1), (1, 1))),  # parts of a panel
    ((3, 12, 50, 64), (1, 1, 64, 48), 1, ((0, 0), (0, 0))),  # a product
    ((1, 9, 20, 1300), (2, 3, 1300, 24), 1, ((0, 0), (0, 0))),  # parts of a segment
    ((4, 26, 49, 1), (3, 3, 1, 1), 2, ((1, 1), (1, 0))),  # sums of strided slices
]


def drawn(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(ml_dtypes.bfloat16)


def convolved(
    x: np.ndarray, kernel: np.ndarray, stride: int, padding: tuple[tuple[int, int], ...]
) -> np.ndarray:
    x, kernel = x.astype(np.float64), kernel.astype(np.float64)
    for d, (low, high) in enumerate(padding, 1):
        x = np.take(x, range(max(0, -low), x.shape[d] - max(0, -high)), d)
        sides = [(0, 0)] * 4
        sides[d] = max(0, low), max(0, high)
        x = np.pad(x, sides)
    rows, columns = kernel.shape[:2]
    out = [(n - k) // stride + 1 for n, k in zip(x.shape[1:3], (rows, columns), strict=True)]
    ends = [(n - 1) * stride + 1 for n in out]
    return sum(
        x[:, i : i + ends[0] : stride, j : j + ends[1] : stride] @ kernel[i, j]
        for i in range(rows)
        for j in range(columns)
    )


def convolution(stride: int, padding: tuple[tuple[int, int], ...], dtype: type = jnp.float32):
    def convolve(x: irax.Array, kernel: irax.Array) -> irax.Array:
        return irax.lax.conv_general_dilated(
            *(x, kernel, (stride, stride), padding),
            dimension_numbers=LAYOUT,
            preferred_element_type=dtype,
        )

    return irax.jit(convolve)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("array", "kernel", "stride", "padding"), CASES)
def test_values(
    array: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: int,
    padding: tuple[tuple[int, int], ...],
) -> None:
    x, y = drawn(array, 0), drawn(kernel, 1)
    expected = convolved(x, y, stride, padding)
    for dtype, bound in ((jnp.float32, 2e-6), (jnp.bfloat16, 4e-3)):
        found = convolution(stride, padding, dtype)(x, y)
        assert found.dtype == dtype
        error = np.abs(np.asarray(found, np.float64) - expected).max()
        assert error <= bound * np.abs(expected).max()


def test_what_is_no_number_stays_in_its_windows() -> None:
    x, y = drawn((2, 20, 20, 6), 0), np.abs(drawn((3, 3, 6, 40), 1))
    x[0, 5, 7, 2], x[1, 0, 0, 5] = np.nan, np.inf
    y[0, 0, 0, 3] = np.inf  # above and before the image this is left out, or times zero
    found = np.asarray(convolution(1, ((1, 1), (1, 1)))(x, y))
    others = np.delete(found, 3, -1)
    assert np.isnan(others[0, 4:7, 6:9]).all()
    assert (others[1, :2, :2] == np.inf).all()
    others[0, 4:7, 6:9], others[1, :2, :2] = 0, 0
    assert np.isfinite(others).all()
    assert np.isfinite(found[0, 0, :, 3]).sum() == 0 or np.isfinite(found[0, 0, :, 3]).all()


def test_sizes_may_be_unknown() -> None:
    kernel = drawn((3, 3, 16, 32), 1)
    shapes = irax.export.symbolic_shape("n, 18, 18, 16")
    given = (
        irax.ShapeDtypeStruct(shapes, jnp.bfloat16),
        irax.ShapeDtypeStruct(kernel.shape, jnp.bfloat16),
    )
    exported = irax.export.export(convolution(1, ((1, 1), (1, 1))))(*given)
    for count in (1, 3):
        x = drawn((count, 18, 18, 16), count)
        expected = convolved(x, kernel, 1, ((1, 1), (1, 1)))
        error = np.abs(np.asarray(exported.call(x, kernel)) - expected).max()
        assert error <= 2e-6 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("instructions", "expected"),
    [
        ({"avx512_bf16"}, "dpbf16ps.512"),
        ({"avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"}, "tdpbf16ps"),
        (set(), "vector.fma"),
    ],
)
def test_processors_get_what_they_have(
    monkeypatch: pytest.MonkeyPatch, instructions: set[str], expected: str
) -> None:
    flags = {"avx512f", "avx512bw", "avx512vl"} | instructions
    monkeypatch.setattr(chips, "_flags", lambda: flags)
    monkeypatch.setattr(chips, "_of_this_processor", lambda: chips.AVX512)
    monkeypatch.setattr(chips, "may_use_blocks", lambda: True)
    x, y, z = (f"tensor<{n}xbf16>" for n in ("1x20x20x32", "3x3x32x32", "1x18x18x32"))
    layout = "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}"
    counts = "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
    text = f"""func.func @main(%x: {x}, %y: {y}) -> {z} {{
      %0 = stablehlo.convolution(%x, %y) {layout} {counts} : ({x}, {y}) -> {z}
      return %0 : {z}
    }}"""
    lowered = str(lower(mlir.parse_module(text), "main", "iree-cpu"))
    assert expected in lowered
