"""The base class of sparse arrays, and what all their forms share."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.transforms.vmap import vmap


class SparseEfficiencyError(ValueError):
    """An operation would make a sparse array much larger."""


class SparseEfficiencyWarning(UserWarning):
    """An operation makes a sparse array much larger."""


class JAXSparse(ABC):
    """A sparse array: values, and where they stand. It is a pytree, so programs take and return it.
    Operators are attached in `methods.py`.
    """

    __array_ufunc__ = None  # NumPy's operators leave `ndarray @ sparse` to this class
    __hash__: Any = None  # pyright: ignore[reportIncompatibleMethodOverride]

    data: Any
    """The values."""
    shape: tuple[int, ...]
    """The length of each dimension."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, zeros included."""
        return prod(self.shape)

    @property
    def aval(self) -> ShapedArray:
        """The type of the dense array."""
        return ShapedArray(self.shape, self.dtype)

    @property
    @abstractmethod
    def nse(self) -> int:
        """The number of values that are stored, for each element of a batch."""

    @abstractmethod
    def todense(self) -> Array:
        """Return the array with its zeros."""

    def transpose(self, axes: Sequence[int] | None = None) -> Any:
        """Return it with its dimensions in another order."""
        raise NotImplementedError

    @property
    def T(self) -> Any:
        """The array with its dimensions in reverse order."""
        return self.transpose()

    def block_until_ready(self) -> Any:
        """Wait until the values have been computed; return the array."""
        self.data.block_until_ready()
        return self

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"len() of {self!r}, which has no dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype}{list(self.shape)}, nse={self.nse})"


def placed(x: Any) -> Any:
    """An array; in pytrees any object stands for one."""
    return as_array(x) if isinstance(x, np.ndarray | np.generic | list | int | float) else x


def over_batch(kernel: Callable[..., Any], dimensions: int) -> Callable[..., Any]:
    """Return a function of arrays that have `dimensions` of a batch before those of `kernel`'s."""
    for _ in range(dimensions):
        kernel = vmap(kernel)
    return kernel


def tell_inefficient(what: str, policy: str | None) -> None:
    """Raise an error, warn, or do nothing, as `policy` says: "error", "warn" or None."""
    if policy == "error":
        raise SparseEfficiencyError(f"{what}; on_inefficient=None makes it all the same")
    if policy == "warn":
        warnings.warn(what, SparseEfficiencyWarning, stacklevel=3)
    elif policy is not None:
        raise ValueError(f"on_inefficient: expected 'error', 'warn' or None, got {policy!r}")
