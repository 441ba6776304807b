"""Random numbers from explicit keys, with the bits of JAX's threefry generator.

A key is an array of two uint32 (`PRNGKey`), or a `KeyArray` that wraps such (`key`). The same key
gives the same numbers, always: `split` makes new keys. With the option `threefry_partitionable` the
bits are drawn in the order that is cheap to split over devices, otherwise in the older order.

Threefry-2x32, 20 rounds: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, tree_util
from irax.array import Array, ConcreteArray, as_array
from irax.config import config
from irax.elementwise import broadcast_to, convert
from irax.jit import jit
from irax.tracing import bind, current_trace
from irax_compiler.ops import conversion, special

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_U32 = np.dtype(np.uint32)


# ---- keys ----------------------------------------------------------------------------------------


@tree_util.register_pytree_node_class
class KeyArray:
    """An array of typed keys: `key(0)`. Its shape does not count the two words of a key."""

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
    def dtype(self) -> str:
        """The kind of key."""
        return "key<fry>"

    def __getitem__(self, index: Any) -> KeyArray:
        if isinstance(index, tuple) and Ellipsis in index:
            return KeyArray(self.data[(*index, slice(None))])
        return KeyArray(self.data[index])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a single key")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Array({self.shape}, dtype=key<fry>) overlaying:\n{self.data}"

    def tree_flatten(self) -> tuple[tuple[Any], None]:
        """The key data, for pytrees."""
        return (self.data,), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Sequence[Any]) -> KeyArray:
        """The inverse of `tree_flatten`."""
        return cls(children[0])


def PRNGKey(seed: int | Array) -> Array:
    """A key of shape (2,) and dtype uint32 from an integer seed.

    Raises:
        TypeError: the seed is not an integer scalar.

    >>> PRNGKey(0)
    Array([0, 0], dtype=uint32)
    """
    if isinstance(seed, int | np.integer):
        bits = int(seed) & (2**64 - 1 if config.enable_x64 else 2**32 - 1)
        return ConcreteArray(np.array([bits >> 32, bits & 0xFFFFFFFF], _U32))
    array = as_array(seed, "PRNGKey: seed")
    if array.shape != () or not dtypes.issubdtype(array.dtype, np.integer):
        raise TypeError(f"PRNGKey: seed must be an integer scalar, got {array.aval}")
    return _seed_words(array)


def _seed_words(seed: Array) -> Array:
    """The high and the low word of an integer scalar."""
    if seed.dtype.itemsize < 8:
        low = jnp.reshape(convert(seed, _U32), (1,))
        return jnp.concatenate([jnp.zeros((1,), _U32), low])
    wide = convert(seed, np.dtype(np.uint64))
    return jnp.stack([convert(wide >> 32, _U32), convert(wide & 0xFFFFFFFF, _U32)])


def key(seed: int | Array) -> KeyArray:
    """A typed key from an integer seed; its bits are those of `PRNGKey(seed)`."""
    return KeyArray(PRNGKey(seed))


def key_data(keys: KeyArray | Array) -> Array:
    """The words of keys: uint32 of shape (..., 2)."""
    return keys.data if isinstance(keys, KeyArray) else keys


def wrap_key_data(data: Array) -> KeyArray:
    """Typed keys of words of shape (..., 2)."""
    return KeyArray(_words(data, "wrap_key_data"))


def _words(keys: KeyArray | Array, what: str) -> Array:
    data = keys.data if isinstance(keys, KeyArray) else as_array(keys, f"{what}: key")
    if data.dtype != _U32 or not data.shape or data.shape[-1] != 2:
        raise TypeError(
            f"{what}: expected a key, as made by irax.random.key or PRNGKey (uint32 of shape (2,)),"
            f" got {data.aval}"
        )
    return data


def _one_key(keys: KeyArray | Array, what: str) -> Array:
    data = _words(keys, what)
    if data.ndim != 1:
        raise ValueError(
            f"{what}: expected a single key, got an array of keys of shape {data.shape[:-1]}; "
            "map over them with irax.vmap"
        )
    return data


# ---- the generator -------------------------------------------------------------------------------


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


def _threefry(words: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    if current_trace() is not None:
        return threefry2x32(words, x0, x1)
    key_words, *counts = (x.concrete("random numbers", TypeError) for x in (words, x0, x1))
    with np.errstate(over="ignore"):
        bits = _rounds(key_words[0], key_words[1], *counts)
    return ConcreteArray(bits[0]), ConcreteArray(bits[1])


def _hash_counts(words: Array, counts: Array) -> Array:
    """The older order: the first half of the counts are the x0, the second half the x1."""
    size = counts.size
    if size % 2:
        counts = jnp.concatenate([counts, jnp.zeros((1,), _U32)])
    half = (size + 1) // 2
    return jnp.concatenate(_threefry(words, counts[:half], counts[half:]))[:size]


def _index_words(shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The high and low words of each element's place in row-major order."""
    low = jnp.reshape(jnp.arange(math.prod(shape), dtype=_U32), shape)
    return jnp.zeros(shape, _U32), low


def split(key: KeyArray | Array, num: int | tuple[int, ...] = 2) -> Any:
    """`num` new keys from one.

    >>> split(PRNGKey(0))
    Array([[4146024105,  967050713],
           [2718843009, 1272950319]], dtype=uint32)
    """
    words = _one_key(key, "split")
    shape = (num,) if isinstance(num, int | np.integer) else tuple(num)
    if config.threefry_partitionable:
        data = jnp.stack(_threefry(words, *_index_words(shape)), axis=-1)
    else:
        counts = jnp.arange(2 * math.prod(shape), dtype=_U32)
        data = jnp.reshape(_hash_counts(words, counts), (*shape, 2))
    return KeyArray(data) if isinstance(key, KeyArray) else data


def fold_in(key: KeyArray | Array, data: int | Array) -> Any:
    """A new key from a key and an integer."""
    words = _one_key(key, "fold_in")
    array = as_array(np.uint32(data & 0xFFFFFFFF) if isinstance(data, int) else data, "fold_in")
    if array.shape != () or not dtypes.issubdtype(array.dtype, np.integer):
        raise TypeError(f"fold_in: data must be an integer scalar, got {array.aval}")
    seed = _seed_words(convert(array, _U32))
    folded = jnp.concatenate(_threefry(words, seed[:1], seed[1:]))
    return KeyArray(folded) if isinstance(key, KeyArray) else folded


def bits(key: KeyArray | Array, shape: Sequence[int] = (), dtype: Any = np.uint32) -> Array:
    """Uniformly distributed unsigned integers.

    Args:
        key: a key.
        shape: the shape of the result.
        dtype: an unsigned integer dtype.
    """
    dtype = dtypes.requested_dtype(dtype, "random.bits")
    if not dtypes.issubdtype(dtype, np.unsignedinteger):
        raise TypeError(f"bits: dtype must be an unsigned integer type, got {dtype}")
    return _bits(_one_key(key, "bits"), 8 * dtype.itemsize, _shape(shape, "bits"))


def _bits(words: Array, width: int, shape: tuple[int, ...]) -> Array:
    dtype = np.dtype(f"u{width // 8}")
    if config.threefry_partitionable:
        high, low = _threefry(words, *_index_words(shape))
        if width == 64:
            return (convert(high, dtype) << 32) | convert(low, dtype)
        return convert(high ^ low, dtype)
    size = math.prod(shape)
    count = math.ceil(width * size / 32)
    flat = _hash_counts(words, jnp.arange(count, dtype=_U32))
    if width == 64:
        flat = (convert(flat[:size], dtype) << 32) | convert(flat[size:], dtype)
    elif width < 32:
        shifts = np.arange(0, 32, width, dtype=_U32)
        flat = (jnp.reshape(flat, (count, 1)) >> shifts) & np.uint32(2**width - 1)
        flat = convert(jnp.reshape(flat, (-1,)), dtype)[:size]
    return jnp.reshape(flat, shape)


# ---- distributions -------------------------------------------------------------------------------


def uniform(
    key: KeyArray | Array,
    shape: Sequence[int] = (),
    dtype: Any = float,
    minval: Any = 0.0,
    maxval: Any = 1.0,
) -> Array:
    """Uniformly distributed floats in [minval, maxval).

    >>> uniform(PRNGKey(0), (1,)).shape
    (1,)
    """
    dtype, shape = _float_dtype(dtype, "uniform"), _shape(shape, "uniform")
    words = _one_key(key, "uniform")
    low, high = (
        broadcast_to(convert(as_array(v, "uniform"), dtype), shape) for v in (minval, maxval)
    )
    info = dtypes.finfo(dtype)
    width = 8 if info.nmant < 8 else info.bits
    # Random bits for the mantissa, under the exponent of 1: a float in [1, 2).
    unsigned = np.dtype(f"u{dtype.itemsize}")
    mantissa = convert(
        _bits(words, width, shape) >> np.array(width - info.nmant, f"u{width // 8}"), unsigned
    )
    one = np.ones((), dtype).view(unsigned)
    floats = bind(conversion.BitcastConvert(shape, dtype), mantissa | one) - np.ones((), dtype)
    return jnp.maximum(low, floats * (high - low) + low)


def normal(key: KeyArray | Array, shape: Sequence[int] = (), dtype: Any = float) -> Array:
    """Floats of the standard normal distribution: sqrt(2) erfinv(u), u uniform in (-1, 1).

    >>> normal(PRNGKey(0), (1,))
    Array([-0.20584236], dtype=float32)
    """
    dtype = _float_dtype(dtype, "normal")
    above = np.nextafter(np.array(-1, dtype), np.array(0, dtype), dtype=dtype)
    u = uniform(key, shape, dtype, above, 1.0)
    return bind(special.erf_inv, u) * np.array(math.sqrt(2), dtype)


def truncated_normal(
    key: KeyArray | Array,
    lower: Any,
    upper: Any,
    shape: Sequence[int] | None = None,
    dtype: Any = float,
) -> Array:
    """The standard normal distribution, restricted to [lower, upper]."""
    dtype = _float_dtype(dtype, "truncated_normal")
    low, high = (convert(as_array(v, "truncated_normal"), dtype) for v in (lower, upper))
    lanes = np.broadcast_shapes(low.shape, high.shape) if shape is None else tuple(shape)
    sqrt2 = np.array(math.sqrt(2), dtype)
    edges = [bind(special.erf, v / sqrt2) for v in (low, high)]
    u = uniform(key, lanes, dtype, *edges)
    below = np.nextafter(np.array(np.inf, dtype), np.array(0, dtype), dtype=dtype)
    return jnp.clip(
        sqrt2 * bind(special.erf_inv, u), jnp.maximum(low, -below), jnp.minimum(high, below)
    )


def exponential(key: KeyArray | Array, shape: Sequence[int] = (), dtype: Any = float) -> Array:
    """Floats of the exponential distribution with rate 1: -log(1 - u)."""
    return -jnp.log1p(-uniform(key, shape, _float_dtype(dtype, "exponential")))


def gumbel(key: KeyArray | Array, shape: Sequence[int] = (), dtype: Any = float) -> Array:
    """Floats of the standard Gumbel distribution: -log(-log(u))."""
    dtype = _float_dtype(dtype, "gumbel")
    tiny = np.array(dtypes.finfo(dtype).tiny, dtype)
    return -jnp.log(-jnp.log(uniform(key, shape, dtype, minval=tiny)))


def bernoulli(key: KeyArray | Array, p: Any = 0.5, shape: Sequence[int] | None = None) -> Array:
    """Booleans that are True with probability p; `shape` is that of p by default."""
    p = as_array(p, "bernoulli: p")
    if not dtypes.issubdtype(p.dtype, np.floating):
        raise TypeError(f"bernoulli: p must be floating-point, got {p.aval}")
    lanes = p.shape if shape is None else _shape(shape, "bernoulli")
    return uniform(key, lanes, p.dtype) < p


def categorical(
    key: KeyArray | Array, logits: Any, axis: int = -1, shape: Sequence[int] | None = None
) -> Array:
    """Indices along `axis` with probabilities softmax(logits), by the Gumbel-max trick.

    Args:
        key: a key.
        logits: unnormalized log probabilities.
        axis: the axis of the categories.
        shape: the shape of the result; must end in that of `logits` without `axis`.
    """
    logits = as_array(logits, "categorical: logits")
    if not logits.ndim:
        raise ValueError("categorical: logits must have an axis of categories, got a scalar")
    axis = axis % logits.ndim
    batch = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    shape = batch if shape is None else _shape(shape, "categorical")
    prefix = shape[: len(shape) - len(batch)]
    if shape[len(prefix) :] != batch:
        raise ValueError(f"categorical: shape {shape} must end in {batch}, the shape of the batch")
    noise = gumbel(key, (*prefix, *logits.shape), logits.dtype)
    return jnp.argmax(noise + logits, axis=len(prefix) + axis)


def randint(
    key: KeyArray | Array, shape: Sequence[int], minval: Any, maxval: Any, dtype: Any = int
) -> Array:
    """Uniformly distributed integers in [minval, maxval).

    >>> int(randint(PRNGKey(0), (), 0, 1))
    0
    """
    dtype, shape = dtypes.requested_dtype(dtype, "random.randint"), _shape(shape, "randint")
    if not dtypes.issubdtype(dtype, np.integer):
        raise TypeError(f"randint: dtype must be an integer type, got {dtype}")
    info = np.iinfo(dtype)
    low, high = as_array(minval, "randint: minval"), as_array(maxval, "randint: maxval")
    for name, bound in (("minval", low), ("maxval", high)):
        if not dtypes.issubdtype(bound.dtype, np.integer):
            raise TypeError(f"randint: {name} must be an integer, got {bound.aval}")
    # A bound above the dtype's largest value stands for that value plus one.
    beyond = (
        jnp.asarray(high > min(info.max, np.iinfo(high.dtype).max))
        if high.dtype.itemsize > dtype.itemsize
        else None
    )
    low = broadcast_to(convert(jnp.clip(low, info.min, info.max), dtype), shape)
    high = broadcast_to(convert(jnp.clip(high, info.min, info.max), dtype), shape)
    # At least 32 bits, so that small types are drawn with as little bias as large ones.
    width = max(32, 8 * dtype.itemsize)
    unsigned = np.dtype(f"u{width // 8}")
    k1, k2 = split(_one_key(key, "randint"))
    upper, lower = _bits(k1, width, shape), _bits(k2, width, shape)
    span = convert(high, unsigned) - convert(low, unsigned)
    if beyond is not None:
        span = jnp.where(beyond, span + np.ones((), unsigned), span)
    span = jnp.where(high <= low, np.ones((), unsigned), span)
    # (upper * 2**width + lower) mod span, in `width` bits.
    multiplier = np.array(2 ** (width // 2), unsigned) % span
    multiplier = (multiplier * multiplier) % span
    offset = ((upper % span) * multiplier + lower % span) % span
    return low + convert(offset, dtype)


def permutation(
    key: KeyArray | Array, x: int | Any, axis: int = 0, independent: bool = False
) -> Array:
    """The integers below x, or the slices of an array x along `axis`, in random order.

    With `independent`, each vector along `axis` gets an order of its own.
    """
    words = _one_key(key, "permutation")
    if isinstance(x, int | np.integer):
        return _shuffle(words, jnp.arange(int(x)), 0)
    x = as_array(x, "permutation: x")
    if not x.ndim:
        if not dtypes.issubdtype(x.dtype, np.integer):
            raise TypeError(f"permutation: x must be an integer or an array, got {x.aval}")
        return _shuffle(words, jnp.arange(int(x)), 0)
    if independent or x.ndim == 1:
        return _shuffle(words, x, axis)
    order = _shuffle(words, jnp.arange(x.shape[axis]), 0)
    return jnp.take(x, order, axis)


def _shuffle(words: Array, x: Array, axis: int) -> Array:
    """Sorts by random keys; often enough that equal keys do not show."""
    rounds = math.ceil(3 * math.log(max(1, x.size)) / math.log(np.iinfo(np.uint32).max))
    for _ in range(rounds):
        words, now = split(words)
        order = jnp.argsort(_bits(now, 32, x.shape), axis=axis, stable=True)
        x = jnp.take_along_axis(x, order, axis)
    return x


def choice(
    key: KeyArray | Array,
    a: int | Any,
    shape: Sequence[int] = (),
    replace: bool = True,
    axis: int = 0,
) -> Array:
    """Random elements of `a` (of the integers below it if it is one), with equal probability."""
    shape = _shape(shape, "choice")
    pool = jnp.arange(a) if isinstance(a, int | np.integer) else as_array(a, "choice: a")
    size, count = pool.shape[axis], math.prod(shape)
    if not replace and count > size:
        raise ValueError(f"choice: cannot take {count} of {size} elements without replacement")
    if replace:
        indices = randint(key, shape, 0, size)
        return jnp.take(pool, indices, axis)
    chosen = permutation(key, pool, axis)
    chosen = jnp.take(chosen, jnp.arange(count), axis)
    return jnp.reshape(chosen, (*pool.shape[:axis], *shape, *pool.shape[axis + 1 :]))


def _shape(shape: int | Sequence[int], what: str) -> tuple[int, ...]:
    dimensions = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    for n in dimensions:
        if not isinstance(n, int | np.integer) or n < 0:
            raise TypeError(f"{what}: shape must be a tuple of non-negative ints, got {shape!r}")
    return tuple(int(n) for n in dimensions)


def _float_dtype(dtype: Any, what: str) -> np.dtype[Any]:
    dtype = dtypes.requested_dtype(dtype, f"random.{what}")
    if not dtypes.issubdtype(dtype, np.floating):
        raise TypeError(f"{what}: dtype must be a floating-point type, got {dtype}")
    return dtype
