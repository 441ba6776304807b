"""Functions with a rule of their own for `vmap`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax.core.array import ConcreteArray, as_array
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.closures import used_by
from irax.core.dispatch import staged
from irax.core.module_builder import ModuleBuilder
from irax.core.tracebacks import api_boundary
from irax.core.traced_call import TracedCall
from irax.core.tracing import Input, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of
from irax.transforms.forwarding import ForwardsDefinitions
from irax_compiler import mlir
from irax_compiler.ops.control_flow import custom_batching as ops
from irax_compiler.ops.core import UnsupportedOp

__all__ = ["custom_vmap"]


class custom_vmap(ForwardsDefinitions):
    """A function with a rule of its own for `vmap`; a decorator.

    In forward mode, the lanes of a derivative are those of the derivative of the rule. In reverse
    mode, derivatives are those of the function, and so are their lanes.

    >>> @irax.custom_batching.custom_vmap
    ... def f(x):
    ...     return irax.numpy.sin(x)
    >>> @f.def_vmap
    ... def rule(axis_size, in_batched, xs):
    ...     return irax.numpy.sin(xs) + 10.0, in_batched[0]
    >>> irax.vmap(f)(irax.numpy.zeros(2))
    Array([10., 10.], dtype=float32)
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_callable(fun, "custom_vmap")
        functools.update_wrapper(self, fun)  # pyright: ignore[reportArgumentType]
        self.fun = fun
        self.vmap_rule: Callable[..., Any] | None = None
        self._rules: dict[Any, _Rule] = {}

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule, and returns it.

        Args:
            vmap_rule: takes the number of lanes; for the arguments, trees of booleans that say
                which arrays have lanes; and the arguments, with the lanes along axis 0. Returns
                the result and, in a prefix of its structure, which arrays in it have lanes.
        """
        self.vmap_rule = vmap_rule
        self._rules.clear()
        return vmap_rule

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function.

        Raises:
            AttributeError: it has no rule yet.
        """
        if self.vmap_rule is None:
            raise AttributeError(
                f"custom_vmap: {name_of(self.fun)} has no rule yet: give it one with .def_vmap"
            )
        bound = inspect.signature(self.fun).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"custom_vmap: {name_of(self.fun)} was called with keyword-only arguments "
                f"{', '.join(bound.kwargs)}; its rule knows arguments by position alone"
            )
        args = bound.args
        return staged(
            lambda: array_trees.tree_map(as_array, self.fun(*args)),
            lambda builder: self._write(builder, args),
            used_by(self.fun, args=args),
        )

    def _write(self, builder: ModuleBuilder, args: tuple[Any, ...]) -> Any:
        """Writes a call that has the rule into a trace."""
        traced_call = TracedCall("custom_vmap", self.fun, args)
        trees = traced_call.in_tree, traced_call.out_tree
        rule = self._rules.get(trees)
        if rule is None:
            assert self.vmap_rule is not None
            rule = self._rules[trees] = _Rule(self.vmap_rule, name_of(self.fun), *trees)
        builder.kept.append(rule)
        name, num_args = traced_call.traced.name, len(traced_call.arrays)
        return traced_call.bind(ops.CustomVmap(name, rule.key, num_args))


class _Rule:
    """A rule for arguments and a result of one structure, as the compiler calls it."""

    def __init__(self, rule: Callable[..., Any], name: str, in_tree: Any, out_tree: Any) -> None:
        self.rule, self.name = rule, name
        self.in_tree, self.out_tree = in_tree, out_tree
        self.key = f"{name}#{id(self)}"
        self.tangents: dict[Any, ops.BatchRule] = {}
        self._kept: list[Any] = []
        ops.RULES[self.key] = self

    def __call__(
        self, module: Any, size: int, mapped: Sequence[bool], types: Sequence[Any]
    ) -> tuple[str, Sequence[np.ndarray], Sequence[bool]]:
        is_mapped, _ = array_trees.tree_unflatten(self.in_tree, mapped)
        batched: list[bool] = []

        def lanes(*leaves: Any) -> list[Any]:
            args, _ = array_trees.tree_unflatten(self.in_tree, leaves)
            out, out_batched = self._checked(self.rule(size, list(is_mapped), *args))
            batched[:] = array_trees.prefix_broadcast(
                out_batched, out, prefix_name="out_batched", tree_name="the result"
            )
            found, structure = array_trees.tree_flatten(out)
            if structure != self.out_tree:
                raise ValueError(
                    f"custom_vmap: the rule of {self.name} returned a result of structure "
                    f"{structure}; expected that of the function's result, {self.out_tree}"
                )
            return [as_array(x, f"{self.name}: a result") for x in found]

        avals = [ShapedArray(tuple(t.shape), mlir.dtype_of_type(t)) for t in types]
        inputs = [Input(aval) for aval in avals]
        traced = trace_function(lanes, inputs, "custom_vmap", self.name, fresh_module=True)
        self._check_lanes(traced.results, batched, size)
        constants = [x for x in traced.captures if isinstance(x, ConcreteArray)]
        if len(constants) < len(traced.captures):
            raise UnsupportedOp(
                f"custom_vmap: the rule of {self.name} uses a traced value from outside: pass it "
                "as an argument of the function"
            )
        self._kept += traced.builder.kept  # kept alive with the module
        name = mlir.copy_functions(traced.builder.module, traced.name, module)[traced.name]
        return name, [x.value for x in constants], batched

    def _checked(self, found: Any) -> tuple[Any, Any]:
        if not (isinstance(found, tuple | list) and len(found) == 2):
            raise TypeError(
                f"custom_vmap: the rule of {self.name} must return a pair (the result, which parts "
                f"of it have lanes), got {found!r}"
            )
        return found[0], found[1]

    def _check_lanes(self, avals: Sequence[Any], batched: Sequence[bool], size: int) -> None:
        for aval, has_lanes in zip(avals, batched, strict=True):
            if has_lanes and aval.shape[:1] != (size,):
                raise ValueError(
                    f"custom_vmap: the rule of {self.name} returned {aval}, said to have {size} "
                    "lanes along axis 0"
                )
