"""Lines for functions of irax.lax, as in `numpy_cases.py`: against NumPy and SciPy.

Operands have one dtype and one shape: lax neither promotes nor broadcasts.
"""

import numpy as np
import scipy.special
from tests.frontend.numpy_operands import A, B, C, F, I, J, N, Q, R, S, Table

_lax = Table("lax", np)
_special = Table("lax", scipy.special)
case, cases = _lax.case, _lax.cases


def _ones(x):
    """Count set bits, also of negative numbers, of which NumPy takes the absolute value."""
    return np.bitwise_count(x.view(f"u{x.dtype.itemsize}"))


def _polynomial(x, coefficients):
    """Evaluate a polynomial of coefficients in ascending order."""
    return np.polynomial.polynomial.polyval(x, coefficients)


# ---- elementwise ---------------------------------------------------------------------------------

for shape in ((), (2, 3), (0, 2)):
    case("square", N(*shape), smooth=False)
    cases("abs", Q(*shape), smooth=False)
    cases("abs", J(*shape))
    cases("neg=negative", Q(*shape))
    cases("exp expm1 sin cos tan sinh cosh tanh", Q(*shape, high=1), loose=9)
    cases("exp2 cbrt", F(*shape), loose=4)
    cases("log log2 log1p sqrt reciprocal", Q(*shape, low=0.5), loose=9)
    cases("asin=arcsin acos=arccos atanh=arctanh", S(*shape, low=-0.9, high=0.9), loose=4)
    cases("acosh=arccosh", S(*shape, low=1.5), loose=4)
    cases("asinh=arcsinh atan=arctan", S(*shape), loose=4)
    cases("floor ceil sign", F(*shape))
    cases("is_finite=isfinite", F(*shape))
    cases("bitwise_not", I(*shape))
    case("population_count", I(*shape), reference=_ones)
    cases("real imag conj", C(*shape), smooth=False)
    case("rsqrt", S(*shape, low=0.5), reference=lambda x: 1 / np.sqrt(x), loose=4)
    case("round", S(*shape), reference=lambda x: np.trunc(x + np.copysign(0.5, x)))
    case("integer_pow", S(*shape), 3, reference=np.power, loose=4)
    case("stop_gradient", S(*shape), reference=lambda x: x, smooth=False)
    _special.cases("logistic=expit erf erfc", S(*shape), loose=9)
    case("one_minus_square", N(*shape), reference=lambda x: 1 - x * x, smooth=False, loose=4)
    case("one_minus_square", S(*shape), reference=lambda x: 1 - x * x, loose=9)
    case("polynomial", S(*shape), [1.0, 5.0, 2.0], reference=_polynomial, loose=9)
    case("polynomial", S(*shape), [0.5] * 12, reference=_polynomial, loose=20)
    _special.cases("erf_inv=erfinv", S(*shape, low=-0.9, high=0.9), loose=9)
    _special.cases("lgamma=gammaln digamma", S(*shape, low=0.5), loose=20)
    _special.cases("bessel_i0e=i0e bessel_i1e=i1e", S(*shape), loose=9)
    cases("add sub=subtract mul=multiply", N(*shape), N(*shape), loose=2)
    cases("max=maximum min=minimum", R(*shape), R(*shape))
    cases("atan2=arctan2", F(*shape), F(*shape), loose=4)
    case("rem", R(*shape), R(*shape, low=1), reference=np.fmod, smooth=False)
    case("nextafter", S(*shape), S(*shape), smooth=False)
    cases("eq=equal ne=not_equal", A(*shape), A(*shape))
    cases("lt=less le=less_equal gt=greater ge=greater_equal", R(*shape), R(*shape))
    cases("bitwise_and bitwise_or bitwise_xor", I(*shape), I(*shape))
    cases("shift_left=left_shift", J(*shape), J(*shape, low=0))
    cases("shift_right_arithmetic=right_shift", J(*shape), J(*shape, low=0))
    case("pow", S(*shape, low=0.5), S(*shape), reference=np.power, loose=9)
    case("complex", S(*shape), S(*shape), reference=lambda x, y: x + 1j * y)
    case("select", B(*shape), N(*shape), N(*shape), reference=np.where)
    case("select_n", B(*shape), N(*shape), N(*shape), reference=lambda c, x, y: np.where(c, y, x))
    case(
        *("clamp", S(*shape, high=-1), S(*shape), S(*shape, low=1)),
        reference=lambda low, x, high: np.clip(x, low, high),
    )
cases("abs square", S(2, 3, low=0.5))
case("div", Q(2, 3), Q(2, 3, low=0.5), reference=np.divide, loose=4)
case("div", J(9), J(9, low=1), reference=lambda x, y: np.trunc(x / y))
case(
    "div", np.int32([5, -5, 7]), np.int32([-3, 3, 0]), reference=lambda x, y: np.array([-1, -1, -1])
)
case("clz", np.int32([0, 1, -1, 70000]), reference=lambda x: np.array([32, 31, 0, 15]))
case("mulhi", np.int32([2**30, -7]), np.int32([8, 9]), reference=lambda x, y: np.array([2, -1]))
case(
    *("shift_right_logical", np.int32([-1, 8]), np.int32([28, 1])),
    reference=lambda x, y: np.array([15, 4]),
)
case(
    "reduce_precision",
    np.float32([1.2345, 9e9]),
    8,
    2,
    reference=lambda *_: np.array([1.25, 8589934592]),
)
_special.cases("igamma=gammainc igammac=gammaincc", S(5, low=0.5), S(5, low=0.5), loose=90)
_special.case("zeta", S(5, low=1.5), S(5, low=0.5), loose=90, smooth=False)
_special.case(
    *("polygamma", S(3, low=1, high=1), S(3, low=0.5)),
    reference=lambda n, x: scipy.special.polygamma(1, x),
    loose=90,
    smooth=False,
)
_special.case(
    *("betainc", S(5, low=0.5), S(5, low=0.5), S(5, low=0.1, high=0.9)), loose=90, smooth=False
)

# ---- folds ---------------------------------------------------------------------------------------

for axes in ((0,), (0, 1), ()):
    cases("reduce_sum=sum reduce_prod=prod", N(3, 4, low=1, high=2), axes, loose=4)
    cases("reduce_max=max reduce_min=min", R(3, 4), axes)
    cases("reduce_and=all reduce_or=any", B(3, 4), axes)
    case("reduce_xor", B(3, 4), axes, reference=lambda x, a: np.logical_xor.reduce(x, a))
    case("reduce_and", I(3, 4), axes, reference=np.bitwise_and.reduce)
    case("reduce_or", I(3, 4), axes, reference=np.bitwise_or.reduce)
case("reduce_max", np.float32([1, np.nan]), (0,), reference=lambda x, a: np.max(x, a), smooth=False)
for axis in (0, 1):
    for name in ("argmax", "argmin"):
        case(
            *(name, R(3, 4), axis, "int32"),
            reference=lambda x, a, _, f=name: getattr(np, f)(x, a),
        )
    cases("cumsum cumprod", N(3, 4, low=-2, high=2), axis, loose=9)
    case("cummax", R(3, 4), axis, reference=np.maximum.accumulate)
    case("cummin", R(3, 4), axis, reference=np.minimum.accumulate)
    case("cumlogsumexp", S(3, 4), axis, reference=np.logaddexp.accumulate, loose=9)
case(
    "cumsum",
    S(3, 4),
    1,
    reverse=True,
    reference=lambda x, a, reverse: x[:, ::-1].cumsum(1)[:, ::-1],
)

# ---- shapes --------------------------------------------------------------------------------------

case("reshape", A(2, 3), (3, 2))
case("expand_dims", A(2, 3), (0, 2))
case("squeeze", A(1, 3, 1), (0, 2))
case("transpose", A(2, 3, 4), (1, 2, 0))
case("rev", A(2, 3), (1,), reference=np.flip)
case("collapse", A(2, 3, 4), 1, reference=lambda x, start: x.reshape(2, 12))
case("broadcast", A(3), (2, 4), reference=lambda x, sizes: np.broadcast_to(x, (2, 4, 3)))
case("broadcast_in_dim", A(3), (3, 2), (0,), reference=lambda x, *_: np.stack([x, x], 1))
case("broadcast_to_rank", A(2, 3), 4, reference=lambda x, rank: x[None, None])
case("broadcast_like", A(3), A(2, 3), reference=lambda x, y: np.broadcast_to(x, y.shape))
case("tile", A(2, 3), (2, 2))
case("concatenate", [A(2, 3), A(1, 3)], 0)
case("stack", [A(2, 3), A(2, 3)], 1)
case("unstack", A(2, 3), 1, reference=lambda x, axis: list(np.moveaxis(x, axis, 0)))
case("split", A(5, 2), (2, 3), 0, reference=lambda x, *_: [x[:2], x[2:]])
case("slice", A(5, 4), (1, 0), (5, 3), (2, 1), reference=lambda x, *_: x[1:5:2, :3])
case("slice_in_dim", A(5, 4), 1, 4, 2, axis=0, reference=lambda x, *_, axis: x[1:4:2])
case("index_in_dim", A(5, 4), -1, 1, False, reference=lambda x, *_: x[:, -1])
case(
    "pad", S(2, 3), 0.0, [(1, 0, 0), (0, 2, 0)], reference=lambda x, *_: np.pad(x, ((1, 0), (0, 2)))
)
case("pad", S(4), 0.0, [(-1, -1, 1)], reference=lambda x, *_: np.array([0, x[1], 0, x[2], 0]))
for start in (0, 1, 9, -2):
    place = np.int32(start)

    def _window(x, i):
        first = i + 5 if i < 0 else i
        return np.take(x, range(min(max(int(first), 0), 3), min(max(int(first), 0), 3) + 2), 0)

    case("dynamic_slice_in_dim", A(5, 2), place, 2, reference=lambda x, i, _, w=_window: w(x, i))
    case("dynamic_slice", A(5), (place,), (2,), reference=lambda x, i, _, w=_window: w(x, i[0]))
case("dynamic_index_in_dim", A(5, 2), np.int32(3), 0, False, reference=lambda x, i, *_: x[int(i)])


def _updated(x, y, i, *_):
    out = x.copy()
    out[int(i) : int(i) + y.shape[0]] = y
    return out


case("dynamic_update_slice_in_dim", A(5, 2), A(2, 2), np.int32(2), 0, reference=_updated)
case(
    *("dynamic_update_index_in_dim", A(5, 2), A(1, 2), np.int32(2), 0),
    reference=_updated,
)
case(
    "dynamic_update_slice",
    A(5),
    A(2),
    (np.int32(1),),
    reference=lambda x, y, i: _updated(x, y, i[0]),
)
case("index_take", A(5, 2), (np.int32([4, 0]),), (0,), reference=lambda x, i, _: x[i[0]])

# ---- making, converting --------------------------------------------------------------------------

case("full", (2, 3), S(), reference=np.full)
case("full_like", A(2, 3), 2)
case("iota", "int32", 5, reference=lambda dtype, n: np.arange(n))
case("broadcasted_iota", "int32", (2, 3), 0, reference=lambda *_: np.array([[0] * 3, [1] * 3]))
case("convert_element_type", R(2, 3), "float32", reference=lambda x, d: x, smooth=False)

# ---- products ------------------------------------------------------------------------------------

case("dot", N(2, 3), N(3, 4), loose=4)
case("batch_matmul", N(2, 3, 4), N(2, 4, 2), reference=np.matmul, loose=4)
case(
    *("dot_general", N(2, 3, 4), N(2, 5, 4), (((2,), (2,)), ((0,), (0,)))),
    reference=lambda x, y, _: np.einsum("bik,bjk->bij", x, y),
    loose=4,
)
case(
    *("conv", S(1, 1, 6), S(1, 1, 3), (1,), "VALID"),
    reference=lambda x, k, *_: np.correlate(x[0, 0], k[0, 0])[None, None],
    loose=4,
)

# ---- sorting -------------------------------------------------------------------------------------

case("sort", R(3, 5), 1)
case("sort", R(3, 5), 0)
case(
    "sort_key_val", S(5), J(5), reference=lambda k, v: [np.sort(k), v[np.argsort(k, kind="stable")]]
)
case(
    *("top_k", S(2, 5), 2),
    reference=lambda x, k: [-np.sort(-x)[:, :k], np.argsort(-x, kind="stable")[:, :k]],
)
