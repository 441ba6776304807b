"""Fourier transforms by kernels and by the host, beside NumPy's in float64."""

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
]

ON_HOST = [
    ("fft", (1009,), True),
    ("ifft", (3, 100), True),
    ("rfft", (2, 131), False),
    ("irfft", (5000,), True),
    ("fft2", (18, 40), True),
    ("irfft2", (32, 17), True),
    ("rfftn", (3, 33, 32, 33), False),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.slow
def test_kernels_and_calls_of_the_host(dtype):
    """Lengths with all factors; last blocks and groups that overlap with those before."""
    cases = [*CASES, *ON_HOST]
    generator = np.random.default_rng(0)
    arrays = []
    for _, shape, is_complex in cases:
        x = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
        arrays.append(x if is_complex else x.real)

    def transforms(*arrays):
        return [getattr(jnp.fft, name)(x) for (name, *_), x in zip(cases, arrays, strict=True)]

    with irax.enable_x64(True):
        given = [
            jnp.asarray(x, np.result_type(dtype, np.complex64) if np.iscomplexobj(x) else dtype)
            for x in arrays
        ]
        results = irax.jit(transforms)(*given)
        module = mlir.parse_module(irax.jit(transforms).lower(*given).as_text())
    (main,) = (name for name, f in mlir.functions(module).items() if mlir.is_public(f))
    text = str(lower(module, main))
    assert text.count("flow.dispatch @fourier") == len(CASES)
    assert text.count("call @irax_host") == len(ON_HOST)
    for (name, shape, _), x, got in zip(cases, arrays, results, strict=True):
        expected = getattr(np.fft, name)(x)
        error = np.abs(np.asarray(got) - expected).max() / np.abs(expected).max()
        assert error < (1e-6 if dtype == "float32" else 1e-14), (name, shape, error)
