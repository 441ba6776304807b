"""jax._src.interpreters: what libraries import of it."""
