"""jax._src.ad_util: primitives for derivatives."""

from irax.extend.primitive import Primitive
from irax.extend.zeros import Zero as Zero
from irax.extend.zeros import instantiate_zeros as instantiate_zeros

stop_gradient_p: Primitive = Primitive("stop_gradient")
"""No equation has it: `irax.lax.stop_gradient` is a function."""
add_any_p: Primitive = Primitive("add_any")
"""No equation has it: cotangents are added by `add`."""
