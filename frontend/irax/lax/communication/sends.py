"""Sends and receives, which are two halves of a `ppermute`: the receive does all."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax.core.array import Array
from irax.core.shardings import axis_names
from irax.lax.arguments import array_of
from irax.lax.communication.collectives import ppermute
from irax.lax.staging import Token


@dataclass(frozen=True)
class _Sent(Token):
    """The token of arrays on their way: `precv` takes them."""

    x: Any
    axis_name: Hashable
    perm: tuple[tuple[int, int], ...]

    def __repr__(self) -> str:
        return "Token()"


def psend(x: Any, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> Token:
    """Send the arrays of lanes to other lanes, which take them by `precv`.

    Args:
        x: an array.
        axis_name: the name of the mapped axis.
        perm: as for `ppermute`.

    Returns:
        The token for `precv`.

    Raises:
        NameError: no vmap around gives an axis this name.
        TypeError: `x` is no array.

    >>> def pass_on(x):
    ...     token = irax.lax.psend(x, "i", [(0, 1)])
    ...     return irax.lax.precv(token, irax.ShapeDtypeStruct((), "float32"), "i", [(0, 1)])
    >>> irax.vmap(pass_on, axis_name="i")(irax.numpy.ones(2))
    Array([0., 1.], dtype=float32)
    """
    what = "lax.psend"
    _check_bound(what, axis_name)
    return _Sent(array_of(what, x), axis_name, tuple((int(a), int(b)) for a, b in perm))


def precv(
    token: Token, out_shape: Any, axis_name: Hashable, perm: Sequence[tuple[int, int]]
) -> Array:
    """Take the array that `psend` sent to this lane; zeros if none was.

    Args:
        token: the token of `psend`.
        out_shape: the shape and the dtype of the array, such as a `ShapeDtypeStruct`.
        axis_name: the name of the mapped axis, that of the `psend`.
        perm: the pairs of the `psend`.

    Raises:
        NameError: no vmap around gives an axis this name.
        ValueError: the token is that of another `psend`, or of none; or as for `ppermute`.

    >>> def swap(x):
    ...     token = irax.lax.psend(x, "i", [(0, 1), (1, 0)])
    ...     return irax.lax.precv(token, irax.typeof(x), "i", [(0, 1), (1, 0)])
    >>> irax.vmap(swap, axis_name="i")(irax.numpy.arange(2.0))
    Array([1., 0.], dtype=float32)
    """
    what = "lax.precv"
    _check_bound(what, axis_name)
    pairs = tuple((int(a), int(b)) for a, b in perm)
    if not isinstance(token, _Sent) or (token.axis_name, token.perm) != (axis_name, pairs):
        raise ValueError(
            f"{what}: expected the token of a psend along {axis_name!r} with perm={list(pairs)}, "
            "got that of another, or of none"
        )
    given = token.x.shape, token.x.dtype
    if given != (tuple(out_shape.shape), np.dtype(out_shape.dtype)):
        raise ValueError(f"{what}: out_shape is {out_shape!r}, but psend has sent {token.x.aval!r}")
    return ppermute(token.x, axis_name, perm)


def _check_bound(what: str, axis_name: Any) -> None:
    for name in axis_name if isinstance(axis_name, tuple | list) else (axis_name,):
        axis_names.find(name, what)
