"""Functions in which some axes of the mesh are of another type."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from irax.core.shardings import meshes
from irax.core.shardings.meshes import AxisType
from irax.core.tracebacks import api_boundary
from irax.execution.shardings.jit_shardings import divided_results


@api_boundary
def auto_axes(
    f: Callable[..., Any] | None = None,
    /,
    *,
    axes: str | tuple[str, ...] | None = None,
    out_sharding: Any = None,
) -> Callable[..., Any]:
    """Return a function that leaves the division of its arrays along some axes to the compiler.

    Args:
        f: a function of pytrees of arrays. Without it, a decorator is returned.
        axes: axes of the mesh of the context; by default all.
        out_sharding: how results are divided: a sharding or a `PartitionSpec`, or a pytree of them
            that is a prefix of the result. It may be given to the function that is returned, too.

    Raises:
        TypeError: on a call, where there is no `out_sharding`.
        ValueError: on a call, where the mesh of the context lacks one of the axes.

    >>> with irax.set_mesh(irax.make_mesh((1,), ("i",))):
    ...     irax.sharding.auto_axes(lambda x: x + 1, out_sharding=irax.P("i"))(irax.numpy.arange(2))
    Array([1, 2], dtype=int32)
    """
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)
    function = f

    @api_boundary
    @functools.wraps(function, updated=())
    def automatic(*args: Any, out_sharding: Any = out_sharding, **kwargs: Any) -> Any:
        if out_sharding is None:
            raise TypeError(
                "auto_axes: expected out_sharding, for the result has the type that it says: give "
                "it to auto_axes, or to the call"
            )
        with meshes.use_abstract_mesh(_with_types("auto_axes", axes, AxisType.Auto)):
            results = function(*args, **kwargs)
        return divided_results("auto_axes", out_sharding, results)

    return automatic


@api_boundary
def explicit_axes(
    f: Callable[..., Any] | None = None,
    /,
    *,
    axes: str | tuple[str, ...] | None = None,
    in_sharding: Any = None,
) -> Callable[..., Any]:
    """Return a function in which types tell how arrays are divided along some axes.

    Args:
        f: a function of pytrees of arrays. Without it, a decorator is returned.
        axes: axes of the mesh of the context; by default all.
        in_sharding: how arguments are divided: a sharding or a `PartitionSpec`, or a pytree of them
            that is a prefix of the positional arguments. It may be given to the call, too.

    Raises:
        TypeError: on a call, where there is no `in_sharding`.
        ValueError: on a call, where the mesh of the context lacks one of the axes.

    >>> with irax.set_mesh(irax.make_mesh((1,), ("i",), (irax.sharding.AxisType.Auto,))):
    ...     f = irax.sharding.explicit_axes(lambda x: x + 1, in_sharding=irax.P("i"))
    ...     f(irax.numpy.arange(2))
    Array([1, 2], dtype=int32)
    """
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)
    function = f

    @api_boundary
    @functools.wraps(function, updated=())
    def explicit(*args: Any, in_sharding: Any = in_sharding, **kwargs: Any) -> Any:
        if in_sharding is None:
            raise TypeError(
                "explicit_axes: expected in_sharding, for the arguments get the types that it "
                "says: give it to explicit_axes, or to the call"
            )
        with meshes.use_abstract_mesh(_with_types("explicit_axes", axes, AxisType.Explicit)):
            given = divided_results("explicit_axes", in_sharding, args)
            return function(*given, **kwargs)

    return explicit


def _with_types(
    what: str, axes: str | tuple[str, ...] | None, kind: AxisType
) -> meshes.AbstractMesh:
    """The mesh of the context with some axes of a type."""
    mesh = meshes.get_abstract_mesh()
    chosen = mesh.axis_names if axes is None else (axes,) if isinstance(axes, str) else tuple(axes)
    if unknown := [axis for axis in chosen if axis not in mesh.axis_names]:
        raise ValueError(
            f"{what}: axes has {unknown}, which the mesh of the context lacks; it has "
            f"{mesh.axis_names}: enter one by `with irax.set_mesh(mesh):`"
        )
    return mesh.update_axis_types(dict.fromkeys(chosen, kind))
