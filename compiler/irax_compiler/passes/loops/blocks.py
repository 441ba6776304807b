"""Translation of StableHLO blocks on few elements to operations on registers.

Arrays too large for registers are tensors of one dimension, of which slabs are read and written:
dynamic slices whose elements are contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.core import no_calls
from irax_compiler.ops.formulas import definition, is_formula
from irax_compiler.ops.registers import (
    Registers,
    emit,
    register_type,
)
from irax_compiler.ops.registry import read as read_op
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import walk
from irax_compiler.passes.loops import indexing, vectors
from irax_compiler.passes.loops.launch import Functions
from irax_compiler.passes.loops.memory import held_dtype

REGISTERS = 128
"""The most elements of a value that is kept in registers."""


@dataclass
class Scope:
    """The registers and memory of the values that a block may use."""

    registers: dict[Value, Value] = field(default_factory=dict)
    tables: dict[Value, Value] = field(default_factory=dict)
    """The tensors that hold arrays that are only read."""
    factors: dict[Operation, Value] = field(default_factory=dict)
    """For products with tables, the tensors that hold these with the contracting dimensions
    first."""
    places: dict[Value, tuple[np.dtype, int]] = field(default_factory=dict)
    """The memory of arrays that are written, by dtype, and the offset at which they begin."""
    memory: dict[np.dtype, Value] = field(default_factory=dict)
    """The tensor of each dtype's memory: IREE would merge two equal tensors."""
    together: int = 1
    """The number of elements for which a scalar computation runs at once."""
    lanes: int = REGISTERS
    """The number of elements of a register in which larger arrays are processed step by step."""
    functions: Functions | None = None
    """The functions that formulas call; without them, formulas are inlined."""

    def size(self, x: Value) -> int:
        """Return the number of elements of a value's register."""
        return min(prod(shape_of(x)), self.lanes)

    def inner(self, arguments: Sequence[Value], given: Registers) -> Scope:
        """Return the scope of a nested block with the given arguments."""
        return replace(self, registers=self.registers | dict(zip(arguments, given, strict=True)))

    def register(self, x: Value) -> Value:
        found = self.registers.get(x)
        return _constant(x, self.size(x)) if found is None else found

    def is_array(self, x: Value) -> bool:
        """Return True for a value in memory."""
        return x in self.tables or x in self.places

    def array(self, x: Value, at: Value) -> tuple[Value, Value]:
        """Return the tensor that holds an array now, and the index in it of an index of the
        array.
        """
        if x in self.tables:
            return self.tables[x], at
        dtype, base = self.places[x]
        return self.memory[dtype], emit("arith.addi", at, registers.index(base))


_STRUCTURE = {
    f"stablehlo.{name}" for name in ("case", "constant", "if", "iota", "map", "return", "while")
}


def is_known(operation: Operation, arrays: set[Value]) -> bool:
    """True if a block with this operation can be built; `arrays` are the values that are not in
    registers.
    """
    name = operation.name
    if is_formula(operation) or name == "func.return":
        return True
    if name == "stablehlo.dot_general":
        tables = [x for x in operation.operands if x in arrays]
        return vectors.multiplies(operation) and len(tables) < 2
    if indexing.is_known(operation):
        is_slab = reads_slab(operation) or writes_slab(operation)
        return is_slab or operation.operands[0] not in arrays
    is_structure = name in _STRUCTURE or traits_of(operation).moves or name == barrier.name
    return is_structure or name == "stablehlo.reduce" or registers.is_known(operation)


def reads_slab(operation: Operation) -> bool:
    """True if an operation is a dynamic slice of contiguous elements."""
    if operation.name != "stablehlo.dynamic_slice":
        return False
    return _side_by_side(shape_of(operation.results[0]), shape_of(operation.operands[0]))


def writes_slab(operation: Operation) -> bool:
    """True if an operation updates contiguous elements."""
    if operation.name != "stablehlo.dynamic_update_slice":
        return False
    return _side_by_side(shape_of(operation.operands[1]), shape_of(operation.operands[0]))


def _side_by_side(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    first = next((d for d, extent in enumerate(part) if extent != 1), len(part))
    return part[first + 1 :] == whole[first + 1 :]


# ---- building ------------------------------------------------------------------------------------


def build(source: Block, scope: Scope) -> None:
    """Build the operations of a block at the insertion point; the scope then has their results."""
    translate(walk(source), scope)


def translate(operations: Iterable[Operation], scope: Scope) -> None:
    """Build operations in order."""
    for operation in operations:
        with operation.location:
            results = _translated(operation, scope)
        scope.registers.update(zip(operation.results, results, strict=False))


def results(source: Block, scope: Scope) -> list[Value]:
    """Build a block at the insertion point, and return the registers of its terminator's
    operands.
    """
    build(source, scope)
    return [scope.register(x) for x in mlir.terminator(source).operands]


def loop(operation: Operation, scope: Scope) -> list[Value]:
    """Build a `stablehlo.while` over registers. If it runs for several elements at once, it runs
    until all are done; those that are done keep their values.
    """
    condition, body = (region.blocks[0] for region in operation.regions)

    def spread(given: Registers) -> list[Value]:
        return [registers.spread(x, scope.together) for x in given]

    def holds(carried: list[Value]) -> Value:
        return spread(results(condition, scope.inner(condition.arguments, carried)))[0]

    def step(carried: list[Value]) -> list[Value]:
        return spread(results(body, scope.inner(body.arguments, carried)))

    def step_of_some(carried: list[Value]) -> list[Value]:
        needed, new = holds(carried), step(carried)
        return [registers.select(needed, x, y) for x, y in zip(new, carried, strict=True)]

    start = spread([scope.register(x) for x in operation.operands])
    if scope.together == 1:
        return while_loop(start, holds, step)
    return while_loop(start, lambda carried: registers.any_of(holds(carried)), step_of_some)


def while_loop(
    start: Registers,
    condition: Callable[[list[Value]], Value],
    body: Callable[[list[Value]], Registers],
) -> list[Value]:
    """Build an `scf.while`, which runs while the condition of the loop-carried values holds."""
    types = [x.type for x in start]
    made = mlir.emit("scf.while", start, {}, types, regions=2)
    before, after = (mlir.Block.create_at_start(region, types) for region in made.regions)
    with InsertionPoint(before):
        carried: list[Value] = list(before.arguments)
        mlir.emit("scf.condition", [condition(carried), *carried], {}, [])
    with InsertionPoint(after):
        inside: list[Value] = list(after.arguments)
        mlir.emit("scf.yield", body(inside), {}, [])
    return list(made.results)


def _translated(operation: Operation, scope: Scope) -> Registers:
    name = operation.name
    if name == "stablehlo.constant":
        return [scope.register(operation.results[0])]
    if name == "stablehlo.iota":
        return [registers.constant(np.asarray(read_op(operation).evaluate(no_calls)))]
    if name == "stablehlo.while":
        return loop(operation, scope)
    if name == "stablehlo.dynamic_slice" and scope.is_array(operation.operands[0]):
        (x, *starts), (result,) = operation.operands, operation.results
        at = offset(shape_of(x), shape_of(result), starts, [scope.register(s) for s in starts])
        return [load(*scope.array(x, at), result)]
    if name == "stablehlo.dynamic_update_slice" and scope.is_array(operation.operands[0]):
        (x, new, *starts), (result,) = operation.operands, operation.results
        at = offset(shape_of(x), shape_of(new), starts, [scope.register(s) for s in starts])
        dtype, _ = scope.places[result] = scope.places[x]
        scope.memory[dtype] = store(scope.register(new), *scope.array(x, at))
        return []
    if operation in scope.factors:
        return [_product_with_table(operation, scope)]
    operands = [scope.register(x) for x in operation.operands]
    if traits_of(operation).is_view or name == barrier.name:
        return operands
    if is_formula(operation):
        return _formula(operation, operands, scope)
    if name == "stablehlo.broadcast_in_dim" and registers.size_of(operands[0]) == 1:
        return [registers.spread(operands[0], scope.size(operation.results[0]))]
    if traits_of(operation).moves:
        return [vectors.moved(operation, operands)]
    if name == "stablehlo.dot_general":
        return [vectors.product(operation, *operands)]
    if name == "stablehlo.dynamic_slice":
        return [indexing.sliced(operation, operands)]
    if name == "stablehlo.dynamic_update_slice":
        return [indexing.updated(operation, operands)]
    if name == "stablehlo.gather":
        return [indexing.gathered(operation, operands)]
    if name == "stablehlo.scatter":
        (inner,) = operation.regions[0].blocks
        return [
            indexing.scattered(
                operation,
                operands,
                lambda x, y: results(inner, scope.inner(inner.arguments, [x, y]))[0],
            )
        ]
    if name == "stablehlo.reduce":
        (inner,) = operation.regions[0].blocks

        def combine(x: Registers, y: Registers) -> Registers:
            found = results(inner, scope.inner(inner.arguments, [*x, *y]))
            return [registers.spread(z, registers.size_of(x[0])) for z in found]

        return vectors.folded(operation, operands, combine)
    if name == "stablehlo.map":
        (inner,) = operation.regions[0].blocks
        size = scope.size(operation.results[0])
        mapped = results(inner, scope.inner(inner.arguments, operands))
        return [registers.spread(x, size) for x in mapped]
    if name in ("stablehlo.case", "stablehlo.if"):
        branches = [region.blocks[0] for region in operation.regions]
        to = [register_type(x) for x in operation.results]
        choose = _if if name == "stablehlo.if" else _case
        build_branch = [lambda b=b: results(b, scope.inner((), ())) for b in branches]
        return choose(operands[0], build_branch, to)
    return [registers.apply(operation, operands)]


def _formula(operation: Operation, operands: Registers, scope: Scope) -> Registers:
    size = scope.size(operation.results[0])
    function = definition(operation)
    body = mlir.body(function)

    def written_out(given: Registers) -> Registers:
        inside = Scope(dict(zip(body.arguments, given, strict=True)), together=size)
        return [registers.spread(x, size) for x in results(body, inside)]

    given = [registers.spread(x, size) for x in operands]
    if scope.functions is None:
        return written_out(given)
    return scope.functions.call(mlir.function_name(function), given, written_out)


def _product_with_table(operation: Operation, scope: Scope) -> Value:
    table, (left, right) = scope.factors[operation], operation.operands
    table_is_left = left in scope.tables

    def row(k: int, size: int) -> Value:
        to = registers.type_of(held_dtype(left), size)
        return read(table, registers.index(k * size), to)

    register = scope.register(right if table_is_left else left)
    return vectors.product_with_table(operation, table_is_left, register, row)


def _constant(x: Value, size: int) -> Value:
    source, fill = mlir.definition(x), mlir.splat(x)
    assert source is not None
    found = registers.constant(mlir.dense_to_numpy(source) if fill is None else fill)
    return registers.spread(found, size)


def load(array: Value, at: Value, x: Value, most: int = REGISTERS) -> Value:
    """Load a value's register, or `most` of its elements, from an index of an array."""
    size = min(prod(shape_of(x)), most)
    loaded = read(array, at, registers.type_of(held_dtype(x), size))
    boolean = np.dtype(np.bool_)
    if dtype_of(x) != boolean:
        return loaded
    return emit("arith.trunci", loaded, to=registers.type_of(boolean, size))


def store(x: Value, array: Value, at: Value) -> Value:
    """Store a register's elements at an index of an array, and return the array."""
    if registers.is_boolean(x):
        x = emit("arith.extui", x, to=registers.with_elements(x, np.dtype(np.int8)))
    return write(x, array, at)


def read(array: Value, at: Value, to: Type) -> Value:
    """Read a register from consecutive elements at an index of an array."""
    if not isinstance(to, mlir.VectorType):
        return emit("tensor.extract", array, at, to=to)
    padding = registers.zero(to.element_type)
    return emit("vector.transfer_read", array, at, padding, to=to, **_TRANSFER)


def write(x: Value, array: Value, at: Value) -> Value:
    """Write a register's elements at an index of an array, and return the array."""
    if not isinstance(x.type, mlir.VectorType):
        return emit("tensor.insert", x, array, at, to=array.type)
    return emit("vector.transfer_write", x, array, at, to=array.type, **_TRANSFER)


_TRANSFER = {
    "in_bounds": mlir.parse_attribute("[true]"),
    "permutation_map": mlir.parse_attribute("affine_map<(d0) -> (d0)>"),
    "operandSegmentSizes": mlir.parse_attribute("array<i32: 1, 1, 1, 0>"),
}


def _if(
    condition: Value, branches: Sequence[Callable[[], Registers]], to: Sequence[Type]
) -> Registers:
    made = mlir.emit("scf.if", [condition], {}, to, regions=2)
    for region, branch in zip(made.regions, branches, strict=True):
        with InsertionPoint(mlir.Block.create_at_start(region, [])):
            mlir.emit("scf.yield", branch(), {}, [])
    return list(made.results)


def _case(
    number: Value, branches: Sequence[Callable[[], Registers]], to: Sequence[Type]
) -> Registers:
    """Build a case; the last branch also serves numbers without a branch."""
    *others, last = branches
    choice = last
    for i, branch in reversed(list(enumerate(others))):
        choice = lambda i=i, branch=branch, rest=choice: _if(  # noqa: E731
            registers.equal(number, i), [branch, rest], to
        )
    return choice()


def offset(
    whole: tuple[int, ...], part: tuple[int, ...], starts: Sequence[Value], given: Registers
) -> Value:
    """Return the offset of a slab, with its starts clamped to the array. `given` has the scalars
    for the values `starts`.
    """
    to = mlir.parse_type("index")
    total = registers.index(0)
    for d, (start, scalar) in enumerate(zip(starts, given, strict=True)):
        last, stride = registers.index(whole[d] - part[d]), prod(whole[d + 1 :])
        if whole[d] == part[d]:
            continue
        if dtype_of(start).kind == "u":
            place = emit("arith.minui", emit("arith.index_castui", scalar, to=to), last)
        else:
            place = emit("arith.index_cast", scalar, to=to)
            place = emit("arith.minsi", emit("arith.maxsi", place, registers.index(0)), last)
        total = emit("arith.addi", total, emit("arith.muli", place, registers.index(stride)))
    return total
