"""Shardings: the part of an array that each of several devices has."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from irax.core.shardings.meshes import (
    AbstractMesh,
    Mesh,
    current_mesh,
    get_abstract_mesh,
    is_addressable,
)
from irax.core.shardings.partition_specs import (
    PartitionSpec,
    UnreducedKind,
    axes_by_dimension,
    axes_of_entry,
)
from irax_runtime.device import MEMORY_KIND

Index = tuple[slice, ...]


class IndivisibleError(ValueError):
    """An array's dimension is not a multiple of the number of parts that it is divided into."""


class DuplicateSpecError(ValueError):
    """A spec divides two dimensions along one axis of a mesh."""


class NoMeshError(ValueError, RuntimeError):
    """A spec is given where the context has no mesh that it could be for. JAX raises the one or the
    other, by the function.
    """


class Sharding(ABC):
    """The division of arrays among devices."""

    @property
    @abstractmethod
    def devices(self) -> tuple[Any, ...]:
        """The devices in order."""

    @abstractmethod
    def parts(self, rank: int) -> list[int]:
        """Return the number of parts that each dimension of an array of a rank is divided into."""

    @abstractmethod
    def number_of_part(self, device: int, rank: int) -> list[int]:
        """Return for each dimension the number of the part that a device has."""

    memory_kind: str = MEMORY_KIND
    """The memory of the devices that arrays are in."""

    @property
    def device_set(self) -> set[Any]:
        """The devices."""
        return set(self.devices)

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self.devices)

    @property
    def addressable_devices(self) -> set[Any]:
        """The devices that belong to this process."""
        return set(self._addressable_device_assignment)

    @property
    def _device_assignment(self) -> tuple[Any, ...]:
        """The devices in order, under the name that libraries for JAX use."""
        return self.devices

    @property
    def _addressable_device_assignment(self) -> tuple[Any, ...]:
        """The devices in order that belong to this process."""
        return tuple(device for device in self.devices if is_addressable(device))

    @property
    def is_fully_addressable(self) -> bool:
        """True if all devices belong to this process."""
        return len(self.addressable_devices) == len(self.device_set)

    @property
    def has_addressable_devices(self) -> bool:
        """True if some of the devices belong to this process."""
        return bool(self._addressable_device_assignment)

    @property
    def has_devices(self) -> bool:
        """False if the mesh is abstract."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """True if each device has the whole array."""
        return True

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Check that arrays of a shape have as many dimensions as the sharding names.

        Raises:
            ValueError: they have fewer.
        """
        self.parts(len(aval_shape))

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the part that each device has of an array.

        Raises:
            IndivisibleError: a dimension is not a multiple of its number of parts.
        """
        self.check_compatible_aval(global_shape)  # equal shardings may be for other ranks
        return _shard_shape(self, tuple(global_shape))

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """Return the slices of an array that each device has.

        Raises:
            IndivisibleError: a dimension is not a multiple of its number of parts.
        """
        rank = len(global_shape)
        lengths, parts = self.shard_shape(global_shape), self.parts(rank)
        found = {}
        for place, device in enumerate(self.devices):
            numbers = zip(self.number_of_part(place, rank), lengths, parts, strict=True)
            found[device] = tuple(
                slice(None) if count == 1 else slice(n * length, (n + 1) * length)
                for n, length, count in numbers
            )
        return found

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """Return the slices of an array that each device of this process has."""
        own = self.addressable_devices
        return {d: i for d, i in self.devices_indices_map(global_shape).items() if d in own}

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Return True if the same devices have the same parts of arrays of `ndim` dimensions. Those
        of an abstract mesh are the same if the shardings are equal.
        """
        if not (self.has_devices and other.has_devices):
            return self == other
        is_same_place = self.devices == other.devices and self.memory_kind == other.memory_kind
        is_same_sum = self._unreduced == other._unreduced
        return (is_same_place and is_same_sum) and all(
            self.number_of_part(n, ndim) == other.number_of_part(n, ndim)
            and self.parts(ndim) == other.parts(ndim)
            for n in range(len(self.devices))
        )

    @property
    def _unreduced(self) -> frozenset[Any]:
        """The axes along which sums are still to be taken."""
        return frozenset()

    @abstractmethod
    def with_memory_kind(self, kind: str) -> Sharding:
        """Return the sharding in another memory of the devices.

        Raises:
            ValueError: devices have no such memory.
        """


def checked_memory_kind(kind: str | None, device: Any) -> str:
    """Return the name of a memory of a device; None is the default one. Of no device, it is any.

    Raises:
        ValueError: the device has no such memory.
    """
    if kind is None:
        return MEMORY_KIND
    kinds: tuple[str, ...] = getattr(device, "memory_kinds", (MEMORY_KIND,))
    if device is not None and kind not in kinds:
        raise ValueError(
            f"memory_kind={kind!r} is no memory of {device!r}, which has "
            + ", ".join(map(repr, kinds))
        )
    return kind


class NamedSharding(Sharding):
    """The division of arrays along the axes of a mesh.

    Args:
        mesh: the devices, in an array whose dimensions have names.
        spec: for each dimension of an array, the axes along which it is divided.
        memory_kind: the memory of the devices.

    Raises:
        TypeError: `spec` is not a PartitionSpec, or `mesh` is no mesh.
        ValueError: an axis that the mesh lacks, or that divides two dimensions, or an unreduced or
            reduced one that is not `Explicit`.

    >>> irax.NamedSharding(irax.make_mesh((1,), ("data",)), irax.P("data")).shard_shape((4, 2))
    (4, 2)
    """

    def __init__(
        self,
        mesh: Mesh | AbstractMesh,
        spec: PartitionSpec,
        *,
        memory_kind: str | None = None,
    ) -> None:
        if not isinstance(mesh, Mesh | AbstractMesh):
            raise TypeError(f"NamedSharding: expected a mesh, got {mesh!r}")
        if not isinstance(spec, PartitionSpec):
            raise TypeError(f"NamedSharding: spec must be a PartitionSpec (irax.P), got {spec!r}")
        check_spec(mesh, spec)
        self.mesh = mesh
        self.spec = spec
        has_devices = isinstance(mesh, Mesh) and not mesh.empty
        device = mesh.devices.flat[0] if memory_kind and has_devices else None
        self.memory_kind: str = checked_memory_kind(memory_kind, device)

    @property
    def devices(self) -> tuple[Any, ...]:
        if isinstance(self.mesh, AbstractMesh):
            raise ValueError(f"{self!r} has no devices: its mesh is abstract")
        return tuple(self.mesh.devices.flat)

    @property
    def num_devices(self) -> int:
        return self.mesh.size

    @property
    def has_devices(self) -> bool:
        return isinstance(self.mesh, Mesh)

    @property
    def is_fully_replicated(self) -> bool:
        axes = {axis for entry in self.spec.partitions for axis in axes_of_entry(entry)}
        return math.prod(self.mesh.shape[axis] for axis in axes) == 1

    @property
    def replicated_axes(self) -> frozenset[Any]:
        """The axes of the mesh along which arrays are not divided."""
        used = {axis for entry in self.spec.partitions for axis in axes_of_entry(entry)}
        return frozenset(self.mesh.axis_names) - used

    def parts(self, rank: int) -> list[int]:
        self._check_rank(rank)
        return list(_parts(self, rank))

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        self._check_rank(len(aval_shape))

    def number_of_part(self, device: int, rank: int) -> list[int]:
        places = dict(zip(self.mesh.axis_names, self._place(device), strict=True))
        numbers = []
        for axes in axes_by_dimension(self.spec, rank):
            number = 0
            for axis in axes:
                number = number * self.mesh.shape[axis] + places[axis]
            numbers.append(number)
        return numbers

    def _place(self, device: int) -> tuple[int, ...]:
        place = []
        for size in reversed(self.mesh.axis_sizes):
            device, number = divmod(device, size)
            place.append(number)
        return tuple(reversed(place))

    def _check_rank(self, rank: int) -> None:
        if len(self.spec) > rank:
            raise ValueError(
                f"{self!r} is for arrays of at least {len(self.spec)} dimensions, got one of {rank}"
            )

    def update(
        self, *, mesh: Any = None, spec: Any = None, memory_kind: str | None = None
    ) -> NamedSharding:
        """Return a copy with another mesh, spec or memory."""
        return NamedSharding(
            self.mesh if mesh is None else mesh,
            self.spec if spec is None else spec,
            memory_kind=self.memory_kind if memory_kind is None else memory_kind,
        )

    def with_memory_kind(self, kind: str) -> NamedSharding:
        return self.update(memory_kind=kind)

    @property
    def _unreduced(self) -> frozenset[Any]:
        return self.spec.unreduced

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        """The mesh, the memory and the spec, of which entries for dimensions that are not divided
        may lack.
        """
        entries = list(self.spec.partitions)
        while entries and entries[-1] is None:
            entries.pop()
        return self.mesh, self.memory_kind, self.spec.update(partitions=entries)

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, NamedSharding) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return partial(NamedSharding, memory_kind=self.memory_kind), (self.mesh, self.spec)

    def __repr__(self) -> str:
        is_told = self.has_devices or self.memory_kind != MEMORY_KIND
        memory = f", memory_kind={self.memory_kind}" if is_told else ""
        return f"NamedSharding(mesh={self.mesh!s}, spec={self.spec}{memory})"


@lru_cache(maxsize=1024)
def _shard_shape(sharding: Sharding, shape: tuple[int, ...]) -> tuple[int, ...]:
    parts = sharding.parts(len(shape))
    for dimension, (size, count) in enumerate(zip(shape, parts, strict=True)):
        if size % count:
            raise IndivisibleError(
                f"{sharding!r} divides dimension {dimension} into {count} parts, but it has size "
                f"{size} in shape {shape}: expected a multiple of {count}"
            )
    return tuple(size // count for size, count in zip(shape, parts, strict=True))


@lru_cache(maxsize=1024)
def _parts(sharding: NamedSharding, rank: int) -> tuple[int, ...]:
    axes = axes_by_dimension(sharding.spec, rank)
    return tuple(math.prod(sharding.mesh.shape[axis] for axis in of_one) for of_one in axes)


def check_spec(mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> None:
    """Raise ValueError for a spec with an axis that the mesh lacks, or with one twice, or with one
    that is unreduced or reduced, and not `Explicit`.
    """
    seen: set[Any] = set()
    for entry in spec.partitions:
        for axis in axes_of_entry(entry):
            if axis not in mesh.shape:
                raise ValueError(
                    f"axis {axis!r} of {spec} is not one of the mesh's axes {mesh.axis_names}"
                )
            if axis in seen:
                raise DuplicateSpecError(
                    f"{spec} divides two dimensions along the axis {axis!r} of the mesh; expected "
                    "one at most"
                )
            seen.add(axis)
    check_kind(spec)
    for name, axes in (("unreduced", spec.unreduced), ("reduced", spec.reduced)):
        if others := sorted(map(str, axes.difference(mesh.explicit_axes))):
            raise ValueError(
                f"{spec} has the {name} axes {others}, and the mesh is {mesh!s}: expected axes of "
                "type Explicit"
            )


def check_kind(spec: PartitionSpec) -> None:
    """Raise NotImplementedError for a spec of unreduced axes that are no sums."""
    if spec.unreduced_kind not in (None, UnreducedKind.sum):
        raise NotImplementedError(
            f"{spec}: sums are the only operation that programs leave to be taken along unreduced "
            "axes; take it by irax.lax.pmax or pmin where the parts are"
        )


class SingleDeviceSharding(Sharding):
    """Arrays as a whole on one device.

    >>> irax.numpy.ones(2).sharding
    SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)
    """

    def __init__(self, device: Any, *, memory_kind: str | None = None) -> None:
        self.device = device
        self.memory_kind: str = checked_memory_kind(memory_kind, device)

    @property
    def devices(self) -> tuple[Any, ...]:
        return (self.device,)

    def parts(self, rank: int) -> list[int]:
        return [1] * rank

    def number_of_part(self, device: int, rank: int) -> list[int]:
        return [0] * rank

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self._key() == other._key()

    def _key(self) -> tuple[Any, str]:
        return self.device, self.memory_kind

    def __hash__(self) -> int:
        return hash(self._key())

    def with_memory_kind(self, kind: str) -> SingleDeviceSharding:
        return SingleDeviceSharding(self.device, memory_kind=kind)

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self.device!r}, memory_kind={self.memory_kind})"


def of_rows(sharding: NamedSharding, rank: int) -> NamedSharding:
    """Return the sharding of arrays of a rank whose elements are rows of an array's elements."""
    return sharding.update(spec=PartitionSpec(*sharding.spec.partitions[:rank]))


def as_sharding(what: str, x: Any) -> Sharding:
    """Return a sharding itself, or that of a `PartitionSpec` and the mesh of the context: in a
    `shard_map`, its own, without devices unless it is that of `set_mesh`.

    Raises:
        TypeError: it is none of these; `what` is the function's name in the message.
        NoMeshError: there is no mesh in the context.
    """
    if isinstance(x, Sharding):
        return x
    if not isinstance(x, PartitionSpec):
        raise TypeError(f"{what}: expected a sharding or a PartitionSpec, got {x!r}")
    mesh, abstract = current_mesh(), get_abstract_mesh()
    if abstract.manual_axes or mesh.shape_tuple != abstract.shape_tuple:
        return NamedSharding(abstract, x)
    if mesh.empty:
        raise NoMeshError(
            f"{what}: {x} needs a mesh: enter one by `with irax.set_mesh(mesh):`, or give a "
            "NamedSharding"
        )
    if mesh.axis_types != abstract.axis_types:
        mesh = mesh.update(axis_types=abstract.axis_types)
    return NamedSharding(mesh, x)
