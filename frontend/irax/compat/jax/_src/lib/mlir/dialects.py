"""jax._src.lib.mlir.dialects: another name of jax.extend.mlir.dialects."""

from irax.compat.jax.extend.mlir.dialects import chlo as chlo
from irax.compat.jax.extend.mlir.dialects import hlo as hlo
from irax.compat.jax.extend.mlir.dialects import stablehlo as stablehlo
