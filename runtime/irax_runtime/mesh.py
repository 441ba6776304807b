"""The devices of a mesh as one device, for programs that all of them run together.

An array on it is a `ShardedBuffer`: each device has a piece, or, where all devices are the
processor of one process, they share one buffer (`shares_memory`).
"""

from __future__ import annotations

import functools
import hashlib
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from irax_runtime.communication import current
from irax_runtime.communication.communicator import Communicator, Group
from irax_runtime.communication.packing import pack, unpack
from irax_runtime.communication.ranks import ProcessRanks
from irax_runtime.communication.threads import ThreadGroup
from irax_runtime.device import Buffer, Device, Executable
from irax_runtime.once import once

Spec = tuple[tuple[str, ...], ...]
"""For each dimension of an array, the axes of the mesh along which it is divided."""
Launch = Callable[[Sequence[Sequence[Any]]], Sequence[Sequence[Buffer]]]
"""Runs a program on the buffers of each device of this process; returns their results."""
Axes = tuple[tuple[str, int], ...]
"""The names and sizes of a mesh's axes."""


class NotAddressableError(RuntimeError):
    """The elements of an array were asked for, some of which another process has."""


@once
def mesh_device(
    axes: Axes, devices: tuple[Any, ...], shares_memory: bool, kinds: tuple[str, ...] = ()
) -> MeshDevice:
    """Return the device that stands for those of a mesh, the last axis fastest.

    Args:
        axes: names and sizes.
        devices: the devices, some of which may be other processes'.
        shares_memory: True if arrays are one buffer and programs run on the first device, for all.
        kinds: what else tells the mesh from others with these axes and devices.
    """
    return MeshDevice(axes, devices, shares_memory)


class MeshDevice:
    """The devices of a mesh. Programs for it are made with the layouts of their arguments."""

    compiler = None
    id = local_hardware_id = -1

    def __init__(self, axes: Axes, devices: Sequence[Any], shares_memory: bool) -> None:
        self.axes = dict(axes)
        self.devices = tuple(devices)
        self.shares_memory = shares_memory
        self.process_index = current.of_process().rank
        places = enumerate(devices)
        self.local: dict[int, Device] = {
            place: device for place, device in places if device.process_index == self.process_index
        }
        """The devices of this process, by their places in the mesh."""
        self.launching = threading.Lock()
        """Held while a program runs: collectives of two programs must not meet."""

    def __repr__(self) -> str:
        axes = ", ".join(f"{name}={size}" for name, size in self.axes.items())
        return f"MeshDevice({axes}, devices={list(self.devices)})"

    @cached_property
    def first(self) -> Device:
        """A device of this process.

        Raises:
            ValueError: it has none of them.
        """
        if not self.local:
            raise ValueError(
                f"process {self.process_index} has no device of {self!r}; programs for a mesh are "
                "for processes that have some of its devices"
            )
        return next(iter(self.local.values()))

    @property
    def client(self) -> Any:
        """The client that serves the devices."""
        return self.first.client

    @property
    def platform(self) -> str:
        """The platform of the devices."""
        return self.first.platform

    @property
    def target(self) -> str:
        """The compiler's target for programs of one device."""
        return self.first.target

    @property
    def device_kind(self) -> str:
        """The devices' own name."""
        return self.first.device_kind

    @property
    def driver(self) -> str:
        """The driver that serves the devices."""
        return self.first.driver

    def memory_stats(self) -> dict[str, int] | None:
        """Return the statistics of the first device."""
        return self.first.memory_stats()

    @cached_property
    def ranks(self) -> ThreadGroup | ProcessRanks:
        """The threads that run programs, one for each device of this process."""
        process = current.of_process()
        if len(self.processes) == 1:
            return ThreadGroup(len(self.devices), process.limit)
        return ProcessRanks(process, [d.process_index for d in self.devices])

    @cached_property
    def processes(self) -> Group:
        """The processes that have the devices."""
        return tuple(sorted({d.process_index for d in self.devices}))

    def ranks_for(self, program: str, what: str) -> ThreadGroup | ProcessRanks:
        """Return the threads for a program that is about to run.

        Raises:
            CommunicationError: another process has another one; `what` names it.
        """
        if isinstance(self.ranks, ThreadGroup):
            return self.ranks
        return self.ranks.for_program(hashlib.sha256(program.encode()).hexdigest(), what)

    def is_like(self, other: MeshDevice) -> bool:
        """Return True if it differs in no more than the names of axes, or in kinds."""
        there = list(other.axes.values()), other.devices, other.shares_memory
        return (list(self.axes.values()), self.devices, self.shares_memory) == there

    # -- layouts --

    def part(self, shape: Sequence[int], spec: Spec, place: int) -> tuple[slice, ...]:
        """Return the slices of an array that the device at a place has.

        Raises:
            ValueError: a dimension is not a multiple of the number of its parts.
        """
        return _part(tuple(self.axes.items()), tuple(shape), spec, place)

    # -- arrays --

    def put(self, array: np.ndarray[Any, Any], may_alias: bool = False) -> ShardedBuffer:
        """Return the array with all devices having all of it."""
        if self.shares_memory:
            return self.of_whole(self.first.put(array, may_alias))
        whole = np.asarray(array, order="C")
        pieces = {place: device.put(whole, may_alias) for place, device in self.local.items()}
        return ShardedBuffer(self, array.shape, array.dtype, ((),) * array.ndim, pieces)

    def of_whole(self, buffer: Buffer) -> ShardedBuffer:
        """Return the array that is in a buffer of the first device, where all devices share their
        memory, with all of them having all of it.
        """
        spec = ((),) * len(buffer.shape)
        return ShardedBuffer(self, tuple(buffer.shape), buffer.dtype, spec, whole=buffer)

    def put_shards(
        self, array: np.ndarray[Any, Any], spec: Spec, may_alias: bool = False
    ) -> ShardedBuffer:
        """Return the array with each device having its part. Every process has the whole array, or
        at least the parts of its devices.

        Raises:
            ValueError: a dimension is not a multiple of the number of its parts.
        """
        if self.shares_memory:
            self.part(array.shape, spec, 0)  # raises where it does not fit
            whole = self.first.put(array, may_alias)
            return ShardedBuffer(self, array.shape, array.dtype, spec, whole=whole)
        parts = {place: self.part(array.shape, spec, place) for place in self.local}
        pieces = {
            place: self.local[place].put(np.asarray(array[part], order="C"), may_alias)
            for place, part in parts.items()
        }
        return ShardedBuffer(self, array.shape, array.dtype, spec, pieces)

    def of_pieces(
        self, shape: Sequence[int], spec: Spec, pieces: Mapping[int, Buffer]
    ) -> ShardedBuffer:
        """Return the array of which the devices of this process have these pieces, by place."""
        dtype = next(iter(pieces.values())).dtype
        if not self.shares_memory:
            return ShardedBuffer(self, tuple(shape), dtype, spec, dict(pieces))
        whole = np.empty(shape, dtype)
        for place, piece in pieces.items():
            whole[self.part(shape, spec, place)] = piece.numpy()
        return self.put_shards(whole, spec, may_alias=True)

    def resharded(self, buffer: ShardedBuffer, spec: Spec) -> ShardedBuffer:
        """Return the same array in another layout. Where other processes have parts of it, all of
        them must call this together.

        Raises:
            ValueError: a dimension is not a multiple of the number of its parts.
        """
        if buffer.spec == spec:
            return buffer
        if buffer.is_addressable:
            return self.put_shards(buffer.numpy(), spec, may_alias=True)
        own = [
            part
            for place, piece in buffer.pieces.items()
            for part in (b"%d" % place, piece.numpy().tobytes())
        ]
        array = f"{buffer.dtype}{list(buffer.shape)} divided as {buffer.spec}"
        process, what = current.of_process(), f"a new layout, {spec}, of {array}"
        process.check_same(what, what, self.processes)
        messages = process.exchange(pack(own), self.processes)
        whole = np.empty(buffer.shape, buffer.dtype)
        for message in messages:
            parts = unpack(message)
            for place, elements in zip(parts[::2], parts[1::2], strict=True):
                part = self.part(buffer.shape, buffer.spec, int(place))
                shape = [piece.stop - piece.start for piece in part]
                whole[part] = np.frombuffer(elements, buffer.dtype).reshape(shape)
        return self.put_shards(whole, spec, may_alias=True)

    def load_together(
        self, artefact: bytes, name: str, ranks: ThreadGroup | ProcessRanks | None = None
    ) -> Launch:
        """Return a compiled program that the devices run together, in the threads `ranks`.

        Raises:
            ValueError: the bytes are no program for these devices.
        """
        first: Any = self.first
        if hasattr(first, "load_together"):
            return first.load_together(self.devices, artefact)
        executables = [device.load(artefact, name) for device in self.local.values()]
        numbers = {place: number for number, place in enumerate(self.local)}
        ranks = ranks or self.ranks

        def launch(given: Sequence[Sequence[Buffer]]) -> Sequence[Sequence[Buffer]]:
            def run(rank: Communicator) -> Sequence[Buffer]:
                number = numbers[rank.rank]
                return executables[number].run(given[number])

            return ranks.run(run)

        return launch

    def load(self, artefact: bytes, entry: str | None = None) -> Executable:
        """Raise TypeError: a program for a mesh is a `MeshExecutable`, made for the layouts of its
        arguments.
        """
        raise TypeError(f"{self!r} loads no programs of one device")


@functools.lru_cache(maxsize=1024)
def _part(mesh: Axes, shape: tuple[int, ...], spec: Spec, place: int) -> tuple[slice, ...]:
    sizes, coordinates = dict(mesh), dict[str, int]()
    for name, size in reversed(mesh):
        place, coordinates[name] = divmod(place, size)
    slices: list[slice] = []
    for dimension, (extent, axes) in enumerate(zip(shape, spec, strict=True)):
        number, count = 0, math.prod(sizes[axis] for axis in axes)
        for axis in axes:
            number = number * sizes[axis] + coordinates[axis]
        if extent % count:
            raise ValueError(
                f"dimension {dimension} of an array of shape {shape} has size {extent}, "
                f"which is no multiple of {count}, the number of devices along {axes}"
            )
        length = extent // count
        slices.append(slice(number * length, (number + 1) * length))
    return tuple(slices)


def devices_of(device: Any) -> tuple[Any, ...]:
    """Return the devices that a device stands for: those of a mesh in order, or itself."""
    return device.devices if isinstance(device, MeshDevice) else (device,)


def moved(buffer: Any, device: Any) -> Any:
    """Return an array that is on the same devices under the name of another mesh of them, or of
    the one device. It is divided as before if the meshes are alike; else, all devices have all of
    it, and where other processes have parts of it, all of them must call this together.
    """
    if isinstance(buffer, ShardedBuffer):
        if isinstance(device, MeshDevice) and buffer.device.is_like(device):
            return buffer.on(device)
        whole = ((),) * len(buffer.shape)
        if buffer.whole is not None and isinstance(device, MeshDevice) and device.shares_memory:
            return ShardedBuffer(device, buffer.shape, buffer.dtype, whole, whole=buffer.whole)
        if not buffer.is_addressable:
            buffer = buffer.device.resharded(buffer, whole)
    return device.put(buffer.numpy(), may_alias=True)


class ShardedBuffer:
    """An array in the memory of the devices of a mesh."""

    __slots__ = ("_numpy", "_pieces", "device", "dtype", "shape", "spec", "whole")

    def __init__(
        self,
        device: MeshDevice,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        spec: Spec,
        pieces: dict[int, Buffer] | None = None,
        whole: Buffer | None = None,
    ) -> None:
        self.device = device
        self.shape = shape
        self.dtype = dtype
        self.spec = spec
        self.whole: Buffer | None = whole
        """The one buffer of all devices, where they share their memory."""
        self._pieces = pieces
        self._numpy: np.ndarray[Any, Any] | None = None

    def __repr__(self) -> str:
        return f"<{self.dtype}{list(self.shape)} divided as {self.spec} on {self.device!r}>"

    @property
    def pieces(self) -> dict[int, Buffer]:
        """The pieces of this process's devices, by place in the mesh."""
        if self._pieces is None:
            elements = self.numpy()
            self._pieces = {
                place: device.put(
                    np.asarray(elements[self.device.part(self.shape, self.spec, place)], order="C")
                )
                for place, device in self.device.local.items()
            }
        return self._pieces

    def on(self, device: MeshDevice) -> ShardedBuffer:
        """Return the array on a device that is like its own."""
        names = dict(zip(self.device.axes, device.axes, strict=True))
        spec = tuple(tuple(names[axis] for axis in axes) for axes in self.spec)
        return ShardedBuffer(device, self.shape, self.dtype, spec, self._pieces, self.whole)

    def copy(self) -> ShardedBuffer:
        """Return a copy in memory of its own."""
        device = self.device
        if self.whole is not None:
            return device.put_shards(self.numpy(), self.spec)
        pieces = {place: device.local[place].put(x.numpy()) for place, x in self.pieces.items()}
        return ShardedBuffer(device, self.shape, self.dtype, self.spec, pieces)

    @property
    def is_replicated(self) -> bool:
        """True if each device has the whole array."""
        axes = [axis for axes in self.spec for axis in axes]
        return math.prod(self.device.axes[axis] for axis in axes) == 1

    @property
    def is_addressable(self) -> bool:
        """True if this process has all elements."""
        return self.is_replicated or len(self.device.local) == len(self.device.devices)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Return the elements of the whole array.

        Raises:
            NotAddressableError: other processes have some of them.
        """
        if self._numpy is None:
            self._numpy = self._joined()
            self._numpy.flags.writeable = False
        return self._numpy

    def _joined(self) -> np.ndarray[Any, Any]:
        if self.whole is not None:
            return self.whole.numpy()
        pieces = self.pieces
        if self.is_replicated:
            return next(iter(pieces.values())).numpy()
        if not self.is_addressable:
            raise NotAddressableError(
                f"an array of shape {self.shape}, divided as {self.spec}, has parts in other "
                "processes: fetch it with irax.experimental.multihost_utils.process_allgather, or "
                "use its addressable_shards"
            )
        found = np.empty(self.shape, self.dtype)
        for place, piece in pieces.items():
            found[self.device.part(self.shape, self.spec, place)] = piece.numpy()
        return found

    def wait(self) -> None:
        """Wait until all pieces have been computed."""
        for buffer in self._buffers():
            buffer.wait()

    def is_ready(self) -> bool:
        """Return True if all pieces have been computed."""
        return all(buffer.is_ready() for buffer in self._buffers())

    def is_deleted(self) -> bool:
        """Return True if the memory was given up to a call that it was donated to."""
        return any(buffer.is_deleted() for buffer in self._buffers())

    def _buffers(self) -> Iterable[Buffer]:
        return (self.whole,) if self.whole is not None else self.pieces.values()


@dataclass(frozen=True)
class MeshProgram:
    """A program for one pattern of layouts of its arguments."""

    launch: Launch
    """Runs the program: of the arguments of each device of this process, or of whole arrays, where
    the devices share memory."""
    shapes: Sequence[tuple[int, ...]]
    """The shapes of the results, as whole arrays."""
    specs: Sequence[Spec]
    """The layouts of the results."""


class MeshExecutable:
    """A function that the devices of a mesh run together."""

    def __init__(
        self, device: MeshDevice, name: str, make: Callable[[Sequence[Spec]], MeshProgram]
    ) -> None:
        self.device = device
        self.name = name
        self._make = make
        self._programs: dict[tuple[Spec, ...], MeshProgram] = {}

    def __call__(self, arguments: Sequence[Any]) -> Sequence[ShardedBuffer]:
        """Run the function; as `run`."""
        return self.run(arguments)

    def run(self, arguments: Sequence[Any]) -> Sequence[ShardedBuffer]:
        """Run the function on arrays of the mesh.

        Raises:
            CommunicationError: the devices did not come together in a collective.
            Exception: what a function of the user's raised, which the program called.
        """
        layouts = tuple([argument.spec for argument in arguments])
        with self.device.launching:
            return self._results(self._program(layouts), arguments)

    def layouts_of_results(self, layouts: Sequence[Spec]) -> Sequence[Spec]:
        """Return the layouts of the results for arguments of these layouts."""
        with self.device.launching:
            return self._program(tuple(layouts)).specs

    def _program(self, layouts: tuple[Spec, ...]) -> MeshProgram:
        program = self._programs.get(layouts)
        if program is None:
            program = self._programs[layouts] = self._make(layouts)
        return program

    def _results(self, program: MeshProgram, arguments: Sequence[Any]) -> list[ShardedBuffer]:
        device = self.device
        if device.shares_memory:
            (found,) = program.launch([[argument.whole for argument in arguments]])
            return [
                ShardedBuffer(device, shape, buffer.dtype, spec, whole=buffer)
                for buffer, shape, spec in zip(found, program.shapes, program.specs, strict=True)
            ]
        places = device.local
        by_device = program.launch([[a.pieces[place] for a in arguments] for place in places])
        results: list[ShardedBuffer] = []
        for i, (shape, spec) in enumerate(zip(program.shapes, program.specs, strict=True)):
            pieces = {place: own[i] for place, own in zip(places, by_device, strict=True)}
            dtype = by_device[0][i].dtype
            results.append(ShardedBuffer(device, shape, dtype, spec, pieces))
        return results
