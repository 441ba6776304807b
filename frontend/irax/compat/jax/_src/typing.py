"""jax._src.typing: types for annotations, as `irax.typing`, and those of arguments' attributes."""

from typing import Any, Protocol

import numpy as np


class SupportsDType(Protocol):
    """An object that has a dtype."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype."""
        ...
