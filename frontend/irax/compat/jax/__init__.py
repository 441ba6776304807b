"""The module `jax`: all of `irax`, and what JAX's layout has besides."""

import irax
from irax.compat.jax.version import __version__ as __version__
from irax.compat.jax.version import __version_info__ as __version_info__
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax)


def __dir__() -> list[str]:
    """The names of irax, and the versions of JAX."""
    return sorted({*dir(irax), "__version__", "__version_info__"})
