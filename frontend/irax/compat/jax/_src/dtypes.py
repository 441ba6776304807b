"""jax._src.dtypes: another name of jax.dtypes, and classes that libraries derive from."""

from __future__ import annotations

from typing import Any, TypeAlias

from irax.core.dtype_lattice import TypePromotionError as TypePromotionError
from irax.dtypes import *  # noqa: F403
from irax.dtypes import extended as extended

DType: TypeAlias = Any


class ExtendedDType:
    """The base of dtypes whose elements are not numbers."""
