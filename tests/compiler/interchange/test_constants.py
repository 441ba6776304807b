"""Constants of modules, as Python reads them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from irax_compiler import mlir

COMPLEX = "tensor<16xcomplex<f32>>"


def constants(count: int) -> mlir.Module:
    """A function with as many constants of complex numbers."""
    lines = [
        f"%c{i} = stablehlo.constant dense<({i}.0, -1.0)> : {COMPLEX}\n"
        f"%{i + 1} = stablehlo.add %{i}, %c{i} : {COMPLEX}"
        for i in range(count)
    ]
    return mlir.parse_module(
        f"func.func @main(%0: {COMPLEX}) -> {COMPLEX} {{ {chr(10).join(lines)}\n"
        f" return %{count} : {COMPLEX} }}"
    )


def seconds(module: mlir.Module, element: Callable[[mlir.Value], Any]) -> float:
    """Return the shortest time of three readings of the first constants."""
    operations = [o.operation for o in mlir.body(mlir.functions(module)["main"]).operations]
    values = [o.results[0] for o in operations if o.name == "stablehlo.constant"][:50]
    times = []
    for _ in range(3):
        start = time.process_time()
        read = [element(x) for x in values]
        times.append(time.process_time() - start)
        assert [complex(x) for x in read] == [complex(i, -1) for i in range(50)]
    return min(times)


def element_of_contents(x: mlir.Value) -> Any:
    source = mlir.definition(x)
    assert source is not None
    return mlir.dense_to_numpy(source)[-1]


@pytest.mark.parametrize("element", [mlir.splat, element_of_contents])
def test_complex_numbers_are_read_as_fast_in_a_large_function(
    element: Callable[[mlir.Value], Any],
) -> None:
    """They were printed, for which MLIR goes through all of the function they are in."""
    assert seconds(constants(3000), element) < 10 * seconds(constants(50), element)
