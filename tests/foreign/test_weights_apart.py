"""Weights and constants in the forms of torch-mlir: `dense_resource`, `arith.constant`."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import irax
from irax_compiler import mlir
from irax_compiler.forms.reading import read_module

RNG = np.random.default_rng(0)
W = RNG.uniform(-1, 1, (12, 9)).astype("f")
B = RNG.uniform(-1, 1, 9).astype("f")
X = RNG.uniform(-1, 1, (2, 12)).astype("f")


def apart(**contents: bytes) -> str:
    lines = ",\n".join(f'{name}: "0x04000000{data.hex()}"' for name, data in contents.items())
    return f"{{-# dialect_resources: {{ builtin: {{ {lines} }} }} #-}}"


LINEAR = """
func.func @main(%x: tensor<2x12xf32>) -> tensor<2x9xf32> {
  %w = stablehlo.constant dense_resource<torch_tensor_12_9_torch.float32> : tensor<12x9xf32>
  %b = arith.constant dense_resource<torch_tensor_9_torch.float32> : tensor<9xf32>
  %zero = arith.constant dense<0.0> : tensor<2x9xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<2x12xf32>, tensor<12x9xf32>) -> tensor<2x9xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<9xf32>) -> tensor<2x9xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x9xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<2x9xf32>
  return %3 : tensor<2x9xf32>
}
""" + apart(
    **{
        "torch_tensor_12_9_torch.float32": W.tobytes(),
        "torch_tensor_9_torch.float32": B.tobytes(),
    }
)


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_a_linear_layer(device: str) -> None:
    run = irax.ir.load(LINEAR, device=device)
    np.testing.assert_allclose(run(X), np.maximum(X @ W + B, 0), rtol=1e-5, atol=1e-6)
    if device == "reference":
        slope = irax.grad(lambda x: run(x).sum())(X)
        np.testing.assert_allclose(slope, (X @ W + B > 0) @ W.T, rtol=1e-5, atol=1e-6)
        lanes = irax.vmap(run)(np.stack([X, -X]))
        np.testing.assert_allclose(lanes[1], np.maximum(B - X @ W, 0), rtol=1e-5, atol=1e-6)


def test_what_is_printed_is_read_again() -> None:
    module = read_module(LINEAR)
    text = mlir.text_of(module.operation)
    assert "dense_resource" not in text
    assert "arith" not in text
    assert mlir.text_of(read_module(text).operation) == text


def test_bytecode() -> None:
    data = mlir.bytecode(mlir.parse_module(LINEAR))
    assert mlir.text_of(read_module(data).operation) == mlir.text_of(read_module(LINEAR).operation)


ARRAYS = {
    "f64": RNG.uniform(-1, 1, (5, 0)),
    "f32": W.T.copy(),
    "bf16": W.astype(ml_dtypes.bfloat16),
    "f16": W.astype(np.float16),
    "i64": RNG.integers(-(2**60), 2**60, (3, 30)),
    "i8": RNG.integers(-128, 127, 77).astype(np.int8),
    "ui8": RNG.integers(0, 255, 77).astype(np.uint8),
    "i1": W > 0,
    "complex<f32>": W + 1j * np.float32(2),
}


@pytest.mark.parametrize("element", ARRAYS)
def test_elements(element: str) -> None:
    array = ARRAYS[element]
    type_ = "tensor<" + "".join(f"{n}x" for n in array.shape) + element + ">"
    text = f"""func.func @main() -> {type_} {{
      %0 = stablehlo.constant dense_resource<w> : {type_}
      return %0 : {type_}
    }} {apart(w=array.tobytes())}"""
    found = irax.ir.load(text, device="reference")()
    np.testing.assert_array_equal(found, array)


def test_booleans_that_are_packed() -> None:
    bits = np.packbits(W > 0, bitorder="little").tobytes()
    text = f"""func.func @main() -> tensor<12x9xi1> {{
      %0 = arith.constant dense_resource<w> : tensor<12x9xi1>
      return %0 : tensor<12x9xi1>
    }} {apart(w=bits)}"""
    np.testing.assert_array_equal(irax.ir.load(text, device="reference")(), W > 0)


def test_errors() -> None:
    lost = LINEAR.partition("{-#")[0]
    with pytest.raises(
        TypeError, match=r"lacks the contents 'torch_tensor_12_9_torch\.float32\w*' of"
    ):
        read_module(lost)
    short = lost + apart(**{"torch_tensor_12_9_torch.float32": b"\0" * 12})
    with pytest.raises(TypeError, match="cannot read 12 bytes as a tensor<12x9xf32>; expected 432"):
        read_module(short)
