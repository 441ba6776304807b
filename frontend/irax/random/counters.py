"""Philox-2x32 and 4x32, and Threefry-4x32: each number is a hash of its index.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011). A hash takes the words of a key
and those of a count, and gives as many as the count has.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.core.dtypes.promotion import convert
from irax.random.hashing import U32, U64, Generator, hashing, index_words, joined, seed_words

_ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
_PARITY = np.uint32(0x1BD11BDA)
_WEYL = np.array([0x9E3779B9, 0xBB67AE85], U32)
_MULTIPLIER_OF_2 = np.uint32(0xD256D193)
_MULTIPLIERS_OF_4 = np.array([0xD2511F53, 0xCD9E8D57], U32)


# ---- the hashes, on words of NumPy or irax -------------------------------------------------------


def _product(factor: np.uint32, x: Any) -> tuple[Any, Any]:
    """Return the high and the low word of a product."""
    if isinstance(x, Array):
        return lax.mulhi(jnp.full(x.shape, factor), x), x * factor
    wide = np.asarray(x, U64) * np.uint64(factor)
    return (wide >> np.uint64(32)).astype(U32), wide.astype(U32)


def _philox2(key: Any, x0: Any, x1: Any) -> tuple[Any, ...]:
    word = key[0]
    for _ in range(10):
        high, low = _product(_MULTIPLIER_OF_2, x0)
        x0, x1 = high ^ x1 ^ word, low
        word = word + _WEYL[0]
    return x0, x1


def _philox4(key: Any, x0: Any, x1: Any, x2: Any, x3: Any) -> tuple[Any, ...]:
    k0, k1 = key[0], key[1]
    for _ in range(10):
        high0, low0 = _product(_MULTIPLIERS_OF_4[0], x0)
        high1, low1 = _product(_MULTIPLIERS_OF_4[1], x2)
        x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
        k0, k1 = k0 + _WEYL[0], k1 + _WEYL[1]
    return x0, x1, x2, x3


def _threefry4(key: Any, *counts: Any) -> tuple[Any, ...]:
    words = [key[i] for i in range(4)]
    words.append(functools.reduce(operator.xor, words) ^ _PARITY)
    x = [count + word for count, word in zip(counts, words, strict=False)]
    for step in range(20):
        # The pairs that are mixed; the second words change places after each step.
        for left, rotation in zip((0, 2), _ROTATIONS[step % 8], strict=True):
            right = left + 1 if step % 2 == 0 else 3 - left
            x[left] = x[left] + x[right]
            turned = (x[right] << np.uint32(rotation)) | (x[right] >> np.uint32(32 - rotation))
            x[right] = x[left] ^ turned
        if step % 4 == 3:
            group = step // 4 + 1
            x = [x[i] + words[(group + i) % 5] for i in range(4)]
            x[3] = x[3] + np.uint32(group)
    return tuple(x)


# ---- generators ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Counter:
    """A generator whose numbers, and new keys, are hashes of counts."""

    hashed: Callable[..., tuple[Array, ...]]
    key_words: int
    count_words: int
    seeds_key: bool = False
    """True if a seed is hashed as the key, False if as the count."""

    def seed(self, seed: Array) -> Array:
        words = seed_words(seed)
        key, count = jnp.zeros((self.key_words,), U32), self._count(words[:1], words[1:])
        if self.seeds_key:
            key = jnp.concatenate([words, key[2:]])
            count = [jnp.zeros((1,), U32)] * self.count_words
        return jnp.concatenate(self.hashed(key, *count)[: self.key_words])

    def _count(self, high: Array, low: Array, last: bool = False) -> list[Array]:
        """Return the words of counts: the two that vary are the first or the last."""
        rest = [jnp.zeros(high.shape, U32)] * (self.count_words - 2)
        return [*rest, high, low] if last else [high, low, *rest]

    def split(self, key: Array, shape: tuple[int, ...]) -> Array:
        found = self.hashed(key, *self._count(*index_words(shape), last=True))
        return jnp.stack(found[: self.key_words], axis=-1)

    def fold_in(self, key: Array, data: Array) -> Array:
        found = self.hashed(key, *self._count(jnp.zeros((), U32), data, last=True))
        return jnp.stack(found[: self.key_words], axis=-1)

    def bits(self, key: Array, width: int, shape: tuple[int, ...]) -> Array:
        found = self.hashed(key, *self._count(*index_words(shape)))
        if width == 64:
            # Threefry's words all count, of Philox's the first two.
            if self.seeds_key:
                found = found[0] ^ found[2], found[1] ^ found[3]
            return joined(found[0], found[1])
        return convert(functools.reduce(operator.xor, found), np.dtype(f"u{width // 8}"))

    def generator(self) -> Generator:
        return Generator(self.seed, self.split, self.fold_in, self.bits)


PHILOX2 = _Counter(hashing(_philox2), 1, 2).generator()
PHILOX4 = _Counter(hashing(_philox4), 2, 4).generator()
THREEFRY4 = _Counter(hashing(_threefry4), 4, 4, seeds_key=True).generator()
