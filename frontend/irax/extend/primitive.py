"""Primitives: operations of the user's own.

    sine_p = Primitive("sine")
    sine_p.def_impl(lambda x: jnp.sin(x))
    sine_p.def_abstract_eval(lambda x: x)
    sine_p.bind(2.0)

Outside of traces `bind` calls the implementation. In a trace it writes an `irax.primitive`
operation, and transformations run the rules (`rules.py`) that they need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax.core.array import Array, as_array
from irax.core.dispatch import bind, staged
from irax.core.module_builder import ModuleBuilder
from irax.core.tracebacks import api_boundary
from irax.extend.application import Application
from irax_compiler.ops.control_flow.user_primitives import UserPrimitive


class Primitive:
    """An operation that is known by its name, and by what is defined for it.

    Attributes:
        name: its name in errors and in jaxprs.
        multiple_results: True if implementation and rules return lists of results.
    """

    multiple_results: bool = False
    call_primitive: bool = False
    map_primitive: bool = False
    abstract_eval: Callable[..., Any] | None = None
    """Returns the types of the results, and effects, of the types of the operands."""

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __repr__(self) -> str:
        return self.name

    def impl(self, *args: Any, **params: Any) -> Any:
        """Return the results: `def_impl` sets this, or a subclass defines it."""
        raise NotImplementedError(
            f"Evaluation rule for '{self.name}' not implemented: give the primitive one with "
            "def_impl"
        )

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Set the function that computes the results, and return it."""
        self.impl = impl  # pyright: ignore[reportAttributeAccessIssue]
        return impl

    def def_abstract_eval(self, abstract_eval: Callable[..., Any]) -> Callable[..., Any]:
        """Set the function from the avals of operands to the aval of the result, or to a list of
        them; return it.
        """
        self.abstract_eval = lambda *avals, **params: (abstract_eval(*avals, **params), set())
        return abstract_eval

    def def_effectful_abstract_eval(self, abstract_eval: Callable[..., Any]) -> Callable[..., Any]:
        """Set the function from the avals of operands to a pair: what that of `def_abstract_eval`
        returns, and a set of effects.
        """
        self.abstract_eval = abstract_eval
        return abstract_eval

    def def_bind_with_trace(self, bind_with_trace: Callable[..., Any]) -> Callable[..., Any]:
        """Keep a function of a trace, operands and parameters, and return it. It is accepted for
        libraries that define one: `bind` does not call it.
        """
        self.bind_with_trace = bind_with_trace
        return bind_with_trace

    def bind_with_trace(self, trace: Any, args: Any, *given: Any) -> Any:
        """Return what a trace makes of the primitive.

        Args:
            trace: one of the user's own, or of `take_current_trace`.
            args: the operands.
            given: their types, which are of no effect, and a dict of parameters, or the latter.
        """
        return trace.process_primitive(self, args, given[-1])

    @api_boundary
    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive to arrays.

        Args:
            args: the operands, arrays or numbers.
            params: parameters of any type, which all rules get.
        """
        return staged(
            lambda: self.impl(*args, **params),
            lambda builder: self._write(builder, args, params),
            args,
        )

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters that `bind` gets for an equation, of which `subfuns` are functions
        that it calls.
        """
        return params

    def _write(
        self, builder: ModuleBuilder, args: Sequence[Any], params: dict[str, Any]
    ) -> Array | list[Array]:
        arrays = [as_array(x, f"{self.name}: an operand") for x in args]
        application = Application(self, params, [x.aval for x in arrays])
        builder.kept.append(application)
        op = UserPrimitive(application.decomposition(builder.module), self.name, application.key)
        results = bind(op, *arrays)
        weak = [aval.weak_type for aval in application.results]
        typed = [x.with_weak_type(w) for x, w in zip(results, weak, strict=True)]
        return typed if self.multiple_results else typed[0]
