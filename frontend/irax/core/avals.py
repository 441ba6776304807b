"""Abstract values: what is known of an array without its elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from irax import dtypes


@dataclass(frozen=True)
class ShapedArray:
    """The shape and dtype of an array, and whether its dtype gives way to other operands'.

    >>> ShapedArray((2, 3), np.dtype("float32"))
    float32[2,3]
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool = False

    def __post_init__(self) -> None:
        # looked up in every call of a function outside of traces, and of a jitted one
        object.__setattr__(self, "_hash", hash((self.shape, self.dtype, self.weak_type)))

    def __hash__(self) -> int:
        return self._hash  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        dimensions = ",".join(map(str, self.shape))
        return f"{self.dtype.name}[{dimensions}]" + (" (weak)" if self.weak_type else "")


aval_of_array: Callable[..., ShapedArray] = lru_cache(maxsize=4096)(ShapedArray)
"""Return the one `ShapedArray` of these fields: equal avals are the same object, fast
to compare."""


class ShapeDtypeStruct:
    """Stands for an array in `eval_shape`, `make_ir` and the like: a shape and a dtype.

    >>> ShapeDtypeStruct((8, 784), "float32").shape
    (8, 784)
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, *, weak_type: bool = False) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: expected a dtype, got None")
        self.shape: tuple[int, ...] = tuple(shape)
        self.dtype: np.dtype[Any] = dtypes.canonicalize_dtype(dtype)
        self.weak_type = weak_type

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """Return the struct of an array, or of any object with a shape and a dtype.

        >>> ShapeDtypeStruct.like(np.zeros(2, "float32"))
        ShapeDtypeStruct(shape=(2,), dtype=float32)
        """
        return cls(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False))

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def update(self, **changed: Any) -> ShapeDtypeStruct:
        """Return a copy with some of `shape`, `dtype` and `weak_type` changed.

        >>> ShapeDtypeStruct((8, 784), "float32").update(shape=(8,))
        ShapeDtypeStruct(shape=(8,), dtype=float32)
        """
        fields = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        return ShapeDtypeStruct(**fields | changed)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a ShapeDtypeStruct of shape ()")
        return self.shape[0]

    def __repr__(self) -> str:
        weak = ", weak_type=True" * self.weak_type
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and (
            (self.shape, self.dtype, self.weak_type) == (other.shape, other.dtype, other.weak_type)
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.weak_type))
