"""Kinds of dtypes, as the array API standard has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.typing import DTypeLike

_KINDS: dict[str, tuple[Any, ...]] = {
    "bool": (np.bool,),
    "signed integer": (np.signedinteger,),
    "unsigned integer": (np.unsignedinteger,),
    "integral": (np.integer,),
    "real floating": (np.floating,),
    "complex floating": (np.complexfloating,),
    "numeric": (np.number, np.floating, np.integer),
}


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Return True if a dtype is of a kind of the array API standard.

    Args:
        dtype: a dtype, or what `numpy.dtype` takes.
        kind: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex
            floating" or "numeric"; a dtype; or a tuple of these, of which one is to fit.

    Raises:
        ValueError: there is no such kind.
        TypeError: there is no such dtype.

    >>> irax.numpy.isdtype(irax.numpy.bfloat16, "real floating")
    True
    """
    if isinstance(kind, tuple):
        fits = [isdtype(dtype, one) for one in kind]  # all are looked at: each must be a kind
        return any(fits)
    if isinstance(kind, str) and kind in _KINDS:
        return any(dtypes.issubdtype(dtype, abstract) for abstract in _KINDS[kind])
    try:
        return bool(np.dtype(dtype) == np.dtype(kind))
    except TypeError:
        if not isinstance(kind, str):
            raise
        raise ValueError(
            f"isdtype: there is no kind {kind!r}; expected one of "
            f"{', '.join(map(repr, _KINDS))}, a dtype, or a tuple of these"
        ) from None
