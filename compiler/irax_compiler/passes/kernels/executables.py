"""HAL executables that passes write themselves, and their dispatches."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import (
    Attribute,
    Block,
    InsertionPoint,
    Module,
    Operation,
    Type,
    Value,
    shape_of,
)
from irax_compiler.ops import size_code
from irax_compiler.ops.registers import emit, index
from irax_compiler.passes.host.annotate import reflection
from irax_compiler.passes.kernels.code.places import plus, times
from irax_compiler.passes.kernels.division import ATTRIBUTE, Division
from irax_compiler.processors import processors
from irax_compiler.sizes import InconclusiveDimensionOperation, Size, variables

SHARE = 1_000_000
"""The least multiplications and additions for which a workgroup pays."""

SIZED_DISPATCH, VARIABLES = "irax.dispatch", "variables"
"""The name of dispatches of kernels that depend on sizes, and of the attribute that lists these."""

STACK = 1 << 18
"""The most bytes of memory of its own that a workgroup has on its stack."""

IMPORTED = "hal.import.static"
"""The attribute of functions that are in a shared library."""

IN_PLACE = "in_place"
"""The attribute of functions that says which results may be in the memory of which operands."""

_LOWERED = "#iree_codegen.translation_info<pipeline = #iree_codegen.no_pipeline>"
"""Tells IREE that a kernel is loops over memory: there is nothing left to tile and to vectorize."""

Body = Callable[[Block, list[Value]], None]
"""Builds the code of a workgroup; gets the block of the executable's functions, and the bindings of
the arrays with the numbers after them."""


def add_executable(
    module: Module,
    name: str,
    counts: tuple[int, int],
    arrays: int,
    body: Body,
    workload: int = 0,
    numbers: int = 0,
    sizes: Sequence[str] = (),
    in_place: Mapping[int, int] | None = None,
    division: Division | None = None,
) -> Operation:
    """Add the executable `name` to a module, with one function of the same name, and return it.

    Args:
        module: the module.
        name: the name.
        counts: the number of workgroups in two dimensions.
        arrays: the number of arrays that the function reads and writes.
        body: builds the function.
        workload: how many numbers its dispatches have before their operands.
        numbers: how many integers of 64 bits the function has after the arrays.
        sizes: the variables that sizes depend on, whose values are further such integers.
        in_place: which results of its dispatches may be in the memory of which operands, by the
            numbers of arrays. They have the operand's type (see the pass `overwrite`).
        division: how its items divide the arrays, if they do (see the pass `fuse-kernels`).
    """
    named = {"sym_name": mlir.string(name)}
    with InsertionPoint.at_block_begin(module.body):
        private = named | {"sym_visibility": mlir.string("private")}
        outer = mlir.emit("stream.executable", [], private, [], regions=1)
    with InsertionPoint(Block.create_at_start(outer.regions[0], [])):
        public = {"function_ref": mlir.symbol(name), "sym_visibility": mlir.string("public")}
        export = mlir.emit("stream.executable.export", [], named | public, [], regions=1)
        inner = mlir.emit("builtin.module", [], {}, [], regions=1)
        mlir.emit("stream.executable.end", [], {}, [])
    before = [mlir.parse_type("index")] * workload
    with InsertionPoint(Block.create_at_start(export.regions[0], before)):
        mlir.emit("stream.return", [*map(index, counts), index(1)], {}, [])
    inside = Block.create_at_start(inner.regions[0], [])
    types = [mlir.parse_type("!stream.binding")] * arrays
    types += [mlir.parse_type("i64")] * (numbers + len(sizes))
    lowered = {"translation_info": mlir.parse_attribute(_LOWERED)}
    if in_place:
        lowered[IN_PLACE] = mlir.integers(n for pair in in_place.items() for n in pair)
    if division is not None:
        lowered[ATTRIBUTE] = division.attribute
    with InsertionPoint(inside):
        function = mlir.emit("func.func", [], named | lowered | typed(types), [], regions=1)
    block = Block.create_at_start(function.regions[0], types)
    given: list[Value] = list(block.arguments)
    with InsertionPoint(block):
        place = mlir.parse_type("index")
        values = [emit("arith.index_cast", x, to=place) for x in given[arrays + numbers :]]
        with size_code.known(dict(zip(sizes, values, strict=True))):
            body(inside, given[: arrays + numbers])
        mlir.emit("func.return", [], {}, [])
    return outer


@dataclass
class Executables:
    """The executables that a pass adds to a module, equal ones once."""

    module: Module
    names: dict[str, str] = field(default_factory=dict)
    """Their names, by their code."""
    described: dict[Hashable, str] = field(default_factory=dict)
    """Their names, by what their code follows from."""

    def add(
        self, kind: str, build: Callable[[str], Operation], description: Hashable | None = None
    ) -> str:
        """Return the name of the executable that `build` adds under a name, or of an equal one.

        Executables of one `description` are equal: the first of them is built.

        Raises:
            InconclusiveDimensionOperation: its form depends on sizes that are not known.
        """
        if description is None:
            return self._added(kind, build)
        if description not in self.described:
            self.described[description] = self._added(kind, build)
        return self.described[description]

    def _added(self, kind: str, build: Callable[[str], Operation]) -> str:
        name = mlir.unique_name(self.module, kind)
        try:
            executable = build(name)
        except InconclusiveDimensionOperation:
            begun: Any = self.module.body.operations[0]
            if mlir.function_name(begun.operation) == name:
                begun.operation.erase()
            raise
        code = re.sub(rf"@{name}\b", "@", mlir.comparable(executable))
        known = self.names.setdefault(code, name)
        if known != name:
            executable.erase()
        return known

    def add_kernel(
        self,
        kind: str,
        counts: tuple[int, int],
        arrays: int,
        build: Callable[[list[Value]], None],
        sizes: Sequence[str],
        division: Division | None = None,
        description: Hashable | None = None,
    ) -> str:
        """Return the name of an executable whose function `build` builds from its arrays; see
        `add` and `add_executable`.
        """

        def body(_: Block, bindings: list[Value]) -> None:
            build(bindings)

        return self.add(
            kind,
            lambda name: add_executable(
                self.module, name, counts, arrays, body, sizes=sizes, division=division
            ),
            None if description is None else (description, tuple(sizes)),
        )


def dispatch(
    name: str,
    operands: Sequence[Value],
    types: Sequence[Type],
    ties: Mapping[int, int] | None = None,
    workload: Sequence[Value] = (),
    sizes: Sequence[str] = (),
    extents: tuple[Sequence[Value], Sequence[Value]] = ((), ()),
) -> list[Value]:
    """Build a dispatch of the executable `name`, with results of these types.

    `ties` has the numbers of results that are in the memory of an operand, and the operand's. These
    results have no bindings of their own. Equal dispatches are one to IREE, unless their `workload`
    differs. One whose kernel depends on `sizes` is a dispatch of IREE's after `dynamic-shapes`. For
    arrays with `?`, as they are after that pass, `extents` are these sizes of operands and results.
    """
    entry = {"entry_points": mlir.array([mlir.parse_attribute(f"@{name}::@{name}")])}
    if sizes:
        named = {VARIABLES: mlir.array([mlir.string(name) for name in sizes])}
        return list(mlir.emit(SIZED_DISPATCH, operands, entry | named, types).results)
    attributes = entry | mlir.segment_sizes(*map(len, (workload, operands, *extents)))
    if ties:
        tied = [mlir.parse_attribute(f"{ties.get(i, -1)} : index") for i in range(len(types))]
        attributes["tied_operands"] = mlir.array(tied)
    given = [*workload, *operands, *extents[0], *extents[1]]
    return list(mlir.emit("flow.dispatch", given, attributes, types).results)


def sizes_of_function() -> list[str]:
    """Return the variables that a kernel may need, sorted: all of the function at the insertion
    point. What is between a kernel's operands and results has sizes, too.
    """
    arguments = mlir.arguments(mlir.open_function())
    return sorted(set(variables(n for x in arguments for n in shape_of(x))))


def workers_of(function: Operation) -> int:
    """Return the number of workgroups of a function's dispatches that run at a time."""
    return 1 if reflection(function).get("irax.driver") == "sync" else processors()


def typed(inputs: Sequence[Type], results: Sequence[Type] = ()) -> dict[str, Attribute]:
    """The attributes of a function of this type."""
    return {"function_type": mlir.type_attribute(mlir.function_type(inputs, results))}


# ---- code ----------------------------------------------------------------------------------------


def workgroup(dimension: int) -> Value:
    """The number of the workgroup in a dimension."""
    attribute = {"dimension": mlir.parse_attribute(f"{dimension} : index")}
    return mlir.emit(
        "stream.dispatch.workgroup.id", [], attribute, [mlir.parse_type("index")]
    ).results[0]


def memory(binding: Value, elements: Any, dtype: np.dtype, start: int = 0) -> Value:
    """Build the view of a binding, from a byte on, as the memory of elements of `dtype`."""
    return view(binding, elements, mlir.element_type(dtype), start)


def local_memory(elements: int, element: Type | str, alignment: int | None = None) -> Value:
    """Allocate memory of the workgroup's own, from an address divisible by `alignment` bytes."""
    attributes = mlir.segment_sizes(0, 0)
    if alignment is not None:
        attributes["alignment"] = mlir.parse_attribute(f"{alignment} : i64")
    buffer = mlir.parse_type(f"memref<{elements}x{element}>")
    return mlir.emit("memref.alloca", [], attributes, [buffer]).results[0]


def view(binding: Value, elements: Any, element: Type | str, start: int = 0) -> Value:
    """Build the view of a binding, from a byte on, as memory of one dimension."""
    # A type with an offset that is known would lose that of the binding.
    extent, sizes = ("?", [index(elements)]) if isinstance(elements, Size) else (elements, [])
    type_ = mlir.parse_type(f"memref<{extent}x{element}, strided<[1], offset: ?>>")
    return emit("stream.binding.subspan", binding, index(start), *sizes, to=type_)


def base(binding: Value, size: Any) -> Value:
    """The address of an array of `size` bytes."""
    bytes_ = view(binding, size, "i8")
    byte = mlir.parse_type("memref<i8>")
    place = mlir.parse_type("index")
    types = [byte, place, place, place]
    memory, offset, *_ = mlir.emit("memref.extract_strided_metadata", [bytes_], {}, types).results
    return emit("arith.addi", address(memory), offset)


def address(memory: Value) -> Value:
    """The address of memory without an offset."""
    return emit("memref.extract_aligned_pointer_as_index", memory, to=mlir.parse_type("index"))


def declare_import(
    block: Block, name: str, inputs: Sequence[Type], results: Sequence[Type] = ()
) -> None:
    """Declare a function of a shared library, which the process has loaded, in the block of an
    executable's functions.
    """
    attributes = {
        "sym_name": mlir.string(name),
        "sym_visibility": mlir.string("private"),
        IMPORTED: mlir.parse_attribute("unit"),
        "llvm.bareptr": mlir.parse_attribute("true"),
    }
    with InsertionPoint.at_block_begin(block):
        mlir.emit("func.func", [], attributes | typed(inputs, results), [], regions=1)


def size_of_share(count: int, most: int) -> int:
    """Return the items of each workgroup, where at most `most` workgroups share `count` items."""
    return -(-count // max(1, min(count, most)))


def share(count: Any, size: Any, dimension: int) -> tuple[Value, Value]:
    """Return the first of the workgroup's items, and the end of them; `size` of `count` items, or
    fewer for the last workgroup. Where the count is not known, some may have none.
    """
    return share_of(workgroup(dimension), count, size)


def share_of(number: Value, count: Any, size: Any) -> tuple[Value, Value]:
    """Return the first of `count` items that the workgroup with a number has, and the end."""
    first = times(number, size)
    if isinstance(count, Size):
        first = emit("arith.minsi", first, index(count))
        return first, emit("arith.minsi", emit("arith.addi", first, index(size)), index(count))
    return first, emit("arith.minsi", plus(first, size), index(count))


def long(x: Value) -> Value:
    """Return an index as an integer of 64 bits."""
    return emit("arith.index_cast", x, to=mlir.parse_type("i64"))
