"""The growth of the compiler's work with the size of programs, in calls of functions."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import api, mlir
from irax_compiler.mlir import Module
from irax_compiler.pipeline import run_pipeline

X = np.zeros((8, 8), np.float32)
LEAST, MOST = 48, 2.4
"""The size that is doubled, and how many times as much work that may be."""


def calls(function: Callable[..., Any], *arguments: Any) -> int:
    """Return the number of calls of functions, Python's and others, in a call."""
    count = 0

    def counted(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()  # it calls what objects leave behind
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


def unrolled(n: int) -> tuple[Callable[..., Any], Any]:
    def function(x: Any) -> Any:
        for i in range(n):
            x = jnp.sin(x) * (i + 0.5)
        return x

    return function, X


def wide(n: int) -> tuple[Callable[..., Any], Any]:
    return lambda x: sum(jnp.sin(x + i) for i in range(n)), X


def deep(n: int) -> tuple[Callable[..., Any], Any]:
    def function(weights: Any) -> Any:
        x = X
        for w in weights:
            x = jnp.tanh(x @ w) + x.mean(0)
        return x.sum()

    return irax.grad(function), [X] * n


def many_results(n: int) -> tuple[Callable[..., Any], Any]:
    return lambda xs: [x - 0.1 * jnp.cos(x).sum(0) for x in xs], [X] * n


def many_loops(n: int) -> tuple[Callable[..., Any], Any]:
    def function(x: Any) -> Any:
        for i in range(n // 8):
            x = lax.fori_loop(0, 5 + i, lambda _, y: jnp.sin(y) + 1, x)
        return x

    return function, X[0]


@pytest.mark.slow
@pytest.mark.parametrize("shape", [unrolled, wide, deep, many_results, many_loops])
def test_work_grows_with_the_program(shape: Callable[[int], Any]) -> None:
    def lowered(n: int) -> None:
        function, argument = shape(n)
        module = mlir.parse_module(irax.jit(function).lower(argument).as_text())
        api.lower(module, next(iter(mlir.functions(module))), "iree-cpu")

    lowered(8)  # what is made once
    lowered(2 * LEAST)
    assert calls(lowered, 2 * LEAST) < MOST * calls(lowered, LEAST)


def _updates(n: int) -> Module:
    """Return a module of IREE's dialect flow that joins the results of kernels."""
    lines: list[str] = []
    for i in range(n):
        lines += [
            f"%x{i} = flow.dispatch @k::@f(%a) : (tensor<4xf32>) -> tensor<4xf32>",
            f"%c{i} = arith.constant {4 * i} : index",
        ]
    before, type_ = "%new", f"tensor<{4 * n}xf32>"
    for i in range(n):
        lines.append(
            f"%u{i} = flow.tensor.update %x{i}, {before}[%c{i}] : tensor<4xf32> -> {before} as "
            + type_
        )
        before = f"%u{i}"
    return mlir.parse_module(
        "\n".join(
            [
                "flow.executable private @k { flow.executable.export public @f }",
                f"util.func public @main(%a: tensor<4xf32>) -> {type_} {{",
                f"%new = flow.tensor.empty : {type_}",
                *lines,
                f"util.return {before} : {type_}",
                "}",
            ]
        )
    )


def test_work_for_updates_grows_with_their_number() -> None:
    counts = [calls(run_pipeline, _updates(n), "pin-update-sources") for n in (8, LEAST, 2 * LEAST)]
    assert counts[2] < MOST * counts[1]


def _results(n: int) -> Module:
    """Return a module of IREE's dialect stream whose results are parts of one allocation."""
    result, own = "!stream.resource<external>", "!stream.resource<transient>"
    alloca, time = "stream.resource.alloca uninitialized", "!stream.timepoint"
    numbers = range(n)
    given = "".join(f", %y{i} as %b{i}: {result}{{%size}}" for i in numbers)
    commands = [("%a[%c0 for %size]", result, "%size", "%c[%p#1 for %size]", own, "%p#0")]
    commands += [
        ("%c[%p#1 for %size]", own, "%p#0", f"%b{i}[%c0 for %size]", result, "%size")
        for i in numbers
    ]
    lines = [
        *(f"%o{i} = arith.constant {65536 * i} : index" for i in numbers),
        f"%total = arith.constant {65536 * n} : index",
        f"%all, %made = {alloca} : {result}{{%total}} => {time}",
        *(
            f"%y{i} = stream.resource.subview %all[%o{i}] : {result}{{%total}} -> {result}{{%size}}"
            for i in numbers
        ),
        "%p:2 = stream.resource.pack slices({ [0, 1] = %size }) : index",
        f"%own, %ready = {alloca} : {own}{{%p#0}} => {time}",
        f"%begin = stream.timepoint.join max(%made, %ready) => {time}",
        f"%end = stream.cmd.execute await(%begin) => with(%x as %a: {result}{{%size}}{given}, "
        f"%own as %c: {own}{{%p#0}}) {{",
        *(
            f"stream.cmd.dispatch @k::@k {{ ro {x} : {kind}{{{size}}}, wo {y} : {other}{{{its}}} }}"
            for x, kind, size, y, other, its in commands
        ),
        f"}} => {time}",
        f"%done = stream.resource.dealloca await(%end) => %own : {own}{{%p#0}} => {time}",
        f"return {', '.join(f'%y{i}' for i in numbers)} : {', '.join([result] * n)}",
    ]
    return mlir.parse_module(
        "\n".join(
            [
                "stream.executable private @k { stream.executable.export public @k }",
                f"func.func @main(%x: {result}) -> ({', '.join([result] * n)}) {{",
                "%c0 = arith.constant 0 : index",
                "%size = arith.constant 65536 : index",
                *lines,
                "}",
            ]
        )
    )


def test_work_for_plans_of_memory_grows_with_the_results() -> None:
    counts = [calls(run_pipeline, _results(n), "plan-buffers") for n in (8, LEAST, 2 * LEAST)]
    assert counts[2] < MOST * counts[1]


def _composites(n: int) -> Module:
    """Return a module of calls of functions, each of one of its own."""
    lines = ["func.func @main(%x0: tensor<4xf32>) -> tensor<4xf32> {"]
    for i in range(n):
        lines.append(
            f'%x{i + 1} = stablehlo.composite "irax.call" %x{i} {{decomposition = @f{i}}} '
            ": (tensor<4xf32>) -> tensor<4xf32>"
        )
    lines += [f"return %x{n} : tensor<4xf32>", "}"]
    for i in range(n):
        lines += [
            f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{",
            "%y = stablehlo.sine %x : tensor<4xf32>",
            "return %y : tensor<4xf32>",
            "}",
        ]
    return mlir.parse_module("\n".join(lines))


def test_work_for_composites_grows_with_their_number() -> None:
    counts = [calls(run_pipeline, _composites(n), "decompose") for n in (8, 192, 384)]
    assert counts[2] < MOST * counts[1]


def _barriers(n: int) -> Module:
    """Return a module of sums with numbers, each behind a fusion barrier."""
    lines = ["%c = stablehlo.constant dense<1.0> : tensor<4xf32>"]
    for i in range(n):
        lines += [
            f"%y{i} = stablehlo.add %x{i}, %c : tensor<4xf32>",
            f"%x{i + 1} = stablehlo.optimization_barrier %y{i} : tensor<4xf32>",
        ]
    signature = "func.func @main(%x0: tensor<4xf32>) -> tensor<4xf32> {"
    return mlir.parse_module("\n".join([signature, *lines, f"return %x{n} : tensor<4xf32>", "}"]))


def test_work_for_barriers_grows_with_their_number() -> None:
    counts = [calls(run_pipeline, _barriers(n), "barriers") for n in (8, LEAST, 2 * LEAST)]
    assert counts[2] < MOST * counts[1]


def test_steps_of_a_stencil_are_not_searched_again_for_each_operation() -> None:
    """A kernel of all steps has too many pieces, and so has one that ends a little earlier."""

    def function(x: Any) -> Any:
        for i in range(12):
            around = jnp.roll(x, 1, 0) - 2 * x + jnp.roll(x, -1, 0)
            x = x + (i + 0.5) * around * (jnp.roll(x, 1, 1) - x)
        return x

    module = irax.jit(function).lower(np.zeros((64, 64), np.float32)).compiler_ir()
    assert module is not None
    assert calls(run_pipeline, module, "inline,piecewise") < 12 * 20_000
