"""pmap: maps a function over an axis whose slices are computed by a device each.

It is `shard_map` over a mesh of one axis. Where there is but one device, it computes all slices, as
`vmap` does, with the same results: collectives on the mapped axis are operations along it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import numpy as np

from irax.config import config
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.dispatch import bind, staged
from irax.core.shardings import meshes
from irax.core.shardings.meshes import Mesh
from irax.core.shardings.partition_specs import PartitionSpec
from irax.core.shardings.sharded import placed
from irax.core.shardings.shardings import NamedSharding
from irax.core.tracebacks import api_boundary
from irax.core.tracing import concrete_array, trace_state_clean
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.core.wrapping import wraps
from irax.execution import backend as platforms
from irax.execution.bound_call import OTHER
from irax.execution.jit_parameters import Static, parameters_of, with_static
from irax.execution.jitted import PjitFunction
from irax.execution.shapes import eval_shape
from irax.execution.shardings.global_arrays import make_array_from_process_local_data
from irax.execution.shardings.make_meshes import device_mesh
from irax.experimental.multihost_utils import global_array_to_host_local_array
from irax.transforms.shard_map import Setting, call_on_shards
from irax.transforms.vmap import Mapped, checked_axes, over_lanes
from irax_compiler.ops.shape import Reshape
from irax_runtime import distributed
from irax_runtime.device import Device

P = ParamSpec("P")
R = TypeVar("R")

UNNAMED = "pmap"
"""The axis of the mesh of a function that is mapped along an axis without a name."""


@api_boundary
def pmap(
    fun: Callable[P, R],
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> PmapFunction[P, R]:
    """Return a compiled function that applies `fun` to each slice of its arguments along an axis.

    Each slice has a device of its own, of the first that there are; one device alone computes any
    number of slices, with a warning, since JAX refuses that. In a job of several processes, each of
    them calls the function with the slices of its own devices, and has their results; in functions
    that are traced, arrays are whole.

    Args:
        fun: a function of pytrees of arrays.
        axis_name: a name for the mapped axis, by which collectives such as `irax.lax.psum` refer
            to it.
        in_axes: the axis of each argument that is mapped: an int, None for an argument that all
            slices share, or a tuple (or a pytree that is a prefix of the arguments) of these.
            Keyword arguments are mapped along axis 0.
        out_axes: the mapped axis in each result; None for a result that is the same in all slices.
        static_broadcasted_argnums: positional arguments that are Python values, hashable, and the
            same for all slices.
        devices: the devices of the slices, one for each.
        backend: the platform whose devices are used.
        axis_size: the size of the mapped axis; needed only where no argument is mapped. In a job of
            several processes it counts the slices of all.
        donate_argnums: positional arguments whose memory results may take.

    Returns:
        A function with the same arguments and results, each with the mapped axis; it has `lower`
        and `trace` as `jit`'s have.

    Raises:
        TypeError: `fun` is no function.
        ValueError: on a call, where the mapped axes disagree in size, do not exist, are not as
            long as there are `devices`, or are longer than the number of devices.

    >>> pmap(lambda x: x / irax.lax.psum(x, "i"), axis_name="i")(irax.numpy.array([1.0, 3.0]))
    Array([0.25, 0.75], dtype=float32)
    """
    one = isinstance(static_broadcasted_argnums, int)
    static = (static_broadcasted_argnums,) if one else tuple(static_broadcasted_argnums)
    in_axes = checked_axes("pmap", fun, in_axes, out_axes)
    chosen = None if devices is None else _checked_devices(devices, axis_size)
    size = axis_size if chosen is None else len(chosen)
    setting = _Setting(in_axes, out_axes, axis_name, size, static, chosen, backend)
    donated = (donate_argnums,) if isinstance(donate_argnums, int) else tuple(donate_argnums)
    return PmapFunction(fun, setting, donated)


def _checked_devices(devices: Sequence[Device], axis_size: int | None) -> tuple[Device, ...]:
    if not devices:
        raise ValueError("pmap: devices is empty; expected a device for each slice, or None")
    for device in devices:
        platforms.check_device(device, "pmap: devices")
    if axis_size not in (None, len(devices)):
        raise ValueError(f"pmap: axis_size is {axis_size}, but there are {len(devices)} devices")
    if len(set(devices)) not in (1, len(devices)):
        raise ValueError(f"pmap: devices are there twice in {list(devices)}; expected each once")
    return tuple(devices)


@dataclass(frozen=True)
class _Setting:
    """The options of `pmap`."""

    in_axes: Any
    out_axes: Any
    axis_name: Hashable | None
    axis_size: int | None
    static: tuple[int, ...]
    devices: tuple[Device, ...] | None
    backend: str | None

    def there(self) -> Sequence[Device]:
        """Return the devices that slices may have."""
        return self.devices or platforms.devices(self.backend or platforms.default_backend())

    def has_one_device(self) -> bool:
        """Return True if there is but one device, which computes all slices."""
        return len(set(self.there())) == 1

    def own_devices(self) -> list[Device]:
        """Return those of them that are this process's."""
        own = distributed.process_index()
        return [device for device in self.there() if device.process_index == own]

    def size_here(self) -> int | None:
        """Return the number of slices that this process gives and gets, if the options tell it.

        Raises:
            ValueError: none of the `devices` is this process's.
        """
        if self.devices is None:
            return self.axis_size and self.axis_size // distributed.process_count()
        if not self.own_devices():
            raise ValueError(
                f"pmap: none of the devices {list(self.devices)} is of process "
                f"{distributed.process_index()}, which calls the function; expected one at least"
            )
        return len(self.own_devices())

    def size_of_all(self, here: int) -> int:
        """Return the number of slices of all processes, where this one has some.

        Raises:
            ValueError: it has more slices than devices.
        """
        processes = distributed.process_count()
        own = len(self.own_devices())
        if processes > 1 and here > own:
            raise ValueError(
                f"pmap: got {here} slices, but process {distributed.process_index()} has {own} "
                f"devices: each of the {processes} processes calls the function with the slices "
                "of its own devices"
            )
        return here * processes if self.devices is None else len(self.devices)

    def device_alone(self) -> Device | None:
        """Return the one device that computes all slices, if the options name it."""
        if self.devices is None and self.backend is None:
            return None
        return self.there()[0] if self.has_one_device() else None

    def mesh(self, size: int) -> Mesh | None:
        """Return the devices of a number of slices; None where one device computes them all, as it
        does in a function of shards.

        Raises:
            ValueError: there are too few devices, or the axis has the name of one of a function
                of shards around this one.
        """
        around = meshes.get_abstract_mesh().manual_axes
        if self.axis_name in around:
            raise ValueError(
                f"pmap: axis_name={self.axis_name!r} is the name of an axis that a pmap or "
                "shard_map around this one maps; give it another name"
            )
        if size == 1 or around:
            return None
        if self.has_one_device():
            if self.devices is None:
                source.warn(
                    f"pmap: one device computes {size} slices, as vmap does; JAX raises ValueError "
                    f"here. Set IRAX_CPU_DEVICES={size} for as many devices on the CPU, or call "
                    "irax.vmap",
                    UserWarning,
                )
            return None
        name = UNNAMED if self.axis_name is None else self.axis_name
        return Mesh(device_mesh("pmap", (size,), self.there()), (name,))

    def own(
        self, fun: Callable[..., Any], args: tuple[Any, ...]
    ) -> tuple[Callable[..., Any], list[int], Any]:
        """Return the function with the static arguments of a call filled in, the numbers of the
        others, and their mapped axes.
        """
        if self.static and max(self.static) >= len(args):
            raise ValueError(
                f"pmap: static_broadcasted_argnums are {self.static}, but the function was called "
                f"with {len(args)} positional arguments"
            )
        fixed = {n % len(args) for n in self.static}
        numbers = [n for n in range(len(args)) if n not in fixed]
        axes = self.in_axes
        if isinstance(axes, tuple) and len(axes) == len(args):
            if any(axes[n] is not None for n in fixed):
                raise ValueError(
                    f"pmap: in_axes of static_broadcasted_argnums must be None, got {axes!r}"
                )
            axes = tuple(axes[n] for n in numbers)
        return with_static(fun, [Static(n, args[n]) for n in sorted(fixed)]), numbers, axes


class PmapFunction(PjitFunction[P, R]):
    """A jitted function of arrays whose slices are computed by a device each."""

    def __init__(
        self, fun: Callable[..., Any], setting: _Setting, donated: tuple[int, ...]
    ) -> None:
        @wraps(fun)
        def mapped(*args: Any, **kwargs: Any) -> Any:
            of_slice, numbers, axes = setting.own(fun, args)
            own = tuple(args[n] for n in numbers)
            given = Mapped.of("pmap", of_slice, axes, setting.axis_size, own, kwargs)
            mesh = setting.mesh(given.size)
            name, size = setting.axis_name, setting.axis_size
            lanes = over_lanes(
                "pmap", of_slice, axes, setting.out_axes, name, size, over_devices=True
            )
            if mesh is None:
                return lanes(*own, **kwargs)
            if any(axis is None for axis in _axes_of(setting.out_axes)):
                eval_shape(lanes, *own, **kwargs)  # which refuses results that differ
            return _on_devices(given, mesh, setting.out_axes)

        static = parameters_of(mapped, setting.static, None, "static")
        given_up = parameters_of(mapped, donated, None, "donate")
        super().__init__(mapped, static, given_up, setting.device_alone())
        self._arguments = (fun, setting, donated)
        self._is_here = False
        """True if the devices of the last call are all this process's, and several."""
        self._plans: dict[Any, tuple[Mesh | None, list[_Place]]] = {}
        """For arguments of a structure and shapes, the devices and a sharding for each leaf."""

    def __reduce__(self) -> Any:
        found = super().__reduce__()
        return found if isinstance(found, str) else (PmapFunction, self._arguments)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        call: Callable[..., R] = super().__call__
        if self._is_here and trace_state_clean():
            # arrays that are on their devices, as results of a call are
            found = self._cache.called(args, kwargs)
            if found is not OTHER:
                return found

        def write(_: Any) -> R:
            return call(*args, **kwargs)

        def run() -> R:
            _, setting, _ = self._arguments
            if config.disable_jit or (not self._is_here and setting.has_one_device()):
                setting.size_here()  # which checks that the device is this process's
                return write(None)
            divided, named, mesh = self._divided(args, kwargs)
            results = call(*divided, **named)
            self._is_here = mesh is not None and not mesh.is_multi_process
            if mesh is None or self._is_here:
                return results
            return global_array_to_host_local_array(results, mesh, None)

        return staged(run, write, array_trees.tree_leaves((args, kwargs)))

    @api_boundary
    def _divided(self, args: Any, kwargs: Any) -> tuple[Any, Any, Mesh | None]:
        """Return the arguments of a call with each slice on its device, and the devices."""
        fun, setting, _ = self._arguments
        of_slice, numbers, axes = setting.own(fun, args)
        own = tuple(args[n] for n in numbers)
        leaves, tree = array_trees.tree_flatten((own, kwargs))
        key = (tree, *map(np.shape, leaves))
        if key not in self._plans:
            given = Mapped.of("pmap", of_slice, axes, setting.size_here(), own, kwargs)
            mesh = setting.mesh(setting.size_of_all(given.size))
            self._plans[key] = mesh, [] if mesh is None else _places(given, mesh)
        mesh, places = self._plans[key]
        if mesh is None:
            return args, kwargs, None
        leaves = [place.put(x) for x, place in zip(leaves, places, strict=True)]
        divided, kwargs = array_trees.tree_unflatten(tree, leaves)
        full = list(args)
        for number, x in zip(numbers, divided, strict=True):
            full[number] = x
        return tuple(full), kwargs, mesh


class _Place:
    """The devices that a leaf of the arguments of a call goes to."""

    def __init__(self, sharding: NamedSharding) -> None:
        self.sharding = sharding
        self.is_for_all = sharding.is_fully_replicated
        self.is_here = sharding.is_fully_addressable

    def put(self, x: Any) -> Any:
        """Return an array on these devices, of which this process has the slices of its own; what
        all slices share and what was put nowhere goes where the program runs.
        """
        is_array = isinstance(x, ConcreteArray)
        if self.is_for_all and not (is_array and x.committed):
            return x
        if self.is_here:
            return placed(x if is_array else concrete_array(as_array(x)), self.sharding)
        return make_array_from_process_local_data(self.sharding, x)


def _places(given: Mapped, mesh: Mesh) -> list[_Place]:
    """A place for each leaf of the arguments of a call."""
    axes = dict(zip(given.positions, given.axes, strict=True))
    specs = (_spec(mesh, axes.get(i)) for i in range(len(given.arguments.leaves)))
    return [_Place(NamedSharding(mesh, spec)) for spec in specs]


def _axes_of(axes: Any) -> list[int | None]:
    return array_trees.tree_leaves(axes, is_leaf=lambda x: x is None)


def _spec(mesh: Mesh, axis: int | None) -> PartitionSpec:
    """The spec of an array whose slices along an axis are the devices'."""
    return PartitionSpec() if axis is None else PartitionSpec(*(None,) * axis, mesh.axis_names[0])


def _on_devices(given: Mapped, mesh: Mesh, out_axes: Any) -> Any:
    """Return the results of a mapped function, of which each device of a mesh computes a slice."""
    setting = Setting.of(name_of(given.function.function), mesh, frozenset(), check_vma=False)
    axes: list[int | None] = []

    def of_shards(*shards: Array) -> list[Array]:
        slices = [
            _reshaped(x, (*x.shape[:axis], *x.shape[axis + 1 :]))
            for x, axis in zip(shards, given.axes, strict=True)
        ]
        results = given.call(*slices)
        axes[:] = given.result_axes("pmap", out_axes, results)
        pairs = zip(results, axes, strict=True)
        return [
            x if axis is None else _reshaped(x, (*x.shape[:axis], 1, *x.shape[axis:]))
            for x, axis in pairs
        ]

    def specs_of_results(_: Any) -> list[PartitionSpec]:
        return [_spec(mesh, axis) for axis in axes]

    in_specs = tuple(_spec(mesh, axis) for axis in given.axes)
    found = call_on_shards(setting, of_shards, in_specs, specs_of_results, tuple(given.arrays))
    return given.results_of(found, out_axes)


def _reshaped(x: Array, extents: tuple[int, ...]) -> Array:
    return bind(Reshape(extents), x, weak_type=x.weak_type)
