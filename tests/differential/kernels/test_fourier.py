"""Fourier transforms by kernels and by the host, beside NumPy's in float64."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import mlir
from irax_compiler.lowering import lower

CASES = [
    # transform, shape, whether the numbers are complex, kernels, calls of the host
    ("fft", (16, 16), True, 1, 0),
    ("ifft", (2, 19, 60), True, 1, 0),
    ("fft", (33, 13 * 11), True, 1, 0),
    ("ifft", (16, 7 * 7 * 3), True, 1, 0),
    ("rfft", (17, 90), False, 1, 0),
    ("rfft", (50, 45), False, 1, 0),
    ("irfft", (19, 33), True, 1, 0),
    ("fft2", (18, 40), True, 2, 0),
    ("ifft2", (2, 1, 17, 15, 33, 20), True, 2, 0),
    ("irfft2", (32, 17), True, 2, 0),
    ("rfftn", (33, 32, 40), False, 3, 0),
    ("irfftn", (6, 50, 33), True, 3, 0),
    ("fft", (5000,), True, 2, 0),
    ("ifft", (3, 17 * 1024), True, 0, 1),
    ("ifft", (3, 15 * 1024), True, 2, 0),
    ("fft", (1009,), True, 0, 1),
    ("ifft", (3, 134), True, 0, 1),
    ("fft2", (40, 6), True, 0, 1),
    ("rfft", (2, 131), False, 0, 0),
    ("irfft", (2531,), True, 0, 1),
    ("rfft", (2, 1120), False, 2, 0),
    ("irfft", (5001,), True, 2, 0),
    ("irfft2", (34, 17), True, 0, 1),
    ("rfftn", (33, 32, 12), False, 0, 1),
    ("fft", (3, 90), True, 2, 0),
    ("ifft", (250,), True, 2, 0),
    ("rfft", (2, 240), False, 2, 0),
    ("irfft", (151,), True, 2, 0),
    ("irfft", (70,), True, 0, 0),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "shape"), [("fft", (100_000,)), ("ifft", (64, 1024)), ("fft2", (2, 96, 80))]
)
def test_nothing_but_the_result_takes_memory(name, shape):
    """A kernel's scratch memory is on the stack, and what a later kernel reads in the result."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    transform = irax.jit(getattr(jnp.fft, name))
    expected = getattr(np.fft, name)(x)
    for _ in range(2):
        got = np.asarray(transform(x.astype(np.complex64)))
        assert np.abs(got - expected).max() < 1e-6 * np.abs(expected).max()
    compiled = transform.lower(x.astype(np.complex64)).compile()
    assert compiled.memory_analysis().temp_size_in_bytes == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.slow
def test_kernels_and_calls_of_the_host(dtype):
    """Lengths with all factors; last blocks and groups that overlap with those before."""
    generator = np.random.default_rng(0)
    arrays = []
    for _, shape, is_complex, *_ in CASES:
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
    assert text.count("flow.dispatch @fourier") == sum(kernels for *_, kernels, _ in CASES)
    assert text.count("call @irax_host") == sum(calls for *_, calls in CASES)
    for (name, shape, *_), x, got in zip(CASES, arrays, results, strict=True):
        expected = getattr(np.fft, name)(x)
        error = np.abs(np.asarray(got) - expected).max() / np.abs(expected).max()
        assert error < (1e-6 if dtype == "float32" else 1e-14), (name, shape, error)
