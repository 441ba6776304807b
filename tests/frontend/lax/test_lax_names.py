"""The smaller functions of irax.lax, against JAX's: values, dtypes, and what is refused."""

import numpy as np
import pytest
from tests import oracle

import irax
import irax.numpy as jnp
from irax import lax

jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")

X = np.random.default_rng(0).uniform(-2, 2, (3, 4)).astype(np.float32)
INTEGERS = np.array([-5, 2**31 - 1, -(2**31), 77], np.int32)
BATCHES = (((2,), (1,)), ((0,), (0,)))


def ragged(m, lhs, rhs, dims, ragged_dims, group_dims):
    numbers = m.RaggedDotDimensionNumbers(dims, ragged_dims, group_dims)
    sizes = np.array([1, 2], np.int32)
    return m.ragged_dot_general(np.ones(lhs, "f4"), np.ones(rhs, "f4"), sizes, numbers)


CASES = {
    "split": lambda m, x: m.split(x, (1, 2), 0),
    "stack": lambda m, x: m.stack([x, -x], 1),
    "unstack": lambda m, x: m.unstack(x, 1),
    "tile": lambda m, x: m.tile(x, (2, 3)),
    "broadcast_like": lambda m, x: m.broadcast_like(x[0], x),
    "broadcast_to_rank": lambda m, x: m.broadcast_to_rank(x, 4),
    "shape_as_value": lambda m, x: m.shape_as_value(x.shape),
    "index_take": lambda m, x: m.index_take(x, (np.array([0, -1, 9]),), (1,)),
    "index_take-points": lambda m, x: m.index_take(x, (np.array([0, 2]), np.array([3, 1])), (0, 1)),
    "complex": lambda m, x: m.complex(x, -x),
    "real": lambda m, x: m.real(m.complex(x, -x)),
    "imag": lambda m, x: m.imag(m.complex(x, -x)),
    "conj": lambda m, x: (m.conj(x), m.conj(m.complex(x, -x))),
    "mulhi": lambda m, x: m.mulhi(INTEGERS, INTEGERS[::-1].copy()),
    "nextafter": lambda m, x: m.nextafter(x, -x),
    "bessel": lambda m, x: (m.bessel_i0e(x), m.bessel_i1e(x)),
    "reduce_precision": lambda m, x: m.reduce_precision(x, 5, 3),
    "rng_bit_generator": lambda m, x: m.rng_bit_generator(np.arange(4, dtype="u4"), (5,), "uint8"),
    "three_fry": lambda m, x: m.rng_bit_generator(
        np.arange(4, dtype="u4"), (3,), algorithm=m.RandomAlgorithm.RNG_THREE_FRY
    ),
    "optimization_barrier": lambda m, x: m.optimization_barrier({"a": x, "b": [x[0]]}),
    "stage": lambda m, x: m.stage(x),
    "composite": lambda m, x: m.composite(lambda x, *, k: x * k, "my.times", 2)(x, k=3),
    "platform_dependent": lambda m, x: m.platform_dependent(
        x, cpu=lambda x: x + 1, default=lambda x: x
    ),
    "ragged_dot": lambda m, x: ragged(m, (4, 3), (2, 3, 5), (((1,), (1,)), ((), ())), [0], [0]),
    "ragged-contracting": lambda m, x: ragged(m, (4, 6), (6, 5), (((1,), (0,)), ((), ())), [1], []),
    "ragged-batch": lambda m, x: ragged(m, (4, 2, 6), (4, 6, 5), BATCHES, [0], []),
    "scaled_dot": lambda m, x: m.scaled_dot(
        x, x.T, lhs_scale=x[:, :2], rhs_scale=x.T[:1], preferred_element_type="float32"
    ),
    "dot-algorithm": lambda m, x: m.dot(x, x.T, precision="BF16_BF16_F32_X6"),
    "dot-numbers": lambda m, x: m.dot(x, x, dimension_numbers=(((1,), (1,)), ((), ()))),
    "polygamma": lambda m, x: (m.polygamma(2 + 0 * x, x * x), m.zeta(3 + x, x * x)),
    "dot-f32": lambda m, x: m.dot(x, x.T, precision=m.DotAlgorithmPreset.F32_F32_F32),
    "exp": lambda m, x: m.exp(x, accuracy=m.AccuracyMode.HIGHEST),
    "log": lambda m, x: m.log(x * x, accuracy=m.Tolerance(rtol=1e-3)),
    "approx_max_k": lambda m, x: m.approx_max_k(x, 2),
    "approx_min_k": lambda m, x: m.approx_min_k(x, 2, reduction_dimension=0),
    "approx-all": lambda m, x: m.approx_max_k(x, 2, aggregate_to_topk=False),
    "top_k": lambda m, x: m.top_k(x, 2, axis=0),
    "argmax": lambda m, x: (m.argmax(x, 1, "int32"), m.argmin(x, 0, np.uint8)),
}
TOLERANCE = {"dot-algorithm": 1e-2, "scaled_dot": 3e-2}  # JAX's rounds to bfloat16


@pytest.mark.parametrize("name", CASES)
def test_as_in_jax(name: str) -> None:
    function = CASES[name]
    expected = oracle.results(lambda x: function(jax.lax, x), X)
    run = lambda x: function(lax, x)
    for found in (run(jnp.asarray(X)), irax.jit(run)(X)):
        leaves = irax.tree_util.tree_leaves(found)
        for a, b in zip(leaves, expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=TOLERANCE.get(name, 1e-5), atol=1e-6)


REFUSED = {
    "split": lambda m, x: m.split(x, (1, 1), 0),
    "stack": lambda m, x: m.stack([x, x[0]]),
    "unstack": lambda m, x: m.unstack(x, 3),
    "tile": lambda m, x: m.tile(x, (2,)),
    "broadcast_like": lambda m, x: m.broadcast_like(x[:2], x),
    "complex": lambda m, x: m.complex(1, 2),
    "real": lambda m, x: m.real(x),
    "mulhi": lambda m, x: m.mulhi(x, x),
    "nextafter": lambda m, x: m.nextafter(INTEGERS, 2),
    "reduce_precision-dtype": lambda m, x: m.reduce_precision(INTEGERS, 5, 3),
    "reduce_precision-bits": lambda m, x: m.reduce_precision(x, 0, 3),
    "rng_uniform": lambda m, x: m.rng_uniform(0.0, x[0], (2,)),
    "rng_bit_generator": lambda m, x: m.rng_bit_generator(
        np.arange(4, dtype="u4"), (2,), dtype="float32"
    ),
    "ragged_dot": lambda m, x: m.ragged_dot(
        np.ones((4, 3)), np.ones((2, 3, 5)), np.array([1, 2, 3])
    ),
    "ragged-floats": lambda m, x: m.ragged_dot(
        np.ones((4, 3)), np.ones((2, 3, 5)), np.array([1.0, 2.0])
    ),
    "top_k": lambda m, x: m.top_k(x, 9),
    "approx_max_k": lambda m, x: m.approx_max_k(x, 9),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_in_jax(name: str) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        REFUSED[name](jax.lax, jax.numpy.asarray(X))
    with pytest.raises(theirs.type, match=r"lax\.|broadcast"):
        REFUSED[name](lax, jnp.asarray(X))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("kind", ["i", "u"])
def test_upper_halves_of_products(kind: str, bits: int) -> None:
    with irax.enable_x64(True):
        info = np.iinfo(f"{kind}{bits // 8}")
        edges = [info.min, info.max, 0, 1, 3, info.max // 3, info.min // 5, 2 ** (bits // 2) - 1]
        x = np.array(edges, info.dtype)[:, None]
        expected = [[(a * b) >> bits for b in edges] for a in edges]
        found = lax.mulhi(*np.broadcast_arrays(x, x.T))
        np.testing.assert_array_equal(found, np.array(expected, info.dtype))


def test_random_numbers_in_a_range() -> None:
    floats, others = lax.rng_uniform(2.0, 3.0, (1000,)), lax.rng_uniform(2.0, 3.0, (1000,))
    assert floats.min() >= 2
    assert floats.max() < 3
    assert not jnp.array_equal(floats, others)
    integers = lax.rng_uniform(0, 9, (1000,))
    assert set(np.asarray(integers).tolist()) == set(range(9))


def test_tokens_and_sinks() -> None:
    token = lax.after_all(lax.create_token(), lax.create_token())
    assert token == lax.create_token()
    assert isinstance(irax.jit(lambda t: t)(token), irax.extend.core.Token)
    assert lax.dce_sink(jnp.ones(2)) is None
    with pytest.raises(TypeError, match="create_token"):
        lax.after_all(1)


def test_shapes_of_convolutions() -> None:
    spec = ("NHWC", "HWIO", "NHWC")
    for padding in ("SAME", "VALID"):
        arguments = (1, 9, 8, 3), (3, 2, 3, 4), (2, 3), padding, spec
        for name in ("conv_general_shape_tuple", "conv_transpose_shape_tuple"):
            assert getattr(lax, name)(*arguments) == tuple(getattr(jax.lax, name)(*arguments))
        plain = (2, 3, 9, 8), (4, 3, 3, 2), (1, 2), ((0, 1), (2, 0))
        assert lax.conv_shape_tuple(*plain) == tuple(map(int, jax.lax.conv_shape_tuple(*plain)))
    assert lax.conv_general_permutations(spec) == jax.lax.conv_general_permutations(spec)


def test_attributes_of_composites() -> None:
    identity = lax.composite(lambda x, **_: x, "my.identity")
    weights = np.zeros((1, 2), np.float32)
    function = irax.jit(lambda x: identity(x, of=np.dtype("int8"), left=None, weights=weights))
    text = str(irax.make_ir(function)(X))
    assert "{of = i8, weights = dense<0.000000e+00> : tensor<1x2xf32>}" in text
    np.testing.assert_array_equal(function(X), X)


def test_a_composite_is_one_operation_with_derivatives() -> None:
    squared = lax.composite(lambda x, *, scale, name: scale * x * x, "my.squared", version=3)
    function = lambda x: squared(x, scale=2.0, name="a").sum()
    text = str(irax.make_ir(function)(X))
    assert 'stablehlo.composite "my.squared"' in text
    assert 'composite_attributes = {name = "a", scale = 2.000000e+00 : f64}' in text
    assert "version = 3 : i32" in text
    np.testing.assert_allclose(irax.grad(function)(jnp.asarray(X)), 4 * X, rtol=1e-6)
    np.testing.assert_allclose(irax.vmap(function)(X), 2 * (X * X).sum(1), rtol=1e-6)
    with pytest.raises(ValueError, match=r"irax\."):
        lax.composite(lambda x: x, "irax.mine")
    with pytest.raises(TypeError, match="scale must be a number or a string"):
        irax.jit(lambda x: squared(x, scale=1j, name="a"))(X)
    with pytest.raises(NotImplementedError, match="no function for the platform"):
        lax.platform_dependent(1.0, tpu=lambda x: x)


def test_negative_starts_may_be_ruled_out() -> None:
    x = jnp.arange(5)
    np.testing.assert_array_equal(lax.dynamic_slice(x, (-2,), (2,)), [3, 4])
    with pytest.raises(ValueError, match="allow_negative_indices=False"):
        lax.dynamic_slice(x, (-2,), (2,), allow_negative_indices=False)
    part = lambda i: lax.dynamic_index_in_dim(x, i, allow_negative_indices=False)
    np.testing.assert_array_equal(irax.jit(part)(-2), [0])
    put = lambda i: lax.dynamic_update_index_in_dim(x, 9, i, 0, allow_negative_indices=False)
    np.testing.assert_array_equal(irax.jit(put)(-2), [9, 1, 2, 3, 4])
    text = str(irax.make_ir(part)(3))
    assert "select" not in text
    with pytest.raises(ValueError, match="one for each of the 1 dimensions"):
        lax.dynamic_slice(x, (1,), (2,), allow_negative_indices=(True, False))


SMOOTH = ("split", "stack", "unstack", "tile", "index_take", "complex", "bessel", "top_k")


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_as_in_jax(name: str) -> None:
    def of_squares(m, tree, x):
        leaves = [y for y in tree.tree_leaves(CASES[name](m, x)) if y.dtype != np.int32]
        return sum((abs(y) ** 2).sum() for y in leaves)

    ours = irax.grad(lambda x: of_squares(lax, irax.tree_util, x))(X)
    theirs = jax.grad(lambda x: of_squares(jax.lax, jax.tree_util, x))(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_ragged_dot_by_rows() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 1, (5, 3)).astype("f4"), rng.uniform(-1, 1, (2, 3, 4)).astype("f4")
    expected = np.stack([x[0] @ y[0], x[1] @ y[1], x[2] @ y[1], np.zeros(4), np.zeros(4)])
    found = irax.jit(lambda x, y: lax.ragged_dot(x, y, np.array([1, 2], np.int32)))(x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="group_offset"):
        lax.ragged_dot(x, y, np.array([1, 2], np.int32), group_offset=np.array([0]))
