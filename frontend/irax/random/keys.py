"""Keys: an array of two uint32 (`PRNGKey`), or a `KeyArray` that wraps such (`key`)."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

import irax.numpy as jnp
from irax import dtypes, tree_util
from irax.array import Array, ConcreteArray, as_array
from irax.config import config
from irax.elementwise import convert
from irax.lax.arguments import canonical_shape
from irax.random.threefry import U32, hash_words, split_words

THREEFRY = "threefry2x32"
_OTHERS_OF_JAX = ("rbg", "unsafe_rbg", "philox2x32", "philox4x32", "threefry4x32")


class KeyType:
    """The dtype of typed keys. There is one: that of threefry's."""

    name = "key<fry>"
    type = dtypes.prng_key
    itemsize = 8

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeyType) or other == self.name

    def __hash__(self) -> int:
        return hash(self.name)


@tree_util.register_pytree_node_class
class KeyArray:
    """An array of typed keys: `key(0)`. Its shape does not count the two words of a key.

    It is a pytree whose one leaf is the words, of shape (*shape, 2): transformations that take
    arrays take it, with axes that are counted from the front.
    """

    __array_ufunc__ = None  # NumPy's operators leave keys alone
    __hash__: Any = None

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of keys."""
        return self.data.shape[:-1]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of keys."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> KeyType:
        """The kind of key."""
        return KeyType()

    @property
    def T(self) -> KeyArray:
        """The keys with their dimensions in reverse order."""
        return self.transpose()

    def reshape(self, *shape: Any) -> KeyArray:
        """The keys in another shape."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
        if -1 in sizes:  # which must not take the words into account
            known = -math.prod(sizes)
            if not known or self.size % known:
                raise TypeError(f"reshape: {self.size} keys do not fit into shape {tuple(sizes)}")
            sizes = [self.size // known if n == -1 else n for n in sizes]
        return KeyArray(jnp.reshape(self.data, (*sizes, 2)))

    def ravel(self) -> KeyArray:
        """The keys in one dimension."""
        return self.reshape(self.size)

    flatten = ravel

    def squeeze(self, axis: int | Sequence[int] | None = None) -> KeyArray:
        """The keys without dimensions of size 1: all of them, or those given."""
        given = range(self.ndim) if axis is None else np.atleast_1d(axis)
        dropped = {operator.index(a) % max(self.ndim, 1) for a in given}
        if axis is None:
            dropped = {a for a in dropped if self.shape[a] == 1}
        return KeyArray(jnp.squeeze(self.data, tuple(dropped)))

    def transpose(self, *axes: int) -> KeyArray:
        """The keys with permuted dimensions, reversed by default."""
        order = [a % self.ndim for a in axes] if axes else range(self.ndim)[::-1]
        return KeyArray(jnp.transpose(self.data, (*order, self.ndim)))

    def copy(self) -> KeyArray:
        """The same keys."""
        return KeyArray(self.data)

    def block_until_ready(self) -> KeyArray:
        """The keys, once they are computed."""
        self.data.block_until_ready()
        return self

    def __getitem__(self, index: Any) -> KeyArray:
        if isinstance(index, tuple) and any(part is Ellipsis for part in index):
            return KeyArray(self.data[(*index, slice(None))])
        return KeyArray(self.data[index])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a single key")
        return self.shape[0]

    def __iter__(self) -> Iterator[KeyArray]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> Any:
        """Where keys are the same."""
        if not isinstance(other, KeyArray):
            return NotImplemented
        return jnp.all(jnp.equal(self.data, other.data), axis=-1)

    def __ne__(self, other: object) -> Any:
        """Where keys differ."""
        if not isinstance(other, KeyArray):
            return NotImplemented
        return jnp.any(jnp.not_equal(self.data, other.data), axis=-1)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("keys are no numbers: irax.random.key_data gives their words")

    def __repr__(self) -> str:
        return f"Array({self.shape}, dtype=key<fry>) overlaying:\n{self.data}"

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """The key data, for pytrees."""
        return (self.data,), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Sequence[Any]) -> KeyArray:
        """The inverse of `tree_flatten`."""
        return cls(children[0])


Key = KeyArray | Array
"""What functions take as a key."""


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
    if dtype is not None and dtype != KeyType():
        raise TypeError(f"{what}: dtype must be irax.random.key_dtype(), got {dtype!r}")


def key_dtype(impl_spec: str | None = None) -> KeyType:
    """The dtype of typed keys.

    >>> irax.dtypes.issubdtype(irax.random.key_dtype(), irax.dtypes.prng_key)
    True
    """
    _check_impl("key_dtype", impl_spec)
    return KeyType()


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
    seed = _seed_words(convert(array, U32))
    return like(key, jnp.concatenate(hash_words(words, seed[:1], seed[1:])))


def like(key: Key, words: Array) -> Any:
    """Words as keys of the kind of another."""
    return KeyArray(words) if isinstance(key, KeyArray) else words


def key_words(keys: Key, what: str) -> Array:
    """The words of keys.

    Raises:
        TypeError: these are no keys.
    """
    data = keys.data if isinstance(keys, KeyArray) else as_array(keys, f"{what}: key")
    if data.dtype != U32 or not data.shape or data.shape[-1] != 2:
        raise TypeError(
            f"{what}: expected a key, as made by irax.random.key or PRNGKey (uint32 of shape (2,)),"
            f" got {data.aval}"
        )
    return data


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
    return data
