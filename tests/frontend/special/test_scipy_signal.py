"""irax.scipy.signal against SciPy's."""

import numpy as np
import pytest
import scipy.signal

import irax
from irax.scipy import signal
from irax.test_util import check_grads

RNG = np.random.default_rng(0)


def close(found, expected, tolerance=1e-4) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def draw(*shape, dtype="f4"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if dtype == "c8" else x).astype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "c8"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolutions(name: str, mode: str, dtype: str) -> None:
    for one, two in (((7,), (4,)), ((6, 5), (3, 2)), ((3,), (8,)), ((4, 4, 3), (2, 3, 3))):
        x, y = draw(*one, dtype=dtype), draw(*two, dtype=dtype)
        expected = getattr(scipy.signal, name)(x, y, mode)
        for method in ("direct", "fft"):
            close(getattr(signal, name)(x, y, mode, method), expected)
        if x.ndim == 2:
            plane = getattr(scipy.signal, f"{name}2d")(x, y, mode)  # another middle for "same"
            close(getattr(signal, f"{name}2d")(x, y, mode), plane)


def test_convolution_along_axes() -> None:
    x, y = draw(3, 8), draw(1, 4)
    close(signal.fftconvolve(x, y, axes=[1]), scipy.signal.fftconvolve(x, y, axes=[1]))
    f = lambda a, b: signal.convolve(a, b, "same", "fft")
    check_grads(f, (draw(6), draw(3)), order=1, atol=1e-2, rtol=1e-2)


def test_trends() -> None:
    x = draw(6, 20)
    for options in ({}, {"axis": 0}, {"type": "constant"}, {"bp": [5, 12]}, {"bp": 7}):
        close(signal.detrend(x, **options), scipy.signal.detrend(x, **options))


SPECTRA = [
    {},
    {"fs": 10.0, "window": "hamming", "nperseg": 16},
    {"nperseg": 15, "noverlap": 4, "nfft": 20, "detrend": "linear"},
    {"nperseg": 16, "scaling": "spectrum", "average": "median", "return_onesided": False},
    {"nperseg": 16, "axis": 0, "detrend": False},
]


@pytest.mark.parametrize("options", SPECTRA)
@pytest.mark.filterwarnings("ignore:nperseg")
def test_densities(options) -> None:
    x, y = draw(60, 50), draw(60, 50)
    for found, expected in (
        (signal.welch(x, **options), scipy.signal.welch(x, **options)),
        (signal.csd(x, y, **options), scipy.signal.csd(x, y, **options)),
    ):
        close(found[0], expected[0])
        close(found[1], expected[1])
    z = draw(60, dtype="c8")
    close(
        signal.welch(z, nperseg=16)[1], scipy.signal.welch(z, nperseg=16, return_onesided=False)[1]
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nperseg": 15, "noverlap": 10, "fs": 8.0},
        {"boundary": None, "padded": False},
        {"boundary": "even", "nfft": 20, "axis": 0, "detrend": "constant"},
    ],
)
def test_transforms_of_segments(options) -> None:
    x = draw(52, 50)
    options = {"nperseg": 16, **options}
    for found, expected in zip(
        signal.stft(x, **options), scipy.signal.stft(x, **options), strict=True
    ):
        close(found, expected)
    if options.keys() <= {"nperseg", "noverlap", "fs"}:
        transforms = scipy.signal.stft(x[0], **options)[2]
        several = scipy.signal.stft(x, axis=0, **options)[2]
        axes = {"time_axis": -1, "freq_axis": 0}
        expected = scipy.signal.istft(several, **options, **axes)[1]
        close(signal.istft(several, **options, **axes)[1], expected)
        for found, expected in zip(
            signal.istft(transforms, **options),
            scipy.signal.istft(transforms, **options),
            strict=True,
        ):
            close(found, expected)


def test_compiled() -> None:
    x = draw(64)
    f = irax.jit(lambda v: signal.welch(v, nperseg=16)[1])
    close(f(x), scipy.signal.welch(x, nperseg=16)[1])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: signal.convolve(draw(3), draw(2, 2)), ValueError, "one number of dimensions"),
        (lambda: signal.convolve(draw(3), draw(2), "x"), ValueError, "mode must be"),
        (lambda: signal.convolve(draw(3, 2), draw(2, 3), "valid"), ValueError, "not smaller"),
        (
            lambda: signal.convolve2d(draw(3, 2), draw(2, 3), boundary="wrap"),
            NotImplementedError,
            "boundary",
        ),
        (lambda: signal.detrend(draw(9), type="x"), ValueError, "type must be"),
    ],
)
def test_wrong_arguments(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("window", ["triang", "flattop", "nuttall", ("kaiser", 8.0)])
def test_windows_by_name(window):
    x, options = draw(3, 40), {"window": window, "nperseg": 16}
    close(signal.welch(x, **options)[1], scipy.signal.welch(x, **options)[1])
    close(signal.stft(x, **options)[2], scipy.signal.stft(x, **options)[2])
    with pytest.raises(ValueError, match="window='nothing'"):
        signal.welch(x, window="nothing")


@pytest.mark.parametrize("shapes", [((3, 40), (3, 30)), ((2, 1, 40), (3, 40)), ((40,), (2, 40))])
def test_cross_spectra_of_signals_of_two_shapes(shapes):
    x, y = (draw(*shape) for shape in shapes)
    close(signal.csd(x, y, nperseg=16)[1], scipy.signal.csd(x, y, nperseg=16)[1])


def test_transforms_of_a_signal_that_goes_on_oddly():
    x, options = draw(2, 30), {"nperseg": 8, "boundary": "odd"}
    close(signal.stft(x, **options)[2], scipy.signal.stft(x, **options)[2])
    with pytest.raises(ValueError, match="boundary"):
        signal.stft(x, boundary="even-odd")


def test_spectra_of_nothing():
    for x in (draw(0), draw(2, 0)):
        for name in ("stft", "welch"):
            found, expected = getattr(signal, name)(x), getattr(scipy.signal, name)(x)
            assert [v.shape for v in found] == [v.shape for v in expected]
