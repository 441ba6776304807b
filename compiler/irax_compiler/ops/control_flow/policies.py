"""Checkpoint policies, which decide which results of a forward pass are saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from irax_compiler.mlir import Operation
from irax_compiler.ops.control_flow.primitives import Primitive, application
from irax_compiler.ops.core import UnsupportedOp


def _is_named(primitive: Primitive, parameters: dict[str, Any], names: tuple[str, ...]) -> bool:
    return primitive.name == "name" and parameters["name"] in names


def _has_no_batch(primitive: Primitive, parameters: dict[str, Any]) -> bool:
    return primitive.name == "dot_general" and not parameters["dimension_numbers"][1][0]


POLICIES: dict[str, Callable[[Primitive, dict[str, Any], tuple[str, ...]], bool]] = {
    "nothing_saveable": lambda primitive, parameters, names: False,
    "everything_saveable": lambda primitive, parameters, names: True,
    "dots_saveable": lambda primitive, parameters, names: (
        primitive.name in ("dot_general", "conv_general_dilated")
    ),
    "dots_with_no_batch_dims_saveable": lambda primitive, parameters, names: _has_no_batch(
        primitive, parameters
    ),
    "save_only_these_names": _is_named,
    "save_any_names_but_these": lambda primitive, parameters, names: (
        primitive.name == "name" and parameters["name"] not in names
    ),
    "save_anything_except_these_names": lambda primitive, parameters, names: (
        not _is_named(primitive, parameters, names)
    ),
}
"""The named policies: functions of an operation's primitive, its parameters and the policy's names
that return True if the operation's results are saved."""

FUNCTIONS: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Policies that are Python functions of this process, by the names that the IR has for them: of a
primitive, the types of its operands, and its parameters.
"""


def saves(policy: str, names: tuple[str, ...], operation: Operation) -> bool:
    """Return True if a policy, with its names, saves the results of an operation.

    Raises:
        UnsupportedOp: it is a Python function of another process.
    """
    primitive, types, parameters = application(operation)
    if policy in POLICIES:
        return POLICIES[policy](primitive, parameters, names)
    function = FUNCTIONS.get(policy)
    if function is None:
        raise UnsupportedOp(
            f"irax.checkpoint: its policy, {policy}, is a Python function of the process that "
            "traced it: differentiate there, or use a policy of checkpoint_policies"
        )
    return function(primitive, types, parameters)
