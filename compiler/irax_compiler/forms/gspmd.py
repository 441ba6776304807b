"""Shardings of XLA's older partitioner, as irax's.

    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,1,2]<=[4] ..."}

They divide devices that are numbered, and name no axes. So the axes of the mesh follow from all
shardings of a module: the steps between the numbers of devices that some dimension goes along.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.forms import manual
from irax_compiler.forms.layouts import Sharding, constraint, operations, state
from irax_compiler.mlir import InsertionPoint, Module, Operation
from irax_compiler.ops.control_flow.shard_map import ShardMap
from irax_compiler.shardy.layouts import Mesh

_ATTRIBUTE = "mhlo.sharding"
_TILES = re.compile(
    r"\{devices=\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?(?P<rest> last_tile_dim[^}]*\}?)?\}$"
)


def rewrite(module: Module) -> None:
    """Rewrite shardings, and calls of functions of shards."""
    texts = set(_texts(module))
    tiles = [found for found in map(_Tiles.read, sorted(texts)) if found is not None]
    mesh = _mesh(tiles)
    if mesh is None:
        return

    def read(attribute: Any) -> Sharding | None:
        return _sharding(attribute.value, mesh)

    for call in operations(module, "func.call"):
        _as_shard_map(module, call, mesh)
    for operation in _custom_calls(module, "Sharding"):
        _as_constraint(operation, mesh)
    for function in mlir.functions(module).values():
        state(function, _ATTRIBUTE, read)


def _texts(module: Module) -> Iterator[str]:
    for function in mlir.functions(module).values():
        for where in ("arg_attrs", "res_attrs"):
            entries: Any = function.attributes.get(where, ())
            yield from (entry[_ATTRIBUTE].value for entry in entries if _ATTRIBUTE in entry)
    for operation in operations(module, "stablehlo.custom_call"):
        if (text := _text(operation)) is not None:
            yield text


def _text(operation: Operation) -> str | None:
    if _ATTRIBUTE not in operation.attributes:
        return None
    attribute: Any = operation.attributes[_ATTRIBUTE]
    return attribute.value


def _target(operation: Operation | None) -> str:
    if operation is None or operation.name != "stablehlo.custom_call":
        return ""
    attribute: Any = operation.attributes["call_target_name"]
    return attribute.value


def _custom_calls(module: Module, target: str) -> list[Operation]:
    return [o for o in operations(module, "stablehlo.custom_call") if _target(o) == target]


@dataclass(frozen=True)
class _Tiles:
    """The division of an array: for each dimension, runs of numbers of devices along it."""

    count: int
    """The number of devices."""
    dimensions: tuple[tuple[tuple[int, int], ...], ...]
    """For each dimension the runs, slowest first: how many devices, and the step between them."""
    rest: tuple[tuple[int, int], ...]
    """The runs along which devices have the same."""

    @classmethod
    def read(cls, text: str) -> _Tiles | None:
        """Return the division that a text says; None where it is none, or divides runs unevenly."""
        match = _TILES.match(text)
        if match is None:
            return None
        sizes, extents = _numbers(match[1]), _numbers(match[2])
        order = _numbers(match[3]) if match[3] else list(range(len(extents)))
        runs = [(extents[d], prod(extents[d + 1 :])) for d in order]
        found = []
        for size in sizes:
            taken: list[tuple[int, int]] = []
            while size > 1 and runs:
                length, step = runs.pop(0)
                if size % length == 0:
                    taken.append((length, step))
                    size //= length
                elif length % size == 0:
                    inner = length // size
                    taken.append((size, step * inner))
                    runs.insert(0, (inner, step))
                    size = 1
                else:
                    return None
            found.append(tuple(run for run in taken if run[0] > 1))
        named = match["rest"] or ""
        other = named.count(",") + 1 if named else 0
        keep = len(found) - other
        last = tuple(run for runs_of_one in found[keep:] for run in runs_of_one)
        return cls(prod(extents), tuple(found[:keep]), last)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _mesh(tiles: Sequence[_Tiles]) -> Mesh | None:
    """The mesh along whose axes all of some divisions are; None where there is none."""
    if not tiles or len({one.count for one in tiles}) > 1:
        return None
    runs = [run for one in tiles for d in (*one.dimensions, one.rest) for run in d]
    cuts = sorted({1, tiles[0].count, *(c for n, step in runs for c in (step, n * step))})
    if any(large % small for small, large in pairwise(cuts)):
        return None
    sizes = [large // small for small, large in pairwise(cuts)][::-1]
    return {f"axis{i}": size for i, size in enumerate(sizes)}


def _sharding(text: str | None, mesh: Mesh) -> Sharding | None:
    """The spec that a text says; None where it says none of a whole array."""
    tiles = None if text is None else _Tiles.read(text)
    if tiles is None:
        return None
    steps = {axis: prod(list(mesh.values())[i + 1 :]) for i, axis in enumerate(mesh)}

    def axes(run: tuple[int, int]) -> list[str]:
        length, step = run
        return [axis for axis in mesh if step <= steps[axis] < step * length]

    spec = tuple(tuple(a for run in runs for a in axes(run)) for runs in tiles.dimensions)
    return mesh, spec


def _as_constraint(operation: Operation, mesh: Mesh) -> None:
    (x,) = operation.operands
    found = _sharding(_text(operation), mesh)
    config: Any = operation.attributes.get("backend_config")
    is_open = isinstance(config, mlir.ir.StringAttr) and "unspecified" in config.value
    spec = found[1] if found is not None and not is_open else None
    fits = spec is not None and len(spec) == len(mlir.shape_of(x))
    if spec is not None and fits and manual.mesh_around(operation) is None:
        with InsertionPoint(operation), operation.location:
            x = constraint(x, mesh, spec)
    mlir.replace(operation, [x])


def _as_shard_map(module: Module, call: Operation, mesh: Mesh) -> None:
    """Make a call of a function of shards, with what divides its operands before it and joins its
    results after it, an `irax.shard_map`.
    """
    divided = [mlir.definition(x) for x in call.operands]
    joined = [_joining(result) for result in call.results]
    if not divided or any(_target(o) != "SPMDFullToShardShape" for o in divided):
        return
    wholes = [o.operands[0] for o in divided if o is not None]
    ins = [_of_whole(x, mesh) for x in wholes]
    outs = [None if o is None else _sharding(_text(o), mesh) for o in joined]
    in_specs = [one[1] for one in ins if one is not None]
    out_specs = [one[1] for one in outs if one is not None]
    if len(in_specs) < len(ins) or len(out_specs) < len(outs):
        return
    name = mlir.callee(call)
    manual.set_mesh_around(mlir.functions(module)[name], mesh)
    with InsertionPoint(call), call.location:
        specs: Any = tuple(in_specs), tuple(out_specs)
        op = ShardMap(name, tuple(mesh.items()), tuple(mesh), *specs, check_vma=False)
        found = op.build(wholes)
    for joining, value in zip(joined, found, strict=True):
        assert joining is not None
        note = mlir.definition(joining.operands[0])
        mlir.replace(joining, [value])
        if note is not None and _target(note) == "Sharding":
            note.erase()
    call.erase()
    for operation in divided:
        if operation is not None and not mlir.num_uses(operation.results[0]):
            operation.erase()


def _of_whole(x: mlir.Value, mesh: Mesh) -> Sharding | None:
    """The sharding of an array that is about to be divided."""
    note = mlir.definition(x)
    found = _sharding(_text(note), mesh) if note is not None and _target(note) else None
    if found is None and note is not None and _text(note) == "{replicated}":
        return mesh, ((),) * len(mlir.shape_of(x))
    return found


def _joining(result: mlir.Value) -> Operation | None:
    """The operation that makes a result, of shards, a whole array."""
    uses = mlir.users(result)
    if len(uses) != 1:
        return None
    if _target(uses[0]) == "Sharding":
        return _joining(uses[0].results[0])
    return uses[0] if _target(uses[0]) == "SPMDShardToFullShape" else None
