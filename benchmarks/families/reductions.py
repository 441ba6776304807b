"""Reductions along each axis, of even and odd lengths, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.program import Numbers, Program, f32, of, program

SQUARE = f32(1000, 1000)


def _reduction(function: str, shape: Numbers, axis: int | None, where: str) -> Program:
    name = f"{function} {where} {'x'.join(map(str, shape.shape))}"
    return program(name, lambda lib, jnp: lambda x: getattr(jnp, function)(x, axis), shape)


def _layer_norm(lib: Any, jnp: Any) -> Any:
    def normalized(x: Any) -> Any:
        mean = jnp.mean(x, -1, keepdims=True)
        return (x - mean) * lib.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5)

    return normalized


def _batch_norm(lib: Any, jnp: Any) -> Any:
    def normalized(x: Any, scale: Any, offset: Any) -> Any:
        mean, variance = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
        return (x - mean) * lib.lax.rsqrt(variance + 1e-5) * scale + offset

    return normalized


def _gradient(make: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The gradient of the sum of squares, in the first argument."""

    def gradient(lib: Any, jnp: Any) -> Any:
        function = make(lib, jnp)
        return lib.grad(lambda *arguments: jnp.sum(function(*arguments) ** 2 * arguments[0]))

    return gradient


def _softmax(axis: int) -> Callable[[Any, Any], Any]:
    return lambda lib, jnp: lambda x: lib.nn.softmax(x, axis)


PROGRAMS = [
    _reduction("sum", SQUARE, None, "all"),
    _reduction("sum", f32(1_000_001), None, "all"),
    _reduction("sum", f32(10_000_000), None, "all"),
    _reduction("max", SQUARE, None, "all"),
    _reduction("mean", f32(1000), None, "all"),
    _reduction("sum", SQUARE, 1, "rows"),
    _reduction("sum", f32(1280, 784), 1, "rows"),
    _reduction("sum", f32(1500, 1500), 1, "rows"),
    _reduction("sum", SQUARE, 0, "columns"),
    _reduction("mean", f32(1500, 1500), 0, "columns"),
    _reduction("max", SQUARE, 0, "columns"),
    _reduction("max", f32(100_000, 7), 1, "rows"),
    _reduction("sum", f32(32, 100, 300), 1, "middle"),
    _reduction("prod", f32(300, 1000, scale=0.1), 1, "rows"),
    _reduction("std", SQUARE, 0, "columns"),
    _reduction("var", f32(1500, 1500), 1, "rows"),
    _reduction("argmax", SQUARE, 1, "rows"),
    _reduction("argmax", SQUARE, 0, "columns"),
    _reduction("argmin", f32(1_000_000), None, "all"),
    program("any 1e6", lambda lib, jnp: lambda x: jnp.any(x), of("bool", 1_000_000)),
    program("all x > -9 1e6", lambda lib, jnp: lambda x: jnp.all(x > -9), f32(1_000_000)),
    program("count of x > 0 rows", lambda lib, jnp: lambda x: jnp.sum(x > 0, 1), SQUARE),
    program("norm 1e6", lambda lib, jnp: lambda x: jnp.sqrt(jnp.sum(x * x)), f32(1_000_000)),
    program(
        "logsumexp rows 784", lambda lib, jnp: lambda x: lib.nn.logsumexp(x, -1), f32(1280, 784)
    ),
    program("cumsum rows 1000", lambda lib, jnp: lambda x: jnp.cumsum(x, 1), SQUARE),
    program("softmax 1024x1024", _softmax(1), f32(1024, 1024)),
    program("softmax rows 1500", _softmax(1), f32(1500, 1500)),
    program("softmax columns 1000", _softmax(0), SQUARE),
    program("log_softmax 512x10", lambda lib, jnp: lambda x: lib.nn.log_softmax(x), f32(512, 10)),
    program("layer norm 1024x1024", _layer_norm, f32(1024, 1024)),
    program("layer norm 1280x784", _layer_norm, f32(1280, 784)),
    program("layer norm gradient 1280x784", _gradient(_layer_norm), f32(1280, 784)),
    program("batch norm 64x28x28x32", _batch_norm, f32(64, 28, 28, 32), f32(32), f32(32)),
    program(
        "batch norm gradient 64x28x28x32",
        _gradient(_batch_norm),
        *(f32(64, 28, 28, 32), f32(32), f32(32)),
    ),
]
