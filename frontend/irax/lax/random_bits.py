"""Random bits of the device's own generators; `irax.random` has keys, and distributions."""

from __future__ import annotations

import enum
import itertools
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.dtypes.operands import as_arrays, check_dtype
from irax.core.dtypes.promotion import broadcast_to, convert
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax import elementwise
from irax.lax.arguments import array_of, canonical_shape
from irax.lax.structure import bitcast_convert_type, reshape
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.random_bits import RngBitGenerator

U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)


class RandomAlgorithm(enum.IntEnum):
    """The generators: functions of a key and a counter."""

    RNG_DEFAULT = 0
    """The device's own: on CPUs, Philox."""
    RNG_THREE_FRY = 1
    """Threefry-2x32."""
    RNG_PHILOX = 2
    """Philox-4x32."""


@takes_out_sharding("lax.rng_bit_generator")
def rng_bit_generator(
    key: ArrayLike,
    shape: Any,
    dtype: DTypeLike = np.uint32,
    algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """Return the key for the next call, and random bits.

    Args:
        key: four uint32, or two uint64 (for Philox also three).
        shape: of the bits.
        dtype: an unsigned integer dtype.
        algorithm: which generator.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        The next key, and the bits.

    Raises:
        TypeError: another key or dtype.

    >>> key = irax.numpy.arange(4, dtype="uint32")
    >>> irax.lax.rng_bit_generator(key, (2,))[1]
    Array([ 895509795, 3230209149], dtype=uint32)
    """
    what = "lax.rng_bit_generator"
    state, sizes = array_of(what, key), canonical_shape(what, shape)
    wanted = dtypes.requested_dtype(dtype, what)
    if not dtypes.issubdtype(wanted, np.unsignedinteger):
        raise TypeError(f"{what}: dtype must be an unsigned integer dtype, got {wanted}")
    if (state.dtype, state.shape) not in ((U32, (4,)), (U64, (2,)), (U64, (3,))):
        raise TypeError(f"{what}: key must be uint32[4] or uint64[2], got {state.aval}")
    return _generated(state, sizes, wanted, RandomAlgorithm(algorithm))


def _generated(
    state: Array, sizes: tuple[int, ...], dtype: np.dtype[Any], algorithm: RandomAlgorithm
) -> tuple[Array, Array]:
    op = RngBitGenerator(sizes, dtype, algorithm.name.removeprefix("RNG_"))
    if state.dtype == U64:
        after, bits = bind(op, state)
        return after, bits
    # The op has a key of 64-bit numbers.
    wide = bind(BitcastConvert((2,), U64), reshape(state, (2, 2)))
    after, bits = bind(op, wide)
    return reshape(bind(BitcastConvert((2, 2), U32), after), (4,)), bits


_calls = itertools.count()


def rng_uniform(a: ArrayLike, b: ArrayLike, shape: Any) -> Array:
    """Return uniformly distributed numbers from a up to, not including, b; others with each call.

    A compiled program draws the same ones each time it runs. `irax.random` has better.

    Args:
        a: a scalar, integer or float.
        b: a scalar of its dtype, larger.
        shape: of the numbers.

    Raises:
        TypeError: different dtypes, or neither integers nor floats.
        ValueError: not scalars.

    >>> irax.lax.rng_uniform(0.0, 1.0, (3,)).shape
    (3,)
    """
    what = "lax.rng_uniform"
    low, high = as_arrays([a, b], what)
    if low.ndim or high.ndim:
        raise ValueError(
            f"{what}: a and b must be scalars, got shapes {low.shape} and {high.shape}"
        )
    if low.dtype != high.dtype:
        raise TypeError(f"{what}: a and b must have one dtype, got {low.dtype} and {high.dtype}")
    check_dtype(what, low.dtype, (np.integer, np.floating))
    word = U64 if low.dtype.itemsize == 8 else U32
    key = as_array(np.array([next(_calls), 0, 0x1F83D9AB, 0x5BE0CD19], U32))
    bits = _generated(key, canonical_shape(what, shape), word, RandomAlgorithm.RNG_DEFAULT)[1]
    numbers = _integers if dtypes.issubdtype(low.dtype, np.integer) else _floats
    return numbers(bits, low, high)


def _integers(bits: Array, low: Array, high: Array) -> Array:
    """Return integers from low up to, not including, high."""
    span = bitcast_convert_type(elementwise.sub(high, low), f"uint{8 * low.dtype.itemsize}")
    steps = elementwise.rem(bits, broadcast_to(convert(span, bits.dtype), bits.shape))
    return elementwise.add(broadcast_to(low, bits.shape), convert(steps, low.dtype))


def _floats(bits: Array, low: Array, high: Array) -> Array:
    """Return floats from low up to, not including, high."""
    wide = np.dtype(np.float64 if bits.dtype == U64 else np.float32)
    digits = np.finfo(wide).nmant
    dropped = np.full(bits.shape, 8 * bits.dtype.itemsize - digits, bits.dtype)
    whole = convert(elementwise.shift_right_logical(bits, dropped), wide)
    unit = convert(whole * 2.0**-digits, low.dtype)
    below = broadcast_to(elementwise.nextafter(high, low), bits.shape)  # sums may round up to it
    return elementwise.min(low + unit * (high - low), below)
