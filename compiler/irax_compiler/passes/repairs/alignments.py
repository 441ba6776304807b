"""The pass alignments, which lowers the alignments that kernels assume to those that arrays
have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.passes.core import Pass, kernel_functions, nested, outside_kernels, register_pass
from irax_compiler.passes.host.annotate import is_for_all_sizes

_DISPATCH, _BINDING = "stream.cmd.dispatch", "!stream.binding"
_ALIGNMENT, _CAST = "stream.alignment", "arith.index_castui"
MOST = 64
"""The bytes that arrays are aligned to."""
DEEP = 16
"""The most operations in a row that an alignment is found through."""
_ALIKE = {
    f"arith.{name}"
    for name in (
        *("addi", "subi", "minui", "maxui", "minsi", "maxsi"),
        *("index_cast", "index_castui", "extui", "extsi", "trunci"),
    )
}
"""The operations whose results are aligned as all of their operands are."""


@register_pass
class Alignments(Pass):
    """Lowers the alignments of the arrays and offsets of kernels to those of what dispatches give
    them, in a module of IREE's phase stream; where sizes are not known, those of offsets go.

    IREE 3.13 takes the offset of a row for a multiple of 64 bytes where a loop counts the rows, and
    the counter is clamped, or the size of a row not known, and so has vectors stored where they
    must not be.
    """

    name: ClassVar[str] = "alignments"

    def run(self, module: Module) -> None:
        if is_for_all_sizes(module):
            for cast in nested(module.operation):
                if cast.name == _CAST and _ALIGNMENT in cast.attributes:
                    del cast.attributes[_ALIGNMENT]
        kernels = dict(_kernels(module))
        for dispatch in outside_kernels(module):
            if dispatch.name == _DISPATCH:
                entries: Any = dispatch.attributes["entry_points"]
                for entry in entries:
                    if str(entry) in kernels:
                        _lower(kernels[str(entry)], dispatch)


def _kernels(module: Module) -> Iterator[tuple[str, Operation]]:
    """Return the functions of kernels, by their names in dispatches."""
    for executable in (x.operation for x in module.body.operations):
        if executable.name == "stream.executable":
            outer = mlir.function_name(executable)
            for function in kernel_functions(executable):
                yield f"@{outer}::@{mlir.function_name(function)}", function


def _lower(function: Operation, dispatch: Operation) -> None:
    """Have a kernel assume no more of its arrays and numbers than a dispatch gives it."""
    _, numbers, _, _, offsets, _ = _segments(dispatch)
    arguments = list(enumerate(mlir.arguments(function)))
    arrays = [i for i, x in arguments if str(x.type) == _BINDING]
    others = [x for _, x in arguments if str(x.type) != _BINDING]
    attributes: Any = function.attributes.get("arg_attrs", None)
    if attributes is not None and len(arrays) == len(offsets):
        new = list(attributes)
        for i, offset in zip(arrays, offsets, strict=True):
            new[i] = _lowered(new[i], alignment(offset))
        function.attributes["arg_attrs"] = mlir.array(new)
    if len(others) == len(numbers):
        for x, number in zip(others, numbers, strict=True):
            for use in x.uses:
                cast = use.owner.operation
                known: Any = cast.attributes.get(_ALIGNMENT, None)
                if known is not None and (least := alignment(number)) < known.value:
                    cast.attributes[_ALIGNMENT] = mlir.parse_attribute(f"{least} : index")


def _segments(dispatch: Operation) -> Iterator[Sequence[Value]]:
    """Return a dispatch's workload, numbers, and the arrays, sizes, offsets and lengths of the
    memory that it gives a kernel.
    """
    operands, begin = list(dispatch.operands), 0
    for size in mlir.segments(dispatch):
        yield operands[begin : begin + size]
        begin += size


def _lowered(attributes: Any, most: int) -> Any:
    """Return the attributes of an argument with no larger alignment than the most."""
    found = {named.name: named.attr for named in attributes}
    known: Any = found.get(_ALIGNMENT)
    if known is None or known.value <= most:
        return attributes
    return mlir.dictionary({**found, _ALIGNMENT: mlir.parse_attribute(f"{most} : index")})


def alignment(x: Value, seen: frozenset[Value] = frozenset(), deep: int = DEEP) -> int:
    """Return a power of two, up to `MOST`, that divides a number."""
    made = mlir.definition(x)
    if x in seen:  # on the way around a loop, to what it begins with
        return MOST
    if not deep:
        return 1

    def least(values: Iterable[Value]) -> int:
        return min((alignment(y, seen | {x}, deep - 1) for y in values), default=1)

    if made is None:
        return least(_given(x))
    if made.name == "arith.constant":
        value: Any = made.attributes["value"]
        number = abs(value.value)
        return min(number & -number, MOST) if number else MOST
    if made.name == "arith.muli":
        one, other = made.operands
        return min(least([one]) * least([other]), MOST)
    if made.name == "arith.select":
        return least(list(made.operands)[1:])
    return least(made.operands) if made.name in _ALIKE else 1


def _given(x: Value) -> list[Value]:
    """Return the values that branches give a block's argument; none if some are not known."""
    block: Any = x.owner
    number = list(block.arguments).index(x)
    found: list[Value] = []
    for other in block.region:
        last = other.operations[len(other.operations) - 1].operation
        sizes: Any = last.attributes.get("operandSegmentSizes", None)
        begin = 1 if sizes is not None else 0
        for i, target in enumerate(last.successors):
            count = sizes[i + 1] if sizes is not None else len(last.operands)
            if target == block:
                if last.name not in ("cf.br", "cf.cond_br"):
                    return []
                found.append(last.operands[begin + number])
            begin += count
    return found
