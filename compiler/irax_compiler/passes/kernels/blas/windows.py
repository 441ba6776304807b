"""Convolutions whose windows are rows of a matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, dot, shape, slicing
from irax_compiler.ops.convolution import ConvDimensions, Convolution
from irax_compiler.ops.core import full
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels.blas import tile_shapes, tiles, words
from irax_compiler.passes.kernels.blas.library import LETTERS
from irax_compiler.passes.matching import made_by
from irax_compiler.sizes import is_symbolic

FEATURES_LAST = ConvDimensions((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
"""The only layout: [batch, row, column, feature]; that of kernels is [row, column, input, output].
"""


@dataclass(frozen=True)
class Windows:
    """A convolution. How many images there are may be unknown."""

    dtype: np.dtype
    array: tuple[int, int, int, int]
    kernel: tuple[int, int, int, int]
    out: tuple[int, int, int, int]
    strides: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))
    """The zeros around an image: rows above and below, columns before and behind."""
    is_invariant: bool = False
    """True if the bits of an image's result must not depend on the number of images."""
    is_of_pairs: bool = False
    """True if a feature of the array and of the kernel is two numbers of bfloat16."""

    @property
    def is_product(self) -> bool:
        """True if windows are single elements, which are to be rows of a matrix."""
        return self.kernel[:2] == (1, 1) and not (self.is_of_lines and max(self.strides) > 1)

    @property
    def is_of_lines(self) -> bool:
        """True if windows are read where they are, by code that multiplies them (see `tiles`)."""
        pays = self.is_invariant or tile_shapes.pay_for_convolution(self.dtype, self.operations)
        return pays and self.dilation[1] == 1

    @property
    def is_padded(self) -> bool:
        """True if there are zeros around images."""
        return any(map(any, self.padding))

    def padded(self, x: Value) -> tuple[Windows, Value]:
        """Build the padded array, and return its convolution."""
        low, high = ((0, *sides, 0) for sides in zip(*self.padding, strict=True))
        x = slicing.Pad(low, high, (0,) * 4)(x, full((), 0, dtype_of(x)))
        array: Any = *shape_of(x)[:3], self.array[3]
        return replace(self, array=array, padding=((0, 0), (0, 0))), x

    @property
    def lines(self) -> tiles.Lines:
        """Return the convolution for that code: a line has the windows of a row of the result, and
        their segments are rows of windows.
        """
        features, outputs = self.kernel[2:]
        return tiles.Lines(
            dtype=self.dtype,
            rows=self.out[2],
            depth=self.kernel[1] * features,
            columns=outputs,
            lhs=(self.strides[1] * features, 1),
            rhs=(outputs, 1),
            out=outputs,
            segments=self.kernel[0],
            numbers=2 if self.is_of_pairs else 1,
        )

    @property
    def window(self) -> int:
        """Return the number of elements of a window."""
        return prod(self.kernel[:3])

    @property
    def operations(self) -> int:
        """Return the number of multiplications and additions, for a usual number of images."""
        return 2 * self.window * usual(prod(self.out))

    @property
    def is_sized(self) -> bool:
        """True if it is not known how many images there are."""
        return is_symbolic(self.out[0])


def windows_of(operation: Operation, op: Convolution) -> Windows | None:
    """Return the parameters of a convolution; None if it has another form."""
    x, y = operation.operands
    (result,) = operation.results
    if (
        op.dimensions != FEATURES_LAST
        or op.feature_group_count * op.batch_group_count > 1
        or any(a > 1 for a in op.lhs_dilation)
        or any(op.reversal)
        or any(dtype_of(v) != op.dtype for v in (x, y))
        or op.dtype.name not in LETTERS
        or any(0 in shape_of(v) for v in (x, y, result))
        or any(map(is_symbolic, (*shape_of(x)[1:], *shape_of(y), *shape_of(result)[1:])))
    ):
        return None
    array = [n + min(0, low) for n, low in zip(shape_of(x), _low(op), strict=True)]
    if min(array[1:3]) <= 0:
        return None
    top, left = ((max(0, low), max(0, high)) for low, high in op.padding)
    extents = tuple(array), shape_of(y), shape_of(result)
    return Windows(op.dtype, *extents, op.strides, op.rhs_dilation, (top, left))  # pyright: ignore


def in_pairs(windows: Windows, x: Value, y: Value) -> tuple[Windows, Value, Value] | None:
    """Return a convolution of numbers that are bfloat16's as one of pairs of features, with the
    arrays of these numbers; None if the processor does not multiply such pairs, or if another
    form is faster.
    """
    if (numbers := _numbers(windows, x, y)) is None:
        return None
    narrow, kernel = (_even(v, d) for v, d in zip(numbers, (3, 2), strict=True))
    features = shape_of(narrow)[3] // 2
    found = replace(
        windows,
        array=(*windows.array[:3], features),
        kernel=(*windows.kernel[:2], features, windows.kernel[3]),
        is_of_pairs=True,
    )
    return (found, narrow, kernel) if found.is_of_lines and not found.is_product else None


def _numbers(windows: Windows, x: Value, y: Value) -> tuple[Value, Value] | None:
    """Build arrays of bfloat16 that have the numbers of both factors, if the processor multiplies
    these.
    """
    if not tile_shapes.pay_for_pairs() or windows.dtype != np.float32:
        return None
    narrow = _narrow(x)
    kernel = None if narrow is None else _narrow(y)
    return None if narrow is None or kernel is None else (narrow, kernel)


def _narrow(x: Value) -> Value | None:
    """Build an array of bfloat16 that has the numbers of one of float32, if it was made of one."""
    if (converted := made_by(x, conversion.Convert)) is not None:
        return converted.operand if dtype_of(converted.operand) == words.BFLOAT16 else None
    source = mlir.definition(x)
    if source is None or len(source.operands) != 1:
        return None
    (inner,) = source.operands
    found = _narrow(inner) if traits_of(source).moves else None
    return None if found is None else read(source)(found)


def _even(x: Value, d: int) -> Value:
    """Build an array with a zero at the end of a dimension of odd size."""
    if shape_of(x)[d] % 2 == 0:
        return x
    high = tuple(int(i == d) for i in range(4))
    return slicing.Pad((0,) * 4, high, (0,) * 4)(x, full((), 0, dtype_of(x)))


def _low(op: Convolution) -> tuple[int, ...]:
    return (0, *(low for low, _ in op.padding), 0)


def cut(op: Convolution, x: Value) -> Value:
    """Cut off what negative padding does before the array of a convolution. The last window does
    not read what it cuts off behind.
    """
    start = [max(0, -low) for low in _low(op)]
    return slicing.slice_(x, start, shape_of(x), (1,) * 4) if any(start) else x


def as_product(windows: Windows, x: Value, y: Value) -> Value:
    """Build a convolution with a kernel of one element as a product of matrices."""
    n, rows, columns, _ = windows.out
    features = windows.array[3]
    ends = [(count - 1) * s + 1 for count, s in zip((rows, columns), windows.strides, strict=True)]
    x = slicing.slice_(x, (0,) * 4, (n, *ends, features), (1, *windows.strides, 1))
    flat = shape.reshape(x, (n * rows * columns, features))
    kernel = shape.reshape(y, windows.kernel[2:])
    dims = dot.DotDimensions(lhs_contracting=(1,), rhs_contracting=(0,))
    numbers = None if windows.is_invariant else _numbers(windows, flat, kernel)
    found = None
    if numbers is not None:
        found = words.product(dims, *numbers, (n * rows * columns, windows.kernel[3]))
    return shape.reshape(found or dot.dot_general(flat, kernel, dims), windows.out)
