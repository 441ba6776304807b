"""The pass hoist-row-products, which moves products of rows that a loop reads to one product before
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from irax_compiler import mlir
from irax_compiler.importing import deferred
from irax_compiler.mlir import (
    InsertionPoint,
    Module,
    Operation,
    Value,
    bytes_of,
    dtype_of,
    shape_of,
)
from irax_compiler.ops import shape
from irax_compiler.ops.control_flow.trip_counts import Count, count
from irax_compiler.ops.core import full
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice
from irax_compiler.passes.core import Pass, nested, register_pass, walk
from irax_compiler.passes.optimize.strip_mining import bytes_of_stacks, divided, stacks_of
from irax_compiler.passes.rewriting import read_as

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.loops import kernels, vectors
else:
    kernels, vectors = deferred("irax_compiler.passes.kernels.loops", "kernels", "vectors")

MOST_BYTES = 1 << 26
"""The most bytes that products of rows may take at a time."""
MOST_AT_ONCE = 1 << 20
"""The bytes of the products of all rows from which a loop is divided into strips."""
MOST_IN_KERNELS = 1 << 14
"""The bytes from which loops are divided that become kernels with their products: the strips are
launched with them."""
STRIPS = 10
"""The number of strips, or a larger one for products of at most a quarter of that."""


@register_pass
@dataclass
class HoistRowProducts(Pass):
    """Moves products `xs[i] @ w` out of counted loops that read each row of `xs`: `xs @ w` is
    computed before the loop, which reads its rows. The input of a recurrent network is then
    multiplied by one product of matrices. Where that would be large, the loop is divided into
    strips of steps, with a product before each.
    """

    name: ClassVar[str] = "hoist-row-products"
    kernels: bool = False
    """True if loops of little work become kernels (see the pass loops)."""

    def run(self, module: Module) -> None:
        loops = [o for o in nested(module.operation) if o.name == "stablehlo.while"]
        for loop in loops:  # the inner before the outer, out of which a product may go on
            how = count(loop, {})
            if how is None:
                continue
            rows = [row for row in _rows(loop) if 1 < row.count <= 2 * how.steps]
            inner = _strips(loop, how, rows, self.kernels)
            if inner is not None:
                loop, rows = inner, _rows(inner)
            for row in rows:
                if row.bytes <= MOST_BYTES:
                    _move(row, loop, self.kernels)


@dataclass(frozen=True)
class _Row:
    """A product of a row of an array with something loop-invariant."""

    product: Operation
    op: DotGeneral
    place: int
    """The number of the factor that is the row: 0 or 1."""
    read: Operation
    """The dynamic_slice that reads it."""

    @property
    def array(self) -> Value:
        return self.read.operands[0]

    @property
    def count(self) -> int:
        return shape_of(self.array)[0]

    @property
    def bytes(self) -> int:
        """The bytes of the products of all rows."""
        return self.count * bytes_of(self.product.results[0])


def _rows(loop: Operation) -> list[_Row]:
    """Return the products of rows in the body of a loop."""
    found = [_row(operation, loop) for operation in walk(loop.regions[1].blocks[0])]
    return [row for row in found if row is not None]


def _strips(
    loop: Operation, how: Count, rows: Sequence[_Row], has_kernels: bool
) -> Operation | None:
    """Divide a loop whose products of rows are large, if that can be done evenly, and return the
    loop of a strip. A loop that stacks more than these, as for a derivative, is not divided: what
    uses the stacks may take the products' memory.
    """
    total = sum(row.bytes for row in rows)
    limit = MOST_AT_ONCE if total > MOST_AT_ONCE else MOST_IN_KERNELS
    if total <= max(limit, bytes_of_stacks(loop, how)):
        return None
    counter = loop.regions[1].blocks[0].arguments[how.place]
    if any(row.count != how.steps or row.read.operands[1] != counter for row in rows):
        return None
    most = min(max(limit // 4, total // STRIPS), MOST_BYTES)
    sizes = [n for n in range(2, how.steps) if how.steps % n == 0]
    sizes = [n for n in sizes if total // how.steps * n <= most]
    if not sizes:
        return None
    if limit == MOST_IN_KERNELS and not (has_kernels and _is_kernel(loop, rows, sizes[-1])):
        return None
    return divided(loop, how, sizes[-1], list(dict.fromkeys(row.array for row in rows)), most)


def _is_kernel(loop: Operation, rows: Sequence[_Row], size: int) -> bool:
    """True if a loop becomes a kernel, also with the products of `size` rows at a time."""
    work = size * sum(vectors.work(row.product) for row in rows)
    most = kernels.FEW * kernels.MULTIPLICATIONS // 2  # the other half is for the steps
    return work <= most and kernels.suits_kernel(loop)


def _stack(row: _Row, products: Value, loop: Operation) -> int | None:
    """Return the place of a carried array, of the type of the products of all rows, of which each
    step that reads a row writes the same one, and all rows are written.
    """
    how = count(loop, {})
    if how is None or (how.start, how.step) != (0, 1) or not kernels.suits_kernel(loop):
        return None
    counter = loop.regions[1].blocks[0].arguments[how.place]
    if row.read.operands[1] != counter or row.product.block != counter.owner:
        return None
    stacks = stacks_of(loop, how)
    return next((i for i in stacks if loop.operands[i].type == products.type), None)


def _row(product: Operation, loop: Operation) -> _Row | None:
    op = read_as(DotGeneral, product)
    if op is None:
        return None
    captured = set(mlir.captured(loop))
    for place, x in enumerate(product.operands):
        view = mlir.definition(x)
        read = None if view is None or view.name != shape.Reshape.name else view.operands[0]
        read = None if read is None else mlir.definition(read)
        if read is None or read.name != DynamicSlice.name:
            continue
        array, part = read.operands[0], read.results[0]
        is_row = shape_of(part) == (1, *shape_of(array)[1:]) and shape_of(x) == shape_of(part)[1:]
        others = (array, product.operands[1 - place])
        if is_row and captured.issuperset(others):
            return _Row(product, op, place, read)
    return None


def _move(row: _Row, loop: Operation, has_kernels: bool) -> None:
    """Build the product of all rows before a loop, and read its row in the loop. A kernel may have
    it in the memory of an array of which each step writes that row later.
    """
    d, other = row.op.dimensions, row.product.operands[1 - row.place]
    if row.place == 1:
        d = d.swapped
    rank = len(shape_of(row.array))
    batching, contracting = ((i + 1 for i in x) for x in (d.lhs_batching, d.lhs_contracting))
    rows = DotDimensions(tuple(batching), d.rhs_batching, tuple(contracting), d.rhs_contracting)
    free = len(rows.lhs_free(rank)) - 1
    op, factors, place = row.op, [row.array, other], len(d.lhs_batching)
    # The free dimensions of the left factor come first.
    is_swapped = row.place == 1 and (free > 0 or place > 0)
    if row.place == 1 and not is_swapped and op.precision is not None:
        op = replace(op, precision=(op.precision[1], op.precision[0]))
    if is_swapped:
        factors.reverse()
        place += len(d.rhs_free(len(shape_of(other))))
    with InsertionPoint(loop), row.product.location:
        op = replace(op, dimensions=rows.swapped if is_swapped else rows)
        products = op(*factors)
    stack = _stack(row, products, loop) if has_kernels and place == 0 else None
    if stack is not None:
        loop.operands[stack] = products
        products = loop.regions[1].blocks[0].arguments[stack]
    with InsertionPoint(row.product), row.product.location:
        start = row.read.operands[1]
        starts = [full((), 0, dtype_of(start))] * len(shape_of(products))
        starts[place] = start
        sizes = list(shape_of(products))
        sizes[place] = 1
        part = DynamicSlice(tuple(sizes))(products, *starts)
        result = shape.reshape(part, shape_of(row.product.results[0]))
    row.product.results[0].replace_all_uses_with(result)
    row.product.erase()
