"""eval_shape: the types of a function's results, without computing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from irax.core.avals import ShapeDtypeStruct
from irax.core.callables import check_callable
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import broadcast_to
from irax.core.tracebacks import api_boundary
from irax.core.trees import array_trees
from irax.core.wrapping import wraps
from irax.execution.jitted import PjitFunction
from irax_compiler.ops.shape import Constant


@api_boundary
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes that a call would return, as `ShapeDtypeStruct`s; nothing is computed.
    The function may return such structures itself. Those of a jitted function have the shardings
    that its option `out_shardings` tells.

    Args:
        fun: a function of arrays.
        args: its arguments: arrays, or objects with a shape and a dtype.
        kwargs: its keyword arguments.

    Raises:
        TypeError: `fun` is not a function, or an argument has leaves that are not arrays.

    >>> eval_shape(lambda x: x + 1.0, irax.ShapeDtypeStruct((3,), "float32"))
    ShapeDtypeStruct(shape=(3,), dtype=float32)
    """
    check_callable(fun, "eval_shape")

    @wraps(fun)
    def returning_arrays(*args: Any, **kwargs: Any) -> Any:
        return array_trees.tree_map(_array, array_trees.with_words(fun(*args, **kwargs)))

    if isinstance(fun, PjitFunction):
        return fun.eval_shape(*args, **kwargs)
    return PjitFunction(returning_arrays).eval_shape(*args, **kwargs)


def _array(leaf: Any) -> Any:
    """A leaf; an array of zeros for a `ShapeDtypeStruct`."""
    if not isinstance(leaf, ShapeDtypeStruct):
        return leaf
    zero = bind(Constant(np.zeros((), leaf.dtype)), weak_type=leaf.weak_type)
    return broadcast_to(zero, leaf.shape)
