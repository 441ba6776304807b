"""custom_jvp: a function with a rule for its derivative."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, ConcreteArray, as_array, aval_of
from irax.core.avals import ShapedArray
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of, returned_arrays
from irax.transforms.custom_arguments import Arguments, is_inexact, of_type
from irax.transforms.custom_rules import Ruled
from irax.transforms.deferred_rules import RuleCall
from irax.transforms.symbolic_zeros import SymbolicZero, zeros
from irax_compiler.ops.control_flow.custom_rules import CustomJvp
from irax_compiler.ops.control_flow.deferred_rules import DeferredJvp


class custom_jvp(Ruled):
    """A function with a rule for its derivative.

    Args:
        fun: a function of pytrees of arrays.
        nondiff_argnums: positions of arguments that are not differentiated (functions, options);
            the rule gets them first.
        nondiff_argnames: their names, likewise.

    >>> @irax.custom_jvp
    ... def f(x):
    ...     return x * x
    >>> f.defjvp(lambda primals, tangents: (f(*primals), 10 * tangents[0]))  # doctest: +ELLIPSIS
    <function ...>
    >>> irax.grad(f)(3.0)
    Array(10., dtype=float32, weak_type=True)
    """

    rule: Callable[..., Any] | None = None

    @api_boundary
    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Sets the rule: `jvp(*nondiff, primals, tangents)` returns the result and its tangent.

        Tangents of integers have dtype float0. With `symbolic_zeros`, tangents that are zero are
        `SymbolicZero`s, and so may be those that the rule returns.
        """
        self.rule, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    @api_boundary
    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Sets a rule for each argument: `jvp(tangent, result, *primals)` is its part of the
        result's tangent; None where that is zero.
        """
        if self.nondiff_argnums:
            raise TypeError(
                "custom_jvp.defjvps: not for functions with nondiff_argnums: use defjvp"
            )

        def rule(primals: Any, tangents: Any) -> Any:
            if len(jvps) != len(primals):
                raise TypeError(
                    f"custom_jvp.defjvps: {name_of(self.fun)} was called with {len(primals)} "
                    f"arguments, and has {len(jvps)} rules; expected one for each, None where that "
                    "part is zero"
                )
            out = self(*primals)
            parts = [j(t, out, *primals) for j, t in zip(jvps, tangents, strict=True) if j]
            if not parts:
                return out, array_trees.tree_map(lambda x: zeros(aval_of(x)), out)
            return out, functools.reduce(
                lambda a, b: tree_util.tree_map(lambda x, y: x + y, a, b), parts
            )

        self.rule = rule

    def check_rules(self) -> None:
        if self.rule is None:
            raise AttributeError(
                f"custom_jvp: {name_of(self.fun)} has no rule yet: give it one by defjvp"
            )

    deferred = DeferredJvp

    def operation(self, call: RuleCall) -> CustomJvp:
        given, count = call.given, len(call.inputs)
        moving = zip(given.avals, given.moving, strict=True)
        directions = [Input(a, None, "a tangent") for a, moves in moving if moves]
        first = call.first
        rule = first.name if first else None
        if rule is None:
            flat = _FlatRule(self, given, call.results, call.out_tree)
            rule = call.trace(flat, [*call.inputs, *directions], count, "rule")
        return CustomJvp(call.function, rule, given.num_perturbed)

    def before(self, given: Arguments, arrays: Sequence[Array]) -> tuple[_FlatRule, list[Input]]:
        pairs = zip(given.avals, arrays, strict=True)
        tangents = [Input(a, _known_tangent(x), "a tangent") for a, x in pairs if is_inexact(a)]
        return _FlatRule(self, given), tangents


def _known_tangent(x: Array) -> Array | None:
    """Return zeros for an array that no trace has: Python may choose by its tangent."""
    return as_array(np.zeros(x.shape, x.dtype)) if isinstance(x, ConcreteArray) else None


class _FlatRule:
    """The rule as a function of flat arrays: primals, then the tangents that are not zero."""

    def __init__(
        self,
        ruled: custom_jvp,
        given: Arguments,
        results: Sequence[ShapedArray] | None = None,
        out_tree: Any = None,
    ) -> None:
        """`results` and `out_tree` are those of the function; None if the rule is to tell them."""
        self.ruled, self.given, self.results = ruled, given, results
        self.out_tree, self.name = out_tree, name_of(ruled.fun)

    def __call__(self, *leaves: Array) -> list[Array]:
        given, count = self.given, len(self.given.avals)
        primals, rest = given.in_place(leaves[:count]), iter(leaves[count:])
        tangents = [
            next(rest) if moves else self._zero(x)
            for x, moves in zip(primals, given.moving, strict=True)
        ]
        assert self.ruled.rule is not None
        found = self.ruled.rule(*given.fixed, given.unflatten(primals), given.unflatten(tangents))
        if not (isinstance(found, tuple | list) and len(found) == 2):
            raise TypeError(
                f"custom_jvp: the rule of {self.name} must return a pair (result, tangent), got "
                f"{type(found).__name__}"
            )
        out, d_out = found
        if self.results is None:
            values, self.out_tree = returned_arrays(out, f"the rule of {self.name}")
            self.results = [x.aval for x in values]
        pairs = zip(self._leaves(out, "result"), self.results, strict=True)
        values = [of_type(x, a, self.name, "result") for x, a in pairs]
        moved = [
            zeros(a) if isinstance(t, SymbolicZero) else of_type(t, a, self.name, "tangent")
            for t, a in zip(self._leaves(d_out, "tangent"), self.results, strict=True)
            if is_inexact(a)
        ]
        return [*values, *moved]

    def _zero(self, primal: Array) -> Any:
        if self.ruled.symbolic_zeros:
            return SymbolicZero.from_primal_value(primal)
        return np.zeros(primal.shape, dtypes.float0)

    def _leaves(self, tree: Any, what: str) -> list[Any]:
        leaves, structure = array_trees.flatten_like(tree, self.out_tree)
        if structure != self.out_tree:
            raise TypeError(
                f"custom_jvp: the rule of {self.name} returned a {what} of structure {structure}; "
                f"expected that of the function's result, {self.out_tree}"
            )
        return leaves
