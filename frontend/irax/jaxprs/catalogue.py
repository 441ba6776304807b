"""The primitives of irax's operations by JAX's names."""

from __future__ import annotations

from functools import cache

from irax.extend.primitive import Primitive
from irax.jaxprs import library, names, primitives
from irax.jaxprs.forms import FORMS
from irax_compiler.ops.composite import COMPOSED
from irax_compiler.ops.registry import registered_names, traits_named
from irax_compiler.ops.structured import StructuredOp

_OTHER = {
    "call": primitives.call_p,
    "checkpoint": primitives.in_module("remat2"),
    "closed_call": primitives.call_p,
    "cond": primitives.cond_p,
    "jit": primitives.call_p,
    "pjit": primitives.call_p,
    "remat": primitives.in_module("remat2"),
    "scan": primitives.scan_p,
    "while": primitives.while_p,
}
"""The primitives that hold functions."""

_WITHOUT = (
    "add_jaxvals after_all all_gather all_to_all approx_top_k",
    "cholesky_update lu_pivots_to_permutation ormqr symmetric_product",
    "core_call create_token custom_lin",
    "dce_sink debug_callback device_put empty2 eq_to get le_to linear_solve log2 lt_to",
    "one_minus_square polynomial",
    "ppermute ragged_all_to_all",
    "random_gamma random_seed reduce rng_uniform",
    "scatter_sub select_and_gather_add",
    "select_and_scatter_add sharding_constraint stack stage",
    "swap threefry2x32 tridiagonal tridiagonal_solve unstack xla_pmap",
)
"""Primitives of JAX's that can be named alone: libraries have them in tables."""


@cache
def _all() -> dict[str, Primitive]:
    names_alone = (name for row in _WITHOUT for name in row.split())
    found: dict[str, Primitive] = {name: Primitive(name) for name in names_alone}
    found |= library.primitives()
    for name in registered_names():
        own = names.name_of_composite(name)
        found.setdefault(own, primitives.of_op(own, traits_named(name)))
    for cls, form in FORMS.items():
        found |= {own.replace("-", "_"): primitives.of_form(own, cls) for own in form.all_names}
    for name, cls in COMPOSED.items():
        own = names.name_of_composite(name)
        is_structured = issubclass(cls, StructuredOp)
        found[own] = primitives.in_module(own) if is_structured else primitives.of_op(own, cls)
    return found | _OTHER


def primitive(name: str) -> Primitive | None:
    """Return the primitive that JAX calls `name`, with or without `_p`; None if there is none.

    >>> primitive("sin_p")
    sin
    """
    return _all().get(name.removesuffix("_p"))
