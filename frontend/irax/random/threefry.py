"""Threefry-2x32 with 20 rounds: a key and a count become two words of random bits.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). Keys are plain words here,
uint32 of shape (2,). The option `threefry_partitionable` chooses the counts that are hashed for an
element: with it each element is a hash of its own index, without it the elements are the halves of
hashes, which cannot be computed apart from each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.config import config
from irax.core.array import Array
from irax.core.dtypes.promotion import convert
from irax.random.hashing import U32, Generator, hashing, index_words, seed_words

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def _rounds(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """Threefry-2x32 on words of any kind that has NumPy's operators: arrays of NumPy or irax."""
    k0, k1 = key[0], key[1]
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


hash_words: Callable[..., tuple[Array, ...]] = hashing(_rounds)


def hash_counts(words: Any, counts: Array) -> Array:
    """Return hashes of counts in the older order: the first half are the x0, the others the x1."""
    size = counts.size
    if size % 2:
        counts = jnp.concatenate([counts, jnp.zeros((1,), U32)])
    half = (size + 1) // 2
    return jnp.concatenate(hash_words(words, counts[:half], counts[half:]))[:size]


def split_words(words: Array, shape: tuple[int, ...] = (2,)) -> Array:
    """Return the words of new keys, of shape (*shape, 2)."""
    if config.threefry_partitionable:
        return jnp.stack(hash_words(words, *index_words(shape)), axis=-1)
    counts = jnp.arange(2 * math.prod(shape), dtype=U32)
    return jnp.reshape(hash_counts(words, counts), (*shape, 2))


def draw_bits(words: Array, width: int, shape: tuple[int, ...]) -> Array:
    """Draw random unsigned integers of 8, 16, 32 or 64 bits."""
    dtype = np.dtype(f"u{width // 8}")
    if config.threefry_partitionable:
        high, low = hash_words(words, *index_words(shape))
        if width == 64:
            return (convert(high, dtype) << 32) | convert(low, dtype)
        return convert(high ^ low, dtype)
    size = math.prod(shape)
    count = math.ceil(width * size / 32)
    flat = hash_counts(words, jnp.arange(count, dtype=U32))
    if width == 64:
        flat = (convert(flat[:size], dtype) << 32) | convert(flat[size:], dtype)
    elif width < 32:
        shifts = np.arange(0, 32, width, dtype=U32)
        flat = (jnp.reshape(flat, (count, 1)) >> shifts) & np.uint32(2**width - 1)
        flat = convert(jnp.reshape(flat, (-1,)), dtype)[:size]
    return jnp.reshape(flat, shape)


def fold_in_words(words: Array, data: Array) -> Array:
    """Return the words of a new key from those of a key and a uint32."""
    seed = seed_words(data)
    return jnp.concatenate(hash_words(words, seed[:1], seed[1:]))


THREEFRY = Generator(seed_words, split_words, fold_in_words, draw_bits)
