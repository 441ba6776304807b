"""Mathematical functions of the CHLO dialect that StableHLO lacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of
from irax_compiler.ops import comparison
from irax_compiler.ops.core import UnsupportedOp, full_like
from irax_compiler.ops.elementwise import (
    Elementwise,
    abs,
    add,
    binary,
    divide,
    exponential,
    folded,
    multiply,
    negate,
    rsqrt,
    subtract,
    unary,
)
from irax_compiler.ops.meanings import of_complex64
from irax_compiler.ops.registry import register
from irax_compiler.ops.scipy_modules import scipy_function, scipy_module
from irax_compiler.ops.special.bells import Gaussian, numpy_bell
from irax_compiler.ops.special.trigamma import trigamma

if TYPE_CHECKING:
    from irax_compiler.ops.evaluation.evaluator import Evaluator

chlo_unary = partial(unary, dialect="chlo", transcendental=True)
_short = partial(unary, dialect="chlo")
chlo_binary = partial(binary, dialect="chlo", transcendental=True)


def chlo_function(chlo: str, scipy: str) -> Callable[..., Any]:
    """A function by its names in CHLO and scipy.special: MLIR's expansion where SciPy is
    missing.
    """
    of_scipy = scipy_function(scipy)

    def evaluate(*operands: np.ndarray) -> Any:
        if scipy_module("special") is not None:
            return of_scipy(*operands)
        operands = tuple(np.broadcast_arrays(*operands))
        types = tuple(mlir.tensor_type(x.shape, x.dtype) for x in operands)
        return _expansion(chlo, types)("main", operands)[0]

    return evaluate


@lru_cache(maxsize=256)
def _expansion(name: str, types: tuple[Any, ...]) -> Evaluator:
    """Return an evaluator of what MLIR expands an operation of CHLO to."""
    from irax_compiler.ops.evaluation.evaluator import Evaluator  # it imports the ops

    module = mlir.new_module()
    function = mlir.new_function(module, "main", types)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = mlir.emit(f"chlo.{name}", mlir.arguments(function), results=types[:1]).results
    mlir.finish_function(function, results)
    pipeline = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
    mlir.passmanager.PassManager.parse(pipeline, mlir.CONTEXT).run(module.operation)
    return Evaluator(module)


def _plus(x: Value, number: float) -> Value:
    return add(x, full_like(x, number))


def _times(number: float, x: Value) -> Value:
    return multiply(full_like(x, number), x)


def _reciprocal(x: Value) -> Value:
    return divide(full_like(x, 1), x)


def _squared(x: Value) -> Value:
    return multiply(x, x)


def _one_minus_square(x: Value) -> Value:
    """1 - x**2: of large numbers as a product, for near 1 the square has lost the digits; of small
    ones as it is, for the derivative of the product has lost them near 0.
    """
    difference = subtract(full_like(x, 1), _squared(x))
    if dtype_of(x).kind == "c":
        return difference
    product = multiply(subtract(full_like(x, 1), x), _plus(x, 1))
    is_large = comparison.greater(abs(x), full_like(x, 0.5))
    return comparison.select(is_large, product, difference)


def _at_most_one(x: Value) -> tuple[Value, Value]:
    """True where |x| is above 1, whose square may overflow; and 1 / x there, else x."""
    size = abs(x)
    is_large = comparison.greater(size, full_like(size, 1))
    inverse = _reciprocal(comparison.select(is_large, x, full_like(x, 1)))
    return is_large, comparison.select(is_large, inverse, x)


def _atan_slope(x: Value) -> Value:
    """1 / (1 + x**2)."""
    is_large, u = _at_most_one(x)
    square = _squared(u)
    return divide(comparison.select(is_large, square, full_like(x, 1)), _plus(square, 1))


def _asinh_slope(x: Value) -> Value:
    """1 / sqrt(1 + x**2)."""
    is_large, u = _at_most_one(x)
    root = rsqrt(_plus(_squared(u), 1))
    return multiply(root, comparison.select(is_large, folded(u), full_like(x, 1)))


# ---- trigonometric and hyperbolic ----------------------------------------------------------------

sinh = chlo_unary("sinh", np.sinh, lambda x, y: cosh(x))
cosh = chlo_unary("cosh", np.cosh, lambda x, y: sinh(x))
tan = chlo_unary("tan", np.tan, lambda x, y: _plus(_squared(y), 1), length=2)
asin = chlo_unary("asin", of_complex64(np.arcsin), lambda x, y: rsqrt(_one_minus_square(x)))
acos = chlo_unary("acos", np.arccos, lambda x, y: negate(rsqrt(_one_minus_square(x))))
atan = chlo_unary("atan", np.arctan, lambda x, y: _atan_slope(x))
asinh = chlo_unary("asinh", np.arcsinh, lambda x, y: _asinh_slope(x))
# Two roots and not that of the product, which is on another branch for complex numbers.
acosh = chlo_unary(
    "acosh", np.arccosh, lambda x, y: multiply(rsqrt(_plus(x, -1)), rsqrt(_plus(x, 1)))
)
atanh = chlo_unary("atanh", np.arctanh, lambda x, y: _reciprocal(_one_minus_square(x)))
square = _short("square", np.square, lambda x, y: _times(2, x))

# ---- the error function --------------------------------------------------------------------------


_gaussian = Gaussian()
_erf_inv = chlo_function("erf_inv", "erfinv")

erf = chlo_unary(
    "erf", chlo_function("erf", "erf"), lambda x, y: _times(2 / math.sqrt(math.pi), _gaussian(x))
)
_erfc_of_scipy = chlo_function("erfc", "erfc")


def _erfc(x: np.ndarray) -> np.ndarray:
    """The complementary error function. For float64, SciPy's rounds the square in its exp(-x**2),
    which costs 200 units.
    """
    special = scipy_module("special")
    if x.dtype != np.float64 or special is None:
        return _erfc_of_scipy(x)
    large = (x > 1) & (x < 28)
    inner = np.where(large, x, 1.0)
    return np.where(large, numpy_bell(inner) * special.erfcx(inner), special.erfc(x))


erfc = chlo_unary("erfc", _erfc, lambda x, y: _times(-2 / math.sqrt(math.pi), _gaussian(x)))
erf_inv = chlo_unary(
    "erf_inv",
    lambda x: np.where(x == 0, x, _erf_inv(x)),  # SciPy has 0.0 at -0.0
    lambda x, y: _times(math.sqrt(math.pi) / 2, exponential(_squared(y))),
)

# ---- the gamma function and its kin --------------------------------------------------------------


_finite_lgamma = chlo_function("lgamma", "gammaln")
_digamma_off_poles = chlo_function("digamma", "digamma")


def _lgamma(x: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x), np.abs(x), _finite_lgamma(x))  # SciPy has -inf at -inf


def _digamma(x: np.ndarray) -> np.ndarray:
    poles = (x <= 0) & (x == np.floor(x))  # SciPy has infinity at 0, XLA nan at all of them
    return np.where(poles, np.array(np.nan, x.dtype), _digamma_off_poles(x))


def _no_partial(name: str, operand: str) -> Callable[..., Value]:
    def fail(*_: Value) -> Value:
        raise UnsupportedOp(f"chlo.{name}: no jvp rule with respect to its {operand}")

    return fail


lgamma = chlo_unary("lgamma", _lgamma, lambda x, y: digamma(x), length=4)
digamma = chlo_unary("digamma", _digamma, lambda x, y: trigamma(x), length=4)
polygamma = chlo_binary(
    "polygamma",
    chlo_function("polygamma", "polygamma"),
    [
        _no_partial("polygamma", "order"),
        lambda t, n, x, y: multiply(t, polygamma(_plus(n, 1), x)),
    ],
    length=8,
)

# ---- neighbours ----------------------------------------------------------------------------------

# Narrow numbers have neighbours of their own: they are not widened.
next_after = register(
    Elementwise(
        "chlo.next_after",
        lambda x, y: np.where(x == y, y, np.nextafter(x, y)),  # of 0.0 towards -0.0: that zero
        [lambda t, x, y, z: t, None],
        widen=False,
        short=False,
    )
)

# ---- what kind of number -------------------------------------------------------------------------

is_inf = _short("is_inf", np.isinf)
is_pos_inf = _short("is_pos_inf", np.isposinf)
is_neg_inf = _short("is_neg_inf", np.isneginf)

# ---- complex numbers -----------------------------------------------------------------------------

conj = register(
    Elementwise("chlo.conj", np.conjugate, [lambda t, x, y: conj(t)], {0: lambda ct, x: conj(ct)})
)
