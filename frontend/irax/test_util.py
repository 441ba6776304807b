"""Checks of derivatives against finite differences, for tests of your own functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import as_array
from irax.transforms.autodiff import jvp, vjp

_STEPS = {"float64": 1e-5, "float32": 1e-4}
_TOLERANCES = {"float64": 1e-5, "float32": 2e-2}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | Mapping[Any, float] | None = None,
    rtol: float | Mapping[Any, float] | None = None,
    eps: float | None = None,
) -> None:
    """Checks derivatives of `f` up to `order` against central finite differences.

    Each derivative is taken along a random direction: in forward mode it must be the difference
    quotient; in reverse mode <u, J v> must be <J^T u, v>. Higher orders check the derivative
    functions in the same way.

    Args:
        f: a function of pytrees of arrays, real or complex.
        args: the point.
        order: 1, 2, ...
        modes: "fwd", "rev" or both.
        atol: absolute tolerance, or one for each dtype; by default 1e-5 in float64 and 2e-2 in
            float32.
        rtol: relative tolerance, likewise.
        eps: half the distance of the difference quotient; 1e-5 in float64, 1e-4 in float32.

    Raises:
        AssertionError: a derivative is off; the message says which.

    >>> check_grads(lambda x: x**3, (2.0,), order=2)
    """
    unknown = set(modes) - {"fwd", "rev"}
    if unknown:
        raise ValueError(f"check_grads: modes must be 'fwd' or 'rev', got {sorted(unknown)}")
    point = _point(args)
    _check_at(point, atol, rtol, eps).run(f, point, order, tuple(modes), "f")


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | Mapping[Any, float] | None = None,
    rtol: float | Mapping[Any, float] | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Checks a function that takes primals and tangents, as `partial(jvp, f)` does, against the
    value of `f` and a central finite difference along a random direction.

    Args:
        f: a function of pytrees of arrays.
        f_jvp: `f_jvp(args, tangents)` returns the result and its tangent.
        args: the point.
        atol: as for `check_grads`; so are `rtol` and `eps`.
        rtol: relative tolerance.
        eps: half the distance of the difference quotient.
        err_msg: what the messages of errors begin with.

    Raises:
        AssertionError: the value or the tangent is off.

    >>> square = lambda x: x * x
    >>> check_jvp(square, lambda x, t: (x[0] * x[0], 2 * x[0] * t[0]), (3.0,))
    """
    point = _point(args)
    _check_at(point, atol, rtol, eps).forward(f, f_jvp, point, err_msg or "f")


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: float | Mapping[Any, float] | None = None,
    rtol: float | Mapping[Any, float] | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Checks a function that returns a value and a pullback, as `partial(vjp, f)` does, against the
    value of `f` and a central finite difference along a random direction.

    Args:
        f: a function of pytrees of arrays.
        f_vjp: `f_vjp(*args)` returns the result and a function from its cotangent to a tuple of
            cotangents of the arguments.
        args: the point.
        atol: as for `check_grads`; so are `rtol` and `eps`.
        rtol: relative tolerance.
        eps: half the distance of the difference quotient.
        err_msg: what the messages of errors begin with.

    Raises:
        AssertionError: the value or the cotangents are off.

    >>> square = lambda x: x * x
    >>> check_vjp(square, lambda x: (x * x, lambda ct: (2 * x * ct,)), (3.0,))
    """
    point = _point(args)
    _check_at(point, atol, rtol, eps).reverse(f, f_vjp, point, err_msg or "f")


def _point(args: Sequence[Any]) -> tuple[Any, ...]:
    return tree_util.tree_map(as_array, tuple(args))


def _check_at(point: tuple[Any, ...], atol: Any, rtol: Any, eps: float | None) -> _Check:
    dtype = _least_dtype(point)
    step = eps if eps is not None else _STEPS[dtype]
    return _Check(_tolerance(atol, point, dtype), _tolerance(rtol, point, dtype), step)


def _tolerance(given: Any, point: tuple[Any, ...], dtype: str) -> float:
    """The one that is given, of several the largest for a dtype of the point, or the default."""
    if isinstance(given, Mapping):
        by_dtype = {np.dtype(kind): number for kind, number in given.items()}
        kinds = {dtypes.dtype_of(x)[0] for x in tree_util.tree_leaves(point)}
        return max([by_dtype[kind] for kind in kinds if kind in by_dtype] or [_TOLERANCES[dtype]])
    return _TOLERANCES[dtype] if given is None else given


class _Check:
    def __init__(self, atol: float, rtol: float, eps: float) -> None:
        self.atol, self.rtol, self.eps = atol, rtol, eps
        self.random = np.random.default_rng(0)

    def run(
        self, f: Callable[..., Any], args: tuple[Any, ...], order: int, modes: Any, name: str
    ) -> None:
        if "fwd" in modes:
            self.forward(f, functools.partial(jvp, f), args, name)
        if "rev" in modes:
            self.reverse(f, functools.partial(vjp, f), args, name)
        if order > 1:
            tangents = self.direction(args)
            if "fwd" in modes:
                push = functools.partial(_push, f, tangents)
                self.run(push, args, order - 1, modes, f"jvp({name})")
            if "rev" in modes:
                cotangent = self.direction(f(*args))
                pull = functools.partial(_pull, f, cotangent)
                self.run(pull, args, order - 1, modes, f"vjp({name})")

    def forward(
        self,
        f: Callable[..., Any],
        f_jvp: Callable[..., Any],
        args: tuple[Any, ...],
        name: str,
    ) -> None:
        """jvp against the difference quotient."""
        tangents = self.direction(args)
        out, tangent = f_jvp(args, tangents)
        self.close(f(*args), out, f"{name}: the value that jvp returns")
        quotient = self.quotient(f, args, tangents)
        self.close(quotient, tangent, f"{name}: jvp")

    def reverse(
        self,
        f: Callable[..., Any],
        f_vjp: Callable[..., Any],
        args: tuple[Any, ...],
        name: str,
    ) -> None:
        """vjp against the difference quotient, by the dot product of both with a cotangent."""
        tangents = self.direction(args)
        out, pullback = f_vjp(*args)
        self.close(f(*args), out, f"{name}: the value that vjp returns")
        cotangent = self.direction(out)
        expected = _dot(self.quotient(f, args, tangents), cotangent)
        found = _dot(tangents, pullback(cotangent))
        np.testing.assert_allclose(
            found, expected, rtol=self.rtol, atol=self.atol, err_msg=f"{name}: vjp"
        )

    def quotient(self, f: Callable[..., Any], args: tuple[Any, ...], tangents: Any) -> Any:
        """(f(x + eps t) - f(x - eps t)) / (2 eps), in float64."""

        def moved(sign: float) -> Any:
            return tree_util.tree_map(
                lambda x, t: as_array(
                    (np.asarray(x) + sign * self.eps * np.asarray(t)).astype(x.dtype)
                ),
                args,
                tangents,
            )

        return tree_util.tree_map(
            lambda above, below: (_wide(above) - _wide(below)) / (2 * self.eps),
            f(*moved(1.0)),
            f(*moved(-1.0)),
        )

    def direction(self, tree: Any) -> Any:
        """A random tangent for each leaf of a pytree."""

        def draw(x: Any) -> Any:
            dtype, _ = dtypes.dtype_of(x)
            drawn = self.random.normal(size=np.shape(x))
            if dtype.kind == "c":
                drawn = drawn + 1j * self.random.normal(size=np.shape(x))
            return np.asarray(drawn, dtype)

        return tree_util.tree_map(draw, tree)

    def close(self, expected: Any, found: Any, what: str) -> None:
        for e, g in zip(tree_util.tree_leaves(expected), tree_util.tree_leaves(found), strict=True):
            np.testing.assert_allclose(
                _wide(g), _wide(e), rtol=self.rtol, atol=self.atol, err_msg=what
            )


def _push(f: Callable[..., Any], tangents: Any, *args: Any) -> Any:
    return jvp(f, args, tangents)[1]


def _pull(f: Callable[..., Any], cotangent: Any, *args: Any) -> Any:
    return vjp(f, *args)[1](cotangent)


def _wide(x: Any) -> Any:
    array = np.asarray(x)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _dot(a: Any, b: Any) -> Any:
    leaves = zip(tree_util.tree_leaves(a), tree_util.tree_leaves(b), strict=True)
    return np.real(sum(np.sum(_wide(x) * _wide(y)) for x, y in leaves))


def _least_dtype(args: tuple[Any, ...]) -> str:
    names = {dtypes.dtype_of(x)[0].name for x in tree_util.tree_leaves(args)}
    return "float64" if names <= {"float64", "complex128"} else "float32"
