"""jax._src.earray: arrays of extended dtypes, which are those of typed keys in irax."""

from irax.core.key_arrays import KeyArray as EArray

__all__ = ["EArray"]
