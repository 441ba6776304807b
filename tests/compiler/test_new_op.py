"""An op that is declared here, and registered for a test, goes through every pass and target: what
passes do with it follows from its declaration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from tests.differential import test_ops
from tests.differential.harness import Case, each, f64
from tests.runtime.pjrt.pjrt_programs import device, needs_plugin

from irax_compiler import cost, mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops import bitwise, comparison, core, elementwise, registers, registry
from irax_compiler.ops.composite import COMPOSED, register_composed
from irax_compiler.ops.core import Op, Tangent, Widened, full, full_like, only
from irax_compiler.ops.elementwise import Elementwise, add, divide, multiply, subtract
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.formula import Number
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.special.series import ByFormula
from irax_compiler.ops.transformation import Differentiation, Evaluation
from irax_compiler.passes.core import Pass, nested
from irax_compiler.passes.derive.linearize import Linearize
from irax_compiler.passes.derive.transpose import Transpose
from irax_compiler.passes.legalize.widen import Widen
from irax_compiler.passes.optimize.constant_folding import ConstantFolding
from irax_compiler.passes.optimize.loop_invariant_code_motion import LoopInvariantCodeMotion
from irax_compiler.passes.optimize.outline import Outline
from irax_compiler.passes.optimize.simplify import Simplify
from irax_compiler.pipeline import run_passes
from irax_compiler.targets import pjrt
from irax_runtime.iree.cpu import cpu

I32 = np.dtype(np.int32)
STEPS = 5


def _logistic(operation: Operation, operands: Sequence[Value]) -> Value:
    (x,) = operands
    one = registers.constant(np.ones(1, mlir.dtype_of(operation.operands[0])))
    power = registers.emit("math.exp", registers.emit("arith.negf", x))
    one = registers.spread(one, registers.size_of(x))
    return registers.emit("arith.divf", one, registers.emit("arith.addf", one, power))


def _sigmoid() -> Elementwise:
    """An op under a name of StableHLO's, of which irax then knows nothing but this."""
    return elementwise.unary(
        "logistic",
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x, y: multiply(y, subtract(full_like(y, 1), y)),
        transcendental=True,
        scalar_lowering=core.ScalarLowering(_logistic),
    )


@dataclass(frozen=True)
class Softsign(ByFormula):
    """x / (1 + |x|), an op that no dialect has."""

    name = "irax.softsign_of_a_test"

    def formula(self, *operands: Number) -> Number:
        (x,) = operands
        return x / (abs(x) + 1)

    def evaluate(self, call: Evaluation, x: np.ndarray) -> np.ndarray:
        return x / (1 + np.abs(x))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        (x,) = primals
        size = add(elementwise.abs(x), full_like(x, 1))
        slope = divide(only(tangents), multiply(size, size))
        return transform.results(self, primals), [slope]


FORMULAS = {
    "stablehlo.logistic": lambda x: 1 / (1 + math.exp(-x)),
    Softsign.name: lambda x: x / (1 + abs(x)),
}


@pytest.fixture(params=FORMULAS)
def op(request: pytest.FixtureRequest) -> Iterator[Op]:
    """Each op, registered for the test and forgotten afterwards."""
    if request.param == Softsign.name:
        register_composed(Softsign)
        yield Softsign()
        del COMPOSED[Softsign.name]
        return
    registry.unregister(elementwise.logistic.name)
    yield _sigmoid()
    registry.register(elementwise.logistic)


@pytest.fixture
def sigmoid() -> Iterator[Elementwise]:
    registry.unregister(elementwise.logistic.name)
    yield _sigmoid()
    registry.register(elementwise.logistic)


def program(op: Op, shape: tuple[int, ...], dtype: str = "f4", times: int = 1) -> Module:
    """A module that applies an op so many times, one after the other."""
    module = mlir.new_module()
    types = [mlir.tensor_type(shape, np.dtype(dtype))]
    function = mlir.new_function(module, "main", types, public=True)
    with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        (x,) = mlir.arguments(function)
        for _ in range(times):
            x = op(x)
    mlir.finish_function(function, [x])
    return module


def loop(op: Op, shape: tuple[int, ...], is_invariant: bool = False) -> Module:
    """A module with a loop that adds, in each step, what an op makes of the sum so far, or of the
    argument.
    """
    module = mlir.new_module()
    types = [mlir.tensor_type(shape, np.dtype(np.float32))]
    function = mlir.new_function(module, "main", types, public=True)
    with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        (x,) = mlir.arguments(function)
        *_, total = while_loop(
            lambda n, _: comparison.less(n, full((), STEPS, I32)),
            lambda n, y: [add(n, full((), 1, I32)), add(y, op(x if is_invariant else y))],
            [full((), 0, I32), x],
        )
    mlir.finish_function(function, [total])
    return module


def run(module: Module, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results on IREE's CPU target."""
    ready = lower(module)
    artefact = targets.compile(ready, "iree-cpu")
    executable = cpu().load(artefact, "main")
    return [buffer.numpy() for buffer in executable([cpu().put(x) for x in arrays])]


def after(module: Module, *passes: Pass) -> Module:
    """The module, rewritten by passes."""
    run_passes(module, passes)
    return module


def names(module: Module) -> list[str]:
    return [operation.name for operation in nested(module.operation)]


# ---- rules ---------------------------------------------------------------------------------------


def test_rules(op: Op) -> None:
    case = Case(op.name, op, [f64(2, 3)], each(FORMULAS[op.name]))
    test_ops.test_value(case)
    test_ops.test_reading_gives_back_what_was_built(case)
    test_ops.test_jvp(case)
    test_ops.test_vjp_is_the_transpose_of_jvp(case)
    test_ops.test_vjp_of_vjp(case)
    test_ops.test_batch(case)
    for mode in ("jvp", "vjp"):
        test_ops.test_batch_of_derivative(case, mode)


def test_linearize_and_transpose(op: Op) -> None:
    module = after(program(op, (3,), "f8"), Linearize())
    evaluator = Evaluator(module)
    x, t = np.asarray([-1.0, 0.5, 2.0]), np.asarray([1.0, 2.0, -1.0])
    y, *residuals = evaluator("main.fwd", [x])
    np.testing.assert_allclose(y, np.vectorize(FORMULAS[op.name])(x))
    (slope,) = evaluator("main.lin", [*residuals, t])
    run_passes(module, [Transpose(func="main.lin", wrt=(len(residuals),))])
    step = 1e-6
    higher, lower_ = (np.vectorize(FORMULAS[op.name])(x + s * t) for s in (step, -step))
    np.testing.assert_allclose(slope, (higher - lower_) / (2 * step), rtol=1e-6)
    (back,) = Evaluator(module)("main.bwd", [*residuals, np.ones(3)])
    np.testing.assert_allclose(back * t, slope)


# ---- evaluator -----------------------------------------------------------------------------------


def test_straight_line(op: Op) -> None:
    evaluator, x = Evaluator(program(op, (4,), "f8", times=2)), np.linspace(-2, 2, 4)
    first, *others = (evaluator("main", [x])[0] for _ in range(5))
    assert evaluator._programs["main"].line is not None
    for other in others:
        np.testing.assert_array_equal(other, first)


# ---- passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("a_pass", [Simplify(), ConstantFolding()], ids=lambda p: p.name)
def test_constants_are_folded(sigmoid: Elementwise, a_pass: Pass) -> None:
    module = mlir.parse_module(
        "func.func @main() -> tensor<2xf32> { %c = stablehlo.constant dense<0.0> : tensor<2xf32>"
        " %0 = stablehlo.logistic %c : tensor<2xf32> return %0 : tensor<2xf32> }"
    )
    assert sigmoid.name not in names(after(module, a_pass))
    np.testing.assert_array_equal(Evaluator(module)("main", [])[0], np.full(2, 0.5, np.float32))


def test_an_identity_is_simplified_away() -> None:
    registry.unregister(bitwise.multiply_high.name)
    try:
        made_up = elementwise.binary(
            "mulhi", np.hypot, dialect="chlo", commutative=True, identity=lambda dtype: 0
        )
        module = mlir.new_module()
        types = [mlir.tensor_type((3,), I32)]
        function = mlir.new_function(module, "main", types, public=True)
        with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            (x,) = mlir.arguments(function)
            results = [made_up(full_like(x, 0), x), made_up(x, full_like(x, 0))]
        mlir.finish_function(function, results)
        assert names(after(module, Simplify())) == ["func.return", "func.func"]
    finally:
        registry.unregister(bitwise.multiply_high.name)
        registry.register(bitwise.multiply_high)


def test_widening_keeps_the_low_bits() -> None:
    registry.unregister(bitwise.multiply_high.name)
    try:
        for widened, count in ((Widened.LOW_BITS, 2), (Widened.SAME, 0)):
            made_up = elementwise.binary("mulhi", np.multiply, dialect="chlo", widened=widened)
            module = mlir.parse_module(
                "func.func private @main(%x: tensor<2xi4>) -> tensor<2xi4> {"
                " %0 = chlo.mulhi %x, %x : tensor<2xi4>, tensor<2xi4> -> tensor<2xi4>"
                " return %0 : tensor<2xi4> }"
            )
            found = names(after(module, Widen()))
            assert made_up.name in found
            assert sum("shift" in name for name in found) == count
    finally:
        registry.unregister(bitwise.multiply_high.name)
        registry.register(bitwise.multiply_high)


def test_an_invariant_of_a_loop_is_computed_before_it(sigmoid: Elementwise) -> None:
    module = after(loop(sigmoid, (64,), is_invariant=True), LoopInvariantCodeMotion())
    function = mlir.functions(module)["main"]
    assert sigmoid.name in [view.operation.name for view in mlir.body(function).operations]


def test_many_of_a_function_are_calls_of_one(op: Op) -> None:
    module = program(op, (4096,), times=20)
    x = np.linspace(-2, 2, 4096, dtype=np.float32)
    (expected,) = Evaluator(module)("main", [x])
    outlined = after(mlir.clone_module(module), Outline())
    calls = [o for o in nested(outlined.operation) if o.name == "stablehlo.custom_call"]
    assert len(calls) == 20
    np.testing.assert_allclose(run(module, x)[0], expected, rtol=1e-4)


def test_a_loop_is_one_kernel(op: Op) -> None:
    module, x = loop(op, (8,)), np.linspace(-2, 2, 8, dtype=np.float32)
    found = names(lower(module))
    assert "scf.while" in found
    assert "stablehlo.while" not in found
    (expected,) = Evaluator(module)("main", [x])
    np.testing.assert_allclose(run(module, x)[0], expected, rtol=1e-5)


def test_cost(sigmoid: Elementwise) -> None:
    module = program(sigmoid, (10,), times=3)
    assert cost.cost_of(module) == cost.Cost(0, 30, 3 * 80)


# ---- targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f8"])
def test_on_the_processor(op: Op, dtype: str) -> None:
    module, x = program(op, (3, 5), dtype), np.linspace(-4, 4, 15).reshape(3, 5).astype(dtype)
    (found,) = run(module, x)
    tolerance = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(found, Evaluator(module)("main", [x])[0], rtol=tolerance)


@needs_plugin
def test_on_a_plugin(op: Op) -> None:
    module, x = program(op, (3, 5)), np.linspace(-4, 4, 15, dtype=np.float32).reshape(3, 5)
    loaded = device().load(pjrt.artefact(lower(module, target="pjrt")), "main")
    (found,) = loaded([device().put(x)])
    np.testing.assert_allclose(found.numpy(), Evaluator(module)("main", [x])[0], rtol=1e-6)


COMPILED = [  # PJRT's plugins compile as they load, and TPUs need libtpu
    t.name for t in targets.all_targets() if t.name.startswith("iree-") and t.name != "iree-cpu"
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", [t.name for t in targets.all_targets()])
def test_every_target_takes_it(op: Op, target: str) -> None:
    ready = lower(program(op, (16,)), target=target)
    assert shape_of(mlir.arguments(mlir.functions(ready)["main"])[0]) == (16,)
    if target in COMPILED:
        assert targets.compile(ready, target)
