"""Meshes of devices, and the division of arrays among them."""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.avals import ManualAxisType as ManualAxisType
from irax.core.meshes import AbstractDevice as AbstractDevice
from irax.core.meshes import AbstractMesh as AbstractMesh
from irax.core.meshes import AxisType as AxisType
from irax.core.meshes import Mesh as Mesh
from irax.core.meshes import get_abstract_mesh as get_abstract_mesh
from irax.core.meshes import use_abstract_mesh as use_abstract_mesh
from irax.core.partition_specs import Infer as Infer
from irax.core.partition_specs import PartitionSpec as PartitionSpec
from irax.core.shardings import NamedSharding as NamedSharding
from irax.core.shardings import Sharding as Sharding
from irax.core.shardings import SingleDeviceSharding as SingleDeviceSharding
from irax.execution.axis_types import auto_axes as auto_axes
from irax.execution.axis_types import explicit_axes as explicit_axes
from irax.execution.constraints import reshard as reshard
from irax.execution.make_meshes import get_mesh as get_mesh
from irax.execution.make_meshes import set_mesh as set_mesh

make_single_device_sharding = SingleDeviceSharding

__getattr__: _GetAttr = _refuse_names(__name__)
