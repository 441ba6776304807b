"""Meshes of devices, and the division of arrays among them."""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.avals import ManualAxisType as ManualAxisType
from irax.core.shardings.forbidden_axes import no_collectives as no_collectives
from irax.core.shardings.meshes import AbstractDevice as AbstractDevice
from irax.core.shardings.meshes import AbstractMesh as AbstractMesh
from irax.core.shardings.meshes import AxisType as AxisType
from irax.core.shardings.meshes import Mesh as Mesh
from irax.core.shardings.meshes import get_abstract_mesh as get_abstract_mesh
from irax.core.shardings.meshes import use_abstract_mesh as use_abstract_mesh
from irax.core.shardings.partition_specs import Infer as Infer
from irax.core.shardings.partition_specs import PartitionSpec as PartitionSpec
from irax.core.shardings.partition_specs import UnreducedKind as UnreducedKind
from irax.core.shardings.shardings import NamedSharding as NamedSharding
from irax.core.shardings.shardings import Sharding as Sharding
from irax.core.shardings.shardings import SingleDeviceSharding as SingleDeviceSharding
from irax.execution.shardings.axis_types import auto_axes as auto_axes
from irax.execution.shardings.axis_types import explicit_axes as explicit_axes
from irax.execution.shardings.constraints import reshard as reshard
from irax.execution.shardings.make_meshes import get_mesh as get_mesh
from irax.execution.shardings.make_meshes import set_mesh as set_mesh

make_single_device_sharding = SingleDeviceSharding

__getattr__: _GetAttr = _refuse_names(__name__)
