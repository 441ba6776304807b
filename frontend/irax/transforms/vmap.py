"""vmap: traces a function for one lane, then makes it work on all of them with the batch pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from irax.core.array import Array
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.dispatch import call
from irax.core.refs import functions as ref_functions
from irax.core.refs import refs
from irax.core.settings import rule_logs
from irax.core.shardings import axis_names
from irax.core.shardings.explicit_axes import (
    are_in_types,
    by_mesh_of,
    is_layout_stated,
    layout_of,
    type_of,
    type_of_slice,
)
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Scope, trace_function, trace_state_clean
from irax.core.trees import array_trees
from irax.core.trees.flattening import Arguments, FlatFunction, name_of
from irax.core.wrapping import wraps
from irax_compiler import api
from irax_compiler.ops.control_flow.shard_map import axes_of

P = ParamSpec("P")
R = TypeVar("R")


@api_boundary
def vmap(
    fun: Callable[P, R],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | tuple[Hashable, ...] | None = None,
    sum_match: bool = False,
) -> Callable[P, R]:
    """Return a function that applies `fun` to each slice of its arguments along an axis.

    Args:
        fun: a function of pytrees of arrays.
        in_axes: which axis of each argument is mapped: an int, None for an argument that all lanes
            share, or a tuple (or a pytree that is a prefix of the arguments) of these. Keyword
            arguments are mapped along axis 0.
        out_axes: where the mapped axis goes in each result; None for one that no lane changes.
        axis_name: a name for the mapped axis, by which collectives refer to it: `irax.lax.psum(x,
            "i")` is the sum over all lanes of a vmap with `axis_name="i"`.
        axis_size: its size; needed only where no argument is mapped.
        spmd_axis_name: an axis of a mesh, or a tuple of these, along which the mapped axis is
            divided among devices where a sharding is given inside of `fun`.
        sum_match: True to add up results over the lanes where `out_axes` is None, and the lanes
            change them.

    Returns:
        The mapped function.

    Raises:
        ValueError: on a call, where the mapped axes disagree in size or do not exist, or where a
            sharding inside of `fun` names an axis of `spmd_axis_name`.

    >>> vmap(lambda x, y: x * y, in_axes=(0, None))(irax.numpy.arange(3.0), 2.0)
    Array([0., 2., 4.], dtype=float32)
    """
    several = spmd_axis_name if isinstance(spmd_axis_name, tuple) else (spmd_axis_name,)
    mesh_axes = tuple(axis_names.text_of(name) for name in several if name is not None)
    return over_lanes(
        "vmap", fun, in_axes, out_axes, axis_name, axis_size, mesh_axes, False, sum_match
    )


def over_lanes(
    what: str,
    fun: Callable[..., Any],
    in_axes: Any,
    out_axes: Any,
    axis_name: Hashable | None,
    axis_size: int | None,
    mesh_axes: tuple[str, ...] = (),
    over_devices: bool = False,
    sum_match: bool = False,
    is_numbered: bool = False,
) -> Callable[..., Any]:
    """Return `vmap(fun, ...)` for the transformation `what`, as error messages call it. If
    `over_devices`, each lane makes its own calls of the host. If `is_numbered`, the first argument
    is the number of the lane.
    """
    in_axes = checked_axes(what, fun, in_axes, out_axes)

    @api_boundary
    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if rule_logs.calls() is not None and not is_numbered:
            return numbered(args, kwargs)
        boxed = None
        if refs.exist():
            in_trace = not trace_state_clean()
            boxed = ref_functions.Arguments.of(what, args, kwargs, in_trace)
        if boxed is not None:
            spread = _spread((in_axes, 0), (args, kwargs), f"{what}: in_axes")
            own = [spread[place] for place in boxed.places]
            pure = boxed.of_arrays(what, fun)
            axes = (out_axes, own)
            lanes = over_lanes(
                what,
                pure,
                in_axes,
                axes,
                axis_name,
                axis_size,
                mesh_axes,
                over_devices,
                sum_match,
            )
            out, states = lanes(*boxed.args, **boxed.kwargs)
            boxed.refs.write(states)
            return out
        given = Mapped.of(what, fun, in_axes, axis_size, args, kwargs)
        with by_mesh_of(given.arrays):
            return batched(given)

    def numbered(args: Any, kwargs: Any) -> Any:
        size = Mapped.of(what, fun, in_axes, axis_size, args, kwargs).size
        of_lane = rule_logs.numbered(fun, size, True)
        axes = (0, *(in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)))
        options = out_axes, axis_name, axis_size, mesh_axes, over_devices, sum_match, True
        numbers = np.arange(size, dtype=np.int32)
        return over_lanes(what, of_lane, axes, *options)(numbers, *args, **kwargs)

    def batched(given: Mapped) -> Any:
        told = given.divided_along(what)
        along = mesh_axes or told
        inputs = [
            Input(type_of_slice(x, axis), None, f"{name_of(fun)}: {name}")
            for x, axis, name in zip(given.arrays, given.axes, given.names, strict=True)
        ]
        divided = axis_names.lanes_divided_along(along)
        with axis_names.binding(axis_name, given.size), divided:
            # Operations may name the axis, and have no operands.
            scope = Scope.OWN if axis_name is None else Scope.ALL
            with _told_of_lanes(what, given.size):
                traced = trace_function(given.call, inputs, what, name_of(fun), scope=scope)
        wanted = given.result_axes(what, out_axes, traced.results)
        named = "" if axis_name is None else axis_names.text_of(axis_name)
        mapped_axes = [*given.axes, *(None for _ in traced.captures)]
        try:
            with traced.builder.deriving():  # a rule for lanes may be differentiated here
                derived = api.batch(
                    traced.builder.module,
                    traced.name,
                    given.size,
                    mapped_axes,
                    wanted,
                    named,
                    along,
                    over_devices,
                    sum_match,
                )
        except api.PassError as error:
            raise ValueError(f"{what}: {error}") from None
        operands = [*given.arrays, *traced.captures]
        values = call(traced.builder, derived.name, operands, traced.weak)
        return given.results_of(values, out_axes)

    return mapped


_OF_LANE = "These are shapes of a lane"


@contextmanager
def _told_of_lanes(what: str, size: int) -> Iterator[None]:
    """Errors about shapes of a lane say that they are."""
    try:
        yield
    except (TypeError, ValueError) as error:
        told = any(_OF_LANE in note for note in getattr(error, "__notes__", ()))
        if "shape" in str(error) and not told:
            error.add_note(f"{_OF_LANE}: {what} maps the function over {size}.")
        raise


def checked_axes(what: str, fun: Any, in_axes: Any, out_axes: Any) -> Any:
    """Return `in_axes` as an int, None or a tuple.

    Raises:
        TypeError: `fun` is no function, or the axes are no pytrees of numbers and Nones.
    """
    check_callable(fun, what)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not isinstance(in_axes, int | tuple | None):
        raise TypeError(
            f"{what}: in_axes must be an int, None, or a tuple with an entry for each argument, "
            f"got {in_axes!r}"
        )
    _check_axes(in_axes, f"{what}: in_axes")
    _check_axes(out_axes, f"{what}: out_axes")
    return in_axes


@dataclass(frozen=True)
class Mapped:
    """The arguments of a call of a mapped function."""

    function: FlatFunction
    arguments: Arguments
    positions: Sequence[int]
    """The leaves that are mapped."""
    arrays: Sequence[Array]
    """The mapped leaves, and for each its axis and name."""
    axes: Sequence[int]
    names: Sequence[str]
    size: int

    @classmethod
    def of(
        cls,
        what: str,
        fun: Callable[..., Any],
        in_axes: Any,
        axis_size: int | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Mapped:
        """Return the arguments of a call, with those that are mapped.

        Raises:
            ValueError: the axes do not fit the arguments, or disagree in size.
        """
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                f"{what}: in_axes has {len(in_axes)} entries, but {name_of(fun)} was called with "
                f"{len(args)} positional arguments; expected one entry for each, or one int for all"
            )
        arguments = Arguments.of(fun, args, kwargs)
        names = arguments.names
        axes = _spread((in_axes, 0), (args, kwargs), f"{what}: in_axes")
        positions = [i for i, axis in enumerate(axes) if axis is not None]
        arrays, found = [], []
        size = _Size(what, axis_size)
        for i in positions:
            array, aval = arguments.array(i, what)
            described = f"{what}: in_axes of {names[i]} with type {aval}"
            axis = _normalize(cast(int, axes[i]), aval.ndim, described)
            size.meet(aval.shape[axis], names[i], aval, axis)
            arrays.append(array)
            found.append(axis)
        tree = arguments.tree
        whole = (args, kwargs)
        of_slice = array_trees.reshaped_float0(whole, (in_axes, 0), size.without)
        if of_slice is not whole:
            tree = array_trees.tree_structure(of_slice)
        if size.value is None:
            raise ValueError(
                f"{what}: no argument is mapped, so the size of the axis is not known; expected at "
                "least one in_axes that is not None, or axis_size"
            )
        own = [names[i] for i in positions]
        flat = FlatFunction(fun, tree)
        return cls(flat, arguments, positions, arrays, found, own, size.value)

    def divided_along(self, what: str) -> tuple[str, ...]:
        """Return the explicit axes of the mesh along which the mapped axis is divided.

        Raises:
            ValueError: arguments differ in them, or one that is not mapped is divided along them.
        """
        if not are_in_types() or is_layout_stated():
            return ()
        types = list(map(type_of, self.arrays))
        mapped = {layout_of(t)[axis] for t, axis in zip(types, self.axes, strict=True)}
        if len(mapped) > 1:
            raise ValueError(
                f"{what}: the mapped axes of arguments must be divided in one way, got "
                f"{' and '.join(map(str, types))}, mapped along {list(self.axes)}; move some "
                "before by irax.reshard"
            )
        along = tuple(chain(*mapped))
        for place, leaf in enumerate(self.arguments.leaves):
            if place in self.positions or not isinstance(leaf, Array):
                continue
            if axes_of(layout_of(type_of(leaf))) & set(along):
                raise ValueError(
                    f"{what}: {self.arguments.names[place]} of type {type_of(leaf)} is not mapped, "
                    f"and divided along {sorted(along)} as the mapped axes are; move it before by "
                    "irax.reshard"
                )
        return along

    def call(self, *slices: Array) -> list[Array]:
        """Return the leaves of the function's results for slices of the mapped arguments."""
        return self.function(*self.arguments.with_leaves(self.positions, slices))

    def result_axes(self, what: str, out_axes: Any, results: Sequence[Any]) -> list[int | None]:
        """Return for each result of a slice the place of the mapped axis.

        Raises:
            ValueError: `out_axes` do not fit the results.
        """
        tree = self.function.out_tree
        wholes = array_trees.whole_leaves_of(tree, results)
        axes: list[Any]
        if out_axes is None or isinstance(out_axes, int | np.integer):
            axes = [out_axes] * len(wholes)
        else:
            skeleton = array_trees.tree_unflatten(tree, results)
            axes = _spread(out_axes, skeleton, f"{what}: out_axes")
        return [
            None if axis is None else _normalize(axis, x.ndim + 1, f"{what}: out_axes")
            for axis, x in zip(axes, wholes, strict=True)
        ]

    def results_of(self, leaves: Sequence[Any], out_axes: Any) -> Any:
        """Return the results of all slices, given those that are arrays of numbers."""
        results = array_trees.tree_unflatten(self.function.out_tree, leaves)
        return array_trees.stacked_float0(results, out_axes, self.size)


class _Size:
    """The size of the mapped axis, which all arguments must agree on."""

    def __init__(self, what: str, value: int | None) -> None:
        self.what = what
        self.value = value
        self.first = "axis_size"

    def meet(self, size: int, name: str, aval: ShapedArray | str, axis: int) -> None:
        text = f"{name} of type {aval} along axis {axis}"
        if self.value is None:
            self.value, self.first = size, text
        elif size != self.value:
            raise ValueError(
                f"{self.what}: mapped axes must have the same size, got {self.value} for "
                f"{self.first} and {size} for {text}"
            )

    def without(self, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
        """Return the shape of a slice of an array of dtype float0, which is no leaf of a trace."""
        axis = _normalize(axis, len(shape), f"{self.what}: in_axes of an array of dtype float0")
        self.meet(shape[axis], "an argument", f"float0{list(shape)}", axis)
        return shape[:axis] + shape[axis + 1 :]


def _spread(axes: Any, tree: Any, what: str) -> list[int | None]:
    """An axis for each leaf of `tree`, from a prefix of it."""
    try:
        return array_trees.prefix_broadcast(axes, tree, is_leaf=lambda x: x is None)
    except ValueError as error:
        raise ValueError(f"{what} does not fit: {error}") from None


def _check_axes(axes: Any, what: str) -> None:
    leaves = array_trees.tree_leaves(axes, is_leaf=lambda x: x is None)
    for leaf in leaves:
        is_axis = isinstance(leaf, int | np.integer) and not isinstance(leaf, bool)
        if leaf is not None and not is_axis:
            raise TypeError(f"{what} must be an int, None, or a pytree of these, got {axes!r}")


def _normalize(axis: int, rank: int, what: str) -> int:
    if not -rank <= axis < rank:
        raise ValueError(
            f"{what}: axis {axis} is out of range; expected {-rank} to {rank - 1}"
            if rank
            else f"{what}: axis {axis} is out of range: a scalar has no axes"
        )
    return int(axis) % rank
