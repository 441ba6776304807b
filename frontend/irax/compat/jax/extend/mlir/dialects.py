"""jax.extend.mlir.dialects: StableHLO's operations without parameters, applied to traced arrays."""

from irax.compat.jax._src.lib.mlir.dialects import chlo as chlo
from irax.compat.jax._src.lib.mlir.dialects import hlo as hlo
from irax.compat.jax._src.lib.mlir.dialects import stablehlo as stablehlo
