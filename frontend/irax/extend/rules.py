"""The rules of primitives, by primitive: Python functions that transformations run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]

jvp_rules: dict[Any, Rule] = {}
"""`rule(primals, tangents, **params)` returns results and their tangents. A tangent that is zero is
a `Zero`."""

transpose_rules: dict[Any, Rule] = {}
"""`rule(cotangents, *operands, **params)` returns a cotangent, a `Zero` or None for each operand.
Operands that are transposed are `UndefinedPrimal`s; it is one cotangent, and not a list of them,
for a primitive of one result."""

batching_rules: dict[Any, Rule] = {}
"""`rule(operands, axes, **params)` returns results and their mapped axes; None is no axis."""

axis_batching_rules: dict[Any, Rule] = {}
"""`rule(axis_size, axis_name, trace_type, operands, axes, **params)` does so too."""

fancy_batching_rules: dict[Any, Rule] = {}
"""`rule(axis_data, operands, axes, **params)` does so too; the first has `size` and `name`."""

lowerings: dict[Any, Rule] = {}
"""`function(*operands, **params)`, made of irax's operations, is what a program runs."""
