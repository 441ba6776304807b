"""The description of a program to be measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """`make(lib, jnp)` gives the function; `arguments` are NumPy arrays."""

    name: str
    make: Callable[[Any, Any], Callable[..., Any]]
    arguments: tuple[Any, ...]


def array(*shape: int, seed: int = 0) -> Any:
    """Normal numbers, float32."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
