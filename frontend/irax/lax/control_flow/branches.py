"""Choosing between functions: cond and switch.

Where it is known which function is chosen, that one is called, and the others are traced just for
what they return. Otherwise all are traced, and a `stablehlo.case` calls the one that is chosen when
it runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from irax import dtypes, errors
from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.avals import ShapedArray
from irax.core.dispatch import beside, bind
from irax.core.dtypes.promotion import apply, convert
from irax.core.refs import functions as ref_functions
from irax.core.refs import refs
from irax.core.refs.refs import Ref
from irax.core.settings import rule_logs
from irax.core.shardings.explicit_axes import type_of
from irax.core.shardings.pvary import pvary
from irax.core.tracing import Traced, Tracer, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, known_inputs, name_of
from irax.lax import control
from irax.lax.arguments import array_of
from irax.lax.control_flow.carries import (
    are_alike,
    conversions,
    leaf_names,
    side_by_side,
    type_parts,
)
from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import comparison
from irax_compiler.ops.control_flow import branches as branch_ops
from irax_compiler.ops.core import Op
from irax_compiler.ops.structured import call_function

_MISSING: Any = object()


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _MISSING,
    linear: Any = None,
) -> Any:
    """Call one of two functions, chosen by a predicate.

    Where the value of the predicate is known, that function is called in Python; the other is
    traced for what it returns, and does not run. Where it is traced, both are traced, and the one
    chosen runs; under `vmap` with a predicate for each lane both run, and their results are
    selected from.

    Args:
        pred: a boolean or number scalar; a number holds if it is not 0.
        true_fun: a function of the operands.
        false_fun: likewise, with results of the same structure, shapes and dtypes.
        operands: pytrees of arrays and Refs.
        operand: another way to give one operand.
        linear: accepted for JAX's sake, without effect.

    Returns:
        What the function returns.

    Raises:
        TypeError: `pred` is not a scalar, or is complex; or the functions' results differ in
            structure, shape or dtype.
        ValueError: one Ref is two operands, or a function returns a Ref.

    `cond(pred, true_operand, true_fun, false_operand, false_fun)`, JAX's first form, is understood
    as well.

    >>> irax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 3.0)
    Array(4., dtype=float32, weak_type=True)
    """
    what = "lax.cond"
    by_operand = len(operands) == 2 and not callable(true_fun) and callable(operands[1])
    if by_operand and callable(false_fun):
        on_true, on_false = false_fun, operands[1]
        operands = (true_fun, operands[0])
        true_fun, false_fun = lambda x, _: on_true(x), lambda _, y: on_false(y)
    for name, function in (("true_fun", true_fun), ("false_fun", false_fun)):
        if not callable(function):
            raise TypeError(
                f"{what}: {name} must be a function, got {function!r} of type "
                f"{type(function).__name__}: lambda: {function!r} returns it"
            )
    if operand is not _MISSING:
        operands = (*operands, operand)
    predicate = array_of(what, pred)
    if predicate.ndim:
        raise TypeError(
            f"{what}: the predicate must be a scalar, got shape {predicate.shape}: reduce it, such "
            "as by irax.numpy.all or any, or choose element by element with irax.numpy.where"
        )
    if dtypes.issubdtype(predicate.dtype, np.complexfloating):
        raise TypeError(f"{what}: the predicate must not be complex, got {predicate.aval}")
    functions = rule_logs.of_branches({"true_fun": true_fun, "false_fun": false_fun})
    known = known_value(predicate)
    if known is not None:
        chosen = "true_fun" if known else "false_fun"
        return _with_refs(what, functions, operands, partial(_called, what, chosen, predicate))
    is_bool = predicate.dtype == np.bool
    holds = predicate if is_bool else apply(comparison.not_equal, predicate, 0, what=what)
    return _with_refs(what, functions, operands, partial(_chosen, what, "stablehlo.if", holds))


def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """Call the function of a list that an index chooses; the index is clamped to the list's range.

    Args:
        index: an integer scalar.
        branches: functions of the operands, with results of the same structure, shapes and dtypes.
        operands: pytrees of arrays and Refs.
        operand: another way to give one operand.

    Returns:
        What the function returns. As with `cond`, only one runs.

    Raises:
        TypeError: the index is not an integer scalar, or the functions' results differ in
            structure, shape or dtype.
        ValueError: no branches; one Ref is two operands, or a function returns a Ref.

    >>> irax.lax.switch(1, [lambda x: x + 1, lambda x: 2 * x, lambda x: -x], 3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    what = "lax.switch"
    branches = tuple(branches)
    for function in branches:
        if not callable(function):
            raise TypeError(f"{what}: expected branches to be functions, got {function!r}")
    if not branches:
        raise ValueError(f"{what}: expected at least one branch")
    if operand is not _MISSING:
        operands = (*operands, operand)
    number = array_of(what, index)
    if number.ndim or not dtypes.issubdtype(number.dtype, np.integer):
        raise TypeError(
            f"{what}: the index must be an integer scalar, got {number.aval}: convert it with "
            ".astype(int)"
        )
    last = len(branches) - 1
    functions = rule_logs.of_branches({f"branches[{i}]": f for i, f in enumerate(branches)})
    known = 0 if last == 0 else known_value(number)
    if known is not None:
        chosen = f"branches[{min(max(int(known), 0), last)}]"
        return _with_refs(what, functions, operands, partial(_called, what, chosen, number))
    # A bound that a narrow dtype cannot hold does not bind.
    highest = min(last, np.iinfo(number.dtype).max)
    place = convert(control.clamp(0, number, highest), np.dtype(np.int32))
    return _with_refs(what, functions, operands, partial(_chosen, what, "stablehlo.case", place))


def _with_refs(
    what: str,
    functions: Mapping[str, Callable[..., Any]],
    operands: Sequence[Any],
    choose: Callable[[Any, Any], Any],
) -> Any:
    """Return what `choose(functions, operands)` does; the functions may write to Refs. Those among
    the operands they find outside.
    """
    if refs.exist():
        operands, restored = ref_functions.apart(what, tuple(operands), _nothing, _same)
        functions = {name: _given(f, what, restored) for name, f in functions.items()}
    held = ref_functions.touched_by(lambda: choose(functions, operands))
    if isinstance(held, ref_functions.Result):
        return held.value
    pure = {name: held.of(function) for name, function in functions.items()}
    out, states = choose(pure, (held.states, *operands))
    held.write(states)
    return out


def _given(
    function: Callable[..., Any], what: str, restored: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Return a function of operands without Refs."""

    @functools.wraps(function, updated=())
    def given(*operands: Any) -> Any:
        out = function(*restored(operands))
        ref_functions.check_no_refs(what, out)
        return out

    return given


def _nothing(_: Ref) -> None:
    return None


def _same(ref: Ref, _: Any) -> Ref:
    return ref


def known_value(x: Array) -> np.ndarray[Any, Any] | None:
    """The element of a scalar, or None where it is not known while tracing."""
    if isinstance(x, Tracer):
        x.check_open()
        return x.home.concretize(x.value)
    if not isinstance(x, ConcreteArray):  # a tracer of the user's own
        return None
    return x.concrete("a branch", errors.TracerBoolConversionError)


@dataclass(frozen=True)
class _Outcome:
    """The types of a function's results, for error messages."""

    title: str
    tree: Any
    avals: Sequence[ShapedArray]


def _called(
    what: str,
    chosen: str,
    chooser: Array,
    functions: dict[str, Callable[..., Any]],
    operands: tuple[Any, ...],
) -> Any:
    """Calls one of the functions, and traces the others: first, for where they touch a Ref all that
    is done here is done again. The results are on the device of what has chosen it.
    """
    operands = array_trees.tree_map(lambda leaf: as_array(leaf, f"{what}: an operand"), operands)
    others = {
        name: _traced(what, name, functions, operands, apart=True)[0]
        for name in functions
        if name != chosen
    }
    leaves, tree = array_trees.tree_flatten(functions[chosen](*operands))
    results = [beside(what, as_array(leaf, what), [chooser]) for leaf in leaves]
    own = _Outcome(_title(chosen, functions), tree, list(map(type_of, results)))
    outcomes = {name: others.get(name, own) for name in functions}
    _check_same(what, list(outcomes.values()))
    return array_trees.tree_unflatten(tree, _typed(results, outcomes[_number_0(functions)]))


def _traced(
    what: str,
    name: str,
    functions: dict[str, Callable[..., Any]],
    operands: tuple[Any, ...],
    apart: bool = False,
    chosen_by: frozenset[str] = frozenset(),
) -> tuple[_Outcome, Traced]:
    """Traces one of the functions; in a module of its own if it is apart. Devices may choose
    differently along some axes.
    """
    leaves, in_tree = array_trees.tree_flatten((operands, {}))
    inputs = known_inputs(leaves, leaf_names("operands", operands))
    flat = FlatFunction(functions[name], in_tree)
    kind, label = what.partition(".")[2], name_of(functions[name])
    traced = trace_function(flat, inputs, kind, label, fresh_module=apart, entered_by=chosen_by)
    return _Outcome(_title(name, functions), flat.out_tree, traced.results), traced


def _title(name: str, functions: dict[str, Callable[..., Any]]) -> str:
    return f"{name} ({name_of(functions[name])})"


def _chosen(
    what: str,
    kind: str,
    chooser: Array,
    functions: dict[str, Callable[..., Any]],
    operands: tuple[Any, ...],
) -> Any:
    """Traces all functions, and writes down the choice."""
    leaves, tree = array_trees.tree_flatten(operands)
    names = leaf_names("operands", operands)
    chosen_by = chooser.aval.vma
    arrays = [
        pvary(as_array(x, f"{what}: {n}"), chosen_by) for x, n in zip(leaves, names, strict=True)
    ]
    given = array_trees.tree_unflatten(tree, arrays)
    traced = [_traced(what, name, functions, given, chosen_by=chosen_by) for name in functions]
    outcomes, branches = zip(*traced, strict=True)
    _check_same(what, outcomes)
    op = _Choice(
        kind,
        tuple(t.name for t in branches),
        len(arrays),
        tuple(len(t.captures) for t in branches),
    )
    captured = [pvary(x, chosen_by) for t in branches for x in t.captures]
    found = bind(op, chooser, *arrays, *captured)
    for number, same in _forwarded(branches, arrays).items():
        found[number] = same
    own = dict(zip(functions, outcomes, strict=True))[_number_0(functions)]
    return array_trees.tree_unflatten(own.tree, _typed(found, own))


def _forwarded(branches: Sequence[Traced], operands: Sequence[Array]) -> dict[int, Array]:
    """Return the results that are one and the same operand or captured value in all branches,
    whichever is chosen, by their numbers.
    """
    returned: list[list[Array | None]] = []
    for traced in branches:
        given = [*operands, *traced.captures]
        returned.append([None if n is None else given[n] for n in traced.returned()])
    return {
        number: same[0]
        for number, same in enumerate(zip(*returned, strict=True))
        if same[0] is not None and all(x is same[0] for x in same)
    }


def _number_0(functions: Mapping[str, Any]) -> str:
    """Return the name of the function whose results say if those of the choice are weakly typed:
    JAX takes number 0 for that, which is false_fun of a `cond`.
    """
    return "false_fun" if "false_fun" in functions else next(iter(functions))


def _typed(results: Sequence[Array], outcome: _Outcome) -> list[Array]:
    """Return results with the weak types that those of one function have."""
    return [x.with_weak_type(a.weak_type) for x, a in zip(results, outcome.avals, strict=True)]


def _check_same(what: str, outcomes: Sequence[_Outcome]) -> None:
    """Raise a TypeError if functions return different types."""
    first, *others = outcomes
    for other in others:
        titles = (first.title, other.title)
        if first.tree != other.tree:
            out = array_trees.tree_unflatten(other.tree, other.avals)
            error = array_trees.structure_error(first.tree, out, *titles)
            raise TypeError(
                f"{what} at {source.user_line()}: all functions must return the same structure: "
                f"{error}"
            )
        if not all(map(are_alike, first.avals, other.avals)):
            names = leaf_names("result", array_trees.tree_unflatten(first.tree, first.avals))
            table = side_by_side(names, titles, (first.avals, other.avals))
            raise TypeError(
                f"{what} at {source.user_line()}: all functions must return the same "
                f"{type_parts()}, got\n{table}\nConvert with {conversions()}, or broadcast."
            )


@dataclass(frozen=True)
class _Choice(Op):
    """`stablehlo.if` or `stablehlo.case`, whose branches call functions of the module with the
    operands, then with the values that each has captured.
    """

    num_results: ClassVar[int] = -1
    joins_operands = False
    name: str
    branches: tuple[str, ...]
    num_operands: int
    num_captures: tuple[int, ...]

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        functions = mlir.Functions(mlir.open_module())
        chooser, *rest = operands
        shared, captured = rest[: self.num_operands], iter(rest[self.num_operands :])
        given = [[*shared, *(next(captured) for _ in range(n))] for n in self.num_captures]

        def branch(name: str, arguments: Sequence[Value]) -> Callable[[], Sequence[Value]]:
            return lambda: call_function(functions, name, arguments)

        built = [branch(*pair) for pair in zip(self.branches, given, strict=True)]
        return branch_ops.choose(self.name, chooser, built)
