"""jax.extend.ifrt_programs: programs of another runtime, which irax has not."""

ifrt_programs: None = None
