"""Programs that are loops: recurrent networks and their gradients, scalar loops, short vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.program import Program, array


def _recurrent(lib: Any, jnp: Any) -> Callable[..., Any]:
    """All states of tanh(w h + x), for `xs` [steps, ..., width]."""

    def states(w: Any, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            new = jnp.tanh(h @ w + x)
            return new, new

        return lib.lax.scan(step, jnp.zeros(xs.shape[1:], np.float32), xs)[1]

    return states


def _recurrent_gradient(lib: Any, jnp: Any) -> Callable[..., Any]:
    states = _recurrent(lib, jnp)
    return lib.grad(lambda w, xs: jnp.sum(states(w, xs) ** 2))


def _recurrent_arguments(steps: int, *shape: int) -> tuple[Any, ...]:
    width = shape[-1]
    return array(width, width) / np.float32(width**0.5), array(steps, *shape, seed=1)


def _counting(lib: Any, jnp: Any) -> Callable[..., Any]:
    def advance(state: Any) -> Any:
        return state[0] + 1, state[1] * 0.999 + 0.5

    return lambda x: lib.lax.while_loop(lambda state: state[0] < 10_000, advance, (0, x))[1]


def _sines(lib: Any, jnp: Any) -> Callable[..., Any]:
    return lambda x: lib.lax.fori_loop(0, 1000, lambda i, x: jnp.sin(x), x)


def _filled(lib: Any, jnp: Any) -> Callable[..., Any]:
    """An array that a loop writes one element at a time, each from the one before."""
    return lambda x: lib.lax.fori_loop(1, 1000, lambda i, a: a.at[i].set(0.5 * a[i - 1] + a[i]), x)


LOOPS = [
    *(
        Program(f"RNN {kind}{steps} x {width}", make, _recurrent_arguments(steps, width))
        for width in (64, 512)
        for steps in (100, 1000)
        for kind, make in (("", _recurrent), ("gradient ", _recurrent_gradient))
    ),
    Program("RNN 100 x 32 x 64", _recurrent, _recurrent_arguments(100, 32, 64)),
    Program("RNN gradient 100 x 32 x 64", _recurrent_gradient, _recurrent_arguments(100, 32, 64)),
    Program("while, 10000 scalar steps", _counting, (np.float32(1),)),
    Program("fori, 1000 x sin of 64", _sines, (array(64),)),
    Program("fori, 1000 elements set", _filled, (array(1000),)),
]
