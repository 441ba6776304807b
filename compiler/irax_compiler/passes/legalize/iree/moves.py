"""Legalizations of moves of data, which IREE does element by element, to kernels that use vectors
and several workgroups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from irax_compiler import mlir
from irax_compiler.importing import deferred
from irax_compiler.mlir import InsertionPoint, Operation, Value, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.comparison import Select
from irax_compiler.ops.core import Op
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter, ScatterBy
from irax_compiler.ops.size_code import usual
from irax_compiler.ops.slicing import Pad, Reverse
from irax_compiler.passes.core import enclosing
from irax_compiler.passes.host.donated import is_donated
from irax_compiler.passes.kernels.elementwise.joins import parts_of
from irax_compiler.passes.kernels.elementwise.seeds import is_elementwise
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.matching import made_by, only_user
from irax_compiler.passes.rewriting import read_as

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.moves import copies, gathers, scatters
else:
    copies, gathers, scatters = deferred(
        "irax_compiler.passes.kernels.moves", "copies", "gathers", "scatters"
    )

FEW = 4
"""The multiple of its updates from which an array is worth no copy."""
SOME = 128
"""The elements from which a kernel of its own pays for a gather or a scatter. It compiles in less
time than IREE's, of which a scatter has several."""


@legalizes("stablehlo.gather", kind="slow", of="IREE")
def gather_by_vectors(operation: Operation) -> Mapping[Value, Value] | None:
    """Gather windows by vectors. IREE copies them element by element, and computes the place of
    each element. Windows beyond the array are filled with a value by the same kernel.
    """
    op, (result,) = read_as(Gather, operation), operation.results
    x, indices = operation.operands
    if (
        op is None
        or 0 in (*shape_of(x), *shape_of(indices))
        or usual(prod(shape_of(result))) < SOME
    ):
        return None
    return gathers.gathered(op, operation)


@legalizes("stablehlo.scatter", kind="slow", of="IREE")
def scatter_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Combine windows with an array by vectors. IREE combines element by element, and needs copies
    of the array and of the windows before that.
    """
    op, x = read_as(Op, operation), operation.operands[0]
    if not isinstance(op, Scatter | ScatterBy):
        return None
    sizes = [prod(shape_of(y)) for y in operation.operands]
    all_of, updated = sizes[0], sizes[-1]
    if 0 in sizes or max(all_of, updated) < SOME:
        return None
    if is_donated(x) and mlir.num_uses(x) == 1 and FEW * updated <= all_of:
        return None  # IREE writes to the donated array, of which the kernel has a copy
    return [scatters.scattered(op, operation)] if scatters.is_known(operation) else None


SHORT = 7
"""The most elements of a row that the pass `elementwise` reads together with others."""
APART = 4
"""The most elements that are put between others by one kernel."""


@legalizes("stablehlo.reverse", kind="slow", of="IREE")
def reverse_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Reverse dimensions by vectors. IREE copies each element by itself. What only elementwise
    operations use stays, since their kernels read it from the array, and so do short rows, of which
    such a kernel reads several at a time.
    """
    is_outside = next(enclosing(operation)).name == "func.func"
    if is_outside and (_has_short_rows(operation) or _is_read_by_kernels(operation)):
        return None
    found = copies.reversed_copy(operation)
    return None if found is None else [found]


def _has_short_rows(operation: Operation) -> bool:
    """True if few elements are together in the array and in the result, or in reverse."""
    op, sizes = read_as(Reverse, operation), shape_of(operation.results[0])
    assert op is not None
    last = max(op.dimensions)
    row = prod(sizes[last + 1 :])
    return (sizes[last] if row == 1 else row) <= SHORT


def _is_read_by_kernels(operation: Operation) -> bool:
    """True if elementwise operations beside an operation alone use its result."""
    users = mlir.users(operation.results[0])
    return all(o.block == operation.block and registers.is_known(o) for o in users)


@legalizes("stablehlo.concatenate", kind="slow", of="IREE")
def concatenate_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Concatenate rows of arrays in one kernel. IREE has a kernel for each array, which is slow
    unless the rows fit its tiles. What elementwise operations compute stays: their kernel writes it
    where it belongs.
    """
    is_outside = next(enclosing(operation)).name == "func.func"
    if is_outside and _is_computed_by_kernels(operation):
        return None
    found = copies.concatenated_copy(operation)
    return None if found is None else [found]


def _is_computed_by_kernels(operation: Operation) -> bool:
    """True if arrays of one shape are concatenated that elementwise operations compute."""
    parts = parts_of(operation) or []
    sources = [mlir.definition(x) for x, _ in parts]
    return any(source is not None and is_elementwise(source) for source in sources)


@legalizes("stablehlo.pad", kind="slow", of="IREE")
def pad_by_vectors(operation: Operation) -> Sequence[Value] | Mapping[Value, Value] | None:
    """Copy and fill the parts of a padded array in one kernel. IREE fills all of it before, and
    copies rows slowly unless they fit its tiles. An update of every other row, a select of a padded
    array, is one kernel too.
    """
    op, (result,) = read_as(Pad, operation), operation.results
    x, fill = operation.operands
    element = mlir.splat(fill)
    if op is None or element is None or 0 in shape_of(x) or not copies.pays(result):
        return None
    if min((*op.edge_padding_low, *op.edge_padding_high)) < 0 or sum(op.interior_padding) > APART:
        return None
    pads = op.edge_padding_low, op.interior_padding
    update = _selected(op, result)
    if update is not None:
        under = update.operands[2]
        with InsertionPoint(update):
            parts = copies.padding(x, result, *pads, under)
            return {update.results[0]: copies.copied(update.results[0], *parts)}
    if any(op.interior_padding):  # which IREE fuses with users
        return None
    return [copies.copied(result, *copies.padding(x, result, *pads), element)]


def _selected(op: Pad, padded: Value) -> Operation | None:
    """Return the select, the only user of a padded array, that takes from it all but what is
    padded.
    """
    user = only_user(padded)
    if user is None or user.name != Select.name or user.operands[1] != padded:
        return None
    mask = made_by(user.operands[0], Pad)
    if mask is None or mask.op != op:
        return None
    return user if list(map(mlir.splat, mask.operands)) == [True, False] else None
