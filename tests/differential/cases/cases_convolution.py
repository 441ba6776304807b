"""Convolutions, against sums over every window in plain Python."""

import itertools
from typing import Any

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, Operand, f64, fixed, i32, of

from irax_compiler import mlir
from irax_compiler.ops.convolution import ConvDimensions, Convolution

BF16 = np.dtype(ml_dtypes.bfloat16)


def places(spelled: str, first: str) -> tuple[int, ...]:
    """The positions of the letters of `first`, and then of 0, 1, ..."""
    return tuple(map(spelled.index, first + "012"[: len(spelled) - 2]))


def sums(op: Convolution, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The definition, a product at a time; left out is what falls on padding."""
    dims = op.dimensions
    shape = op.result_shape(x.shape, y.shape)
    sizes = [shape[d] for d in dims.out]
    x, y = (a if mlir.inexact(a.dtype) else a.astype(object) for a in (x, y))
    x, y = x.transpose(dims.lhs), y.transpose(dims.rhs)
    result = np.zeros(sizes, np.result_type(x, y))
    inputs, outputs = y.shape[1], y.shape[0]
    for n, o, *p in itertools.product(*map(range, sizes)):
        lane = n + o // (outputs // op.batch_group_count) * sizes[0]
        first = o // (outputs // op.feature_group_count) * inputs
        for k in itertools.product(*map(range, y.shape[2:])):
            j = []
            for d, (place, step) in enumerate(zip(p, k, strict=True)):
                step = y.shape[d + 2] - 1 - step if op.reversal[d] else step
                at = place * op.strides[d] + step * op.rhs_dilation[d] - op.padding[d][0]
                quotient, rest = divmod(at, op.lhs_dilation[d])
                if rest or not 0 <= quotient < x.shape[d + 2]:
                    break
                j.append(quotient)
            else:
                for i in range(inputs):
                    result[n, o, *p] += x[lane, first + i, *j] * y[o, i, *k]
    return result.transpose(np.argsort(dims.out))


def conv(
    name: str,
    operands: list[Operand],
    numbers: str = "",
    dtype: Any = "f8",
    strides=None,
    padding=None,
    lhs_dilation=None,
    rhs_dilation=None,
    reversal=None,
    groups: int = 1,
    batch_groups: int = 1,
    precision=None,
    **options,
) -> Case:
    """A case of the dimensions `numbers`: "bf01,oi01,bf01" if not given."""
    rank = len(operands[0].shape) - 2
    spatial = "012"[:rank]
    lhs, rhs, out = (numbers or f"bf{spatial},oi{spatial},bf{spatial}").split(",")
    op = Convolution(
        ConvDimensions(places(lhs, "bf"), places(rhs, "oi"), places(out, "bf")),
        np.dtype(dtype),
        strides or (1,) * rank,
        padding or ((0, 0),) * rank,
        lhs_dilation or (1,) * rank,
        rhs_dilation or (1,) * rank,
        reversal or (False,) * rank,
        groups,
        batch_groups,
        precision,
    )
    return Case(name, op, operands, lambda x, y: sums(op, x, y), step=1.0, **options)


PLAIN_TEXT = """
func.func @main(%x: tensor<2x5x6x3xf64>, %y: tensor<3x2x3x4xf64>) -> tensor<2x3x5x4xf64> {
  %0 = "stablehlo.convolution"(%x, %y) {
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64
  } : (tensor<2x5x6x3xf64>, tensor<3x2x3x4xf64>) -> tensor<2x3x5x4xf64>
  return %0 : tensor<2x3x5x4xf64>
}"""
NHWC = "b01f,01io,b01f"
PLAIN = conv("2d-nhwc-plain", [f64(2, 5, 6, 3), f64(3, 2, 3, 4)], NHWC)

CASES = [
    # Spatial dimensions, and where they lie
    conv("0d", [f64(2, 3), f64(4, 3)]),
    conv("0d-transposed", [f64(3, 2), f64(3, 4)], "fb,io,fb"),
    conv("1d", [f64(2, 3, 7), f64(4, 3, 3)]),
    conv("1d-signal", [f64(2, 1, 9), f64(1, 1, 3)], strides=(2,), padding=((1, 2),)),
    conv("1d-signal-dilated", [f64(2, 9, 1), f64(2, 1, 1)], "b0f,0io,f0b", lhs_dilation=(2,)),
    conv("2d", [f64(2, 3, 4, 5), f64(4, 3, 2, 3)]),
    conv("2d-one", [f64(1, 1, 1, 1), f64(1, 1, 1, 1)]),
    conv("2d-1x1", [f64(2, 3, 2, 2), f64(4, 3, 1, 1)]),
    conv("2d-nhwc", [f64(2, 4, 5, 3), f64(2, 3, 3, 4)], NHWC),
    conv("2d-hwnc", [f64(4, 5, 2, 3), f64(4, 2, 3, 3)], "01bf,o01i,01bf"),
    conv("2d-any", [f64(3, 5, 2, 4), f64(3, 2, 3, 4)], "f1b0,i0o1,1f0b"),
    conv("3d", [f64(1, 2, 3, 4, 3), f64(2, 2, 2, 1, 2)]),
    Case("as-text", PLAIN_TEXT, PLAIN.operands, PLAIN.reference, step=1.0),
    # Windows
    conv("stride", [f64(2, 2, 8), f64(3, 2, 3)], strides=(2,)),
    conv("stride-past-the-window", [f64(2, 2, 9), f64(3, 2, 2)], strides=(4,)),
    conv("padding", [f64(2, 2, 5), f64(3, 2, 3)], padding=((1, 2),)),
    conv("padding-past-the-window", [f64(2, 2, 3), f64(3, 2, 2)], padding=((4, 5),)),
    conv("negative-padding", [f64(2, 2, 8), f64(3, 2, 3)], padding=((-2, -1),)),
    conv("mixed-padding", [f64(2, 2, 6), f64(3, 2, 3)], padding=((3, -2),), strides=(2,)),
    conv("cut-away-in-front", [f64(2, 2, 2), f64(3, 2, 3)], padding=((-5, 9),), wrt=[0]),
    conv("cut-away-behind", [f64(2, 2, 2), f64(3, 2, 3)], padding=((9, -5),), wrt=[1]),
    conv("lhs-dilation", [f64(2, 2, 4), f64(3, 2, 3)], lhs_dilation=(3,)),
    conv("cut-dilated", [f64(2, 2, 4), f64(3, 2, 3)], lhs_dilation=(3,), padding=((-1, -2),)),
    conv("rhs-dilation", [f64(2, 2, 9), f64(3, 2, 3)], rhs_dilation=(2,)),
    conv("reversal", [f64(2, 2, 5), f64(3, 2, 3)], reversal=(True,)),
    conv(
        "each-its-own",
        [f64(2, 3, 9, 5), f64(2, 3, 3, 4)],
        NHWC.replace("b01f", "bf01"),
        strides=(2, 1),
        padding=((2, 1), (1, 3)),
        lhs_dilation=(1, 2),
        rhs_dilation=(2, 1),
        reversal=(True, False),
    ),
    conv(
        "everything",
        [f64(5, 4, 4, 2), f64(6, 2, 3, 2)],
        "0f1b,oi01,1bf0",
        strides=(2, 3),
        padding=((-1, 4), (2, -1)),
        lhs_dilation=(3, 2),
        rhs_dilation=(2, 3),
        reversal=(True, True),
        groups=2,
    ),
    # Groups
    conv("groups", [f64(2, 6, 5), f64(4, 3, 2)], groups=2),
    conv("groups-nhwc", [f64(2, 4, 4, 6), f64(2, 2, 2, 9)], NHWC, groups=3, strides=(1, 2)),
    conv("depthwise", [f64(2, 4, 4, 3), f64(2, 2, 1, 3)], NHWC, groups=3, padding=((1, 0),) * 2),
    conv("depthwise-twice", [f64(2, 3, 5), f64(6, 1, 3)], groups=3, rhs_dilation=(2,)),
    conv("batch-groups", [f64(6, 2, 5), f64(4, 2, 3)], batch_groups=2),
    conv("batch-groups-all", [f64(3, 4, 4, 2), f64(2, 2, 2, 3)], NHWC, batch_groups=3),
    conv(
        "batch-groups-strided",
        [f64(4, 2, 9), f64(6, 2, 3)],
        batch_groups=2,
        strides=(2,),
        padding=((2, -1),),
        rhs_dilation=(2,),
        reversal=(True,),
    ),
    # Nothing there
    conv("no-batch", [f64(0, 2, 4), f64(3, 2, 2)]),
    conv("no-features", [f64(2, 0, 4), f64(3, 0, 2)]),
    conv("no-output-features", [f64(2, 2, 4), f64(0, 2, 2)]),
    conv("no-elements-but-padding", [f64(2, 2, 0), f64(3, 2, 2)], padding=((2, 1),)),
    conv("no-window-fits", [f64(2, 2, 2), f64(3, 2, 3)]),
    conv("no-groups-of-batch", [f64(0, 2, 4), f64(4, 2, 2)], batch_groups=2),
    # Dtypes
    conv("precise", [f64(2, 3, 4), f64(4, 3, 2)], precision=("HIGHEST", "DEFAULT")),
    conv("f32", [of("f4", 2, 8, 9), of("f4", 4, 8, 3)], dtype="f4"),
    conv("f32-to-f64", [of("f4", 2, 3, 4), of("f4", 4, 3, 2)]),
    conv("bf16", [of(BF16, 2, 40, 9), of(BF16, 3, 40, 5)], dtype=BF16, tolerance=5e-3),
    conv("bf16-to-f32", [of(BF16, 2, 3, 4), of(BF16, 4, 3, 2)], dtype="f4"),
    conv("f32-to-bf16", [of("f4", 2, 3, 4), of("f4", 4, 3, 2)], dtype=BF16),
    conv("f16", [of("f2", 2, 40, 9), of("f2", 3, 40, 5)], dtype="f2", tolerance=1e-3),
    conv(
        "f8-to-f32",
        [of(ml_dtypes.float8_e5m2, 2, 3, 4), of(ml_dtypes.float8_e5m2, 4, 3, 2)],
        dtype="f4",
    ),
    conv("i8-wraps", [of("i1", 2, 9, 5, low=-128, high=127)] * 2, dtype="i1"),
    conv(
        "i8-to-i32",
        [fixed(np.full((1, 9, 4), -128), "i1"), fixed(np.full((2, 9, 3), 127), "i1")],
        dtype="i4",
    ),
    conv("u8", [of("u1", 2, 3, 5, low=0, high=255)] * 2, dtype="u1", padding=((1, 1),)),
    conv("i32", [i32(2, 3, 5), i32(2, 3, 2)], dtype="i4", lhs_dilation=(2,)),
    conv("complex", [of("c16", 2, 3, 4), of("c16", 4, 3, 2)], dtype="c16"),
    conv("complex64-groups", [of("c8", 2, 4, 4), of("c8", 4, 2, 2)], dtype="c8", groups=2),
]
