"""The common dtype and shape of an operation's operands.

Nothing here applies an operation: `promotion` does.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.config import config
from irax.core import source
from irax.core.array import Array, as_array
from irax.core.dtypes import strictness
from irax.core.dtypes.python_ints import fitted
from irax_compiler.sizes import InconclusiveDimensionOperation

Kinds = type | tuple[type, ...]
"""Kinds of dtypes, as abstract NumPy types: `np.integer`, `(np.integer, np.bool)`."""


# ---- arrays --------------------------------------------------------------------------------------


def as_arrays(operands: Sequence[Any], what: str) -> list[Array]:
    """The operands as arrays.

    Raises:
        OverflowError: a Python integer that needs 64 bits, where their common dtype has fewer.
        TypeError: one is a list, a string, ...; the message names it and the function, `what`.
    """
    try:
        return [x if isinstance(x, Array) else as_array(x) for x in operands]
    except TypeError:
        pass  # said anew, with the argument's name, and not as an error while this is handled
    except OverflowError:
        dtype, _ = dtypes.lattice_result_type(*operands)
        return [as_array(fitted(x, dtype, what), toward=dtype) for x in operands]
    return [
        as_array(x, f"{what}: {source.argument_name(x, with_place=True) or f'argument {position}'}")
        for position, x in enumerate(operands)
    ]


def with_weak_type(x: Array, weak_type: bool) -> Array:
    """`x` with a weak type; `x` itself where it has it already."""
    return x if x.weak_type == weak_type else x.with_weak_type(weak_type)


def types_text(operands: Sequence[Array]) -> str:
    """Return the types of operands as text, for error messages."""
    return "operands " + " and ".join(str(x.aval) for x in operands)


# ---- dtypes --------------------------------------------------------------------------------------


def check_dtype(what: str, dtype: np.dtype[Any], accepts: Kinds) -> None:
    """Raises TypeError if a function cannot take a dtype: the message names both."""
    if not _accepted(dtype, accepts):
        raise TypeError(
            f"{what}: expected arrays of {kinds_text(accepts)}, got {dtype}; "
            "convert with .astype(...)"
        )


def kinds_text(accepts: Kinds) -> str:
    """Return kinds of dtypes as text: "integers or floats"."""
    kinds = accepts if isinstance(accepts, tuple) else (accepts,)
    return " or ".join(_KIND_NAMES[kind] for kind in kinds)


@functools.cache
def _accepted(dtype: np.dtype[Any], accepts: Kinds) -> bool:
    kinds = accepts if isinstance(accepts, tuple) else (accepts,)
    return any(dtypes.issubdtype(dtype, kind) for kind in kinds)


@functools.cache
def inexact_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the float dtype that an integer or boolean becomes: as wide, and at least float32."""
    if dtypes.issubdtype(dtype, np.inexact):
        return dtype
    if dtype == dtypes.float0:
        raise TypeError(
            "expected numbers, got float0, the dtype of derivatives in integers: it holds none"
        )
    return np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)


_KIND_NAMES = {
    np.bool: "booleans",
    np.integer: "integers",
    np.signedinteger: "signed integers",
    np.floating: "floats",
    np.complexfloating: "complex numbers",
    np.inexact: "floats or complex numbers",
    np.number: "numbers",
}


def common_dtype(
    operands: Sequence[Any], what: str, dtype_kind: type | None, accepts: Kinds | None
) -> tuple[np.dtype[Any], bool]:
    """Return the dtype that an operation computes in, and if it is weak: that which operands
    promote to, or with `dtype_kind=np.inexact` the float of that.

    Raises:
        TypeError: it is none of `accepts`.
    """
    dtype, weak = dtypes.lattice_result_type(*operands)
    if dtype_kind is np.inexact:
        dtype = inexact_dtype(dtype)
    if accepts is not None:
        check_dtype(what, dtype, accepts)
    return dtype, weak


# ---- shapes --------------------------------------------------------------------------------------

_TOO_MANY = 2**60
"""As many elements are more than the 64 bits of an address reach."""


def broadcast_shapes(
    *shapes: tuple[int, ...], what: str = "", error: type[Exception] = ValueError
) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to together.

    Raises:
        error: they do not fit. The message begins with `what`, the function's name.
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except InconclusiveDimensionOperation:  # symbolic dimensions, which NumPy does not know
        found = _broadcast_by_name(shapes)
        if found is not None:
            return found
    except ValueError:
        found = _broadcast_by_name(shapes)
        if found is not None:  # NumPy counts the elements
            check_number(what, found)
    listed = " and ".join(map(str, shapes))
    raise error(
        f"{what}{': ' * bool(what)}shapes {listed} do not fit together: aligned at their last "
        "dimensions, sizes must be equal or 1 (Incompatible shapes for broadcasting)"
    )


def check_number(what: str, shape: Sequence[Any]) -> None:
    """Check that an array of a shape can have its number of elements; sizes that are expressions of
    names are not looked at.

    Raises:
        ValueError: no memory holds so many. The message begins with `what`, the function's name.
    """
    known = [n for n in shape if isinstance(n, int)]
    if 0 not in known and math.prod(known) >= _TOO_MANY:
        raise ValueError(
            f"{what}{': ' * bool(what)}no memory holds the {math.prod(known)} elements of shape "
            f"{tuple(shape)}"
        )


def _broadcast_by_name(shapes: Sequence[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """The common shape of shapes with symbolic dimensions, which are equal if they are the same
    expression; None where they do not fit.
    """
    reversed_ = [shape[::-1] for shape in shapes]
    found: list[Any] = []
    for sizes in itertools.zip_longest(*reversed_, fillvalue=1):
        wider = {n for n in sizes if n != 1}
        if len(wider) > 1:
            return None
        found.append(wider.pop() if wider else 1)
    return tuple(found[::-1])


def common_shape(operands: Sequence[Any], what: str) -> tuple[int, ...]:
    """The shape that operands broadcast to together, if `numpy_rank_promotion` lets them.

    Raises:
        TypeError: they do not fit; ValueError where they differ in rank, too.
    """
    judge_ranks(operands, what)
    shapes = [np.shape(x) for x in operands]
    same_rank = len({len(shape) for shape in shapes if shape}) == 1
    return broadcast_shapes(*shapes, what=what, error=TypeError if same_rank else ValueError)


def judge_ranks(operands: Sequence[Any], what: str, core: Sequence[int] | None = None) -> None:
    """Raises ValueError, or warns, where operands of the user's differ in rank, scalars aside, and
    the option `numpy_rank_promotion` minds that.

    Of each, the last `core` dimensions are not broadcast, and do not count.
    """
    if config.numpy_rank_promotion == "allow":
        return
    judged = strictness.judged(operands)
    shapes = [np.shape(x) for x in judged]
    sizes = {id(x): n for x, n in zip(operands, core or [0] * len(operands), strict=True)}
    ranks = {len(s) - sizes[id(x)] for x, s in zip(judged, shapes, strict=True) if s}
    if len(ranks) < 2:
        return
    message = (
        f"{what}{': ' * bool(what)}operands of shapes {' and '.join(map(str, shapes))} differ in "
        f"rank, and the option numpy_rank_promotion is {config.numpy_rank_promotion!r}: give "
        "them the same rank with reshape or expand_dims"
    )
    if config.numpy_rank_promotion == "raise":
        raise ValueError(message)
    source.warn(message, UserWarning)
