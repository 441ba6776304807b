"""A PJRT plugin of several processes, made of XLA's for the processor, which knows one.

The plugin of each process has the devices of all, of which it shows its own. The processes find
each other by the key-value functions that `Client_Create` is given, as GPUs' plugins do. Where a
program runs on devices of several processes, each process puts its arguments into the store, takes
those of the others from there, runs all replicas, and hands out the results of its own. So
collectives are XLA's, and what irax does is what it does on machines with GPUs.

    mpiexec -n 2 python -m tests.runtime.pjrt.plugin_of_processes 2 devices

runs `tests.frontend.meshes.mesh_job devices`, by processes that have two devices each.
"""

from __future__ import annotations

import ctypes
import dataclasses
import pickle
import sys
from collections.abc import Callable
from typing import Any

from irax_runtime import platforms
from irax_runtime.pjrt import abi, client
from irax_runtime.pjrt.api import Api, as_named_values, load_plugin, named_values

PATIENCE = 60_000
"""Milliseconds that a process waits for what another one puts."""

_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_Fail = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_Delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _failed(code: int, message: int, size: int) -> int:
    raise SystemExit(f"key-value function: {code}: {ctypes.string_at(message, size).decode()}")


class KeyValue:
    """The functions of irax's that a client was given, as a plugin calls them."""

    def __init__(self, created: Any) -> None:
        self._get = _Function(created.kv_get_callback)
        self._put = _Function(created.kv_put_callback)
        self._fail = _Fail(_failed)
        self._failing = ctypes.c_void_p(ctypes.cast(self._fail, ctypes.c_void_p).value)

    def _of_key(self, key: str) -> dict[str, Any]:
        self._key = ctypes.create_string_buffer(key.encode())
        return {
            "key": ctypes.addressof(self._key),
            "key_size": len(key.encode()),
            "callback_error": ctypes.addressof(self._failing),
        }

    def put(self, key: str, thing: Any) -> None:
        value = pickle.dumps(thing)
        held = ctypes.create_string_buffer(value, len(value))
        kind = abi.KeyValuePutCallback_Args
        fields = {"value": ctypes.addressof(held), "value_size": len(value)}
        given = kind(struct_size=kind.SIZE, **self._of_key(key), **fields)
        assert not self._put(ctypes.addressof(given))

    def get(self, key: str) -> Any:
        kind = abi.KeyValueGetCallback_Args
        given = kind(struct_size=kind.SIZE, timeout_in_ms=PATIENCE, **self._of_key(key))
        assert not self._get(ctypes.addressof(given))
        found = pickle.loads(ctypes.string_at(given.value, given.value_size))
        _Delete(given.value_deleter_callback)(given.value)
        return found


class Plugin:
    """The table of the real plugin, with some of its functions replaced."""

    def __init__(self, path: str) -> None:
        self._real = load_plugin(path)
        self.store: KeyValue
        self.rank = self.of_each = 0
        real = self._real._table
        self._table = abi.Api.from_buffer_copy(real)
        self._table.struct_size = min(real.struct_size, abi.Api.SIZE)
        self._replaced = []
        for name in (
            "Client_Create",
            "Client_AddressableDevices",
            "DeviceDescription_ProcessIndex",
            "LoadedExecutable_Execute",
        ):
            function = _Function(self._told(name, getattr(self, name)))
            self._replaced.append(function)
            setattr(self._table, name, ctypes.cast(function, ctypes.c_void_p).value)
        self.api = Api(ctypes.addressof(self._table), path)

    def _told(self, name: str, replacement: Callable[[Any], int | None]) -> Callable[[int], Any]:
        kind = getattr(abi, f"{name}_Args")
        return lambda address: replacement(kind.from_address(address))

    def _pass_on(self, name: str, given: Any) -> int | None:
        return self._real.function(name)(ctypes.addressof(given))

    def Client_Create(self, given: Any) -> int | None:
        options = named_values(given.create_options, given.num_options)
        self.rank, self.of_each = options["node_id"], options["cpu_device_count"]
        self.store = KeyValue(given)
        self.store.put(f"topology {self.rank}", options)
        all_options = [self.store.get(f"topology {i}") for i in range(options["num_nodes"])]
        assert [told["node_id"] for told in all_options] == list(range(len(all_options)))
        values, _alive = as_named_values({"cpu_device_count": self.of_each * len(all_options)})
        given.create_options, given.num_options = ctypes.addressof(values), len(values)
        return self._pass_on("Client_Create", given)

    def Client_AddressableDevices(self, given: Any) -> int | None:
        error = self._pass_on("Client_AddressableDevices", given)
        given.addressable_devices += self.rank * self.of_each * ctypes.sizeof(ctypes.c_void_p)
        given.num_addressable_devices = self.of_each
        return error

    def DeviceDescription_ProcessIndex(self, given: Any) -> int | None:
        description = given.device_description
        found = self._real.call("DeviceDescription_Id", device_description=description)
        given.process_index = found.id // self.of_each
        return None

    def LoadedExecutable_Execute(self, given: Any) -> int | None:
        call = self._real.call
        found = call("LoadedExecutable_AddressableDevices", executable=given.executable)
        devices = _pointers(found.addressable_devices, found.num_addressable_devices)
        owners = [self._owner(device) for device in devices]
        if set(owners) == {self.rank}:
            return self._pass_on("LoadedExecutable_Execute", given)
        own = [place for place, owner in enumerate(owners) if owner == self.rank]
        launch = abi.ExecuteOptions.from_address(given.options).launch_id
        lists: dict[int, Any] = {}
        for place, address in zip(own, _pointers(given.argument_lists, len(own)), strict=True):
            lists[place] = _pointers(address, given.num_args)
            self.store.put(f"{launch} {place}", [self._read(x) for x in lists[place]])
        borrowed = []
        for place, device in enumerate(devices):
            if place not in lists:
                told = self.store.get(f"{launch} {place}")
                lists[place] = (ctypes.c_void_p * given.num_args)(
                    *(self._written(one, device) for one in told)
                )
                borrowed += list(lists[place])
        executable = call("LoadedExecutable_GetExecutable", loaded_executable=given.executable)
        count = call("Executable_NumOutputs", executable=executable.executable).num_outputs
        outputs = {place: (ctypes.c_void_p * count)() for place in range(len(devices))}
        for place, address in zip(own, _pointers(given.output_lists, len(own)), strict=True):
            outputs[place] = _pointers(address, count)
        arguments, results = (
            _pointers_of([ctypes.addressof(by_place[i]) for i in range(len(devices))])
            for by_place in (lists, outputs)
        )
        given.argument_lists, given.num_devices = ctypes.addressof(arguments), len(devices)
        given.output_lists = ctypes.addressof(results)
        ends, of_own = _pointers_of([0] * len(devices)), given.device_complete_events
        given.device_complete_events = ctypes.addressof(ends)
        error = self._pass_on("LoadedExecutable_Execute", given)
        for place, end in enumerate(ends):
            if place in own:
                _pointers(of_own, len(own))[own.index(place)] = end
            else:
                call("Event_Destroy", event=end)
        others = [x for place in outputs if place not in own for x in outputs[place] if x]
        for pointer in (*borrowed, *others):
            self._real.wait(call("Buffer_ReadyEvent", buffer=pointer).event)
            call("Buffer_Destroy", buffer=pointer)
        return error

    def _owner(self, device: int) -> int:
        found = self._real.call("Device_GetDescription", device=device).device_description
        return self._real.call("DeviceDescription_Id", device_description=found).id // self.of_each

    def _read(self, buffer: int) -> tuple[int, list[int], bytes]:
        """The element type, the shape and the elements of an array."""
        call = self._real.call
        dims = call("Buffer_Dimensions", buffer=buffer)
        shape = list((ctypes.c_int64 * dims.num_dims).from_address(dims.dims or 0))
        size = call("Buffer_ToHostBuffer", src=buffer).dst_size
        held = ctypes.create_string_buffer(max(size, 1))
        copied = call("Buffer_ToHostBuffer", src=buffer, dst=ctypes.addressof(held), dst_size=size)
        self._real.wait(copied.event)
        return call("Buffer_ElementType", buffer=buffer).type, shape, held.raw[:size]

    def _written(self, told: tuple[int, list[int], bytes], device: int) -> int:
        """An array of another process on the device that stands for its own."""
        type_, shape, elements = told
        dims = (ctypes.c_int64 * len(shape))(*shape)
        held = ctypes.create_string_buffer(elements, max(len(elements), 1))
        made = self._real.call(
            "Client_BufferFromHostBuffer",
            client=client.client_for("cpu").pointer,
            data=ctypes.addressof(held),
            type=type_,
            dims=ctypes.addressof(dims),
            num_dims=len(shape),
            host_buffer_semantics=abi.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL,
            device=device,
        )
        self._real.call("Event_Destroy", event=made.done_with_host_buffer)
        return made.buffer


def _pointers(address: int, count: int) -> Any:
    return (ctypes.c_void_p * count).from_address(address)


def _pointers_of(values: list[int]) -> Any:
    return (ctypes.c_void_p * len(values))(*values)


def install(of_each: int) -> None:
    """Have irax take this plugin, with so many devices in each process, for `pjrt:cpu`."""
    plugins: list[Plugin] = []

    def load(path: str) -> Api:
        plugins.append(Plugin(path))
        return plugins[-1].api

    client.load_plugin = load
    platforms.register(
        dataclasses.replace(
            platforms.PJRT_CPU,
            options=lambda: {"cpu_device_count": of_each},
            of_process=lambda index, count: {"node_id": index, "num_nodes": count},
        )
    )


def main(of_each: str, *arguments: str) -> None:
    install(int(of_each))
    from tests.frontend.meshes import mesh_job

    mesh_job.main(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
