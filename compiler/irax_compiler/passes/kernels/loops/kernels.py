"""Loops as single kernels, with their values in registers or in memory of the kernel.

IREE launches kernels for each step, which takes microseconds, while a step itself takes
nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers, shape
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.formulas import definition, has_loop, is_formula
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import nested
from irax_compiler.passes.host.donated import WORTH_TAKING, is_donated
from irax_compiler.passes.kernels.loops import (
    apart,
    bindings,
    blocks,
    indexing,
    interrupt_checks,
    launch,
    products,
    triangles,
    vectors,
)
from irax_compiler.passes.kernels.loops.arrays import Array, Numbers
from irax_compiler.passes.kernels.loops.fusion import is_large
from irax_compiler.passes.kernels.loops.memory import (
    bound,
    bound_dtype,
    bound_type,
    is_plain,
    unbound,
)
from irax_compiler.passes.kernels.loops.nests import LANES
from irax_compiler.passes.kernels.loops.scope import Scope
from irax_compiler.passes.kernels.loops.sharing import Sharing, is_update
from irax_compiler.passes.rewriting import read_as

MEMORY = 1 << 16
"""The most elements of an array in a kernel's own memory: what fits in a core's cache of the second
level. Measured on one x86 processor with AVX-512 and two cores, as are the limits below; others
differ by what their vectors and caches are wider or larger."""
FEW = 1 << 21
"""The most operations on elements per step for which one kernel, on one core, is faster than
kernels for each step."""
MULTIPLICATIONS = 4
"""The number of multiplications in a product that take as long as another operation."""
FAR = 1 << 19
"""The elements of an array from which a core's cache of the second level does not hold it. To read
one of them takes as long as another operation."""
INDEXED = 1 << 16
"""The most work of indexing registers in a kernel, which takes LLVM long to compile."""
LONG = 16
"""The number of formulas from which a kernel calls functions."""
LONGEST = 1024
"""The most operations of formulas that a kernel has written out."""


def as_kernel(loop: Operation) -> Sequence[Value] | None:
    """Build a kernel of a `stablehlo.while` at the insertion point, and return its results; None if
    the loop is unsuitable.
    """
    with apart.shared(loop) as share:
        parts = None if share is None else _Parts.of(share.loop)
        if share is not None and parts is not None:
            return _kernel(share.loop, parts, share)
    parts = _Parts.of(loop)
    return None if parts is None else _kernel(loop, parts)


def suits_kernel(loop: Operation) -> bool:
    """True if a `stablehlo.while` can be a kernel."""
    return _Parts.of(loop) is not None


def is_of_registers(loop: Operation) -> bool:
    """True if all values of a loop fit in registers, so that it can be part of a larger kernel."""
    parts = _Parts.of(loop)
    if parts is None or parts.tables or parts.sharing.memories:
        return False
    operations = [loop, *nested(loop)]
    if any(blocks.is_in_memory(o) for o in operations):
        return False
    return not any(is_large(x) for o in operations for x in (*o.operands, *o.results))


# ---- which loops ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parts:
    """The values that a loop uses, by where its kernel keeps them."""

    elements: list[Value]
    """The values from outside that are kept in registers."""
    tables: list[Value]
    """The values from outside that are read from memory."""
    factors: dict[Operation, Value]
    """The products of which a factor is from outside, which is laid out for them."""
    sharing: Sharing
    """The values that are kept in memory."""

    @classmethod
    def of(cls, loop: Operation) -> _Parts | None:
        operations = list(nested(loop))
        outside = [x for x in mlir.captured(loop) if not is_constant(x) and not _counts(x)]
        users = _users(operations)
        factors = _factors(operations, set(outside))
        own = [x for o in operations for x in o.results]
        tables = [x for x in outside if _is_table(x, users[x], factors)]
        elements = [x for x in outside if x not in tables and not is_large(x)]
        values = [*elements, *tables, *factors.values(), *loop.operands, *own]
        if not all(map(is_plain, values)) or not all(map(blocks.is_known, operations)):
            return None
        sharing = Sharing.of(loop)
        sizes = _sizes(loop, operations, sharing)
        if max(sizes, default=0) > MEMORY or sum(sizes) + _products(operations) > FEW:
            return None
        if _indexing(operations) > INDEXED:
            return None
        taken = [*loop.operands, *elements, *tables, *factors.values()]
        found = [_bound(x) for x in taken if mlir.splat(x) is None]
        if bindings.too_many(found, list(map(_bound, loop.operands))):
            return None
        return cls(elements, tables, factors, sharing)


def _sizes(loop: Operation, operations: Sequence[Operation], sharing: Sharing) -> list[int]:
    """Return the numbers of elements that a step computes, each time that it computes an array."""
    carried = list(loop.operands)
    kept = [sharing.is_updated(x) for x in loop.regions[1].blocks[0].arguments]
    found = [x for x, is_kept in zip(carried, kept, strict=True) if not is_kept]
    for operation in operations:
        is_in_place = is_update(operation) and sharing.is_in_place(operation)
        is_passed = bool(operation.regions) and not is_update(operation)
        for x in operation.results:
            if not (is_in_place or (is_passed and sharing.is_updated(x))):
                found.append(x)
    return [prod(shape_of(x)) for x in found]


def _factors(operations: Sequence[Operation], outside: set[Value]) -> dict[Operation, Value]:
    """Return the products of which one factor is a large array from outside, unless that would have
    to be laid out anew, and the other one need not.
    """
    found = {}
    for operation in operations:
        if operation.name == DotGeneral.name:
            fixed = [x for x in operation.operands if x in outside and is_large(x)]
            if len(fixed) == 1:
                own, other = products.columns(operation)
                if operation.operands[0] != fixed[0]:
                    own, other = other, own
                if own > 1 or other < LANES:
                    found[operation] = fixed[0]
    return found


def _products(operations: Iterable[Operation]) -> int:
    """Return the work of products and of solves, beside that for their results."""
    products = [o for o in operations if o.name == DotGeneral.name]
    work = sum(max(vectors.work(o) // MULTIPLICATIONS, _far(o)) for o in products)
    return work + sum(triangles.work(o) // MULTIPLICATIONS for o in operations)


def _far(product: Operation) -> int:
    """Return the number of elements that a product reads from beyond a core's cache."""
    sizes = [prod(shape_of(x)) for x in product.operands]
    return sum(n for n in sizes if n >= FAR)


def _indexing(operations: Iterable[Operation]) -> int:
    """Return the work of indexing registers."""
    return sum(
        indexing.work(o)
        for o in operations
        if indexing.is_known(o) and not any(map(is_large, o.operands))
    )


def is_long(operations: Iterable[Operation]) -> bool:
    """True if a kernel of these operations is an executable of its own, in which formulas are
    functions.
    """
    formulas = [o for each in operations for o in (each, *nested(each)) if is_formula(o)]
    if len(formulas) >= LONG or any(map(has_loop, formulas)):
        return True
    return sum(len(mlir.body(definition(o)).operations) for o in formulas) > LONGEST


def too_many(taken: Sequence[Value], results: int) -> bool:
    """True if a kernel would have more arrays than IREE can bind."""
    return sum(mlir.splat(x) is None for x in taken) + results > bindings.MOST


def is_constant(x: Value) -> bool:
    definition = mlir.definition(x)
    is_one = definition is not None and traits_of(definition).is_constant
    return is_one and (mlir.splat(x) is not None or not is_large(x))


def _users(operations: Sequence[Operation]) -> dict[Value, list[Operation]]:
    """Return the operations that use each value."""
    found: dict[Value, list[Operation]] = {}
    for operation in operations:
        for x in dict.fromkeys(operation.operands):
            found.setdefault(x, []).append(operation)
    return found


def _is_table(x: Value, users: Sequence[Operation], factors: dict[Operation, Value]) -> bool:
    """True if a value is read from memory: if it is large, or parts of it alone are used."""
    others = [o for o in users if o not in factors or factors[o] != x]
    return bool(others) and (is_large(x) or all(_reads(o, x) for o in others))


def _reads(operation: Operation, x: Value) -> bool:
    """True if an operation reads a part of a value, and does not use it otherwise."""
    if operation.name not in (DynamicSlice.name, Gather.name):
        return False
    array, *others = operation.operands
    return array == x and x not in others


# ---- kernels -------------------------------------------------------------------------------------


def _kernel(loop: Operation, parts: _Parts, share: apart.Share | None = None) -> list[Value]:
    """Build a kernel with the loop inside, or with that of a workgroup's share of large arrays."""
    start, operations = list(loop.operands), list(nested(loop))
    carried, memories = loop.regions[1].blocks[0].arguments, parts.sharing.memories
    in_memory = [i for i, x in enumerate(carried) if x in memories]
    if share is not None:  # shares overlap, so that results are written once all is computed
        in_memory.clear()
    taken_over = [i for i in in_memory if _is_given_up(start[i], loop)]
    given = dict.fromkeys((*parts.elements, *parts.tables, *start))
    real = {} if share is None else share.outside
    flat = {x: _flat(real.get(x, x)) for x in given if not is_constant(x)}
    fixed = [x for o in operations if is_fixed(o) for x in o.results]
    counted = [x for x in (*fixed, *mlir.captured(loop)) if x not in flat and _counts(x)]
    flat |= {x: _flat(_outside(x)) for x in fixed if x not in counted}
    factors = {o: products.with_columns(o, x) for o, x in parts.factors.items()}
    flat |= {x: _flat(x) for x, _ in factors.values()}

    def build(kernel: launch.Kernel) -> None:
        arrays = {x: _seen_as(kernel.arrays[own], x) for x, own in flat.items()}
        loaded = [
            x for x in arrays if x in parts.elements or not (is_large(x) or x in parts.tables)
        ]
        arrays |= {x: Numbers.up_to(dtype_of(x), shape_of(x)) for x in counted}
        into = {i: _seen_as(kernel.results[i], start[i]) for i in in_memory}
        scope = Scope(
            registers={x: arrays[x].read() for x in loaded},
            arrays={x: array for x, array in arrays.items() if x not in loaded},
            factors={o: {parts.factors[o]: back(arrays[x])} for o, (x, back) in factors.items()},
            sharing=parts.sharing,
            shared={memories[carried[i]]: array for i, array in into.items()},
            memory=kernel.memory,
            functions=kernel.functions if is_long([loop]) else None,
            meter=kernel.meter,
        )
        blocks.loop(loop, scope)
        for i, x in enumerate(loop.results):
            if i not in into:
                scope.put(x, _seen_as(kernel.results[i], x))

    whole = start if share is None else share.start
    results = launch.launched(
        list(dict.fromkeys(flat.values())),
        list(map(_bound, whole)),
        build,
        shares=None if share is None else share.shares,
        meter=interrupt_checks.address([loop]),
        ties={i: flat[start[i]] for i in taken_over},
        begins={
            i: flat[start[i]]
            for i in in_memory
            if _is_start_alone(start[i], loop) and start[i] in flat
        },
    )
    return [_as_it_was(x, y) for x, y in zip(results, whole, strict=True)]


def _is_start_alone(x: Value, loop: Operation) -> bool:
    """True if a loop uses an array that it begins with for nothing else."""
    return list(loop.operands).count(x) == 1 and x not in mlir.captured(loop)


def _is_given_up(x: Value, loop: Operation) -> bool:
    """True if a loop may carry an array in the memory of the argument that it begins with: one that
    is donated, and used for nothing else.
    """
    is_own = is_donated(x) and x.owner == loop.block and mlir.num_uses(x) == 1
    return is_own and x.type == bound_type(x) and prod(shape_of(x)) >= WORTH_TAKING


def of_operations(
    operations: Sequence[Operation], taken: Sequence[Value], given: Sequence[Value]
) -> list[Value]:
    """Build a kernel of operations on registers, with some of their results: one array per
    dtype.
    """
    flat = {x: _flat(x) for x in taken}
    places: dict[Value, int] = {}
    sizes: dict[np.dtype, int] = {}
    for x in given:
        size, dtype = _bound(x)
        places[x] = sizes.get(dtype, 0)
        sizes[dtype] = places[x] + size
    order = list(sizes)

    def build(kernel: launch.Kernel) -> None:
        scope = Scope(
            {x: _seen_as(kernel.arrays[own], x).read() for x, own in flat.items()},
            functions=kernel.functions if is_long(operations) else None,
            meter=kernel.meter,
        )
        blocks.translate(operations, scope)
        for x, place in places.items():
            size, dtype = _bound(x)
            whole = kernel.results[order.index(dtype)]
            whole.part([registers.index(place)], (size,)).write(scope.register(x))

    results = [(size, dtype) for dtype, size in sizes.items()]
    arrays = list(dict.fromkeys(flat.values()))
    made = launch.launched(arrays, results, build, meter=interrupt_checks.address(operations))
    by_dtype = dict(zip(order, made, strict=True))
    parts = {
        x: bindings.part_of(by_dtype[bound_dtype(x)], n, prod(shape_of(x)))
        for x, n in places.items()
    }
    return [_as_it_was(part, x) for x, part in parts.items()]


def of_arrays(
    operations: Sequence[Operation], taken: Sequence[Value], given: Sequence[Value]
) -> list[Value]:
    """Build a kernel of elementwise operations on scalars and arrays of one size. Workgroups share
    the arrays.
    """
    flat = {x: _flat(x) for x in taken}
    values = (*taken, *(x for o in operations for x in o.results))
    lanes = LANES if max(dtype_of(x).itemsize for x in values) > 4 else 2 * LANES
    shares = launch.Shares.of(prod(shape_of(operations[0].results[0])), lanes)

    def build(kernel: launch.Kernel) -> None:
        arrays = {x: replace(kernel.arrays[own], dtype=dtype_of(x)) for x, own in flat.items()}
        numbers = {x: array.read() for x, array in arrays.items() if array.size == 1}
        others = {x: array for x, array in arrays.items() if x not in numbers}
        results = [
            replace(array, dtype=dtype_of(x))
            for x, array in zip(given, kernel.results, strict=True)
        ]
        scope = Scope(numbers, functions=kernel.functions)
        blocks.chunks(operations, scope, others, dict(zip(given, results, strict=True)), lanes)

    made = launch.launched(
        list(dict.fromkeys(flat.values())), list(map(_bound, given)), build, shares
    )
    return [_as_it_was(y, x) for x, y in zip(given, made, strict=True)]


def _counts(x: Value) -> bool:
    """True for a large array of the integers 0, 1, ..., which a kernel computes where it reads
    them.
    """
    source = mlir.definition(x)
    op = None if source is None else read_as(shape.Iota, source)
    if op is None or not is_large(x) or op.dtype.kind not in "iu":
        return False
    return op.shape[op.iota_dimension] == prod(op.shape)


def is_fixed(operation: Operation) -> bool:
    """True if an operation computes an array from nothing, which is then computed before a loop."""
    is_one = not (len(operation.operands) or len(operation.regions)) and len(operation.results) == 1
    return is_one and is_large(operation.results[0]) and mlir.splat(operation.results[0]) is None


def _outside(x: Value) -> Value:
    """Copy the definition of a value to the insertion point."""
    source = mlir.definition(x)
    assert source is not None
    return mlir.clone(source, {})[0]


def _bound(x: Value) -> bindings.Flat:
    return prod(shape_of(x)), bound_dtype(x)


def _flat(x: Value) -> Value:
    return bound(shape.reshape(x, (prod(shape_of(x)),)))


def _seen_as(array: Array, x: Value) -> Array:
    """Return a flat array as that of a value."""
    return Array.of(array.memory, dtype_of(x), shape_of(x), array.base)


def _as_it_was(x: Value, result: Value) -> Value:
    return shape.reshape(unbound(x, result), shape_of(result))
