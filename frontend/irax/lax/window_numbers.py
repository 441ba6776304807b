"""Checks that dimension numbers of a gather or a scatter fit the shapes of the operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Shape = Sequence[int]


def check_numbers(what: str, numbers: Any, array: Shape, indices: Shape) -> None:
    """Check the dimension numbers that gathers and scatters have in common. The fields of both
    their numbers stand in one order.

    Args:
        what: the function, for errors.
        numbers: `GatherDimensionNumbers` or `ScatterDimensionNumbers`.
        array: the shape of the operand.
        indices: that of the indices, whose last dimension holds the index vectors.

    Raises:
        TypeError: they do not fit; it names the field.
    """
    named = dict(zip(numbers._fields, numbers, strict=True))
    window, absent, index_map, batching, indices_batching = named
    batch = indices[:-1]
    for field, rank, ascends in (
        (window, len(batch) + len(named[window]), True),
        (absent, len(array), True),
        (index_map, len(array), False),
        (batching, len(array), True),
        (indices_batching, len(batch), False),
    ):
        _check_dimensions(what, field, named[field], rank, ascends)
    for one, other in ((absent, batching), (index_map, batching)):
        if set(named[one]) & set(named[other]):
            raise TypeError(
                f"{what}: {one}={named[one]} and {other}={named[other]} have dimensions in common"
            )
    if len(named[index_map]) != indices[-1]:
        raise TypeError(
            f"{what}: {index_map}={named[index_map]}: expected a dimension for each of the "
            f"{indices[-1]} numbers of an index vector, the last dimension of shape {indices}"
        )
    sizes = [array[d] for d in named[batching]], [batch[d] for d in named[indices_batching]]
    if sizes[0] != sizes[1]:
        raise TypeError(
            f"{what}: {batching}={named[batching]} have the sizes {sizes[0]} and "
            f"{indices_batching}={named[indices_batching]} the sizes {sizes[1]}; expected the same"
        )
    if sum(len(named[field]) for field in (window, absent, batching)) != len(array):
        raise TypeError(
            f"{what}: {window}, {absent} and {batching} together must have a dimension for each "
            f"of shape {tuple(array)}, got {named[window]}, {named[absent]} and {named[batching]}"
        )


def _check_dimensions(what: str, field: str, values: Shape, rank: int, ascends: bool) -> None:
    order = "ascending " if ascends else ""
    good = len(set(values)) == len(values) and all(0 <= d < rank for d in values)
    if not good or (ascends and list(values) != sorted(values)):
        raise TypeError(
            f"{what}: {field}={tuple(values)}: expected {order}dimensions from 0 to {rank - 1}, "
            "none twice"
        )


def check_windows(what: str, numbers: Any, array: Shape, sizes: Shape) -> None:
    """Raise TypeError if windows of these sizes do not fit in an array of this shape."""
    if len(sizes) != len(array) or any(
        not 0 <= size <= most for size, most in zip(sizes, array, strict=True)
    ):
        raise TypeError(
            f"{what}={tuple(sizes)} do not fit shape {tuple(array)}: "
            "expected a size for each dimension, none larger than its size"
        )
    _, absent, _, batching, _ = numbers
    for d in (*absent, *batching):
        if sizes[d] > 1:
            raise TypeError(
                f"{what}={tuple(sizes)} have no place elsewhere for "
                f"dimension {d}: its size must be 1, or {numbers._fields[0]} have it"
            )
