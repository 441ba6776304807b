"""jax.interpreters.ad: derivative rules of primitives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from irax.compat.jax.interpreters.jvp_tracers import JVPTracer
from irax.extend.rules import jvp_rules as primitive_jvps
from irax.extend.rules import transpose_rules as primitive_transposes
from irax.extend.zeros import UndefinedPrimal as UndefinedPrimal
from irax.extend.zeros import Zero as Zero
from irax.extend.zeros import add_tangents as add_tangents
from irax.extend.zeros import instantiate_zeros as instantiate_zeros
from irax.extend.zeros import is_undefined_primal as is_undefined_primal

__all__ = [
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "add_jaxvals",
    "add_tangents",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]

Rule = Callable[..., Any] | None


def add_jaxvals(x: Any, y: Any) -> Any:
    """Return the sum of two arrays."""
    return x + y


def zeros_like_aval(aval: Any) -> Any:
    """Return an array of zeros of a type."""
    return instantiate_zeros(Zero(aval))


def get_primitive_transpose(primitive: Any) -> Callable[..., Any]:
    """Return the transpose rule of a primitive.

    Raises:
        NotImplementedError: it has none.
    """
    if primitive not in primitive_transposes:
        raise NotImplementedError(f"Transpose rule for '{primitive}' not implemented")
    return primitive_transposes[primitive]


def defjvp(primitive: Any, *jvprules: Rule) -> None:
    """Set the derivative of a primitive of one result, operand by operand.

    Args:
        primitive: the primitive.
        jvprules: for each operand a function `(tangent, *primals, **params)` that returns the
            tangent of the result, or None if that is zero.
    """
    defjvp2(
        primitive,
        *(None if rule is None else functools.partial(_without_result, rule) for rule in jvprules),
    )


def _without_result(rule: Callable[..., Any], tangent: Any, _: Any, *primals: Any, **params: Any):
    return rule(tangent, *primals, **params)


def defjvp2(primitive: Any, *jvprules: Rule) -> None:
    """Set the derivative of a primitive by functions `(tangent, result, *primals, **params)`."""

    def jvp(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
        result = primitive.bind(*primals, **params)
        total: Any = Zero.from_primal_value(result)
        for rule, tangent in zip(jvprules, tangents, strict=True):
            if rule is not None and not isinstance(tangent, Zero):
                total = add_tangents(total, rule(tangent, result, *primals, **params))
        return result, total

    primitive_jvps[primitive] = jvp


def deflinear(primitive: Any, transpose_rule: Callable[..., Any]) -> None:
    """State that a primitive is linear, by a function `(cotangent, **params)` that returns the
    cotangents of its operands.
    """
    deflinear2(primitive, lambda ct, *operands, **params: transpose_rule(ct, **params))


def deflinear2(primitive: Any, transpose_rule: Callable[..., Any]) -> None:
    """State that a primitive is linear, by a function `(cotangent, *operands, **params)`."""

    def jvp(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
        result = primitive.bind(*primals, **params)
        if all(isinstance(t, Zero) for t in tangents):
            return result, Zero.from_primal_value(result)
        return result, primitive.bind(*map(instantiate_zeros, tangents), **params)

    def transpose(ct: Any, *operands: Any, **params: Any) -> Any:
        if isinstance(ct, Zero):
            return [Zero(x.aval) if is_undefined_primal(x) else None for x in operands]
        return transpose_rule(ct, *operands, **params)

    primitive_jvps[primitive] = jvp
    primitive_transposes[primitive] = transpose


def defbilinear(primitive: Any, lhs_rule: Callable[..., Any], rhs_rule: Callable[..., Any]) -> None:
    """State that a primitive of two operands is linear in each.

    Args:
        primitive: the primitive.
        lhs_rule: a function `(cotangent, x, y, **params)` to the cotangent of x.
        rhs_rule: the same for y.
    """
    defjvp(
        primitive,
        lambda t, x, y, **params: primitive.bind(t, y, **params),
        lambda t, x, y, **params: primitive.bind(x, t, **params),
    )

    def transpose(ct: Any, x: Any, y: Any, **params: Any) -> list[Any]:
        if is_undefined_primal(x):
            return [lhs_rule(ct, x, y, **params), None]
        return [None, rhs_rule(ct, x, y, **params)]

    primitive_transposes[primitive] = transpose
