"""StableHLO modules as functions: run, compiled, differentiated, mapped."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp

MODULE = """
func.func private @square(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>, %k: tensor<f32>) -> (tensor<f32>, tensor<3xf32>) {
  %0 = func.call @square(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %1 = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %3, %2 : tensor<f32>, tensor<3xf32>
}
func.func @double(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = stablehlo.add %x, %x : tensor<2xi64>
  return %0 : tensor<2xi64>
}
"""
X = jnp.array([1.0, 2.0, 3.0])


@pytest.fixture(params=["text", "path", "bytecode"])
def source(request, tmp_path):
    if request.param == "path":
        (tmp_path / "module.mlir").write_text(MODULE)
        return tmp_path / "module.mlir"
    if request.param == "bytecode":
        from irax_compiler import mlir

        return mlir.bytecode(mlir.parse_module(MODULE))
    return MODULE


def test_sources(source):
    total, squares = irax.ir.load(source, device="reference")(X, 2.0)
    assert float(total) == 28.0
    np.testing.assert_array_equal(squares, [2.0, 8.0, 18.0])


def test_compiled():
    total, squares = irax.ir.load(MODULE)(X, 2.0)
    assert float(total) == 28.0
    np.testing.assert_array_equal(squares, [2.0, 8.0, 18.0])


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_under_transformations(device):
    main = irax.ir.load(MODULE, device=device)
    gradient = irax.grad(lambda x: main(x, 2.0)[0])
    np.testing.assert_allclose(gradient(X), 4 * np.asarray(X))
    np.testing.assert_allclose(irax.hessian(lambda x: main(x, 2.0)[0])(X), 4 * np.eye(3))
    xs = jnp.stack([X, X + 1])
    mapped = irax.vmap(main, in_axes=(0, None))(xs, 1.0)[0]
    np.testing.assert_allclose(mapped, np.sum(np.asarray(xs) ** 2, axis=1))
    np.testing.assert_allclose(irax.jit(irax.vmap(gradient))(xs), 4 * np.asarray(xs))


def test_64_bit_modules_keep_their_types():
    double = irax.ir.load(MODULE, func="double", device="reference")
    result = double(np.array([2**40, 1]))
    assert result.dtype == np.int64
    np.testing.assert_array_equal(result, [2**41, 2])


def test_arguments_are_checked():
    main = irax.ir.load(MODULE)
    with pytest.raises(TypeError, match="@main takes 2 arguments, got 1"):
        main(X)
    with pytest.raises(
        ValueError, match=r"argument 0 has type float32\[2\].*expected float32\[3\]"
    ):
        main(X[:2], 1.0)
    with pytest.raises(TypeError, match=r"argument 0 has type int32\[3\]"):
        main(jnp.arange(3), 1.0)


def test_the_function_that_is_meant():
    private = MODULE.replace("func.func @double", "func.func private @double")
    assert irax.ir.load(private.replace("@main", "@loss"), device="reference").__name__ == "loss"
    with pytest.raises(ValueError, match="no function @main; it has @square, @loss, @double"):
        irax.ir.load(MODULE.replace("@main", "@loss"))


def test_other_files(tmp_path):
    for contents, message in (
        (b"", "empty; expected a module"),
        (b"\xff\xfe", "neither MLIR text nor MLIR bytecode"),
        (b"func.func @main() { nonsense }", "not a valid MLIR module"),
    ):
        (tmp_path / "module.mlir").write_bytes(contents)
        with pytest.raises(ValueError, match=message):
            irax.ir.load(tmp_path / "module.mlir")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        irax.ir.load(tmp_path / "none.mlir")


def test_an_interactive_session_shows_the_module():
    ir = irax.make_ir(jnp.sin)(1.0)
    assert repr(ir) == str(ir)
    assert "stablehlo.sine" in repr(ir)
