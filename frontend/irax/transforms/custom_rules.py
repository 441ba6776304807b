"""Functions with derivative rules of the user's own: what custom_jvp (`forward_rules`) and
custom_vjp (`reverse_rules`) share.

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

from irax import dtypes
from irax.core import array_trees
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.closures import union, with_captures
from irax.core.dispatch import bind, call, staged
from irax.core.flattening import FlatFunction, argument_names, known_inputs, name_of
from irax.core.module_builder import ModuleBuilder
from irax.core.tracebacks import api_boundary
from irax.core.tracing import Traced, trace_function
from irax.transforms.forwarding import ForwardsDefinitions
from irax.transforms.symbolic_zeros import is_perturbed
from irax_compiler import mlir

Rules = list[tuple[Traced, int]]
"""The traced rules, each with the position of the captured values among its arguments."""


class Ruled(ForwardsDefinitions):
    """A function and the arguments that its rules do not differentiate."""

    symbolic_zeros = False
    """True if its rules get and return zeros as `SymbolicZero`s."""

    @api_boundary
    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        if not callable(fun):
            raise TypeError(f"{self.kind}: expected a function, got {fun!r}")
        functools.update_wrapper(self, fun)  # pyright: ignore[reportArgumentType]
        self.fun = fun
        given = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else nondiff_argnums
        names = (nondiff_argnames,) if isinstance(nondiff_argnames, str) else nondiff_argnames
        self.nondiff_argnums: tuple[int, ...] = (*given, *(self._number(name) for name in names))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """A method keeps its rules; they see the instance as their first argument."""
        return self if instance is None else functools.partial(self, instance)  # pyright: ignore

    @property
    def kind(self) -> str:
        return type(self).__name__

    def _number(self, name: str) -> int:
        """Return the position of the argument of a name."""
        names = list(inspect.signature(self.fun).parameters)
        if name not in names:
            raise ValueError(
                f"{self.kind}: nondiff_argnames={name!r} is no argument of {name_of(self.fun)}; it "
                f"has {', '.join(names) or 'none'}"
            )
        return names.index(name)

    def check_rules(self) -> None:
        """Raises AttributeError for a function that has no rules yet."""
        raise NotImplementedError

    def operation(
        self, given: Arguments, inputs: Sequence[Any], traced: Traced, flat: FlatFunction
    ) -> tuple[Callable[[], Rules], Callable[..., Any]]:
        """Return a function that traces the rules, and one that makes the op from their names."""
        raise NotImplementedError

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        self.check_rules()
        args = self._positional(args, kwargs)
        return staged(lambda: self.fun(*args), lambda builder: self._write(builder, args))

    def _write(self, builder: ModuleBuilder, args: tuple[Any, ...]) -> Any:
        """Writes a call that has the rules into a trace."""
        given = Arguments(self, args)
        arrays = given.in_order(given.arrays)
        again = self._open_for(given.key, builder)
        if again is not None:
            return array_trees.tree_unflatten(again.out_tree, again.call(arrays))
        inputs = known_inputs(arrays, given.in_order(given.names))
        flat = FlatFunction(lambda *others: self.fun(*given.joined(others)), given.in_tree)
        traced = trace_function(
            lambda *leaves: flat(*given.in_place(leaves)), inputs, self.kind, name_of(self.fun)
        )
        opened = _Open(self, given.key, traced, len(arrays), flat.out_tree)
        opened.finish(*self.operation(given, inputs, traced, flat))
        results = _bound(opened.op, [*arrays, *opened.outside], traced.weak)
        return array_trees.tree_unflatten(flat.out_tree, results)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return all arguments by position, with defaults filled in, but for those that a partial
        fills in.
        """
        if isinstance(self.fun, functools.partial) and not kwargs:
            return args
        try:
            bound = inspect.signature(self.fun).bind(*args, **kwargs)
        except ValueError:  # a builtin without a signature
            return args
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(
                f"{self.kind}: {name_of(self.fun)} was called with keyword-only arguments "
                f"{', '.join(bound.kwargs)}; its rules know arguments by position alone"
            )
        return bound.args

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The arguments that are not differentiated, and the others."""
        numbers = {
            n % len(args) if -len(args) <= n < len(args) else n for n in self.nondiff_argnums
        }
        if any(not 0 <= n < len(args) for n in numbers):
            raise ValueError(
                f"{self.kind}: nondiff_argnums={self.nondiff_argnums} is out of range: "
                f"{name_of(self.fun)} was called with {len(args)} arguments"
            )
        fixed = tuple(args[n] for n in sorted(numbers))
        return fixed, tuple(a for n, a in enumerate(args) if n not in numbers)

    def _open_for(self, key: Any, builder: ModuleBuilder) -> _Open | None:
        """Return the open call of this function for arguments of the same types, or None."""
        for opened in reversed(_open()):
            if opened.ruled is self and opened.key == key:
                return opened if builder is opened.traced.builder else None
        return None


class Arguments:
    """The arguments of a call of a function with rules.

    For rules that tell zeros by their type, those that no derivative is taken with respect to are
    to the compiler values from outside: the functions take them after the others.
    """

    def __init__(self, ruled: Ruled, args: tuple[Any, ...]) -> None:
        self.ruled = ruled
        fixed, others = ruled.split(args)
        self.fixed: tuple[Any, ...] = fixed
        leaves, tree = array_trees.tree_flatten((others, {}))
        self.in_tree: Any = tree
        self.names: list[str] = argument_names(others)
        self.arrays: list[Array] = [
            as_array(x, f"{ruled.kind}: {n}") for x, n in zip(leaves, self.names, strict=True)
        ]
        self.avals: list[ShapedArray] = [x.aval for x in self.arrays]
        self.perturbed: list[bool] = [
            not ruled.symbolic_zeros or is_perturbed(x) for x in self.arrays
        ]
        self._order = sorted(range(len(leaves)), key=lambda i: not self.perturbed[i])
        settings = (self.in_tree, *self.avals, *self.perturbed, *map(id, self.fixed))
        self.key = settings
        """A key that is equal for calls that can share one operation."""

    @property
    def num_perturbed(self) -> int:
        return sum(self.perturbed)

    @property
    def moving(self) -> list[bool]:
        """For each leaf, True if it has a tangent and a cotangent."""
        return [p and is_inexact(a) for p, a in zip(self.perturbed, self.avals, strict=True)]

    def in_order(self, values: Sequence[Any]) -> list[Any]:
        """Values of the leaves, in the order in which the traced functions take them."""
        return [values[i] for i in self._order]

    def in_place(self, values: Sequence[Any]) -> list[Any]:
        """Values in that order, in the order of the leaves."""
        found: list[Any] = [None] * len(self._order)
        for i, value in zip(self._order, values, strict=True):
            found[i] = value
        return found

    def unflatten(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """The differentiated arguments, of their leaves."""
        args, _ = array_trees.tree_unflatten(self.in_tree, leaves)
        return args

    def joined(self, others: Sequence[Any]) -> list[Any]:
        """All arguments in their own order: those that are not differentiated, and others."""
        count = len(self.fixed) + len(others)
        numbers = {n % count for n in self.ruled.nondiff_argnums}
        first, second = iter(self.fixed), iter(others)
        return [next(first) if n in numbers else next(second) for n in range(count)]


class _Open:
    """A function whose rules are being traced. They may call the function: that call has the same
    rules, which therefore must be known by name before they are there.
    """

    def __init__(
        self, ruled: Ruled, key: Any, traced: Traced, num_args: int, out_tree: Any
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

    def finish(self, rules: Callable[[], Rules], make: Callable[..., Any]) -> None:
        """Make the operation, and find its operands besides the arguments.

        `rules` traces the rules. Where one of them calls the function they are traced twice: first
        to find out what they use from outside.
        """
        _state.open = [*_open(), self]
        try:
            found = rules()
            self._settle(found, make)
            if self.called:
                self._settle(rules(), make)
        finally:
            _state.open = _open()[:-1]

    def _settle(self, rules: Rules, make: Callable[..., Any]) -> None:
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


# ---- results of rules ----------------------------------------------------------------------------


def is_inexact(aval: ShapedArray) -> bool:
    """Return True if arrays of this type have tangents."""
    return dtypes.issubdtype(aval.dtype, np.inexact)


def of_type(
    x: Any, aval: ShapedArray, name: str, what: str, error: type[Exception] = TypeError
) -> Array:
    """Return a leaf of a rule's result as an array of the type it must have, or raise `error`."""
    array = as_array(x, f"the rule of {name}: its {what}")
    if array.shape != aval.shape or (
        array.dtype != aval.dtype and not (array.weak_type or aval.weak_type)
    ):
        raise error(f"the rule of {name} returned a {what} of type {array.aval}; expected {aval}")
    return array if array.dtype == aval.dtype else array.astype(aval.dtype)
