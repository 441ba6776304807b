"""jax.lib.xla_extension: the classes of errors and devices."""

from irax.errors import JaxRuntimeError as XlaRuntimeError
from irax.tree_util import PyTreeDef
from irax_runtime.device import Device

__all__ = ["Device", "PyTreeDef", "XlaRuntimeError"]
