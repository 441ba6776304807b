"""Loop-carried pytrees, and errors for steps and branches that change a structure or a type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax import dtypes
from irax.core import source
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.dtypes.promotion import convert
from irax.core.shardings.explicit_axes import are_in_types, is_layout_stated, layout_of, type_of
from irax.core.shardings.pvary import pvary
from irax.core.tracing import Input, Traced
from irax.core.trees import array_trees
from irax.core.trees.flattening import returned_array


class Carry:
    """The loop-carried values of a loop: the leaves of a pytree, as arrays.

    A step must return what it was given: the same structure, shapes and dtypes. Only where the loop
    starts with a Python number may a step return another dtype, which the number then takes too.
    Inside of `shard_map`, initial values count as varying along all axes along which what a step
    returns does.
    """

    def __init__(self, what: str, name: str, init: Any) -> None:
        """`what` is the loop, `name` the argument with the first values, for error messages."""
        self.what: str = what
        self.name: str = name
        leaves, tree = array_trees.tree_flatten(init)
        self.tree = tree
        self.names: list[str] = leaf_names(name, init)
        self.arrays: list[Array] = [
            as_array(x, f"{what}: {n}") for x, n in zip(leaves, self.names, strict=True)
        ]

    def inputs(self) -> list[Input]:
        """Return the arguments to trace a step with, which stand for any carried values."""
        return [Input(type_of(x), None, n) for x, n in zip(self.arrays, self.names, strict=True)]

    def unflatten(self, leaves: Sequence[Array]) -> Any:
        """The pytree with other leaves."""
        return array_trees.tree_unflatten(self.tree, leaves)

    def trace(self, trace_step: Callable[[], Traced]) -> Traced:
        """Trace a step, which passes the values it carries on through `carried_on`; trace it again
        if that has changed the types of initial values.
        """
        while True:
            try:
                return trace_step()
            except _Promotion as promotion:
                if promotion.carry is not self:
                    raise
                self.arrays = [
                    pvary(convert(x, dtype) if x.dtype != dtype else x, axes)
                    for x, dtype, axes in zip(
                        self.arrays, promotion.dtypes, promotion.varying, strict=True
                    )
                ]

    def carried_on(self, function: str, out: Any) -> list[Array]:
        """Return the leaves of the values that a step carries on.

        Raises:
            TypeError: they are not of the structure and types of those the loop starts with.
        """
        returned = f"what {function} carries on"
        leaves, tree = array_trees.tree_flatten(out)
        if tree != self.tree:
            error = array_trees.structure_error(self.tree, out, self.name, returned)
            raise TypeError(f"{self.what} at {source.user_line()}: {error}")
        arrays = [returned_array(x, f"{self.what}: {returned}") for x in leaves]
        arrays = [pvary(x, y.aval.vma) for x, y in zip(arrays, self.arrays, strict=True)]
        before, after = [type_of(x) for x in self.arrays], [type_of(x) for x in arrays]
        promoted = [
            dtypes.result_type(x, y) if x.weak_type and x.shape == y.shape else x.dtype
            for x, y in zip(self.arrays, arrays, strict=True)
        ]
        varying = [x.vma for x in after]
        if promoted != [x.dtype for x in before] or varying != [x.vma for x in before]:
            raise _Promotion(self, promoted, varying)
        if not all(map(are_alike, before, after)):
            raise TypeError(
                f"{self.what} at {source.user_line()}: {returned} must have the {type_parts()} "
                f"of {self.name}, but differs:\n"
                + side_by_side(self.names, (self.name, returned), (before, after))
                + f"\nConvert with {conversions()}, or change {self.name}."
            )
        return arrays


class _Promotion(Exception):
    """Ends the trace of a step: initial values take other dtypes, or vary along more axes."""

    def __init__(self, carry: Carry, dtypes: list[Any], varying: list[frozenset[str]]) -> None:
        self.carry, self.dtypes, self.varying = carry, dtypes, varying


def same_type(a: ShapedArray, b: ShapedArray) -> bool:
    """Return True if two types have the same shape, dtype, varying axes and space of memory, weak
    or not.
    """
    is_alike = a.shape == b.shape and a.dtype == b.dtype and a.vma == b.vma
    return is_alike and a.memory_space is b.memory_space


def are_alike(a: ShapedArray, b: ShapedArray) -> bool:
    """Return True if two types are the same, weak or not, and tell the same layout."""
    return same_type(a, b) and (is_layout_stated() or layout_of(a) == layout_of(b))


def type_parts() -> str:
    """Return what `are_alike` compares, for messages."""
    return "shapes, dtypes and layouts" if are_in_types() else "shapes and dtypes"


def conversions() -> str:
    """Return what converts between types, for messages."""
    return ".astype(...) and irax.reshard" if are_in_types() else ".astype(...)"


def leaf_names(name: str, tree: Any) -> list[str]:
    """A name for each leaf of a pytree: `init['w'][0]`."""
    return [name + array_trees.keystr(path) for path, _ in array_trees.tree_leaves_with_path(tree)]


def side_by_side(
    names: Sequence[str], titles: Sequence[str], avals: Sequence[Sequence[ShapedArray]]
) -> str:
    """Pytrees of types in columns, with a mark at each leaf in which they differ."""
    rows = [["", *titles, ""]]
    for name, types in zip(names, zip(*avals, strict=True), strict=True):
        mark = "" if all(are_alike(types[0], t) for t in types) else "<- differs"
        rows.append([name, *map(repr, types), mark])
    if len(rows) > 24:
        rows = [rows[0], *[row for row in rows[1:] if row[-1]][:24]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join("  " + line for line in lines)
