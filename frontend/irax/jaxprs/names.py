"""JAX's names of operations."""

from __future__ import annotations

from typing import Any

from irax_compiler.mlir import Operation
from irax_compiler.ops.core import Op

_NAMES = {
    "bitcast_convert": "bitcast_convert_type",
    "broadcast": "broadcast_in_dim",
    "convert": "convert_element_type",
    "convolution": "conv_general_dilated",
    "cosine": "cos",
    "count_leading_zeros": "clz",
    "divide": "div",
    "exponential": "exp",
    "exponential_minus_one": "expm1",
    "log_plus_one": "log1p",
    "maximum": "max",
    "minimum": "min",
    "multiply": "mul",
    "negate": "neg",
    "popcnt": "population_count",
    "power": "pow",
    "remainder": "rem",
    "reverse": "rev",
    "round_nearest_afz": "round",
    "round_nearest_even": "round",
    "select": "select_n",
    "sine": "sin",
    "subtract": "sub",
    "tangent": "tan",
}
"""The operations that have another name than in StableHLO or CHLO."""

_COMPOSITES = {
    "irax.checkpoint": "remat2",
    "irax.custom_jvp": "custom_jvp_call",
    "irax.custom_vjp": "custom_vjp_call",
    "irax.custom_vmap": "custom_vmap_call",
    "irax.deferred.custom_jvp": "custom_jvp_call",
    "irax.deferred.custom_vjp": "custom_vjp_call",
    "irax.linear_solve": "custom_linear_solve",
    "irax.root": "custom_root",
}


def name_of(operation: Operation, op: Op) -> str:
    """Return JAX's name of an operation, which `op` reads."""
    if operation.name == "stablehlo.custom_call":
        target: Any = operation.attributes["call_target_name"]
        return target.value.rpartition(".")[2]
    return name_of_composite(op.name)


def name_of_composite(name: str) -> str:
    """Return JAX's name of a composite, or of an operation that has one name.

    >>> name_of_composite("stablehlo.sine"), name_of_composite("irax.lu")
    ('sin', 'lu')
    """
    last = name.rpartition(".")[2]
    return _COMPOSITES.get(name, _NAMES.get(last, last))
