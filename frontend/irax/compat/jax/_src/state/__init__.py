"""jax._src.state: mutable arrays."""
