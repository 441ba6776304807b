"""irax digits --ranges: bounds, hazards, and arguments that show them."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import api

f32 = np.float32


def report_of(function, *ranges, shape=()):
    arguments = [np.zeros(shape, f32) for _ in ranges]
    ir = irax.make_ir(function)(*arguments)
    return api.range_report(ir.module, ir.func, arguments, ranges)


FUNCTIONS = {
    "arithmetic": lambda x, y: (x + y) * (x - y) / (3 + x * y),
    "exponentials": lambda x, y: jnp.exp(x) * jnp.tanh(y) + jnp.expm1(x - y),
    "waves": lambda x, y: jnp.sin(3 * x) + jnp.cos(y * x),
    "sizes": lambda x, y: jnp.sqrt(x * x + jnp.abs(y)) + jnp.maximum(x, y) - jnp.minimum(x, 0),
    "powers": lambda x, y: x**2 + x**3 + (2 + x) ** y,
    "choices": lambda x, y: jnp.where(x > y, x, 2 * y) + jnp.clip(x, -0.5, 0.5),
    "sums": lambda x, y: jnp.sum(x) * jnp.max(y) + jnp.dot(x, y),
    "moves": lambda x, y: jnp.concatenate([x[::-1], y]).reshape(2, -1).T * 2,
    "loop": lambda x, y: irax.lax.fori_loop(0, 4, lambda i, s: s * 0.5 + jnp.sin(s), x + y),
    "scan": lambda x, y: irax.lax.scan(lambda c, r: (c * r, c + r), jnp.sum(y), x),
    "branches": lambda x, y: irax.lax.cond(x[0] > 0, lambda v: v + y, lambda v: v * y, x),
    "softmax": lambda x, y: irax.nn.softmax(x * y),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_within_the_bounds(name):
    report = report_of(FUNCTIONS[name], (-1, 1), (-0.5, 1.5), shape=(3,))
    random = np.random.default_rng(0)
    assert not report.unbounded
    for _ in range(50):
        x, y = random.uniform(-1, 1, 3).astype(f32), random.uniform(-0.5, 1.5, 3).astype(f32)
        for found, bounds in zip(
            irax.tree.leaves(FUNCTIONS[name](x, y)), report.results, strict=True
        ):
            assert (np.asarray(found) >= bounds.low).all()
            assert (np.asarray(found) <= bounds.high).all()


@pytest.mark.parametrize(
    ("function", "limits", "what", "happens"),
    [
        (jnp.exp, (-100, 100), "overflow", lambda x: np.isinf(np.exp(x))),
        (lambda x: x * x, (0, 1e25), "overflow", lambda x: np.isinf(x * x)),
        (lambda x: 1 / (x - 0.3), (0, 1), "divide by zero", lambda x: x - f32(0.3) == 0),
        (lambda x: 1 / jnp.sin(x), (-1, 2), "divide by zero", lambda x: x == 0),
        (lambda x: 1 / jnp.exp(x), (-200, 0), "divide by zero", lambda x: np.exp(x) == 0),
        (jnp.log, (-1, 1), "be of a number that is not positive", lambda x: x <= 0),
        (lambda x: jnp.sqrt(x - 2), (1, 9), "be of a negative number", lambda x: x < 2),
        (jnp.arccos, (0, 2), "be of a number beyond 1", lambda x: x > 1),
    ],
)
def test_hazards_are_shown(function, limits, what, happens):
    with np.errstate(all="ignore"):
        (hazard,) = report_of(function, limits).hazards
        assert hazard.what == what
        assert hazard.example is not None
        (x,) = hazard.example
        assert limits[0] <= x <= limits[1]
        assert happens(x)


@pytest.mark.parametrize(
    ("function", "limits"),
    [
        (jnp.exp, (-80, 80)),
        (lambda x: 1 / (x + 1), (0, 1)),
        (lambda x: jnp.log(1 + x * x), (-5, 5)),
        (lambda x: jnp.sqrt(jnp.abs(x)), (-5, 5)),
        (lambda x: irax.nn.softmax(jnp.stack([x, 2 * x])), (-10, 10)),
    ],
)
def test_there_are_no_hazards(function, limits):
    report = report_of(function, limits)
    assert report.hazards == []
    assert "no overflow" in str(report)


def test_hazards_of_the_intervals_alone():
    """They do not know that the logarithm is only used where there is one."""
    report = report_of(lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1)), 0), (-1, 1))
    (hazard,) = report.hazards
    assert hazard.example is None
    assert "no arguments found that show it" in str(report)


def test_results_beyond_their_dtype():
    report = report_of(lambda x: (jnp.exp(x), -jnp.exp(x), x), (0, 100))
    assert [x.high for x in report.results] == [np.inf, pytest.approx(-1, rel=1e-5), 100]
    assert report.results[1].low == -np.inf
    assert report.overflows == [np.float32, np.float32, None]
    assert "..inf: beyond float32, an overflow" in str(report)


def test_loops_that_depend_on_the_arguments_have_no_bounds():
    report = report_of(
        lambda x: irax.lax.while_loop(lambda v: v < 10, lambda v: v * 2, x), (0.1, 1)
    )
    assert report.results[0].low == -np.inf
    assert list(report.unbounded) == ["a loop's condition in while"]


def test_hazards_of_loops_that_have_no_bounds():
    report = report_of(
        lambda x: irax.lax.while_loop(lambda v: v < 1e30, lambda v: v * v + 1, x), (0, 10)
    )
    (hazard,) = report.hazards
    assert hazard.what == "overflow"
    v = hazard.example[0]
    with np.errstate(over="ignore"):
        while v < 1e30:
            v = v * v + f32(1)
    assert np.isinf(v)


def test_hazards_of_operations_without_bounds():
    report = report_of(jnp.linalg.cholesky, (-1, 1.5), shape=(2, 2))
    (hazard,) = report.hazards
    assert hazard.what == "give no number"
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky((hazard.example[0] + hazard.example[0].T) / 2)
    assert "in nan" not in str(report)
    assert "outside of its domain where tried" in str(report_of(irax.nn.gelu, (-1, 1)))


def test_functions_with_rules_of_their_own_have_bounds():
    report = report_of(lambda x: irax.nn.softplus(x) + irax.scipy.special.xlogy(x, x), (1, 2))
    assert report.results[0].low > 0
    assert np.isfinite(report.results[0].high)
    assert not report.unbounded
    assert report.hazards == []


MORE = {
    "convolve": (lambda x: jnp.convolve(x, x[::-1]), (-1, 2)),
    "running sums": (lambda x: jnp.cumsum(x) + jnp.cumprod(jnp.abs(x)), (-1, 2)),
    "remainder": (lambda x: irax.lax.rem(5 * x, x[::-1] + 3), (-1, 2)),
    "odd power": (lambda x: x**3.0, (-2, 1)),
    "tan": (jnp.tan, (-1, 2)),
    "arctan2": (lambda x: jnp.arctan2(x, x[::-1]), (-1, 1)),
    "booleans": (lambda x: jnp.where(x.astype(bool) & ~(x > 0.5), x, 2.0), (-1, 1)),
    "scattered": (lambda x: jnp.zeros(2).at[jnp.array([0, 0, 1])].add(x), (-1, 2)),
    "sorted": (lambda x: jnp.sort(x)[0] - 1, (0, 1)),
    "quotients": (lambda x: jnp.int32(9) // (4 * x).astype(jnp.int32), (-1, 2)),
    "trunc": (lambda x: (3 * x).astype(jnp.int32), (-1, 2)),
}


@pytest.mark.parametrize("name", MORE)
def test_bounds_of_other_operations_hold(name):
    function, limits = MORE[name]
    report = report_of(function, limits, shape=(3,))
    assert not report.unbounded
    random = np.random.default_rng(0)
    for turn in range(40):
        x = random.uniform(*limits, 3) if turn % 2 else random.choice([*limits, 0.0], 3)
        found = np.asarray(function(x.astype(f32)))
        assert (found >= report.results[0].low).all()
        assert (found <= report.results[0].high).all()


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: x * x, np.int32(0), np.int32(100_000)),
        (lambda x: x + x, np.uint8(0), np.uint8(200)),
        (lambda x: x - np.uint32(5), np.uint32(0), np.uint32(10)),
        (jnp.negative, np.int8(-128), np.int8(127)),
        (lambda x: jnp.sum(jnp.stack([x, x])), np.int32(0), np.int32(2_000_000_000)),
        (lambda x: jnp.dot(x[None], x[None]), np.int32(0), np.int32(100_000)),
        (lambda x: x.astype(np.int8), np.int32(0), np.int32(300)),
        (lambda x: x.astype(np.int8), f32(0), f32(300)),
        (lambda x: x.astype(np.float16), f32(0), f32(1e5)),
        (lambda x: x.astype(jnp.float8_e4m3fn), f32(0), f32(1000)),
    ],
)
def test_numbers_beyond_narrow_dtypes(function, low, high):
    report = irax.precision.ranges(function, (low,), (high,))
    (hazard,) = report.hazards
    assert hazard.what == "overflow"
    (x,) = hazard.example
    assert low <= x <= high
    with np.errstate(over="ignore"):
        found = np.asarray(function(x), np.float64)
    (bounds,) = report.results
    assert not (found < bounds.low).any()
    assert not (found > bounds.high).any()


@pytest.mark.parametrize(
    ("function", "limits", "what"),
    [
        (jnp.arccosh, (0, 2), "be of a number below 1"),
        (irax.scipy.special.erfinv, (-1, 1), "be of a number beyond 1"),
        (lambda x: x**0.5, (-1, 2), "be of a number that has no such power"),
        (lambda x: x**-1.0, (0, 2), "be of a number that has no such power"),
    ],
)
def test_domains(function, limits, what):
    (hazard,) = report_of(function, limits).hazards
    assert hazard.what == what
    with np.errstate(all="ignore"):
        assert not np.isfinite(function(hazard.example[0]))


def test_error_to_first_order():
    """Three roundings, each of at most half an ulp, of which two are of the whole result."""
    report = report_of(lambda x, y: (x + y) * x, (1, 2), (1, 2))
    assert 0.9 * 2**-23 < report.error < 1.1 * 2**-23


# ---- numbers that depend on each other -----------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "limits", "low", "high"),
    [
        (lambda x: x - x, (0, 1), 0, 0),
        (lambda x: x * (1 - x), (0, 1), 0, 0.25),  # intervals alone: 0..1
        (lambda x: (x + 1) - (x - 1), (-5, 5), 2, 2),
        (lambda x: 1 / (x - x * 0.5 + 1), (0, 2), 0.4, 1),
        (lambda x: jnp.exp(x) / jnp.exp(x), (0, 1), 0.44, 1.83),  # intervals alone: 0.37..2.7
        (lambda x: jnp.sqrt(1 + x) - jnp.sqrt(1 + x), (0, 3), -0.1, 0.1),  # 1 alone
        (lambda x: jnp.sum(jnp.stack([x, -x, x])), (0, 1), 0, 1),
    ],
)
def test_bounds_know_what_depends_on_the_same_argument(function, limits, low, high):
    (bounds,) = report_of(function, limits).results
    assert low - 1e-5 <= bounds.low <= bounds.high <= high + 1e-5


def test_divisor_that_is_never_zero():
    """x * x - 2 x + 1.5 is at least 0.5: intervals alone allow it to be negative."""
    report = report_of(lambda x: jnp.log(x * (x - 2) + 1.5), (0, 1))
    assert report.hazards == []


@pytest.mark.parametrize("shape", [(), (5,), (70,)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x * y - y) / (2 + x * x) + jnp.sqrt(2 + x) * x - jnp.log(3 + y * x),
        lambda x, y: jnp.exp(x - y) * (x - y) - jnp.expm1(x) / (4 - y),
        lambda x, y: jnp.where(x > 0, x, y) - jnp.square(x - y) + 2.0**x,
        lambda x, y: jnp.cumsum(jnp.ravel(x - y)) * jnp.sum(y) - jnp.log1p(x * 0.5).sum(),
    ],
)
def test_bounds_of_forms_hold(function, shape):
    report = report_of(function, (-1, 1), (-0.5, 1.5), shape=shape)
    random = np.random.default_rng(1)
    for _ in range(40):
        x = random.uniform(-1, 1, shape).astype(f32)
        y = random.uniform(-0.5, 1.5, shape).astype(f32)
        found = np.asarray(function(x, y), np.float64)
        assert (found >= report.results[0].low).all()
        assert (found <= report.results[0].high).all()


# ---- from Python ---------------------------------------------------------------------------------


def test_ranges_of_arguments():
    def f(params, x):
        return jnp.log(params["w"] * x + params["b"])

    low = ({"w": np.full(3, 0.5, f32), "b": f32(0)}, f32([0, 1, 2]))
    high = ({"w": np.full(3, 1, f32), "b": f32(0)}, f32([1, 2, 3]))
    report = irax.precision.ranges(f, low, high)
    (hazard,) = report.hazards
    assert hazard.what == "be of a number that is not positive"
    leaves = hazard.example
    args = irax.tree.unflatten(irax.tree.structure(low), leaves)
    assert np.isneginf(np.asarray(f(*args))).any()
    for a, x, b in zip(*map(irax.tree.leaves, (low, args, high)), strict=True):
        assert (np.asarray(a) <= x).all()
        assert (x <= np.asarray(b)).all()
    assert str(report).startswith("f: for all arguments in these ranges")
    assert irax.precision.ranges(irax.jit(jnp.exp), [0.0], [np.ones(3, f32)]).hazards == []


def test_ranges_of_a_function_that_captures_an_array():
    captured = jnp.arange(20.0) + 1
    report = irax.precision.ranges(lambda x: jnp.sum(captured) / x, [1.0], [2.0])
    assert report.results[0].low == pytest.approx(105, rel=1e-5)
    assert report.results[0].high == pytest.approx(210, rel=1e-5)


def test_errors_of_ranges():
    with pytest.raises(ValueError, match=r"leaf 1 of the arguments is in 2\.0\.\.1\.0; expected"):
        irax.precision.ranges(jnp.add, [0.0, 2.0], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"leaf 0 of the arguments is in nan\.\.1\.0"):
        irax.precision.ranges(jnp.sin, [np.nan], [1.0])
    with pytest.raises(TypeError, match="low is a float; expected a tuple of all arguments"):
        irax.precision.ranges(jnp.sin, 0.0, 1.0)
    with pytest.raises(ValueError, match="low and high have different structures"):
        irax.precision.ranges(jnp.add, [0.0, 2.0], [1.0])
    with pytest.raises(TypeError, match=r"precision\.ranges: expected a function, got 3"):
        irax.precision.ranges(3, [0.0], [1.0])
    with pytest.raises(irax.errors.ConcretizationTypeError, match="outside of jit, grad and vmap"):
        irax.jit(lambda x: irax.precision.ranges(jnp.sin, [x], [x]))(1.0)


def test_complex_numbers_have_no_bounds():
    report = irax.precision.ranges(lambda x: jnp.abs(x * (3 + 4j)), [0.0], [1.0])
    assert report.results[0].low <= 0
    assert report.results[0].high >= 5
    assert list(report.unbounded) == ["complex numbers"]


def test_infinite_ranges():
    report = irax.precision.ranges(lambda x: 1 / (x - 2), [-np.inf], [np.inf])
    (hazard,) = report.hazards
    assert hazard.example is not None
    assert hazard.example[0] == 2


WIDE = (-100, 100)


@pytest.mark.parametrize(
    "function",
    [
        irax.nn.softmax,
        lambda x: irax.nn.softmax(x.reshape(2, 2), axis=0),
        irax.nn.log_softmax,
        irax.scipy.special.logsumexp,
        lambda x: jnp.log(jnp.sum(jnp.exp(x - jnp.max(x)))),
    ],
)
def test_stable_exponentials_have_no_hazards(function):
    report = report_of(function, WIDE, shape=(4,))
    assert report.hazards == []


def test_maxima_of_other_elements_bound_nothing():
    """Row i less the maximum of column i may be positive."""

    def f(x):
        x = x.reshape(2, 2)
        return jnp.exp(x - jnp.max(x, axis=0)[:, None])

    (hazard,) = report_of(f, WIDE, shape=(4,)).hazards
    assert hazard.what == "overflow"
    assert hazard.example is not None
