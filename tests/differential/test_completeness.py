"""No op without its rules and traits: what is missing fails here, by name, not at a user's run
time. A missing trait is not even noticed there: a program is slow, or counted wrong.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.differential.harness import CASES, NOT_DIFFERENTIABLE, Case

from irax_compiler import mlir, ops
from irax_compiler.mlir import InsertionPoint, Operation
from irax_compiler.ops import registers
from irax_compiler.ops.composite import COMPOSED
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.core import Op
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.registry import names_of, registered_names, traits_named
from irax_compiler.ops.structured import StructuredOp
from irax_compiler.passes.core import nested
from irax_compiler.passes.legalize.legalize import LegalizeChlo
from irax_compiler.passes.standard import EXPAND_CHLO
from irax_compiler.pipeline import run_passes

# Calls of functions with rules of their own are tested in tests/frontend.
OWN = {name for name, cls in COMPOSED.items() if not issubclass(cls, RuledOp)}
NAMES = sorted({*registered_names(), *OWN})
RULES = ("evaluate", "jvp", "batch")
OF_FUNCTIONS = (*RULES, "transpose")
WITHOUT_OPERANDS = {"irax.dimension", "stablehlo.constant", "stablehlo.iota"}


def declared(base: type[Op]) -> Iterator[type[Op]]:
    """The classes of irax's own, derived from one, that have a name of an operation."""
    for cls in base.__subclasses__():
        if "name" in vars(cls) and cls.__module__.startswith(ops.__name__):
            yield cls
        yield from declared(cls)


@pytest.mark.parametrize("cls", list(declared(Op)), ids=lambda cls: cls.__name__)
def test_every_op_is_registered(cls: type[Op]) -> None:
    known = {*registered_names(), *COMPOSED}
    assert cls.name in known, "decorate it with @register_class, or @register_composed"


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
    for rule in OF_FUNCTIONS if isinstance(op, StructuredOp) else RULES:
        if rule != "evaluate" and op.name in WITHOUT_OPERANDS:
            continue
        assert getattr(type(op), rule) is not getattr(Op, rule), f"{op.name} has no {rule} rule"


def test_nothing_else_is_declared_not_differentiable() -> None:
    assert set(NAMES) >= NOT_DIFFERENTIABLE


# ---- traits --------------------------------------------------------------------------------------

NOT_IN_KERNELS = {
    "stablehlo.complex": "kernels hold the parts of complex numbers",
    "stablehlo.imag": "kernels hold the parts of complex numbers",
    "stablehlo.real": "kernels hold the parts of complex numbers",
    "stablehlo.reduce_precision": "no loop has needed it",
}
"""The elementwise ops without a scalar lowering, and why. Those of CHLO are expanded before."""
ELEMENTWISE = [n for n in registered_names() if traits_named(n).elementwise]
FEW = 8
"""The most operations that are "a few instructions"."""
EXACT = {f"math.{name}" for name in ("absf", "ceil", "copysign", "floor", "round", "roundeven")}
"""The operations of math on floats that are not transcendental."""


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if not n.startswith("chlo.")])
def test_every_elementwise_op_has_a_scalar_lowering(name: str) -> None:
    has_one = traits_named(name).scalar_lowering is not None
    assert has_one != (name in NOT_IN_KERNELS), (
        f"{name} has no scalar_lowering: IREE runs loops with it kernel by kernel. State one "
        "(irax_compiler/ops/registers.py has their parts), or in NOT_IN_KERNELS why it has none"
    )


def of_real_numbers(name: str) -> tuple[mlir.Module, Operation] | None:
    """The module of a case in which an op takes real numbers of 32 bits or more, and its operation
    there.
    """
    for case in CASES:
        if name in case.op_names and all(o.dtype.itemsize >= 4 for o in case.operands):
            module = case.module()
            operation = next(o for o in nested(module.operation) if o.name == name)
            if all(mlir.dtype_of(x).kind in "fiu" for x in operation.operands):
                return module, operation
    return None


def expansion(name: str) -> list[str]:
    """The operations that stand for one operation of real numbers: of StableHLO for those of CHLO,
    else of kernels.
    """
    found = of_real_numbers(name)
    if found is None:
        return []
    module, operation = found
    if name.startswith("chlo."):
        run_passes(module, [LegalizeChlo(), EXPAND_CHLO])
        return [o.name for o in nested(module.operation) if o.name != "stablehlo.constant"]
    made = mlir.new_module()
    function = mlir.new_function(made, "main", [])
    with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        dtypes = [mlir.dtype_of(x) for x in operation.operands]
        registers.apply(operation, [registers.constant(np.ones(1, dtype)) for dtype in dtypes])
    return [o.name for o in nested(made.operation) if o.name != "arith.constant"]


def is_transcendental(name: str) -> bool:
    is_function = name.startswith("math.") and name not in EXACT and "math.ct" not in name
    return is_function or traits_named(name).transcendental


@pytest.mark.parametrize("name", [n for n in names_of((Elementwise,)) if n not in NOT_IN_KERNELS])
def test_what_takes_long_is_declared_to(name: str) -> None:
    op, operations = traits_named(name), expansion(name)
    assert isinstance(op, Elementwise)
    if any(map(is_transcendental, operations)):
        assert op.transcendental or not op.is_short, (
            f"{name} is made of {operations}: declare it transcendental, so that it is counted as "
            "such, and taken out of loops where they compute it again and again; or short=False"
        )
    if len(operations) > FEW:
        assert not op.is_short, (
            f"{name} is made of {len(operations)} operations: declare it short=False, so that "
            "programs with many of it have a function for it"
        )
