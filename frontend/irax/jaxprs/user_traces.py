"""Traces of the user's own: classes whose `process_primitive` takes the place of operations.

Where one is the current trace, an operation is written down as equations first, as `make_jaxpr`
does, and each equation is given to it: its primitive, its operands and its parameters.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from irax.config import config
from irax.core import tracing
from irax.core.array import Array, as_array
from irax.core.innermost import Scope
from irax.core.interpreters.interface import Interpreter
from irax.core.module_builder import ModuleBuilder
from irax.core.tracing import current_trace, innermost_is, suspended_trace
from irax.core.trees import array_trees
from irax.extend.primitive import Primitive
from irax.jaxprs.language import Jaxpr, JaxprEqn
from irax.jaxprs.make import jaxpr_of_constants
from irax.jaxprs.running import interpreted
from irax_compiler.ops.core import Op

R = TypeVar("R")


class _AnyTrace(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Trace and isinstance(instance, tracing.Trace | CurrentTrace)

    def __subclasscheck__(cls, subclass: type) -> bool:
        is_one = cls is Trace and issubclass(subclass, tracing.Trace)
        return is_one or type.__subclasscheck__(cls, subclass)


class Trace(metaclass=_AnyTrace):
    """The base of traces of the user's own. irax's own traces count as instances, too."""

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        pass

    @property
    def main(self) -> Trace:
        """The trace itself, by which libraries compare the traces of values."""
        return self

    def process_primitive(self, primitive: Primitive, tracers: Sequence[Any], params: Any) -> Any:
        """Return the result of a primitive, or a list of its results."""
        raise NotImplementedError(f"{type(self).__name__} must define process_primitive")

    def stage_value(self, val: Any) -> Any:
        """Return a value as one of this trace."""
        return val

    def full_raise(self, x: Any) -> Any:
        """Return a value as it is: those of other traces need no change."""
        return x


@dataclass(frozen=True)
class CurrentTrace:
    """The trace that operations belonged to when it was asked for; none, where they ran at once."""

    trace: Any
    suspended: Any

    def process_primitive(self, primitive: Primitive, tracers: Sequence[Any], params: Any) -> Any:
        """Return the result of a primitive, or a list of its results."""
        with set_current_trace(self):
            return primitive.bind(*tracers, **params)

    def stage_value(self, val: Any) -> Any:
        """Return a value as one of this trace."""
        return as_array(val)


@contextlib.contextmanager
def take_current_trace() -> Iterator[CurrentTrace]:
    """Compute at once for the length of a block, and give the trace that is current before it."""
    taken = CurrentTrace(current_trace(), suspended_trace())
    with innermost_is(None, None):
        yield taken


@contextlib.contextmanager
def set_current_trace(trace: Any) -> Iterator[None]:
    """Have operations belong to a trace for the length of a block.

    Args:
        trace: one that `take_current_trace` gave, an object with `process_primitive`, or None: then
            operations run at once.

    Raises:
        TypeError: `trace` is something else.
    """
    if trace is None or isinstance(trace, tracing.Trace):
        new = trace, None
    elif isinstance(trace, CurrentTrace):
        new = trace.trace, trace.suspended
    elif callable(getattr(trace, "process_primitive", None)):
        new = _OfUsers(trace), None
    else:
        raise TypeError(
            f"set_current_trace: expected an object with process_primitive, or None, got {trace!r}"
        )
    with innermost_is(*new):
        yield


class _OfUsers(Interpreter):
    """A trace of the user's as the innermost one."""

    kind = "a trace of the user's"
    is_partial = False
    is_differentiated = False
    scope = Scope.ALL
    parent = None
    open = True
    _entered_by: frozenset[str] = frozenset()

    def __init__(self, trace: Any) -> None:
        self.trace = trace
        self.options = config.traced
        self.builder = ModuleBuilder()
        """The module of the functions that are traced within it."""

    def has_effects(self) -> bool:
        """Return False: the equations that it is given have what effects they have."""
        return False

    def run(
        self,
        op: Op,
        operands: Sequence[Array],
        weak_type: bool = False,
        builder: ModuleBuilder | None = None,
    ) -> list[Array]:
        return self._processed(lambda trace: trace.run(op, operands, weak_type), builder)

    def call(
        self, builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
    ) -> list[Array]:
        return self._processed(lambda trace: trace.call(builder, name, operands, weak))

    def staged(self, run: Callable[[], R], write: Callable[[ModuleBuilder], R]) -> R:
        return self._processed(lambda trace: trace.staged(run, write))

    def _processed(
        self, written: Callable[[tracing.Trace], R], builder: ModuleBuilder | None = None
    ) -> R:
        """Return what is written into a trace, when the user's has processed its equations."""
        tree: Any = None

        def leaves() -> list[Array]:
            nonlocal tree
            trace = current_trace()
            assert trace is not None
            found, tree = array_trees.tree_flatten(written(trace))
            return found

        with innermost_is(None, None):
            jaxpr = jaxpr_of_constants(leaves, builder or self.builder)
        return array_trees.tree_unflatten(tree, self._evaluated(jaxpr))

    def _evaluated(self, jaxpr: Jaxpr) -> list[Array]:
        def apply(eqn: JaxprEqn, operands: Sequence[Any]) -> Any:
            return self.trace.process_primitive(eqn.primitive, operands, eqn.params)

        return [as_array(x) for x in interpreted(jaxpr, jaxpr.consts, apply)]
