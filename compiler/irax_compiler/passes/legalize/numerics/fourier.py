"""Legalizations of Fourier transforms, where there is no kernel: short ones as products of
matrices, others as calls of SciPy on the host.

A transform of length n = n1 * n2 is n2 transforms of length n1, a twiddle factor for each number,
and n1 transforms of length n2 (J. W. Cooley and J. W. Tukey, 1965). One of length up to `DIRECT` is
a product with the matrix of roots of unity. A length with a prime factor that is too large is a
convolution, done by transforms of another length (L. I. Bluestein, 1970).

Complex numbers are held as two parts in an array of shape [2, batch, n].
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from irax_compiler.determinism import is_in_marked
from irax_compiler.importing import deferred
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, dot, elementwise, fft, shape, slicing
from irax_compiler.ops.core import constant, full, full_like
from irax_compiler.ops.formula import Number
from irax_compiler.passes.host.host import host_call
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.fourier import transforms
else:
    (transforms,) = deferred("irax_compiler.passes.kernels.fourier", "transforms")

DIRECT = 64
"""The longest transform that is one product with a matrix."""

MOST_PRODUCTS = 1 << 17
"""The most multiplications of a few short rows by one matrix: they take less time than a call of
the host."""

WRITTEN_OUT = 1 << 14
"""The most twiddle factors that become constants; more are computed at run time."""


@legalizes("stablehlo.fft", kind="missing", of="IREE")
def fourier_transform(operation: Operation) -> Sequence[Value] | None:
    """Compute Fourier transforms as products of matrices: IREE has only those of powers of two in
    float32.
    """
    op = read_as(fft.Fft, operation)
    return None if op is None else [_by_products(op, operation)]


@legalizes("stablehlo.fft", kind="missing", of="IREE", reproduction="fourier_transform")
def fourier_transform_of_long_real_rows(operation: Operation) -> Sequence[Value] | None:
    """Transform long rows of real numbers as complex ones, for which the pass `fourier` has
    kernels.
    """
    op = read_as(fft.Fft, operation)
    if op is None or op.rank > 1 or op.fft_type not in ("RFFT", "IRFFT"):
        return None
    if is_in_marked(operation):
        return None
    (x,), (result,) = operation.operands, operation.results
    n, axis = op.fft_length[0], len(shape_of(x)) - 1
    rows = (*shape_of(x)[:axis], n)
    if transforms.transforms_of(operation) or not transforms.has_kernels_for_rows(rows, x):
        return None
    if op.fft_type == "RFFT":
        whole = fft.Fft("FFT", (n,))(elementwise.complex_(x, full_like(x, 0)))
        return [slicing.slice_in_dim(whole, 0, shape_of(result)[axis], axis)]
    parts = _with_conjugates(elementwise.real(x), elementwise.imag(x), n)
    return [elementwise.real(fft.Fft("IFFT", (n,))(elementwise.complex_(*parts)))]


@legalizes("stablehlo.fft", kind="missing", of="IREE", reproduction="fourier_transform")
def fourier_transform_of_few_rows(operation: Operation) -> Sequence[Value] | None:
    """Compute Fourier transforms of a few short rows as one product with a matrix of real numbers:
    a call of the host takes longer, in a loop above all.
    """
    op = read_as(fft.Fft, operation)
    if op is None or op.rank > 1 or transforms.transforms_of(operation):
        return None
    if is_in_marked(operation):  # how many rows there are must not matter
        return None
    (x,), (result,) = operation.operands, operation.results
    n, is_real, to_real = op.fft_length[0], op.fft_type == "RFFT", op.fft_type == "IRFFT"
    *batch, taken = shape_of(x)
    numbers = taken if is_real else 2 * taken
    made = shape_of(result)[-1]
    if not 0 < prod(batch) * numbers * made * (1 if to_real else 2) <= MOST_PRODUCTS:
        return None
    axis = len(batch)
    if not is_real:
        x = slicing.Concatenate(axis)(elementwise.real(x), elementwise.imag(x))
    matrix = constant(_matrix(op.fft_type, n).astype(dtype_of(x)))
    dims = dot.DotDimensions(lhs_contracting=(axis,), rhs_contracting=(0,))
    parts = dot.dot_general(x, matrix, dims)
    if to_real:
        return [parts]
    re, im = (slicing.slice_in_dim(parts, i * made, (i + 1) * made, axis) for i in range(2))
    return [elementwise.complex_(re, im)]


def _matrix(kind: str, n: int) -> np.ndarray:
    """Return the matrix that a row is multiplied with: of real parts, then imaginary ones, where
    its numbers are complex, to such ones.
    """
    half = n // 2 + 1
    rows, columns = {"RFFT": (n, half), "IRFFT": (half, n)}.get(kind, (n, n))
    angle = 2 * np.pi / n * (np.outer(np.arange(rows), np.arange(columns)) % n)
    cos, sin = np.cos(angle), np.sin(angle)
    if kind == "RFFT":
        return np.concatenate([cos, -sin], 1)
    if kind == "IRFFT":  # frequencies that are their own conjugates count once, and as real
        is_own = (-np.arange(half) % n == np.arange(half))[:, None]
        return np.concatenate([np.where(is_own, cos, 2 * cos), np.where(is_own, 0, -2 * sin)]) / n
    sin = -sin if kind == "IFFT" else sin
    return np.block([[cos, -sin], [sin, cos]]) / (n if kind == "IFFT" else 1)


@legalizes("stablehlo.fft", kind="missing", of="IREE", reproduction="fourier_transform")
def fourier_transform_on_host(operation: Operation) -> Sequence[Value] | None:
    """Call a library for the Fourier transforms that the pass `fourier` has no kernel for, short
    ones aside; and for all where the number of rows must not matter: kernels are for many.
    """
    op = read_as(fft.Fft, operation)
    is_invariant = is_in_marked(operation)
    if op is None or (transforms.transforms_of(operation) and not is_invariant):
        return None
    (x,), (result,) = operation.operands, operation.results
    is_short = op.rank == 1 and op.fft_length[0] <= DIRECT
    if (is_short and not is_invariant) or 0 in (*shape_of(x), *shape_of(result)):
        return None
    lengths = ",".join(map(str, op.fft_length))
    return host_call("fft", [x], [result.type], kind=op.fft_type, lengths=lengths)


@legalizes("stablehlo.fft", kind="missing", of="IREE", reproduction="fourier_transform")
def fourier_transform_without_kernel(operation: Operation) -> Sequence[Value] | None:
    """Compute short Fourier transforms, for which the pass `fourier` has no kernel, as products of
    matrices.
    """
    op = read_as(fft.Fft, operation)
    if op is None or transforms.transforms_of(operation):
        return None
    return [_by_products(op, operation)]


def _by_products(op: fft.Fft, operation: Operation) -> Value:
    (x,) = operation.operands
    if 0 in shape_of(x) or 0 in shape_of(operation.results[0]):
        return full_like(operation.results[0], 0)
    rank = len(shape_of(x))
    first = rank - op.rank
    others = range(first, rank - 1)
    inverse = op.fft_type in ("IFFT", "IRFFT")
    if op.fft_type == "IRFFT":
        parts = _transformed(_parts(x), others, inverse)
        return _real_result(parts, op.fft_length[-1])
    axes = [*others, rank - 1]
    parts = _transformed(_parts(x), axes, inverse)
    re, im = _part(parts, 0), _part(parts, 1)
    if op.fft_type == "RFFT":
        half = op.fft_length[-1] // 2 + 1
        re, im = (slicing.slice_in_dim(v, 0, half, rank - 1) for v in (re, im))
    return elementwise.complex_(re, im)


def _parts(x: Value) -> Value:
    """Return the real and the imaginary part as [2, ...]."""
    if dtype_of(x).kind != "c":
        return _stacked(x, full_like(x, 0))
    return _stacked(elementwise.real(x), elementwise.imag(x))


def _stacked(re: Value, im: Value) -> Value:
    wide = (1, *shape_of(re))
    return slicing.Concatenate(0)(shape.reshape(re, wide), shape.reshape(im, wide))


def _part(z: Value, number: int) -> Value:
    part = slicing.slice_in_dim(z, number, number + 1, 0)
    return shape.reshape(part, shape_of(z)[1:])


def _real_result(parts: Value, n: int) -> Value:
    """Return the real inverse transform of [2, ...] along the last dimension."""
    whole = _stacked(*_with_conjugates(_part(parts, 0), _part(parts, 1), n))
    axis = len(shape_of(whole)) - 2
    return _part(_transformed(whole, [axis], inverse=True), 0)


def _with_conjugates(re: Value, im: Value, n: int) -> tuple[Value, Value]:
    """Return all n frequencies of real numbers. Those of the missing half are conjugates, in
    reverse; the first one, and for even n the last one, count as real.
    """
    axis = len(shape_of(re)) - 1
    half = shape_of(re)[axis]
    real_only = np.ones(half)
    real_only[0] = 0
    if n % 2 == 0:
        real_only[-1] = 0
    mask = constant(real_only.astype(dtype_of(im)))
    im = elementwise.multiply(im, shape.BroadcastInDim(shape_of(im), (axis,))(mask))

    def with_rest(v: Value, sign: int) -> Value:
        rest = slicing.slice_in_dim(v, 1, n - half + 1, axis)
        rest = slicing.Reverse((axis,))(rest)
        return slicing.Concatenate(axis)(v, rest if sign > 0 else elementwise.negate(rest))

    return with_rest(re, 1), with_rest(im, -1)


def _transformed(z: Value, axes: Sequence[int], inverse: bool) -> Value:
    """Transform [2, ...] along some dimensions, which are counted without the first."""
    rank = len(shape_of(z)) - 1
    for axis in axes:
        order = [0, *(d + 1 for d in range(rank) if d != axis), axis + 1]
        turned = shape.transpose(z, order)
        extents = shape_of(turned)
        flat = shape.reshape(turned, (2, prod(extents[1:-1]), extents[-1]))
        done = shape.reshape(_inverse(flat) if inverse else _transform(flat), extents)
        z = shape.transpose(done, np.argsort(order).tolist())
    return z


def _inverse(z: Value) -> Value:
    """Compute the inverse transform as the transform with parts exchanged before and after, divided
    by n.
    """
    swap = slicing.Reverse((0,))
    scale = 1 / shape_of(z)[-1]
    return (Number(swap(_transform(swap(z)))) * scale).value


def _transform(z: Value) -> Value:
    """Transform [2, batch, n] along the last dimension."""
    n = shape_of(z)[-1]
    if n == 1:
        return z
    if n <= DIRECT:
        return _direct(z, 2)
    factor = max((f for f in range(2, DIRECT + 1) if n % f == 0), default=None)
    if factor is None:
        return _by_convolution(z)
    return _by_factors(z, factor)


def _direct(z: Value, axis: int) -> Value:
    """Multiply [2, batch, ..., n, ...] by the matrix of a transform; the transformed dimension
    becomes the last.
    """
    n, dtype = shape_of(z)[axis], dtype_of(z)
    angle = 2 * np.pi / n * (np.outer(np.arange(n), np.arange(n)) % n)
    roots = constant(np.concatenate([np.cos(angle), np.sin(angle)], 1).astype(dtype))
    dims = dot.DotDimensions(lhs_contracting=(axis,), rhs_contracting=(0,))
    product = dot.dot_general(z, roots, dims)
    last = len(shape_of(product)) - 1
    cosines = slicing.slice_in_dim(product, 0, n, last)
    sines = slicing.slice_in_dim(product, n, 2 * n, last)
    re = elementwise.add(_part(cosines, 0), _part(sines, 1))
    im = elementwise.subtract(_part(cosines, 1), _part(sines, 0))
    return _stacked(re, im)


def _by_factors(z: Value, n1: int) -> Value:
    _, batch, n = shape_of(z)
    n2 = n // n1
    columns = _direct(shape.reshape(z, (2, batch, n1, n2)), 2)  # [2, batch, n2, n1]
    turned = _rotated(columns, n, n2, n1)
    rows = shape.reshape(shape.transpose(turned, [0, 1, 3, 2]), (2, batch * n1, n2))
    done = shape.reshape(_transform(rows), (2, batch, n1, n2))
    return shape.reshape(shape.transpose(done, [0, 1, 3, 2]), (2, batch, n))


def _rotated(z: Value, n: int, n2: int, n1: int) -> Value:
    """Multiply element [i, j] of [2, batch, n2, n1] by exp(-2 pi i (i * j) / n)."""
    dtype = dtype_of(z)
    if n <= WRITTEN_OUT:
        angle = 2 * np.pi / n * (np.outer(np.arange(n2), np.arange(n1)) % n)
        cos, sin = (constant(f(angle).astype(dtype)) for f in (np.cos, np.sin))
    else:
        int32 = np.dtype(np.int32)
        i, j = (shape.Iota((n2, n1), int32, d)() for d in range(2))
        turn = conversion.convert(elementwise.multiply(i, j), dtype)  # less than n
        angle = elementwise.multiply(turn, full((n2, n1), 2 * np.pi / n, dtype))
        cos, sin = elementwise.cosine(angle), elementwise.sine(angle)
    return _multiplied(z, cos, elementwise.negate(sin), (1, 2))


def _multiplied(z: Value, re: Value, im: Value, dims: tuple[int, ...]) -> Value:
    """Multiply [2, ...] by complex numbers along some dimensions, which are counted without the
    first.
    """
    x, y = _part(z, 0), _part(z, 1)
    re, im = (shape.BroadcastInDim(shape_of(x), dims)(v) for v in (re, im))
    multiply = elementwise.multiply
    return _stacked(
        elementwise.subtract(multiply(x, re), multiply(y, im)),
        elementwise.add(multiply(x, im), multiply(y, re)),
    )


def _by_convolution(z: Value) -> Value:
    """Transform by convolution with a chirp: j k = (j^2 + k^2 - (k - j)^2) / 2."""
    n, dtype = shape_of(z)[-1], dtype_of(z)
    longer = 1 << (2 * n - 2).bit_length()
    squares = np.arange(n, dtype=np.int64) ** 2 % (2 * n)
    chirp = np.exp(-1j * np.pi / n * squares)
    kernel = np.zeros(longer, complex)
    kernel[:n] = chirp.conj()
    kernel[longer - n + 1 :] = chirp.conj()[1:][::-1]
    response = np.fft.fft(kernel)

    def parts(values: np.ndarray) -> tuple[Value, ...]:
        return tuple(constant(f(values).astype(dtype)) for f in (np.real, np.imag))

    turned = _multiplied(z, *parts(chirp), dims=(1,))
    padding = slicing.Pad((0, 0, 0), (0, 0, longer - n), (0, 0, 0))
    padded = padding(turned, full((), 0, dtype))
    convolved = _inverse(_multiplied(_transform(padded), *parts(response), dims=(1,)))
    kept = slicing.slice_in_dim(convolved, 0, n, 2)
    return _multiplied(kept, *parts(chirp), dims=(1,))
