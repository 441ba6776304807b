"""Logs of the rules of `custom_vjp`: each call of such a rule gets a further argument of zeros, its
slots, whose cotangent the rule sets to what it logs.

`vjp` traces a function that calls such rules again: to count its calls, and with slots, which are
arguments that it differentiates with respect to. Slots of a call in a loop, or in lanes
of `vmap`, are rows of arrays: so logs are stacked by the means that stack cotangents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.refs import refs
from irax.core.settings import rule_logs
from irax.core.traced_call import TracedCall
from irax.core.tracing import Scope, Traced
from irax.core.trees import array_trees
from irax.core.trees.flattening import differentiated_inputs, name_of
from irax.core.wrapping import wraps
from irax.execution.shapes import eval_shape
from irax.transforms.accumulators import NullAccum, ValAccum
from irax.transforms.custom_arguments import is_inexact, joined
from irax.transforms.deferred_rules import ruled_in
from irax.transforms.symbolic_zeros import CustomVJPPrimal, SymbolicZero

_PIECE = 16
"""The bits of an integer that an element of a slot has: float32 holds these."""


@dataclass(frozen=True)
class Call:
    """The logs of a call: their structure and types in one row."""

    tree: Any
    avals: tuple[ShapedArray, ...]
    sizes: tuple[int, ...] | None
    """The sizes of the loops and maps around it; None where they are not known: it has no slots."""
    branches: tuple[tuple[int, int], ...]

    @property
    def keys(self) -> list[str]:
        """The keys of the logs."""
        return list(array_trees.tree_unflatten(self.tree, self.avals))

    def zeros(self) -> list[Array]:
        """Slots for all rows."""
        if self.sizes is None:
            return []
        return [as_array(np.zeros((*self.sizes, *s), d)) for s, d in map(_slot, self.avals)]

    def logs(self, slots: Sequence[Array]) -> dict[str, Any]:
        """The logs, of the cotangents of the slots."""
        if self.sizes is None:
            raise NotImplementedError(
                f"vjp: with_logs is not supported of a call in a while_loop, a shard_map or pmap, "
                f"where nobody counts its rows; it logs {', '.join(map(repr, self.keys))}"
            )
        leaves = [_decoded(x, aval) for x, aval in zip(slots, self.avals, strict=True)]
        return array_trees.tree_unflatten(self.tree, leaves)


_rules_have_logs = False


def expect_rules_with_logs() -> None:
    """From here on `vjp` looks for calls of rules with logs."""
    global _rules_have_logs
    _rules_have_logs = True


class RulesHaveLogs(Exception):
    """Tells `vjp` that a function which it has traced calls rules with logs."""


@contextmanager
def looking() -> Iterator[Callable[[Traced], None]]:
    """Yield a function to be called when a function has been traced in the block: it raises
    RulesHaveLogs if that calls rules with logs. They may be in functions that were traced before,
    and in branches that are not taken.
    """
    with rule_logs.noticing() as noticed:

        def look(traced: Traced) -> None:
            if _rules_have_logs:
                called = (*noticed, *ruled_in(traced.builder.module, traced.name))
                if any(getattr(ruled, "logged", None) is not None for ruled in called):
                    raise RulesHaveLogs

        yield look


def with_slots(
    fun: Callable[..., Any], primals: tuple[Any, ...]
) -> tuple[Callable[..., Any], list[list[Array]], list[Call]]:
    """Return a function of the arguments and of slots, the slots, and the calls they are of."""
    counted = rule_logs.Calls()

    @wraps(fun)
    def nothing(*args: Any) -> None:
        with rule_logs.among(counted):
            fun(*args)

    if refs.exist():  # which it may write to
        eval_shape(nothing, *primals)
    else:  # with the values that Python's code may ask for
        TracedCall("vjp", nothing, primals, inputs=differentiated_inputs, scope=Scope.OWN)

    @wraps(fun)
    def of_slots(*args: Any) -> Any:
        with rule_logs.among(rule_logs.Calls(args[-1])):
            return fun(*args[:-1])

    calls: list[Call] = counted.met
    return of_slots, [call.zeros() for call in calls], calls


def check_keys(calls: Sequence[Call]) -> None:
    """Raise ValueError if two calls log the same key, and not in different branches of a condition
    with the same types.
    """
    owners: dict[str, list[Call]] = {}
    for call in calls:
        for key in call.keys:
            others = owners.setdefault(key, [])
            if not all(_exclude(call, x) and _is_like(call, x, key) for x in others):
                raise ValueError(
                    f"vjp: two calls of rules log {key!r}: each must have a key of its own"
                )
            others.append(call)


def merged(calls: Sequence[Call], slots: Sequence[Sequence[Array]]) -> dict[str, Any]:
    """Return the logs of all calls. Those of one key in different branches of a condition are of
    the branch that was taken.

    Raises:
        NotImplementedError: a call is in a loop whose steps are not known, or in a `shard_map`.
    """
    found: dict[str, Any] = {}
    for call, given in zip(calls, slots, strict=True):
        for key, logs in call.logs(given).items():
            others = found.get(key)
            both = logs if others is None else tree_util.tree_map(lambda x, y: x + y, others, logs)
            found[key] = both
    return found


def _is_like(one: Call, other: Call, key: str) -> bool:
    """Return True if two calls log values of the same types for a key."""
    mine, its = (array_trees.tree_unflatten(c.tree, c.avals)[key] for c in (one, other))
    (leaves, tree), (others, structure) = map(array_trees.tree_flatten, (mine, its))
    return (one.sizes, tree, leaves) == (other.sizes, structure, others)


def _exclude(one: Call, other: Call) -> bool:
    """Return True if two calls are in different branches of a condition."""
    mine = dict(one.branches)
    return any(mine.get(name, number) != number for name, number in other.branches)


def called(rule: Any, args: tuple[Any, ...]) -> Any:
    """Call a function with rules where `vjp` asks for logs. What its own code calls logs nothing:
    the rules stand for it.
    """
    calls = rule_logs.calls()
    assert calls is not None
    logged = getattr(rule, "logged", None)
    with rule_logs.among(None):
        if logged is None:
            return rule(*args)
        found = _call_of(rule, args, calls)
        if found is None:
            return rule(*args)
        calls.met.append(found)
        if calls.given is None or calls.rows is None:
            return rule(*args)
        slots = calls.given[len(calls.met) - 1]
        for _, number in calls.rows:
            slots = [x[number] for x in slots]
        return _with_slots(rule, found, len(args))(*args, slots)


def _call_of(rule: Any, args: tuple[Any, ...], calls: rule_logs.Calls) -> Call | None:
    """The logs of a call of a rule; None for one that logs nothing."""
    fixed, others = rule.split(args)

    def logs_of(*others: Any) -> Any:
        given = others
        if rule.symbolic_zeros:
            given = tree_util.tree_map(lambda x: CustomVJPPrimal(as_array(x), True), others)
        out, residuals = rule.fwd(*joined(fixed, rule.nondiff_argnums, given))
        cotangent = tree_util.tree_map(_zero, out)
        if rule.accumulates:
            places = tree_util.tree_map(_place, others)
            return rule.logged(*fixed, residuals, cotangent, *places)
        return pair(rule.logged, rule.logged(*fixed, residuals, cotangent))[1]

    traced = TracedCall(rule.kind, logs_of, others, scope=Scope.TRACED)
    found = traced.unflatten(traced.traced.results)
    check_logs(rule.logged, found)
    if not found:
        return None
    leaves, tree = array_trees.tree_flatten(found)
    avals = tuple(ShapedArray(x.shape, x.dtype) for x in leaves)
    sizes = None if calls.rows is None else tuple(size for size, _ in calls.rows)
    return Call(tree, avals, sizes, calls.branches)


def _with_slots(rule: Any, call: Call, count: int) -> Any:
    """Return the function of `count` arguments with its rules, as one of slots, too."""

    def fun(*args: Any) -> Any:
        return rule.fun(*args[:-1])

    def fwd(*args: Any) -> Any:
        return rule.fwd(*args[:-1])

    def bwd(*given: Any) -> Any:
        if rule.accumulates:
            *own, places = given
            for place, x in zip(places, coded(rule.logged(*own)), strict=True):
                place.accum(x)
            return None
        cotangents, logs = pair(rule.logged, rule.logged(*given))
        return (*cotangents, coded(logs))

    def coded(logs: Any) -> list[Array]:
        leaves, tree = array_trees.tree_flatten(logs)
        arrays = list(map(as_array, leaves))
        if tree != call.tree or any(
            (x.shape, x.dtype) != (a.shape, a.dtype)
            for x, a in zip(arrays, call.avals, strict=True)
        ):
            raise ValueError(
                f"custom_vjp: {name_of(rule.logged)} logs now what it does not for other "
                "cotangents: its logs must always have the same structure and types"
            )
        return list(map(_coded, arrays))

    for function, own in ((fun, rule.fun), (fwd, rule.fwd), (bwd, rule.logged)):
        function.__name__ = name_of(own)
    both = type(rule)(fun, tuple(n % count for n in rule.nondiff_argnums))
    both.defvjp(fwd, bwd, rule.symbolic_zeros)
    both.accumulates = rule.accumulates
    return both


def pair(bwd: Callable[..., Any], found: Any) -> tuple[Any, Any]:
    """Return what a rule with logs has returned.

    Raises:
        TypeError: it is no pair of cotangents and logs.
    """
    if not (isinstance(found, tuple | list) and len(found) == 2):
        raise TypeError(
            f"custom_vjp: {name_of(bwd)}, a rule with logs, must return a pair (cotangents, logs), "
            f"got {found!r:.100}"
        )
    check_logs(bwd, found[1])
    return found[0], found[1]


def check_logs(bwd: Callable[..., Any], logs: Any) -> None:
    """Raise TypeError unless the logs of a rule are a dict, or None."""
    if not (logs is None or isinstance(logs, dict)):
        raise TypeError(
            f"custom_vjp: the logs of {name_of(bwd)} must be a dict or None, got "
            f"{type(logs).__name__}"
        )


def without_logs(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rule that returns the cotangents of one that returns logs, too."""

    @wraps(bwd)
    def cotangents(*args: Any) -> Any:
        return pair(bwd, bwd(*args))[0]

    return cotangents


def _zero(x: Any) -> Any:
    aval = as_array(x).aval
    dtype = aval.dtype if is_inexact(aval) else dtypes.float0
    return SymbolicZero(ShapedArray(aval.shape, dtype)).instantiate()


def _place(x: Any) -> Any:
    aval = as_array(x).aval
    return (ValAccum if is_inexact(aval) else NullAccum)(aval.to_tangent_aval())


# ---- integers as floats, which have cotangents ---------------------------------------------------


def _slot(aval: ShapedArray) -> tuple[tuple[int, ...], Any]:
    """The shape and dtype of a slot."""
    if is_inexact(aval):
        return aval.shape, aval.dtype
    return (*aval.shape, _pieces(aval.dtype)), np.float32


def _pieces(dtype: Any) -> int:
    return max(1, dtypes.itemsize_bits(dtype) // _PIECE)


def _coded(x: Array) -> Array:
    if is_inexact(x.aval):
        return x
    if x.dtype == np.bool or dtypes.itemsize_bits(x.dtype) <= _PIECE:
        return x[..., None].astype(np.float32)
    return x[..., None].view(np.uint16).astype(np.float32)


def _decoded(x: Array, aval: ShapedArray) -> Array:
    if is_inexact(aval):
        return x
    if aval.dtype == np.bool or dtypes.itemsize_bits(aval.dtype) <= _PIECE:
        return x[..., 0].astype(aval.dtype)
    return x.astype(np.uint16).view(aval.dtype)[..., 0]
