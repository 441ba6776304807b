"""jax.custom_derivatives: irax.custom_derivatives, and the primitives of its calls."""

from irax import custom_derivatives
from irax.compat.layers import names_of
from irax.extend.primitive import Primitive
from irax.jaxprs.primitives import in_module

globals().update(names_of(custom_derivatives))

custom_jvp_call_p: Primitive = in_module("custom_jvp_call")
custom_jvp_call_jaxpr_p: Primitive = custom_jvp_call_p
custom_vjp_call_p: Primitive = in_module("custom_vjp_call")
custom_vjp_call_jaxpr_p: Primitive = custom_vjp_call_p
