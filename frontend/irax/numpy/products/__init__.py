"""Products of arrays summed over axes, and convolutions."""
