"""One line for each function of irax.numpy: what it is called with, to compare with NumPy.

    case("diff", N(4, 3), axis=0)

N(4, 3) stands for an array of shape (4, 3), of each of several dtypes in turn: see
`numpy_operands.py`. `test_numpy_table.py` runs the cases.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.frontend.numpy_operands import A, B, C, F, I, J, N, Operand, Q, R, S, case, cases


def spacing32(x: np.ndarray) -> np.ndarray:
    """NumPy's function, of float32: the distance of floats depends on how many there are."""
    return np.spacing(x.astype(np.float32))


# ---- elementwise ---------------------------------------------------------------------------------

for shape in ((), (2, 3), (0, 2)):
    cases("abs absolute square positive conj conjugate real imag", N(*shape), smooth=False)
    cases(
        "exp expm1 sin cos tan sinh cosh tanh arctan atan arcsinh asinh", Q(*shape, high=1), loose=9
    )
    cases("exp2 cbrt fabs deg2rad rad2deg degrees radians sinc", F(*shape), loose=4)
    cases("log log1p log2 log10 sqrt reciprocal", Q(*shape, low=0.5), loose=9)
    cases("arcsin arccos asin acos arctanh atanh", S(*shape, low=-0.9, high=0.9), loose=4)
    cases("arccosh acosh", S(*shape, low=1.5), loose=4)
    cases("floor ceil trunc rint round around", F(*shape))
    cases("sign nan_to_num", R(*shape))
    cases("negative", Q(*shape))
    cases("isnan isinf isfinite logical_not iscomplex isreal", A(*shape))
    cases("isposinf isneginf signbit", F(*shape))
    cases("invert bitwise_not bitwise_invert bitwise_count", I(*shape))
    cases("modf frexp", S(*shape))
    case("spacing", S(*shape), reference=spacing32)
    case("i0", S(*shape), loose=4)
    case("angle", Q(*shape), smooth=False)
case("angle", C(3), deg=True, loose=9, smooth=False)
case("frexp", np.float32([0, -0.0, np.inf, 1e-42, -3e38, 1]), smooth=False)
case("spacing", np.float32([1e-45, -1e-40, 1.2e-38, -3e-38, 2e-31, -2e-32]), reference=spacing32)
case("spacing", np.float32([0, -0.0, 1e-42, -3e38, 1]), reference=spacing32)
case("modf", np.float32([np.inf, -np.inf, -0.0, -2.5]), smooth=False)
case("fix", F(3))

cases("abs absolute square positive conj conjugate real", S(2, 3, low=0.5))
for left, right in (((), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 2), (2,))):
    cases("add subtract multiply", N(*left), N(*right))
    cases("divide true_divide", Q(*left), Q(*right, low=0.5), loose=4)
    cases("maximum minimum fmax fmin", R(*left), R(*right))
    cases("floor_divide mod remainder fmod divmod", R(*left), R(*right, low=1), smooth=False)
    cases("power pow float_power", S(*left, low=0.5), S(*right), loose=9)
    cases("arctan2 atan2 hypot logaddexp logaddexp2 copysign", F(*left), F(*right), loose=4)
    cases("heaviside", F(*left), F(*right))
    case("nextafter", S(*left), S(*right), smooth=False)
    cases("equal not_equal", A(*left), A(*right))
    cases("less less_equal greater greater_equal", R(*left), R(*right))
    cases("logical_and logical_or logical_xor", A(*left), A(*right))
    cases("bitwise_and bitwise_or bitwise_xor", I(*left), I(*right))
    cases("left_shift bitwise_left_shift", I(*left), I(*right, low=0))
    cases("right_shift bitwise_right_shift", I(*left), I(*right, low=0))
    cases("gcd lcm", I(*left, high=40), I(*right, high=40))
    case("ldexp", S(*left), J(*right))
    case("where", B(*left), N(*left), N(*right))
    cases("isclose array_equiv", N(*left), N(*right))
case("gcd", np.int32([0, 0, -12, 7]), np.int32([0, 5, 18, -7]))
case("lcm", np.int32([0, 0, -12, 7]), np.int32([0, 5, 18, -7]))
case("ldexp", np.float32([1, 3e38, 2e-38]), np.int32([-100, -200, 200]), smooth=False)
cases("floor_divide remainder divmod", np.int32([5, -5, 0]), np.int32([0, 3, 0]))
cases("floor_divide remainder divmod", np.float32([5, -5, 0]), np.float32([0, 0, 0]), smooth=False)
cases("floor_divide remainder", np.uint8([5, 7]), np.uint8([0, 2]))
case("clip", R(2, 3), 1, 2)
case("clip", S(2, 3), S(3, low=-3, high=-1), S(3, low=1))

# ---- reductions ----------------------------------------------------------------------------------

for options in ({}, {"axis": 0}, {"axis": (0, 1)}, {"axis": -1, "keepdims": True}):
    cases("sum prod", N(3, 4, low=1, high=2), **options, loose=4)
    cases("max min amax amin ptp", R(3, 4), **options)
    cases("all any count_nonzero", A(3, 4, low=0, high=1), **options)
    cases("mean var std", Q(3, 4), **options, loose=4)
    cases("nansum nanprod", S(3, 4, missing=True), **options, smooth=False, loose=4)
    cases("nanmax nanmin nanmean nanvar nanstd", S(3, 4, missing=True), **options, smooth=False)
    cases("median nanmedian", S(3, 4), **options)
    cases("average", F(3, 4), **options)
cases("sum prod mean", R(0, 3), axis=0, smooth=False)
cases("sum prod mean max min all any", R())
case("sum", S(3, 4), where=B(3, 4), initial=2.0)
case("max", S(3, 4), where=B(3, 4), initial=-9.0)
case("mean", S(3, 4), where=np.arange(12).reshape(3, 4) > 2)
case("var", S(3, 4), ddof=1)
case("std", S(3, 4), axis=1, correction=1)
case("var", S(3, 4), axis=1, mean=np.zeros((3, 1), np.float32), smooth=False)
case("nanvar", S(3, 5, missing=True), axis=1, ddof=1, smooth=False)
case("average", S(3, 4), axis=1, weights=S(4, low=1), returned=True)
for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}):
    cases("argmax argmin", R(3, 4), **options)
    cases("nanargmax nanargmin", S(3, 5), **options)
cases("nanargmax nanargmin", S(3, 5, missing=True), axis=1)
for options in ({}, {"axis": 0}, {"axis": -1}):
    cases("cumsum cumprod", N(3, 4, low=-2, high=2), **options, loose=9)
    cases("nancumsum nancumprod", S(3, 4, missing=True), **options, smooth=False)
cases("cumulative_sum cumulative_prod", N(4, low=-2, high=2), loose=9, jax=False)
cases("cumulative_sum cumulative_prod", Q(2, 3), axis=1, include_initial=True, loose=9)
cases("array_equal allclose", N(3), N(3))
case("isclose", np.float32([1, np.nan, np.inf]), np.float32([1, np.nan, np.inf]), equal_nan=True)
case("trace", N(3, 4), 1)
case("trace", N(3, 4, 2), axis1=1, axis2=2)

# ---- quantiles -----------------------------------------------------------------------------------

_METHODS = (
    *("linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf"),
    *("closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased"),
    "normal_unbiased",
)
for method in _METHODS:
    options = {"method": method, "jax": method in _METHODS[:6]}
    case("quantile", S(7, 5), S(4, low=0, high=1), axis=0, **options, smooth=False)
    case("nanquantile", S(4, 6, missing=True), 0.5, axis=1, **options, smooth=False)
    case(
        "percentile",
        S(5, 3),
        np.float32([[10, 60]]),
        **options | {"jax": False},
        keepdims=True,
        smooth=False,
    )
    case("nanpercentile", S(5, 4, missing=True), 50, axis=0, **options, smooth=False)
case("quantile", R(5), 0.5)
case("quantile", S(9), np.float32([0, 0.25, 0.5, 1]), smooth=False, jax=False)
cases("median nanmedian", S(0, 3), axis=0, jax=False)
case("quantile", F(5), np.float32([0.25, 0.5]), smooth=False, jax=False)
case(
    *("quantile", S(5, 3), S(3, low=0, high=1)),
    axis=0,
    method="inverted_cdf",
    weights=S(5, 3, low=1),
    smooth=False,
)
case("nanmedian", S(4, 3, missing=True), axis=0, smooth=False)

# ---- shapes --------------------------------------------------------------------------------------

case("reshape", A(2, 3), (3, -1))
case("reshape", A(2, 3), (3, 2), order="F")
case("ravel", A(2, 3))
case("ravel", A(2, 3), order="F")
case("expand_dims", A(2, 3), (0, 1))
cases("squeeze", A(1, 3, 1))
case("squeeze", A(1, 3, 1), axis=2)
for shape in ((), (3,), (2, 3)):
    cases("atleast_1d atleast_2d atleast_3d", A(*shape))
    cases("shape ndim size", A(*shape))
    cases("iscomplexobj isrealobj", A(*shape), traced=False)
    case("isscalar", A(*shape), traced=False, reference=lambda x: x.ndim == 0)
case("transpose", A(2, 3, 4))
case("transpose", A(2, 3, 4), (1, -1, 0))
case("permute_dims", A(2, 3, 4), (1, 2, 0))
case("matrix_transpose", A(2, 3, 4))
case("swapaxes", A(2, 3, 4), 0, -1)
case("moveaxis", A(2, 3, 4), (0, 1), (-1, 0))
case("rollaxis", A(2, 3, 4), 2, 1)
case("broadcast_to", A(3, 1), (2, 3, 4))
case("broadcast_arrays", A(3, 1), A(4))
case("broadcast_shapes", (3, 1), (4,), traced=False)
case("concatenate", [np.arange(3), np.ones(2, np.float32)], traced=False)
cases("concatenate concat stack", A(2, 3), axis=0)
cases("vstack hstack dstack column_stack", A(3, 2))
case("append", A(2, 3), A(4))
case("append", A(2, 3), A(1, 3), axis=0)
case("block", np.arange(3))
case("split", A(4, 3), 2)
case("split", A(4, 3), [1, 3], axis=1)
case("array_split", A(5), 3)
cases("hsplit vsplit", A(4, 4), 2)
case("dsplit", A(2, 2, 4), [1])
case("unstack", A(2, 3), axis=1)
case("flip", A(2, 3))
case("flip", A(2, 3), axis=1)
cases("flipud fliplr", A(2, 3))
for k in range(4):
    case("rot90", A(2, 3), k)
case("roll", A(2, 3), 2)
case("roll", A(2, 3), (1, -1), axis=(0, 1))
case("repeat", A(2, 3), 2, axis=1)
case("repeat", A(3), np.array([0, 2, 1]), traced=False)
case("tile", A(2, 3), (2, 1, 2))
for mode in ("edge", "reflect", "symmetric", "wrap", "constant"):
    case("pad", A(2, 3), ((1, 0), (2, 1)), mode=mode)
case("resize", A(2, 3), (3, 4))
case("resize", A(2, 3), (2,))

# ---- making --------------------------------------------------------------------------------------

cases("zeros_like ones_like", A(2, 3))
case("empty_like", A(2, 3), reference=np.zeros_like)
case("empty", (2, 3), reference=np.zeros)
cases("zeros ones", (2, 3))
case("full", (2, 3), S(3))
case("full_like", A(2, 3), 2)
case("copy", A(2, 3))
case("diag", A(3), 1)
case("diag", A(3, 4), -1)
case("diagflat", A(2, 2), -1)
case("diagonal", A(3, 4, 2), 1, 2, 0)
cases("tril triu", A(2, 3, 3), 1)
case("tri", 3, 4, 1)
cases("eye identity", 3)
case("eye", 3, 4, -1)
case("vander", N(3), 4)
case("vander", N(3), increasing=True)
case("meshgrid", A(3), A(2))
case("meshgrid", A(3), A(2), indexing="ij", sparse=True)
case("indices", (2, 3))
case("indices", (2, 3), sparse=True)
cases("tril_indices triu_indices", 3, 1, 4)
case("diag_indices", 3, 2)
cases("tril_indices_from triu_indices_from", A(3, 4), k=1)
case("diag_indices_from", A(3, 3))
case("mask_indices", 3, np.triu, traced=False, jax=False)
case("arange", 2, 8, 2)
case("arange", 3.0)
case("arange", 7, step=2)
case("linspace", S(), S(), 5, loose=4)
case("linspace", S(2, low=-1), S(2), 4, endpoint=False, axis=1, loose=4)
case("linspace", 0, 1, 5, retstep=True)
case("logspace", S(), S(), 5, loose=90)
case("geomspace", S(low=1), S(low=1), 5, loose=20)
case("geomspace", -1, -100, 3, loose=9)
case("geomspace", np.complex64(1), np.complex64(-1), 5, loose=9, jax=False)
cases("bartlett blackman hamming hanning", 6)
cases("bartlett blackman hamming hanning", 1)
case("kaiser", 6, 3.0, loose=4)
case("kaiser", 1, 3.0)

# ---- products ------------------------------------------------------------------------------------

case("dot", N(3), N(3), loose=4)
case("dot", N(2, 3), N(4, 3, 2), loose=4)
cases("matmul", N(2, 3), N(4, 3, 2), loose=4)
case("inner", N(2, 3), N(4, 3), loose=4)
case("outer", N(2), N(3))
case("vdot", N(2, 3), N(2, 3), loose=4)
case("vecdot", N(2, 3), N(3), loose=4)
case("matvec", N(2, 3), N(3), loose=4)
case("vecmat", N(3), N(3, 2), loose=4)
case("tensordot", N(2, 3, 4), N(3, 4, 2), loose=4)
case("tensordot", N(2, 3), N(3, 2), axes=([0], [1]), loose=4)
case("kron", N(2, 3), N(3))
case("cross", N(2, 3), N(3))
case("einsum", "ij,jk->ik", Q(2, 3), Q(3, 2), loose=4)
case("einsum", "ij,jk,kl,l", S(2, 3), S(3, 4), S(4, 2), S(2), optimize=True, loose=9)
case("einsum", "i...,i...->...", N(3, 2), N(3, 2), loose=4)
summed = lambda _, x, y: (x * y).sum(1)
case("einsum", "i...,i...->i", N(3, 2), N(3, 2), reference=summed, loose=4)
case("convolve", N(5), N(3), loose=4, jax=False)
case("convolve", N(3), N(5), mode="same", loose=4, jax=False)
case("correlate", N(5), N(3), loose=4, jax=False)
case("correlate", N(3), N(5), mode="full", loose=4, jax=False)
case("correlate", C(5), C(3), mode="same", loose=4)

# ---- sorting and searching -----------------------------------------------------------------------

cases("sort argsort", R(3, 5))
cases("sort argsort", R(3, 5), axis=0)
case("sort", C(3), smooth=False)
case("argsort", R(2, 3), axis=None, stable=True)
case("sort_complex", N(4), smooth=False)
case("lexsort", I(3, 4))
case("partition", R(5), 4, reference=lambda x, k: np.sort(x), smooth=False)
case("minmax", R(3, 4), axis=1, reference=lambda x, axis: (x.min(axis), x.max(axis)))
case("top_k", S(5), 2, reference=lambda x, k: (np.sort(x)[:-3:-1], np.argsort(x)[:-3:-1]))
case(
    *("top_k", S(5), 2),
    mode="smallest",
    reference=lambda x, k, mode: (np.sort(x)[:2], np.argsort(x)[:2]),
)
case("argpartition", S(5), 4, reference=lambda x, k: np.argsort(x))
for side in ("left", "right"):
    case("searchsorted", R(5, ascending=True), R(2, 3), side=side)
    case("searchsorted", np.float32([]), S(2), side=side)
    case("searchsorted", np.float32([1, 2, np.nan]), np.float32([0, 1, np.nan]), side=side)
case("digitize", R(4), R(3, ascending=True))
case("digitize", R(4), np.float32([2, 1, -1]), right=True)
cases("nonzero argwhere flatnonzero", A(3, 4, low=0, high=1), traced=False)
case("take", A(2, 3), np.int32([0, -1]), axis=1)
case("take_along_axis", R(3, 4), np.int32([[0], [1], [-1]]), axis=1)
case("unravel_index", np.int32([[0, 5], [11, 7]]), (3, 4))
case("ravel_multi_index", (np.int32([0, 2]), np.int32([3, 1])), (3, 4), traced=False)
case("ravel_multi_index", (np.int32([-1, 9]), np.int32([3, 9])), (3, 4), mode="clip")
case("ravel_multi_index", (np.int32([1, 9]), np.int32([3, 9])), (3, 4), mode="wrap", order="F")
case("ix_", np.int32([0, 2]), np.int32([1]))
case("ix_", np.array([True, False, True]), np.int32([1]), traced=False, jax=False)

# ---- sets ----------------------------------------------------------------------------------------

_MANY = {"low": 0, "high": 3}
case("unique", A(4, 3, **_MANY), traced=False)
case(
    *("unique", I(4, 3, **_MANY)),
    return_index=True,
    return_inverse=True,
    return_counts=True,
    traced=False,
)
case("unique", I(6, 2, low=0, high=1), axis=0, return_inverse=True, traced=False)
case("unique", np.float32([np.nan, 1, np.nan]), return_counts=True, traced=False)
case("unique", np.float32([np.nan, 1, np.nan]), equal_nan=False, traced=False)
case("unique", np.float32([]), return_counts=True, traced=False)
cases("unique_all unique_counts unique_inverse unique_values", I(4, 3, **_MANY), traced=False)
cases("union1d intersect1d setdiff1d setxor1d", R(5, **_MANY), R(4, **_MANY), traced=False)
cases("union1d intersect1d setdiff1d setxor1d", np.int32([]), J(3), traced=False)
case("intersect1d", I(6, **_MANY), I(4, **_MANY), return_indices=True, traced=False)
case("isin", R(4, 3), R(3))
case("isin", I(4, 3), I(40), invert=True)
for method in ("compare_all", "binary_search", "sort"):
    case("isin", I(4), I(3), method=method, reference=lambda x, y, **how: np.isin(x, y))

# ---- editing -------------------------------------------------------------------------------------

case("insert", A(4), 1, 1)
case("insert", A(4), np.array([0, 4, 4]), A(3))
case("insert", A(3, 2), 1, A(2), axis=0)
case("insert", A(3, 2), np.array([1, -1]), A(3, 2), axis=1)
case("insert", A(3, 2), 1, A(3), axis=1)
case("insert", A(5), slice(1, 4, 2), 0)
case("delete", A(4), 1)
case("delete", A(3, 4), np.array([0, -1, 0]), axis=1, traced=False)
case("delete", A(3, 4), slice(1, 3), axis=1)
case("delete", A(3), np.array([True, False, True]), traced=False)
case(
    "delete",
    A(3, 4),
    np.array([3, 1]),
    axis=1,
    assume_unique_indices=True,
    reference=lambda x, i, axis, **_: np.delete(x, i, axis),
)
case("trim_zeros", np.float32([0, 0, 1, 0, 2, 0]), traced=False)
case("trim_zeros", np.float32([0, 0, 1, 0, 2, 0]), trim="b", traced=False)
case("extract", B(2, 3), A(2, 3), traced=False)
case("compress", np.array([True, False, True]), A(2, 3), axis=1, traced=False)
case("select", [np.array([True, False, False]), np.array([True, True, False])], [N(3), N(3)], 7)
case("choose", np.int32([0, 1, 1]), [N(3), N(3)], traced=False)
case("choose", np.int32([0, 7, -1]), [N(3), N(3)], mode="clip")
case("choose", np.int32([0, 7, -1]), [N(3), N(3)], mode="wrap")


def _changed(name: str) -> Callable[..., np.ndarray]:
    """NumPy's function, which changes its first argument in place."""

    def function(x: np.ndarray, *args: Any, inplace: bool, **options: Any) -> np.ndarray:
        changed = x.copy()
        getattr(np, name)(changed, *args, **options)
        return changed

    return function


for _name, _operands, _options in (
    ("place", (A(2, 3), B(2, 3), A(2)), {}),
    ("put", (A(2, 3), np.int32([0, -1, 3]), A(2)), {}),
    ("put", (A(2, 3), np.int32([0, -1, 9]), A(3)), {"mode": "wrap"}),
    ("put_along_axis", (A(2, 3), np.int32([[0], [2]]), A(2, 1)), {"axis": 1}),
    ("fill_diagonal", (A(3, 3), A(3)), {}),
    ("fill_diagonal", (A(5, 2), 1), {"wrap": True}),
    ("fill_diagonal", (A(2, 5), A(2)), {}),
    ("fill_diagonal", (A(2, 2, 2), 1), {}),
):
    case(_name, *_operands, inplace=False, reference=_changed(_name), **_options, jax=False)

# ---- calculus ------------------------------------------------------------------------------------

case("diff", N(4, 3))
case("diff", N(4, 3), n=2, axis=0, prepend=0, append=N(1, 3))
case("diff", B(4))
case("ediff1d", Q(2, 3), to_begin=0, to_end=Q(2))
case("gradient", Q(5), loose=4)
case("gradient", S(3, 4), 2.0, S(4, ascending=True), loose=90)
case("gradient", S(3, 4), 0.5, axis=1)
case("trapezoid", R(3, 4), loose=4)
case("trapezoid", S(2, 0), jax=False)
case("trapezoid", S(3, 4), S(4, ascending=True), loose=4)
case("trapezoid", S(3, 4), dx=0.5, axis=0, loose=4)
case("trapezoid", S(4, 3), dx=S(3), axis=0, loose=9, jax=False)
case("trapezoid", S(4, 3), dx=S(2), loose=9)
case("trapezoid", S(2, 3, 4), S(1, 3, 4, ascending=True), axis=1, loose=9, jax=False)
case("trapezoid", S(3, 4), S(3, ascending=True), axis=0, loose=4)
case("unwrap", S(3, 5, low=-9, high=9), loose=9)
case("unwrap", S(5, low=-9, high=9), period=4, loose=9)
case("interp", S(4), S(5, ascending=True), S(5), loose=9, jax=False)
case("interp", S(4), S(5, ascending=True), C(5), left=-1, right=2, loose=9, smooth=False, jax=False)
case("interp", S(4), S(5), S(5), period=3.0, loose=90, jax=False)
case("cov", N(3, 5), loose=9)
case("cov", S(3, 5), S(5), bias=True, loose=4)
case("cov", S(5, 3), rowvar=False, fweights=np.int32([1, 2, 0, 1, 3]), loose=4)
case("cov", S(3, 4), aweights=np.float32([1, 2, 0.5, 1]), loose=4)
case("cov", S(3, 4), fweights=np.int32([1, 2, 1, 3]), aweights=np.float32([1, 2, 3, 1]), loose=4)
case("corrcoef", S(3, 5), loose=9)
case("corrcoef", C(3, 5), loose=9, smooth=False)

# ---- histograms ----------------------------------------------------------------------------------

case("bincount", J(9, low=0), traced=False)
case("bincount", J(9, low=0), S(9), minlength=7, traced=False)
case("histogram_bin_edges", R(9), 4, loose=4)
case("histogram", S(20), 4, loose=4, smooth=False)
case("histogram", S(20), np.float32([-3, 0, 1, 4]), weights=S(20), loose=4)
case("histogram", S(20), 4, range=(-2, 2), density=True, loose=4, smooth=False)
case("histogram2d", S(20), S(20), [3, 4], loose=9, smooth=False)
case(
    "histogram2d",
    S(20),
    S(20),
    np.float32([-3, 0, 3]),
    density=True,
    loose=9,
    smooth=False,
    jax=False,
)
case("histogramdd", S(20, 3), 2, loose=9, smooth=False)
case("histogramdd", S(20, 2), [2, 3], density=True, loose=9, smooth=False, jax=False)

# ---- polynomials ---------------------------------------------------------------------------------

case("polyval", N(4, low=-2, high=2), N(2, 3, low=-2, high=2), loose=90)
case("polyval", S(40, low=-1, high=1), S(3, low=-1, high=1), loose=9)
cases("polyadd polysub", N(3), N(5))
case("polymul", Q(3, low=0.5), Q(4, low=0.5), loose=9)
case("polyder", Q(5), 2)
case("polyint", Q(3), 2, loose=4)
case("polyint", S(3), 2, k=[3.0, 4.0], loose=4, jax=False)
case("poly", S(3, low=-2, high=2), loose=20)
case("poly", np.float32([[2, 1], [1, 3]]), loose=20, smooth=False)
case(
    *("polydiv", np.float32([1, 3, 3, 1]), np.float32([1, 1])),
    reference=lambda u, v: (np.polydiv(u, v)[0], np.zeros(4)),
    loose=9,
)
case(
    "polydiv",
    np.float32([1, 3, 3, 2]),
    np.float32([2, 1]),
    trim_leading_zeros=True,
    reference=lambda u, v, **_: np.polydiv(u, v),
    traced=False,
)
case("polyfit", S(8, ascending=True), S(8), 2, loose=90)
case("polyfit", S(8, ascending=True), S(8, 2), 1, w=S(8, low=1), loose=90)
case("polyfit", S(8, ascending=True), S(8), 1, cov=True, loose=90)
case("polyfit", S(8, ascending=True), S(8), 1, cov="unscaled", loose=90, jax=False)
case("roots", np.float32([1, -6, 11, -6]), reference=lambda p: np.roots(p), traced=False, loose=90)
case("roots", np.float32([0, 1, -3, 2, 0]), traced=False, loose=90)

# ---- bits, dtypes, text --------------------------------------------------------------------------

_BITS = I(3, 10, low=0, high=1)
for options in ({}, {"axis": 1}, {"axis": 0, "bitorder": "little"}):
    case("packbits", _BITS, **options)
    case("unpackbits", Operand((3, 2), ("uint8",), 0, 255), **options)
case("unpackbits", Operand((3,), ("uint8",), 0, 255), count=10)
case("unpackbits", Operand((3,), ("uint8",), 0, 255), count=-3)
case(*("astype", R(2, 3), "float32"), reference=lambda x, dtype: x.astype(dtype), smooth=False)
case("array_str", np.float32([1, 2.5]), precision=1, traced=False)

# ---- functions of functions ----------------------------------------------------------------------
# They are called with a function that NumPy's arrays and irax's both have, as a method.

case("apply_along_axis", lambda x: x.cumsum(), 1, S(2, 3, 2))
case("apply_along_axis", lambda x: x.sum(), 0, S(2, 3))
case("apply_over_axes", lambda x, axis: x.sum(axis), S(2, 3, 2), [0, 2])
case("fromfunction", lambda i, j: i + 2 * j, (2, 3), dtype=int)
case("piecewise", S(5), [np.arange(5) < 2, np.arange(5) > 3], [-1.0, lambda x: x * 2, 7.0])
