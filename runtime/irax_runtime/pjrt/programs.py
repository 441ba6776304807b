"""Programs in files, and on their way to a plugin's compiler.

An artefact is a line of JSON, which MLIR reads as a comment, and then the program: StableHLO text,
or what a plugin gave when it was asked to serialize it.

    // irax: {"name": "f", "args": "f32[3];i32[]", "results": "f32[3]"}

With it arguments are checked before a call: the plugin itself would take four bytes of integer for
four bytes of float. `donated` lists the arguments whose memory the program may use for its results;
`layouts` has the mesh of a program that several devices run together; `serialized` tells the
platform, and the version of it, whose plugin compiled the program.
"""

from __future__ import annotations

import ctypes
import json
import math
import re
from typing import Any

from irax_runtime.pjrt import abi

PREFIX = b"// irax: "

_UNKNOWN_SIZE = re.compile(rb"tensor<[0-9x]*\?")


def split(artefact: bytes) -> tuple[dict[str, Any], bytes]:
    """Split an artefact into the signature, which is its first line, and the program.

    Raises:
        ValueError: the bytes are no artefact.
    """
    line, _, program = artefact.partition(b"\n")
    try:
        if not line.startswith(PREFIX):
            raise ValueError(f"it does not begin with {PREFIX.decode()!r}")
        header = json.loads(line[len(PREFIX) :])
        missing = [key for key in ("name", "args", "results") if key not in header]
        if missing:
            raise ValueError(f"its first line does not tell {' and '.join(missing)}")
    except ValueError as error:
        raise ValueError(f"not a program for a PJRT device: {error}") from None
    return header, program


def join(header: dict[str, Any], program: bytes) -> bytes:
    """The artefact of which `split` gives these."""
    return PREFIX + json.dumps(header).encode() + b"\n" + program


def check_devices(header: dict[str, Any], count: int) -> None:
    """Raises ValueError for a program of the devices of a mesh, on another number of devices: its
    collectives would name replicas that are not there.
    """
    expected = device_count(header)
    if "layouts" in header and count != expected:
        raise ValueError(f"{header['name']} is a program of {of_mesh(header)}, got {count}")


def of_mesh(header: dict[str, Any]) -> str:
    """The devices of a program in words: `8 devices (data=4, model=2)`."""
    axes = ", ".join(f"{name}={size}" for name, size in _mesh(header).items())
    return f"{device_count(header)} devices ({axes})"


def device_count(header: dict[str, Any]) -> int:
    """The number of devices that run a program together.

    >>> device_count({"layouts": {"mesh": {"data": 4, "model": 2}}}), device_count({})
    (8, 1)
    """
    return math.prod(_mesh(header).values())


def _mesh(header: dict[str, Any]) -> dict[str, int]:
    return header.get("layouts", {}).get("mesh", {})


def for_compiler(program: bytes) -> abi.Program:
    """StableHLO text as plugins take it; the caller keeps the text alive.

    Raises:
        ValueError: a dimension's size is unknown.
    """
    if unknown := _UNKNOWN_SIZE.search(program):
        raise ValueError(
            "a PJRT device runs no program with dimensions of unknown size, which some plugins "
            f"end the process for: {unknown[0].decode()}...>"
        )
    return abi.Program(
        struct_size=abi.Program.SIZE,
        code=address(program),
        code_size=len(program),
        format=address(_FORMAT),
        format_size=len(_FORMAT),
    )


_FORMAT = b"mlir"


def address(data: bytes) -> int:
    """The address of the bytes, good for as long as they live."""
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
