"""Edges that a random number never meets: nan, infinities, zeros of both signs, overflow.

What StableHLO leaves to the implementation is as XLA has it.
"""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

from irax_compiler.ops import bitwise, clamp, comparison, conversion, elementwise
from irax_compiler.ops.core import Op, no_calls
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.special import bessel, chlo_functions
from irax_compiler.ops.special.zeta import zeta

INF, NAN = math.inf, math.nan
BF16 = ml_dtypes.bfloat16
MIN, MAX = -(2**31), 2**31 - 1

FLOATS = [
    (elementwise.maximum, [(1, NAN), (NAN, 1), (0.0, -0.0), (-0.0, 0.0)], [NAN, NAN, 0.0, 0.0]),
    (elementwise.minimum, [(1, NAN), (NAN, 1), (0.0, -0.0), (-0.0, 0.0)], [NAN, NAN, -0.0, -0.0]),
    (elementwise.maximum, [(-0.0, -0.0), (INF, -INF)], [-0.0, INF]),
    (elementwise.minimum, [(0.0, 0.0), (INF, -INF)], [0.0, -INF]),
    (elementwise.divide, [(1, 0.0), (1, -0.0), (0, 0), (INF, INF)], [INF, -INF, NAN, NAN]),
    (elementwise.remainder, [(5, 0), (INF, 2), (5, INF), (-4, 2)], [NAN, NAN, 5, -0.0]),
    (elementwise.power, [(0, 0), (NAN, 0), (1, NAN), (0, -1)], [1, 1, 1, INF]),
    (elementwise.power, [(-2, 2), (-2, 0.5), (-2, -1), (INF, -1)], [4, NAN, -0.5, 0]),
    (elementwise.atan2, [(0.0, -1), (-0.0, -1), (-0.0, 1)], [math.pi, -math.pi, -0.0]),
    (elementwise.sign, [0.0, -0.0, NAN, -INF], [0.0, -0.0, NAN, -1]),
    (elementwise.abs, [-0.0, -INF, NAN], [0.0, INF, NAN]),
    (elementwise.round_nearest_afz, [0.5, -0.5, 2.5, -0.3], [1, -1, 3, -0.0]),
    (elementwise.round_nearest_afz, [-1.5, INF, NAN], [-2, INF, NAN]),
    (elementwise.round_nearest_even, [0.5, -0.5, 2.5, NAN], [0.0, -0.0, 2, NAN]),
    (elementwise.floor, [-0.0, 0.5, INF], [-0.0, 0, INF]),
    (elementwise.ceil, [-0.5, 0.5, NAN], [-0.0, 1, NAN]),
    (elementwise.log, [0.0, -1, INF], [-INF, NAN, INF]),
    (elementwise.sqrt, [-0.0, -1, INF], [-0.0, NAN, INF]),
    (elementwise.rsqrt, [0.0, -0.0, INF, -1], [INF, -INF, 0, NAN]),
    (elementwise.cbrt, [-8, -0.0, INF], [-2, -0.0, INF]),
    (elementwise.exponential, [-INF, INF, 1000], [0, INF, INF]),
    (elementwise.logistic, [-INF, INF, 1000, -1000], [0, 1, 1, 0]),
    (elementwise.tanh, [-INF, INF, -0.0], [-1, 1, -0.0]),
    (chlo_functions.erf_inv, [1, -1, 2, 0, -0.0], [INF, -INF, NAN, 0, -0.0]),
    (chlo_functions.next_after, [(0.0, -0.0), (-0.0, 0.0), (1, NAN)], [-0.0, 0.0, NAN]),
    (chlo_functions.digamma, [0.0, -1, -INF, INF], [NAN, NAN, NAN, INF]),
    (chlo_functions.lgamma, [0, -1, INF, -INF], [INF, INF, INF, INF]),
    (bessel.bessel_i1e, [0.0, -0.0, NAN], [0.0, -0.0, NAN]),
    (zeta, [(1, NAN), (NAN, 0), (1, 2)], [NAN, NAN, INF]),
    (chlo_functions.acosh, [1, 0.5, INF], [0, NAN, INF]),
    (chlo_functions.atanh, [1, -1, 2], [INF, -INF, NAN]),
    (clamp.clamp, [(0, NAN, 1), (0, 5, 1), (2, 0, 1)], [NAN, 1, 1]),
    (comparison.select, [(True, NAN, 0), (False, NAN, 0)], [NAN, 0]),
]
INTEGERS = [
    (elementwise.divide, [(7, 0), (-7, 0), (0, 0), (MIN, -1)], [-1, -1, -1, MIN]),
    (elementwise.divide, [(-7, 2), (7, -2), (-7, -2), (-6, 2)], [-3, -3, 3, -3]),
    (elementwise.remainder, [(7, 0), (-7, 0), (MIN, -1)], [7, -7, 0]),
    (elementwise.remainder, [(-7, 2), (7, -2), (-7, -2)], [-1, 1, -1]),
    (elementwise.power, [(1, -2), (-1, -3), (-1, -2), (2, -1)], [1, -1, 1, 0]),
    (elementwise.power, [(MAX, -1), (0, -1), (0, 0), (3, 40)], [0, 0, 1, 3**40]),
    (elementwise.abs, [MIN, -1], [MIN, 1]),
    (elementwise.negate, [MIN], [MIN]),
    (elementwise.sign, [MIN, 0], [-1, 0]),
    (bitwise.shift_left, [(1, 31), (1, 32), (1, -1)], [MIN, 0, 0]),
    (bitwise.shift_right_arithmetic, [(-8, 31), (-8, 32), (8, -1), (-8, -1)], [-1, -1, 0, -1]),
    (bitwise.shift_right_logical, [(-8, 31), (-8, 32), (8, -1), (-8, 0)], [1, 0, 0, -8]),
    (bitwise.popcnt, [-1, MIN, 0], [32, 1, 0]),
    (bitwise.count_leading_zeros, [-1, 0, 1, MAX], [0, 32, 31, 1]),
]


def evaluated(op: Op, rows: list, dtype) -> np.ndarray:
    columns = zip(*rows, strict=True) if isinstance(rows[0], tuple) else [rows]
    arrays = [np.array(c) if isinstance(c[0], bool) else np.array(c, dtype) for c in columns]
    with np.errstate(all="ignore"):
        return op.evaluate(no_calls, *arrays)


def identified(table: list) -> list:
    return [f"{op.name.partition('.')[2]}-{i}" for i, (op, *_) in enumerate(table)]


def same_bits(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Equal with the sign of zero, every nan being the same."""
    nans = np.isnan(actual)
    same = (actual == expected) & (np.signbit(actual) == np.signbit(expected))
    return bool(np.all(np.where(np.isnan(expected), nans, same)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, BF16])
@pytest.mark.parametrize("op, rows, expected", FLOATS, ids=identified(FLOATS))
def test_floats(op: Op, rows: list, expected: list, dtype) -> None:
    actual = evaluated(op, rows, dtype)
    assert actual.dtype == dtype
    wanted = np.array(expected, dtype)
    assert same_bits(actual, wanted), (actual, wanted)


@pytest.mark.parametrize("op, rows, expected", INTEGERS, ids=identified(INTEGERS))
def test_integers(op: Op, rows: list, expected: list) -> None:
    actual = evaluated(op, rows, np.int32)
    assert actual.dtype == np.int32
    assert [int(a) % 2**32 for a in actual] == [e % 2**32 for e in expected]


def test_unsigned_division_by_zero_has_all_bits_set() -> None:
    x = np.array([7, 0], np.uint8)
    np.testing.assert_array_equal(elementwise.divide.evaluate(no_calls, x, 0 * x), [255, 255])
    np.testing.assert_array_equal(elementwise.remainder.evaluate(no_calls, x, 0 * x), [7, 0])


def test_an_arithmetic_shift_of_unsigned_numbers_repeats_the_first_bit() -> None:
    x = np.array([0x80, 0x40], np.uint8)
    shifted = bitwise.shift_right_arithmetic.evaluate(no_calls, x, np.array([1, 1], np.uint8))
    np.testing.assert_array_equal(shifted, [0xC0, 0x20])
    narrow = np.array([8, 4, 15]).astype(ml_dtypes.uint4)
    one = np.array([1, 1, 3]).astype(ml_dtypes.uint4)
    shifted = bitwise.shift_right_arithmetic.evaluate(no_calls, narrow, one)
    np.testing.assert_array_equal(shifted.astype(int), [12, 2, 15])


def test_rounding_does_not_round_twice() -> None:
    x = np.array([0.49999999999999994, -0.49999999999999994, 2.0**52 + 1])
    np.testing.assert_array_equal(
        elementwise.round_nearest_afz.evaluate(no_calls, x), [0, 0, 2.0**52 + 1]
    )


def test_powers_of_numbers_whose_square_wraps_to_one() -> None:
    x = np.array([127, -127], np.int8)
    np.testing.assert_array_equal(
        elementwise.power.evaluate(no_calls, x, np.array([-1, -1], np.int8)), 0
    )


def test_bfloat16_sums_do_not_stop_at_256() -> None:
    ones = np.ones(1000, BF16)
    assert reduce.Reduce("add", (0,)).evaluate(no_calls, ones, np.zeros((), BF16)) == BF16(1000)


def test_a_reduction_propagates_nan() -> None:
    x = np.array([1.0, NAN, 2.0])
    for combiner in ("add", "multiply", "maximum", "minimum"):
        start = np.array(reduce.identity(combiner, x.dtype))
        assert np.isnan(reduce.Reduce(combiner, (0,)).evaluate(no_calls, x, start))


INTEGER_DTYPES = [np.int8, np.uint8, np.bool_, ml_dtypes.int4]
FLOAT_DTYPES = [np.float32, BF16, ml_dtypes.float8_e4m3fn]


@pytest.mark.parametrize(
    "combiner, dtype",
    [
        *itertools.product(reduce.COMBINERS, INTEGER_DTYPES),
        *itertools.product(("add", "multiply", "maximum", "minimum"), FLOAT_DTYPES),
    ],
)
def test_the_identity_leaves_every_number_as_it_is(combiner: str, dtype) -> None:
    dtype = np.dtype(dtype)
    x = np.array([0, 1]).astype(dtype)
    if dtype.kind not in "ub":
        x = np.array([-7, -1, 0, 1, 7]).astype(dtype)
    start = np.asarray(reduce.identity(combiner, dtype)).astype(dtype)
    folded = reduce.Reduce(combiner, (1,)).evaluate(no_calls, x[:, None], start)
    np.testing.assert_array_equal(folded, x)


def test_conversion_saturates_at_the_bounds_of_64_bits() -> None:
    x = np.array([2.0**63, -(2.0**63), 2.0**64, np.nextafter(2.0**63, 0)])
    expected = [2**63 - 1, -(2**63), 2**63 - 1, 2**63 - 1024]
    assert conversion.Convert(np.dtype("i8")).evaluate(no_calls, x).tolist() == expected
    unsigned = [2**63, 0, 2**64 - 1, 2**63 - 1024]
    assert conversion.Convert(np.dtype("u8")).evaluate(no_calls, x).tolist() == unsigned
