"""custom_vjp: a function with a rule for reverse mode; and custom_gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, cast

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.dispatch import call
from irax.core.module_builder import deriving
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Known, Traced, trace_function
from irax.core.trees import array_trees
from irax.core.trees.flattening import FlatFunction, name_of, returned_arrays
from irax.core.wrapping import wraps
from irax.transforms.custom_arguments import Arguments, check_cotangents, is_inexact, of_type
from irax.transforms.custom_refs import RefCall
from irax.transforms.custom_rules import Ruled
from irax.transforms.deferred_rules import RuleCall
from irax.transforms.symbolic_zeros import CustomVJPPrimal, SymbolicZero, zeros
from irax_compiler.ops.control_flow.custom_rules import CustomVjp
from irax_compiler.ops.control_flow.deferred_rules import BACKWARDS, DeferredVjp, ForwardRuled


class custom_vjp(Ruled):
    """A function with a rule for reverse mode.

    Args:
        fun: a function of pytrees of arrays.
        nondiff_argnums: positions of arguments that are not differentiated; `fwd` gets them where
            they are, `bwd` gets them first.
        nondiff_argnames: their names, likewise.

    >>> @irax.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -1, 1),))
    >>> irax.grad(lambda x: 5 * clipped(x))(3.0)
    Array(1., dtype=float32, weak_type=True)
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    @api_boundary
    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Sets the rules: `fwd(*args)` returns the result and residuals (a pytree of arrays);
        `bwd(*nondiff, residuals, cotangent)` a tuple with a cotangent for each argument, or None
        where it is zero. Cotangents that are floats of another dtype than the argument are
        converted to it.

        With `symbolic_zeros`, `fwd` gets a `CustomVJPPrimal` for each array, which says whether a
        derivative is taken with respect to it, and `bwd` a `SymbolicZero` for each cotangent that
        is zero or of an integer result; `bwd` may return such zeros. `optimize_remat` is accepted
        for JAX's sake: what `fwd` computes and a checkpoint does not need again is always left out,
        and so is `generic_batching`: lanes of rules are always those of any function.
        """
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    @api_boundary
    def defremat(
        self,
        fwd: Callable[..., Any],
        rem: Callable[..., Any],
        bwd: Callable[..., Any],
        generic_batching: bool = False,
    ) -> None:
        """Set the rules in three parts: `fwd(*args)` returns the result and residuals to keep,
        `rem(residuals, *args)` the result and the residuals of `bwd`. A checkpoint keeps what its
        policy says, as of any function.

        Args:
            fwd: the forward pass.
            rem: what is computed after it.
            bwd: the backward pass, as of `defvjp`.
            generic_batching: of no effect, as of `defvjp`.
        """

        @wraps(fwd)
        def both(*args: Any, **kwargs: Any) -> Any:
            _, residuals = fwd(*args, **kwargs)
            return rem(residuals, *args, **kwargs)

        self.defvjp(both, bwd, generic_batching=generic_batching)

    @api_boundary
    def defvjp_with_logs(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Set the rules as `defvjp` does; `bwd` returns a pair of the cotangents and logs, which
        are left out.
        """

        @wraps(bwd)
        def cotangents(*args: Any) -> Any:
            found, _ = bwd(*args)
            return found

        options = symbolic_zeros, optimize_remat, generic_batching
        self.defvjp(fwd, cotangents, *options)

    def check_rules(self) -> None:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"custom_vjp: {name_of(self.fun)} has no rules yet: give it some by defvjp"
            )

    deferred = DeferredVjp

    def of_refs(self, call: RefCall) -> Ruled:
        assert self.fwd is not None
        assert self.bwd is not None
        ruled = custom_vjp(call.value)
        ruled.defvjp(call.forward(self.fwd), call.backward(self.bwd), symbolic_zeros=True)
        return ruled

    def operation(self, call: RuleCall) -> CustomVjp | ForwardRuled:
        count = call.given.num_perturbed
        first = call.first
        if first is not None:
            forward, fwd = cast("_FlatForward", first.rule), first.name
        else:
            forward = _FlatForward(self, call.given, call.results, call.out_tree)
            fwd = call.trace(forward, call.inputs, len(call.inputs), "fwd")
        backward = _Backward(self, call, forward)
        if call.is_written:
            bwd = backward([True] * sum(map(is_inexact, call.results)))
            return CustomVjp(call.function, fwd, bwd, count)
        call.builder.kept.append(backward)
        return ForwardRuled(call.function, fwd, backward.key, count)

    def before(self, given: Arguments) -> tuple[_FlatForward, list[Input]]:
        return _FlatForward(self, given), []


class _FlatForward:
    """`fwd` as a function of flat arrays: to results, then residuals."""

    def __init__(
        self,
        ruled: custom_vjp,
        given: Arguments,
        results: Sequence[ShapedArray] | None = None,
        out_tree: Any = None,
    ) -> None:
        """`results` and `out_tree` are those of the function; None if the rule is to tell them."""
        self.ruled, self.given, self.results = ruled, given, results
        self.out_tree = out_tree
        self.residual_tree: Any = None
        self.residuals: list[Any] = []
        """Numbers of Python stay what they are, and are no results."""

    def __call__(self, *leaves: Array) -> list[Array]:
        given, name = self.given, name_of(self.ruled.fun)
        primals = given.in_place(leaves)
        if self.ruled.symbolic_zeros:
            primals = list(map(CustomVJPPrimal, primals, given.moving))
        assert self.ruled.fwd is not None
        found = self.ruled.fwd(*given.joined(given.unflatten(primals)))
        if not (isinstance(found, tuple | list) and len(found) == 2):
            raise TypeError(
                f"custom_vjp: fwd of {name} must return a pair (result, residuals), got "
                f"{type(found).__name__}"
            )
        if self.results is None:
            values, self.out_tree = returned_arrays(found[0], f"fwd of {name}")
            self.results = [x.aval for x in values]
        out_leaves, structure = array_trees.tree_flatten(found[0])
        if structure != self.out_tree:
            raise TypeError(
                f"custom_vjp: fwd of {name} returned a result of structure {structure}; expected "
                f"that of the function's result, {self.out_tree}"
            )
        values = [
            of_type(x, a, name, "result") for x, a in zip(out_leaves, self.results, strict=True)
        ]
        kept, self.residual_tree = array_trees.tree_flatten(found[1])
        residuals = [
            x
            if type(x) in (bool, int, float, complex)
            else as_array(x, f"custom_vjp: a residual of {name}")
            for x in kept
        ]
        self.residuals = [Known.of(x) if isinstance(x, Array) else x for x in residuals]
        return [*values, *(x for x in residuals if isinstance(x, Array))]

    @property
    def arrays(self) -> list[Known]:
        """The residuals that are arrays."""
        return [x for x in self.residuals if isinstance(x, Known)]

    def unflatten(self, arrays: Sequence[Array]) -> Any:
        """The residuals, of those that are arrays."""
        remaining = iter(arrays)
        leaves = [next(remaining) if isinstance(x, Known) else x for x in self.residuals]
        return array_trees.tree_unflatten(self.residual_tree, leaves)


class _Backward:
    """`bwd`, as the compiler asks for it."""

    def __init__(self, ruled: custom_vjp, call: RuleCall, forward: _FlatForward) -> None:
        self.ruled, self.rule_call, self.forward = ruled, call, forward
        self.given, self.name = call.given, name_of(ruled.fun)
        self.key = f"{call.rules.key}.bwd#{id(self)}"
        self.lanes: dict[Any, Any] = {}
        BACKWARDS[self.key] = self

    def __call__(self, present: Sequence[bool]) -> str:
        call, forward = self.rule_call, self.forward
        shared = call.inputs[call.given.num_perturbed :]  # to the compiler, values from outside
        kept = [Input(x.aval, x, "a residual") for x in forward.arrays]
        inexact = [a for a in call.results if is_inexact(a)]
        given = [a for a, is_given in zip(inexact, present, strict=True) if is_given]
        zeros = iter(not is_given for is_given in present)
        is_zero = [next(zeros) if is_inexact(a) else True for a in call.results]

        def bwd(*leaves: Array) -> list[Array]:
            own = leaves[len(shared) :]
            residuals = forward.unflatten(own[: len(kept)])
            return self._run(residuals, own[len(kept) :], is_zero)

        inputs = [
            *(Input(x.aval) for x in shared),
            *kept,
            *(Input(a, None, "a cotangent") for a in given),
        ]
        here = replace(call, builder=deriving())
        return here.trace(bwd, inputs, len(shared), "bwd")

    def _run(
        self, residuals: Any, cotangents: Sequence[Array], is_zero: Sequence[bool]
    ) -> list[Array]:
        """Cotangents of the arguments that have one, of those of the results that are not zero."""
        call, name = self.rule_call, self.name
        rest = iter(cotangents)
        cts = [
            self._zero(a) if zero else next(rest)
            for a, zero in zip(call.results, is_zero, strict=True)
        ]
        cotangent = array_trees.tree_unflatten(call.out_tree, cts)
        assert self.ruled.bwd is not None
        found = self.ruled.bwd(*self.given.fixed, residuals, cotangent)
        args, numbers = self.given.placeholders, iter(range(len(self.given.avals)))
        check_cotangents(found, len(args), name)
        return [
            ct
            for arg, part in zip(args, found, strict=True)
            for ct in self._cotangents(part, arg, numbers)
        ]

    def _zero(self, aval: ShapedArray) -> Any:
        dtype = aval.dtype if is_inexact(aval) else dtypes.float0
        zero = SymbolicZero(ShapedArray(aval.shape, dtype))
        return zero if self.ruled.symbolic_zeros else zero.instantiate()

    def _cotangents(self, part: Any, arg: Any, remaining: Iterator[int]) -> list[Array]:
        """Cotangents of an argument, whose leaves have the next of the remaining numbers."""
        name = self.name
        objects, structure = array_trees.tree_flatten(arg)
        numbers = list(islice(remaining, len(objects)))
        given, there = array_trees.flatten_tangents(part)
        try:  # None may stand for the zeros of several arrays, an array for one alone
            leaves = array_trees.prefix_broadcast(part, arg)
        except ValueError:
            leaves = []
        if len(leaves) != len(numbers) or sum(x is not None for x in leaves) != len(given):
            raise TypeError(
                f"custom_vjp: bwd of {name} returned a cotangent of structure {there}; expected "
                f"that of the argument, {structure}"
            )
        avals, moving = self.given.avals, self.given.moving
        return [
            _cotangent(x, avals[n], name) for x, n in zip(leaves, numbers, strict=True) if moving[n]
        ]


def _cotangent(x: Any, aval: ShapedArray, name: str) -> Array:
    """Return what a rule gives for an array as an array; None and `SymbolicZero` are zeros."""
    if isinstance(x, SymbolicZero) and x.shape != aval.shape:
        raise ValueError(
            f"the rule of {name} returned zeros of shape {x.shape} as a cotangent; expected "
            f"{aval}, or None"
        )
    if x is None or isinstance(x, SymbolicZero):
        return zeros(aval)
    found = as_array(x, f"the rule of {name}: its cotangent")
    is_real = not dtypes.issubdtype(found.dtype, np.complexfloating)
    if is_real and (found.weak_type or dtypes.issubdtype(found.dtype, np.floating)):
        found = found.astype(aval.dtype)  # a rule may compute in another precision
    return of_type(found, aval, name, "cotangent", ValueError)


@api_boundary
def custom_gradient(
    fun: Callable[..., Any] | None = None, *, with_logs: bool = False, remat: bool = False
) -> Any:
    """A function whose derivative is the function that it returns beside its result.

    Args:
        fun: returns `(result, pullback)`; `pullback(cotangent)` returns a cotangent for each
            argument, a tuple of them where there are several. None for a decorator.
        with_logs: `pullback` returns a pair of the cotangents and logs, which are left out.
        remat: `fun` returns `(result, rem)`; `rem(*args)` returns the result and the pullback.

    >>> f = irax.custom_gradient(lambda x: (x * x, lambda ct: 10 * ct))
    >>> irax.grad(f)(3.0)
    Array(10., dtype=float32, weak_type=True)
    """
    if fun is None:
        return partial(custom_gradient, with_logs=with_logs, remat=remat)
    if remat:
        fun = _of_rem(fun)
    if with_logs:
        fun = _without_logs(fun)
    return _with_gradient(fun)


def _of_rem(fun: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fun)
    def after(*args: Any) -> Any:
        _, rem = fun(*args)
        return rem(*args)

    return after


def _without_logs(fun: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fun)
    def without(*args: Any) -> Any:
        out, pullback = fun(*args)
        return out, lambda ct: pullback(ct)[0]

    return without


def _with_gradient(fun: Callable[..., Any]) -> custom_vjp:
    @wraps(fun)
    def value(*args: Any) -> Any:
        return fun(*args)[0]

    def fwd(*args: Any) -> tuple[Any, Any]:
        out, pullback = fun(*args)
        leaves, tree = array_trees.tree_flatten(out)
        avals = [as_array(x).aval for x in leaves]
        return out, _Kept(pullback, tree, avals, len(args)).residuals()

    def bwd(residuals: Any, cotangent: Any) -> Any:
        return residuals(cotangent)

    ruled = custom_vjp(value)
    ruled.defvjp(fwd, bwd)
    return ruled


class _Kept:
    """A pullback that is a closure, traced where it was made; captured values are residuals."""

    def __init__(
        self,
        pullback: Callable[..., Any],
        out_tree: Any,
        avals: Sequence[ShapedArray],
        num_args: int,
    ) -> None:
        self.pullback, self.out_tree = pullback, out_tree
        self.avals, self.num_args = avals, num_args

    def residuals(self) -> Any:
        inputs = [Input(a, None, "a cotangent") for a in self.avals if is_inexact(a)]
        in_tree = array_trees.tree_structure(((0,) * len(inputs), {}))
        flat = FlatFunction(self._tuple, in_tree)
        traced = trace_function(flat, inputs, "custom_gradient", name_of(self.pullback))
        return tree_util.Partial(_CallTraced(traced, flat.out_tree, self.avals), traced.captures)

    def _tuple(self, *cts: Array) -> tuple[Any, ...]:
        rest = iter(cts)
        leaves = [next(rest) if is_inexact(a) else _float0(a) for a in self.avals]
        found = self.pullback(array_trees.tree_unflatten(self.out_tree, leaves))
        for_each = isinstance(found, tuple) and len(found) == self.num_args
        return found if for_each or self.num_args != 1 else (found,)


class _CallTraced:
    """Calls a traced pullback, given its captured values and a cotangent."""

    def __init__(self, traced: Traced, out_tree: Any, avals: Sequence[ShapedArray]) -> None:
        self.traced, self.out_tree, self.avals = traced, out_tree, avals

    def __call__(self, captures: Sequence[Array], cotangent: Any) -> Any:
        leaves, _ = array_trees.flatten_tangents(cotangent)
        cts = [as_array(x) for x, a in zip(leaves, self.avals, strict=True) if is_inexact(a)]
        traced = self.traced
        found = call(traced.builder, traced.name, [*cts, *captures], traced.weak)
        return array_trees.tree_unflatten(self.out_tree, found)


def _float0(aval: ShapedArray) -> np.ndarray:
    return np.zeros(aval.shape, dtypes.float0)
