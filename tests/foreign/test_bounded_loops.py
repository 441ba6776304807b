"""Reverse mode of loops that end by what they compute, after some number of steps at the latest."""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax_compiler import mlir
from irax_compiler.ops.control_flow.trip_counts import Count, count, most_steps, trip_count
from irax_compiler.passes.derive.loop_bounds import note_bounds

F32, I32 = "tensor<f32>", "tensor<i32>"


def loop(most: int, limit: float) -> str:
    """A function that squares the sum of `x` and 1/2, `most` times or to `limit`."""
    return f"""
    func.func @main(%x: {F32}) -> {F32} {{
      %start = stablehlo.constant dense<0> : {I32}
      %one = stablehlo.constant dense<1> : {I32}
      %n = stablehlo.constant dense<{most}> : {I32}
      %half = stablehlo.constant dense<0.5> : {F32}
      %limit = stablehlo.constant dense<{limit:e}> : {F32}
      %0:2 = stablehlo.while(%i = %start, %y = %x) : {I32}, {F32} cond {{
        %a = stablehlo.compare LT, %y, %limit : ({F32}, {F32}) -> tensor<i1>
        %b = stablehlo.compare LT, %i, %n : ({I32}, {I32}) -> tensor<i1>
        %t = stablehlo.and %a, %b : tensor<i1>
        stablehlo.return %t : tensor<i1>
      }} do {{
        %k = stablehlo.add %i, %one : {I32}
        %z = stablehlo.multiply %y, %y : {F32}
        %w = stablehlo.add %z, %half : {F32}
        stablehlo.return %k, %w : {I32}, {F32}
      }}
      return %0#1 : {F32}
    }}"""


def after(x: float, most: int, limit: float) -> tuple[float, float, float]:
    """The value, and its first and second derivative."""
    value, first, second = float(x), 1.0, 0.0
    for _ in range(most):
        if value >= limit:
            break
        first, second = 2 * value * first, 2 * (first * first + value * second)
        value = value * value + 0.5
    return value, first, second


CASES = {"ends": (40, 5.0), "few": (8, 5.0), "comes to the bound": (3, 1e30), "long": (300, 3.0)}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    text = loop(*CASES[name])
    run = irax.ir.load(text, device="reference")
    for x in (0.6, 1.1, 7.0):
        value, first, second = after(x, *CASES[name])
        np.testing.assert_allclose(run(x), value, rtol=1e-4)
        np.testing.assert_allclose(irax.grad(run)(np.float32(x)), first, rtol=1e-4)
        np.testing.assert_allclose(irax.grad(irax.grad(run))(np.float32(x)), second, rtol=1e-3)


B = "tensor<i1>"
CONDITION = """
        %a = stablehlo.compare LT, %y, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %b = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %t = stablehlo.and %a, %b : tensor<i1>
"""
CONDITIONS = {
    "not or": f"""
        %a = stablehlo.compare GE, %y, %limit : ({F32}, {F32}) -> {B}
        %b = stablehlo.compare GE, %i, %n : ({I32}, {I32}) -> {B}
        %c = stablehlo.or %a, %b : {B}
        %t = stablehlo.not %c : {B}
""",
    "or equals false": f"""
        %a = stablehlo.compare GE, %y, %limit : ({F32}, {F32}) -> {B}
        %b = stablehlo.compare LE, %n, %i : ({I32}, {I32}) -> {B}
        %c = stablehlo.or %a, %b : {B}
        %no = stablehlo.constant dense<false> : {B}
        %t = stablehlo.compare EQ, %c, %no : ({B}, {B}) -> {B}
""",
    "select of or": f"""
        %a = stablehlo.compare LT, %y, %limit : ({F32}, {F32}) -> {B}
        %d = stablehlo.not %a : {B}
        %yes = stablehlo.constant dense<true> : {B}
        %b = stablehlo.compare GE, %i, %n : ({I32}, {I32}) -> {B}
        %c = stablehlo.select %d, %yes, %b : ({B}, {B}, {B}) -> {B}
        %t = stablehlo.not %c : {B}
""",
    "not and not": f"""
        %a = stablehlo.compare LT, %y, %limit : ({F32}, {F32}) -> {B}
        %b = stablehlo.compare GE, %i, %n : ({I32}, {I32}) -> {B}
        %c = stablehlo.not %b : {B}
        %t = stablehlo.and %a, %c : {B}
""",
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_that_say_when_to_end(name: str) -> None:
    plain = loop(8, 5.0)
    assert CONDITION.strip() in plain
    run = irax.ir.load(plain.replace(CONDITION.strip(), CONDITIONS[name]), device="reference")
    for x in (0.6, 7.0):
        value, first, _ = after(x, 8, 5.0)
        np.testing.assert_allclose(run(x), value, rtol=1e-4)
        np.testing.assert_allclose(irax.grad(run)(np.float32(x)), first, rtol=1e-4)


@pytest.mark.parametrize(
    "condition, steps",
    [
        ("%c = stablehlo.compare GE, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>", 7),
        ("%c = stablehlo.compare GT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>", 8),
        ("%c = stablehlo.compare EQ, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>", 7),
    ],
)
def test_counts_of_negated_conditions(condition: str, steps: int) -> None:
    text = loop(7, 1e30).replace(CONDITION.strip(), f"{condition}\n%t = stablehlo.not %c : {B}")
    module = mlir.parse_module(text)
    (found,) = (o for o in mlir.operations_in(module.operation) if o.name == "stablehlo.while")
    assert (trip_count(found, {}), most_steps(found, {})) == (steps, steps)
    assert count(found, {}) == Count(place=0, start=0, step=1, steps=steps)


def test_compiled_and_mapped() -> None:
    run = irax.ir.load(loop(40, 5.0))
    xs = np.array([0.6, 7.0, 1.1], np.float32)
    found = irax.jit(irax.vmap(irax.grad(run)))(xs)
    np.testing.assert_allclose(found, [after(x, 40, 5.0)[1] for x in xs], rtol=1e-4)


def test_lanes_that_have_ended_do_not_overflow() -> None:
    """A step from the last value would be inf, and its derivative nan."""
    run = irax.ir.load(loop(60, 1e20), device="reference")
    xs = np.array([0.01, 1e15], np.float32)
    found = irax.vmap(irax.grad(run))(xs)
    assert np.isfinite(found[1])


def test_a_bound_that_is_as_good_as_none() -> None:
    text = loop(2**30, 5.0)
    module = mlir.parse_module(text)
    (found,) = (o for o in mlir.operations_in(module.operation) if o.name == "stablehlo.while")
    assert (trip_count(found, {}), most_steps(found, {})) == (None, 2**30)
    with pytest.raises(NotImplementedError, match="has no reverse mode"):
        irax.grad(irax.ir.load(text, device="reference"))(np.float32(0.6))


BY_ARGUMENT = f"""
func.func @main(%x: {F32}, %n: {I32}) -> {F32} {{
  %0 = func.call @repeated(%x, %n) : ({F32}, {I32}) -> {F32}
  return %0 : {F32}
}}
func.func private @repeated(%x: {F32}, %n: {I32}) -> {F32} {{
  %start = stablehlo.constant dense<0> : {I32}
  %one = stablehlo.constant dense<1> : {I32}
  %0:3 = stablehlo.while(%i = %start, %y = %x, %end = %n) : {I32}, {F32}, {I32} cond {{
    %t = stablehlo.compare LT, %i, %end : ({I32}, {I32}) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }} do {{
    %k = stablehlo.add %i, %one : {I32}
    %z = stablehlo.sine %y : {F32}
    stablehlo.return %k, %z, %end : {I32}, {F32}, {I32}
  }}
  return %0#1 : {F32}
}}"""


def slope_of_sines(x: float, steps: int) -> float:
    slope = 1.0
    for _ in range(steps):
        slope, x = slope * np.cos(x), np.sin(x)
    return slope


def test_bounds_that_are_arguments_are_known_in_a_trace() -> None:
    run = irax.ir.load(BY_ARGUMENT, device="reference")
    x = np.float32(0.7)
    for steps in (0, 4, 4, 7):
        known = slope_of_sines(0.7, steps)
        np.testing.assert_allclose(irax.grad(run)(x, np.int32(steps)), known, rtol=1e-5)
        found = irax.jit(irax.grad(lambda x, n=steps: run(x, n)))(x)
        np.testing.assert_allclose(found, known, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="has no reverse mode"):
        irax.jit(irax.grad(run))(x, np.int32(4))


def nested(start: str, limit: str) -> str:
    """For i of 4, j from one number to another one, which i decides: the sine of x + j / 8."""
    return f"""
    func.func @main(%x: {F32}) -> {F32} {{
      %zero = stablehlo.constant dense<0> : {I32}
      %one = stablehlo.constant dense<1> : {I32}
      %four = stablehlo.constant dense<4> : {I32}
      %eighth = stablehlo.constant dense<0.125> : {F32}
      %0:3 = stablehlo.while(%n = %zero, %i = %zero, %y = %x) : {I32}, {I32}, {F32} cond {{
        %t = stablehlo.compare LT, %n, %four : ({I32}, {I32}) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      }} do {{
        %square = stablehlo.multiply %i, %i : {I32}
        %rest = stablehlo.subtract %four, %i : {I32}
        %1:3 = stablehlo.while(%j = {start}, %end = {limit}, %z = %y) : {I32}, {I32}, {F32} cond {{
          %t = stablehlo.compare LT, %j, %end : ({I32}, {I32}) -> tensor<i1>
          stablehlo.return %t : tensor<i1>
        }} do {{
          %k = stablehlo.add %j, %one : {I32}
          %f = stablehlo.convert %j : ({I32}) -> {F32}
          %g = stablehlo.multiply %f, %eighth : {F32}
          %a = stablehlo.add %z, %g : {F32}
          %w = stablehlo.sine %a : {F32}
          stablehlo.return %k, %end, %w : {I32}, {I32}, {F32}
        }}
        %following = stablehlo.add %i, %one : {I32}
        %m = stablehlo.add %n, %one : {I32}
        stablehlo.return %m, %following, %1#2 : {I32}, {I32}, {F32}
      }}
      return %0#2 : {F32}
    }}"""


RANGES = {
    ("%zero", "%i"): (lambda i: range(i), 3),
    ("%i", "%four"): (lambda i: range(i, 4), 4),
    ("%zero", "%square"): (lambda i: range(i * i), 9),
    ("%one", "%rest"): (lambda i: range(1, 4 - i), 3),
}


@pytest.mark.parametrize("bounds", RANGES)
def test_bounds_that_an_outer_loop_counts(bounds: tuple[str, str]) -> None:
    steps, _ = RANGES[bounds]
    run = irax.ir.load(nested(*bounds), device="reference")
    x, slope = np.float32(0.7), 1.0
    value = float(x)
    for i in range(4):
        for j in steps(i):
            slope, value = slope * np.cos(value + j / 8), np.sin(value + j / 8)
    np.testing.assert_allclose(run(x), value, rtol=1e-5)
    np.testing.assert_allclose(irax.grad(run)(x), slope, rtol=1e-5)


@pytest.mark.parametrize("bounds", RANGES)
def test_the_most_steps_of_an_inner_loop(bounds: tuple[str, str]) -> None:
    module = mlir.parse_module(nested(*bounds))
    (function,) = mlir.functions(module).values()
    note_bounds(function, {})
    found = [most_steps(o, {}) for o in mlir.operations_in(function) if "while" in o.name]
    assert set(found) == {4, RANGES[bounds][1]}


BY_FLAG = f"""
func.func @main(%x: {F32}) -> {F32} {{
  %true = stablehlo.constant dense<true> : tensor<i1>
  %one = stablehlo.constant dense<1.0> : {F32}
  %done = stablehlo.compare GT, %x, %one : ({F32}, {F32}) -> tensor<i1>
  %0:2 = stablehlo.while(%flag = %done, %y = %x) : tensor<i1>, {F32} cond {{
    %t = stablehlo.not %flag : tensor<i1>
    stablehlo.return %t : tensor<i1>
  }} do {{
    %z = stablehlo.multiply %y, %y : {F32}
    stablehlo.return %true, %z : tensor<i1>, {F32}
  }}
  return %0#1 : {F32}
}}"""


def test_a_flag_that_the_first_step_sets() -> None:
    """JAX writes branches so, where it is to skip one of them."""
    run = irax.ir.load(BY_FLAG, device="reference")
    assert [float(irax.grad(run)(np.float32(x))) for x in (0.5, 3.0)] == [1.0, 1.0]
    assert [float(irax.grad(run)(np.float32(x))) for x in (0.75, -2.0)] == [1.5, -4.0]


def test_conditions_that_are_converted_to_booleans() -> None:
    """JAX joins the conditions of a loop as `x and (y != false)`, converted."""
    joined = "%t = stablehlo.and %a, %b"
    converted = f"""
        %false = stablehlo.constant dense<false> : tensor<i1>
        %c = stablehlo.compare NE, %b, %false : (tensor<i1>, tensor<i1>) -> tensor<i1>
        %d = stablehlo.convert %c : tensor<i1>
        {joined.replace("%b", "%d")}"""
    text = loop(40, 5.0)
    assert joined in text
    run = irax.ir.load(text.replace(joined, converted), device="reference")
    np.testing.assert_allclose(irax.grad(run)(np.float32(0.6)), after(0.6, 40, 5.0)[1], rtol=1e-4)
