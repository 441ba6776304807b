"""jaxlib.utils: maps over sequences of one length."""

from irax.compat.jax._src.util import safe_map as safe_map
from irax.compat.jax._src.util import safe_zip as safe_zip
