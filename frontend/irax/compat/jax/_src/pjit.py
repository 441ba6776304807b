"""jax._src.pjit: jit, and what divides arrays."""

from irax.compat.jax._src.sharding_impls import UNSPECIFIED as UNSPECIFIED
from irax.compat.jax._src.sharding_impls import UnspecifiedValue as UnspecifiedValue
from irax.execution.jitted import PjitFunction as JitWrapped
from irax.execution.jitted import PjitFunction as PjitFunction
from irax.experimental.pjit import pjit as pjit
from irax.extend.core.primitives import jit_p as jit_p
from irax.lax import with_sharding_constraint as with_sharding_constraint
from irax.sharding import auto_axes as auto_axes
from irax.sharding import explicit_axes as explicit_axes
from irax.sharding import reshard as reshard

__all__ = ["JitWrapped"]
