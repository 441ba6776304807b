"""jax._src.xla_bridge: platforms, which chex looks at before it asks for several processors."""

from irax.extend.backend import get_backend as get_backend
from irax_runtime import platforms
from irax_runtime.device import DeviceClient


def __getattr__(name: str) -> dict[str, DeviceClient]:
    """The platforms that cannot be configured any more, as `_backends`."""
    if name != "_backends":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return {"cpu": get_backend()} if platforms.are_cpu_devices_fixed() else {}
