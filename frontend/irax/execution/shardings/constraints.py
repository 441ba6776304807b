"""Constraints: how a program's arrays are to be divided among devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax import tree_util
from irax.config import config
from irax.core.array import Array, as_array
from irax.core.shardings.explicit_axes import layout_of, layout_of_spec, type_of, typeof
from irax.core.shardings.forbidden_axes import check_unmoved, forbidden_axes
from irax.core.shardings.meshes import get_abstract_mesh
from irax.core.shardings.partition_specs import (
    UNCONSTRAINED,
    PartitionSpec,
    axes_by_dimension,
    axes_of_entry,
)
from irax.core.shardings.shardings import NamedSharding, Sharding
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
from irax.execution.shardings.jit_shardings import (
    check_constrained,
    check_devices,
    check_manual,
    constrained,
    divided_results,
    fitted,
    spread,
)


@api_boundary
def with_sharding_constraint(x: Any, shardings: Any) -> Any:
    """Return arrays with a way in which they are to be divided among devices.

    Args:
        x: an array or a pytree of arrays.
        shardings: a sharding, a `PartitionSpec` of the mesh of the context or of a block
            `with mesh:`, or a pytree of these that is a prefix of `x`.

    Returns:
        The same arrays. Outside of traces they are put on the devices; a compiled program divides
        them so. Where all axes of the mesh of the context are `Explicit`, arrays are divided so
        already, and that is checked.

    Raises:
        AssertionError: all axes are `Explicit`, and an array is divided in another way.
        RuntimeError: a `PartitionSpec` where there is no mesh.
        ValueError: an array cannot be divided so, or was put on other devices, or None is among the
            shardings, or a sharding names axes that are not `Auto`; in a `shard_map`, the
            sharding's mesh is not that of the context.

    >>> mesh = irax.make_mesh((1,), ("i",), axis_types=(irax.sharding.AxisType.Auto,))
    >>> sharding = irax.NamedSharding(mesh, irax.P("i"))
    >>> irax.lax.with_sharding_constraint(irax.numpy.ones(2), sharding)
    Array([1., 1.], dtype=float32)
    """
    what = "with_sharding_constraint"
    mesh = get_abstract_mesh()
    leaves, tree = array_trees.tree_flatten(x)
    arrays = [as_array(leaf, what) for leaf in leaves]
    given = _each_given(what, _on_entered_mesh(shardings), x)
    pairs = list(zip(arrays, given, strict=True))
    for pair in pairs:
        check_devices(what, *pair)
        check_manual(what, *pair)
    if not mesh.empty and mesh.are_all_axes_explicit:
        check_constrained(what, given)
        for array, wanted in pairs:
            if isinstance(wanted, NamedSharding):
                _check_layout(array, wanted)
        return array_trees.tree_unflatten(tree, arrays)
    for wanted in given:
        if isinstance(wanted, NamedSharding):
            _check_axes(what, wanted, wanted.mesh.auto_axes, "Auto")
    if mesh.explicit_axes:
        pairs = [(x, _along_auto_axes(x, wanted)) for x, wanted in pairs]
    arrays = [constrained(*pair) for pair in pairs]
    return array_trees.tree_unflatten(tree, arrays)


def _on_entered_mesh(shardings: Any) -> Any:
    """Return shardings in which a `PartitionSpec` is of the mesh of a block `with mesh:`, where the
    context has no other mesh.
    """
    mesh = config.entered_mesh
    if mesh is None or not get_abstract_mesh().empty:
        return shardings

    def named(leaf: Any) -> Any:
        if not isinstance(leaf, PartitionSpec):
            return leaf
        return NamedSharding(mesh, leaf)

    return tree_util.tree_map(named, shardings)


def _each_given(what: str, shardings: Any, tree: Any) -> list[Sharding]:
    """A sharding for each leaf of a pytree, from a prefix of it.

    Raises:
        ValueError: it is no prefix, or has a None.
    """
    found = [s for s in spread(what, shardings, tree) if s is not None]
    if len(found) < len(array_trees.tree_leaves(tree)):
        raise ValueError(f"{what}: shardings must have a sharding for each array, got None")
    return found


def _along_auto_axes(x: Array, wanted: Sharding) -> Sharding:
    """A sharding along `Auto` axes of the mesh of the context, with the layout that an array's type
    tells along the `Explicit` ones.

    Raises:
        ValueError: the sharding names an axis of another type.
    """
    mesh = get_abstract_mesh()
    if not isinstance(wanted, NamedSharding) or wanted.mesh.shape_tuple != mesh.shape_tuple:
        return wanted
    if UNCONSTRAINED in wanted.spec.partitions:
        return wanted
    _check_axes("with_sharding_constraint", wanted, mesh.auto_axes, "Auto")
    told = axes_by_dimension(typeof(x).sharding.spec, x.ndim)
    pairs = zip(told, axes_by_dimension(wanted.spec, x.ndim), strict=True)
    return wanted.update(spec=PartitionSpec(*(own + other for own, other in pairs)))


def _check_axes(what: str, sharding: NamedSharding, axes: Sequence[Any], kind: str) -> None:
    """Raise ValueError for a sharding along an axis that is not of a type."""
    named = [axis for entry in sharding.spec.partitions for axis in axes_of_entry(entry)]
    if others := [axis for axis in named if axis not in axes]:
        raise ValueError(
            f"{what}: {sharding.spec} names {others}; along axes of the mesh that are not of type "
            f"{kind} it has no say: it may name {tuple(axes)}"
        )


def _check_layout(x: Array, wanted: NamedSharding) -> None:
    """Raise AssertionError for an array whose type tells another layout than a sharding, and
    ValueError for one of fewer dimensions.
    """
    aval = typeof(x)
    wanted.check_compatible_aval(x.shape)
    own = aval.sharding.spec
    is_divided_so = axes_by_dimension(own, x.ndim) == axes_by_dimension(wanted.spec, x.ndim)
    if not is_divided_so or own.unreduced != wanted.spec.unreduced:
        raise AssertionError(
            f"with_sharding_constraint: an array of type {aval} is not divided as {wanted.spec}, "
            "and along Explicit axes constraints move nothing: use irax.reshard"
        )


@api_boundary
def reshard(xs: Any, out_shardings: Any) -> Any:
    """Return arrays divided among devices in another way, along `Explicit` axes of their mesh.

    Args:
        xs: a pytree of arrays.
        out_shardings: a sharding or a `PartitionSpec`, or a pytree of them that is a prefix of
            `xs`.

    Raises:
        ValueError: an axis of another type, or an array cannot be divided so, or was put on other
            devices, or None is among the shardings, or there is no mesh for a `PartitionSpec`.

    >>> sharding = irax.NamedSharding(irax.make_mesh((1,), ("i",)), irax.P("i"))
    >>> irax.reshard(irax.numpy.ones(2), sharding)
    Array([1., 1.], dtype=float32)
    """
    given = _each_given("reshard", out_shardings, xs)
    check_constrained("reshard", given)
    leaves, tree = array_trees.tree_flatten(xs)
    found = []
    for leaf, wanted in zip(leaves, given, strict=True):
        x = as_array(leaf, "reshard")
        if isinstance(wanted, NamedSharding):
            _check_axes("reshard", wanted, wanted.mesh.explicit_axes, "Explicit")
            check_manual("reshard", x, wanted)
        check_devices("reshard", x, wanted)
        found.append(fitted(wanted, x))
        if forbidden_axes() and isinstance(wanted, NamedSharding):
            check_unmoved("reshard", layout_of(type_of(x)), layout_of_spec(wanted.spec, x.ndim))
    return divided_results("reshard", array_trees.tree_unflatten(tree, found), xs)
