"""The choice of the arithmetic that runs beside a function's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from math import prod

import numpy as np

from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.control_flow.while_loops import RegionOp
from irax_compiler.ops.evaluation.evaluator import Evaluator, Program
from irax_compiler.ops.structured import StructuredOp
from irax_compiler.precision.kinds import array_type
from irax_compiler.precision.pairs import Pairs
from irax_compiler.precision.wide import Array, Decimals, Doubles

_WIDEST = (np.float64, np.complex128)
_SMALL = 64
"""The most elements of arrays for which decimal numbers take less time than pairs of floats."""


def arithmetic_beside(evaluator: Evaluator, func: str, arguments: Sequence[Array]) -> Doubles:
    """Return the arithmetic that is wider than that of a function: float64; where there are
    numbers of that, decimal numbers for small arrays, of which there are many digits, and
    double-double ones for large arrays. Decimal numbers where there are complex ones of that, too:
    they have none, and say so.
    """
    types = {
        t for program in _programs(evaluator, func) for t in map(array_type, program.types) if t
    }
    sizes = [prod(t.shape) for t in types if t.dtype in _WIDEST]
    sizes += [x.size for x in arguments if x.dtype in _WIDEST]
    if not sizes:
        return Doubles()
    has_complex = any(x.dtype.kind == "c" for x in (*types, *arguments))
    return Pairs() if max(sizes) > _SMALL and not has_complex else Decimals()


def _programs(evaluator: Evaluator, func: str) -> Iterator[Program]:
    """Return the blocks that an evaluation may run."""
    functions = evaluator.functions
    names, seen = [func], {func}
    while names:
        pending = [evaluator.program(names.pop())]
        while pending:
            program = pending.pop()
            yield program
            for op in (step.op for step in program.steps):
                if isinstance(op, RegionOp):
                    pending += op.programs
                elif isinstance(op, StructuredOp):
                    for name in _names(op):
                        if name not in seen and name in functions:
                            seen.add(name)
                            names.append(name)


def _names(op: StructuredOp) -> list[str]:
    """Return the names of functions that an op calls, and maybe other texts."""
    if isinstance(op, RuledOp):  # its rules are not called
        return [op.function]
    found = [getattr(op, field.name) for field in fields(op)] if is_dataclass(op) else []
    return [x for x in found if isinstance(x, str)]
