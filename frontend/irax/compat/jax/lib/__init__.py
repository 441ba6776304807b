"""jax.lib: what is left of it."""

from irax.compat.finder import told_version
from irax.compat.jax.lib import xla_bridge as xla_bridge
from irax.compat.jax.lib import xla_extension as xla_extension

__version__ = told_version()
