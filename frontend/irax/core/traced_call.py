"""Calls for which a function of pytrees is traced, for the arguments that it is called with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import Array, as_array
from irax.core.dispatch import bind
from irax.core.shardings.explicit_axes import by_mesh_of
from irax.core.tracing import Input, Scope, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, known_inputs, name_of
from irax.core.trees.parameter_names import ParameterNames
from irax_compiler.ops.core import Op


class TracedCall:
    """A function, traced for arguments that are pytrees of arrays, and the leaves of these."""

    def __init__(
        self,
        what: str,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any] | None = None,
        inputs: Callable[[Sequence[Array], Sequence[str]], list[Input]] = known_inputs,
        scope: Scope = Scope.ALL,
    ) -> None:
        """`what` is the function of irax's that traces, for errors; `inputs` says what the trace
        knows of the arrays: by default their values too. Its `scope` says which operations belong
        to it.
        """
        leaves, self.in_tree = array_trees.tree_flatten((tuple(args), kwargs or {}))
        names = ParameterNames(function).of_leaves(tuple(args), kwargs)
        self.arrays = [as_array(x, f"{what}: {n}") for x, n in zip(leaves, names, strict=True)]
        self._flat = FlatFunction(function, self.in_tree)
        with by_mesh_of(self.arrays):
            given = inputs(self.arrays, names)
            self.traced = trace_function(self._flat, given, what, name_of(function), scope=scope)

    @property
    def out_tree(self) -> Any:
        """The structure of what the function returns."""
        return self._flat.out_tree

    def unflatten(self, results: Sequence[Any]) -> Any:
        """Return what the function returns, with these leaves."""
        return array_trees.tree_unflatten(self.out_tree, results)

    def bind(self, op: Op) -> Any:
        """Return what the function returns, as the results of an op of its arrays and captures."""
        found = bind(op, *self.arrays, *self.traced.captures, builder=self.traced.builder)
        results = [found] if isinstance(found, Array) else found
        weak = self.traced.weak
        typed = [r.with_weak_type(w) for r, w in zip(results, weak, strict=True)]
        return self.unflatten(typed)
