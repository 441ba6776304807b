"""Jitted functions that touch mutable arrays.

What is compiled is a function of the Refs' values, which also returns the values at the end. Which
Refs from outside a function touches is found once for each signature, when it is traced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from irax.config import config
from irax.core.array import Array, as_array
from irax.core.avals import AbstractRef
from irax.core.dispatch import call as call_function
from irax.core.refs import refs
from irax.core.refs.functions import Found, traced_once
from irax.core.refs.hi_types import hi_type_of, is_mutable
from irax.core.refs.refs import Given, Ref
from irax.core.shardings import axis_names
from irax.core.trees import array_trees
from irax.execution.bound_call import OTHER
from irax.execution.jit_parameters import signature_of
from irax.execution.program import Program

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Jits a function in the way of the one that was called."""

Trace = Callable[[Callable[..., Any], Sequence[Any], Any], Program]
"""Traces a function of some leaves and their structure in that way."""


def may_be_touched(leaves: Sequence[Any]) -> bool:
    """True if there are Refs, or types of some among these leaves."""
    return refs.exist() or any(isinstance(x, AbstractRef) for x in leaves)


class RefPrograms(dict[Any, Any]):
    """The calls of a function that are known, by signature: None for those that touch no Refs, a
    `RefProgram` for others.
    """


def call(
    function: Callable[..., Any],
    known: RefPrograms,
    compile: Compile,
    trace: Trace,
    leaves: Sequence[Any],
    tree: Any,
    static: tuple[Any, ...],
) -> tuple[Any, Program | None]:
    """Call a jitted function that touches Refs; return `OTHER` if it touches none, and what was
    traced to know it.

    Args:
        function: the user's function, without static arguments.
        known: what earlier calls found.
        compile: jits a function that touches none.
        trace: traces one.
        leaves: the leaves of the arguments.
        tree: their structure.
        static: the static arguments.
    """
    args, kwargs = array_trees.tree_unflatten(tree, leaves)
    if refs.is_recording():
        return function(*args, **kwargs), None
    state = tree, static, config.traced, axis_names.bound()
    try:
        key = (*state, *map(_type_of, leaves))
        hash(key)
    except TypeError:  # of what is no array, as the call without Refs will say
        return OTHER, None
    if key in known and known[key] is None:
        return OTHER, None
    pure, args, kwargs, found = traced_once("jit", function, args, kwargs, abstract=True)
    values, tree = array_trees.tree_flatten((args, kwargs))
    program = known.get(key)
    if program is None:
        traced = trace(pure, values, tree)
        program = RefProgram.of(function, traced, found)
        if program is None:
            known[key] = None
            return OTHER, _without_refs(traced)
        if not traced.traced.captures_tracers():
            program = replace(program, run=compile(program.run))
            known[key] = program
    return program(found.own, [as_array(x) for x in values]), None


def ahead(
    function: Callable[..., Any], compile: Compile, trace: Trace, leaves: Sequence[Any], tree: Any
) -> Ahead | Program:
    """Trace a function for a call that is not made yet: return its program, which is one of arrays
    if it touches no Refs.

    Args:
        function: the user's function, without static arguments.
        compile: jits a function that touches none.
        trace: traces one.
        leaves: the leaves of the arguments. A type, `AbstractRef`, stands for a Ref.
        tree: their structure.
    """
    leaves = [Ref(Given(x.inner_aval)) if isinstance(x, AbstractRef) else x for x in leaves]
    args, kwargs = array_trees.tree_unflatten(tree, leaves)
    pure, args, kwargs, found = traced_once("jit", function, args, kwargs, abstract=True)
    values, values_tree = array_trees.tree_flatten((args, kwargs))
    traced = trace(pure, values, values_tree)
    program = RefProgram.of(function, traced, found)
    if program is None:
        return _without_refs(traced)
    jitted: Any = compile(program.run)
    arrays = jitted.traced_for((program.captured(found.own), *values), {})
    return Ahead(program, tuple(isinstance(x, Ref) for x in leaves), arrays)


def _without_refs(traced: Program) -> Program:
    out_tree, *_ = traced.out_tree.children()
    return replace(traced, out_tree=out_tree)


def _type_of(leaf: Any) -> Any:
    if is_mutable(leaf):
        return hi_type_of(leaf), leaf.cur_qdd()
    return leaf.aval if isinstance(leaf, Ref) else signature_of(leaf)


Source = Ref | int
"""A Ref from outside, or the number of one among the arguments."""


@dataclass(frozen=True)
class RefProgram:
    """A function of arrays, for one that touches Refs."""

    run: Callable[..., Any]
    """Takes what the trace captured, then the leaves of the arguments."""
    given: Sequence[tuple[Source, int | None]]
    """The sources of what it captured, with a number for the parts of tokens."""
    written: Sequence[Ref]
    """The Refs from outside whose values are results."""
    tokens: Sequence[Source]
    """The Refs whose tokens are results."""

    @staticmethod
    def of(function: Callable[..., Any], program: Program, found: Found) -> RefProgram | None:
        """Return the program of a function that `traced_once` made and that was traced; None if it
        touches no Refs.
        """
        if not found.own and not found.values:
            return None
        traced, out_tree = program.traced, program.out_tree
        numbers: dict[Ref, int] = {ref: n for n, ref in enumerate(found.own)}
        sources: dict[int, tuple[Source, int | None]] = {
            id(value): (ref, None) for ref, value in found.values.items()
        }
        for token in found.tokens:
            source = numbers.get(token.ref, token.ref)
            sources |= {id(x): (source, k) for k, x in enumerate(token.given)}
        captures = list(traced.captures)
        given = [sources[id(x)] for x in captures if isinstance(x, Given)]

        @functools.wraps(function, updated=())
        def run(given: Sequence[Array], *leaves: Array) -> Any:
            remaining = iter(given)
            operands = [next(remaining) if isinstance(x, Given) else x for x in captures]
            results = call_function(traced.builder, traced.name, [*leaves, *operands], traced.weak)
            return array_trees.tree_unflatten(out_tree, results)

        tokens = [numbers.get(token.ref, token.ref) for token in found.tokens]
        return RefProgram(run, given, found.written, tokens)

    def __call__(self, own: Sequence[Ref], leaves: Sequence[Array]) -> Any:
        """Return the result for arguments, of which some are the values of the Refs `own`."""
        out, values, tokens = self.run(self.captured(own), *leaves)
        Found(list(own), list(self.written)).write(values)
        for source, token in zip(self.tokens, tokens, strict=True):
            _ref_of(source, own).pass_token(token)
        return out

    def captured(self, own: Sequence[Ref]) -> list[Array]:
        """Return what stands for the arrays that the trace captured, for the Refs `own`."""
        sources = [(_ref_of(source, own), part) for source, part in self.given]
        return [ref.value if part is None else ref.token[part] for ref, part in sources]


def _ref_of(source: Source, own: Sequence[Ref]) -> Ref:
    return own[source] if isinstance(source, int) else source


@dataclass(frozen=True)
class Ahead:
    """A function that touches Refs, traced ahead of its calls."""

    program: RefProgram
    are_refs: tuple[bool, ...]
    """For each leaf of the arguments, True if it is a Ref."""
    arrays: Any
    """The traced function of arrays, as `PjitFunction.traced_for` returns it."""

    @property
    def num_captured(self) -> int:
        """The number of the arrays that the program takes before the leaves of the arguments."""
        return len(self.program.given)

    def call(self, run: Callable[..., Any], leaves: Sequence[Any]) -> Any:
        """Return the result for some arguments; `run` takes the captured arrays, then leaves."""
        values = [x.value if isinstance(x, Ref) else x for x in leaves]
        own = [x for x in leaves if isinstance(x, Ref)]
        return replace(self.program, run=run)(own, values)
