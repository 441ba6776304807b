"""Convolutions and products by irax's own code, beside the evaluator: edges of tiles, vectors and
panels. Code for processors with wider registers than this one's runs as well, in parts.
"""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import chips, mlir
from irax_compiler.lowering import lower
from irax_compiler.passes.kernels.blas import strips, tile_shapes, tiles

pytestmark = pytest.mark.skipif(not chips.IS_X86, reason="tiles are for x86-64")

AVX2, AVX512 = "x86-64-v3", "x86-64-v4"


@pytest.fixture(autouse=True)
def of_no_other_chip(monkeypatch):
    """Compile for the chip of the test, whatever is kept of another."""
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")


IMAGES = "NHWC", "HWIO", "NHWC"
SEQUENCES = "NWC", "WIO", "NWC"
CASES = [
    # array, kernel, strides, padding, dilation of the window, layout
    ((2, 9, 14, 20), (3, 3, 20, 50), (1, 2), "SAME", (1, 1), IMAGES),  # rests of both kinds
    ((1, 7, 7, 64), (3, 3, 64, 128), (1, 1), "VALID", (2, 1), IMAGES),  # whole vectors
    ((3, 33, 25, 3), (7, 5, 3, 9), (2, 1), "SAME", (1, 1), IMAGES),  # several segments
    ((1, 12, 13, 400), (2, 3, 400, 33), (1, 1), "SAME", (1, 1), IMAGES),  # parts of segments
    ((4, 16, 16, 70), (1, 1, 70, 40), (2, 3), "VALID", (1, 1), IMAGES),  # single elements
    ((4, 22, 23, 40), (3, 3, 40, 40), (2, 2), ((-1, -2), (1, -3)), (1, 1), IMAGES),  # cut
    ((2, 9, 11, 40), (3, 3, 40, 40), (1, 1), ((7, 8), (3, 5)), (3, 1), IMAGES),  # rows of zeros
    ((4, 19, 22, 40), (3, 4, 40, 40), (1, 2), ((-1, 3), (4, -2)), (2, 1), IMAGES),
    ((4, 301, 24), (8, 24, 31), (3,), "SAME", (1,), SEQUENCES),
]


def convolved(*arrays):
    pairs = zip(arrays[::2], arrays[1::2], CASES, strict=True)
    return [
        lax.conv_general_dilated(
            x, y, strides, padding, rhs_dilation=dilation, dimension_numbers=layout
        )
        for x, y, (_, _, strides, padding, dilation, layout) in pairs
    ]


@pytest.fixture(scope="module")
def arrays():
    generator = np.random.default_rng(0)
    shapes = [shape for case in CASES for shape in case[:2]]
    return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


def lowered(function, *arrays):
    module = mlir.parse_module(irax.jit(function).lower(*arrays).as_text())
    (main,) = (name for name, f in mlir.functions(module).items() if mlir.is_public(f))
    return str(lower(module, main))


def multiplied(x, y, bias, many, matrices):
    """Products with masks for the last columns, one with an epilogue; one of a batch; and those of
    a layer's gradient, with transposed factors.
    """
    g = jnp.tanh(x @ y + bias)
    return g, many @ matrices, x.T @ g, g @ y.T


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-3), ("float64", 1e-11)])
def test_products(dtype, error):
    generator = np.random.default_rng(0)
    shapes = (130, 515), (515, 410), (410,), (2, 65, 300), (2, 300, 768)
    with irax.enable_x64(True), chips.compiling_for(AVX512):
        arrays = [generator.standard_normal(shape).astype(dtype) for shape in shapes]
        text = lowered(multiplied, *arrays)
        assert text.count("flow.dispatch @product") == 4
        assert "scipy_cblas" not in text
        pairs = zip(irax.jit(multiplied)(*arrays), multiplied(*arrays), strict=True)
    for x, expected in pairs:
        assert x.dtype == dtype
        np.testing.assert_allclose(x, expected, rtol=0, atol=error)


@pytest.mark.slow
def test_every_rest_of_a_panel():
    """Products by transposes, whose last panel has one row, a few, a block of them, or many."""
    dtype = np.dtype(np.float32)
    with chips.compiling_for(AVX512):
        shape = tiles.Lines(dtype, 130, 1, 1000, (1, 1), (1, 1), 1).shape
    most = tiles.PANELS // (tiles.TOGETHER * shape.columns * dtype.itemsize)
    depths = [most + 1, 2 * most + 7, most + shape.lanes, 2 * most - 1]
    generator = np.random.default_rng(0)
    arrays = [
        generator.standard_normal((rows, depth)).astype(np.float32)
        for depth in depths
        for rows in (130, 1000)
    ]

    def products(*arrays):
        return [x @ y.T for x, y in zip(arrays[::2], arrays[1::2], strict=True)]

    with chips.compiling_for(AVX512):
        assert "scipy_cblas" not in lowered(products, *arrays)
        results = irax.jit(products)(*arrays)
    for found, expected in zip(results, products(*arrays), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("chip", "strip"), [(AVX2, 1 << 18), (AVX512, 1 << 18), (AVX512, 0)])
def test_values(arrays, chip, strip, monkeypatch):
    """Kernels pad images; where rows are too long for that, they read a padded array."""
    monkeypatch.setattr(strips, "STACK", strip)
    with chips.compiling_for(chip):
        text = lowered(convolved, *arrays)
        results = irax.jit(convolved)(*arrays)
    assert text.count("stablehlo.pad") == (0 if strip else 7)
    assert text.count("flow.dispatch @convolution") == len(CASES)
    assert "scipy_cblas" not in text
    assert "irax.libraries" not in text
    for found, expected in zip(results, convolved(*arrays), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


def test_nan_and_infinities_stay_in_their_windows():
    x = np.ones((1, 40, 40, 16), np.float32)
    x[0, 3, 5, 0], x[0, 20, 20, 1] = np.nan, np.inf
    y = np.ones((3, 3, 16, 20), np.float32)
    with chips.compiling_for(AVX2):
        found = irax.jit(
            lambda x, y: lax.conv_general_dilated(x, y, (1, 1), "VALID", None, None, IMAGES)
        )(x, y)
    expected = np.full((38, 38), 144.0)
    expected[18:21, 18:21] = np.inf
    expected[1:4, 3:6] = np.nan
    np.testing.assert_array_equal(found[0], np.broadcast_to(expected[..., None], (38, 38, 20)))


@pytest.mark.parametrize("chip", [AVX2, AVX512])
@pytest.mark.parametrize(("rows", "columns"), [(1, 8), (7, 512), (56, 64), (112, 64), (14, 10)])
def test_tiles_fit_in_registers(rows, columns, chip):
    with chips.compiling_for(chip):
        lines = tiles.Lines(np.dtype(np.float32), rows, 1, columns, (1, 1), (columns, 1), columns)
        shape, registers = lines.shape, lines.registers.number
    assert shape.rows * shape.vectors >= tile_shapes.FEWEST[registers]
    assert (shape.rows + 1) * shape.vectors < registers


def test_code_is_for_the_chip():
    """A program for another chip has that chip's tiles."""
    x, y = np.ones((1, 40, 40, 16), np.float32), np.ones((3, 3, 16, 20), np.float32)
    f = irax.jit(lambda x, y: lax.conv_general_dilated(x, y, (1, 1), "VALID", None, None, IMAGES))
    module = mlir.parse_module(f.lower(x, y).as_text())
    (main,) = (name for name, f in mlir.functions(module).items() if mlir.is_public(f))
    texts = {c: str(lower(module, main, f"iree-cpu:{c}")) for c in ("generic", AVX2, AVX512)}
    assert "vector.fma" not in texts["generic"]
    assert "vector<8xf32>" in texts[AVX2]
    assert "vector<16xf32>" not in texts[AVX2]
    assert "vector<16xf32>" in texts[AVX512]
