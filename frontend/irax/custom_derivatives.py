"""Derivative rules of the user's own, and what goes with them."""

from irax.closures import closure_convert as closure_convert
from irax.forward_rules import custom_jvp as custom_jvp
from irax.reverse_rules import custom_gradient as custom_gradient
from irax.reverse_rules import custom_vjp as custom_vjp
from irax.symbolic_zeros import CustomVJPPrimal as CustomVJPPrimal
from irax.symbolic_zeros import SymbolicZero as SymbolicZero
from irax.symbolic_zeros import custom_vjp_primal_tree_values as custom_vjp_primal_tree_values
from irax.symbolic_zeros import zero_from_primal as zero_from_primal
