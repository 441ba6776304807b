"""Reductions of arrays whose elements are all one constant: IREE against the evaluator."""

import numpy as np
import pytest
from tests.differential.kernels.test_clusters import check

from irax_compiler import mlir

ADD = """
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>"""
ADD_TWO = """
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %r = stablehlo.add %a, %c : tensor<f32>
    %s = stablehlo.add %b, %d : tensor<f32>
    stablehlo.return %r, %s : tensor<f32>, tensor<f32>"""
X, Y, SUM = (f"tensor<{s}f32>" for s in ("6000x", "5998x", ""))
WINDOWS = "window_dimensions = array<i64: 3>"


def program(operation: str, operands: str, attributes: str, body: str, results: list[str]) -> str:
    """The results, times an argument, which no compiler knows."""
    count = len(results)
    names = ", ".join(f"%m{i}" for i in range(count))
    types, taken = ", ".join(results), ", ".join([X] * count + [SUM] * count)
    products = "\n".join(
        f"  %w{i} = stablehlo.broadcast_in_dim %x, dims = [] : ({SUM}) -> {t}\n"
        f"  %m{i} = stablehlo.multiply %0#{i}, %w{i} : {t}"
        for i, t in enumerate(results)
    )
    return f"""func.func @main(%x: {SUM}) -> ({types}) {{
  %one = stablehlo.constant dense<1.5> : {X}
  %two = stablehlo.constant dense<2.0> : {X}
  %zero = stablehlo.constant dense<0.0> : {SUM}
  %0:{count} = "{operation}"({operands}) <{{{attributes}}}> ({{{body}
  }}) : ({taken}) -> ({types})
{products}
  return {names} : {types}
}}"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text",
    [
        program("stablehlo.reduce_window", "%two, %zero", WINDOWS, ADD, [Y]),
        program("stablehlo.reduce_window", "%one, %two, %zero, %zero", WINDOWS, ADD_TWO, [Y, Y]),
        program(
            "stablehlo.reduce",
            "%one, %two, %zero, %zero",
            "dimensions = array<i64: 0>",
            ADD_TWO,
            [SUM, SUM],
        ),
    ],
    ids=["windows", "windows of two", "reduction of two"],
)
def test_reductions_of_splats(text: str) -> None:
    check(mlir.parse_module(text), [np.float32(2)])


CHOSEN = """
!y = tensor<20x1xcomplex<f64>>
!z = tensor<3x30xcomplex<f64>>
!i = tensor<i32>
module {
  func.func @main(%arg0: !z, %arg1: !y, %arg4: !i, %arg5: !i) -> !z {
    %cst = stablehlo.constant dense<(1.622000e+00,0.000000e+00)> : !z
    %c = stablehlo.constant dense<1> : !i
    %0 = stablehlo.optimization_barrier %arg1 : !y
    %1:5 = stablehlo.while(%iterArg = %arg5, %iterArg_0 = %arg4, %iterArg_1 = %arg5,
            %iterArg_2 = %0, %iterArg_3 = %arg0) : !i, !i, !i, !y, !z
    cond {
      %2 = stablehlo.compare LT, %iterArg, %arg4 : (!i, !i) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.compare GT, %iterArg_0, %arg5 : (!i, !i) -> tensor<i1>
      %3:4 = "stablehlo.if"(%2) ({
        %5:5 = stablehlo.while(%iterArg_4 = %arg5, %iterArg_5 = %iterArg_0,
            %iterArg_6 = %iterArg_1, %iterArg_7 = %iterArg_2, %iterArg_8 = %iterArg_3) : !i,
      !i, !i, !y, !z
        cond {
          %6 = stablehlo.compare LT, %iterArg_4, %c : (!i, !i) -> tensor<i1>
          stablehlo.return %6 : tensor<i1>
        } do {
          %6 = stablehlo.compare GT, %iterArg_5, %arg5 : (!i, !i) -> tensor<i1>
          %7 = stablehlo.select %6, %iterArg_6, %arg5 : tensor<i1>, !i
          %8 = stablehlo.select %6, %cst, %iterArg_8 : tensor<i1>, !z
          %9 = stablehlo.add %iterArg_4, %c : !i
          stablehlo.return %9, %iterArg_5, %7, %iterArg_7, %8 : !i, !i, !i, !y, !z
        }
        stablehlo.return %5#1, %5#2, %5#3, %5#4 : !i, !i, !y, !z
      }, {
        stablehlo.return %iterArg_0, %iterArg_1, %iterArg_2, %iterArg_3 : !i, !i, !y, !z
      }) : (tensor<i1>) -> (!i, !i, !y, !z)
      %4 = stablehlo.add %iterArg, %c : !i
      stablehlo.return %4, %3#0, %3#1, %3#2, %3#3 : !i, !i, !i, !y, !z
    }
    return %1#4 : !z
  }
}
"""


@pytest.mark.slow
def test_a_choice_of_equal_complex_numbers_in_nested_loops() -> None:
    """IREE makes it outside of kernels, and cannot fill an array with them."""
    z, y = np.full((3, 30), 1 + 2j), np.full((20, 1), 2 + 0j)
    for start in (0, 1):
        check(mlir.parse_module(CHOSEN), [z, y, np.int32(2), np.int32(start)])
