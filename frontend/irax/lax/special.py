"""The incomplete gamma and beta functions, without promotion, as all of lax."""

from __future__ import annotations

from irax.core.array import Array
from irax.core.dtypes.operands import common_shape
from irax.core.dtypes.promotion import apply, broadcast_to, promote_dtypes
from irax.lax.arguments import strict
from irax.lax.elementwise import FLOAT
from irax.typing import ArrayLike
from irax_compiler.ops.core import Op
from irax_compiler.ops.special import beta, gamma


def _of(name: str, op: Op, *operands: ArrayLike) -> Array:
    what = f"lax.{name}"
    return apply(op, *strict(what, *operands), what=what, accepts=FLOAT)


def igamma(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized lower incomplete gamma function: the part of the integral of
    t**(a - 1) exp(-t) from 0 on that is below x.

    Operands: floats of one dtype; one shape, or scalars. It has derivatives in both.

    Args:
        a: an array of floats, or a number.
        x: one of the same dtype and shape.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.igamma(1.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _of("igamma", gamma.Igamma(), a, x)


def igammac(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularized upper incomplete gamma function, 1 - igamma(a, x).

    Operands: floats of one dtype; one shape, or scalars. It has derivatives in both.

    Args:
        a: an array of floats, or a number.
        x: one of the same dtype and shape.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.igammac(1.0, 0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _of("igammac", gamma.Igammac(), a, x)


def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative of igamma(a, x) in a. It has none itself.

    Args:
        a: an array of floats, or a number.
        x: one of the same dtype and shape.

    Raises:
        TypeError: another dtype, two dtypes, or shapes that differ.

    >>> irax.lax.igamma_grad_a(1.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _of("igamma_grad_a", gamma.IgammaGradA(), a, x)


def random_gamma_grad(a: ArrayLike, x: ArrayLike) -> Array:
    """The derivative in a of x, a random number that has the gamma distribution of a. It has none
    itself.

    Args:
        a: an array of floats, or a number.
        x: likewise; shapes broadcast.

    Raises:
        TypeError: dtypes other than floats, or shapes that do not broadcast.

    >>> irax.lax.random_gamma_grad(2.0, 1.5).round(3)
    Array(0.937, dtype=float32, weak_type=True)
    """
    what = "lax.random_gamma_grad"
    arrays = promote_dtypes(a, x, what=what)
    shape = common_shape(arrays, what)
    arrays = [broadcast_to(array, shape) for array in arrays]
    return _of("random_gamma_grad", gamma.RandomGammaGrad(), *arrays)


def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularized incomplete beta function: the part of the integral of
    t**(a - 1) (1 - t)**(b - 1) from 0 to 1 that is below x.

    Operands: floats of one dtype; one shape, or scalars. It has a derivative in x.

    Args:
        a: an array of floats, or a number.
        b: one of the same dtype and shape.
        x: one of the same dtype and shape, from 0 to 1.

    Raises:
        TypeError: another dtype, several dtypes, or shapes that differ.

    >>> irax.lax.betainc(1.0, 1.0, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return _of("betainc", beta.Betainc(), a, b, x)
