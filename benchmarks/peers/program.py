"""The description of a program that several libraries race at, and how its arguments are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.program import Numbers, f32, i32, of, weights

__all__ = ["Drawn", "Numbers", "Race", "f32", "fast", "i32", "of", "parallel", "weights"]

Make = Callable[..., Any]


@dataclass(frozen=True)
class Drawn:
    """An argument that a function of a generator of random numbers makes."""

    draw: Callable[[np.random.Generator], np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Race:
    """A program, as users of each library write it. A library without a form is left out."""

    name: str
    arguments: tuple[Any, ...]
    """Pytrees of `Numbers` and `Drawn`."""
    jax: Make
    """`jax(lib, jnp)` is the function, for irax and irax.numpy or JAX and jax.numpy."""
    torch: Make | None = None
    """`torch(torch)` is a function of tensors, which is run in inference mode, and compiled too."""
    module: Make | None = None
    """`module(torch, weights)` is a module instead; the first argument is its weights."""
    trainer: Make | None = None
    """`trainer(torch, compile, *tensors)` is a function without arguments instead, which trains:
    `compile` is `torch.compile` or does nothing."""
    openvino: bool = False
    """True if OpenVINO converts the function or module of PyTorch's."""
    numba: Make | None = None
    """`numba(numba)` is a compiled function of NumPy's arrays."""
    carried: int = 0
    """The number of leading arguments that the leading results replace: they are donated."""
    flops: float = 0.0
    """The number of additions and multiplications that the result needs."""
    bytes: float = 0.0
    """The bytes that are read and written; 0 for those of the arguments and results."""
    peak: str = "float32"
    """The dtype of the products whose measured rate bounds the flops."""
    tolerance: float = 2e-3
    """The relative difference from irax's results that is right, in sums of magnitudes."""

    def draw(self) -> tuple[Any, ...]:
        """The arguments: the same ones in each process."""
        generator = np.random.default_rng(0)
        return tuple(_drawn(argument, generator) for argument in self.arguments)


def _drawn(argument: Any, generator: np.random.Generator) -> Any:
    if isinstance(argument, dict):
        return {key: _drawn(value, generator) for key, value in argument.items()}
    if isinstance(argument, list):
        return [_drawn(value, generator) for value in argument]
    return argument.draw(generator)


def fast(numba: Any) -> Any:
    """Numba's decorator of loops on one thread, as its guide on speed has it."""
    return numba.njit(fastmath=True)


def parallel(numba: Any) -> Any:
    """Numba's decorator of loops that threads share."""
    return numba.njit(fastmath=True, parallel=True)
