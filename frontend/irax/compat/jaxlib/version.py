"""The version of jaxlib."""

from irax.compat.finder import told_version

__version__ = told_version()
