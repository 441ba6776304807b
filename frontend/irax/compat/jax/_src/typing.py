"""jax._src.typing: types for annotations, as `irax.typing`, and those of arguments' attributes."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

DType = np.dtype
Shape = Sequence[int]


class SupportsDType(Protocol):
    """An object that has a dtype."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype."""
        ...
