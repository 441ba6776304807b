"""Promotion against the table that is written out here and against JAX; dtypes of values."""

import doctest
import enum
import importlib
import itertools
import warnings

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irax
import irax.numpy as jnp
from irax import dtypes, lax, tree_util
from irax.config import enable_x64
from irax.dtypes import TypePromotionError

SMALL = [
    *("int2", "int4", "uint2", "uint4"),
    *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3"),
    *("float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2"),
    *("float8_e5m2fnuz", "float8_e8m0fnu"),
]

# JAX's documented table for strong dtypes and, last, for weak Python scalars: f* is a weak float.
# The columns are in the order of the rows.
TABLE = """
b1  b1  u1  u2  u4  u8  i1  i2  i4  i8  bf  f2  f4  f8  c8  c16 i*  f*  c*
u1  u1  u1  u2  u4  u8  i2  i2  i4  i8  bf  f2  f4  f8  c8  c16 u1  f*  c*
u2  u2  u2  u2  u4  u8  i4  i4  i4  i8  bf  f2  f4  f8  c8  c16 u2  f*  c*
u4  u4  u4  u4  u4  u8  i8  i8  i8  i8  bf  f2  f4  f8  c8  c16 u4  f*  c*
u8  u8  u8  u8  u8  u8  f*  f*  f*  f*  bf  f2  f4  f8  c8  c16 u8  f*  c*
i1  i1  i2  i4  i8  f*  i1  i2  i4  i8  bf  f2  f4  f8  c8  c16 i1  f*  c*
i2  i2  i2  i4  i8  f*  i2  i2  i4  i8  bf  f2  f4  f8  c8  c16 i2  f*  c*
i4  i4  i4  i4  i8  f*  i4  i4  i4  i8  bf  f2  f4  f8  c8  c16 i4  f*  c*
i8  i8  i8  i8  i8  f*  i8  i8  i8  i8  bf  f2  f4  f8  c8  c16 i8  f*  c*
bf  bf  bf  bf  bf  bf  bf  bf  bf  bf  bf  f4  f4  f8  c8  c16 bf  bf  c8
f2  f2  f2  f2  f2  f2  f2  f2  f2  f2  f4  f2  f4  f8  c8  c16 f2  f2  c8
f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f8  c8  c16 f4  f4  c8
f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  c16 c16 f8  f8  c16
c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c16 c8  c16 c8  c8  c8
c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16
i*  i*  u1  u2  u4  u8  i1  i2  i4  i8  bf  f2  f4  f8  c8  c16 i*  f*  c*
f*  f*  f*  f*  f*  f*  f*  f*  f*  f*  bf  f2  f4  f8  c8  c16 f*  f*  c*
c*  c*  c*  c*  c*  c*  c*  c*  c*  c*  c8  c8  c8  c16 c8  c16 c*  c*  c*
"""
ROWS = [row.split() for row in TABLE.strip().split("\n")]
SHORT = [row[0] for row in ROWS]
CELLS = [(row[0], b, cell) for row in ROWS for b, cell in zip(SHORT, row[1:], strict=True)]
WEAK = {"i*": 1, "f*": 1.0, "c*": 1j}
WIDE = {"i*": "int64", "f*": "float64", "c*": "complex128", "b1": "bool", "bf": "bfloat16"}
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}


def dtype(short):
    return np.dtype(WIDE.get(short, short))


def named(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def narrow(wide):
    return np.dtype(NARROW.get(wide.name, wide))


def value(short):
    return WEAK.get(short, np.zeros((), dtype(short)))


class Abstract:
    """The abstract value of a traced array."""

    def __init__(self, dtype, weak_type=False):
        self.dtype, self.weak_type = np.dtype(dtype), weak_type


ALL = [np.dtype(WIDE.get(s, s)) for s in SHORT[:-3]] + [named(name) for name in SMALL]
WEAKABLE = [(d, weak) for d in ALL for weak in (False, True) if not (weak and d.name in SMALL)]


# ---- Against the table ----


def test_table_with_64_bits():
    types = {"i*": int, "f*": float, "c*": complex}
    with enable_x64(True):
        for a, b, expected in CELLS:
            result = dtypes.lattice_result_type(value(a), value(b))
            assert result == (dtype(expected), expected in WEAK), (a, b)
            assert dtypes.result_type(value(a), value(b)) == dtype(expected), (a, b)
            promoted = dtypes.promote_types(types.get(a, dtype(a)), types.get(b, dtype(b)))
            assert promoted == dtype(expected), (a, b)


def test_table_with_32_bits():
    """The operands become narrow first (u8 with i8 is u4 with i4), and then the result."""
    short = {"u8": "u4", "i8": "i4", "f8": "f4", "c16": "c8"}
    cells = {(a, b): cell for a, b, cell in CELLS}
    for a, b in cells:
        expected = cells[short.get(a, a), short.get(b, b)]
        result = dtypes.lattice_result_type(value(a), value(b))
        assert result == (narrow(dtype(expected)), expected in WEAK), (a, b)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("small", SMALL)
def test_small_types_promote_with_weak_scalars_of_their_kind_alone(small, x64):
    small = named(small)
    floating = dtypes.issubdtype(small, np.floating)
    with enable_x64(x64):
        for lower in [np.dtype(bool), 1, 1.0] if floating else [np.dtype(bool), 1]:
            assert dtypes.lattice_result_type(small, lower) == (small, False)
        for other in [1j, np.float32(1), np.complex64(1), named("bfloat16")]:
            with pytest.raises(TypePromotionError, match=small.name):
                dtypes.result_type(small, other)
        for other in SMALL:
            if other != small.name:
                with pytest.raises(TypePromotionError, match="convert the operands first"):
                    dtypes.promote_types(small, named(other))


# ---- The lattice ----


def join(*operands):
    try:
        return dtypes.lattice_result_type(*(Abstract(*operand) for operand in operands))
    except TypePromotionError:
        return None


operands = st.lists(st.sampled_from(WEAKABLE), min_size=1, max_size=5)


@given(operands, st.booleans(), st.randoms())
def test_order_and_repetition_do_not_matter(operands, x64, random):
    shuffled = operands * 2
    random.shuffle(shuffled)
    with enable_x64(x64):
        assert join(*operands) == join(*shuffled)


@given(operands)
def test_strong_operands_join_pairwise_to_the_same(operands):
    strong = [(d, False) for d, _ in operands]
    with enable_x64(True):
        pairwise = strong[0]
        for operand in strong[1:]:
            pairwise = pairwise and join(pairwise, operand)
        assert join(*strong) == pairwise


# ---- Against JAX ----


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def jax(request):
    jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
    with jax.enable_x64(request.param), enable_x64(request.param), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX says when it narrows
        yield jax


def outcome(f, *args):
    try:
        return f(*args)
    except ValueError:
        return "no promotion"


def test_promote_types_as_jax(jax):
    kinds = [*ALL, bool, int, float, complex]
    for a, b in itertools.product(kinds, kinds):
        ours = outcome(dtypes.promote_types, a, b)
        assert ours == outcome(jax.numpy.promote_types, a, b), (a, b)


def test_result_type_as_jax(jax):
    for a, b in itertools.product([*ALL, 1, 1.0, 1j, True, int, float, complex], repeat=2):
        ours = outcome(dtypes.result_type, a, b)
        assert ours == outcome(jax.numpy.result_type, a, b), (a, b)


def test_result_type_of_three_as_jax(jax):
    some = [np.dtype(d) for d in ("bool", "uint8", "int8", "uint32", "int32", "uint64")]
    some += [named("bfloat16"), np.dtype("float16"), named("float8_e5m2"), 1, 1.0, 1j]
    for args in itertools.combinations_with_replacement(some, 3):
        ours = outcome(dtypes.result_type, *args)
        assert ours == outcome(jax.numpy.result_type, *args), args


def test_weak_types_as_jax(jax):
    def jax_says(*operands):
        structs = [jax.ShapeDtypeStruct((), d, weak_type=weak) for d, weak in operands]
        try:
            result = jax.eval_shape(jax.numpy.add, *structs)
        except ValueError:
            return None
        return result.dtype, result.weak_type

    available = [(d, weak) for d, weak in WEAKABLE if d == dtypes.canonicalize_dtype(d)]
    available = [(d, weak) for d, weak in available if d.name not in SMALL[1:]]
    for a, b in itertools.combinations_with_replacement(available, 2):
        assert join(a, b) == jax_says(a, b), (a, b)


def test_canonicalize_dtype_as_jax(jax):
    for d in ALL:
        assert dtypes.canonicalize_dtype(d) == jax.dtypes.canonicalize_dtype(d)


def test_issubdtype_as_jax(jax):
    kinds = [np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact]
    kinds += [np.floating, np.complexfloating, np.bool, np.float32, ml_dtypes.bfloat16]
    for a, b in itertools.product([*ALL, *kinds], kinds):
        assert dtypes.issubdtype(a, b) == jax.numpy.issubdtype(a, b), (a, b)


def test_can_cast_as_jax(jax):
    for a, b in itertools.product(ALL, ALL):
        for casting in ("safe", "same_kind"):
            ours = dtypes.can_cast(a, b, casting)
            assert ours == jax.numpy.can_cast(a, b, casting), (a, b, casting)


# ---- Dtypes ----


@pytest.mark.parametrize("given", [float, np.float64, np.dtype("f8"), "float64", ">f8", "d"])
def test_every_spelling_of_a_dtype(given):
    assert dtypes.canonicalize_dtype(given) == np.dtype("=f4")
    with enable_x64(True):
        assert dtypes.canonicalize_dtype(given) == np.dtype("=f8")


@pytest.mark.parametrize("bad", [object, str, "U3", "M8[s]", np.longdouble, "i4,i4", "V0"])
def test_an_unsupported_dtype_is_named(bad):
    for f in (dtypes.canonicalize_dtype, dtypes.dtype_of, dtypes.result_type):
        with pytest.raises(TypeError, match="irax has no arrays of dtype"):
            f(np.dtype(bad))
    with pytest.raises(TypeError, match="irax has no arrays of dtype"):
        dtypes.promote_types(np.dtype(bad), np.float32)


def test_none_is_the_default_float():
    assert dtypes.canonicalize_dtype(None) == np.float32


def test_float0_stands_alone():
    assert dtypes.canonicalize_dtype(dtypes.float0) == dtypes.float0
    assert np.zeros((3,), dtypes.float0).nbytes == 0
    assert np.asarray(irax.numpy.asarray(np.zeros((3,), dtypes.float0))).dtype == dtypes.float0
    assert dtypes.result_type(dtypes.float0, dtypes.float0) == dtypes.float0
    with pytest.raises(TypePromotionError, match="float0, float32"):
        dtypes.result_type(dtypes.float0, np.float32)


def test_the_defaults_follow_the_option():
    helpers = [dtypes.default_int, dtypes.default_uint, dtypes.default_float]
    helpers += [dtypes.default_complex]
    assert [f().name for f in helpers] == ["int32", "uint32", "float32", "complex64"]
    with enable_x64(True):
        assert [f().name for f in helpers] == ["int64", "uint64", "float64", "complex128"]


def test_limits_of_small_types():
    assert dtypes.finfo(dtypes.bfloat16).eps == 2.0**-7
    assert dtypes.finfo(dtypes.float8_e4m3fn).max == 448
    assert dtypes.finfo("float32").bits == 32
    assert dtypes.iinfo(dtypes.int4).min == -8
    assert dtypes.iinfo(np.uint8).max == 255


# ---- Values ----


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    "x, expected, weak",
    [
        (True, "bool", False),
        (1, "int32", True),
        (1.0, "float32", True),
        (1j, "complex64", True),
        (Colour.RED, "int32", True),
        (np.bool(1), "bool", False),
        (np.int64(1), "int32", False),
        (np.float64(1), "float32", False),  # a subclass of float, and yet strong
        (np.ones((2, 3)), "float32", False),
        (np.ones(2, ">i2"), "int16", False),
        (ml_dtypes.bfloat16(1), "bfloat16", False),
        (Abstract("float64", True), "float64", True),
        (float, "float32", True),
        (bool, "bool", False),
        (np.float16, "float16", False),
        ("uint8", "uint8", False),
    ],
)
def test_dtype_of(x, expected, weak):
    assert dtypes.dtype_of(x) == (named(expected), weak)
    assert dtypes.is_weakly_typed(x) == weak
    assert dtypes.lattice_result_type(x) == (named(expected), weak)


@pytest.mark.parametrize("x", [[1, 2], (), object(), {"a": 1}])
@pytest.mark.parametrize("f", [dtypes.dtype_of, dtypes.is_weakly_typed, dtypes.result_type])
def test_what_is_no_value(f, x):
    with pytest.raises(TypeError, match=f"expected an array.*got {type(x).__name__}"):
        f(x)


def test_nothing_to_promote():
    with pytest.raises(ValueError, match="at least one"):
        dtypes.result_type()


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("x", [True, -7, 2**31 - 1, -(2**31), 1.5, float("inf"), 2 - 3j])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: np.asarray(x)[()]])
def test_scalar_to_array(x, x64, wrap):
    with enable_x64(x64):
        array = dtypes.scalar_to_array(wrap(x))
        assert type(array) is np.ndarray
        assert array.shape == ()
        assert array.dtype == dtypes.dtype_of(x)[0]
        assert array.item() == x


@pytest.mark.parametrize("x", [2**31, -(2**31) - 1, 2**100, np.int64(2**40), np.uint64(2**63)])
def test_an_integer_that_does_not_fit(x):
    with pytest.raises(OverflowError, match=rf"the integer {x} doesn't fit into u?int32.*x64"):
        dtypes.scalar_to_array(x)


def test_more_integers_fit_into_64_bits():
    with enable_x64(True):
        assert dtypes.scalar_to_array(-(2**63)).item() == -(2**63)
        assert dtypes.scalar_to_array(np.uint64(2**63)).item() == 2**63
        with pytest.raises(OverflowError, match="doesn't fit into int64"):
            dtypes.scalar_to_array(2**63)


@pytest.mark.parametrize("x", ["1", None, [1], np.ones(()), np.datetime64(1, "s")])
def test_what_is_no_scalar(x):
    with pytest.raises(TypeError, match=r"expected a Python or NumPy scalar|no arrays of dtype"):
        dtypes.scalar_to_array(x)


@pytest.mark.parametrize("part", ["kinds", "values", "result_types"])
def test_examples(part):
    module = importlib.import_module(f"irax.core.dtypes.{part}")
    result = doctest.testmod(module, extraglobs={"irax": irax})
    assert result.attempted > 0
    assert result.failed == 0


def test_bits_of_elements():
    known = {"bool": 8, "int2": 2, "uint4": 4, "float4_e2m1fn": 4, "float8_e5m2": 8}
    known |= {"bfloat16": 16, "int64": 64, "complex64": 64}
    assert {name: dtypes.itemsize_bits(name) for name in known} == known
    with pytest.raises(ValueError, match="expected a dtype, got None"):
        dtypes.itemsize_bits(None)


def test_the_weakness_of_a_result():
    found = [dtypes.result_type(*x, return_weak_type_flag=True) for x in ((1, 2.0), (np.int8(1),))]
    assert found == [(np.float32, True), (np.int8, False)]
    assert dtypes.canonicalize_dtype("float64", allow_extended_dtype=True) == np.float32


def test_none_is_float64_among_kinds_as_in_numpy():
    for kind in (np.floating, np.complexfloating, np.float64):
        assert dtypes.issubdtype(None, kind) == np.issubdtype(None, kind)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["int2", "int4", "uint2", "uint4"])
def test_arrays_of_integers_of_few_bits_in_compiled_programs(name):
    x = jnp.arange(-9, 9).astype(name)

    def f(x):
        return x + x, lax.scan(lambda c, y: (c + y, c), jnp.zeros((), name), x), x.astype("float32")

    for found, expected in zip(
        tree_util.tree_leaves(irax.jit(f).lower(x).compile()(x)),
        tree_util.tree_leaves(f(x)),
        strict=True,
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)

    def called(x):
        return irax.pure_callback(lambda x: x + x, x, x, vmap_method="sequential")

    np.testing.assert_array_equal(irax.jit(called)(x), x + x)
    np.testing.assert_array_equal(irax.vmap(called)(x), x + x)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("narrow", ["int4", "uint4", "int2", "uint2"])
def test_views_of_narrow_integers(narrow):
    """jit's shifts beside NumPy's bits."""
    elements = np.random.default_rng(0).integers(0, 100, (3, 16))
    x = jnp.asarray(elements).astype(narrow)
    others = ("int4", "uint2", "int8", "uint16", "bfloat16", "float32")
    views = irax.jit(lambda x: [x.view(dtype) for dtype in others])(x)
    back = irax.jit(lambda ys: [y.view(narrow) for y in ys])(views)
    for dtype, there, again in zip(others, views, back, strict=True):
        assert there.dtype == dtype
        np.testing.assert_array_equal(there.view(narrow), x)
        np.testing.assert_array_equal(again, x)
        np.testing.assert_array_equal(there.view("uint8"), x.view("uint8"))


def test_arrays_and_structs_stand_for_their_dtypes():
    """As NumPy and JAX take them: an array among kinds, what describes an array as a dtype."""
    numbers, struct = jnp.ones(2), irax.ShapeDtypeStruct((2,), np.int16)
    assert jnp.issubdtype(numbers, jnp.floating)
    assert not jnp.issubdtype(numbers, jnp.integer)
    assert jnp.isdtype(numbers, "real floating")
    assert jnp.issubdtype(struct, jnp.integer)
    assert jnp.zeros(2, struct).dtype == numbers.astype(struct).dtype == np.int16
    with pytest.raises(ValueError, match="expected a dtype, got an array of float32"):
        jnp.zeros(2, numbers)


@pytest.mark.parametrize("name", ["float4_e2m1fn", "float8_e8m0fnu", "float8_e4m3"])
def test_callbacks_of_small_floats(name):
    x = jnp.array([0.5, 1.0, 2.0, 4.0], name)
    seen = []

    def backwards(x):
        seen.append(x.dtype)
        return np.asarray(x)[::-1]

    found = irax.jit(lambda x: irax.pure_callback(backwards, x, x))(x)
    assert found.dtype == x.dtype == seen[0]
    np.testing.assert_array_equal(found.astype("float32"), [4.0, 2.0, 1.0, 0.5])
