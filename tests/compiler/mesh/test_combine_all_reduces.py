"""Sums over devices that are sent together are those that are sent one by one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.differential.random.trials import COUNT, SEED
from tests.frontend.meshes.mesh_training import put

import irax
import irax.numpy as jnp
from irax_compiler import api, lowering, mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.lockstep import for_each_device
from irax_compiler.passes.core import find_function, nested
from irax_compiler.passes.mesh.combine_all_reduces import CombineAllReduces
from irax_runtime.iree.cpu import cpu
from irax_runtime.mesh import mesh_device

MESH = {"data": 2, "model": 2}
SHAPES = ((), (3,), (2, 3), (40,))


TYPES = [f"tensor<{''.join(f'{n}x' for n in shape)}f32>" for shape in SHAPES]
TIMES = 2
"""The number of steps of a loop."""


def random_program(rng: np.random.Generator) -> str:
    """A function of a device whose operations use each other's results at random, in branches and
    loops, too.
    """
    values = [(f"%a{i}", i) for i in range(len(TYPES))]
    lines = random_lines(rng, values, 24, "%v", depth=0)
    returned = [values[i] for i in rng.integers(len(values), size=6)] + values[-4:]
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(TYPES))
    results = ", ".join(TYPES[kind] for _, kind in returned)
    mesh = ",".join(f"{axis}={size}" for axis, size in MESH.items())
    return "\n".join(
        [
            f'func.func @main({arguments}) -> ({results}) attributes {{irax.mesh = "{mesh}"}} {{',
            "%zero = stablehlo.constant dense<0> : tensor<i32>",
            "%one = stablehlo.constant dense<1> : tensor<i32>",
            f"%times = stablehlo.constant dense<{TIMES}> : tensor<i32>",
            f"%p = stablehlo.constant dense<{rng.choice(['true', 'false'])}> : tensor<i1>",
            *lines,
            f"return {', '.join(name for name, _ in returned)} : {results}",
            "}",
        ]
    )


def random_lines(
    rng: np.random.Generator, values: list[tuple[str, int]], count: int, prefix: str, depth: int
) -> list[str]:
    """The text of some operations, whose results are added to `values`."""
    lines = []
    types = TYPES
    for number in range(count):
        name, (x, kind) = f"{prefix}{number}", values[rng.integers(len(values))]
        if depth < 2 and rng.random() < 0.1:
            y, kind = values[rng.integers(len(values))]
            inner = [random_branch(rng, values, f"{name}_{i}_", kind, depth) for i in range(2)]
            form = random_if if rng.random() < 0.5 else random_while
            lines += form(name, types[kind], y, inner)
        elif rng.random() < 0.5:
            config = (
                f'{{axis = "{rng.choice(list(MESH))}", size = 2 : i64, '
                f'combiner = "{rng.choice(["add", "maximum"])}"}}'
            )
            lines.append(
                f"{name} = stablehlo.custom_call @irax.all_reduce({x}) {{api_version = 4 : i32, "
                f"backend_config = {config}, has_side_effect = false}} : "
                f"({types[kind]}) -> {types[kind]}"
            )
        else:
            others = [y for y, of in values if of == kind]
            y = others[rng.integers(len(others))]
            lines.append(f"{name} = stablehlo.subtract {x}, {y} : {types[kind]}")
        values.append((name, kind))
    return lines


def random_branch(
    rng: np.random.Generator, outside: list[tuple[str, int]], prefix: str, kind: int, depth: int
) -> tuple[list[str], str]:
    """The text of a block, and a value of a type that is there in it."""
    values = list(outside)
    lines = random_lines(rng, values, 5, prefix, depth + 1)
    fitting = [name for name, of in values if of == kind]
    return lines, fitting[rng.integers(len(fitting))]


def random_if(name: str, type_: str, start: str, inner: list[tuple[list[str], str]]) -> list[str]:
    (yes, a), (no, b) = inner
    return [
        f'{name} = "stablehlo.if"(%p) ({{',
        *(*yes, f"stablehlo.return {a} : {type_}", "}, {"),
        *(*no, f"stablehlo.return {b} : {type_}", f"}}) : (tensor<i1>) -> {type_}"),
    ]


def random_while(
    name: str, type_: str, start: str, inner: list[tuple[list[str], str]]
) -> list[str]:
    ((lines, after), _), number = inner, f"{name}_n"
    return [
        f"{name}_loop:2 = stablehlo.while({number} = %zero, {name}_x = {start}) : "
        f"tensor<i32>, {type_} cond {{",
        f"{name}_p = stablehlo.compare LT, {number}, %times : (tensor<i32>, tensor<i32>) "
        "-> tensor<i1>",
        f"stablehlo.return {name}_p : tensor<i1>",
        "} do {",
        f"{name}_next = stablehlo.add {number}, %one : tensor<i32>",
        *lines,
        f"{name}_last = stablehlo.subtract {after}, {name}_x : {type_}",
        f"stablehlo.return {name}_next, {name}_last : tensor<i32>, {type_}",
        "}",
        f"{name} = stablehlo.subtract {name}_loop#1, {start} : {type_}",
    ]


def results(module: mlir.Module) -> list[list[np.ndarray]]:
    """The results of each device, whose arguments are its own."""

    def run(place: Mapping[str, int]) -> list[np.ndarray]:
        own = np.random.default_rng(list(place.values()))
        return Evaluator(module)("main", [own.normal(size=s).astype(np.float32) for s in SHAPES])

    return [found for _, found in for_each_device(MESH, run)]


def reductions(module: mlir.Module) -> int:
    return sum("all_reduce" in str(o) for o in nested(module.operation) if not len(o.regions))


@pytest.mark.parametrize("seed", range(COUNT or 20))
def test_random_programs(seed: int):
    text = random_program(np.random.default_rng([SEED, seed]))
    before, after = mlir.parse_module(text), mlir.parse_module(text)
    CombineAllReduces(most=64, bucket=96).run(after)
    assert after.operation.verify()
    assert reductions(after) <= reductions(before)
    for one, other in zip(results(before), results(after), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.slow
def test_a_training_step_has_one_sum_of_small_gradients():
    sizes = (8, 16, 16, 4)

    def loss(weights: Any, x: Any, y: Any) -> Any:
        for w, b, scale in weights:
            x = scale * jnp.tanh(x @ w + b)
        return jnp.mean((x - y) ** 2)

    def step(weights: Any, x: Any, y: Any) -> Any:
        value, slopes = irax.value_and_grad(loss)(weights, x, y)
        return value, irax.tree.map(lambda w, s: w - 0.1 * s, weights, slopes)

    rng = np.random.default_rng(0)
    weights = [
        (rng.normal(size=(n, m)).astype(np.float32), np.zeros(m, np.float32), np.float32(2))
        for n, m in pairwise(sizes)
    ]
    x, y = (rng.normal(size=(8, n)).astype(np.float32) for n in (sizes[0], sizes[-1]))
    mesh = mesh_device((("data", 2),), (cpu(0), cpu(1)), False)
    rows, whole = (("data",), ()), ((), ())
    module = api.parse(irax.jit(step).lower(weights, x, y).as_text())
    specs = [*[whole[: np.ndim(w)] for w in irax.tree.leaves(weights)], rows, rows]
    count = len(mlir.result_types(find_function(module, "step")))
    program = lowering.partition(module, "step", {"data": 2}, specs, [None] * count, target="")
    assert reductions(program) >= 9
    CombineAllReduces().run(program)
    assert reductions(program) == 1
    given = [
        put(mesh, v, s) for v, s in zip([*irax.tree.leaves(weights), x, y], specs, strict=True)
    ]
    divided = irax.tree.unflatten(irax.tree.structure((weights, x, y)), given)
    found, expected = irax.jit(step)(*divided), step(weights, x, y)
    for one, other in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-6)
