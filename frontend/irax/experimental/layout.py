"""The order of an array's elements in memory. All of irax's devices have arrays in row-major
order, so other layouts are refused.
"""

from __future__ import annotations

from typing import Any

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.core.array import Array
from irax.core.shardings.layouts import Format as Format
from irax.core.shardings.layouts import Layout as Layout
from irax.core.shardings.layouts import check_row_major
from irax.core.trees import array_trees


def with_layout_constraint(x: Any, layouts: Any) -> Any:
    """Return the arrays of a pytree, which have these layouts.

    Args:
        x: a pytree of arrays.
        layouts: a `Layout`, or a pytree of them that begins as `x` does.

    Raises:
        ValueError: a leaf is no array, something else than a layout, or a layout that is not
            row-major or is of arrays with another number of dimensions.

    >>> with_layout_constraint(irax.numpy.ones((1, 2)), Layout((0, 1)))
    Array([[1., 1.]], dtype=float32)
    """
    what = "with_layout_constraint"
    leaves = array_trees.tree_leaves(x)
    given = array_trees.prefix_broadcast(layouts, x)
    for leaf, layout in zip(leaves, given, strict=True):
        if not isinstance(layout, Layout):
            raise ValueError(
                f"{what}: expected a Layout, got {layout!r} of type {type(layout).__name__}"
            )
        if not isinstance(leaf, Array):
            raise ValueError(f"{what}: expected arrays of irax, got {type(leaf).__name__}")
        check_row_major(what, layout, leaf.shape)
    return x


__getattr__: _GetAttr = _refuse_names(__name__)
