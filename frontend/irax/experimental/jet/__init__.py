"""Taylor mode: derivatives of high order of a function along a curve.

The function is traced to a jaxpr, which is run equation by equation on truncated power series.
Elementwise functions have recurrences (`series.py`), linear operations apply to each coefficient,
products are sums of products. Other operations are differentiated again and again, by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import as_array
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
from irax.experimental.jet.running import run
from irax.jaxprs.make import make_jaxpr

__all__ = ["jet"]


@api_boundary
def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Sequence[Any]],
    factorial_scaled: bool = True,
    **_: Any,
) -> tuple[Any, Any]:
    """Return the value of a function at the start of a curve, and its derivatives along the curve.

    Args:
        fun: a function of arrays.
        primals: the arguments at the start.
        series: for each argument the derivatives of the curve, of the first order, the second, and
            so on; as many for all arguments.
        factorial_scaled: False if terms are coefficients of Taylor's series instead: derivatives
            divided by the factorials of their orders.

    Returns:
        The result, and in place of each array in it a list of its derivatives.

    Raises:
        ValueError: the numbers of arguments or of terms differ, an argument is no array, or a term
            has another shape.

    >>> from irax.experimental.jet import jet
    >>> cube, derivatives = jet(lambda x: x**3, (2.0,), ([1.0, 0.0, 0.0],))
    >>> print(cube, *derivatives)
    8.0 12.0 12.0 6.0
    """
    curves = _curves(primals, series, factorial_scaled)
    order = len(curves[0]) - 1 if curves else 0
    closed, structs = make_jaxpr(fun, return_shape=True)(*primals)
    found = run(closed, curves, order)
    leaves, tree = array_trees.tree_flatten(structs)
    values, terms = [], []
    for curve, struct in zip(found, leaves, strict=True):
        value = as_array(curve[0])
        values.append(value.with_weak_type(struct.weak_type))
        terms.append(
            [
                value * 0 if c is None else _scaled(c, k, factorial_scaled)
                for k, c in enumerate(curve[1:], 1)
            ]
        )
    return array_trees.tree_unflatten(tree, values), array_trees.tree_unflatten(tree, terms)


def _scaled(coefficient: Any, order: int, factorial_scaled: bool) -> Any:
    return coefficient * math.factorial(order) if factorial_scaled else coefficient


def _curves(
    primals: Sequence[Any], series: Sequence[Sequence[Any]], factorial_scaled: bool
) -> list[list[Any]]:
    """The coefficients of Taylor's series of each argument."""
    if len(primals) != len(series):
        raise ValueError(f"jet: {len(primals)} primals and {len(series)} series; expected as many")
    if len({len(terms) for terms in series}) > 1:
        raise ValueError(
            f"jet: jet terms have inconsistent lengths: {[len(terms) for terms in series]}; "
            "expected as many terms for all arguments"
        )
    curves = []
    for i, (primal, terms) in enumerate(zip(primals, series, strict=True)):
        if not array_trees.tree_structure(primal).num_nodes == 1:
            raise ValueError(
                f"jet: primal value at position {i} is not an array: give each array of "
                f"{primal!r} as an argument"
            )
        x = as_array(primal, f"jet: primal {i}")
        curve: list[Any] = [x]
        for k, term in enumerate(terms, 1):
            c = as_array(term, f"jet: term {k} of argument {i}")
            if c.shape != x.shape:
                raise ValueError(
                    f"jet: term {k} of argument {i} has shape {c.shape}; expected {x.shape}"
                )
            factor = math.factorial(k) if factorial_scaled else 1
            curve.append(c.astype(x.dtype) / factor if x.aval.is_inexact else None)
        curves.append(curve)
    return curves
