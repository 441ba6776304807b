"""Programs with symbolic dimensions as JAX exports them, run by irax for several sizes.

JAX's results are beside them. `make_dynamic.py` makes the files; JAX is not needed here.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pytest

import irax
from irax_compiler.forms import reading
from irax_tools import arrays, programs
from irax_tools.sources import Source

FOLDER = Path(__file__).parent / "dynamic"
NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir"))
SIZES = (2, 3, 7)


def cases(name):
    with np.load(FOLDER / f"{name}.npz") as there:
        for n in SIZES:
            yield tuple(
                [there[key] for i in range(9) if (key := f"{kind}{i}_{n}") in there]
                for kind in ("argument", "result")
            )


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def test_there_are_many():
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_results(name):
    run = irax.ir.load(FOLDER / f"{name}.mlir", device="reference")
    for given, expected in cases(name):
        for x, y in zip(as_tuple(run(*given)), expected, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-4)


def test_derivatives_and_maps():
    run = irax.ir.load(FOLDER / "softmax.mlir", device="reference")

    def total(x):
        return (run(x) ** 2).sum()

    for (x,), _ in cases("softmax"):
        expected = irax.grad(lambda x: (irax.nn.softmax(x) ** 2).sum())(x)
        np.testing.assert_allclose(irax.grad(total)(x), expected, rtol=1e-4, atol=1e-5)
        lanes = np.stack([x, 2 * x])
        found = irax.vmap(run)(lanes)
        np.testing.assert_allclose(found[1], irax.nn.softmax(2 * x), rtol=1e-4, atol=1e-5)


def test_sizes_that_are_asserted():
    rows = irax.ir.load(FOLDER / "rows.mlir", device="reference")
    with pytest.raises(ValueError, match=r"d0 - 2 >= 0 does not hold for d0 = 1"):
        rows(np.ones((1, 3), np.float32))
    same = irax.ir.load(FOLDER / "same.mlir", device="reference")
    with pytest.raises(ValueError, match=r"expected size d0 = 2 for argument 1.shape\[0\], got 3"):
        same(np.ones((2, 3), np.float32), np.ones((3, 3), np.float32))


REGIONS = {
    "a loop": """
    func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<?xf32> cond {
        %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = stablehlo.multiply %y, %x : tensor<?xf32>
        stablehlo.return %1, %2 : tensor<i32>, tensor<?xf32>
      }
      return %0#1 : tensor<?xf32>
    }""",
    "a size that is carried": """
    func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %0:3 = stablehlo.while(%i = %zero, %y = %x, %s = %size) :
          tensor<i32>, tensor<?xf32>, tensor<i32> cond {
        %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
        %3 = stablehlo.dynamic_broadcast_in_dim %y, %2, dims = [0]
            : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
        %4 = stablehlo.multiply %3, %x : tensor<?xf32>
        stablehlo.return %1, %4, %s : tensor<i32>, tensor<?xf32>, tensor<i32>
      }
      return %0#1 : tensor<?xf32>
    }""",
    "branches": """
    func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
      %0 = "stablehlo.case"(%n) ({
        stablehlo.return %x : tensor<?xf32>
      }, {
        %1 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        %3 = stablehlo.dynamic_broadcast_in_dim %one, %2, dims = []
            : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
        stablehlo.return %3 : tensor<?xf32>
      }, {
        %1 = stablehlo.multiply %x, %x : tensor<?xf32>
        %2 = stablehlo.multiply %1, %x : tensor<?xf32>
        stablehlo.return %2 : tensor<?xf32>
      }) : (tensor<i32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }""",
}
"""Modules with `?` in regions, which compute a power of x for n = 2."""


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("device", ["reference", pytest.param("cpu", marks=pytest.mark.slow)])
def test_regions(name, device):
    run = irax.ir.load(REGIONS[name], device=device)
    two = np.int32(2)
    for n in (1, 2, 5):
        x = np.linspace(-1, 2, n).astype(np.float32)
        np.testing.assert_allclose(run(x, two), x**3, rtol=1e-5)
        lanes = np.stack([x, 2 * x])
        np.testing.assert_allclose(irax.vmap(run, (0, None))(lanes, two), lanes**3, rtol=1e-5)
        tangent = irax.jvp(lambda x: run(x, two), (x,), (x,))[1]
        np.testing.assert_allclose(tangent, 3 * x**3, rtol=1e-5)
        if name == "branches":
            slope = irax.grad(lambda x: run(x, two).sum())(x)
            np.testing.assert_allclose(slope, 3 * x**2, rtol=1e-5)


def convolved(x, kernel, padding):
    dims = ("NWC", "WIO", "NWC")
    return irax.lax.conv_general_dilated(x, kernel, (1,), [padding], dimension_numbers=dims)


@pytest.mark.parametrize("is_open", [False, True])
def test_convolutions(is_open):
    """The padding on the right is 1, or the size of the array."""
    right = "%size" if is_open else "%one"
    run = irax.ir.load(
        f"""
    func.func @main(%x: tensor<?x?x2xf32>, %k: tensor<3x2x4xf32>) -> tensor<?x?x4xf32> {{
      %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?x2xf32>) -> tensor<i32>
      %size = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1x1xi32>
      %one = stablehlo.constant dense<1> : tensor<1x1xi32>
      %p = stablehlo.concatenate %one, {right}, dim = 1
          : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
      %1 = "stablehlo.dynamic_conv"(%x, %k, %p) {{
        batch_group_count = 1 : i64, feature_group_count = 1 : i64,
        dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
      }} : (tensor<?x?x2xf32>, tensor<3x2x4xf32>, tensor<1x2xi32>) -> tensor<?x?x4xf32>
      return %1 : tensor<?x?x4xf32>
    }}""",
        device="reference",
    )
    rng = np.random.default_rng(0)
    for batch, n in ((1, 3), (2, 1), (3, 8)):
        x, k = (rng.uniform(-1, 1, s).astype(np.float32) for s in ((batch, n, 2), (3, 2, 4)))
        expected = convolved(x, k, (1, n if is_open else 1))
        np.testing.assert_allclose(run(x, k), expected, rtol=1e-4, atol=1e-5)
        found = irax.grad(lambda k, x=x: (run(x, k) ** 2).sum())(k)
        padding = (1, n if is_open else 1)
        slope = irax.grad(lambda k, x=x, p=padding: (convolved(x, k, p) ** 2).sum())
        np.testing.assert_allclose(found, slope(k), rtol=1e-3, atol=1e-4)


def test_sizes_that_are_known_after_all():
    run = irax.ir.load(
        """
    func.func @main(%x: tensor<6xf32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
      %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
      %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x3xf32>
      %1 = stablehlo.bitcast_convert %0 : (tensor<?x3xf32>) -> tensor<?x3xi32>
      return %0, %1 : tensor<?x3xf32>, tensor<?x3xi32>
    }""",
        device="reference",
    )
    x = np.arange(6, dtype=np.float32)
    found, bits = run(x)
    np.testing.assert_array_equal(found, x.reshape(2, 3))
    np.testing.assert_array_equal(bits, x.view(np.int32).reshape(2, 3))


def test_the_command():
    module = reading.read_module((FOLDER / "softmax.mlir").read_text())
    run = programs.program(Source(module, "main"), programs.REFERENCE)
    for given, expected in cases("softmax"):
        np.testing.assert_allclose(run(given)[0], expected[0], rtol=1e-4)
    with pytest.raises(ValueError, match="expected argument 0 to have 2 dimensions"):
        run([np.ones(3, np.float32)])
    x, y = arrays.parse_arguments("f32[batch,784], f32[2*batch + 1]")
    assert str(y.shape) == "(2*batch + 1,)"
    assert x.shape[0] * 2 + 1 == y.shape[0]
    with pytest.raises(click.UsageError, match="syntax error in symbolic shape"):
        arrays.parse_arguments("f32[batch +]")
