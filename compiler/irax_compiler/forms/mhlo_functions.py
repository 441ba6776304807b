"""Functions of the dialect mhlo in modules of StableHLO: those of XLA's that StableHLO lacks.

    %1 = mhlo.erf %0 : tensor<4xf32>

TensorFlow writes them: copies in each recurrent layer of Keras. The bindings lack the dialect, and
read only the generic form of operations that they do not know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.foreign import CHLO

_UNARY = re.compile(
    r"(?<== )mhlo\.(?P<name>\w+) (?P<x>%[\w#]+) : (?P<type>tensor<.*?>)(?P<end> loc\(.*)?$",
    re.MULTILINE,
)


def readable(text: str) -> str:
    """Return a module's text with such functions in the generic form."""
    return _UNARY.sub(_generic, text)


def _generic(match: re.Match[str]) -> str:
    name, x, type_, end = match.group("name", "x", "type", "end")
    return f'"mhlo.{name}"({x}) : ({type_}) -> {type_}{end or ""}'


def _copy(operation: Operation, number: int) -> Sequence[Value]:
    return list(operation.operands)


def _function(operation: Operation, number: int) -> Sequence[Value]:
    name = operation.name.partition(".")[2]
    types = [x.type for x in operation.results]
    return list(mlir.emit(f"chlo.{name}", list(operation.operands), {}, types).results)


FORMS = {"mhlo.copy": _copy, **{f"mhlo.{name}": _function for name in CHLO}}
"""The rewrites by the names of operations."""
