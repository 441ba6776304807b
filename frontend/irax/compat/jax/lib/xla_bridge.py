"""jax.lib.xla_bridge: platforms, as older programs ask for them."""

from irax.execution.backend import default_backend
from irax.extend.backend import get_backend as get_backend


def get_platform() -> str:
    """Return the platform that programs run on."""
    return default_backend()
