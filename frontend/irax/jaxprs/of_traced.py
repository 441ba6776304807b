"""The jaxpr of a jitted function that was traced, and what follows from it.

Jaxprs bind primitives by jit, so `stages` knows nothing of them: the properties are attached here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from irax import tree_util
from irax.core.avals import ShapedArray, ShapeDtypeStruct
from irax.execution.jit import jit
from irax.stages import Traced
from irax_compiler.importing import import_module


def _jaxpr(self: Traced) -> Any:
    """The function as a jaxpr, as `make_jaxpr` gives it.

    >>> print(irax.jit(irax.numpy.sin).trace(1.0).jaxpr)
    { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """
    views = import_module("irax.jaxprs.views")  # seldom asked for, and slow to import
    traced = self._traced.traced
    weak = [aval.weak_type for aval in self._traced.argument_avals()]
    return views.jaxpr_of_function(traced.builder, traced.name, traced.captures, weak)


def _effects(self: Traced) -> Any:
    """The side effects of the function.

    >>> irax.jit(irax.numpy.sin).trace(1.0).effects
    frozenset()
    """
    return self.jaxpr.effects


def _closure_convert(self: Traced) -> tuple[list[Any], Callable[..., Any]]:
    """Return the arrays that the function takes from outside, and a function of these and its
    arguments.

    >>> w = irax.numpy.ones(300)
    >>> consts, f = irax.jit(lambda x: (w * x).sum()).trace(1.0).closure_convert()
    >>> f([2 * w], 3.0)
    Array(1800., dtype=float32)
    """
    running = import_module("irax.jaxprs.running")
    jaxpr, in_tree, out_tree = self.jaxpr, self.in_tree, self.out_tree

    def converted(consts: Any, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = tree_util.tree_flatten((args, kwargs))
        if tree != in_tree:
            raise TypeError(f"{self.fun_name} was traced for {in_tree}, got {tree}")
        values = [*tree_util.tree_leaves(consts), *leaves]
        found = running.eval_jaxpr(jaxpr, [], *values)
        return tree_util.tree_unflatten(out_tree, found)

    return list(jaxpr.consts), converted


def _with_consts_as_arg(self: Traced) -> tuple[list[Any], Traced]:
    """Return the arrays that the function takes from outside, and the traced function of these and
    its arguments.

    >>> consts, traced = irax.jit(lambda x: x + 1).trace(1.0).with_consts_as_arg()
    >>> traced.lower().compile()(consts, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    consts, converted = self.closure_convert()
    args, kwargs = self.in_avals
    structs = tree_util.tree_map(_struct, (args, kwargs))
    return consts, jit(converted).trace(consts, *structs[0], **structs[1])


def _struct(aval: ShapedArray) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def attach() -> None:
    """Attach the properties and methods."""
    Traced.jaxpr = property(_jaxpr)
    Traced.effects = property(_effects)
    Traced.closure_convert = _closure_convert
    Traced.with_consts_as_arg = _with_consts_as_arg
