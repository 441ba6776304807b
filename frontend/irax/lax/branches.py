"""Choosing between functions: cond and switch.

Where it is known which function is chosen, only that one is called. Otherwise all are traced, and
a `stablehlo.case` calls the one that is chosen when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irax import dtypes, errors, source, tree_util
from irax.array import Array, as_array
from irax.elementwise import apply, convert
from irax.flat import FlatFunction, known_inputs, name_of
from irax.lax import control
from irax.lax.arguments import array_of
from irax.lax.carries import leaf_names, same_type, side_by_side
from irax.tracing import Traced, bind, trace_function
from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops import branches as branch_ops
from irax_compiler.ops import comparison
from irax_compiler.ops.control_flow import call_function
from irax_compiler.ops.core import Op

_MISSING: Any = object()


def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    operand: Any = _MISSING,
    linear: Any = None,
) -> Any:
    """Calls one of two functions, as a predicate says.

    Where the value of the predicate is known, only that function is called, in Python. Where it is
    traced, both are traced, and the one chosen runs; under `vmap` with a predicate for each lane
    both run, and their results are selected from.

    Args:
        pred: a boolean or number scalar; a number holds if it is not 0.
        true_fun: a function of the operands.
        false_fun: likewise, with results of the same structure, shapes and dtypes.
        operands: pytrees of arrays.
        operand: another way to give one operand.
        linear: accepted for JAX's sake, without effect.

    Returns:
        What the function returns.

    Raises:
        TypeError: `pred` is not a scalar; or it is traced, and the functions' results differ in
            structure, shape or dtype.

    >>> irax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, 3.0)
    Array(4., dtype=float32, weak_type=True)
    """
    what = "lax.cond"
    for function in (true_fun, false_fun):
        if not callable(function):
            raise TypeError(f"{what}: expected two functions, got {function!r}")
    if operand is not _MISSING:
        operands = (*operands, operand)
    predicate = array_of(what, pred)
    if predicate.ndim:
        raise TypeError(f"{what}: the predicate must be a scalar, got shape {predicate.shape}")
    known = known_value(predicate)
    if known is not None:
        return _called(what, true_fun if known else false_fun, operands)
    is_bool = predicate.dtype == np.bool
    holds = predicate if is_bool else apply(comparison.not_equal, predicate, 0, what=what)
    functions = {"true_fun": true_fun, "false_fun": false_fun}
    return _chosen(what, "stablehlo.if", holds, functions, operands)


def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    operand: Any = _MISSING,
) -> Any:
    """Calls the function that an index names; the first or the last where it is out of range.

    Args:
        index: an integer scalar.
        branches: functions of the operands, with results of the same structure, shapes and dtypes.
        operands: pytrees of arrays.
        operand: another way to give one operand.

    Returns:
        What the function returns. As with `cond`, only one is called where the index is known.

    Raises:
        TypeError: the index is not an integer scalar; or it is traced, and the functions' results
            differ in structure, shape or dtype.
        ValueError: no branches.

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
        raise TypeError(f"{what}: the index must be an integer scalar, got {number.aval}")
    last = len(branches) - 1
    known = 0 if last == 0 else known_value(number)
    if known is not None:
        return _called(what, branches[min(max(int(known), 0), last)], operands)
    # Bounds that do not fit a narrow dtype are no bounds.
    highest = min(last, np.iinfo(number.dtype).max)
    place = convert(control.clamp(0, number, highest), np.dtype(np.int32))
    functions = {f"branches[{i}]": function for i, function in enumerate(branches)}
    return _chosen(what, "stablehlo.case", place, functions, operands)


def known_value(x: Array) -> np.ndarray[Any, Any] | None:
    """The element of a scalar, or None where it is not known while tracing."""
    try:
        return x.concrete("a branch", errors.TracerBoolConversionError)
    except errors.TracerBoolConversionError:
        return None


def _called(what: str, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    operands = tree_util.tree_map(lambda leaf: as_array(leaf, f"{what}: an operand"), operands)
    return tree_util.tree_map(lambda leaf: as_array(leaf, what), function(*operands))


def _chosen(
    what: str,
    kind: str,
    chooser: Array,
    functions: dict[str, Callable[..., Any]],
    operands: tuple[Any, ...],
) -> Any:
    """Traces all functions, and writes down the choice."""
    leaves, in_tree = tree_util.tree_flatten((operands, {}))
    names = leaf_names("operands", operands)
    arrays = [as_array(x, f"{what}: {n}") for x, n in zip(leaves, names, strict=True)]
    flats = {name: FlatFunction(f, in_tree) for name, f in functions.items()}
    traced = {
        name: trace_function(
            flat, known_inputs(arrays, names), what.partition(".")[2], name_of(functions[name])
        )
        for name, flat in flats.items()
    }
    (first, *_), out_tree = traced, next(iter(flats.values())).out_tree
    for name in traced:
        _check_same(what, functions, flats, traced, first, name)
    branches = list(traced.values())
    op = _Choice(
        kind,
        tuple(t.name for t in branches),
        len(arrays),
        tuple(len(t.captures) for t in branches),
    )
    captured = [x for t in branches for x in t.captures]
    found = bind(op, chooser, *arrays, *captured)
    weak = [all(flags) for flags in zip(*(t.weak for t in branches), strict=True)]
    results = [x.with_weak_type(w) for x, w in zip(found, weak, strict=True)]
    return tree_util.tree_unflatten(out_tree, results)


def _check_same(
    what: str,
    functions: dict[str, Callable[..., Any]],
    flats: dict[str, FlatFunction],
    traced: dict[str, Traced],
    first: str,
    other: str,
) -> None:
    titles = [f"{name} ({name_of(functions[name])})" for name in (first, other)]
    trees = [flats[name].out_tree for name in (first, other)]
    avals = [traced[name].results for name in (first, other)]
    if trees[0] != trees[1]:
        out = tree_util.tree_unflatten(trees[1], avals[1])
        error = tree_util.structure_error(trees[0], out, *titles)
        raise TypeError(
            f"{what} at {source.user_line()}: all functions must return the same structure: {error}"
        )
    if not all(map(same_type, *avals)):
        names = leaf_names("result", tree_util.tree_unflatten(trees[0], avals[0]))
        raise TypeError(
            f"{what} at {source.user_line()}: all functions must return the same shapes and "
            f"dtypes, got\n{side_by_side(names, titles, avals)}\nConvert with .astype(...), or "
            "broadcast."
        )


@dataclass(frozen=True)
class _Choice(Op):
    """`stablehlo.if` or `stablehlo.case`, whose branches call functions of the module: of the
    operands, then of what each has captured.
    """

    num_results: ClassVar[int] = -1
    name: str
    branches: tuple[str, ...]
    num_operands: int
    num_captures: tuple[int, ...]

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        functions = mlir.functions(mlir.open_module())
        chooser, *rest = operands
        shared, captured = rest[: self.num_operands], iter(rest[self.num_operands :])
        given = [[*shared, *(next(captured) for _ in range(n))] for n in self.num_captures]

        def branch(name: str, arguments: Sequence[Value]) -> Callable[[], Sequence[Value]]:
            return lambda: call_function(functions, name, arguments)

        built = [branch(*pair) for pair in zip(self.branches, given, strict=True)]
        return branch_ops.choose(self.name, chooser, built)
