"""The version of jaxlib."""

from irax.compat.finder import JAX_VERSION

__version__ = JAX_VERSION
