"""No op without its rules: what is missing fails here, by name, not at a user's run time."""

import pytest
from tests.differential.harness import CASES, NOT_DIFFERENTIABLE, Case

import irax_compiler.ops  # noqa: F401  (registers the ops)
from irax_compiler.ops.composite import COMPOSED
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.core import Op, registered_names
from irax_compiler.ops.structured import StructuredOp

# Calls of functions with rules of their own are tested in tests/frontend.
OWN = {name for name, cls in COMPOSED.items() if not issubclass(cls, RuledOp)}
NAMES = sorted({*registered_names(), *OWN})
RULES = {
    Op: ("evaluate", "jvp", "batch"),
    StructuredOp: (
        "evaluate_through",
        "jvp_through",
        "linearize_through",
        "transpose_through",
        "batch_through",
    ),
}
WITHOUT_OPERANDS = {"stablehlo.constant", "stablehlo.iota"}


@pytest.mark.parametrize("name", NAMES)
def test_every_op_has_a_case(name: str) -> None:
    assert any(name in c.op_names for c in CASES), f"no cases_*.py has a case of {name}"


def subjects(case: Case) -> set[str]:
    """The ops of a case; those without operands are there for the others' sake."""
    names = set(case.op_names)
    return names - WITHOUT_OPERANDS or names


@pytest.mark.parametrize("name", NAMES)
def test_every_op_has_a_derivative_or_says_that_it_has_none(name: str) -> None:
    differentiated = any(name in subjects(c) and c.has_derivative for c in CASES)
    if name in NOT_DIFFERENTIABLE:
        assert not differentiated, f"{name} is in NOT_DIFFERENTIABLE, but has a float64 case"
    else:
        assert differentiated, f"{name} has no float64 case and isn't in NOT_DIFFERENTIABLE"


@pytest.mark.parametrize(
    "op",
    {c.subject.name: c.subject for c in CASES if isinstance(c.subject, Op)}.values(),
    ids=lambda op: op.name,
)
def test_every_op_overrides_the_rules(op: Op) -> None:
    base = StructuredOp if isinstance(op, StructuredOp) else Op
    for rule in RULES[base]:
        if rule != "evaluate" and op.name in WITHOUT_OPERANDS:
            continue
        if rule == "jvp" and type(op).jvp_with_results is not Op.jvp_with_results:
            continue
        assert getattr(type(op), rule) is not getattr(base, rule), f"{op.name} has no {rule} rule"


def test_nothing_else_is_declared_not_differentiable() -> None:
    assert set(NAMES) >= NOT_DIFFERENTIABLE
