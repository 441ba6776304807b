"""Finding the operation that makes a nan, or an infinity: `debug_nans` and `debug_infs`.

Operations that run at once are checked as they run. A compiled function is checked when it returns
a nan: then the evaluator runs the program, operation by operation, until one makes it.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from irax.config import config
from irax_compiler import mlir
from irax_compiler.cells import place
from irax_compiler.ops.core import Op
from irax_compiler.ops.evaluation import evaluator as evaluate

if TYPE_CHECKING:
    from irax.core.tracing import Traced

Arrays = Sequence[np.ndarray[Any, Any]]
_TESTS: dict[str, Callable[..., Any]] = {"nan": np.isnan, "inf": np.isinf}
_MADE_ON_PURPOSE = {"stablehlo.bitcast_convert", "stablehlo.constant"}
"""Operations whose nans the user wrote down: constants, and bits taken as numbers."""


def found_in(arrays: Arrays) -> str | None:
    """Return "nan" or "inf" if an option looks for it and one of the arrays has it, else None."""
    for kind, wanted in (("nan", config.debug_nans), ("inf", config.debug_infs)):
        if wanted and _has(kind, arrays):
            return kind
    return None


def _has(kind: str, arrays: Arrays) -> bool:
    return any(_TESTS[kind](x).any() for x in arrays if mlir.inexact(x.dtype))


def check_operation(op: Op, where: str, operands: Arrays, results: Arrays) -> None:
    """Raises FloatingPointError if an operation has made what the options look for: if it is in
    the results, and not in the operands.
    """
    kind = found_in(results)
    if kind is not None and op.name not in _MADE_ON_PURPOSE and not _has(kind, operands):
        what = op.name.partition(".")[2] + _of(kind, operands, results)
        steps = "".join(f", in step {done + 1} of a loop" for done in evaluate.loops())
        raise FloatingPointError(f"invalid value ({kind}) encountered in {what} at {where}{steps}")


def _of(kind: str, operands: Arrays, results: Arrays) -> str:
    """The numbers that an elementwise operation made it of, as `(-1.0)`; empty for others."""
    result = next((x for x in results if _has(kind, [x])), None)
    if result is None or not operands or any(x.shape != result.shape for x in operands):
        return ""
    place = tuple(np.argwhere(_TESTS[kind](result))[0])
    return f"({', '.join(str(x[place]) for x in operands)})"


def watched() -> AbstractContextManager[None]:
    """In a `with` block, check the evaluator's operations, if an option asks for it."""
    if config.debug_nans or config.debug_infs:
        return evaluate.watching(_watch)
    return nullcontext()


def _watch(step: evaluate.Step, operands: Arrays, results: Arrays) -> None:
    if found_in(results) is not None:
        check_operation(step.op, _line(step.location), operands, results)


def explain(kind: str, traced: Traced, arguments: Arrays) -> None:
    """Raises FloatingPointError for a compiled function that has returned a nan or inf: names the
    operation that makes it, or where else it comes from.
    """
    with watched():
        again = traced.builder.evaluator(traced.name, arguments)
    names = [f"argument {i}" for i in range(len(arguments) - len(traced.captures))]
    names += ["an array that it uses from outside"] * len(traced.captures)
    given = [name for name, x in zip(names, arguments, strict=True) if _has(kind, [x])]
    text = f"invalid value ({kind}) in what {traced.name} returns: "
    if given:
        raise FloatingPointError(text + f"it is in {given[0]} already")
    if _has(kind, again):
        raise FloatingPointError(text + "it is one of the function's constants")
    raise FloatingPointError(
        text + "done operation by operation it does not come up, so it is due to the order in "
        "which the compiled program computes, or to callbacks"
    )


def _line(location: mlir.Location) -> str:
    """The user's line, its text, and the derivatives that made an operation of it."""
    text = str(location)
    lines = re.findall(r'"([^"]+)":(\d+)', text)
    if not lines:
        return "an unknown line"
    file, line = lines[0][0], int(lines[0][1])
    made_by = [name for name in re.findall(r'"(\w+)"\(', text) if name in ("jvp", "transpose")]
    written = linecache.getline(file, line).strip()
    found = place(file, line) + (f": {written}" if written else "")
    return found + (f" (in the {' of the '.join(made_by)} of it)" if made_by else "")
