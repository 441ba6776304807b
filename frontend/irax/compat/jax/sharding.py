"""jax.sharding: irax.sharding, and classes that libraries ask for by name."""

from irax import sharding
from irax.compat.layers import names_of

globals().update(names_of(sharding))


class PmapSharding(sharding.Sharding):
    """The sharding of results of pmap: of no array of irax's."""


class PositionalSharding(sharding.Sharding):
    """A sharding by position, which JAX no longer has: of no array."""


class GSPMDSharding(sharding.Sharding):
    """A sharding of XLA's: of no array of irax's."""
