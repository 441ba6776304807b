"""Arrays of typed random keys: the elements are keys, not numbers.

A `KeyArray` wraps the words of its keys, uint32 with a last dimension of as many as the generator's
keys have. What moves elements without computing with them (reshaping, indexing, joining, choosing)
moves keys too: each two words become one number of 64 bits for that long. All else refuses them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

import numpy as np
import optree

from irax.core.array import Array, ConcreteArray
from irax.core.avals import ShapedArray
from irax.core.shardings.shardings import of_rows
from irax.core.trees.registry import ARRAYS, Unseen
from irax.dtypes import KeyType, float0
from irax_compiler.ops import bitcast, bitwise, comparison, shape, slicing
from irax_compiler.ops.core import Op
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter

_U32, _U64 = np.dtype(np.uint32), np.dtype(np.uint64)


class KeyArray(Array):
    """An array of typed keys: `irax.random.key(0)`. Its shape does not count the words of a key."""

    __slots__ = ("data", "key_type", "used_by")
    __hash__: Any = None

    def __init__(self, data: Any, key_type: KeyType) -> None:
        self.data: Any = data
        self.key_type: KeyType = key_type
        self.used_by: str | None = None
        """The function that used the key, where the option `debug_key_reuse` is on; None before."""

    @property
    def aval(self) -> ShapedArray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Its shape and dtype, and how it is divided, as far as the words' type tells."""
        shape, dtype = tuple(self.data.shape[:-1]), cast("Any", self.key_type)
        words = self.data.aval if isinstance(self.data, Array) else ShapedArray(shape, dtype)
        sharding = words.told and of_rows(words.told, len(shape))
        return ShapedArray(shape, dtype, sharding=sharding, vma=words.vma)

    def with_weak_type(self, weak_type: bool) -> KeyArray:
        """Return the keys themselves: their dtype is never weak."""
        return self

    def with_data(self, data: Any) -> KeyArray:
        """Return keys of the same generator that have these words."""
        return KeyArray(data, self.key_type)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the keys' words."""
        return self.data.nbytes

    @property
    def committed(self) -> bool:
        """True if the keys were put on a device."""
        return getattr(self.data, "committed", False)

    @property
    def device(self) -> Any:
        """The device that the words are on."""
        return self.data.device

    def devices(self) -> Any:
        """The devices that the words are on."""
        return self.data.devices()

    def to_device(self, device: Any, *, stream: None = None) -> KeyArray:
        """Return the keys on another device."""
        return self.with_data(self.data.to_device(device, stream=stream))

    def copy(self) -> KeyArray:
        """Return a copy of the keys, in memory of its own."""
        return self.with_data(self.data.copy())

    def __copy__(self) -> KeyArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> KeyArray:
        return self.copy()

    def block_until_ready(self) -> KeyArray:
        """The keys, once they are computed."""
        self.data.block_until_ready()
        return self

    def copy_to_host_async(self) -> None:
        """Nothing is left to be done: see the method of arrays of numbers."""

    def __getitem__(self, index: Any) -> KeyArray:
        parts = index if isinstance(index, tuple) else (index,)
        if sum(part is not None and part is not Ellipsis for part in parts) > self.ndim:
            raise IndexError(f"{index!r} has more indices than there are in {self.aval}")
        if isinstance(index, tuple) and any(part is Ellipsis for part in index):
            return self.with_data(self.data[(*index, slice(None))])
        return self.with_data(self.data[index])

    def concrete(self, why: str, error: type[Exception], **use: bool) -> NoReturn:
        """Raises TypeError: keys have no elements that Python or NumPy could use."""
        raise TypeError(f"{why}: {_NO_NUMBERS}")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(_NO_NUMBERS)

    def __repr__(self) -> str:
        if isinstance(self.data, ConcreteArray):
            return f"Array({self.shape}, dtype={self.dtype}) overlaying:\n{self.data}"
        return f"{self.aval} of {self.data}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


_NO_NUMBERS = "keys are no numbers: irax.random.key_data gives their words"


def _put_together(key_type: KeyType, children: Sequence[Any]) -> Any:
    (data,) = children
    # Keys have no tangents: that of their words stands for theirs.
    return data[..., 0] if getattr(data, "dtype", None) == float0 else KeyArray(data, key_type)


_register: Any = optree.register_pytree_node
_register(
    KeyArray,
    lambda keys: ((keys.data,), keys.key_type),
    _put_together,
    path_entry_type=Unseen,
    namespace=ARRAYS,
)

_MOVES = (
    *(shape.BroadcastInDim, shape.Reshape, shape.Transpose, slicing.Reverse, slicing.Slice),
    *(slicing.Concatenate, comparison.Select, gather_scatter.Gather, gather_scatter.Scatter),
    *(dynamic_slices.DynamicSlice, dynamic_slices.DynamicUpdateSlice),
)


def bind_keys(bind: Callable[..., Any], op: Op, operands: Sequence[Array]) -> Any:
    """Applies an op to operands that are keys, some of them.

    Raises:
        TypeError: it computes with elements.
    """
    compares = op in (comparison.equal, comparison.not_equal)
    if not (compares or isinstance(op, _MOVES)) or getattr(op, "combiner", "set") != "set":
        raise TypeError(f"{op.name}: {_NO_NUMBERS}")
    keys = [x for x in operands if isinstance(x, KeyArray)]
    if any(x.key_type != keys[0].key_type for x in keys):
        names = ", ".join(sorted({x.key_type.name for x in keys}))
        raise TypeError(f"{op.name}: expected keys of one generator, got {names}")
    parts = zip(*(_numbers(bind, x, keys[0].key_type) for x in operands), strict=True)
    results = [bind(op, *part) for part in parts]
    if compares:
        together = bitwise.and_ if op is comparison.equal else bitwise.or_
        return functools.reduce(functools.partial(bind, together), results)
    return keys[0].with_data(_words(bind, results))


def _numbers(bind: Callable[..., Any], x: Array, key_type: KeyType) -> list[Array]:
    """Return keys as numbers of up to two words; an array of numbers is repeated as often."""
    count = max(key_type.words // 2, 1)
    if not isinstance(x, KeyArray):
        return [x] * count
    if key_type.words == 1:
        return [bind(shape.Reshape(x.shape), x.data)]
    pairs = bind(shape.Reshape((*x.shape, count, 2)), x.data) if count > 1 else x.data
    numbers = bind(bitcast.BitcastConvert(pairs.shape[:-1], _U64), pairs)
    return [_along_last(bind, numbers, i) for i in range(count)] if count > 1 else [numbers]


def _along_last(bind: Callable[..., Any], x: Array, i: int) -> Array:
    starts, limits = (*[0] * (x.ndim - 1), i), (*x.shape[:-1], i + 1)
    part = bind(slicing.Slice(starts, limits, (1,) * x.ndim), x)
    return bind(shape.Reshape(x.shape[:-1]), part)


def _words(bind: Callable[..., Any], numbers: Sequence[Array]) -> Array:
    """Return the words of keys from the numbers that they were moved as."""
    sizes = numbers[0].shape
    if numbers[0].dtype == _U32:
        return bind(shape.Reshape((*sizes, 1)), numbers[0])
    words = [bind(bitcast.BitcastConvert((*sizes, 2), _U32), x) for x in numbers]
    return bind(slicing.Concatenate(len(sizes)), *words) if len(words) > 1 else words[0]
