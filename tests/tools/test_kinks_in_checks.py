"""irax check where a function is not smooth: FAILED means wrong."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.ir import make_ir
from irax_compiler import mlir
from irax_tools import checking
from irax_tools.sources import Source

X, V = "tensor<128x32xf32>", "tensor<400xf32>"
SCALAR = "(tensor<f32>, tensor<f32>)"
KINKS = {
    "sort": f"""func.func @main(%x: {X}) -> {X} {{
      %0 = "stablehlo.sort"(%x) <{{dimension = 0 : i64, is_stable = true}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.compare LT, %a, %b, TOTALORDER : {SCALAR} -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }}) : ({X}) -> {X}
      return %0 : {X} }}""",
    "remainder": f"""func.func @main(%x: {X}, %y: {X}) -> {X} {{
      %0 = stablehlo.remainder %x, %y : {X}
      return %0 : {X} }}""",
    "reduce_precision": f"""func.func @main(%x: {V}) -> {V} {{
      %0 = stablehlo.reduce_precision %x, format = e5m7 : {V}
      return %0 : {V} }}""",
}


def test_a_sum_of_hundreds_of_kinks_names_the_op() -> None:
    """Some of the terms have a kink between any two points that are tried."""
    source = Source(
        mlir.parse_module(f"""func.func @main(%x: {V}) -> tensor<f32> {{
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.abs %x : {V}
      %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
          : ({V}, tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32> }}"""),
        "main",
    )
    row = differences(source)
    assert row.outcome == "not tried"
    assert "not smooth here: stablehlo.abs at" in row.detail


def differences(source: Source, seeds: range = range(3)) -> checking.Row:
    return checking.try_alone("jvp = differences", source, seeds)


@pytest.mark.parametrize("name", KINKS)
def test_right_derivatives_do_not_fail(name: str) -> None:
    row = differences(Source(mlir.parse_module(KINKS[name]), "main"))
    assert row.outcome in ("ok", "not tried")
    assert row.detail.startswith(f'not smooth here: stablehlo.{name} at loc("-":')


@irax.custom_jvp
def square(x):
    return x * x


@square.defjvp
def square_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return square(x), 3 * x * dx


WRONG = {
    "sort": lambda x: jnp.sort(square(x), 0),
    "remainder": lambda x: jnp.remainder(square(x), 0.3),
    "abs": lambda x: jnp.abs(square(x) - 1),
    "under a maximum": lambda x: jnp.maximum(square(x), 0.5),
    "under a maximum of two": lambda x: jnp.maximum(square(x), x),
    "steep": lambda x: jnp.sin(20 * square(x)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_derivatives_fail(name: str) -> None:
    ir = make_ir(WRONG[name])(np.ones((128, 4), np.float32))
    row = differences(Source(ir.module, ir.func), range(1))
    assert (row.outcome, row.detail[:7]) == ("FAILED", "off by ")


def test_a_scatter_with_an_empty_index_vector() -> None:
    text = """func.func @main(%x: tensor<4xf32>, %i: tensor<0xi32>, %u: tensor<4xf32>)
        -> tensor<4xf32> {
      %0 = "stablehlo.scatter"(%x, %i, %u) <{unique_indices = true,
        scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
          index_vector_dim = 0>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
      }) : (tensor<4xf32>, tensor<0xi32>, tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32> }"""
    assert differences(Source(mlir.parse_module(text), "main")).outcome == "ok"


def test_numbers_that_processors_take_for_zero() -> None:
    tiny = np.array([1e-40, -3e-39], np.float32)
    checking.close([0 * tiny], [tiny], lambda: [0.0, 0.0])
    with pytest.raises(checking.Failed):
        checking.close([np.array([0], "f")], [np.array([1e-37], "f")], lambda: [0.0])
