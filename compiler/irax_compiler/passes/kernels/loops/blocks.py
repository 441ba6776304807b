"""Translation of StableHLO blocks to kernels.

Values of few elements are registers. Others are arrays in memory: elementwise operations on arrays
of one shape share a loop over chunks of their elements, and other operations have loops of their
own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.core import no_calls
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.formulas import definition, is_formula
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.ops.registers import (
    Registers,
    register_type,
)
from irax_compiler.ops.registry import read as read_op
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.shape import Iota
from irax_compiler.passes.core import walk
from irax_compiler.passes.kernels.code.loops import choose, while_loop
from irax_compiler.passes.kernels.loops import (
    fusion,
    indexing,
    interrupt_checks,
    nests,
    products,
    running,
    sorting,
    stored,
    triangles,
    uniform,
    vectors,
    windows,
)
from irax_compiler.passes.kernels.loops.arrays import Array, Place
from irax_compiler.passes.kernels.loops.fusion import Group, is_large
from irax_compiler.passes.kernels.loops.scope import Scope
from irax_compiler.passes.kernels.loops.sharing import is_update
from irax_compiler.passes.rewriting import read_as


def is_indexed(operation: Operation) -> bool:
    """True for an operation that reads or writes elements at computed places."""
    return indexing.is_known(operation) or is_in_memory(operation)


def is_in_memory(operation: Operation) -> bool:
    """True for an operation that deals with memory, even if it is on few elements."""
    return any(each.is_known(operation) for each in (sorting, running, triangles))


def is_known(operation: Operation) -> bool:
    """True if a block with this operation can be built."""
    name = operation.name
    if is_formula(operation) or name in ("func.return", "stablehlo.return", barrier.name):
        return True
    traits = traits_of(operation)
    values = [*operation.operands, *operation.results]
    if traits.is_constant or name == Iota.name or is_indexed(operation):
        return True
    if traits.captures or name == "stablehlo.reduce":
        return True
    if name == DotGeneral.name:
        return vectors.multiplies(operation)
    if not any(map(is_large, values)):
        is_other = traits.moves or name == Map.name
        return is_other or registers.is_known(operation)
    if traits.moves:
        return stored.moves(operation)
    return fusion.shared_extents(operation) is not None


# ---- building ------------------------------------------------------------------------------------


def build(source: Block, scope: Scope) -> None:
    """Build the operations of a block at the insertion point; the scope then has their results."""
    translate(walk(source), scope)


def translate(operations: Iterable[Operation], scope: Scope) -> None:
    """Build operations in order."""
    if scope.lanes is not None or scope.memory is None:
        for operation in operations:
            _translate(operation, scope)
        return
    for group in fusion.groups(operations):
        if group.extents is None:
            _translate(group.operations[0], scope)
        else:
            _translate_group(group, scope)


def _translate(operation: Operation, scope: Scope) -> None:
    with operation.location:
        if operation.name == "stablehlo.while":
            loop(operation, scope)
        elif traits_of(operation).captures:
            _branch(operation, scope)
        elif _is_of_arrays(operation, scope):
            _translate_arrays(operation, scope)
        else:
            results = _translated(operation, scope)
            scope.registers.update(zip(operation.results, results, strict=True))


def _is_of_arrays(operation: Operation, scope: Scope) -> bool:
    """True if an operation deals with memory, not with registers alone."""
    values = [*operation.operands, *operation.results]
    if scope.lanes is not None:
        return False
    if is_in_memory(operation):
        return True
    if not any(map(scope.is_array, values)):
        return False
    return any(map(is_large, values)) or is_indexed(operation)


def _translate_group(group: Group, scope: Scope) -> None:
    """Build a loop over the elements of arrays of one shape."""
    for x in group.results():
        scope.arrays[x] = scope.place(x)
    taken = {x: scope.array(x) for x in group.arrays() if mlir.splat(x) is None}
    given = {x: scope.arrays[x] for x in group.results()}
    assert scope.memory is not None
    with scope.memory.in_turn(taken.values(), given.values()):
        chunks(group.operations, scope, taken, given)


def chunks(
    operations: Sequence[Operation],
    scope: Scope,
    taken: Mapping[Value, Array],
    given: Mapping[Value, Array],
    lanes: int = nests.LANES,
) -> None:
    """Build elementwise operations from arrays to arrays, a number of elements at a time."""

    def body(size: int, places: list[Place]) -> None:
        loaded = {x: place.read(size) for x, place in zip(taken, places, strict=False)}
        inside = replace(scope, registers=scope.registers | loaded, lanes=size)
        translate(operations, inside)
        for x, place in zip(given, places[len(taken) :], strict=True):
            place.write(registers.spread(inside.register(x), size))

    nests.each([array.squeezed() for array in (*taken.values(), *given.values())], body, lanes)


def results(source: Block, scope: Scope) -> list[Value]:
    """Build a block at the insertion point, and return the registers of its terminator's
    operands.
    """
    build(source, scope)
    return [scope.register(x) for x in mlir.terminator(source).operands]


def loop(operation: Operation, scope: Scope) -> None:
    """Build a `stablehlo.while`. If it runs for several elements at once, it runs until all are
    done; those that are done keep their values. Values that are the same for all, such as counters,
    are scalars.
    """
    condition, body = (region.blocks[0] for region in operation.regions)
    start = list(operation.operands)
    arrays = _places(body.arguments, scope)
    few = [i for i in range(len(start)) if i not in arrays]
    carry(start, arrays, scope)

    def inside(block: Block, carried: Registers) -> Scope:
        inner = scope.inner([block.arguments[i] for i in few], carried)
        inner.arrays.update({block.arguments[i]: array for i, array in arrays.items()})
        return inner

    differing = None if scope.together == 1 else uniform.differing(operation, scope)
    is_one = scope.together == 1 or differing is not None

    def spread(given: Registers) -> list[Value]:
        return [
            registers.spread(x, scope.together) if differing is None or i in differing else x
            for i, x in zip(few, given, strict=True)
        ]

    def holds(carried: list[Value]) -> Value:
        (found,) = results(condition, inside(condition, carried))
        return found if is_one else registers.spread(found, scope.together)

    def goes_on(carried: list[Value]) -> Value:
        found = holds(carried)
        return found if is_one else registers.any_of(found)

    def step(carried: list[Value]) -> list[Value]:
        inner = inside(body, carried)
        build(body, inner)
        last = list(mlir.terminator(body).operands)
        new = [inner.register(last[i]) for i in few]
        carry(last, arrays, inner)
        return spread(new)

    def step_of_some(carried: list[Value]) -> list[Value]:
        needed, new = holds(carried), step(carried)
        return [registers.select(needed, x, y) for x, y in zip(new, carried, strict=True)]

    first = spread([scope.register(start[i]) for i in few])
    next_step = step if is_one else step_of_some
    if scope.meter is not None and interrupt_checks.may_not_end(operation):
        found = interrupt_checks.metered(operation, scope.meter, first, goes_on, next_step)
    else:
        found = while_loop(first, goes_on, next_step)
    final = list(operation.results)
    scope.registers.update(zip((final[i] for i in few), found, strict=True))
    scope.arrays.update({final[i]: array for i, array in arrays.items()})


def _places(values: Sequence[Value], scope: Scope) -> dict[int, Array]:
    """Return the arrays of those values that are kept in memory, by their number."""
    return {i: scope.place(x) for i, x in enumerate(values) if x in scope.sharing.memories}


def carry(values: Sequence[Value], arrays: Mapping[int, Array], scope: Scope) -> None:
    """Build the copies of some of the values to the arrays that are carried to a loop's next
    step.
    """
    carried = {array.memory for array in arrays.values()}
    moving = {i: values[i] for i, array in arrays.items() if scope.arrays.get(values[i]) != array}
    apart = dict(scope.arrays)
    for x in moving.values():
        if x in apart and apart[x].memory in carried:
            apart[x] = stored.copied(apart[x], scope.new)
    for i, x in moving.items():
        replace(scope, arrays=apart).put(x, arrays[i])


def _translate_arrays(operation: Operation, scope: Scope) -> None:
    """Build an operation on arrays, other than elementwise ones."""
    name, operands = operation.name, list(operation.operands)
    if not operands:
        return  # see `Scope.array`
    if name == barrier.name:
        for x, result in zip(operands, operation.results, strict=True):
            _keep(result, scope.array(x), scope)
    elif is_update(operation):
        _update(operation, scope)
    elif name == DynamicSlice.name:
        x, result = operands[0], operation.results[0]
        part = _part(operation, scope.array(x), x, result, operands[1:], scope)
        is_volatile = is_large(result) and scope.is_updated(part)
        _keep(result, stored.copied(part, scope.new) if is_volatile else part, scope)
    elif sorting.is_known(operation):
        _sort(operation, scope)
    elif triangles.is_known(operation):
        found = triangles.built(operation, [scope.array(x) for x in operands], scope.new)
        _keep(operation.results[0], found, scope)
    elif running.is_known(operation):
        x, start = operands
        combine = _combine(operation, scope)
        found = running.accumulated(
            operation, scope.array(x), scope.register(start), combine, scope.new
        )
        _keep(operation.results[0], found, scope)
    elif name == Gather.name:
        _keep(operation.results[0], _gathered(operation, scope), scope)
    elif name == DotGeneral.name:
        _keep(operation.results[0], _product(operation, scope), scope)
    elif name == "stablehlo.reduce":
        half = len(operands) // 2
        arrays = [scope.array(x) for x in operands[:half]]
        start = [scope.register(x) for x in operands[half:]]
        found = stored.reduced(operation, arrays, start, _combine(operation, scope), scope.new)
        for x, array in zip(operation.results, found, strict=True):
            _keep(x, array, scope)
    else:
        found = stored.moved(operation, [scope.array(x) for x in operands], scope.new)
        _keep(operation.results[0], found, scope)


def _keep(x: Value, array: Array, scope: Scope) -> None:
    """Keep a value that is in memory there, or in a register if it is small."""
    if is_large(x):
        scope.arrays[x] = array
    else:
        scope.registers[x] = stored.contiguous(array, scope.new).read()


def _part(
    operation: Operation,
    array: Array,
    whole: Value,
    part: Value,
    starts: Sequence[Value],
    scope: Scope,
) -> Array:
    """Return the part of an array that an operation reads or updates, moved to be inside."""
    extents = shape_of(part)
    given = [scope.register(x) for x in starts]
    return array.part(clamped(shape_of(whole), extents, starts, given), extents)


def _update(operation: Operation, scope: Scope) -> None:
    """Build the update of parts of an array, which is copied first unless that is its last use."""
    x, result = operation.operands[0], operation.results[0]
    is_shared = result in scope.sharing.memories  # else it is small, and an operand is not
    array = scope.place(result) if is_shared else scope.new(dtype_of(result), shape_of(result))
    scope.put(x, array)
    _write_parts(operation, array, scope)
    if is_shared:
        scope.arrays[result] = array
    else:
        scope.registers[result] = array.read()


def _write_parts(operation: Operation, array: Array, scope: Scope) -> None:
    """Build the writes of an update to an array."""
    x = operation.operands[0]
    if operation.name == Scatter.name:
        op = read_as(Scatter, operation)
        assert op is not None
        _, indices, updates = (scope.array(y) for y in operation.operands)
        (inner,) = operation.regions[0].blocks
        windows.scatter(
            op,
            array,
            indices,
            updates,
            lambda x, y: results(inner, scope.inner(inner.arguments, [x, y]))[0],
        )
        return
    new, *starts = operation.operands[1:]
    part = _part(operation, array, x, new, starts, scope)
    if not scope.is_array(new) and part.is_contiguous:
        part.write(scope.register(new))
    else:
        nests.copy(scope.array(new), part)


def _sort(operation: Operation, scope: Scope) -> None:
    arrays = [scope.array(x) for x in operation.operands]
    found = [scope.new(dtype_of(x), shape_of(x)) for x in operation.results]
    sorting.sort(operation, arrays, found)
    for x, array in zip(operation.results, found, strict=True):
        _keep(x, array, scope)


def _gathered(operation: Operation, scope: Scope) -> Array:
    op, result = read_as(Gather, operation), operation.results[0]
    assert op is not None
    x, indices = (scope.array(y) for y in operation.operands)
    whole = scope.new(dtype_of(result), shape_of(result))
    assert scope.memory is not None
    # Each index of an element is read before the element is written.
    in_order = [indices] if indices.size == whole.size and not op.dims.window_dims else []
    with scope.memory.in_turn(in_order, [whole], [x]):
        found = windows.gathered(op, x, indices, whole)
    is_volatile = is_large(result) and scope.is_updated(found)
    return stored.copied(found, scope.new) if is_volatile else found


def _product(operation: Operation, scope: Scope) -> Array:
    factors = scope.factors.get(operation, {})
    arrays = [factors.get(x) or scope.array(x) for x in operation.operands]
    is_left = operation.operands[0] in factors if factors else products.left_has_columns(operation)
    return products.product(operation, arrays[0], arrays[1], is_left, scope.new)


def _branch(operation: Operation, scope: Scope) -> None:
    """Build a branch, whose large results are copied to memory."""
    arrays = _places(list(operation.results), scope)
    few = [i for i in range(len(operation.results)) if i not in arrays]

    def build_branch(block: Block) -> Registers:
        inner = scope.inner((), ())
        build(block, inner)
        last = list(mlir.terminator(block).operands)
        carry(last, arrays, inner)
        return [inner.register(last[i]) for i in few]

    branches = [lambda r=region: build_branch(r.blocks[0]) for region in operation.regions]
    results = list(operation.results)
    to = [register_type(results[i]) for i in few]
    chosen = choose if operation.name == "stablehlo.if" else _case
    found = chosen(scope.register(operation.operands[0]), branches, to)
    scope.registers.update(zip((results[i] for i in few), found, strict=True))
    scope.arrays.update({results[i]: array for i, array in arrays.items()})


def _combine(operation: Operation, scope: Scope) -> vectors.Combine:
    """Return how a `stablehlo.reduce` combines registers."""
    (inner,) = operation.regions[0].blocks

    def combine(x: Registers, y: Registers) -> Registers:
        found = results(inner, scope.inner(inner.arguments, [*x, *y]))
        return [registers.spread(z, registers.size_of(x[0])) for z in found]

    return combine


def _translated(operation: Operation, scope: Scope) -> Registers:
    """Build an operation on registers."""
    name = operation.name
    if name == "stablehlo.constant":
        return [scope.register(operation.results[0])]
    if name == "stablehlo.iota":
        return [registers.constant(np.asarray(read_op(operation).evaluate(no_calls)))]
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
        return vectors.folded(operation, operands, _combine(operation, scope))
    if name == "stablehlo.map":
        (inner,) = operation.regions[0].blocks
        size = scope.size(operation.results[0])
        mapped = results(inner, scope.inner(inner.arguments, operands))
        return [registers.spread(x, size) for x in mapped]
    return [registers.apply(operation, operands)]


def _formula(operation: Operation, operands: Registers, scope: Scope) -> Registers:
    size = max(scope.size(operation.results[0]), *map(registers.size_of, operands))
    function = definition(operation)
    body = mlir.body(function)

    def written_out(given: Registers) -> Registers:
        # Without functions: IREE takes a function for recursive that several others call.
        inside = Scope(dict(zip(body.arguments, given, strict=True)), together=size)
        return [registers.spread(x, size) for x in results(body, inside)]

    given = [registers.spread(x, size) for x in operands]
    if scope.functions is None:
        return written_out(given)
    return scope.functions.call(mlir.function_name(function), given, written_out)


def _case(
    number: Value, branches: Sequence[Callable[[], Registers]], to: Sequence[Type]
) -> Registers:
    """Build a case; the last branch also serves numbers without a branch."""
    *others, last = branches
    choice = last
    for i, branch in reversed(list(enumerate(others))):
        choice = lambda i=i, branch=branch, rest=choice: choose(  # noqa: E731
            registers.equal(number, i), [branch, rest], to
        )
    return choice()


def clamped(
    whole: tuple[int, ...], part: tuple[int, ...], starts: Sequence[Value], given: Registers
) -> list[Value]:
    """Return the index at which a part of an array begins, moved so that the part is inside.
    `given` has the scalars for the values `starts`.
    """
    found = []
    for n, size, start, scalar in zip(whole, part, starts, given, strict=True):
        is_unsigned = dtype_of(start).kind == "u"
        found.append(
            registers.index(0) if n == size else windows.within(scalar, is_unsigned, n - size)
        )
    return found
