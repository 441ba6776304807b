"""Threefry-2x32 with 20 rounds: a key and a count become two words of random bits.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). Keys are plain words here,
uint32 of shape (2,). Which counts are hashed for which element is what the option
`threefry_partitionable` chooses: with it each element is a hash of its own place, without it the
elements are the halves of hashes, which cannot be computed apart from each other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.array import Array, ConcreteArray, any_committed
from irax.config import config
from irax.elementwise import convert
from irax.jit import jit
from irax.tracing import current_trace

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
U32 = np.dtype(np.uint32)


def _rounds(k0: Any, k1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """Threefry-2x32 on words of any kind that has NumPy's operators: arrays of NumPy or irax."""
    words = (k0, k1, k0 ^ k1 ^ np.uint32(_PARITY))
    x0, x1 = x0 + words[0], x1 + words[1]
    for step in range(5):
        for rotation in _ROTATIONS[step % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(rotation)) | (x1 >> np.uint32(32 - rotation))
            x1 = x0 ^ x1
        x0 = x0 + words[(step + 1) % 3]
        x1 = x1 + words[(step + 2) % 3] + np.uint32(step + 1)
    return x0, x1


@jit
def threefry2x32(words: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """One function of the module for each shape, called by all who draw numbers of that shape."""
    return _rounds(words[0], words[1], x0, x1)


def hash_words(words: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """The words of counts of two words: at once on NumPy, or a call, in a trace and where the key
    was put on a device.
    """
    if current_trace() is not None or any_committed((words,)):
        return threefry2x32(words, x0, x1)
    key_words, *counts = (x.concrete("random numbers", TypeError) for x in (words, x0, x1))
    with np.errstate(over="ignore"):
        bits = _rounds(key_words[0], key_words[1], *counts)
    return ConcreteArray(bits[0]), ConcreteArray(bits[1])


def _hash_counts(words: Array, counts: Array) -> Array:
    """The older order: the first half of the counts are the x0, the second half the x1."""
    size = counts.size
    if size % 2:
        counts = jnp.concatenate([counts, jnp.zeros((1,), U32)])
    half = (size + 1) // 2
    return jnp.concatenate(hash_words(words, counts[:half], counts[half:]))[:size]


def _index_words(shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The high and low words of each element's place in row-major order."""
    low = jnp.reshape(jnp.arange(math.prod(shape), dtype=U32), shape)
    return jnp.zeros(shape, U32), low


def split_words(words: Array, shape: tuple[int, ...] = (2,)) -> Array:
    """The words of new keys, of shape (*shape, 2)."""
    if config.threefry_partitionable:
        return jnp.stack(hash_words(words, *_index_words(shape)), axis=-1)
    counts = jnp.arange(2 * math.prod(shape), dtype=U32)
    return jnp.reshape(_hash_counts(words, counts), (*shape, 2))


def draw_bits(words: Array, width: int, shape: tuple[int, ...]) -> Array:
    """Random unsigned integers of 8, 16, 32 or 64 bits."""
    dtype = np.dtype(f"u{width // 8}")
    if config.threefry_partitionable:
        high, low = hash_words(words, *_index_words(shape))
        if width == 64:
            return (convert(high, dtype) << 32) | convert(low, dtype)
        return convert(high ^ low, dtype)
    size = math.prod(shape)
    count = math.ceil(width * size / 32)
    flat = _hash_counts(words, jnp.arange(count, dtype=U32))
    if width == 64:
        flat = (convert(flat[:size], dtype) << 32) | convert(flat[size:], dtype)
    elif width < 32:
        shifts = np.arange(0, 32, width, dtype=U32)
        flat = (jnp.reshape(flat, (count, 1)) >> shifts) & np.uint32(2**width - 1)
        flat = convert(jnp.reshape(flat, (-1,)), dtype)[:size]
    return jnp.reshape(flat, shape)
