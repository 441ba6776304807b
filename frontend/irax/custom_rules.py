"""Derivative rules of the user's own: custom_jvp, custom_vjp and custom_gradient.

Inside a trace a function with rules is written down with them, as a composite (see
`irax_compiler.ops.custom_rules`); outside of all traces it is just the function.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.array import Array, as_array
from irax.aval import ShapedArray
from irax.closures import union, with_captures
from irax.flat import FlatFunction, argument_names, known_inputs, name_of
from irax.tracing import Input, Traced, bind, call, current_trace, trace_function
from irax_compiler import mlir
from irax_compiler.ops.custom_rules import CustomJvp, CustomVjp


class _Ruled:
    """A function and the arguments that its rules do not differentiate."""

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: int | Sequence[int] = ()) -> None:
        if not callable(fun):
            raise TypeError(f"{type(self).__name__}: expected a function, got {fun!r}")
        functools.update_wrapper(self, fun)  # pyright: ignore[reportArgumentType]
        self.fun = fun
        given = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        self.nondiff_argnums = tuple(given)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method keeps its rules; they see the instance as their first argument."""
        return self if instance is None else functools.partial(self, instance)  # pyright: ignore

    @property
    def _kind(self) -> str:
        return type(self).__name__

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in."""
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:  # a builtin, which tells nothing of its arguments
            return args
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self._kind}: {name_of(self.fun)} was called with keyword-only arguments "
                f"{', '.join(bound.kwargs)}; its rules know arguments by position alone"
            )
        return bound.args

    def _split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The arguments that are not differentiated, and the others."""
        numbers = {
            n % len(args) if -len(args) <= n < len(args) else n for n in self.nondiff_argnums
        }
        if any(not 0 <= n < len(args) for n in numbers):
            raise ValueError(
                f"{self._kind}: nondiff_argnums={self.nondiff_argnums} is out of range: "
                f"{name_of(self.fun)} was called with {len(args)} arguments"
            )
        fixed = tuple(args[n] for n in sorted(numbers))
        return fixed, tuple(a for n, a in enumerate(args) if n not in numbers)

    def _open_for(self, key: Any) -> _Open | None:
        """What is open of this very function, for arguments of the same types."""
        trace = current_trace()
        for opened in reversed(_open()):
            if opened.ruled is self and opened.key == key:
                same_module = trace is not None and trace.builder is opened.traced.builder
                return opened if same_module else None
        return None

    def _joined(self, fixed: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """The arguments in their own order again."""
        count = len(fixed) + len(others)
        numbers = {n % count for n in self.nondiff_argnums}
        first, second = iter(fixed), iter(others)
        return [next(first) if n in numbers else next(second) for n in range(count)]


def _is_inexact(aval: ShapedArray) -> bool:
    return dtypes.issubdtype(aval.dtype, np.inexact)


def _float0(aval: ShapedArray) -> np.ndarray:
    return np.zeros(aval.shape, dtypes.float0)


class _Open:
    """A function whose rules are being traced. They may call the function: that call has the same
    rules, which therefore must be known by name before they are there.
    """

    def __init__(
        self, ruled: _Ruled, key: Any, traced: Traced, num_args: int, out_tree: Any
    ) -> None:
        self.ruled, self.key, self.traced = ruled, key, traced
        self.num_args, self.out_tree = num_args, out_tree
        self.called = False
        self.outside: list[Array] = []
        self.op: Any = None

    def call(self, arrays: Sequence[Array]) -> list[Array]:
        """A call of the function from one of its rules."""
        self.called = True
        traced = self.traced
        if self.op is None:
            return call(traced.builder, traced.name, [*arrays, *traced.captures], traced.weak)
        return _bound(self.op, [*arrays, *self.outside], traced.weak)

    def finish(
        self, rules: Callable[[], list[tuple[Traced, int]]], make: Callable[..., Any]
    ) -> None:
        """Finds out the operation, and what its operands are besides the arguments.

        `rules` traces the rules, and says where the values from outside stand among the arguments
        of each. Where one of them calls the function they are traced twice: first to find out what
        they use from outside.
        """
        _state.open = [*_open(), self]
        try:
            found = rules()
            self._settle(found, make)
            if self.called:
                self._settle(rules(), make)
        finally:
            _state.open = _open()[:-1]

    def _settle(self, rules: list[tuple[Traced, int]], make: Callable[..., Any]) -> None:
        module = self.traced.builder.module
        outside = union([self.traced, *(t for t, _ in rules)])
        if not outside and not self.called:
            self.op = make(self.traced.name, *(t.name for t, _ in rules))
            return
        if self.op is None:
            self.outside = outside
            names = [mlir.unique_name(module, f"{t.name}.whole") for t, _ in rules]
            function = with_captures(
                self.traced, self.outside, self.num_args, f"{self.traced.name}.whole"
            )
            self.op = make(function, *names)
            if self.called:
                return
        else:
            names = list(self.op.rule_names)
            assert {id(x) for x in outside} <= {id(x) for x in self.outside}
        for (traced, at), name in zip(rules, names, strict=True):
            with_captures(traced, self.outside, at, name)


_state = threading.local()


def _open() -> list[_Open]:
    return getattr(_state, "open", [])


def _bound(op: Any, operands: Sequence[Array], weak: Sequence[bool]) -> list[Array]:
    return [r.with_weak_type(w) for r, w in zip(bind(op, *operands), weak, strict=True)]


class custom_jvp(_Ruled):
    """A function with a rule for its derivative.

    Args:
        fun: a function of pytrees of arrays.
        nondiff_argnums: positions of arguments that are not differentiated (functions, options);
            the rule gets them first.

    >>> @irax.custom_jvp
    ... def f(x):
    ...     return x * x
    >>> f.defjvp(lambda primals, tangents: (f(*primals), 10 * tangents[0]))  # doctest: +ELLIPSIS
    <function ...>
    >>> irax.grad(f)(3.0)
    Array(10., dtype=float32, weak_type=True)
    """

    rule: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Sets the rule: `jvp(*nondiff, primals, tangents)` returns the result and its tangent.

        Tangents of integers have dtype float0. Zeros are arrays of zeros, also with
        `symbolic_zeros`.
        """
        self.rule = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Sets a rule for each argument: `jvp(tangent, result, *primals)` is its part of the
        result's tangent; None where that is zero.
        """
        if self.nondiff_argnums:
            raise TypeError(
                "custom_jvp.defjvps: not for functions with nondiff_argnums: use defjvp"
            )

        def rule(primals: Any, tangents: Any) -> Any:
            out = self(*primals)
            parts = [j(t, out, *primals) for j, t in zip(jvps, tangents, strict=True) if j]
            if not parts:
                import irax.numpy as jnp

                return out, tree_util.tree_map(jnp.zeros_like, out)
            return out, functools.reduce(
                lambda a, b: tree_util.tree_map(lambda x, y: x + y, a, b), parts
            )

        self.rule = rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        if self.rule is None:
            raise AttributeError(
                f"custom_jvp: {name_of(self.fun)} has no rule yet: give it one by defjvp"
            )
        args = self._positional(args, kwargs)
        if current_trace() is None:
            return self.fun(*args)
        fixed, others = self._split(args)
        leaves, in_tree = tree_util.tree_flatten((others, {}))
        names = argument_names(others)
        arrays = [as_array(x, f"custom_jvp: {n}") for x, n in zip(leaves, names, strict=True)]
        avals = [x.aval for x in arrays]
        key = (in_tree, tuple(avals), tuple(map(id, fixed)))
        again = self._open_for(key)
        if again is not None:
            return tree_util.tree_unflatten(again.out_tree, again.call(arrays))
        inputs = known_inputs(arrays, names)
        name = name_of(self.fun)
        flat = FlatFunction(lambda *a: self.fun(*self._joined(fixed, a)), in_tree)
        traced = trace_function(flat, inputs, "custom_jvp", name)
        count = len(arrays)
        rule = _FlatJvp(self.rule, fixed, in_tree, avals, traced.results, flat.out_tree, name)
        directions = [Input(a, None, "a tangent") for a in avals if _is_inexact(a)]

        def rules() -> list[tuple[Traced, int]]:
            both = [*inputs, *directions]
            return [(trace_function(rule, both, "custom_jvp", f"{name}.rule"), count)]

        opened = _Open(self, key, traced, count, flat.out_tree)
        opened.finish(rules, lambda function, rule: CustomJvp(function, rule, count))
        results = _bound(opened.op, [*arrays, *opened.outside], traced.weak)
        return tree_util.tree_unflatten(flat.out_tree, results)


class _FlatJvp:
    """A jvp rule as a function of flat arrays: primals, then tangents of the inexact ones."""

    def __init__(
        self,
        rule: Callable[..., Any],
        fixed: Sequence[Any],
        in_tree: Any,
        avals: Sequence[ShapedArray],
        results: Sequence[ShapedArray],
        out_tree: Any,
        name: str,
    ) -> None:
        self.rule, self.fixed, self.in_tree, self.avals = rule, fixed, in_tree, avals
        self.results, self.out_tree, self.name = results, out_tree, name

    def __call__(self, *leaves: Array) -> list[Array]:
        primals, rest = leaves[: len(self.avals)], iter(leaves[len(self.avals) :])
        tangents = [next(rest) if _is_inexact(a) else _float0(a) for a in self.avals]
        args, _ = tree_util.tree_unflatten(self.in_tree, primals)
        directions, _ = tree_util.tree_unflatten(self.in_tree, tangents)
        found = self.rule(*self.fixed, args, directions)
        if not (isinstance(found, tuple | list) and len(found) == 2):
            raise TypeError(
                f"custom_jvp: the rule of {self.name} must return a pair (result, tangent), got "
                f"{type(found).__name__}"
            )
        out, d_out = found
        values = self._like_results(out, "result")
        moved = self._like_results(d_out, "tangent")
        d_values = [t for t, a in zip(moved, self.results, strict=True) if _is_inexact(a)]
        return [*values, *d_values]

    def _like_results(self, tree: Any, what: str) -> list[Any]:
        leaves, structure = tree_util.tree_flatten(tree)
        if structure != self.out_tree:
            raise TypeError(
                f"custom_jvp: the rule of {self.name} returned a {what} of structure {structure}; "
                f"expected that of the function's result, {self.out_tree}"
            )
        return [
            x if what == "tangent" and not _is_inexact(a) else _of_type(x, a, self.name, what)
            for x, a in zip(leaves, self.results, strict=True)
        ]


def _of_type(x: Any, aval: ShapedArray, name: str, what: str) -> Array:
    """A leaf that a rule returned, as an array of the type it must have."""
    array = as_array(x, f"the rule of {name}: its {what}")
    if array.shape != aval.shape or (
        array.dtype != aval.dtype and not (array.weak_type or aval.weak_type)
    ):
        raise TypeError(
            f"the rule of {name} returned a {what} of type {array.aval}; expected {aval}"
        )
    return array if array.dtype == aval.dtype else array.astype(aval.dtype)


class custom_vjp(_Ruled):
    """A function with a rule for reverse mode.

    Args:
        fun: a function of pytrees of arrays.
        nondiff_argnums: positions of arguments that are not differentiated; `fwd` gets them where
            they are, `bwd` gets them first.

    >>> @irax.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -1, 1),))
    >>> irax.grad(lambda x: 5 * clipped(x))(3.0)
    Array(1., dtype=float32)
    """

    fwd: Callable[..., Any] | None = None
    bwd: Callable[..., Any] | None = None

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Sets the rules: `fwd(*args)` returns the result and residuals (a pytree of arrays);
        `bwd(*nondiff, residuals, cotangent)` a tuple with a cotangent for each argument, or None
        where it is zero.
        """
        if symbolic_zeros:
            raise NotImplementedError(
                "custom_vjp.defvjp: symbolic_zeros=True is not supported: zeros are arrays"
            )
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"custom_vjp: {name_of(self.fun)} has no rules yet: give it some by defvjp"
            )
        args = self._positional(args, kwargs)
        if current_trace() is None:
            return self.fun(*args)
        fixed, others = self._split(args)
        leaves, in_tree = tree_util.tree_flatten((others, {}))
        names = argument_names(others)
        arrays = [as_array(x, f"custom_vjp: {n}") for x, n in zip(leaves, names, strict=True)]
        avals = [x.aval for x in arrays]
        key = (in_tree, tuple(avals), tuple(map(id, fixed)))
        again = self._open_for(key)
        if again is not None:
            return tree_util.tree_unflatten(again.out_tree, again.call(arrays))
        inputs = known_inputs(arrays, names)
        name = name_of(self.fun)
        flat = FlatFunction(lambda *a: self.fun(*self._joined(fixed, a)), in_tree)
        traced = trace_function(flat, inputs, "custom_vjp", name)
        count, num_results = len(arrays), len(traced.results)
        cts = [Input(a, None, "a cotangent") for a in traced.results if _is_inexact(a)]

        def rules() -> list[tuple[Traced, int]]:
            forward = _FlatForward(self, fixed, in_tree, traced.results, flat.out_tree)
            fwd = trace_function(forward, inputs, "custom_vjp", f"{name}.fwd")
            residuals = [Input(a, None, "a residual") for a in fwd.results[num_results:]]
            backward = _FlatBackward(
                self, fixed, avals, in_tree, forward.residual_tree, flat, traced
            )
            bwd = trace_function(backward, [*residuals, *cts], "custom_vjp", f"{name}.bwd")
            return [(fwd, count), (bwd, 0)]

        opened = _Open(self, key, traced, count, flat.out_tree)
        opened.finish(rules, lambda function, fwd, bwd: CustomVjp(function, fwd, bwd, count))
        results = _bound(opened.op, [*arrays, *opened.outside], traced.weak)
        return tree_util.tree_unflatten(flat.out_tree, results)


class _FlatForward:
    """`fwd` as a function of flat arrays: to results, then residuals."""

    def __init__(
        self,
        ruled: custom_vjp,
        fixed: Sequence[Any],
        in_tree: Any,
        results: Sequence[ShapedArray],
        out_tree: Any,
    ) -> None:
        self.ruled, self.fixed, self.in_tree = ruled, fixed, in_tree
        self.results, self.out_tree = results, out_tree
        self.residual_tree: Any = None

    def __call__(self, *leaves: Array) -> list[Array]:
        args, _ = tree_util.tree_unflatten(self.in_tree, leaves)
        name = name_of(self.ruled.fun)
        assert self.ruled.fwd is not None
        found = self.ruled.fwd(*self.ruled._joined(self.fixed, args))
        if not (isinstance(found, tuple | list) and len(found) == 2):
            raise TypeError(
                f"custom_vjp: fwd of {name} must return a pair (result, residuals), got "
                f"{type(found).__name__}"
            )
        out_leaves, structure = tree_util.tree_flatten(found[0])
        if structure != self.out_tree:
            raise TypeError(
                f"custom_vjp: fwd of {name} returned a result of structure {structure}; expected "
                f"that of the function's result, {self.out_tree}"
            )
        values = [
            _of_type(x, a, name, "result") for x, a in zip(out_leaves, self.results, strict=True)
        ]
        residuals, self.residual_tree = tree_util.tree_flatten(found[1])
        return [*values, *(as_array(x, f"custom_vjp: a residual of {name}") for x in residuals)]


class _FlatBackward:
    """`bwd` as a function of flat arrays: residuals and cotangents of the inexact results to
    cotangents of the inexact arguments.
    """

    def __init__(
        self,
        ruled: custom_vjp,
        fixed: Sequence[Any],
        avals: Sequence[ShapedArray],
        in_tree: Any,
        residual_tree: Any,
        flat: FlatFunction,
        traced: Traced,
    ) -> None:
        self.ruled, self.fixed, self.avals, self.in_tree = ruled, fixed, avals, in_tree
        self.residual_tree, self.flat, self.traced = residual_tree, flat, traced

    def __call__(self, *leaves: Array) -> list[Array]:
        name = name_of(self.ruled.fun)
        count = self.residual_tree.num_leaves
        residuals = tree_util.tree_unflatten(self.residual_tree, leaves[:count])
        rest = iter(leaves[count:])
        cts = [next(rest) if _is_inexact(a) else _float0(a) for a in self.traced.results]
        cotangent = tree_util.tree_unflatten(self.flat.out_tree, cts)
        assert self.ruled.bwd is not None
        found = self.ruled.bwd(*self.fixed, residuals, cotangent)
        args, _ = tree_util.tree_unflatten(self.in_tree, self.avals)
        found = tuple(found) if isinstance(found, list) else found
        if not isinstance(found, tuple) or len(found) != len(args):
            got = f"{len(found)} of them" if isinstance(found, tuple) else type(found).__name__
            raise TypeError(
                f"custom_vjp: bwd of {name} must return a tuple with a cotangent for each of its "
                f"{len(args)} arguments, got {got}"
            )
        return [
            ct
            for arg, part in zip(args, found, strict=True)
            for ct in self._cotangents(part, arg, name)
        ]

    def _cotangents(self, part: Any, arg: Any, name: str) -> list[Array]:
        import irax.numpy as jnp

        avals, structure = tree_util.tree_flatten(arg)
        if part is None:
            return [jnp.zeros(a.shape, a.dtype) for a in avals if _is_inexact(a)]
        leaves, given = tree_util.tree_flatten(part, is_leaf=lambda x: x is None)
        if given.num_leaves != len(avals):
            raise TypeError(
                f"custom_vjp: bwd of {name} returned a cotangent of structure {given}; expected "
                f"that of the argument, {structure}"
            )
        return [
            jnp.zeros(a.shape, a.dtype) if x is None else _of_type(x, a, name, "cotangent")
            for x, a in zip(leaves, avals, strict=True)
            if _is_inexact(a)
        ]


def custom_gradient(fun: Callable[..., Any]) -> Any:
    """A function whose derivative is the function that it returns beside its result.

    Args:
        fun: returns `(result, pullback)`; `pullback(cotangent)` returns a cotangent for each
            argument, a tuple of them where there are several.

    >>> f = irax.custom_gradient(lambda x: (x * x, lambda ct: 10 * ct))
    >>> irax.grad(f)(3.0)
    Array(10., dtype=float32, weak_type=True)
    """

    @functools.wraps(fun)
    def value(*args: Any) -> Any:
        return fun(*args)[0]

    def fwd(*args: Any) -> tuple[Any, Any]:
        out, pullback = fun(*args)
        leaves, tree = tree_util.tree_flatten(out)
        avals = [as_array(x).aval for x in leaves]
        return out, _Kept(pullback, tree, avals, len(args)).residuals()

    def bwd(residuals: Any, cotangent: Any) -> Any:
        return residuals(cotangent)

    ruled = custom_vjp(value)
    ruled.defvjp(fwd, bwd)
    return ruled


class _Kept:
    """A pullback that is a closure, traced where it was made; what it uses are residuals."""

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
        inputs = [Input(a, None, "a cotangent") for a in self.avals if _is_inexact(a)]
        in_tree = tree_util.tree_structure(((0,) * len(inputs), {}))
        flat = FlatFunction(self._tuple, in_tree)
        traced = trace_function(flat, inputs, "custom_gradient", name_of(self.pullback))
        return tree_util.Partial(_CallTraced(traced, flat.out_tree, self.avals), traced.captures)

    def _tuple(self, *cts: Array) -> tuple[Any, ...]:
        rest = iter(cts)
        leaves = [next(rest) if _is_inexact(a) else _float0(a) for a in self.avals]
        found = self.pullback(tree_util.tree_unflatten(self.out_tree, leaves))
        return found if isinstance(found, tuple) and self.num_args != 1 else (found,)


class _CallTraced:
    """Calls a traced pullback, given what it uses from outside, and a cotangent."""

    def __init__(self, traced: Traced, out_tree: Any, avals: Sequence[ShapedArray]) -> None:
        self.traced, self.out_tree, self.avals = traced, out_tree, avals

    def __call__(self, captures: Sequence[Array], cotangent: Any) -> Any:
        leaves = tree_util.tree_leaves(cotangent)
        cts = [as_array(x) for x, a in zip(leaves, self.avals, strict=True) if _is_inexact(a)]
        traced = self.traced
        found = call(traced.builder, traced.name, [*cts, *captures], traced.weak)
        return tree_util.tree_unflatten(self.out_tree, found)


def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """A function without closure, and the arrays that it used from outside, to be given to it after
    its own arguments.

    >>> y = jnp.arange(3.0)
    >>> pure, consts = irax.closure_convert(lambda x: x * y.sum(), 1.0)
    >>> pure(2.0, *consts)
    Array(6., dtype=float32)
    """
    leaves, in_tree = tree_util.tree_flatten((example_args, {}))
    avals = [as_array(x, "closure_convert").aval for x in leaves]
    flat = FlatFunction(fun, in_tree)
    traced = trace_function(flat, [Input(a) for a in avals], "closure_convert", name_of(fun))

    def converted(*args_and_consts: Any) -> Any:
        args = args_and_consts[: len(example_args)]
        consts = args_and_consts[len(example_args) :]
        given = [as_array(x) for x in [*tree_util.tree_leaves((args, {})), *consts]]
        found = call(traced.builder, traced.name, given, traced.weak)
        return tree_util.tree_unflatten(flat.out_tree, found)

    return converted, list(traced.captures)
