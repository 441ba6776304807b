"""Rewrites for speed alone, on IREE against the evaluator: kernels of many operations on few
elements, rows folded in two parts, products taken out of loops.
"""

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.core import full, full_like
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions import reduce
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

F32, I32 = np.dtype(np.float32), np.dtype(np.int32)


def on_iree(module: mlir.Module, arrays: list[np.ndarray]) -> list[np.ndarray]:
    artefact = CPU.compile_text(mlir.bytecode(lower(module)))
    results = cpu().load(artefact)([cpu().put(a) for a in arrays])
    return [r.numpy() for r in results]


def check(module: mlir.Module, arrays: list[np.ndarray]) -> None:
    expected = Evaluator(module)("main", arrays)
    for found, value in zip(on_iree(module, arrays), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-5)


FEW = """
func.func @main(%x: tensor<8xi32>, %w: tensor<200x8xf32>) -> (
    tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<4x2xi1>, tensor<200xf32>, tensor<8xf32>,
    tensor<8xf32>, tensor<128xi32>) {
  %one = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>
  %many = stablehlo.iota dim = 0 : tensor<128xi32>
  %0 = stablehlo.add %x, %one : tensor<8xi32>
  %1 = stablehlo.slice %0 [3:8] : (tensor<8xi32>) -> tensor<5xi32>
  %2 = stablehlo.slice %0 [0:3] : (tensor<8xi32>) -> tensor<3xi32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<5xi32>, tensor<3xi32>) -> tensor<8xi32>
  %4 = stablehlo.xor %3, %x : tensor<8xi32>
  %5 = stablehlo.subtract %4, %one : tensor<8xi32>
  %6 = stablehlo.add %5, %one : tensor<8xi32>
  %7 = stablehlo.subtract %6, %4 : tensor<8xi32>
  %8 = stablehlo.compare LT, %5, %3 : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %9 = stablehlo.reshape %8 : (tensor<8xi1>) -> tensor<4x2xi1>
  %10 = stablehlo.convert %5 : (tensor<8xi32>) -> tensor<8xf32>
  %11 = stablehlo.sine %10 : tensor<8xf32>
  %12 = stablehlo.reverse %11, dims = [0] : tensor<8xf32>
  %13 = stablehlo.add %12, %11 : tensor<8xf32>
  %14 = stablehlo.multiply %13, %11 : tensor<8xf32>
  %22 = stablehlo.cosine %11 : tensor<8xf32>
  %23 = stablehlo.multiply %22, %14 : tensor<8xf32>
  %24 = stablehlo.add %23, %13 : tensor<8xf32>
  %15 = stablehlo.dot_general %w, %24, contracting_dims = [1] x [0]
      : (tensor<200x8xf32>, tensor<8xf32>) -> tensor<200xf32>
  %16 = stablehlo.slice %15 [7:15] : (tensor<200xf32>) -> tensor<8xf32>
  %17 = stablehlo.add %16, %14 : tensor<8xf32>
  %18 = stablehlo.select %8, %17, %14 : tensor<8xi1>, tensor<8xf32>
  %19 = stablehlo.add %many, %many : tensor<128xi32>
  %20 = stablehlo.slice %19 [0:8] : (tensor<128xi32>) -> tensor<8xi32>
  %21 = stablehlo.add %20, %6 : tensor<8xi32>
  return %4, %6, %7, %9, %15, %18, %14, %19
      : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<4x2xi1>, tensor<200xf32>, tensor<8xf32>,
        tensor<8xf32>, tensor<128xi32>
}"""


@pytest.mark.slow
def test_few_elements_with_results_that_are_alike() -> None:
    """%4 and %6 are equal and %7 is zero, which IREE finds out."""
    rng = np.random.default_rng(0)
    arrays = [np.arange(8, dtype=I32) * 7 % 5, rng.standard_normal((200, 8)).astype(F32)]
    module = mlir.parse_module(FEW)
    assert "flow.dispatch @kernel" in str(lower(module))
    check(module, arrays)


@pytest.mark.slow
def test_rows_of_any_length() -> None:
    shapes = {(3, 100): (1,), (5, 7, 37): (1, 2), (4, 6, 35): (0, 2), (261,): (0,), (33, 40): (0,)}
    module = mlir.new_module()
    types = [mlir.tensor_type(s, d) for s in shapes for d in (F32, I32)]
    function = mlir.new_function(module, "main", types, public=True)
    results = []
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        for x in mlir.arguments(function):
            dimensions = shapes[mlir.shape_of(x)]
            for combiner in ("add", "maximum", "minimum"):
                start = full((), 3, mlir.dtype_of(x))
                computed = elementwise.multiply(x, elementwise.subtract(x, x))
                for operand in (x, elementwise.add(x, computed)):
                    results.append(reduce.Reduce(combiner, dimensions)(operand, start))
    mlir.finish_function(function, results)
    rng = np.random.default_rng(1)
    check(module, [(rng.standard_normal(s) * 9).astype(d) for s in shapes for d in (F32, I32)])


LARGE_CONSTANT = """
func.func @main(%x: tensor<128xf64>) -> tensor<128xf64> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<128xf64>
   cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %ramp = stablehlo.iota dim = 0 : tensor<128xf64>
    %z = stablehlo.add %y, %ramp : tensor<128xf64>
    stablehlo.return %j, %z : tensor<i32>, tensor<128xf64>
  }
  return %0#1 : tensor<128xf64>
}"""


def test_a_kernel_with_a_large_constant() -> None:
    check(mlir.parse_module(LARGE_CONSTANT), [np.linspace(0, 1, 128)])


def test_more_arrays_than_a_kernel_takes() -> None:
    """IREE binds 32 to a kernel: what needs more is left as it is."""
    module = mlir.new_module()
    function = mlir.new_function(module, "main", [mlir.tensor_type((3,), F32)] * 30, public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        arguments = mlir.arguments(function)
        results = while_loop(
            lambda i, *_: comparison.less(i, full((), 5, I32)),
            lambda i, *xs: [
                elementwise.add(i, full_like(i, 1)),
                *(elementwise.add(x, y) for x, y in zip(xs, [*xs[1:], xs[0]], strict=True)),
            ],
            [full((), 0, I32), *arguments],
        )
    mlir.finish_function(function, results)
    rng = np.random.default_rng(2)
    check(module, list(rng.standard_normal((30, 3)).astype(F32)))


@pytest.mark.slow
def test_a_cluster_of_too_many_arrays_is_cut() -> None:
    """Each kernel has as many arrays as it may."""
    module = mlir.new_module()
    function = mlir.new_function(module, "main", [mlir.tensor_type((), F32)] * 250, public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        total, *rest = mlir.arguments(function)
        for x in rest:
            total = elementwise.add(total, x)
    mlir.finish_function(function, [total])
    assert str(lower(module)).count("flow.dispatch @kernel") == 9
    check(module, [np.float32(i) for i in range(250)])


def test_long_chains_of_booleans_are_kernels_that_return_bytes():
    """IREE takes 20 s for a chain of 1,000."""
    lines, last = [], "%x"
    for i in range(60):
        lines.append(f"  %a{i} = stablehlo.or %y, {last} : tensor<16xi1>")
        lines.append(f"  %b{i} = stablehlo.xor %a{i}, %{'xy'[i % 2]} : tensor<16xi1>")
        last = f"%b{i}"
    text = "\n".join(
        [
            "func.func @main(%x: tensor<16xi1>, %y: tensor<16xi1>)"
            " -> (tensor<16xi1>, tensor<16xi1>) {",
            *lines,
            f"  return {last}, %b17 : tensor<16xi1>, tensor<16xi1>",
            "}",
        ]
    )
    lowered = str(lower(mlir.parse_module(text)))
    assert "stablehlo.xor" not in lowered
    assert lowered.count("stablehlo.compare") == 2
    arrays = list(np.random.default_rng(0).random((2, 16)) > 0.5)
    check(mlir.parse_module(text), arrays)


def test_chains_of_xors_that_cancel_compile():
    """IREE gives up on them."""
    lines, last = [], "%x"
    for i in range(90):
        lines.append(f"  %b{i} = stablehlo.xor %{'yx'[i % 2]}, {last} : tensor<16xi32>")
        last = f"%b{i}"
    start = "func.func @main(%x: tensor<16xi32>, %y: tensor<16xi32>) -> tensor<16xi32> {"
    text = "\n".join([start, *lines, f"  return {last} : tensor<16xi32>", "}"])
    arrays = list(np.random.default_rng(0).integers(0, 100, (2, 16), np.int32))
    check(mlir.parse_module(text), arrays)
