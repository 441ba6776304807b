"""`x[index]` and `x.at[index]`, against NumPy: at once, traced, batched and differentiated."""

import functools
import operator
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import irax
import irax.numpy as jnp
from irax import lax
from irax.errors import NonConcreteBooleanIndexError
from irax_compiler import api

A = np.array


def numbers(shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def text(index):
    return str(index).replace("slice", "").replace("\n", "")


class Indices:
    """`i[1:, ...]` is what stands between the brackets."""

    def __getitem__(self, index):
        return index


i = Indices()

BASIC = [
    ((), i[()]),
    ((), i[...]),
    ((), i[None]),
    ((), i[None, ..., None]),
    ((5,), i[0]),
    ((5,), i[-1]),
    ((5,), i[np.int8(3)]),
    ((5,), i[1:4]),
    ((5,), i[:]),
    ((5,), i[::2]),
    ((5,), i[1::3]),
    ((5,), i[::-1]),
    ((5,), i[4:0:-2]),
    ((5,), i[3::-3]),
    ((5,), i[-2:]),
    ((5,), i[-20:20]),
    ((5,), i[7:]),
    ((5,), i[3:1]),
    ((5,), i[2:3:-1]),
    ((5,), i[None, 1:, None]),
    ((0,), i[:]),
    ((0, 3), i[:, 1]),
    ((3, 4), i[1]),
    ((3, 4), i[1, 2]),
    ((3, 4), i[..., 2]),
    ((3, 4), i[-1, ...]),
    ((3, 4), i[..., None]),
    ((3, 4), i[:, None, 1:3]),
    ((3, 4), i[::-1, ::-1]),
    ((3, 4), i[2:0:-1, 1::2]),
    ((3, 4), i[1, ..., 2]),
    ((3, 4), i[A(1), A(2)]),
    ((2, 3, 4), i[1, :, None, ::2]),
    ((2, 3, 4), i[:, 2, -1]),
    ((2, 3, 4), i[None, ..., 0, None]),
    ((2, 3, 4), i[..., 3:0:-2]),
    ((2, 3, 4), i[1:, 1:, 1:]),
]

ADVANCED = [
    ((5,), i[A([0, 2, 4])]),
    ((5,), i[A([-1, 0, -5])]),
    ((5,), i[A([[0, 1], [1, 0]])]),
    ((5,), i[A([1, 1, 1], np.uint8)]),
    ((5,), i[A([-1], np.int8)]),
    ((200,), i[A([-1, -100], np.int8)]),
    ((5,), i[np.zeros(0, np.int32)]),
    ((5,), i[A([True, False, True, True, False])]),
    ((5,), i[np.zeros(5, bool)]),
    ((5,), i[True]),
    ((5,), i[False]),
    ((5,), i[np.True_]),
    ((5,), i[[0, 1],]),
    ((), i[True]),
    ((), i[A(False)]),
    ((0, 3), i[np.zeros(0, np.int32)]),
    ((3, 4), i[A([0, 2])]),
    ((3, 4), i[:, A([0, 2])]),
    ((3, 4), i[..., A([[0, 2], [1, 1]])]),
    ((3, 4), i[A([0, 2]), A([1, -1])]),
    ((3, 4), i[A([[0], [2]]), A([1, -1, 2])]),
    ((3, 4), i[1, A([0, 2])]),
    ((3, 4), i[A([0, 2]), -1]),
    ((3, 4), i[A([0, 2]), 1:3]),
    ((3, 4), i[::-1, A([0, 2])]),
    ((3, 4), i[A([0, 2]), None, A([1, 2])]),
    ((3, 4), i[A([0, 2]), ::2]),
    ((3, 4), i[None, A([0, 2])]),
    ((3, 4), i[A([0, 2]), ..., None]),
    ((3, 4), i[A([0, 2]), ..., A([0, 1])]),
    ((3, 4), i[:, A([True, False, True, True])]),
    ((3, 4), i[A([True, False, True])]),
    ((3, 4), i[A([True, False, True]), A([0, 3])]),
    ((3, 4), i[np.eye(3, 4, dtype=bool)]),
    ((3, 4), i[True, 1]),
    ((3, 4), i[None, True]),
    ((3, 4), i[1, True, A([0, 2])]),
    ((3, 4), i[A([[True, False, True, False]] * 3)]),
    ((2, 3, 4), i[A([0, 1]), :, A([2, 3])]),
    ((2, 3, 4), i[0, :, A([2, 3])]),
    ((2, 3, 4), i[:, A([0, 1]), A([2, 3])]),
    ((2, 3, 4), i[:, A([0, 1]), 2]),
    ((2, 3, 4), i[A([0, 1]), 2]),
    ((2, 3, 4), i[1:, A([0, 1]), ::-2]),
    ((2, 3, 4), i[:, A([[0, 1], [2, 2]])]),
    ((2, 3, 4), i[..., A([1]), None, A([[1], [2]])]),
    ((2, 3, 4), i[np.ones((2, 3), bool)]),
    ((2, 3, 4), i[:, np.eye(3, 4, dtype=bool)]),
    ((2, 3, 4), i[A([1, 0, 1]), np.eye(3, 4, dtype=bool)]),
    ((2, 3, 4), i[A(1), :, A([1, 2])]),
    ((2, 3, 4), i[A([1]), None, 0, :]),
    ((2, 3, 4), i[None, 1, :, A([0, 3, 3]), None]),
    ((2, 3, 4, 5), i[:, A([0, 1]), :, A([2, 3])]),
    ((2, 3, 4, 5), i[A([0, 1]), 1, :, 2]),
    ((2, 3, 4, 5), i[1, ..., A([2, 3])]),
    ((2, 3, 4, 5), i[1, A([2, 0]), 1:3, ::2]),
]

TABLE = pytest.mark.parametrize("shape, index", BASIC + ADVANCED, ids=text)


# ---- x[index] ------------------------------------------------------------------------------------


def same(got, expected):
    assert isinstance(got, irax.Array)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(got), expected)


def check_reading(x, index):
    """At once, traced and differentiated both ways (as it is linear), and batched."""
    expected = x[index]
    read = lambda x: x[index]
    same(jnp.asarray(x)[index], np.asarray(expected))
    t = np.cos(x)
    value, tangent = irax.jvp(read, (x,), (t,))
    same(value, np.asarray(expected))
    same(tangent, np.asarray(t[index]))
    ct = np.sin(expected)
    total = np.zeros_like(x)
    np.add.at(total, index, ct)
    (got,) = irax.vjp(read, x)[1](ct)
    np.testing.assert_allclose(got, total, rtol=1e-5)
    same(irax.vmap(read)(np.stack([x, t]))[0], np.asarray(expected))
    same(irax.vmap(read, in_axes=-1)(np.stack([x, t], -1))[1], np.asarray(t[index]))


@TABLE
def test_reading(shape, index):
    check_reading(numbers(shape), index)


@st.composite
def indexed(draw):
    """A shape and an index for it, with all kinds of parts."""
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=4))
    block = draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=3))
    block_shapes = st.sampled_from([block, block[-1:], (1,), ()])

    def part(n):
        places = st.integers(-n, n - 1)
        arrays = block_shapes.flatmap(lambda s: hnp.arrays(np.int32, s, elements=places))
        return draw(st.one_of(places, st.slices(n), arrays))

    parts = [part(n) for n in shape]
    if draw(st.booleans()):
        start = draw(st.integers(0, len(parts)))
        stop = draw(st.integers(start, len(parts)))
        parts[start:stop] = [...]
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from([None, None, True])))
    return shape, tuple(parts)


@settings(max_examples=100)
@given(indexed())
def test_reading_by_any_index(case):
    shape, index = case
    check_reading(numbers(shape), index)


def traced_arguments(index):
    """The ints and integer arrays of an index, and a function that puts others in their place."""
    parts = index if isinstance(index, tuple) else (index,)
    is_int = [
        isinstance(p, int | np.ndarray | np.generic) and np.asarray(p).dtype != bool for p in parts
    ]
    ints = [np.asarray(p, np.int32) for p, one in zip(parts, is_int, strict=True) if one]

    def rebuilt(values):
        values = iter(values)
        return tuple(next(values) if one else p for p, one in zip(parts, is_int, strict=True))

    return ints, rebuilt


@TABLE
def test_traced_indices(shape, index):
    x = numbers(shape)
    ints, rebuilt = traced_arguments(index)
    if not ints:
        return
    read = lambda x, *ints: x[rebuilt(ints)]
    expected = np.asarray(x[index])
    value, pullback = irax.vjp(read, x, *ints)
    same(value, expected)
    ct = np.sin(expected)
    total = np.zeros_like(x)
    np.add.at(total, index, ct)
    np.testing.assert_allclose(pullback(ct)[0], total, rtol=1e-5)
    lanes = [np.stack([n, n]) for n in ints]
    same(irax.vmap(read, (None, *[0] * len(ints)))(jnp.asarray(x), *lanes)[1], expected)
    both = irax.vmap(read)(np.stack([np.cos(x), x]), *lanes)
    same(both[1], expected)


OUT_OF_RANGE = [
    i[5],
    i[-9, 1],
    i[0, 10],
    i[A([9, -9, 1])],
    i[A([9, -9, 1]), -7],
    i[1:, A([9, -9])],
    i[A([0, 1]), A([9, 1])],
    i[A([2**40, -(2**40)])],
    i[A([2**31], np.uint32)],
    i[A([200], np.uint8)],
]


@pytest.mark.parametrize("index", OUT_OF_RANGE, ids=text)
@pytest.mark.parametrize("mode", [None, "clip", "fill", "promise_in_bounds"])
def test_out_of_range(index, mode):
    """Reads the nearest element, or the fill value."""
    x = numbers((3, 4))
    nearest, inside = nearest_index(x.shape, index)
    expected = x[nearest]
    if mode == "fill":
        inside = np.broadcast_to(inside_of_result(x, nearest, inside), expected.shape)
        expected = np.where(inside, expected, np.float32(np.nan))
    read = lambda x: x.at[index].get(mode=mode)
    same(jnp.asarray(x).at[index].get(mode=mode), expected)
    same(irax.jvp(read, (x,), (x,))[0], expected)
    if mode is None:
        same(jnp.asarray(x)[index], expected)
    ints, rebuilt = traced_arguments(index)
    if fits_32_bits(index):
        traced = lambda x, *ints: x.at[rebuilt(ints)].get(mode=mode)
        same(irax.vjp(traced, x, *ints)[0], expected)


def fits_32_bits(index):
    parts = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(p, np.ndarray) and (p.astype(float) >= 2**31).any() for p in parts)


def nearest_index(shape, index):
    """The index with places moved into range, and for each int or array what was in range."""
    parts = index if isinstance(index, tuple) else (index,)
    moved, inside = [], []
    for part, n in zip(parts, shape, strict=False):
        if isinstance(part, slice):
            moved.append(part)
            continue
        place = np.asarray(part).astype(np.int64)
        place = np.where(place < 0, place + n, place)
        moved.append(np.clip(place, 0, n - 1))
        inside.append((place >= 0) & (place < n))
    return tuple(moved), functools.reduce(operator.and_, np.broadcast_arrays(*inside))


def inside_of_result(x, nearest, inside):
    """For each element of `x[nearest]`, True if it was in range: the arrays' block leads or
    follows.
    """
    block_at = 1 if isinstance(nearest[0], slice) else 0
    trailing = x[nearest].ndim - block_at - inside.ndim
    return inside.reshape(inside.shape + (1,) * trailing)


@pytest.mark.parametrize(
    "dtype, fill",
    [
        ("float32", np.nan),
        ("bfloat16", np.nan),
        ("complex64", np.nan),
        ("int8", -128),
        ("int32", -(2**31)),
        ("uint8", 255),
        ("bool", True),
    ],
)
def test_fill_value(dtype, fill):
    x = jnp.zeros(2, dtype)
    got = x.at[A([0, 2])].get(mode="fill")
    assert got.dtype == dtype
    np.testing.assert_array_equal(np.asarray(got, complex), [0, fill])
    assert x.at[2].get(mode="fill", fill_value=1).item() == 1


def test_weak_type_and_dtype_are_kept():
    x = jnp.asarray(2.0)
    assert x[None].weak_type
    assert x.at[()].set(np.float32(3)).weak_type
    assert irax.jvp(lambda x: x[None], (2.0,), (1.0,))[0].weak_type
    assert jnp.zeros(3, "bfloat16")[A([0, 1])].dtype == "bfloat16"
    assert jnp.zeros(3, "bfloat16").at[0].add(1).dtype == "bfloat16"


def test_irax_arrays_as_indices():
    x = jnp.arange(5)
    same(x[jnp.array([1, -1])], A([1, 4], np.int32))
    same(x[jnp.array(1)], A(1, np.int32))
    same(x[x > 2], A([3, 4], np.int32))
    same(x[jnp.array(1) :], A([1, 2, 3, 4], np.int32))
    same(x[[jnp.array(1), 3],], A([1, 3], np.int32))


def test_masks_are_known_under_grad():
    """Outside of jit, so that Python can go by the values."""
    x = numbers(4)
    got = irax.grad(lambda x: jnp.sum(x[x > 0] ** 2))(x)
    np.testing.assert_allclose(got, np.where(x > 0, 2 * x, 0))


def ir(f, *args):
    return irax.make_ir(f)(*args)


@pytest.mark.parametrize(
    "index, expected",
    [
        (i[1:3], ["slice"]),
        (i[:], []),
        (i[0], ["slice", "reshape"]),
        (i[0, :, None], ["slice", "reshape"]),
        (i[None], ["reshape"]),
        (i[::-2, 1], ["slice", "reverse", "reshape"]),
        (i[A([0, 1])], ["constant", "gather"]),
        (i[:, A([0, 1])], ["constant", "gather"]),
        (i[0, A([0, 1])], ["slice", "reshape", "constant", "gather"]),
    ],
    ids=text,
)
def test_the_ir_is_readable(index, expected):
    assert operations(lambda x: x[index], numbers((4, 5))) == expected


def operations(f, *args):
    module = str(ir(f, *args))
    return re.findall(r"= \"?stablehlo\.(\w+)", module)


def test_a_traced_scalar_is_a_dynamic_slice():
    found = operations(lambda x, i: x[i], numbers((4, 5)), np.int32(1))
    assert "dynamic_slice" in found
    assert "gather" not in found


@pytest.mark.parametrize(
    "index, error, message",
    [
        ([0], TypeError, "cannot be indexed by a list: use a tuple"),
        (range(2), TypeError, "cannot be indexed by a range"),
        (1.0, TypeError, "got 1.0 of type float"),
        ("a", TypeError, "indexed by a string"),
        (i["a", 0], TypeError, "indexed by a string"),
        (A([1.0]), TypeError, r"integer or boolean dtype, got float64 of shape \(1,\)"),
        (i[0, 0, 0], IndexError, "too many indices: the array has shape \\(3, 4\\)"),
        (i[..., ...], IndexError, "single Ellipsis"),
        (i[A([True, False])], IndexError, "shape \\(2,\\) does not match .* shape \\(3,\\)"),
        (i[1.5:], TypeError, "bounds and the step of a slice must be ints"),
        (i[::0], ValueError, "step cannot be zero"),
        (i[A([0, 1]), A([0, 1, 2])], IndexError, "index arrays do not go together"),
        ({1}, TypeError, "an index is made of ints, slices"),
    ],
    ids=text,
)
def test_refused_indices(index, error, message):
    x = jnp.asarray(numbers((3, 4)))
    with pytest.raises(error, match=message):
        x[index]
    with pytest.raises(error, match=message):
        irax.grad(lambda x: jnp.sum(x[index]))(x)
    with pytest.raises(error, match=message):
        x.at[index].set(0)


def test_refused_empty_dimensions():
    with pytest.raises(IndexError, match="index 0 of a dimension of size 0"):
        jnp.zeros((0, 3))[0]
    with pytest.raises(IndexError, match="for a dimension of size 0"):
        jnp.zeros((0, 3))[A([0])]


def test_refused_traced_masks_and_bounds():
    x = numbers(3)
    with pytest.raises(NonConcreteBooleanIndexError, match=r"where\(mask, x, y\)"):
        irax.vmap(lambda x: x[x > 0])(x[None])
    with pytest.raises(NonConcreteBooleanIndexError, match=r"nonzero\(mask, size=n\)"):
        irax.vmap(lambda x: x.at[x > 0].set(0))(x[None])
    with pytest.raises(IndexError, match="dynamic_slice_in_dim"):
        irax.vmap(lambda i: jnp.asarray(x)[i : i + 2])(np.arange(2))


# ---- x.at[index] ---------------------------------------------------------------------------------

UPDATES = {
    "set": None,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "divide": np.divide,
    "power": np.power,
}


def expected_update(x, index, method, values):
    out = np.array(x)
    if method == "set":
        out[index] = values
    else:
        UPDATES[method].at(out, index, values)
    return out


@pytest.mark.sampled(4)
@TABLE
@pytest.mark.parametrize("method", UPDATES)
def test_updates(shape, index, method):
    x = np.abs(numbers(shape)) + 0.5
    values = np.abs(numbers(x[index].shape)) + 0.5
    if method == "set" and len(np.unique(numbered(x)[index])) < np.size(values):
        values = np.float32(7)  # which of several values wins, nobody knows
    expected = expected_update(x, index, method, values)
    update = lambda x: getattr(x.at[index], method)(values)
    close = functools.partial(np.testing.assert_allclose, rtol=1e-5)
    close(update(jnp.asarray(x)), expected)
    close(irax.jvp(update, (x,), (x,))[0], expected)
    close(irax.vmap(update)(np.stack([np.cos(x), x]))[1], expected)


def numbered(x):
    return np.arange(x.size).reshape(x.shape)


@settings(max_examples=60)
@given(indexed(), st.sampled_from(["set", "add", "max"]), st.booleans())
def test_updates_by_any_index(case, method, scalar):
    shape, index = case
    x = numbers(shape)
    values = np.float32(0.25)
    if not scalar and method != "set":
        values = np.sin(x[index])
    expected = expected_update(x, index, method, values)
    ints, rebuilt = traced_arguments(index)
    update = lambda x, *ints: getattr(x.at[rebuilt(ints)], method)(values)
    close = functools.partial(np.testing.assert_allclose, rtol=1e-5)
    close(update(jnp.asarray(x), *ints), expected)
    close(irax.vjp(lambda x: update(x, *ints), x)[0], expected)
    close(irax.vjp(update, x, *ints)[0], expected)
    lanes = [np.stack([n, n]) for n in ints]
    close(irax.vmap(update)(np.stack([np.cos(x), x]), *lanes)[1], expected)


@pytest.mark.parametrize("index", OUT_OF_RANGE, ids=text)
@pytest.mark.parametrize("mode", [None, "drop", "fill", "clip"])
@pytest.mark.parametrize("method", ["set", "add"])
def test_updates_out_of_range(index, mode, method):
    x = numbers((3, 4))
    nearest, inside = nearest_index(x.shape, index)
    expected = np.array(x)
    for element in np.ndindex(x[nearest].shape):
        here = inside_of_result(x, nearest, inside)
        if mode == "clip" or np.broadcast_to(here, x[nearest].shape)[element]:
            place = np.unravel_index(numbered(x)[nearest][element], x.shape)
            expected[place] = 9 if method == "set" else expected[place] + 9
    update = lambda x: getattr(x.at[index], method)(9, mode=mode)
    same(update(jnp.asarray(x)), expected)
    same(irax.jvp(update, (x,), (x,))[0], expected)
    ints, rebuilt = traced_arguments(index)
    if fits_32_bits(index):
        traced = lambda x, *ints: getattr(x.at[rebuilt(ints)], method)(9, mode=mode)
        same(irax.vjp(traced, x, *ints)[0], expected)


def test_negative_indices_may_be_out_of_range():
    x = jnp.arange(3)
    same(x.at[A([-1, 1])].set(9, wrap_negative_indices=False), A([0, 9, 2], np.int32))
    same(x.at[-1].set(9, wrap_negative_indices=False), A([0, 1, 2], np.int32))
    got = x.at[A([-1, 1])].get(mode="fill", fill_value=7, wrap_negative_indices=False)
    same(got, A([7, 1], np.int32))


@pytest.mark.parametrize("mode", [None, "drop", "clip"])
@pytest.mark.parametrize(
    "index", [i[A([0, 2, 0, 7, -9])], i[A([1, 9, 1]), A([3, 3, 3])], i[5]], ids=text
)
def test_updates_as_jax_does(index, mode):
    """Elements named twice, and places out of range."""
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    x = numbers((3, 4))
    for method in ("add", "multiply", "min", "max", "divide", "power", "subtract", "set"):
        there = x.shape[len(index) if isinstance(index, tuple) else 1 :]
        values = np.float32(1.5) if method == "set" else np.full(there, 2, np.float32)
        theirs = getattr(jax.numpy.asarray(x).at[index], method)(values, mode=mode)
        ours = getattr(jnp.asarray(x).at[index], method)(values, mode=mode)
        np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-6)


@pytest.mark.parametrize(
    "dtype, values",
    [
        ("int32", 1.5),
        ("int32", np.float32(1.5)),
        ("int8", 300),
        ("uint8", -1),
        ("int16", np.int32(70000)),
        ("float16", np.float32(1.1)),
        ("float32", np.float64(1.1)),
        ("float32", 3),
        ("bool", 2),
        ("bool", True),
        ("complex64", 1.5),
        ("float32", 1 + 2j),
    ],
    ids=str,
)
def test_values_convert_as_jax_does(dtype, values):
    jax = pytest.importorskip("jax", reason="JAX is the oracle")
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter("always")
        expected = jax.numpy.zeros(2, dtype).at[0].set(values)
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        got = jnp.zeros(2, dtype).at[0].set(values)
    same(got, np.asarray(expected))
    assert bool(ours) == bool(theirs)
    assert all(w.category is FutureWarning and w.filename == __file__ for w in ours)


DIFFERENTIATED = [
    i[1],
    i[1, ::-2],
    i[A([0, 2])],
    i[:, A([0, 2])],
    i[A([0, 2]), 1:3],
    i[A([0, 2, 0]), A([1, 3, 1])],
]


@pytest.mark.parametrize("index", DIFFERENTIATED, ids=text)
@pytest.mark.parametrize("method", ["set", "add", "subtract", "multiply", "divide", "power", "min"])
def test_derivatives_of_updates(index, method):
    """With respect to the array and the values, against finite differences."""
    x = np.abs(numbers((3, 4))) + 0.5
    values = np.cos(numbers(x[index].shape)) + 1.5
    repeated = len(np.unique(numbered(x)[index])) < values.size
    weights = numbers(x.shape)

    def f(x, values):
        return jnp.sum(weights * jnp.sin(getattr(x.at[index], method)(values)))

    if repeated and method == "set":
        return
    if repeated and method in ("multiply", "divide", "power"):
        with pytest.raises(NotImplementedError, match="unique_indices"):
            irax.grad(f, (0, 1))(x, values)
        argnums = (0,)
    else:
        argnums = (0, 1)
    grads = irax.grad(f, argnums)(x, values)
    for n, grad in zip(argnums, grads, strict=True):
        rng = np.random.default_rng(1)
        direction = rng.normal(size=grad.shape).astype(np.float32)
        step = 2e-3

        def at(t, n=n, direction=direction):
            args = [x, values]
            args[n] = args[n] + np.float32(t) * direction
            return float(f(*map(jnp.asarray, args)))

        slope = (at(step) - at(-step)) / (2 * step)
        np.testing.assert_allclose(
            np.sum(np.asarray(grad) * direction), slope, rtol=0.02, atol=5e-3
        )


@pytest.mark.parametrize("index", DIFFERENTIATED, ids=text)
def test_apply(index):
    x = numbers((3, 4))
    expected = np.array(x)
    for place in numbered(x)[index].ravel():  # as often as it is named
        expected.flat[place] = 2 * expected.flat[place] + 1
    f = lambda v: 2 * v + 1
    np.testing.assert_allclose(jnp.asarray(x).at[index].apply(f), expected, rtol=1e-6)
    ints, rebuilt = traced_arguments(index)
    traced = irax.jvp(lambda x: x.at[index].apply(f), (x,), (x,))[0]
    np.testing.assert_allclose(traced, expected, rtol=1e-6)
    repeated = len(np.unique(numbered(x)[index])) < x[index].size
    if not repeated:
        apply = lambda x, *ints: x.at[rebuilt(ints)].apply(f, unique_indices=True)
        lanes = irax.vmap(apply, (0, *[None] * len(ints)))(x[None], *map(jnp.asarray, ints))
        np.testing.assert_allclose(lanes[0], expected, rtol=1e-6)
    if any(n.ndim for n in ints):
        by_index = lambda x, *ints: x.at[rebuilt(ints)].apply(f)
        found, back = irax.vjp(lambda x: irax.jit(by_index)(x, *ints), x)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        slopes = np.full(x.shape, 1, np.float32)
        for place in numbered(x)[index].ravel():
            slopes.flat[place] *= 2
        np.testing.assert_allclose(back(jnp.ones_like(found))[0], slopes)


def test_apply_drops_what_is_out_of_range():
    x = jnp.arange(3.0)
    got = x.at[A([0, 0, 7, -9, 2])].apply(lambda v: v + 1)
    same(got, A([2, 1, 3], np.float32))


def test_values_broadcast_and_convert():
    x = jnp.zeros((2, 3), "int32")
    same(x.at[0].set([1, 2, 3]), A([[1, 2, 3], [0, 0, 0]], np.int32))
    same(x.at[:].set(A([[1], [2]])), A([[1, 1, 1], [2, 2, 2]], np.int32))
    same(jnp.zeros(2, "uint8").at[0].set(True), A([1, 0], np.uint8))
    same(jnp.zeros(2, "float16").at[0].set(1.5), A([1.5, 0], np.float16))
    with pytest.warns(FutureWarning, match="float32 make a result .* array, int32"):
        same(x.at[0, 0].set(1.7), A([[1, 0, 0], [0, 0, 0]], np.int32))
    with pytest.warns(FutureWarning, match="complex64"):
        same(jnp.zeros(1).at[0].add(1 + 1j), A([1], np.float32))


def test_divide_gives_floats():
    same(jnp.arange(4).at[2:].divide(4), A([0, 1, 0.5, 0.75], np.float32))
    same(jnp.arange(4).at[A([3, 3])].divide(2), A([0, 1, 2, 0.75], np.float32))


def test_booleans():
    x = jnp.array([True, False, True])
    same(x.at[1].set(True), A([True, True, True]))
    same(x.at[A([0, 1])].min(False), A([False, False, True]))
    with pytest.raises(TypeError, match="subtract: booleans"):
        x.at[0].subtract(True)


def test_refused_updates():
    x = jnp.zeros((2, 3))
    with pytest.raises(ValueError, match=r"set: values of shape \(2,\) .* x\[index\], \(3,\)"):
        x.at[0].set(np.ones(2))
    with pytest.raises(ValueError, match=r"add: values of shape \(1,\) do not broadcast"):
        x.at[0, 0].add(np.ones(1))
    with pytest.raises(ValueError, match=r"get: mode must be one of 'clip', .*, got 'wrap'"):
        x.at[0].get(mode="wrap")
    with pytest.raises(TypeError, match="set: values: expected an array or a number, got None"):
        x.at[0].set(None)


def test_x_is_never_changed():
    x = jnp.arange(3)
    memory = np.asarray(x)
    x.at[0].set(5)
    x.at[A([0])].add(5)
    x.at[:].set(5)
    np.testing.assert_array_equal(memory, [0, 1, 2])


def test_assignments_are_refused_with_the_line_to_write():
    x = jnp.arange(3)
    with pytest.raises(TypeError, match=r"(?m)x = x\.at\[0\]\.set\(7\)$"):
        x[0] = 7
    with pytest.raises(TypeError, match=r"(?m)x = x\.at\[1:, None\]\.add\(x\[0\]\)$"):
        x[1:, None] += x[0]
    with pytest.raises(TypeError, match=r"(?m)x\.at\[index\]\.set\(value\)$"):
        operator.setitem(x, 0, 1)


def test_compiled():
    """The whole way: one program with every form in it."""

    @irax.jit
    def f(x, i, rows):
        x = x.at[i].set(x[rows][0], mode="promise_in_bounds")
        x = x.at[rows, 1:].add(2.0)
        x = x.at[::2, i].multiply(3.0)
        return x[::-1, rows], x.at[i + 10].set(0.0)

    def g(x, i, rows):
        x = np.array(x)
        x[i] = x[rows][0]
        np.add.at(x, (rows, slice(1, None)), 2)
        x[::2, i] *= 3
        return x[::-1, rows], x

    x, rows = numbers((4, 5)), A([3, 0, 3])
    for got, expected in zip(f(x, 2, rows), g(x, 2, rows), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "shape, index",
    [((0,), np.array([0, 2])), ((3, 0), np.array([1])), ((0, 2), np.array([-1]))],
)
def test_updates_of_arrays_without_elements_drop_what_is_out_of_range(shape, index):
    methods = ["set", "add", "multiply", "divide", "power", "min", "max"]
    update = lambda x, i: {method: getattr(x.at[i], method)(2.0) for method in methods}
    x = jnp.zeros(shape)
    for results in (update(x, index), irax.jit(update)(x, index)):
        for method, updated in results.items():
            assert (updated.shape, updated.dtype) == (shape, x.dtype), method


def test_functions_of_elements_that_are_not_there():
    assert jnp.zeros(0).at[np.array([0])].apply(jnp.sin).shape == (0,)


def test_reads_of_arrays_without_elements_are_errors():
    for index in (0, np.array([0])):
        with pytest.raises(IndexError, match="size 0"):
            jnp.zeros(0)[index]
    with pytest.raises(IndexError, match="size 0"):
        jnp.zeros(0).at[0].set(1.0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("traced", [False, True])
def test_changes_are_computed_in_the_common_dtype(traced):
    """As in JAX: the result alone is converted, not the values."""
    x, index = np.array([10, 4, -9], "int8"), np.array([0, 2])
    cases = [
        ("add", -1.5, [8, 4, -10]),
        ("subtract", 0.5, [9, 4, -9]),
        ("multiply", 0.5, [5, 4, -4]),
        ("max", 10.5, [10, 4, 10]),
        ("min", -9.5, [-9, 4, -9]),
        ("set", 2.5, [2, 4, 2]),
    ]

    def change(x, i):
        results = []
        for method, value, _ in cases:
            with pytest.warns(FutureWarning, match="loses information"):
                results.append(getattr(x.at[i], method)(value))
        return results

    results = irax.jit(change)(x, index) if traced else change(jnp.asarray(x), index)
    for found, (method, _, expected) in zip(results, cases, strict=True):
        assert found.dtype == np.int8
        np.testing.assert_array_equal(found, expected, err_msg=method)


def test_constant_places():
    x = np.arange(12, dtype="f").reshape(3, 4)
    rows, columns = np.array([7.0, 8.0, 9.0, 1.0], "f"), np.array([[1.0, 2.0]], "f")

    def several(x, at):
        return [
            x[np.array([2, 0])],
            x[:, np.array([1, 1, 1])],
            x[:, np.array([[0, 1], [2, 3]])],
            x[np.array([0, 2, 0, 2, 1, 1])],
            at(x, np.array([0])).add(1.0),
            at(x, np.array([2, 0])).set(rows * x[1]),
            at(x, (slice(None), np.array([3, 0]))).multiply(columns),
            at(x, np.array([0, 1, 2])).max(5.0),
            at(x, np.array([1, 1])).add(1.0),
        ]

    class At:
        """Updates of NumPy's, of a copy."""

        def __init__(self, x, index):
            self.x, self.index = x.copy(), index

        def __getattr__(self, name):
            names = {"max": np.maximum, "multiply": np.multiply, "add": np.add}

            def change(value):
                if name == "set":
                    self.x[self.index] = value
                else:
                    names[name].at(self.x, self.index, value)
                return self.x

            return change

    found = irax.jit(lambda x: several(x, lambda x, index: x.at[index]))(x)
    for a, b in zip(found, several(x, At), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["add", "divide", "max", "multiply", "power", "set", "subtract"])
def test_values_of_lower_rank_are_no_promotion_of_ranks(name):
    x, values = jnp.arange(1.0, 7.0).reshape(2, 3), jnp.array([1.0, 2.0, 3.0])
    for index in (slice(None), np.array([0, 0]), np.array([1, 0])):
        expected = getattr(x.at[index], name)(values)
        with irax.numpy_rank_promotion("raise"):
            found = getattr(x.at[index], name)(values)
        np.testing.assert_array_equal(found, expected)


def test_large_ints_fit_into_the_dtype_of_the_array():
    largest, x = 2**32 - 1, jnp.ones(2, "uint32")
    same(x.at[0].set(largest), A([largest, 1], np.uint32))
    same(x.at[0].max(largest), A([largest, 1], np.uint32))
    same(x.at[A([0, 5])].get(mode="fill", fill_value=largest), A([1, largest], np.uint32))
    same(jnp.take(x, A([5]), fill_value=largest), A([largest], np.uint32))
    same(
        jnp.arange(largest - 2, largest, dtype="uint32"),
        np.arange(largest - 2, largest, dtype="u4"),
    )
    with pytest.raises(OverflowError, match="doesn't fit"):
        x.at[0].set(2**32)


def test_lists_of_traced_numbers_in_an_index():
    x = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    cases = [
        (lambda i: (np.array([0, 1]), [i, 2]), (np.array([0, 1]), [1, 2])),
        (lambda i: ([i, 0],), ([1, 0],)),
        (lambda i: (slice(None), [i, 2]), (slice(None), [1, 2])),
        (lambda i: ([[i], [2]], [0, i]), ([[1], [2]], [0, 1])),
        (lambda i: ((i, np.int8(-1)), 2), ([1, -1], 2)),
    ]
    read = irax.jit(lambda x, i: [x[index(i)] for index, _ in cases])(x, 1)
    written = irax.jit(lambda x, i: [x.at[index(i)].set(0.0) for index, _ in cases])(x, 1)
    for found, changed, (_, known) in zip(read, written, cases, strict=True):
        np.testing.assert_array_equal(found, x[known])
        expected = x.copy()
        expected[known] = 0
        np.testing.assert_array_equal(changed, expected)
    with pytest.raises(TypeError, match="integer or boolean"):
        irax.jit(lambda x, i: x[([i, 0.5],)])(x, 1)


def test_the_text_of_slices_of_numbers_is_read():
    def f(x, y):
        return lax.dynamic_slice(x, (), ()), lax.dynamic_update_slice(x, y, ())

    x, y = np.float32(1), np.float32(2)
    module = api.parse(irax.jit(f).lower(x, y).as_text())
    np.testing.assert_array_equal(api.evaluate(module, "f", [x, y]), [x, y])


def test_ints_that_no_integer_of_arrays_holds():
    x = jnp.arange(3.0)
    for index in (2**31, -(2**31) - 1, 2**70):
        for use in (
            lambda i: x[i],
            lambda i: x.at[i].set(9.0),
            lambda i: irax.jit(lambda x: x[i])(x),
        ):
            with pytest.raises(OverflowError, match=rf"index {index} does not fit into int32.*x64"):
                use(index)
    with irax.enable_x64(True):
        assert x[2**31] == 2
        with pytest.raises(OverflowError, match="does not fit into int64"):
            x[2**70]
