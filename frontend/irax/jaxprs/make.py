"""make_jaxpr: a call of a function as a jaxpr."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import tree_util
from irax.core.array import Array, as_array, aval_of
from irax.core.avals import ShapedArray, ShapeDtypeStruct
from irax.core.callables import check_callable
from irax.core.closures import arrays_held
from irax.core.module_builder import ModuleBuilder
from irax.core.refs import refs
from irax.core.refs.functions import Found, traced_once
from irax.core.shardings import axis_names
from irax.core.shardings.axis_names import BoundAxis
from irax.core.shardings.explicit_axes import by_mesh_of
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Further, Input, Trace, Traced, Tracer, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, abstract_inputs, argument_names, name_of
from irax.core.trees.parameter_names import ParameterNames
from irax.core.wrapping import wraps
from irax.execution.jit_parameters import parameters_of
from irax.jaxprs.language import Jaxpr
from irax.jaxprs.mutable import with_refs
from irax.jaxprs.views import jaxpr_of_function
from irax_compiler import mlir


@api_boundary
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Iterable[int] = (),
    axis_env: Any = None,
    return_shape: bool = False,
    abstracted_axes: Any = None,
) -> Callable[..., Any]:
    """Return a function that traces `fun` and returns the equations, as a `Jaxpr`.

    Args:
        fun: a function of pytrees of arrays.
        static_argnums: the arguments that stay Python values.
        axis_env: pairs of the names and sizes of axes that collectives may name, as if a `vmap`
            along them were around.
        return_shape: return also the types of the results.
        abstracted_axes: not supported.

    Raises:
        ValueError: `fun` has no argument of a number in `static_argnums`.
        NotImplementedError: `abstracted_axes` is given.

    >>> print(make_jaxpr(lambda x: irax.numpy.sin(x) + x)(1.0))
    { lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = add b a in (c,) }
    """
    if abstracted_axes is not None:
        raise NotImplementedError(
            "make_jaxpr: the argument 'abstracted_axes' is not supported: trace the function once "
            "for each shape"
        )
    check_callable(fun, "make_jaxpr")
    chosen = static_argnums if isinstance(static_argnums, int) else tuple(static_argnums)
    static, _ = parameters_of(fun, chosen, None, "static")
    axes = [BoundAxis(name, size) for name, size in axis_env or ()]

    @api_boundary
    @wraps(fun)
    def traced(*args: Any, **kwargs: Any) -> Any:
        boxed: dict[int, refs.Ref] = {}
        touched: Found | None = None
        numbers = {n % len(args) for n in static if -len(args) <= n < len(args)}
        dynamic = tuple(a for n, a in enumerate(args) if n not in numbers)

        def called(*given: Any, **named: Any) -> Any:
            remaining = iter(given)
            full = [a if n in numbers else next(remaining) for n, a in enumerate(args)]
            return fun(*full, **named)

        function = wraps(fun)(called)
        if refs.exist():
            given = array_trees.tree_leaves((dynamic, kwargs))
            boxed = {i: x for i, x in enumerate(given) if isinstance(x, refs.Ref)}
            function, dynamic, kwargs, touched = traced_once(
                "make_jaxpr", function, dynamic, kwargs, abstract=True
            )
        leaves, tree = array_trees.tree_flatten((dynamic, kwargs))
        names = ParameterNames(fun).of_leaves(dynamic, kwargs, numbers)
        flat = FlatFunction(function, tree)
        held = frozenset(id(x) for x in arrays_held(fun))
        with by_mesh_of(leaves), axis_names.all_bound([*axis_names.bound(), *axes]):
            inputs = abstract_inputs(leaves, names)
            found = _traced(flat, inputs, name_of(fun), held)
        closed, out_tree = _view(found, inputs), flat.out_tree
        if touched is not None:
            out_tree, *_ = out_tree.children()
            closed = with_refs(closed, touched, boxed, out_tree.num_leaves)
        if not return_shape:
            return closed
        structs = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in found.results]
        structs = structs[: out_tree.num_leaves]
        return closed, tree_util.tree_unflatten(tree_util.PyTreeDef(out_tree), structs)

    traced.__name__ = traced.__qualname__ = f"make_jaxpr({name_of(fun)})"
    return traced


@dataclass(frozen=True)
class FlatResult:
    """A result of a function, which is made of some results of its jaxpr: a key is its words."""

    aval: ShapedArray
    structure: Any


def flat_jaxpr(
    fun: Callable[..., Sequence[Any]], avals: Sequence[Any]
) -> tuple[Jaxpr, list[FlatResult]]:
    """Return the jaxpr of a function of arrays of given types, which returns a list of arrays; and
    what these are made of.
    """
    shaped = [x if isinstance(x, ShapedArray) else aval_of(x) for x in avals]
    structs = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in shaped]
    leaves, tree = array_trees.tree_flatten(array_trees.with_words(structs))
    inputs = abstract_inputs(leaves, argument_names(structs))
    results: list[FlatResult] = []

    def listed(*arrays: Array) -> list[Array]:
        found: list[Array] = []
        for x in fun(*array_trees.tree_unflatten(tree, arrays)):
            array = as_array(x, "a result")
            parts, structure = array_trees.tree_flatten(array)
            results.append(FlatResult(array.aval, structure))
            found += parts
        return found

    return _view(_traced(listed, inputs, name_of(fun)), inputs), results


def jaxpr_of_constants(
    fun: Callable[[], Sequence[Array]], builder: ModuleBuilder | None = None
) -> Jaxpr:
    """Return the jaxpr of a function without arguments: the arrays that it uses are its constants.
    `builder` has the functions that its operations name, if they do.
    """
    kind = functools.partial(_Listing, frozenset())
    return _view(trace_function(fun, [], "make_jaxpr", "f", builder=builder, trace_type=kind), [])


def _traced(
    fun: Callable[..., Sequence[Array]],
    inputs: Sequence[Input],
    name: str,
    held: frozenset[int] = frozenset(),
) -> Traced:
    kind = functools.partial(_Listing, held)
    return trace_function(fun, inputs, "make_jaxpr", name, fresh_module=True, trace_type=kind)


class _Listing(Trace):
    """A trace that captures the arrays of the ids `held`, however small: they are constants of the
    jaxpr, of which functions that hold as many arrays have as many.
    """

    def __init__(self, held: frozenset[int], *args: Any) -> None:
        super().__init__(*args)
        self._held = held

    def value_of(self, x: Array) -> mlir.Value:
        return self._capture(x) if self._holds(x) else super().value_of(x)

    def convert(self, x: Array, dtype: np.dtype[Any], weak_type: bool = False) -> Array:
        return super().convert(self._captured_as(x), dtype, weak_type)

    def broadcast_to(self, x: Array, target: tuple[int, ...]) -> Array:
        return super().broadcast_to(self._captured_as(x), target)

    def _holds(self, x: Array) -> bool:
        return not isinstance(x, Tracer) and id(x) in self._held

    def _captured_as(self, x: Array) -> Array:
        """Return the captured value of an array that is held, and others as they are."""
        return Tracer(self, self._capture(x), x.aval, self.location) if self._holds(x) else x


def _view(traced: Traced, inputs: Sequence[Input]) -> Jaxpr:
    weak = [x.aval.weak_type for x in inputs]
    function = mlir.Functions(traced.builder.module)[traced.name]
    assert len(mlir.arguments(function)) == len(weak) + len(traced.captures)
    closed = jaxpr_of_function(traced.builder, traced.name, traced.captures, weak)
    for atom, aval in zip(closed.jaxpr.outvars, traced.results, strict=True):
        atom.aval = aval
    return _with_further(closed)


def _with_further(closed: Jaxpr) -> Jaxpr:
    """Return a jaxpr whose `Further` constants are its last arguments."""
    values = list(zip(closed.constvars, closed.consts, strict=True))
    further = [var for var, value in values if isinstance(value, Further)]
    if not further:
        return closed
    kept = [(var, value) for var, value in values if not isinstance(value, Further)]
    return closed.replace(
        constvars=[var for var, _ in kept],
        consts=[value for _, value in kept],
        invars=[*closed.invars, *further],
    )
