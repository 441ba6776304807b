"""Conversions, against NumPy and the bits themselves."""

import math
import struct

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, boolean, each, f64, fixed, i32, of

from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.conversion import Convert, ReducePrecision

BF16 = np.dtype(ml_dtypes.bfloat16)
F8 = np.dtype(ml_dtypes.float8_e4m3fn)
I4 = np.dtype(ml_dtypes.int4)


def saturated(low: int, high: int):
    def convert(x: float) -> int:
        if math.isnan(x):
            return 0
        return low if x <= low else high if x >= high else int(x)

    return each(convert)


def same(x):
    return x


HUGE = fixed([np.nan, np.inf, -np.inf, 1e30, -1e30, 300.7, -300.7, 1.9, -1.9, -0.0])


def rounded(exponent_bits: int, mantissa_bits: int):
    """Floats to the nearest that fewer bits hold, by scaling; infinite or zero beyond them."""

    def reference(x):
        largest = 2.0 ** (2 ** (exponent_bits - 1))
        smallest = 2.0 ** (2 - 2 ** (exponent_bits - 1))
        with np.errstate(all="ignore"):
            scale = 2.0 ** (mantissa_bits - np.floor(np.log2(np.abs(np.where(x == 0, 1, x)))))
            near = np.rint(x * scale) / scale
            near = np.where(np.abs(near) >= largest, np.copysign(np.inf, x), near)
            near = np.where(np.abs(near) < smallest, np.copysign(0, x), near)
        return np.where(np.isfinite(x), near, x)

    return reference


SIZES = [0.0, -0.0, 1.0, 1.5, 1.03125, -1.03125, 3e-5, 7e-5, 60000.0, 65535.0, -70000.0]
ODD = [*SIZES, np.inf, -np.inf, np.nan, 1.09375, 1.15625]


def bits_of(x):
    """The bits of 64-bit floats, the lowest first."""
    numbers = [int.from_bytes(struct.pack("<d", v), "little") for v in x]
    return np.array([[n >> i & 1 for i in range(64)] for n in numbers], bool)


def from_bits(x):
    return np.array([sum(int(b) << i for i, b in enumerate(row)) for row in x])


CASES = [
    Case("bits-of-f64", BitcastConvert((3, 64), np.dtype(bool)), [f64(3)], bits_of),
    Case("bits-to-u16", BitcastConvert((3,), np.dtype("u2")), [boolean(3, 16)], from_bits),
    Case(
        "int2-to-u8",
        BitcastConvert((3,), np.dtype("u1")),
        [of(ml_dtypes.int2, 3, 4, low=-2, high=1)],
        lambda x: np.array([sum((int(b) % 4) << 2 * i for i, b in enumerate(row)) for row in x]),
    ),
    Case(
        "u8-to-int4",
        BitcastConvert((3, 2), I4),
        [of("u1", 3, low=0, high=255)],
        lambda x: np.stack([x % 16, x // 16], 1),
    ),
    *(
        Case(f"float-{d}", Convert(np.dtype(np.float32)), [of(d, 12, low=0.5, high=4)], same)
        for d in ("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn")
    ),
    *(
        Case(f"float-{d}", Convert(np.dtype(np.float32)), [of(d, 12, low=0.5, high=4)], same)
        for d in ("float8_e3m4", "float8_e4m3", "float8_e8m0fnu")
    ),
    Case("precision-f64", ReducePrecision(11, 52), [f64(5)], same),
    Case(
        "precision-f32-to-f16",
        ReducePrecision(5, 10),
        [fixed(ODD, "f4")],
        rounded(5, 10),
        0.0,
        differentiable=False,
    ),
    Case(
        "precision-f32-to-f8",
        ReducePrecision(5, 2),
        [fixed(ODD, "f4")],
        rounded(5, 2),
        0.0,
        differentiable=False,
    ),
    Case(
        "precision-f64-to-bf16",
        ReducePrecision(8, 7),
        [fixed(ODD, "f8")],
        rounded(8, 7),
        0.0,
        differentiable=False,
    ),
    Case(
        "precision-bf16",
        ReducePrecision(4, 3),
        [of(BF16, 9)],
        rounded(4, 3),
        0.0,
        differentiable=False,
    ),
    Case("f64-to-f32", Convert(np.dtype("f4")), [f64(2, 3)], same, step=0.5, tolerance=1e-7),
    Case("f32-to-f64", Convert(np.dtype("f8")), [of("f4", 2, 3)], same),
    Case("f64-to-f64", Convert(np.dtype("f8")), [f64(2, 3)], same),
    Case("f32-to-bf16", Convert(BF16), [of("f4", 2, 3)], same),
    Case("bf16-to-f16", Convert(np.dtype("f2")), [of(BF16, 2, 3)], same),
    Case("f32-to-f8", Convert(F8), [of("f4", 2, 3)], same),
    Case("i32-to-f64", Convert(np.dtype("f8")), [i32(2, 3)], same),
    Case("bool-to-f64", Convert(np.dtype("f8")), [boolean(2, 3)], same),
    Case("bool-to-i32", Convert(np.dtype("i4")), [boolean(2, 3)], same),
    Case("i32-to-bool", Convert(np.dtype(np.bool_)), [i32(9, low=-1, high=1)], each(bool)),
    Case("f64-to-bool", Convert(np.dtype(np.bool_)), [fixed([0.0, -0.0, 0.1, np.nan])], each(bool)),
    Case("i32-to-i8", Convert(np.dtype("i1")), [i32(9, low=-999, high=999)], same),
    Case("i32-to-u64", Convert(np.dtype("u8")), [i32(9)], same),
    Case("i32-to-int4", Convert(I4), [i32(9, low=-99, high=99)], same),
    Case("int4-to-i32", Convert(np.dtype("i4")), [of(I4, 9, low=-8, high=7)], same),
    Case("f64-to-i8", Convert(np.dtype("i1")), [HUGE], saturated(-128, 127)),
    Case("f64-to-u8", Convert(np.dtype("u1")), [HUGE], saturated(0, 255)),
    Case("f64-to-int4", Convert(I4), [HUGE], saturated(-8, 7)),
    Case("f64-to-i64", Convert(np.dtype("i8")), [HUGE], saturated(-(2**63), 2**63 - 1)),
    Case("f64-to-u64", Convert(np.dtype("u8")), [HUGE], saturated(0, 2**64 - 1)),
    Case("complex-to-f64", Convert(np.dtype("f8")), [of("c16", 3)], np.real, differentiable=False),
    Case("f64-to-complex", Convert(np.dtype("c16")), [f64(3)], same, differentiable=False),
    Case(
        "bits-of-f32",
        BitcastConvert((4,), np.dtype("i4")),
        [of("f4", 4)],
        each(lambda x: struct.unpack("<i", struct.pack("<f", x))[0]),
    ),
    Case(
        "f32-of-bits",
        BitcastConvert((4,), np.dtype("f4")),
        [fixed([0x3F800000, -0x80000000, 0x7F800000, 1], np.int32)],
        lambda x: np.array([1.0, -0.0, np.inf, 2.0**-149]),
    ),
    Case(
        "i32-to-bytes",
        BitcastConvert((2, 4), np.dtype("u1")),
        [fixed([0x01020304, -1], np.int32)],
        lambda x: np.array([[4, 3, 2, 1], [255] * 4]),
    ),
    Case(
        "c64-to-c128-bits",
        BitcastConvert((1,), np.dtype("c16")),
        [fixed([[1.875j, complex(0, -2)]], np.complex64)],
        lambda x: np.array([1 - 2j]),
    ),
    Case(
        "c128-to-c64-bits",
        BitcastConvert((1, 2), np.dtype("c8")),
        [fixed([1 - 2j], np.complex128)],
        lambda x: np.array([[1.875j, complex(0, -2)]]),
    ),
    Case(
        "bytes-to-i32",
        BitcastConvert((2,), np.dtype("i4")),
        [fixed([[4, 3, 2, 1], [255] * 4], np.uint8)],
        lambda x: np.array([0x01020304, -1]),
    ),
]
NOT_DIFFERENTIABLE = {"stablehlo.bitcast_convert"}
