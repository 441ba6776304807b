"""Legalizations for GPUs, evaluated in NumPy."""

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.legalize.target import OF_THE_EVALUATOR

FLOATS8 = [
    text
    for text, dtype in mlir.DTYPES.items()
    if text.startswith("f8") and dtype.name not in OF_THE_EVALUATOR
]


def on_gpu(text: str) -> Evaluator:
    return Evaluator(lower(mlir.parse_module(text), "main", "iree-cuda"))


@pytest.mark.parametrize("text", [t for t in FLOATS8 if t != "f8E4M3B11FNUZ"])
def test_floats_of_8_bits(text: str) -> None:
    """All of them to float32; and back what lies at them, between them and beyond them."""
    dtype = mlir.DTYPES[text]
    every = np.arange(256, dtype=np.uint8).view(dtype)
    with np.errstate(all="ignore"):
        wide = every.astype(np.float32)
        places = np.concatenate([wide, (wide[1:] + wide[:-1]) / 2, wide * 1e3, wide * 1e-3])
        places = np.concatenate([np.nextafter(places, np.float32(s * np.inf)) for s in (-1, 1)])
        places = np.concatenate([places, wide, (wide[1:] + wide[:-1]) / 2, [-0.0, 1e-45, 3e38]])
        expected = places.astype(np.float32).astype(dtype)
    n = len(places)
    program = on_gpu(
        f"""func.func @main(%x: tensor<256x{text}>, %y: tensor<{n}xf32>)
                -> (tensor<256xf32>, tensor<{n}x{text}>) {{
              %0 = stablehlo.convert %x : (tensor<256x{text}>) -> tensor<256xf32>
              %1 = stablehlo.convert %y : (tensor<{n}xf32>) -> tensor<{n}x{text}>
              return %0, %1 : tensor<256xf32>, tensor<{n}x{text}>
            }}"""
    )
    widened, narrowed = program("main", [every, places.astype(np.float32)])
    np.testing.assert_array_equal(widened, wide)
    is_number = ~np.isnan(wide)
    signs, expected_signs = (np.signbit(a[is_number]) for a in (widened, wide))
    np.testing.assert_array_equal(signs, expected_signs)
    is_nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(narrowed.astype(np.float32)), is_nan)
    bits, expected_bits = (a.view(np.uint8)[~is_nan] for a in (narrowed, expected))
    np.testing.assert_array_equal(bits, expected_bits)


def sort(shape: str, dtype: str, dimension: int, direction: str) -> str:
    return f"""
    func.func @main(%x: tensor<{shape}x{dtype}>)
        -> (tensor<{shape}x{dtype}>, tensor<{shape}xi32>) {{
      %i = stablehlo.iota dim = {dimension} : tensor<{shape}xi32>
      %0:2 = "stablehlo.sort"(%x, %i) <{{dimension = {dimension} : i64, is_stable = true}}> ({{
      ^bb0(%a: tensor<{dtype}>, %b: tensor<{dtype}>, %p: tensor<i32>, %q: tensor<i32>):
        %1 = stablehlo.compare {direction}, %a, %b
          : (tensor<{dtype}>, tensor<{dtype}>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }}) : (tensor<{shape}x{dtype}>, tensor<{shape}xi32>)
        -> (tensor<{shape}x{dtype}>, tensor<{shape}xi32>)
      return %0#0, %0#1 : tensor<{shape}x{dtype}>, tensor<{shape}xi32>
    }}"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("length", [2, 3, 7, 8, 63, 64, 65, 257])
@pytest.mark.parametrize("dtype", ["f32", "i8", "bf16"])
def test_sorting_by_exchanges(length: int, dtype: str) -> None:
    rng = np.random.default_rng(length)
    x = rng.integers(-20, 20, (3, length)).astype(mlir.DTYPES[dtype])
    wide = x.astype(np.float64)
    for dimension, direction in [(1, "LT"), (1, "GT"), (0, "LT")]:
        given = x if dimension else x.T
        shape = "x".join(map(str, given.shape))
        program = on_gpu(sort(shape, dtype, dimension, direction))
        values, places = program("main", [given])
        keys = (wide if dimension else wide.T) * (1 if direction == "LT" else -1)
        order = np.argsort(keys, dimension, kind="stable")
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(values, np.take_along_axis(given, order, dimension))


def test_nan_is_last_and_zeros_are_equal() -> None:
    x = np.tile(np.array([np.nan, 0.0, -0.0, -np.inf, np.inf, -np.nan, 1e-45], np.float32), 6)
    values, places = on_gpu(sort("42", "f32", 0, "LT"))("main", [x])
    order = np.argsort(x, kind="stable")
    is_number = ~np.isnan(x[order])
    np.testing.assert_array_equal(values, x[order])
    np.testing.assert_array_equal(places[is_number], order[is_number])


@pytest.mark.parametrize("text", ["f32", "f16", "bf16"])
def test_remainders_on_vulkan(text: str) -> None:
    """Remainders of numbers near each other and far apart, of the smallest, the largest, and of
    nan.
    """
    dtype, rng = mlir.DTYPES[text], np.random.default_rng(0)
    ends = [0.0, 1e-45, 5e-39, np.finfo(np.float32).tiny, 0.1, 1.0, 1e6, 3e38, np.inf, np.nan]
    of_ends = (a.ravel() for a in np.meshgrid([*ends, -0.0, -1.0, -np.inf], [*ends, -3.0]))
    of_bits = rng.integers(0, 2**32, (2, 2000), np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        x, y = (
            np.concatenate([a, b, c]).astype(dtype)
            for a, b, c in zip(of_ends, of_bits, rng.normal(size=(2, 2000)), strict=True)
        )
        expected = np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(dtype)
    type_ = f"tensor<{len(x)}x{text}>"
    module = mlir.parse_module(
        f"""func.func @main(%x: {type_}, %y: {type_}) -> {type_} {{
              %0 = stablehlo.remainder %x, %y : {type_}
              return %0 : {type_}
            }}"""
    )
    (result,) = Evaluator(lower(module, "main", "iree-vulkan"))("main", [x, y])
    is_nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(result.astype(np.float32)), is_nan)
    integers = f"u{dtype.itemsize}"
    np.testing.assert_array_equal(result.view(integers)[~is_nan], expected.view(integers)[~is_nan])


EXPONENTIALS = {
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


@pytest.mark.parametrize("name", EXPONENTIALS)
def test_exponentials_for_vulkan(name: str) -> None:
    """Against float64, at 2 units in the last place, and at the ends."""
    places = np.concatenate([np.linspace(-86, 88.7, 2999), np.linspace(-1, 1, 999)])
    ends = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-20, 89.0, -110.0])
    x = np.concatenate([places, ends]).astype(np.float32)
    text = f"""func.func @main(%x: tensor<{len(x)}xf32>) -> tensor<{len(x)}xf32> {{
      %0 = stablehlo.{name} %x : tensor<{len(x)}xf32>
      return %0 : tensor<{len(x)}xf32>
    }}"""
    program = Evaluator(lower(mlir.parse_module(text), "main", "iree-vulkan"))
    with np.errstate(all="ignore"):
        (found,) = program("main", [x])
        exact = EXPONENTIALS[name](x.astype(np.float64))
        expected = exact.astype(np.float32)
    n = len(places)
    errors = np.abs(found[:n] - exact[:n]) / np.spacing(np.abs(expected[:n]))
    assert errors.max() < 2
    np.testing.assert_allclose(found[n:], expected[n:], rtol=2e-7, atol=1e-44)
    np.testing.assert_array_equal(
        np.signbit(found[n + 3 : n + 5]), np.signbit(expected[n + 3 : n + 5])
    )
