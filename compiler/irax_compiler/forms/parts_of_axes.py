r"""Parts of a mesh's axes: `"x":(2)4` is one of 4, after one of 2 is chosen of the devices along x.

An axis of which parts are used becomes several axes of the mesh, which are named by their parts:
"x"=8, used as "x":(1)2 and as a whole, is "x:(1)2"=2 and "x:(2)4"=4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from irax_compiler.shardy.layouts import Mesh

_AXIS = re.compile(r'(?:\\22|")(?P<name>[^"\\]+)(?:\\22|")(?::\((?P<before>\d+)\)(?P<size>\d+))?')
_PART = re.compile(r"(?P<name>.*):\((?P<before>\d+)\)(?P<size>\d+)")

Cuts = Mapping[str, set[int]]
"""The places where axes are cut, by their names: numbers of choices before a part."""


def cuts(texts: Iterable[str]) -> Cuts:
    """Return the cuts that shardings make."""
    found: dict[str, set[int]] = {}
    for text in texts:
        for match in _AXIS.finditer(text) if ":(" in text else ():
            if match["size"]:
                before = int(match["before"])
                found.setdefault(match["name"], set()).update({before, before * int(match["size"])})
    return found


def divided(mesh: Mesh, cuts: Cuts) -> Mesh:
    """Return a mesh with axes for the parts of its axes.

    Raises:
        ValueError: parts of an axis overlap, or do not divide it.
    """
    found: Mesh = {}
    for axis, size in mesh.items():
        places = sorted({1, size, *cuts.get(axis, ())})
        if len(places) < 3 or size == 1:
            found[axis] = size
            continue
        for before, after in pairwise(places):
            if after % before:
                raise ValueError(
                    f"parts of the axis {axis!r}, of {size} devices, overlap: cut at {places}"
                )
            found[f"{axis}:({before}){after // before}"] = after // before
    return found


def named(mesh: Mesh, text: str) -> tuple[str, ...]:
    """Return the axes of a mesh that a text names, whole or by parts."""
    return tuple(axis for match in _AXIS.finditer(text) for axis in _within(mesh, match))


def _within(mesh: Mesh, wanted: re.Match[str]) -> list[str]:
    name, found = wanted["name"], []
    for axis in mesh:
        part = _PART.fullmatch(axis)
        if axis == name or (part is not None and part["name"] == name and _holds(wanted, part)):
            found.append(axis)
    return found


def _holds(wanted: re.Match[str], part: re.Match[str]) -> bool:
    if not wanted["size"]:
        return True
    before, after = (int(part["before"]), int(part["before"]) * int(part["size"]))
    start = int(wanted["before"])
    return start <= before and after <= start * int(wanted["size"])
