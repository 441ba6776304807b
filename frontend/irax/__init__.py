"""irax: NumPy's interface, traced to StableHLO, differentiated and batched by passes over it."""

from irax.array import Array as Array
from irax.autodiff import grad as grad
from irax.autodiff import hessian as hessian
from irax.autodiff import jacfwd as jacfwd
from irax.autodiff import jacobian as jacobian
from irax.autodiff import jacrev as jacrev
from irax.autodiff import jvp as jvp
from irax.autodiff import linearize as linearize
from irax.autodiff import value_and_grad as value_and_grad
from irax.autodiff import vjp as vjp
from irax.batching import vmap as vmap
