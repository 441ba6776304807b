"""jax.experimental.array_serialization: files of arrays, which orbax writes by itself."""
