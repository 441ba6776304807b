"""Random bits: rng_bit_generator, with the bits of XLA's generators.

Both are functions of a key and a counter (J. Salmon and others, Parallel random numbers: as easy as
1, 2, 3; 2011). The state holds them: 64 bits of key, then 64 or 128 of the counter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import shape as shapes
from irax_compiler.ops import slicing
from irax_compiler.ops.attributes import attribute, from_operation, keyword
from irax_compiler.ops.core import Axis, Memory, Op, Tangent, UnsupportedOp, Widened
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation

U32, U64 = np.dtype(np.uint32), np.dtype(np.uint64)


@register_class
@dataclass(frozen=True)
class RngBitGenerator(Op):
    """The state after, and an array of random bits."""

    name = "stablehlo.rng_bit_generator"
    memory = Memory.FRESH
    widened = Widened.OTHER
    num_results: ClassVar[int] = 2
    shape: tuple[int, ...] = from_operation(lambda o: mlir.shape_of(o.results[1]))
    dtype: np.dtype = from_operation(lambda o: mlir.dtype_of_type(o.results[1].type))
    rng_algorithm: str = attribute(keyword("rng_algorithm"))
    """THREE_FRY, PHILOX or DEFAULT, which is PHILOX, as on XLA's CPU and IREE."""

    def result_types(self, operands: Sequence[Value]):
        return [operands[0].type, mlir.tensor_type(self.shape, self.dtype)]

    def evaluate(self, call: Evaluation, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if state.dtype != U64 or state.shape not in ((2,), (3,)):
            raise UnsupportedOp(
                f"{self.name}: the state is {state.dtype}[{state.size}]; expected uint64[2], or "
                "uint64[3] for PHILOX"
            )
        generate = _three_fry_bits if self.rng_algorithm == "THREE_FRY" else _philox_bits
        wide = U64 if self.dtype.itemsize == 8 else U32
        with np.errstate(over="ignore"):
            bits, used = generate(state, self.shape, wide)
        after = state.copy()
        after[1] += np.uint64(used)
        if state.size == 3:  # a counter of 128 bits
            after[2] += after[1] < state[1]
        unsigned = bits.astype(f"u{self.dtype.itemsize}")
        return after, unsigned.view(self.dtype)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [None, None]

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        """Each lane has a state, and a generator, of its own."""
        states = shapes.move_axis(operands[0], axes[0], 0)
        width = shape_of(states)[1]
        lanes = [
            self.build([shapes.reshape(slicing.slice_in_dim(states, i, i + 1, 0), (width,))])
            for i in range(transform.size)
        ]
        stacked = (
            [shapes.reshape(x, (1, *shape_of(x))) for x in column]
            for column in zip(*lanes, strict=True)
        )
        return [slicing.Concatenate(0)(*column) for column in stacked], [0, 0]


def _low(x: Any) -> Any:
    return x.astype(U32)


def _high(x: Any) -> Any:
    return (x >> np.uint64(32)).astype(U32)


def _joined(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return low.astype(U64) | (high.astype(U64) << np.uint64(32))


# ---- Threefry-2x32 -------------------------------------------------------------------------------

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def three_fry(key: Sequence[Any], x: Sequence[Any]) -> list[Any]:
    """The two words that the cipher makes of two, NumPy's arrays or `Number`s."""
    keys = [*key, key[0] ^ key[1] ^ np.uint32(0x1BD11BDA)]
    x0, x1 = x[0] + keys[0], x[1] + keys[1]
    for block in range(5):
        for r in _ROTATIONS[block % 2]:
            x0 = x0 + x1
            x1 = ((x1 << np.uint32(r)) | (x1 >> np.uint32(32 - r))) ^ x0
        x0 = x0 + keys[(block + 1) % 3]
        x1 = x1 + keys[(block + 2) % 3] + np.uint32(block + 1)
    return [x0, x1]


def _three_fry_bits(
    state: np.ndarray, shape: tuple[int, ...], dtype: np.dtype
) -> tuple[np.ndarray, int]:
    if state.size != 2:
        raise UnsupportedOp("stablehlo.rng_bit_generator: THREE_FRY has a state of uint64[2]")
    key = [_low(state[0]), _high(state[0])]
    split = None if dtype == U64 or not shape else _split_dimension(shape)
    counted = list(shape)
    if split is not None:
        counted[split] = -(-shape[split] // 2)
    counters = state[1] + np.arange(prod(counted), dtype=U64).reshape(counted)
    first, second = three_fry(key, [_low(counters), _high(counters)])
    if dtype == U64:
        return _joined(first, second), counters.size
    if split is None:
        return first, counters.size
    # Both words of a counter lie next to each other along one of the dimensions.
    pairs = np.stack([first, second], split + 1)
    counted[split] *= 2
    return np.take(pairs.reshape(counted), np.arange(shape[split]), split), counters.size


def _split_dimension(shape: tuple[int, ...]) -> int:
    """The first dimension of even size; if there is none, the first of the largest."""
    even = (d for d, n in enumerate(shape) if n % 2 == 0)
    return next(even, max(range(len(shape)), key=shape.__getitem__))


# ---- Philox-4x32 ---------------------------------------------------------------------------------


def philox(
    key: Sequence[Any], x: Sequence[Any], product: Callable[[Any, int], tuple[Any, Any]]
) -> list[Any]:
    """The four words that the cipher makes of four. `product` returns the upper and the lower word
    of a product with a number.
    """
    for _ in range(10):
        (high0, low0), (high1, low1) = product(x[0], 0xD2511F53), product(x[2], 0xCD9E8D57)
        x = [high1 ^ x[1] ^ key[0], low1, high0 ^ x[3] ^ key[1], low0]
        key = [key[0] + np.uint32(0x9E3779B9), key[1] + np.uint32(0xBB67AE85)]
    return list(x)


def _product(x: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    wide = x.astype(U64) * np.uint64(number)
    return _high(wide), _low(wide)


def _philox_bits(
    state: np.ndarray, shape: tuple[int, ...], dtype: np.dtype
) -> tuple[np.ndarray, int]:
    count, in_one = prod(shape), 16 // dtype.itemsize
    used = -(-count // in_one)
    counters = state[1] + np.arange(used, dtype=U64)
    key = [_low(state[0]), _high(state[0])]
    # A counter of 64 bits goes on with the key.
    further = state[2 if state.size == 3 else 0] + (counters < state[1]).astype(U64)
    words = [_low(counters), _high(counters), _low(further), _high(further)]
    found = np.stack(philox(key, words, _product), 1).reshape(-1)
    if dtype == U64:
        found = _joined(found[::2], found[1::2])
    return found[:count].reshape(shape), used
