"""Dispatch of operations: to NumPy at once, a device at once, a trace, a replay."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.core import dispatch
from irax.core.interpreters.replay import Replay
from irax.core.tracing import Input, trace_function
from irax_compiler import mlir
from irax_compiler.ops.numpy_call import NumpyCall

X = jnp.arange(1.0, 4.0)


def placed(x):
    return irax.device_put(x, irax.devices()[0])


def of_numpy(x, y):
    op = NumpyCall("hypot", x.shape, x.dtype)
    return dispatch.shortcut(op, x, y, formula=lambda x, y: jnp.full_like(x, -1.0))


def names_of_operations(function, *arrays, **kwargs):
    inputs = [Input(x.aval) for x in arrays]
    traced = trace_function(function, inputs, "test", "f", fresh_module=True, **kwargs)
    main = mlir.functions(traced.builder.module)[traced.name]
    return [o.operation.name for o in mlir.body(main).operations]


def test_numpy_takes_a_shortcut():
    np.testing.assert_array_equal(of_numpy(X, X), np.hypot(X, X))


def test_a_shortcut_is_not_for_dtypes_that_numpy_has_not():
    low = X.astype(jnp.bfloat16)
    np.testing.assert_array_equal(of_numpy(low, low), [-1.0, -1.0, -1.0])


def test_a_device_takes_the_formula():
    np.testing.assert_array_equal(of_numpy(placed(X), X), [-1.0, -1.0, -1.0])


def test_a_compiled_function_takes_the_formula():
    np.testing.assert_array_equal(irax.jit(of_numpy)(X, X), [-1.0, -1.0, -1.0])
    names = names_of_operations(lambda x: [jnp.hypot(x, x)], X)
    assert "stablehlo.custom_call" not in names


def test_a_replay_takes_a_shortcut():
    names = names_of_operations(lambda x: [jnp.hypot(x, x)], X, trace_type=Replay)
    assert names == ["stablehlo.custom_call", "func.return"]


@pytest.mark.parametrize(
    "name, args",
    [("logaddexp", (X, X)), ("floor_divide", (X, 2.0)), ("ldexp", (X, 2)), ("cumsum", (X,))],
)
def test_results_do_not_depend_on_being_replayed(name, args):
    first = getattr(jnp, name)(*args)
    for _ in range(200):
        last = getattr(jnp, name)(*args)
    np.testing.assert_array_equal(first, last)
    assert first.dtype == last.dtype


def test_elements_are_had_outside_of_traces_and_of_devices_alone():
    assert dispatch.elements(X) is X.value
    assert dispatch.elements(placed(X)) is None
    assert dispatch.elements(irax.random.key(0)) is None
    seen = []
    irax.eval_shape(lambda x: seen.append((dispatch.elements(x), dispatch.elements(X))) or x, X)
    assert seen == [(None, None)]


def test_what_is_staged_is_run_or_written():
    def f(x):
        return dispatch.staged(lambda: x + 1.0, lambda builder: x - 1.0)

    assert f(X[0]) == 2.0
    assert f(placed(X)[0]) == 2.0
    assert irax.jit(f)(X[0]) == 0.0


def test_results_stay_on_the_device_of_any_operand():
    committed = placed(X)
    for found in (committed + X, jnp.where(committed > 1, X, 0.0), lax.full((2,), committed[0])):
        assert found.committed
    assert not (X + X).committed


def test_keys_are_chosen_by_a_condition_on_a_device():
    keys = irax.random.split(irax.random.key(0), 3)
    found = jnp.where(placed(X) > 2, keys, keys[::-1])
    expected = np.where(np.asarray(X)[:, None] > 2, keys.data, keys[::-1].data)
    np.testing.assert_array_equal(irax.random.key_data(found), expected)


def test_ldexp_keeps_narrow_floats():
    found = jnp.ldexp(jnp.asarray([0.75], jnp.float16), 4)
    assert found.dtype == np.float16
    np.testing.assert_array_equal(found, np.ldexp(np.float16(0.75), 4))
