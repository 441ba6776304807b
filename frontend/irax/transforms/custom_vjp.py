"""custom_vjp: a function with a rule for reverse mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, cast

import numpy as np

from irax import dtypes, tree_util
from irax.config import config
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.dtypes.promotion import convert
from irax.core.key_arrays import KeyArray
from irax.core.module_builder import deriving
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Input, Known
from irax.core.trees import array_trees
from irax.core.trees.flattening import name_of, returned_arrays
from irax.core.wrapping import wraps
from irax.transforms import slots
from irax.transforms.accumulators import NullAccum, ValAccum, collected
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
    logged: Callable[..., Any] | None = None
    """The rule that returns logs, too, where there is one."""
    accumulates = False
    """True if `bwd` adds cotangents to places that it gets, and returns none."""

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
        and so is `generic_batching`: where `bwd` gives cotangents by lane of `vmap` for an argument
        that lanes share, the first lane alone has those of results that lanes share.
        """
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros
        self.accumulates, self.logged = False, None

    def _log_by(self, bwd: Callable[..., Any]) -> None:
        """The rule that was set has logs, which `bwd` returns."""
        slots.expect_rules_with_logs()
        self.logged = bwd

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
        """Set the rules as `defvjp` does; `bwd` returns a pair of the cotangents and logs: a dict
        of pytrees of arrays, or None. `vjp(f, *primals)[1].with_logs` returns them; without it they
        are left out.

        >>> @irax.custom_vjp
        ... def f(x):
        ...     return 2 * x
        >>> f.defvjp_with_logs(lambda x: (f(x), None), lambda _, ct: ((2 * ct,), {"ct": ct}))
        >>> irax.vjp(f, 1.0)[1].with_logs(3.0)[1]["ct"]
        Array(3., dtype=float32)
        """
        without = slots.without_logs(bwd)
        self.defvjp(fwd, without, symbolic_zeros, optimize_remat, generic_batching)
        self._log_by(bwd)

    @api_boundary
    def defremat_with_logs(
        self,
        fwd: Callable[..., Any],
        rem: Callable[..., Any],
        bwd: Callable[..., Any],
        generic_batching: bool = False,
    ) -> None:
        """Set the rules as `defremat` does; `bwd` returns a pair of the cotangents and logs, as of
        `defvjp_with_logs`.
        """
        self.defremat(fwd, rem, slots.without_logs(bwd), generic_batching)
        self._log_by(bwd)

    @api_boundary
    def defvjp_with_accums(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Set the rules as `defvjp` does; `bwd(*nondiff, residuals, cotangent, *places)` gets the
        places of the arguments' cotangents, pytrees as the arguments are, and adds to them by
        `place.accum(cotangent)`. It returns logs, as of `defvjp_with_logs`, or None.

        >>> @irax.custom_vjp
        ... def product(x, y):
        ...     return x * y
        >>> def bwd(residuals, ct, to_x, to_y):
        ...     x, y = residuals
        ...     to_x.accum(ct * y)
        ...     to_y.accum(ct * x)
        >>> product.defvjp_with_accums(lambda x, y: (x * y, (x, y)), bwd)
        >>> irax.grad(product, (0, 1))(2.0, 3.0)
        (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
        """
        self.defvjp(fwd, bwd, symbolic_zeros, optimize_remat, generic_batching)
        self.accumulates = True
        self._log_by(bwd)

    def check_rules(self) -> None:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"custom_vjp: {name_of(self.fun)} has no rules yet: give it some by defvjp"
            )

    deferred = DeferredVjp

    def of_refs(self, call: RefCall) -> Ruled:
        assert self.fwd is not None
        assert self.bwd is not None
        if self.accumulates:
            raise NotImplementedError(
                f"custom_vjp: {name_of(self.fun)} has a mutable array as an argument, whose "
                "cotangent is no value to add to: give it rules by defvjp"
            )
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

    def before(self, given: Arguments, arrays: Sequence[Array]) -> tuple[_FlatForward, list[Input]]:
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
        args = given.unflatten(primals)
        if self.ruled.symbolic_zeros:
            args = given.unflatten(list(map(CustomVJPPrimal, primals, given.moving)))
            args = tree_util.tree_map(_of_whole_key, args)
        assert self.ruled.fwd is not None
        found = self.ruled.fwd(*given.joined(args))
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
        return here.trace(bwd, inputs, len(shared), "bwd", config.traced)

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
        if self.ruled.symbolic_zeros:
            cotangent = tree_util.tree_map(_symbolic, cotangent)
        assert self.ruled.bwd is not None
        args, numbers = self.given.placeholders, iter(range(len(self.given.avals)))
        places = self._places(args) if self.ruled.accumulates else ()
        found = self.ruled.bwd(*self.given.fixed, residuals, cotangent, *places)
        found = collected(places) if self.ruled.accumulates else found
        check_cotangents(found, len(args), name)
        return [
            ct
            for arg, part in zip(args, found, strict=True)
            for ct in self._cotangents(part, arg, numbers)
        ]

    def _places(self, args: Any) -> Any:
        """The places of the arguments' cotangents; those that are not wanted keep none."""
        kinds = [ValAccum if moves else NullAccum for moves in self.given.moving]
        avals = [a.to_tangent_aval() for a in self.given.avals]
        places = [kind(aval) for kind, aval in zip(kinds, avals, strict=True)]
        return array_trees.tree_unflatten(array_trees.tree_structure(args), places)

    def _zero(self, aval: ShapedArray) -> Any:
        dtype = aval.dtype if is_inexact(aval) else dtypes.float0
        zero = SymbolicZero(ShapedArray(aval.shape, dtype))
        # those of integers are put together first: those of a key's words are one of a key
        is_symbolic = self.ruled.symbolic_zeros and is_inexact(aval)
        return zero if is_symbolic else zero.instantiate()

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
        given = self.given
        return [
            _cotangent(x, given.avals[n], name, given.names[n])
            for x, n in zip(leaves, numbers, strict=True)
            if given.moving[n]
        ]


def _cotangent(x: Any, aval: ShapedArray, name: str, of: str) -> Array:
    """Return what a rule gives for an argument `of` as an array; None and `SymbolicZero` are
    zeros.
    """
    if isinstance(x, SymbolicZero) and x.shape != aval.shape:
        raise ValueError(
            f"the rule of {name} returned zeros of shape {x.shape} as a cotangent of {of}; "
            f"expected {aval}, or None"
        )
    if x is None or isinstance(x, SymbolicZero):
        return zeros(aval)
    found = as_array(x, f"the rule of {name}: its cotangent of {of}")
    is_real = not dtypes.issubdtype(found.dtype, np.complexfloating)
    if is_real and (found.weak_type or dtypes.issubdtype(found.dtype, np.floating)):
        found = convert(found, aval.dtype)  # a rule may compute in another precision
    return of_type(found, aval, name, f"cotangent of {of}", ValueError)


def _of_whole_key(x: Any) -> Any:
    """Return a key of the words of a `CustomVJPPrimal` as the `CustomVJPPrimal` of a key."""
    words: Any = x.data if isinstance(x, KeyArray) else None
    return x if words is None else CustomVJPPrimal(x.with_data(words.value), words.perturbed)


def _symbolic(x: Any) -> Any:
    """Return the zeros of integers as a `SymbolicZero`."""
    is_of_integers = getattr(x, "dtype", None) == dtypes.float0
    return SymbolicZero(ShapedArray(x.shape, dtypes.float0)) if is_of_integers else x
