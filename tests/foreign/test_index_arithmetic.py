"""Sizes in the dialects arith, tensor and shape, as torch-mlir writes them: against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax_compiler.forms.reading import read_module
from irax_compiler.ops.core import UnsupportedOp

X, Y = "tensor<?x4xf32>", "tensor<1x1xf32>"
ROWS = f"""
    func.func @main(%x: {X}, %y: {Y}) -> {X} {{
      %0 = shape.shape_of %x : {X} -> tensor<2xindex>
      %1 = shape.shape_of %y : {Y} -> tensor<2xindex>
      %w = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<2xindex>
      %r = shape.assuming %w -> ({X}) {{
        %2 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
        %3 = stablehlo.dynamic_broadcast_in_dim %x, %2, dims = [0, 1]
          : ({X}, tensor<2xindex>) -> {X}
        %4 = stablehlo.dynamic_broadcast_in_dim %y, %2, dims = [0, 1]
          : ({Y}, tensor<2xindex>) -> {X}
        %5 = stablehlo.multiply %3, %4 : {X}
        shape.assuming_yield %5 : {X}
      }}
      return %r : {X}
    }}"""


def test_shapes_are_broadcast():
    run = irax.ir.load(ROWS, device="reference")
    for n in (2, 5):
        x, y = np.arange(4 * n, dtype="f").reshape(n, 4), np.full((1, 1), 3, "f")
        np.testing.assert_array_equal(run(x, y), x * y)
        slopes = irax.grad(lambda x, y: run(x, y).sum(), argnums=(0, 1))(x, y)
        np.testing.assert_array_equal(slopes[0], np.full((n, 4), 3))
        np.testing.assert_array_equal(slopes[1], [[x.sum()]])


SIZES = {
    "tensor.dim": ("%n = arith.index_cast %dim : index to i64", lambda n: n),
    "num_elements": (
        """%s = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
           %a = shape.num_elements %s : tensor<2xindex> -> index
           %n = arith.index_cast %a : index to i64""",
        lambda n: 4 * n,
    ),
    "arith": (
        """%a = arith.index_cast %dim : index to i64
           %b = arith.muli %a, %three : i64
           %n = arith.floordivsi %b, %two : i64""",
        lambda n: 3 * n // 2,
    ),
    "ceildivsi": (
        """%a = arith.index_cast %dim : index to i64
           %n = arith.ceildivsi %a, %two : i64""",
        lambda n: -(-n // 2),
    ),
    "get_extent": (
        """%s = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
           %a = shape.get_extent %s, %c0 : tensor<2xindex>, index -> index
           %b = arith.index_cast %a : index to i64
           %n = arith.addi %b, %two : i64""",
        lambda n: n + 2,
    ),
    "cmpi": (
        """%a = arith.index_cast %dim : index to i64
           %b = arith.subi %a, %a : i64
           %c = arith.cmpi sge, %b, %two : i64
           %n = arith.select %c, %two, %a : i64""",
        lambda n: n,
    ),
    "extract": (
        """%s = shape.const_shape [7, 5] : tensor<2xindex>
           %a = tensor.extract %s[%c0] : tensor<2xindex>
           %n = arith.index_cast %a : index to i64""",
        lambda n: 7,
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_ranges_of_sizes(name):
    """A range whose length torch-mlir computes by floats."""
    text, size = SIZES[name]
    run = irax.ir.load(
        f"""
    func.func @main(%x: {X}) -> tensor<?xi64> {{
      %c0 = arith.constant 0 : index
      %two = arith.constant 2 : i64
      %three = arith.constant 3 : i64
      %one = stablehlo.constant dense<1.0> : tensor<1xf64>
      %dim = tensor.dim %x, %c0 : {X}
      {text}
      %v = tensor.from_elements %n : tensor<1xi64>
      %f = stablehlo.convert %v : (tensor<1xi64>) -> tensor<1xf64>
      %q = stablehlo.divide %f, %one : tensor<1xf64>
      %u = stablehlo.ceil %q : tensor<1xf64>
      %l = stablehlo.convert %u : (tensor<1xf64>) -> tensor<1xi64>
      %r = stablehlo.dynamic_iota %l, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
      return %r : tensor<?xi64>
    }}""",
        device="reference",
    )
    with irax.enable_x64(True):
        for n in (3, 6):
            np.testing.assert_array_equal(run(np.zeros((n, 4), "f")), np.arange(size(n)))


def test_casts_keep_elements():
    run = irax.ir.load(
        f"""
    func.func @main(%x: {X}) -> tensor<?x?xf32> {{
      %0 = stablehlo.negate %x : {X}
      %1 = tensor.cast %0 : {X} to tensor<?x?xf32>
      return %1 : tensor<?x?xf32>
    }}""",
        device="reference",
    )
    x = np.arange(8, dtype="f").reshape(2, 4)
    np.testing.assert_array_equal(run(x), -x)


def test_lowered_modules_are_left():
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = arith.constant 0.0 : f32
      %r = linalg.fill ins(%zero : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }"""
    assert "arith.constant" in str(read_module(text))


def test_sizes_that_floats_divide_are_refused():
    text = f"""
    func.func @main(%x: {X}) -> tensor<?xi64> {{
      %c0 = arith.constant 0 : index
      %dim = tensor.dim %x, %c0 : {X}
      %n = arith.index_cast %dim : index to i64
      %v = tensor.from_elements %n : tensor<1xi64>
      %two = stablehlo.constant dense<2.0> : tensor<1xf64>
      %f = stablehlo.convert %v : (tensor<1xi64>) -> tensor<1xf64>
      %q = stablehlo.OP %f, %two : tensor<1xf64>
      %l = stablehlo.convert %q : (tensor<1xf64>) -> tensor<1xi64>
      %r = stablehlo.dynamic_iota %l, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
      return %r : tensor<?xi64>
    }}"""
    for name in ("divide", "remainder"):
        with pytest.raises(UnsupportedOp, match="does not follow from sizes"):
            read_module(text.replace("OP", name))
