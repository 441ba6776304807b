"""jax.extend.mlir: operations of MLIR, for lowerings of primitives."""

from irax.compat.jax.extend.mlir import dialects as dialects
