"""Fourier transforms by kernels, beside NumPy's in float64."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.lowering import lower

CASES = [
    # transform, shape, whether the numbers are complex
    ("fft", (16, 16), True),
    ("ifft", (2, 19, 60), True),
    ("fft", (33, 13 * 11), True),
    ("ifft", (16, 7 * 7 * 3), True),
    ("rfft", (17, 90), False),
    ("rfft", (50, 45), False),
    ("irfft", (19, 33), True),
    ("fft2", (18, 40), True),
    ("irfft2", (32, 17), True),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.slow
def test_kernels(dtype):
    """Lengths with all factors; last blocks and groups that overlap with those before."""
    generator = np.random.default_rng(0)
    arrays = []
    for _, shape, is_complex in CASES:
        x = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
        arrays.append(x if is_complex else x.real)

    def transforms(*arrays):
        return [getattr(jnp.fft, name)(x) for (name, *_), x in zip(CASES, arrays, strict=True)]

    with irax.enable_x64(True):
        given = [
            jnp.asarray(x, np.result_type(dtype, np.complex64) if np.iscomplexobj(x) else dtype)
            for x in arrays
        ]
        results = irax.jit(transforms)(*given)
        module = mlir.parse_module(irax.jit(transforms).lower(*given).as_text())
    (main,) = (name for name, f in mlir.functions(module).items() if mlir.is_public(f))
    text = str(lower(module, main))
    assert text.count("flow.dispatch @fourier") == len(CASES) + 2  # of two axes
    for (name, shape, _), x, got in zip(CASES, arrays, results, strict=True):
        expected = getattr(np.fft, name)(x)
        error = np.abs(np.asarray(got) - expected).max() / np.abs(expected).max()
        assert error < (1e-6 if dtype == "float32" else 1e-14), (name, shape, error)
