"""Modules of static types with operations of dynamic names, as TensorFlow writes them."""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax_compiler import mlir
from irax_compiler.forms.reading import read_module
from irax_compiler.ops.core import UnsupportedOp

X = np.arange(12, dtype="f").reshape(3, 4)
AT = np.array([2, 0], np.int32)

BOUNDED = "tensor<3x?xf32, #stablehlo.bounds<?, 4>>"


def padded(x):
    return np.pad(x, ((1, 0), (0, 2)), constant_values=7)


def summed(x):
    wide = np.pad(x, ((1, 0), (0, 0)))
    return wide[:-1] + wide[1:]


CASES = {
    "dynamic_reduce_window": (
        """
        %two = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
        %one = stablehlo.constant dense<1> : tensor<2xi64>
        %pad = stablehlo.constant dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(
            %x, %zero, %two, %one, %one, %one, %pad) {called_computations = [@sum]}
            : (tensor<3x4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>,
               tensor<2xi64>, tensor<2x2xi64>) -> tensor<3x4xf32>""",
        summed,
    ),
    "get_dimension_size": (
        """
        %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<3x4xf32>) -> tensor<i32>
        %r = stablehlo.convert %0 : (tensor<i32>) -> tensor<f32>""",
        lambda x: np.float32(4),
    ),
    "set_dimension_size": (
        """
        %0 = stablehlo.constant dense<4> : tensor<i32>
        %r = stablehlo.set_dimension_size %x, %0, dim = 1
            : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x4xf32>""",
        lambda x: x,
    ),
    "set_dimension_size of its own": (
        """
        %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<3x4xf32>) -> tensor<i32>
        %r = stablehlo.set_dimension_size %x, %0, dim = 0
            : (tensor<3x4xf32>, tensor<i32>) -> tensor<3x4xf32>""",
        lambda x: x,
    ),
    "dynamic_iota": (
        """
        %0 = stablehlo.constant dense<[2, 5]> : tensor<2xi64>
        %r = stablehlo.dynamic_iota %0, dim = 1 : (tensor<2xi64>) -> tensor<2x5xf32>""",
        lambda x: np.broadcast_to(np.arange(5, dtype="f"), (2, 5)),
    ),
    "dynamic_reshape": (
        """
        %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<3x4xf32>) -> tensor<i32>
        %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
        %2 = stablehlo.constant dense<2> : tensor<1xi32>
        %3 = stablehlo.multiply %1, %2 : tensor<1xi32>
        %4 = stablehlo.concatenate %3, %2, dim = 0
            : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %r = stablehlo.dynamic_reshape %x, %4 : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<6x2xf32>
        """,
        lambda x: x.reshape(6, 2),
    ),
    "dynamic_reshape to the shape of the result": (
        """
        %0 = stablehlo.convert %at : (tensor<2xi32>) -> tensor<2xi64>
        %r = stablehlo.dynamic_reshape %x, %0
            : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x6xf32>""",
        lambda x: x.reshape(2, 6),
    ),
    "dynamic_broadcast_in_dim": (
        """
        %0 = stablehlo.constant dense<[2, 3, 4]> : tensor<3xi32>
        %r = stablehlo.dynamic_broadcast_in_dim %x, %0, dims = [1, 2]
            : (tensor<3x4xf32>, tensor<3xi32>) -> tensor<2x3x4xf32>""",
        lambda x: np.broadcast_to(x, (2, 3, 4)),
    ),
    "dynamic_pad": (
        """
        %0 = stablehlo.constant dense<7.0> : tensor<f32>
        %1 = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
        %2 = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
        %3 = stablehlo.constant dense<0> : tensor<2xi32>
        %r = stablehlo.dynamic_pad %x, %0, %1, %2, %3 : (tensor<3x4xf32>, tensor<f32>,
            tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x6xf32>""",
        padded,
    ),
    "real_dynamic_slice": (
        """
        %0 = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
        %1 = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
        %2 = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
        %r = stablehlo.real_dynamic_slice %x, %0, %1, %2 : (tensor<3x4xf32>,
            tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x2xf32>""",
        lambda x: x[1:, ::2],
    ),
    "real_dynamic_slice that begins anywhere": (
        """
        %0 = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
        %1 = stablehlo.add %at, %0 : tensor<2xi32>
        %2 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %r = stablehlo.real_dynamic_slice %x, %at, %1, %2 : (tensor<3x4xf32>,
            tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x2xf32>""",
        lambda x: x[2:3, 0:3:2],
    ),
    "set_dimension_size to less": (
        f"""
        %0 = stablehlo.constant dense<2> : tensor<i32>
        %1 = stablehlo.set_dimension_size %x, %0, dim = 1
            : (tensor<3x4xf32>, tensor<i32>) -> {BOUNDED}
        %2 = func.call @doubled(%1) : ({BOUNDED}) -> {BOUNDED}
        %3 = stablehlo.get_dimension_size %2, dim = 1 : ({BOUNDED}) -> tensor<i32>
        %4 = stablehlo.convert %3 : (tensor<i32>) -> tensor<f32>
        %5 = stablehlo.constant dense<0.0> : tensor<f32>
        %6 = stablehlo.reduce(%2 init: %5) applies stablehlo.add across dimensions = [1]
            : ({BOUNDED}, tensor<f32>) -> tensor<3xf32>
        %7 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<3xf32>
        %r = stablehlo.divide %6, %7 : tensor<3xf32>""",
        lambda x: x[:, :2].sum(1),
    ),
    "dynamic_gather": (
        """
        %0 = stablehlo.constant dense<[1, 4]> : tensor<2xi32>
        %r = "stablehlo.dynamic_gather"(%x, %at, %0) {
            dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false
        } : (tensor<3x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x4xf32>""",
        lambda x: x[AT],
    ),
}


def module(body: str, result: str) -> str:
    return f"""
    func.func @main(%x: tensor<3x4xf32>, %at: tensor<2xi32>) -> {result} {{
      {body}
      return %r : {result}
    }}
    func.func private @doubled(%a: {BOUNDED}) -> {BOUNDED} {{
      %0 = stablehlo.add %a, %a : {BOUNDED}
      return %0 : {BOUNDED}
    }}
    func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {{
      %0 = stablehlo.add %a, %b : tensor<f32>
      return %0 : tensor<f32>
    }}"""


def result_type(expected) -> str:
    return "tensor<" + "".join(f"{n}x" for n in np.shape(expected)) + "f32>"


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name: str) -> None:
    body, reference = CASES[name]
    expected = reference(X)
    text = module(body, result_type(expected))
    names = {o.name for o in mlir.operations_in(read_module(text).operation)}
    names -= {"stablehlo.dynamic_slice"}
    assert not any("dynamic" in n or "dimension_size" in n for n in names)
    run = irax.ir.load(text, device="reference")
    np.testing.assert_array_equal(run(X, AT), expected)
    # each is linear or constant in x, so differences are derivatives
    slope = irax.grad(lambda x: (run(x, AT) ** 2).sum() / 2)(X)
    step = np.eye(12, dtype="f").reshape(12, 3, 4)
    tangents = [np.vdot(reference(X + e) - expected, expected) for e in step]
    np.testing.assert_allclose(slope.ravel(), tangents, rtol=1e-5)


def test_sizes_of_arguments_are_refused_by_name() -> None:
    text = module(
        f"""
        %0 = stablehlo.slice %at [0:1] : (tensor<2xi32>) -> tensor<1xi32>
        %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
        %2 = stablehlo.set_dimension_size %x, %1, dim = 1
            : (tensor<3x4xf32>, tensor<i32>) -> {BOUNDED}
        %3 = stablehlo.constant dense<0.0> : tensor<f32>
        %r = stablehlo.reduce(%2 init: %3) applies stablehlo.add across dimensions = [0, 1]
            : ({BOUNDED}, tensor<f32>) -> tensor<f32>""",
        "tensor<f32>",
    )
    run = irax.ir.load(text, device="reference")
    with pytest.raises(UnsupportedOp, match=r"set_dimension_size .* sizes that are not constants"):
        run(X, AT)


WRONG = {
    "real_dynamic_slice": ("dense<[1, 2]>", "dense<[1, 4]>", "make a tensor<2x1xf32>"),
    "real_dynamic_slice beyond": ("dense<[3, 4]>", "dense<[3, 9]>", "limit index 9 is larger"),
    "dynamic_reshape": ("dense<2>", "dense<3>", "tensor<9x3xf32>"),
    "dynamic_iota": ("dense<[2, 5]>", "dense<[2, -5]>", r"shape \[2, -5\]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_sizes_that_are_not_those_of_the_result(name: str) -> None:
    body, reference = CASES[name.partition(" ")[0]]
    old, new, told = WRONG[name]
    with pytest.raises(ValueError, match=told):
        read_module(module(body.replace(old, new), result_type(reference(X))))
