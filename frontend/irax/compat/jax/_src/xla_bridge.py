"""jax._src.xla_bridge: platforms, which chex looks at before it asks for several processors."""

from irax.extend.backend import get_backend as get_backend
from irax_runtime.device import DeviceClient

_backends: dict[str, DeviceClient] = {}
"""The platforms that cannot be configured any more: none is listed."""
