"""Cases of Fourier transforms, linear algebra and batch norms."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator, Sequence

import numpy as np
from tests.conformance.arrays import (
    case,
    filled,
    i64s,
    shaped,
    small,
)
from tests.conformance.cases import Case
from tests.conformance.formats import FLOATS, FORMATS, Complex


def transforms(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        part = ("f32", "f64")[i % 2]
        kind = ("FFT", "IFFT", "RFFT", "IRFFT")[i // 2 % 4]
        rank = rng.choice([1, 1, 1, 2, 3])
        most = {
            1: [1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 31, 37, 97, 101],
            2: [1, 2, 3, 5, 8],
            3: [1, 2, 3],
        }
        lengths = [rng.choice(most[rank]) for _ in range(rank)]
        batch = shaped(rng, rng.choice([0, 1]), 3)
        shape = [*batch, *lengths]
        if kind == "IRFFT":
            shape[-1] = lengths[-1] // 2 + 1
        axes = tuple(range(-rank, 0))
        x = small(FORMATS[part if kind == "RFFT" else f"complex<{part}>"], shape, rng)
        y = x.astype(np.complex128)
        if kind in ("FFT", "IFFT"):
            found = (_fourier if kind == "FFT" else _inverse)(y, axes)
        elif kind == "RFFT":
            found = _fourier(y, axes)[..., : lengths[-1] // 2 + 1]
        else:
            y = _inverse(y, axes[:-1])
            n = lengths[-1]
            whole = np.zeros((*y.shape[:-1], n), complex)
            for k in range(n):
                whole[..., k] = y[..., k] if k < y.shape[-1] else np.conj(y[..., n - k])
            whole[..., 0] = whole[..., 0].real
            if n % 2 == 0:
                whole[..., n // 2] = whole[..., n // 2].real
            found = _inverse(whole, (-1,)).real
        source = part if kind == "RFFT" else f"complex<{part}>"
        to = part if kind == "IRFFT" else f"complex<{part}>"
        attributes = f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {i64s(lengths)}"
        scale = float(np.abs(x.astype(complex)).sum()) + 1
        yield case(
            "stablehlo.fft",
            f"{kind} {part} {shape} {lengths}",
            [(source, x)],
            [(to, found.astype(object))],
            attributes,
            absolute=scale * FLOATS[part].spacing(1.0) * 4,
        )


def _fourier(x: np.ndarray, axes: Sequence[int], sign: int = -1) -> np.ndarray:
    """By the sum that defines it, along each axis."""
    for axis in axes:
        n = x.shape[axis]
        powers = np.outer(np.arange(n), np.arange(n)) % n
        matrix = np.exp(sign * 2j * np.pi * powers / n)
        x = np.moveaxis(np.tensordot(x, matrix, ([axis], [0])), -1, axis)
    return x


def _inverse(x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    for axis in axes:
        x = _fourier(x, [axis], 1) / x.shape[axis]
    return x


def triangular(rng: random.Random, count: int) -> Iterator[Case]:
    """Systems of matrices of small integers with powers of two on the diagonal."""
    for i in range(count):
        name = ("f32", "f64", "complex<f32>", "complex<f64>")[i % 4]
        format = FORMATS[name]
        n, m = rng.choice([0, 1, 2, 3, 5]), rng.choice([0, 1, 2, 3])
        batch = shaped(rng, rng.choice([0, 1]), 2)
        left, lower, unit = (rng.random() < 0.5 for _ in range(3))
        how = rng.choice(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
        a = small(format, [*batch, n, n], rng, 2)
        for place in np.ndindex(*batch):
            for k in range(n):
                a[(*place, k, k)] = type(a.flat[0])(1 if unit else rng.choice([1, 2, -1, 4, 0.5]))
        used = a.astype(np.complex128)
        used = np.tril(used) if lower else np.triu(used)
        if how != "NO_TRANSPOSE":
            used = np.swapaxes(used, -1, -2)
        if how == "ADJOINT":
            used = used.conj()
        x = small(format, [*batch, *([n, m] if left else [m, n])], rng, 2)
        b = used @ x.astype(complex) if left else x.astype(complex) @ used
        b = b.astype(object) if isinstance(format, Complex) else b.real.astype(object)
        # What is not to be read is nan.
        poisoned = a.copy()
        for place in np.ndindex(*batch):
            for r, c in itertools.product(range(n), range(n)):
                if (c > r) if lower else (c < r):
                    poisoned[(*place, r, c)] = (
                        complex(math.nan, math.nan) if isinstance(format, Complex) else math.nan
                    )
        attributes = (
            f"left_side = {str(left).lower()}, lower = {str(lower).lower()}, unit_diagonal = "
            f"{str(unit).lower()}, transpose_a = #stablehlo<transpose {how}>"
        )
        note = f"{name} {list(a.shape)} {list(b.shape)} {attributes}"
        yield case(
            "stablehlo.triangular_solve",
            note,
            [(name, poisoned), (name, b)],
            [(name, x)],
            attributes,
            absolute=1e-3,
        )


def cholesky(rng: random.Random, count: int) -> Iterator[Case]:
    """Matrices made of their factors; of indefinite ones nothing is said but that nothing ends."""
    for i in range(count):
        name = ("f32", "f64", "complex<f32>", "complex<f64>")[i % 4]
        format = FORMATS[name]
        n, batch, lower = (
            rng.choice([0, 1, 2, 3, 5]),
            shaped(rng, rng.choice([0, 1]), 2),
            rng.random() < 0.5,
        )
        factor = np.tril(small(format, [*batch, n, n], rng, 2).astype(complex))
        for k in range(n):
            factor[..., k, k] = rng.choice([1, 2, 3])
        x = factor @ np.swapaxes(factor.conj(), -1, -2)
        is_indefinite = n > 0 and rng.random() < 0.2
        if is_indefinite:
            x[..., n - 1, n - 1] = -1
        wanted = factor if lower else np.swapaxes(factor.conj(), -1, -2)
        as_objects = [
            v.astype(object) if isinstance(format, Complex) else v.real.astype(object)
            for v in (x, wanted)
        ]
        free = (
            np.ones(wanted.shape, bool)
            if is_indefinite
            else np.broadcast_to(
                ~(np.tril(np.ones((n, n), bool)) if lower else np.triu(np.ones((n, n), bool))),
                wanted.shape,
            )
        )
        if is_indefinite:
            as_objects[1] = filled(wanted.shape, lambda: math.nan)
        note = f"{name} {list(x.shape)} lower = {lower}{' indefinite' if is_indefinite else ''}"
        yield case(
            "stablehlo.cholesky",
            note,
            [(name, as_objects[0])],
            [(name, as_objects[1])],
            f"lower = {str(lower).lower()}",
            free=free,
            absolute=1e-3,
        )


def _spread(rank: int, feature: int, v: np.ndarray) -> np.ndarray:
    """Numbers for each feature, to be combined with the array."""
    return np.asarray(v, float).reshape([-1 if d == feature else 1 for d in range(rank)])


def batch_norms(rng: random.Random, count: int) -> Iterator[Case]:
    for i in range(count):
        name = ("f32", "f64")[i % 2]
        format = FORMATS[name]
        shape = shaped(rng, rng.choice([1, 2, 3]), 4, 0)
        feature = rng.randrange(len(shape))
        n = shape[feature]
        x, grad = (small(format, shape, rng) for _ in range(2))
        scale, offset, mean = (small(format, [n], rng) for _ in range(3))
        variance = filled([n], lambda: float(rng.choice([0.25, 1, 4, 0])))
        epsilon = rng.choice([0.125, 0.5, 1.0])
        axes = tuple(d for d in range(len(shape)) if d != feature)
        spread = functools.partial(_spread, len(shape), feature)
        f = x.astype(float)
        attributes = f"epsilon = {epsilon} : f32, feature_index = {feature} : i64"
        bound = {"absolute": 64 * format.spacing(16.0)}
        found = (f - spread(mean)) / np.sqrt(spread(variance) + epsilon) * spread(scale) + spread(
            offset
        )
        note = f"{name} {shape} feature {feature}"
        yield case(
            "stablehlo.batch_norm_inference",
            note,
            [(name, v) for v in (x, scale, offset, mean, variance)],
            [(name, found.astype(object))],
            attributes,
            **bound,
        )
        m, v = f.mean(axes), f.var(axes)
        normal = (f - spread(m)) / np.sqrt(spread(v) + epsilon)
        found = normal * spread(scale) + spread(offset)
        yield case(
            "stablehlo.batch_norm_training",
            note,
            [(name, w) for w in (x, scale, offset)],
            [(name, np.asarray(w, object)) for w in (found, m, v)],
            attributes,
            **bound,
        )
        g = grad.astype(float)
        f = f - spread(mean)
        inverse = 1 / np.sqrt(spread(variance) + epsilon)
        size = f.size // n
        sums = spread(g.sum(axes)), spread((g * f).sum(axes))
        of_x = spread(scale) * inverse / size * (size * g - sums[0] - f * inverse**2 * sums[1])
        found_all = [of_x, (g * f * inverse).sum(axes), g.sum(axes)]
        yield case(
            "stablehlo.batch_norm_grad",
            note,
            [(name, w) for w in (x, scale, mean, variance, grad)],
            [(name, np.asarray(w, object)) for w in found_all],
            attributes,
            **bound,
        )


def everything(rng: random.Random, count: int) -> Iterator[Case]:
    """All of these."""
    for make in (transforms, triangular, cholesky):
        yield from make(rng, count)
    yield from batch_norms(rng, count // 3)
