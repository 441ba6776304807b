"""Generators of random bits, and hashing of counters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array, ConcreteArray
from irax.core.dispatch import elements
from irax.core.dtypes.promotion import convert
from irax.execution.jit import jit

U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)


@dataclass(frozen=True)
class Generator:
    """A generator: functions that make and use keys, which are vectors of uint32 words here."""

    seed: Callable[[Array], Array]
    """Makes the words of a key from an integer scalar."""
    split: Callable[[Array, tuple[int, ...]], Array]
    """Makes the words of an array of new keys, of this shape, from those of a key."""
    fold_in: Callable[[Array, Array], Array]
    """Makes the words of a new key from those of a key and a scalar, uint32."""
    bits: Callable[[Array, int, tuple[int, ...]], Array]
    """Draws unsigned integers of 8, 16, 32 or 64 bits, in this shape, from the words of a key."""


def hashing(rounds: Callable[..., Any]) -> Callable[..., tuple[Array, ...]]:
    """A function of the words of a key, and of arrays that are the words of counts, as it runs: at
    once on NumPy, or called in a trace and where the key was put on a device.
    """
    # One function of the module for each shape, called by all who draw numbers of that shape.
    called = jit(rounds)

    def hashed(*operands: Array) -> tuple[Array, ...]:
        known = [elements(x) for x in operands]
        if any(x is None for x in known):
            return called(*operands)
        with np.errstate(over="ignore"):
            found = rounds(*known)
        return tuple(map(ConcreteArray, found))

    return hashed


def seed_words(seed: Array) -> Array:
    """Return the high and the low word of an integer scalar."""
    if seed.dtype.itemsize < 8:
        low = jnp.reshape(convert(seed, U32), (1,))
        return jnp.concatenate([jnp.zeros((1,), U32), low])
    wide = convert(seed, U64)
    return jnp.stack([convert(wide >> 32, U32), convert(wide & 0xFFFFFFFF, U32)])


def index_words(shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the high and low words of each element's index in row-major order."""
    # Counted in the trace: there may be more elements than memory holds.
    low = jnp.reshape(lax.iota(U32, math.prod(shape)), shape)
    return jnp.zeros(shape, U32), low


def joined(high: Array, low: Array) -> Array:
    """Return numbers of 64 bits from their two words."""
    return (convert(high, U64) << np.uint64(32)) | convert(low, U64)
