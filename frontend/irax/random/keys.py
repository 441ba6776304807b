"""Keys: an array of two uint32 (`PRNGKey`), or a typed one that wraps such (`key`)."""

from __future__ import annotations

from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, errors, source
from irax.array import Array, ConcreteArray, as_array
from irax.config import config
from irax.dtypes import KEYS, KeyType
from irax.elementwise import convert
from irax.key_arrays import KeyArray
from irax.lax.arguments import canonical_shape
from irax.random.threefry import U32, hash_words, split_words
from irax.replay import replayed

THREEFRY = "threefry2x32"
_OTHERS_OF_JAX = ("rbg", "unsafe_rbg", "philox2x32", "philox4x32", "threefry4x32")


Key = Array
"""What functions take as a key: a `KeyArray`, or the words of one."""


def PRNGKey(seed: int | Array, *, impl: str | None = None) -> Array:
    """A key of shape (2,) and dtype uint32 from an integer seed.

    Raises:
        TypeError: the seed is not an integer scalar.
        NotImplementedError: another `impl` than "threefry2x32".

    >>> irax.random.PRNGKey(0)
    Array([0, 0], dtype=uint32)
    """
    _check_impl("PRNGKey", impl)
    if isinstance(seed, int | np.integer):
        bits = int(seed) & (2**64 - 1 if config.enable_x64 else 2**32 - 1)
        return ConcreteArray(np.array([bits >> 32, bits & 0xFFFFFFFF], U32))
    array = as_array(seed, "PRNGKey: seed")
    if array.shape != () or not dtypes.issubdtype(array.dtype, np.integer):
        raise TypeError(f"PRNGKey: seed must be an integer scalar, got {array.aval}")
    return _seed_words(array)


def _seed_words(seed: Array) -> Array:
    """The high and the low word of an integer scalar."""
    if seed.dtype.itemsize < 8:
        low = jnp.reshape(convert(seed, U32), (1,))
        return jnp.concatenate([jnp.zeros((1,), U32), low])
    wide = convert(seed, np.dtype(np.uint64))
    return jnp.stack([convert(wide >> 32, U32), convert(wide & 0xFFFFFFFF, U32)])


def _check_impl(what: str, impl: Any) -> None:
    if impl is None or impl == THREEFRY:
        return
    if impl in _OTHERS_OF_JAX:
        raise NotImplementedError(f"{what}: impl={impl!r} is not supported, only {THREEFRY!r} is")
    raise ValueError(f"{what}: there is no impl {impl!r}; expected {THREEFRY!r}")


def key(seed: int | Array, *, impl: str | None = None, dtype: Any = None) -> KeyArray:
    """A typed key from an integer seed; its bits are those of `PRNGKey(seed)`.

    Args:
        seed: an integer scalar.
        impl: the generator; only "threefry2x32".
        dtype: the dtype of keys, as from `key_dtype`.

    >>> irax.random.key(0).dtype
    key<fry>
    """
    _check_dtype("key", dtype)
    return KeyArray(PRNGKey(seed, impl=impl))


def _check_dtype(what: str, dtype: Any) -> None:
    if dtype is not None and dtype != KEYS:
        raise TypeError(f"{what}: dtype must be irax.random.key_dtype(), got {dtype!r}")


def key_dtype(impl_spec: str | None = None) -> KeyType:
    """The dtype of typed keys.

    >>> irax.dtypes.issubdtype(irax.random.key_dtype(), irax.dtypes.prng_key)
    True
    """
    _check_impl("key_dtype", impl_spec)
    return KEYS


def key_impl(keys: Key) -> str:
    """The generator that keys are for: "threefry2x32".

    >>> irax.random.key_impl(irax.random.key(0))
    'threefry2x32'
    """
    key_words(keys, "key_impl")
    return THREEFRY


def key_data(keys: Key) -> Array:
    """The words of keys: uint32 of shape (..., 2).

    >>> irax.random.key_data(irax.random.key(3))
    Array([0, 3], dtype=uint32)
    """
    return key_words(keys, "key_data")


def wrap_key_data(key_bits_array: Array, *, impl: str | None = None, dtype: Any = None) -> KeyArray:
    """Typed keys of words, uint32 of shape (..., 2).

    >>> irax.random.wrap_key_data(irax.numpy.zeros((3, 2), "uint32")).shape
    (3,)
    """
    _check_impl("wrap_key_data", impl)
    _check_dtype("wrap_key_data", dtype)
    return KeyArray(key_words(key_bits_array, "wrap_key_data"))


def clone(key: Key) -> Any:
    """The same key, said to be meant for use once more.

    >>> bool(irax.random.clone(irax.random.key(0)) == irax.random.key(0))
    True
    """
    return like(key, key_words(key, "clone"))


def split(key: Key, num: int | tuple[int, ...] = 2) -> Any:
    """New keys from one, of shape (num,), or `num` if that is a tuple.

    >>> irax.random.split(irax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    return like(key, split_words(one_key(key, "split"), canonical_shape("split", num)))


def fold_in(key: Key, data: int | Array) -> Any:
    """A new key from a key and an integer scalar.

    >>> irax.random.fold_in(irax.random.key(0), 7).shape
    ()
    """
    words = one_key(key, "fold_in")
    array = as_array(np.uint32(data & 0xFFFFFFFF) if isinstance(data, int) else data, "fold_in")
    if array.shape != () or not dtypes.issubdtype(array.dtype, np.integer):
        raise TypeError(f"fold_in: data must be an integer scalar, got {array.aval}")
    return like(key, _folded(words, array))


@replayed
def _folded(words: Array, data: Array) -> Array:
    seed = _seed_words(convert(data, U32))
    return jnp.concatenate(hash_words(words, seed[:1], seed[1:]))


def like(key: Key, words: Array) -> Any:
    """Words as keys of the kind of another."""
    return KeyArray(words) if isinstance(key, KeyArray) else words


def key_words(keys: Key, what: str) -> Array:
    """The words of keys.

    Raises:
        TypeError: these are no keys.
    """
    typed = isinstance(keys, KeyArray)
    data = keys.data if typed else as_array(keys, f"{what}: key")
    if data.dtype != U32 or not data.shape or data.shape[-1] != 2:
        raise TypeError(
            f"{what}: expected a key, as made by irax.random.key or PRNGKey (uint32 of shape (2,)),"
            f" got {data.aval}"
        )
    if not typed and config.legacy_prng_key != "allow":
        _object_to_words(what)
    return data


def _object_to_words(what: str) -> None:
    message = (
        f"{what}: the key is an array of raw words, and the option legacy_prng_key is "
        f"{config.legacy_prng_key!r}: make typed keys with irax.random.key, or irax.random."
        "wrap_key_data"
    )
    if config.legacy_prng_key == "error":
        raise ValueError(message)
    source.warn(message, UserWarning)


def one_key(keys: Key, what: str) -> Array:
    """The words of a single key.

    Raises:
        TypeError: this is no key.
        ValueError: these are several.
    """
    data = key_words(keys, what)
    if data.ndim != 1:
        raise ValueError(
            f"{what}: expected a single key, got an array of keys of shape {data.shape[:-1]}; "
            "map over them with irax.vmap"
        )
    if config.debug_key_reuse and isinstance(keys, KeyArray) and what != "fold_in":
        _use(keys, what)
    return data


def _use(keys: KeyArray, what: str) -> None:
    """Notes that a key has been used up.

    Raises:
        KeyReuseError: it had been already.
    """
    if keys.used_by is not None:
        raise errors.KeyReuseError(
            f"{what} at {source.user_line()}: this key was used before, by {keys.used_by}, so the "
            "numbers are not independent: draw from new keys that irax.random.split gives, or say "
            "that it is meant with irax.random.clone"
        )
    keys.used_by = f"{what} at {source.user_line()}"
