"""jax.interpreters: the tables of the rules of primitives."""

from irax.compat.jax.interpreters import ad as ad
from irax.compat.jax.interpreters import batching as batching
from irax.compat.jax.interpreters import mlir as mlir
from irax.compat.jax.interpreters import partial_eval as partial_eval
from irax.compat.jax.interpreters import pxla as pxla
from irax.compat.jax.interpreters import xla as xla
