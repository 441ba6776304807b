"""jax.version: the version of JAX that irax tells."""

from irax.compat.finder import told_version

__version__ = told_version()
__version_info__: tuple[int, ...] = tuple(int(part) for part in __version__.split("."))
