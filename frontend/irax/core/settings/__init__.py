"""The options of irax, and names of JAX's options and parameters."""
