"""The module `jaxlib`: its version, and its modules."""

from irax.compat.finder import told_version
from irax.compat.layers import GetAttr, modules_of

__version__ = told_version()
__getattr__: GetAttr = modules_of(__name__)
