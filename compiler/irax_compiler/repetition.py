"""Lines that a trace met many times, as a loop of Python's has them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from irax_compiler import locations, mlir
from irax_compiler.locations import Frame
from irax_compiler.mlir import Module
from irax_compiler.passes.core import nested

MANY = 16
"""The number of times from which on a line is told of."""

FOR_LOOPS = "lax.fori_loop and lax.scan trace a step once"
"""The advice for such lines."""


def repeated_lines(module: Module) -> Mapping[Frame, tuple[int, int]]:
    """Return the lines that were traced many times, with how often that was, and the number of
    their operations: those with the most operations first.

    A line may have several operations of one name, so in a function it is taken to be traced as
    often as the rarest of its operations that are at least a quarter of those of the most frequent
    one. Derived functions have operations of the same lines.
    """
    counted: dict[Frame, tuple[int, int]] = {}
    for function in mlir.functions(module).values():
        found: defaultdict[Frame, Counter[str]] = defaultdict(Counter)
        for operation in nested(function):
            place = locations.frames(operation.location)[:1]
            if place and operation.name != "stablehlo.constant":
                found[Frame(place[0].file, place[0].line)][operation.name] += 1
        for line, names in found.items():
            most = max(names.values())
            times = min(count for count in names.values() if 4 * count >= most)
            before, operations = counted.get(line, (0, 0))
            counted[line] = max(times, before), operations + names.total()
    often = [item for item in counted.items() if item[1][0] >= MANY]
    return dict(sorted(often, key=lambda item: -item[1][1]))
