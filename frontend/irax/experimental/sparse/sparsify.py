"""sparsify: functions of dense arrays applied to sparse ones.

The function is traced to a jaxpr for the types of the dense arrays, which is then run equation by
equation: an operation on sparse arrays by its rule, any other as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import irax.numpy as jnp
from irax import tree_util
from irax.core.array import as_array
from irax.core.avals import ShapeDtypeStruct
from irax.core.tracebacks import api_boundary
from irax.core.wrapping import wraps
from irax.experimental.sparse.arithmetic import add, divide, in_coordinates, multiply, subtract
from irax.experimental.sparse.bcoo import BCOO
from irax.experimental.sparse.forms import JAXSparse
from irax.experimental.sparse.layouts import bcoo_update_layout
from irax.experimental.sparse.parts import bcoo_concatenate, bcoo_dynamic_slice, bcoo_slice
from irax.experimental.sparse.products import bcoo_dot_general, elementwise
from irax.experimental.sparse.structure import (
    bcoo_broadcast_in_dim,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_transpose,
)
from irax.experimental.sparse.windows import bcoo_conv_general_dilated, bcoo_gather
from irax.jaxprs.language import Atom, Jaxpr, JaxprEqn, Literal
from irax.jaxprs.make import make_jaxpr
from irax.jaxprs.primitives import FormPrimitive, OpPrimitive, call_p, cond_p, scan_p, while_p
from irax.lax.control_flow.branches import switch
from irax.lax.control_flow.loops import while_loop
from irax.lax.control_flow.scans import scan

Rule: TypeAlias = Callable[..., Any]
"""Takes the operands of an equation, sparse arrays in coordinate form among them, and its
parameters; returns the result."""


def is_sparse(x: Any) -> bool:
    """Return True for a sparse array."""
    return isinstance(x, JAXSparse)


@api_boundary
def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """Return a function that takes sparse arrays where `f` takes dense ones.

    Operations that keep zeros have sparse results; products with dense arrays have dense ones.

    Args:
        f: a function of pytrees of arrays.
        use_tracer: accepted, without effect.

    Returns:
        A function with the same arguments, where arrays may be sparse.

    Raises:
        NotImplementedError: on a call, where an operation on a sparse array has no rule.

    >>> from irax.experimental import sparse
    >>> x = sparse.BCOO.fromdense(irax.numpy.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> sparse.sparsify(lambda x: irax.numpy.sin(x).T * 2.0)(x)
    BCOO(float32[2, 2], nse=2)
    """

    @api_boundary
    @wraps(f)
    def sparsified(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = tree_util.tree_flatten((args, kwargs), is_leaf=is_sparse)
        if not any(map(is_sparse, leaves)):
            return f(*args, **kwargs)
        structs = [
            ShapeDtypeStruct(x.shape, x.dtype) if is_sparse(x) else as_array(x) for x in leaves
        ]

        def flat(*arrays: Any) -> Any:
            own, named = tree_util.tree_unflatten(tree, arrays)
            return f(*own, **named)

        closed, results = make_jaxpr(flat, return_shape=True)(*structs)
        found = run(closed, [in_coordinates(x) if is_sparse(x) else as_array(x) for x in leaves])
        return tree_util.tree_unflatten(tree_util.tree_structure(results), found)

    return sparsified


def run(closed: Jaxpr, args: Sequence[Any]) -> list[Any]:
    """Return the results of a jaxpr for arrays, sparse ones among them."""
    jaxpr = closed.jaxpr
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))

    def read(atom: Atom) -> Any:
        return as_array(atom.val) if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        env.update(zip(eqn.outvars, _equation(eqn, [read(v) for v in eqn.invars]), strict=True))
    return [read(v) for v in jaxpr.outvars]


def _equation(eqn: JaxprEqn, args: list[Any]) -> list[Any]:
    if not any(map(is_sparse, args)):
        return _applied(eqn, args)
    structured = _STRUCTURED.get(eqn.primitive)
    if structured is not None:
        return structured(args, **eqn.params)
    rule = _RULES.get(eqn.primitive.name)
    if rule is not None:
        return [rule(*args, **eqn.params)]
    if len(args) == 1 and _keeps_zero(eqn, args[0]):
        op = eqn.primitive.made(eqn.params, args)
        return [elementwise(args[0], lambda x: _applied(eqn, [x])[0], op.is_linear_in([0]))]
    if "jaxpr" in eqn.params:  # the call of a function, with rules for its derivatives
        return run(eqn.params["jaxpr"], args)
    raise NotImplementedError(
        f"sparsify: the operation {eqn.primitive.name!r} has no rule for sparse arrays: it is "
        "applied to an array that todense() has to make dense before"
    )


def _applied(eqn: JaxprEqn, args: Sequence[Any]) -> list[Any]:
    params = eqn.primitive.get_bind_params(eqn.params)
    found = eqn.primitive.bind(*args, **params)
    return list(found) if eqn.primitive.multiple_results else [found]


def _keeps_zero(eqn: JaxprEqn, operand: Any) -> bool:
    """Return True if an equation is an elementwise function that is zero at zero."""
    is_op = isinstance(eqn.primitive, OpPrimitive | FormPrimitive)
    if not is_op or eqn.outvars[0].aval.shape != operand.shape:
        return False
    try:
        (zero,) = _applied(eqn, [jnp.zeros((), operand.dtype)])
    except (TypeError, ValueError):  # it needs dimensions
        return False
    return zero.shape == () and not bool(zero)


# ---- operations ----------------------------------------------------------------------------------


def _transpose(x: BCOO, *, permutation: Sequence[int]) -> BCOO:
    return bcoo_transpose(x, permutation=permutation)


def _reduce_sum(x: BCOO, *, axes: Sequence[int], **_: Any) -> Any:
    found = bcoo_reduce_sum(x, axes=axes)
    return found if found.ndim else found.todense()


def _broadcast_in_dim(
    x: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], **_: Any
) -> BCOO:
    return bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=broadcast_dimensions)


def _reshape(x: BCOO, *, new_sizes: Sequence[int], **_: Any) -> BCOO:
    """Dimensions of length 1 come and go whatever they are; others are sparse."""
    kept = [n for n in x.shape if n != 1]
    if kept == [n for n in new_sizes if n != 1]:
        ones = [d for d, n in enumerate(x.shape) if n == 1]
        squeezed = bcoo_reduce_sum(x, axes=ones) if ones else x
        places = [d for d, n in enumerate(new_sizes) if n != 1]
        return bcoo_broadcast_in_dim(squeezed, shape=new_sizes, broadcast_dimensions=places)
    return bcoo_reshape(x, new_sizes=new_sizes)


def _concatenate(*xs: Any, dimension: int) -> BCOO:
    layouts = [(x.n_batch, x.n_dense) for x in xs if is_sparse(x)]
    n_batch, n_dense = (min(column) for column in zip(*layouts, strict=True))
    operands = [
        bcoo_update_layout(x, n_batch=n_batch, n_dense=n_dense)
        if is_sparse(x)
        else BCOO.fromdense(x, nse=_places(x, n_batch, n_dense), n_batch=n_batch, n_dense=n_dense)
        for x in xs
    ]
    return bcoo_concatenate(operands, dimension=dimension)


def _places(x: Any, n_batch: int, n_dense: int) -> int:
    """The number of places in the dimensions that are to be sparse."""
    found = 1
    for n in x.shape[n_batch : x.ndim - n_dense]:
        found *= n
    return found


def _slice(x: BCOO, **params: Any) -> BCOO:
    return bcoo_slice(x, **params)


def _dynamic_slice(x: BCOO, *starts: Any, slice_sizes: Sequence[int]) -> BCOO:
    return bcoo_dynamic_slice(x, starts, slice_sizes)


def _rev(x: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    return bcoo_rev(x, dimensions)


def _dot_general(
    x: Any, y: Any, *, dimension_numbers: Any, preferred_element_type: Any, **_: Any
) -> Any:
    return bcoo_dot_general(
        x,
        y,
        dimension_numbers=dimension_numbers,
        preferred_element_type=preferred_element_type,
    )


def _gather(
    x: BCOO, indices: Any, *, dimension_numbers: Any, slice_sizes: Sequence[int], **_: Any
) -> BCOO:
    if is_sparse(indices):
        raise NotImplementedError("sparsify: the indices of a gather must be dense")
    return bcoo_gather(x, indices, dimension_numbers, slice_sizes, mode="clip")


def _convolution(
    x: Any,
    kernel: Any,
    *,
    dimension_numbers: Any,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    feature_group_count: int,
    batch_group_count: int,
    **_: Any,
) -> BCOO:
    if any(tuple(order) != (0, 1, 2) for order in dimension_numbers):
        raise NotImplementedError(
            "sparsify: a convolution whose dimensions are in another order than 'NCW', 'OIW' and "
            "'NCW'"
        )
    return bcoo_conv_general_dilated(
        x,
        kernel,
        window_strides=window_strides,
        padding=padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
    )


_RULES: dict[str, Rule] = {
    "add": lambda x, y: add(x, y),
    "sub": lambda x, y: subtract(x, y),
    "mul": lambda x, y: multiply(x, y),
    "div": lambda x, y: divide(x, y),
    "dot_general": _dot_general,
    "transpose": _transpose,
    "reduce_sum": _reduce_sum,
    "broadcast_in_dim": _broadcast_in_dim,
    "reshape": _reshape,
    "concatenate": _concatenate,
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "rev": _rev,
    "gather": _gather,
    "conv_general_dilated": _convolution,
}

# ---- control flow --------------------------------------------------------------------------------


def _call(args: list[Any], *, jaxpr: Jaxpr, **_: Any) -> list[Any]:
    return run(jaxpr, args)


def _cond(args: list[Any], *, branches: Sequence[Jaxpr], **_: Any) -> list[Any]:
    def branch(jaxpr: Jaxpr) -> Callable[..., Any]:
        return lambda *operands: run(jaxpr, operands)

    index, *operands = args
    number = as_array(index).astype("int32")
    return list(switch(number, [branch(b) for b in branches], *operands))


def _while(
    args: list[Any],
    *,
    cond_jaxpr: Jaxpr,
    body_jaxpr: Jaxpr,
    cond_nconsts: int,
    body_nconsts: int,
) -> list[Any]:
    first, second = cond_nconsts, cond_nconsts + body_nconsts
    return list(
        while_loop(
            lambda state: run(cond_jaxpr, [*args[:first], *state])[0],
            lambda state: run(body_jaxpr, [*args[first:second], *state]),
            args[second:],
        )
    )


def _scan(
    args: list[Any],
    *,
    jaxpr: Jaxpr,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    **_: Any,
) -> list[Any]:
    consts, rest = args[:num_consts], args[num_consts:]
    init, xs = rest[:num_carry], rest[num_carry:]
    if any(map(is_sparse, xs)):
        raise NotImplementedError(
            "sparsify: scan over the rows of a sparse array: give it as an argument of the body, "
            "and index it there"
        )

    def step(carry: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        found = run(jaxpr, [*consts, *carry, *row])
        return found[:num_carry], found[num_carry:]

    carry, ys = scan(step, init, xs, length, reverse)
    return [*carry, *ys]


_STRUCTURED: dict[Any, Callable[..., list[Any]]] = {
    call_p: _call,
    cond_p: _cond,
    while_p: _while,
    scan_p: _scan,
}
