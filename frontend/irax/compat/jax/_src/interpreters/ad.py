"""jax._src.interpreters.ad: what diffrax's tests import of it."""

from irax.errors import UnexpectedTracerError as CustomVJPException

__all__ = ["CustomVJPException"]
