"""Convolutions of irax.lax and irax.numpy: against SciPy, NumPy and, where it is there, JAX."""

import itertools

import numpy as np
import pytest
import scipy.signal
from tests.frontend.numpy_helpers import numbers, run

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

NHWC = ("NHWC", "HWIO", "NHWC")
PADDINGS = ["SAME", "same_lower", "VALID", ((2, 1), (-1, 3))]


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax", reason="JAX is the oracle")


def near(actual, expected, tolerance=2e-5):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


# ---- against SciPy and NumPy ---------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_images_against_scipy(mode):
    image, kernel = numbers((3, 7, 8)), numbers((2, 3, 3, 5), seed=1)
    before, after = {"full": ((2, 4), (2, 4)), "valid": ((0, 0),) * 2, "same": ((1, 2), (1, 2))}[
        mode
    ]
    padding = list(zip(before, after, strict=True))
    (result,) = run(
        lambda x, y: lax.conv_general_dilated(x, y, (1, 1), padding), image[None], kernel
    )
    expected = [
        sum(scipy.signal.correlate2d(image[i], k[i], mode) for i in range(3)) for k in kernel
    ]
    np.testing.assert_allclose(result[0], expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_vectors_against_numpy(name, mode):
    for n, m in itertools.product((1, 2, 3, 6), (1, 2, 5, 6)):
        x, y = numbers((n,)), numbers((m,), seed=1)
        (result,) = run(lambda x, y: getattr(jnp, name)(x, y, mode), x, y)
        assert result.dtype == np.float32
        near(result, getattr(np, name)(x, y, mode))


def test_complex_vectors_against_numpy():
    x, y = (numbers(n, seed=n) + 1j * numbers(n, seed=9) for n in (5, 3))
    near(jnp.convolve(y, x), np.convolve(y, x), 1e-4)


def test_vectors_of_integers_become_floats(jax):
    x, y = np.arange(5), np.arange(3, dtype=np.int32)
    for a, b in ((x.astype(np.int32), y), (x.astype(np.int8), y > 0), (x.astype("f2"), y)):
        near(jnp.convolve(a, b), jax.numpy.convolve(a, b))
        near(jnp.correlate(a, b, "full"), jax.numpy.correlate(a, b, "full"))


def test_vectors_of_another_result():
    x = jnp.arange(300.0).astype(jnp.bfloat16)
    assert jnp.convolve(x, x, preferred_element_type=jnp.float32).dtype == np.float32


# ---- against JAX ---------------------------------------------------------------------------------

FORMS = {
    "default": ((2, 3, 8, 9), (4, 3, 3, 2), {}),
    "nhwc": ((2, 8, 9, 3), (3, 2, 3, 4), {"dimension_numbers": NHWC}),
    "letters": ((2, 8, 9, 3), (3, 2, 4, 3), {"dimension_numbers": ("NYXC", "XYOI", "CNXY")}),
    "numbers": (
        (8, 3, 9, 2),
        (3, 4, 3, 2),
        {"dimension_numbers": ((3, 1, 2, 0), (1, 0, 3, 2), (0, 1, 2, 3))},
    ),
    "rhs-dilated": ((2, 3, 8, 9), (4, 3, 3, 2), {"rhs_dilation": (2, 3)}),
    "groups": ((2, 6, 8, 9), (4, 3, 3, 2), {"feature_group_count": 2}),
    "depthwise": (
        (2, 8, 9, 6),
        (3, 2, 1, 12),
        {"feature_group_count": 6, "dimension_numbers": NHWC},
    ),
    "batch-groups": ((6, 3, 8, 9), (4, 3, 3, 2), {"batch_group_count": 2}),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_against_jax(jax, form):
    x_shape, y_shape, options = FORMS[form]
    x, y = numbers(x_shape), numbers(y_shape, seed=1)
    theirs = options
    if form == "numbers":
        theirs = {"dimension_numbers": jax.lax.ConvDimensionNumbers(*options["dimension_numbers"])}
    for padding, strides in itertools.product(PADDINGS, ((1, 1), (2, 3))):
        near(
            lax.conv_general_dilated(x, y, strides, padding, **options),
            jax.lax.conv_general_dilated(x, y, strides, padding, **theirs),
        )


def test_lhs_dilation_against_jax(jax):
    x, y = numbers((2, 3, 5, 6)), numbers((4, 3, 3, 2), seed=1)
    arguments = ((2, 1), ((2, 1), (-1, 3)), (3, 2), (1, 2))
    expected = jax.lax.conv_with_general_padding(x, y, *arguments)
    near(lax.conv_general_dilated(x, y, *arguments), expected)
    near(lax.conv_with_general_padding(x, y, *arguments), expected)
    near(lax.conv(x, y, (2, 1), "SAME"), jax.lax.conv(x, y, (2, 1), "SAME"))


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_ranks_against_jax(jax, rank):
    x, y = numbers((2, 3, *(5, 6, 4)[:rank])), numbers((4, 3, *(3, 2, 1)[:rank]), seed=1)
    near(
        lax.conv_general_dilated(x, y, (2,) * rank, "SAME"),
        jax.lax.conv_general_dilated(x, y, (2,) * rank, "SAME"),
    )


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "float16", "bfloat16"])
def test_dtypes_against_jax(jax, dtype):
    x, y = (
        numbers(s, seed=i).astype(jnp.dtype(dtype)) for i, s in enumerate(((2, 3, 8), (4, 3, 3)))
    )
    ours, theirs = (lib.lax.conv_general_dilated(x, y, (1,), "SAME") for lib in (irax, jax))
    assert ours.dtype == theirs.dtype
    near(np.asarray(ours).astype("f8"), np.asarray(theirs).astype("f8"), 1e-2)
    wide = [lib.lax.conv(x, y, (1,), "SAME", None, np.float32) for lib in (irax, jax)]
    near(*wide)


def test_transposed_against_jax(jax):
    for k, s, padding in itertools.product((1, 2, 3, 4), (1, 2, 3, 5), ("SAME", "VALID", [(1, 2)])):
        x, y = numbers((2, 5, 3)), numbers((k, 3, 4), seed=1)
        for options in ({}, {"rhs_dilation": (2,)}, {"use_consistent_padding": True}):
            near(
                lax.conv_transpose(x, y, (s,), padding, **options),
                jax.lax.conv_transpose(x, y, (s,), padding, **options),
            )
    for shape in ((2, 3), (2, 4, 5, 3), (2, 3, 4, 3, 3)):
        x, y = numbers(shape), numbers((*(2, 3, 1)[: len(shape) - 2], 5, 3), seed=1)
        arguments = ((2,) * (len(shape) - 2), "SAME", None, None, True)
        near(lax.conv_transpose(x, y, *arguments), jax.lax.conv_transpose(x, y, *arguments))
    x, y = numbers((2, 3, 4, 5)), numbers((6, 3, 2, 2), seed=1)
    options = {"dimension_numbers": ("NCHW", "OIHW", "NHWC"), "preferred_element_type": np.float32}
    ours = lax.conv_transpose(x, y, (2, 2), "VALID", **options)
    assert ours.shape == (2, 8, 10, 6)


def test_transposed_is_the_gradient():
    x, y = numbers((2, 8, 3)), numbers((3, 3, 4), seed=1)
    for padding in ("SAME", "VALID"):

        def forward(x, padding=padding):
            return lax.conv_general_dilated(
                x, y, (2,), padding, dimension_numbers=("NHC", "HIO", "NHC")
            )

        ct = numbers(forward(x).shape, seed=2)
        gradient = irax.grad(lambda x, ct=ct, f=forward: jnp.sum(f(x) * ct))(x)
        transposed = lax.conv_transpose(ct, y, (2,), padding, transpose_kernel=True)
        n = transposed.shape[1]  # where the last element is in no window, one less
        np.testing.assert_allclose(transposed, gradient[:, :n], rtol=1e-4, atol=1e-5)


def test_patches_against_jax(jax):
    x = numbers((2, 3, 6, 7))
    for options in (
        {},
        {"rhs_dilation": (2, 1)},
        {"lhs_dilation": (1, 2)},
        {"dimension_numbers": ("NCHW", "HWIO", "HWNC")},
    ):
        arguments = (x, (2, 3), (1, 2), ((1, 0), (2, 2)))
        near(
            lax.conv_general_dilated_patches(*arguments, **options),
            jax.lax.conv_general_dilated_patches(*arguments, **options),
        )


def test_local_against_jax(jax):
    x = numbers((2, 3, 6, 7))
    cases = [((5, 18, 5, 3), None), ((18, 6, 2, 4), ("NCHW", "IWHO", "NHWC"))]
    for shape, spec in cases:
        arguments = (x, numbers(shape, seed=1), (1, 2), "VALID", (2, 3))
        near(
            lax.conv_general_dilated_local(*arguments, dimension_numbers=spec),
            jax.lax.conv_general_dilated_local(*arguments, dimension_numbers=spec),
            1e-4,
        )


def test_pads_against_jax(jax):
    for n, k, s in itertools.product(range(8), range(1, 5), range(1, 5)):
        for padding in ("SAME", "SAME_LOWER", "valid"):
            expected = jax.lax.padtype_to_pads((n,), (k,), (s,), padding)
            assert lax.padtype_to_pads((n,), (k,), (s,), padding) == [*map(tuple, expected)]


def test_dimension_numbers_against_jax(jax):
    shapes = ((2, 3, 4, 5), (6, 7, 8, 9))
    for spec in (None, NHWC, ("CNHW", "WHIO", "HWNC")):
        ours = lax.conv_dimension_numbers(*shapes, spec)
        theirs = jax.lax.conv_dimension_numbers(*shapes, spec)
        assert [*map(tuple, ours)] == [*map(tuple, theirs)]
        assert lax.conv_dimension_numbers(*shapes, ours) == ours
        assert lax.conv_dimension_numbers(*shapes, tuple(ours)) == ours


# ---- derivatives, batches, arguments -------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"padding": "SAME", "window_strides": (2, 1), "rhs_dilation": (1, 2)},
        {"padding": ((1, -1), (0, 2)), "window_strides": (1, 2), "lhs_dilation": (2, 1)},
    ],
)
def test_derivatives(options):
    x, y = (numbers(s, low=-0.5, high=0.5) for s in ((2, 5, 6, 2), (3, 2, 2, 3)))

    def f(x, y):
        return jnp.sin(lax.conv_general_dilated(x, y, dimension_numbers=NHWC, **options))

    check_grads(f, (x, y), order=2)


def test_derivatives_of_vectors():
    check_grads(jnp.convolve, (numbers(5), numbers(3, seed=1)), order=2)


def test_a_gradient_for_each_example():
    images, kernel = numbers((4, 6, 6, 2)), numbers((3, 3, 2, 3), seed=1)

    def loss(kernel, image):
        features = lax.conv_general_dilated(
            image[None], kernel, (1, 1), "SAME", dimension_numbers=NHWC
        )
        return jnp.sum(features**2)

    (together,) = run(irax.vmap(irax.grad(loss), (None, 0)), kernel, images)
    one_by_one = [irax.grad(loss)(kernel, image) for image in images]
    np.testing.assert_allclose(together, one_by_one, rtol=1e-4, atol=1e-4)


def test_weak_types_and_promotion():
    x, y = jnp.ones((1, 1, 3)), jnp.ones((1, 1, 2))
    assert not lax.conv(x, y, (1,), "VALID").weak_type
    weak = lax.broadcast(2.0, (1, 1, 2))
    assert weak.weak_type
    assert lax.conv(x.astype(jnp.bfloat16), weak, (1,), "VALID").dtype == jnp.bfloat16


X, Y = np.ones((4, 4, 6), np.float32), np.ones((6, 2, 3), np.float32)
TWO = {"feature_group_count": 2}
ERRORS = [
    (lambda: lax.conv(X, Y[0], (1,), "SAME"), TypeError, "one rank"),
    (lambda: lax.conv(X[0, 0], Y[0, 0], (), "SAME"), TypeError, "rank, of at least 2"),
    (lambda: lax.conv(X, Y.astype(np.int32), (1,), "SAME"), TypeError, "float32 and rhs int32"),
    (lambda: lax.conv(X, Y, (1,), "SAME"), ValueError, "has 4 features.*takes 2"),
    (lambda: lax.conv(X, Y, (1,), "EVEN"), RuntimeError, "'SAME_LOWER' or 'VALID', got 'EVEN'"),
    (lambda: lax.conv(X, Y, (1, 2), "SAME"), ValueError, r"window_strides .* got \(1, 2\)"),
    (lambda: lax.conv(X, Y, (0,), "SAME"), ValueError, "window_strides .* at least 1"),
    (lambda: lax.conv(X, Y, 1, "SAME"), TypeError, "window_strides"),
    (lambda: lax.conv(X, Y[..., :0], (1,), "SAME"), ValueError, "kernel has no elements"),
    (lambda: lax.conv_general_dilated(X, Y, (1,), [(1, 1)] * 2, **TWO), TypeError, "padding"),
    (lambda: lax.conv_general_dilated(X, Y, (1,), [1], **TWO), ValueError, "padding"),
    (lambda: lax.conv_general_dilated(X, Y, (1,), "SAME", (2,)), ValueError, "conv_transpose"),
    (
        lambda: lax.conv_general_dilated(X, Y, (1,), "SAME", rhs_dilation=(0,)),
        ValueError,
        "rhs_dil",
    ),
]
GROUPS = [
    ({"feature_group_count": 4}, "does not divide the 6 output features"),
    ({"feature_group_count": 0}, "at least 1"),
    ({"batch_group_count": 3}, "does not divide the batch of 4"),
    ({"feature_group_count": 2, "batch_group_count": 2}, "one of them must be 1"),
]
NUMBERS = [
    (("NHC", "HIO"), TypeError, "three strings"),
    ("NHC", TypeError, "three strings"),
    (("NHWC", "HIO", "NHC"), TypeError, "spell 'NHWC'"),
    (("NHC", "HIO", "NWC"), TypeError, "spell 'NWC'"),
    (("NHH", "HIO", "NHC"), TypeError, "spell 'NHH'"),
    (((0, 1, 1), (0, 1, 2), (0, 1, 2)), ValueError, "once"),
]


@pytest.mark.parametrize("call, kind, message", ERRORS)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("groups, message", GROUPS)
def test_errors_of_groups(groups, message):
    with pytest.raises(ValueError, match=message):
        lax.conv_general_dilated(X, Y, (1,), "SAME", **groups)


@pytest.mark.parametrize("spec, kind, message", NUMBERS)
def test_errors_of_dimension_numbers(spec, kind, message):
    with pytest.raises(kind, match=message):
        lax.conv_dimension_numbers(X.shape, Y.shape, spec)


def test_errors_of_what_is_made_of_convolutions():
    with pytest.raises(ValueError, match=r"\(18, 3\)|elements of a window"):
        lax.conv_general_dilated_local(X, Y, (1,), "SAME", (3,))
    with pytest.raises(ValueError, match="filter_shape"):
        lax.conv_general_dilated_patches(X, (2, 2), (1,), "SAME")
    with pytest.raises(RuntimeError, match="'SAME', 'VALID'"):
        lax.conv_transpose(X, Y, (1,), "SAME_LOWER")
    with pytest.raises(ValueError, match="2 to 5 dimensions"):
        lax.conv_transpose(np.ones((1,) * 6), np.ones((1,) * 6), (1,) * 4, "SAME")
    for bad in ((X[0], Y[0, 0]), (np.ones(0), np.ones(3))):
        with pytest.raises(ValueError, match="two vectors"):
            jnp.convolve(*bad)
    with pytest.raises(ValueError, match="mode must be"):
        jnp.correlate(Y[0, 0], Y[0, 0], "some")


# ---- compiled ------------------------------------------------------------------------------------


def network(params, images):
    """Two convolutions, the second with strides, groups and another layout; a dense layer."""
    x = lax.conv_general_dilated(images, params["a"], (1, 1), "SAME", dimension_numbers=NHWC)
    x = jnp.maximum(x + params["b"], 0)
    x = lax.conv_general_dilated(
        x,
        params["c"],
        (2, 2),
        "SAME",
        rhs_dilation=(1, 2),
        dimension_numbers=("NHWC", "OIHW", "NCHW"),
        feature_group_count=2,
    )
    return jnp.tanh(x).reshape(x.shape[0], -1) @ params["d"]


@pytest.mark.slow
def test_gradients_of_a_network_on_iree():
    shapes = {"a": (2, 3, 1, 4), "b": (4,), "c": (6, 2, 2, 2), "d": (6 * 4 * 4, 10)}
    params = {k: numbers(s, low=-0.5, high=0.5, seed=i) for i, (k, s) in enumerate(shapes.items())}
    images = numbers((5, 8, 8, 1), seed=9)
    f = irax.value_and_grad(lambda p, x: jnp.mean(network(p, x) ** 2), (0, 1))
    for compiled, eager in zip(
        irax.tree_util.tree_leaves(irax.jit(f)(params, images)),
        irax.tree_util.tree_leaves(f(params, images)),
        strict=True,
    ):
        near(compiled, eager, 1e-4)


@pytest.mark.slow
def test_many_forms_on_iree():
    def f(x, y):
        return (
            jnp.convolve(x[0, 0, :, 0], y[0, 0, :, 0]),
            lax.conv(x, y, (2, 3), "SAME"),
            lax.conv(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), (1, 1), "VALID"),
            lax.conv(x + 1j, y * 1j, (1, 1), "VALID"),
            lax.conv(x[..., None], y[..., None], (1, 2, 1), "SAME"),
            lax.conv(x[:, :, 0, 0], y[:, :, 0, 0], (), "SAME"),
            lax.conv((x * 9).astype(jnp.int8), (y * 9).astype(jnp.int8), (1, 1), "SAME"),
            lax.conv_transpose(x, y, (2, 3), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")),
            lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"),
            lax.conv_general_dilated(x, y, (1, 1), ((-3, -3), (0, 0))),
        )

    x, y = numbers((2, 3, 7, 8)), numbers((4, 3, 3, 2), seed=1)
    for compiled, eager in zip(irax.jit(f)(x, y), f(x, y), strict=True):
        assert (compiled.shape, compiled.dtype) == (eager.shape, eager.dtype)
        wide = np.complex128 if eager.dtype.kind == "c" else np.float64
        tolerance = 1e-2 if eager.dtype == jnp.bfloat16 else 1e-4
        near(np.asarray(compiled).astype(wide), np.asarray(eager).astype(wide), tolerance)
