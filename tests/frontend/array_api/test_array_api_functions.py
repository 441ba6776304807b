"""The functions of the array API standard, as it calls them, beside NumPy's: values and dtypes."""

import itertools

import numpy as np
import pytest
from tests.frontend.array_api.array_api_tables import (
    COMPLEX_NUMBERS,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REALS,
)

import irax
import irax.numpy as jnp


@pytest.fixture(autouse=True)
def wide():
    with irax.enable_x64(True):
        yield


A = np.array([[4.0, 1.0, -2.5], [1.0, 3.0, 0.5], [-2.5, 0.5, 6.0]])
V = np.array([2.0, -1.0, 0.5, np.nan, np.inf, -0.0])
Z = A + 1j * A[::-1]
N, B = np.array([[3, 1, 2], [1, 3, 0]]), np.array([[True, False, True], [False, False, True]])
CUBE = np.arange(24.0).reshape(2, 3, 4)

CALLS = [
    *(
        lambda m, a, f=f: getattr(m, f)(a(N))
        for f in ("sum", "prod", "max", "min", "argmax", "any")
    ),
    *(
        lambda m, a, f=f: getattr(m, f)(a(N.astype("uint8")), axis=0)
        for f in ("sum", "prod", "max")
    ),
    *(
        lambda m, a, f=f, axis=axis: getattr(m, f)(a(CUBE), axis=axis, keepdims=True)
        for f in ("sum", "mean", "std", "var", "max", "all", "count_nonzero")
        for axis in (None, -1, (0, 2), ())
    ),
    lambda m, a: m.var(a(A), correction=1.0),
    lambda m, a: m.sum(a(B)),
    lambda m, a: m.sum(a(N), dtype=m.float32),
    lambda m, a: m.cumulative_sum(a(N), axis=1, include_initial=True),
    lambda m, a: m.cumulative_prod(a(N.astype("int8")), axis=0),
    lambda m, a: m.cumulative_sum(a(V)),
    lambda m, a: m.diff(a(N), n=2, prepend=a(np.zeros((2, 1), int)), append=a(N)),
    lambda m, a: m.clip(a(N), 1, 2),
    lambda m, a: m.clip(a(V), None, a(np.ones(1))),
    lambda m, a: m.nonzero(a(N)),
    lambda m, a: m.argmin(a(A), axis=1, keepdims=True),
    lambda m, a: m.where(a(B), a(N), a(A[:2])),
    lambda m, a: m.sort(a(V[:3])),
    lambda m, a: m.argsort(a(N), axis=0, stable=True),
    lambda m, a: m.take(a(N), a(np.array([2, 0])), axis=1),
    lambda m, a: m.take_along_axis(a(N), a(np.array([[2], [0]])), axis=1),
    *(
        lambda m, a, f=f: getattr(m, f)(a(V))
        for f in ("unique_all", "unique_counts", "unique_values")
    ),
    lambda m, a: m.unique_inverse(a(N)),
    lambda m, a: m.broadcast_arrays(a(N), a(V[:3])),
    lambda m, a: m.broadcast_to(a(V), (2, 6)),
    lambda m, a: m.concat([a(N), a(B)], axis=None),
    lambda m, a: m.concat([a(N), a(N)], axis=-1),
    lambda m, a: m.expand_dims(a(N), axis=-3),
    lambda m, a: m.flip(a(CUBE), axis=(0, -1)),
    lambda m, a: m.moveaxis(a(CUBE), (0, 1), (-1, 0)),
    lambda m, a: m.permute_dims(a(CUBE), (2, 0, 1)),
    lambda m, a: m.repeat(a(N), a(np.array([0, 2])), axis=0),
    lambda m, a: m.reshape(a(CUBE), (4, -1), copy=True),
    lambda m, a: m.roll(a(CUBE), (1, -2), axis=(0, 2)),
    lambda m, a: m.squeeze(a(N)[None], axis=0),
    lambda m, a: m.stack([a(N), a(N)], axis=-1),
    lambda m, a: m.tile(a(N), (2, 1, 2)),
    lambda m, a: m.unstack(a(CUBE), axis=1),
    lambda m, a: m.meshgrid(a(N[0]), a(V), indexing="ij"),
    lambda m, a: m.tril(a(CUBE), k=1),
    lambda m, a: m.triu(a(CUBE), k=-1),
    lambda m, a: m.arange(5),
    lambda m, a: m.arange(1, 2, 0.25),
    lambda m, a: m.arange(5, 1, -2, dtype=m.uint8),
    lambda m, a: m.linspace(0, 1, 4, endpoint=False, dtype=m.float32),
    lambda m, a: m.eye(2, 3, k=1, dtype=m.int8),
    lambda m, a: m.full((2, 1), 3),
    lambda m, a: m.full_like(a(N), 2),
    lambda m, a: m.ones_like(a(Z)),
    lambda m, a: m.zeros(3, dtype=m.complex64),
    lambda m, a: m.astype(a(V[:3]), m.int8),
    lambda m, a: m.asarray([[1, 2], [3, 4]], dtype=m.uint16),
    lambda m, a: m.asarray([1, 2.5, 3]),
    lambda m, a: m.matmul(a(CUBE), a(np.ones((4, 2)))),
    lambda m, a: m.tensordot(a(CUBE), a(CUBE), axes=((0, 2), (0, 2))),
    lambda m, a: m.vecdot(a(Z), a(Z[::-1]), axis=0),
    lambda m, a: m.matrix_transpose(a(CUBE)),
    lambda m, a: m.linalg.cholesky(a(A), upper=True),
    lambda m, a: m.linalg.cross(a(A), a(A[::-1])),
    lambda m, a: m.linalg.det(a(Z)),
    lambda m, a: m.linalg.diagonal(a(CUBE), offset=1),
    lambda m, a: m.linalg.diagonal(a(-np.zeros((3, 2))), offset=-1),
    lambda m, a: m.linalg.eigvalsh(a(A)),
    lambda m, a: m.linalg.inv(a(Z)),
    *(
        lambda m, a, ord=ord: m.linalg.matrix_norm(a(Z), ord=ord, keepdims=True)
        for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ),
    *(
        lambda m, a, ord=ord: m.linalg.vector_norm(a(Z), ord=ord, axis=1)
        for ord in (0, 1, 2, -1, 2.5, np.inf, -np.inf)
    ),
    lambda m, a: m.linalg.matrix_power(a(A), -2),
    lambda m, a: m.linalg.matrix_rank(a(np.ones((2, 3)))),
    lambda m, a: m.linalg.outer(a(V), a(N[0])),
    lambda m, a: m.linalg.pinv(a(CUBE)),
    lambda m, a: m.linalg.slogdet(a(A)),
    lambda m, a: m.linalg.solve(a(A), a(V[:3])),
    lambda m, a: m.linalg.svdvals(a(CUBE)),
    lambda m, a: m.linalg.trace(a(N.astype("int8")), offset=1),
    *(
        lambda m, a, f=f, norm=norm: getattr(m.fft, f)(a(Z), n=5, axis=0, norm=norm)
        for f in ("fft", "ifft", "irfft", "hfft")
        for norm in ("backward", "ortho", "forward")
    ),
    lambda m, a: m.fft.rfft(a(A)),
    lambda m, a: m.fft.ihfft(a(A)),
    lambda m, a: m.fft.fftn(a(Z)),
    lambda m, a: m.fft.irfftn(a(Z), s=(3, 4), axes=(0, 1)),
    lambda m, a: m.fft.rfftn(a(CUBE), axes=(1, 2)),
    lambda m, a: m.fft.fftfreq(5, d=0.5),
    lambda m, a: m.fft.rfftfreq(5),
    lambda m, a: m.fft.fftshift(a(A), axes=0),
    lambda m, a: m.log2(a(np.array([np.inf + 1j, 2j]))),
    lambda m, a: m.log10(a(np.array([complex(-np.inf, -1), 1e-3]))),
    lambda m, a: m.round(a(np.array([1.5 - 2.5j, 0.4 + 7j]))),
    lambda m, a: m.isfinite(a(V)),
    lambda m, a: m.floor(a(N)),
    lambda m, a: m.nextafter(a(V), a(np.zeros(1))),
    lambda m, a: m.hypot(a(V), a(V[::-1].copy())),
    lambda m, a: m.arange(5.0, None, 0.5),
    lambda m, a: m.arange(7, step=2),
    lambda m, a: m.arange(-3.0, step=-0.5, dtype=m.float32),
    lambda m, a: m.arange(5.0, step=0.5, dtype=m.int32),
    lambda m, a: m.real(a(Z)),
    lambda m, a: m.imag(a(Z.astype("complex64"))),
]


def assert_same(found, expected):
    if isinstance(expected, tuple | list):
        assert getattr(type(found), "_fields", None) == getattr(type(expected), "_fields", None)
        for f, e in zip(found, expected, strict=True):
            assert_same(f, e)
        return
    assert isinstance(found, irax.Array)
    assert (found.shape, found.dtype) == (np.shape(expected), np.asarray(expected).dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    if found.dtype.kind == "f":
        zero = np.asarray(expected) == 0
        np.testing.assert_array_equal(np.signbit(found)[zero], np.signbit(expected)[zero])


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_beside_numpy(number):
    assert_same(CALLS[number](jnp, jnp.asarray), CALLS[number](np, np.asarray))


UNARY = {
    "abs ceil floor negative positive round sign square trunc": REALS,
    "conj negative positive square abs round reciprocal sign": COMPLEX_NUMBERS,
    "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 sin sinh": INEXACT,
    "sqrt tan tanh": INEXACT,
    "isfinite isinf isnan": NUMBERS,
    "signbit reciprocal": FLOATS,
    "bitwise_invert": ["bool", *INTEGERS],
    "logical_not": ["bool"],
    "real imag": COMPLEX_NUMBERS,
}


@pytest.mark.parametrize("names", UNARY)
def test_elementwise_functions_of_all_dtypes(names):
    for name, dtype in itertools.product(names.split(), UNARY[names]):
        x = np.array([[0.25, 0.5, 1], [1, 0.75, 0.125]]).astype(dtype)
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(x)
        found = getattr(jnp, name)(jnp.asarray(x))
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), (name, dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
