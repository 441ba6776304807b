"""Keys: typed ones (`key`), or the words of one in an array of numbers (`PRNGKey`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes, errors
from irax.config import config
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dtypes.kinds import DTYPES
from irax.core.dtypes.promotion import convert
from irax.core.key_arrays import KeyArray
from irax.dtypes import KEY_TYPES, KeyType
from irax.execution.replay import replayed
from irax.lax.arguments import canonical_shape
from irax.random.counters import PHILOX2, PHILOX4, THREEFRY4
from irax.random.hashing import U32, Generator
from irax.random.rbg import RBG, UNSAFE_RBG
from irax.random.threefry import THREEFRY

_GENERATORS = {
    "threefry2x32": THREEFRY,
    "threefry4x32": THREEFRY4,
    "philox2x32": PHILOX2,
    "philox4x32": PHILOX4,
    "rbg": RBG,
    "unsafe_rbg": UNSAFE_RBG,
}

Key = Array
"""The type of keys as arguments: a `KeyArray`, or the words of one."""


def PRNGKey(seed: int | Array, *, impl: str | None = None) -> Array:
    """Return the words of a key from an integer seed: uint32 of shape (2,), unless `impl` says
    otherwise. With the option `enable_custom_prng` it is a typed key, as `key` returns it.

    Args:
        seed: an integer scalar.
        impl: the generator, as of `key`. Functions of random numbers take such words for those of
            the option `default_prng_impl`.

    Raises:
        OverflowError: the seed has more than 64 bits.
        TypeError: the seed is not an integer scalar.
        ValueError: there is no such generator.

    >>> irax.random.PRNGKey(0)
    Array([0, 0], dtype=uint32)
    """
    made = _seeded("PRNGKey", seed, impl)
    return made if config.enable_custom_prng else made.data


def _seeded(what: str, seed: Any, impl: Any) -> KeyArray:
    key_type = _key_type(what, impl)
    is_known = isinstance(seed, int | np.integer)
    if is_known:
        if not -(2**63) <= seed < (2**64 if type(seed) is np.uint64 else 2**63):
            raise OverflowError(f"{what}: seed must be an integer of 64 bits, got {seed}")
        bits = (int(seed) + config.random_seed_offset) & (
            2**64 - 1 if config.enable_x64 else 2**32 - 1
        )
        if key_type.generator == "threefry2x32":
            words = np.array([bits >> 32, bits & 0xFFFFFFFF], U32)
            return KeyArray(ConcreteArray(words), key_type)
        seed = ConcreteArray(np.array(bits, "u8" if config.enable_x64 else U32))
    array = as_array(seed, f"{what}: seed")
    if array.shape != () or not dtypes.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{what}: seed must be an integer scalar, got {array.aval}")
    if config.random_seed_offset and not is_known:
        array = array + ConcreteArray(np.asarray(config.random_seed_offset).astype(array.dtype))
    return KeyArray(_generator(key_type).seed(array), key_type)


def _key_type(what: str, spec: Any) -> KeyType:
    """The dtype of the keys of a generator, given as that or by name; the default one if None."""
    if isinstance(spec, KeyType):
        return spec
    if spec is None:
        spec = config.default_prng_impl
    if not isinstance(spec, str):
        raise TypeError(
            f"{what}: expected the name of a generator, or a dtype of keys, got {spec!r}"
        )
    if spec not in KEY_TYPES:
        known = ", ".join(map(repr, KEY_TYPES))
        raise ValueError(f"{what}: there is no generator {spec!r}; there are {known}")
    return KEY_TYPES[spec]


def define_generator(name: str, tag: str, words: int, generator: Generator) -> KeyType:
    """Return the dtype of the keys of a new generator. Where another has the tag or the name, they
    get a number.
    """
    numbers = ["", *(f" {n}" for n in range(2, len(KEY_TYPES) + 3))]
    dtype = next(d for n in numbers if (d := f"key<{tag}{n}>") not in DTYPES)
    own = next(o for n in numbers if (o := f"{name}{n}") not in KEY_TYPES)
    _GENERATORS[own] = generator
    found: Any = KeyType(dtype, own, words)
    KEY_TYPES[own] = DTYPES[dtype] = found
    return found


def _generator(key_type: KeyType) -> Generator:
    return _GENERATORS[key_type.generator]


def key(seed: int | Array, *, impl: Any = None, dtype: Any = None) -> KeyArray:
    """Return a typed key from an integer seed; its bits are those of `PRNGKey(seed)`.

    Args:
        seed: an integer scalar.
        impl: the generator: "threefry2x32", "threefry4x32", "philox2x32", "philox4x32", or the
            device's own, "rbg" and "unsafe_rbg"; by default the option `default_prng_impl`.
        dtype: the dtype of keys, as from `key_dtype`, or its generator's name, in place of `impl`.

    Raises:
        TypeError: the seed is not an integer scalar.
        ValueError: there is no such generator, or both `impl` and `dtype` are given.

    >>> irax.random.key(0).dtype
    key<fry>
    """
    return _seeded("key", seed, _either("key", impl, dtype))


def _either(what: str, impl: Any, dtype: Any) -> Any:
    if impl is not None and dtype is not None:
        raise ValueError(f"{what}: impl and dtype say the same, so give one of them")
    return impl if dtype is None else dtype


def key_dtype(impl_spec: Any = None) -> KeyType:
    """Return the dtype of the typed keys of a generator, by default the option `default_prng_impl`.

    Args:
        impl_spec: the name of a generator, or a dtype of keys.

    Raises:
        ValueError: there is no such generator.
        TypeError: `impl_spec` is not a name.

    >>> irax.random.key_dtype("philox4x32")
    key<phx4>
    """
    return _key_type("key_dtype", impl_spec)


def key_impl(keys: Key) -> str:
    """Return the generator of keys.

    Args:
        keys: a key, or an array of keys.

    Raises:
        TypeError: `keys` are not keys.

    >>> irax.random.key_impl(irax.random.key(0))
    'threefry2x32'
    """
    return typed_keys(keys, "key_impl").key_type.generator


def key_data(keys: Key) -> Array:
    """Return the words of keys: uint32, with a last dimension for the words of each.

    Args:
        keys: a key, or an array of keys.

    Raises:
        TypeError: `keys` are not keys.

    >>> irax.random.key_data(irax.random.key(3))
    Array([0, 3], dtype=uint32)
    """
    return typed_keys(keys, "key_data").data


def wrap_key_data(key_bits_array: Array, *, impl: Any = None, dtype: Any = None) -> KeyArray:
    """Return typed keys from words, uint32 with a last dimension for the words of each.

    Args:
        key_bits_array: the words.
        impl: the generator, as of `key`.
        dtype: the dtype of keys, or its generator's name, in place of `impl`.

    Raises:
        TypeError: the words are not uint32.
        ValueError: there is no such generator.

    >>> irax.random.wrap_key_data(irax.numpy.zeros((3, 2), "uint32")).shape
    (3,)
    """
    what = "wrap_key_data"
    return _wrapped(what, key_bits_array, _key_type(what, _either(what, impl, dtype)))


def clone(key: Key) -> Any:
    """Return a copy of a key that may be used again, for the option `debug_key_reuse`.

    Args:
        key: a key, or an array of keys.

    Raises:
        TypeError: `key` is not a key.

    >>> bool(irax.random.clone(irax.random.key(0)) == irax.random.key(0))
    True
    """
    keys = typed_keys(key, "clone")
    return like(key, keys.with_data(keys.data))


def split(key: Key, num: int | tuple[int, ...] = 2) -> Any:
    """Split a key into new keys, of shape (num,), or `num` if that is a tuple.

    Args:
        key: a key. Do not use it again.
        num: the number of new keys, or the shape of an array of keys.

    Raises:
        TypeError: `key` is not a key, or `num` is neither an int nor a tuple of ints.

    >>> irax.random.split(irax.random.key(0), (3, 2)).shape
    (3, 2)
    """
    return like(key, split_key(one_key(key, "split"), canonical_shape("split: num", num)))


def fold_in(key: Key, data: int | Array) -> Any:
    """Return a new key from a key and a scalar, which is converted to uint32.

    Args:
        key: a key.
        data: an integer from 0 to 2**32 - 1, of shape (); it may be traced.

    Raises:
        TypeError: `data` is not a real scalar.
        OverflowError: an int of Python's that is no uint32.

    >>> irax.random.fold_in(irax.random.key(0), 7).shape
    ()
    """
    typed = one_key(key, "fold_in")
    if isinstance(data, int) and not 0 <= data <= 0xFFFFFFFF:
        raise OverflowError(f"fold_in: data must be from 0 to 2**32 - 1, got {data}")
    is_plain = isinstance(data, int | np.generic)
    array = as_array(np.asarray(data).astype(np.uint32) if is_plain else data, "fold_in")
    if array.shape != () or dtypes.issubdtype(array.dtype, np.complexfloating):
        raise TypeError(f"fold_in: data must be a real scalar, got {array.aval}")
    return like(key, _folded(typed, array))


@replayed
def _folded(key: KeyArray, data: Array) -> KeyArray:
    return key.with_data(_generator(key.key_type).fold_in(key.data, convert(data, U32)))


def split_key(key: KeyArray, shape: tuple[int, ...] = (2,)) -> KeyArray:
    """Return new keys from one, without noting that it is used."""
    return key.with_data(_generator(key.key_type).split(key.data, shape))


def draw_bits(key: KeyArray, width: int, shape: tuple[int, ...]) -> Array:
    """Draw random unsigned integers of 8, 16, 32 or 64 bits."""
    return _generator(key.key_type).bits(key.data, width, shape)


def like(key: Key, new: KeyArray) -> Any:
    """Return typed keys, or their words if `key` is not typed."""
    return new if isinstance(key, KeyArray) else new.data


def typed_keys(keys: Key, what: str) -> KeyArray:
    """Return keys, or words of keys of the default generator, as typed keys.

    Raises:
        TypeError: they are not keys.
    """
    if isinstance(keys, KeyArray):
        return keys
    typed = _wrapped(what, keys, KEY_TYPES[config.default_prng_impl])
    if config.legacy_prng_key != "allow":
        _object_to_words(what)
    return typed


def _wrapped(what: str, words: Any, key_type: KeyType) -> KeyArray:
    data = as_array(words, f"{what}: key")
    if data.dtype != U32 or not data.shape or data.shape[-1] != key_type.words:
        raise TypeError(
            f"{what}: expected a key, as made by irax.random.key or PRNGKey (for "
            f"{key_type.generator} uint32 of shape ({key_type.words},)), got {data.aval}"
        )
    return KeyArray(data, key_type)


def _object_to_words(what: str) -> None:
    message = (
        f"{what}: the key is an array of raw words, and the option legacy_prng_key is "
        f"{config.legacy_prng_key!r}: make typed keys with irax.random.key, or irax.random."
        "wrap_key_data"
    )
    if config.legacy_prng_key == "error":
        raise ValueError(message)
    source.warn(message, UserWarning)


def one_key(keys: Key, what: str) -> KeyArray:
    """Return a single key, as a typed one, which is used thereby.

    Raises:
        TypeError: it is not a key.
        ValueError: there are several.
        KeyReuseError: it was used before, with the option `debug_key_reuse`.
    """
    typed = unused_key(keys, what)
    if config.debug_key_reuse and isinstance(keys, KeyArray) and what != "fold_in":
        _use(keys, what)
    return typed


def unused_key(keys: Key, what: str) -> KeyArray:
    """Return a single key, as a typed one, for another function to use.

    Raises:
        TypeError: it is not a key.
        ValueError: there are several.
    """
    typed = typed_keys(keys, what)
    if typed.shape:
        raise ValueError(
            f"{what}: expected a single key, got an array of keys of shape {typed.shape}; "
            "map over them with irax.vmap"
        )
    return typed


def _use(keys: KeyArray, what: str) -> None:
    """Note that a key has been used.

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
