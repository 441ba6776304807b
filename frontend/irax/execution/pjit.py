"""pjit: jit for blocks `with mesh:`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

from irax import tree_util
from irax.config import config
from irax.core.shardings.partition_specs import PartitionSpec
from irax.execution.jit import jit

_TRACING = ("lower", "trace", "eval_shape")
_SHARDINGS = ("in_shardings", "out_shardings")


class Entering:
    """A jitted function, of which another one runs in a block `with mesh:`, where the context has
    that mesh.
    """

    def __init__(self, jitted: Any, on_mesh: Any) -> None:
        functools.update_wrapper(self, jitted, updated=())
        self._jitted, self._on_mesh = jitted, on_mesh

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mesh = config.entered_mesh
        if mesh is None or config.mesh is not None or config.abstract_mesh is not None:
            return self._jitted(*args, **kwargs)
        with config.scoped("mesh", mesh):
            return self._on_mesh(*args, **kwargs)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._jitted, name)
        return Entering(found, getattr(self._on_mesh, name)) if name in _TRACING else found


def pjit(fun: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Return `irax.jit(fun, ...)`, for which a `PartitionSpec` in `in_shardings` or `out_shardings`
    may also be of the mesh of a block `with mesh:`. There None stands for whole arrays.

    Args:
        fun: a function. Without it, a decorator is returned.
        options: those of `irax.jit`.

    Raises:
        TypeError: `fun` is not a function, or there is no such option.

    >>> mesh = irax.make_mesh((1,), ("i",), axis_types=(irax.sharding.AxisType.Auto,))
    >>> double = irax.execution.pjit.pjit(lambda x: 2 * x, in_shardings=irax.P("i"))
    >>> with mesh:
    ...     double(irax.numpy.arange(3))
    Array([0, 2, 4], dtype=int32)
    """
    if fun is None:
        return functools.partial(pjit, **options)
    on_mesh = {k: _whole(v) if k in _SHARDINGS else v for k, v in options.items()}
    return Entering(jit(fun, **options), jit(fun, **on_mesh))


def _whole(shardings: Any) -> Any:
    def placed(leaf: Any) -> Any:
        return PartitionSpec() if leaf is None else leaf

    return tree_util.tree_map(placed, shardings, is_leaf=lambda x: x is None)
