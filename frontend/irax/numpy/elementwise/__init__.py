"""Elementwise functions of `irax.numpy`, by family."""
