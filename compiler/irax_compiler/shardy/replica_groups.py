"""Groups of devices that collectives name by the axes of a mesh, as lists of devices.

    #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
    dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>

StableHLO looks the mesh up among the module's symbols, and an operation of a dialect that the
bindings lack is none. So these are written out in the text, before it is parsed. Parts of axes that
they name are stated by the first mesh.
"""

from __future__ import annotations

import re
from math import prod

import numpy as np

_NAME = "stablehlo.replica_group_mesh_axes"
_AXIS = r'<[^<>"]*name = "(?P<name>[^"]*)"'
_PART = r"(?:[^<>]*sub_axis_info = [^()<>]*\((?P<before>\d+)\)(?P<size>\d+))?[^<>]*>"
_REFERENCE = re.compile(rf"#stablehlo\.axis_ref{_AXIS}{_PART}")
_GROUPS = re.compile(
    rf"#{re.escape(_NAME)}<mesh = (?:@(?P<mesh>[\w.$-]+)|#stablehlo\.mesh<(?P<own>.*?)>), "
    r"axes = \[(?P<axes>[^\]]*)\]>"
)
_MESH = re.compile(r'"sdy\.mesh"\(\)[^\n]*')
_SYMBOL = re.compile(r'sym_name = "([^"]+)"')
_SIZED = re.compile(r'(?:\\22|")([^"\\]+)(?:\\22|")=(\d+)')
_NAMED = re.compile(r'name = "([^"]+)", size = (\d+)')

Meshes = dict[str, dict[str, int]]


def written_out(text: str) -> str:
    """Return a module's text, whose meshes are in the generic form, with lists of devices.

    Raises:
        ValueError: a mesh is not there, or lacks an axis.
    """
    if _NAME not in text:
        return text
    meshes: Meshes = {}
    parts: set[str] = set()
    for line in _MESH.findall(text):
        if named := _SYMBOL.search(line):
            meshes[named[1]] = sizes(line)

    def groups(match: re.Match[str]) -> str:
        for one in _REFERENCE.finditer(match["axes"]):
            if one["size"]:
                parts.add(f"\\22{one['name']}\\22:({one['before']}){one['size']}")
        return _devices(match, meshes)

    text = _GROUPS.sub(groups, text)
    told = f'"sdy.mesh"() {{parts = "{", ".join(sorted(parts))}", '
    return text.replace('"sdy.mesh"() {', told, 1) if parts else text


def of_attribute(text: str, meshes: Meshes) -> str:
    """Return the list of devices that an attribute names by axes of one of the meshes.

    Raises:
        ValueError: the mesh is not there, or lacks an axis.
    """
    return _GROUPS.sub(lambda match: _devices(match, meshes), text)


def _devices(match: re.Match[str], meshes: Meshes) -> str:
    mesh = meshes.get(match["mesh"]) if match["own"] is None else sizes(match["own"])
    if mesh is None:
        raise ValueError(f"a collective is over @{match['mesh']}, a mesh that the module lacks")
    return _dense(_groups(mesh, match["axes"]))


def sizes(mesh: str) -> dict[str, int]:
    """Return the sizes of a mesh's axes, from its text."""
    found = _SIZED.findall(mesh) or _NAMED.findall(mesh)
    return {name: int(size) for name, size in found}


def _groups(mesh: dict[str, int], axes: str) -> np.ndarray:
    """The devices of each group; in a group, those along the last of its axes are neighbors."""
    extents: list[list[int]] = [[size] for size in mesh.values()]
    chosen: list[tuple[int, int]] = []
    names = list(mesh)
    for match in _REFERENCE.finditer(axes):
        if match["name"] not in mesh:
            raise ValueError(f"a collective is along {match['name']!r}; its mesh has {names}")
        place, whole = names.index(match["name"]), mesh[match["name"]]
        before, size = (int(match["before"]), int(match["size"])) if match["size"] else (1, whole)
        if whole % (before * size) or len(extents[place]) > 1:
            raise ValueError(f"a collective is along parts of axes that are not told: {axes}")
        extents[place] = [before, size, whole // (before * size)] if size < whole else [whole]
        chosen.append((place, int(size < whole)))
    starts = np.cumsum([0, *map(len, extents)])
    order = [int(starts[place]) + part for place, part in chosen]
    shape = [n for each in extents for n in each]
    devices = np.arange(prod(shape)).reshape(shape)
    rest = [i for i in range(len(shape)) if i not in order]
    return devices.transpose([*rest, *order]).reshape(-1, prod(shape[i] for i in order))


def _dense(groups: np.ndarray) -> str:
    rows, columns = groups.shape
    return f"dense<{groups.tolist()}> : tensor<{rows}x{columns}xi64>"
