"""Reverse mode of loops whose conditions and counters have the forms that compilers write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
from irax_compiler import mlir
from irax_compiler.ops.control_flow.trip_counts import count, trip_count

I32 = "tensor<i32>"


def compare(how: str, left: str, right: str, result: str = "%t") -> str:
    return f"{result} = stablehlo.compare {how}, {left}, {right} : ({I32}, {I32}) -> tensor<i1>"


def loop(test: str, step: str, start: int = 0, limit: int = 6, by: int = 1) -> str:
    """A function that takes sines, for as long as `test` says, with the counter `%k` after `%i`."""
    return f"""
    func.func @main(%x: tensor<f32>) -> tensor<f32> {{
      %start = stablehlo.constant dense<{start}> : {I32}
      %by = stablehlo.constant dense<{by}> : {I32}
      %n = stablehlo.constant dense<{limit}> : {I32}
      %m = stablehlo.constant dense<3> : {I32}
      %0:3 = stablehlo.while(%i = %start, %y = %x, %l = %n) : {I32}, tensor<f32>, {I32} cond {{
        {test}
        stablehlo.return %t : tensor<i1>
      }} do {{
        %z = stablehlo.sine %y : tensor<f32>
        {step}
        stablehlo.return %k, %z, %l : {I32}, tensor<f32>, {I32}
      }}
      return %0#1 : tensor<f32>
    }}"""


UP = f"%k = stablehlo.add %i, %by : {I32}"
DOWN = f"%k = stablehlo.subtract %i, %by : {I32}"
TIMES = f"%k = stablehlo.multiply %i, %by : {I32}"
RESHAPED = f"""%i1 = stablehlo.reshape %i : ({I32}) -> tensor<1xi32>
        %i0 = stablehlo.reshape %i1 : (tensor<1xi32>) -> {I32}
        %k0 = stablehlo.add %by, %i0 : {I32}
        %k = stablehlo.reshape %k0 : ({I32}) -> {I32}"""
BOTH = f"""{compare("LT", "%i", "%n", "%a")}
        {compare("NE", "%i", "%m", "%b")}
        %t = stablehlo.and %a, %b : tensor<i1>"""

LOOPS = {
    "LT": (loop(compare("LT", "%i", "%n"), UP), 6),
    "LT by 4": (loop(compare("LT", "%i", "%n"), UP, by=4), 2),
    "LE": (loop(compare("LE", "%i", "%n"), UP), 7),
    "LE by 3": (loop(compare("LE", "%i", "%n"), UP, by=3), 3),
    "NE": (loop(compare("NE", "%i", "%n"), UP), 6),
    "NE by 2": (loop(compare("NE", "%i", "%n"), UP, by=2), 3),
    "GT, exchanged": (loop(compare("GT", "%n", "%i"), UP), 6),
    "GE, exchanged": (loop(compare("GE", "%n", "%i"), UP), 7),
    "GT, down": (loop(compare("GT", "%i", "%n"), DOWN, start=7, limit=2), 5),
    "GT, down by 2": (loop(compare("GT", "%i", "%n"), DOWN, start=7, limit=2, by=2), 3),
    "GE, down": (loop(compare("GE", "%i", "%n"), DOWN, start=7, limit=2), 6),
    "NE, down by an addition": (loop(compare("NE", "%i", "%n"), UP, start=4, limit=0, by=-1), 4),
    "a carried limit": (loop(compare("LT", "%i", "%l"), UP), 6),
    "reshapes": (loop(compare("LT", "%i", "%n"), RESHAPED), 6),
    "and": (loop(BOTH, UP), 3),
    "no steps": (loop(compare("GT", "%i", "%n"), DOWN), 0),
    "EQ": (loop(compare("EQ", "%i", "%n"), UP, start=5, limit=5), 1),
    "a product": (loop(compare("LE", "%i", "%n"), TIMES, start=1, limit=8, by=2), 4),
    "NE, over the end of integers": (loop(compare("NE", "%i", "%n"), TIMES, 1, 0, 1 << 8), 4),
}


def told(text: str, ask: Callable[..., Any]) -> Any:
    """Return what a function says of the loop of a module."""
    module = mlir.parse_module(text)
    (found,) = (o for o in mlir.operations_in(module.operation) if o.name == "stablehlo.while")
    return ask(found, {})


def after(x: np.float32, steps: int) -> tuple[float, float]:
    value, slope = float(x), 1.0
    for _ in range(steps):
        value, slope = np.sin(value), slope * np.cos(value)
    return value, slope


@pytest.mark.parametrize("name", LOOPS)
def test_reverse_mode(name: str) -> None:
    text, steps = LOOPS[name]
    assert told(text, trip_count) == steps
    run = irax.ir.load(text, device="reference")
    x = np.float32(0.7)
    value, slope = after(x, steps)
    np.testing.assert_allclose(run(x), value, rtol=1e-5)
    np.testing.assert_allclose(irax.grad(run)(x), slope, rtol=1e-5)
    second = (after(x + 1e-4, steps)[1] - after(x - 1e-4, steps)[1]) / 2e-4
    np.testing.assert_allclose(irax.grad(irax.grad(run))(x), second, rtol=1e-3, atol=1e-4)


UNKNOWN = {
    "NE past the limit": loop(compare("NE", "%i", "%n"), UP, by=4),
    "away from the limit": loop(compare("LT", "%i", "%n"), DOWN),
    "beyond the largest integer": loop(compare("LE", "%i", "%n"), UP, limit=2**31 - 1),
    "a product": loop(compare("LT", "%i", "%n"), f"%k = stablehlo.multiply %i, %by : {I32}"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_does_not_count(name: str) -> None:
    assert told(UNKNOWN[name], trip_count) is None


def test_who_looks_for_a_counter_finds_those_that_count_up() -> None:
    assert told(LOOPS["GT, down"][0], count) is None
    counter = told(LOOPS["LE by 3"][0], count)
    assert (counter.place, counter.start, counter.step, counter.steps) == (0, 0, 3, 3)


NESTED = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32> cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %2:2 = stablehlo.while(%j = %zero, %z = %y) : tensor<i32>, tensor<f32> cond {
      %1 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %3 = stablehlo.add %j, %one : tensor<i32>
      %4 = stablehlo.sine %z : tensor<f32>
      stablehlo.return %3, %4 : tensor<i32>, tensor<f32>
    }
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2#1 : tensor<i32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}
"""


def test_constants_outside_of_an_outer_loop() -> None:
    run = irax.ir.load(NESTED, device="reference")
    x = np.float32(0.7)
    np.testing.assert_allclose(irax.grad(run)(x), after(x, 9)[1], rtol=1e-5)
