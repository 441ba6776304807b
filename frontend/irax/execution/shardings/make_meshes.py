"""Meshes of the devices that there are, and that of the context."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irax.config import config
from irax.core.dispatch import staged
from irax.core.settings.renamed import renamed
from irax.core.shardings.meshes import AxisType, Mesh, current_mesh
from irax.core.tracebacks import api_boundary
from irax.execution import backend


@api_boundary
@renamed(axis_shapes="axis_sizes")
def make_mesh(
    axis_sizes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: tuple[AxisType, ...] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh:
    """Return a mesh of the first of the devices that there are.

    Args:
        axis_sizes: the number of devices along each axis.
        axis_names: the names of the axes.
        axis_types: an `AxisType` for each axis; by default `Explicit`.
        devices: the devices to take; by default those of `irax.devices()`.

    Raises:
        ValueError: there are too few devices.

    >>> irax.make_mesh((1, 1), ("data", "model"))
    Mesh(axis_sizes=(1, 1), axis_names=('data', 'model'), axis_types=(Explicit, Explicit))
    """
    if not all(isinstance(size, int | np.integer) for size in axis_sizes):
        raise ValueError(f"make_mesh: axis_sizes must be a sequence of ints, got {axis_sizes!r}")
    shape = tuple(int(size) for size in axis_sizes)
    names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    types = (AxisType.Explicit,) * len(names) if axis_types is None else axis_types
    return Mesh(device_mesh("make_mesh", shape, devices), names, types)


def device_mesh(
    what: str, shape: Sequence[int], devices: Sequence[Any] | None
) -> np.ndarray[Any, Any]:
    """Return an array of devices, the first of those that there are.

    Raises:
        ValueError: there are too few; `what` is the function's name in the message.
    """
    there = backend.devices(backend.default_backend()) if devices is None else list(devices)
    count = math.prod(shape)
    if count > len(there):
        raise ValueError(
            f"{what}: a mesh of shape {tuple(shape)} takes {count} devices, got {len(there)}: set "
            f"IRAX_CPU_DEVICES={count} for as many on the CPU, or take a smaller mesh"
        )
    found = np.empty(count, dtype=object)
    found[:] = there[:count]
    return found.reshape(tuple(shape))


def get_mesh() -> Mesh:
    """Return the mesh of the context; an empty one where there is none.

    Raises:
        ValueError: a function is being traced.

    >>> irax.sharding.get_mesh()
    Mesh(axis_sizes=(), axis_names=())
    """
    return staged(current_mesh, _refuse_devices)


def _refuse_devices(builder: Any) -> Mesh:
    raise ValueError(
        "get_mesh: a function that is being traced has no devices yet: use "
        "irax.sharding.get_abstract_mesh, or get the mesh outside of jit"
    )


class set_mesh:
    """Make a mesh that of the context: for the process, or in a `with` block. Functions whose
    arguments were put nowhere run on its devices.

    Args:
        mesh: the mesh; None for none.

    Raises:
        ValueError: it is no mesh, or one with `Manual` axes, or a function is being traced.

    >>> with irax.set_mesh(irax.make_mesh((1,), ("data",))) as mesh:
    ...     irax.sharding.get_mesh() == mesh
    True
    """

    def __init__(self, mesh: Mesh | None) -> None:
        if not isinstance(mesh, Mesh | None):
            raise ValueError(f"set_mesh: expected a Mesh, got {mesh!r} of {type(mesh).__name__}")
        staged(lambda: None, _refuse)
        if mesh is not None and mesh.manual_axes:
            raise ValueError(
                f"set_mesh: the axes {mesh.manual_axes} of {mesh!s} are Manual, which only a "
                "shard_map makes them: expected Auto and Explicit ones"
            )
        self._before = config.mesh_of_process()
        self._using: Any = None
        self._mesh = mesh
        config.set_mesh(mesh)

    def __enter__(self) -> Any:
        config.set_mesh(self._before)
        self._using = _using(self._mesh)
        return self._using.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._using.__exit__(*error)


@contextlib.contextmanager
def _using(mesh: Mesh | None) -> Iterator[Any]:
    with config.scoped("mesh", mesh), config.scoped("abstract_mesh", None):
        yield mesh


def _refuse(_: Any) -> None:
    raise ValueError(
        "set_mesh: a program has one mesh: expected a call outside of jit and the other "
        "transformations; enter the mesh before the function is called"
    )
