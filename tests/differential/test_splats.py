"""Reductions of arrays whose elements are all one constant: IREE against the evaluator."""

import numpy as np
import pytest
from tests.differential.test_clusters import check

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
