"""jit with shardings: arguments are divided before a call, results after it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from irax import tree_util
from irax.config import config
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.avals import ShapedArray, ShapeDtypeStruct, sums_of
from irax.core.dispatch import bind, staged
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings import axis_names
from irax.core.shardings.axis_names import BoundAxis, text_of
from irax.core.shardings.explicit_axes import (
    are_in_types,
    is_divided,
    layout_is_stated,
    layout_of,
    layout_of_spec,
    type_of,
)
from irax.core.shardings.forbidden_axes import check_kept, forbidden_axes
from irax.core.shardings.layouts import sharding_of_format
from irax.core.shardings.memory_moves import in_memory
from irax.core.shardings.meshes import Mesh, get_abstract_mesh
from irax.core.shardings.partition_specs import UNCONSTRAINED, PartitionSpec, axes_of_entry
from irax.core.shardings.sharded import is_placed, placed, sharding_of, spec_of
from irax.core.shardings.shardings import NamedSharding, Sharding, SingleDeviceSharding, as_sharding
from irax.core.shardings.unreduced import with_sums
from irax.core.tracing import Input, trace_function
from irax.core.trees import array_trees
from irax.execution.moves import check_move
from irax_compiler.ops.control_flow.shard_map import ShardMap, axes_of
from irax_compiler.ops.sums import WHOLE

F = TypeVar("F", bound=Callable[..., Any])

_MOST_STRUCTURES = 256
"""The most structures of pytrees whose shardings are kept."""


def name_several_devices(*shardings: Any) -> bool:
    """Return True if a leaf of some pytrees of shardings is of a mesh."""
    return any(
        isinstance(leaf, NamedSharding | PartitionSpec)
        for leaf in tree_util.tree_leaves(shardings, is_leaf=lambda x: x is None)
    )


def check_constrained(what: str, shardings: Any) -> None:
    """Raise ValueError for a pytree of shardings one of which leaves a dimension open."""
    for leaf in tree_util.tree_leaves(shardings):
        spec = leaf.spec if isinstance(leaf, NamedSharding) else leaf
        if isinstance(spec, PartitionSpec) and UNCONSTRAINED in spec.partitions:
            raise ValueError(
                f"{what}: {leaf!r} leaves a dimension UNCONSTRAINED, which only "
                "irax.lax.with_sharding_constraint does: leave the sharding out, or say how the "
                "dimension is divided"
            )


def on_devices(x: Array, sharding: Sharding) -> Array:
    """Return an array on the devices of a sharding. A trace keeps the array as it is; its program
    is for these devices, where the arguments of a call were put nowhere.

    Raises:
        ValueError: it was put on other devices, or the program is for others.
    """

    def put() -> Array:
        if not isinstance(x, ConcreteArray):
            return x
        check_devices("shard_map", x, sharding)
        return _moved(x, placed(x, sharding))

    def note(builder: ModuleBuilder) -> Array:
        if isinstance(sharding, SingleDeviceSharding):
            builder.name_place(sharding.device)
        elif isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
            builder.name_place(sharding.mesh)
        return x

    return staged(put, note, [x])


def _moved(x: Array, result: Array) -> Array:
    """Return what an array has become, and log or forbid that as options say."""
    if isinstance(result, ConcreteArray) and result._buffer is not None:
        check_move(x, result._buffer.device)
    return result


def check_devices(what: str, x: Array, wanted: Sharding) -> None:
    """Raise ValueError for an array that was put on other devices than a sharding is of."""
    own = sharding_of(x) if isinstance(x, ConcreteArray) and x.committed else None
    if own is not None and wanted.has_devices and own.devices != wanted.devices:
        raise ValueError(
            f"{what}: received incompatible devices: an array of type {x.aval} is on {own!r}, and "
            f"expected on the devices of {wanted!r}: move it with irax.device_put"
        )


def constrained(x: Array, sharding: Sharding) -> Array:
    """Return an array divided in a way: in a trace by an operation that says so, if dimensions are
    multiples of their numbers of parts.

    Raises:
        ValueError: it cannot be divided so.
    """
    if isinstance(sharding, NamedSharding) and not sharding.mesh.axis_names:
        return x  # as the type of an array says outside of meshes

    def write() -> Array:
        sums = sums_of(sharding.spec) if isinstance(sharding, NamedSharding) else WHOLE
        return with_sums(_constraint(with_sums(x, WHOLE), sharding), sums)

    if isinstance(x, ConcreteArray):
        return staged(lambda: placed(x, sharding), lambda _: write(), [x])
    return write()


def check_manual(what: str, x: Array, sharding: Sharding) -> None:
    """Raise ValueError for a sharding of shards whose mesh has not the `Manual` axes of the
    `shard_map` that they are of.
    """
    manual = sharding.mesh.manual_axes if isinstance(sharding, NamedSharding) else ()
    if others := sorted(x.aval.vma.difference(map(text_of, manual))):
        raise ValueError(
            f"{what}: {sharding!r} cannot be that of an array of type {x.aval}, which is a shard "
            f"along {others}: expected a PartitionSpec of the other axes of the mesh, or a "
            "NamedSharding of irax.sharding.get_abstract_mesh()"
        )


def _constraint(x: Array, sharding: Sharding) -> Array:
    """Write a call of the identity on the shards of an array, which it is divided into for that."""
    if not isinstance(sharding, NamedSharding):
        return on_devices(x, sharding)
    if UNCONSTRAINED in sharding.spec.partitions:
        return x
    if any(n % count for n, count in zip(x.shape, sharding.parts(x.ndim), strict=True)):
        return x
    mesh = sharding.mesh.shape_tuple
    bound = {axis.name for axis in axis_names.bound()}
    manual = [BoundAxis(name, size, True) for name, size in mesh if name not in bound]
    spec = spec_of(sharding, x.ndim)
    axis_names.check_not_of_lanes(axes_of(spec), repr(sharding))
    varying = x.aval.vma | axes_of(spec)
    if inside := axes_of(spec) & set(map(text_of, bound)):
        raise ValueError(f"{sharding!r} names {sorted(inside)}, which a shard_map divides already")
    shard = ShapedArray(sharding.shard_shape(x.shape), x.dtype, x.weak_type, vma=varying)
    with axis_names.all_bound([*axis_names.bound(), *manual]):
        traced = trace_function(lambda y: [y], [Input(shard)], "sharding", "constraint")
    names = tuple(text_of(axis.name) for axis in manual)
    axes = tuple((text_of(name), size) for name, size in mesh)
    op = ShardMap(traced.name, axes, names, (spec,), (spec,))
    (found,) = bind(op, on_devices(x, sharding), builder=traced.builder)
    return found.with_weak_type(x.weak_type)


def divided_arguments(what: str, divisions: Divisions, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments of a call, divided as they are to be: the same tuple if they are.

    Raises:
        ValueError: an argument was put elsewhere, or cannot be divided so.
    """
    leaves, tree = array_trees.tree_flatten(args)
    wanted = divisions.of(tree, args)
    is_traced = staged(lambda: False, lambda _: True, leaves)  # a trace says so in any case
    found = [
        x if s is None or (not is_traced and is_placed(x, s)) else _divided_argument(what, x, s)
        for x, s in zip(leaves, wanted, strict=True)
    ]
    if all(x is y for x, y in zip(leaves, found, strict=True)):
        return args
    return array_trees.tree_unflatten(tree, found)


def _divided_argument(what: str, leaf: Any, wanted: Sharding) -> Array:
    x, own = as_array(leaf, what), None
    if isinstance(x, ConcreteArray) and x.committed and not is_placed(x, wanted):
        own = sharding_of(x)
    if own is not None and not own.is_equivalent_to(wanted, x.ndim):
        raise ValueError(
            f"{what}: an argument of type {x.aval} has the sharding {own!r}, but in_shardings has "
            f"{wanted!r}: move it with irax.device_put, or leave in_shardings out"
        )
    return _moved(x, constrained(x, wanted))


def divided_results(what: str, shardings: Any, results: Any) -> Any:
    """Return the results of a call, divided as a pytree of shardings and Nones says."""
    leaves, tree = array_trees.tree_flatten(results)
    is_of_memory = not isinstance(shardings, PartitionSpec)

    def divided(leaf: Any, wanted: Sharding) -> Array:
        result = constrained(as_array(leaf, what), wanted)
        return in_memory(result, wanted.memory_kind) if is_of_memory else result

    wanted = spread(f"{what}: shardings", shardings, results)
    pairs = zip(leaves, wanted, strict=True)
    found = [leaf if each is None else divided(leaf, each) for leaf, each in pairs]
    return array_trees.tree_unflatten(tree, found)


class Divisions:
    """The shardings that the leaves of pytrees are to have: those of a prefix of these, which are
    looked up once for a structure.

    Args:
        what: what has them, for messages.
        shardings: a pytree of shardings and Nones; None for any.
    """

    def __init__(self, what: str, shardings: Any) -> None:
        self._what, self._shardings = what, shardings
        self._known: dict[Any, Sequence[Sharding | None]] = {}

    def are_in(self, tree: Any) -> bool:
        """Return True if all arrays of a pytree are divided so already; False within a trace, which
        is to say so.

        Raises:
            ValueError: the shardings are no prefix of it.
        """
        return staged(lambda: self._are_in(tree), lambda _: False)

    def _are_in(self, tree: Any) -> bool:
        if self._shardings is None:
            return True
        leaves, structure = array_trees.tree_flatten(tree)
        pairs = zip(leaves, self.of(structure, tree), strict=True)
        return all(sharding is None or is_placed(x, sharding) for x, sharding in pairs)

    def of(self, structure: Any, tree: Any) -> Sequence[Sharding | None]:
        """Return the sharding, or None, for each leaf of a pytree of a structure.

        Raises:
            ValueError: the shardings are no prefix of it.
        """
        key = structure, config.mesh, config.abstract_mesh  # which a `PartitionSpec` is for
        try:
            wanted = self._known.get(key)
        except TypeError:  # data of a node's that has no hash
            return spread(self._what, self._shardings, tree)
        if wanted is None:
            if len(self._known) >= _MOST_STRUCTURES:
                self._known.clear()
            wanted = self._known[key] = spread(self._what, self._shardings, tree)
        return wanted


def divided_like(what: str, result: Any, like: Any) -> Any:
    """Return an array divided as the type of an array of its shape tells."""
    if not are_in_types():
        return result
    told = type_of(like, what)
    own = type_of(result, what)
    if not (is_divided(told) or is_divided(own)):
        return result
    spec = told.update(sums=own.sums).sharding.spec if is_divided(told) else PartitionSpec()
    return divided_results(what, spec, result)


def placed_like(what: str, result: Array, like: Any) -> Array:
    """Return a new array where another one was put, or where a `ShapeDtypeStruct` says; a trace
    divides it as types tell, and sums are still to be taken of it where they are of that one. If it
    has another shape, it is put on a device that has all of the other one.
    """
    place = None
    if isinstance(like, ShapeDtypeStruct):
        place = like.sharding
    elif isinstance(like, ConcreteArray) and like.committed:
        place = sharding_of(like)
    if result.shape != np.shape(like):
        if not (isinstance(result, ConcreteArray) and isinstance(place, SingleDeviceSharding)):
            return result
        new, there = result, place
        return staged(lambda: placed(new, there), lambda _: new)

    def traced() -> Array:
        return with_sums(divided_like(what, result, like), type_of(like, what).sums)

    if not isinstance(result, ConcreteArray) or place is None or not place.has_devices:
        return traced()
    return staged(lambda: placed(result, place), lambda _: traced())


def divided_alike(what: str, arrays: Sequence[Array]) -> list[Array]:
    """Return arrays of one shape as the first of them that is divided is."""
    if not are_in_types():
        return list(arrays)
    like = next((x for x in arrays if is_divided(type_of(x))), arrays[0])
    return [divided_like(what, x, like) for x in arrays]


def divided_as_told(function: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    """Return a function whose results are divided as their types tell, if these tell all of it,
    whatever else would be best for the operations that compute them.
    """

    def divided(*args: Any) -> Sequence[Any]:
        results = function(*args)
        if not get_abstract_mesh().are_all_axes_explicit:
            return results
        return [divided_like("jit", x, x) for x in results]

    return divided


def spread(what: str, shardings: Any, tree: Any) -> Sequence[Sharding | None]:
    """Return a sharding, or None, for each leaf of a pytree, from a prefix of it.

    Raises:
        ValueError: it is no prefix.
    """
    found = of_leaves(what, shardings, tree)
    name = what.partition(":")[0]
    bare = [sharding_of_format(name, leaf) for leaf in found]
    return [None if leaf is None else as_sharding(name, leaf) for leaf in bare]


def of_leaves(what: str, shardings: Any, tree: Any) -> Sequence[Any]:
    """Return what a prefix of a pytree has for each leaf.

    Raises:
        ValueError: it is no prefix.
    """
    try:
        return array_trees.prefix_broadcast(shardings, tree, is_leaf=lambda x: x is None)
    except ValueError as error:
        raise ValueError(f"{what} do not fit: {error}") from None


def fitted(sharding: Sharding, x: Array) -> Sharding:
    """Return a sharding without the Nones that a spec has for dimensions beyond those of an array.

    Raises:
        ValueError: the array cannot be divided so.
    """
    if isinstance(sharding, NamedSharding):
        entries = sharding.spec.partitions
        if not any(map(axes_of_entry, entries[x.ndim :])):
            sharding = sharding.update(spec=sharding.spec.update(partitions=entries[: x.ndim]))
    sharding.shard_shape(x.shape)
    return sharding


def check_summands(what: str, sharding: Any, is_zero: bool = False) -> None:
    """Raise ValueError for unreduced axes in the sharding of an array that is no sum: each of its
    summands might be that array, or one alone. Of zeros both are.
    """
    spec = getattr(sharding, "spec", sharding)
    if isinstance(spec, PartitionSpec) and spec.unreduced and not is_zero:
        raise ValueError(
            f"{what} is no sum, and has unreduced axes in {spec}: whether each summand is to be "
            "such an array does not follow; leave the axes out, and state by irax.reshard that the "
            "array is the sum"
        )


def takes_out_sharding(what: str, sums: bool = False) -> Callable[[F], F]:
    """Return a decorator of a function whose result is divided as its argument `out_sharding` says,
    a sharding or a `PartitionSpec`. Operations in it may leave open how results are divided. Of a
    function that `sums`, sums may be left to be taken.
    """

    def decorated(function: F) -> F:
        count = sum(p.kind is not p.KEYWORD_ONLY for p in signature(function).parameters.values())
        is_positional = "out_sharding" in list(signature(function).parameters)[:count]

        @functools.wraps(function)
        def dividing(*args: Any, out_sharding: Any = None, **kwargs: Any) -> Any:
            if is_positional and len(args) == count:  # it is the last one
                args, out_sharding = args[:-1], args[-1]
            if out_sharding is None:
                return function(*args, **kwargs)
            check_constrained(f"{what}: out_sharding", out_sharding)
            if not sums:
                check_summands(f"{what}: the result", out_sharding)
            sharding = as_sharding(f"{what}: out_sharding", out_sharding)
            with layout_is_stated():
                result = function(*args, **kwargs)
            leaves, tree = array_trees.tree_flatten(result)
            wanted = [fitted(sharding, x) for x in leaves]
            if forbidden_axes():
                _check_kept(what, (args, kwargs), wanted)
            return divided_results(what, array_trees.tree_unflatten(tree, wanted), result)

        return dividing  # pyright: ignore[reportReturnType]

    return decorated


def _check_kept(what: str, arguments: Any, wanted: Sequence[Sharding]) -> None:
    """Check that results stay divided along forbidden axes, or are to be summed along them."""
    arrays = [x for x in array_trees.tree_leaves(arguments) if isinstance(x, Array)]
    given = [layout_of(type_of(x)) for x in arrays]
    for sharding in wanted:
        if isinstance(sharding, NamedSharding):
            spec = sharding.spec
            later = tuple(map(text_of, spec.unreduced))
            check_kept(what, given, [*layout_of_spec(spec, len(spec.partitions)), later])
