"""The module `jaxlib`: its version."""

from irax.compat.finder import told_version

__version__ = told_version()
