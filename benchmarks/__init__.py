"""irax beside JAX, in one run: `python -m benchmarks`."""
