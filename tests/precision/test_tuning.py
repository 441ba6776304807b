"""irax.precision.tune: narrower types within a tolerance."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.passes import PassError

RANDOM = np.random.default_rng(0)
WEIGHTS = [(RANDOM.normal(size=(8, 8)) * 0.4).astype(np.float32) for _ in range(3)]
X, Y = (RANDOM.normal(size=(4, 8)).astype(np.float32) for _ in range(2))


def loss(weights, x, y):
    for w in weights:
        x = jnp.tanh(x @ w)
    return {"loss": jnp.mean((x - y) ** 2), "last": x}


def loss_of_numpy(weights, x, y):
    x = x.astype(np.float64)
    for w in weights:
        x = np.tanh(x @ w)
    return {"loss": np.mean((x - y) ** 2), "last": x}


def apart(found, wanted):
    return max(
        np.linalg.norm(np.asarray(found[k], np.float64) - wanted[k]) / np.linalg.norm(wanted[k])
        for k in wanted
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("tolerance", [3e-2, 3e-3, 3e-4, 1e-5, 1e-9])
def test_results_are_within_the_tolerance(tolerance):
    tuned = irax.precision.tune(loss, (WEIGHTS, X, Y), tolerance=tolerance)
    error = apart(tuned(WEIGHTS, X, Y), loss_of_numpy(WEIGHTS, X, Y))
    narrow = sum(choice.dtype is not None for choice in tuned.plan.choices)
    assert error <= 1.5 * tolerance or narrow == 0  # compiled sums are in another order
    assert error == pytest.approx(tuned.plan.error, rel=1, abs=1e-6)


def test_a_smaller_tolerance_narrows_less():
    plans = [irax.precision.tune(loss, (WEIGHTS, X, Y), t, ["bfloat16"]).plan for t in (1, 3e-3, 0)]
    counts = [sum(c.dtype is not None for c in plan.choices) for plan in plans]
    assert counts[0] == len(plans[0].choices) > counts[1] > counts[2] == 0
    assert plans[2].pipeline == ""


def test_the_most_sensitive_operation_stays():
    """100 - x loses what x has lost, 100 times as much."""

    def f(x, y):
        return 100 * (jnp.sin(x) - 0.8) + 1e-3 * jnp.cos(y)

    plan = irax.precision.tune(f, (np.float32(1), np.float32(1)), 1e-2, ["bfloat16"]).plan
    types = {choice.name: choice.dtype for choice in plan.choices}
    assert types["sine"] is None
    assert types["cosine"] == "bf16"


def test_numbers_that_float16_does_not_hold():
    """They are beyond its range, and bfloat16 has too few digits."""
    plan = irax.precision.tune(lambda x: x * 3e5 + 1, (np.float32([1.01]),), 1e-5, ["float16"]).plan
    assert [choice.dtype for choice in plan.choices] == [None, None]


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_float8(dtype):
    tuned = irax.precision.tune(loss, (WEIGHTS, X, Y), 0.3, [dtype, "bfloat16"])
    types = {choice.dtype for choice in tuned.plan.choices}
    assert any(t and t.startswith("f8") for t in types)
    assert apart(tuned(WEIGHTS, X, Y), loss_of_numpy(WEIGHTS, X, Y)) <= 0.45


def test_numbers_that_float8_does_not_hold():
    """The largest float8_e4m3fn is 448."""
    plan = irax.precision.tune(lambda x: x * 30 + x, (np.float32([20]),), 1, ["float8_e4m3fn"]).plan
    assert [choice.dtype for choice in plan.choices] == [None, None]


def test_transformations():
    tuned = irax.precision.tune(lambda w, x: loss(w, x, Y)["loss"], (WEIGHTS, X), 1e-2)
    plain = irax.grad(lambda w, x: loss(w, x, Y)["loss"])(WEIGHTS, X)
    for found, wanted in zip(irax.grad(tuned)(WEIGHTS, X), plain, strict=True):
        assert apart({0: found}, {0: np.asarray(wanted)}) < 5e-2
    lanes = irax.vmap(tuned, in_axes=(None, 0))(WEIGHTS, X[None])
    assert lanes.shape == (1,)
    assert "bf16" in str(irax.make_ir(tuned)(WEIGHTS, X))


def test_the_plan_as_passes():
    tuned = irax.precision.tune(loss, (WEIGHTS, X, Y), 1e-2)
    ir = irax.make_ir(loss)(WEIGHTS, X, Y)
    again = ir.run(tuned.plan.pipeline).module
    assert mlir.text_of(again.operation, False) == mlir.text_of(
        tuned.plan.applied().operation, False
    )
    assert "of the arithmetic" in str(tuned.plan)
    assert "test_tuning.py" in str(tuned.plan)


def test_errors():
    with pytest.raises(ValueError, match="dtypes: got int32; expected some of bfloat16"):
        irax.precision.tune(loss, (WEIGHTS, X, Y), dtypes=["int32"])
    with pytest.raises(ValueError, match="dtypes: got none; expected some of bfloat16"):
        irax.precision.tune(loss, (WEIGHTS, X, Y), dtypes=[])
    for tolerance in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"tolerance=.*; expected a number from 0 on"):
            irax.precision.tune(loss, (WEIGHTS, X, Y), tolerance)
    with pytest.raises(TypeError, match="args is a ndarray; expected a tuple of all arguments"):
        irax.precision.tune(jnp.sin, X)
    ir = irax.make_ir(jnp.sin)(1.0)
    with pytest.raises(PassError, match="dtype=i8: expected one of bf16, f16, f32, f8E4M3FN"):
        ir.run("convert-precision{dtype=i8}")
    with pytest.raises(PassError, match="only=3: the module has 1 such operations"):
        ir.run("convert-precision{only=3}")
