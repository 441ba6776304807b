"""Axes of a mesh along which devices are not to exchange data, as `no_collectives` says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from irax.config import config
from irax.core.shardings.axis_names import BoundAxis, text_of

Layout = Sequence[Iterable[str]]
"""The axes along which each dimension of an array is divided."""


class ForbiddenCollectiveError(Exception):
    """Devices would exchange data along an axis along which that is forbidden."""


@contextmanager
def no_collectives(new_val: frozenset[Any] | set[Any]) -> Iterator[None]:
    """Forbid exchanges between the devices of a mesh along axes, for the length of a `with` block.

    In it collectives along them raise a `ForbiddenCollectiveError`, and so do functions whose
    result is no longer divided along an `Explicit` axis that an operand is divided along, and
    `reshard` to another dimension.

    Args:
        new_val: a set of names.

    Raises:
        TypeError: something else than a set.

    >>> with no_collectives({"x"}):
    ...     irax.numpy.arange(3.0).sum()
    Array(3., dtype=float32)
    """
    if not isinstance(new_val, set | frozenset):
        raise TypeError(
            f"no_collectives: expected a set of names of axes, got {new_val!r} of type "
            f"{type(new_val).__name__}"
        )
    with config.scoped("no_collectives", frozenset(new_val)):
        yield


def forbidden_axes() -> frozenset[Any]:
    """Return the axes along which that is forbidden here."""
    found: Any = config.no_collectives
    return found or frozenset()


def check_collective(what: str, axes: Iterable[BoundAxis]) -> None:
    """Check that a collective may exchange data along axes of a mesh.

    Raises:
        ForbiddenCollectiveError: it may not.
    """
    for axis in axes:
        if axis.is_checked and axis.name in forbidden_axes():
            _refuse(axis.name, f"{what} acts along it")


def check_kept(what: str, operands: Iterable[Layout], result: Layout) -> None:
    """Check that a result is divided along the forbidden axes that its operands are divided along,
    given the axes of each dimension.

    Raises:
        ForbiddenCollectiveError: it is not.
    """
    given = {axis for spec in operands for axes in spec for axis in axes}
    kept = {axis for axes in result for axis in axes}
    for axis in forbidden_axes():
        if text_of(axis) in given - kept:
            _refuse(axis, f"an operand of {what} is divided along it, and the result is not")


def check_unmoved(what: str, before: Layout, after: Layout) -> None:
    """Check that an array stays divided along the forbidden axes, and in the same dimensions.

    Raises:
        ForbiddenCollectiveError: it does not.
    """
    check_kept(what, [before], after)
    for axis in forbidden_axes():
        name = text_of(axis)
        old, new = ([n for n, axes in enumerate(x) if name in axes] for x in (before, after))
        if old and old != new:
            _refuse(axis, f"{what} divides another dimension along it")


def _refuse(axis: Any, why: str) -> None:
    raise ForbiddenCollectiveError(
        f"a collective along the axis {axis!r} is forbidden by no_collectives, but {why}: move the "
        "array by irax.reshard before the block, or leave the axis out"
    )
