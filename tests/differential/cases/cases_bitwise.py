"""Bit operations, against Python's integers."""

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, each, of

from irax_compiler.ops import bitwise

I8 = of("i1", 12, low=-128, high=127)
U32 = of("u4", 12, low=0, high=2**32 - 1)
I4 = of(ml_dtypes.int4, 12, low=-8, high=7)
I2 = of(ml_dtypes.int2, 12, low=-2, high=1)
I64 = of("i8", 12, low=-(2**62), high=2**62)
BOOLS = of(np.bool_, 12)
AMOUNT = of("i1", 12, low=0, high=7)


def leading_zeros(width: int):
    return each(lambda x: width - (x % 2**width).bit_length())


def ones(width: int):
    return each(lambda x: (x % 2**width).bit_count())


CASES = [
    Case("and", bitwise.and_, [I8, I8], each(lambda x, y: x & y)),
    Case("or", bitwise.or_, [I8, I8], each(lambda x, y: x | y)),
    Case("xor", bitwise.xor, [U32, U32], each(lambda x, y: x ^ y)),
    Case("not", bitwise.not_, [I8], each(lambda x: ~x)),
    Case("and-bool", bitwise.and_, [BOOLS, BOOLS], each(lambda x, y: x and y)),
    Case("xor-bool", bitwise.xor, [BOOLS, BOOLS], each(lambda x, y: x != y)),
    Case("not-bool", bitwise.not_, [BOOLS], each(lambda x: not x)),
    Case("or-int4", bitwise.or_, [I4, I4], each(lambda x, y: int(x) | int(y))),
    Case("shift_left", bitwise.shift_left, [I8, AMOUNT], each(lambda x, n: x << n)),
    Case("arithmetic", bitwise.shift_right_arithmetic, [I8, AMOUNT], each(lambda x, n: x >> n)),
    Case("logical", bitwise.shift_right_logical, [I8, AMOUNT], each(lambda x, n: (x % 256) >> n)),
    Case(
        "logical-int4",
        bitwise.shift_right_logical,
        [I4, of(ml_dtypes.int4, 12, low=0, high=3)],
        each(lambda x, n: (int(x) % 16) >> int(n)),
    ),
    Case("popcnt", bitwise.popcnt, [I8], ones(8)),
    Case("popcnt-u32", bitwise.popcnt, [U32], ones(32)),
    Case("popcnt-int4", bitwise.popcnt, [I4], each(lambda x: (int(x) % 16).bit_count())),
    Case("clz", bitwise.count_leading_zeros, [I8], leading_zeros(8)),
    Case("clz-u32", bitwise.count_leading_zeros, [of("u4", 12, low=0, high=9)], leading_zeros(32)),
    Case(
        "clz-int4",
        bitwise.count_leading_zeros,
        [I4],
        each(lambda x: 4 - (int(x) % 16).bit_length()),
    ),
    Case("mulhi", bitwise.multiply_high, [I8, I8], each(lambda x, y: (int(x) * int(y)) >> 8)),
    Case("mulhi-u32", bitwise.multiply_high, [U32, U32], each(lambda x, y: int(x) * int(y) >> 32)),
    Case("mulhi-i64", bitwise.multiply_high, [I64, I64], each(lambda x, y: int(x) * int(y) >> 64)),
    Case("popcnt-int2", bitwise.popcnt, [I2], each(lambda x: (int(x) % 4).bit_count())),
    Case("xor-int2", bitwise.xor, [I2, I2], each(lambda x, y: int(x) ^ int(y))),
]
NOT_DIFFERENTIABLE = {case.subject.name for case in CASES}
