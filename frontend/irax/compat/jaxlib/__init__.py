"""The module `jaxlib`: its version."""

from irax.compat.finder import JAX_VERSION

__version__ = JAX_VERSION
