"""The dtypes, weak types and shapes of results, against JAX."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp

jax = pytest.importorskip("jax", reason="JAX is the oracle here")

OPERANDS = {
    "True": lambda m: True,
    "2": lambda m: 2,
    "1.5": lambda m: 1.5,
    "bool": lambda m: m.array([True, False]),
    "int32": lambda m: m.arange(1, 3),
    "uint8": lambda m: m.array([1, 2], dtype="uint8"),
    "float32": lambda m: m.array([0.25, 0.5]),
    "float16": lambda m: m.array([0.25, 0.5], dtype="float16"),
    "bfloat16": lambda m: m.array([0.25, 0.5], dtype="bfloat16"),
    "numpy float64": lambda m: np.array([0.25, 0.5]),
    "numpy int8": lambda m: np.int8(1),
    "weak float": lambda m: m.asarray(0.5),
}


IN_JAX = {name: make(jax.numpy) for name, make in OPERANDS.items()}

# What JAX computes out of other operations can lose its weak type by how it is written there.
LOSE_WEAK_TYPE = {"hypot", "heaviside", "power", "rint", "nan_to_num"}


def outcome(function):
    """(shape, dtype, weak type) of each result, or that it is an error."""
    try:
        results = function()
    except (TypeError, ValueError, NotImplementedError):
        return "error"
    results = results if isinstance(results, list | tuple) else [results]
    # A weak bool is nothing different from a bool.
    return [(r.shape, r.dtype.name, bool(r.weak_type) and r.dtype != bool) for r in results]


def assert_same(name, *operands):
    """Compares a function with JAX's, which need not run for it."""
    in_jax = [IN_JAX[o] for o in operands]
    expected = outcome(lambda: jax.eval_shape(lambda: getattr(jax.numpy, name)(*in_jax)))
    actual = outcome(lambda: getattr(jnp, name)(*(OPERANDS[o](jnp) for o in operands)))
    if name in LOSE_WEAK_TYPE and "error" not in (actual, expected):
        actual, expected = ([r[:2] for r in results] for results in (actual, expected))
    assert actual == expected, operands


UNARY = (
    *("abs", "negative", "positive", "sign", "square", "reciprocal", "exp", "expm1", "exp2"),
    *("log", "log1p", "log2", "log10", "sqrt", "cbrt", "sin", "cosh", "arctan", "arcsinh"),
    *("deg2rad", "sinc", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite"),
    *("signbit", "logical_not", "invert", "nan_to_num", "sum", "prod", "mean", "var", "std"),
    *("max", "min", "any", "all", "argmax", "cumsum", "cumprod", "ravel", "zeros_like"),
    *("count_nonzero", "median", "sort", "argsort", "diff", "ptp", "atleast_2d", "asarray"),
    *("array", "nansum", "nanmean", "nanmax", "real", "conjugate", "stack", "copy", "fabs"),
)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    for operand in OPERANDS:
        assert_same(name, operand)


BINARY = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power"),
    *("float_power", "maximum", "fmin", "arctan2", "hypot", "logaddexp", "copysign", "heaviside"),
    *("equal", "less", "logical_and", "bitwise_or", "left_shift", "right_shift", "divmod"),
    *("dot", "inner", "outer", "isclose", "append", "clip", "full_like"),
)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    for left in OPERANDS:
        for right in OPERANDS:
            if name == "power" and right == "numpy int8":
                continue  # JAX takes a concrete integer array for the Python int that it holds
            if name == "dot" and "2" in (left, right):
                continue  # JAX refuses a small integer and a Python int
            assert_same(name, left, right)


def test_where():
    for left in OPERANDS:
        for right in OPERANDS:
            assert_same("where", "True", left, right)


CREATION = [
    lambda m: m.zeros(3),
    lambda m: m.ones((2, 1), int),
    lambda m: m.full(3, 1),
    lambda m: m.full(3, 1.5, "float16"),
    lambda m: m.full((2, 3), m.arange(3)),
    lambda m: m.full_like(m.ones(2), 3),
    lambda m: m.ones_like(m.ones(2), dtype=int),
    lambda m: m.zeros_like(3),
    lambda m: m.arange(3),
    lambda m: m.arange(3.0),
    lambda m: m.arange(1, 4, 0.5),
    lambda m: m.arange(np.float16(3)),
    lambda m: m.arange(3, dtype="uint8"),
    lambda m: m.linspace(0, 1, 3),
    lambda m: m.linspace(0, 10, 3, dtype=int),
    lambda m: m.eye(3),
    lambda m: m.eye(2, 3, dtype=bool),
    lambda m: m.tri(2),
    lambda m: m.array(1),
    lambda m: m.array([1, 2]),
    lambda m: m.array([1, 2.5]),
    lambda m: m.array([True, 2]),
    lambda m: m.array([np.float16(1), 2.5]),
    lambda m: m.array([m.ones(2), np.zeros(2)]),
    lambda m: m.array([m.ones((), "float16"), 1]),
    lambda m: m.array([]),
    lambda m: m.array([[], []]),
    lambda m: m.array(np.arange(3)),
    lambda m: m.array(np.arange(3), dtype=float),
    lambda m: m.array(3, ndmin=2),
    lambda m: m.array([1, 2], dtype=m.bfloat16),
    lambda m: m.float32(3),
    lambda m: m.int32(3.7),
    lambda m: m.uint8([1, 2]),
    lambda m: m.bool_(3),
    lambda m: m.stack([1, 2.0]),
    lambda m: m.concatenate([m.ones(2), m.arange(2)]),
    lambda m: m.take(m.ones(3), 1),
    lambda m: m.mean(m.ones(3, "bfloat16")),
    lambda m: m.sum(m.ones(3, "int8")),
    lambda m: m.sum(m.ones(3), dtype=int),
    lambda m: m.var(m.arange(3)),
    lambda m: m.diag(m.ones(2, "uint8")),
    lambda m: m.trace(m.ones((2, 2), bool)),
    lambda m: m.average(m.arange(3), weights=m.arange(3)),
    lambda m: m.quantile(m.arange(3), 0.5),
    lambda m: m.interp(0.5, m.arange(3), m.arange(3)),
    lambda m: m.searchsorted(m.arange(3), 1.5),
    lambda m: m.linalg.norm(m.arange(3)),
    lambda m: m.matmul(m.ones((2, 3), "bfloat16"), m.ones(3)),
    lambda m: m.einsum("ij,j->i", m.ones((2, 3), int), m.ones(3, "float16")),
    lambda m: m.dot(m.ones(3, "bfloat16"), m.ones(3, "bfloat16"), preferred_element_type="float32"),
    lambda m: m.nonzero(m.arange(3)),
    lambda m: m.unique(m.arange(3)),
    lambda m: m.meshgrid(m.arange(3), m.ones(2)),
    lambda m: m.indices((2, 3)),
]


@pytest.mark.parametrize("number", range(len(CREATION)))
def test_others(number):
    expected = outcome(lambda: CREATION[number](jax.numpy))
    assert outcome(lambda: CREATION[number](jnp)) == expected


def test_integers_become_floats_of_their_width():
    widths = {"bool": 32, "int8": 32, "uint16": 32, "int32": 32, "int64": 64, "uint64": 64}
    with irax.enable_x64(True):
        for dtype, width in widths.items():
            x = jnp.ones(2, dtype)
            for function in (jnp.sin, jnp.mean, jnp.linalg.norm, lambda x: jnp.divide(x, x)):
                assert function(x).dtype == np.dtype(f"float{width}")
