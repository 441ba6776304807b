"""Reverse mode of loops whose conditions follow from constants, by whatever arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax_compiler import mlir
from irax_compiler.ops.control_flow.trip_counts import most_steps, trip_count
from irax_compiler.passes.optimize.integer_bounds import bounds_of_one

X = np.float32(0.7)


def loop(kind: str, test: str, step: str, starts: tuple[float, float]) -> str:
    """A function that takes sines, for as long as a test of %i and %j holds; a step makes %k of %i,
    and %l of %j.
    """
    t = f"tensor<{kind}>"
    numbers = {"one": 1, "two": 2, "tenth": 0.1, "i0": starts[0], "j0": starts[1]}
    constants = "\n".join(
        f"%{name} = stablehlo.constant dense<{x:e}> : {t}"
        if kind.startswith("f")
        else f"%{name} = stablehlo.constant dense<{int(x)}> : {t}"
        for name, x in numbers.items()
    )
    return f"""
    func.func @main(%x: tensor<f32>) -> tensor<f32> {{
      {constants}
      %0:3 = stablehlo.while(%i = %i0, %j = %j0, %y = %x) : {t}, {t}, tensor<f32> cond {{
        %t = stablehlo.compare {test} : ({t}, {t}) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      }} do {{
        %z = stablehlo.sine %y : tensor<f32>
        {step.replace("!", t)}
        stablehlo.return %k, %l, %z : {t}, {t}, tensor<f32>
      }}
      return %0#2 : tensor<f32>
    }}"""


UP = "%k = stablehlo.add %i, %one : !\n"
KEPT = "%l = stablehlo.add %j, %one : !"
BOTH = UP + "%l = stablehlo.subtract %j, %one : !"
HALVED = "%k = stablehlo.divide %i, %two : !\n%l = stablehlo.add %j, %one : !"
TENTHS = "%k = stablehlo.add %i, %tenth : !\n%l = stablehlo.maximum %j, %one : !"

LOOPS = {
    "towards each other": (loop("i32", "LT, %i, %j", BOTH, (0, 9)), 5),
    "not equal": (loop("i64", "NE, %i, %j", BOTH, (0, 8)), 4),
    "side by side": (loop("i32", "LT, %i, %j", UP + KEPT, (4, 4)), 0),
    "halved": (loop("i32", "GT, %i, %one", HALVED, (37, 0)), 5),
    "floats": (loop("f32", "LT, %i, %j", TENTHS, (0, 1)), 10),
}


def after(x: float, steps: int) -> float:
    slope = 1.0
    for _ in range(steps):
        slope, x = slope * np.cos(x), np.sin(x)
    return slope


def loops(text: str) -> tuple[mlir.Module, list[mlir.Operation]]:
    module = mlir.parse_module(text)
    return module, [o for o in mlir.operations_in(module.operation) if "while" in o.name]


@pytest.mark.parametrize("name", LOOPS)
def test_reverse_mode(name: str) -> None:
    text, steps = LOOPS[name]
    run = irax.ir.load(text, device="reference")
    np.testing.assert_allclose(irax.grad(run)(X), after(0.7, steps), rtol=1e-5)
    np.testing.assert_allclose(irax.jvp(run, (X,), (np.float32(1),))[1], after(0.7, steps), 1e-5)


def test_floats_give_a_bound_and_integers_a_count() -> None:
    for name, (text, steps) in LOOPS.items():
        module, (found,) = loops(text)
        assert module
        expected = (None, steps + 1) if name == "floats" else (steps, steps)
        assert (trip_count(found, {}), most_steps(found, {})) == expected


def two_loops(limit: float) -> str:
    """One that squares, for nine steps or until it is beyond a limit, and one that takes as many
    sines: how TensorFlow writes the gradient of a loop.
    """
    f32, i32 = "tensor<f32>", "tensor<i32>"
    return f"""
    func.func @main(%x: {f32}) -> {f32} {{
      %zero = stablehlo.constant dense<0> : {i32}
      %one = stablehlo.constant dense<1> : {i32}
      %nine = stablehlo.constant dense<9> : {i32}
      %limit = stablehlo.constant dense<{limit:e}> : {f32}
      %1:2 = stablehlo.while(%i = %zero, %y = %x) : {i32}, {f32} cond {{
        %a = stablehlo.compare LT, %i, %nine : ({i32}, {i32}) -> tensor<i1>
        %b = stablehlo.compare LT, %y, %limit : ({f32}, {f32}) -> tensor<i1>
        %t = stablehlo.and %a, %b : tensor<i1>
        stablehlo.return %t : tensor<i1>
      }} do {{
        %k = stablehlo.add %i, %one : {i32}
        %z = stablehlo.add %y, %y : {f32}
        stablehlo.return %k, %z : {i32}, {f32}
      }}
      %2:3 = stablehlo.while(%i = %zero, %n = %1#0, %y = %x) : {i32}, {i32}, {f32} cond {{
        %t = stablehlo.compare LT, %i, %n : ({i32}, {i32}) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      }} do {{
        %k = stablehlo.add %i, %one : {i32}
        %z = stablehlo.sine %y : {f32}
        stablehlo.return %k, %n, %z : {i32}, {i32}, {f32}
      }}
      return %2#2 : {f32}
    }}"""


def test_as_many_steps_as_another_loop() -> None:
    text = two_loops(3.0)
    module, (first, second) = loops(text)
    assert module
    assert bounds_of_one(first.results[0]) == (0, 9)
    assert most_steps(second, {}, bounds_of_one) == 9
    run = irax.ir.load(text, device="reference")
    np.testing.assert_allclose(irax.grad(run)(X), after(0.7, 3), rtol=1e-5)
    np.testing.assert_allclose(irax.jit(irax.grad(run))(np.float32(0.1)), after(0.1, 5), rtol=1e-5)


def test_as_many_steps_as_a_loop_that_counts() -> None:
    text = two_loops(3.0).replace("%a, %b", "%a, %a")
    module, (_, second) = loops(text)
    assert module
    assert trip_count(second, {}) == 9
    run = irax.ir.load(text, device="reference")
    np.testing.assert_allclose(irax.grad(run)(X), after(0.7, 9), rtol=1e-5)
