"""irax.nn: against formulas in float64, finite differences, and JAX where it is there."""

import re

import ml_dtypes
import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run, tolerance

import irax
import irax.numpy as jnp
from irax import nn
from irax.test_util import check_grads


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(x, 0)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0)) - 1))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "hard_tanh": lambda x: np.clip(x, -1, 1),
    "sigmoid": sigmoid,
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "silu": lambda x: x * sigmoid(x),
    "swish": lambda x: x * sigmoid(x),
    "hard_silu": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "softplus": softplus,
    "log_sigmoid": lambda x: -softplus(-x),
    "soft_sign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
    "elu": elu,
    "celu": elu,
    "selu": lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772),
    "gelu": gelu,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    for dtype in ("float32", "float16", ml_dtypes.bfloat16, "int32"):
        x = numbers((2, 5), dtype)
        (result,) = run(getattr(nn, name), x)
        expected = ACTIVATIONS[name](x.astype(np.float64))
        stays = name in ("relu", "hard_tanh") or x.dtype.kind != "i"
        assert result.dtype == (x.dtype if stays else np.float32)
        allowed = {key: 4 * value for key, value in tolerance(result.dtype).items()}
        np.testing.assert_allclose(result.astype(np.float64), expected, **allowed)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_of_activations(name):
    with irax.enable_x64(True):
        x = jnp.array([-5.0, -0.7, 0.3, 2.5, 9.0])
        check_grads(getattr(nn, name), (x,), order=2)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_far_out_are_finite(name):
    x = jnp.array([-1e4, -200.0, -90.0, 90.0, 200.0, 1e4])
    assert np.isfinite(irax.vmap(irax.grad(getattr(nn, name)))(x)).all()


@pytest.mark.parametrize(
    "name, at, expected",
    [
        ("relu", 0.0, 0),
        ("elu", 0.0, 1),
        ("softplus", 0.0, 0.5),
        ("silu", 0.0, 0.5),
        ("gelu", 0.0, 0.5),
    ],
)
def test_derivatives_at_the_kink(name, at, expected):
    assert float(irax.grad(getattr(nn, name))(at)) == pytest.approx(expected)


def test_relu_keeps_nan():
    assert np.isnan(nn.relu(np.nan))


def test_exact_gelu():
    from math import erf

    x = numbers((9,))
    expected = [0.5 * v * (1 + erf(v / 2**0.5)) for v in x.astype(float)]
    (result,) = run(lambda x: nn.gelu(x, approximate=False), x)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_glu():
    x = numbers((3, 4))
    (result,) = run(nn.glu, x)
    np.testing.assert_allclose(result, x[:, :2] * sigmoid(x[:, 2:]), rtol=1e-5)
    with pytest.raises(ValueError, match="even size"):
        nn.glu(x, 0)


# ---- over axes -----------------------------------------------------------------------------------


def log_of_sum(x, axis=None, keepdims=False):
    return np.log(np.sum(np.exp(x.astype(np.float64)), axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(axis, keepdims):
    x = numbers((2, 3, 4))
    (result,) = run(lambda x: nn.logsumexp(x, axis, keepdims=keepdims), x)
    np.testing.assert_allclose(result, log_of_sum(x, axis, keepdims), rtol=1e-5)
    assert result.shape == log_of_sum(x, axis, keepdims).shape


@pytest.mark.parametrize(
    "x, expected",
    [
        ([1000.0, 1000.0], 1000 + np.log(2)),
        ([-1000.0, -1000.0], -1000 + np.log(2)),
        ([-np.inf, 0.0], 0),
        ([-np.inf, -np.inf], -np.inf),
        ([np.inf, 0.0], np.inf),
        ([np.inf, -np.inf], np.inf),
        ([np.nan, 0.0], np.nan),
        ([], -np.inf),
    ],
)
def test_logsumexp_at_the_edges(x, expected):
    (result,) = run(nn.logsumexp, np.array(x, np.float32))
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_logsumexp_with_weights():
    x, weights = numbers((3, 4)), numbers((3, 4), seed=1)
    weights[0, 1] = 0
    total = np.sum(weights * np.exp(x.astype(np.float64)), axis=1)
    results = run(lambda x, b: nn.logsumexp(x, 1, b, return_sign=True), x, weights)
    np.testing.assert_allclose(results[0], np.log(np.abs(total)), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(results[1], np.sign(total))
    mask = numbers((3, 4), "bool")
    mask[:, 0] = True
    (result,) = run(lambda x: nn.logsumexp(x, 1, where=mask), x)
    np.testing.assert_allclose(result, log_of_sum(np.where(mask, x, -np.inf), 1), rtol=1e-5)


@pytest.mark.parametrize("axis", [-1, 0, (0, 1)])
def test_softmax(axis):
    x = numbers((3, 4))
    expected = np.exp(x - log_of_sum(x, axis, keepdims=True))
    np.testing.assert_allclose(run(lambda x: nn.softmax(x, axis), x)[0], expected, rtol=1e-5)
    (result,) = run(lambda x: nn.log_softmax(x, axis), x)
    np.testing.assert_allclose(result, np.log(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
@pytest.mark.parametrize("function", [nn.softmax, nn.log_softmax])
def test_softmax_of_no_elements(function, shape):
    x = jnp.zeros(shape)
    assert function(x).shape == irax.jit(function)(x).shape == shape
    assert function(x, where=x > 0).shape == shape
    assert irax.grad(lambda x: function(x).sum())(x).shape == shape


def test_softmax_at_the_edges():
    x = np.array([[1000.0, 1000.0], [-np.inf, 0.0], [-1000.0, 1000.0]], np.float32)
    np.testing.assert_allclose(run(nn.softmax, x)[0], [[0.5, 0.5], [0, 1], [0, 1]])
    expected = [[-np.log(2), -np.log(2)], [-np.inf, 0], [-2000, 0]]
    np.testing.assert_allclose(run(nn.log_softmax, x)[0], expected, rtol=1e-6)
    mask = np.array([[True, False], [True, True], [False, True]])
    (result,) = run(lambda x: nn.softmax(x, where=mask), x)
    np.testing.assert_allclose(result, [[1, 0], [0, 1], [0, 1]])
    (result,) = run(lambda x: nn.log_softmax(x, where=mask), x)
    np.testing.assert_allclose(result, [[0, -np.inf], [-np.inf, 0], [-np.inf, 0]])


@pytest.mark.parametrize(
    "x", [[1.0, 2.0, 2.0], [2.0, 2.0, 2.0], [-np.inf, 1.0, 0.0], [800.0, 1.0, 0.0]]
)
def test_the_derivative_of_logsumexp_is_the_softmax(x):
    x = jnp.array(x)
    share = np.asarray(nn.softmax(x))
    np.testing.assert_allclose(irax.grad(nn.logsumexp)(x), share, rtol=1e-6)
    rows = np.diag(share) - np.outer(share, share)
    np.testing.assert_allclose(irax.jacrev(nn.softmax)(x), rows, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(irax.hessian(nn.logsumexp)(x), rows, rtol=1e-5, atol=1e-7)
    picked = irax.grad(lambda x: nn.log_softmax(x)[1])(x)
    np.testing.assert_allclose(picked, np.eye(3)[1] - share, rtol=1e-5, atol=1e-7)


def test_the_shift_costs_the_derivative_nothing():
    text = str(irax.make_ir(irax.grad(nn.logsumexp))(jnp.ones(5)))
    (backward,) = (part for part in text.split("func.func") if ".bwd(" in part.split("{")[0])
    operations = re.findall(r"stablehlo\.(\w+)", backward)
    assert sorted({*operations} - {"reshape"}) == ["broadcast_in_dim", "divide", "multiply"]


def test_derivatives_over_axes():
    with irax.enable_x64(True):
        x = jnp.asarray(numbers((3, 4), "float64"))
        for function in (
            lambda x: nn.logsumexp(x, 1),
            nn.softmax,
            lambda x: nn.log_softmax(x, 0),
            nn.standardize,
            lambda x: nn.logsumexp(x, b=x**2),
        ):
            check_grads(function, (x,), order=2)


def test_standardize():
    x = numbers((3, 4))
    wide = x.astype(np.float64)
    mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    expected = (wide - mean) / np.sqrt(variance + 1e-5)
    np.testing.assert_allclose(run(nn.standardize, x)[0], expected, rtol=1e-4, atol=1e-5)
    (result,) = run(lambda x: nn.standardize(x, mean=1.0, variance=4.0, epsilon=0.0), x)
    np.testing.assert_allclose(result, (x - 1) / 2, rtol=1e-5, atol=1e-6)


def test_one_hot():
    x = np.array([[0, 2], [1, 7]])
    expected = (x[..., None] == np.arange(3)).astype(np.float32)
    (result,) = run(lambda x: nn.one_hot(x, 3), x)
    np.testing.assert_array_equal(result, expected)
    (result,) = run(lambda x: nn.one_hot(x, 3, axis=0, dtype="int8"), x)
    np.testing.assert_array_equal(result, np.moveaxis(expected, -1, 0))
    assert result.dtype == np.int8


def test_lists_are_refused():
    for name in (*ACTIVATIONS, "softmax", "logsumexp", "standardize"):
        with pytest.raises(TypeError, match=r"(nn\.)?\w+: \w+: .*\[1\.0\]"):
            getattr(nn, name)([1.0])


def test_against_jax():
    jax = pytest.importorskip("jax", reason="JAX is the oracle here")
    x = np.linspace(-7, 7, 29, dtype=np.float32)
    for name in ACTIVATIONS:
        ours, theirs = getattr(nn, name), getattr(jax.nn, name)
        np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-5, atol=1e-6, err_msg=name)
        slope, expected = irax.vmap(irax.grad(ours))(x), jax.vmap(jax.grad(theirs))(x)
        np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-5, err_msg=name)


def test_a_classifier_learns():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(64, 8)))
    labels = np.argmax(np.asarray(x)[:, :3], 1)
    targets = nn.one_hot(labels, 3)
    weights = [jnp.asarray(rng.normal(size=s) * 0.3) for s in ((8, 16), (16, 3))]

    def loss(weights, x):
        logits = jnp.dot(nn.relu(jnp.dot(x, weights[0])), weights[1])
        return -jnp.mean(jnp.sum(targets * nn.log_softmax(logits), axis=1)), logits

    for _ in range(150):
        gradients, logits = irax.grad(loss, has_aux=True)(weights, x)
        weights = [w - 0.5 * g for w, g in zip(weights, gradients, strict=True)]
    assert float(jnp.mean(jnp.argmax(logits, 1) == labels)) > 0.95


def test_logsumexp_of_complex_numbers():
    z = np.array([[1 + 2j, 90 - 3j], [90 + 1j, 2]], np.complex64)
    wide = z.astype(np.complex128) - 90
    for axis in (None, 0):
        sums = np.exp(wide).sum(axis)
        (value,) = run(lambda z, axis=axis: nn.logsumexp(z, axis), z)
        np.testing.assert_allclose(value, 90 + np.log(sums), rtol=1e-5)
        size, sign = run(lambda z, axis=axis: nn.logsumexp(z, axis, return_sign=True), z)
        np.testing.assert_allclose(size, 90 + np.log(abs(sums)), rtol=1e-5)
        np.testing.assert_allclose(sign, sums / abs(sums), rtol=1e-4, atol=1e-6)


def test_one_hot_of_a_traced_length_names_the_cure():
    with pytest.raises(irax.errors.ConcretizationTypeError, match="static_argnames"):
        irax.jit(lambda n: nn.one_hot(jnp.arange(2), n))(3)


def test_one_hot_of_lists_and_floats():
    np.testing.assert_array_equal(nn.one_hot([0, 2], jnp.array(3)), np.eye(3)[[0, 2]])
    with pytest.warns(DeprecationWarning, match="integers"):
        np.testing.assert_array_equal(nn.one_hot(jnp.array([1.0]), 2), [[0, 1]])
