"""jax._src.lib.mlir: operations of MLIR."""

from irax.compat.layers import GetAttr, modules_of

__getattr__: GetAttr = modules_of(__name__)
