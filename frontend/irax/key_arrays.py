"""Arrays of typed random keys: the elements are keys, not numbers.

A `KeyArray` wraps the words of its keys, uint32 with a last dimension of 2. What moves elements
without computing with them (reshaping, indexing, joining, choosing) moves keys too: both words of a
key become one number of 64 bits for that long. All else refuses them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import optree

from irax.array import Array, ConcreteArray
from irax.aval import ShapedArray
from irax.dtypes import KEYS, float0
from irax.tree_registry import ARRAYS, Unseen
from irax_compiler.ops import comparison, conversion, dynamic, gather, scatter, shape
from irax_compiler.ops.core import Op

_U32, _U64 = np.dtype(np.uint32), np.dtype(np.uint64)


class KeyArray(Array):
    """An array of typed keys: `irax.random.key(0)`. Its shape does not count the words of a key."""

    __slots__ = ("data", "used_by")
    __hash__: Any = None

    def __init__(self, data: Any) -> None:
        self.data = data
        self.used_by: str | None = None
        """What drew from it, where the option `debug_key_reuse` is on."""

    @property
    def aval(self) -> ShapedArray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Its shape and dtype."""
        return ShapedArray(tuple(self.data.shape[:-1]), KEYS)

    def with_weak_type(self, weak_type: bool) -> KeyArray:
        """The same keys: their dtype is never weak."""
        return self

    @property
    def nbytes(self) -> int:
        """How many bytes the words take."""
        return self.data.nbytes

    @property
    def committed(self) -> bool:
        """Whether the keys were put on a device."""
        return getattr(self.data, "committed", False)

    @property
    def device(self) -> Any:
        """The device that the words are on."""
        return self.data.device

    def devices(self) -> Any:
        """The devices that the words are on."""
        return self.data.devices()

    def to_device(self, device: Any, *, stream: None = None) -> KeyArray:
        """The same keys on another device."""
        return KeyArray(self.data.to_device(device, stream=stream))

    def copy(self) -> KeyArray:
        """The same keys in memory of their own."""
        return KeyArray(self.data.copy())

    def __copy__(self) -> KeyArray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> KeyArray:
        return self.copy()

    def __reduce__(self) -> Any:
        return KeyArray, (self.data,)

    def block_until_ready(self) -> KeyArray:
        """The keys, once they are computed."""
        self.data.block_until_ready()
        return self

    def copy_to_host_async(self) -> None:
        """Nothing is left to be done: see the method of arrays of numbers."""

    def __getitem__(self, index: Any) -> KeyArray:
        if isinstance(index, tuple) and any(part is Ellipsis for part in index):
            return KeyArray(self.data[(*index, slice(None))])
        return KeyArray(self.data[index])

    def concrete(self, why: str, error: type[Exception]) -> NoReturn:
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


def _put_together(_: None, children: Sequence[Any]) -> Any:
    (data,) = children
    # Keys have no tangents: that of their words stands for theirs.
    return data[..., 0] if getattr(data, "dtype", None) == float0 else KeyArray(data)


_register: Any = optree.register_pytree_node
_register(
    KeyArray,
    lambda keys: ((keys.data,), None),
    _put_together,
    path_entry_type=Unseen,
    namespace=ARRAYS,
)

_MOVES = (
    *(shape.BroadcastInDim, shape.Reshape, shape.Transpose, shape.Reverse, shape.Slice),
    *(shape.Concatenate, comparison.Select, gather.Gather, scatter.Scatter),
    *(dynamic.DynamicSlice, dynamic.DynamicUpdateSlice),
)


def bind_keys(bind: Callable[..., Any], op: Op, operands: Sequence[Array]) -> Any:
    """Applies an op to operands that are keys, some of them.

    Raises:
        TypeError: it computes with elements.
    """
    compares = op in (comparison.equal, comparison.not_equal)
    if not (compares or isinstance(op, _MOVES)) or getattr(op, "combiner", "set") != "set":
        raise TypeError(f"{op.name}: {_NO_NUMBERS}")
    result = bind(op, *(_number(bind, x) if isinstance(x, KeyArray) else x for x in operands))
    return result if compares else KeyArray(_words(bind, result))


def _number(bind: Callable[..., Any], keys: KeyArray) -> Array:
    """Each key as one number."""
    return bind(conversion.BitcastConvert(keys.shape, _U64), keys.data)


def _words(bind: Callable[..., Any], numbers: Array) -> Array:
    return bind(conversion.BitcastConvert((*numbers.shape, 2), _U32), numbers)
