"""The description of a program to be measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes  # noqa: F401  (makes "bfloat16" a dtype of NumPy's)
import numpy as np


@dataclass(frozen=True)
class Numbers:
    """An argument: its shape and dtype, and how its elements are drawn."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    scale: float = 1.0
    """The standard deviation of normal numbers."""
    below: int = 100
    """The bound of integers, which are not negative."""

    def draw(self, generator: np.random.Generator) -> np.ndarray[Any, Any]:
        """An array of such numbers."""
        dtype = np.dtype(self.dtype)
        if dtype.kind in "iub":
            return generator.integers(0, 2 if dtype.kind == "b" else self.below, self.shape, dtype)
        numbers = generator.normal(size=self.shape) * self.scale
        if dtype.kind == "c":
            numbers = numbers + 1j * generator.normal(size=self.shape) * self.scale
        return np.asarray(numbers, dtype)


@dataclass(frozen=True)
class Program:
    """A function and its arguments."""

    name: str
    make: Callable[[Any, Any], Callable[..., Any]]
    """`make(lib, jnp)` is the function, for irax and irax.numpy or JAX and jax.numpy."""
    arguments: tuple[Any, ...]
    """Pytrees of `Numbers`."""
    tolerance: float = 2e-3
    """The difference from JAX's results that is right, relative to the largest of an array."""
    x64: bool = False
    """True if it is run with the option `enable_x64`."""


def program(
    name: str, make: Callable[[Any, Any], Callable[..., Any]], *arguments: Any, **options: Any
) -> Program:
    """A program of these arguments."""
    return Program(name, make, arguments, **options)


def f32(*shape: int, scale: float = 1.0) -> Numbers:
    """Normal numbers."""
    return Numbers(shape, scale=scale)


def i32(*shape: int, below: int = 100) -> Numbers:
    """Integers from 0."""
    return Numbers(shape, "int32", below=below)


def of(dtype: str, *shape: int, scale: float = 1.0, below: int = 100) -> Numbers:
    """Numbers of any dtype."""
    return Numbers(shape, dtype, scale, below)


def weights(*shape: int) -> Numbers:
    """Weights of a layer, whose last dimension is its outputs: products keep their magnitude."""
    return Numbers(shape, scale=float(np.prod(shape[:-1])) ** -0.5)
