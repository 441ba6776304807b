"""Types for annotations of arguments: `ArrayLike`, `DTypeLike`, shapes and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from irax.core.array import Array

ArrayLike: TypeAlias = Array | np.ndarray | np.bool | np.number | bool | int | float | complex
"""An array of irax or NumPy, or a number; not a list. `isinstance` takes it."""

DTypeLike: TypeAlias = Any
"""A dtype, its name, a scalar type such as `irax.numpy.float32`, or bool, int, float, complex."""

Shape: TypeAlias = int | np.integer[Any] | Sequence[int]
"""The size of each dimension; an int stands for one dimension."""

Axis: TypeAlias = int | Sequence[int] | None
"""One dimension or several, counted from the end where negative; None for all."""
