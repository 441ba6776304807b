"""jax._src.indexing: parts of dimensions."""

from irax import ds as dslice

__all__ = ["dslice"]
