"""The Python array API standard, 2025.12: names, signatures, dtypes, operators, errors."""

import array
import inspect
import itertools
import operator
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.array_api import make_strategies_namespace
from tests.frontend.array_api.array_api_tables import (
    ATTRIBUTES,
    COMPLEX_NUMBERS,
    DTYPES,
    FLOATS,
    INEXACT,
    INTEGERS,
    METHODS,
    NUMBERS,
    REALS,
    SIGNATURES,
    SIGNED,
    UNSIGNED,
)

import irax
import irax.numpy as jnp


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with irax.enable_x64(request.param):
        yield request.param


@pytest.fixture
def wide():
    with irax.enable_x64(True):
        yield


# ---- names and signatures ------------------------------------------------------------------------


def table(text):
    """[(signature, name)] of a table of signatures."""
    lines = re.sub(r"\n +", " ", text.strip()).split("\n")
    return [
        (s, name) for s, names in (line.split(": ") for line in lines) for name in names.split()
    ]


def parameters(signature):
    scope = {}
    exec(f"def function{signature}: pass", scope)
    return inspect.signature(scope["function"]).parameters.values()


def named(name):
    return operator.attrgetter(name)(jnp)


# Where theirs is a value, None means the same here: it may be left out, as in NumPy.
SAME_AS_NONE = {"keepdims": False, "correction": 0.0, "norm": "backward", "step": 1}
OTHER_DEFAULTS = {("astype", "copy")}  # True has no meaning for what does not change


def check_signature(name, function, signature):
    """Check that every call that the standard allows is one here, with the same meaning."""
    ours = inspect.signature(function)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in ours.parameters.values())
    places, keywords, optional = [], {}, 0
    for p in parameters(signature):
        if p.kind is p.VAR_POSITIONAL:
            assert takes_any
        elif p.kind is p.KEYWORD_ONLY:
            keywords[p.name] = None
        else:
            places.append(p)
            optional += p.default is not p.empty
        if p.default is p.empty or takes_any or (name, p.name) in OTHER_DEFAULTS:
            continue
        if p.kind is p.POSITIONAL_ONLY:
            default = list(ours.parameters.values())[len(places) - 1].default
        else:
            default = ours.parameters[p.name].default
        assert default == p.default or (default is None and SAME_AS_NONE[p.name] == p.default)
    for given_ in range(len(places) - optional, len(places) + 1):
        ours.bind(*places[:given_], **keywords)
    by_name = {p.name: None for p in places if p.kind is p.POSITIONAL_OR_KEYWORD}
    ours.bind(*(p for p in places if p.name not in by_name), **by_name, **keywords)


@pytest.mark.parametrize(
    "signature, name", table(SIGNATURES), ids=lambda s: s if "(" not in s else ""
)
def test_functions(signature, name):
    check_signature(name, named(name), signature)


def test_methods():
    x = jnp.ones((2, 2))
    for signature, name in table(METHODS):
        check_signature(name, getattr(x, name), signature)
    for name in ATTRIBUTES.split():
        assert not callable(getattr(x, name)) or name == "device"


def test_the_namespace():
    assert jnp.__array_api_version__ == "2025.12"
    x = jnp.ones(3)
    for version in ("2024.12", "2025.12"):
        assert x.__array_namespace__() is x.__array_namespace__(api_version=version) is jnp
    with pytest.raises(ValueError, match=r"must be one of .*, got '2099"):
        x.__array_namespace__(api_version="2099.01")
    assert (jnp.pi, jnp.e, jnp.inf, jnp.newaxis) == (np.pi, np.e, np.inf, None)
    assert np.isnan(jnp.nan)
    for name in DTYPES:
        assert getattr(jnp, name) == np.dtype(name)
    assert len({getattr(jnp, name) for name in DTYPES}) == len(DTYPES)
    assert jnp.float32.__name__ == "float32"


def test_what_the_namespace_tells_of_itself(x64):
    info = jnp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.capabilities()["max dimensions"] == 64
    assert isinstance(info.devices(), tuple)
    assert info.default_device() in info.devices()
    defaults = info.default_dtypes(device=info.devices()[0])
    assert defaults["real floating"] == jnp.asarray(1.0).dtype == jnp.zeros(1).dtype
    assert defaults["integral"] == jnp.asarray(1).dtype == defaults["indexing"]
    assert defaults["complex floating"] == jnp.asarray(1j).dtype
    available = info.dtypes()
    assert set(available) == {d for d in DTYPES if x64 or "64" not in d or d == "complex64"} - (
        set() if x64 else {"complex128"}
    )
    for name, dtype in available.items():
        assert jnp.empty(1, dtype=dtype).dtype == np.dtype(name)
    assert set(info.dtypes(kind=("bool", "signed integer"))) == set(available) & {"bool", *SIGNED}
    with pytest.raises(ValueError, match="no kind 'huge'"):
        info.dtypes(kind="huge")
    with pytest.raises(ValueError, match="no kind 'huge'"):
        info.dtypes(kind=("bool", "signed integer", "huge"))
    for ask in (info.dtypes, info.default_dtypes):
        assert ask(device=info.default_device()) == ask()
        with pytest.raises(TypeError, match="dtypes: device: expected a device of irax"):
            ask(device=3)
        with pytest.raises(RuntimeError, match="no-such-platform"):
            ask(device="no-such-platform")


@pytest.mark.usefixtures("wide")
def test_strategies_of_hypothesis():
    strategies = make_strategies_namespace(jnp)
    seen = set()

    @settings(max_examples=300, deadline=None, database=None, derandomize=True)
    @given(strategies.arrays(strategies.scalar_dtypes(), strategies.array_shapes(min_side=0)))
    def draw(x):
        seen.add(x.dtype.name)

    draw()
    assert seen == set(DTYPES)


# ---- dtypes of results ---------------------------------------------------------------------------

SAME_KIND = [
    *itertools.product(SIGNED, SIGNED),
    *itertools.product(UNSIGNED, UNSIGNED),
    *itertools.product(SIGNED, UNSIGNED[:3]),
    *itertools.product(UNSIGNED[:3], SIGNED),
    *itertools.product(INEXACT, INEXACT),
    ("bool", "bool"),
]


@pytest.mark.usefixtures("wide")
def test_promotion():
    for a, b in SAME_KIND:
        expected = np.result_type(a, b)
        x, y = jnp.ones(2, a), jnp.ones((3, 1), b)
        assert jnp.result_type(a, y) == jnp.result_type(x, y) == expected
        for results in (x + y, x * y, jnp.where(True, x, y), jnp.concat([x, y[0]])):
            assert results.dtype == expected
        assert (x == y).dtype == bool


PYTHON_NUMBERS = {bool: ["bool"], int: NUMBERS, float: INEXACT, complex: COMPLEX_NUMBERS}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("kind", PYTHON_NUMBERS)
def test_python_numbers_take_the_dtype_of_arrays(kind):
    for dtype in PYTHON_NUMBERS[kind]:
        x = jnp.ones(2, dtype)
        for function in (jnp.add, jnp.multiply, jnp.maximum, operator.add, operator.mul):
            assert function(x, kind(1)).dtype == function(kind(1), x).dtype == dtype
        assert jnp.equal(x, kind(1)).dtype == bool
        assert jnp.result_type(x, kind(1)) == dtype


@pytest.mark.parametrize("dtype", ["uint32", "uint64", "float32", "complex64"])
def test_python_integers_beyond_the_default_dtype(dtype):
    """They are used in the dtype of the array that they meet, where that holds them."""
    with irax.enable_x64("64" in dtype and dtype != "complex64"):
        large = int(np.iinfo(dtype).max) if dtype in UNSIGNED else 2**40
        elements = np.array([3, 1, large], dtype)
        x, same = jnp.asarray(elements), np.array(large, dtype)
        functions = [operator.add, operator.mul, operator.eq, jnp.subtract]
        if dtype in UNSIGNED:
            functions += [operator.and_, operator.xor, operator.lt, operator.floordiv]
        for function in functions:
            expected = function(elements, same) if function is not jnp.subtract else elements - same
            for result in (function(x, large), irax.vmap(lambda x, f=function: f(x, large))(x)):
                assert result.dtype == expected.dtype
                np.testing.assert_allclose(result, expected, rtol=1e-6)
    for x in (jnp.ones(2, "int32"), jnp.ones(2, "uint8"), 1):
        with pytest.raises(OverflowError, match=f"the integer {2**40} doesn't fit into u?int"):
            jnp.add(x, 2**40)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("wide")
def test_asking_about_dtypes(dtype):
    kinds = {
        "bool": ["bool"],
        "signed integer": SIGNED,
        "unsigned integer": UNSIGNED,
        "integral": INTEGERS,
        "real floating": FLOATS,
        "complex floating": COMPLEX_NUMBERS,
        "numeric": NUMBERS,
    }
    actual = getattr(jnp, dtype)
    for kind, members in kinds.items():
        assert jnp.isdtype(actual, kind) is (dtype in members)
    for other in DTYPES:
        assert jnp.isdtype(actual, ("bool", getattr(jnp, other))) is (dtype in ("bool", other))
        assert jnp.can_cast(actual, getattr(jnp, other)) is np.can_cast(dtype, other)
        assert jnp.can_cast(jnp.ones(2, dtype), getattr(jnp, other)) is np.can_cast(dtype, other)
    if dtype in INTEGERS:
        found, expected = jnp.iinfo(actual), np.iinfo(dtype)
        assert (found.bits, found.min, found.max) == (expected.bits, expected.min, expected.max)
    elif dtype in INEXACT:
        found, expected = jnp.finfo(actual), np.finfo(dtype)
        for fact in ("bits", "eps", "max", "min", "smallest_normal", "dtype"):
            assert getattr(found, fact) == getattr(expected, fact)


# ---- operators -----------------------------------------------------------------------------------

OPERATORS = {
    "add": ("add", NUMBERS),
    "sub": ("subtract", NUMBERS),
    "mul": ("multiply", NUMBERS),
    "truediv": ("divide", INEXACT),
    "floordiv": ("floor_divide", REALS),
    "mod": ("remainder", REALS),
    "pow": ("pow", NUMBERS),
    "matmul": ("matmul", NUMBERS),
    "and_": ("bitwise_and", ["bool", *INTEGERS]),
    "or_": ("bitwise_or", ["bool", *INTEGERS]),
    "xor": ("bitwise_xor", ["bool", *INTEGERS]),
    "lshift": ("bitwise_left_shift", INTEGERS),
    "rshift": ("bitwise_right_shift", INTEGERS),
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    """Both ways round and in place, which gives a new array under the old name."""
    function, dtypes = OPERATORS[name]
    special = name.rstrip("_")
    for dtype in dtypes:
        x, y = jnp.asarray(np.array([3, 1, 2], dtype)), jnp.asarray(np.array([2, 1, 3], dtype))
        expected = getattr(np, function)(np.asarray(x), np.asarray(y))
        before = x
        results = [
            getattr(operator, name)(x, y),
            getattr(x, f"__{special}__")(y),
            named(function)(x, y),
        ]
        results += [getattr(y, f"__r{special}__")(x), getattr(operator, f"i{special}")(x, y)]
        for result in results:
            assert result.dtype == expected.dtype
            np.testing.assert_allclose(result, expected, rtol=1e-6)
        assert before is x
        np.testing.assert_array_equal(x, np.array([3, 1, 2], dtype))
        if name != "matmul":
            two = bool(1) if dtype == "bool" else 2
            scalar = getattr(np, function)(np.asarray(x), np.array(two, dtype))
            np.testing.assert_allclose(getattr(operator, name)(x, two), scalar, rtol=1e-6)
            assert getattr(operator, name)(two, x).dtype == scalar.dtype


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0)])
def test_masks_without_elements_choose_none(shape):
    mask = np.zeros(shape, bool)
    expected = np.ones((2, 3))[mask]
    assert jnp.ones((2, 3))[mask].shape == jnp.ones((2, 3))[jnp.asarray(mask)].shape
    assert jnp.ones((2, 3))[mask].shape == expected.shape
    assert jnp.ones((2, 3)).at[mask].set(7.0).sum() == 6


@pytest.mark.parametrize("k", [-(10**20), -(2**40), -4, 4, 2**40, 10**20])
def test_diagonals_beyond_the_corners(k):
    for name in ("tril", "triu"):
        expected = getattr(np, name)(np.ones((2, 3)), max(-9, min(k, 9)))
        np.testing.assert_array_equal(getattr(jnp, name)(jnp.ones((2, 3)), k=k), expected)
    assert not jnp.eye(2, 3, k=k).any()
    assert jnp.linalg.diagonal(jnp.ones((2, 3)), offset=k).shape == (0,)
    assert jnp.linalg.trace(jnp.ones((2, 3)), offset=k) == 0


def test_arrays_of_buffers():
    for data in (array.array("f", [1, 2]), memoryview(np.array([1, 2], np.float32))):
        np.testing.assert_array_equal(jnp.asarray(data), np.array([1, 2], np.float32))
    assert jnp.asarray(bytearray(b"ab")).dtype == np.uint8
    for data in (b"ab", "ab", {}, {1}, object(), (i for i in range(3))):
        with pytest.raises(TypeError, match=f"got .* of type {type(data).__name__}"):
            jnp.asarray(data)


ERRORS = [
    (IndexError, lambda: jnp.ones(3)[3, 4]),
    (IndexError, lambda: jnp.ones(3)[jnp.ones(2, bool)]),
    (IndexError, lambda: jnp.expand_dims(jnp.ones(3), axis=3)),
    (ValueError, lambda: jnp.expand_dims(jnp.ones(3), axis=3)),
    (ValueError, lambda: jnp.nonzero(jnp.ones(()))),
    (ValueError, lambda: jnp.squeeze(jnp.ones((2, 1)), axis=0)),
    ((TypeError, ValueError), lambda: jnp.reshape(jnp.ones(3), (2, 2))),
    (ValueError, lambda: jnp.broadcast_to(jnp.ones(3), (2, 2))),
    (ValueError, lambda: jnp.linalg.cross(jnp.ones(4), jnp.ones(4))),
    ((TypeError, ValueError), lambda: jnp.matmul(jnp.ones((2, 3)), jnp.ones((2, 3)))),
    (ValueError, lambda: jnp.ones(3).mT),
    (ValueError, lambda: jnp.asarray(np.ones(1), dtype=jnp.int8, copy=False)),
]


@pytest.mark.parametrize("error, call", ERRORS)
def test_errors(error, call):
    with pytest.raises(error):
        call()
