"""Keys for the device's own generator: lax.rng_bit_generator.

A key is two of threefry's. `rbg` makes new keys as threefry does, `unsafe_rbg` by the device's
generator too, which is faster but less studied.
"""

from __future__ import annotations

import math

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.random.hashing import U32, Generator, seed_words
from irax.random.threefry import fold_in_words, split_words


def _seed(seed: Array) -> Array:
    half = seed_words(seed)
    return jnp.concatenate([half, half])


def _split(words: Array, shape: tuple[int, ...]) -> Array:
    halves = split_words(words[:2], shape), split_words(words[2:], shape)
    return jnp.concatenate(halves, axis=-1)


def _fold_in(words: Array, data: Array) -> Array:
    return jnp.concatenate([fold_in_words(words[:2], data), fold_in_words(words[2:], data)])


def _bits(words: Array, width: int, shape: tuple[int, ...]) -> Array:
    return lax.rng_bit_generator(words, shape, np.dtype(f"u{width // 8}"))[1]


_SKIPPED = 10
"""The number of rows of bits that are drawn for each new key of `unsafe_rbg`."""


def _unsafe_split(words: Array, shape: tuple[int, ...]) -> Array:
    rows = lax.rng_bit_generator(words, (_SKIPPED * math.prod(shape), 4), U32)[1]
    return jnp.reshape(rows[::_SKIPPED], (*shape, 4))


def _unsafe_fold_in(words: Array, data: Array) -> Array:
    return words ^ lax.rng_bit_generator(_seed(data), (_SKIPPED, 4), U32)[1][-1]


RBG = Generator(_seed, _split, _fold_in, _bits)
UNSAFE_RBG = Generator(_seed, _unsafe_split, _unsafe_fold_in, _bits)
