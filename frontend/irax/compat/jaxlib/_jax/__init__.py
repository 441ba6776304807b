"""jaxlib._jax: classes of what functions return."""

from irax.core.array import Array as Array
from irax.core.array import ConcreteArray as ArrayImpl
from irax.errors import JaxRuntimeError as JaxRuntimeError
from irax.execution.jitted import PjitFunction as PjitFunction
from irax.sharding import NamedSharding as NamedSharding
from irax.sharding import Sharding as Sharding
from irax.sharding import SingleDeviceSharding as SingleDeviceSharding
from irax.tree_util import PyTreeDef as PyTreeDef
from irax_runtime.device import Device as Device
from irax_runtime.device import DeviceClient as Client

__all__ = [
    "Array",
    "ArrayImpl",
    "Client",
    "Device",
    "JaxRuntimeError",
    "NamedSharding",
    "PjitFunction",
    "PyTreeDef",
    "Sharding",
    "SingleDeviceSharding",
]
