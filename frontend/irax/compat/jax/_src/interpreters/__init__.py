"""jax._src.interpreters: what flax imports of it."""
