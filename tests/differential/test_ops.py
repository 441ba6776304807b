"""Every case of the tables `cases_*.py` against every rule that its ops have."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from tests.differential.harness import (
    CASES,
    Arrays,
    Case,
    assert_near,
    assert_typed,
    directions,
    dot,
    epsilon,
    only_inexact,
    rebuilt,
    subsets,
)
from tests.sampling import sample

from irax_compiler import mlir
from irax_compiler.ops.core import Op
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.derive.batch import BatchDeriver
from irax_compiler.passes.derive.jvp import JvpDeriver
from irax_compiler.pipeline import run_pipeline

LANES = 3
WITH_OPERANDS = [c for c in CASES if c.operands]
DIFFERENTIABLE = [c for c in CASES if c.has_derivative]
INEXACT = [
    c
    for c in CASES
    if c.differentiable is not False
    and c.active
    and any(mlir.inexact(mlir.dtype_of_type(t)) for t in c.result_types)
]


def cases(selected: Sequence[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", selected, ids=[f"{c.family}-{c.name}" for c in selected])


def options(indices: Sequence[int]) -> str:
    return ",".join(map(str, indices))


# ---- value ---------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@cases(CASES)
def test_value(case: Case) -> None:
    arrays = case.arrays(case.rng())
    results = case.run(arrays)
    wide = [
        a.astype(np.float64) if mlir.inexact(a.dtype) and a.dtype.kind != "c" else a for a in arrays
    ]
    expected = case.reference(*wide)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for result, value, type_ in zip(results, expected, case.result_types, strict=True):
        assert_typed(result, type_)
        assert_near(result, value, case.tolerance)


@pytest.mark.sampled(4)
@cases(CASES)
def test_reading_gives_back_what_was_built(case: Case) -> None:
    module = case.module()
    rebuilt(module, "main", "again")
    rebuilt(module, "again", "once_more")
    module.operation.verify()
    texts = {
        name: str(function).replace(f"@{name}(", "@f(")
        for name, function in mlir.functions(module).items()
    }
    assert texts["again"] == texts["once_more"]
    if isinstance(case.subject, Op):
        assert texts["main"] == texts["again"]
    parsed = Evaluator(mlir.parse_module(str(module)))
    arrays = case.arrays(case.rng())
    for ours, theirs in zip(case.run(arrays), parsed("again", arrays), strict=True):
        assert (ours.dtype, ours.tobytes()) == (theirs.dtype, theirs.tobytes())


# ---- derivatives ---------------------------------------------------------------------------------


def sizes(arrays: Arrays) -> Arrays:
    return [np.abs(a) for a in arrays]


def differences(run, x: Arrays, v: Arrays, step: float) -> Arrays:
    """The central finite difference of what is inexact among the results."""
    moved = (
        [a + h * b if mlir.inexact(a.dtype) else a for a, b in zip(x, v, strict=True)]
        for h in (step, -step)
    )
    forward, backward = (only_inexact(run(arrays)) for arrays in moved)
    return [(f - b) / (2 * step) for f, b in zip(forward, backward, strict=True)]


@pytest.mark.sampled(4)
@cases(DIFFERENTIABLE)
def test_jvp(case: Case) -> None:
    rng = case.rng()
    x = case.arrays(rng)
    for wrt in subsets(case.active):
        module = case.module()
        run_pipeline(module, f"jvp{{func=main wrt={options(wrt)}}}")
        tangents = directions(rng, [x[i] for i in wrt])
        outputs = Evaluator(module)("main.jvp", [*x, *tangents])
        primals, derivatives = outputs[: len(case.result_types)], outputs[len(case.result_types) :]
        for primal, result in zip(primals, case.run(x), strict=True):
            if case.tolerance is None:
                np.testing.assert_array_equal(primal, result)
            else:  # the derivative may compute it another way
                assert_near(primal, result, case.tolerance)
        v = [np.zeros_like(a) for a in x]
        for i, t in zip(wrt, tangents, strict=True):
            v[i] = t
        expected = differences(case.run, x, v, case.step)
        for actual, value in zip(derivatives, expected, strict=True):
            assert_near(actual, value, case.derivative_tolerance)


@cases(INEXACT)
def test_a_flat_op_has_no_tangents(case: Case) -> None:
    module = case.module()
    function = mlir.functions(module)["main"]
    arguments = mlir.arguments(function)
    if isinstance(case.subject, Op) and case.subject.is_flat(arguments):
        flags = tuple(i in case.active for i in range(len(arguments)))
        assert not any(JvpDeriver(module).function("main", flags).results)


@cases(DIFFERENTIABLE)
def test_transpose(case: Case) -> None:
    for wrt in case.linear_subsets():
        module = case.module()
        run_pipeline(module, f"transpose{{func=main wrt={options(wrt)}}}")
        rng = case.rng()
        x = case.arrays(rng)
        y = case.run(x)
        u = directions(rng, y)
        others = [a for i, a in enumerate(x) if i not in wrt]
        found = dot(Evaluator(module)("main.transpose", [*others, *u]), [x[i] for i in wrt])
        np.testing.assert_allclose(dot(u, y), found, rtol=1e-6, err_msg=f"in operands {wrt}")


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore::irax_compiler.passes.derive.jvp.LostDerivative")
@cases(INEXACT)
def test_vjp_is_the_transpose_of_jvp(case: Case) -> None:
    rng = case.rng()
    x = case.arrays(rng)
    u = directions(rng, only_inexact(case.run(x)))
    for wrt in subsets(case.active):
        module = case.module()
        chosen = f"func=main wrt={options(wrt)}"
        run_pipeline(module, f"jvp{{{chosen}}},vjp{{{chosen}}}")
        evaluator = Evaluator(module)
        v = directions(rng, [x[i] for i in wrt])
        count = len(case.result_types)
        tangents = evaluator("main.jvp", [*x, *v])[count:]
        cotangents = evaluator("main.vjp", [*x, *u])[count:]
        for cotangent, i in zip(cotangents, wrt, strict=True):
            assert (cotangent.shape, cotangent.dtype) == (x[i].shape, x[i].dtype)
        coarsest = max(epsilon(a.dtype) for a in [*u, *v])
        scale = dot(sizes(u), sizes(tangents)) + dot(sizes(cotangents), sizes(v))
        np.testing.assert_allclose(
            dot(u, tangents), dot(cotangents, v), rtol=0, atol=16 * coarsest * scale
        )


@pytest.mark.sampled(6)
@cases(DIFFERENTIABLE)
def test_vjp_of_vjp(case: Case) -> None:
    rng = case.rng()
    x = case.arrays(rng)
    inputs = [*x, *directions(rng, only_inexact(case.run(x)))]
    active = [*case.active, *range(len(x), len(inputs))]
    module = case.module()
    run_pipeline(
        module,
        f"vjp{{func=main wrt={options(case.active)}}},vjp{{func=main.vjp wrt={options(active)}}}",
    )
    evaluator = Evaluator(module)

    def gradient(arrays: Arrays) -> Arrays:
        return evaluator("main.vjp", arrays)

    outputs = gradient(inputs)
    weights = directions(rng, only_inexact(outputs))
    found = evaluator("main.vjp.vjp", [*inputs, *weights])[len(outputs) :]
    v = directions(rng, [inputs[i] for i in active])
    along = [np.zeros_like(a) for a in inputs]
    for i, tangent in zip(active, v, strict=True):
        along[i] = tangent
    step = max(case.step, 1e-5)
    expected = dot(weights, differences(gradient, inputs, along, step))
    tolerance = 10 * case.derivative_tolerance
    np.testing.assert_allclose(dot(found, v), expected, rtol=tolerance, atol=tolerance)


# ---- batching ------------------------------------------------------------------------------------


def check_batch(
    module: mlir.Module, evaluator: Evaluator, name: str, inputs: Arrays, axes: tuple, tolerance
) -> None:
    """The batched function on `inputs` against the function on each lane."""
    derived = BatchDeriver(module, LANES).function(name, axes)
    module.operation.verify()
    batched = Evaluator(module)(derived.name, inputs)
    lanes = [
        evaluator(
            name,
            [
                a if axis is None else np.take(a, lane, axis)
                for a, axis in zip(inputs, axes, strict=True)
            ],
        )
        for lane in range(LANES)
    ]
    expected_of_lane = zip(*lanes, strict=True)
    for actual, axis, expected in zip(batched, derived.results, expected_of_lane, strict=True):
        for lane in range(LANES):
            part = actual if axis is None else np.take(actual, lane, axis)
            assert part.dtype == expected[lane].dtype
            assert_near(part, expected[lane], tolerance)


@pytest.mark.sampled(6)
@cases(sample(WITH_OPERANDS, 2))
def test_batch(case: Case) -> None:
    module = case.module()
    evaluator = Evaluator(module)
    rng = case.rng()
    places = [list(dict.fromkeys([None, 0, len(o.shape)])) for o in case.operands]
    for axes in itertools.product(*places):
        if all(axis is None for axis in axes):
            continue
        inputs = [
            o.drawn(rng) if axis is None else o.lanes(rng, LANES, axis)
            for o, axis in zip(case.operands, axes, strict=True)
        ]
        check_batch(module, evaluator, "main", inputs, axes, case.tolerance)


@pytest.mark.sampled(6)
@cases(sample(DIFFERENTIABLE, 3))
@pytest.mark.parametrize("mode", ["jvp", "vjp"])
def test_batch_of_derivative(case: Case, mode: str) -> None:
    module = case.module()
    run_pipeline(module, f"{mode}{{func=main wrt={options(case.active)}}}")
    evaluator = Evaluator(module)
    rng = case.rng()
    x = case.arrays(rng)
    like = [x[i] for i in case.active] if mode == "jvp" else only_inexact(case.run(x))
    others = directions(rng, like)
    count = len(x)
    for primal_axis, other_axis in [(0, 0), (-1, -1), (0, None), (None, 0)]:
        axes = tuple(
            axis if axis != -1 else array.ndim
            for array, axis in zip(
                [*x, *others], [primal_axis] * count + [other_axis] * len(others), strict=True
            )
        )
        inputs = [
            o.drawn(rng) if axis is None else o.lanes(rng, LANES, axis)
            for o, axis in zip(case.operands, axes, strict=False)
        ]
        inputs += [
            a if axis is None else np.stack([directions(rng, [a])[0] for _ in range(LANES)], axis)
            for a, axis in zip(others, axes[count:], strict=True)
        ]
        check_batch(module, evaluator, f"main.{mode}", inputs, axes, 1e-9)
