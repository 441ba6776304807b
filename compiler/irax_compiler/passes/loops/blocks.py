"""Blocks of StableHLO on few elements, as blocks of operations on registers.

Arrays that are too large for registers are tensors of one dimension, of which slabs are read and
written: dynamic slices whose elements lie side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.passes.core import walk
from irax_compiler.passes.loops import registers
from irax_compiler.passes.loops.memory import held_dtype
from irax_compiler.passes.loops.registers import (
    Registers,
    emit,
    register_type,
)

Environment = dict[Value, Value]
"""The register for each value, and for each array the tensor that holds it."""

_RENAMING = {
    f"stablehlo.{name}" for name in ("broadcast_in_dim", "optimization_barrier", "reshape")
}
_STRUCTURE = {f"stablehlo.{name}" for name in ("case", "constant", "if", "map", "return", "while")}


def is_known(operation: Operation, arrays: set[Value]) -> bool:
    """Whether a block with this operation can be built; `arrays` are the values that are not in
    registers.
    """
    name = operation.name
    if name in _RENAMING:  # the elements stay as they are, or one becomes many
        pairs = zip(operation.operands, operation.results, strict=True)
        return all(prod(shape_of(x)) == 1 or _squeezed(x) == _squeezed(y) for x, y in pairs)
    if reads_slab(operation) or writes_slab(operation):
        return operation.operands[0] in arrays
    return name in _STRUCTURE or registers.is_known(operation)


def _squeezed(x: Value) -> tuple[int, ...]:
    return tuple(extent for extent in shape_of(x) if extent != 1)


def reads_slab(operation: Operation) -> bool:
    """Whether it is a dynamic slice of elements that lie side by side."""
    if operation.name != "stablehlo.dynamic_slice":
        return False
    return _side_by_side(shape_of(operation.results[0]), shape_of(operation.operands[0]))


def writes_slab(operation: Operation) -> bool:
    """Whether it updates elements that lie side by side."""
    if operation.name != "stablehlo.dynamic_update_slice":
        return False
    return _side_by_side(shape_of(operation.operands[1]), shape_of(operation.operands[0]))


def _side_by_side(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    first = next((d for d, extent in enumerate(part) if extent != 1), len(part))
    return part[first + 1 :] == whole[first + 1 :]


# ---- building ------------------------------------------------------------------------------------


def build(source: Block, env: Environment) -> list[Value]:
    """What a block's terminator takes, in registers, built at the insertion point."""
    env = dict(env)
    for operation in walk(source):
        with operation.location:
            results = _translated(operation, env)
        env.update(zip(operation.results, results, strict=True))
    return [_value(x, env) for x in mlir.terminator(source).operands]


def loop(operation: Operation, env: Environment) -> list[Value]:
    """A `stablehlo.while`."""
    start = [_value(x, env) for x in operation.operands]
    types = [x.type for x in start]
    made = mlir.emit("scf.while", start, {}, types, regions=2)
    condition, body = (region.blocks[0] for region in operation.regions)
    before, after = (mlir.Block.create_at_start(region, types) for region in made.regions)
    with InsertionPoint(before):
        carried = list(before.arguments)
        (holds,) = build(condition, env | dict(zip(condition.arguments, carried, strict=True)))
        mlir.emit("scf.condition", [holds, *carried], {}, [])
    with InsertionPoint(after):
        carried = list(after.arguments)
        results = build(body, env | dict(zip(body.arguments, carried, strict=True)))
        mlir.emit("scf.yield", results, {}, [])
    return list(made.results)


def _translated(operation: Operation, env: Environment) -> Registers:
    name = operation.name
    if name == "stablehlo.constant":
        return [_value(operation.results[0], env)]
    if name == "stablehlo.while":
        return loop(operation, env)
    operands = [_value(x, env) for x in operation.operands]
    if name in _RENAMING:
        sizes = [prod(shape_of(x)) for x in operation.results]
        return [registers.spread(x, size) for x, size in zip(operands, sizes, strict=True)]
    if name == "stablehlo.map":
        (inner,) = operation.regions[0].blocks
        results = build(inner, env | dict(zip(inner.arguments, operands, strict=True)))
        return [registers.spread(x, prod(shape_of(operation.results[0]))) for x in results]
    if name in ("stablehlo.case", "stablehlo.if"):
        blocks = [region.blocks[0] for region in operation.regions]
        to = [register_type(x) for x in operation.results]
        choose = _if if name == "stablehlo.if" else _case
        return choose(operands[0], [lambda b=b: build(b, env) for b in blocks], to)
    if name == "stablehlo.dynamic_slice":
        (result,) = operation.results
        at = offset(operation.operands[0], operation.operands[1:], operands[1:], shape_of(result))
        return [load(operands[0], at, result)]
    if name == "stablehlo.dynamic_update_slice":
        array, new, *starts = operands
        part = shape_of(operation.operands[1])
        at = offset(operation.operands[0], operation.operands[2:], starts, part)
        return [store(new, array, at)]
    return [registers.apply(operation, operands)]


def _value(x: Value, env: Environment) -> Value:
    found = env.get(x)
    if found is None:
        definition = mlir.definition(x)
        assert definition is not None
        fill = mlir.splat(x)
        found = registers.constant(mlir.dense_to_numpy(definition) if fill is None else fill)
        found = registers.spread(found, prod(shape_of(x)))
    return found


def load(array: Value, at: Value, x: Value) -> Value:
    """The register of a value whose elements begin at a place of an array."""
    loaded = read(array, at, registers.type_of(held_dtype(x), prod(shape_of(x))))
    is_boolean = dtype_of(x) == np.bool_
    return emit("arith.trunci", loaded, to=register_type(x)) if is_boolean else loaded


def store(x: Value, array: Value, at: Value) -> Value:
    """The array with a register's elements at a place."""
    if registers.is_boolean(x):
        x = emit("arith.extui", x, to=registers.with_elements(x, np.dtype(np.int8)))
    return write(x, array, at)


def read(array: Value, at: Value, to: Type) -> Value:
    """A register of the elements that begin at a place of an array."""
    if not isinstance(to, mlir.VectorType):
        return emit("tensor.extract", array, at, to=to)
    padding = registers.zero(to.element_type)
    return emit("vector.transfer_read", array, at, padding, to=to, **_TRANSFER)


def write(x: Value, array: Value, at: Value) -> Value:
    """The array with a register's elements at a place."""
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
    """The last branch serves for numbers that no branch has."""
    *others, last = branches
    choice = last
    for i, branch in reversed(list(enumerate(others))):
        choice = lambda i=i, branch=branch, rest=choice: _if(  # noqa: E731
            registers.equal(number, i), [branch, rest], to
        )
    return choice()


def offset(array: Value, starts: Sequence[Value], given: Registers, part: tuple[int, ...]) -> Value:
    """Where a slab begins: such that it is inside the array, wherever it should begin."""
    to = mlir.parse_type("index")
    whole = shape_of(array)
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
