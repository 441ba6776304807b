"""jax.experimental: irax.experimental, and what JAX's layout has besides."""

from contextlib import AbstractContextManager
from typing import Any

import irax.experimental
from irax.compat.layers import GetAttr, in_front_of
from irax.config import enable_x64 as enable_x64

__getattr__: GetAttr = in_front_of(__name__, irax.experimental)


def disable_x64() -> AbstractContextManager[Any]:
    """Return a context in which 64-bit types become 32-bit types."""
    return enable_x64(False)


def cur_qdd(x: Any) -> Any:
    """Return what is known of a value that changes, such as the arrays that it holds."""
    return x.cur_qdd()
