"""The module `jax`: all of `irax`, and what JAX's layout has besides."""

import irax
from irax.compat.finder import JAX_VERSION
from irax.compat.layers import GetAttr, in_front_of

__version__ = JAX_VERSION
__version_info__: tuple[int, ...] = tuple(int(part) for part in JAX_VERSION.split("."))
__getattr__: GetAttr = in_front_of(__name__, irax)


def __dir__() -> list[str]:
    """The names of irax, and the versions of JAX."""
    return sorted({*dir(irax), "__version__", "__version_info__"})
