"""irax.nn: attention, initializers, scaled products and the later activations."""

import importlib.util
import inspect
import math

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import nn, random
from irax.nn import initializers
from irax.test_util import check_grads

HAS_JAX = importlib.util.find_spec("jax") is not None
needs_jax = pytest.mark.skipif(not HAS_JAX, reason="JAX, the oracle, is not installed")
RNG = np.random.default_rng(0)


# ---- activations ---------------------------------------------------------------------------------

ACTIVATIONS = {
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "squareplus": lambda x: np.where(x < 0, 2 / (np.sqrt(x * x + 4) - x), (x + np.hypot(x, 2)) / 2),
    "sparse_plus": lambda x: np.where(x >= 1, x, (np.maximum(x, -1) + 1) ** 2 / 4),
    "sparse_sigmoid": lambda x: np.clip(x + 1, 0, 2) / 2,
    "identity": lambda x: x,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    function = getattr(nn, name)
    for dtype in ("float32", "float16", ml_dtypes.bfloat16):
        x = np.array([-300.0, -5, -1.5, -0.3, 0, 0.4, 2, 300], dtype)
        close = 1e-5 if dtype == "float32" else 1e-2
        result = np.asarray(function(x))
        assert result.dtype == dtype
        expected = ACTIVATIONS[name](x.astype(np.float64))
        np.testing.assert_allclose(result.astype(np.float64), expected, rtol=close, atol=1e-6)
    with irax.enable_x64(True):
        check_grads(function, (jnp.array([-5.0, -0.7, 0.3, 2.5, 9.0]),), order=2)


@pytest.mark.parametrize("name", [*ACTIVATIONS, "gelu"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_far_out_all_is_finite(name, dtype):
    x = jnp.array([-6e4, -300.0, 300.0, 6e4] if dtype == "float16" else [-1e30, 1e30], dtype)
    function = getattr(nn, name)
    for found in (function(x), irax.vmap(irax.grad(function))(x)):
        assert np.isfinite(np.asarray(found)).all()


def test_the_derivative_of_squareplus_at_nan():
    assert np.isnan(irax.grad(nn.squareplus)(np.nan))
    assert np.isnan(irax.jit(irax.jacfwd(nn.squareplus))(np.nan))


def test_squareplus_of_infinities():
    x = jnp.array([-np.inf, np.inf])
    for way in (lambda f: f, irax.jit):
        np.testing.assert_array_equal(way(nn.squareplus)(x), [0, np.inf])
        np.testing.assert_array_equal(way(irax.vmap(irax.grad(nn.squareplus)))(x), [0, 1])


def test_log1mexp():
    x = np.array([1e-20, 1e-3, 0.5, 0.7, 3, 60], np.float32)
    wide = x.astype(np.float64)
    expected = [math.log(-math.expm1(-v)) if v < 0.1 else math.log1p(-math.exp(-v)) for v in wide]
    np.testing.assert_allclose(nn.log1mexp(x), expected, rtol=1e-5)
    slopes = irax.vmap(irax.grad(nn.log1mexp))(x)
    np.testing.assert_allclose(slopes, 1 / np.expm1(wide), rtol=1e-5)
    assert np.isnan(nn.log1mexp(-1.0))
    assert nn.log1mexp(0.0) == -np.inf


def test_logmeanexp():
    x = RNG.normal(size=(3, 4)).astype(np.float32)
    where = np.array([True, False, True, True])
    for axis, keep in ((None, False), (0, True), (-1, False)):
        expected = np.log(np.mean(np.exp(x.astype(np.float64)), axis, keepdims=keep))
        np.testing.assert_allclose(nn.logmeanexp(x, axis, keepdims=keep), expected, rtol=1e-5)
    expected = np.log(np.mean(np.exp(x[:, where].astype(np.float64)), 1))
    np.testing.assert_allclose(nn.logmeanexp(x, 1, where), expected, rtol=1e-5)


def test_algorithms_of_standardize():
    x = RNG.normal(size=(3, 50)).astype(np.float32)
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    for algorithm in ("fast", "stable"):
        np.testing.assert_allclose(nn.standardize(x, algorithm=algorithm), expected, atol=1e-5)
    with pytest.raises(ValueError, match="algorithm must be"):
        nn.standardize(x, algorithm="x")


def test_rows_without_any_element():
    where = np.array([[False, False], [True, False]])
    x = jnp.ones((2, 2))
    for function in (nn.softmax, nn.log_softmax):
        slopes = irax.grad(lambda x, f=function: jnp.where(where, f(x, where=where), 0).sum())(x)
        np.testing.assert_array_equal(slopes, np.zeros((2, 2)))


# ---- attention -----------------------------------------------------------------------------------


def attention(q, k, v, bias=0.0, seen=True, scale=None):
    """In float64, head by head."""
    heads = q.shape[2] // k.shape[2]
    k, v = (np.repeat(x, heads, axis=2).astype(np.float64) for x in (k, v))
    scale = 1 / math.sqrt(q.shape[3]) if scale is None else scale
    logits = np.einsum("btnh,bsnh->bnts", q.astype(np.float64), k) * scale + bias
    weights = np.where(seen, np.exp(logits), 0)
    weights = weights / weights.sum(-1, keepdims=True)
    return np.einsum("bnts,bsnh->btnh", weights, v)


def operands(dtype="float32", kv_heads=2):
    sizes = [(2, 5, 4, 3), (2, 6, kv_heads, 3), (2, 6, kv_heads, 3)]
    return [RNG.normal(size=s).astype(dtype) for s in sizes]


T, S = np.arange(5)[:, None], np.arange(6)[None]
MASK = RNG.random((2, 1, 5, 6)) < 0.7
MASK[..., 0] = True
BIAS = RNG.normal(size=(1, 4, 5, 6)).astype(np.float32)

ATTENTIONS = {
    "plain": ({}, {}),
    "scale": ({"scale": 0.3}, {"scale": 0.3}),
    "bias": ({"bias": BIAS}, {"bias": BIAS}),
    "bias of keys": ({"bias": BIAS[0, 0, 0]}, {"bias": BIAS[0, 0, 0]}),
    "mask": ({"mask": MASK}, {"seen": MASK}),
    "causal": ({"is_causal": True}, {"seen": S <= T}),
    "window": ({"local_window_size": 2}, {"seen": abs(S - T) <= 2}),
    "left": ({"local_window_size": (1, 0)}, {"seen": (S <= T) & (S >= T - 1)}),
    "all": (
        {"mask": MASK, "bias": BIAS, "local_window_size": (5, 1)},
        {"seen": MASK & (S <= T + 1), "bias": BIAS},
    ),
    "keys": (
        {"key_value_seq_lengths": np.array([2, 6], "i4")},
        {"seen": S[None, None] < np.array([2, 6])[:, None, None, None]},
    ),
}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(name):
    options, expected = ATTENTIONS[name]
    for kv_heads in (1, 2, 4):
        q, k, v = operands(kv_heads=kv_heads)
        found = nn.dot_product_attention(q, k, v, **options)
        np.testing.assert_allclose(found, attention(q, k, v, **expected), rtol=1e-4, atol=1e-5)


def test_attention_without_batch_and_in_narrow_floats():
    q, k, v = operands()
    found = nn.dot_product_attention(*(x[0].tolist() for x in (q, k, v)))
    np.testing.assert_allclose(found, attention(q, k, v)[0], rtol=1e-4, atol=1e-5)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        narrow = [x.astype(dtype) for x in (q, k, v)]
        found = np.asarray(nn.dot_product_attention(*narrow))
        assert found.dtype == dtype
        np.testing.assert_allclose(found.astype("f4"), attention(*narrow), atol=3e-2)


def test_queries_beyond_their_length_give_zero():
    q, k, v = operands()
    lengths = np.array([2, 5], np.int32)
    found = np.asarray(nn.dot_product_attention(q, k, v, query_seq_lengths=lengths))
    np.testing.assert_array_equal(found[0, 2:], 0)
    np.testing.assert_allclose(found[0, :2], attention(q, k, v)[0, :2], rtol=1e-4, atol=1e-5)


def test_residual():
    q, k, v = operands(kv_heads=4)
    _, found = nn.dot_product_attention(q, k, v, return_residual=True)
    logits = np.einsum("btnh,bsnh->btns", q, k) / math.sqrt(3)
    np.testing.assert_allclose(found, np.log(np.exp(logits).sum(-1)), rtol=1e-4, atol=1e-5)


@needs_jax
def test_attention_and_its_derivatives_as_jax():
    import jax

    q, k, v = operands()
    mask = MASK.copy()
    mask[0, 0, 1] = False  # a query that sees nothing
    options = {"mask": mask, "bias": BIAS, "query_seq_lengths": np.array([5, 3], np.int32)}

    def loss(module):
        return lambda q, k, v: (module.nn.dot_product_attention(q, k, v, **options) ** 2).sum()

    expected = jax.grad(loss(jax), (0, 1, 2))(q, k, v)
    for ours, theirs in zip(irax.grad(loss(irax), (0, 1, 2))(q, k, v), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


# ---- scaled products -----------------------------------------------------------------------------


def test_scaled_matmul():
    x, y = RNG.normal(size=(2, 3, 8)).astype("f4"), RNG.normal(size=(2, 5, 8)).astype("f4")
    x_scales, y_scales = (
        np.exp2(RNG.integers(-2, 3, (2, 3, 2))),
        np.exp2(RNG.integers(0, 3, (2, 5, 2))),
    )
    found = nn.scaled_matmul(x, y, x_scales.astype("f4"), y_scales.astype("f4"))
    wide = [np.repeat(s, 4, -1) * v for s, v in ((x_scales, x), (y_scales, y))]
    np.testing.assert_allclose(found, np.einsum("bmk,bnk->bmn", *wide), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="rhs_scales must be"):
        nn.scaled_matmul(x, y, x[..., :2], y[..., :4])


def rounded(x, mode):
    """Blocks along the last axis, by ml_dtypes."""
    data, size = (ml_dtypes.float8_e4m3fn, 32) if mode == "mxfp8" else (ml_dtypes.float4_e2m1fn, 16)
    blocks = x.reshape(*x.shape[:-1], -1, size)
    limit = float(ml_dtypes.finfo(data).max)
    scales = abs(blocks).max(-1, keepdims=True) / limit
    if mode == "mxfp8":
        scales = np.exp2(np.ceil(np.log2(scales)))
    else:
        scales = scales.astype(ml_dtypes.float8_e4m3fn).astype("f4")
    with np.errstate(divide="ignore"):  # scales that are too small are zeros
        scaled = np.clip(blocks / scales, -limit, limit).astype(data).astype("f4")
    return (scaled * scales).reshape(x.shape)


@pytest.mark.parametrize("mode", ["mxfp8", "nvfp4"])
def test_scaled_dot_general(mode):
    x = RNG.normal(size=(2, 3, 64)).astype("f4") * np.exp2(RNG.integers(-9, 9, (2, 3, 1)))
    x, y = x.astype("f4"), RNG.normal(size=(2, 64, 5)).astype("f4")
    config = nn.get_scaled_dot_general_config(mode)
    numbers = (((2,), (1,)), ((0,), (0,)))
    found = nn.scaled_dot_general(x, y, numbers, configs=[config] * 3)
    y_rounded = np.swapaxes(rounded(np.swapaxes(y, 1, 2), mode), 1, 2)
    np.testing.assert_allclose(found, rounded(x, mode) @ y_rounded, rtol=1e-4, atol=1e-3)
    slopes = irax.grad(lambda x: nn.scaled_dot_general(x, y, numbers, configs=[config] * 3).sum())(
        x
    )
    expected = np.broadcast_to(y_rounded.sum(-1)[:, None], x.shape)
    np.testing.assert_allclose(slopes, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(nn.scaled_dot_general(x, y, numbers), x @ y, rtol=1e-4, atol=1e-3)
    zeros = np.zeros_like(x)
    assert not np.asarray(nn.scaled_dot_general(zeros, y, numbers, configs=[config] * 3)).any()
    with pytest.raises(ValueError, match="multiple of the block"):
        nn.scaled_dot_general(x[..., :5], y[:, :5], numbers, configs=[config] * 3)


# ---- initializers --------------------------------------------------------------------------------

INITIALIZERS = {
    "zeros": lambda m: m.zeros,
    "ones": lambda m: m.ones,
    "constant": lambda m: m.constant(np.arange(6, dtype="f4")),
    "uniform": lambda m: m.uniform(2.0),
    "normal": lambda m: m.normal(),
    "truncated_normal": lambda m: m.truncated_normal(1.0, lower=-1.0, upper=3.0),
    **{
        f"{mode} {distribution}": lambda m, mode=mode, distribution=distribution: (
            m.variance_scaling(1.5, mode, distribution)
        )
        for mode in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
        for distribution in ("normal", "truncated_normal", "uniform")
    },
    "axes": lambda m: m.variance_scaling(1.0, "fan_avg", "normal", (0, 1), -1, ()),
    "batch": lambda m: m.variance_scaling(1.0, "fan_avg", "normal", 1, 2, 0),
    "orthogonal": lambda m: m.orthogonal(2.0),
    "orthogonal columns": lambda m: m.orthogonal(1.0, 0),
    "delta_orthogonal": lambda m: m.delta_orthogonal(1.5),
}
for _name in ("glorot", "xavier", "lecun", "he", "kaiming"):
    for _kind in ("normal", "uniform"):
        INITIALIZERS[f"{_name}_{_kind}"] = lambda m, n=f"{_name}_{_kind}": getattr(m, n)()
COMPLEX = ("fan_in normal", "fan_in truncated_normal", "fan_in uniform", "orthogonal", "normal")


@needs_jax
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(n, "float32") for n in INITIALIZERS] + [(n, "complex64") for n in COMPLEX],
)
def test_initializers_as_jax(name, dtype):
    import jax

    from irax.config import threefry_partitionable

    shape = (3, 4, 6)
    expected = np.asarray(INITIALIZERS[name](jax.nn.initializers)(jax.random.key(1), shape, dtype))
    with threefry_partitionable(True):
        init = INITIALIZERS[name](initializers)
        found = np.asarray(init(random.key(1), shape, dtype))
    assert isinstance(init, initializers.Initializer)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("distribution", ["normal", "truncated_normal", "uniform"])
def test_variance(distribution, dtype):
    init = initializers.variance_scaling(3.0, "fan_in", distribution)
    weights = np.asarray(init(random.key(0), (100, 100), dtype))
    assert abs(weights.mean()) < 0.01
    assert np.var(weights) == pytest.approx(0.03, rel=0.05)


def test_orthogonal_kernels():
    kernel = np.array(initializers.delta_orthogonal(2.0)(random.key(0), (3, 5, 4, 4)))
    middle = kernel[1, 2]
    np.testing.assert_allclose(middle @ middle.T, 4 * np.eye(4), atol=1e-5)
    kernel[1, 2] = 0
    assert not kernel.any()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: initializers.he_normal()(random.key(0), (3,)), ValueError, "no axis of inputs"),
        (lambda: initializers.variance_scaling(1, "x", "normal"), ValueError, "mode must be"),
        (lambda: initializers.variance_scaling(1, "fan_in", "x"), ValueError, "distribution must"),
        (lambda: initializers.orthogonal()(random.key(0), (3,)), ValueError, "two dimensions"),
        (lambda: initializers.delta_orthogonal()(random.key(0), (3, 3)), ValueError, "3, 4 or 5"),
        (lambda: initializers.delta_orthogonal()(random.key(0), (1, 3, 2)), ValueError, "as many"),
        (lambda: initializers.normal()(random.key(0), (2,), int), ValueError, "floating-point"),
        (
            lambda: nn.dot_product_attention(*operands()[:2], np.ones((2, 6, 1, 3))),
            ValueError,
            "value must have the shape",
        ),
        (lambda: nn.dot_product_attention(*operands(kv_heads=3)), ValueError, "multiple of the 3"),
        (lambda: nn.dot_product_attention(*operands(), mask=np.ones((2, 6))), ValueError, "mask"),
        (lambda: nn.dot_product_attention(*operands(), mask=BIAS), ValueError, "booleans"),
        (
            lambda: nn.dot_product_attention(*operands(), implementation="cudnn"),
            NotImplementedError,
            "cudnn",
        ),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@needs_jax
def test_signatures_are_those_of_jax():
    import jax

    for ours, theirs in ((nn, jax.nn), (initializers, jax.nn.initializers)):
        for name in dir(theirs):
            function = inspect.unwrap(getattr(theirs, name))
            if inspect.isfunction(function) and hasattr(ours, name):
                expected = list(inspect.signature(function).parameters)
                found = list(inspect.signature(getattr(ours, name)).parameters)
                assert found[: len(expected)] == expected, name  # more of our own may follow
