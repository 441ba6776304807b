"""Moving elements around, against NumPy: shapes, axes, joining, splitting, repeating, padding."""

import numpy as np
import pytest
from tests.frontend.numpy_helpers import run

import irax
import irax.numpy as jnp

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
V = np.arange(5, dtype=np.int32)
ONE = np.ones((2, 1, 3, 1), np.float32)
EMPTY = np.zeros((0, 3), np.float32)


def same(results, expected):
    expected = expected if isinstance(expected, list | tuple) else [expected]
    assert len(results) == len(expected)
    for result, array in zip(results, expected, strict=True):
        assert result.dtype.kind == np.asarray(array).dtype.kind
        np.testing.assert_array_equal(result, array)


CALLS = {
    "reshape": ((X, (4, 6)), (X, (-1, 3)), (X, -1), (X, (4, 6), "F"), (EMPTY, (0, 7)), (V, (5, 1))),
    "ravel": ((X,), (X, "F"), (EMPTY,), (np.float32(3),)),
    "expand_dims": ((X, 0), (X, (0, -1)), (V, 1)),
    "squeeze": ((ONE,), (ONE, 1), (ONE, (1, -1)), (V,)),
    "atleast_1d": ((np.float32(3),), (V,)),
    "atleast_2d": ((np.float32(3),), (V,), (X,), (V, X)),
    "atleast_3d": ((np.float32(3),), (V,), (X[0],), (X,)),
    "transpose": ((X,), (X, (1, 2, 0)), (X, (-1, 0, 1)), (V,)),
    "matrix_transpose": ((X,),),
    "swapaxes": ((X, 0, -1), (X, 1, 1)),
    "moveaxis": ((X, 0, -1), (X, (0, 1), (-1, 0)), (X, -1, 1)),
    "rollaxis": ((X, 2), (X, 0, 3), (X, -1, 1)),
    "broadcast_to": ((V, (3, 5)), (np.float32(2), (2, 2)), (np.ones((2, 1)), (2, 4))),
    "broadcast_arrays": ((V, np.ones((2, 1))),),
    "flip": ((X,), (X, 1), (X, (0, -1))),
    "flipud": ((X,),),
    "fliplr": ((X,),),
    "rot90": ((X,), (X, 2), (X, 3, (1, 2)), (X, -4), (X, 1, (2, 0))),
    "roll": (
        (V, 2),
        (V, -1),
        (X, 1, 0),
        (X, (1, -2), (0, 2)),
        (X, 7),
        (X, 1, (0, 1)),
        (EMPTY, 1, 0),
    ),
    "repeat": ((V, 2), (X, 3, 1), (X, np.array([1, 0, 2]), 1), (V, [1, 2, 0, 1, 3]), (V, 0)),
    "tile": ((V, 2), (X, (2, 1, 3)), (V, (2, 2)), (X, 2), (V, 0)),
    "append": ((V, V[:2]), (X, X, 1)),
    "split": ((X, 3, 1), (V, [1, 3]), (V, [0, 9]), (X, 2, -1), (V, [3, 2])),
    "array_split": ((V, 3), (V, 7), (X, 2, 1)),
    "hsplit": ((X, 3), (V, 5)),
    "vsplit": ((X, 2),),
    "dsplit": ((X, [1, 2]),),
    "unstack": ((X,),),
    "diff": ((V,), (X, 2), (X, 1, 0), (V[:1],), (V > 2,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_against_numpy(name):
    for array, *args in CALLS[name]:
        if name in ("broadcast_arrays", "atleast_2d"):
            same(run(getattr(jnp, name), array, *args), getattr(np, name)(array, *args))
            continue
        expected = getattr(np, name)(array, *args)
        same(run(lambda x, a=args: getattr(jnp, name)(x, *a), array), expected)


SEQUENCES = {
    "concatenate": (
        ([V, V],),
        ([X, X[:, :1]], 1),
        ([X, V], None),
        ([X, EMPTY.reshape(0, 3, 4)][::-1],),
    ),
    "stack": (([V, V],), ([X, X, X], 1), ([V, V], -1), ([np.float32(1), np.float32(2)],)),
    "vstack": (([V, V],), ([X, X],)),
    "hstack": (([V, V],), ([X, X],)),
    "dstack": (([V, V],), ([X[0], X[0]],), ([X, X],)),
    "column_stack": (([V, V],), ([V, np.ones((5, 2))],)),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_joining_against_numpy(name):
    for arrays, *args in SEQUENCES[name]:
        same(
            run(lambda *v, a=args: getattr(jnp, name)(v, *a), *arrays),
            getattr(np, name)(arrays, *args),
        )


def test_joining_the_parts_of_an_array():
    same(run(jnp.concatenate, X), np.concatenate(X))
    same(run(jnp.stack, X), X)
    same(run(jnp.vstack, X), np.vstack(X))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap", "constant"])
@pytest.mark.parametrize("width", [1, (2, 1), ((1, 2),), ((0, 0), (1, 0), (7, 5)), ((1, 1),) * 3])
def test_pad(mode, width):
    same(run(lambda x: jnp.pad(x, width, mode), X), np.pad(X, width, mode))


def test_pad_with_values():
    for values in (7, (1, 2), ((1, 2), (3, 4), (5, 6))):
        expected = np.pad(X, 1, constant_values=values)
        same(run(lambda x, v=values: jnp.pad(x, 1, constant_values=v), X), expected)
    gradient = irax.grad(lambda v: jnp.pad(v, (1, 1), constant_values=v[0]).sum())(jnp.ones(2))
    np.testing.assert_array_equal(gradient, [3, 1])


def test_roll_by_a_traced_shift():
    (result,) = run(lambda x, n: jnp.roll(x, n, 1), X, np.int32(-2))
    np.testing.assert_array_equal(result, np.roll(X, -2, 1))


def test_repeat_traced_counts():
    counts = np.array([1, 0, 2, 1, 3])
    for length in (5, 7, 9):
        (result,) = run(lambda x, n, m=length: jnp.repeat(x, n, total_repeat_length=m), V, counts)
        expected = np.repeat(V, counts)
        expected = np.concatenate([expected, np.full(9, V[-1])])[:length]
        np.testing.assert_array_equal(result, expected)


def test_repeat_takes_counts_of_any_shape():
    counts = np.array([[1], [0], [2], [1], [3]])
    expected = np.repeat(V, counts.ravel())
    np.testing.assert_array_equal(jnp.repeat(V, counts), expected)
    np.testing.assert_array_equal(jnp.repeat(V, np.array([[2]])), np.repeat(V, 2))
    (result,) = run(lambda x, n: jnp.repeat(x, n, total_repeat_length=7), V, counts)
    np.testing.assert_array_equal(result, expected)


def test_shape_functions():
    assert (jnp.shape(X), jnp.ndim(3), jnp.size(X), jnp.size(X, 1)) == ((2, 3, 4), 0, 24, 3)
    assert jnp.broadcast_shapes((2, 1), (3,), 1) == (2, 3)


def test_derivatives_follow_the_elements():
    weights = np.arange(24, dtype=np.float32)

    def f(x):
        y = jnp.concatenate([jnp.flip(x, 0), jnp.roll(x, 1, 1)]).reshape(-1)[:24]
        return jnp.sum(y * weights)

    gradient = np.asarray(irax.grad(f)(jnp.asarray(X)))
    np.testing.assert_array_equal(gradient, np.flip(weights.reshape(2, 3, 4), 0))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: jnp.reshape(X, (5, 5)), TypeError, r"\(2, 3, 4\) \(size 24\) into shape \(5, 5\)"),
        (lambda: jnp.reshape(X, (-1, -1)), TypeError, "at most one may be -1"),
        (lambda: jnp.reshape(X, (-2, 3)), TypeError, "cannot reshape"),
        (lambda: jnp.reshape(X, (2.0, 12)), TypeError, "shape of ints"),
        (lambda: jnp.reshape(X, (4, 6), order="A"), NotImplementedError, "order"),
        (lambda: jnp.transpose(X, (0, 1)), TypeError, "each axis"),
        (lambda: jnp.transpose(X, (0, 0, 1)), TypeError, "once"),
        (lambda: jnp.squeeze(X, 0), ValueError, "size is not 1"),
        (lambda: jnp.expand_dims(V, 5), ValueError, "axis 5 is out of bounds"),
        (lambda: jnp.concatenate([]), ValueError, "concatenate: expected at least one"),
        (lambda: jnp.concatenate([1, 2]), ValueError, "scalars"),
        (lambda: jnp.concatenate([V, [1]]), TypeError, r"concatenate: arrays\[1\]: .*\[1\]"),
        (lambda: jnp.concatenate([X, V]), TypeError, r"shape \(5,\), array 0 \(2, 3, 4\)"),
        (lambda: jnp.concatenate(3), TypeError, "list or tuple"),
        (lambda: jnp.stack([V, X]), ValueError, r"stack: .*\(5,\), \(2, 3, 4\)"),
        (lambda: jnp.split(V, 2), ValueError, "evenly"),
        (lambda: jnp.split(V, 0), ValueError, "at least 1"),
        (lambda: jnp.broadcast_to(V, (5, 2)), ValueError, r"\(5,\) to shape \(5, 2\)"),
        (lambda: jnp.broadcast_arrays(V, X), ValueError, "broadcast_arrays: shapes"),
        (lambda: jnp.pad(V, -1), ValueError, "negative"),
        (lambda: jnp.pad(V, 1, "means"), NotImplementedError, "'means'"),
        (lambda: jnp.pad(V, 1, "mean", stat_length=0), ValueError, "stat_length"),
        (lambda: jnp.pad(V, 1, "reflect", reflect_type="x"), ValueError, "reflect_type"),
        (lambda: jnp.broadcast_shapes((1, -2)), TypeError, "at least 0"),
        (lambda: irax.lax.broadcast_shapes((1, -2), (2, 2)), TypeError, "at least 0"),
        (lambda: jnp.size(V, (0, -1)), ValueError, "twice"),
        (lambda: jnp.pad(V, ((1, 2), (3, 4))), ValueError, "does not fit 1 axes"),
        (lambda: jnp.pad(V, 1, "edge", constant_values=1), ValueError, "constant_values"),
        (lambda: jnp.pad(EMPTY, 1, "edge"), ValueError, "empty axis"),
        (lambda: jnp.moveaxis(X, (0, 1), 0), ValueError, "a destination for each source"),
        (lambda: jnp.roll(X, (1, 2), (0, 1, 2)), ValueError, "different lengths"),
        (lambda: jnp.repeat(V, [1, 2]), TypeError, "expected one count, or 5"),
        (
            lambda: irax.make_ir(lambda n: jnp.repeat(V, n))(jnp.ones(5, int)),
            TypeError,
            "repeat needs the counts",
        ),
        (lambda: irax.make_ir(lambda n: jnp.reshape(X, (n, -1)))(2), TypeError, "argument 'shape'"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(
    "mode, options",
    [
        ("linear_ramp", {}),
        ("linear_ramp", {"end_values": ((1, -3), (5, 2))}),
        ("maximum", {"stat_length": 1}),
        ("minimum", {}),
        ("mean", {"stat_length": ((2, 1), (3, 2))}),
        ("median", {"stat_length": (2, 3)}),
        ("reflect", {"reflect_type": "odd"}),
        ("symmetric", {"reflect_type": "odd"}),
    ],
)
def test_pad_by_numbers_that_follow(mode, options, dtype):
    for shape in [(3, 4), (1, 2)]:
        x = (np.arange(shape[0] * shape[1]).reshape(shape) ** 2 + 1).astype(dtype)
        width = ((2, 1), (0, 7))
        padded = run(lambda x, width=width: jnp.pad(x, width, mode, **options), x)
        np.testing.assert_allclose(padded[0], np.pad(x, width, mode, **options), rtol=1e-6)


def test_pad_by_a_function():
    def theirs(vector, widths, axis, options):
        vector[: widths[0]] = axis + options["more"]

    def ours(vector, widths, axis, options):
        return vector.at[: widths[0]].set(axis + options["more"])

    expected = np.pad(np.ones((2, 3)), ((1, 1), (2, 1)), theirs, more=4)
    result = jnp.pad(np.ones((2, 3)), ((1, 1), (2, 1)), ours, more=4)
    np.testing.assert_array_equal(result, expected)


def test_size_along_axes():
    x = np.zeros((2, 3, 4))
    assert jnp.size(x, (0, 2)) == 8
    assert jnp.size(x, ()) == 1
    assert jnp.size(x, -2) == 3


@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape_leaves_numpys_arrays_to_numpy(order):
    x = np.arange(6.0)
    for _ in range(2):
        found = jnp.reshape(x, (2, -1), order)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, x.reshape((2, -1), order=order))

    @irax.jit
    def is_positive():
        return 1 if jnp.reshape(x > 0, (2, 3)).all() else 0

    assert is_positive() == 0
    with pytest.raises(TypeError, match="cannot reshape"):
        jnp.reshape(x, (4,))


def test_reshape_divides_numpys_arrays():
    sharding = irax.sharding.SingleDeviceSharding(irax.devices()[0])
    found = jnp.reshape(np.arange(6.0), (2, 3), out_sharding=sharding)
    assert isinstance(found, irax.Array)
    assert found.shape == (2, 3)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
@pytest.mark.parametrize("widths", [(250, 250), (17, 300, 1), (64, 63, 5)])
def test_rows_of_many_elements_are_written_together(dtype: str, widths: tuple[int, ...]):
    generator = np.random.default_rng(0)
    arrays = [generator.integers(0, 100, (3, 40, n)).astype(dtype) for n in widths]
    with irax.enable_x64(True):
        joined = irax.jit(lambda *xs: jnp.concatenate(xs, -1))(*arrays)
        padded = irax.jit(lambda x: jnp.pad(x, ((0, 1), (2, 0), (1, 3))))(joined)
    expected = np.concatenate(arrays, -1)
    np.testing.assert_array_equal(joined, expected)
    np.testing.assert_array_equal(padded, np.pad(expected, ((0, 1), (2, 0), (1, 3))))
