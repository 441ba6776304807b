"""Modules whose sizes are elements of arguments, as JAX 0.4 exported them."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

import irax
import irax.numpy as jnp
from irax_compiler.forms import reading
from irax_compiler.ops.core import UnsupportedOp
from irax_tools.cli import main

ADD = """
func.func @main(%n: tensor<i64>, %x: tensor<?x4xf32>, %y: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %0 = call @sizes(%n) : (tensor<i64>) -> tensor<3xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %0, dims = [1, 2]
      : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<2x?x4xf32>
  %2 = stablehlo.multiply %1, %y : tensor<2x?x4xf32>
  return %2 : tensor<2x?x4xf32>
}
func.func private @sizes(%n: tensor<i64>) -> tensor<3xi32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %0 = stablehlo.convert %n : (tensor<i64>) -> tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.concatenate %two, %1, %four, dim = 0
      : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  return %2 : tensor<3xi32>
}
"""
COUNT = """
func.func @main(%n: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
ROLL = """
func.func @main(%x: tensor<?xf32>, %at: tensor<1xi32>) -> (tensor<?xf32>, tensor<1xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %low = stablehlo.maximum %at, %zero : tensor<1xi32>
  %d = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %size = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
  %ahead = stablehlo.compare GT, %low, %one : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
  %by = stablehlo.select %ahead, %low, %one : tensor<1xi1>, tensor<1xi32>
  %a = stablehlo.real_dynamic_slice %x, %by, %size, %one
      : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %f = stablehlo.constant dense<7.0> : tensor<f32>
  %b = stablehlo.dynamic_pad %a, %f, %zero, %by, %zero
      : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %2 = stablehlo.add %at, %one : tensor<1xi32>
  return %b, %2 : tensor<?xf32>, tensor<1xi32>
}
"""


def inputs(n):
    rng = np.random.default_rng(n)
    x, y = (rng.uniform(-1, 1, s).astype("f") for s in ((n, 4), (2, n, 4)))
    return np.int64(n), x, y


@pytest.mark.slow
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_results(device: str):
    multiply = irax.ir.load(ADD, device=device)
    assert repr(multiply) == "<@main: (int64[], float32[d0,4], float32[2,d1,4]) -> (...)>"
    for n in (3, 1, 5, 3):
        number, x, y = inputs(n)
        np.testing.assert_array_equal(multiply(number, x, y), x * y)
    count = irax.ir.load(COUNT, device=device)
    for n in (4, 0, 2):
        np.testing.assert_array_equal(count(np.array([n], np.int32)), np.arange(n, dtype="f"))
    roll = irax.ir.load(ROLL, device=device)
    x = np.arange(5, dtype="f")
    for at in (3, -2, 1):
        found, following = roll(x, np.array([at], np.int32))
        by = max(at, 1)
        np.testing.assert_array_equal(found, np.append(x[by:], np.full(by, 7, "f")))
        np.testing.assert_array_equal(following, [at + 1])


def test_derivatives_and_maps_of_other_arguments():
    multiply = irax.ir.load(ADD, device="reference")
    n, x, y = inputs(3)
    slope = irax.grad(lambda x: multiply(n, x, y).sum())(x)
    np.testing.assert_allclose(slope, y.sum(0), rtol=1e-5)
    lanes = irax.vmap(lambda x: multiply(n, x, y))(np.stack([x, 2 * x]))
    np.testing.assert_allclose(lanes[1], 2 * x * y, rtol=1e-6)
    mapped = irax.vmap(irax.grad(lambda x, y: multiply(n, x, y).sum()), (None, 0))
    np.testing.assert_allclose(mapped(x, np.stack([y, -y]))[1], -y.sum(0), rtol=1e-5)
    np.testing.assert_allclose(irax.jit(lambda x: multiply(n, x, y))(x), x * y, rtol=1e-6)


def test_errors():
    multiply = irax.ir.load(ADD, device="reference")
    n, x, y = inputs(3)
    with pytest.raises(ValueError, match=r"@main: argument 0 = 2: .*\n?.*sizes 2 and 3"):
        multiply(np.int64(2), x, y)
    with pytest.raises(ValueError, match=r"argument 1 has shape \(3, 5\); expected tensor"):
        multiply(n, np.ones((3, 5), "f"), y)
    count = irax.ir.load(COUNT, device="reference")
    with pytest.raises(TypeError, match=r"argument 0, which has sizes.* is not known while"):
        irax.jit(count)(jnp.ones(1, "int32"))
    with pytest.raises(UnsupportedOp, match=r"dynamic_iota .* operand 0 does not follow from"):
        reading.read_module(COUNT)
    elements = COUNT.replace("tensor<1xi32>", "tensor<1xf32>", 1).replace(
        "  %0 =", "  %m = stablehlo.convert %n : (tensor<1xf32>) -> tensor<1xi32>\n  %0 ="
    )
    with pytest.raises(UnsupportedOp, match=r"dynamic_iota .* operand 0 does not follow from"):
        irax.ir.load(elements.replace("dynamic_iota %n", "dynamic_iota %m"))


def test_the_command(tmp_path):
    path = tmp_path / "count.mlir"
    path.write_text(COUNT)
    for device in ("reference", "cpu"):
        done = CliRunner().invoke(
            main, ["run", str(path), "--input", "1xi32=3", "--device", device]
        )
        assert done.exit_code == 0, done.output
        assert "0" in done.output
        assert "2" in done.output
