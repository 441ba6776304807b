"""Derivative rules of the user's own, and what goes with them."""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.closures import closure_convert as closure_convert
from irax.transforms.custom_gradient import custom_gradient as custom_gradient
from irax.transforms.custom_jvp import custom_jvp as custom_jvp
from irax.transforms.custom_vjp import custom_vjp as custom_vjp
from irax.transforms.linear_call import linear_call as linear_call
from irax.transforms.symbolic_zeros import CustomVJPPrimal as CustomVJPPrimal
from irax.transforms.symbolic_zeros import SymbolicZero as SymbolicZero
from irax.transforms.symbolic_zeros import (
    custom_vjp_primal_tree_values as custom_vjp_primal_tree_values,
)
from irax.transforms.symbolic_zeros import zero_from_primal as zero_from_primal

__getattr__: _GetAttr = _refuse_names(__name__)
