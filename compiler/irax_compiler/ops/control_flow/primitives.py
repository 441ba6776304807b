"""Operations as JAX's primitives, which is the form in which checkpoint policies see them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from irax_compiler.mlir import Operation, Type
from irax_compiler.ops import comparison, convolution, dot, marks
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.registry import read


@dataclass(frozen=True)
class Primitive:
    """A kind of operation, by the name that JAX has for it, which is its text."""

    name: str

    def __str__(self) -> str:
        return self.name


class Application(NamedTuple):
    """A primitive, the types of its operands, and its parameters.

    Parameters are the op's own, but for the `dimension_numbers` of products, which are JAX's, and
    the `name` of a name.
    """

    primitive: Primitive
    types: Sequence[Type]
    parameters: dict[str, Any]


_NAMES = {
    "add": "add",
    "bitcast_convert": "bitcast_convert_type",
    "case": "cond",
    "convert": "convert_element_type",
    "convolution": "conv_general_dilated",
    "cosine": "cos",
    "count_leading_zeros": "clz",
    "custom_jvp": "custom_jvp_call",
    "custom_vjp": "custom_vjp_call",
    "custom_vmap": "custom_vmap_call",
    "divide": "div",
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "householder_qr": "geqrf",
    "if": "cond",
    "linear_solve": "custom_linear_solve",
    "log_plus_one": "log1p",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "negate": "neg",
    "next_after": "nextafter",
    "power": "pow",
    "popcnt": "population_count",
    "remainder": "rem",
    "reverse": "rev",
    "round_nearest_afz": "round",
    "round_nearest_even": "round",
    "select": "select_n",
    "sine": "sin",
    "subtract": "sub",
}
"""JAX's names of operations that StableHLO, CHLO or irax names otherwise, without the dialect."""

_FOLDS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
_UPDATES = {"set": "scatter", "add": "scatter-add", "multiply": "scatter_mul"}

_NAMERS: dict[type[Op], Callable[[Any], str]] = {
    comparison.Compare: lambda op: op.comparison_direction.lower(),
    reduce.Reduce: lambda op: f"reduce_{_FOLDS.get(op.combiner, op.combiner)}",
    gather_scatter.Scatter: lambda op: _UPDATES.get(
        op.combiner, f"scatter_{_FOLDS.get(op.combiner)}"
    ),
}


def application(operation: Operation) -> Application:
    """An operation as a policy is told of it."""
    types = [value.type for value in operation.operands]
    if operation.name == "func.call":
        return Application(Primitive("jit"), types, {})
    try:
        op = read(operation)
    except UnsupportedOp:
        return Application(_named(operation.name), types, {})
    namer = _NAMERS.get(type(op))
    primitive = _named(op.name) if namer is None else Primitive(namer(op))
    return Application(primitive, types, _parameters(op))


def _named(name: str) -> Primitive:
    own = name.rpartition(".")[2]
    return Primitive(_NAMES.get(own, own))


def _parameters(op: Op) -> dict[str, Any]:
    if isinstance(op, marks.Name):
        return {"name": op.label}
    found = {}
    if dataclasses.is_dataclass(op):
        found = {field.name: getattr(op, field.name) for field in dataclasses.fields(op)}
    if isinstance(op, dot.DotGeneral):
        of = op.dimensions
        found["dimension_numbers"] = (
            (of.lhs_contracting, of.rhs_contracting),
            (of.lhs_batching, of.rhs_batching),
        )
    elif isinstance(op, convolution.Convolution):
        found["dimension_numbers"] = (op.dimensions.lhs, op.dimensions.rhs, op.dimensions.out)
    return found
