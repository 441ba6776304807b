"""The code that rules emit: no detours where that matters, errors where a rule would be wrong."""

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline


def derived(text: str, pipeline: str) -> mlir.Module:
    module = mlir.parse_module(text)
    run_pipeline(module, pipeline)
    return module


def op_names(module: mlir.Module, function: str) -> list[str]:
    block = mlir.body(mlir.functions(module)[function])
    return [o.operation.name.removeprefix("stablehlo.") for o in block.operations][:-1]


LAYER = """
func.func @main(%x: tensor<5x3xf32>, %w: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}"""


def test_the_backward_of_a_layer_is_two_products_and_nothing_else() -> None:
    module = derived(LAYER, "vjp{func=main}")
    assert op_names(module, "main.bwd") == ["dot_general", "dot_general"]
    text = str(mlir.functions(module)["main.bwd"])
    assert "contracting_dims = [0] x [0]" in text  # x transposed, times the cotangent
    assert "contracting_dims = [1] x [1]" in text  # the cotangent, times w transposed


@pytest.mark.parametrize(
    "x, w, result, dims",
    [
        ("5x3", "4x3", "5x4", "contracting_dims = [1] x [1]"),
        ("3x5", "3x4", "5x4", "contracting_dims = [0] x [0]"),
        ("3x5", "4x3", "5x4", "contracting_dims = [0] x [1]"),
        ("2x5x3", "2x3x4", "2x5x4", "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
        ("5x2x3", "4x2x3", "2x5x4", "batching_dims = [1] x [1], contracting_dims = [2] x [2]"),
    ],
)
def test_a_backward_product_is_transposed_at_most_once(x, w, result, dims) -> None:
    signature = f"(tensor<{x}xf32>, tensor<{w}xf32>) -> tensor<{result}xf32>"
    module = derived(
        f"""
        func.func @main(%x: tensor<{x}xf32>, %w: tensor<{w}xf32>) -> tensor<{result}xf32> {{
          %0 = stablehlo.dot_general %x, %w, {dims} : {signature}
          return %0 : tensor<{result}xf32>
        }}""",
        "vjp{func=main}",
    )
    names = op_names(module, "main.bwd")
    assert names.count("dot_general") == 2
    assert names.count("transpose") == (2 if x == "5x2x3" else 0)
    assert len(names) == names.count("dot_general") + names.count("transpose")


def test_a_backward_product_has_the_precision_of_its_operands() -> None:
    module = derived(LAYER.replace("5x4xf32", "5x4xbf16"), "vjp{func=main}")
    lines = str(mlir.functions(module)["main.bwd"]).splitlines()
    products = [line.rpartition("-> ")[2] for line in lines if "dot_general" in line]
    assert sorted(products) == ["tensor<3x4xf32>", "tensor<5x3xf32>"]


@pytest.mark.parametrize("axes", ["0,None", "None,0", "0,0"])
def test_a_batched_layer_is_one_product(axes: str) -> None:
    module = derived(LAYER, f"batch{{func=main size=7 in_axes={axes}}}")
    names = op_names(module, "main.batch")
    assert names == ["dot_general"] or (axes == "None,0" and names == ["dot_general", "transpose"])


def test_derivatives_that_nobody_knows_are_refused_by_name() -> None:
    text = """
    func.func @main(%s: tensor<f32>, %q: tensor<f32>) -> tensor<f32> {
      %0 = chlo.polygamma %s, %q : tensor<f32>, tensor<f32> -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    with pytest.raises(UnsupportedOp, match=r"chlo.polygamma: no jvp rule .* order"):
        derived(text, "jvp{func=main wrt=0}")


REDUCE = """
func.func @main(%x: tensor<3x{dtype}>, %y: tensor<3x{dtype}>) -> tensor<{init}> {{
  %init = stablehlo.constant dense<0.0> : tensor<{init}>
  %0 = stablehlo.reduce(%x init: %init) across dimensions = [0]
      : (tensor<3x{dtype}>, tensor<{init}>) -> tensor<{init}>
   reducer(%a: tensor<{init}>, %b: tensor<{init}>) {{
    {body}
  }}
  return %0 : tensor<{init}>
}}"""


def test_reductions_that_use_values_from_outside_are_refused() -> None:
    body = "%1 = stablehlo.add %a, %y0 : tensor<f32>\nstablehlo.return %1 : tensor<f32>"
    text = REDUCE.format(dtype="f32", init="f32", body=body).replace(
        "%init =", "%y0 = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>\n  %init ="
    )
    text = text.replace("%y: tensor<3xf32>", "%s: tensor<1xf32>")
    with pytest.raises(UnsupportedOp, match="expected an elementwise operation on scalars"):
        Evaluator(mlir.parse_module(text))("main", [np.ones(3, np.float32), np.ones(1, np.float32)])


TWO_REDUCED = """
func.func @main(%x: tensor<3x{0}>, %b: tensor<{0}>) -> tensor<3x{0}> {{
  %0 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<{0}>) -> tensor<3x{0}>
  %1 = stablehlo.multiply %x, %0 : tensor<3x{0}>
  return %1 : tensor<3x{0}>
}}"""


def test_sums_of_narrow_floats_in_derivatives_are_taken_in_float32() -> None:
    module = derived(TWO_REDUCED.format("bf16"), "vjp{func=main wrt=1}")
    text = str(mlir.functions(module)["main.bwd"])
    assert "(tensor<3xf32>, tensor<f32>) -> tensor<f32>" in text
    module = derived(TWO_REDUCED.format("f32"), "vjp{func=main wrt=1}")
    assert "convert" not in op_names(module, "main.bwd")


def test_importing_the_compiler_does_not_import_scipy() -> None:
    import subprocess
    import sys

    code = "import sys, irax_compiler.ops; assert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
