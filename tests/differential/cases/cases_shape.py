"""Operations that move elements, against NumPy."""

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, boolean, f64, i32, of

from irax_compiler.ops.dimension import Dimension
from irax_compiler.ops.shape import BroadcastInDim, Constant, Iota, Reshape, Transpose
from irax_compiler.ops.slicing import Concatenate, Pad, Reverse, Slice

BF16 = np.dtype(ml_dtypes.bfloat16)


def constant(name, array) -> Case:
    return Case(f"constant-{name}", Constant(array), [], lambda: array.copy())


def iota(shape, dtype, dimension) -> Case:
    op = Iota(shape, np.dtype(dtype), dimension)
    name = f"iota-{'x'.join(map(str, shape))}-{op.dtype.name}"
    return Case(name, op, [], lambda: np.indices(shape)[dimension])


def broadcast(name, operand, shape, dimensions) -> Case:
    def reference(x: np.ndarray) -> np.ndarray:
        result = np.empty(shape, object)
        for place in np.ndindex(*shape):
            sizes = zip(dimensions, x.shape, strict=True)
            result[place] = x[tuple(place[d] if n > 1 else 0 for d, n in sizes)]
        return result

    return Case(f"broadcast-{name}", BroadcastInDim(shape, dimensions), [operand], reference)


def slice_(name, operand, start, limit, strides) -> Case:
    places = tuple(slice(*bounds) for bounds in zip(start, limit, strides, strict=True))
    return Case(f"slice-{name}", Slice(start, limit, strides), [operand], lambda x: x[places])


def pad(name, operand, low, high, interior, value=None) -> Case:
    def reference(x: np.ndarray, fill: np.ndarray) -> np.ndarray:
        """Each element is put where it belongs, if that is within the result."""
        sizes = [
            max(lo + hi + n + max(n - 1, 0) * i, 0)
            for n, lo, hi, i in zip(x.shape, low, high, interior, strict=True)
        ]
        result = np.full(sizes, fill.item(), object)
        for place in np.ndindex(*x.shape):
            to = tuple(p * (i + 1) + lo for p, i, lo in zip(place, interior, low, strict=True))
            if all(0 <= p < n for p, n in zip(to, sizes, strict=True)):
                result[to] = x[place]
        return result

    operands = [operand, value or of(operand.dtype)]
    return Case(f"pad-{name}", Pad(low, high, interior), operands, reference)


def concatenate(name, operands, dimension) -> Case:
    return Case(
        f"concatenate-{name}",
        Concatenate(dimension),
        operands,
        lambda *xs: np.concatenate(xs, dimension),
    )


PAD_WITHIN_ONE = """
func.func @main(%x: tensor<1xcomplex<f32>>) -> tensor<1xcomplex<f32>> {
  %0 = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %y = stablehlo.pad %x, %0, low = [0], high = [0], interior = [1]
      : (tensor<1xcomplex<f32>>, tensor<complex<f32>>) -> tensor<1xcomplex<f32>>
  return %y : tensor<1xcomplex<f32>>
}"""

CASES = [
    constant("f64", np.linspace(-1, 1, 6).reshape(2, 3)),
    constant("special", np.array([np.nan, np.inf, -np.inf, -0.0, 1e-310])),
    constant("f32", np.array([np.nan, np.inf, -np.inf, -0.0, 1.1, 1e-40], np.float32)),
    constant("scalar", np.array(2.5)),
    constant("splat", np.full((2, 3), 7.25)),
    constant("empty", np.zeros((0, 3))),
    constant("bool", np.array([True, False, True])),
    constant("bool-splat", np.full((2, 2), True)),
    constant("one-bool", np.array(False)),
    constant("no-bool", np.zeros((0,), np.bool_)),
    constant("i8", np.array([-128, 127], np.int8)),
    constant("i64", np.array([-(2**63), 2**63 - 1])),
    constant("u64", np.array([0, 2**64 - 1], np.uint64)),
    constant("int4", np.array([-8, 7, 1]).astype(ml_dtypes.int4)),
    constant("uint4", np.array([0, 15]).astype(ml_dtypes.uint4)),
    constant("bf16", np.array([1.5, -2.25, np.inf, np.nan, -0.0]).astype(BF16)),
    constant("bf16-splat", np.full((2, 2), 1.5).astype(BF16)),
    constant("f16", np.array([1.5, np.inf, np.nan, 1e-7]).astype(np.float16)),
    constant("f8", np.array([1.5, -2.25, 448, 0.0]).astype(ml_dtypes.float8_e4m3fn)),
    constant("complex", np.array([1 + 2j, -0.5j, np.inf])),
    constant("complex64", np.array([[1 + 2j], [0.1 - 0.25j]], np.complex64)),
    constant("large", np.arange(5000.0)),
    constant("large-bf16", np.arange(5000.0).astype(BF16)),
    Case("dimension", Dimension(5, np.dtype(np.int32)), [], lambda: np.int32(5)),
    iota((5,), "i4", 0),
    iota((2, 3), "f8", 1),
    iota((3, 2), BF16, 0),
    iota((0, 2), "u1", 1),
    iota((2, 2), "c8", 1),
    broadcast("scalar", f64(), (2, 3), ()),
    broadcast("rows", f64(3), (2, 3), (1,)),
    broadcast("columns", f64(2), (2, 3), (0,)),
    broadcast("ones", f64(2, 1), (2, 3), (0, 1)),
    broadcast("one-to-one", f64(1, 3), (1, 2, 3), (0, 2)),
    broadcast("permuted", f64(3, 2), (2, 4, 3), (2, 0)),
    broadcast("permuted-ones", f64(1, 4, 2), (2, 4, 3), (2, 1, 0)),
    broadcast("to-nothing", f64(1), (0, 2), (0,)),
    broadcast("bf16", of(BF16), (1000,), ()),
    broadcast("i32", i32(2), (2, 2), (1,)),
    Case("reshape", Reshape((3, 4)), [f64(2, 6)], lambda x: x.reshape(3, 4)),
    Case("reshape-to-scalar", Reshape(()), [f64(1, 1)], lambda x: x[0, 0]),
    Case("reshape-nothing", Reshape((0, 5)), [f64(2, 0)], lambda x: x.reshape(0, 5)),
    Case("transpose", Transpose((2, 0, 1)), [f64(2, 3, 4)], lambda x: np.moveaxis(x, 2, 0)),
    Case("transpose-scalar", Transpose(()), [f64()], lambda x: x),
    Case("transpose-bool", Transpose((1, 0)), [boolean(2, 3)], lambda x: x.T),
    Case("reverse", Reverse((1,)), [f64(2, 3)], lambda x: x[:, ::-1]),
    Case("reverse-both", Reverse((0, 2)), [f64(2, 1, 3)], lambda x: x[::-1, :, ::-1]),
    Case("reverse-none", Reverse(()), [f64(2)], lambda x: x),
    slice_("some", f64(5, 4), (1, 0), (4, 4), (1, 1)),
    slice_("strided", f64(7, 6), (1, 0), (7, 5), (2, 3)),
    slice_("strided-short", f64(8), (0,), (6,), (4,)),
    slice_("nothing", f64(3), (2,), (2,), (1,)),
    slice_("scalar", f64(), (), (), ()),
    slice_("i32", i32(4), (1,), (3,), (1,)),
    pad("edges", f64(2, 3), (1, 0), (0, 2), (0, 0)),
    pad("interior", f64(3), (1,), (2,), (2,)),
    pad("negative", f64(5), (-1,), (-2,), (0,)),
    pad("negative-interior", f64(4, 3), (-2, 1), (1, -1), (1, 2)),
    pad("cut-off", f64(3), (-4,), (5,), (0,)),
    pad("nothing", f64(0, 2), (1, 1), (1, 0), (1, 0)),
    pad("scalar", f64(), (), (), ()),
    pad("f32", of("f4", 3), (1,), (1,), (1,)),
    pad("bool", boolean(3), (1,), (1,), (0,)),
    pad("complex", of("c8", 3), (1,), (0,), (1,)),
    Case("pad-complex-within-one", PAD_WITHIN_ONE, [of("c8", 1)], lambda x: x),
    concatenate("rows", [f64(2, 3), f64(1, 3), f64(2, 3)], 0),
    concatenate("columns", [f64(2, 1), f64(2, 3)], 1),
    concatenate("with-nothing", [f64(0), f64(3)], 0),
    concatenate("one", [f64(3)], 0),
    concatenate("bf16", [of(BF16, 2), of(BF16, 3)], 0),
]
NOT_DIFFERENTIABLE = {"irax.dimension", "stablehlo.constant", "stablehlo.iota"}
