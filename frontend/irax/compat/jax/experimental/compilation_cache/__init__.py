"""jax.experimental.compilation_cache: the folder of compiled programs."""

from irax.compat.jax.experimental.compilation_cache import compilation_cache as compilation_cache
