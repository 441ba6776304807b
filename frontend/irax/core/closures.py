"""Closure conversion: captured values become arguments, the same for all functions of one
operation; and `closure_convert`.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from irax.core import origins, source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.callables import check_callable
from irax.core.copies import OfThisProcess
from irax.core.dispatch import call, runs_at_once
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Traced, Tracer, trace_function, trace_state_clean
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, name_of
from irax_compiler import mlir
from irax_compiler.ops.structured import adapted


def union(functions: Sequence[Traced]) -> list[Array]:
    """Return all values that the functions have captured, each once."""
    return list({id(x): x for traced in functions for x in traced.captures}.values())


def with_captures(traced: Traced, captures: Sequence[Array], at: int, name: str) -> str:
    """The name, `name` if it is free, of a function like a traced one of the same module, that
    takes all `captures`, its own among them, before its argument number `at`.
    """
    module = traced.builder.module
    inputs = [a.type for a in mlir.arguments(mlir.Functions(module)[traced.name])]
    own, count = len(inputs) - len(traced.captures), len(captures)
    places = {id(x): at + i for i, x in enumerate(captures)}
    order = [i if i < at else i + count for i in range(own)]
    order += [places[id(x)] for x in traced.captures]
    outside = [mlir.tensor_type(x.aval.shape, x.aval.dtype) for x in captures]
    with source.user_location():
        return adapted(module, traced.name, [*inputs[:at], *outside, *inputs[at:own]], order, name)


_KEPT: WeakKeyDictionary[Callable[..., Any], list[Array]] = WeakKeyDictionary()
"""The arrays that functions of `closure_convert` hold; others that they use are arguments."""


def closed_over(function: Any, *others: Any) -> list[Array]:
    """Return the traced arrays that a function and other objects hold: in closures, defaults,
    partial applications, the globals that functions of the function's package name (irax's own
    name none) and what they name of modules there, and the containers and objects there. Arrays of
    traces that have ended are left out.
    """
    return [x for x in arrays_held(function, *others) if isinstance(x, Tracer) and x.home.open]


def arrays_held(function: Any, *others: Any) -> list[Array]:
    """Return the arrays, traced or not, that a function and other objects hold in these places."""
    package = _package(function)
    found: list[Array] = []
    seen: set[int] = set()
    pending = [function, *others]
    while pending:
        x = pending.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Tracer | ConcreteArray):
            found.append(x)
        else:
            pending += _parts(x)
            if isinstance(x, types.FunctionType) and _package(x) == package != "irax":
                pending += _named_globals(x)
    return found


def used_by(*functions: Any, args: Any = ()) -> list[Any]:
    """Return the leaves of a call's arguments, and the traced arrays that the functions hold, by
    which a call of these belongs to a trace.
    """
    if trace_state_clean() or not runs_at_once():
        return []  # all calls are alike
    held = [x for function in functions for x in closed_over(function)]
    return array_trees.tree_leaves(args) + held


def _package(function: Any) -> str:
    return _top(origins.module_of(function))


def _top(module: str) -> str:
    return module.partition(".")[0]


def _named_globals(function: types.FunctionType) -> list[Any]:
    """Return the globals that a function and the functions within it may read."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    found: list[Any] = []
    seen: set[int] = set()
    pending = [function.__globals__]
    while pending:
        namespace = pending.pop()
        if id(namespace) in seen:
            continue
        seen.add(id(namespace))
        values = [namespace[name] for name in sorted(names & namespace.keys())]
        found += values
        modules = [x for x in values if isinstance(x, types.ModuleType)]
        pending += [vars(x) for x in modules if _top(x.__name__) not in _WITHOUT_ARRAYS]
    return found


_WITHOUT_ARRAYS = sys.stdlib_module_names | {"irax", "numpy"}
"""Packages whose modules hold no traced arrays."""


def _parts(x: Any) -> list[Any]:
    """Return the objects that an object holds, as far as a function reaches them through it."""
    if isinstance(x, types.FunctionType):
        if x in _KEPT:
            return list(_KEPT[x])
        cells = [c.cell_contents for c in x.__closure__ or () if c != types.CellType()]
        return [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    if isinstance(x, types.MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, functools.partial):
        return [x.func, *x.args, *x.keywords.values()]
    if isinstance(x, dict):
        return list(x.values())
    if isinstance(x, list | tuple | set | frozenset):
        return list(x)
    if isinstance(x, type | types.ModuleType | Array | OfThisProcess):
        return [getattr(x, "__wrapped__", None)]
    return list(getattr(x, "__dict__", {}).values())


def captures_first(functions: Sequence[Traced]) -> tuple[list[str], list[Array]]:
    """The names of functions like these, of the values that any of them has captured, then of their
    own arguments; and the values.
    """
    captures = union(functions)
    if not captures:
        return [traced.name for traced in functions], captures
    names = [with_captures(t, captures, 0, f"{t.name}.step") for t in functions]
    return names, captures


@api_boundary
def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """Return a function that holds no arrays which may be differentiated, and the list of those
    that the given one captured, which it takes after its own arguments: traced arrays of floats or
    complex numbers. It holds the others, as in JAX.

    Args:
        fun: a function of arrays, which may capture others.
        example_args: arrays, or pytrees of them, of the shapes and dtypes that `fun` will be called
            with.

    Raises:
        TypeError: `fun` is not a function, or `example_args` have leaves that are not arrays.

    >>> def f(y):
    ...     pure, consts = irax.closure_convert(lambda x: x * y.sum(), 1.0)
    ...     return pure(2.0, *consts)
    >>> irax.grad(f)(jnp.arange(3.0))
    Array([2., 2., 2.], dtype=float32)
    """
    check_callable(fun, "closure_convert")
    leaves, in_tree = array_trees.tree_flatten((example_args, {}))
    avals = [as_array(x, "closure_convert").aval for x in leaves]
    flat = FlatFunction(fun, in_tree)
    traced = trace_function(flat, [Input(a) for a in avals], "closure_convert", name_of(fun))

    captures = list(traced.captures)
    hoisted = [x for x in captures if _may_be_differentiated(x)]

    @api_boundary
    def converted(*args_and_consts: Any) -> Any:
        if len(args_and_consts) != len(example_args) + len(hoisted):
            raise TypeError(
                f"closure_convert: {name_of(fun)} takes {len(example_args)} arguments and then the "
                f"{len(hoisted)} arrays of the list, got {len(args_and_consts)} in all"
            )
        args = args_and_consts[: len(example_args)]
        consts = iter(args_and_consts[len(example_args) :])
        taken = [next(consts) if _may_be_differentiated(x) else x for x in captures]
        given = [as_array(x) for x in [*array_trees.tree_leaves((args, {})), *taken]]
        found = call(traced.builder, traced.name, given, traced.weak)
        return array_trees.tree_unflatten(flat.out_tree, found)

    _KEPT[converted] = [x for x in captures if not _may_be_differentiated(x)]
    return converted, hoisted


def _may_be_differentiated(x: Array) -> bool:
    return isinstance(x, Tracer) and x.aval.is_inexact
