"""Operators, conversions, methods and printing of arrays, for those with elements and traced."""

import copy
import operator
import pickle
import re
from collections.abc import Hashable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from tests import oracle

import irax
import irax.numpy as jnp
from irax import errors

X = np.array([[1.5, -2.0, 3.25], [0.5, 4.0, -1.25]], np.float32)
N = np.array([[7, -3, 2], [1, 5, -6]], np.int32)
B = np.array([True, False, True])


def same(got, expected):
    expected = np.asarray(expected)
    assert isinstance(got, irax.Array)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(got), expected, rtol=2e-6)


def traced(f, *args):
    """The result of `f` while it is traced, in the one lane of a vmap."""
    return irax.vmap(f)(*(np.asarray(a)[None] for a in args))[0]


def unknown(f):
    """Calls `f` with a traced number whose value is not known."""
    return irax.vmap(f)(np.ones(1, np.float32))


# ---- operators -----------------------------------------------------------------------------------

FLOATS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.mod, operator.pow),
]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
INTEGERS = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
BITS = [operator.and_, operator.or_, operator.xor]
SHIFTS = [operator.lshift, operator.rshift]


def check_operator(op, x, y):
    expected = op(x, y)
    for a in (jnp.asarray(x), x):
        for b in (jnp.asarray(y), y):
            if isinstance(a, irax.Array) or isinstance(b, irax.Array):
                same(op(a, b), expected)
    same(traced(op, x, y), expected)
    same(traced(lambda x: op(x, y), x), expected)
    same(traced(lambda y: op(x, y), y), expected)


@pytest.mark.parametrize("op", FLOATS + COMPARISONS)
def test_float_operators(op):
    check_operator(op, np.abs(X), np.roll(X, 1))


@pytest.mark.parametrize("op", INTEGERS + COMPARISONS + BITS)
def test_integer_operators(op):
    check_operator(op, N, np.roll(N, 1))


@pytest.mark.parametrize("op", SHIFTS)
def test_shifts(op):
    check_operator(op, N, np.abs(np.roll(N, 1)))


@pytest.mark.parametrize("op", BITS + COMPARISONS)
def test_boolean_operators(op):
    check_operator(op, B, np.roll(B, 1))


@pytest.mark.parametrize("op", [operator.neg, operator.pos, operator.abs])
@pytest.mark.parametrize("x", [X, N], ids=["float", "int"])
def test_unary_operators(op, x):
    same(op(jnp.asarray(x)), op(x))
    same(traced(op, x), op(x))


@pytest.mark.parametrize("x", [N, B], ids=["int", "bool"])
def test_invert(x):
    same(~jnp.asarray(x), ~x)


def test_matmul():
    check_operator(operator.matmul, X, np.ascontiguousarray(X.T))


def test_divmod():
    for got, expected in zip(divmod(jnp.asarray(N), 4), divmod(N, np.int32(4)), strict=True):
        same(got, expected)
    same(divmod(7, jnp.asarray(N))[1], np.mod(7, N).astype(np.int32))


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_python_numbers_keep_the_dtype(op):
    x = jnp.asarray(X, "float16")
    same(op(x, 2), op(X.astype("float16"), np.float16(2)))
    same(op(2.5, x), op(np.float16(2.5), X.astype("float16")))


def test_numpy_leaves_operators_to_us():
    x = jnp.asarray(X)
    for number in (X, np.float32(2), np.float64(2), np.array(2.0), np.int8(2)):
        for op in (operator.add, operator.mul, operator.sub, operator.lt, operator.eq):
            assert isinstance(op(number, x), irax.Array)
            assert isinstance(op(x, number), irax.Array)
    assert isinstance(X @ x.T, irax.Array)


class Foreign:
    """Another library's array: it knows how to work with ours."""

    def __radd__(self, other):
        return "theirs"

    __add__ = __radd__

    def __eq__(self, other):
        return "theirs"

    __hash__ = None


def test_foreign_types_get_their_turn():
    x = jnp.asarray(X)
    assert x + Foreign() == "theirs"
    assert Foreign() + x == "theirs"
    assert (x == Foreign()) == "theirs"
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    with pytest.raises(TypeError, match="unsupported operand"):
        x + object()
    with pytest.raises(TypeError, match="not supported between"):
        x < None  # noqa: B015


class Wrapped:
    def __irax_array__(self):
        return jnp.asarray(X)


def test_objects_that_hold_an_array():
    same(jnp.asarray(X) + Wrapped(), X + X)


@pytest.mark.parametrize("other", [[1, 2, 3], (1, 2, 3), {1}, {}], ids=repr)
@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.eq])
def test_containers_are_refused(op, other):
    x = jnp.arange(3)
    with pytest.raises(TypeError, match=f"a {type(other).__name__} do not go together"):
        op(x, other)
    with pytest.raises(TypeError, match=r"irax\.numpy\.array"):
        op(other, x)


class Pair(NamedTuple):
    values: Any

    def __rmul__(self, other):
        return Pair(other * self.values)


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit])
def test_containers_with_operators_of_their_own_are_asked(transform):
    found = transform(operator.mul)(jnp.arange(3), Pair(jnp.full(3, 2)))
    assert isinstance(found, Pair)
    same(found.values, np.int32([0, 2, 4]))
    with pytest.raises(TypeError, match="a Pair do not go together"):
        jnp.arange(3) + Pair(1)


def test_a_tracer_is_an_array():
    seen = []
    unknown(lambda x: seen.append(isinstance(x, irax.Array)) or x)
    assert seen == [True]


# ---- Python's numbers ----------------------------------------------------------------------------


def test_truth():
    assert bool(jnp.array(2.0)) is True
    assert bool(jnp.zeros((1, 1))) is False
    with pytest.raises(ValueError, match=r"shape \(2, 3\) with more than one element is ambiguous"):
        bool(jnp.asarray(X))
    with pytest.raises(ValueError, match="without elements is ambiguous"):
        bool(jnp.zeros(0))
    with pytest.raises(errors.TracerBoolConversionError, match=r"irax\.numpy\.where"):
        unknown(lambda x: x if x > 0 else -x)


def test_numbers():
    assert float(jnp.array(1.5)) == 1.5
    assert type(float(jnp.array(3))) is float
    assert int(jnp.array(2.9)) == 2
    assert complex(jnp.array(1 + 2j)) == 1 + 2j
    assert type(int(jnp.array(3, "bfloat16"))) is int
    for kind in (int, float, complex):
        with pytest.raises(TypeError, match=rf"{kind.__name__}\(\): .* got shape \(1,\)"):
            kind(jnp.ones(1))
        with pytest.raises(errors.ConcretizationTypeError, match=rf"{kind.__name__}\(\) at .*vmap"):
            unknown(lambda x, kind=kind: x * kind(x))
    with pytest.raises(TypeError, match="complex"):
        float(jnp.array(1j))


def test_index():
    assert [10, 20, 30][jnp.array(1)] == 20
    assert list(range(jnp.array(3, "uint8"))) == [0, 1, 2]
    for x in (jnp.array(1.0), jnp.array([1]), jnp.array(True)):
        with pytest.raises(TypeError, match="shape \\(\\) and integer dtype"):
            operator.index(x)
    with pytest.raises(errors.TracerIntegerConversionError, match="in_axes=None"):
        irax.vmap(lambda n: jnp.zeros(3) * len(range(n)))(np.arange(2))


def test_known_values_under_grad():
    """Outside of jit, so that Python can branch on them."""

    def f(x):
        if x > 1:
            return x * int(x)
        return x

    assert float(irax.grad(f)(3.5)) == 3
    assert float(irax.grad(f)(0.5)) == 1


def test_round():
    x = jnp.array([1.26, 2.5, -3.75])
    same(round(x), np.array([1, 2, -4], np.int32))
    same(round(x, 1), np.array([1.3, 2.5, -3.8], np.float32))


# ---- NumPy ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16", "int4"])
def test_numpy_array(dtype):
    values = X.astype(ml_dtypes.bfloat16) if dtype == "bfloat16" else X.astype(dtype)
    x = jnp.asarray(values)
    got = np.asarray(x)
    assert got.dtype == values.dtype
    np.testing.assert_array_equal(got, values)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int4", "bool"])
@pytest.mark.parametrize("index", [..., (slice(None), 1), slice(None, None, -1)], ids=str)
def test_nobody_writes_to_an_array(dtype, index):
    x = jnp.ones((3, 2), dtype)[index]
    view = np.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.view().flags.writeable = True
    copied = np.array(x)
    copied[0] = 0
    assert np.asarray(x, float).all()
    assert np.asarray(x.copy(), float).all()


def test_what_numpy_asks_for():
    x = jnp.asarray(X)
    assert np.asarray(x, np.float64).dtype == np.float64
    assert np.array(x, copy=True).flags.writeable
    assert np.asarray(x).base is not None
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, np.float64, copy=False)
    np.testing.assert_allclose(np.sin(x), np.sin(X))
    assert isinstance(np.sin(x), np.ndarray)
    assert x.__array_namespace__() is jnp


@pytest.mark.parametrize("transform", [irax.vmap, irax.grad], ids=["vmap", "grad"])
def test_numpy_of_a_tracer(transform):
    """Also where the value is known, if what NumPy makes of it would have no derivative."""
    x = np.ones(2, np.float32) if transform is irax.vmap else np.float32(1)
    for f in (np.asarray, np.sin, lambda x: np.ones(1) * np.asarray(x)):
        with pytest.raises(errors.TracerArrayConversionError, match=r"irax\.numpy"):
            transform(f)(x)


# ---- containers ----------------------------------------------------------------------------------


def test_iteration():
    x = jnp.asarray(X)
    for row, expected in zip(x, X, strict=True):
        same(row, expected)
    a, b = jnp.array([1, 2])
    assert (int(a), int(b)) == (1, 2)
    same(traced(lambda x: sum(row for row in x), X), X.sum(0))
    assert len(x) == 2
    assert 4.0 in x[0] or 4.0 in x[1]
    assert 5.0 not in x[0]
    with pytest.raises(TypeError, match="iterate over an array of shape"):
        iter(jnp.array(1))
    with pytest.raises(TypeError, match="has no length"):
        len(jnp.array(1))


def test_hash():
    x = jnp.array(np.int32(1))
    assert not isinstance(x, Hashable)
    assert irax.jit(lambda x: jnp.asarray(not isinstance(x, Hashable)))(x)
    with pytest.raises(TypeError, match="unhashable type"):
        hash(x)
    with pytest.raises(TypeError, match="unhashable type"):
        {jnp.arange(2)}


def test_pickle_and_copies():
    for x in (jnp.asarray(X), jnp.asarray(2.0), jnp.ones(3, "bfloat16")):
        for made in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), x.copy()):
            assert made is not x
            assert repr(made) == repr(x)
    with pytest.raises(errors.ConcretizationTypeError, match="no elements to pickle"):
        unknown(lambda x: pickle.dumps(x))


# ---- methods -------------------------------------------------------------------------------------

METHODS = {
    "all": lambda x: (x != 0).all(),
    "any": lambda x: (x > 3).any(axis=1),
    "argmax": lambda x: x.argmax(axis=1),
    "argmin": lambda x: x.argmin(),
    "argsort": lambda x: x.argsort(axis=0),
    "astype": lambda x: x.astype("int32"),
    "clip": lambda x: x.clip(-1, 2),
    "conj": lambda x: x.conj(),
    "cumprod": lambda x: x.cumprod(axis=0),
    "cumsum": lambda x: x.cumsum(axis=1),
    "diagonal": lambda x: x.diagonal(),
    "dot": lambda x: x.dot(x.T),
    "flatten": lambda x: x.flatten(),
    "max": lambda x: x.max(axis=0, keepdims=True),
    "mean": lambda x: x.mean(),
    "min": lambda x: x.min(),
    "prod": lambda x: x.prod(axis=1),
    "ravel": lambda x: x.ravel(),
    "repeat": lambda x: x.repeat(2, axis=0),
    "reshape": lambda x: x.reshape(3, -1),
    "reshape tuple": lambda x: x.reshape((3, 2)),
    "reshape all": lambda x: x.reshape(-1),
    "round": lambda x: x.round(1),
    "squeeze": lambda x: x[None].squeeze(0),
    "std": lambda x: x.std(axis=0),
    "sum": lambda x: x.sum(axis=-1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "take": lambda x: x.take(np.array([2, 0]), axis=1),
    "trace": lambda x: x.trace(),
    "transpose": lambda x: x.transpose(),
    "transpose axes": lambda x: x[None].transpose(2, 0, 1),
    "transpose tuple": lambda x: x[None].transpose((2, 0, 1)),
    "var": lambda x: x.var(ddof=1),
    "view": lambda x: x.view(np.int32),
    "view wider": lambda x: x[:, :2].copy().view(np.int16),
    "T": lambda x: x.T,
    "mT": lambda x: x[None].mT,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
}


@pytest.mark.parametrize("method", METHODS)
def test_methods(method):
    f = METHODS[method]
    expected = np.asarray(f(X))
    if expected.dtype == np.int64:
        expected = expected.astype(np.int32)
    same(f(jnp.asarray(X)), expected)
    same(traced(f, X), expected)


def test_methods_with_their_own_rules():
    x = jnp.asarray(X)
    same(x.sort(axis=1), np.sort(X, axis=1))  # NumPy's changes the array
    assert [n.tolist() for n in (x > 1).nonzero()] == [n.tolist() for n in (X > 1).nonzero()]
    assert x.item(4) == 4.0
    assert x.item(1, 2) == -1.25
    assert type(jnp.array(3).item()) is int
    assert x.tolist() == X.tolist()
    assert x.tobytes() == X.tobytes()
    assert (x.nbytes, x.itemsize, x.size, x.ndim) == (24, 4, 6, 2)
    assert x.block_until_ready() is x
    assert x.is_ready()
    assert x.astype(dtype="int32", copy=True, device=None).dtype == np.int32
    assert x.astype("int8", True, None).dtype == np.int8
    assert x.to_device(device=x.device).tolist() == X.tolist()
    assert x.view(type=None) is x
    assert x.format.layout.major_to_minor == (0, 1)
    assert x.format.sharding == x.sharding
    with pytest.raises(NotImplementedError, match="type="):
        x.view(type=np.matrix)
    with pytest.raises(ValueError, match="size 1"):
        x.item()
    for method in ("item", "tolist", "tobytes"):
        with pytest.raises(errors.ConcretizationTypeError, match=rf"{method}\(\) needs the elem"):
            unknown(lambda x, method=method: getattr(x, method)())


@pytest.mark.slow
def test_view():
    same(jnp.asarray(B).view("uint8"), B.view(np.uint8))
    same(jnp.arange(4).view("float32"), np.arange(4, dtype=np.int32).view(np.float32))
    assert jnp.ones((2, 4), "int8").view("int32").shape == (2, 1)
    pairs = np.arange(8, dtype=np.float32).reshape(2, 4).view(np.complex64)
    viewed = irax.jit(lambda x, dtype: x.view(dtype), static_argnums=1)
    for dtype in ("float32", "uint8", "bool"):
        same(viewed(pairs, dtype), pairs.view(dtype))
        same(viewed(pairs[:0], dtype), pairs[:0].view(dtype))
    same(viewed(pairs.view("uint16"), "complex64"), pairs)
    with pytest.raises(ValueError, match="does not divide up"):
        jnp.ones(3, "int8").view("int32")
    with pytest.raises(ValueError, match="does not divide up"):
        jnp.array(1.0).view("int8")


def test_device():
    x = jnp.asarray(X)
    device = irax.devices()[0]
    assert x.device == device
    assert x.device() == device
    assert x.devices() == {device}


def test_where_an_array_is():
    x = jnp.asarray(X)
    device = irax.devices()[0]
    assert x.to_device(device).device is device
    with pytest.raises(NotImplementedError, match="stream=3 is not supported"):
        x.to_device(device, stream=3)
    assert x.platform() == "cpu"
    assert x.is_fully_addressable
    assert x.is_fully_replicated
    assert x.on_device_size_in_bytes() == 24
    x.copy_to_host_async()
    (shard,) = x.addressable_shards
    assert (shard.device, shard.index, shard.replica_id) == (device, (slice(None),) * 2, 0)
    assert shard.data is x.addressable_data(0) is x.global_shards[0].data is x
    with pytest.raises(IndexError):
        x.addressable_data(1)
    assert x.unsafe_buffer_pointer() == np.asarray(x).ctypes.data


@pytest.mark.parametrize("dtype", ["float32", "int16", "int8", "complex64", "bool"])
def test_byteswap(dtype):
    values = X.astype(dtype)
    swapped = jnp.asarray(values).byteswap()
    assert np.asarray(swapped).tobytes() == values.byteswap().tobytes()
    assert np.asarray(traced(lambda x: x.byteswap(), values)).tobytes() == swapped.tobytes()


# What JAX's arrays have besides: for several devices, of other machines, or old spellings.
NOT_HERE = {
    *("__array_module__", "__cuda_array_interface__", "__hex__", "__numpy_dtype__", "__oct__"),
    *("device_buffer", "device_buffers", "traceback"),
}


def test_names_of_jax_arrays():
    jax = pytest.importorskip("jax", reason="JAX is the oracle of its names")
    theirs, ours = jax.numpy.ones((2, 2)), jnp.ones((2, 2))
    private = re.compile("_[^_]|__(dict|del)__")
    missing = {n for n in dir(theirs) if not private.match(n) and n not in dir(ours)}
    assert missing == NOT_HERE | oracle.ARRAY_NAMES
    assert {n for n in dir(theirs.at[0]) if n[0] != "_"} == {
        n for n in dir(ours.at[0]) if n[0] != "_"
    }


def test_elements_one_by_one():
    """JAX's arrays refuse, so `pytest.approx`, which looks for `flat`, does not take them."""
    x = jnp.asarray(X)
    assert list(x.flat) == list(X.flat)
    assert jnp.float32(0.1) == pytest.approx(jnp.float32(0.1), abs=1e-6)
    with pytest.raises(ValueError, match="read-only"):
        x.flat[0] = 2.0
    with pytest.raises(irax.errors.TracerArrayConversionError):
        irax.jit(lambda x: x.flat)(x)


def test_delete():
    x = jnp.asarray(X)
    assert not x.is_deleted()
    x.delete()
    assert x.is_deleted()
    assert x.shape == (2, 3)
    for use in (lambda: x + 1, lambda: np.asarray(x), lambda: str(x), lambda: irax.jit(abs)(x)):
        with pytest.raises(RuntimeError, match="the array has been deleted"):
            use()


# ---- printing ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, expected",
    [
        (lambda: jnp.array([1.0, 2.0]), "Array([1., 2.], dtype=float32)"),
        (lambda: jnp.asarray(1.0), "Array(1., dtype=float32, weak_type=True)"),
        (lambda: jnp.array(np.int8(3)), "Array(3, dtype=int8)"),
        (lambda: jnp.array([True, False]), "Array([ True, False], dtype=bool)"),
        (lambda: jnp.zeros((0, 3)), "Array([], shape=(0, 3), dtype=float32)"),
        (lambda: jnp.ones(2, "bfloat16"), "Array([1, 1], dtype=bfloat16)"),
        (
            lambda: jnp.arange(6).reshape(2, 3),
            "Array([[0, 1, 2],\n       [3, 4, 5]], dtype=int32)",
        ),
        (
            lambda: jnp.arange(2000),
            "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)",
        ),
    ],
)
def test_repr(x, expected):
    assert repr(x()) == expected


@pytest.mark.parametrize(
    "values",
    [
        np.arange(20, dtype=np.float32) * np.float32(1.12345),
        np.arange(40, dtype=np.int32).reshape(2, 20) * 1000,
        np.linspace(0, 1, 7, dtype=np.float32).reshape(7, 1) * 1e-9,
        np.array([np.nan, np.inf, -0.0], np.float32),
        np.array([1 + 2j, -1e10], np.complex64),
        np.zeros((3, 0), np.int32),
        np.arange(30, dtype=np.int8).reshape(5, 3, 2),
        np.arange(10000, dtype=np.float32).reshape(100, 100),
    ],
    ids=lambda v: f"{v.dtype}{v.shape}",
)
def test_prints_as_jax_and_numpy_do(values):
    jax = pytest.importorskip("jax", reason="JAX is the oracle of its repr")
    # Where the last line is full JAX leaves a gap, we start a new line, as NumPy does.
    theirs = re.sub(r",  +dtype", ",\n      dtype", repr(jax.numpy.asarray(values)))
    assert repr(jnp.asarray(values)) == theirs
    assert str(jnp.asarray(values)) == str(values)


def test_format():
    x = jnp.array([1.25, 2.5])
    assert f"{x}" == "[1.25 2.5 ]"
    assert f"{x[0]:.1f} {jnp.array(7):03d}" == "1.2 007"
    assert f"{jnp.float32(0.1)} {jnp.int8(3)}" == f"{np.float32(0.1)} {np.int8(3)}"
    with pytest.raises(TypeError, match=r"format '\.1f' is for a number"):
        f"{x:.1f}"
    with pytest.raises(errors.ConcretizationTypeError, match=r"format '\.1f' needs the number"):
        unknown(lambda x: f"{x:.1f}")


def test_printing_a_tracer():
    seen = []
    unknown(lambda x: seen.extend([repr(x), str(x), f"{x}"]) or x)
    assert seen == ["Traced<float32[]> in vmap"] * 3


@pytest.mark.parametrize("x", [1, 1.0, 1j, True, np.float32(1), np.zeros(2), jnp.ones(2)])
def test_what_is_like_an_array(x):
    assert isinstance(x, irax.typing.ArrayLike)


@pytest.mark.parametrize("x", ["a", None, [1], (1,), np.str_("a")])
def test_what_is_not_like_an_array(x):
    assert not isinstance(x, irax.typing.ArrayLike)


@pytest.mark.parametrize("function", [jnp.shape, jnp.ndim, jnp.size])
def test_none_is_taken_for_a_scalar(function):
    with pytest.warns(DeprecationWarning, match="None"):
        assert function(None) == function(0)


def test_complex_dtypes():
    assert jnp.iscomplexobj(jnp.complex64)
    assert jnp.iscomplexobj([1j])
    assert not irax.jit(lambda x: jnp.asarray(jnp.iscomplexobj([x, x])))(1.0)
    assert irax.jit(lambda x: jnp.asarray(jnp.iscomplexobj([x, 1j])))(1.0)
    assert jnp.isrealobj(None)
    assert jnp.isrealobj([1.0])
    with pytest.raises(TypeError, match="object"):
        jnp.iscomplexobj(object())


def test_shapes_that_do_not_fit():
    for function in (jnp.add, jnp.power, jnp.arctan2, jnp.less, jnp.hypot):
        with pytest.raises(TypeError, match="do not fit together"):
            function(jnp.ones(3), jnp.ones(4))
    with pytest.raises(ValueError, match="do not fit together"):
        jnp.where(True, jnp.ones(3), jnp.ones(4))
