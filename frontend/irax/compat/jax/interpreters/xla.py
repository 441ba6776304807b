"""jax.interpreters.xla: what is left of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import irax
from irax.extend.rules import lowerings

canonicalize_dtype_handlers: dict[type, Any] = {np.ndarray: np.asarray}
"""Accepted: irax does not look at it."""


def apply_primitive(prim: Any, *args: Any, **params: Any) -> Any:
    """Return the results of a primitive's lowering, or else of its implementation, compiled."""
    function = lowerings.get(prim) or prim.impl
    return irax.jit(lambda *operands: function(*operands, **params))(*args)
