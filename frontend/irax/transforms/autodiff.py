"""Differentiation: each function here traces, runs a pass on what was traced, and calls what came
out of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.avals import ShapedArray
from irax.core.callables import check_callable
from irax.core.dispatch import call
from irax.core.module_builder import ModuleBuilder
from irax.core.refs import functions as ref_functions
from irax.core.refs import refs
from irax.core.settings import rule_logs
from irax.core.tracebacks import api_boundary
from irax.core.traced_call import TracedCall
from irax.core.tracing import Scope, Traced
from irax.core.trees import array_trees
from irax.core.trees.flattening import (
    bind_others,
    differentiated_inputs,
    normalize_argnums,
)
from irax.core.wrapping import wraps
from irax.transforms import perturbed, slots
from irax.transforms.auxiliary import Auxiliary
from irax.transforms.differentiable import (
    check_differentiable,
    check_no_axes,
    check_no_refs,
    check_scalar,
    checked_pair,
    is_inexact,
)
from irax.transforms.pullbacks import VJP, Derived, layout_of
from irax.transforms.symbolic_zeros import zeros
from irax_compiler import api, mlir

P = ParamSpec("P")
R = TypeVar("R")

ArgNums = int | Sequence[int]


def _checked(
    function: Callable[..., Any],
    what: str,
    has_aux: bool,
    check: Callable[[Any, bool], None] | None = None,
) -> Callable[..., Any]:
    """Return the function with a check of its results."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        with rule_logs.among(None):  # a derivative inside of a function has logs of its own
            out = function(*args, **kwargs)
        if has_aux:
            out = checked_pair(out, what, function)
        if check is not None:
            check(out, has_aux)
        return (out[0], Auxiliary(out[1])) if has_aux else out

    return checked


def _num_results(out_tree: Any, has_aux: bool) -> int:
    """Return the number of leaves of a function's output that are not aux."""
    return out_tree.children()[0].num_leaves if has_aux else out_tree.num_leaves


# ---- reverse mode --------------------------------------------------------------------------------


@api_boundary
def grad(
    fun: Callable[P, Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
) -> Callable[P, Any]:
    """Return a function that computes the gradient of a scalar-valued `fun`.

    Args:
        fun: takes pytrees of arrays; returns a real scalar, or `(scalar, aux)` with `has_aux`.
        argnums: which positional arguments to differentiate with respect to.
        has_aux: return `(gradient, aux)`.
        holomorphic: `fun` is a holomorphic function of complex arguments; without it the result is
            real, and the gradient with respect to a complex z = x + iy is df/dx - i df/dy.
        allow_int: allow integer arguments; their gradients have dtype float0.
        reduce_axes: accepted for JAX's sake; must be empty.

    Returns:
        A function of the same arguments that returns the gradient: of the structure, shapes and
        dtypes of the argument, or a tuple of them where `argnums` is a sequence.

    Raises:
        TypeError: on a call, for a result that is not a real scalar, or an argument that is not
            floating-point.

    >>> grad(lambda x: x**2)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    transformed = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @api_boundary
    @wraps(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, grads = transformed(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    if not (has_aux or holomorphic or allow_int):
        vars(gradient)["_gradient_of"] = fun, argnums  # for those who show how it is derived
    return gradient


@api_boundary
def value_and_grad(
    fun: Callable[P, R],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Hashable] = (),
) -> Callable[P, tuple[R, Any]]:
    """Return a function that computes the value and the gradient of `fun`: `(value, gradient)`, or
    `((value, aux), gradient)` with `has_aux`. Arguments are those of `grad`.

    Args:
        fun: a function with a real scalar result, or with `has_aux` a pair of that and other data.
        argnums: the argument, or a tuple of arguments, to differentiate with respect to.
        has_aux: True if `fun` returns a pair.
        holomorphic: True if `fun` is a holomorphic function of complex numbers.
        allow_int: True to allow arguments of integers, whose gradients have dtype float0.
        reduce_axes: not supported.

    Raises:
        TypeError: `fun` is not a function, or it does not return a float.

    >>> value_and_grad(lambda x: x**2)(3.0)[0]
    Array(9., dtype=float32, weak_type=True)
    """
    check_callable(fun, "grad")
    check_no_axes(reduce_axes, "grad")

    @api_boundary
    @wraps(fun)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        options = argnums, holomorphic, allow_int
        if refs.exist():
            numbers = normalize_argnums(argnums, len(args), "grad", too_few=TypeError)
            check_no_refs([args[i] for i in numbers])
        return _value_and_gradient(fun, args, kwargs, has_aux, *options)

    return value_and_gradient


def _value_and_gradient(
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    has_aux: bool,
    argnums: ArgNums,
    holomorphic: bool,
    allow_int: bool,
) -> tuple[Any, Any]:
    numbers = normalize_argnums(argnums, len(args), "grad", too_few=TypeError)
    chosen = tuple(args[i] for i in numbers)
    check_differentiable(fun, chosen, numbers, "grad", allow_int, "c" if holomorphic else "fc")
    check = functools.partial(check_scalar, holomorphic=holomorphic)
    checked = _checked(fun, "grad", has_aux, check)
    if refs.exist():
        pure, given, named, found = ref_functions.traced_once("grad", checked, args, kwargs)
        function = bind_others(pure, given, named, numbers)
        outputs, pullback = _vjp_of_refs(function, chosen, "grad", has_aux, found)
    else:
        function = bind_others(checked, args, kwargs, numbers)
        outputs, pullback = _vjp(function, chosen, "grad", has_aux)
    value = outputs[0] if has_aux else outputs
    cotangent = ConcreteArray(np.ones((), value.dtype), value.weak_type)
    grads = pullback(cotangent)
    return outputs, (grads[0] if isinstance(argnums, int | np.integer) else grads)


@api_boundary
def vjp(
    fun: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Sequence[Hashable] = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
) -> tuple[Any, ...]:
    """Return the value of `fun`, and a function from its cotangents to those of its arguments.

    Args:
        fun: a function of pytrees of arrays.
        primals: its arguments.
        has_aux: `fun` returns `(result, aux)`, and aux is not differentiated.
        reduce_axes: accepted for JAX's sake; must be empty.
        saveable_args: False for arguments that the pullback must not keep: `pullback.args_res` has
            `NotSaveable()` for them, where they are to be put before it is called. A bool, or a
            tuple of them for the children of a container.
        in_nzs: False for arguments whose tangents are zero, likewise: their cotangents are zero,
            and `pullback.out_nzs` tells which results have a derivative in the others.

    Returns:
        `(result, pullback)`, or `(result, pullback, aux)`: `pullback(cotangent)` takes a cotangent
        of the result's structure and returns a tuple with a cotangent for each argument. One may be
        a Ref: its cotangent is added to another one, by `pullback.with_refs(ref)`.

    Raises:
        TypeError: `fun` is not a function, or `primals` are not arrays.

    >>> y, pullback = vjp(lambda x: x * x, 3.0)
    >>> pullback(1.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    check_callable(fun, "vjp")
    check_no_axes(reduce_axes, "vjp")
    nonzero = _nonzero("vjp", in_nzs, primals)
    fun = fun if nonzero is None else perturbed.held(fun, nonzero)
    try:
        with slots.looking() as look:
            outputs, pullback = _forward(fun, primals, has_aux, look)
    except slots.RulesHaveLogs:
        of_slots, zeros_of_calls, calls = slots.with_slots(fun, primals)
        if calls:
            outputs, pullback = _forward(of_slots, (*primals, zeros_of_calls), has_aux)
            pullback = pullback.of_calls(calls)
        else:
            outputs, pullback = _forward(fun, primals, has_aux)
    if saveable_args is not True:
        tree = array_trees.tree_structure(primals)
        pullback = pullback.without(perturbed.spread("vjp: saveable_args", saveable_args, tree))
    return (outputs[0], pullback, outputs[1]) if has_aux else (outputs, pullback)


def _forward(
    fun: Callable[..., Any],
    primals: tuple[Any, ...],
    has_aux: bool,
    look: Callable[[Traced], None] | None = None,
) -> tuple[Any, VJP]:
    """Run the forward pass of a function, and return its outputs and the pullback. What it was
    traced as is given to `look` before it runs.
    """
    checked = _checked(fun, "vjp", has_aux)
    if not refs.exist():
        return _vjp(checked, primals, "vjp", has_aux, look=look)
    leaves = array_trees.tree_leaves(primals)
    boxed = frozenset(i for i, x in enumerate(leaves) if isinstance(x, refs.Ref))
    function, args, _, found = ref_functions.traced_once("vjp", checked, primals, {})
    return _vjp_of_refs(function, args, "vjp", has_aux, found, boxed, look)


def _nonzero(what: str, in_nzs: Any, primals: Any) -> list[bool] | None:
    """Return a bool for each leaf of the primals; None if all are True."""
    if in_nzs is None:
        return None
    tree = array_trees.tree_structure(primals)
    return perturbed.spread(f"{what}: in_nzs", in_nzs, tree)


def _vjp_of_refs(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    what: str,
    has_aux: bool,
    found: ref_functions.Found,
    boxed: frozenset[int] = frozenset(),
    look: Callable[[Traced], None] | None = None,
) -> tuple[Any, VJP]:
    """`_vjp` of a function that `traced_once` made. Values of the Refs `boxed`, the arguments that
    are differentiated, are results that are differentiated too; those of others are not.
    """

    @wraps(function)
    def pure(*given: Any) -> Any:
        out, values, tokens = function(*given)
        result, aux = (out[0], out[1].value) if has_aux else (out, None)
        return (result, values[: len(boxed)], tokens), Auxiliary((aux, values))

    ((result, *_), (aux, values)), pullback = _vjp(pure, args, what, True, found, boxed, look)
    found.write(values)
    return ((result, aux) if has_aux else result), pullback


@api_boundary
def fwd_and_bwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    jitted: bool = True,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the forward and the backward pass of a function, as two functions.

    Args:
        fun: a function of pytrees of arrays.
        argnums: the arguments to differentiate with respect to.
        has_aux: `fun` returns `(result, aux)`, and aux is not differentiated.
        jitted: True to compile both.

    Returns:
        `fwd`, which takes the arguments of `fun` and returns its result and the residuals, or
        `(result, residuals, aux)`; and `bwd`, which takes residuals and a cotangent of the result
        and returns a cotangent for each argument of `argnums`.

    Raises:
        TypeError: `fun` is not a function.

    >>> fwd, bwd = irax.fwd_and_bwd(lambda x, y: x * y, argnums=(0, 1), jitted=False)
    >>> z, residuals = fwd(2.0, 3.0)
    >>> bwd(residuals, 1.0)
    (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_callable(fun, "fwd_and_bwd")
    single = isinstance(argnums, int)

    def fwd(*args: Any) -> Any:
        numbers = normalize_argnums(argnums, len(args), "fwd_and_bwd")
        function = bind_others(fun, args, {}, numbers)
        result, *rest = vjp(function, *(args[n] for n in numbers), has_aux=has_aux)
        return result, *rest

    def bwd(residuals: Any, cotangent: Any) -> Any:
        found = residuals(cotangent)
        return found[0] if single else found

    if not jitted:
        return fwd, bwd
    from irax.execution.jit import jit

    return jit(fwd), jit(bwd)


def _vjp(
    function: Callable[..., Any],
    primals: tuple[Any, ...],
    what: str,
    has_aux: bool,
    found: ref_functions.Found | None = None,
    boxed: frozenset[int] = frozenset(),
    look: Callable[[Traced], None] | None = None,
) -> tuple[Any, VJP]:
    """The outputs of a function that `_checked` gave, and its pullback. The inputs `boxed` are
    elements of Refs. What it was traced as is given to `look`.
    """
    traced_call = TracedCall(what, function, primals, inputs=differentiated_inputs, scope=Scope.OWN)
    traced, arrays = traced_call.traced, traced_call.arrays
    if look is not None:
        look(traced)
    tokens = [] if found is None else found.tokens
    given = [x for token in tokens for x in token.given]
    places = {id(x): i for i, x in enumerate(traced.captures, len(arrays))}
    numbers = [places[id(x)] for x in given]
    traced.captures[:] = [
        zeros(x.aval) if isinstance(x, refs.Given) else x for x in traced.captures
    ]
    num_results = _num_results(traced_call.out_tree, has_aux)
    reverse, outputs, residuals = _forward_pass(traced_call, num_results, api.reverse, numbers)
    result = outputs[0] if has_aux else outputs
    if found is not None:
        result = result[0]
    out_tree = array_trees.tree_structure(result)
    derived = Derived(
        traced.builder,
        reverse.backward,
        tuple(x.aval for x in arrays),
        tuple(traced.results[: out_tree.num_leaves]),
        array_trees.tree_structure((primals, {})),
        out_tree,
        [layout_of(x) for x in arrays],
        _forwarded(reverse.forward, traced, len(arrays)) if what == "vjp" else {},
        boxed,
        tuple(token.ref for token in tokens),
        _finder(traced_call, out_tree),
    )
    return outputs, VJP.of(derived, residuals)


def _finder(traced_call: TracedCall, out_tree: Any) -> Callable[[], Any]:
    """Return a function that finds the results that have a derivative."""
    wrt = [i for i, x in enumerate(traced_call.arrays) if is_inexact(x.aval)]
    # without the call's arrays: what a traced function returns outlives its trace
    traced = replace(traced_call.traced, captures=[])
    return lambda: perturbed.nonzero_results(traced, wrt, out_tree)


def _forwarded(forward: str, traced: Traced, num_arguments: int) -> dict[int, int]:
    """Return which residuals of a forward pass are arguments of the function."""
    function = mlir.Functions(traced.builder.module)[forward]
    numbers = {x: n for n, x in enumerate(mlir.arguments(function)[:num_arguments])}
    returned = list(mlir.terminator(mlir.body(function)).operands)
    residuals = enumerate(returned[len(traced.results) :])
    return {k: numbers[x] for k, x in residuals if x in numbers}


_Linearized = TypeVar("_Linearized", api.Linearized, api.Reversed)


def _forward_pass(
    traced_call: TracedCall,
    num_results: int,
    derive: Callable[..., _Linearized],
    captured: Sequence[int] = (),
) -> tuple[_Linearized, Any, list[Array]]:
    """Linearize a traced function, whose first results are differentiated, with respect to its
    arguments and some `captured` arrays, and run its forward pass: return the record of the
    derivation, the outputs and the residuals.
    """
    traced, arrays = traced_call.traced, traced_call.arrays
    wrt = [*(i for i, x in enumerate(arrays) if is_inexact(x.aval)), *captured]
    wanted = [i < num_results and is_inexact(aval) for i, aval in enumerate(traced.results)]
    with traced.builder.deriving():
        derived = derive(traced.builder.module, traced.name, wrt, wanted)
    values = call(traced.builder, derived.forward, [*arrays, *traced.captures], traced.weak)
    count = len(traced.results)
    return derived, _outputs(traced_call, values[:count]), values[count:]


def _outputs(traced_call: TracedCall, values: Sequence[Any]) -> Any:
    """Return what a function returned that `_checked` gave."""
    match traced_call.unflatten(values):
        case (result, Auxiliary() as aux):
            return result, aux.value
        case outputs:
            return outputs


# ---- forward mode --------------------------------------------------------------------------------


@api_boundary
def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Return the value of `fun` and its derivative along `tangents`.

    Args:
        fun: a function of pytrees of arrays.
        primals: its arguments, a tuple or list.
        tangents: a direction for each: the structure, shapes and dtypes of `primals`; dtype float0
            for integers.
        has_aux: `fun` returns `(result, aux)`, and aux is not differentiated.

    Returns:
        `(result, tangent)`, or `(result, tangent, aux)`.

    Raises:
        TypeError: `fun` is not a function, `primals` and `tangents` are not tuples or lists, or a
            tangent has another dtype or shape than its primal.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))[1]
    Array(6., dtype=float32, weak_type=True)
    """
    check_callable(fun, "jvp")
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, tuple | list):
            raise TypeError(
                f"jvp: {name} must be a tuple or list of arguments, got {type(value).__name__}"
            )
    if len(primals) != len(tangents):
        raise TypeError(
            f"jvp: got {len(primals)} primals and {len(tangents)} tangents; expected as many"
        )
    push, outputs = _push(fun, tuple(primals), tuple(tangents), has_aux)
    return (outputs[0], push, outputs[1]) if has_aux else (outputs, push)


def _push(
    fun: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], has_aux: bool
) -> tuple[Any, Any]:
    traced_call = TracedCall(
        "jvp", _checked(fun, "jvp", has_aux), primals, inputs=differentiated_inputs, scope=Scope.OWN
    )
    traced, arrays = traced_call.traced, traced_call.arrays
    structure = array_trees.tree_structure(primals)
    directions = _directions("jvp", tangents, structure, [x.aval for x in arrays])
    wrt = [i for i, d in enumerate(directions) if d is not None]
    with traced.builder.deriving():
        derived = api.jvp(traced.builder.module, traced.name, wrt)
    operands = [*arrays, *traced.captures, *(d for d in directions if d is not None)]
    weak = [*traced.weak, *(a.weak_type for a in traced.results if is_inexact(a))]
    values = call(traced.builder, derived.name, operands, weak)
    count = len(traced.results)
    outputs = _outputs(traced_call, values[:count])
    push = traced_call.unflatten(_with_float0(values[count:], traced.results))
    return (push[0] if has_aux else push), outputs


def _directions(
    what: str,
    tangents: Any,
    structure: Any,
    avals: Sequence[ShapedArray],
    error: type[Exception] = TypeError,
) -> list[Array | None]:
    """A tangent for each argument, None for those of integer type.

    Raises `error` for a tangent of another dtype, ValueError for another shape, and TypeError for
    another structure.
    """
    leaves, given = array_trees.flatten_like(tangents, structure)
    if given != structure:
        what = f"{what}: the tangents"
        raise TypeError(*array_trees.structure_error(structure, tangents, "the primals", what).args)
    directions: list[Array | None] = []
    for number, (leaf, aval) in enumerate(zip(leaves, avals, strict=True)):
        if not is_inexact(aval):
            if getattr(leaf, "dtype", None) != dtypes.float0:
                raise error(
                    f"{what}: the tangent of a primal of type {aval} must have dtype float0, "
                    f"got {getattr(leaf, 'dtype', type(leaf).__name__)}"
                )
            directions.append(None)
            continue
        array = as_array(leaf, f"{what}: a tangent")
        same_shape = array.shape == aval.shape
        if not same_shape or array.dtype != aval.dtype:
            kind = error if same_shape else ValueError
            path = tree_util.keystr(tree_util.tree_leaves_with_path(tangents)[number][0])
            raise kind(
                f"{what}: tangents{path} has type {array.aval}; expected {aval}, as the primal has"
            )
        directions.append(array)
    return directions


def _with_float0(tangents: Sequence[Array], avals: Sequence[ShapedArray]) -> list[Any]:
    remaining = iter(tangents)
    return [
        next(remaining) if is_inexact(aval) else np.zeros(aval.shape, dtypes.float0)
        for aval in avals
    ]


@api_boundary
def linearize(
    fun: Callable[..., Any], *primals: Any, has_aux: bool = False, in_nzs: Any = None
) -> tuple[Any, ...]:
    """Return the value of `fun`, and its derivative there as a linear function of the tangents.

    The work that does not depend on the tangents is done once.

    Args:
        fun: a function of pytrees of arrays.
        primals: its arguments.
        has_aux: `fun` returns `(result, aux)`, and aux is not differentiated.
        in_nzs: False for arguments whose tangents count as zero, as for `vjp`;
            `pushforward.out_nzs` tells which results have a derivative in the others.

    Returns:
        `(result, pushforward)`, or `(result, pushforward, aux)`: `pushforward(*tangents)` returns
        the result's tangent.

    Raises:
        TypeError: `fun` is not a function, or `primals` are not arrays of floats or complex
            numbers.

    >>> y, push = linearize(lambda x: x * x, 3.0)
    >>> push(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    check_callable(fun, "linearize")
    nonzero = _nonzero("linearize", in_nzs, primals)
    fun = fun if nonzero is None else perturbed.held(fun, nonzero)
    traced_call = TracedCall(
        "linearize",
        _checked(fun, "linearize", has_aux),
        primals,
        inputs=differentiated_inputs,
        scope=Scope.OWN,
    )
    traced, arrays = traced_call.traced, traced_call.arrays
    num_results = _num_results(traced_call.out_tree, has_aux)
    derive = functools.partial(api.linearize, pushes=True)
    linearized, outputs, residuals = _forward_pass(traced_call, num_results, derive)
    result = outputs[0] if has_aux else outputs
    push = _Pushforward(
        traced.builder,
        linearized.linear,
        tuple(x.aval for x in arrays),
        tuple(traced.results[:num_results]),
        array_trees.tree_structure(primals),
        array_trees.tree_structure(result),
    )
    pushforward = tree_util.Partial(push, residuals)
    if in_nzs is not None:
        vars(pushforward)["out_nzs"] = _finder(traced_call, push.out_tree)()
    return (result, pushforward, outputs[1]) if has_aux else (result, pushforward)


@dataclass(frozen=True, eq=False)
class _Pushforward:
    """A linearized function without its residuals: the static part of what `linearize` returns."""

    builder: ModuleBuilder
    name: str
    inputs: tuple[ShapedArray, ...]
    results: tuple[ShapedArray, ...]
    in_tree: Any
    out_tree: Any

    @api_boundary
    def __call__(self, residuals: Sequence[Array], *tangents: Any) -> Any:
        directions = _directions("linearize", tangents, self.in_tree, self.inputs, ValueError)
        operands = [*residuals, *(d for d in directions if d is not None)]
        weak = [aval.weak_type for aval in self.results if is_inexact(aval)]
        found = call(self.builder, self.name, operands, weak)
        return array_trees.tree_unflatten(self.out_tree, _with_float0(found, self.results))
