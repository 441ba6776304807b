"""Random functions, simplified: the values stay.

Numbers are small integers, infinities and nan, and one factor of a product was not computed, so
that arithmetic is exact in whatever order sums are added up.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.differential.random.programs import EXACT, random_arguments, random_program

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.pipeline import run_pipeline

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, -3.0, np.inf, -np.inf, np.nan])


@settings(max_examples=100)
@given(st.data())
def test_values_stay(data: st.DataObject):
    module = random_program(data.draw, EXACT, NUMBERS)
    arrays = random_arguments(data.draw, module, NUMBERS)
    before = Evaluator(module)("main", arrays)
    run_pipeline(module, "simplify")
    after = Evaluator(module)("main", arrays)
    for b, a in zip(before, after, strict=True):
        assert b.shape == a.shape
        np.testing.assert_array_equal(b, a)
    once = str(module)
    run_pipeline(module, "simplify")
    assert str(module) == once


def random_loop(draw: Callable[..., Any]) -> mlir.Module:
    """Return a loop of few operations on values that start alike, so that many stay equal."""
    count = draw(st.integers(2, 6))
    starts = [draw(st.sampled_from("xy")) for _ in range(count)]
    names, lines = [f"%c{i}" for i in range(count)], []
    for i in range(draw(st.integers(0, 6))):
        a, b, c, d = (draw(st.sampled_from(names)) for _ in range(4))
        kind = draw(st.sampled_from(["add", "multiply", "if"]))
        if kind == "if":
            lines.append(
                f"""%p{i} = stablehlo.compare LT, {a}, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
                %r{i}:2 = "stablehlo.if"(%p{i}) ({{
                  %s{i} = stablehlo.add {a}, {b} : tensor<i32>
                  stablehlo.return {c}, %s{i} : tensor<i32>, tensor<i32>
                }}, {{
                  stablehlo.return {d}, {c} : tensor<i32>, tensor<i32>
                }}) : (tensor<i1>) -> (tensor<i32>, tensor<i32>)"""
            )
            names += [f"%r{i}#0", f"%r{i}#1"]
        else:
            lines.append(f"%r{i} = stablehlo.{kind} {a}, {b} : tensor<i32>")
            names.append(f"%r{i}")
    steps = "\n".join(lines)
    types = ", ".join(["tensor<i32>"] * count)
    carried = ", ".join(f"%c{i} = %{x}" for i, x in enumerate(starts))
    after = ", ".join(draw(st.sampled_from(names)) for _ in range(count))
    return mlir.parse_module(f"""
        func.func @main(%x: tensor<i32>, %y: tensor<i32>) -> ({types}) {{
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %three = stablehlo.constant dense<3> : tensor<i32>
          %loop:{count + 1} = stablehlo.while(%i = %zero, {carried}) : tensor<i32>, {types}
          cond {{
            %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          }} do {{
            %j = stablehlo.add %i, %one : tensor<i32>
            {steps}
            stablehlo.return %j, {after} : tensor<i32>, {types}
          }}
          return {", ".join(f"%loop#{i + 1}" for i in range(count))} : {types}
        }}""")


@settings(max_examples=100)
@given(st.data())
def test_values_of_loops_stay(data: st.DataObject):
    module = random_loop(data.draw)
    arrays = [np.array(data.draw(st.integers(-3, 3)), np.int32) for _ in range(2)]
    before = Evaluator(module)("main", arrays)
    run_pipeline(module, "simplify")
    np.testing.assert_array_equal(Evaluator(module)("main", arrays), before)
