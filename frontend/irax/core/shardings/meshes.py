"""Meshes: devices in an array whose dimensions have names."""

from __future__ import annotations

import contextlib
import enum
import functools
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from irax.config import config
from irax.core import source


class AxisType(enum.Enum):
    """The way in which arrays are divided along an axis of a mesh: by the compiler (`Auto`), as
    types say (`Explicit`), or by the program of each device (`Manual`).
    """

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self) -> str:
        return self.name


class BaseMesh:
    """The names, sizes and types of a mesh's axes."""

    axis_names: tuple[Any, ...]
    axis_types: tuple[AxisType, ...]

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The number of devices along each axis."""
        raise NotImplementedError

    @functools.cached_property
    def shape(self) -> OrderedDict[Any, int]:
        """The sizes of the axes by name."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @functools.cached_property
    def shape_tuple(self) -> tuple[tuple[Any, int], ...]:
        """The names and sizes of the axes."""
        return tuple(self.shape.items())

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.axis_sizes) if self.axis_names else 0

    @property
    def empty(self) -> bool:
        """True for a mesh without axes."""
        return not self.axis_names

    def _of_type(self, kind: AxisType) -> tuple[Any, ...]:
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return tuple(name for name, found in pairs if found is kind)

    @functools.cached_property
    def auto_axes(self) -> tuple[Any, ...]:
        """The names of the axes of type `Auto`."""
        return self._of_type(AxisType.Auto)

    @functools.cached_property
    def explicit_axes(self) -> tuple[Any, ...]:
        """The names of the axes of type `Explicit`."""
        return self._of_type(AxisType.Explicit)

    @functools.cached_property
    def manual_axes(self) -> tuple[Any, ...]:
        """The names of the axes of type `Manual`."""
        return self._of_type(AxisType.Manual)

    @functools.cached_property
    def are_all_axes_auto(self) -> bool:
        """True if each axis is of type `Auto`."""
        return all(kind is AxisType.Auto for kind in self.axis_types)

    @functools.cached_property
    def are_all_axes_explicit(self) -> bool:
        """True if each axis is of type `Explicit`."""
        return all(kind is AxisType.Explicit for kind in self.axis_types)

    @functools.cached_property
    def are_all_axes_explicit_or_manual(self) -> bool:
        """True if each axis is of type `Explicit` or `Manual`."""
        known = AxisType.Explicit, AxisType.Manual
        return all(kind in known for kind in self.axis_types)

    @functools.cached_property
    def are_all_axes_manual(self) -> bool:
        """True if each axis is of type `Manual`."""
        return all(kind is AxisType.Manual for kind in self.axis_types)

    def _axes_text(self) -> str:
        axes = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)
        return f"{axes}, axis_types={self.axis_types}" if axes else ""


@dataclass(frozen=True, repr=False)
class AbstractDevice:
    """A device of an `AbstractMesh`, as far as it is known.

    Args:
        device_kind: the name of the chip.
        num_cores: the number of its cores; None if that is not known.
        platform: the name of the platform.

    >>> irax.sharding.AbstractDevice("TPU v5 lite", 1, "tpu")
    AbstractDevice(device_kind=TPU v5 lite, num_cores=1, platform=tpu)
    """

    device_kind: str
    num_cores: int | None
    platform: str

    def shown(self) -> str:
        """Return the fields as texts show them."""
        return ", ".join(f"{name}={value}" for name, value in vars(self).items())

    def __repr__(self) -> str:
        return f"AbstractDevice({self.shown()})"

    def __getstate__(self) -> list[Any]:
        """The fields in the form of JAX, whose class has slots."""
        return [self.device_kind, self.num_cores, self.platform]

    def __setstate__(self, state: list[Any]) -> None:
        vars(self).update(zip(("device_kind", "num_cores", "platform"), state, strict=True))


class AbstractMesh(BaseMesh):
    """A mesh of devices that are not known: the names, sizes and types of its axes.

    Args:
        axis_sizes: the number of devices along each axis.
        axis_names: the names of the axes.
        axis_types: an `AxisType` for each axis; by default `Explicit`.
        abstract_device: what is known of the devices, an `AbstractDevice`.

    Raises:
        ValueError: there is not a name, or a type, for each size, or a name is there twice.

    >>> irax.sharding.AbstractMesh((2, 4), ("data", "model"))
    AbstractMesh('data': 2, 'model': 4, axis_types=(Explicit, Explicit))
    """

    _sizes: tuple[int, ...]
    axis_names: tuple[str, ...]
    axis_types: tuple[AxisType, ...]
    abstract_device: AbstractDevice | None

    def __new__(
        cls,
        axis_sizes: Sequence[int],
        axis_names: Sequence[Any],
        axis_types: AxisType | Sequence[AxisType] | None = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> Self:
        self = super().__new__(cls)
        if len(axis_sizes) != len(axis_names):
            raise ValueError(
                f"AbstractMesh: expected a size for each of the axes {tuple(axis_names)}, got "
                f"{tuple(axis_sizes)}"
            )
        self._sizes = tuple(int(size) for size in axis_sizes)
        self.axis_names = _names(axis_names)
        kinds = (AxisType.Explicit,) * len(self.axis_names) if axis_types is None else axis_types
        self.axis_types = _types(self.axis_names, kinds)
        self.abstract_device = abstract_device
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        told = (self._sizes, self.axis_names, self.axis_types)
        return told, {"abstract_device": self.abstract_device}

    def __getstate__(self) -> None:
        """Nothing is left to pickle."""

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        return self._sizes

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh itself."""
        return self

    def update(
        self,
        axis_sizes: Any = None,
        axis_names: Any = None,
        axis_types: Any = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> AbstractMesh:
        """Return a copy with other sizes, names or types of axes, or another device."""
        return AbstractMesh(
            self._sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
            abstract_device=abstract_device or self.abstract_device,
        )

    def __getattr__(self, name: str) -> Any:
        if name in _OF_DEVICES:
            raise ValueError(f"AbstractMesh has no {name}: it is a mesh without devices")
        raise AttributeError(f"'AbstractMesh' object has no attribute {name!r}", name=name)

    def update_axis_types(self, name_to_type: Mapping[Any, AxisType]) -> AbstractMesh:
        """Return a copy with other types of some axes."""
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return self.update(axis_types=tuple(name_to_type.get(n, t) for n, t in pairs))

    def _key(self) -> tuple[Any, ...]:
        return self._sizes, self.axis_names, self.axis_types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbstractMesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        device = "" if self.abstract_device is None else f", {self.abstract_device.shown()}"
        return f"AbstractMesh({self._axes_text() or '(), axis_types=()'}{device})"


_OF_DEVICES = {"devices", "device_ids", "is_multi_process", "local_devices", "local_mesh"}
"""The properties that a `Mesh` has because its devices are known."""


class Mesh(BaseMesh, contextlib.ContextDecorator):
    """Devices in an array whose dimensions, the axes, have names.

    Args:
        devices: an array of devices, or a sequence of them.
        axis_names: the names of its dimensions.
        axis_types: an `AxisType` for each axis; by default `Auto`.

    Raises:
        ValueError: there is not a name, or a type, for each dimension, or a name is there twice.

    >>> irax.sharding.Mesh(irax.devices(), ("data",))
    Mesh(axis_sizes=(1,), axis_names=('data',), axis_types=(Auto,))
    """

    def __init__(
        self,
        devices: Any,
        axis_names: Any,
        axis_types: AxisType | Sequence[AxisType] | None = None,
    ) -> None:
        self.devices: np.ndarray[Any, Any] = _device_array(devices)
        self.devices.flags.writeable = False
        self.axis_names: tuple[str, ...] = _names(axis_names)
        if self.devices.ndim != len(self.axis_names):
            raise ValueError(
                f"Mesh: expected a name for each of the {self.devices.ndim} dimensions of devices, "
                f"got axis_names={self.axis_names}"
            )
        self.axis_types: tuple[AxisType, ...] = _types(self.axis_names, axis_types)

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        return self.devices.shape

    @property
    def size(self) -> int:
        return self.devices.size if self.axis_names else 0

    @property
    def is_scalar(self) -> bool:
        """True for a mesh of one device that has no axes."""
        return self.devices.ndim == 0 and self.devices.item() is not None

    @functools.cached_property
    def device_tuple(self) -> tuple[Any, ...]:
        """The devices in order."""
        return tuple(self.devices.flat)

    @property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The numbers of the devices, in the form of the mesh."""
        ids = [device.id for device in self.devices.flat]
        return np.array(ids, dtype=int).reshape(self.devices.shape)

    @property
    def local_devices(self) -> list[Any]:
        """The devices of this process."""
        return [device for device in self.devices.flat if is_addressable(device)]

    @functools.cached_property
    def is_multi_process(self) -> bool:
        """True if devices of other processes are in it."""
        return len(self.local_devices) != self.devices.size

    @property
    def local_mesh(self) -> Mesh:
        """The part of the mesh whose devices are those of this process.

        Raises:
            ValueError: they are no part of it that is a mesh.
        """
        if not self.is_multi_process:
            return self
        mask = np.array(list(map(is_addressable, self.devices.flat))).reshape(self.devices.shape)
        part = np.ix_(
            *[
                np.flatnonzero(mask.any(tuple(d for d in range(mask.ndim) if d != axis)))
                for axis in range(mask.ndim)
            ]
        )
        if not mask[part].all():
            raise ValueError(f"local_mesh: this process's devices are no part of {self!r}")
        return Mesh(self.devices[part], self.axis_names, self.axis_types)

    @functools.cached_property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its devices."""
        known = None
        if self.size:
            device = self.devices.flat[0]
            known = AbstractDevice(device.device_kind, None, device.platform)
        return AbstractMesh(
            self.axis_sizes, self.axis_names, self.axis_types, abstract_device=known
        )

    def update(self, devices: Any = None, axis_names: Any = None, axis_types: Any = None) -> Mesh:
        """Return a copy with other devices, names or types of axes."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    def __enter__(self) -> Mesh:
        source.warn(
            "`with mesh:` is deprecated: give `with irax.set_mesh(mesh):`", DeprecationWarning
        )
        _contexts.entered.append(config.scoped("entered_mesh", self))
        _contexts.entered[-1].__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        _contexts.entered.pop().__exit__(*error)

    def _key(self) -> tuple[Any, ...]:
        return self.device_tuple, self.devices.shape, self.axis_names, self.axis_types

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Mesh) and self._key() == other._key())

    @functools.cached_property
    def _hash(self) -> int:
        return hash(self._key())

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return Mesh, (np.array(self.devices), self.axis_names, self.axis_types)

    def __str__(self) -> str:
        return f"Mesh({self._axes_text()})"

    def __repr__(self) -> str:
        types = "" if self.empty else f", axis_types={self.axis_types}"
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}{types})"


def _device_array(devices: Any) -> np.ndarray[Any, Any]:
    if isinstance(devices, np.ndarray):
        return devices.copy()
    shape = np.shape(np.array(devices, dtype=object))
    return np.array(devices, dtype=object).reshape(shape)


def _names(axis_names: Any) -> tuple[Any, ...]:
    if isinstance(axis_names, str):
        axis_names = (axis_names,)
    names = tuple(axis_names)
    if len(set(names)) != len(names):
        raise ValueError(f"a mesh has each name once, got axis_names={names}")
    if None in names:
        raise ValueError(f"None is no name of an axis of a mesh, got axis_names={names}")
    return names


def _types(names: Sequence[Any], axis_types: Any) -> tuple[AxisType, ...]:
    if axis_types is None:
        return (AxisType.Auto,) * len(names)
    given = (axis_types,) if isinstance(axis_types, AxisType) else tuple(axis_types)
    if not all(isinstance(kind, AxisType) for kind in given):
        raise TypeError(f"axis_types must be of AxisType (Auto, Explicit or Manual), got {given}")
    if len(given) != len(names):
        raise ValueError(f"expected an AxisType for each of the axes {tuple(names)}, got {given}")
    return given


def is_addressable(device: Any) -> bool:
    """Return True if a device belongs to this process."""
    return device.process_index == device.client.process_index


# ---- the mesh of the context ---------------------------------------------------------------------

EMPTY = Mesh(np.empty((), dtype=object), ())


class _Contexts(threading.local):
    def __init__(self) -> None:
        self.entered: list[Any] = []


_contexts = _Contexts()


def current_mesh() -> Mesh:
    """Return the mesh of the context; an empty one where there is none."""
    return EMPTY if config.mesh is None else config.mesh


def get_abstract_mesh() -> AbstractMesh:
    """Return the mesh of the context without its devices; in a `shard_map`, with the axes along
    which it divides arrays as `Manual` ones.

    >>> irax.sharding.get_abstract_mesh()
    AbstractMesh((), axis_types=())
    """
    abstract = config.abstract_mesh
    return current_mesh().abstract_mesh if abstract is None else abstract


@contextlib.contextmanager
def use_abstract_mesh(mesh: AbstractMesh) -> Iterator[AbstractMesh]:
    """In a `with` block, `mesh` is what `get_abstract_mesh` returns.

    Args:
        mesh: an `AbstractMesh`.

    Raises:
        ValueError: it is none, or is of another number of devices than the mesh of the context.

    >>> with irax.use_abstract_mesh(irax.sharding.AbstractMesh((2,), ("x",))):
    ...     print(irax.get_abstract_mesh().axis_names)
    ('x',)
    """
    if not isinstance(mesh, AbstractMesh):
        raise ValueError(f"use_abstract_mesh: expected an AbstractMesh, got {mesh!r}")
    context = get_abstract_mesh()
    if not (mesh.empty or context.empty) and mesh.size != context.size:
        raise ValueError(
            f"use_abstract_mesh: {mesh!r} is of {mesh.size} devices, and the mesh of the context "
            f"is of {context.size}: expected as many"
        )
    with config.scoped("abstract_mesh", mesh):
        yield mesh
