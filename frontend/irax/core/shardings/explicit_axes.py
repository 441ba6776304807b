"""Types that tell how arrays are divided along the explicit axes of the mesh of the context."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from irax import errors
from irax.config import config
from irax.core.array import Array, ConcreteArray, aval_of
from irax.core.avals import AbstractRef, ShapedArray
from irax.core.key_arrays import KeyArray
from irax.core.refs.hi_types import hi_type_of
from irax.core.shardings.axis_names import text_of
from irax.core.shardings.forbidden_axes import check_kept, forbidden_axes
from irax.core.shardings.meshes import AbstractMesh, get_abstract_mesh
from irax.core.shardings.partition_specs import PartitionSpec, axes_by_dimension
from irax.core.shardings.sharded import sharding_of
from irax.core.shardings.shardings import NamedSharding, of_rows
from irax_compiler import mlir
from irax_compiler.api import AmbiguousLayoutError, ShardedTypes
from irax_compiler.mlir import Value
from irax_compiler.ops.control_flow.shard_map import Spec, axes_of
from irax_runtime.mesh import ShardedBuffer


class _State(threading.local):
    is_stated = False
    """True while a function runs whose result has a layout of its own."""


_state = _State()


@contextmanager
def layout_is_stated() -> Iterator[None]:
    """In a `with` block, operations may leave open how their results are divided."""
    outer, _state.is_stated = _state.is_stated, True
    try:
        yield
    finally:
        _state.is_stated = outer


def is_layout_stated() -> bool:
    """Return True in such a block."""
    return _state.is_stated


def typed(aval: ShapedArray, sharding: Any, mesh: AbstractMesh | None = None) -> ShapedArray:
    """Return the type of an array that has a sharding, with the part of it along explicit axes of a
    mesh, by default that of the context.
    """
    mesh = get_abstract_mesh() if mesh is None else mesh
    if not mesh.explicit_axes or not isinstance(sharding, NamedSharding):
        return aval
    if sharding.mesh.shape_tuple != mesh.shape_tuple:
        return aval
    return _with_spec(aval, mesh, layout_of_spec(sharding.spec, aval.ndim))


def spec_of(aval: ShapedArray) -> Spec | None:
    """Return the axes along which each dimension of a type is divided; None if it is not told."""
    return None if aval.told is None else layout_of_spec(aval.told.spec, aval.ndim)


def layout_of_spec(spec: PartitionSpec, rank: int) -> Spec:
    """Return the axes along which a spec divides each dimension of an array."""
    return tuple(tuple(map(text_of, axes)) for axes in axes_by_dimension(spec, rank))


def _with_spec(aval: ShapedArray, mesh: AbstractMesh, spec: Spec) -> ShapedArray:
    names = {text_of(name): name for name in mesh.explicit_axes}
    entries = [tuple(names[a] for a in axes if a in names) for axes in spec]
    return aval.update(sharding=NamedSharding(mesh, PartitionSpec(*entries)))


def type_of(x: Any, what: str = "argument") -> ShapedArray:
    """Return the type of an array, with its layout along explicit axes of the context's mesh."""
    aval = aval_of(x, what)
    if aval.told is not None and isinstance(x, ConcreteArray | KeyArray):
        aval = aval.update(sharding=None)  # which tells of the mesh that the array is on
    if not _has_mesh():
        return aval
    if isinstance(x, KeyArray):
        told = type_of(x.data).told
        return aval if told is None else aval.update(sharding=of_rows(told, aval.ndim))
    if isinstance(x, ConcreteArray):
        return typed(aval, sharding_of(x))
    stated = aval.told if isinstance(x, Array) else getattr(x, "sharding", None)
    return aval if stated is None else typed(aval.update(sharding=None), stated)


def type_of_slice(x: Array, dimension: int) -> ShapedArray:
    """Return the type of the slices of an array along a dimension, which they do not have."""
    aval = type_of(x)
    found = aval.of_shape((*x.shape[:dimension], *x.shape[dimension + 1 :]))
    spec = spec_of(aval)
    if spec is None:
        return found
    return _with_spec(found, get_abstract_mesh(), spec[:dimension] + spec[dimension + 1 :])


def layout_of(aval: ShapedArray) -> Spec:
    """Return the axes along which each dimension of a type is divided, as far as it is told."""
    return spec_of(aval) or ((),) * aval.ndim


def signature(x: Array) -> Any:
    """Return what a trace may depend on of an array: its type, and its layout where types tell."""
    return (x.aval, layout_of(type_of(x))) if are_in_types() else x.aval


def are_in_types() -> bool:
    """Return True if types tell layouts: the mesh of the context has explicit axes."""
    return _has_mesh() and bool(get_abstract_mesh().explicit_axes)


def _has_mesh() -> bool:
    """Return True if the context has a mesh, or a `shard_map` around has."""
    return config.mesh is not None or config.abstract_mesh is not None


def typeof(x: Any) -> Any:
    """Return the type of an array or a number, a `ShapedArray`: its shape and dtype, whether the
    dtype is weak, the axes along which it varies, the space of memory, and as `sharding` the axes
    of the mesh of the context along which it is divided, if these are explicit. Where the context
    has no mesh, that is told of an array outside of traces along the axes of its own mesh. The type
    of a `Ref` is an `AbstractRef`.

    Args:
        x: an array, a number or a tracer.

    Raises:
        TypeError: not an array or a number.

    >>> typeof(irax.numpy.ones((2, 3)))
    float32[2,3]
    """
    if (hi_type := hi_type_of(x)) is not None:
        return hi_type
    own = getattr(x, "aval", None)
    if isinstance(own, AbstractRef):
        return own
    if isinstance(x, ConcreteArray) and get_abstract_mesh().empty:
        return own
    return type_of(x, "typeof")


@contextmanager
def by_mesh_of(leaves: Sequence[Any]) -> Iterator[None]:
    """In a `with` block, where the context has no mesh, types tell how arrays are divided along the
    explicit axes of the mesh that the arguments of a program are on.
    """
    meshes = (_explicit_mesh(_sharding_of_leaf(x)) for x in leaves)
    mesh = None if _has_mesh() else next(filter(None, meshes), None)
    if mesh is None:
        yield
    else:
        with config.scoped("abstract_mesh", mesh):
            yield


def _sharding_of_leaf(leaf: Any) -> Any:
    """Return the sharding of an array on a mesh, or of a `ShapeDtypeStruct`; None for others."""
    if isinstance(leaf, ConcreteArray):
        return sharding_of(leaf) if type(leaf._buffer) is ShardedBuffer else None
    return getattr(leaf, "sharding", None)


def _explicit_mesh(sharding: Any) -> AbstractMesh | None:
    """Return the mesh of a sharding, if it has explicit axes."""
    if not isinstance(sharding, NamedSharding) or not sharding.mesh.explicit_axes:
        return None
    return sharding.mesh.abstract_mesh


def result_type(x: Array) -> ShapedArray:
    """Return the type of a function's result: one that tells a layout, where types do."""
    if not are_in_types():
        return x.aval
    aval = type_of(x)
    return aval.update(sharding=aval.sharding)


class ExplicitAxes:
    """The layouts of the values of a function that is being traced."""

    def __init__(self, module: mlir.Module) -> None:
        self.known: dict[Value, Spec] = {}
        self._functions = mlir.Functions(module)

    def typed(self, value: Value, aval: ShapedArray) -> ShapedArray:
        """Return the type of a value with its layout.

        Raises:
            ShardingTypeError: the layout does not follow from those of the operands.
        """
        sizes = {text_of(name): size for name, size in get_abstract_mesh().shape_tuple}
        try:
            spec = ShardedTypes(self._functions, sizes).of_value(value, self.known)
        except AmbiguousLayoutError as error:
            operation = mlir.definition(value)
            self.known[value] = ((),) * aval.ndim
            if _state.is_stated or operation is None or not are_in_types():
                return aval
            raise errors.ShardingTypeError(
                f"{operation.name} of {self._shown(operation)}: {error}; give the layout of its "
                "result as out_sharding=, or move an operand before by irax.reshard"
            ) from None
        mesh = get_abstract_mesh()
        operation = mlir.definition(value)
        if operation is not None and forbidden_axes():
            given = [self.known[x] for x in operation.operands if x in self.known]
            check_kept(operation.name, given, spec)
        return _with_spec(aval, mesh, spec) if mesh.explicit_axes else aval

    def _shown(self, operation: mlir.Operation) -> str:
        texts = []
        for x in operation.operands:
            aval = ShapedArray(mlir.shape_of(x), mlir.dtype_of(x))
            spec = self.known.get(x)
            shown = aval if spec is None else _with_spec(aval, get_abstract_mesh(), spec)
            texts.append(str(shown))
        return " and ".join(texts)


def check_region(x: Array, sizes: Sequence[int], what: str, is_new: bool) -> None:
    """Check that the layout of a region of an array follows, or is stated.

    Args:
        x: the array.
        sizes: the shape of the region, of the same rank.
        what: the name of what is done, for the message.
        is_new: True if the region is the result; such a one may be a multiple of the number of
            parts long. Otherwise it is written to.

    Raises:
        ShardingTypeError: it is a part of a dimension that is divided.
    """
    if _state.is_stated or not are_in_types():
        return
    aval = type_of(x)
    mesh = get_abstract_mesh()
    for axes, n, size in zip(layout_of(aval), x.shape, sizes, strict=True):
        if axes and n != size and not (is_new and size % _parts(mesh, axes) == 0):
            raise errors.ShardingTypeError(
                f"{what} of {aval} is of a part of a dimension that is divided along {axes}: the "
                "layout of the result does not follow; give it as out_sharding= to x.at[...], or "
                "move the array before by irax.reshard"
            )


def check_whole(x: Array, dimensions: Sequence[int], what: str) -> None:
    """Check that an array is not divided in some dimensions.

    Args:
        x: the array.
        dimensions: the dimensions, from 0.
        what: the function's name, for the message.

    Raises:
        ShardingTypeError: it is, and the layout of the result is not stated.
    """
    if _state.is_stated or not are_in_types():
        return
    aval = type_of(x)
    layout = layout_of(aval)
    if axes := [axis for d in dimensions for axis in layout[d]]:
        raise errors.ShardingTypeError(
            f"{what} of {aval} needs whole a dimension that is divided along {axes}: give the "
            "layout of the result as out_sharding=, where the function takes it, or move the "
            "array before by irax.reshard"
        )


def check_update(x: Array, values: Array, what: str) -> None:
    """Check that values that take the place of an array are whole or divided as it is.

    Args:
        x: the array.
        values: the values, of its shape.
        what: the name of what is done, for the message.

    Raises:
        ShardingTypeError: they are divided in another way.
    """
    if _state.is_stated or not are_in_types():
        return
    given, own = type_of(values), type_of(x)
    pairs = zip(layout_of(given), layout_of(own), strict=True)
    if any(axes and axes != as_own for axes, as_own in pairs):
        raise errors.ShardingTypeError(
            f"{what} of {own} with values {given}: these are divided in another way; bring them "
            "into the array's layout before by irax.reshard, or give that of the result as "
            "out_sharding="
        )


def check_alike(what: str, operands: Sequence[Any]) -> None:
    """Check that those of some operands that are irax's arrays are divided in the same way.

    Args:
        what: the function's name, for the message.
        operands: the operands; numbers and NumPy arrays are in no layout yet.

    Raises:
        ShardingTypeError: they are divided in different ways.
    """
    if _state.is_stated or not are_in_types():
        return
    avals = [type_of(x) for x in operands if isinstance(x, Array)]
    if len(set(map(layout_of, avals))) > 1:
        raise errors.ShardingTypeError(
            f"{what} of {' and '.join(map(str, avals))}: these are divided in different ways; "
            "bring them into one layout before by irax.reshard, or in a function of "
            "irax.sharding.auto_axes, which takes out_sharding="
        )


def _parts(mesh: AbstractMesh, axes: Sequence[str]) -> int:
    sizes = {text_of(name): size for name, size in mesh.shape_tuple}
    return math.prod(sizes[axis] for axis in axes)


def is_divided(aval: ShapedArray) -> bool:
    """Return True if a type tells that the array is divided."""
    spec = spec_of(aval)
    return spec is not None and bool(axes_of(spec))
