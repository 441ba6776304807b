"""Fourier transforms, against sums over all roots of unity."""

import numpy as np
from tests.differential.cases.cases_complex import c128
from tests.differential.harness import Case, Operand, f64, of

from irax_compiler.ops.fft import Fft


def along(x: np.ndarray, axis: int, sign: int) -> np.ndarray:
    """The sum of x[j] * exp(sign * 2 pi i j k / n) along a dimension."""
    n = x.shape[axis]
    roots = np.exp(sign * 2j * np.pi / n * np.outer(np.arange(n), np.arange(n))) if n else []
    return np.moveaxis(np.moveaxis(x, axis, -1) @ np.reshape(roots, (n, n)), -1, axis)


def transform(name: str, kind: str, x: Operand, lengths: tuple[int, ...], **options) -> Case:
    rank = len(lengths)
    axes = range(-rank, 0)

    def reference(x):
        if kind == "IRFFT":  # the frequencies left out are conjugates, in reverse
            n = lengths[-1]
            for axis in axes[:-1]:
                x = along(x, axis, 1) / x.shape[axis]
            x = x.copy()
            x[..., 0] = x[..., 0].real
            if n % 2 == 0:
                x[..., -1] = x[..., -1].real
            rest = np.conj(x[..., 1 : n - x.shape[-1] + 1])[..., ::-1]
            whole = np.concatenate([x, rest], -1)
            return np.real(along(whole, -1, 1)) / n
        sign = 1 if kind == "IFFT" else -1
        for axis in axes:
            x = along(x, axis, sign)
        if kind == "IFFT":
            x = x / np.prod(lengths)
        return x[..., : lengths[-1] // 2 + 1] if kind == "RFFT" else x

    return Case(name, Fft(kind, lengths), [x], reference, **options)


CASES = [
    transform("fft", "FFT", c128(2, 8), (8,)),
    transform("fft-odd", "FFT", c128(7), (7,)),
    transform("fft-one", "FFT", c128(2, 1), (1,)),
    transform("fft-of-two", "FFT", c128(2, 3, 4), (3, 4)),
    transform("fft-of-three", "FFT", c128(2, 3, 4), (2, 3, 4)),
    transform("fft-factors", "FFT", c128(2, 150), (150,), tolerance=1e-13, differentiable=False),
    transform("fft-prime", "FFT", c128(2, 67), (67,), tolerance=1e-13, differentiable=False),
    transform("fft-c64", "FFT", of("c8", 2, 96), (96,), tolerance=2e-6),
    transform("ifft", "IFFT", c128(2, 6), (6,)),
    transform("ifft-of-two", "IFFT", c128(2, 3, 5), (3, 5)),
    transform("ifft-c64", "IFFT", of("c8", 2, 100), (100,), tolerance=2e-6),
    transform("rfft", "RFFT", f64(2, 8), (8,)),
    transform("rfft-odd", "RFFT", f64(2, 7), (7,)),
    transform("rfft-of-two", "RFFT", f64(2, 3, 6), (3, 6)),
    transform("rfft-f32", "RFFT", of("f4", 2, 70), (70,), tolerance=2e-6),
    transform("irfft", "IRFFT", c128(2, 5), (8,)),
    transform("irfft-odd", "IRFFT", c128(2, 4), (7,)),
    transform("irfft-one", "IRFFT", c128(2, 1), (1,)),
    transform("irfft-of-two", "IRFFT", c128(2, 3, 4), (3, 6)),
    transform("irfft-of-three", "IRFFT", c128(2, 3, 3), (2, 3, 5)),
    transform("irfft-f32", "IRFFT", of("c8", 2, 36), (70,), tolerance=2e-6),
    transform("fft-of-nothing", "FFT", c128(0, 4), (4,)),
]
