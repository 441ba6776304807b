"""Lines that compute much more than their results need, where another formula has the same values.

The compiler leaves them as they are: another order of products rounds in another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from irax_compiler import locations, mlir
from irax_compiler.locations import Frame
from irax_compiler.mlir import Module, Operation, Value, shape_of
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import nested

MUCH = 4
"""The factor from which on a line is told of."""
_LEAST = 1 << 16
"""The operations below which it does not matter."""


def detours(module: Module) -> Mapping[Frame, str]:
    """Return what lines compute that they need not, and what to write in place of it."""
    found: dict[Frame, str] = {}
    for function in mlir.functions(module).values():
        for operation in nested(function):
            for told in _told(operation):
                place = locations.frames(operation.location)[:1]
                if place:
                    found.setdefault(Frame(place[0].file, place[0].line), told)
    return found


def _told(operation: Operation) -> Iterator[str]:
    match operation.name:
        case "stablehlo.dot_general":
            yield from _one_hot(operation)
            yield from _order(operation)
        case "stablehlo.slice":
            yield from _sorted(operation)
        case _:
            pass


def _one_hot(product: Operation) -> Iterator[str]:
    for matrix in list(product.operands)[:2]:
        compared = _source(matrix)
        if compared is None or compared.name != "stablehlo.compare":
            continue
        is_equal = "EQ" in str(compared.attributes["comparison_direction"])
        sides = [_source(x) for x in compared.operands]
        numbers = sum(o is not None and o.name == "stablehlo.iota" for o in sides)
        count = prod(shape_of(product.results[0]))
        if is_equal and numbers and _multiplications(product) >= max(MUCH * count, _LEAST):
            yield (
                f"a product with a matrix of one-hot rows takes {_multiplications(product):,} "
                "multiplications; table[i], or irax.numpy.take, reads the rows"
            )


def _order(product: Operation) -> Iterator[str]:
    for side, matrix in enumerate(list(product.operands)[:2]):
        inner = mlir.definition(matrix)
        if inner is None or not (_is_plain(product) and _is_plain(inner)):
            continue
        if mlir.num_uses(matrix, 2) > 1:
            continue
        a, b = (shape_of(x) for x in list(inner.operands)[:2])
        c = shape_of(product.operands[1 - side])
        if side == 0:  # (a @ b) @ c
            other = prod(b) * prod(c[1:]) + prod(a) * prod(c[1:])
            now, then = "(a @ b) @ c", "a @ (b @ c)"
        else:  # c @ (a @ b)
            other = prod(c[:-1]) * prod(a) + prod(c[:-1]) * prod(b)
            now, then = "a @ (b @ c)", "(a @ b) @ c"
        taken = _multiplications(inner) + _multiplications(product)
        if taken >= max(MUCH * other, _LEAST):
            yield f"{now} takes {taken:,} multiplications, and {then} {other:,}"


def _sorted(part: Operation) -> Iterator[str]:
    whole = _source(part.operands[0])
    if whole is None or whole.name != "stablehlo.sort" or mlir.num_uses(part.operands[0], 2) > 1:
        return
    axis: Any = whole.attributes["dimension"]
    shape, taken = shape_of(part.operands[0]), shape_of(part.results[0])
    number, count = shape[axis.value], taken[axis.value]
    if count * MUCH <= number and prod(shape) >= _LEAST // MUCH:
        yield (
            f"{number:,} elements are sorted, of which {count:,} are used: irax.lax.top_k finds "
            "them"
        )


def _source(x: Value) -> Operation | None:
    """Return the operation that made a value's elements, which others may have moved since."""
    made = mlir.definition(x)
    while made is not None and _keeps_elements(made):
        made = mlir.definition(made.operands[0])
    return made


def _keeps_elements(operation: Operation) -> bool:
    """True if an operation has all elements of its operand, elsewhere or in another dtype."""
    if len(operation.operands) != 1:
        return False
    before, after = (prod(shape_of(x)) for x in (operation.operands[0], operation.results[0]))
    is_one = traits_of(operation).moves or operation.name == Convert.name
    return is_one and before <= after


def _is_plain(operation: Operation) -> bool:
    """True for a product `x @ y` of matrices and vectors."""
    if operation.name != "stablehlo.dot_general":
        return False
    op = read(operation)
    assert isinstance(op, DotGeneral)
    x, y = (len(shape_of(v)) for v in list(operation.operands)[:2])
    dims = op.dimensions
    contracted = (dims.lhs_contracting, dims.rhs_contracting) == ((x - 1,), (0,))
    return contracted and not dims.lhs_batching and 1 <= x <= 2 and 1 <= y <= 2


def _multiplications(product: Operation) -> int:
    op = read(product)
    assert isinstance(op, DotGeneral)
    shape = shape_of(product.operands[0])
    summed = prod(shape[d] for d in op.dimensions.lhs_contracting)
    return prod(shape_of(product.results[0])) * summed
