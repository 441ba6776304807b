"""jax._src.compiler: the function that compiles, which chex looks for to refuse platforms."""

from irax.execution.backend import compile as backend_compile_and_load

__all__ = ["backend_compile_and_load"]
