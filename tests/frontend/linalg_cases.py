"""Lines for irax.numpy.linalg, irax.numpy.fft and irax.scipy.linalg, as in `numpy_cases.py`."""

import numpy as np
import scipy.linalg
from tests.frontend.numpy_operands import C, Q, S, Table

_linalg = Table("numpy.linalg", np.linalg)
_fft = Table("numpy.fft", np.fft)
_scipy = Table("scipy.linalg", scipy.linalg)

GENERAL = np.float32([[4, 1, 0.5], [1, 3, -1], [0.2, -1, 2]])
POSITIVE = np.float32([[4, 1, 0.5], [1, 3, -1], [0.5, -1, 2]])
PAIR = np.stack([POSITIVE, 2 * POSITIVE + np.eye(3, dtype=np.float32)])

case, cases = _linalg.case, _linalg.cases
for x in (GENERAL, PAIR):
    cases("det inv", x, loose=20)
    cases("slogdet", x, loose=20)
    case("solve", x, S(3, 2), loose=20)
    cases("eigvalsh", np.tril(x) + np.swapaxes(np.tril(x, -1), -1, -2), loose=20)
    case("svdvals", x, loose=20)
    case("matrix_power", x, 3, loose=20)
    case("matrix_power", x, -2, loose=40)
    case("matrix_norm", x, loose=20)
    case("matrix_transpose", x)
    case("matrix_rank", x)
    cases("pinv", x, loose=40)
    case("cond", x, loose=40)
    case("trace", x, loose=4)
    case("diagonal", x)
cases("cholesky", POSITIVE, loose=20, smooth=False)
for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    case("norm", S(3, 4), order, loose=20, smooth=order in (None, "fro"))
for order in (None, 0, 1, 2, 3, -1, np.inf, -np.inf):
    case("norm", S(5), order, loose=9, smooth=order in (None, 2, 3))
    case("norm", S(3, 5), order, axis=1, keepdims=True, loose=9, smooth=order in (None, 2, 3))
case("vector_norm", S(3, 5), axis=1, ord=3, loose=9)
case(
    "lstsq",
    S(5, 3),
    S(5),
    reference=lambda a, b: np.linalg.lstsq(a, b, None),
    loose=90,
    smooth=False,
)
cases("matmul", Q(2, 3), Q(3, 4), loose=4)
case("outer", Q(2), Q(3))
case("cross", S(2, 3), S(2, 3), loose=4)
case("vecdot", Q(2, 3), Q(2, 3), loose=4)
case("tensordot", S(2, 3, 4), S(3, 4, 2), loose=4)
case("multi_dot", [S(2, 3), S(3, 4), S(4, 2)], loose=9)
case("tensorinv", S(4, 2, 2), 1, loose=90)
case("tensorsolve", S(2, 2, 4), S(2, 2), loose=90)

case, cases = _fft.case, _fft.cases
for shape in ((6,), (2, 5)):
    cases("fft ifft", Q(*shape), loose=9)
    cases("rfft ihfft", S(*shape), loose=9)
    cases("irfft hfft", C(*shape), loose=9)
    for norm in ("backward", "ortho", "forward"):
        cases("fft ifft", C(*shape), n=4, norm=norm, axis=0, loose=9)
        cases("rfft", S(*shape), n=8, norm=norm, loose=9)
        cases("irfft", C(*shape), n=7, norm=norm, loose=9)
    cases("fftshift ifftshift", Q(*shape))
cases("fft2 ifft2 fftn ifftn", C(3, 4), loose=9)
cases("rfft2 rfftn", S(3, 4), loose=9)
cases("irfft2 irfftn", C(3, 4), loose=9)
cases("fftn ifftn", C(2, 3, 4), axes=(0, 2), s=(3, 3), loose=9)
cases("fftfreq rfftfreq", 5, 0.1)

case, cases = _scipy.case, _scipy.cases
cases("det inv", GENERAL, loose=20)
case("solve", GENERAL, S(3), loose=20)
case("solve", POSITIVE, S(3), assume_a="pos", loose=20, smooth=False)
case("solve_triangular", np.tril(GENERAL), S(3), lower=True, loose=20)
cases("cholesky", POSITIVE, lower=True, loose=20, smooth=False)
cases("expm", GENERAL / 4, loose=40)
cases("sqrtm", POSITIVE, loose=90, smooth=False)
case("block_diag", S(2, 2), S(1, 3))
case("toeplitz", S(3), S(4), smooth=False)
case("hankel", S(3), S(4), smooth=False, reference=lambda c, r: scipy.linalg.hankel(c, r))
case("circulant", S(4))
case("companion", S(4, low=1))
case("fiedler", S(4), smooth=False)
case("leslie", S(4, low=0.1, high=1), S(3, low=0.1, high=1))
case("convolution_matrix", S(4), 3)
cases("hilbert dft", 4, loose=9)
cases("invhilbert pascal", 4, loose=9, jax=False)
case("hadamard", 4, jax=False)
case("helmert", 4, loose=9)
case("solve_sylvester", GENERAL, POSITIVE, S(3, 3), loose=200, smooth=False)
