"""Shardy's manual computations, as calls of functions of shards.

    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>]
      manual_axes={"x"} (%b: tensor<2xf32>) { ... sdy.return %c : tensor<2xf32> }
      : (tensor<8xf32>) -> tensor<2xf32>

The bindings lack the dialect `sdy`, so this is done in the text, before it is parsed: the region
becomes a function, with an attribute that states its mesh, and the operation an `irax.shard_map`.
Collectives in such functions are StableHLO's, which `forms/manual.py` rewrites.
"""

from __future__ import annotations

import re

MESH = "irax.manual_mesh"
"""The attribute of functions of shards, from which their collectives follow."""

_MESH = re.compile(r"sdy\.mesh @(\w+) = <\[(.*?)\]")
_AXIS = re.compile(r'"([^"]+)"=(\d+)')
_HEAD = re.compile(
    r"^(?P<indent>[ \t]*)(?P<results>%[\w:]+) = sdy\.manual_computation\((?P<operands>[^)]*)\)"
    r"\s+in_shardings=\[(?P<ins>.*?)\]\s+out_shardings=\[(?P<outs>.*?)\]"
    r"\s+manual_axes=\{(?P<manual>[^}]*)\}\s+\((?P<arguments>[^{]*)\)\s*\{[ \t]*$",
    re.MULTILINE,
)
_SHARDING = re.compile(r"<@(\w+), \[((?:\{[^}]*\}(?:p\d+)?(?:, )?)*)\][^>]*>")
_RETURN = re.compile(r"sdy\.return(?P<values>[^:\n]*)(?: : (?P<types>.*))?$", re.MULTILINE)


def with_functions(text: str) -> str:
    """Replace manual computations in a module's text.

    Raises:
        ValueError: one is over a mesh that the module lacks.
    """
    meshes = {m[1]: dict(_AXIS.findall(m[2])) for m in _MESH.finditer(text)}
    number = 0
    while heads := list(_HEAD.finditer(text)):
        head = heads[-1]  # the innermost of those that are nested
        end = re.compile(rf"^{head['indent']}\}} : (\(.*\)) -> (.*)$", re.MULTILINE)
        tail = end.search(text, head.end())
        if tail is None:
            return text
        name = f"irax_manual_computation_{number}"
        number += 1
        call, function = _parts(head, text[head.end() : tail.start()], tail, name, meshes)
        text = text[: head.start()] + call + text[tail.end() :]
        last = text.rindex("\n}")
        text = f"{text[:last]}\n{function}{text[last:]}"
    return text


def _parts(
    head: re.Match[str],
    body: str,
    tail: re.Match[str],
    name: str,
    meshes: dict[str, dict[str, str]],
) -> tuple[str, str]:
    """The call in the place of a manual computation, and the function that its region becomes."""
    manual = re.findall(r'"([^"]+)"', head["manual"])
    shardings = [*_SHARDING.finditer(head["ins"]), *_SHARDING.finditer(head["outs"])]
    if unknown := {s[1] for s in shardings} - meshes.keys():
        raise ValueError(f"sdy.manual_computation is over {unknown}, meshes that the module lacks")
    mesh = next((meshes[s[1]] for s in shardings if meshes[s[1]]), {})
    manual = [axis for axis in mesh if axis in manual]

    def specs(given: str) -> str:
        found = (
            [
                _names([a for a in re.findall(r'"([^"]+)"', dim) if a in manual])
                for dim in re.findall(r"\{([^}]*)\}", s[2])
            ]
            for s in _SHARDING.finditer(given)
        )
        return "[" + ", ".join("[" + ", ".join(dims) + "]" for dims in found) + "]"

    sizes = ", ".join(mesh.values())
    config = (
        f"body = @{name}, check_vma = false, in_specs = {specs(head['ins'])}, "
        f"out_specs = {specs(head['outs'])}, manual = {_names(manual)}, "
        f"mesh = {_names(list(mesh))}, sizes = array<i64: {sizes}>"
    )
    call = (
        f"{head['indent']}{head['results']} = stablehlo.custom_call @irax.shard_map"
        f"({head['operands']}) {{api_version = 4 : i32, has_side_effect = false, "
        f"backend_config = {{{config}}}}} : {tail[1]} -> {tail[2]}"
    )
    returned = _RETURN.search(body)
    types = "" if returned is None else returned["types"] or ""
    stated = ",".join(f"{axis}={size}" for axis, size in mesh.items())
    function = (
        f"  func.func private @{name}({head['arguments']}) -> ({types}) "
        f'attributes {{{MESH} = "{stated}"}} {{\n'
        f"{_RETURN.sub(lambda m: m[0].replace('sdy.return', 'return'), body)}  }}"
    )
    return call, function


def _names(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"
