"""jax.example_libraries: optimizers and layers as pairs and triples of functions."""
