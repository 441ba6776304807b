"""The pass configure, which chooses vectors and tiles of IREE's kernels where masks are slow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value, shape_of
from irax_compiler.passes.core import Pass, nested, register_pass

_MASKED = "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>"
_PEELED = f"{_MASKED[:-1]}, {{enable_loop_peeling}}>"
_TILE = 4096
"""The fewest elements of a workgroup's tile that is made anew."""


@register_pass
@dataclass
class Configure(Pass):
    """Peels loops of IREE's kernels of generic operations: elements that do not fill a vector are
    computed by loops of their own, after whole vectors. Elementwise kernels have vectors of up to
    `bytes` bytes, and tiles of whole rows. The module is one of IREE's phase
    executable-configurations.

    On x86, IREE masks all vectors of a dimension whose size is not a multiple of theirs. Without
    AVX-512, a masked store takes as long as a dozen others, and elements of 8 or 16 bits are stored
    by a branch for each. IREE's own vectors have eight elements then, of whatever width.
    """

    name: ClassVar[str] = "configure"
    bytes: int = 64

    def run(self, module: Module) -> None:
        peeled = mlir.parse_attribute(_PEELED)
        for function in _functions(module.operation):
            attributes: Any = function.attributes
            if "translation_info" not in attributes:
                continue
            if str(attributes["translation_info"]) != _MASKED:
                continue
            tiled = [x for x in nested(function) if "lowering_config" in x.attributes]
            if _are_generic(tiled):
                attributes["translation_info"] = peeled
                if len(tiled) == 1 and _is_in_order(tiled[0]):
                    _widen(tiled[0], self.bytes)


def _functions(operation: Operation) -> Iterator[Operation]:
    """Yield the functions in an operation, without looking for more in them."""
    if operation.name == "func.func":
        yield operation
        return
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _functions(inner.operation)


def _are_generic(tiled: list[Operation]) -> bool:
    """True if all operations that IREE has chosen tiles for are generic ones, or fill what these
    write to.
    """
    return all(x.name in ("linalg.generic", "linalg.fill") for x in tiled)


def _is_in_order(operation: Operation) -> bool:
    """True for an elementwise operation of known sizes that reads all arrays in the order in which
    it writes.
    """
    if operation.name != "linalg.generic" or len(operation.results) == 0:
        return False
    if any(map(_is_strided, _neighbours(operation))):
        return False
    made: Any = operation.results[0].type
    if not made.has_static_shape:  # a program for all sizes
        return False
    maps: Any = operation.attributes["indexing_maps"]
    *read, written = [_dimensions(str(x)) for x in maps]
    rank = len(shape_of(operation.results[0]))
    return written == [*range(rank)] and all(x is not None and x == sorted(set(x)) for x in read)


def _neighbours(operation: Operation) -> Iterator[Operation]:
    """Yield the operations that give the operands of one, and those that take its results."""
    for x in operation.operands:
        giver = mlir.definition(x)
        if giver is not None:
            yield giver
    for x in operation.results:
        yield from (use.owner.operation for use in x.uses)


def _is_strided(operation: Operation) -> bool:
    """True if an operation is about memory whose neighbours in the last dimension lie apart."""
    found = (
        re.search(r"strided<\[(?:[^\]]*, )?(\w+|\?)\]", str(x.type)) for x in operation.operands
    )
    return any(x is not None and x[1] != "1" for x in found)


def _dimensions(text: str) -> list[int] | None:
    """Return the dimensions that a map selects; None if it does anything else."""
    found = re.fullmatch(r"affine_map<\(.*\) -> \(((?:d\d+(?:, )?)*)\)>", text)
    return None if found is None else [int(x) for x in re.findall(r"\d+", found[1])]


def _widen(operation: Operation, size: int) -> None:
    """Give an operation vectors of up to `size` bytes, and tiles of whole rows."""
    config = str(operation.attributes["lowering_config"])
    tiles, vectors = (_numbers(config, name) for name in ("distribution", "vector_common_parallel"))
    extents = shape_of(operation.results[0])
    if not 0 < len(tiles) == len(vectors) == len(extents) or prod(vectors) != vectors[-1]:
        return
    if tiles[-1] < extents[-1]:
        tiles = _of_rows(extents, max(prod(tiles), _TILE))
    lanes = size // max(map(_bytes, _elements(operation)))
    if lanes > vectors[-1] and tiles[-1] >= lanes:
        vectors = [*vectors[:-1], lanes]
    for name, numbers in (("distribution", tiles), ("vector_common_parallel", vectors)):
        config = re.sub(rf"\b{name} = \[[^\]]*\]", f"{name} = {numbers}", config)
    attributes: Any = operation.attributes
    attributes["lowering_config"] = mlir.parse_attribute(config)


def _numbers(config: str, name: str) -> list[int]:
    """Return a list of numbers in the text of a configuration."""
    found = re.search(rf"\b{name} = \[([\d, ]*)\]", config)
    return [] if found is None else [int(x) for x in found[1].split(",")]


def _of_rows(extents: tuple[int, ...], elements: int) -> list[int]:
    """Return the tile of so many consecutive elements."""
    found: list[int] = []
    for extent in reversed(extents):
        found.append(max(1, min(extent, elements)))
        elements //= found[-1]
    return found[::-1]


def _elements(operation: Operation) -> list[Value]:
    """Return what an operation computes for an element."""
    block = mlir.body(operation)
    return [*block.arguments, *(x for o in block.operations for x in o.operation.results)]


def _bytes(x: Value) -> int:
    """Return the bytes of a number, at least 1; of a place, 8."""
    found = re.fullmatch(r"[a-z]+(\d+)", str(x.type))
    return max(1, int(found[1]) // 8) if found else 8
