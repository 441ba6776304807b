"""Results and cotangents of all lanes at once, of functions with derivative rules of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import Axis, full
from irax_compiler.ops.derived import Batched
from irax_compiler.ops.reduction_builders import reduce_sum


def first_axes(
    values: Sequence[Value], axes: Sequence[Axis], size: int, shared: Sequence[bool]
) -> list[Value]:
    """Return values with the mapped axis first, but for `shared` ones: of these, one lane's."""

    def placed(x: Value, axis: Axis, is_shared: bool) -> Value:
        if not is_shared:
            return shape.batched_at(x, axis, size, 0)
        return x if axis is None else one_lane(x, axis)

    flags = shared or [False] * len(values)
    return [placed(*each) for each in zip(values, axes, flags, strict=True)]


def one_lane(x: Value, axis: int) -> Value:
    """Return the first lane of a value, without the mapped axis."""
    whole = shape_of(x)
    limits = tuple(1 if d == axis else n for d, n in enumerate(whole))
    lane = slicing.Slice((0,) * len(whole), limits, (1,) * len(whole))(x)
    return shape.Reshape(tuple(n for d, n in enumerate(whole) if d != axis))(lane)


def in_first_lane(x: Value, size: int) -> Value:
    """Return a value as that of the first lane, and zeros as those of the others."""
    padding = [(0, size - 1, 0), *((0, 0, 0) for _ in shape_of(x))]
    first = shape.Reshape((1, *shape_of(x)))(x)
    low, high, interior = (tuple(edge) for edge in zip(*padding, strict=True))
    return slicing.Pad(low, high, interior)(first, full((), 0, dtype_of(x)))


def backward_of_lanes(
    derive: Callable[[tuple[Axis, ...]], Batched],
    known: Sequence[Axis],
    shared: Sequence[bool],
    wanted: Sequence[Axis],
) -> tuple[Batched, bool]:
    """Return the backward part of all lanes, and True if cotangents that lanes share are to be
    those of the first lane. That is so if it gives a cotangent by lane of an argument that lanes
    share: a cotangent that each lane has would count once for each.
    """
    bwd = derive((*known, *(None if is_shared else 0 for is_shared in shared)))
    pairs = zip(bwd.results, wanted, strict=True)
    if not any(shared) or not any(axis is not None and place is None for axis, place in pairs):
        return bwd, False
    return derive((*known, *[0] * len(shared))), True


def with_lanes(cts: Sequence[Value], shared: Sequence[bool], size: int) -> list[Value]:
    """Return cotangents by lane, for some that lanes share."""
    pairs = zip(cts, shared, strict=True)
    return [in_first_lane(ct, size) if is_shared else ct for ct, is_shared in pairs]


def placed_cotangents(
    cts: Sequence[Value], axes: Sequence[Axis], wanted: Sequence[Axis], size: int
) -> list[Value]:
    """Cotangents with the mapped axis where the arguments have it, or summed over the lanes of
    arguments that all lanes share.
    """

    def placed(ct: Value, axis: Axis, place: Axis) -> Value:
        if place is not None:
            return shape.batched_at(ct, axis, size, place)
        return ct if axis is None else reduce_sum(ct, (axis,))

    return [placed(*each) for each in zip(cts, axes, wanted, strict=True)]
