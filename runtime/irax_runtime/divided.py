"""Compiled programs of each device of a mesh.

Such a program has the note `layouts`, in JSON: the axes of the mesh and their sizes, and the
layouts of its arguments and results.

    {"mesh": {"data": 4}, "in": [[["data"], []]], "out": [[["data"]]]}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from irax_runtime.iree import modules as iree_modules
from irax_runtime.mesh import MeshExecutable, MeshProgram, Spec, mesh_device
from irax_runtime.pjrt import programs
from irax_runtime.signature import parse_signature


@dataclass(frozen=True)
class Layouts:
    """The mesh whose devices a program is for, and the layouts of its arguments and results."""

    mesh: dict[str, int]
    in_specs: tuple[Spec, ...]
    out_specs: tuple[Spec, ...]
    name: str
    results: str
    """The types of the parts of results that a device has."""

    @property
    def count(self) -> int:
        """The number of devices."""
        return prod(self.mesh.values())

    def __str__(self) -> str:
        axes = ",".join(f"{name}={size}" for name, size in self.mesh.items())
        return f"{self.count} devices ({axes})"


def layouts_of(artefact: bytes, name: str | None = None) -> Layouts | None:
    """Return the layouts of a program of each device of a mesh; None for a program of one device.

    Raises:
        ValueError: the bytes are no program, or it has no such function.
    """
    if artefact.startswith(programs.PREFIX):
        header, _ = programs.split(artefact)
        found = header.get("layouts")
        return None if found is None else _read(found, header["name"], header["results"])
    functions = iree_modules.functions(artefact)
    for own, notes in functions.items():
        if name in (None, own) and "irax.layouts" in notes:
            return _read(json.loads(notes["irax.layouts"]), own, notes["irax.results"])
    return None


def _read(found: dict[str, Any], name: str, results: str) -> Layouts:
    def specs(given: Any) -> tuple[Spec, ...]:
        return tuple(tuple(map(tuple, spec)) for spec in given)

    return Layouts(found["mesh"], specs(found["in"]), specs(found["out"]), name, results)


def load(artefact: bytes, layouts: Layouts, devices: Sequence[Any]) -> MeshExecutable:
    """Return a program as a function of whole arrays, which devices of this process run together.

    Raises:
        ValueError: there are not as many devices as it is for.
    """
    if len(devices) != layouts.count:
        raise ValueError(f"the program is for {layouts}, got {len(devices)}")
    device = mesh_device(tuple(layouts.mesh.items()), tuple(devices), False)
    shapes = [
        tuple(n * prod(layouts.mesh[a] for a in axes) for n, axes in zip(t.shape, s, strict=True))
        for t, s in zip(parse_signature(layouts.results), layouts.out_specs, strict=True)
    ]
    program = MeshProgram(device.load_together(artefact, layouts.name), shapes, layouts.out_specs)
    return MeshExecutable(device, layouts.name, lambda _: program)
