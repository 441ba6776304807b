"""jax.experimental.sparse: irax.experimental.sparse, and modules of JAX's layout."""

import irax.experimental.sparse
from irax.compat.layers import GetAttr, in_front_of

__getattr__: GetAttr = in_front_of(__name__, irax.experimental.sparse)
