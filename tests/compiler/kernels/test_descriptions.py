"""Kernels that are known by their descriptions, and so are not written again."""

import re
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import api, mlir
from irax_compiler.mlir import Operation
from irax_compiler.passes.kernels.descriptions import Unknown, described
from irax_compiler.passes.kernels.executables import Executables

F32 = np.zeros((64, 64), np.float32)


def lowered(function: Callable[..., Any], *arguments: Any) -> None:
    module = mlir.parse_module(irax.jit(function).lower(*arguments).as_text())
    api.lower(module, function.__name__, "iree-cpu")


def layers(x: Any, weights: Any) -> Any:
    for w in weights:
        y = jnp.tanh(x @ w + x[0]) * 0.5
        x = x + (y - y.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + 1e-5)
    return irax.nn.softmax(x)


def step(x: Any, weights: Any) -> Any:
    return irax.grad(lambda x, ws: layers(x, ws).sum(), argnums=(0, 1))(x, weights)


def variants(x: Any, w: Any) -> Any:
    """Products and reductions that differ by one thing each."""
    y = x @ w
    products = [y + 1.0, x @ w.T + 1.0, (x @ (2 * w)) + 2.0, jnp.where(x @ (3 * w) > 0, x, w)]
    products += [jnp.where(x @ (4 * w) > 0, w, x), (x @ (5 * w)) * x[0], (x @ (6 * w)) * x[:, :1]]
    folded = [(x + y).sum(0), (x + y).sum(1), (x - y).sum(1), (y - x).sum(1), (x * 2.0).max(1)]
    folded += [(x * 3.0).max(1), (x * x[0]).sum(1), (x * x[:, :1]).sum(1), (x > y).any(1)]
    folded += [lax.reduce(x, np.float32(n), lax.add, (1,)) for n in (0, 1, 2)]
    return products, folded


@pytest.mark.slow
def test_layers_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    add = Executables._added

    def counted(self: Executables, kind: str, build: Callable[[str], Operation]) -> str:
        written.append(kind)
        return add(self, kind, build)

    monkeypatch.setattr(Executables, "_added", counted)
    counts = []
    for depth in (8, 16):
        written.clear()
        lowered(step, F32, [F32] * depth)
        counts.append(written.count("product") + written.count("reduction"))
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(layers, (F32, [F32] * 4)), (variants, (F32, F32)), (variants, (F32.astype(np.float64),) * 2)],
)
def test_equal_descriptions_have_equal_code(
    function: Callable[..., Any], arguments: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: dict[Hashable, str] = {}
    add = Executables._added

    def compared(
        self: Executables,
        kind: str,
        build: Callable[[str], Operation],
        description: Hashable | None = None,
    ) -> str:
        def built(name: str) -> Operation:
            executable = build(name)
            if description is not None:
                code = re.sub(rf"@{name}\b", "@", mlir.comparable(executable))
                assert codes.setdefault(description, code) == code
            return executable

        return add(self, kind, built)

    monkeypatch.setattr(Executables, "add", compared)
    lowered(function, *arguments)
    assert len(codes) == len(set(codes.values())) > 1


ADD = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %c : tensor<4xf32>
  %1 = "stablehlo.map"(%0, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


def description(text: str, known: bool = True) -> Hashable:
    module = mlir.parse_module(text)
    function = mlir.functions(module)["f"]
    _, *operations, _ = (o.operation for o in mlir.body(function).operations)
    x, y = mlir.arguments(function)
    return described(operations, {x: "x", y: "y"} if known else {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add %x, %c", "add %x, %y"),
        ("2.0", "3.0"),
        ("%a, %b :", "%b, %a :"),
        ("%0, %y)", "%y, %0)"),
    ],
)
def test_descriptions_differ(old: str, new: str) -> None:
    assert description(ADD) == description(ADD.replace("%0", "%first"))
    assert description(ADD) != description(ADD.replace(old, new))


def test_unknown_values_have_no_description() -> None:
    with pytest.raises(Unknown):
        description(ADD, known=False)
