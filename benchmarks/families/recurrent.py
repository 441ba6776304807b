"""Recurrent networks and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.program import Program, f32, program, weights

Cell = Callable[[Any, Any], Callable[[Any, Any, Any], tuple[Any, Any]]]
"""`cell(lib, jnp)` is a step: (parameters, state, input) to (state, output)."""


def _simple(lib: Any, jnp: Any) -> Any:
    def step(params: Any, h: Any, x: Any) -> Any:
        h = jnp.tanh(h @ params["w"] + x)
        return h, h

    return step


def _gru(lib: Any, jnp: Any) -> Any:
    def step(params: Any, h: Any, x: Any) -> Any:
        reset, update, new = jnp.split(x @ params["u"], 3, -1)
        reset_h, update_h, new_h = jnp.split(h @ params["w"], 3, -1)
        reset, update = lib.nn.sigmoid(reset + reset_h), lib.nn.sigmoid(update + update_h)
        h = update * h + (1 - update) * jnp.tanh(new + reset * new_h)
        return h, h

    return step


def _lstm(lib: Any, jnp: Any) -> Any:
    def step(params: Any, state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x @ params["u"] + h @ params["w"] + params["b"], 4, -1)
        c = lib.nn.sigmoid(f) * c + lib.nn.sigmoid(i) * jnp.tanh(g)
        h = lib.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return step


def _run(cell: Cell) -> Callable[[Any, Any], Any]:
    """All outputs for inputs [steps, ..., width]."""

    def make(lib: Any, jnp: Any) -> Any:
        step = cell(lib, jnp)

        def outputs(params: Any, state: Any, xs: Any) -> Any:
            return lib.lax.scan(lambda state, x: step(params, state, x), state, xs)[1]

        return outputs

    return make


def _gradient(cell: Cell) -> Callable[[Any, Any], Any]:
    def make(lib: Any, jnp: Any) -> Any:
        outputs = _run(cell)(lib, jnp)
        return lib.grad(lambda params, state, xs: jnp.sum(outputs(params, state, xs) ** 2))

    return make


def _programs(
    name: str, cell: Cell, params: Any, steps: int, shape: tuple[int, ...], states: int = 1
) -> list[Program]:
    """The network and its gradient, for inputs and states of a shape."""
    state = (f32(*shape),) * states if states > 1 else f32(*shape)
    arguments = params, state, f32(steps, *shape)
    size = "x".join(map(str, (steps, *shape)))
    return [
        program(f"{name} {size}", _run(cell), *arguments),
        program(f"{name} gradient {size}", _gradient(cell), *arguments),
    ]


def _gates(width: int, gates: int) -> dict[str, Any]:
    return {
        "u": weights(width, gates * width),
        "w": weights(width, gates * width),
        "b": f32(gates * width, scale=0.1),
    }


PROGRAMS = [
    *_programs("RNN", _simple, {"w": weights(64, 64)}, 100, (64,)),
    *_programs("RNN", _simple, {"w": weights(64, 64)}, 1000, (64,)),
    *_programs("RNN", _simple, {"w": weights(512, 512)}, 100, (512,)),
    *_programs("RNN", _simple, {"w": weights(64, 64)}, 100, (32, 64)),
    *_programs("RNN", _simple, {"w": weights(256, 256)}, 50, (64, 256)),
    *_programs("GRU", _gru, _gates(64, 3), 100, (64,)),
    *_programs("GRU", _gru, _gates(128, 3), 50, (32, 128)),
    *_programs("LSTM", _lstm, _gates(64, 4), 100, (64,), states=2),
    *_programs("LSTM", _lstm, _gates(128, 4), 50, (32, 128), states=2),
    program("LSTM step 32x128", _lstm, _gates(128, 4), (f32(32, 128),) * 2, f32(32, 128)),
]
