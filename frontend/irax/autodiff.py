"""Differentiation: each function here traces, runs a pass on what was traced, and calls what came
out of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.array import Array, ConcreteArray, as_array
from irax.aval import ShapedArray
from irax.batching import vmap
from irax.flat import (
    FlatFunction,
    argument_names,
    bind_others,
    known_inputs,
    name_of,
    normalize_argnums,
)
from irax.tracing import ModuleBuilder, Traced, call, trace_function
from irax_compiler.ops.control_flow import Linearized
from irax_compiler.passes.jvp import JvpDeriver
from irax_compiler.passes.linearize import LinearizeDeriver
from irax_compiler.passes.vjp import derive_vjp

ArgNums = int | Sequence[int]


def _trace_known(
    function: Callable[..., Any], args: tuple[Any, ...], kind: str, what: str
) -> tuple[Traced, FlatFunction, list[Array]]:
    """Traces a function for these very arguments, all of them pytrees of arrays."""
    leaves, tree = tree_util.tree_flatten((args, {}))
    names = argument_names(args)
    arrays = [as_array(x, f"{what}: {n}") for x, n in zip(leaves, names, strict=True)]
    flat = FlatFunction(function, tree)
    traced = trace_function(flat, known_inputs(arrays, names), kind, name_of(function))
    return traced, flat, arrays


# ---- reverse mode --------------------------------------------------------------------------------


def grad(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The function that computes the gradient of a scalar-valued `fun`.

    Args:
        fun: takes pytrees of arrays; returns a real scalar, or `(scalar, aux)` with `has_aux`.
        argnums: which positional arguments to differentiate with respect to.
        has_aux: return `(gradient, aux)`.
        holomorphic: `fun` is a holomorphic function of complex arguments; without it the result is
            real, and the gradient with respect to a complex z = x + iy is df/dx - i df/dy.
        allow_int: allow integer arguments; their gradients have dtype float0.

    Returns:
        A function of the same arguments that returns the gradient: of the structure, shapes and
        dtypes of the argument, or a tuple of them where `argnums` is a sequence.

    Raises:
        TypeError: on a call, for a result that is not a real scalar, or an argument that is not
            floating-point.

    >>> grad(lambda x: x**2)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    transformed = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun, updated=())
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, grads = transformed(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return gradient


def value_and_grad(
    fun: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """Like `grad`, for the value and the gradient: `(value, gradient)`, or `((value, aux),
    gradient)` with `has_aux`.

    >>> value_and_grad(lambda x: x**2)(3.0)[0]
    Array(9., dtype=float32, weak_type=True)
    """
    _check_callable(fun, "grad")

    @functools.wraps(fun, updated=())
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        numbers = normalize_argnums(argnums, len(args), "grad")
        chosen = tuple(args[i] for i in numbers)
        _check_differentiable(chosen, numbers, "grad", allow_int, "c" if holomorphic else "fc")
        function = bind_others(fun, args, kwargs, numbers)
        check = functools.partial(_check_scalar, holomorphic=holomorphic)
        outputs, pullback = _vjp(function, chosen, "grad", has_aux, check)
        value = outputs[0] if has_aux else outputs
        cotangent = ConcreteArray(np.ones((), value.dtype), value.weak_type)
        grads = pullback(cotangent)
        return outputs, (grads[0] if isinstance(argnums, int | np.integer) else grads)

    return value_and_gradient


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `fun` and the function that pulls cotangents of it back to its arguments.

    Args:
        fun: a function of pytrees of arrays.
        primals: its arguments.
        has_aux: `fun` returns `(result, aux)`, and aux is not differentiated.

    Returns:
        `(result, pullback)`, or `(result, pullback, aux)`: `pullback(cotangent)` takes what has
        the structure of the result and returns a tuple with a cotangent for each argument.

    >>> y, pullback = vjp(lambda x: x * x, 3.0)
    >>> pullback(1.0)
    (Array(6., dtype=float32, weak_type=True),)
    """
    _check_callable(fun, "vjp")
    outputs, pullback = _vjp(fun, primals, "vjp", has_aux, None)
    return (outputs[0], pullback, outputs[1]) if has_aux else (outputs, pullback)


def _vjp(
    function: Callable[..., Any],
    primals: tuple[Any, ...],
    what: str,
    has_aux: bool,
    check: Callable[[Any, bool], None] | None,
) -> tuple[Any, Any]:
    """The outputs of `function` and its pullback, as a pytree that holds the residuals."""
    num_results = 0

    @functools.wraps(function, updated=())
    def checked(*args: Any) -> Any:
        nonlocal num_results
        out = function(*args)
        if has_aux and not (isinstance(out, tuple) and len(out) == 2):
            raise TypeError(
                f"{what}: with has_aux=True, {name_of(function)} must return a pair (result, aux), "
                f"got {type(out).__name__}"
            )
        if check is not None:
            check(out, has_aux)
        num_results = len(tree_util.tree_leaves(out[0] if has_aux else out))
        return out

    traced, flat, arrays = _trace_known(checked, primals, what, what)
    active = tuple(_is_inexact(x.aval) for x in arrays) + (False,) * len(traced.captures)
    wanted = tuple(i < num_results and _is_inexact(aval) for i, aval in enumerate(traced.results))
    reverse = derive_vjp(traced.builder.module, traced.name, active, wanted)
    values = call(traced.builder, reverse.forward, [*arrays, *traced.captures], traced.weak)
    count = len(traced.results)
    outputs = tree_util.tree_unflatten(flat.out_tree, values[:count])
    result = outputs[0] if has_aux else outputs
    pullback = _Pullback(
        traced.builder,
        reverse.backward,
        tuple(x.aval for x in arrays),
        tuple(traced.results[:num_results]),
        tree_util.tree_structure((primals, {})),
        tree_util.tree_structure(result),
    )
    return outputs, tree_util.Partial(pullback, values[count:])


@dataclass(frozen=True, eq=False)
class _Pullback:
    """What a pullback is but for its residuals."""

    builder: ModuleBuilder
    name: str
    inputs: tuple[ShapedArray, ...]
    results: tuple[ShapedArray, ...]
    in_tree: Any
    out_tree: Any

    def __call__(self, residuals: Sequence[Array], cotangent: Any) -> tuple[Any, ...]:
        cotangents = _matching(cotangent, self.out_tree, self.results, "vjp: the cotangent")
        weak = [aval.weak_type for aval in self.inputs if _is_inexact(aval)]
        found = iter(call(self.builder, self.name, [*residuals, *cotangents], weak))
        leaves = [
            next(found) if _is_inexact(aval) else np.zeros(aval.shape, dtypes.float0)
            for aval in self.inputs
        ]
        args, _ = tree_util.tree_unflatten(self.in_tree, leaves)
        return args


def _matching(tree: Any, structure: Any, avals: Sequence[ShapedArray], what: str) -> list[Array]:
    """The inexact leaves of `tree`, checked against the structure and types they must have."""
    leaves, given = tree_util.tree_flatten(tree)
    if given != structure:
        raise ValueError(f"{what} has structure {given}; expected that of the result, {structure}")
    arrays = []
    for leaf, aval in zip(leaves, avals, strict=True):
        if not _is_inexact(aval):
            continue
        array = as_array(leaf, what)
        if array.shape != aval.shape:
            raise ValueError(f"{what} has type {array.aval}; expected {aval}, as the result has")
        if array.dtype != aval.dtype:
            if not array.weak_type:
                raise TypeError(f"{what} has type {array.aval}; expected {aval}")
            array = array.astype(aval.dtype)
        arrays.append(array)
    return arrays


# ---- forward mode --------------------------------------------------------------------------------


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """The value of `fun` and its derivative along `tangents`.

    Args:
        fun: a function of pytrees of arrays.
        primals: its arguments, a tuple or list.
        tangents: a direction for each: the structure, shapes and dtypes of `primals`; dtype float0
            for integers.
        has_aux: `fun` returns `(result, aux)`, and aux is not differentiated.

    Returns:
        `(result, tangent)`, or `(result, tangent, aux)`.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))[1]
    Array(6., dtype=float32, weak_type=True)
    """
    _check_callable(fun, "jvp")
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
    traced, flat, arrays = _trace_known(fun, primals, "jvp", "jvp")
    structure = tree_util.tree_structure(primals)
    directions = _directions(tangents, structure, [x.aval for x in arrays])
    active = tuple(d is not None for d in directions) + (False,) * len(traced.captures)
    wanted = tuple(map(_is_inexact, traced.results))
    name = (
        JvpDeriver(traced.builder.module, {traced.name: wanted}).function(traced.name, active).name
    )
    operands = [*arrays, *traced.captures, *(d for d in directions if d is not None)]
    weak = [*traced.weak, *(a.weak_type for a in traced.results if _is_inexact(a))]
    values = call(traced.builder, name, operands, weak)
    count = len(traced.results)
    outputs = tree_util.tree_unflatten(flat.out_tree, values[:count])
    push = tree_util.tree_unflatten(flat.out_tree, _with_float0(values[count:], traced.results))
    return (push[0] if has_aux else push), outputs


def _directions(tangents: Any, structure: Any, avals: Sequence[ShapedArray]) -> list[Array | None]:
    """A tangent for each argument, None for those of integer type."""
    leaves, given = tree_util.tree_flatten(tangents)
    if given != structure:
        raise TypeError(
            f"jvp: the tangents have structure {given}; expected that of the primals, {structure}"
        )
    directions: list[Array | None] = []
    for leaf, aval in zip(leaves, avals, strict=True):
        if not _is_inexact(aval):
            if getattr(leaf, "dtype", None) != dtypes.float0:
                raise TypeError(
                    f"jvp: the tangent of a primal of type {aval} must have dtype float0, "
                    f"got {getattr(leaf, 'dtype', type(leaf).__name__)}"
                )
            directions.append(None)
            continue
        array = as_array(leaf, "jvp: a tangent")
        if array.shape != aval.shape or (array.dtype != aval.dtype and not array.weak_type):
            raise TypeError(f"jvp: a tangent has type {array.aval}; expected {aval}")
        directions.append(array if array.dtype == aval.dtype else array.astype(aval.dtype))
    return directions


def _with_float0(tangents: Sequence[Array], avals: Sequence[ShapedArray]) -> list[Any]:
    remaining = iter(tangents)
    return [
        next(remaining) if _is_inexact(aval) else np.zeros(aval.shape, dtypes.float0)
        for aval in avals
    ]


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `fun` and its derivative there, as a linear function of the tangents.

    The work that does not depend on the tangents is done once.

    >>> y, push = linearize(lambda x: x * x, 3.0)
    >>> push(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    _check_callable(fun, "linearize")
    traced, flat, arrays = _trace_known(fun, primals, "linearize", "linearize")
    active = tuple(_is_inexact(x.aval) for x in arrays) + (False,) * len(traced.captures)
    wanted = tuple(map(_is_inexact, traced.results))
    deriver = LinearizeDeriver(traced.builder.module, {traced.name: wanted})
    linearized = deriver.function(traced.name, active)
    assert isinstance(linearized, Linearized)
    values = call(traced.builder, linearized.name, [*arrays, *traced.captures], traced.weak)
    count = len(traced.results)
    push = _Pushforward(
        traced.builder,
        linearized.linear,
        tuple(x.aval for x in arrays),
        tuple(traced.results),
        tree_util.tree_structure(primals),
        flat.out_tree,
    )
    outputs = tree_util.tree_unflatten(flat.out_tree, values[:count])
    return outputs, tree_util.Partial(push, values[count:])


@dataclass(frozen=True, eq=False)
class _Pushforward:
    """What a linearized function is but for its residuals."""

    builder: ModuleBuilder
    name: str
    inputs: tuple[ShapedArray, ...]
    results: tuple[ShapedArray, ...]
    in_tree: Any
    out_tree: Any

    def __call__(self, residuals: Sequence[Array], *tangents: Any) -> Any:
        directions = _directions(tangents, self.in_tree, self.inputs)
        operands = [*residuals, *(d for d in directions if d is not None)]
        weak = [aval.weak_type for aval in self.results if _is_inexact(aval)]
        found = call(self.builder, self.name, operands, weak)
        return tree_util.tree_unflatten(self.out_tree, _with_float0(found, self.results))


# ---- Jacobians -----------------------------------------------------------------------------------


def jacfwd(
    fun: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that computes the Jacobian of `fun` in forward mode, a column at a time: the
    better choice where there are more results than arguments.

    Returns:
        A function that returns, for each leaf of the result, a pytree like the argument, with
        arrays of shape `result.shape + argument.shape`.

    >>> jacfwd(lambda x: x**2)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    _check_callable(fun, "jacfwd")

    @functools.wraps(fun, updated=())
    def jacobian_forward(*args: Any, **kwargs: Any) -> Any:
        numbers = normalize_argnums(argnums, len(args), "jacfwd")
        chosen = tuple(args[i] for i in numbers)
        _check_differentiable(chosen, numbers, "jacfwd", allow_int=False)
        function = bind_others(fun, args, kwargs, numbers)

        def push(*tangents: Any) -> Any:
            value, *rest = jvp(function, chosen, tangents, has_aux=has_aux)
            return (rest[0], rest[1]) if has_aux else (rest[0], value)

        columns, extra = vmap(push, out_axes=(-1, None))(*_basis(chosen))
        jacobian = tree_util.tree_map(
            lambda column: _split_axis(column, chosen, -1, argnums), columns
        )
        return (jacobian, extra) if has_aux else jacobian

    return jacobian_forward


def jacrev(
    fun: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that computes the Jacobian of `fun` in reverse mode, a row at a time: the better
    choice where there are more arguments than results. It returns what `jacfwd` does.

    >>> jacrev(lambda x: x**2)(3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    _check_callable(fun, "jacrev")

    @functools.wraps(fun, updated=())
    def jacobian_reverse(*args: Any, **kwargs: Any) -> Any:
        numbers = normalize_argnums(argnums, len(args), "jacrev")
        chosen = tuple(args[i] for i in numbers)
        _check_differentiable(chosen, numbers, "jacrev", allow_int=False)
        function = bind_others(fun, args, kwargs, numbers)
        result, pullback, *aux = vjp(function, *chosen, has_aux=has_aux)
        (basis,) = _basis((result,))
        rows = vmap(pullback)(basis)
        rows = rows[0] if isinstance(argnums, int | np.integer) else rows
        # One pytree like the result for each leaf of the argument: turn it inside out.
        jacobian = tree_util.tree_map(lambda row: _split_axis(row, (result,), 0, 0), rows)
        inner = tree_util.tree_structure(result)
        outer = tree_util.tree_structure(rows)
        jacobian = tree_util.tree_transpose(outer, inner, jacobian)
        return (jacobian, aux[0]) if has_aux else jacobian

    return jacobian_reverse


jacobian = jacrev


def hessian(
    fun: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that computes the Hessian of `fun`: forward over reverse mode.

    >>> hessian(lambda x: x**3)(2.0)
    Array(12., dtype=float32, weak_type=True)
    """
    return jacfwd(jacrev(fun, argnums, has_aux), argnums, has_aux)


def _basis(trees: tuple[Any, ...]) -> tuple[Any, ...]:
    """The unit vectors of a space of pytrees, along a new first axis of every leaf."""
    leaves, structure = tree_util.tree_flatten(trees)
    arrays = [as_array(x) for x in leaves]
    total = sum(x.size for x in arrays)
    columns, start = [], 0
    for x in arrays:
        block = np.zeros((total, x.size), x.dtype)
        block[start : start + x.size] = np.eye(x.size)
        columns.append(ConcreteArray(block.reshape(total, *x.shape), x.weak_type))
        start += x.size
    return tree_util.tree_unflatten(structure, columns)


def _split_axis(x: Array, trees: tuple[Any, ...], axis: int, argnums: Any) -> Any:
    """Cuts an axis that runs over all elements of `trees` into a pytree like them."""
    import irax.numpy as jnp

    leaves, structure = tree_util.tree_flatten(trees)
    arrays = [as_array(leaf) for leaf in leaves]
    position = axis % x.ndim
    edges = np.cumsum([leaf.size for leaf in arrays])[:-1]
    parts = [
        jnp.reshape(part, (*x.shape[:position], *leaf.shape, *x.shape[position + 1 :]))
        for part, leaf in zip(jnp.split(x, edges.tolist(), axis=position), arrays, strict=True)
    ]
    split = tree_util.tree_unflatten(structure, parts)
    return split[0] if isinstance(argnums, int | np.integer) else split


# ---- checks --------------------------------------------------------------------------------------


def _is_inexact(aval: ShapedArray) -> bool:
    return dtypes.issubdtype(aval.dtype, np.inexact)


def _check_callable(fun: Any, what: str) -> None:
    if not callable(fun):
        raise TypeError(f"{what}: expected a function, got {fun!r} of type {type(fun).__name__}")


def _check_differentiable(
    chosen: Sequence[Any],
    numbers: Sequence[int],
    what: str,
    allow_int: bool,
    kinds: str = "f",
) -> None:
    for number, tree in zip(numbers, chosen, strict=True):
        for path, leaf in tree_util.tree_leaves_with_path(tree):
            aval = as_array(leaf, f"{what}: args[{number}]{tree_util.keystr(path)}").aval
            if not _is_inexact(aval) and not allow_int:
                raise TypeError(
                    f"{what}: args[{number}]{tree_util.keystr(path)} has type {aval}; expected a "
                    "floating-point array, because integers have no derivative: pass a float (such "
                    "as 3.0), convert it with .astype(float), or leave the argument out of argnums"
                )
            is_complex = aval.dtype.kind == "c"
            if is_complex and "c" not in kinds:
                raise TypeError(
                    f"{what}: args[{number}]{tree_util.keystr(path)} has type {aval}; expected a "
                    "real one: for complex arguments use grad, jvp or vjp"
                )
            if not is_complex and kinds == "c":
                raise TypeError(
                    f"{what}: args[{number}]{tree_util.keystr(path)} has type {aval}; expected a "
                    "complex one, as holomorphic=True says"
                )


def _check_scalar(out: Any, has_aux: bool, holomorphic: bool = False) -> None:
    value = out[0] if has_aux else out
    if not isinstance(value, Array | np.ndarray | np.generic | bool | int | float | complex):
        hint = ""
        if not has_aux and isinstance(value, tuple) and len(value) == 2:
            hint = "; to return further values beside the scalar, use has_aux=True"
        raise TypeError(
            f"grad: the function must return a scalar, got {type(value).__name__} {value!r}{hint}"
        )
    aval = as_array(value).aval
    if aval.shape != ():
        raise TypeError(
            f"grad: the function must return a scalar, got an array of shape {aval.shape}; reduce "
            "it (for example with irax.numpy.sum), or use jacrev or vjp"
        )
    if holomorphic and aval.dtype.kind != "c":
        raise TypeError(
            f"grad: with holomorphic=True the function must return a complex scalar, got dtype "
            f"{aval.dtype}"
        )
    if not holomorphic and not dtypes.issubdtype(aval.dtype, np.floating):
        raise TypeError(
            f"grad: the function must return a real floating-point scalar, got dtype {aval.dtype}"
            + ("; for a holomorphic function pass holomorphic=True" * (aval.dtype.kind == "c"))
        )
