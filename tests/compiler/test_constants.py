"""Constants of modules, as Python reads them."""

from __future__ import annotations

import time

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


def seconds(module: mlir.Module) -> float:
    """Return the shortest time of three readings of the first constants."""
    operations = [o.operation for o in mlir.body(mlir.functions(module)["main"]).operations]
    values = [o.results[0] for o in operations if o.name == "stablehlo.constant"][:50]
    times = []
    for _ in range(3):
        start = time.process_time()
        read = [mlir.splat(x) for x in values]
        times.append(time.process_time() - start)
        assert [complex(x) for x in read if x is not None] == [complex(i, -1) for i in range(50)]
    return min(times)


def test_a_splat_of_complex_numbers_is_read_as_fast_in_a_large_function():
    """It was printed, for which MLIR goes through all of the function it is in."""
    assert seconds(constants(3000)) < 10 * seconds(constants(50))
