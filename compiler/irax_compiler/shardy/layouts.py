"""Meshes and layouts in attributes of functions.

The program of each device of a mesh, and a function that is to become one, have `irax.mesh`, and
`irax.in_specs` and `irax.out_specs` with a spec for each argument and result.

What another framework's module states of a function of whole arrays is in `irax.stated`.

    func.func @main(...) attributes {irax.stated = {mesh = "x=2,y=2",
        in_specs = [[["x"], []], unit], out_specs = [unit]}}

unit stands for an array of which nothing is stated. Programs for one device take no notice of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation
from irax_compiler.ops.control_flow.shard_map import Spec, decoded, encoded

MESH = "irax.mesh"
"""The attribute of a function that is the program of each device of a mesh."""
IN_SPECS, OUT_SPECS = "irax.in_specs", "irax.out_specs"
"""Attributes of such a function, and of one of whole arrays from which `partition` is to make it;
there, a result has unit for the layout that it is computed in.
"""
STATED = "irax.stated"

Mesh = dict[str, int]
"""The sizes of a mesh's axes by name, in order."""


@dataclass(frozen=True)
class StatedLayouts:
    """A mesh, and the specs of a function's arguments and results, as far as they are stated."""

    mesh: Mesh
    in_specs: Sequence[Spec | None]
    out_specs: Sequence[Spec | None]


def text_of_mesh(mesh: Mesh) -> str:
    """Return the names and sizes of a mesh's axes as text."""
    return ",".join(f"{name}={size}" for name, size in mesh.items())


def mesh_of_text(text: str) -> Mesh:
    """Return the mesh that `text_of_mesh` wrote.

    >>> mesh_of_text("data=2,model=4")
    {'data': 2, 'model': 4}
    """
    axes = (entry.rpartition("=") for entry in text.split(",") if entry)
    return {name: int(size) for name, _, size in axes}


def mesh_of(function: Operation) -> Mesh:
    """Return the mesh whose devices run a function; an empty one if there is none."""
    attribute: Any = function.attributes.get(MESH)
    return {} if attribute is None else mesh_of_text(attribute.value)


def set_mesh(function: Operation, mesh: Mesh) -> None:
    """State that the devices of a mesh run a function."""
    function.attributes[MESH] = mlir.string(text_of_mesh(mesh))


def state(function: Operation, layouts: StatedLayouts) -> None:
    """State the layouts of a function's arguments and results."""

    def specs(given: Sequence[Spec | None]) -> mlir.Attribute:
        unit = mlir.parse_attribute("unit")
        return mlir.array([unit if spec is None else encoded(spec) for spec in given])

    function.attributes[STATED] = mlir.dictionary(
        {
            "mesh": mlir.string(text_of_mesh(layouts.mesh)),
            "in_specs": specs(layouts.in_specs),
            "out_specs": specs(layouts.out_specs),
        }
    )


def stated(function: Operation) -> StatedLayouts | None:
    """Return the layouts that are stated of a function; None where there are none."""
    if STATED not in function.attributes:
        return None
    entries: Any = function.attributes[STATED]

    def specs(given: Any) -> list[Spec | None]:
        return [None if mlir.attribute_text(s) == "unit" else decoded([s])[0] for s in given]

    mesh = mesh_of_text(entries["mesh"].value)
    return StatedLayouts(mesh, specs(entries["in_specs"]), specs(entries["out_specs"]))
