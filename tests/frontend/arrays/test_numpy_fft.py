"""irax.numpy.fft, against NumPy's."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.test_util import check_grads

RNG = np.random.default_rng(0)
REAL = RNG.standard_normal((3, 4, 6)).astype(np.float32)
COMPLEX = (REAL + 1j * RNG.standard_normal((3, 4, 6))).astype(np.complex64)
NORMS = [None, "backward", "ortho", "forward"]


def close(found, expected) -> None:
    assert (
        found.dtype == expected.astype(np.complex64 if expected.dtype.kind == "c" else "f4").dtype
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_along_one_axis(name, norm):
    x = REAL if name in ("rfft", "ihfft") else COMPLEX
    ours, theirs = getattr(jnp.fft, name), getattr(np.fft, name)
    for n in (None, 3, 6, 9):
        for axis in (-1, 0):
            close(ours(x, n, axis, norm), theirs(x, n, axis, norm))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_along_two_axes(name, norm):
    x = REAL if name == "rfft2" else COMPLEX
    ours, theirs = getattr(jnp.fft, name), getattr(np.fft, name)
    close(ours(x, norm=norm), theirs(x, norm=norm))
    close(ours(x, (5, 4), (0, 2), norm), theirs(x, (5, 4), (0, 2), norm))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_along_any_axes(name):
    x = REAL if name == "rfftn" else COMPLEX
    ours, theirs = getattr(jnp.fft, name), getattr(np.fft, name)
    close(ours(x), theirs(x))
    close(ours(x, axes=(1,)), theirs(x, axes=(1,)))
    close(ours(x, s=(2, 3), axes=(2, 0)), theirs(x, s=(2, 3), axes=(2, 0)))


def test_frequencies_and_shifts():
    for n in (4, 5):
        close(jnp.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
        close(jnp.fft.rfftfreq(n, 0.5), np.fft.rfftfreq(n, 0.5))
    found = jnp.fft.rfftfreq(5, 0.1, dtype="int32")
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, [0, 2, 4])
    for axes in (None, 1, (0, 2), (1, 1)):
        close(jnp.fft.fftshift(REAL, axes), np.fft.fftshift(REAL, axes))
        close(jnp.fft.ifftshift(REAL, axes), np.fft.ifftshift(REAL, axes))


def test_derivatives_batches_and_compilation():
    def f(x):
        return jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2 * jnp.arange(4.0))

    check_grads(f, (REAL[0, 0],), order=2, atol=0.1, rtol=0.1)
    expected = np.stack([irax.grad(f)(x) for x in REAL[0]])
    np.testing.assert_allclose(irax.vmap(irax.grad(f))(REAL[0]), expected, rtol=1e-3, atol=1e-3)
    found = irax.jit(irax.vmap(irax.grad(f)))(REAL[0])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: jnp.fft.rfft(COMPLEX), ValueError, "expected real numbers"),
        (lambda: jnp.fft.fft(REAL, norm="x"), ValueError, "norm must be"),
        (lambda: jnp.fft.fft(REAL, 0), ValueError, "at least 1"),
        (lambda: irax.lax.fft(COMPLEX, "FFT", (5,)), ValueError, "fft_lengths"),
        (lambda: irax.lax.fft(COMPLEX, "ABC", (6,)), ValueError, "fft_type must be"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: jnp.fft.fft(np.ones((2, 3)), axis=(0, 1)),
        lambda: jnp.fft.ihfft(np.ones((2, 3)), axis=[1]),
        lambda: jnp.fft.fft2(np.ones((2, 3)), axes=(0,)),
        lambda: jnp.fft.fftfreq([1, 2]),
        lambda: jnp.fft.rfftfreq(3, d=[1.0]),
    ],
)
def test_wrong_axes_are_value_errors(call):
    with pytest.raises(ValueError, match="fft"):
        call()
