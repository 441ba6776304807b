"""Generators of random bits of one's own, and the parts of irax's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from irax import random
from irax.core.array import Array, as_array
from irax.core.dtypes.kinds import KEY_TYPES, KeyType
from irax.core.key_arrays import KeyArray
from irax.random.hashing import Generator
from irax.random.keys import define_generator
from irax.random.threefry import hash_counts
from irax.transforms.vmap import vmap
from irax.typing import ArrayLike

threefry_prng_impl: KeyType = KEY_TYPES["threefry2x32"]
rbg_prng_impl: KeyType = KEY_TYPES["rbg"]
unsafe_rbg_prng_impl: KeyType = KEY_TYPES["unsafe_rbg"]


def define_prng_impl(
    *,
    key_shape: tuple[int, ...],
    seed: Callable[[Array], Array],
    split: Callable[[Array, tuple[int, ...]], Array],
    random_bits: Callable[[Array, int, tuple[int, ...]], Array],
    fold_in: Callable[[Array, Array], Array],
    name: str = "<unnamed>",
    tag: str = "?",
) -> KeyType:
    """Return a generator of random bits, which `random.key(seed, impl=...)` takes; all functions of
    `random` draw by its keys. A key is a vector of words of uint32.

    Args:
        key_shape: the shape of a key's words: `(n,)`.
        seed: makes the words of a key from an integer scalar.
        split: makes the words of new keys, of shape (*shape, n), from those of a key and a shape.
        random_bits: draws unsigned integers from a key's words, a width of 8, 16, 32 or 64 bits,
            and a shape.
        fold_in: makes the words of a new key from those of a key and a scalar of uint32.
        name: the generator's name.
        tag: a short name, for the dtype of its keys.

    Raises:
        ValueError: keys of another number of dimensions than one.

    >>> from irax.extend import random as extend_random
    >>> counting = extend_random.define_prng_impl(
    ...     key_shape=(1,),
    ...     seed=lambda seed: seed.astype("uint32")[None],
    ...     split=lambda key, shape: irax.numpy.broadcast_to(key, (*shape, 1)),
    ...     random_bits=lambda key, width, shape: irax.numpy.full(shape, key[0], f"uint{width}"),
    ...     fold_in=lambda key, data: key + data,
    ... )
    >>> irax.random.bits(irax.random.fold_in(irax.random.key(3, impl=counting), 2), (2,))
    Array([5, 5], dtype=uint32)
    """
    sizes = tuple(map(operator.index, key_shape))
    if len(sizes) != 1:
        raise ValueError(
            f"define_prng_impl: key_shape must be (n,), a vector of words, got {key_shape}"
        )
    return define_generator(name, tag, sizes[0], Generator(seed, split, fold_in, random_bits))


def random_seed(seeds: ArrayLike, impl: Any) -> KeyArray:
    """Return the keys of a generator for an array of integer seeds.

    Args:
        seeds: integers.
        impl: the generator: its name, or as `define_prng_impl` returns it.

    Raises:
        TypeError: `seeds` are not integers.
        ValueError: there is no such generator.

    >>> from irax.extend import random as extend_random
    >>> extend_random.random_seed(irax.numpy.arange(3), "threefry2x32").shape
    (3,)
    """
    array = as_array(seeds, "random_seed: seeds")
    flat = vmap(lambda seed: random.key(seed, impl=impl))(array.reshape(-1))
    return flat.reshape(array.shape)


def seed_with_impl(impl: Any, seed: ArrayLike) -> KeyArray:
    """Return `random_seed(seed, impl)`.

    Args:
        impl: the generator.
        seed: integers.

    Raises:
        TypeError: `seed` is not of integers.

    >>> from irax.extend import random as extend_random
    >>> extend_random.seed_with_impl(extend_random.threefry_prng_impl, 3) == irax.random.key(3)
    Array(True, dtype=bool)
    """
    return random_seed(seed, impl)


def threefry_2x32(keypair: Any, count: Array) -> Array:
    """Return the hashes of counts by Threefry-2x32, which are words of random bits: those of the
    first half of the counts beside those of the second half.

    Args:
        keypair: the two words of a key, uint32.
        count: an array of uint32.

    Raises:
        TypeError: words or counts of another dtype.

    >>> from irax.extend import random as extend_random
    >>> words = irax.random.key_data(irax.random.key(0))
    >>> extend_random.threefry_2x32(words, irax.numpy.arange(2, dtype="uint32"))
    Array([1797259609, 2579123966], dtype=uint32)
    """
    words = [as_array(word, "threefry_2x32: keypair") for word in (keypair[0], keypair[1])]
    counts = as_array(count, "threefry_2x32: count")
    for x in (*words, counts):
        if x.dtype != np.uint32:
            raise TypeError(f"threefry_2x32: expected words and counts of uint32, got {x.dtype}")
    return hash_counts(words, counts.reshape(-1)).reshape(counts.shape)
