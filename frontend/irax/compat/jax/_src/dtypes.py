"""jax._src.dtypes: another name of jax.dtypes, and classes that libraries derive from."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from irax.core.dtypes.lattice import TypePromotionError as TypePromotionError
from irax.dtypes import *  # noqa: F403
from irax.dtypes import canonicalize_dtype, issubdtype
from irax.dtypes import extended as extended

DType: TypeAlias = Any


class ExtendedDType:
    """The base of dtypes whose elements are not numbers."""


def supports_inf(dtype: Any) -> bool:
    """Return True for a dtype that has infinities."""
    found = canonicalize_dtype(dtype)
    return issubdtype(found, np.inexact) and bool(np.isinf(np.array(np.inf).astype(found)))


def to_complex_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of complex numbers that have parts of a dtype."""
    return np.promote_types(canonicalize_dtype(dtype), np.complex64)


def to_inexact_dtype(dtype: Any) -> np.dtype[Any]:
    """Return a floating dtype that holds numbers of a dtype."""
    dtype = canonicalize_dtype(dtype)
    return dtype if issubdtype(dtype, np.inexact) else np.promote_types(dtype, np.float32)
