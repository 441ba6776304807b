"""Layouts of reshaped arrays whose parts are reshaped by themselves.

Dimensions are products of factors that both shapes have: (16, 4) and (2, 32) have 2, 8 and 4, of
which 16 and 32 are made. Axes of a mesh divide the factors of their dimension, the first ones
first. A factor may be divided where those before it in its dimension are, as far as they can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import gcd, prod

from irax_compiler.ops.sharding_rule import Axes, Shape, runs

Dims = list[list[int]]
"""The factors of each dimension of a shape, by number."""


@dataclass(frozen=True)
class ReshapedLayouts:
    """The layouts of a reshape."""

    given: tuple[Axes, ...]
    """The layout of the array whose parts are reshaped."""
    found: tuple[Axes, ...]
    """The layout of the result of reshaping them."""
    wanted: tuple[Axes, ...]
    """The layout of the result: all that it can keep of how the array is divided."""


def reshaped_layouts(
    before: Shape, after: Shape, spec: Sequence[Axes], mesh: Mapping[str, int]
) -> ReshapedLayouts:
    """Return the layouts of a reshape of an array that is divided by `spec`.

    >>> reshaped_layouts((16,), (2, 8), (("x", "y"),), {"x": 2, "y": 2}).wanted
    (('x',), ('y',))
    >>> reshaped_layouts((8, 4), (32,), (("x",), ("y",)), {"x": 2, "y": 2}).given
    (('x',), ())
    """
    old, new, sizes = _factors_in_common(before, after)
    axes: dict[int, Axes] = {}
    for factors, of_one in zip(old, spec, strict=True):
        left = of_one
        for f in factors:
            axes[f] = _divisors(left, sizes[f], mesh)
            left = left[len(axes[f]) :]
            if not _is_whole(axes[f], sizes[f], mesh):
                break

    def laid_out(dims: Dims) -> tuple[Axes, ...]:
        return tuple(tuple(chain(*(axes.get(f, ()) for f in factors))) for factors in dims)

    def keep(dims: Dims) -> bool:
        """Take axes off that dimensions cannot have; return True if there were any."""
        count = len(axes)
        for factors in dims:
            reached = True
            for f in factors:
                if not reached:
                    axes.pop(f, None)
                reached &= _is_whole(axes.get(f, ()), sizes[f], mesh)
        return len(axes) < count

    keep(new)
    wanted = laid_out(new)
    while keep(old) or keep(new):
        pass
    return ReshapedLayouts(laid_out(old), laid_out(new), wanted)


def _factors_in_common(before: Shape, after: Shape) -> tuple[Dims, Dims, list[int]]:
    """The factors of each dimension of two shapes of as many elements, and their sizes. Where a run
    of dimensions has none in common, its first dimensions have their greatest divisor.
    """
    shapes = before, after
    found: tuple[Dims, Dims] = [[] for _ in before], [[] for _ in after]
    sizes: list[int] = []
    for run in runs(before, after):
        ends = [
            [prod(n[d] for d in range(start, of_one.stop)) for start in (*of_one, of_one.stop)]
            for n, of_one in zip(shapes, run, strict=True)
        ]
        steps = list(pairwise(sorted({*ends[0], *ends[1]}, reverse=True)))
        if all(n % m == 0 for n, m in steps):
            for dims, of_one, along in zip(found, run, ends, strict=True):
                for d, (high, low) in zip(of_one, pairwise(along), strict=True):
                    numbers = [k for k, (n, m) in enumerate(steps) if high >= n and m >= low]
                    dims[d] = [len(sizes) + k for k in numbers]
            sizes += [n // m for n, m in steps]
            continue
        firsts = [
            next(d for d in of_one if n[d] != 1) for n, of_one in zip(shapes, run, strict=True)
        ]
        for dims, first in zip(found, firsts, strict=True):
            dims[first] = [len(sizes)]
        sizes.append(gcd(*(n[first] for n, first in zip(shapes, firsts, strict=True))))
    return *found, sizes


def _divisors(axes: Axes, size: int, mesh: Mapping[str, int]) -> Axes:
    """The first axes along which a dimension of a size can be divided."""
    count = len(axes)
    while size % prod(mesh[axis] for axis in axes[:count]):
        count -= 1
    return axes[:count]


def _is_whole(axes: Axes, size: int, mesh: Mapping[str, int]) -> bool:
    """True if a dimension of a size is divided into single elements."""
    return prod(mesh[axis] for axis in axes) == size
