"""The transformations of functions: derivatives, vmap, and functions with rules of their own."""
