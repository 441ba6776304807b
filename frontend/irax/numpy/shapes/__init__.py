"""Functions of `irax.numpy` that change shapes and move elements."""
