"""Library functions have the stages of jitted functions, and aliases their own names."""

import functools
import inspect
import pickle

import numpy as np
import pytest

import irax
import irax.numpy as jnp

X = np.array([3.0, 1.0, 2.0], np.float32)
VECTOR = irax.ShapeDtypeStruct((3,), np.float32)
MATRIX = irax.ShapeDtypeStruct((3, 3), np.float32)


@pytest.mark.parametrize(
    ("function", "given", "options", "further", "expected"),
    [
        (jnp.sin, (VECTOR,), {}, (X,), np.sin(X)),
        (jnp.sin, (1.0,), {}, (2.0,), np.sin(2.0)),
        (jnp.cumsum, (VECTOR, 0), {}, (X,), np.cumsum(X)),
        (jnp.sort, (VECTOR,), {"axis": 0, "descending": True}, (X,), np.sort(X)[::-1]),
        (jnp.remainder, (VECTOR, 2), {}, (X, 2), X % 2),
        (jnp.clip, (VECTOR, 0, 1), {}, (X, 1, 2), np.clip(X, 1, 2)),
        (jnp.true_divide, (VECTOR, 2), {}, (X, 4), X / 4),
        (jnp.quantile, (VECTOR, 1), {"method": "lower"}, (X, 0), 1.0),
        (jnp.linalg.inv, (MATRIX,), {}, (2 * np.eye(3, dtype=np.float32),), np.eye(3) / 2),
        (irax.nn.silu, (VECTOR,), {}, (X,), X / (1 + np.exp(-X))),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_library_function_is_lowered(function, given, options, further, expected):
    lowered = function.lower(*given, **options)
    np.testing.assert_allclose(lowered.compile()(*further), expected, rtol=1e-6)
    found = function.eval_shape(*given, **options)
    assert (found.shape, found.dtype) == (lowered.out_info.shape, lowered.out_info.dtype)
    assert function.trace(*given, **options).lower().as_text() == lowered.as_text()
    function.clear_cache()


def test_stages_say_what_is_wrong():
    with pytest.raises(TypeError, match=r"sin: .*expected an array or a number, got 'text'"):
        jnp.sin.lower("text")
    assert not hasattr(jnp.frompyfunc(max, 2, 1), "lower")


@pytest.mark.parametrize("function", [jnp.sin, jnp.add, irax.nn.relu])
def test_functions_around_a_library_function_have_not_its_stages(function):
    around = [irax.vmap(function), irax.grad(function), functools.wraps(function)(lambda x: 2 * x)]
    for other in around:
        for stage in ("lower", "trace", "eval_shape", "clear_cache"):
            assert hasattr(function, stage)
            assert not hasattr(other, stage)
    assert irax.jit(function).lower(*(VECTOR,) * (2 if function is jnp.add else 1)).compile()


def test_functions_have_the_names_that_they_go_by():
    for name in dir(jnp):
        found = getattr(jnp, name)
        if name[0] != "_" and (inspect.isfunction(found) or isinstance(found, jnp.ufunc)):
            assert found.__name__ == name
            assert pickle.loads(pickle.dumps(found)) is found
    for alias in (irax.jacobian, irax.remat, irax.host_count, irax.host_id, irax.host_ids):
        assert getattr(irax, alias.__name__) is alias
        assert pickle.loads(pickle.dumps(alias)) is alias
