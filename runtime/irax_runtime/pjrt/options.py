"""The options of a compilation, in the protocol buffers that XLA takes them in."""

from __future__ import annotations

from collections.abc import Sequence

from irax_runtime.platforms import Settings


def compile_options(devices: Sequence[int], settings: Settings | None = None) -> bytes:
    """A serialised CompileOptionsProto: one program, a replica on each of the devices.

    A compiler refuses a setting that it does not have as an invalid argument.

    >>> compile_options([0]).hex()
    '1a1b08ffffffffffffffffff01200128014a09080110011a030a0100'
    """
    replicas = len(devices)
    # DeviceAssignmentProto: replica_count, computation_count, computation_devices; of the latter
    # replica_device_ids.
    computation = _bytes(1, b"".join(map(_varint, devices)))
    assignment = _integer(1, replicas) + _integer(2, 1) + _bytes(3, computation)
    # ExecutableBuildOptionsProto: device_ordinal, num_replicas, num_partitions, device_assignment.
    build = _integer(1, -1) + _integer(4, replicas) + _integer(5, 1) + _bytes(9, assignment)
    executable_build_options = 3
    entries = [_setting(name, value) for name, value in (settings or {}).items()]
    return _bytes(executable_build_options, build) + b"".join(entries)


def _setting(name: str, value: str | int | bool) -> bytes:
    """An entry of the map `env_option_overrides`, from names to OptionOverrideProto."""
    match value:
        case bool():
            override = _integer(2, value)
        case int():
            override = _integer(3, value)
        case _:
            override = _bytes(1, value.encode())
    env_option_overrides = 7
    return _bytes(env_option_overrides, _bytes(1, name.encode()) + _bytes(2, override))


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    length_delimited = 2
    return _varint(field << 3 | length_delimited) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits to a byte, least significant first; negative numbers in 64 bits."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
