"""Checkpoint policies, which decide which results of a forward pass are saved, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

from irax_compiler.mlir import Operation
from irax_compiler.ops.control_flow.primitives import Primitive, application
from irax_compiler.ops.core import UnsupportedOp


class Offloadable(NamedTuple):
    """The decision that a result is saved in another memory of the device, by their names."""

    src: str
    dst: str


Decision = bool | Offloadable


class PolicyFields(Protocol):
    """A named policy."""

    @property
    def policy(self) -> str:
        """Its name."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The names of values that it is about."""
        ...

    @property
    def offloaded(self) -> tuple[str, ...]:
        """The names of values that it saves in another memory."""
        ...

    @property
    def memories(self) -> tuple[str, ...]:
        """The memory that values are in and the one that they are saved in; none if they stay."""
        ...


def _is_named(primitive: Primitive, parameters: dict[str, Any], names: tuple[str, ...]) -> bool:
    return primitive.name == "name" and parameters["name"] in names


def _has_no_batch(primitive: Primitive, parameters: dict[str, Any]) -> bool:
    return primitive.name == "dot_general" and not parameters["dimension_numbers"][1][0]


def _moved(is_saved: bool, policy: PolicyFields) -> Decision:
    """Return the decision about a result that is saved in another memory, if at all."""
    return Offloadable(*policy.memories) if is_saved and policy.memories else is_saved


POLICIES: dict[str, Callable[[Primitive, dict[str, Any], PolicyFields], Decision]] = {
    "nothing_saveable": lambda primitive, parameters, policy: False,
    "everything_saveable": lambda primitive, parameters, policy: True,
    "dots_saveable": lambda primitive, parameters, policy: (
        primitive.name in ("dot_general", "conv_general_dilated")
    ),
    "dots_with_no_batch_dims_saveable": lambda primitive, parameters, policy: _has_no_batch(
        primitive, parameters
    ),
    "offload_dot_with_no_batch_dims": lambda primitive, parameters, policy: _moved(
        _has_no_batch(primitive, parameters), policy
    ),
    "save_only_these_names": lambda primitive, parameters, policy: _is_named(
        primitive, parameters, policy.names
    ),
    "save_and_offload_only_these_names": lambda primitive, parameters, policy: (
        _is_named(primitive, parameters, policy.names)
        or _moved(_is_named(primitive, parameters, policy.offloaded), policy)
    ),
    "save_any_names_but_these": lambda primitive, parameters, policy: (
        primitive.name == "name" and parameters["name"] not in policy.names
    ),
    "save_anything_except_these_names": lambda primitive, parameters, policy: (
        not _is_named(primitive, parameters, policy.names)
    ),
}
"""The named policies: functions of an operation's primitive, its parameters and the policy that
decide if the operation's results are saved."""

FUNCTIONS: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Policies that are Python functions of this process, by the names that the IR has for them: of a
primitive, the types of its operands, and its parameters.
"""


def decision(policy: PolicyFields, operation: Operation) -> Decision:
    """Return what a policy decides about the results of an operation: True if they are saved.

    Raises:
        UnsupportedOp: it is a Python function of another process.
    """
    primitive, types, parameters = application(operation)
    if policy.policy in POLICIES:
        return POLICIES[policy.policy](primitive, parameters, policy)
    function = FUNCTIONS.get(policy.policy)
    if function is None:
        raise UnsupportedOp(
            f"irax.checkpoint: its policy, {policy.policy}, is a Python function of the process "
            "that traced it: differentiate there, or use a policy of checkpoint_policies"
        )
    return function(primitive, types, parameters)
